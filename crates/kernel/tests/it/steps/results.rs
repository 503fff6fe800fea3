//! What is done about results: marks, and a bound on their size.

use serde_json::json;
use switchboard_kernel::{GateOptions, ServerPolicy};
use switchboard_protocol::Era;
use switchboard_protocol::mgp::TrustLevel;

use super::world::{Tools, call, gate, policy, text, world};
use crate::world::client;

const TOOL: &str = r#"{"name":"get","risk_level":"safe","inputSchema":{"type":"object"}}"#;
const HIDDEN: &str = r#"{"content":[{"type":"text","text":"look\u202ehere","x":1.10}],"extra":1e400}"#;

#[tokio::test]
async fn a_result_that_hides_something_is_marked_and_otherwise_untouched() {
    for era in [Era::Legacy, Era::Modern] {
        let world = world(Tools::new(&[TOOL]), policy(), gate()).await;
        HIDDEN.clone_into(&mut world.tools.answer.lock());
        let client = client(&world.url, era).await;
        let result = call(&client, "get", "").await;
        let marks = result.at(&["_meta", "dev.switchboard/marks"]).unwrap().elements().unwrap();
        assert_eq!(marks[0].member("at").unwrap().as_str(), r#""/content/0/text""#);
        assert_eq!(marks[0].member("rule").unwrap().as_str(), r#""hidden-text""#);
        assert_eq!(result.member("content").unwrap().as_str(), r#"[{"type":"text","text":"look\u202ehere","x":1.10}]"#);
        assert_eq!(result.member("extra").unwrap().as_str(), "1e400");
        let record = world.record().await;
        let executed = record.iter().find(|event| event["event_type"] == "TOOL_EXECUTED").unwrap();
        assert_eq!(executed["details"]["result_marks"], json!(["hidden-text"]));
    }
}

#[tokio::test]
async fn nothing_is_marked_for_the_core_or_where_it_is_switched_off() {
    let core = ServerPolicy { trust: TrustLevel::Core, ..policy() };
    for (policy, gate) in [(core, gate()), (policy(), GateOptions { screen_results: false, ..gate() })] {
        let world = world(Tools::new(&[TOOL]), policy, gate).await;
        HIDDEN.clone_into(&mut world.tools.answer.lock());
        let client = client(&world.url, Era::Legacy).await;
        assert_eq!(call(&client, "get", "").await.as_str(), HIDDEN);
    }
}

#[tokio::test]
async fn a_result_that_is_too_large_is_a_clear_fault() {
    let world = world(Tools::new(&[TOOL]), policy(), GateOptions { result_bytes: 2_000, ..gate() }).await;
    let client = client(&world.url, Era::Legacy).await;
    assert_eq!(text(&call(&client, "get", "").await), "done");
    *world.tools.answer.lock() = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(2_000));
    let fault = client.ask("tools/call", r#"{"name":"get"}"#).await.unwrap_err();
    assert!(fault.message.contains("2000"), "{fault:?}");
    let record = world.record().await;
    assert!(record.iter().any(|event| event["details"]["error"] == "upstream_invalid" && event["result"] == "FAILURE"));
}
