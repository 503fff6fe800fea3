//! What the child does between fork and exec: the one place with `unsafe`.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Makes the child the leader of a session and group of its own, and lets it die with the thread that starts it.
pub(super) fn prepare(command: &mut Command) {
    let parent = rustix::process::getpid();
    #[expect(unsafe_code, reason = "pre_exec is unsafe to call; nothing in the standard library does the same")]
    // SAFETY: the closure runs in the forked child of a process with threads, where only async-signal-safe calls are
    // sound. It makes three system calls through rustix, takes no lock, allocates nothing and captures one integer.
    unsafe {
        command.pre_exec(move || detach(parent));
    }
}

fn detach(parent: rustix::process::Pid) -> io::Result<()> {
    rustix::process::setsid()?;
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // The parent may have died before the line above took effect: then nobody sends that signal any more.
        if rustix::process::getppid() != Some(parent) {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
    Ok(())
}
