//! What views refuse, and what they tell.

use serde_json::json;
use switchboard_protocol::mcp::*;
use switchboard_protocol::{Era, Revision};
use switchboard_wire::{Id, Limits, Raw};

fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).expect("valid JSON")
}

#[test]
fn wrong_shapes_are_refused() {
    assert!(raw(r#"{"arguments":{}}"#).view::<CallToolParams>().is_err(), "no name");
    assert!(raw(r#"{"name":7}"#).view::<CallToolParams>().is_err());
    assert!(raw(r#"{"name":"a","name":"b"}"#).view::<CallToolParams>().is_err(), "the same key twice");
    assert!(raw(r#"{"type":"text"}"#).view::<ContentBlock>().is_err(), "text without text");
    assert!(raw(r#"{"text":"x"}"#).view::<ContentBlock>().is_err(), "content without type");
    assert!(raw(r#"{"level":"loud","data":1}"#).view::<LogMessage>().is_err());
    assert!(raw(r#"{"action":"maybe"}"#).view::<ElicitResult>().is_err());
    assert!(raw("[]").view::<PaginatedParams>().is_err());
}

#[test]
fn built_messages() {
    let tool = Tool::new("add", raw(r#"{"type":"object"}"#))
        .title("Add")
        .annotations(ToolAnnotations::new().read_only_hint(true));
    assert_eq!(
        serde_json::to_value(&tool).expect("serializable"),
        json!({"name": "add", "inputSchema": {"type": "object"}, "title": "Add", "annotations": {"readOnlyHint": true}})
    );
    assert_eq!(
        serde_json::to_value(CallToolResult::failure("no")).expect("serializable"),
        json!({"content": [{"type": "text", "text": "no"}], "isError": true})
    );
    assert_eq!(
        serde_json::to_value(ProgressParams::at(Raw::number(1), 0.5).of(2.0)).expect("serializable"),
        json!({"progressToken": 1, "progress": 0.5, "total": 2})
    );
    assert_eq!(
        serde_json::to_value(ElicitParams::page("m", "https://example.com")).expect("serializable"),
        json!({"message": "m", "mode": "url", "url": "https://example.com"})
    );
}

#[test]
fn elicitation_ways() {
    for (capabilities, forms, urls) in [
        ("{}", false, false),
        (r#"{"elicitation":{}}"#, true, false),
        (r#"{"elicitation":{"form":{}}}"#, true, false),
        (r#"{"elicitation":{"url":{}}}"#, false, true),
        (r#"{"elicitation":{"form":{},"url":{}}}"#, true, true),
    ] {
        let view: ClientCapabilities = raw(capabilities).view().expect("capabilities");
        assert_eq!((view.elicits_forms(), view.elicits_urls()), (forms, urls), "{capabilities}");
    }
}

#[test]
fn kinds_of_results() {
    for (result, kind) in [
        ("{}", ResultKind::Complete),
        (r#"{"resultType":"complete"}"#, ResultKind::Complete),
        (r#"{"resultType":"input_required"}"#, ResultKind::InputRequired),
        (r#"{"resultType":"task"}"#, ResultKind::Task),
        (r#"{"resultType":"later"}"#, ResultKind::Other("later".to_owned())),
    ] {
        assert_eq!(ResultKind::of(&raw(result)), kind, "{result}");
    }
}

#[test]
fn cancelled_ids_come_back_exactly() {
    for id in ["\"a\\u0062\"", "9007199254740993", "-1"] {
        let params: CancelledParams = raw(&format!(r#"{{"requestId":{id}}}"#)).view().expect("params");
        assert_eq!(params.id().as_ref().map(Id::as_str), Some(id));
    }
    assert_eq!(raw(r#"{"requestId":1.5}"#).view::<CancelledParams>().expect("params").id(), None);
}

#[test]
fn tasks_change_form_without_loss_of_their_life() {
    let old = r#"{"taskId":"t","status":"working","createdAt":"a","lastUpdatedAt":"b","ttl":5,"pollInterval":6,"x":1}"#;
    let task = Task::from(raw(old).view::<LegacyTask>().expect("a task")).created();
    assert_eq!(
        serde_json::to_value(&task).expect("serializable"),
        json!({"resultType": "task", "taskId": "t", "status": "working", "createdAt": "a", "lastUpdatedAt": "b",
            "ttlMs": 5, "pollIntervalMs": 6, "x": 1})
    );
    let back = serde_json::to_value(LegacyTask::from(task)).expect("serializable");
    assert_eq!(back, raw(old).view::<serde_json::Value>().expect("a value"));
}

#[test]
fn levels_are_ordered_and_named() {
    assert!(LoggingLevel::ALL.is_sorted());
    for level in LoggingLevel::ALL {
        assert_eq!(LoggingLevel::parse(level.as_str()), Some(level));
        assert_eq!(serde_json::to_value(level).expect("serializable"), json!(level.as_str()));
    }
    assert_eq!(LoggingLevel::parse("Debug"), None);
}

#[test]
fn filters() {
    assert!(SubscriptionFilter::new().is_empty());
    assert!(SubscriptionFilter::new().tools_list_changed(false).resource_subscriptions(vec![]).is_empty());
    assert!(!SubscriptionFilter::new().task_ids(vec!["t".to_owned()]).is_empty());
}

#[test]
fn revisions() {
    for revision in Revision::ALL {
        assert_eq!(Revision::parse(revision.as_str()), Some(revision));
        assert_eq!(revision.has_batches(), revision.as_str() == "2025-03-26");
        let negotiated = Revision::negotiate_legacy(revision.as_str());
        assert_eq!(negotiated == revision, revision.era() == Era::Legacy);
    }
    assert!(Revision::ALL.is_sorted());
    assert_eq!(Revision::negotiate_legacy("1999-01-01"), Revision::LATEST_LEGACY);
}
