//! Bounds that the system counts for us, and the privileges that a process has to give up.
//!
//! Memory is bounded by `RLIMIT_DATA`, which counts private memory that can be written. `RLIMIT_AS` would count
//! reserved addresses as well, and V8 reserves gigabytes that it never touches. Shared memory is not counted by it, so
//! the filter takes the ways to it.
//!
//! Processes are bounded by `RLIMIT_NPROC`, which counts them for each user namespace, and by a control group for root,
//! whom that limit does not bind.

use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

use super::profile::ConfinementProfile;

/// Sets the bounds. `counted_alone` says that we are in a user namespace of our own: else all processes of the user would
/// count, and a desktop has more of them than any server may have.
pub(super) fn apply(profile: &ConfinementProfile, counted_alone: bool) -> io::Result<()> {
    let bound = |resource, most: u64| {
        let most = match rustix::process::getrlimit(resource).maximum {
            Some(now) => most.min(now),
            None => most,
        };
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
    };
    bound(Resource::Core, 0)?;
    bound(Resource::Msgqueue, 0)?;
    if let Some(bytes) = profile.memory_bytes {
        bound(Resource::Data, bytes)?;
        bound(Resource::Stack, 8 << 20)?;
        bound(Resource::Memlock, 1 << 20)?;
    }
    if let Some(files) = profile.open_files {
        bound(Resource::Nofile, files)?;
    }
    if let Some(tasks) = profile.tasks().filter(|_| counted_alone) {
        bound(Resource::Nproc, tasks)?;
    }
    Ok(())
}

/// Gives up every privilege for good, also those that root would get back with the next program.
pub(super) fn renounce() -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    let mine = rustix::thread::capabilities(None)?;
    if mine.permitted.contains(CapabilitySet::SETPCAP) {
        use CapabilitiesSecureBits as Bits;
        rustix::thread::set_capabilities_secure_bits(
            Bits::NO_ROOT
                | Bits::NO_ROOT_LOCKED
                | Bits::NO_SETUID_FIXUP
                | Bits::NO_SETUID_FIXUP_LOCKED
                | Bits::KEEP_CAPS_LOCKED
                | Bits::NO_CAP_AMBIENT_RAISE
                | Bits::NO_CAP_AMBIENT_RAISE_LOCKED,
        )?;
        for bit in 0..64 {
            let one = CapabilitySet::from_bits_retain(1 << bit);
            if rustix::thread::capability_is_in_bounding_set(one).unwrap_or(false) {
                rustix::thread::remove_capability_from_bounding_set(one)?;
            }
        }
    }
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}

/// Whether the limit on processes binds us: the system never holds root to it.
pub(super) fn binds_us() -> bool {
    !rustix::process::getuid().is_root()
}

/// Moves us into a control group that holds at most this many tasks. Groups of processes that are gone are removed.
pub(super) fn enter_group(tasks: u64) -> io::Result<()> {
    let parent = pids_group()?;
    sweep(&parent);
    let own = parent.join(format!("{GROUP}{}", std::process::id()));
    match std::fs::create_dir(&own) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    std::fs::write(own.join("pids.max"), tasks.to_string())?;
    std::fs::write(own.join("cgroup.procs"), "0")
}

const GROUP: &str = "switchboard-";

/// The control group we are in, of the old or the new kind.
fn pids_group() -> io::Result<PathBuf> {
    let memberships = std::fs::read_to_string("/proc/self/cgroup")?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo")?;
    for line in memberships.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let counts = controllers.split(',').any(|controller| controller == "pids");
        if !counts && !controllers.is_empty() {
            continue;
        }
        let kind = if counts { " - cgroup " } else { " - cgroup2 " };
        for mount in mounts.lines().filter(|mount| mount.contains(kind)) {
            let (Some(root), Some(point)) = (mount.split(' ').nth(3), mount.split(' ').nth(4)) else { continue };
            let of_pids = mount.rsplit(' ').next().is_some_and(|options| options.split(',').any(|one| one == "pids"));
            let Some(inner) = path.strip_prefix(root).filter(|_| !counts || of_pids) else { continue };
            let folder = Path::new(point).join(inner.trim_start_matches('/'));
            let offered = std::fs::read_to_string(folder.join("cgroup.subtree_control"));
            // The new kind offers a controller to inner groups only if told to.
            if counts || offered.is_ok_and(|list| list.split_whitespace().any(|one| one == "pids")) {
                return Ok(folder);
            }
        }
    }
    Err(io::Error::new(io::ErrorKind::Unsupported, "there is no control group that counts processes"))
}

fn sweep(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(GROUP)).and_then(|pid| pid.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            // Refused by the system while anybody is in it.
            let _in_use = std::fs::remove_dir(entry.path());
        }
    }
}
