//! What goes on with a call that was made before: taking up an operation, reading its pieces or its kept result, asking
//! about its task, answering its questions.
//!
//! Each such request, and each stream while it runs, is judged as the call itself would be: access to the very tool, the
//! permissions of its server and of the tool, the same for each in its chain of delegation, the scopes of the tokens that are shown. What cannot be judged, because
//! there is no such tool any more, does not go on.

use switchboard_peer::{Context, Session};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::proposals::streaming;
use switchboard_wire::Raw;

use super::audit::{self, event, result};
use super::authority::CallAuthority;
use super::refused::refused;
use super::scopes::{Presented, ScopeTarget};
use super::tables::Tables;
use crate::Gate;
use crate::surroundings::{Destination, Offers};
use crate::unknown::no_such_tool;
use switchboard_upstream::Server;

/// The tool whose call goes on.
#[derive(Debug, Clone, Copy)]
pub struct Continued<'a> {
    /// The server that has it.
    pub server: &'a Server,
    /// As the server calls it.
    pub tool: &'a str,
    /// As the client called it; it may have another name by now.
    pub exposed: &'a str,
    /// Those on whose behalf the call is made, the caller last; nobody where it is the caller's own.
    pub chain: &'a [String],
}

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
        let Err(refusal) = self.judge_continued(&tables, &who, tool) else { return Ok(()) };
        let event = audit::event_of(event::TOOL_BLOCKED, audit::principal(&context.session), result::BLOCKED);
        let event = audit::about(event, tool.server.id(), Some(tool.tool));
        let event = audit::with(audit::with(event, "step", refusal.step), "what", what);
        self.audit.note(refused(event, &refusal.fault)).await;
        Err(if refusal.step == "access" { unknown() } else { refusal.fault })
    }

    /// Whether a call may go on, by what is known at this moment.
    pub fn may_continue(&self, tables: &Tables, who: &Continuing<'_>, tool: &Continued<'_>) -> bool {
        self.judge_continued(tables, who, tool).is_ok()
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
        let event = audit::with(audit::with(event, "step", "limits"), "what", what);
        self.audit.note(refused(event, &fault)).await;
        Err(fault)
    }

    fn judge_continued(&self, tables: &Tables, who: &Continuing<'_>, tool: &Continued<'_>) -> Result<(), NotAllowed> {
        let at = |step: &'static str| move |fault: Fault| NotAllowed { step, fault };
        let Some((exposed, place)) = named(&*self.offers(), tool) else {
            return Err(at("access")(no_such_tool(tool.exposed)));
        };
        let access = self.access(tables, who.session, tool.server, Some((tool.tool, &exposed)));
        if !access.allow {
            return Err(at("access")(no_such_tool(&exposed)));
        }
        if !tool.chain.is_empty() {
            self.chain_limits(tables, tool.server, Some(tool.tool), tool.chain).map_err(at("delegation"))?;
        }
        let policy = place.policy.as_deref().ok_or_else(|| at("access")(no_such_tool(&exposed)))?;
        self.has_permissions(tables, tool.server, Some(policy)).map_err(at("permissions"))?;
        let wanted = ScopeTarget { server: tool.server.id(), tool: Some((&exposed, policy)) };
        self.hold_to_scopes(&who.session.principal, who.tokens, wanted).map_err(at("scopes"))
    }
}

/// The tool under the name that clients know it by now.
pub(crate) fn named(offers: &dyn Offers, tool: &Continued<'_>) -> Option<(String, Destination)> {
    let is_it = |place: &Destination| *place.original == *tool.tool && place.server.id() == tool.server.id();
    match offers.tool(tool.exposed).filter(is_it) {
        Some(place) => Some((tool.exposed.to_owned(), place)),
        None => offers.tool_of(tool.server.id(), tool.tool),
    }
}

/// That what was called is beyond what may be called now.
pub fn beyond_limits() -> Fault {
    Fault::new(FaultKind::AccessDenied, "the limits that hold for this tool now do not cover this call")
}

/// The tokens that a call of a tool shows.
pub fn tokens_of(context: &Context, params: Option<&Raw>) -> Presented {
    Presented::of(context, params.and_then(|params| params.member("_meta")).as_ref())
}
