//! The socket by which commands speak to kernels that run: a file in the data folder that only its owner can open.
//!
//! Decides who is let in (the same user, nobody else) and what can be asked there: how servers are, what they offer,
//! that they be started, ended or deregistered, and that the configuration be read again. No tool can be called through it.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use switchboard_kernel::{Kernel, OWNER, SERVERS_LIST, SERVERS_ORDER};
use switchboard_peer::duplex::{self, Connection, DuplexOptions, Role};
use switchboard_peer::{BoxFuture, Call, Context, Handler, Remote as _, Reply};
use switchboard_protocol::mgp::method;
use switchboard_protocol::proposals::manifest::GET_MANIFEST;
use switchboard_wire::{ErrorObject, Notification, Raw, Request, code};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
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
    pub(crate) fn open(kernel: Kernel, reread: Reread, address: Option<SocketAddr>, data_dir: &Path) -> Option<Self> {
        match bind(data_dir, "sock") {
            Ok((listener, path)) => {
                let ended = CancellationToken::new();
                tokio::spawn(serve(listener, Window { kernel, reread, address }, ended.clone()));
                Some(Self { path, ended })
            }
            Err(error) => {
                tracing::warn!(%error, "commands cannot speak to this kernel while it runs");
                None
            }
        }
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
    /// Where it serves clients over HTTP.
    address: Option<SocketAddr>,
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
            let address = self.address.map(|address| Raw::string(&address.to_string()));
            let answer = address.map_or_else(Raw::empty_object, |address| {
                switchboard_wire::Edit::empty().set("address", address).finish()
            });
            return Box::pin(std::future::ready(Ok(answer).into()));
        }
        let text = format!("Method not found: {}", request.method);
        Box::pin(std::future::ready(Err(ErrorObject::new(code::METHOD_NOT_FOUND, text)).into()))
    }

    fn notification(&self, _: Context, _: Notification) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
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
