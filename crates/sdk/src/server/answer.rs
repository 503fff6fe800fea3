//! What a server says of itself, and what the answers of the modern era carry.

use serde_json::json;
use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::{
    DiscoverResult, InitializeResult, JsonObject, PromptsCapability, ResourcesCapability, ResultKind,
    ServerCapabilities, SetLevelParams, TasksCapability, ToolsCapability, meta,
};
use switchboard_protocol::mgp::{self, Agreement, Offer};
use switchboard_protocol::{Era, Revision};
use switchboard_wire::{Edit, Raw};

use super::Server;
use super::handle::view;
use crate::feed::SessionState;
use crate::task::TaskSupport;
use crate::{Cache, Error};

impl Server {
    /// What is offered at the moment. Only what is declared is served.
    fn capabilities(&self, revision: Revision) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::new().logging(json!({}));
        if self.has_tools() {
            capabilities.tools = Some(ToolsCapability::new().list_changed(true));
        }
        if self.has_resources() {
            capabilities.resources = Some(ResourcesCapability::new().subscribe(true).list_changed(true));
        }
        if self.has_prompts() {
            capabilities.prompts = Some(PromptsCapability::new().list_changed(true));
        }
        if self.has_completions() {
            capabilities.completions = Some(json!({}));
        }
        let mut extensions = self.options().extensions.clone();
        if self.has_tasks() {
            if revision.era() == Era::Modern {
                extensions.insert(meta::TASKS_EXTENSION.to_owned(), json!({}));
            } else if revision == Revision::V2025_11_25 {
                let calls = JsonObject::from_iter([("tools".to_owned(), json!({"call": {}}))]);
                capabilities.tasks = Some(TasksCapability::new().list(json!({})).cancel(json!({})).requests(calls));
            }
        }
        if !extensions.is_empty() {
            capabilities.extensions = Some(extensions.into());
        }
        if !self.options().experimental.is_empty() {
            capabilities.experimental = Some(self.options().experimental.clone().into());
        }
        capabilities
    }

    pub(super) fn has_tools(&self) -> bool {
        self.options().dynamic || !self.0.registry.read().tools.is_empty()
    }

    pub(super) fn has_resources(&self) -> bool {
        let registry = self.0.registry.read();
        self.options().dynamic || !registry.resources.is_empty() || !registry.templates.is_empty()
    }

    pub(super) fn has_prompts(&self) -> bool {
        self.options().dynamic || !self.0.registry.read().prompts.is_empty()
    }

    pub(super) fn has_completions(&self) -> bool {
        let registry = self.0.registry.read();
        registry.prompts.values().any(|prompt| !prompt.completions.is_empty())
            || registry.templates.values().any(|entry| !entry.template.completions.is_empty())
    }

    pub(super) fn has_tasks(&self) -> bool {
        self.0.registry.read().tools.values().any(|entry| entry.tool.support != TaskSupport::Forbidden)
    }

    pub(super) fn initialize(&self, params: Option<&Raw>) -> Result<Raw, Error> {
        let asked = params.and_then(|params| params.member("protocolVersion")?.as_text());
        let asked = asked.ok_or_else(|| Error::invalid_params("protocolVersion is missing"))?;
        let revision = Revision::negotiate_legacy(&asked);
        let mut result = InitializeResult::new(revision.as_str(), self.capabilities(revision), self.0.info.clone());
        result.instructions.clone_from(&self.0.instructions);
        let client = params.and_then(|params| params.member("capabilities"));
        self.with_mgp(Raw::from_value(&result)?, client.as_ref())
    }

    /// Whether anything of MGP was agreed on with a client that says this of itself.
    pub(super) fn speaks_mgp(&self, client: &Raw) -> bool {
        let offer = Some(client).filter(|_| !self.options().mgp.is_empty()).and_then(Offer::of);
        offer.is_some_and(|offer| Agreement::between(&offer, &self.options().mgp, mgp::VERSION).is_some())
    }

    /// Adds what is agreed on of MGP. Nobody is told of it who does not speak it.
    fn with_mgp(&self, result: Raw, client: Option<&Raw>) -> Result<Raw, Error> {
        let offer = client.filter(|_| !self.options().mgp.is_empty()).and_then(Offer::of);
        let agreed = offer.and_then(|offer| Agreement::between(&offer, &self.options().mgp, mgp::VERSION));
        let (Some(agreed), Some(capabilities)) = (agreed, result.member("capabilities")) else { return Ok(result) };
        let declared = agreed.declare_in(&capabilities, []).map_err(|error| internal(&error))?;
        Ok(Edit::of(&result).map_err(|error| internal(&error))?.set("capabilities", declared).finish())
    }

    pub(super) fn discover(&self, context: &Context) -> Result<Raw, Error> {
        let versions: Vec<String> =
            self.options().eras.revisions().into_iter().map(|revision| revision.as_str().to_owned()).collect();
        let mut result = DiscoverResult::new(versions, self.capabilities(Revision::LATEST));
        result.instructions.clone_from(&self.0.instructions);
        let result = self.with_mgp(Raw::from_value(&result)?, Some(&context.caller.capabilities))?;
        self.cached(&result, self.options().list_cache)
    }

    pub(super) fn set_level(context: &Context, params: Option<&Raw>) -> Result<Raw, Error> {
        let params: SetLevelParams = view(params)?;
        SessionState::of(&context.session).set_level(params.level);
        Ok(Raw::empty_object())
    }

    /// Adds how long a result stays good.
    pub(super) fn cached(&self, result: &Raw, cache: Cache) -> Result<Raw, Error> {
        Ok(cache.add_to(Edit::of(result).map_err(|error| internal(&error))?).finish())
    }

    /// Adds what every result of the modern era carries.
    pub(super) fn complete(&self, result: &Raw) -> Result<Raw, Error> {
        let edit = Edit::of(result).map_err(|error| internal(&error))?;
        let typed = edit.object().has("resultType");
        edit.set_optional("resultType", (!typed).then(|| Raw::string(ResultKind::COMPLETE)))
            .within("_meta", |meta| {
                let named = meta.object().has(meta::SERVER_INFO);
                meta.set_optional(meta::SERVER_INFO, (!named).then(|| self.0.info_raw.clone()))
            })
            .map(Edit::finish)
            .map_err(|error| internal(&error))
    }
}

/// A result that is no object, or has a key twice: a method of the author's own wrote it.
fn internal(error: &switchboard_wire::Refusal) -> Error {
    Error::fault(Fault::new(FaultKind::Internal, "the handler's result is no object").with_detail(error.to_string()))
}
