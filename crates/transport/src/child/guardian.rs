//! A helper process that outlives us for a moment, to kill the groups of our children when we were killed ourselves.
//!
//! One guardian serves the whole process, from its first child on. It reads `+PID` and `-PID` lines from a pipe whose other end only we hold;
//! when that ends without a farewell, we are dead, and it kills every group still on its list. The binary must offer a way to run
//! [`run`] (a hidden command) and call [`install`] with the command line that leads there.

use std::collections::HashSet;
use std::io::{BufRead, Write as _};
use std::process::{ChildStdin, Command, Stdio};

use parking_lot::Mutex;

static GUARDIAN: Mutex<Guardian> = Mutex::new(Guardian::Absent);

enum Guardian {
    /// Nobody wanted one, or it has gone.
    Absent,
    /// Wanted as soon as there is a child.
    Wanted(Command),
    /// It listens.
    Present(ChildStdin),
}

/// Says how the guardian is started, when the first child is. Without one, grandchildren that ignore the end of their
/// input may survive our sudden death.
pub fn install(program: &std::path::Path, args: &[&str]) {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // A group of its own: what interrupts us must not interrupt it.
        command.process_group(0);
    }
    *GUARDIAN.lock() = Guardian::Wanted(command);
}

/// Starts the guardian if it is wanted and not there yet: before the first child, so that it can hear of it at once.
pub(super) fn ready() {
    let mut guardian = GUARDIAN.lock();
    let Guardian::Wanted(command) = &mut *guardian else { return };
    let started = command.spawn();
    *guardian = match started.map(|mut process| process.stdin.take()) {
        Ok(Some(pipe)) => Guardian::Present(pipe),
        Ok(None) => Guardian::Absent,
        Err(error) => {
            tracing::warn!(%error, "no guardian process: servers may outlive a sudden end of this one");
            Guardian::Absent
        }
    };
}

/// Adds a group to the list.
pub(super) fn watch(pid: u32) {
    tell('+', pid);
}

/// Takes a group from the list.
pub(super) fn forget(pid: u32) {
    tell('-', pid);
}

fn tell(sign: char, pid: u32) {
    let mut guardian = GUARDIAN.lock();
    // A few bytes at a time, and a reader that does nothing else: this cannot fill the pipe for long.
    if let Guardian::Present(pipe) = &mut *guardian
        && writeln!(pipe, "{sign}{pid}").is_err()
    {
        tracing::warn!("the guardian process has gone: children may outlive a sudden end");
        *guardian = Guardian::Absent;
    }
}

/// The guardian itself: reads until the end of `input`, then kills what is left. Returns how many groups that was.
pub fn run(input: impl BufRead) -> usize {
    let mut watched = HashSet::new();
    for line in input.lines().map_while(Result::ok) {
        let Some((sign, number)) = line.split_at_checked(1) else { continue };
        // 0 and 1 would mean our own group and everything.
        let Some(pid) = number.parse::<i32>().ok().filter(|pid| *pid > 1) else { continue };
        match sign {
            "+" => drop(watched.insert(pid)),
            "-" => drop(watched.remove(&pid)),
            _ => {}
        }
    }
    #[cfg(unix)]
    for pid in watched.iter().filter_map(|pid| rustix::process::Pid::from_raw(*pid)) {
        let _gone = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    watched.len()
}
