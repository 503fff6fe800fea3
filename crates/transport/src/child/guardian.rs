//! A process of our own between us and each server, so that nothing of a server is left, however it or we end.
//!
//! The guardian is the parent of the server's process and the *subreaper* of all that descends from it: a process that
//! left its group and its session, or whose own parent has ended, becomes the guardian's child and not the system's. So
//! it knows all of them, whatever they did. It ends them when it is told to, and when the socket to us ends, which is what
//! it sees of our death. It speaks of the server's start and end over that socket, and nothing of what the server says
//! goes through it: the server gets our pipes.
//!
//! A guardian that is killed itself takes the server with it (the parent-death signal). What the server had started
//! becomes our own child then, because we are a subreaper too, and is ended by us. Left over is only what has left
//! its group, where guardian and kernel are killed in the same moment.
//!
//! The binary must offer a way to run [`run`] (a hidden command) and call [`install`] with the command line that leads
//! there. Without it, and on systems other than Linux, processes are started directly and their groups are ended.

#[cfg(target_os = "linux")]
mod line;
#[cfg(target_os = "linux")]
mod process;

#[cfg(target_os = "linux")]
pub(super) use self::line::{Installed, Line, Report, Reports, Started, installed, start};
#[cfg(target_os = "linux")]
pub use self::process::run;

/// Says how guardians are started. Makes this process the one that inherits what a guardian leaves behind.
pub fn install(program: &std::path::Path, args: &[&str]) {
    #[cfg(target_os = "linux")]
    line::install(program, args);
    #[cfg(not(target_os = "linux"))]
    let _ = (program, args);
}

/// There are no guardians here.
#[cfg(not(target_os = "linux"))]
pub fn run() {}
