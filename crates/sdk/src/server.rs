//! A server: what it offers, and how that changes while it runs.

mod answer;
mod builder;
mod call;
mod handle;
mod lists;
mod run;
mod tasks;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use parking_lot::RwLock;
use switchboard_peer::{BoxFuture, Handler};
use switchboard_protocol::mcp::{Implementation, JsonObject};
use switchboard_protocol::{Era, Revision};
use switchboard_wire::Raw;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use builder::{BuildError, ServerBuilder};
pub use run::Bound;

use crate::feed::{Change, Feed};
use crate::resource::TemplateEntry;
use crate::task::Tasks;
use crate::tool::{Run, ToolEntry};
use crate::{Cache, Ctx, Error, Prompt, Resource, ResourceTemplate, StateKey, TemplateError, Tool, ToolError};

/// Which eras a server serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Eras {
    /// Only clients that begin with `initialize` (up to 2025-11-25).
    Legacy,
    /// Only clients that begin with nothing (2026-07-28).
    Modern,
    /// All of them.
    #[default]
    Both,
}

impl Eras {
    const fn has(self, era: Era) -> bool {
        matches!((self, era), (Self::Both, _) | (Self::Legacy, Era::Legacy) | (Self::Modern, Era::Modern))
    }

    /// The revisions, newest first.
    fn revisions(self) -> Vec<Revision> {
        Revision::ALL.into_iter().rev().filter(|revision| self.has(revision.era())).collect()
    }
}

/// An MCP server. Cheap to clone: all clones are the same server, and any of them can change what it offers.
///
/// ```
/// use switchboard_sdk::{NoArgs, Server, Tool};
///
/// let server = Server::builder("demo", "1.0.0").dynamic().build().unwrap();
/// // Clients that are connected are told.
/// server.add_tool(Tool::new::<NoArgs, &'static str>("ping").handler(|_, _| async { Ok("pong") })).unwrap();
/// assert!(server.remove_tool("ping"));
/// ```
#[derive(Clone)]
pub struct Server(Arc<Inner>);

/// The code behind tools that are not listed.
type Unlisted = Arc<dyn Fn(Ctx, String, Raw) -> BoxFuture<'static, Result<Raw, Error>> + Send + Sync>;

struct Inner {
    info: Implementation,
    /// The same, as it stands in every modern result.
    info_raw: Raw,
    instructions: Option<String>,
    options: Options,
    registry: RwLock<Registry>,
    methods: IndexMap<String, Run>,
    /// What answers calls of tools that are not listed.
    unlisted: Option<Unlisted>,
    feed: Arc<Feed>,
    tasks: Tasks,
    state_key: StateKey,
    closing: CancellationToken,
    /// The tasks that run in the background.
    running: TaskTracker,
}

/// How a server behaves.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) eras: Eras,
    /// Whether lists that are empty now may have entries later.
    pub(crate) dynamic: bool,
    pub(crate) page_size: usize,
    pub(crate) list_cache: Cache,
    pub(crate) ask_timeout: Duration,
    pub(crate) state_ttl: Duration,
    pub(crate) extensions: JsonObject,
    pub(crate) experimental: JsonObject,
    mgp: Vec<switchboard_protocol::mgp::Extension>,
}

/// What is offered at the moment, in the order in which it was added.
#[derive(Default)]
struct Registry {
    tools: IndexMap<String, Arc<ToolEntry>>,
    resources: IndexMap<String, Arc<Resource>>,
    templates: IndexMap<String, Arc<TemplateEntry>>,
    prompts: IndexMap<String, Arc<Prompt>>,
}

impl Server {
    /// Begins a server with a name and a version.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ServerBuilder {
        ServerBuilder::new(Implementation::new(name, version))
    }

    /// The server as what answers the messages of any connection.
    #[must_use]
    pub fn into_handler(self) -> Arc<dyn Handler> {
        Arc::new(self)
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    /// Offers a tool from now on, in the place of one of the same name.
    ///
    /// # Errors
    /// Clients would not take the tool.
    pub fn add_tool(&self, tool: Tool) -> Result<(), ToolError> {
        let entry = Arc::new(ToolEntry::new(tool)?);
        self.0.registry.write().tools.insert(entry.tool.name().to_owned(), entry);
        self.tools_changed();
        Ok(())
    }

    /// Stops offering a tool. Calls that run go on. Whether there was one.
    pub fn remove_tool(&self, name: &str) -> bool {
        let removed = self.0.registry.write().tools.shift_remove(name).is_some();
        if removed {
            self.tools_changed();
        }
        removed
    }

    /// Offers a prompt from now on, in the place of one of the same name.
    pub fn add_prompt(&self, prompt: Prompt) {
        self.0.registry.write().prompts.insert(prompt.name().to_owned(), Arc::new(prompt));
        self.prompts_changed();
    }

    /// Stops offering a prompt. Whether there was one.
    pub fn remove_prompt(&self, name: &str) -> bool {
        let removed = self.0.registry.write().prompts.shift_remove(name).is_some();
        if removed {
            self.prompts_changed();
        }
        removed
    }

    /// Offers a resource from now on, in the place of one at the same address.
    pub fn add_resource(&self, resource: Resource) {
        self.0.registry.write().resources.insert(resource.uri().to_owned(), Arc::new(resource));
        self.resources_changed();
    }

    /// Stops offering a resource. Whether there was one.
    pub fn remove_resource(&self, uri: &str) -> bool {
        let removed = self.0.registry.write().resources.shift_remove(uri).is_some();
        if removed {
            self.resources_changed();
        }
        removed
    }

    /// Offers a family of resources from now on, in the place of one with the same template.
    ///
    /// # Errors
    /// The template cannot be matched.
    pub fn add_resource_template(&self, template: ResourceTemplate) -> Result<(), TemplateError> {
        let entry = Arc::new(TemplateEntry::new(template)?);
        self.0.registry.write().templates.insert(entry.template.uri_template().to_owned(), entry);
        self.resources_changed();
        Ok(())
    }

    /// Stops offering a family of resources. Whether there was one.
    pub fn remove_resource_template(&self, uri_template: &str) -> bool {
        let removed = self.0.registry.write().templates.shift_remove(uri_template).is_some();
        if removed {
            self.resources_changed();
        }
        removed
    }

    /// Tells clients that the list of tools has changed. Adding and removing does so by itself.
    pub fn tools_changed(&self) {
        self.0.feed.publish(&Change::Tools);
    }

    /// Tells clients that the list of prompts has changed. Adding and removing does so by itself.
    pub fn prompts_changed(&self) {
        self.0.feed.publish(&Change::Prompts);
    }

    /// Tells clients that the list of resources has changed. Adding and removing does so by itself.
    pub fn resources_changed(&self) {
        self.0.feed.publish(&Change::Resources);
    }

    /// Tells the clients that watch it that a resource has new contents.
    pub fn resource_updated(&self, uri: &str) {
        self.0.feed.publish(&Change::Resource(uri.to_owned()));
    }

    /// Ends streams and tasks, and what [`run_stdio`](Self::run_stdio) and the like wait for.
    pub fn shutdown(&self) {
        self.0.closing.cancel();
        self.0.tasks.cancel_all();
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("info", &self.0.info).finish_non_exhaustive()
    }
}
