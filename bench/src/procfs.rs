//! CPU time and memory of process trees, read from `/proc`.
//!
//! A process that ends between two readings takes its CPU time with it; the measured servers do not.

use std::collections::HashMap;
use std::fs;

/// Clock ticks per second in `/proc/PID/stat`; fixed by the Linux ABI on all supported machines.
const TICKS_PER_SECOND: f64 = 100.0;

/// The processes one measurement counts.
#[derive(Clone, Debug, Default)]
pub struct Processes {
    /// Roots; their descendants count as well.
    pub roots: Vec<u32>,
    /// Trees that do not count.
    pub without: Vec<u32>,
    /// Program names (as in `/proc/PID/comm`) whose processes do not count: a gateway's stdio upstream is not its cost.
    pub without_programs: Vec<String>,
}

/// Resident and proportional memory of a set of processes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Resident set, MiB.
    pub rss_mib: f64,
    /// Proportional set (shared pages divided among their users), MiB.
    pub pss_mib: f64,
}

struct Stat {
    program: String,
    parent: u32,
    cpu_seconds: f64,
}

impl Processes {
    /// One process tree.
    pub fn tree(root: u32) -> Self {
        Self { roots: vec![root], ..Self::default() }
    }

    /// CPU seconds used so far.
    pub fn cpu_seconds(&self) -> f64 {
        self.members().iter().filter_map(|pid| stat(*pid)).map(|stat| stat.cpu_seconds).sum()
    }

    /// Memory in use now.
    pub fn memory(&self) -> Memory {
        let mut sum = Memory::default();
        for pid in self.members() {
            let Ok(text) = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) else { continue };
            for line in text.lines() {
                let mut words = line.split_whitespace();
                let (Some(field), Some(kib)) = (words.next(), words.next().and_then(|word| word.parse::<f64>().ok()))
                else {
                    continue;
                };
                match field {
                    "Rss:" => sum.rss_mib += kib / 1024.0,
                    "Pss:" => sum.pss_mib += kib / 1024.0,
                    _ => {}
                }
            }
        }
        sum
    }

    fn members(&self) -> Vec<u32> {
        if self.roots.is_empty() {
            return Vec::new();
        }
        let all = snapshot();
        let left_out = descendants(&all, &self.without);
        let mut members = descendants(&all, &self.roots);
        members.retain(|pid| {
            let program = all.get(pid).map(|stat| &stat.program);
            !left_out.contains(pid) && !program.is_some_and(|program| self.without_programs.contains(program))
        });
        members
    }
}

/// CPU seconds of this process alone, children excluded.
pub fn own_cpu_seconds() -> f64 {
    stat(std::process::id()).map_or(0.0, |stat| stat.cpu_seconds)
}

fn snapshot() -> HashMap<u32, Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| Some((pid, stat(pid)?)))
        .collect()
}

fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The program name stands in parentheses and may itself hold spaces and parentheses, so fields count from the last one.
fn parse_stat(text: &str) -> Option<Stat> {
    let (head, tail) = text.rsplit_once(") ")?;
    let program = head.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = tail.split(' ').collect();
    let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
    let cpu_seconds = (ticks(11)? + ticks(12)?) / TICKS_PER_SECOND;
    Some(Stat { program, parent: fields.get(1)?.parse().ok()?, cpu_seconds })
}

fn descendants(all: &HashMap<u32, Stat>, roots: &[u32]) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for (pid, stat) in all {
        children.entry(stat.parent).or_default().push(*pid);
    }
    let (mut found, mut open) = (Vec::new(), roots.to_vec());
    while let Some(pid) = open.pop() {
        if all.contains_key(&pid) && !found.contains(&pid) {
            found.push(pid);
            open.extend(children.get(&pid).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_lines_with_awkward_program_names() {
        let line = "42 (a (b) c) S 7 42 42 0 -1 4194304 99 0 0 0 150 50 0 0 20 0 1 0 54048 3133440 381";
        let stat = parse_stat(line).expect("parses");
        assert_eq!((stat.program.as_str(), stat.parent, stat.cpu_seconds), ("a (b) c", 7, 2.0));
        assert!(parse_stat("42 (cut").is_none());
    }

    #[test]
    fn own_tree_has_memory_and_can_be_left_out() {
        let me = std::process::id();
        assert!(Processes::tree(me).memory().rss_mib > 0.1);
        let nobody = Processes { roots: vec![me], without: vec![me], without_programs: Vec::new() };
        assert_eq!(nobody.memory().rss_mib, 0.0);
        let name = stat(me).expect("own stat").program;
        let unnamed = Processes { roots: vec![me], without: Vec::new(), without_programs: vec![name] };
        assert_eq!(unnamed.memory().rss_mib, 0.0);
    }
}
