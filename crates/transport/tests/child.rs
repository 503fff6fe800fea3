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

/// How a process behaves, whoever starts it: each case is a test for those that are started directly, and once more for
/// those that a guardian starts.
macro_rules! cases {
    ($($name:ident,)*) => {
        $(
            #[tokio::test]
            async fn $name() {
                case::$name().await;
            }
        )*

        async fn all_cases() {
            $(case::$name().await;)*
        }
    };
}

cases! {
    a_process_is_spoken_to_and_ends_with_its_input,
    stop_kills_a_process_and_its_children_that_ignore_everything,
    stop_also_ends_children_of_a_process_that_ended_by_itself,
    dropping_a_child_kills_its_group,
    why_a_process_ended_is_known_after_its_stop,
    files_that_are_open_here_do_not_reach_the_child,
    only_named_variables_reach_the_child,
    arguments_are_not_read_by_a_shell,
    what_cannot_be_started_is_explained,
}

const QUICK: StopGrace = StopGrace { after_eof: Duration::from_millis(100), after_term: Duration::from_millis(100) };

mod case {
    use super::*;

    pub(super) async fn a_process_is_spoken_to_and_ends_with_its_input() {
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

    pub(super) async fn stop_kills_a_process_and_its_children_that_ignore_everything() {
        let script =
            "trap '' TERM; (trap '' TERM; while :; do sleep 1000; done) & echo $!; while :; do sleep 1000; done";
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

    pub(super) async fn stop_also_ends_children_of_a_process_that_ended_by_itself() {
        let mut child = Child::spawn(&shell("sleep 1000 & echo $!; exit 0")).await.unwrap();
        let mut out = lines(&mut child);
        let grandchild: u32 = out.next_line().await.unwrap().unwrap().parse().unwrap();
        assert!(child.wait().await.unwrap().success());
        assert!(runs(grandchild));
        child.stop(QUICK).await;
        assert!(ends(grandchild), "the grandchild is left");
    }

    pub(super) async fn dropping_a_child_kills_its_group() {
        let mut child = Child::spawn(&shell("trap '' TERM; sleep 1000 & echo $!; wait")).await.unwrap();
        let mut out = lines(&mut child);
        let grandchild: u32 = out.next_line().await.unwrap().unwrap().parse().unwrap();
        let pid = child.pid();
        drop(child);
        assert!(ends(pid) && ends(grandchild));
    }

    pub(super) async fn why_a_process_ended_is_known_after_its_stop() {
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

    pub(super) async fn files_that_are_open_here_do_not_reach_the_child() {
        // Without the flag that closes it, as a careless library would.
        let _open = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty()).unwrap();
        let mut child = Child::spawn(&shell("ls /proc/self/fd | tr '\\n' ' '; echo")).await.unwrap();
        // The last one is the folder that is being listed.
        assert_eq!(lines(&mut child).next_line().await.unwrap().as_deref(), Some("0 1 2 3 "));
    }

    pub(super) async fn only_named_variables_reach_the_child() {
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

    pub(super) async fn arguments_are_not_read_by_a_shell() {
        let spec = CommandSpec { program: "echo".into(), args: vec!["$HOME; `id` *".into()], ..CommandSpec::default() };
        let mut child = Child::spawn(&spec).await.unwrap();
        assert_eq!(lines(&mut child).next_line().await.unwrap().as_deref(), Some("$HOME; `id` *"));
    }

    pub(super) async fn what_cannot_be_started_is_explained() {
        let missing = CommandSpec { program: "no-such-program-here".into(), ..CommandSpec::default() };
        let error = Child::spawn(&missing).await.unwrap_err();
        assert!(matches!(error, SpawnError::NotFound { .. }));
        let text = error.to_string();
        let path = std::env::var("PATH").unwrap();
        assert!(
            text.contains("`no-such-program-here`") && text.contains(&path) && text.contains("Install it"),
            "{text}"
        );

        let directory = CommandSpec { program: "/".into(), ..CommandSpec::default() };
        assert!(matches!(Child::spawn(&directory).await.unwrap_err(), SpawnError::Denied { .. }));

        let nowhere = CommandSpec { cwd: Some("/no/such/directory".into()), ..shell("true") };
        assert!(matches!(Child::spawn(&nowhere).await.unwrap_err(), SpawnError::BadDirectory(_)));
    }
}

fn install_guardian() {
    let own = std::env::current_exe().unwrap();
    let args = ["TEST_ROLE=guardian", own.to_str().unwrap(), "--exact", "role_in_another_process"];
    guardian::install("/usr/bin/env".as_ref(), &args);
}

/// What runs in the processes that the tests below start from this very binary.
#[test]
fn role_in_another_process() {
    match std::env::var("TEST_ROLE").as_deref() {
        Ok("guarded-cases") => {
            install_guardian();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(all_cases());
        }
        Ok("guardian") => {
            guardian::run().unwrap();
        }
        Ok(role @ ("parent" | "guarded-parent")) => {
            if role == "guarded-parent" {
                install_guardian();
            }
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut child = Child::spawn(&shell(&std::env::var("TEST_SCRIPT").unwrap())).await.unwrap();
                let line = lines(&mut child).next_line().await.unwrap().unwrap();
                let file = std::env::var("TEST_REPORT").unwrap();
                std::fs::write(format!("{file}.part"), line).unwrap();
                std::fs::rename(format!("{file}.part"), file).unwrap();
                match std::env::var("TEST_END").as_deref() {
                    Ok("stop") => drop(child.stop(QUICK).await),
                    Ok("drop") => drop(child),
                    Ok("restart") => {
                        // Nothing but the guardian is lost here.
                        child.wait().await;
                        child.stop(QUICK).await;
                    }
                    _ => {}
                }
                std::future::pending::<()>().await;
            });
        }
        _ => {}
    }
}

/// A child with a grandchild that ignores what it is told; says who is who.
const FAMILY: &str = "trap '' HUP TERM; sleep 1000 & echo $$ $!; wait; sleep 1000";
/// A child whose descendants have left its group and session, one of them twice removed. The last line of each script
/// names all of them, with the child first.
const DESERTERS: &str = "trap '' HUP TERM; F=$(mktemp -d); \
    setsid sh -c 'trap \"\" HUP TERM; echo $$ > '$F'/a; while :; do sleep 1000; done' & \
    (setsid sh -c 'trap \"\" HUP TERM; (setsid sleep 1000 & echo $! > '$F'/c); echo $$ > '$F'/b; while :; do sleep 1000; done' &); \
    until [ -s $F/a ] && [ -s $F/b ] && [ -s $F/c ]; do sleep 0.01; done; \
    echo $$ $(cat $F/a $F/b $F/c); rm -r $F; while :; do sleep 1000; done";

/// A process in the role of the kernel, with the numbers of what it started.
struct Parent {
    process: std::process::Child,
    pids: Vec<u32>,
}

impl Parent {
    fn start(role: &str, script: &str, end: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let report = directory.path().join("report");
        let process = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "role_in_another_process"])
            .env("TEST_ROLE", role)
            .env("TEST_SCRIPT", script)
            .env("TEST_END", end)
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
        let pids: Vec<u32> = line.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
        Self { process, pids }
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn all_end(&self) {
        for pid in &self.pids {
            assert!(ends(*pid), "{pid} of {:?} is left", self.pids);
        }
    }

    /// The parent of the child.
    fn guardian(&self) -> u32 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pids[0])).unwrap();
        stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Parent {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _reaped = self.process.wait();
        for pid in self.pids.iter().filter_map(|pid| rustix::process::Pid::from_raw(i32::try_from(*pid).ok()?)) {
            let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

#[test]
fn a_direct_child_does_not_survive_kill_9_of_its_parent() {
    let mut parent = Parent::start("parent", FAMILY, "");
    parent.kill();
    assert!(ends(parent.pids[0]), "the child is left");
}

#[test]
fn with_a_guardian_not_even_a_grandchild_survives_kill_9() {
    let mut parent = Parent::start("guarded-parent", FAMILY, "");
    assert!(parent.pids.iter().all(|pid| runs(*pid)));
    parent.kill();
    parent.all_end();
}

#[test]
fn with_a_guardian_nothing_that_left_its_group_and_session_survives() {
    for end in ["kill -9", "stop", "drop"] {
        let mut parent = Parent::start("guarded-parent", DESERTERS, end);
        assert_eq!(parent.pids.len(), 4);
        if end == "kill -9" {
            assert!(parent.pids.iter().all(|pid| runs(*pid)));
            parent.kill();
        }
        parent.all_end();
    }
}

#[test]
fn nothing_is_left_where_the_guardian_itself_is_killed() {
    let mut parent = Parent::start("guarded-parent", DESERTERS, "restart");
    let guardian = parent.guardian();
    assert_ne!(guardian, parent.process.id());
    let pid = rustix::process::Pid::from_raw(i32::try_from(guardian).unwrap()).unwrap();
    // What is meant for all processes of a service does not end it.
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    assert!(parent.pids.iter().all(|pid| runs(*pid)) && runs(guardian));
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    parent.all_end();
    parent.kill();
}

/// In a container the session that we belong to may have begun outside: its number is 0 then.
#[test]
fn nothing_is_left_in_a_namespace_whose_session_lies_outside() {
    let inside = |program: &std::path::Path, args: &[&str]| {
        let mut command = std::process::Command::new("unshare");
        command.args(["--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"]).arg(program).args(args);
        command.output()
    };
    if !inside("true".as_ref(), &[]).is_ok_and(|output| output.status.success()) {
        eprintln!("this system makes no namespaces: nothing was tried");
        return;
    }
    let own = std::env::current_exe().unwrap();
    let output = inside(&own, &["--exact", "nothing_is_left_where_the_guardian_itself_is_killed"]).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn what_a_guardian_starts_behaves_like_any_other() {
    let own = std::env::current_exe().unwrap();
    let output = std::process::Command::new(own)
        .args(["--exact", "role_in_another_process", "--nocapture"])
        .env("TEST_ROLE", "guarded-cases")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
