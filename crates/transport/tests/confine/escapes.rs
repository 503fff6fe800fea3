//! Nothing gets out of its profile; and most attempts succeed without any, so that they are seen to be real.

use switchboard_protocol::mgp::TrustLevel;
use switchboard_testkit::hostile::NAMES;
use switchboard_transport::confine::{ConfinementGrant, ExitCause};

use crate::attempts::{ATTEMPTS, Alone, ELSEWHERE, attempt_all, escaped};
use crate::scene::{Scene, install};

#[test]
fn every_attempt_is_judged() {
    for name in NAMES {
        let judged = ATTEMPTS.iter().any(|(known, ..)| known == name) || ELSEWHERE.contains(name);
        assert!(judged, "{name}");
    }
    assert!(ATTEMPTS.iter().all(|(name, ..)| NAMES.contains(name)));
}

#[test]
fn without_confinement_the_attempts_succeed() {
    let root = rustix::process::geteuid().is_root();
    let mut failed = Vec::new();
    for (name, witness, alone) in ATTEMPTS {
        if *alone == Alone::Unknown || (*alone == Alone::WorksForRoot && !root) {
            continue;
        }
        let mut scene = Scene::new();
        let said = scene.free(name);
        if !escaped(&mut scene, *witness, &said) {
            failed.push(format!("{name}: {said}"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[tokio::test]
async fn nothing_gets_out_of_the_standard_profile() {
    install();
    assert_eq!(attempt_all(TrustLevel::Standard).await, Vec::<&str>::new());
}

#[tokio::test]
async fn nothing_gets_out_of_the_strictest_profile() {
    install();
    let killed = attempt_all(TrustLevel::Untrusted).await;
    for name in ["mount", "chroot", "trace_victim", "bpf", "userfaultfd"] {
        assert!(killed.contains(&name), "{name} was not noticed: {killed:?}");
    }
}

#[tokio::test]
async fn a_process_that_ignores_its_warning_is_ended_when_its_time_is_used_up() {
    install();
    let scene = Scene::new();
    let mut profile = scene.hostile_profile(TrustLevel::Untrusted);
    profile.cpu_seconds = Some(1);
    let ran = scene.confined("processor_time", profile).await;
    assert_eq!((ran.cause, ran.cause.code()), (ExitCause::CpuTime, Some(3003)), "{ran:?}");
    assert_eq!(ran.stdout, "");
}

/// A server that may reach some hosts has sockets, and still reaches nobody else.
#[tokio::test]
async fn granted_hosts_open_no_other_way() {
    install();
    let hosts = ConfinementGrant { permission: "network.outbound".to_owned(), scope: vec!["example.com".to_owned()] };
    for (name, witness, _) in ATTEMPTS.iter().filter(|(name, ..)| {
        ["_connect", "_socket", "_send", "_sendmsg", "listen"].iter().any(|end| name.ends_with(end))
    }) {
        let mut scene = Scene::new();
        let program = scene.path("program/hostile-server").display().to_string();
        let profile = scene.decide(TrustLevel::Standard, std::slice::from_ref(&hosts), &program, &[]);
        let ran = scene.confined(name, profile).await;
        assert!(ran.stdout.contains("\"attempt\""), "{name}: {ran:?}");
        assert!(!escaped(&mut scene, *witness, &ran.stdout), "{name}: {ran:?}");
    }
}

/// Root confines by other means than everybody else.
#[test]
fn it_also_holds_for_an_ordinary_user() {
    use std::os::unix::process::CommandExt as _;
    if !rustix::process::geteuid().is_root() {
        println!("skipped: the other tests run as an ordinary user already");
        return;
    }
    const NOBODY: u32 = 65534;
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again
        .args(["escapes::nothing", "escapes::granted", "ordinary::a_", "refusals::", "--test-threads=2"])
        .env("HOME", "/nonexistent")
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY);
    match again.output() {
        Err(error) => println!("skipped: an ordinary user cannot run this test where it was built: {error}"),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
            assert!(text.contains("nothing_gets_out_of_the_strictest_profile ... ok"), "{text}");
        }
    }
}
