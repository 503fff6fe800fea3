//! What a server is made of, before it runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use indexmap::map::Entry;
use parking_lot::RwLock;
use serde_json::Value;
use switchboard_protocol::mcp::{CallToolResult, Icon, Implementation, JsonObject};
use switchboard_protocol::mgp::Extension;
use switchboard_wire::Raw;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Eras, Inner, Options, Registry, Server, Unlisted};
use crate::feed::Feed;
use crate::resource::TemplateEntry;
use crate::task::{TaskOptions, Tasks};
use crate::tool::{Run, ToolEntry, guarded, render};
use crate::{Cache, Ctx, Error, Prompt, Resource, ResourceTemplate, StateKey, TemplateError, Tool, ToolError};

/// A server before it runs. Mistakes are told by [`build`](Self::build).
pub struct ServerBuilder {
    info: Implementation,
    instructions: Option<String>,
    options: Options,
    task_options: TaskOptions,
    state_key: Option<StateKey>,
    tools: Vec<Tool>,
    resources: Vec<Resource>,
    templates: Vec<ResourceTemplate>,
    prompts: Vec<Prompt>,
    methods: IndexMap<String, Run>,
    unlisted: Option<Unlisted>,
}

/// Why a server cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A tool that clients would not take.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A template that cannot be matched.
    #[error("the resource template {0:?} cannot be used")]
    Template(String, #[source] TemplateError),
    /// Two of a kind with the same name.
    #[error("{0} {1:?} is there twice")]
    Duplicate(&'static str, String),
    /// A completion for an argument or variable that does not exist.
    #[error("{0:?} has no argument or variable {1:?} to complete")]
    Completion(String, String),
    /// Who the server is cannot be written.
    #[error("the server's description cannot be written as JSON")]
    Json(#[from] serde_json::Error),
}

impl ServerBuilder {
    pub(super) fn new(info: Implementation) -> Self {
        Self {
            info,
            instructions: None,
            options: Options {
                eras: Eras::Both,
                dynamic: false,
                page_size: 1_000,
                list_cache: Cache::public(Duration::from_secs(60)),
                ask_timeout: Duration::from_secs(600),
                state_ttl: Duration::from_secs(1_800),
                extensions: JsonObject::new(),
                experimental: JsonObject::new(),
                mgp: Vec::new(),
            },
            task_options: TaskOptions::default(),
            state_key: None,
            tools: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
            methods: IndexMap::new(),
            unlisted: None,
        }
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// What the server does, for people.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// Pictures of it.
    #[must_use]
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.info.icons = Some(icons);
        self
    }

    /// Where to read more about it.
    #[must_use]
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.info.website_url = Some(url.into());
        self
    }

    /// How to use the server, for the model.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Offers a tool.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Offers a resource.
    #[must_use]
    pub fn resource(mut self, resource: Resource) -> Self {
        self.resources.push(resource);
        self
    }

    /// Offers a family of resources.
    #[must_use]
    pub fn resource_template(mut self, template: ResourceTemplate) -> Self {
        self.templates.push(template);
        self
    }

    /// Offers a prompt.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// Answers a method that MCP does not define, in both eras. It gets the parameters untouched.
    #[must_use]
    pub fn method<F, R>(mut self, name: impl Into<String>, handler: F) -> Self
    where
        F: Fn(Ctx, Raw) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Raw, Error>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let run: Run = Arc::new(move |ctx, params| {
            let handler = handler.clone();
            guarded(async move { handler(ctx, params).await })
        });
        self.methods.insert(name.into(), run);
        self
    }

    /// Answers calls of tools that are not listed: other names of a tool, or a refusal of the author's own. It gets the
    /// name and the arguments untouched.
    #[must_use]
    pub fn unlisted_tool<F, R>(mut self, handler: F) -> Self
    where
        F: Fn(Ctx, String, Raw) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CallToolResult, Error>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        self.unlisted = Some(Arc::new(move |ctx, name, arguments| {
            let handler = handler.clone();
            guarded(async move {
                let revision = ctx.revision();
                render(handler(ctx, name, arguments).await?, revision)
            })
        }));
        self
    }

    /// Declares an extension (`capabilities.extensions`), by its identifier.
    #[must_use]
    pub fn extension(mut self, id: impl Into<String>, settings: Value) -> Self {
        self.options.extensions.insert(id.into(), settings);
        self
    }

    /// Declares a trial (`capabilities.experimental`), by its name.
    #[must_use]
    pub fn experimental(mut self, name: impl Into<String>, settings: Value) -> Self {
        self.options.experimental.insert(name.into(), settings);
        self
    }

    /// Declares extensions of MGP: to clients that offer MGP, and where they offer it. Their methods are given with
    /// [`method`](Self::method).
    #[must_use]
    pub fn mgp(mut self, extensions: &[Extension]) -> Self {
        self.options.mgp.extend(extensions);
        self
    }

    /// Says that tools, resources and prompts may be added later, even where there are none yet.
    #[must_use]
    pub const fn dynamic(mut self) -> Self {
        self.options.dynamic = true;
        self
    }

    /// Which eras to serve: both, unless said otherwise.
    #[must_use]
    pub const fn eras(mut self, eras: Eras) -> Self {
        self.options.eras = eras;
        self
    }

    /// How many entries a page of a list has: 1,000, unless said otherwise.
    #[must_use]
    pub const fn page_size(mut self, size: usize) -> Self {
        self.options.page_size = size;
        self
    }

    /// How long lists stay good: a minute and for everyone, unless said otherwise.
    #[must_use]
    pub const fn list_cache(mut self, cache: Cache) -> Self {
        self.options.list_cache = cache;
        self
    }

    /// How long to wait for what a handler asks a client: ten minutes, unless said otherwise.
    #[must_use]
    pub const fn ask_timeout(mut self, timeout: Duration) -> Self {
        self.options.ask_timeout = timeout;
        self
    }

    /// How long a modern client may take to answer what a handler asked: half an hour, unless said otherwise.
    #[must_use]
    pub const fn state_ttl(mut self, ttl: Duration) -> Self {
        self.options.state_ttl = ttl;
        self
    }

    /// The key under which the state of unfinished requests is signed, for replicas that share one address.
    #[must_use]
    pub fn state_key(mut self, key: StateKey) -> Self {
        self.state_key = Some(key);
        self
    }

    /// How many tasks there may be, and for how long.
    #[must_use]
    pub const fn tasks(mut self, options: TaskOptions) -> Self {
        self.task_options = options;
        self
    }

    /// The server.
    ///
    /// # Errors
    /// Something that was declared cannot be offered.
    pub fn build(self) -> Result<Server, BuildError> {
        let mut registry = Registry::default();
        for tool in self.tools {
            let entry = ToolEntry::new(tool)?;
            insert(&mut registry.tools, "tool", entry.tool.name().to_owned(), entry)?;
        }
        for resource in self.resources {
            insert(&mut registry.resources, "resource", resource.uri().to_owned(), resource)?;
        }
        for template in self.templates {
            let uri = template.uri_template().to_owned();
            let entry = TemplateEntry::new(template).map_err(|error| BuildError::Template(uri.clone(), error))?;
            let stray = entry.template.completions.keys().find(|key| !entry.pattern.names().any(|name| name == *key));
            if let Some(stray) = stray {
                return Err(BuildError::Completion(uri, stray.clone()));
            }
            insert(&mut registry.templates, "resource template", uri, entry)?;
        }
        for prompt in self.prompts {
            let arguments = prompt.definition.arguments.as_deref().unwrap_or_default();
            let stray = prompt.completions.keys().find(|key| !arguments.iter().any(|argument| argument.name == **key));
            if let Some(stray) = stray {
                return Err(BuildError::Completion(prompt.name().to_owned(), stray.clone()));
            }
            insert(&mut registry.prompts, "prompt", prompt.name().to_owned(), prompt)?;
        }
        let feed = Arc::new(Feed::default());
        Ok(Server(Arc::new(Inner {
            info_raw: Raw::from_value(&self.info)?,
            info: self.info,
            instructions: self.instructions,
            options: self.options,
            registry: RwLock::new(registry),
            methods: self.methods,
            unlisted: self.unlisted,
            tasks: Tasks::new(self.task_options, feed.clone()),
            feed,
            state_key: self.state_key.unwrap_or_else(StateKey::random),
            closing: CancellationToken::new(),
            running: TaskTracker::new(),
        })))
    }
}

fn insert<T>(
    entries: &mut IndexMap<String, Arc<T>>,
    kind: &'static str,
    name: String,
    entry: T,
) -> Result<(), BuildError> {
    match entries.entry(name) {
        Entry::Vacant(place) => {
            place.insert(Arc::new(entry));
            Ok(())
        }
        Entry::Occupied(place) => Err(BuildError::Duplicate(kind, place.key().clone())),
    }
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBuilder").field("info", &self.info).finish_non_exhaustive()
    }
}
