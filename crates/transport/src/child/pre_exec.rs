//! What a child does between fork and exec: the one place with `unsafe`.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Makes the child the leader of a session and group of its own, lets it die with the thread that starts it, and keeps
/// from it every file that is open here.
pub(super) fn prepare(command: &mut Command) {
    let parent = rustix::process::getpid();
    run_before(command, move || detach(parent));
}

/// Makes the child the leader of a session of its own and keeps from it every file that is open here, and lets it live on
/// when we die.
#[cfg(target_os = "linux")]
pub(super) fn stand_apart(command: &mut Command) {
    run_before(command, || {
        rustix::process::setsid()?;
        close_the_rest_with_exec();
        Ok(())
    });
}

fn run_before(command: &mut Command, step: impl FnMut() -> io::Result<()> + Send + Sync + 'static) {
    #[expect(unsafe_code, reason = "pre_exec is unsafe to call; nothing in the standard library does the same")]
    // SAFETY: the closure runs in the forked child of a process with threads, where only async-signal-safe calls are
    // sound. Both steps above make system calls only, take no lock, allocate nothing and capture one integer at most.
    unsafe {
        command.pre_exec(step);
    }
}

fn detach(parent: rustix::process::Pid) -> io::Result<()> {
    rustix::process::setsid()?;
    #[cfg(target_os = "linux")]
    {
        close_the_rest_with_exec();
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

/// Files that some library opened without the flag that closes them would reach every server.
#[cfg(target_os = "linux")]
fn close_the_rest_with_exec() {
    const FIRST: libc::c_uint = 3;
    #[expect(unsafe_code, reason = "neither the standard library nor rustix has this call")]
    // SAFETY: one system call with three integers. It closes nothing now: it marks descriptors to be closed by exec,
    // when nothing of this process is left that could use them. Systems before 5.11 refuse it, and then confined
    // processes are not started, because their launcher looks for what is open.
    let _marked = unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}
