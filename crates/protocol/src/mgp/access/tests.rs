//! The examples of MGP 5.4, and the shapes of the kernel tools.

use super::*;
use switchboard_wire::Limits;

fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).expect("valid JSON")
}

#[test]
fn the_query_of_the_specification() {
    let text = r#"{"agent_id":"agent.cloto_default","server_id":"mind.cerebras","tool_name":"think"}"#;
    let read: AccessQueryParams = raw(text).view().expect("params");
    assert_eq!(read, AccessQueryParams::new("agent.cloto_default", "mind.cerebras").tool_name("think"));
    assert_eq!(Raw::from_value(&read).expect("JSON").as_str(), text);

    let answer = r#"{"permission":"allow","source":"server_grant","granted_by":"admin","granted_at":"2026-02-27T12:00:00Z","expires_at":null}"#;
    let written = AccessQueryResult::new(
        Permission::Allow,
        Source::ServerGrant,
        "admin".to_owned(),
        "2026-02-27T12:00:00Z".to_owned(),
        None,
    );
    assert_eq!(Raw::from_value(&written).expect("JSON").as_str(), answer);
    assert_eq!(raw(answer).view::<AccessQueryResult>().expect("a result"), written);
}

#[test]
fn the_grant_of_the_specification() {
    let read: AccessGrantParams = raw(r#"{"entry_type":"server_grant","agent_id":"agent.cloto_default",
        "server_id":"mind.cerebras","tool_name":null,"permission":"allow","granted_by":"admin",
        "justification":"Required for agent reasoning","expires_at":null}"#)
    .view()
    .expect("params");
    let expected =
        AccessGrantParams::new(EntryType::ServerGrant, "agent.cloto_default", "mind.cerebras", Permission::Allow)
            .granted_by("admin")
            .justification("Required for agent reasoning");
    assert_eq!(read, expected);
    assert_eq!(read.tool().expect("no contradiction"), None);
    let answer = Raw::from_value(&read.granted(Raw::number(7))).expect("JSON");
    assert_eq!(
        answer.as_str(),
        r#"{"status":"granted","id":7,"agent_id":"agent.cloto_default","server_id":"mind.cerebras","entry_type":"server_grant","permission":"allow"}"#
    );
}

#[test]
fn the_revocation_of_the_specification() {
    let text = r#"{"agent_id":"agent.cloto_default","server_id":"mind.cerebras","entry_type":"server_grant"}"#;
    let read: AccessRevokeParams = raw(text).view().expect("params");
    assert_eq!(Raw::from_value(&read).expect("JSON").as_str(), text);
    let answer = Raw::from_value(&read.revoked(1)).expect("JSON");
    assert_eq!(
        answer.as_str(),
        r#"{"status":"revoked","deleted_count":1,"agent_id":"agent.cloto_default","server_id":"mind.cerebras","entry_type":"server_grant"}"#
    );
}

#[test]
fn answers_of_the_kernel_tools() {
    for text in [
        r#"{"agent_id":"a","server_id":"s","entries":[{"entry_type":"tool_grant","server_id":"s","tool_name":"t","permission":"deny","granted_by":"o","granted_at":"2026-02-27T12:00:00Z"}]}"#,
        r#"{"agent_id":"a","server_id":"s","entries":[{"entry_type":"server_grant","server_id":"s","tool_name":null,"permission":"allow","granted_by":null,"granted_at":null}]}"#,
    ] {
        let read: AccessEntries = raw(text).view().expect("entries");
        assert_eq!(Raw::from_value(&read).expect("JSON").as_str(), text);
    }
    let one = AccessToolPermission::new("a", "s", "t", Permission::Deny);
    assert_eq!(
        Raw::from_value(&one).expect("JSON").as_str(),
        r#"{"agent_id":"a","server_id":"s","tool_name":"t","permission":"deny"}"#
    );
}

#[test]
fn an_entry_and_its_tool() {
    for (entry_type, tool, expected) in [
        ("server_grant", "null", Ok(None)),
        ("server_grant", r#""""#, Ok(None)),
        ("server_grant", r#""t""#, Err(FaultKind::InvalidParams)),
        ("tool_grant", r#""t""#, Ok(Some("t"))),
        ("tool_grant", "null", Err(FaultKind::InvalidParams)),
        ("tool_grant", r#""""#, Err(FaultKind::InvalidParams)),
    ] {
        let grant = format!(
            r#"{{"entry_type":"{entry_type}","agent_id":"a","server_id":"s","tool_name":{tool},"permission":"allow"}}"#
        );
        let grant: AccessGrantParams = raw(&grant).view().expect("params");
        let revoke = format!(r#"{{"entry_type":"{entry_type}","agent_id":"a","server_id":"s","tool_name":{tool}}}"#);
        let revoke: AccessRevokeParams = raw(&revoke).view().expect("params");
        assert_eq!(grant.tool().map_err(|fault| fault.kind()), expected, "{entry_type} with {tool}");
        assert_eq!(revoke.tool().map_err(|fault| fault.kind()), expected, "{entry_type} with {tool}");
    }
}

#[test]
fn words_that_nobody_knows_are_refused() {
    for text in [
        r#"{"entry_type":"all","agent_id":"a","server_id":"s","permission":"allow"}"#,
        r#"{"entry_type":"server_grant","agent_id":"a","server_id":"s","permission":"Allow"}"#,
        r#"{"entry_type":"server_grant","agent_id":"a","server_id":"s"}"#,
        r#"{"entry_type":"server_grant","agent_id":7,"server_id":"s","permission":"allow"}"#,
        r#"{"entry_type":"server_grant","agent_id":"a","agent_id":"b","server_id":"s","permission":"allow"}"#,
    ] {
        assert!(raw(text).view::<AccessGrantParams>().is_err(), "{text}");
    }
}
