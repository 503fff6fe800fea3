//! A kernel inside this process for one command, and a client of it.
//!
//! The client speaks to the kernel over a pair of pipes in memory, with a handshake and messages like any other, so
//! that what a command shows is what a client gets.

use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard_config::{Loaded, Server};
use switchboard_identity::UpstreamCredentials;
use switchboard_kernel::{COMMAND_LINE, Kernel, Restart, ServerSpec, names};
use switchboard_peer::duplex::{self, Connection, DuplexOptions, Role};
use switchboard_peer::{Call, Handler, Remote as _};
use switchboard_protocol::Revision;
use switchboard_protocol::mcp::method;
use switchboard_store::Store;
use switchboard_wire::{ErrorObject, Limits, Notification, Raw};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::sight::{Progress, ServerReport};
use crate::waiting::Waiting;
use crate::{memory, screen, setup, specs, storage};

/// Bytes that fit into the pipe before the writer waits.
const PIPE: usize = 64 * 1024;
/// Pages of one list at most: a server that always names another one must not keep us for ever.
const PAGES: usize = 1_000;
/// How often a server that is awaited is looked at.
const START_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long servers get to end.
const GOODBYE: Duration = Duration::from_secs(6);

/// A kernel for one command.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) loaded: Loaded,
    pub(crate) kernel: Kernel,
    /// The servers that were started.
    pub(crate) specs: Vec<ServerSpec>,
    memory: Option<memory::BuiltIn>,
    /// Whether only some of the servers were started, by what is remembered of their tools.
    by_memory: bool,
}

/// The servers that a call of a tool needs.
#[derive(Debug, PartialEq, Eq)]
enum Needed {
    /// Those whose names its name begins with.
    Named(Vec<Arc<str>>),
    /// Those that have shown such a tool before.
    Remembered(Vec<Arc<str>>),
    /// Nobody knows which.
    All,
}

impl Local {
    /// Starts the servers of a configuration.
    pub(crate) async fn of(loaded: Loaded) -> Result<Self, Failure> {
        let store = storage::open_store(&loaded).await?;
        Self::needing(loaded, store, &Needed::All).await
    }

    /// Starts the servers that may have a tool of that name: the one that the name points at, else those that have shown such a
    /// tool before, else all.
    pub(crate) async fn for_tool(loaded: Loaded, tool: &str) -> Result<Self, Failure> {
        let store = storage::open_store(&loaded).await?;
        let needed = needed(&loaded, &store, tool).await?;
        Self::needing(loaded, store, &needed).await
    }

    /// Starts one server, in another way than the configuration says.
    pub(crate) async fn only(loaded: Loaded, spec: ServerSpec) -> Result<Self, Failure> {
        let store = storage::open_store(&loaded).await?;
        Self::with(loaded, store, vec![spec], None).await
    }

    async fn needing(loaded: Loaded, store: Store, needed: &Needed) -> Result<Self, Failure> {
        let is_needed = |id: &str| match needed {
            Needed::Named(ids) | Needed::Remembered(ids) => ids.iter().any(|needed| **needed == *id),
            Needed::All => true,
        };
        let mut specs = specs::specs(&loaded.config, &loaded.data_dir);
        specs.retain(|spec| is_needed(&spec.id));
        let memory = if is_needed(memory::ID) { memory::start(&loaded)? } else { None };
        specs.extend(memory.iter().map(|memory| memory.spec.clone()));
        let local = Self::with(loaded, store, specs, memory).await?;
        Ok(Self { by_memory: matches!(needed, Needed::Remembered(_)), ..local })
    }

    async fn with(
        loaded: Loaded,
        store: Store,
        mut specs: Vec<ServerSpec>,
        memory: Option<memory::BuiltIn>,
    ) -> Result<Self, Failure> {
        specs.iter_mut().for_each(once);
        let credentials = UpstreamCredentials::start(store.clone(), &loaded, CancellationToken::new()).await?;
        let mut options = specs::kernel_options(&loaded, Some(store))?;
        options.credentials = Some(credentials);
        let kernel = Kernel::new(options);
        kernel.apply(specs.clone());
        Ok(Self { loaded, kernel, specs, memory, by_memory: false })
    }

    /// Starts the other servers too, where those that were started were only remembered to have the tool.
    pub(crate) fn start_the_rest(&mut self) -> Result<bool, Failure> {
        if !std::mem::take(&mut self.by_memory) {
            return Ok(false);
        }
        let mut specs = specs::specs(&self.loaded.config, &self.loaded.data_dir);
        specs.iter_mut().for_each(once);
        if self.memory.is_none() {
            self.memory = memory::start(&self.loaded)?;
        }
        specs.extend(self.memory.iter().map(|memory| memory.spec.clone()));
        self.kernel.apply(specs.clone());
        self.specs = specs;
        Ok(true)
    }

    /// What is known of each server.
    pub(crate) fn seen(&self) -> Vec<ServerReport> {
        self.kernel.described_servers().into_iter().filter_map(|server| serde_json::from_value(server).ok()).collect()
    }

    /// Waits until every server has come up or failed.
    ///
    /// Says how far they are where that takes a while.
    pub(crate) async fn settle(&self) {
        let mut progress = Progress::default();
        let began = Instant::now();
        // The servers' own start time-outs end the wait; this one is for the case that they do not.
        while began.elapsed() < specs::patience(&self.specs) {
            let seen = self.seen();
            progress.lines(began.elapsed(), &seen).iter().for_each(screen::note);
            if !seen.iter().any(ServerReport::is_starting) {
                return;
            }
            tokio::time::sleep(START_POLL_INTERVAL).await;
        }
    }

    /// Becomes a client of the kernel. `handler` answers what the servers ask of it.
    pub(crate) async fn connect(
        &self,
        profile: Option<Arc<str>>,
        capabilities: Raw,
        handler: Arc<dyn Handler>,
    ) -> Result<Client, Failure> {
        let limits = specs::message_limits(&self.loaded.config.settings);
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let (reader, writer) = tokio::io::split(theirs);
        let options = DuplexOptions { limits, profile, ..DuplexOptions::new(Role::Server) };
        let _served = duplex::start(reader, writer, options, Arc::new(self.kernel.clone()));
        let (reader, writer) = tokio::io::split(ours);
        Client::greet(reader, writer, &self.loaded, capabilities, handler).await
    }

    /// Ends the servers.
    pub(crate) async fn end(&self) {
        let _waiting = Waiting::begin("ending the servers that were started for this");
        self.kernel.shut_down(GOODBYE).await;
        memory::close(self.memory.as_ref()).await;
    }
}

/// A command shows how a server is, and does not wait until it may be better.
fn once(spec: &mut ServerSpec) {
    spec.restart = Restart::Never;
}

/// The servers that a call of a tool needs.
async fn needed(loaded: &Loaded, store: &Store, tool: &str) -> Result<Needed, Failure> {
    if names::is_reserved(tool) {
        return Ok(Needed::All);
    }
    let mut ids: Vec<Arc<str>> =
        specs::specs(&loaded.config, &loaded.data_dir).into_iter().map(|spec| spec.id).collect();
    if memory::wanted(loaded) && !ids.iter().any(|id| **id == *memory::ID) {
        ids.push(memory::ID.into());
    }
    if let Some(owner) = setup::owner_of(&loaded.config, ids.iter().map(|id| &**id), tool) {
        return Ok(Needed::Named(vec![owner.into()]));
    }
    let pins = store.pins().list(None).await?;
    let has = |id: &str| {
        let renamed = |server: &Server| server.entry.tools.values().any(|said| said.name.as_deref() == Some(tool));
        loaded.config.server(id).is_some_and(renamed) || pins.iter().any(|pin| pin.server == id && pin.tool == tool)
    };
    ids.retain(|id| has(id));
    // Nothing that is started would have it.
    if ids.is_empty()
        && let Some(unusable) = setup::unusable(loaded, tool)
    {
        return Err(unusable);
    }
    Ok(if ids.is_empty() { Needed::All } else { Needed::Remembered(ids) })
}

/// A client of a kernel.
#[derive(Debug)]
pub(crate) struct Client {
    connection: Arc<Connection>,
    longest: Duration,
}

impl Client {
    /// Becomes a client of the kernel at the other end of a stream. `handler` answers what the servers ask of it.
    pub(crate) async fn greet(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        loaded: &Loaded,
        capabilities: Raw,
        handler: Arc<dyn Handler>,
    ) -> Result<Self, Failure> {
        let settings = &loaded.config.settings;
        let options = DuplexOptions { limits: specs::message_limits(settings), ..DuplexOptions::new(Role::Client) };
        let connection = duplex::start(reader, writer, options, handler).connection;
        let client = Self { connection, longest: settings.limits.call_timeout_max + GOODBYE };
        let info = object(&[("name", Raw::string(COMMAND_LINE)), ("version", Raw::string(env!("CARGO_PKG_VERSION")))]);
        let hello = object(&[
            ("protocolVersion", Raw::string(Revision::LATEST_LEGACY.as_str())),
            ("capabilities", capabilities),
            ("clientInfo", info),
        ]);
        client.ask(method::INITIALIZE, Some(hello)).await?.map_err(|error| refused(&error))?;
        client
            .connection
            .notify(Notification::new(method::INITIALIZED, None))
            .map_err(|error| Failure::failed(format!("the kernel cannot be told anything: {error}")))?;
        Ok(client)
    }

    /// Asks the kernel. The outer error means that there was no answer.
    pub(crate) async fn ask(&self, method: &str, params: Option<Raw>) -> Result<Result<Raw, ErrorObject>, Failure> {
        let mut call = Call::new(method, params).within(self.longest);
        call.max_timeout = self.longest;
        let reply = self.connection.request(call).await;
        Ok(reply.map_err(|error| Failure::failed(format!("no answer to `{method}`: {error}")))?.outcome)
    }

    /// All tools, as the kernel lists them.
    pub(crate) async fn tools(&self) -> Result<Vec<Raw>, Failure> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..PAGES {
            let params = cursor.take().map(|cursor| object(&[("cursor", cursor)]));
            let page = self.ask(method::TOOLS_LIST, params).await?.map_err(|error| refused(&error))?;
            tools.extend(page.member("tools").and_then(|list| list.elements()).unwrap_or_default());
            cursor = page.member("nextCursor").filter(|cursor| cursor.as_text().is_some());
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        Err(Failure::failed("the list of tools has no end"))
    }
}

/// An object of raw values.
pub(crate) fn object(members: &[(&str, Raw)]) -> Raw {
    let edit = switchboard_wire::Edit::empty();
    members.iter().fold(edit, |edit, (key, value)| edit.set(key, value.clone())).finish()
}

/// A JSON value of ours as raw text.
pub(crate) fn raw(value: &serde_json::Value) -> Raw {
    Raw::parse(value.to_string(), &Limits { bytes: usize::MAX, ..Limits::default() })
        .unwrap_or_else(|_| Raw::empty_object())
}

/// An error of the kernel or of a server behind it, for a person.
pub(crate) fn refused(error: &ErrorObject) -> Failure {
    let hint = error.data.as_ref().and_then(|data| data.member("suggestion")?.as_text());
    let hint = hint.map(|hint| format!("\nwhat to do: {hint}")).unwrap_or_default();
    Failure::failed(screen::plain(&format!("{} (code {}){hint}", error.message, error.code)))
}
