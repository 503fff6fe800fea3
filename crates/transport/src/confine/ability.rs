//! What this machine can enforce: tried out in a process of its own, because trying changes the process.

use super::control::{Control, HandedOver};
use super::order::{Ability, ConfinementReport, Order, Refusal};
use super::{files, filter, installed, limits, namespaces};

/// Starts the launcher to find out what this machine can enforce.
///
/// # Errors
/// The launcher was not installed, or could not be started.
pub async fn ability() -> Result<ConfinementReport, Refusal> {
    let failed = |why: &dyn std::fmt::Display| Refusal::new("isolation", why, "");
    let launcher = installed().ok_or_else(|| failed(&"no launcher is installed"))?;
    let control = Control::open().map_err(|error| failed(&error))?;
    let mut command = tokio::process::Command::new(&launcher.program);
    command.args(&launcher.args).arg(control.name()).env_clear().kill_on_drop(true);
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut process = command.spawn().map_err(|error| failed(&error))?;
    let pid = process.id().ok_or_else(|| failed(&"the launcher ended at once"))?;
    let outcome = control.hand_over(pid, Order::Probe).await.map_err(|error| failed(&error))?;
    let _status = tokio::time::timeout(std::time::Duration::from_secs(5), process.wait()).await;
    match outcome {
        HandedOver::Able(report) => Ok(report),
        HandedOver::Refused(refusal) => Err(refusal),
        HandedOver::NotStarted(error) => Err(failed(&error)),
        HandedOver::Started(_) => Err(failed(&"the launcher misunderstood")),
    }
}

/// The launcher's part: tries everything, one after the other.
pub(super) fn report() -> ConfinementReport {
    let landlock = files::version();
    let mut abilities = Vec::new();
    let mut note = |name: &str, used_for: &str, missing: Option<String>| {
        abilities.push(Ability { name: name.to_owned(), used_for: used_for.to_owned(), missing });
    };
    let older = |needed: u32| {
        (landlock < needed).then(|| format!("version {needed} is needed, the system has {landlock} (0 is none)"))
    };
    note("landlock", "access to files", older(files::LEAST));
    note("landlock ports", "a second bar before the network", older(files::PORTS));
    note("landlock scopes", "signals, for servers that start processes", older(files::SCOPES));
    let tasks = (!limits::binds_us()).then(|| limits::enter_group(64).err()).flatten();
    note("process bound", "servers that start processes", tasks.map(|error| error.to_string()));
    let entered = namespaces::enter(true);
    let missing = entered.as_ref().err().map(ToString::to_string);
    note("namespaces", "hosts, temporary files, servers that start processes", missing.clone());
    let listening = missing.or_else(|| namespaces::listen().err().map(|error| error.to_string()));
    note("proxy", "lists of hosts", listening);
    let profile = super::ConfinementProfile::unrestricted();
    let filtered = limits::renounce().map_err(|error| error.to_string());
    let filtered = filtered.and_then(|()| filter::apply(&profile).map_err(|error| error.to_string()));
    note("seccomp", "everything", filtered.err());
    ConfinementReport { abilities, landlock }
}
