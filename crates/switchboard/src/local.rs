//! A kernel inside this process for one command, and a client of it.
//!
//! The client speaks to the kernel over a pair of pipes in memory, with a handshake and messages like any other, so
//! that what a command shows is what a client gets.

use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard_config::Loaded;
use switchboard_identity::UpstreamCredentials;
use switchboard_kernel::{COMMAND_LINE, Kernel, Restart, ServerSpec, names};
use switchboard_peer::duplex::{self, Connection, Options, Role};
use switchboard_peer::{Call, Handler, Remote as _};
use switchboard_protocol::Revision;
use switchboard_protocol::mcp::method;
use switchboard_wire::{ErrorObject, Limits, Notification, Raw};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::sight::{Progress, ServerReport};
use crate::waiting::Waiting;
use crate::{memory, screen, specs, storage};

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
    pub(crate) specs: Vec<ServerSpec>,
    memory: Option<memory::BuiltIn>,
}

impl Local {
    /// Starts the servers of a configuration.
    pub(crate) async fn of(loaded: Loaded) -> Result<Self, Failure> {
        let mut specs = specs::specs(&loaded.config, &loaded.data_dir);
        let memory = memory::start(&loaded)?;
        specs.extend(memory.iter().map(|memory| memory.spec.clone()));
        Self::with(loaded, specs, memory).await
    }

    /// Starts the server that a tool's name points at; all if it points at none.
    pub(crate) async fn for_tool(loaded: Loaded, tool: &str) -> Result<Self, Failure> {
        let specs = specs::specs(&loaded.config, &loaded.data_dir);
        let owner = owner_of(&specs, tool).cloned();
        match owner {
            Some(owner) => Self::with(loaded, vec![owner], None).await,
            None => Self::of(loaded).await,
        }
    }

    /// Starts one server, in another way than the configuration says.
    pub(crate) async fn only(loaded: Loaded, spec: ServerSpec) -> Result<Self, Failure> {
        Self::with(loaded, vec![spec], None).await
    }

    async fn with(
        loaded: Loaded,
        mut specs: Vec<ServerSpec>,
        memory: Option<memory::BuiltIn>,
    ) -> Result<Self, Failure> {
        for spec in &mut specs {
            // A command shows how a server is, and does not wait until it may be better.
            spec.restart = Restart::Never;
        }
        let store = storage::open_store(&loaded).await?;
        let credentials = UpstreamCredentials::start(store.clone(), &loaded, CancellationToken::new()).await?;
        let mut options = specs::kernel_options(&loaded, Some(store))?;
        options.credentials = Some(credentials);
        let kernel = Kernel::new(options);
        kernel.apply(specs.clone());
        Ok(Self { loaded, kernel, specs, memory })
    }

    /// What is known of each server.
    pub(crate) fn seen(&self) -> Vec<ServerReport> {
        self.kernel.described_servers().into_iter().filter_map(|server| serde_json::from_value(server).ok()).collect()
    }

    /// Waits until every server has come up or failed.
    pub(crate) async fn settle(&self) {
        self.settle_for_those(|_| true).await;
    }

    /// Waits for the server that a tool's name points at; for all if it points at none.
    pub(crate) async fn settle_for(&self, tool: &str) {
        let Some(owner) = owner_of(&self.specs, tool) else {
            return self.settle().await;
        };
        self.settle_for_those(|server| *server.id == *owner.id).await;
    }

    /// Says how far they are where that takes a while.
    async fn settle_for_those(&self, awaited: impl Fn(&ServerReport) -> bool) {
        let mut progress = Progress::default();
        let began = Instant::now();
        // The servers' own start time-outs end the wait; this one is for the case that they do not.
        while began.elapsed() < specs::patience(&self.specs) {
            let mut seen = self.seen();
            seen.retain(&awaited);
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
        let options = Options { limits, profile, ..Options::new(Role::Server) };
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

/// The server that a tool's name points at.
fn owner_of<'s>(specs: &'s [ServerSpec], tool: &str) -> Option<&'s ServerSpec> {
    let named = |spec: &&ServerSpec| {
        let part = |naming: names::Naming| naming.own_part(tool).map(str::len);
        part(spec.policy.naming(&spec.id)).or_else(|| part(names::Naming::of(&spec.id)))
    };
    specs.iter().filter_map(|spec| Some((named(&spec)?, spec))).min_by_key(|(own, _)| *own).map(|(_, spec)| spec)
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
        let options = Options { limits: specs::message_limits(settings), ..Options::new(Role::Client) };
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
    Failure::failed(screen::plain(&format!("{} (code {})", error.message, error.code)))
}
