//! Real processes: started, spoken to, stopped with all their children.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::{Duration, Instant};

use switchboard_transport::child::{Child, CommandSpec, SpawnError, StopGrace, guardian};
use switchboard_transport::confine::ExitCause;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::ChildStdout;

fn shell(script: &str) -> CommandSpec {
    CommandSpec { program: "/bin/sh".into(), args: vec!["-c".into(), script.into()], ..CommandSpec::default() }
}

fn lines(child: &mut Child) -> Lines<BufReader<ChildStdout>> {
    BufReader::new(child.stdout.take().unwrap()).lines()
}

/// Whether a process runs: one that has ended but was not reaped by its parent does not.
fn runs(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

/// Waits for what has no event to wait for: the end of a process that is not our child.
fn ends(pid: u32) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(10) {
        if !runs(pid) {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

const QUICK: StopGrace = StopGrace { after_eof: Duration::from_millis(100), after_term: Duration::from_millis(100) };

#[tokio::test]
async fn a_process_is_spoken_to_and_ends_with_its_input() {
    let mut child =
        Child::spawn(&shell("while read line; do echo \"got $line\"; done; echo bye >&2; exit 3")).await.unwrap();
    let mut out = lines(&mut child);
    child.stdin.as_mut().unwrap().write_all(b"one\n").await.unwrap();
    assert_eq!(out.next_line().await.unwrap().as_deref(), Some("got one"));
    let tail = child.stderr_tail();
    let status = child.stop(StopGrace::default()).await.unwrap();
    assert_eq!(status.code(), Some(3));
    // Its standard error is read by a task of its own.
    while tail.last_line().is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(tail.text(), "bye\n");
}

#[tokio::test]
async fn stop_kills_a_process_and_its_children_that_ignore_everything() {
    let script = "trap '' TERM; (trap '' TERM; while :; do sleep 1000; done) & echo $!; while :; do sleep 1000; done";
    let mut child = Child::spawn(&shell(script)).await.unwrap();
    let mut out = lines(&mut child);
    let grandchild: u32 = out.next_line().await.unwrap().unwrap().parse().unwrap();
    let pid = child.pid();
    assert!(runs(pid) && runs(grandchild));
    let status = child.stop(QUICK).await.unwrap();
    assert!(!status.success());
    assert!(ends(pid), "the child is left");
    assert!(ends(grandchild), "the grandchild is left");
}

#[tokio::test]
async fn stop_also_ends_children_of_a_process_that_ended_by_itself() {
    let mut child = Child::spawn(&shell("sleep 1000 & echo $!; exit 0")).await.unwrap();
    let mut out = lines(&mut child);
    let grandchild: u32 = out.next_line().await.unwrap().unwrap().parse().unwrap();
    assert!(child.wait().await.unwrap().success());
    assert!(runs(grandchild));
    child.stop(QUICK).await;
    assert!(ends(grandchild), "the grandchild is left");
}

#[tokio::test]
async fn dropping_a_child_kills_its_group() {
    let mut child = Child::spawn(&shell("trap '' TERM; sleep 1000 & echo $!; wait")).await.unwrap();
    let mut out = lines(&mut child);
    let grandchild: u32 = out.next_line().await.unwrap().unwrap().parse().unwrap();
    let pid = child.pid();
    drop(child);
    assert!(ends(pid) && ends(grandchild));
}

#[tokio::test]
async fn why_a_process_ended_is_known_after_its_stop() {
    for (script, waits, cause) in [
        ("exit 7", true, ExitCause::Failed(7)),
        ("exit 0", true, ExitCause::Finished),
        ("kill -SEGV $$", true, ExitCause::Failed(-11)),
        ("sleep 1000", false, ExitCause::Stopped),
    ] {
        let child = Child::spawn(&shell(script)).await.unwrap();
        let oversight = child.oversight();
        if waits {
            child.wait().await;
        }
        child.stop(QUICK).await;
        assert_eq!(oversight.exit_cause(), Some(cause), "{script}");
        assert_eq!(oversight.ended().await, Some(cause), "{script}");
    }
}

#[tokio::test]
async fn files_that_are_open_here_do_not_reach_the_child() {
    // Without the flag that closes it, as a careless library would.
    let _open = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty()).unwrap();
    let mut child = Child::spawn(&shell("ls /proc/self/fd | tr '\\n' ' '; echo")).await.unwrap();
    // The last one is the folder that is being listed.
    assert_eq!(lines(&mut child).next_line().await.unwrap().as_deref(), Some("0 1 2 3 "));
}

#[tokio::test]
async fn only_named_variables_reach_the_child() {
    let mut spec = shell("env");
    spec.env = vec![("MINE".into(), "a b".into())];
    let mut child = Child::spawn(&spec).await.unwrap();
    let mut out = lines(&mut child);
    let mut names = Vec::new();
    while let Some(line) = out.next_line().await.unwrap() {
        names.push(line.split('=').next().unwrap().to_owned());
    }
    assert!(names.contains(&"MINE".to_owned()) && names.contains(&"PATH".to_owned()), "{names:?}");
    // Cargo sets a lot for us.
    assert!(!names.iter().any(|name| name.starts_with("CARGO")), "{names:?}");
}

#[tokio::test]
async fn arguments_are_not_read_by_a_shell() {
    let spec = CommandSpec { program: "echo".into(), args: vec!["$HOME; `id` *".into()], ..CommandSpec::default() };
    let mut child = Child::spawn(&spec).await.unwrap();
    assert_eq!(lines(&mut child).next_line().await.unwrap().as_deref(), Some("$HOME; `id` *"));
}

#[tokio::test]
async fn what_cannot_be_started_is_explained() {
    let missing = CommandSpec { program: "no-such-program-here".into(), ..CommandSpec::default() };
    let error = Child::spawn(&missing).await.unwrap_err();
    assert!(matches!(error, SpawnError::NotFound { .. }));
    let text = error.to_string();
    let path = std::env::var("PATH").unwrap();
    assert!(text.contains("`no-such-program-here`") && text.contains(&path) && text.contains("Install it"), "{text}");

    let directory = CommandSpec { program: "/".into(), ..CommandSpec::default() };
    assert!(matches!(Child::spawn(&directory).await.unwrap_err(), SpawnError::Denied { .. }));

    let nowhere = CommandSpec { cwd: Some("/no/such/directory".into()), ..shell("true") };
    assert!(matches!(Child::spawn(&nowhere).await.unwrap_err(), SpawnError::BadDirectory(_)));
}

/// What runs in the processes that the tests below start from this very binary.
#[test]
fn role_in_another_process() {
    match std::env::var("TEST_ROLE").as_deref() {
        Ok("guardian") => {
            guardian::run(std::io::stdin().lock());
        }
        Ok(role @ ("parent" | "guarded-parent")) => {
            if role == "guarded-parent" {
                let own = std::env::current_exe().unwrap();
                guardian::install(
                    "/usr/bin/env".as_ref(),
                    &["TEST_ROLE=guardian", own.to_str().unwrap(), "--exact", "role_in_another_process"],
                );
            }
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                // The grandchild ignores the end of its input; the child says who is who.
                let mut child =
                    Child::spawn(&shell("trap '' HUP TERM; sleep 1000 & echo $$ $!; wait; sleep 1000")).await.unwrap();
                let line = lines(&mut child).next_line().await.unwrap().unwrap();
                let file = std::env::var("TEST_REPORT").unwrap();
                std::fs::write(format!("{file}.part"), line).unwrap();
                std::fs::rename(format!("{file}.part"), file).unwrap();
                std::future::pending::<()>().await;
            });
        }
        _ => {}
    }
}

/// Starts a process that has a child and a grandchild, kills it with -9, and gives back their ids.
fn killed_parent(role: &str) -> (u32, u32) {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report");
    let mut parent = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "role_in_another_process"])
        .env("TEST_ROLE", role)
        .env("TEST_REPORT", &report)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !report.exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "the parent did not start its child");
        std::thread::yield_now();
    }
    let line = std::fs::read_to_string(&report).unwrap();
    let (child, grandchild) = line.split_once(' ').unwrap();
    let pids = (child.parse().unwrap(), grandchild.parse().unwrap());
    assert!(runs(pids.0) && runs(pids.1));
    parent.kill().unwrap();
    parent.wait().unwrap();
    pids
}

#[test]
fn a_direct_child_does_not_survive_kill_9_of_its_parent() {
    let (child, grandchild) = killed_parent("parent");
    assert!(ends(child), "the child is left");
    let grandchild = rustix::process::Pid::from_raw(i32::try_from(grandchild).unwrap()).unwrap();
    let _ = rustix::process::kill_process(grandchild, rustix::process::Signal::KILL);
}

#[test]
fn with_a_guardian_not_even_a_grandchild_survives_kill_9() {
    let (child, grandchild) = killed_parent("guarded-parent");
    assert!(ends(child), "the child is left");
    assert!(ends(grandchild), "the grandchild is left");
}

#[test]
fn the_guardian_forgets_what_it_is_told_to_forget() {
    assert_eq!(guardian::run(&b"+999999991\n-999999991\nnonsense\n+1\n+0\n+-5\n\n"[..]), 0);
}
