//! Calls that run a handler: tools, prompts, resources, completions.

use indexmap::IndexMap;
use std::sync::Arc;
use std::time::Duration;

use switchboard_peer::{BoxFuture, Context};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::{
    CallToolParams, CallToolResult, CompleteParams, CompleteResult, Completion, GetPromptParams, InputRequiredResult,
    ReadResourceParams, Reference, meta, method,
};
use switchboard_protocol::{Era, Revision};
use switchboard_wire::{Kind, Raw, Request};

use super::Server;
use super::handle::{method_not_found, view};
use crate::clock;
use crate::ctx::Mode;
use crate::pieces::Pieces;
use crate::prompt::Arguments;
use crate::resource::{Cache, Reading};
use crate::rounds::{Ran, Rounds, drive};
use crate::seal::{self, Remembered};
use crate::task::{Owner, TaskSupport};
use crate::tool::{Run, ToolEntry, render};
use crate::{Ctx, Error};

/// Values that one completion may have.
const MAX_COMPLETIONS: usize = 100;

/// What a request brings along from an earlier round, and what its state is bound to.
struct Round<'a> {
    method: &'static str,
    name: &'a str,
    arguments: Option<&'a Raw>,
    responses: Option<IndexMap<String, Raw>>,
    state: Option<&'a str>,
    deferrable: bool,
}

impl Server {
    pub(super) async fn call_tool(&self, context: Context, request: &Request) -> Result<Raw, Error> {
        let raw = request.params.as_ref();
        let params: CallToolParams = view(raw)?;
        let entry = self.0.registry.read().tools.get(&params.name).cloned();
        let Some(entry) = entry else { return self.call_unlisted(context, raw, params).await };
        if params.arguments.as_ref().is_some_and(|arguments| arguments.kind() != Kind::Object) {
            return Err(Error::invalid_params("the arguments of a tool are an object"));
        }
        if let (Era::Modern, Some(headers)) = (context.caller.era(), &context.headers) {
            let values = |name: &str| headers.get_all(name).iter().map(|value| value.as_bytes()).collect();
            entry.headers.check(values, params.arguments.as_ref()).map_err(Error::fault)?;
        }
        let as_task = self.becomes_task(&context, &entry, &params)?;
        let meta = meta_of(raw);
        let arguments = params.arguments.clone().unwrap_or_else(Raw::empty_object);
        let revision = context.caller.revision;
        if let Some(owner) = as_task {
            let ctx = Ctx::new(self.clone(), context, meta, Mode::Never)?;
            let work = (entry.tool.run)(ctx.clone(), arguments);
            return self.begin_task(&ctx, &owner, work);
        }
        let round = Round {
            method: method::TOOLS_CALL,
            name: &params.name,
            arguments: params.arguments.as_ref(),
            responses: params.input_responses,
            state: params.request_state.as_deref(),
            deferrable: entry.tool.deferred && entry.tool.support != TaskSupport::Forbidden && has_tasks(&context),
        };
        let binding = self.bind(&context, &round);
        let mode = self.mode(&context, round, &binding)?;
        let pieces = Pieces::wanted_by(request, &self.options().mgp);
        let ctx = Ctx::with_pieces(self.clone(), context, meta, mode, pieces)?;
        let work = (entry.tool.run)(ctx.clone(), arguments);
        let told = ctx.clone();
        self.run(ctx, work, binding, |outcome| Ok(told.conclude(told_to_the_model(outcome, revision)?))).await
    }

    /// A call of a tool that is not listed.
    async fn call_unlisted(&self, context: Context, raw: Option<&Raw>, params: CallToolParams) -> Result<Raw, Error> {
        let Some(unlisted) = &self.0.unlisted else {
            let unknown = format!("Unknown tool: {}", params.name);
            return Err(Error::fault(Fault::new(FaultKind::UnknownTool, unknown)));
        };
        if params.arguments.as_ref().is_some_and(|arguments| arguments.kind() != Kind::Object) {
            return Err(Error::invalid_params("the arguments of a tool are an object"));
        }
        let revision = context.caller.revision;
        let mode = if context.caller.era() == Era::Legacy { Mode::Direct } else { Mode::Never };
        let ctx = Ctx::new(self.clone(), context, meta_of(raw), mode)?;
        let work = unlisted(ctx.clone(), params.name, params.arguments.unwrap_or_else(Raw::empty_object));
        self.run(ctx, work, String::new(), |outcome| told_to_the_model(outcome, revision)).await
    }

    /// Who the task belongs to that this call becomes; `None` where it is answered directly.
    fn becomes_task(
        &self,
        context: &Context,
        entry: &ToolEntry,
        params: &CallToolParams,
    ) -> Result<Option<Owner>, Error> {
        let support = entry.tool.support;
        let owner = |ttl| Owner { session: context.session.clone(), era: context.caller.era(), ttl };
        match context.caller.era() {
            Era::Modern if support == TaskSupport::Forbidden => Ok(None),
            Era::Modern => {
                if support == TaskSupport::Required {
                    Self::require_tasks(context)?;
                }
                Ok((has_tasks(context) && !entry.tool.deferred).then(|| owner(None)))
            }
            Era::Legacy => {
                let asked = params.task.as_ref().filter(|_| context.caller.revision == Revision::V2025_11_25);
                match (asked, support) {
                    (Some(_), TaskSupport::Forbidden) if self.has_tasks() => {
                        Err(method_not_found("tools/call as a task"))
                    }
                    (Some(_), TaskSupport::Forbidden) | (None, TaskSupport::Forbidden | TaskSupport::Optional) => {
                        Ok(None)
                    }
                    (None, TaskSupport::Required) => Err(method_not_found("tools/call other than as a task")),
                    (Some(task), _) => Ok(Some(owner(task.ttl.map(Duration::from_millis)))),
                }
            }
        }
    }

    pub(super) async fn get_prompt(&self, context: Context, params: Option<&Raw>) -> Result<Raw, Error> {
        if !self.has_prompts() {
            return Err(method_not_found(method::PROMPTS_GET));
        }
        let raw = params;
        let params: GetPromptParams = view(raw)?;
        let prompt = self.0.registry.read().prompts.get(&params.name).cloned();
        let prompt = prompt.ok_or_else(|| {
            Error::fault(Fault::new(FaultKind::UnknownPrompt, format!("Unknown prompt: {}", params.name)))
        })?;
        let arguments = Raw::from_value(&params.arguments.unwrap_or_default())?;
        let given: Arguments =
            arguments.view().map_err(|error| Error::invalid_params(format!("arguments: {error}")))?;
        if let Some(missing) = prompt.missing(&given) {
            return Err(Error::invalid_params(format!("the argument {missing:?} is missing")));
        }
        let round = Round {
            method: method::PROMPTS_GET,
            name: &params.name,
            arguments: Some(&arguments),
            responses: params.input_responses,
            state: params.request_state.as_deref(),
            deferrable: false,
        };
        let binding = self.bind(&context, &round);
        let mode = self.mode(&context, round, &binding)?;
        let ctx = Ctx::new(self.clone(), context, meta_of(raw), mode)?;
        let work = (prompt.run)(ctx.clone(), arguments);
        self.run(ctx, work, binding, |outcome| outcome).await
    }

    pub(super) async fn read_resource(&self, context: Context, params: Option<&Raw>) -> Result<Raw, Error> {
        if !self.has_resources() {
            return Err(method_not_found(method::RESOURCES_READ));
        }
        let raw = params;
        let params: ReadResourceParams = view(raw)?;
        let (run, cache, variables) =
            self.find_resource(&params.uri).ok_or_else(|| Error::resource_not_found(&params.uri))?;
        let modern = context.caller.era() == Era::Modern;
        let round = Round {
            method: method::RESOURCES_READ,
            name: &params.uri,
            arguments: None,
            responses: params.input_responses,
            state: params.request_state.as_deref(),
            deferrable: false,
        };
        let binding = self.bind(&context, &round);
        let mode = self.mode(&context, round, &binding)?;
        let ctx = Ctx::new(self.clone(), context, meta_of(raw), mode)?;
        let reading = Raw::from_value(&Reading { uri: params.uri.clone(), variables })?;
        let work = run(ctx.clone(), reading);
        self.run(ctx, work, binding, |outcome| match outcome {
            Ok(result) if modern => self.cached(&result, cache),
            outcome => outcome,
        })
        .await
    }

    fn find_resource(&self, uri: &str) -> Option<(Run, Cache, Arguments)> {
        let unless_said = Cache::private(Duration::ZERO);
        let registry = self.0.registry.read();
        if let Some(resource) = registry.resources.get(uri) {
            return Some((resource.run.clone(), resource.cache.unwrap_or(unless_said), Arguments::new()));
        }
        registry.templates.values().find_map(|entry| {
            let variables = entry.pattern.matches(uri)?;
            Some((entry.template.run.clone(), entry.template.cache.unwrap_or(unless_said), variables))
        })
    }

    pub(super) async fn call_method(&self, context: Context, params: Option<&Raw>, run: &Run) -> Result<Raw, Error> {
        let mode = if context.caller.era() == Era::Legacy { Mode::Direct } else { Mode::Never };
        let ctx = Ctx::new(self.clone(), context, meta_of(params), mode)?;
        let work = run(ctx.clone(), params.cloned().unwrap_or_else(Raw::empty_object));
        self.run(ctx, work, String::new(), |outcome| outcome).await
    }

    pub(super) async fn complete_argument(&self, context: Context, params: Option<&Raw>) -> Result<Raw, Error> {
        if !self.has_completions() {
            return Err(method_not_found(method::COMPLETE));
        }
        let raw = params;
        let params: CompleteParams = view(raw)?;
        let argument = params.argument;
        let unknown = |what: &str| Error::invalid_params(format!("there is nothing to complete: {what}"));
        let complete = {
            let registry = self.0.registry.read();
            match &params.reference {
                Reference::Prompt(prompt) => registry
                    .prompts
                    .get(&prompt.name)
                    .ok_or_else(|| unknown(&prompt.name))?
                    .completions
                    .get(&argument.name)
                    .cloned(),
                Reference::Resource(resource) => match registry.templates.get(&resource.uri) {
                    Some(entry) => entry.template.completions.get(&argument.name).cloned(),
                    None if registry.resources.contains_key(&resource.uri) => None,
                    None => return Err(unknown(&resource.uri)),
                },
                _ => return Err(unknown("this kind of reference")),
            }
        };
        let Some(complete) = complete else {
            return Ok(Raw::from_value(&CompleteResult::new(Completion::new(Vec::new()).total(0u64).has_more(false)))?);
        };
        let settled = params.context.and_then(|context| context.arguments).unwrap_or_default();
        let settled: Arguments = serde_json::from_value(settled.into())
            .map_err(|error| Error::invalid_params(format!("context.arguments: {error}")))?;
        let ctx = Ctx::new(self.clone(), context, meta_of(raw), Mode::Never)?;
        let work = crate::tool::guarded({
            let ctx = ctx.clone();
            async move {
                let mut values = complete(ctx, argument.value, settled).await?;
                let total = values.len();
                values.truncate(MAX_COMPLETIONS);
                let completion = Completion::new(values).total(total as u64).has_more(total > MAX_COMPLETIONS);
                Ok(Raw::from_value(&CompleteResult::new(completion))?)
            }
        });
        self.run(ctx, work, String::new(), |outcome| outcome).await
    }

    /// What the state of a request is bound to.
    fn bind(&self, context: &Context, round: &Round<'_>) -> String {
        match context.caller.era() {
            Era::Modern => seal::binding(&context.session.principal, round.method, round.name, round.arguments),
            Era::Legacy => String::new(),
        }
    }

    /// How the handler's questions reach the client, with what is answered already.
    fn mode(&self, context: &Context, round: Round<'_>, binding: &str) -> Result<Mode, Error> {
        if context.caller.era() == Era::Legacy {
            return Ok(Mode::Direct);
        }
        let remembered = match round.state {
            Some(state) => seal::open(&self.0.state_key, state, binding, clock::now_ms())
                .map_err(|error| Error::invalid_params(error.to_string()))?,
            None => Remembered::default(),
        };
        let offered = round.responses.unwrap_or_default();
        Ok(Mode::Rounds(Arc::new(Rounds::new(remembered, offered, round.deferrable))))
    }

    /// Runs a handler and answers with whatever it comes to.
    async fn run(
        &self,
        ctx: Ctx,
        work: BoxFuture<'static, Result<Raw, Error>>,
        binding: String,
        finish: impl FnOnce(Result<Raw, Error>) -> Result<Raw, Error>,
    ) -> Result<Raw, Error> {
        let rounds = ctx.rounds();
        let cancel = ctx.context().cancel.clone();
        match drive(work, rounds.as_ref(), &cancel).await {
            Ran::Done(outcome) => {
                ctx.end();
                finish(outcome)
            }
            Ran::Asks => {
                ctx.end();
                let (asked, remembered) = rounds.map(|rounds| rounds.take()).unwrap_or_default();
                let ttl = u64::try_from(self.options().state_ttl.as_millis()).unwrap_or(u64::MAX);
                let expires = clock::now_ms().saturating_add(ttl);
                let state = seal::seal(&self.0.state_key, binding, remembered, expires)?;
                Ok(Raw::from_value(&InputRequiredResult::asking(asked).request_state(state))?)
            }
            Ran::Background(work) => {
                let owner = Owner { session: ctx.context().session.clone(), era: ctx.era(), ttl: None };
                self.begin_task(&ctx, &owner, work)
            }
            Ran::Cancelled => {
                ctx.end();
                Err(Error::fault(Fault::new(FaultKind::Cancelled, "the request was cancelled")))
            }
        }
    }
}

/// Whether the client of a modern request can handle tasks.
pub(super) fn has_tasks(context: &Context) -> bool {
    context.caller.can(&["extensions", meta::TASKS_EXTENSION])
}

fn meta_of(params: Option<&Raw>) -> Option<Raw> {
    params?.member("_meta")
}

/// A tool's failure is a result that the model can read.
pub(super) fn told_to_the_model(outcome: Result<Raw, Error>, revision: Revision) -> Result<Raw, Error> {
    let error = match outcome {
        Ok(result) => return Ok(result),
        Err(error) => error,
    };
    let told = match error.kind() {
        None => error.failure().is_some(),
        // Since 2025-11-25 the model is told what was wrong with its arguments.
        Some(FaultKind::InvalidArguments) => revision >= Revision::V2025_11_25,
        // The legacy era has no code for this, so the reader is told in words.
        Some(FaultKind::MissingClientCapability) => revision.era() == Era::Legacy,
        Some(_) => false,
    };
    if told { render(CallToolResult::failure(error.to_string()), revision) } else { Err(error) }
}
