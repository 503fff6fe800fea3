//! What the kernel and its launcher say to each other.

use std::fmt;
#[cfg(target_os = "linux")]
use std::{ffi::OsString, path::PathBuf};

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
use super::profile::ConfinementProfile;

#[cfg(target_os = "linux")]
/// What the launcher is told. Variables may be secrets: they travel over the socket and are never shown.
#[derive(Serialize, Deserialize)]
pub(crate) enum Order {
    /// Become this program.
    Start {
        profile: Box<ConfinementProfile>,
        program: OsString,
        args: Vec<OsString>,
        env: Vec<(OsString, OsString)>,
        cwd: Option<PathBuf>,
        /// Who must still be there to speak to it.
        parent: u32,
    },
    /// Say what can be enforced.
    Probe,
}

#[cfg(target_os = "linux")]
impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { program, .. } => f.debug_struct("Start").field("program", program).finish_non_exhaustive(),
            Self::Probe => f.write_str("Probe"),
        }
    }
}

#[cfg(target_os = "linux")]
/// What the launcher says, one message after the other.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Word {
    /// Comes with a listening socket for the proxy.
    Listener,
    /// Everything is applied, the program is next.
    Ready,
    /// The program could not be started.
    NotStarted { code: i32 },
    /// Something cannot be enforced.
    Refused(Refusal),
    /// What this machine can do.
    Able(ConfinementReport),
}

/// Why a confined process was not started: what its profile needs cannot be enforced here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{part} cannot be enforced on this machine: {why}. {advice}")]
pub struct Refusal {
    /// The part of the profile.
    pub part: String,
    /// The reason.
    pub why: String,
    /// What the operator can do.
    pub advice: String,
}

impl Refusal {
    pub(crate) fn new(part: &str, why: impl fmt::Display, advice: &str) -> Self {
        let advice = format!(
            "{advice}{}Or set `isolation = \"off\"` for this server, which lets it do everything that you can do",
            if advice.is_empty() { "" } else { " " }
        );
        Self { part: part.to_owned(), why: why.to_string(), advice }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn unsupported() -> Self {
        Self::new("isolation", "only Linux has the means", "")
    }
}

/// Whether one means of confinement works here, and what it is good for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ability {
    /// Its name.
    pub name: String,
    /// What needs it.
    pub used_for: String,
    /// Nothing, if it works, else why it does not.
    pub missing: Option<String>,
}

/// What this machine can enforce.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfinementReport {
    /// Each means; none on systems that have nothing of the kind.
    pub abilities: Vec<Ability>,
    /// The version of Landlock that was found.
    pub landlock: u32,
}

impl ConfinementReport {
    /// Whether servers that are not trusted can be started.
    #[must_use]
    pub fn can_confine(&self) -> bool {
        !self.abilities.is_empty()
            && self.abilities.iter().all(|one| one.missing.is_none() || !REQUIRED.contains(&one.name.as_str()))
    }

    /// Whether standard servers can be started confined, with processes and hosts of their own.
    #[must_use]
    pub fn can_confine_standard(&self) -> bool {
        !self.abilities.is_empty() && self.abilities.iter().all(|one| one.missing.is_none())
    }
}

/// The means without which nothing is confined.
pub(crate) const REQUIRED: &[&str] = &["landlock", "seccomp"];
