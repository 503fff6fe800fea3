//! Child processes that speak on their standard streams.
//!
//! This module decides how a process is started (argv only, a short list of environment variables, a session and
//! process group of its own), how it is stopped (end of input, then TERM, then KILL, always to all of its processes) and
//! what is kept of its standard error. It deliberately knows nothing of what is said on the other two streams.
//!
//! What dies with us, and how: on an orderly end [`Child::stop`] and dropping a [`Child`] end the whole group. Where [`guardian::install`] was called (Linux), each process is started by a guardian,
//! which ends everything that descends from it, whatever group or session that is in, also when we are killed without
//! warning. Without a guardian, Linux kills the direct child then, and every reader of the child's input sees its end.
//!
//! A process with a [`ConfinementProfile`] is confined: see [`crate::confine`].

mod confined;
mod environment;
pub mod guardian;
#[cfg(unix)]
mod pre_exec;
mod running;
mod search_path;
mod spawn;
mod stderr;
#[cfg(target_os = "linux")]
mod tree;

use std::fmt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;

use crate::confine::{ConfinementProfile, ExitCause, Refusal};

pub use self::environment::{fetched_package, fetches, may_be_secret, names, program_name, wanted};
pub use self::search_path::{place_of, search_path};
pub use self::stderr::StderrTail;

/// How long the end of processes that were killed is waited for.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// What to start, and with what.
#[derive(Clone, Default)]
pub struct CommandSpec {
    /// The program: a path, or a name that is looked up in the `PATH` the child gets.
    pub program: String,
    /// Its arguments, each passed on as it is: no shell reads them.
    pub args: Vec<String>,
    /// Variables to set. They may be secrets, so they are never shown.
    pub env: Vec<(String, String)>,
    /// Names of variables of ours to pass on, beside the short list every child gets.
    pub pass_env: Vec<String>,
    /// Where to run; our own directory if not set.
    pub cwd: Option<PathBuf>,
    /// Whether that folder is made where it is missing, for us alone.
    pub makes_cwd: bool,
    /// What the process is held to. Without a profile, or with one without bounds, it may do what we may do.
    pub profile: Option<Arc<ConfinementProfile>>,
}

impl fmt::Debug for CommandSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("CommandSpec")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("env", &names)
            .field("pass_env", &self.pass_env)
            .field("cwd", &self.cwd)
            .field("confined", &self.profile.as_ref().is_some_and(|profile| !profile.is_unrestricted()))
            .finish()
    }
}

/// Why a process was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// No such program.
    #[error(
        "the command `{program}` was not found (searched: {searched}). Install it, write its full path, or set PATH \
         in the server's environment"
    )]
    NotFound {
        /// The program as configured.
        program: String,
        /// Where it was looked for.
        searched: String,
    },
    /// The program is there but may not be run.
    #[error("the command `{program}` may not be run: {why}. Check that the file is executable")]
    Denied {
        /// The program as configured.
        program: String,
        /// The reason of the operating system.
        why: String,
    },
    /// The working directory is not there.
    #[error("the working directory {0} does not exist or cannot be entered")]
    BadDirectory(String),
    /// What its profile needs cannot be enforced on this machine, so it was not started.
    #[error("the command `{program}` was not started: {refusal}")]
    NotConfined {
        /// The program as configured.
        program: String,
        /// What is missing, and what to do.
        refusal: Refusal,
    },
    /// Anything else.
    #[error("the command `{program}` could not be started: {why}")]
    Failed {
        /// The program as configured.
        program: String,
        /// The reason of the operating system.
        why: String,
    },
}

/// How long to wait between the steps of [`Child::stop`].
#[derive(Debug, Clone, Copy)]
pub struct StopGrace {
    /// After the end of input.
    pub after_eof: Duration,
    /// After TERM.
    pub after_term: Duration,
}

impl Default for StopGrace {
    fn default() -> Self {
        Self { after_eof: Duration::from_secs(2), after_term: Duration::from_secs(2) }
    }
}

/// A running process with all that it started. Dropping it kills them at once.
#[derive(Debug)]
pub struct Child {
    /// The end to write to; taken by who speaks to the process.
    pub stdin: Option<ChildStdin>,
    /// The end to read from; taken by who speaks to the process.
    pub stdout: Option<ChildStdout>,
    group: Arc<spawn::Group>,
    exit: watch::Receiver<Option<ExitStatus>>,
    stderr: StderrTail,
    confined: confined::Confined,
}

impl Child {
    /// Starts a process.
    ///
    /// # Errors
    /// The program cannot be found or started.
    pub async fn spawn(spec: &CommandSpec) -> Result<Self, SpawnError> {
        spawn::spawn(spec).await
    }

    /// The id of the process, which is also that of its group.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.group.pid()
    }

    /// The last lines of its standard error.
    #[must_use]
    pub fn stderr_tail(&self) -> StderrTail {
        self.stderr.clone()
    }

    /// Waits until the process itself has ended. Its children may live on until [`Child::stop`].
    pub async fn wait(&self) -> Option<ExitStatus> {
        let mut exit = self.exit.clone();
        exit.wait_for(Option::is_some).await.ok().and_then(|status| *status)
    }

    /// How the process ended, if it has.
    #[must_use]
    pub fn exit_status(&self) -> Option<ExitStatus> {
        *self.exit.borrow()
    }

    /// Why the process ended, if it has. With a bound on memory, what it last said is taken into account.
    #[must_use]
    pub fn exit_cause(&self) -> Option<ExitCause> {
        self.oversight().exit_cause()
    }

    /// Gives the process its whole budget of processor time again: to be called whenever a call begins.
    pub fn renew_cpu(&self) {
        self.confined.oversight.renew_cpu();
    }

    /// What can be known of the process without owning it, also after its end.
    #[must_use]
    pub fn oversight(&self) -> Oversight {
        Oversight {
            exit: self.exit.clone(),
            group: Arc::clone(&self.group),
            stderr: self.stderr.clone(),
            confined: self.confined.oversight.clone(),
        }
    }

    /// Ends the process and all that it started: end of input, then TERM, then KILL. Returns when nothing is left.
    ///
    /// The end of input only reaches the process if `stdin` was not taken, or was dropped by who took it.
    pub async fn stop(mut self, grace: StopGrace) -> Option<ExitStatus> {
        drop(self.stdin.take());
        let ended = tokio::time::timeout(grace.after_eof, self.wait()).await.is_ok();
        if self.group.signal(spawn::Blow::Term) {
            // Without a handle on grandchildren there is no event to wait for: look whether the group is empty.
            let _gone = tokio::time::timeout(grace.after_term, self.group.emptied(&self.exit)).await;
            self.group.signal(spawn::Blow::Kill);
        } else if !ended {
            self.group.signal(spawn::Blow::Kill);
        }
        self.confined.end_strays();
        let _gone = tokio::time::timeout(LAST_WAIT, self.group.emptied(&self.exit)).await;
        tokio::time::timeout(LAST_WAIT, self.wait()).await.ok().flatten()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.group.signal(spawn::Blow::Kill);
        self.confined.end_strays();
    }
}

/// A view of a process that outlives its [`Child`]: its budget while it runs, and why it ended.
#[derive(Debug, Clone)]
pub struct Oversight {
    exit: watch::Receiver<Option<ExitStatus>>,
    group: Arc<spawn::Group>,
    stderr: StderrTail,
    confined: confined::Oversight,
}

impl Oversight {
    /// Gives the process its whole budget of processor time again: to be called whenever a call begins.
    pub fn renew_cpu(&self) {
        self.confined.renew_cpu();
    }

    /// Why the process ended, if it has.
    #[must_use]
    pub fn exit_cause(&self) -> Option<ExitCause> {
        let status = (*self.exit.borrow())?;
        Some(self.confined.cause(status, self.group.was_stopped(), &self.stderr.text()))
    }

    /// Waits for the end of the process itself: whether it failed, by a signal or by what it said.
    pub async fn failed(&self) -> bool {
        let mut exit = self.exit.clone();
        let status = exit.wait_for(Option::is_some).await;
        status.is_ok_and(|status| status.is_some_and(|status| !status.success()))
    }

    /// Waits for the end of the process. Nothing, if nobody is left who would notice it.
    pub async fn ended(&self) -> Option<ExitCause> {
        let mut exit = self.exit.clone();
        let _status = exit.wait_for(Option::is_some).await.ok()?;
        self.exit_cause()
    }
}
