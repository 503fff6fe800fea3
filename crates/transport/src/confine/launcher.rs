//! The launcher: applies a profile to itself and becomes the program.
//!
//! The order of the steps matters. Namespaces come first, while the privileges for them are there; mounts next; then
//! privileges are given up, and Landlock and the filter close the door. Each step either holds or ends in a refusal.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use super::ability;
use super::control::Line;
use super::given::Given;
use super::order::{Order, Refusal, Word};
use super::profile::{ConfinementProfile, FileAccess, NetworkAccess};
use super::{files, filter, limits, mounts, namespaces};

/// What stands in the way when namespaces cannot be had.
const ADVICE_NAMESPACES: &str = "Allow user namespaces (`sysctl kernel.unprivileged_userns_clone=1`, or \
                                 `sysctl kernel.apparmor_restrict_unprivileged_userns=0`), or run Switchboard where they \
                                 are allowed.";
const ADVICE_KERNEL: &str = "Use Linux 6.12 or later with Landlock enabled (`lsm=landlock,...` at boot).";
const ADVICE_ROOT: &str = "Run Switchboard as an ordinary user, or give it a control group that it may divide.";

/// Gets an order from whoever listens at `word`, and becomes the program that it names. Returns only if it cannot.
///
/// Must be called in a process with one thread, before anything else was opened.
///
/// # Errors
/// There is nobody at `word`, or the order cannot be followed. Whoever gave the order was told as well.
pub fn run(word: &str) -> Result<Infallible, Refusal> {
    let started = |why: io::Error| Refusal::new("the start", why, "");
    let mut line = Line::connect(word).map_err(started)?;
    let order = line.order().map_err(started)?;
    let outcome = match order {
        Order::Probe => {
            let report = ability::report();
            line.say(&Word::Able(report)).map_err(started)?;
            return Err(Refusal::new("the start", "this was only a question", ""));
        }
        Order::Start { profile, program, args, env, cwd, parent } => {
            let job = Job { profile: *profile, program, args, env, cwd, parent };
            job.become_program(&mut line)
        }
    };
    let Err(refusal) = outcome;
    // Nobody is left to hear it if this fails.
    let _unheard = line.say(&Word::Refused(refusal.clone()));
    Err(refusal)
}

struct Job {
    profile: ConfinementProfile,
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    cwd: Option<PathBuf>,
    parent: u32,
}

impl Job {
    fn become_program(mut self, line: &mut Line) -> Result<Infallible, Refusal> {
        inherited_nothing()?;
        let profile = &self.profile;
        let landlock = files::version();
        examine(profile, landlock)?;
        bound_root(profile)?;

        // By name: what is open of it belongs to the mounts that were there before, and those are about to be read-only.
        let inherited = std::env::current_dir().ok().filter(|_| self.cwd.is_none());
        let entered = namespaces::enter(profile.network != NetworkAccess::Unrestricted);
        // What is opened belongs to the namespace it was opened in.
        let given = Given::open(profile);
        let scratch = match &entered {
            Ok(()) => mounts::arrange(profile, &given, self.cwd.as_deref())
                .map_err(|error| Refusal::new("the view of files", error, ""))?,
            Err(error) => {
                without_namespaces(profile, error)?;
                Vec::new()
            }
        };
        let mut proxy_port = None;
        if matches!(profile.network, NetworkAccess::Hosts(_)) {
            let listener = proxy(line).map_err(|error| Refusal::new("the list of hosts", error, ADVICE_NAMESPACES))?;
            proxy_port = listener.local_addr().ok().map(|address| address.port());
        }
        // Before the view of files is closed, and with the rights the operator has.
        if let Some(cwd) = &self.cwd {
            std::env::set_current_dir(cwd).map_err(|error| Refusal::new("the working folder", error, ""))?;
        }
        if let Some(cwd) = &inherited {
            // Where something was mounted over it, it stays in the folder that it was started in, and can write nothing.
            let _covered = std::env::set_current_dir(cwd);
        }
        limits::renounce().map_err(|error| Refusal::new("the loss of privileges", error, ""))?;
        files::restrict(profile, landlock, &given, &scratch, proxy_port)
            .map_err(|error| Refusal::new("the access to files", error, ADVICE_KERNEL))?;
        drop(given);
        limits::apply(profile, entered.is_ok()).map_err(|error| Refusal::new("the limits", error, ""))?;
        self.stay_with_parent()?;
        if let Some(port) = proxy_port {
            self.lead_to_proxy(port);
        }
        filter::apply(&self.profile)
            .map_err(|error| Refusal::new("the filter of system calls", error, "Use a kernel with seccomp."))?;

        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(self.env);
        line.say(&Word::Ready).map_err(|error| Refusal::new("the start", error, ""))?;
        let error = command.exec();
        let code = error.raw_os_error().unwrap_or(libc::ENOENT);
        let _unheard = line.say(&Word::NotStarted { code });
        Err(Refusal::new("the start", error, ""))
    }

    /// A change of privileges takes back the promise that we die with our parent, so it is made again here.
    fn stay_with_parent(&self) -> Result<(), Refusal> {
        let failed = |error: rustix::io::Errno| Refusal::new("the end with Switchboard", error, "");
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).map_err(failed)?;
        let parent = rustix::process::getppid().map(|pid| pid.as_raw_pid().unsigned_abs());
        if parent == Some(self.parent) {
            Ok(())
        } else {
            Err(Refusal::new("the end with Switchboard", "it has ended already", ""))
        }
    }

    /// Programs ask the environment for a proxy. What the operator set goes first, and leads nowhere else.
    fn lead_to_proxy(&mut self, port: u16) {
        let proxy = format!("http://127.0.0.1:{port}");
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            self.set(name, &proxy);
        }
        for name in ["NO_PROXY", "no_proxy"] {
            self.set(name, "");
        }
        self.set("NODE_USE_ENV_PROXY", "1");
    }

    fn set(&mut self, name: &str, value: &str) {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.into(), value.into()));
    }
}

/// What can be known before anything is tried.
fn examine(profile: &ConfinementProfile, landlock: u32) -> Result<(), Refusal> {
    let version = |needed: &str| format!("it needs Landlock {needed}, and the system has version {landlock}");
    if matches!(profile.files, FileAccess::Paths { .. }) && landlock < files::LEAST {
        return Err(Refusal::new("the access to files", version("3"), ADVICE_KERNEL));
    }
    if profile.processes != Some(0) && landlock < files::SCOPES {
        return Err(Refusal::new("the bound on signals to other processes", version("6"), ADVICE_KERNEL));
    }
    Ok(())
}

/// Root is held to a number of processes only by a control group.
fn bound_root(profile: &ConfinementProfile) -> Result<(), Refusal> {
    match (profile.processes, profile.tasks()) {
        (Some(children), Some(tasks)) if !limits::binds_us() => match limits::enter_group(tasks) {
            // The filter alone holds a process that may have no children; its threads are bounded by its memory.
            Err(error) if children > 0 => Err(Refusal::new("the bound on processes", error, ADVICE_ROOT)),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// What a profile loses without namespaces must not be needed.
fn without_namespaces(profile: &ConfinementProfile, error: &io::Error) -> Result<(), Refusal> {
    let missing = if matches!(profile.network, NetworkAccess::Hosts(_)) {
        "the list of hosts"
    } else if profile.processes.is_some_and(|children| children > 0) {
        "the bound on processes"
    } else if matches!(profile.files, FileAccess::Paths { .. }) && profile.violation != super::Violation::Kill {
        "the protection of file modes"
    } else {
        // Strict profiles lose the folder for temporary files, and nothing else: the filter takes the rest.
        return Ok(());
    };
    Err(Refusal::new(missing, format!("namespaces cannot be had: {error}"), ADVICE_NAMESPACES))
}

fn proxy(line: &mut Line) -> io::Result<TcpListener> {
    let listener = namespaces::listen()?;
    line.give(&listener)?;
    Ok(listener)
}

/// Whatever else was open in the kernel must not be open here.
fn inherited_nothing() -> Result<(), Refusal> {
    let refuse = |why: &dyn std::fmt::Display| Refusal::new("the closing of inherited files", why, "");
    let mut strange = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd").map_err(|error| refuse(&error))? {
        let entry = entry.map_err(|error| refuse(&error))?;
        let number = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        // The socket to the kernel and this very folder are 3 and 4.
        if number.is_none_or(|number| number > 4) {
            strange.push(entry.file_name());
        }
    }
    if strange.is_empty() { Ok(()) } else { Err(refuse(&format!("{strange:?} are open"))) }
}
