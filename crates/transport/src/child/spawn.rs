//! Starting a process from a thread that outlives it, and signals to its whole group.

use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};

use super::confined::{self, Trouble};
use super::running::{Running, Settled};
use super::search_path::search_path;
use super::{Child, CommandSpec, SpawnError, StderrTail, environment, stderr};

/// The processes of a server: a group, named by its leader, and where there is a guardian whatever has left the group.
#[derive(Debug)]
pub(super) struct Group {
    pid: u32,
    #[cfg(target_os = "linux")]
    guardian: Option<super::guardian::Line>,
    /// Nobody was left in the group: its number may belong to someone else by now.
    gone: AtomicBool,
    /// It was told to end.
    signalled: AtomicBool,
    /// It was told to end before its leader ended.
    stopped: AtomicBool,
}

/// What is sent to a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blow {
    /// Please end.
    Term,
    /// End.
    Kill,
    /// The time is used up.
    #[cfg(target_os = "linux")]
    CpuTime,
}

impl Group {
    pub(super) const fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether its leader ended because we told it to; known when it has ended.
    pub(super) fn was_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Who started the leader.
    pub(super) fn parent(&self) -> u32 {
        #[cfg(target_os = "linux")]
        if let Some(guardian) = &self.guardian {
            return guardian.pid;
        }
        std::process::id()
    }

    /// Signals all of them; `false` if nobody is left.
    #[cfg(unix)]
    pub(super) fn signal(&self, blow: Blow) -> bool {
        use rustix::process::{Signal, kill_process_group};
        self.signalled.store(true, Ordering::Release);
        #[cfg(target_os = "linux")]
        if let Some(guardian) = &self.guardian {
            let heard = match blow {
                Blow::Term => guardian.term(),
                Blow::Kill => guardian.kill(),
                Blow::CpuTime => false,
            };
            // Asked twice to end, some programs leave their work undone.
            if heard && blow == Blow::Term {
                return true;
            }
        }
        let signal = match blow {
            Blow::Term => Signal::TERM,
            Blow::Kill => Signal::KILL,
            #[cfg(target_os = "linux")]
            Blow::CpuTime => Signal::XCPU,
        };
        self.reaches(|group| kill_process_group(group, signal))
    }

    /// Windows has no groups to signal: the direct child is killed when its handle is dropped.
    #[cfg(not(unix))]
    pub(super) fn signal(&self, _blow: Blow) -> bool {
        false
    }

    #[cfg(unix)]
    fn reaches(&self, send: impl FnOnce(rustix::process::Pid) -> rustix::io::Result<()>) -> bool {
        let Some(group) = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
        #[cfg(target_os = "linux")]
        let over = self.guardian.as_ref().is_some_and(|guardian| guardian.over.is_cancelled());
        #[cfg(not(target_os = "linux"))]
        let over = false;
        if over || self.gone.load(Ordering::Acquire) {
            return false;
        }
        let reached = send(group).is_ok();
        if !reached {
            self.gone.store(true, Ordering::Release);
        }
        reached
    }

    /// Waits until nobody is left.
    pub(super) async fn emptied(&self, exit: &watch::Receiver<Option<ExitStatus>>) {
        #[cfg(target_os = "linux")]
        if let Some(guardian) = &self.guardian {
            return guardian.over.cancelled().await;
        }
        let mut exit = exit.clone();
        // The leader first: until it is reaped it counts as a member.
        let _ended = exit.wait_for(Option::is_some).await.map(|_| ());
        #[cfg(unix)]
        while self.reaches(rustix::process::test_kill_process_group) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The guardian has ended; `in_order` when nobody was left that it guarded.
    #[cfg(target_os = "linux")]
    pub(super) async fn guardian_ended(&self, in_order: bool) {
        if !in_order {
            // Its members are in the group still, or they are ours now.
            self.reaches(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
        }
        if let Some(guardian) = &self.guardian {
            guardian.ended(in_order).await;
        }
    }

    /// The leader has ended.
    pub(super) fn leader_ended(&self) {
        self.stopped.store(self.signalled.load(Ordering::Acquire), Ordering::Release);
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// The parent-death signal is tied to the *thread* that forks, so a worker of the runtime, which may end at any time,
/// must not do it. This thread lives as long as the process.
static SPAWNER: LazyLock<Option<mpsc::SyncSender<Job>>> = LazyLock::new(|| {
    let (jobs, queue) = mpsc::sync_channel::<Job>(64);
    let thread = std::thread::Builder::new().name("spawner".to_owned()).spawn(move || {
        while let Ok(job) = queue.recv() {
            job();
        }
    });
    thread.is_ok().then_some(jobs)
});

pub(super) async fn spawn(spec: &CommandSpec) -> Result<Child, SpawnError> {
    let failed = |why: &str| SpawnError::Failed { program: spec.program.clone(), why: why.to_owned() };
    if let Some(cwd) = spec.cwd.as_ref().filter(|_| spec.makes_cwd) {
        // Whether it is there now is looked at below.
        let _ = make_folder(cwd);
    }
    if let Some(cwd) = spec.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return Err(SpawnError::BadDirectory(cwd.display().to_string()));
    }
    let ours = std::env::vars_os().filter(|(name, _)| name != "PATH").chain([("PATH".into(), search_path())]);
    let variables = environment::of(spec, ours);
    let searched = variables
        .get(std::ffi::OsStr::new("PATH"))
        .map_or_else(|| "nowhere, PATH is not set".to_owned(), |path| path.to_string_lossy().into_owned());
    let plan = confined::Plan::of(spec, &variables)?;
    let start = plan.start(spec, variables);

    let runtime = Handle::current();
    let (done, outcome) = oneshot::channel();
    let job: Job = Box::new(move || {
        let _context = runtime.enter();
        // Nobody waits any more: dropping what was started ends it.
        let _unwanted = done.send(Running::start(&start));
    });
    let spawner = SPAWNER.as_ref().ok_or_else(|| failed("no thread could be started"))?;
    spawner.try_send(job).map_err(|_| failed("too many processes are being started at once"))?;
    let outcome = outcome.await.map_err(|_| failed("the thread that starts processes is gone"))?;
    let running = outcome.map_err(|error| explain(spec, searched.clone(), &error))?;
    let settled = running.settle().await.map_err(|error| explain(spec, searched.clone(), &error))?;
    let Settled { pid, streams, ending, .. } = settled;
    let group = Arc::new(Group {
        pid,
        #[cfg(target_os = "linux")]
        guardian: settled.guardian,
        gone: AtomicBool::new(false),
        signalled: AtomicBool::new(false),
        stopped: AtomicBool::new(false),
    });
    let tail = StderrTail::default();
    if let Some(stream) = streams.stderr {
        tokio::spawn(stderr::drain(stream, tail.clone(), spec.program.clone(), pid));
    }
    let (stdin, stdout) = (streams.stdin, streams.stdout);
    let (ended, exit) = watch::channel(None);
    tokio::spawn(ending.follow(Arc::clone(&group), ended));
    // From here on dropping the child ends the process, whatever goes wrong.
    let mut child = Child { stdin, stdout, group, exit, stderr: tail, confined: confined::Confined::default() };
    child.confined = plan.hand_over(spec, &child).await.map_err(|trouble| match trouble {
        Trouble::System(error) => explain(spec, searched, &error),
        Trouble::Refused(refusal) => SpawnError::NotConfined { program: spec.program.clone(), refusal },
    })?;
    Ok(child)
}

fn explain(spec: &CommandSpec, searched: String, error: &std::io::Error) -> SpawnError {
    let program = spec.program.clone();
    let by_path = program.contains(std::path::MAIN_SEPARATOR);
    // A folder of PATH that may not be entered hides that the program is in none of them.
    let nowhere = || !by_path && !std::env::split_paths(&searched).any(|folder| folder.join(&program).is_file());
    match error.kind() {
        std::io::ErrorKind::PermissionDenied if nowhere() => SpawnError::NotFound { program, searched },
        std::io::ErrorKind::NotFound => {
            let searched = if by_path { "that path only".to_owned() } else { searched };
            SpawnError::NotFound { program, searched }
        }
        std::io::ErrorKind::PermissionDenied => SpawnError::Denied { program, why: error.to_string() },
        _ => SpawnError::Failed { program, why: error.to_string() },
    }
}

fn make_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
