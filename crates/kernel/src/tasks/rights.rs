//! Who may ask about a task: who made it, for as long as they may use the tool that it runs, also after a restart.
//!
//! Which principal made which task with which tool is written down beside the operations that survive the kernel. Where
//! there is a store, a task that it does not know is nobody's. Without one, a task that is not remembered may be of any tool,
//! so it is for those alone who may use all of them.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use switchboard_peer::{Context, Session};
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mcp::method;
use switchboard_store::{Digest, Operation, OperationState};
use switchboard_wire::{Edit, Id, Raw, Request};

use super::TaskTool;
use super::requests::{only_tasks, unknown_task};
use crate::gate::audit::{self, event, result};
use crate::gate::request::Asking;
use crate::gate::{self, Continued, Continuing, Presented, Subject, Tables};
use crate::kernel::Kernel;
use crate::server::Server;
use crate::streams::key_with;

/// How long a task is found again after a restart.
const KEPT: SignedDuration = SignedDuration::from_hours(24);

impl Kernel {
    /// A task is used by who may use the tool it runs. A refusal is put on record.
    pub(crate) async fn admit_task(
        &self,
        context: &Context,
        server: &Arc<Server>,
        task: &str,
        what: &str,
    ) -> Result<(), Fault> {
        let unknown = || unknown_task(task);
        if let Some(tool) = self.tasks().tool(task, &context.session.principal) {
            let continued = tool.continued(server);
            self.gate().admit_continued(context, &continued, what, unknown).await?;
            return self.gate().admit_within(context, &continued, what, &tool.authority).await;
        }
        let view = self.view();
        let index = view.servers.iter().position(|known| Arc::ptr_eq(known, server));
        let policy = index.and_then(|index| view.directory.plain_policy(index)).ok_or_else(unknown)?;
        let params = Edit::empty().set("taskId", Raw::string(task)).finish();
        let request = Request::new(Id::number(0), what, Some(params));
        Asking::other(context, server, Subject::Task, &policy, task, &request)?.pass(self.gate()).await?;
        for (_, exposed, route) in view.directory.tools().filter(|(id, ..)| *id == server.id()) {
            let tool = Continued { server, tool: &route.original, exposed, chain: &[] };
            self.gate().admit_continued(context, &tool, what, unknown).await?;
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
        let audit = &self.gate().audit;
        let reads = [method::TASKS_GET, method::TASKS_RESULT, method::TASKS_LIST].contains(&what);
        if !reads {
            audit.admit_effect()?;
        } else if self.gate().options().reads_without_record {
            audit.note(event).await;
            return Ok(());
        }
        audit.note_first(event).await
    }

    /// Whether a task that is remembered is shown to its owner.
    pub(crate) fn may_see_task(
        &self,
        session: &Session,
        tokens: &Presented,
        tables: &Tables,
        server: &Server,
        task: &str,
    ) -> bool {
        let Some(tool) = self.tasks().tool(task, &session.principal) else { return true };
        let who = Continuing { session, tokens };
        self.gate().may_continue(tables, &who, &tool.continued(server))
    }

    /// Of a server's own list of tasks, those that are this caller's.
    pub(super) async fn own_tasks(&self, context: &Context, server: &Arc<Server>, result: &Raw) -> Raw {
        let principal = &context.session.principal;
        let Ok(tables) = self.gate().tables().await else { return only_tasks(result, |_| false) };
        let listed = result.member("tasks").and_then(|tasks| tasks.elements()).unwrap_or_default();
        let id_of = |task: &Raw| task.member("taskId").and_then(|id| id.as_text());
        for id in listed.iter().filter_map(id_of) {
            let _ = self.recall_task(context, server, &id).await;
        }
        let (kept, tokens) = (self.gate().store().is_some(), gate::tokens_of(context, None));
        only_tasks(result, |task| {
            let Some(id) = id_of(task) else { return true };
            let known = self.tasks().server(&id, principal).is_some();
            let mine = if kept { known } else { !self.tasks().is_foreign(&id, principal) };
            mine && self.may_see_task(&context.session, &tokens, &tables, server, &id)
        })
    }

    /// The server that made a task for this caller.
    pub(super) async fn server_of_task(&self, context: &Context, task: &str) -> Result<Arc<Server>, Fault> {
        let unknown = || unknown_task(task);
        let principal = &context.session.principal;
        if let Some(id) = self.tasks().server(task, principal) {
            return self.server(&id).ok_or_else(unknown);
        }
        // After a restart the servers may be still on their way.
        self.wait_for_servers().await;
        let view = self.view();
        for server in &view.servers {
            if self.recall_task(context, server, task).await {
                return Ok(server.clone());
            }
        }
        if self.gate().store().is_some() {
            return Err(unknown());
        }
        view.directory.only().and_then(|index| view.servers.get(index).cloned()).ok_or_else(unknown)
    }

    /// Remembers a task that was written down before a restart; `false` where there is none of this caller.
    async fn recall_task(&self, context: &Context, server: &Arc<Server>, task: &str) -> bool {
        let principal = &context.session.principal;
        if self.tasks().server(task, principal).is_some() {
            return true;
        }
        let Some(store) = self.gate().store() else { return false };
        let kept = store.operations().get(&name(principal, server.id(), task)).await;
        let now = self.gate().granted.time();
        let Some(kept) = kept.ok().flatten().filter(|kept| kept.expires_at > now) else { return false };
        self.tasks().note(task, server.id(), principal, Some(TaskTool::recalled(&kept)));
        true
    }

    /// Writes down whose a task is, and of which tool.
    pub(super) async fn write_task(&self, task: &str, server: &Server, principal: &str, tool: &TaskTool) {
        let Some(store) = self.gate().store() else { return };
        let now = self.gate().granted.time();
        let operation = Operation {
            id: name(principal, server.id(), task),
            principal: principal.to_owned(),
            server: server.id().as_ref().to_owned(),
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
            tracing::warn!(%error, server = %server.id(), "a task could not be written down; a restart will forget it");
        }
    }
}

/// The name under which a task is written down: one for each principal and server.
fn name(principal: &str, server: &str, task: &str) -> String {
    let whose = serde_json::json!([principal, server, task]).to_string();
    format!("task-{}", Digest::of(whose.as_bytes()).to_hex())
}
