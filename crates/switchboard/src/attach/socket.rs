//! Where a kernel takes clients of `stdio`: a socket in the data folder that only its owner can open.

use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_config::Sources;
use switchboard_kernel::Kernel;
use switchboard_peer::duplex::{self, Options};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::gone::gone;
use super::{HELLO, VERSION, digest_now, first_line};
use crate::control;

/// What the name of such a socket ends with.
pub(crate) const ENDING: &str = "clients";
/// Clients that may be joined at a time.
const MAX_CLIENTS: usize = 256;
/// How long the first client may take.
const FIRST: Duration = Duration::from_secs(30);
/// How long a profile may take to be there.
const PROFILE: Duration = Duration::from_secs(4);
/// A rest after a connection that could not be taken.
const REST: Duration = Duration::from_millis(100);

/// The socket of this process. It is taken away when this is dropped.
#[derive(Debug)]
pub(crate) struct ClientSocket {
    path: PathBuf,
    ended: CancellationToken,
    /// Another kernel takes the place of this one.
    retired: CancellationToken,
    clients: watch::Receiver<usize>,
}

/// Whether a kernel ends for one that another program wants to be the only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tenure {
    /// It was started for the clients that share it.
    Shared,
    /// Somebody started it, and ends it.
    Own,
}

/// What a client is served with.
#[derive(Clone)]
struct House {
    kernel: Kernel,
    sources: Sources,
    options: Options,
    clients: Arc<watch::Sender<usize>>,
    ended: CancellationToken,
    /// What is told when another kernel takes its place; nothing where none may.
    retired: Option<CancellationToken>,
}

impl ClientSocket {
    /// Opens the socket. Clients have connections with these options.
    pub(crate) fn open(
        kernel: Kernel,
        sources: Sources,
        options: Options,
        data_dir: &Path,
        tenure: Tenure,
    ) -> io::Result<Self> {
        let (listener, path) = control::bind(data_dir, ENDING)?;
        let (sender, clients) = watch::channel(0);
        let (ended, retired) = (CancellationToken::new(), CancellationToken::new());
        let told = (tenure == Tenure::Shared).then(|| retired.clone());
        let house = House { kernel, sources, options, clients: Arc::new(sender), ended: ended.clone(), retired: told };
        tokio::spawn(take(listener, house));
        Ok(Self { path, ended, retired, clients })
    }

    /// Waits until another kernel takes the place of this one.
    pub(crate) async fn retired(&self) {
        self.retired.cancelled().await;
    }

    /// Waits until nobody was joined for so long.
    pub(crate) async fn deserted(&self, for_so_long: Duration) {
        let mut clients = self.clients.clone();
        // Who started it comes first.
        let _ = timeout(FIRST, clients.wait_for(|clients| *clients > 0)).await;
        loop {
            let empty = clients.wait_for(|clients| *clients == 0).await.is_ok();
            let somebody = clients.wait_for(|clients| *clients > 0);
            if !empty || timeout(for_so_long, somebody).await.is_err() {
                return;
            }
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until the last words to those who were there are written.
    pub(crate) async fn left(&self) {
        let mut clients = self.clients.clone();
        let _ = timeout(HELLO, clients.wait_for(|clients| *clients == 0)).await;
    }

    /// Takes nobody any more, and ends with those who are there.
    pub(crate) fn close(&self) {
        self.ended.cancel();
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Drop for ClientSocket {
    fn drop(&mut self) {
        self.close();
    }
}

async fn take(listener: UnixListener, house: House) {
    let places = Arc::new(Semaphore::new(MAX_CLIENTS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = house.ended.cancelled() => return,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(REST).await;
            continue;
        };
        // Who comes when all places are taken finds the connection closed, and starts a kernel of its own.
        let (true, Ok(place)) = (control::is_owner(&stream), places.clone().try_acquire_owned()) else { continue };
        let house = house.clone();
        tokio::spawn(async move {
            if let Err(error) = house.serve(stream).await {
                tracing::debug!(%error, "a client could not be joined");
            }
            drop(place);
        });
    }
}

impl House {
    async fn has_profile(&self, name: Option<&str>) -> bool {
        let Some(name) = name else { return true };
        let there = async {
            while !self.kernel.has_profile(name) {
                tokio::time::sleep(REST).await;
            }
        };
        timeout(PROFILE, there).await.is_ok()
    }

    async fn serve(&self, stream: UnixStream) -> io::Result<()> {
        let watched = stream.as_fd().try_clone_to_owned()?;
        let (reader, mut writer) = stream.into_split();
        let mut reader = BufReader::new(reader);
        let hello = timeout(HELLO, first_line(&mut reader)).await??;
        let is_known = hello.get("version").and_then(Value::as_u64) == Some(VERSION);
        let ours = digest_now(&self.sources).await;
        let same = is_known && ours.is_some() && hello.get("configuration").and_then(Value::as_str) == ours.as_deref();
        if same && hello.get("switchboard").and_then(Value::as_str) == Some("retire") {
            let answer = json!({"retiring": self.retired.is_some()});
            timeout(HELLO, writer.write_all(format!("{answer}\n").as_bytes())).await??;
            if let Some(retired) = &self.retired {
                retired.cancel();
                // The connection is closed with the process: who asked waits for that.
                std::future::pending::<()>().await;
            }
            return Ok(());
        }
        let profile: Option<Arc<str>> = hello.get("profile").and_then(Value::as_str).map(Into::into);
        // Who names a profile has read it in the same files: those that have just changed are read here in a moment.
        let same = same && self.has_profile(profile.as_deref()).await;
        // Counted before it is told: who was let in is not left alone.
        if same {
            self.clients.send_modify(|clients| *clients += 1);
        }
        let answer = if same { json!({"attached": true}) } else { json!({"attached": false, "why": "configuration"}) };
        let told = timeout(HELLO, writer.write_all(format!("{answer}\n").as_bytes())).await;
        if !same {
            return Ok(());
        }
        if !matches!(told, Ok(Ok(()))) {
            self.clients.send_modify(|clients| *clients -= 1);
            return Ok(());
        }
        let started =
            duplex::start(reader, writer, Options { profile, ..self.options.clone() }, Arc::new(self.kernel.clone()));
        tokio::select! {
            () = started.finished.cancelled() => {}
            // Nobody hears the answers any more: what waits for a person is not made, what runs is cancelled.
            () = gone(&watched) => started.connection.close(),
            () = self.ended.cancelled() => {
                started.connection.finish();
                let _ = timeout(HELLO, started.finished.cancelled()).await;
                started.connection.close();
            }
        }
        let _ = timeout(HELLO, started.connection.written()).await;
        started.connection.close();
        self.clients.send_modify(|clients| *clients -= 1);
        Ok(())
    }
}
