//! Why a process ended, as far as its end tells: what the system did to it becomes a code of MGP.

use std::process::ExitStatus;

/// Why a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExitCause {
    /// By itself, without an error.
    Finished,
    /// We ended it.
    Stopped,
    /// It needed more memory than it may have.
    Memory,
    /// It used more processor time than it may have.
    CpuTime,
    /// It made a call that is forbidden to it.
    Forbidden,
    /// By itself with this code, or by this signal if negative.
    Failed(i32),
}

impl ExitCause {
    /// The code of MGP for what happened; nothing for an orderly end.
    #[must_use]
    pub const fn code(self) -> Option<i32> {
        match self {
            Self::Finished | Self::Stopped => None,
            Self::Memory => Some(3001),
            Self::CpuTime => Some(3003),
            Self::Forbidden => Some(1000),
            Self::Failed(_) => Some(2000),
        }
    }

    /// Whether this is an event `ISOLATION_VIOLATION` of the audit.
    #[must_use]
    pub const fn is_violation(self) -> bool {
        matches!(self, Self::Memory | Self::CpuTime | Self::Forbidden)
    }
}

/// What we know of an end besides its status.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Circumstances<'a> {
    /// We sent signals to end it.
    pub(crate) stopped: bool,
    /// We ended it because of its processor time.
    pub(crate) over_budget: bool,
    /// It had a bound on memory.
    pub(crate) memory_bound: bool,
    /// The end of its standard error.
    pub(crate) stderr: &'a str,
}

/// Signals by number: the same on every Linux.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;
const SIGSYS: i32 = 31;

/// What runtimes say when the system gives them no more memory. They end in their own ways.
const OUT_OF_MEMORY: &[&str] =
    &["out of memory", "MemoryError", "memory allocation of", "Cannot allocate memory", "bad_alloc", "ENOMEM"];

impl ExitCause {
    pub(crate) fn of(status: ExitStatus, known: Circumstances<'_>) -> Self {
        let signal = signal(status);
        if known.over_budget {
            return Self::CpuTime;
        }
        match signal {
            Some(SIGXCPU) => return Self::CpuTime,
            Some(SIGSYS) => return Self::Forbidden,
            _ => {}
        }
        if known.stopped {
            return Self::Stopped;
        }
        if status.success() {
            return Self::Finished;
        }
        // Nobody but the system's memory killer sends this without our doing.
        let killed = signal == Some(SIGKILL);
        if known.memory_bound && (killed || OUT_OF_MEMORY.iter().any(|words| known.stderr.contains(words))) {
            return Self::Memory;
        }
        Self::Failed(signal.map_or_else(|| status.code().unwrap_or(-1), |signal| -signal))
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn ends_and_their_codes() {
        let plain = Circumstances::default();
        let bound = Circumstances { memory_bound: true, ..plain };
        let said = |stderr| Circumstances { stderr, ..bound };
        let code = |code: i32| ExitStatus::from_raw(code << 8);
        for (status, known, cause, mgp) in [
            (code(0), plain, ExitCause::Finished, None),
            (code(3), plain, ExitCause::Failed(3), Some(2000)),
            (ExitStatus::from_raw(11), plain, ExitCause::Failed(-11), Some(2000)),
            (ExitStatus::from_raw(9), plain, ExitCause::Failed(-9), Some(2000)),
            (ExitStatus::from_raw(9), bound, ExitCause::Memory, Some(3001)),
            (ExitStatus::from_raw(9), Circumstances { stopped: true, ..bound }, ExitCause::Stopped, None),
            (ExitStatus::from_raw(9), Circumstances { over_budget: true, ..bound }, ExitCause::CpuTime, Some(3003)),
            (ExitStatus::from_raw(24), plain, ExitCause::CpuTime, Some(3003)),
            (ExitStatus::from_raw(31), bound, ExitCause::Forbidden, Some(1000)),
            (code(1), said("...\nMemoryError\n"), ExitCause::Memory, Some(3001)),
            (
                ExitStatus::from_raw(6),
                said("FATAL ERROR: JavaScript heap out of memory"),
                ExitCause::Memory,
                Some(3001),
            ),
            (code(1), said("KeyError"), ExitCause::Failed(1), Some(2000)),
        ] {
            let found = ExitCause::of(status, known);
            assert_eq!((found, found.code()), (cause, mgp), "{status:?} {known:?}");
        }
    }
}
