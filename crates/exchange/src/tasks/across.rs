//! Requests about tasks where client and server are of different eras.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use switchboard_peer::{Context, Reply};
use switchboard_protocol::bridge::{self, ResultType};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::{meta, method};
use switchboard_upstream::Server;
use switchboard_wire::{Edit, ErrorObject, Object, Raw, code};
use tokio::time::Instant;

use super::shape;
use crate::exchange::Exchange;
use crate::forward::{Forward, Upstream, failed};
use crate::host::Host;

/// The pause between two looks at a task whose server names none, and the bounds for one that does.
const POLL: Duration = Duration::from_millis(500);
const SHORTEST_POLL: Duration = Duration::from_millis(20);
const LONGEST_POLL: Duration = Duration::from_secs(5);
/// How long the questions of a legacy task are waited for when its state says that there are some.
const QUESTION_WAIT: Duration = Duration::from_secs(2);

/// One request about tasks, with the connection it takes.
pub(crate) struct Across<'a, H> {
    pub(crate) exchange: &'a Exchange<H>,
    pub(crate) context: &'a Context,
    pub(crate) server: &'a Arc<Server>,
    pub(crate) upstream: &'a Upstream,
}

impl<H: Host> Across<'_, H> {
    /// A legacy client calls a tool of a modern server as a task.
    pub(crate) async fn call_as_task(&self, forward: Forward) -> Result<Reply, Fault> {
        let edit = Edit::of_optional(forward.params.as_ref()).map_err(Fault::malformed)?.remove("task");
        let params = self.context.caller.modern_params(Some(&edit.finish()), None).map_err(Fault::malformed)?;
        let params = with_tasks_extension(&params).map_err(Fault::malformed)?;
        let reply = self
            .exchange
            .ask_modern(self.context, self.server, self.upstream, Forward { params: Some(params), ..forward })
            .await?;
        let Ok(result) = &reply.outcome else { return Ok(reply) };
        let task = match bridge::result_type(result) {
            ResultType::Task => shape::created_legacy(result),
            // The client asked for a task and must get one, though the server was quick enough to answer.
            _ => {
                let id = format!("done-{}", switchboard_peer::random_token());
                let principal = &self.context.session.principal;
                self.exchange.tasks().keep_finished(&id, self.server.id(), principal, result.detach(), Instant::now());
                let now = jiff::Timestamp::now().to_string();
                Edit::empty().set("task", shape::finished_legacy(&id, &now)).finish()
            }
        };
        Ok(Reply { outcome: Ok(task), extra: reply.extra })
    }

    async fn get_modern(&self, id: &str) -> Result<Result<Raw, ErrorObject>, Fault> {
        Ok(self.ask(method::TASKS_GET, shape::naming(id)).await?.outcome)
    }

    /// Asks a modern server about a task.
    async fn ask(&self, asked: &str, params: Raw) -> Result<Reply, Fault> {
        let params = self.context.caller.modern_params(Some(&params), None).map_err(Fault::malformed)?;
        let params = with_tasks_extension(&params).map_err(Fault::malformed)?;
        let forward = Forward { method: asked.into(), params: Some(params), ..Forward::default() };
        self.exchange.pass(self.context, self.server, self.upstream, forward).await
    }

    /// A legacy client asks about a task of a modern server.
    pub(crate) async fn legacy_asks(&self, asked: &str, id: &str) -> Result<Reply, Fault> {
        match asked {
            method::TASKS_RESULT => self.result_of_modern(id).await,
            method::TASKS_CANCEL => {
                if let Err(error) = self.ask(method::TASKS_CANCEL, shape::naming(id)).await?.outcome {
                    return Ok(Err(error).into());
                }
                Ok(self.get_modern(id).await?.map(|task| shape::to_legacy(&task)).into())
            }
            _ => Ok(self.get_modern(id).await?.map(|task| shape::to_legacy(&task)).into()),
        }
    }

    /// Waits for a modern task to end, and puts its questions to the legacy client on the way.
    async fn result_of_modern(&self, id: &str) -> Result<Reply, Fault> {
        let deadline = Instant::now() + self.exchange.options().longest_call;
        let mut answered = HashSet::new();
        while Instant::now() < deadline {
            // As often as the server is asked: what was taken back meanwhile is not waited for.
            self.exchange.admit_task(self.context, self.server, id, method::TASKS_RESULT).await?;
            let task = match self.get_modern(id).await? {
                Ok(task) => task,
                Err(error) => return Ok(Err(error).into()),
            };
            let task = Object::open(&task).map_err(Fault::malformed)?;
            match shape::status(&task).as_str() {
                "completed" => {
                    let result = task.get("result").unwrap_or_else(Raw::empty_object);
                    return Ok(Ok(shape::with_related_task(&result, id)).into());
                }
                "failed" => {
                    let error = task.get("error").and_then(|raw| read_error(&raw));
                    let error = error.unwrap_or_else(|| ErrorObject::new(code::INTERNAL_ERROR, "the task failed"));
                    return Ok(Err(error).into());
                }
                "cancelled" => return Ok(Err(ErrorObject::new(code::INTERNAL_ERROR, "the task was cancelled")).into()),
                "input_required" => {
                    let requests = task.get("inputRequests").and_then(|raw| Object::open(&raw).ok());
                    let requests: Vec<_> = requests
                        .iter()
                        .flat_map(Object::iter)
                        .filter(|(key, _)| !answered.contains(&**key))
                        .map(|(key, value)| (key.into_owned(), value))
                        .collect();
                    answered.extend(requests.iter().map(|(key, _)| key.clone()));
                    if !requests.is_empty() {
                        let answers = self.exchange.gather(self.context, self.server, requests).await?;
                        // It may have taken a while.
                        self.exchange.admit_task(self.context, self.server, id, method::TASKS_RESULT).await?;
                        for (_, answer) in &answers {
                            self.admit_answer(id, answer).await?;
                        }
                        let given = answers.into_iter().fold(Edit::empty(), |edit, (key, value)| edit.set(&key, value));
                        let params = Edit::of(&shape::naming(id))
                            .map_err(Fault::malformed)?
                            .set("inputResponses", given.finish());
                        if let Err(error) = self.ask(method::TASKS_UPDATE, params.finish()).await?.outcome {
                            return Ok(Err(error).into());
                        }
                    }
                }
                _ => {}
            }
            tokio::time::sleep(poll_pause(&task)).await;
        }
        Err(Fault::new(FaultKind::Timeout, format!("task `{id}` did not end in time")))
    }

    /// A modern client calls a tool of a legacy server that works only as a task.
    pub(crate) async fn call_needs_task(&self, forward: Forward, client_knows_tasks: bool) -> Result<Reply, Fault> {
        let asked = forward.method.clone();
        let params = forward.params.clone();
        if let Some(running) = Box::pin(self.exchange.resumed(self.context, self.server, &forward)).await? {
            return self.finish(&asked, params.as_ref(), running).await;
        }
        let plain = bridge::legacy_params(params.as_ref()).map_err(Fault::malformed)?;
        let edit = Edit::of_optional(plain.as_ref()).map_err(Fault::malformed)?.set("task", Raw::empty_object());
        let begun = Forward { params: Some(edit.finish()), ..forward };
        let reply = self.exchange.pass(self.context, self.server, self.upstream, begun).await?;
        let Some(created) = reply.outcome.as_ref().ok().and_then(shape::created_modern) else { return Ok(reply) };
        if client_knows_tasks {
            return Ok(Reply { outcome: Ok(created), extra: reply.extra });
        }
        let id = created.member("taskId").and_then(|id| id.as_text()).unwrap_or_default();
        let running = self.fetch_result(&id).await?;
        self.finish(&asked, params.as_ref(), running).await
    }

    async fn finish(&self, asked: &str, params: Option<&Raw>, running: crate::parked::Running) -> Result<Reply, Fault> {
        let done = self.exchange.pump(self.context, self.server, asked, params, running).await?;
        let mut reply = done.map_err(|error| failed(self.server, error))?;
        reply.outcome = reply.outcome.map(|result| bridge::modern_result(result, asked));
        Ok(reply)
    }

    /// Asks a legacy server for the result of a task, in a task of its own.
    async fn fetch_result(&self, id: &str) -> Result<crate::parked::Running, Fault> {
        let forward =
            Forward { method: method::TASKS_RESULT.into(), params: Some(shape::naming(id)), ..Forward::default() };
        self.exchange.start(self.context, self.server, self.upstream, forward).await
    }

    /// A modern client asks about a task of a legacy server.
    pub(crate) async fn modern_asks(&self, asked: &str, id: &str, params: &Object) -> Result<Reply, Fault> {
        match asked {
            method::TASKS_UPDATE => {
                let answers = params.get("inputResponses").and_then(|raw| Object::open(&raw).ok());
                for (key, answer) in answers.iter().flat_map(Object::iter) {
                    // Others reach no server.
                    if self.exchange.tasks().asks(id, &self.context.session.principal, &key) {
                        self.admit_answer(id, &answer).await?;
                        self.server.roots.note(&answer);
                    }
                }
                self.exchange.tasks().answer(id, &self.context.session.principal, answers.as_ref());
                Ok(Ok(complete(&Raw::empty_object())).into())
            }
            method::TASKS_CANCEL => {
                let reply = self.pass_plain(method::TASKS_CANCEL, id).await?;
                Ok(reply.outcome.map(|_| complete(&Raw::empty_object())).into())
            }
            _ => self.detailed(id).await,
        }
    }

    /// Judges on whose behalf an answer in the middle of a task says that it is given.
    async fn admit_answer(&self, id: &str, answer: &Raw) -> Result<(), Fault> {
        let tool = self.exchange.tasks().tool(id, &self.context.session.principal);
        let tool = tool.as_ref().map(|tool| &*tool.original);
        self.exchange.host.gate().admit_answer_for(self.context, self.server, tool, answer).await
    }

    async fn pass_plain(&self, asked: &str, id: &str) -> Result<Reply, Fault> {
        let forward = Forward { method: asked.into(), params: Some(shape::naming(id)), ..Forward::default() };
        self.exchange.pass(self.context, self.server, self.upstream, forward).await
    }

    /// A legacy task with its result, error or questions beside it, as the extension gives it.
    async fn detailed(&self, id: &str) -> Result<Reply, Fault> {
        let task = match self.pass_plain(method::TASKS_GET, id).await?.outcome {
            Ok(task) => task,
            Err(error) => return Ok(Err(error).into()),
        };
        let object = Object::open(&task).map_err(Fault::malformed)?;
        let edit = Edit::of(&shape::to_modern(&task)).map_err(Fault::malformed)?;
        let edit = match shape::status(&object).as_str() {
            "completed" => match self.pass_plain(method::TASKS_RESULT, id).await?.outcome {
                Ok(result) => edit.set("result", result),
                Err(error) => edit.set("status", Raw::string("failed")).set("error", error_raw(&error)),
            },
            "failed" => {
                let error = self.pass_plain(method::TASKS_RESULT, id).await?.outcome.err();
                let error = error.unwrap_or_else(|| ErrorObject::new(code::INTERNAL_ERROR, "the task failed"));
                edit.set("error", error_raw(&error))
            }
            // A legacy server asks only while somebody waits for the result.
            "input_required" => {
                let book = self.exchange.tasks();
                let principal = &self.context.session.principal;
                if !book.is_attended(id, principal) {
                    book.attend(id, principal, self.fetch_result(id).await?);
                }
                let requests = book.questions(id, self.context, QUESTION_WAIT).await;
                let asked = requests.into_iter().fold(Edit::empty(), |edit, (key, value)| edit.set(&key, value));
                edit.set("inputRequests", asked.finish())
            }
            _ => edit,
        };
        Ok(Ok(complete(&edit.finish())).into())
    }
}

fn complete(result: &Raw) -> Raw {
    Edit::of(result).map_or_else(|_| result.clone(), |edit| edit.set("resultType", Raw::string("complete")).finish())
}

fn with_tasks_extension(params: &Raw) -> Result<Raw, switchboard_wire::Refusal> {
    let capabilities = params.at(&["_meta", meta::CLIENT_CAPABILITIES]);
    let capabilities = Edit::of_optional(capabilities.as_ref())?
        .within("extensions", |inner| inner.set(meta::TASKS_EXTENSION, Raw::empty_object()))?
        .finish();
    Ok(Edit::of(params)?.within("_meta", |inner| inner.set(meta::CLIENT_CAPABILITIES, capabilities))?.finish())
}

fn poll_pause(task: &Object) -> Duration {
    let named = task.get("pollIntervalMs").and_then(|raw| raw.view::<u64>().ok()).map(Duration::from_millis);
    named.unwrap_or(POLL).clamp(SHORTEST_POLL, LONGEST_POLL)
}

fn error_raw(error: &ErrorObject) -> Raw {
    let code = Raw::from_value(&error.code).unwrap_or_else(|_| Raw::number(0));
    Edit::empty()
        .set("code", code)
        .set("message", Raw::string(&error.message))
        .set_optional("data", error.data.clone())
        .finish()
}

fn read_error(raw: &Raw) -> Option<ErrorObject> {
    let object = Object::open(raw).ok()?;
    let mut error = ErrorObject::new(object.get("code")?.view().ok()?, object.text("message")?);
    error.data = object.get("data");
    Some(error)
}
