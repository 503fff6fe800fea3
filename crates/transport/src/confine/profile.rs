//! What a confined process may use: plain data that travels from the kernel to the launcher.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::host::HostRule;

/// Everything a process is held to. `None` means no bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfinementProfile {
    /// Private memory of one process, in bytes.
    pub memory_bytes: Option<u64>,
    /// Processor time since the last [`renewal`](crate::child::Child::renew_cpu), of the process and its children.
    pub cpu_seconds: Option<u64>,
    /// Processes beside the first one. 0 forbids to start any; more bounds them together with their threads.
    pub processes: Option<u32>,
    /// Open files of one process.
    pub open_files: Option<u64>,
    /// Files and folders.
    pub files: FileAccess,
    /// Other machines, and other programs on this one.
    pub network: NetworkAccess,
    /// A folder for temporary files, in memory, that nobody else sees and that ends with the process.
    pub scratch: Option<Scratch>,
    /// What happens at a call that no ordinary server makes.
    pub violation: Violation,
    /// Variables that lead programs to the places they may use. The server's own configuration goes before.
    pub environment: Vec<(String, String)>,
    /// Folders to be made, for this user only, before the start.
    pub folders: Vec<PathBuf>,
}

/// Which files a process reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAccess {
    /// What its user reaches.
    Unrestricted,
    /// These, with everything below them. A path that does not exist gives nothing.
    Paths {
        /// To be read, and run.
        read: Vec<PathBuf>,
        /// To be read and changed.
        write: Vec<PathBuf>,
        /// What was written may also be run. Packages that are fetched at the start need it.
        run_written: bool,
    },
}

/// Whom a process reaches over the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkAccess {
    /// Everybody.
    Unrestricted,
    /// Nobody: it cannot make a socket.
    None,
    /// These hosts, through a proxy of ours, and nobody else.
    Hosts(Vec<HostRule>),
}

/// A folder in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scratch {
    /// Where it is seen. The folder there is hidden by it.
    pub at: PathBuf,
    /// How much it can hold.
    pub bytes: u64,
}

/// What follows a call that only an attack makes, such as tracing another process or mounting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Violation {
    /// The call fails.
    Refuse,
    /// The process is killed, so that we notice.
    Kill,
}

impl ConfinementProfile {
    /// No bound at all: such a process is started without the launcher.
    #[must_use]
    pub const fn unrestricted() -> Self {
        Self {
            memory_bytes: None,
            cpu_seconds: None,
            processes: None,
            open_files: None,
            files: FileAccess::Unrestricted,
            network: NetworkAccess::Unrestricted,
            scratch: None,
            violation: Violation::Refuse,
            environment: Vec::new(),
            folders: Vec::new(),
        }
    }

    /// Whether there is nothing to enforce.
    #[must_use]
    pub const fn is_unrestricted(&self) -> bool {
        self.memory_bytes.is_none()
            && self.cpu_seconds.is_none()
            && self.processes.is_none()
            && self.open_files.is_none()
            && self.scratch.is_none()
            && matches!(self.files, FileAccess::Unrestricted)
            && matches!(self.network, NetworkAccess::Unrestricted)
    }

    /// The tasks, threads included, that a bound on processes allows.
    #[must_use]
    pub fn tasks(&self) -> Option<u64> {
        self.processes.map(|children| (u64::from(children) + 1) * THREADS_PER_PROCESS)
    }
}

/// The system counts threads and processes together. A Node process has eleven threads before it does anything.
const THREADS_PER_PROCESS: u64 = 32;
