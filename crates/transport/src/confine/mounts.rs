//! Mounts as the process sees them: everything read-only but what it may write, and a folder in memory.
//!
//! Landlock guards contents and names but not modes, owners, times and attributes of files. A mount that is read-only
//! guards those as well.

use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, MountPropagationFlags};

use super::given::Given;
use super::profile::{ConfinementProfile, FileAccess, Scratch};

/// Arranges the mounts of a namespace that is our own. Returns the places where the folder in memory is seen.
pub(super) fn arrange(profile: &ConfinementProfile, given: &Given, cwd: Option<&Path>) -> io::Result<Vec<PathBuf>> {
    rustix::mount::mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    if matches!(profile.files, FileAccess::Paths { .. }) {
        for place in &given.write {
            rustix::mount::mount_bind_recursive(place.name(), place.name())
                .map_err(|error| named(&place.path, error))?;
        }
        let writable: Vec<&Path> = given.write.iter().map(|place| place.path.as_path()).collect();
        close_the_rest(&writable)?;
    }
    let mut seen = Vec::new();
    if let Some(scratch) = &profile.scratch {
        mount(scratch, &scratch.at)?;
        seen.push(scratch.at.clone());
        // Programs that ask nobody use this one. It is left alone if something the process needs is in it.
        let usual = Path::new("/tmp");
        let in_use = needed(given, scratch).chain(cwd).any(|path| path.starts_with(usual));
        if !in_use && usual.is_dir() {
            rustix::mount::mount_bind(&scratch.at, usual).map_err(|error| named(usual, error))?;
            seen.push(usual.to_path_buf());
        }
    }
    Ok(seen)
}

fn needed<'a>(given: &'a Given, scratch: &'a Scratch) -> impl Iterator<Item = &'a Path> {
    given.read.iter().chain(&given.write).map(|place| place.path.as_path()).chain([scratch.at.as_path()])
}

fn mount(scratch: &Scratch, at: &Path) -> io::Result<()> {
    let options =
        CString::new(format!("size={},mode=0700,nr_inodes=16384", scratch.bytes)).map_err(io::Error::other)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount("tmpfs", at, "tmpfs", flags, options.as_c_str()).map_err(|error| named(at, error))
}

/// Makes every mount read-only that is not below one of these.
fn close_the_rest(writable: &[&Path]) -> io::Result<()> {
    let table = std::fs::read_to_string("/proc/self/mountinfo")?;
    for line in table.lines() {
        let Some((point, flags)) = entry(line) else { continue };
        // Devices are written to: `/dev/null` must stay open. Landlock decides which.
        if writable.iter().any(|path| point.starts_with(path)) {
            continue;
        }
        let wanted = flags | MountFlags::BIND | MountFlags::RDONLY;
        match rustix::mount::mount_remount(&point, wanted, c"") {
            Ok(()) => {}
            // Another mount covers it, so that nobody can reach it by name, or it has just gone.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOENT) => {}
            Err(_) if flags.contains(MountFlags::RDONLY) => {}
            // A mount that we cannot look into is out of the process's reach as well.
            Err(rustix::io::Errno::ACCESS) => {}
            Err(error) => return Err(named(&point, error)),
        }
    }
    let root = rustix::fs::statvfs("/")?;
    if root.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) {
        Ok(())
    } else {
        Err(io::Error::other("the root of the file system is still open to be changed"))
    }
}

/// The place of a mount and the flags it must keep.
fn entry(line: &str) -> Option<(PathBuf, MountFlags)> {
    let mut fields = line.split(' ');
    let point = unescape(fields.nth(4)?);
    let mut flags = MountFlags::empty();
    for word in fields.next()?.split(',') {
        flags |= match word {
            "ro" => MountFlags::RDONLY,
            "nosuid" => MountFlags::NOSUID,
            "nodev" => MountFlags::NODEV,
            "noexec" => MountFlags::NOEXEC,
            "noatime" => MountFlags::NOATIME,
            "nodiratime" => MountFlags::NODIRATIME,
            "relatime" => MountFlags::RELATIME,
            _ => MountFlags::empty(),
        };
    }
    Some((point, flags))
}

/// Blanks and backslashes are written as octal numbers.
fn unescape(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    let (mut out, bytes) = (Vec::with_capacity(text.len()), text.as_bytes());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let octal = (byte == b'\\').then(|| text.get(at + 1..at + 4)).flatten();
        if let Some(code) = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            out.push(code);
            at += 4;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(out))
}

fn named(path: &Path, error: rustix::io::Errno) -> io::Error {
    io::Error::new(io::Error::from(error).kind(), format!("{}: {}", path.display(), io::Error::from(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_mount_table() {
        let line = r"36 35 98:0 /mnt1 /mnt\040with\134blank rw,noatime,nosuid master:1 - ext3 /dev/root rw,errors=x";
        let (point, flags) = entry(line).unwrap();
        assert_eq!(point, Path::new(r"/mnt with\blank"));
        assert_eq!(flags, MountFlags::NOATIME | MountFlags::NOSUID);
        assert!(entry("1 2 3").is_none());
    }
}
