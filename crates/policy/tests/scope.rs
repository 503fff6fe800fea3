//! Labels that an action carries, and scopes that a caller holds.

use serde_json::{Value, json};
use switchboard_policy::scope::{LabelVerdict, Labels, missing_scopes};
use switchboard_wire::{Limits, Raw};

fn judge(labels: &Labels, label: &str, payload: Option<&Value>) -> &'static str {
    let payload = payload.map(|value| Raw::parse(value.to_string(), &Limits::default()).expect("valid JSON"));
    let links = |path: &str| (path == "/project/link").then(|| "/etc".to_owned());
    match labels.judge(label, payload.as_ref(), &links) {
        LabelVerdict::Approved => "approved",
        LabelVerdict::Ask => "ask",
        LabelVerdict::Denied(finding) => finding.rule,
    }
}

#[test]
fn the_examples_of_the_specification() {
    let files = Labels::new(&["/project/**", "/tmp/**"], &["**/.env", "**/secrets/**"]);
    for (label, expected) in [
        ("/project/src/main.ts", "approved"),
        ("/tmp/x", "approved"),
        ("/etc/hosts", "ask"),
        ("/project/.env", "path-denied"),
        ("/project/.ENV", "path-denied"),
        ("/etc/secrets/key", "path-denied"),
        ("/project/../etc/hosts", "ask"),
        ("/project/%2e%2e/etc/hosts", "ask"),
        ("/project/link/hosts", "ask"),
        ("/project/*", "path-shape"),
    ] {
        assert_eq!(judge(&files, label, None), expected, "{label}");
    }
    let channels = Labels::new(&["#general", "#dev-*"], &["#admin-*"]);
    for (label, expected) in [
        ("#general", "approved"),
        ("#dev-rust", "approved"),
        ("#general2", "ask"),
        ("#random", "ask"),
        ("evil/#general", "ask"),
        ("#general/x", "ask"),
        ("#admin-core", "scope-denied"),
        ("#ADMIN-core", "scope-denied"),
        ("", "scope-label"),
        (" #general", "scope-label"),
        ("#gene\u{200b}ral", "scope-label"),
        ("x/../#general", "scope-label"),
    ] {
        assert_eq!(judge(&channels, label, None), expected, "{label}");
    }
    let both = Labels::new(&["#admin-*", "#dev-*"], &["#admin-*"]);
    assert_eq!(judge(&both, "#admin-x", None), "scope-denied", "the blacklist wins");
    assert_eq!(judge(&Labels::default(), "#general", None), "ask");
}

#[test]
fn the_payload_says_what_the_label_says() {
    let files = Labels::new(&["/project/**"], &[]);
    for (payload, expected) in [
        (json!({"path": "/project/a", "mode": "append"}), "approved"),
        (json!({"mode": "append"}), "approved"),
        (json!(null), "approved"),
        (json!({"path": "/etc/passwd"}), "scope-mismatch"),
        (json!({"path": ["/project/a"]}), "scope-mismatch"),
        (json!({"file": "/project/b"}), "scope-mismatch"),
        (json!("/etc/passwd"), "scope-payload"),
    ] {
        assert_eq!(judge(&files, "/project/a", Some(&payload)), expected, "{payload}");
    }
}

#[test]
fn missing() {
    assert_eq!(missing_scopes(&["repo", "read:org", "repo"], &["read:org"]), ["repo"]);
    assert!(missing_scopes(&["repo"], &["repo", "x"]).is_empty());
    assert!(missing_scopes::<&str, &str>(&[], &[]).is_empty());
    assert_eq!(missing_scopes(&["repo:write"], &["repo", "repo:*", "REPO:WRITE"]), ["repo:write"]);
}
