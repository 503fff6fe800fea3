//! Where a kernel takes clients of `stdio`: a socket in the data folder that only its owner can open.

use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_config::Sources;
use switchboard_kernel::Kernel;
use switchboard_peer::duplex::{self, DuplexOptions};
use switchboard_transport::child;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::gone::gone;
use super::{HELLO, VERSION, digests_now, first_line};
use crate::control;
use crate::serve::reload::Reread;

/// What the name of such a socket ends with.
pub(crate) const ENDING: &str = "clients";
/// Clients that may be joined at a time.
const MAX_CLIENTS: usize = 256;
/// How long the first client may take.
const FIRST: Duration = Duration::from_secs(30);
/// How long a profile may take to be there.
const PROFILE: Duration = Duration::from_secs(1);
/// How long it may take to take over files that have just changed.
const TAKING_OVER: Duration = Duration::from_secs(3);
/// A rest after a connection that could not be taken.
const REST: Duration = Duration::from_millis(100);

/// The socket of this process. It is taken away when this is dropped.
#[derive(Debug)]
pub(crate) struct ClientSocket {
    path: PathBuf,
    /// Nobody is taken any more.
    leaving: CancellationToken,
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
    reread: Reread,
    options: DuplexOptions,
    clients: Arc<watch::Sender<usize>>,
    leaving: CancellationToken,
    ended: CancellationToken,
    /// What is told when another kernel takes its place; nothing where none may.
    retired: Option<CancellationToken>,
}

impl ClientSocket {
    /// Opens the socket. Clients have connections with these options.
    pub(crate) fn open(
        kernel: Kernel,
        (sources, reread): (Sources, Reread),
        options: DuplexOptions,
        data_dir: &Path,
        (tenure, counted): (Tenure, Arc<watch::Sender<usize>>),
    ) -> io::Result<Self> {
        let (listener, path) = control::bind(data_dir, ENDING)?;
        let clients = counted.subscribe();
        let [leaving, ended, retired] = std::array::from_fn(|_| CancellationToken::new());
        let told = (tenure == Tenure::Shared).then(|| retired.clone());
        let house = House {
            kernel,
            sources,
            reread,
            options,
            clients: counted,
            leaving: leaving.clone(),
            ended: ended.clone(),
            retired: told,
        };
        tokio::spawn(take(listener, house));
        Ok(Self { path, leaving, ended, retired, clients })
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

    /// Takes nobody any more: who looks for a kernel finds another, or starts one. Those who are there stay.
    pub(crate) fn refuse(&self) {
        self.leaving.cancel();
        let _ = std::fs::remove_file(&self.path);
    }

    /// Waits until the last words to those who were there are written.
    pub(crate) async fn left(&self) {
        let mut clients = self.clients.clone();
        let _ = timeout(HELLO, clients.wait_for(|clients| *clients == 0)).await;
    }

    /// Takes nobody any more, and ends with those who are there.
    pub(crate) fn close(&self) {
        self.refuse();
        self.ended.cancel();
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
            () = house.leaving.cancelled() => return,
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

/// Whether the programs are found here that who comes finds: with another `PATH` their servers would not start.
fn finds_all(hello: &Value) -> bool {
    let programs = hello.get("programs").and_then(Value::as_array).into_iter().flatten();
    programs.filter_map(Value::as_str).all(|program| child::place_of(program).is_some())
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
        let said = |key: &str| hello.get(key).and_then(Value::as_str);
        let (ours, files) = digests_now(&self.sources).await.unzip();
        let same = is_known && ours.is_some() && said("configuration") == ours.as_deref();
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
        let exact = same && finds_all(&hello);
        let takes_other = hello.get("takes_other") == Some(&Value::Bool(true));
        let same = exact || is_known && takes_other && files.is_some() && said("files") == files.as_deref();
        if same {
            // Who comes has read the files as they are now, and asks for what they say.
            let _ = timeout(TAKING_OVER, self.reread.if_changed()).await;
        }
        let profile: Option<Arc<str>> = hello.get("profile").and_then(Value::as_str).map(Into::into);
        // Who names a profile has read it in the same files: those that have just changed are read here in a moment.
        let same = same && self.has_profile(profile.as_deref()).await;
        // Who was let in just before a kernel ends would only have to leave again.
        let same = same && !self.leaving.is_cancelled();
        // Counted before it is told: who was let in is not left alone.
        if same {
            self.clients.send_modify(|clients| *clients += 1);
        }
        let answer = if same {
            json!({"attached": true, "differs": !exact})
        } else {
            json!({"attached": false, "why": "configuration"})
        };
        let told = timeout(HELLO, writer.write_all(format!("{answer}\n").as_bytes())).await;
        if !same {
            return Ok(());
        }
        if !matches!(told, Ok(Ok(()))) {
            self.clients.send_modify(|clients| *clients -= 1);
            return Ok(());
        }
        let started = duplex::start(
            reader,
            writer,
            DuplexOptions { profile, ..self.options.clone() },
            Arc::new(self.kernel.clone()),
        );
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
