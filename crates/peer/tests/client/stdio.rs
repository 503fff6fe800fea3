//! Servers that are processes, each a few lines of shell.
#![cfg(unix)]

use std::time::Duration;

use serde_json::json;
use switchboard_peer::CallError;
use switchboard_peer::client::{ConnectError, EraChoice, Target, connect};
use switchboard_protocol::{Era, Revision};
use switchboard_transport::child::CommandSpec;

use crate::script::{Keeper, ask, options, silent};

/// Functions for the scripts: the id of the request in `$line`, and answers to it.
const PRELUDE: &str = r#"
id() { printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/'; }
ok() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$(id)" "$1"; }
no() { printf '{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"no"}}\n' "$(id)" "$1"; }
hello='{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh"}}'
"#;

fn script(body: &str) -> Target {
    let script = format!("{PRELUDE}\n{body}");
    Target::Command(CommandSpec {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script],
        ..CommandSpec::default()
    })
}

#[tokio::test]
async fn a_legacy_server_is_initialized_in_the_process_that_was_probed() {
    // Python 1.x answers -32602 to what it does not know.
    for code in [-32601, -32602, -32000] {
        let connected = connect(
            script(&format!(
                r#"while read -r line; do case "$line" in
                *'"server/discover"'*) no {code};;
                *'"initialize"'*) ok "$hello";;
                *'"tools/call"'*) ok "{{\"pid\":$$}}";;
                esac; done"#
            )),
            options(),
            silent(),
        )
        .await
        .unwrap();
        assert_eq!(connected.era(), Era::Legacy);
        assert!(ask(&connected.remote, &json!({})).await.unwrap()["pid"].is_u64());
        connected.stop().await;
        assert!(connected.closed.is_cancelled());
    }
}

#[tokio::test]
async fn a_modern_server_is_never_initialized() {
    let connected = connect(
        script(
            r#"while read -r line; do case "$line" in
            *'"server/discover"'*) ok '{"supportedVersions":["2026-07-28"],"capabilities":{}}';;
            *'"initialize"'*) echo 'initialized!' >&2; exit 1;;
            *protocolVersion*clientInfo*clientCapabilities*) ok '{"stamped":true}';;
            *) no -32602;;
            esac; done"#,
        ),
        options(),
        silent(),
    )
    .await
    .unwrap();
    assert_eq!(connected.revision, Revision::V2026_07_28);
    assert_eq!(ask(&connected.remote, &json!({"name": "x"})).await.unwrap(), json!({"stamped": true}));
    assert_eq!(connected.stderr_tail().as_deref(), Some(""));
}

#[tokio::test]
async fn a_server_that_dies_of_the_probe_is_started_again() {
    let connected = connect(
        script(
            r#"while read -r line; do case "$line" in
            *'"server/discover"'*) echo 'unknown message' >&2; exit 7;;
            *'"initialize"'*) ok "$hello";;
            esac; done"#,
        ),
        options(),
        silent(),
    )
    .await
    .unwrap();
    assert_eq!(connected.era(), Era::Legacy);
}

#[tokio::test]
async fn a_server_that_is_silent_on_the_probe_counts_as_legacy() {
    let mut quick = options();
    quick.probe_timeout = Duration::from_millis(100);
    let connected = connect(
        script(r#"while read -r line; do case "$line" in *'"initialize"'*) ok "$hello";; esac; done"#),
        quick,
        silent(),
    )
    .await
    .unwrap();
    assert_eq!(connected.era(), Era::Legacy);
}

/// It reads the probe and `initialize` at once, answers the one and refuses the other: it is modern, and only slow.
#[tokio::test]
async fn a_modern_server_that_is_slow_to_start_is_not_lost() {
    let modern = r#"ok '{"supportedVersions":["2026-07-28"],"capabilities":{}}'"#;
    let in_order = format!(
        r#"sleep 0.4; while read -r line; do case "$line" in
        *'"server/discover"'*) {modern};;
        *'"initialize"'*) no -32022;;
        esac; done"#
    );
    // It may also answer the second before the first.
    let in_disorder = format!(
        r#"read -r first; sleep 0.4; read -r line; no -32022; line="$first"; {modern}; while read -r line; do :; done"#
    );
    for behaviour in [in_order, in_disorder] {
        let mut quick = options();
        quick.probe_timeout = Duration::from_millis(100);
        let connected = connect(script(&behaviour), quick, silent()).await.unwrap();
        assert_eq!(connected.era(), Era::Modern, "{behaviour}");
    }
}

#[tokio::test]
async fn a_remembered_era_that_is_out_of_date_is_found_out() {
    let mut known = options();
    known.known_era = Some(Era::Legacy);
    let connected = connect(
        script(
            r#"while read -r line; do case "$line" in
            *'"server/discover"'*) ok '{"supportedVersions":["2026-07-28"],"capabilities":{}}';;
            *) no -32602;;
            esac; done"#,
        ),
        known,
        silent(),
    )
    .await
    .unwrap();
    assert_eq!(connected.era(), Era::Modern);
}

#[tokio::test]
async fn logs_on_stdout_wrong_ids_and_second_answers_do_no_harm() {
    let (keeper, mut kept) = Keeper::new();
    let connected = connect(
        script(
            r#"echo 'Server starting...'
            while read -r line; do case "$line" in
            *'"initialize"'*) echo '{"log":"not json-rpc"}'; ok "$hello"; ok "$hello"
                echo '{"jsonrpc":"2.0","method":"notifications/hello"}';;
            *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":4711,"result":{}}'; echo oops; ok '{"n":1}';;
            *'"server/discover"'*) no -32601;;
            esac; done"#,
        ),
        options(),
        keeper,
    )
    .await
    .unwrap();
    assert_eq!(ask(&connected.remote, &json!({})).await.unwrap(), json!({"n": 1}));
    assert_eq!(kept.recv().await.unwrap().0, "notifications/hello");
    assert_eq!(connected.disorder().stray_answers, 2);
}

#[tokio::test]
async fn a_server_that_dies_in_the_handshake_leaves_its_last_words() {
    let error = connect(script("echo 'cannot open database' >&2; exit 9"), options(), silent()).await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ConnectError::Died { .. }), "{text}");
    assert!(text.contains("cannot open database") && text.contains('9'), "{text}");
}

#[tokio::test]
async fn a_missing_command_is_named() {
    let spec = CommandSpec { program: "no-such-server".into(), ..CommandSpec::default() };
    let error = connect(Target::Command(spec), options(), silent()).await.unwrap_err();
    assert!(error.to_string().contains("`no-such-server`"), "{error}");
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_with_its_last_words() {
    let mut hasty = options();
    hasty.era = EraChoice::Modern;
    hasty.start_timeout = Duration::from_millis(200);
    let error = connect(script("echo 'waiting for godot' >&2; while read -r line; do :; done"), hasty, silent())
        .await
        .unwrap_err();
    assert!(matches!(error, ConnectError::Timeout { .. }), "{error}");
    assert!(error.to_string().contains("godot"), "{error}");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_who_stops_a_server_returns_before_it_has_ended() {
    let connected = connect(
        script(
            r#"while read -r line; do case "$line" in
            *'"initialize"'*) ok "$hello";;
            *'"tools/call"'*) ok "{\"pid\":$$}";;
            *'"server/discover"'*) no -32601;;
            esac; done; sleep 0.1"#,
        ),
        options(),
        silent(),
    )
    .await
    .unwrap();
    let pid = ask(&connected.remote, &json!({})).await.unwrap()["pid"].as_u64().unwrap();
    let process = std::path::PathBuf::from(format!("/proc/{pid}"));
    assert!(process.exists());
    let connected = std::sync::Arc::new(connected);
    let mut stops = Vec::new();
    for _ in 0..3 {
        let (connected, process) = (connected.clone(), process.clone());
        stops.push(tokio::spawn(async move {
            connected.stop().await;
            process.exists()
        }));
    }
    for stop in stops {
        assert!(!stop.await.unwrap(), "the process is still there");
    }
}

#[tokio::test]
async fn open_calls_fail_when_the_server_dies() {
    let connected = connect(
        script(
            r#"while read -r line; do case "$line" in
            *'"initialize"'*) ok "$hello";;
            *'"tools/call"'*) exit 1;;
            *'"server/discover"'*) no -32601;;
            esac; done"#,
        ),
        options(),
        silent(),
    )
    .await
    .unwrap();
    assert!(matches!(ask(&connected.remote, &json!({})).await, Err(CallError::Closed)));
    connected.closed.cancelled().await;
}
