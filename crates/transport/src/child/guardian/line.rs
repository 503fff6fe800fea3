//! Our end: starting a guardian, and the socket to it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio_util::sync::CancellationToken;

use crate::child::running::Start;
use crate::child::{pre_exec, tree};
use crate::handover;

/// How long a guardian may take to read what it is to start.
const HAND_OVER: Duration = Duration::from_secs(10);

/// Ask all to end.
pub(super) const TERM: u8 = b'T';
/// End all.
pub(super) const KILL: u8 = b'K';

static INSTALLED: Mutex<Option<Installed>> = Mutex::new(None);
/// The guardians that run: children of ours that are nobody's remains.
static RUNNING: Mutex<Option<HashSet<u32>>> = Mutex::new(None);

/// How a guardian is started.
#[derive(Debug, Clone)]
pub(in crate::child) struct Installed {
    program: PathBuf,
    args: Vec<OsString>,
}

pub(super) fn install(program: &Path, args: &[&str]) {
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        tracing::debug!(%error, "what a guardian leaves behind cannot be inherited");
    }
    let args = args.iter().map(Into::into).collect();
    *INSTALLED.lock() = Some(Installed { program: program.to_path_buf(), args });
}

pub(in crate::child) fn installed() -> Option<Installed> {
    INSTALLED.lock().clone()
}

/// What a guardian tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::child) enum Report {
    /// The server runs, under this number.
    Started { pid: u32 },
    /// It could not be started, for this reason of the system.
    NotStarted { code: i32 },
    /// Its process has ended, with this status. What it started may live on.
    Ended { status: i32 },
}

/// A guardian that was started.
pub(in crate::child) struct Started {
    process: tokio::process::Child,
    line: Line,
    reports: Reports,
}

impl Started {
    /// Waits until the server runs, under which number, or until it is known that it does not.
    pub(in crate::child) async fn confirmed(self) -> io::Result<(tokio::process::Child, Line, Reports, u32)> {
        let Self { process, line, mut reports } = self;
        let late = || io::Error::new(io::ErrorKind::TimedOut, "its guardian did not start it in time");
        match tokio::time::timeout(HAND_OVER, reports.next()).await.map_err(|_| late())? {
            Some(Report::Started { pid }) => Ok((process, line, reports, pid)),
            Some(Report::NotStarted { code }) => Err(io::Error::from_raw_os_error(code)),
            Some(Report::Ended { .. }) | None => Err(io::Error::other("its guardian ended at once")),
        }
    }
}

/// Starts a guardian for a server with these three streams. Blocks for as long as a process takes to be started.
pub(in crate::child) fn start(guardian: &Installed, start: &Start, streams: [OwnedFd; 3]) -> io::Result<Started> {
    let (mut ours, theirs) = UnixStream::pair()?;
    let mut command = Command::new(&guardian.program);
    command.args(&guardian.args).stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
    pre_exec::stand_apart(&mut command);
    let mut command = tokio::process::Command::from(command);
    let process = command.spawn()?;
    // The command holds their end of the socket, whose end would go unnoticed.
    drop(command);
    let pid = process.id().ok_or_else(|| io::Error::other("the guardian ended at once"))?;
    RUNNING.lock().get_or_insert_default().insert(pid);
    ours.set_write_timeout(Some(HAND_OVER))?;
    let files = streams.each_ref().map(|stream| stream.as_fd());
    handover::send(&mut ours, &serde_json::to_vec(start)?, &files)?;
    // From here on the server alone holds its ends: their end is then the end of the server.
    drop(streams);
    ours.set_nonblocking(true)?;
    let (reader, writer) = tokio::net::UnixStream::from_std(ours)?.into_split();
    Ok(Started { process, line: Line { pid, writer, over: CancellationToken::new() }, reports: Reports(reader) })
}

/// The way to a guardian.
#[derive(Debug)]
pub(in crate::child) struct Line {
    pub(in crate::child) pid: u32,
    writer: OwnedWriteHalf,
    /// Cancelled when the guardian has ended, and with it all that it guarded.
    pub(in crate::child) over: CancellationToken,
}

impl Line {
    /// Asks every process of the server to end; `false` where nobody hears it.
    pub(in crate::child) fn term(&self) -> bool {
        self.tell(TERM)
    }

    /// Ends every process of the server; `false` where nobody hears it.
    pub(in crate::child) fn kill(&self) -> bool {
        self.tell(KILL)
    }

    fn tell(&self, word: u8) -> bool {
        // One byte, and a reader that does nothing else: there is always room.
        !self.over.is_cancelled() && self.writer.try_write(&[word]).is_ok()
    }

    /// The guardian has ended. If it was not its time yet, what it guarded is ours now, and is ended here.
    pub(in crate::child) async fn ended(&self, in_order: bool) {
        self.forget();
        if !in_order {
            let _ended = tokio::task::spawn_blocking(end_orphans).await;
        }
        self.over.cancel();
    }

    fn forget(&self) {
        if let Some(running) = &mut *RUNNING.lock() {
            running.remove(&self.pid);
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if !self.over.is_cancelled() {
            self.forget();
        }
    }
}

/// Ends the processes that we inherited. Servers run in sessions of their own, and whatever else we start does not.
fn end_orphans() {
    let own = tree::own_session();
    let is_stray = |entry: &tree::Entry| {
        let is_guardian = |pid| RUNNING.lock().as_ref().is_some_and(|running| running.contains(&pid));
        Some(entry.session) != own && !u32::try_from(entry.pid).is_ok_and(is_guardian)
    };
    let count = tree::kill_children(is_stray);
    tracing::warn!(count, "a guardian process was lost: what was left of its server has been ended");
}

/// What a guardian tells, one after the other.
pub(in crate::child) struct Reports(OwnedReadHalf);

impl Reports {
    /// The next report; nothing when the guardian has gone.
    pub(in crate::child) async fn next(&mut self) -> Option<Report> {
        let length = self.0.read_u32().await.ok()?;
        let length = usize::try_from(length).ok().filter(|length| *length <= handover::MAX_MESSAGE_BYTES)?;
        let mut message = vec![0; length];
        self.0.read_exact(&mut message).await.ok()?;
        serde_json::from_slice(&message).ok()
    }
}
