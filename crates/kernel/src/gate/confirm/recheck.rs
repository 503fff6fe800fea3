//! What is looked at again around a person's answer: whether who answers may decide, and whether the tool is still the
//! one that the answer is about.

use std::sync::Arc;

use switchboard_peer::{Context, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};

use crate::gate::audit::{self, event, result};
use crate::gate::refused::refused;
use crate::gate::scopes::{Presented, Wanted};
use crate::gate::{Attempt, Subject, ToolPolicy};
use crate::kernel::Kernel;
use crate::server::Server;

/// A tool as it is known now.
pub(in crate::gate) struct CurrentTool {
    pub(in crate::gate) server: Arc<Server>,
    pub(in crate::gate) policy: Arc<ToolPolicy>,
}

impl Kernel {
    /// Finds the tool or prompt that a person agreed to once more. Where it is gone, held back, or another one than the
    /// person was asked about, the answer to the client.
    ///
    /// # Errors
    /// Its server does not come back.
    pub(in crate::gate) async fn look_up_again(
        &self,
        attempt: &Attempt<'_>,
    ) -> Result<Result<Option<CurrentTool>, Reply>, Fault> {
        if attempt.context.session.identity.ended.is_cancelled() {
            return Ok(Err(self.token_ended(attempt).await));
        }
        if let Some(server) = self.server(attempt.server.id())
            && server.hub_now().is_none()
        {
            // What comes back may say other things of itself than what was there before.
            server.hub().await?;
        }
        let view = self.view();
        let (found, original) = match attempt.subject {
            Subject::Tool => (view.directory.tool(attempt.exposed), attempt.tool),
            Subject::Prompt => {
                let original = attempt.tool.split_once(':').map_or(attempt.tool, |(_, original)| original);
                (view.directory.prompt(attempt.exposed), original)
            }
            Subject::Resource => {
                // It is read where it is now, by what holds for it there.
                let found = self.found_resource(attempt.exposed, &attempt.context.session.principal);
                let found = found.filter(|found| found.server.id() == attempt.server.id());
                let Some(found) = found else {
                    return Ok(Err(self.changed(attempt, crate::kernel::unknown_resource(attempt.exposed)).await));
                };
                if found.reading.policy.definition() == attempt.policy.definition() {
                    let current = CurrentTool { server: found.server, policy: found.reading.policy };
                    return Ok(Ok(Some(current)));
                }
                let text = format!("`{}` was not read: what it is read by has changed since", attempt.exposed);
                let fault = Fault::new(FaultKind::DefinitionHeld, text);
                let fault = fault.suggest("list the resources again; a new request is asked about anew");
                return Ok(Err(self.changed(attempt, fault).await));
            }
            // What has no definition cannot have another one.
            _ => return Ok(Ok(None)),
        };
        let current = found.as_ref().and_then(|route| {
            let server = view.servers.get(route.server)?;
            let same = server.id() == attempt.server.id() && *route.original == *original;
            let policy = route.policy.as_ref().filter(|_| same)?;
            Some(CurrentTool { server: server.clone(), policy: policy.clone() })
        });
        let (kind, why) = match current {
            Some(current) if current.policy.definition() == attempt.policy.definition() => {
                return Ok(Ok(Some(current)));
            }
            Some(_) => (FaultKind::DefinitionHeld, "its definition has changed since a person was asked about it"),
            None if attempt.server.quarantine().contains_key(attempt.tool) => (
                FaultKind::DefinitionHeld,
                "its definition has changed since a person was asked about it, and is held back",
            ),
            None => (FaultKind::UnknownTool, "it has gone since a person was asked about it"),
        };
        let fault = Fault::new(kind, format!("`{}` was not called: {why}", attempt.exposed))
            .suggest("list the tools again; a new call is asked about anew");
        Ok(Err(self.changed(attempt, fault).await))
    }

    /// The answer to a call whose token has ended while a person was asked about it.
    pub(in crate::gate) async fn token_ended(&self, attempt: &Attempt<'_>) -> Reply {
        let text = format!("the token that `{}` was called with has ended", attempt.exposed);
        self.changed(attempt, Fault::new(FaultKind::AuthExpired, text)).await
    }

    async fn changed(&self, attempt: &Attempt<'_>, fault: Fault) -> Reply {
        let event = audit::with(attempt.event(event::TOOL_REJECTED, result::BLOCKED), "step", "confirmation");
        let event = audit::with(event, "reason", fault.message());
        self.gate().audit.note(refused(event, &fault)).await;
        attempt.refusal(&fault)
    }

    /// Whether whoever sends this request may answer the question about a held call: only who may make the call itself,
    /// with the rights it shows now.
    ///
    /// # Errors
    /// It cannot be known now who may do what.
    pub(in crate::gate) async fn may_decide(&self, context: &Context, callback: &str) -> Result<bool, Fault> {
        let Some(asked) = self.gate().desk.asked_about(callback) else { return Ok(false) };
        let session = &context.session;
        if asked.principal != session.principal || session.identity.ended.is_cancelled() {
            return Ok(false);
        }
        let tables = self.tables().await?;
        let view = self.view();
        let Some(server) = self.server(&asked.server) else { return Ok(false) };
        let policy = asked.tool.as_ref().map(|(_, exposed)| view.directory.tool(exposed)?.policy);
        let tool = match (&asked.tool, &policy) {
            (None, _) => None,
            (Some((_, exposed)), Some(Some(policy))) => Some((&**exposed, &**policy)),
            // Nobody may call what is not there.
            (Some(_), _) => return Ok(false),
        };
        let named = asked.tool.as_ref().map(|(tool, exposed)| (&**tool, &**exposed));
        Ok(self.access(&tables, session, &server, named).allow
            && self.is_in_scope(context, &Presented::of(context, None), Wanted { server: server.id(), tool }))
    }
}
