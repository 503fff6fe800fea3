//! Arguments against the schema of their tool.

use std::collections::HashMap;

use switchboard_kernel::{GateOptions, ServerPolicy};
use switchboard_protocol::Era;

use super::world::{Tools, call, gate, policy, text, world};
use crate::world::client;

const RUN: &str = r#"{"name":"edit","risk_level":"safe","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"count":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}}"#;

#[tokio::test]
async fn what_does_not_fit_is_refused_with_its_place_and_rule() {
    for era in [Era::Legacy, Era::Modern] {
        let world = world(Tools::new(&[RUN]), policy(), gate()).await;
        let client = client(&world.url, era).await;
        for (arguments, place, rule) in [
            (r#","arguments":{"path":5}"#, "/path", "type"),
            (r#","arguments":{"path":"a","count":0}"#, "/count", "minimum"),
            (r#","arguments":{}"#, "", "required"),
            ("", "", "required"),
        ] {
            let refused = call(&client, "edit", arguments).await;
            assert_eq!(refused.member("isError").unwrap().as_str(), "true");
            let envelope = refused.at(&["_meta", "dev.cloto/mgp"]).unwrap();
            let detail = |key: &str| envelope.at(&["details", key]).unwrap().as_text().unwrap();
            assert_eq!((detail("at").as_str(), detail("rule").as_str()), (place, rule), "{era:?} {arguments}");
            assert_eq!(detail("kind"), "invalid_arguments");
        }
        assert_eq!(world.tools.calls.lock().len(), 0, "nothing reached the server");
        assert_eq!(text(&call(&client, "edit", r#","arguments":{"path":"a","extra":1e400}"#).await), "done");
        let checked = client.ask("check_permissions", r#"{"tool":"edit","parameters":{}}"#).await.unwrap();
        assert_eq!(checked.member("allowed").unwrap().as_str(), "false");
        let record = world.record().await;
        let refused: Vec<_> = record.iter().filter(|event| event["event_type"] == "VALIDATION_FAILED").collect();
        assert_eq!(refused.len(), 4);
        assert_eq!(refused[0]["details"]["at"], "/path");
    }
}

#[tokio::test]
async fn the_operator_switches_it_off_for_all_or_for_one() {
    let wrong = r#","arguments":{"path":5}"#;
    let off = GateOptions { check_schemas: false, ..gate() };
    let one = |said| ServerPolicy { schemas: HashMap::from([("edit".to_owned(), said)]), ..policy() };
    for (policy, gate, passes) in
        [(policy(), off.clone(), true), (one(false), gate(), true), (one(true), off, false), (one(true), gate(), false)]
    {
        let world = world(Tools::new(&[RUN]), policy, gate).await;
        let client = client(&world.url, Era::Legacy).await;
        assert_eq!(text(&call(&client, "edit", wrong).await) == "done", passes);
    }
}

/// What a tool says of the size of its input holds, wherever it says it and whether schemas are checked or not.
#[tokio::test]
async fn arguments_longer_than_the_tool_takes_are_refused() {
    let plain = r#"{"name":"edit","risk_level":"safe","max_input_size_bytes":20,"inputSchema":{"type":"object"}}"#;
    let in_meta =
        r#"{"name":"edit","risk_level":"safe","_meta":{"max_input_size_bytes":20},"inputSchema":{"type":"object"}}"#;
    for tool in [plain, in_meta] {
        for check_schemas in [true, false] {
            let world = world(Tools::new(&[tool]), policy(), GateOptions { check_schemas, ..gate() }).await;
            let client = client(&world.url, Era::Legacy).await;
            let of_length = |letters| format!(r#","arguments":{{"path":"{}"}}"#, "x".repeat(letters));
            assert_eq!(text(&call(&client, "edit", &of_length(9)).await), "done", "20 bytes are not too many");
            let refused = call(&client, "edit", &of_length(10)).await;
            let rule = refused.at(&["_meta", "dev.cloto/mgp", "details", "rule"]).unwrap();
            assert_eq!(rule.as_text().unwrap(), "max_input_size_bytes");
            assert_eq!(world.tools.calls.lock().len(), 1, "nothing more reached the server");
        }
    }
}
