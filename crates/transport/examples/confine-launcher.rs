//! The launcher of confined processes as a program of its own: what a binary with this crate has to offer.
//!
//! `--without NAME` in front takes a means away first, to see what happens on machines that lack it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let mut word = words.next();
    while word.as_deref() == Some("--without") {
        if !words.next().is_some_and(|name| take_away(&name)) {
            return ExitCode::FAILURE;
        }
        word = words.next();
    }
    let Some(word) = word else { return ExitCode::FAILURE };
    match switchboard_transport::confine::run(&word) {
        Ok(never) => match never {},
        Err(_) => ExitCode::FAILURE,
    }
}

#[cfg(target_os = "linux")]
fn take_away(name: &str) -> bool {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    let (call, error) = match name {
        "namespaces" => (libc::SYS_unshare, libc::EPERM),
        "landlock" => (libc::SYS_landlock_create_ruleset, libc::ENOSYS),
        "seccomp" => (libc::SYS_seccomp, libc::ENOSYS),
        "limits" => (libc::SYS_prlimit64, libc::EPERM),
        "privileges" => (libc::SYS_capset, libc::EPERM),
        _ => return false,
    };
    let rules = [(call, Vec::new())].into_iter().collect();
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    let Ok(arch) = std::env::consts::ARCH.try_into() else { return false };
    let Ok(filter) = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch) else { return false };
    let Ok(program) = BpfProgram::try_from(filter) else { return false };
    seccompiler::apply_filter(&program).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn take_away(_name: &str) -> bool {
    false
}
