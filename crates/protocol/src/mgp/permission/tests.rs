//! The examples of MGP 3, and grants with bounds.

use super::*;
use switchboard_wire::Limits;

fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).expect("valid JSON")
}

#[test]
fn the_question_of_the_specification() {
    let text = r#"{"request_id":"perm-001","permissions":["shell.execute","filesystem.read"],"policy":"interactive","message":"Waiting for operator approval"}"#;
    let written = PermissionAwaitParams::new(
        "perm-001",
        vec!["shell.execute".to_owned(), "filesystem.read".to_owned()],
        ApprovalPolicy::Interactive,
    )
    .message("Waiting for operator approval");
    assert_eq!(Raw::from_value(&written).expect("JSON").as_str(), text);
    assert_eq!(raw(text).view::<PermissionAwaitParams>().expect("params"), written);
}

#[test]
fn the_decision_of_the_specification() {
    let text = r#"{"request_id":"perm-001","grants":{"shell.execute":"approved","filesystem.read":"approved"},"approved_by":"admin","expires_at":"2026-03-01T00:00:00Z"}"#;
    let grants = ["shell.execute", "filesystem.read"].map(|name| (name.to_owned(), Grant::from(Decision::Approved)));
    let written = PermissionGrantParams::new("perm-001", IndexMap::from(grants))
        .approved_by("admin")
        .expires_at("2026-03-01T00:00:00Z");
    assert_eq!(Raw::from_value(&written).expect("JSON").as_str(), text);
    assert_eq!(raw(text).view::<PermissionGrantParams>().expect("params"), written);
}

#[test]
fn grants_with_bounds() {
    for text in [
        r#""approved""#,
        r#""denied""#,
        r#""deferred""#,
        r#"{"decision":"approved","scope":{"paths":["/srv/**"],"deny_paths":["/srv/keys/*"]}}"#,
        r#"{"decision":"approved","scope":{"commands":["git"],"deny_commands":["git push"],"allow_sudo":false}}"#,
        r#"{"decision":"approved","scope":{"hosts":["*.example.com"],"deny_hosts":["x.example.com"],"ports":[443]}}"#,
        r#"{"decision":"approved","scope":{"languages":["python"],"max_execution_time_ms":5000}}"#,
    ] {
        let read: Grant = raw(text).view().expect("a grant");
        assert_eq!(Raw::from_value(&read).expect("JSON").as_str(), text);
        assert_eq!(read.approval().is_some(), read.decision == Decision::Approved, "{text}");
    }
    let bare: Grant = raw(r#"{"decision":"approved"}"#).view().expect("a grant");
    assert_eq!(bare, Grant::from(Decision::Approved));
    let unknown: Grant = raw(r#"{"decision":"approved","scope":{"only_on":"sunday"}}"#).view().expect("a grant");
    assert_eq!(unknown.approval(), None, "a bound that nobody knows is still one");
    for text in [
        r#""yes""#,
        "true",
        "null",
        "{}",
        r#"{"decision":"APPROVED"}"#,
        r#"{"decision":"approved","scope":7}"#,
        r#"{"decision":"approved","scopes":{"paths":["/srv"]}}"#,
    ] {
        assert!(raw(text).view::<Grant>().is_err(), "{text}");
    }
}

#[test]
fn names_by_version() {
    for (version, wait, decided) in [
        ("0.1.0", "mgp/permission/request", "mgp/permission/response"),
        ("0.3.0", "mgp/permission/request", "mgp/permission/response"),
        ("0.4.0", "mgp/permission/await", "mgp/permission/grant"),
        ("1.0.0", "mgp/permission/await", "mgp/permission/grant"),
        ("draft", "mgp/permission/await", "mgp/permission/grant"),
    ] {
        let names = PermissionNames::of_version(version);
        assert_eq!((names.wait(), names.decided()), (wait, decided), "{version}");
    }
    assert_eq!(method::tool_of("mgp/access/query").as_deref(), Some("mgp_access_query"));
    assert_eq!(method::tool_of("tools/call"), None);
}
