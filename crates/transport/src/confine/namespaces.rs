//! Namespaces: a view of mounts, of the network and of shared memory that is the process's own.
//!
//! Root makes them directly. Everybody else needs a user namespace around them, where the own user is the only one.
//! They are asked for all together: a machine that has one has all of them.

use std::io;
use std::net::TcpListener;

use rustix::net::{AddressFamily, SendFlags, SocketType, netlink};
use rustix::process::{getgid, getuid};
use rustix::thread::{CapabilitySet, UnshareFlags};

/// Enters namespaces of our own. With `network`, also one without any connection to the outside.
pub(super) fn enter(network: bool) -> io::Result<()> {
    let mut wanted = UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    if network {
        wanted |= UnshareFlags::NEWNET;
    }
    if may_administer() {
        return unshare(wanted);
    }
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    unshare(wanted | UnshareFlags::NEWUSER)?;
    // Without this a group could be left whose members are denied something.
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

pub(super) fn may_administer() -> bool {
    rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
}

#[expect(deprecated, reason = "its other form is unsafe only for tables of open files, which are never asked for here")]
fn unshare(flags: UnshareFlags) -> io::Result<()> {
    Ok(rustix::thread::unshare(flags)?)
}

/// A socket that listens inside the namespace, for a proxy outside of it.
pub(super) fn listen() -> io::Result<TcpListener> {
    bring_loopback_up()?;
    TcpListener::bind(("127.0.0.1", 0))
}

/// The loopback device of a new namespace is down.
fn bring_loopback_up() -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const UP: u32 = 1;
    let mut message = Vec::with_capacity(32);
    // The header: length, type, flags, sequence, port.
    message.extend(32_u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend(1_u32.to_ne_bytes());
    message.extend(0_u32.to_ne_bytes());
    // The link: family and type not said, index 1, flags and which of them change.
    message.extend([0; 4]);
    message.extend(1_i32.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    let socket = rustix::net::socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    rustix::net::sendto(&socket, &message, SendFlags::empty(), &netlink::SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 128];
    let (length, _) = rustix::net::recv(&socket, &mut answer, rustix::net::RecvFlags::empty())?;
    // An acknowledgement is an error message whose code, after the header, is 0.
    match answer.get(16..20).filter(|_| length >= 20) {
        Some([0, 0, 0, 0]) => Ok(()),
        Some(code) => {
            let code = i32::from_ne_bytes(code.try_into().unwrap_or_default());
            Err(io::Error::from_raw_os_error(code.saturating_neg()))
        }
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
