//! From a call over a connection to its answer: the result with its pulse, or the error with its code.

use serde_json::{Map, Value, json};
use switchboard_sdk::mcp::{CallToolResult, LoggingLevel};
use switchboard_sdk::{Ctx, Error, ErrorObject, Raw};

use super::{MemoryAnswer, MemoryCaller, MemoryServer};
use crate::engine::Pulse;
use crate::error::Problem;

pub(super) const PULSE: &str = "_cognitive_pulse";

/// Who calls over a connection.
pub(super) fn caller(ctx: &Ctx) -> MemoryCaller {
    let meta: Value = ctx.meta().and_then(|meta| meta.view().ok()).unwrap_or_default();
    let text = |key: &str| meta.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    MemoryCaller {
        principal: ctx.principal().to_owned(),
        space: text("contextgraph/space"),
        idempotency_key: text("idempotency_key").filter(|key| key.len() <= 128),
    }
}

/// The JSON-RPC error of a problem.
pub(super) fn error(problem: &Problem, pulse: Option<&Pulse>) -> Error {
    let mut data = json!({"kind": problem.kind, "name": problem.code.name()});
    let mut message = problem.message.clone();
    match pulse {
        Some(pulse) => data[PULSE] = json!(pulse),
        None => message.push_str(" (the cognitive pulse is unavailable)"),
    }
    let object = ErrorObject::new(problem.code.number().unwrap_or(-32602), message);
    match Raw::from_value(&data) {
        Ok(data) => Error::object(object.with_data(data)),
        Err(_) => Error::object(object),
    }
}

impl MemoryServer {
    /// Answers a call by a name that is not listed.
    pub(super) async fn answer_named(&self, ctx: &Ctx, name: &str, arguments: Raw) -> Result<CallToolResult, Error> {
        let arguments: Value = arguments.view()?;
        self.answer_call(ctx, name, arguments).await
    }

    /// Answers a call.
    pub(super) async fn answer_call(&self, ctx: &Ctx, name: &str, arguments: Value) -> Result<CallToolResult, Error> {
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        let wait = name == "trigger_dream" && arguments.get("wait") == Some(&Value::Bool(true));
        let caller = caller(ctx);
        let answer = {
            let (server, ctx, caller, name) = (self.clone(), ctx.clone(), caller.clone(), name.to_owned());
            let arguments = arguments.clone();
            let cancelled = ctx.cancellation();
            tokio::task::spawn_blocking(move || {
                let progress = |done: f64, total: f64| ctx.progress(done, Some(total), None);
                server.call_with(&caller, &name, &arguments, &|| cancelled.is_cancelled(), &progress)
            })
            .await
        };
        let mut answer = match answer {
            Ok(answer) => answer,
            Err(failed) => self.gone_wrong(&caller, name, &failed).await,
        };
        if wait && answer.outcome.as_ref().is_ok_and(|value| value["triggered"] == true) {
            self.wait_for_dream(ctx, &caller, &arguments, &mut answer).await?;
        }
        for event in &answer.events {
            ctx.log(LoggingLevel::Info, Some("contextgraph"), event);
        }
        result(answer, caller.idempotency_key.as_deref())
    }

    /// The answer to a call that ran into a mistake of this program. The change it was at is given up.
    async fn gone_wrong(&self, caller: &MemoryCaller, name: &str, failed: &tokio::task::JoinError) -> MemoryAnswer {
        tracing::error!(tool = name, error = %failed, "a call of the memory failed unexpectedly");
        let (server, caller) = (self.clone(), caller.clone());
        let taking = tokio::task::spawn_blocking(move || Some(server.room_of(&caller).ok()?.space.lock().pulse()));
        let message =
            "something went wrong that should not have, and nothing was changed; the log of the memory says more";
        MemoryAnswer {
            outcome: Err(Problem::new(crate::Code::Internal, "INTERNAL_ERROR", message)),
            pulse: taking.await.ok().flatten(),
            replayed: None,
            events: Vec::new(),
        }
    }

    /// Waits for the end of the dream that a call started, and adds its report.
    async fn wait_for_dream(
        &self,
        ctx: &Ctx,
        caller: &MemoryCaller,
        arguments: &Map<String, Value>,
        answer: &mut MemoryAnswer,
    ) -> Result<(), Error> {
        let mut caller = caller.clone();
        if let Some(space) = arguments.get("space").and_then(Value::as_str) {
            caller.space = Some(space.to_owned());
        }
        let room = self.room_of(&caller).map_err(|problem| error(&problem, None))?;
        let mut watching = room.watch();
        loop {
            let seen = watching.borrow_and_update().clone();
            if let Some((report, problem)) = seen.over.filter(|_| !room.is_dreaming()) {
                if let Some(problem) = problem {
                    answer.outcome = Err(problem);
                } else if let Ok(value) = &mut answer.outcome {
                    value["report"] = json!(report);
                    value["note"] = if report.completed { "the dream is over" } else { "the dream was aborted" }.into();
                }
                return Ok(());
            }
            if seen.total > 0.0 {
                ctx.progress(seen.done, Some(seen.total), Some("dreaming"));
            }
            tokio::select! {
                changed = watching.changed() => if changed.is_err() { return Ok(()) },
                () = ctx.cancelled() => {
                    // The caller has gone: so does the dream that it waited for.
                    let room = room.clone();
                    tokio::task::spawn_blocking(move || room.wake()).await?;
                    return Ok(());
                }
            }
        }
    }
}

/// The result of an answer.
fn result(answer: MemoryAnswer, key: Option<&str>) -> Result<CallToolResult, Error> {
    let MemoryAnswer { outcome, pulse, replayed, .. } = answer;
    let mut result = match outcome {
        Ok(value) => {
            let raw = Raw::from_value(&value)?;
            CallToolResult::text(raw.as_str()).structured_content(raw).is_error(false)
        }
        Err(problem) if problem.code.number().is_some() => return Err(error(&problem, pulse.as_ref())),
        Err(problem) => {
            let mut failure = CallToolResult::failure(problem.message.clone());
            failure.meta.get_or_insert_default().insert("contextgraph/kind".to_owned(), problem.kind.into());
            failure
        }
    };
    let Some(pulse) = pulse else {
        return Ok(CallToolResult::failure("the cognitive pulse could not be taken: the memory is not there"));
    };
    let pulse = json!(pulse);
    let meta = result.meta.get_or_insert_default();
    meta.insert(PULSE.to_owned(), pulse.clone());
    if let Some(key) = key {
        meta.insert("idempotency_key".to_owned(), key.into());
        meta.insert("was_replay".to_owned(), replayed.is_some().into());
        if let Some(at) = replayed {
            meta.insert("original_timestamp".to_owned(), at.into());
        }
    }
    result.extra.insert(PULSE.to_owned(), pulse);
    Ok(result)
}
