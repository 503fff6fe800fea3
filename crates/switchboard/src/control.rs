//! The socket by which commands speak to kernels that run: a file in the data folder that only its owner can open.
//!
//! Decides who is let in (the same user, nobody else) and what can be asked there: how servers are, what they offer,
//! that they be started, ended or deregistered, that the configuration be read again, what the kernel is for, and that it end. No tool
//! can be called through it.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard_kernel::{Kernel, OWNER, SERVERS_LIST, SERVERS_ORDER};
use switchboard_peer::duplex::{self, Connection, DuplexOptions, Role};
use switchboard_peer::{BoxFuture, Call, Context, Handler, Remote as _, Reply};
use switchboard_protocol::mgp::method;
use switchboard_protocol::proposals::manifest::GET_MANIFEST;
use switchboard_wire::{ErrorObject, Notification, Raw, Request, code};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::arguments::Common;
use crate::failure::Failure;
use crate::serve::reload::Reread;
use crate::setup;
use crate::waiting::Waiting;

/// Asks a kernel to read its configuration again at once. It answers when what changed counts.
const READ_AGAIN: &str = "dev.switchboard/configuration/read";
/// In the answer: the settings that take effect when the kernel is started again.
const NEXT_START: &str = "next_start";
/// Asks a kernel where it serves clients over HTTP.
const ADDRESS: &str = "dev.switchboard/address";
/// Asks a kernel what it is for, and how many clients of `stdio` it has.
const STATE: &str = "dev.switchboard/kernel/state";
/// Asks a kernel that clients share to end.
const END: &str = "dev.switchboard/kernel/end";
/// Asks a kernel to look again at what is held back, because a person has decided about it.
const LOOK_AGAIN: &str = "dev.switchboard/definitions/look";
/// The folder of the sockets, in the data folder.
pub(crate) const FOLDER: &str = "run";
/// The longest path that a socket can have everywhere.
const LONGEST_PATH: usize = 100;
/// Commands that may be connected at a time.
const MAX_CONNECTED_COMMANDS: usize = 16;
/// How long a kernel may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// A rest after a connection that could not be taken.
const REST: Duration = Duration::from_millis(100);

/// The socket of this process. It is taken away when this is dropped.
#[derive(Debug)]
pub(crate) struct Control {
    path: PathBuf,
    ended: CancellationToken,
}

impl Control {
    /// Opens the socket. A kernel without one works all the same.
    pub(crate) fn open(kernel: Kernel, reread: Reread, post: Post, data_dir: &Path) -> Option<Self> {
        match bind(data_dir, "sock") {
            Ok((listener, path)) => {
                let ended = CancellationToken::new();
                tokio::spawn(serve(listener, Window { kernel, reread, post }, ended.clone()));
                Some(Self { path, ended })
            }
            Err(error) => {
                tracing::warn!(%error, "commands cannot speak to this kernel while it runs");
                None
            }
        }
    }
}

/// What a kernel is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KernelKind {
    /// Clients of `stdio` share it; they start it, and it ends after the last of them.
    Shared,
    /// Somebody started `serve`, and ends it.
    Serve,
    /// It is one client's own.
    Own,
}

impl KernelKind {
    /// Its name in answers.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Serve => "serve",
            Self::Own => "own",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Shared, Self::Serve, Self::Own].into_iter().find(|kind| kind.word() == word)
    }
}

/// What a kernel says of itself, and how it is ended.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    kind: KernelKind,
    /// Where it serves clients over HTTP.
    address: Option<SocketAddr>,
    began: Instant,
    /// The clients of `stdio` that are joined.
    pub(crate) clients: Arc<watch::Sender<usize>>,
    /// Cancelled when a person has asked that it end.
    pub(crate) end: CancellationToken,
}

impl Post {
    pub(crate) fn of(kind: KernelKind, address: Option<SocketAddr>) -> Self {
        let (clients, end) = (Arc::new(watch::Sender::new(0)), CancellationToken::new());
        Self { kind, address, began: Instant::now(), clients, end }
    }

    fn state(&self) -> Raw {
        let number = |number: u64| Raw::number(number);
        switchboard_wire::Edit::empty()
            .set("kind", Raw::string(self.kind.word()))
            .set("version", Raw::string(env!("CARGO_PKG_VERSION")))
            .set("clients", number(u64::try_from(*self.clients.borrow()).unwrap_or(u64::MAX)))
            .set("uptime_secs", number(self.began.elapsed().as_secs()))
            .set_optional("address", self.address.map(|address| Raw::string(&address.to_string())))
            .finish()
    }
}

/// The folder of the sockets, which nobody else can enter.
pub(crate) fn folder(data_dir: &Path) -> io::Result<PathBuf> {
    let folder = data_dir.join(FOLDER);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let metadata = std::fs::metadata(&folder)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!("{} is open to others", folder.display())));
    }
    Ok(folder)
}

/// Whether the other end belongs to the same user.
pub(crate) fn is_owner(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == own)
}

/// A socket of this process that only its owner can open.
pub(crate) fn bind(data_dir: &Path, ending: &str) -> io::Result<(UnixListener, PathBuf)> {
    let path = folder(data_dir)?.join(format!("{}.{ending}", std::process::id()));
    if path.as_os_str().len() > LONGEST_PATH {
        return Err(io::Error::other(format!("the path {} is too long for a socket", path.display())));
    }
    // A process of this number that was killed may have left one behind.
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    Ok((listener, path))
}

impl Drop for Control {
    fn drop(&mut self) {
        self.ended.cancel();
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn serve(listener: UnixListener, window: Window, ended: CancellationToken) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTED_COMMANDS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = ended.cancelled() => return,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(REST).await;
            continue;
        };
        // Who comes when all places are taken finds the connection closed.
        let (true, Ok(place)) = (is_owner(&stream), places.clone().try_acquire_owned()) else { continue };
        let options = DuplexOptions { principal: OWNER.into(), admin: true, ..DuplexOptions::new(Role::Server) };
        let (reader, writer) = stream.into_split();
        let started = duplex::start(reader, writer, options, Arc::new(window.clone()));
        let ended = ended.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = started.finished.cancelled() => {}
                () = ended.cancelled() => started.connection.close(),
            }
            drop(place);
        });
    }
}

/// As much of the kernel as a command may see.
#[derive(Clone)]
struct Window {
    kernel: Kernel,
    reread: Reread,
    post: Post,
}

impl Handler for Window {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        let known = [
            SERVERS_LIST,
            SERVERS_ORDER,
            method::HEALTH_PING,
            method::HEALTH_STATUS,
            method::LIFECYCLE_SHUTDOWN,
            GET_MANIFEST,
            method::DISCOVERY_LIST,
            method::DISCOVERY_DEREGISTER,
        ];
        if known.contains(&&*request.method) {
            return self.kernel.request(context, request);
        }
        if *request.method == *READ_AGAIN {
            return Box::pin(async move {
                self.reread.now().await;
                let later: Vec<Raw> = self.reread.next_start().into_iter().map(Raw::string).collect();
                Ok(switchboard_wire::Edit::empty().set(NEXT_START, Raw::array(&later)).finish()).into()
            });
        }
        if *request.method == *ADDRESS {
            let address = self.post.address.map(|address| Raw::string(&address.to_string()));
            let answer = address.map_or_else(Raw::empty_object, |address| {
                switchboard_wire::Edit::empty().set("address", address).finish()
            });
            return Box::pin(std::future::ready(Ok(answer).into()));
        }
        if *request.method == *LOOK_AGAIN {
            self.kernel.look_again();
            return Box::pin(std::future::ready(Ok(Raw::empty_object()).into()));
        }
        if *request.method == *STATE {
            return Box::pin(std::future::ready(Ok(self.post.state()).into()));
        }
        if *request.method == *END {
            // One that somebody started by hand is theirs to end.
            let ends = self.post.kind == KernelKind::Shared;
            if ends {
                tracing::info!("a person ends this kernel");
                self.post.end.cancel();
            }
            let answer = switchboard_wire::Edit::empty().set("ends", Raw::boolean(ends)).finish();
            return Box::pin(std::future::ready(Ok(answer).into()));
        }
        let text = format!("Method not found: {}", request.method);
        Box::pin(std::future::ready(Err(ErrorObject::new(code::METHOD_NOT_FOUND, text)).into()))
    }

    fn notification(&self, _: Context, _: Notification) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// What a kernel that runs says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KernelState {
    pub(crate) kind: KernelKind,
    pub(crate) version: String,
    pub(crate) clients: u64,
    pub(crate) uptime: Duration,
    pub(crate) address: Option<String>,
}

/// A kernel that runs in another process.
#[derive(Debug)]
pub(crate) struct Running {
    /// The number of its process.
    pub(crate) process: u32,
    connection: Arc<Connection>,
}

impl Running {
    /// All kernels that use this data folder. Sockets that nobody listens at any more are taken away.
    pub(crate) async fn all(data_dir: &Path) -> Vec<Self> {
        let Ok(entries) = std::fs::read_dir(data_dir.join(FOLDER)) else { return Vec::new() };
        let mut found = Vec::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
            let (Some(process), Some("sock")) = (name, path.extension().and_then(|end| end.to_str())) else { continue };
            match UnixStream::connect(&path).await {
                Ok(stream) => {
                    let (reader, writer) = stream.into_split();
                    let started = duplex::start(reader, writer, DuplexOptions::new(Role::Client), Arc::new(Deaf));
                    found.push(Self { process, connection: started.connection });
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    let _ = std::fs::remove_file(&path);
                }
                Err(_) => {}
            }
        }
        found.sort_by_key(|running| running.process);
        found
    }

    /// Has all kernels of a data folder read their configuration again. One that cannot be asked reads it in a few seconds.
    pub(crate) async fn all_read_again(data_dir: &Path) {
        for running in Self::all(data_dir).await {
            if let Ok(Err(error)) = running.ask(READ_AGAIN, Raw::empty_object()).await {
                tracing::debug!(process = running.process, error = %error.message, "it reads its configuration by itself");
            }
        }
    }

    /// The settings that differ from those that it was started with, and take effect when it is started again.
    pub(crate) async fn next_start(&self) -> Vec<String> {
        let Ok(Ok(answer)) = self.ask(READ_AGAIN, Raw::empty_object()).await else { return Vec::new() };
        let keys = answer.member(NEXT_START).and_then(|keys| keys.elements()).unwrap_or_default();
        keys.iter().filter_map(Raw::as_text).collect()
    }

    /// What it says of itself; `None` for one of a version that does not say it.
    pub(crate) async fn state(&self) -> Option<KernelState> {
        let answer = self.ask(STATE, Raw::empty_object()).await.ok()?.ok()?;
        let word = |key: &str| answer.member(key).and_then(|word| word.as_text());
        let number = |key: &str| answer.member(key).and_then(|number| number.view::<u64>().ok()).unwrap_or_default();
        Some(KernelState {
            kind: KernelKind::from_word(&word("kind")?)?,
            version: word("version").unwrap_or_default(),
            clients: number("clients"),
            uptime: Duration::from_secs(number("uptime_secs")),
            address: word("address"),
        })
    }

    /// Has it look again at what is held back.
    pub(crate) async fn look_again(&self) {
        let _ = self.ask(LOOK_AGAIN, Raw::empty_object()).await;
    }

    /// Asks it to end; whether it does.
    pub(crate) async fn end(&self) -> Result<bool, Failure> {
        let answer = self.ask(END, Raw::empty_object()).await?;
        Ok(answer.is_ok_and(|answer| answer.member("ends").and_then(|ends| ends.view::<bool>().ok()) == Some(true)))
    }

    /// Has kernels that run take over what a command has written, before it says that it is so.
    pub(crate) async fn all_take_over(common: &Common) {
        // A configuration that cannot be read changes nothing anywhere.
        let Some(loaded) = setup::sources(common).ok().and_then(|sources| switchboard_config::load(&sources).ok())
        else {
            return;
        };
        let _waiting = Waiting::begin("waiting until the kernel that runs has taken this over");
        Self::all_read_again(&loaded.data_dir).await;
    }

    /// Where a kernel of this data folder serves clients over HTTP, if one does.
    pub(crate) async fn address(data_dir: &Path) -> Option<SocketAddr> {
        for running in Self::all(data_dir).await {
            if let Ok(Ok(answer)) = running.ask(ADDRESS, Raw::empty_object()).await
                && let Some(address) = answer.member("address").and_then(|address| address.as_text()?.parse().ok())
            {
                return Some(address);
            }
        }
        None
    }

    /// Asks it. The outer error means that there was no answer.
    pub(crate) async fn ask(&self, method: &str, params: Raw) -> Result<Result<Raw, ErrorObject>, Failure> {
        let mut call = Call::new(method, Some(params)).within(ANSWER);
        call.max_timeout = ANSWER;
        let reply = self.connection.request(call).await;
        let none = |error| Failure::failed(format!("the kernel of process {} does not answer: {error}", self.process));
        Ok(reply.map_err(none)?.outcome)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.connection.close();
    }
}

/// Answers nothing.
struct Deaf;

impl Handler for Deaf {
    fn request(&self, _: Context, _: Request) -> BoxFuture<'_, Reply> {
        Box::pin(std::future::ready(Err(ErrorObject::new(code::METHOD_NOT_FOUND, "nobody answers here")).into()))
    }

    fn notification(&self, _: Context, _: Notification) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
