//! The example of MGP 6.3.

use super::*;
use switchboard_wire::Limits;

const SEED: &str = r#"{"timestamp":"2026-02-27T12:00:00.000Z","trace_id":"550e8400-e29b-41d4-a716-446655440000",
    "event_type":"TOOL_EXECUTED","actor":{"type":"agent","id":"agent.cloto_default"},
    "target":{"server_id":"tool.terminal","tool_name":"execute_command"},"result":"SUCCESS",
    "details":{"risk_level":"dangerous","validator_applied":"sandbox","duration_ms":1200}}"#;

fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).expect("valid JSON")
}

#[test]
fn the_event_of_the_specification() {
    let written = AuditParams::new(
        "2026-02-27T12:00:00.000Z",
        event::TOOL_EXECUTED,
        AuditActor::new("agent", "agent.cloto_default"),
        AuditTarget::new().server_id("tool.terminal").tool_name("execute_command"),
        AuditResult::Success.as_str(),
    )
    .trace_id("550e8400-e29b-41d4-a716-446655440000")
    .details(raw(r#"{"risk_level":"dangerous","validator_applied":"sandbox","duration_ms":1200}"#));
    assert_eq!(raw(SEED).view::<AuditParams>().expect("an event"), written);
    let text = Raw::from_value(&written).expect("JSON");
    let value = |raw: &Raw| raw.view::<serde_json::Value>().expect("a value");
    assert_eq!(value(&text), value(&raw(SEED)));

    let numbered = written.numbered(42);
    assert_eq!(numbered.seq(), Some(42));
    assert_eq!(Raw::from_value(&numbered).expect("JSON").at(&["_mgp", "seq"]), Some(Raw::number(42)));
}

#[test]
fn events_of_other_peers() {
    let custom = r#"{"timestamp":"t","event_type":"com.example.custom_event","actor":{"type":"system","id":"kernel"},"target":{"instance":"b"},"result":"PARTLY","x":1}"#;
    let read: AuditParams = raw(custom).view().expect("an event");
    assert_eq!(Raw::from_value(&read).expect("JSON").as_str(), custom, "what is not known is kept");
    assert_eq!((read.seq(), AuditResult::from_word(&read.result)), (None, None));
    for text in ["{}", r#"{"timestamp":"t","event_type":"x","actor":"me","target":{},"result":"SUCCESS"}"#] {
        assert!(raw(text).view::<AuditParams>().is_err(), "{text}");
    }
    let names: std::collections::HashSet<&str> = event::ALL.into_iter().collect();
    assert_eq!(names.len(), event::ALL.len());
}
