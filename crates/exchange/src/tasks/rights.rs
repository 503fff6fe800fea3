//! Who may ask about a task: who made it, for as long as they may use the tool that it runs, also after a restart.
//!
//! Which principal made which task with which tool is written down beside the operations that survive the kernel. Where
//! there is a store, a task that it does not know is nobody's. Without one, a task that is not remembered may be of any tool,
//! so it is for those alone who may use all of them.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use switchboard_gate::audit::{self, event, result};
use switchboard_gate::request::Asking;
use switchboard_gate::{Continued, Continuing, Presented, Subject, Tables, tokens_of};
use switchboard_peer::{Context, Session};
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mcp::method;
use switchboard_store::{Digest, Operation, OperationState};
use switchboard_upstream::Server;
use switchboard_wire::{Edit, Id, Raw, Request};
use tokio::time::Instant;

use super::requests::{only_tasks, unknown_task};
use super::{Made, TaskTool};
use crate::exchange::Exchange;
use crate::host::Host;
use crate::streams::key_with;

/// How long a task is found again after a restart.
const KEPT: SignedDuration = SignedDuration::from_hours(24);

impl<H: Host> Exchange<H> {
    /// A task is used by who may use the tool it runs. A refusal is put on record.
    pub(crate) async fn admit_task(
        &self,
        context: &Context,
        server: &Arc<Server>,
        task: &str,
        what: &str,
    ) -> Result<(), Fault> {
        let unknown = || unknown_task(task);
        // Its server may have given the name to another task meanwhile.
        if self.tasks().is_foreign(task, &context.session.principal) {
            return Err(unknown());
        }
        if let Some(tool) = self.tasks().tool(task, &context.session.principal) {
            let continued = tool.continued(server);
            self.host.gate().admit_continued(context, &continued, what, unknown).await?;
            return self.host.gate().admit_within(context, &continued, what, &tool.authority).await;
        }
        let policy = self.host.plain_policy(server).ok_or_else(unknown)?;
        let params = Edit::empty().set("taskId", Raw::string(task)).finish();
        let request = Request::new(Id::number(0), what, Some(params));
        Asking::other(context, server, Subject::Task, &policy, task, &request)?.pass(self.host.gate()).await?;
        let mut tools = Vec::new();
        self.host.offers().any_tool(&mut |tool| {
            if tool.server.id() == server.id() {
                tools.push((tool.exposed.to_owned(), tool.original.clone()));
            }
            false
        });
        for (exposed, original) in &tools {
            let tool = Continued { server, tool: original, exposed, chain: &[] };
            self.host.gate().admit_continued(context, &tool, what, unknown).await?;
        }
        Ok(())
    }

    /// Puts on record that somebody asks about a task or goes on with it, before they get anything of it.
    ///
    /// # Errors
    /// It cannot be: they get nothing, and nothing is sent. Reads go on where the operator says so.
    pub(super) async fn record_task(
        &self,
        context: &Context,
        server: Option<&Server>,
        task: &str,
        what: &str,
    ) -> Result<(), Fault> {
        let tool = self.tasks().tool(task, &context.session.principal);
        let event = audit::event_of(event::TASK_ASKED, audit::principal(&context.session), result::SUCCESS);
        let event = match server {
            Some(server) => {
                let event = audit::about(event, server.id(), tool.as_ref().map(|tool| &*tool.original));
                audit::with(event, "task", task)
            }
            None => event,
        };
        let event = audit::with(event, "what", what);
        let audit = self.host.gate().audit();
        let reads = [method::TASKS_GET, method::TASKS_RESULT, method::TASKS_LIST].contains(&what);
        if !reads {
            audit.admit_effect()?;
        } else if self.host.gate().options().reads_without_record {
            audit.note(event).await;
            return Ok(());
        }
        audit.note_first(event).await
    }

    /// Whether a task that is remembered is shown to its owner.
    pub fn may_see_task(
        &self,
        session: &Session,
        tokens: &Presented,
        tables: &Tables,
        server: &Server,
        task: &str,
    ) -> bool {
        let Some(tool) = self.tasks().tool(task, &session.principal) else { return true };
        self.host.gate().may_continue(tables, &Continuing { session, tokens }, &tool.continued(server))
    }

    /// Of a server's own list of tasks, those that are this caller's.
    pub(super) async fn own_tasks(&self, context: &Context, server: &Arc<Server>, result: &Raw) -> Raw {
        let principal = &context.session.principal;
        let Ok(tables) = self.host.gate().tables().await else { return only_tasks(result, |_| false) };
        let listed = result.member("tasks").and_then(|tasks| tasks.elements()).unwrap_or_default();
        let id_of = |task: &Raw| task.member("taskId").and_then(|id| id.as_text());
        for id in listed.iter().filter_map(id_of) {
            let _ = self.recall_task(context, server, &id).await;
        }
        let (kept, tokens) = (self.host.gate().store().is_some(), tokens_of(context, None));
        only_tasks(result, |task| {
            let Some(id) = id_of(task) else { return true };
            let known = self.tasks().server(&id, principal, Instant::now()).is_some();
            let mine = if kept { known } else { !self.tasks().is_foreign(&id, principal) };
            mine && self.may_see_task(&context.session, &tokens, &tables, server, &id)
        })
    }

    /// The server that made a task for this caller.
    pub(super) async fn server_of_task(&self, context: &Context, task: &str) -> Result<Arc<Server>, Fault> {
        let unknown = || unknown_task(task);
        let principal = &context.session.principal;
        if let Some(id) = self.tasks().server(task, principal, Instant::now()) {
            return self.server(&id).ok_or_else(unknown);
        }
        // After a restart the servers may be still on their way.
        self.host.wait_for_servers().await;
        for server in self.servers() {
            if self.recall_task(context, &server, task).await {
                return Ok(server);
            }
        }
        if self.host.gate().store().is_some() {
            return Err(unknown());
        }
        self.host.only_server().ok_or_else(unknown)
    }

    /// Remembers a task that was written down before a restart; `false` where there is none of this caller.
    async fn recall_task(&self, context: &Context, server: &Arc<Server>, task: &str) -> bool {
        let principal = &context.session.principal;
        if self.tasks().server(task, principal, Instant::now()).is_some() {
            return true;
        }
        let Some(store) = self.host.gate().store() else { return false };
        let now = self.host.gate().granted.time();
        for shared in [true, false] {
            let made = Made { server: server.id(), shared };
            let kept = store.operations().get(&name(principal, made, task)).await.ok().flatten();
            let is_theirs = |kept: &Operation| kept.expires_at > now && kept.principal == **principal;
            if let Some(kept) = kept.filter(is_theirs) {
                self.tasks().note(task, made, principal, Some(TaskTool::recalled(&kept)), Instant::now());
                return true;
            }
        }
        false
    }

    /// Writes down whose a task is, and of which tool.
    pub(super) async fn write_task(&self, task: &str, made: Made<'_>, principal: &str, tool: &TaskTool) {
        let Some(store) = self.host.gate().store() else { return };
        let now = self.host.gate().granted.time();
        let operation = Operation {
            id: name(principal, made, task),
            principal: principal.to_owned(),
            server: made.server.as_ref().to_owned(),
            tool: tool.original.as_ref().to_owned(),
            arguments: Digest::ZERO,
            // No token is ever signed with it: it holds what the right to the call rests on.
            key: key_with(&tool.authority),
            state: OperationState::Running,
            result: None,
            created_at: now,
            expires_at: now.checked_add(KEPT).unwrap_or(Timestamp::MAX),
        };
        if let Err(error) = store.operations().begin(&operation).await {
            tracing::warn!(%error, server = %made.server, "a task could not be written down; a restart will forget it");
        }
    }
}

/// The name under which a task is written down: one for each server, and for each principal with a connection of its own.
fn name(principal: &str, made: Made<'_>, task: &str) -> String {
    let owner = if made.shared { None } else { Some(principal) };
    let whose = serde_json::json!([owner, **made.server, task]).to_string();
    format!("task-{}", Digest::of(whose.as_bytes()).to_hex())
}
