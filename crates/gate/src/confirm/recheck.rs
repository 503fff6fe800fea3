//! What is looked at again around a person's answer: whether who answers may decide, and whether the tool is still the
//! one that the answer is about.

use std::sync::Arc;

use switchboard_peer::{Context, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::method;
use switchboard_upstream::{Curated, ListKind, Server, ServerPolicy};
use switchboard_wire::{Id, Raw, Request};

use crate::audit::{self, event, result, step};
use crate::refused::refused;
use crate::scopes::{Presented, ScopeTarget};
use crate::surroundings::Destination;
use crate::unknown::unknown_resource;
use crate::{Attempt, Gate, Subject, ToolPolicy, canonical};

/// Why a call is not made whose arguments are not those that were shown.
const OTHERWISE: &str = "the operator has fixed other arguments for it since a person was asked about it";

/// In the words of what was asked for: a prompt is got and a resource read, only a tool is called.
fn not_called(attempt: &Attempt<'_>, kind: FaultKind, why: &str) -> Fault {
    let (done, next) = match attempt.subject {
        Subject::Prompt => ("got", "list the prompts again; a new request is asked about anew"),
        Subject::Resource => ("read", "list the resources again; a new request is asked about anew"),
        Subject::Tool => ("called", "list the tools again; a new call is asked about anew"),
        _ => ("done", "a new request is asked about anew"),
    };
    Fault::new(kind, format!("`{}` was not {done}: {why}", attempt.exposed)).suggest(next)
}

/// That what a person is asked about is not there any more.
fn gone(attempt: &Attempt<'_>) -> Fault {
    let kind = match attempt.subject {
        Subject::Tool => FaultKind::UnknownTool,
        Subject::Prompt => FaultKind::UnknownPrompt,
        Subject::Task => FaultKind::UnknownTask,
        Subject::Resource | Subject::Subscription => FaultKind::UnknownResource,
        Subject::Completion | Subject::Unknown => FaultKind::InvalidParams,
    };
    not_called(attempt, kind, "it has gone since a person was asked about it")
}

/// A tool as it is known now.
pub(crate) struct CurrentTool {
    pub(crate) server: Arc<Server>,
    pub(crate) policy: Arc<ToolPolicy>,
}

impl Gate<'_> {
    /// Whether whoever sends this request may answer the question about a held call: only who may make the call itself,
    /// with the rights it shows now.
    ///
    /// # Errors
    /// It cannot be known now who may do what.
    pub async fn may_decide(&self, context: &Context, callback: &str) -> Result<bool, Fault> {
        let Some(asked) = self.desk.asked_about(callback) else { return Ok(false) };
        let session = &context.session;
        if asked.principal != session.principal || session.identity.ended.is_cancelled() {
            return Ok(false);
        }
        let tables = self.tables().await?;
        let Some(server) = self.server(&asked.server) else { return Ok(false) };
        let policy = asked.tool.as_ref().map(|(_, exposed)| self.offers().tool(exposed)?.policy);
        let tool = match (&asked.tool, &policy) {
            (None, _) => None,
            (Some((_, exposed)), Some(Some(policy))) => Some((&**exposed, &**policy)),
            // Nobody may call what is not there.
            (Some(_), _) => return Ok(false),
        };
        let named = asked.tool.as_ref().map(|(tool, exposed)| (&**tool, &**exposed));
        Ok(self.access(&tables, session, &server, named).allow
            && self.is_in_scope(context, &Presented::of(context, None), ScopeTarget { server: server.id(), tool }))
    }
}

/// Finds the tool or prompt that a person agreed to once more. Where it is gone, held back, or another one than the
/// person was asked about, the answer to the client.
///
/// # Errors
/// Its server does not come back.
pub(crate) async fn look_up_again(
    gate: &Gate<'_>,
    attempt: &Attempt<'_>,
) -> Result<Result<Option<CurrentTool>, Reply>, Fault> {
    if attempt.context.session.identity.ended.is_cancelled() {
        return Ok(Err(token_ended(gate, attempt).await));
    }
    if let Some(server) = gate.server(attempt.server.id())
        && server.hub_now().is_none()
    {
        // What comes back may say other things of itself than what was there before.
        server.hub().await?;
    }
    match current(gate, attempt) {
        Ok(current) => Ok(Ok(current)),
        Err(fault) => Ok(Err(changed(gate, attempt, fault).await)),
    }
}

/// The tool, prompt or resource of an attempt as it is known now; nothing for what has no definition.
///
/// # Errors
/// It is gone, held back, or another one than the person is asked about.
fn current(gate: &Gate<'_>, attempt: &Attempt<'_>) -> Result<Option<CurrentTool>, Fault> {
    let (found, original) = match attempt.subject {
        // Its name may be a longer one since another server came; the tool is the same.
        Subject::Tool => (tool_asked_about(gate, attempt), attempt.tool),
        Subject::Prompt => {
            let original = attempt.tool.split_once(':').map_or(attempt.tool, |(_, original)| original);
            (gate.offers().prompt(attempt.exposed), original)
        }
        Subject::Resource => {
            // It is read where it is now, by what holds for it there.
            let found = gate.around.resource(attempt.exposed, &attempt.context.session.principal);
            let found = found.filter(|(server, _)| server.id() == attempt.server.id());
            let (server, policy) = found.ok_or_else(|| unknown_resource(attempt.exposed))?;
            if policy.definition() == attempt.policy.definition() {
                return Ok(Some(CurrentTool { server, policy }));
            }
            return Err(not_called(attempt, FaultKind::DefinitionHeld, "what it is read by has changed since"));
        }
        // What has no definition cannot have another one.
        _ => return Ok(None),
    };
    let curated = found.as_ref().and_then(|place| place.curated.as_deref());
    if attempt.subject == Subject::Tool && curated.is_some_and(|curated| is_filled_otherwise(curated, attempt)) {
        return Err(not_called(attempt, FaultKind::DefinitionHeld, OTHERWISE));
    }
    let current = found.and_then(|place| {
        let same = place.server.id() == attempt.server.id() && *place.original == *original;
        let policy = place.policy.filter(|_| same)?;
        Some(CurrentTool { server: place.server, policy })
    });
    let (kind, why) = match current {
        Some(current) if current.policy.definition() == attempt.policy.definition() => return Ok(Some(current)),
        Some(_) => (FaultKind::DefinitionHeld, "its definition has changed since a person was asked about it"),
        None if attempt.server.quarantine().contains_key(attempt.tool) => (
            FaultKind::DefinitionHeld,
            "its definition has changed since a person was asked about it, and is held back",
        ),
        None => return Err(gone(attempt)),
    };
    Err(not_called(attempt, kind, why))
}

fn tool_asked_about(gate: &Gate<'_>, attempt: &Attempt<'_>) -> Option<Destination> {
    let offers = gate.offers();
    let is_it = |place: &Destination| place.server.id() == attempt.server.id() && *place.original == *attempt.tool;
    let by_name = offers.tool(attempt.exposed).filter(is_it);
    by_name.or_else(|| offers.tool_of(attempt.server.id(), attempt.tool).map(|(_, place)| place))
}

/// Judges an attempt that waits for a person by the servers, lists and settings that there are now. A server that is on
/// its way up is waited for: until it is there, nothing can be said of its tools.
///
/// # Errors
/// As [`Self::check_rights`].
pub(crate) async fn judge_anew(gate: &Gate<'_>, attempt: &Attempt<'_>) -> Result<Option<Reply>, Fault> {
    let Some(server) = gate.server(attempt.server.id()) else {
        return Ok(Some(changed(gate, attempt, gone(attempt)).await));
    };
    // Whatever the server says once it is there.
    if let Err(fault) = still_set(&server.policy_now(), attempt) {
        return Ok(Some(changed(gate, attempt, fault).await));
    }
    if server.hub_now().is_none() {
        return Box::pin(gate.check_rights(&Attempt { server: &server, ..*attempt })).await;
    }
    match current(gate, attempt) {
        Err(fault) => Ok(Some(changed(gate, attempt, fault).await)),
        Ok(Some(now)) => {
            Box::pin(gate.check_rights(&Attempt { server: &now.server, policy: &now.policy, ..*attempt })).await
        }
        Ok(None) => Box::pin(gate.check_rights(&Attempt { server: &server, ..*attempt })).await,
    }
}

/// The answer to a call whose token has ended while a person was asked about it.
pub(crate) async fn token_ended(gate: &Gate<'_>, attempt: &Attempt<'_>) -> Reply {
    let text = format!("the token that `{}` was called with has ended", attempt.exposed);
    changed(gate, attempt, Fault::new(FaultKind::AuthExpired, text)).await
}

async fn changed(gate: &Gate<'_>, attempt: &Attempt<'_>, fault: Fault) -> Reply {
    let event = audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), step::KEY, step::CONFIRMATION);
    let event = audit::with(event, "reason", fault.message());
    gate.audit.note(refused(event, &fault)).await;
    attempt.refusal(&fault)
}

/// Whether the settings of a server leave what a person is asked about as it was shown.
fn still_set(settings: &ServerPolicy, attempt: &Attempt<'_>) -> Result<(), Fault> {
    let (kind, name) = match attempt.subject {
        Subject::Tool => (ListKind::Tools, attempt.tool),
        Subject::Prompt => (ListKind::Prompts, attempt.tool.split_once(':').map_or(attempt.tool, |(_, name)| name)),
        _ => return Ok(()),
    };
    if settings.is_disabled(kind, name) {
        let why = "it was switched off since a person was asked about it";
        let kind = if attempt.subject == Subject::Tool { FaultKind::ToolDisabled } else { FaultKind::UnknownPrompt };
        return Err(not_called(attempt, kind, why));
    }
    let curated = settings.curated.get(name).filter(|_| kind == ListKind::Tools);
    if curated.is_some_and(|curated| is_filled_otherwise(curated, attempt)) {
        return Err(not_called(attempt, FaultKind::DefinitionHeld, OTHERWISE));
    }
    Ok(())
}

/// Whether the settings of a tool would give a call other arguments than those that a person was shown.
fn is_filled_otherwise(curated: &Curated, attempt: &Attempt<'_>) -> bool {
    let shown = Request::new(Id::number(0), method::TOOLS_CALL, Some(attempt.raw.clone()));
    curated.filled(shown).map_or(true, |filled| filled.params.is_none_or(|filled| !is_same(&filled, attempt.raw)))
}

/// Whether two values mean the same, digit by digit. Of what cannot be read nobody knows.
fn is_same(one: &Raw, other: &Raw) -> bool {
    matches!((canonical::digest(one), canonical::digest(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    #[test]
    fn what_no_number_holds_is_told_apart() {
        let raw = |text: &str| Raw::parse(text.to_owned(), &Limits::default()).unwrap();
        for (one, other, same) in [
            (r#"{"a":1,"b":"x"}"#, r#"{ "b":"\u0078", "a":1 }"#, true),
            (r#"{"a":1e999,"b":"x"}"#, r#"{"a":1e999,"b":"x"}"#, true),
            (r#"{"a":1e999,"b":"x"}"#, r#"{"a":1e999,"b":"y"}"#, false),
            (r#"{"a":0.10000000000000000000001}"#, r#"{"a":0.10000000000000000000002}"#, false),
        ] {
            assert_eq!(is_same(&raw(one), &raw(other)), same, "{one} {other}");
        }
    }
}
