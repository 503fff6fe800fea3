//! Who belongs to a confined server: every process that sees the same mounts.
//!
//! A process can leave its group and its session, but not its namespace: the filter refuses the calls for that. The
//! namespace is kept open here, so its number cannot become that of another one.

use std::fs::{self, File};
use std::path::Path;

/// The namespace of one confined server.
#[derive(Debug)]
pub(crate) struct Members {
    leader: u32,
    /// Missing if the process has no namespace of its own, and so no children.
    namespace: Option<(File, u64)>,
}

impl Members {
    /// Those of a process; one that can have no children is alone.
    pub(crate) fn of(leader: u32, alone: bool) -> Self {
        if alone {
            return Self { leader, namespace: None };
        }
        let own = number(Path::new("/proc/self/ns/mnt"));
        let file = File::open(format!("/proc/{leader}/ns/mnt")).ok();
        let namespace = file.and_then(|file| {
            let number = inode(&file)?;
            // Ours is everybody's: its members must never be taken for a server's.
            (own.is_some() && own != Some(number)).then_some((file, number))
        });
        Self { leader, namespace }
    }

    /// The numbers of all members that live now.
    pub(crate) fn list(&self) -> Vec<u32> {
        let Some((_, number)) = &self.namespace else { return vec![self.leader] };
        let Ok(entries) = fs::read_dir("/proc") else { return vec![self.leader] };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| self::number(Path::new(&format!("/proc/{pid}/ns/mnt"))) == Some(*number)).collect()
    }

    /// Kills those that are left, also outside of the group. Twice, for those that were born meanwhile.
    pub(crate) fn kill(&self) {
        if self.namespace.is_none() {
            return;
        }
        for _ in 0..2 {
            for pid in self.list() {
                let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
                if let Some(pid) = pid {
                    let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                }
            }
        }
    }

    /// The processor time of all members and of the children they have waited for, in hundredths of a second.
    pub(crate) fn cpu_ticks(&self) -> u64 {
        self.list().into_iter().filter_map(ticks).sum()
    }
}

fn inode(file: &File) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().ok().map(|metadata| metadata.ino())
}

/// The number in `mnt:[4026531841]`.
fn number(link: &Path) -> Option<u64> {
    let target = fs::read_link(link).ok()?;
    target.to_str()?.strip_prefix("mnt:[")?.strip_suffix(']')?.parse().ok()
}

fn ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, so counting begins after its end: user, system, and both of waited children.
    let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
    Some(fields.filter_map(|field| field.parse::<u64>().ok()).sum())
}
