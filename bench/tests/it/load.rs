//! Loads through each transport, era and answer form.

use std::time::{Duration, Instant};

use switchboard_bench::load::{self, Plan, Report, Sessions, Via};
use switchboard_bench::message::{Call, LEGACY, MODERN};
use switchboard_bench::procfs::Processes;

use crate::servers::{PROXY, Server, UPSTREAM};

fn plan(via: Via, version: &str) -> Plan {
    Plan {
        label: "test".to_owned(),
        via,
        call: Call::echo("echo", 32, version),
        callers: 3,
        duration: Duration::from_millis(200),
        warmup: Duration::from_millis(20),
        rate: None,
        call_limit: Duration::from_secs(10),
        setup_limit: Duration::from_secs(10),
        measured: Processes::default(),
        upstream: Processes::default(),
    }
}

fn http(server: &Server, sessions: Sessions) -> Via {
    Via::Http { target: server.target(), sessions }
}

fn assert_clean(report: &Report, case: &str) {
    assert!(report.completed > 0, "{case}: {report:?}");
    assert_eq!(report.errors, 0, "{case}: {report:?}");
    assert!(report.first_error.is_none(), "{case}: {report:?}");
    assert!(report.p50_ms <= report.p99_ms && report.p99_ms <= report.max_ms, "{case}: {report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn direct_and_through_the_forwarder() {
    for sse in [false, true] {
        let upstream = Server::start(UPSTREAM, if sse { &["--sse"] } else { &[] });
        let authority = upstream.authority();
        let plain = Server::start(PROXY, &["--upstream", &authority]);
        let parsing = Server::start(PROXY, &["--upstream", &authority, "--parse"]);
        for version in ["2025-03-26", LEGACY, MODERN] {
            for (name, server) in [("direct", &upstream), ("forwarder", &plain), ("parsing", &parsing)] {
                let mut plan = plan(http(server, Sessions::Own), version);
                plan.measured = Processes::tree(server.child.id());
                let report = load::run(plan).await.expect("runs");
                assert_clean(&report, &format!("{name}, {version}, sse {sse}"));
                assert!(report.rss_mib > 0.0);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_rates_and_lists() {
    let upstream = Server::start(UPSTREAM, &["--tools", "5"]);
    for sessions in [Sessions::Shared, Sessions::Ignored] {
        let mut plan = plan(http(&upstream, sessions), LEGACY);
        plan.rate = Some(200.0);
        let report = load::run(plan).await.expect("runs");
        assert_clean(&report, "open loop");
        assert!(report.completed < 100, "200 calls a second for 0.2 s were asked for: {report:?}");
    }
    let mut plan = plan(http(&upstream, Sessions::Own), MODERN);
    plan.call.method = "tools/list".to_owned();
    assert_clean(&load::run(plan).await.expect("runs"), "list");
}

#[tokio::test(flavor = "multi_thread")]
async fn stdio_in_both_eras() {
    for (version, era) in [(LEGACY, "legacy"), (MODERN, "modern")] {
        let command = [UPSTREAM, "--stdio", "--era", era].map(str::to_owned).to_vec();
        let report = load::run(plan(Via::Stdio { command }, version)).await.expect("runs");
        assert_clean(&report, version);
        assert!(report.rss_mib > 0.0, "the child is measured: {report:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_of_the_other_era_is_an_error_not_a_number() {
    let modern = Server::start(UPSTREAM, &["--era", "modern"]);
    let report = load::run(plan(http(&modern, Sessions::Own), LEGACY)).await.expect("runs");
    assert_eq!((report.completed, report.errors), (0, 3), "every caller fails its handshake");
    assert!(report.first_error.expect("a reason").contains("-32022"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_server_ends_the_run() {
    let mut upstream = Server::start(UPSTREAM, &[]);
    let via = http(&upstream, Sessions::Own);
    upstream.child.kill().expect("killed");
    upstream.child.wait().expect("reaped");
    let begun = Instant::now();
    let report = load::run(plan(via, LEGACY)).await.expect("runs");
    assert_eq!((report.completed, report.errors), (0, 3));
    assert!(begun.elapsed() < Duration::from_secs(10));

    let command = vec![UPSTREAM.to_owned(), "--no-such-option".to_owned()];
    load::run(plan(Via::Stdio { command }, LEGACY)).await.expect_err("a server that ends in the handshake");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_server_is_a_deadline_error() {
    let slow = Server::start(UPSTREAM, &["--delay-ms", "300"]);
    let mut plan = plan(http(&slow, Sessions::Own), MODERN);
    plan.call_limit = Duration::from_millis(20);
    let report = load::run(plan).await.expect("runs");
    assert_eq!(report.completed, 0);
    assert!(report.first_error.expect("a reason").contains("longer than"));
}

#[test]
fn servers_end_with_their_stdin() {
    for (program, arguments) in [(UPSTREAM, &[] as &[&str]), (PROXY, &["--upstream", "127.0.0.1:1"])] {
        let mut server = Server::start(program, arguments);
        drop(server.child.stdin.take());
        assert!(server.child.wait().expect("ends").success());
    }
}
