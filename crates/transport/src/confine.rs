//! Confinement of server processes: what each may use of the machine, and the means that hold it to that.
//!
//! [`ConfinementProfile`] says what a process may do; [`Decision::of`] derives it from trust, grants and the operator's word.
//! A confined process is not started directly: our own binary is started first as a *launcher* ([`run`]), gets the
//! profile over a private socket, applies it to itself and then becomes the program. The launcher is a fresh process
//! with one thread, so nothing has to be done between fork and exec, where little may be done.
//!
//! The rule above all others: what cannot be enforced is not started. A part of a profile that this machine cannot
//! hold a process to ends in [`Refusal`], which names the part, the reason and what the operator can do.
//!
//! This module deliberately knows nothing of messages, and nothing of who grants what.

pub(crate) mod cause;
mod decide;
mod host;
mod order;
mod places;
mod profile;

#[cfg(target_os = "linux")]
mod ability;
#[cfg(target_os = "linux")]
mod control;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod given;
#[cfg(target_os = "linux")]
mod launcher;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod members;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod proxy;
#[cfg(target_os = "linux")]
mod watch;

use std::net::IpAddr;
use std::path::PathBuf;

pub use self::cause::ExitCause;
pub use self::decide::{
    ConfinementGrant, ConfinementMode, Decision, FilesystemScope, NetworkScope, Overrides, confined,
};
pub use self::host::{BadHost, HostRule};
pub use self::order::{Ability, ConfinementReport, Refusal};
pub use self::places::{ConfinedServer, Places};
pub use self::profile::{ConfinementProfile, FileAccess, NetworkAccess, Scratch, Violation};

#[cfg(target_os = "linux")]
pub use self::ability::ability;
#[cfg(target_os = "linux")]
pub(crate) use self::control::{Control, HandedOver};
#[cfg(target_os = "linux")]
pub use self::launcher::run;
#[cfg(target_os = "linux")]
pub(crate) use self::members::Members;
#[cfg(target_os = "linux")]
pub(crate) use self::order::Order;
#[cfg(target_os = "linux")]
pub(crate) use self::proxy::Proxy;
#[cfg(target_os = "linux")]
pub(crate) use self::watch::CpuBudget;

/// How to start the launcher, and which addresses a confined process may reach by name.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone)]
pub(crate) struct Installed {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) may_reach: fn(IpAddr) -> bool,
}

#[cfg(target_os = "linux")]
static INSTALLED: parking_lot::RwLock<Option<Installed>> = parking_lot::RwLock::new(None);

/// Says how the launcher is started: `program` with `args` and one more word must end in [`run`] with that word.
///
/// `may_reach` judges the addresses that names of granted hosts resolve to; it is asked for every connection.
#[cfg(target_os = "linux")]
pub fn install(program: PathBuf, args: &[&str], may_reach: fn(IpAddr) -> bool) {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    *INSTALLED.write() = Some(Installed { program, args, may_reach });
}

/// Does nothing: only Linux has a launcher.
#[cfg(not(target_os = "linux"))]
pub fn install(_program: PathBuf, _args: &[&str], _may_reach: fn(IpAddr) -> bool) {}

#[cfg(target_os = "linux")]
pub(crate) fn installed() -> Option<Installed> {
    INSTALLED.read().clone()
}

/// The launcher: only Linux has what it needs.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn run(_word: &str) -> Result<std::convert::Infallible, Refusal> {
    Err(Refusal::unsupported())
}

/// What this machine can enforce: only Linux has any of it.
///
/// # Errors
/// Never.
#[cfg(not(target_os = "linux"))]
pub async fn ability() -> Result<ConfinementReport, Refusal> {
    Ok(ConfinementReport::default())
}
