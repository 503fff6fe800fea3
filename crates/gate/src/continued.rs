//! What goes on with a call that was made before: taking up an operation, reading its pieces or its kept result, asking
//! about its task, answering its questions.
//!
//! Each such request, and each stream while it runs, is judged as the call itself would be: access to the very tool, the
//! permissions of its server and of the tool, the same for each in its chain of delegation, the scopes of the tokens that are shown. What cannot be judged, because
//! there is no such tool any more, does not go on.

use crate::{authority, rights, scopes};
use switchboard_peer::{Context, Session};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::proposals::streaming;
use switchboard_wire::Raw;

use super::audit::{self, event, result, step};
use super::authority::{CallAuthority, Continued, named};
use super::refused::refused;
use super::scopes::{Presented, ScopeTarget};
use super::tables::Tables;
use crate::Gate;
use crate::unknown::no_such_tool;

/// Who goes on with a call: a session, and the tokens that it shows.
#[derive(Debug)]
pub struct Continuing<'a> {
    /// Whose session it is.
    pub session: &'a Session,
    /// The session tokens that it shows.
    pub tokens: &'a Presented,
}

/// Why something may not go on.
struct NotAllowed {
    step: &'static str,
    fault: Fault,
}

impl Gate<'_> {
    /// Judges a request that goes on with a call. A refusal is put on record.
    ///
    /// # Errors
    /// `unknown` where the tool may not be used, as if there were nothing; else what is lacking.
    pub async fn admit_continued(
        &self,
        context: &Context,
        tool: &Continued<'_>,
        what: &str,
        unknown: impl FnOnce() -> Fault,
    ) -> Result<(), Fault> {
        let tokens = Presented::of(context, None);
        let who = Continuing { session: &context.session, tokens: &tokens };
        let tables = self.tables().await?;
        let Err(refusal) = judge_continued(self, &tables, &who, tool) else { return Ok(()) };
        let event = audit::event_of(event::TOOL_BLOCKED, audit::principal(&context.session), result::BLOCKED);
        let event = audit::about(event, tool.server.id(), Some(tool.tool));
        let event = audit::with(audit::with(event, step::KEY, refusal.step), "what", what);
        self.audit.note(refused(event, &refusal.fault)).await;
        Err(if refusal.step == step::ACCESS { unknown() } else { refusal.fault })
    }

    /// Whether a call may go on, by what is known at this moment.
    pub fn may_continue(&self, tables: &Tables, who: &Continuing<'_>, tool: &Continued<'_>) -> bool {
        judge_continued(self, tables, who, tool).is_ok()
    }

    /// Refuses to go on with a call that the limits which hold now do not cover, and with one whose arguments nobody has
    /// any more, where other limits hold now than held for it.
    ///
    /// # Errors
    /// It is such a call.
    pub async fn admit_within(
        &self,
        context: &Context,
        tool: &Continued<'_>,
        what: &str,
        authority: &CallAuthority,
    ) -> Result<(), Fault> {
        let tables = self.tables().await?;
        if Box::pin(self.is_within_limits(&tables, context, tool, authority)).await {
            return Ok(());
        }
        let fault = match authority.params {
            Some(_) => beyond_limits(),
            None => {
                let text = "other limits hold for this tool now than when the call was made";
                Fault::new(FaultKind::AccessDenied, text)
            }
        };
        let fault = if what == streaming::RESUME {
            fault.suggest(
                "make the same call again with the token as `_meta.checkpoint_token`: its arguments are judged anew",
            )
        } else {
            fault
        };
        let event = audit::event_of(event::TOOL_BLOCKED, audit::principal(&context.session), result::BLOCKED);
        let event = audit::about(event, tool.server.id(), Some(tool.tool));
        let event = audit::with(audit::with(event, step::KEY, step::LIMITS), "what", what);
        self.audit.note(refused(event, &fault)).await;
        Err(fault)
    }
}

fn judge_continued(
    gate: &Gate<'_>,
    tables: &Tables,
    who: &Continuing<'_>,
    tool: &Continued<'_>,
) -> Result<(), NotAllowed> {
    let at = |step: &'static str| move |fault: Fault| NotAllowed { step, fault };
    let Some((exposed, place)) = named(&*gate.offers(), tool) else {
        return Err(at(step::ACCESS)(no_such_tool(tool.exposed)));
    };
    let access = gate.access(tables, who.session, tool.server, Some((tool.tool, &exposed)));
    if !access.allow {
        return Err(at(step::ACCESS)(no_such_tool(&exposed)));
    }
    if !tool.chain.is_empty() {
        authority::chain_limits(gate, tables, tool.server, Some(tool.tool), tool.chain)
            .map_err(at(step::DELEGATION))?;
    }
    let policy = place.policy.as_deref().ok_or_else(|| at(step::ACCESS)(no_such_tool(&exposed)))?;
    rights::has_permissions(gate, tables, tool.server, Some(policy)).map_err(at(step::PERMISSIONS))?;
    let wanted = ScopeTarget { server: tool.server.id(), tool: Some((&exposed, policy)) };
    scopes::hold_to_scopes(gate, &who.session.principal, who.tokens, wanted).map_err(at(step::SCOPES))
}

/// That what was called is beyond what may be called now.
pub fn beyond_limits() -> Fault {
    Fault::new(FaultKind::AccessDenied, "the limits that hold for this tool now do not cover this call")
}

/// The tokens that a call of a tool shows.
pub fn tokens_of(context: &Context, params: Option<&Raw>) -> Presented {
    Presented::of(context, params.and_then(|params| params.member("_meta")).as_ref())
}
