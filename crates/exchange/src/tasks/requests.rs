//! What clients ask about tasks: found by the server that made them, for the one they belong to.

use std::sync::Arc;

use switchboard_gate::request::Asking;
use switchboard_gate::{Subject, tokens_of};
use switchboard_peer::{Context, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::method;
use switchboard_protocol::{Era, bridge};
use switchboard_upstream::Server;
use switchboard_wire::{Edit, Object, Raw, Request};
use tokio::time::Instant;

use super::{Across, Made, TaskTool, finished_legacy, with_related_task};
use crate::asker;
use crate::exchange::Exchange;
use crate::forward::Forward;
use crate::host::Host;
use crate::params::{object_of, text_of};

impl<H: Host> Exchange<H> {
    /// A request about a task goes to the server that made the task.
    ///
    /// # Errors
    /// There is no such task of this caller, or its server does not answer.
    pub async fn task_request(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let task = text_of(&object_of(&request)?, "taskId")?;
        if let Some((result, origin)) = self.tasks().finished(&task, &context.session.principal, Instant::now()) {
            let server = self.server(&origin).ok_or_else(|| unknown_task(&task))?;
            self.admit_task(context, &server, &task, &request.method).await?;
            self.record_task(context, Some(&server), &task, &request.method).await?;
            let now = jiff::Timestamp::now().to_string();
            return Ok(Ok(match &*request.method {
                method::TASKS_RESULT => with_related_task(&result, &task),
                _ => finished_legacy(&task, &now),
            })
            .into());
        }
        // Another may have a task of that name at another server; whose this one is, is looked up first.
        let server = self.server_of_task(context, &task).await?;
        let asked = request.method.clone();
        self.admit_task(context, &server, &task, &asked).await?;
        self.record_task(context, Some(&server), &task, &asked).await?;
        let upstream = self.upstream(context, &server).await?;
        let across = Across { exchange: self, context, server: &server, upstream: &upstream };
        let asking = async {
            match (context.caller.era(), upstream.revision.era()) {
                (Era::Legacy, Era::Modern) => across.legacy_asks(&request.method, &task).await,
                (Era::Modern, Era::Legacy) => {
                    let reply = across.modern_asks(&request.method, &task, &object_of(&request)?).await;
                    reply.map(|reply| Reply {
                        outcome: reply.outcome.map(|result| asker::answer_of(&server, result)),
                        extra: reply.extra,
                    })
                }
                _ => {
                    let params = request.params.clone();
                    self.forward(context, &server, Forward::of_request(request, params)).await
                }
            }
        };
        let gate = self.host.gate();
        let tokens = tokens_of(context, None);
        let may = || self.may_see_task(&context.session, &tokens, &gate.granted.latest(), &server, &task);
        // Who waits for a result hears at once that the right to it was taken back.
        let reply = Box::pin(gate.while_it_may(context, asking, may)).await;
        // It may have waited long: what was taken back meanwhile is not given.
        self.admit_task(context, &server, &task, &asked).await?;
        reply.unwrap_or_else(|| Err(unknown_task(&task)))
    }

    /// The tasks of all servers that can list them, and of those that cannot the ones that are remembered here.
    ///
    /// # Errors
    /// It cannot be known now what the caller may use, or it is refused.
    pub async fn list_tasks(&self, context: &Context, request: Request) -> Result<Reply, Fault> {
        let servers = self.servers();
        let can_list = |server: &Arc<Server>| {
            server.hub_now().is_some_and(|hub| hub.connected.server.capabilities.at(&["tasks", "list"]).is_some())
        };
        let principal = &context.session.principal;
        let tables = self.host.gate().tables().await?;
        let may_use = |server: &&Arc<Server>| {
            self.host.gate().access(&tables, &context.session, server, None).allow
                && self.host.gate().standing(&tables, server, None).missing.is_empty()
        };
        if !servers.iter().any(|server| may_use(&server)) {
            return Ok(Ok(Edit::empty().set("tasks", Raw::array(&[])).finish()).into());
        }
        self.record_task(context, None, "", &request.method).await?;
        if let Some(server) = servers.first().filter(|server| servers.len() == 1 && can_list(server)) {
            let policy = self.host.plain_policy(server).ok_or_else(|| unknown_task(""))?;
            Asking::other(context, server, Subject::Task, &policy, "", &request)?.pass(self.host.gate()).await?;
            let params = request.params.clone();
            let mut reply = self.forward(context, server, Forward::of_request(request, params)).await?;
            if let Ok(result) = &reply.outcome {
                reply.outcome = Ok(self.own_tasks(context, server, result).await);
            }
            return Ok(reply);
        }
        let mut mine = self.tasks().of(principal);
        let (session, tokens) = (&context.session, tokens_of(context, None));
        mine.retain(|(task, id)| {
            let server = self.server(id);
            server.is_some_and(|server| self.may_see_task(session, &tokens, &tables, &server, task))
        });
        let of_one = |server: &Arc<Server>| {
            let (server, extra, asked) = (server.clone(), request.extra.clone(), request.method.clone());
            let mine: Vec<_> =
                mine.iter().filter(|(_, owner)| owner == server.id()).map(|(id, _)| id.clone()).collect();
            async move {
                if can_list(&server) {
                    let forward = Forward { method: asked, params: None, extra, ..Forward::default() };
                    let listed = self.forward(context, &server, forward).await;
                    let Ok(Reply { outcome: Ok(result), .. }) = listed else { return Vec::new() };
                    let made = |task: &Raw| {
                        let id = task.member("taskId").and_then(|id| id.as_text());
                        id.is_some_and(|id| mine.contains(&id))
                    };
                    return result
                        .member("tasks")
                        .and_then(|raw| raw.elements())
                        .unwrap_or_default()
                        .into_iter()
                        .filter(made)
                        .collect();
                }
                if mine.is_empty() {
                    return Vec::new();
                }
                let Ok(upstream) = self.upstream(context, &server).await else { return Vec::new() };
                if upstream.revision.era() == Era::Legacy {
                    return Vec::new();
                }
                let across = Across { exchange: self, context, server: &server, upstream: &upstream };
                let mut tasks = Vec::new();
                for id in mine {
                    if let Ok(Reply { outcome: Ok(task), .. }) = across.legacy_asks(method::TASKS_GET, &id).await {
                        tasks.push(task);
                    }
                }
                tasks
            }
        };
        // One slow server does not hold up the list of the others.
        let wait = self.options().list_wait;
        let asked = servers.iter().filter(may_use).map(|server| tokio::time::timeout(wait, of_one(server)));
        let tasks: Vec<Raw> = futures_util::future::join_all(asked).await.into_iter().flatten().flatten().collect();
        Ok(Ok(Edit::empty().set("tasks", Raw::array(&tasks)).finish()).into())
    }

    /// Notes the task that an answer is about, where there is one.
    pub async fn note_task(
        &self,
        context: &Context,
        server: &Arc<Server>,
        tool: TaskTool,
        params: &Object,
        reply: &Reply,
    ) {
        let Ok(result) = &reply.outcome else { return };
        let id = result.at(&["task", "taskId"]).or_else(|| {
            (bridge::result_type(result) == bridge::ResultType::Task).then(|| result.member("taskId")).flatten()
        });
        let principal = &context.session.principal;
        let Some(id) = id.and_then(|id| id.as_text()) else { return };
        let tool = tool.called_with(params);
        let shared = self.upstream(context, server).await.is_ok_and(|upstream| upstream.shared);
        self.write_task(&id, Made { server: server.id(), shared }, principal, &tool).await;
        if !self.tasks().name_tool(&id, principal, &tool) {
            self.tasks().note(&id, Made { server: server.id(), shared }, principal, Some(tool), Instant::now());
        }
    }
}

/// A list of tasks without those that do not pass.
pub(super) fn only_tasks(result: &Raw, passes: impl Fn(&Raw) -> bool) -> Raw {
    let kept = || {
        let tasks = result.member("tasks")?.elements()?;
        let kept: Vec<&Raw> = tasks.iter().filter(|task| passes(task)).collect();
        if kept.len() == tasks.len() {
            return None;
        }
        Some(Edit::of(result).ok()?.set("tasks", Raw::array(kept)).finish())
    };
    kept().unwrap_or_else(|| result.clone())
}

/// There is no such task of the caller.
#[must_use]
pub fn unknown_task(task: &str) -> Fault {
    Fault::new(FaultKind::UnknownTask, format!("Unknown task: {task}"))
}
