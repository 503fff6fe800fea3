//! A process that was started, directly or by a guardian: its streams, its number and its end.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::watch;

use super::spawn::Group;

/// What is to be started.
#[derive(Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    /// May be secrets: never shown.
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: Option<PathBuf>,
}

impl Start {
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command
    }
}

/// The three streams of a process, our ends.
#[derive(Debug, Default)]
pub(super) struct Streams {
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
}

/// A process whose start is not confirmed yet. Dropping it ends the process.
pub(super) struct Running {
    streams: Streams,
    keeper: Keeper,
}

/// Who sees the end of a process.
enum Keeper {
    Us(tokio::process::Child),
    #[cfg(target_os = "linux")]
    Guardian(super::guardian::Started),
}

/// A process that runs.
pub(super) struct Settled {
    pub(super) pid: u32,
    pub(super) streams: Streams,
    #[cfg(target_os = "linux")]
    pub(super) guardian: Option<super::guardian::Line>,
    pub(super) ending: Ending,
}

/// The end of a process, to be waited for.
pub(super) enum Ending {
    Direct(tokio::process::Child),
    #[cfg(target_os = "linux")]
    Guarded(tokio::process::Child, super::guardian::Reports),
}

impl Running {
    /// Starts a process, by a guardian where there are any. To be called in a thread that outlives it, and in the context of
    /// a runtime.
    pub(super) fn start(start: &Start) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(guardian) = super::guardian::installed() {
            return Self::guarded(&guardian, start);
        }
        let mut command = start.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        super::pre_exec::prepare(&mut command);
        let mut command = tokio::process::Command::from(command);
        let mut process = command.kill_on_drop(true).spawn()?;
        let streams =
            Streams { stdin: process.stdin.take(), stdout: process.stdout.take(), stderr: process.stderr.take() };
        Ok(Self { streams, keeper: Keeper::Us(process) })
    }

    #[cfg(target_os = "linux")]
    fn guarded(guardian: &super::guardian::Installed, start: &Start) -> io::Result<Self> {
        use std::os::fd::OwnedFd;
        let ((input, stdin), (stdout, output), (stderr, errors)) = (io::pipe()?, io::pipe()?, io::pipe()?);
        let theirs: [OwnedFd; 3] = [input.into(), output.into(), errors.into()];
        let ours: [OwnedFd; 3] = [stdin.into(), stdout.into(), stderr.into()];
        let [stdin, stdout, stderr] = ours;
        let streams = Streams {
            stdin: Some(ChildStdin::from_std(stdin.into())?),
            stdout: Some(ChildStdout::from_std(stdout.into())?),
            stderr: Some(ChildStderr::from_std(stderr.into())?),
        };
        Ok(Self { streams, keeper: Keeper::Guardian(super::guardian::start(guardian, start, theirs)?) })
    }

    /// Waits until it is known whether the process was started.
    pub(super) async fn settle(self) -> io::Result<Settled> {
        let Self { streams, keeper } = self;
        match keeper {
            Keeper::Us(process) => {
                let pid = process.id().ok_or_else(|| io::Error::other("it ended at once"))?;
                Ok(Settled {
                    pid,
                    streams,
                    #[cfg(target_os = "linux")]
                    guardian: None,
                    ending: Ending::Direct(process),
                })
            }
            #[cfg(target_os = "linux")]
            Keeper::Guardian(started) => {
                let (process, line, reports, pid) = started.confirmed().await?;
                Ok(Settled { pid, streams, guardian: Some(line), ending: Ending::Guarded(process, reports) })
            }
        }
    }
}

impl Ending {
    /// Waits for the end, and says so to all who want to know.
    pub(super) async fn follow(self, group: Arc<Group>, ended: watch::Sender<Option<ExitStatus>>) {
        let tell = |status: ExitStatus| {
            group.leader_ended();
            ended.send_replace(Some(status));
        };
        match self {
            Self::Direct(mut process) => tell(process.wait().await.unwrap_or_default()),
            #[cfg(target_os = "linux")]
            Self::Guarded(mut process, mut reports) => {
                use super::guardian::Report;
                use std::os::unix::process::ExitStatusExt as _;
                let mut known = false;
                while let Some(report) = reports.next().await {
                    if let Report::Ended { status } = report {
                        tell(ExitStatus::from_raw(status));
                        known = true;
                    }
                }
                // Here, so that it is always reaped.
                let end = process.wait().await.unwrap_or_default();
                group.guardian_ended(end.success()).await;
                if !known {
                    tell(if end.success() { ExitStatus::from_raw(9) } else { end });
                }
            }
        }
    }
}
