//! The comparison as a command, with the forwarder in the part of Switchboard.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::servers::{COMPARE, PROXY, Server, UPSTREAM};

fn compare(arguments: &[&str]) -> Output {
    Command::new(COMPARE).args(arguments).output().expect("runs")
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A gateway in the part of Switchboard, with an upstream of its own.
fn stand_in() -> (Server, Server, String) {
    let upstream = Server::start(UPSTREAM, &[]);
    let gateway = Server::start(PROXY, &["--upstream", &upstream.authority()]);
    let given = format!("switchboard={},{}", gateway.url, gateway.child.id());
    (upstream, gateway, given)
}

const SHORT: [&str; 7] = ["--only-own", "--duration", "0.2", "--warmup", "0.02", "--reps", "1"];

#[test]
fn a_whole_run_in_each_mode() {
    let (_upstream, _gateway, given) = stand_in();
    let modes: [&[&str]; 4] = [&[], &["--sse"], &["--era", "modern"], &["--upstream", "stdio"]];
    for mode in modes {
        let directory = tempfile::tempdir().expect("a directory");
        let out = directory.path().join("runs.jsonl");
        let out_text = out.to_string_lossy();
        let mut arguments = SHORT.to_vec();
        arguments.extend(["--callers", "1,4", "--gateway", &given, "--out", &out_text]);
        arguments.extend(mode);
        let output = compare(&arguments);
        assert!(output.status.success(), "{mode:?}: {}", text(&output));
        let runs = fs::read_to_string(&out).expect("the runs");
        let runs: Vec<Value> = runs.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let subjects = if mode.contains(&"stdio") { 2 } else { 4 };
        assert_eq!(runs.len(), subjects * 2, "{mode:?}: {}", text(&output));
        for run in &runs {
            assert!(run["completed"].as_u64() > Some(0) && run["errors"] == 0, "{mode:?}: {run}");
        }
    }
}

#[test]
fn targets_decide_the_status() {
    let (_upstream, _gateway, given) = stand_in();
    let check = |duration: &str, least: &str| {
        let run = ["--only-own", "--duration", duration, "--warmup", "0.02", "--reps", "1", "--callers", "4"];
        let limits = ["--check", "--min-throughput", least, "--max-cpu", "1000", "--gateway", &given];
        compare(&[&run[..], &limits[..]].concat())
    };
    // CPU time comes in steps of 10 ms, and a forwarder that seems to use none gives no ratio: a full second.
    let loose = check("1", "0.001");
    assert_eq!(loose.status.code(), Some(0), "{}", text(&loose));
    let strict = check("0.2", "1000");
    assert_eq!(strict.status.code(), Some(1), "{}", text(&strict));
    assert!(text(&strict).contains("MISSED"));
}

#[test]
fn idle_sessions_are_counted_and_checked() {
    let (_upstream, _gateway, given) = stand_in();
    let run = |limit: &str| {
        compare(&["sessions", "--count", "20", "--settle", "0", "--gateway", &given, "--check", "--max-mib", limit])
    };
    let loose = run("1000");
    assert_eq!(loose.status.code(), Some(0), "{}", text(&loose));
    assert!(text(&loose).contains("per session"));
    let strict = run("0.001");
    assert_eq!(strict.status.code(), Some(1), "{}", text(&strict));
}

#[test]
fn a_gateway_that_cannot_start_is_named() {
    let output = compare(&["--switchboard", "no/such/binary"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("no/such/binary"));

    // A program that ends at once without printing an address.
    let output = compare(&["--switchboard", PROXY]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("switchboard: closed its output"), "{}", text(&output));
}

/// The parent and state of a process, if it exists.
fn parent_and_state(pid: u32) -> Option<(u32, String)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?.to_owned();
    Some((fields.next()?.parse().ok()?, state))
}

fn children_of(parent: u32) -> Vec<u32> {
    let pids = fs::read_dir("/proc").expect("procfs").flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| parent_and_state(*pid).is_some_and(|(found, _)| found == parent)).collect()
}

#[test]
fn no_process_is_left_behind() {
    let (_upstream, _gateway, given) = stand_in();
    for signal in [Signal::TERM, Signal::INT, Signal::KILL] {
        let mut run = Command::new(COMPARE)
            .args(["--only-own", "--duration", "60", "--gateway", &given])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        // The heading is printed once everything runs.
        let mut heading = String::new();
        BufReader::new(run.stdout.as_mut().expect("piped")).read_line(&mut heading).expect("a heading");
        let started = children_of(run.id());
        assert_eq!(started.len(), 3, "upstream and two forwarders");

        let pid = Pid::from_raw(i32::try_from(run.id()).expect("a pid")).expect("not zero");
        kill_process(pid, signal).expect("signalled");
        let status = run.wait().expect("ends");
        assert_eq!(status.code(), (signal != Signal::KILL).then_some(2), "{signal:?}");

        let begun = Instant::now();
        let alive = |pid: &u32| parent_and_state(*pid).is_some_and(|(_, state)| state != "Z");
        while started.iter().any(alive) {
            assert!(begun.elapsed() < Duration::from_secs(10), "{signal:?} leaves {started:?}");
            std::thread::yield_now();
        }
    }
}
