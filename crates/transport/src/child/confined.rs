//! Starting a process through the launcher, and what has to be kept while it runs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitStatus;

use super::running::Start;
use super::{Child, CommandSpec, SpawnError};
use crate::confine::{ExitCause, Refusal};

type Variables = BTreeMap<OsString, OsString>;

/// Why a process did not start after all.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The system refused.
    System(std::io::Error),
    /// Something cannot be enforced.
    Refused(Refusal),
}

/// The program itself, without a launcher.
fn directly(spec: &CommandSpec, variables: Variables) -> Start {
    Start {
        program: (&spec.program).into(),
        args: spec.args.iter().map(Into::into).collect(),
        env: variables.into_iter().collect(),
        cwd: spec.cwd.clone(),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{Confined, Oversight, Plan};
#[cfg(target_os = "linux")]
pub(super) use linux::{Confined, Oversight, Plan};

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::fs::DirBuilderExt as _;
    use std::sync::Arc;
    use std::time::Duration;

    use rustix::fs::{Mode, OFlags};

    use super::*;
    use crate::child::spawn::Blow;
    use crate::confine::{
        self, ConfinementProfile, Control, CpuBudget, HandedOver, Installed, Members, NetworkAccess, Proxy, cause,
    };

    /// How long what a process said may take to be heard after its end.
    const LAST_WORD: Duration = Duration::from_secs(1);

    /// How a process is going to be started.
    #[derive(Debug)]
    pub(in crate::child) enum Plan {
        Directly,
        ByLauncher(Box<Launch>),
    }

    #[derive(Debug)]
    pub(in crate::child) struct Launch {
        launcher: Installed,
        control: Control,
        profile: Arc<ConfinementProfile>,
        variables: Variables,
    }

    impl Plan {
        pub(in crate::child) fn of(spec: &CommandSpec, variables: &Variables) -> Result<Self, SpawnError> {
            let Some(profile) = spec.profile.as_ref().filter(|profile| !profile.is_unrestricted()) else {
                return Ok(Self::Directly);
            };
            let refused = |part: &str, why: &dyn std::fmt::Display| SpawnError::NotConfined {
                program: spec.program.clone(),
                refusal: Refusal::new(part, why, ""),
            };
            let launcher = confine::installed().ok_or_else(|| refused("isolation", &"no launcher is installed"))?;
            make_folders(profile).map_err(|error| refused("the server's own folder", &error))?;
            let control = Control::open().map_err(|error| refused("isolation", &error))?;
            let (profile, variables) = (Arc::clone(profile), variables.clone());
            Ok(Self::ByLauncher(Box::new(Launch { launcher, control, profile, variables })))
        }

        /// What is started. The launcher gets no variable: some of those meant for the program could change what the
        /// launcher does.
        pub(in crate::child) fn start(&self, spec: &CommandSpec, variables: Variables) -> Start {
            match self {
                Self::Directly => directly(spec, variables),
                Self::ByLauncher(launch) => {
                    let mut args: Vec<OsString> = launch.launcher.args.iter().map(Into::into).collect();
                    args.push(launch.control.name().into());
                    Start { program: launch.launcher.program.clone().into(), args, env: Vec::new(), cwd: None }
                }
            }
        }

        /// Tells the launcher what to become, and waits until it has.
        pub(in crate::child) async fn hand_over(self, spec: &CommandSpec, child: &Child) -> Result<Confined, Trouble> {
            let Self::ByLauncher(launch) = self else { return Ok(Confined::default()) };
            let Launch { launcher, control, profile, variables } = *launch;
            let order = confine::Order::Start {
                profile: Box::new(ConfinementProfile::clone(&profile)),
                program: (&spec.program).into(),
                args: spec.args.iter().map(Into::into).collect(),
                env: variables.into_iter().collect(),
                cwd: spec.cwd.clone(),
                parent: child.group.parent(),
            };
            // A program that ends at once may have ended before we heard that it was started.
            let ended = async {
                let _status = child.wait().await;
                tokio::time::sleep(LAST_WORD).await;
            };
            let outcome = tokio::select! {
                outcome = control.hand_over(child.pid(), order) => outcome,
                () = ended => Err(std::io::Error::other("the launcher ended at once")),
            };
            let listener = match outcome {
                Ok(HandedOver::Started(listener)) => listener,
                Ok(HandedOver::NotStarted(error)) => return Err(Trouble::System(error)),
                Ok(HandedOver::Refused(refusal)) => return Err(Trouble::Refused(refusal)),
                Ok(HandedOver::Able(_)) => return Err(Trouble::System(std::io::ErrorKind::InvalidData.into())),
                Err(error) => {
                    let said = child.stderr_tail().last_line().unwrap_or_default();
                    return Err(Trouble::Refused(Refusal::new("isolation", format!("{error} {said}").trim_end(), "")));
                }
            };
            let proxy = match (&profile.network, listener) {
                (NetworkAccess::Hosts(rules), Some(listener)) => {
                    Some(Proxy::start(listener, rules.clone(), launcher.may_reach).map_err(Trouble::System)?)
                }
                _ => None,
            };
            Ok(Confined::watching(&profile, child, proxy))
        }
    }

    /// Makes the folders that a profile names, for nobody else to see.
    fn make_folders(profile: &ConfinementProfile) -> std::io::Result<()> {
        for folder in &profile.folders {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            // It may have been there before, with another mode; but a link was put there by the server, and what it
            // leads to is not the server's.
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let folder = rustix::fs::open(folder, flags, Mode::empty())?;
            rustix::fs::fchmod(folder, Mode::from_raw_mode(0o700))?;
        }
        Ok(())
    }

    /// What lives as long as a confined process.
    #[derive(Debug, Default)]
    pub(in crate::child) struct Confined {
        members: Option<Arc<Members>>,
        pub(in crate::child) oversight: Oversight,
        _proxy: Option<Proxy>,
        watcher: Option<tokio::task::JoinHandle<()>>,
    }

    /// What may be known of it by others.
    #[derive(Debug, Clone, Default)]
    pub(in crate::child) struct Oversight {
        budget: Option<Arc<CpuBudget>>,
        memory_bound: bool,
    }

    impl Oversight {
        pub(in crate::child) fn renew_cpu(&self) {
            if let Some(budget) = &self.budget {
                budget.renew();
            }
        }

        pub(in crate::child) fn cause(&self, status: ExitStatus, stopped: bool, stderr: &str) -> ExitCause {
            let over_budget = self.budget.as_ref().is_some_and(|budget| budget.is_exceeded());
            let known = cause::Circumstances { stopped, over_budget, memory_bound: self.memory_bound, stderr };
            ExitCause::of(status, known)
        }
    }

    impl Confined {
        fn watching(profile: &ConfinementProfile, child: &Child, proxy: Option<Proxy>) -> Self {
            let members = Arc::new(Members::of(child.pid(), profile.processes == Some(0)));
            let budget = profile.cpu_seconds.map(|seconds| Arc::new(CpuBudget::new(Arc::clone(&members), seconds)));
            let watcher = budget.as_ref().map(|budget| {
                let (budget, members) = (Arc::clone(budget), Arc::clone(&members));
                let (group, mut exit) = (Arc::clone(&child.group), child.exit.clone());
                tokio::spawn(async move {
                    let warn = || {
                        group.signal(Blow::CpuTime);
                    };
                    let end = || {
                        group.signal(Blow::Kill);
                        members.kill();
                    };
                    tokio::select! {
                        () = budget.watch(warn, end) => {}
                        _ended = exit.wait_for(Option::is_some) => {}
                    }
                })
            });
            let oversight = Oversight { budget, memory_bound: profile.memory_bytes.is_some() };
            Self { members: Some(members), oversight, _proxy: proxy, watcher }
        }

        /// Kills what has left the group.
        pub(in crate::child) fn end_strays(&self) {
            if let Some(members) = &self.members {
                members.kill();
            }
        }
    }

    impl Drop for Confined {
        fn drop(&mut self) {
            if let Some(watcher) = &self.watcher {
                watcher.abort();
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::*;
    use crate::confine::cause;

    /// How a process is going to be started: here always directly.
    #[derive(Debug)]
    pub(in crate::child) struct Plan;

    impl Plan {
        pub(in crate::child) fn of(spec: &CommandSpec, _variables: &Variables) -> Result<Self, SpawnError> {
            if spec.profile.as_ref().is_some_and(|profile| !profile.is_unrestricted()) {
                let refusal = Refusal::unsupported();
                return Err(SpawnError::NotConfined { program: spec.program.clone(), refusal });
            }
            Ok(Self)
        }

        pub(in crate::child) fn start(&self, spec: &CommandSpec, variables: Variables) -> Start {
            directly(spec, variables)
        }

        #[expect(clippy::unused_async, reason = "the other systems wait")]
        pub(in crate::child) async fn hand_over(self, _: &CommandSpec, _: &Child) -> Result<Confined, Trouble> {
            Ok(Confined::default())
        }
    }

    /// Nothing has to be kept.
    #[derive(Debug, Default)]
    pub(in crate::child) struct Confined {
        pub(in crate::child) oversight: Oversight,
    }

    impl Confined {
        pub(in crate::child) fn end_strays(&self) {}
    }

    /// What may be known of a process by others.
    #[derive(Debug, Clone, Default)]
    pub(in crate::child) struct Oversight;

    impl Oversight {
        pub(in crate::child) fn renew_cpu(&self) {}

        pub(in crate::child) fn cause(&self, status: ExitStatus, stopped: bool, stderr: &str) -> ExitCause {
            ExitCause::of(status, cause::Circumstances { stopped, stderr, ..cause::Circumstances::default() })
        }
    }
}
