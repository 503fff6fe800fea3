//! The tree of processes, as the system tells it: who descends from whom.
//!
//! One look at `/proc` is a list that is out of date when it is finished. Whoever acts on it looks again until nothing new
//! is found.

use std::collections::HashSet;

use rustix::process::{Pid, Signal};

/// Looks at the tree while its members are stopped, so that no new ones are born.
const MAX_LOOKS: usize = 16;

/// One process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) session: i32,
}

/// Every process that can be seen.
pub(super) fn all() -> Vec<Entry> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(|pid| parse(pid, &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)).collect()
}

/// Reads a line of `/proc/PID/stat`. The name may hold anything, so reading begins after its end.
fn parse(pid: i32, stat: &str) -> Option<Entry> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    Some(Entry { pid, parent, session })
}

/// The session of this process as the process table shows it: 0 where its leader lies outside of our PID namespace, which
/// `getsid` of rustix must not be asked for (it takes every answer for the number of a process).
pub(super) fn own_session() -> Option<i32> {
    let own = rustix::process::getpid().as_raw_pid();
    parse(own, &std::fs::read_to_string("/proc/self/stat").ok()?).map(|entry| entry.session)
}

/// The numbers of all that descend from these, themselves included.
fn with_descendants(roots: impl Iterator<Item = i32>, all: &[Entry]) -> HashSet<i32> {
    let mut found: HashSet<i32> = roots.collect();
    loop {
        let before = found.len();
        let born = all.iter().filter(|entry| found.contains(&entry.parent)).map(|entry| entry.pid).collect::<Vec<_>>();
        found.extend(born);
        if found.len() == before {
            return found;
        }
    }
}

/// All descendants of this process that live now.
fn descendants() -> HashSet<i32> {
    let (own, all) = (rustix::process::getpid().as_raw_pid(), all());
    with_descendants(all.iter().filter(|entry| entry.parent == own).map(|entry| entry.pid), &all)
}

/// Signals every descendant of this process.
pub(super) fn signal_descendants(signal: Signal) {
    send(&descendants(), signal);
}

/// Kills every descendant of this process that is found. They are stopped first: one that runs may have children faster
/// than they are found.
pub(super) fn kill_descendants() {
    kill(descendants);
}

/// Kills the children of this process for which `is_stray` holds, with all that descends from them, and takes note of
/// their end, so that nothing is left of them.
pub(super) fn kill_children(is_stray: impl Fn(&Entry) -> bool) -> usize {
    let own = rustix::process::getpid().as_raw_pid();
    let strays = || -> Vec<i32> {
        let found = all().into_iter().filter(|entry| entry.parent == own && is_stray(entry));
        found.map(|entry| entry.pid).collect()
    };
    let mut count = 0;
    for _ in 0..MAX_LOOKS {
        let found = strays();
        if found.is_empty() {
            break;
        }
        count += found.len();
        kill(|| with_descendants(found.iter().copied(), &all()));
        for pid in found.into_iter().filter_map(Pid::from_raw) {
            // It was killed, so this ends; an uninterruptible one is left to the next look.
            let _reaped = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG);
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    count
}

fn kill(find: impl Fn() -> HashSet<i32>) {
    let mut stopped = HashSet::new();
    for _ in 0..MAX_LOOKS {
        let found: HashSet<i32> = find().difference(&stopped).copied().collect();
        if found.is_empty() {
            break;
        }
        send(&found, Signal::STOP);
        stopped.extend(found);
    }
    send(&stopped, Signal::KILL);
}

fn send(to: &HashSet<i32>, signal: Signal) {
    // Numbers of 1 and below are no processes of ours, and some mean everybody.
    for pid in to.iter().filter(|pid| **pid > 1).filter_map(|pid| Pid::from_raw(*pid)) {
        let _gone = rustix::process::kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_process_table() {
        let line = "42 (odd) name (x)) S 7 42 40 0 -1 4194304 1 0 0 0";
        assert_eq!(parse(42, line), Some(Entry { pid: 42, parent: 7, session: 40 }));
        assert_eq!(parse(42, "42 (cut) S 7"), None);
    }

    #[test]
    fn descendants_are_found_whatever_their_order_and_session() {
        let entry = |pid, parent| Entry { pid, parent, session: pid };
        let all = [entry(9, 8), entry(8, 5), entry(5, 2), entry(3, 1), entry(6, 3)];
        assert_eq!(with_descendants([5].into_iter(), &all), HashSet::from([5, 8, 9]));
        assert_eq!(with_descendants([].into_iter(), &all), HashSet::new());
    }
}
