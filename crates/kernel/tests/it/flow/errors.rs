//! The same refused call, seen by five kinds of client.

use serde_json::{Value, json};
use switchboard_kernel::ServerPolicy;
use switchboard_protocol::Era;
use switchboard_protocol::Revision;
use switchboard_protocol::fault::{Fault, FaultKind, Rendering};
use switchboard_wire::ErrorObject;

use super::world::says;
use crate::gate::world::{House, Script, open_house, rejection, tool, tool_with};

/// Plain MCP of both eras, MGP, proposal 11, and a modern client that speaks both.
fn clients() -> [(&'static str, Era, Value); 5] {
    let mut both = says(Era::Modern, &["error_handling"]);
    both["extensions"]["structured_errors"] = json!({});
    [
        ("plain", Era::Legacy, json!({})),
        ("modern", Era::Modern, json!({})),
        ("mgp", Era::Legacy, says(Era::Legacy, &["error_handling"])),
        ("structured", Era::Legacy, json!({"extensions": ["structured_errors"]})),
        ("both", Era::Modern, both),
    ]
}

/// What a client was answered, as far as it matters: code, kind, recovery fields, structured error.
fn encoding(answer: &Result<Value, ErrorObject>) -> Value {
    match answer {
        Err(error) => {
            let data: Value = error.data.as_ref().map_or(Value::Null, |data| data.view().expect("JSON"));
            json!({"code": error.code, "kind": data["kind"], "retryable": data["retryable"],
                "category": data["_mgp"]["category"], "after": data["_mgp"]["retry_after_ms"],
                "strategy": data["_mgp"]["retry_strategy"], "most": data["_mgp"]["max_retries"]})
        }
        Ok(result) => {
            assert_eq!(result["isError"], true, "{result}");
            let error = &result["error"];
            json!({"result": error["code"], "category": error["category"], "after": error["retry_after_seconds"],
                "actionable": error["user_actionable"], "suggests": error["suggestion"].is_string(),
                "mgp": result["_mgp"]["code"], "mgp_category": result["_mgp"]["category"]})
        }
    }
}

#[tokio::test]
async fn a_server_that_lacks_a_permission() {
    let server = Script::new(Era::Legacy, vec![tool("plain")]);
    let needs = || ServerPolicy { permissions_required: vec!["shell.execute".to_owned()], ..ServerPolicy::default() };
    let house = House::with(&[("s", server)], needs, open_house).await;
    let backoff = "exponential_backoff";
    let expected = [
        json!({"code": -32005, "kind": "permission_pending", "retryable": true, "category": null, "after": null, "strategy": null, "most": null}),
        json!({"code": 1000, "kind": "permission_pending", "retryable": true, "category": null, "after": null, "strategy": null, "most": null}),
        json!({"code": 1000, "kind": "permission_pending", "retryable": null, "category": "security", "after": 5000, "strategy": backoff, "most": 5}),
        json!({"result": "PERMISSION_PENDING", "category": "auth_required", "after": 5, "actionable": true, "suggests": true, "mgp": null, "mgp_category": null}),
        json!({"result": "PERMISSION_PENDING", "category": "auth_required", "after": 5, "actionable": true, "suggests": true, "mgp": 1000, "mgp_category": "security"}),
    ];
    for ((name, era, capabilities), expected) in clients().into_iter().zip(expected) {
        let client = house.client_with(era, "ann", capabilities).await;
        assert_eq!(encoding(&client.call("plain", json!({})).await), expected, "{name}");
    }
}

#[tokio::test]
async fn a_tool_that_is_not_there() {
    let house =
        House::with(&[("s", Script::new(Era::Legacy, vec![tool("plain")]))], ServerPolicy::default, open_house).await;
    let codes = [json!(-32602), json!(-32602), json!(4001), json!("RESOURCE_NOT_FOUND"), json!("RESOURCE_NOT_FOUND")];
    for ((name, era, capabilities), expected) in clients().into_iter().zip(codes) {
        let client = house.client_with(era, "ann", capabilities).await;
        let seen = encoding(&client.call("missing", json!({})).await);
        let code = if seen["code"].is_null() { &seen["result"] } else { &seen["code"] };
        assert_eq!(*code, expected, "{name}");
        if name == "both" {
            assert_eq!((&seen["mgp"], &seen["category"]), (&json!(4001), &json!("invalid_input")));
        }
    }
}

#[tokio::test]
async fn arguments_that_are_refused() {
    let shell = tool_with("run", &json!({"security": {"risk_level": "moderate", "validator": "sandbox"}}));
    let house = House::with(&[("s", Script::new(Era::Legacy, vec![shell]))], ServerPolicy::default, open_house).await;
    for (name, era, capabilities) in clients() {
        let client = house.client_with(era, name, capabilities).await;
        let answer = client.call("run", json!({"command": "rm -rf / --no-preserve-root"})).await;
        let envelope = rejection(&answer);
        assert_eq!(
            (&envelope["status"], &envelope["details"]["kind"]),
            (&json!("rejected"), &json!("validation_blocked"))
        );
        let error = &answer.as_ref().expect("a result")["error"];
        let speaks = matches!(name, "structured" | "both");
        let seen = (error["code"].clone(), error["category"].clone());
        let expected =
            if speaks { (json!("VALIDATION_BLOCKED"), json!("permanent")) } else { (Value::Null, Value::Null) };
        assert_eq!(seen, expected, "{name}");
    }
}

#[tokio::test]
async fn a_refusal_that_is_repeated_says_stop() {
    let shell = tool_with("run", &json!({"security": {"risk_level": "moderate", "validator": "sandbox"}}));
    let house = House::with(&[("s", Script::new(Era::Legacy, vec![shell]))], ServerPolicy::default, open_house).await;
    for era in [Era::Legacy, Era::Modern] {
        let name = format!("{era:?}");
        let client = house.client_with(era, &name, json!({})).await;
        let bad = json!({"command": "rm -rf / --no-preserve-root"});
        let first = rejection(&client.call("run", bad.clone()).await);
        assert_eq!((&first["retryable"], &first["details"]["repeated"]), (&json!(true), &Value::Null));
        let second = rejection(&client.call("run", bad).await);
        assert_eq!((&second["retryable"], &second["details"]["repeated"]), (&json!(false), &json!(2)));
        assert_eq!((&second["code"], &second["reason"]), (&first["code"], &first["reason"]));
        assert!(second["remediation_hint"].as_str().expect("a hint").contains("Do not make it again"));
        let other = rejection(&client.call("run", json!({"command": "rm -rf /etc"})).await);
        assert_eq!(other["retryable"], true, "another call is another matter");
    }
    assert!(!house.await_events("TOOL_REJECTED", 2).await.is_empty());
}

#[test]
fn one_fault_in_five_vocabularies() {
    let fault = Fault::new(FaultKind::RateLimited, "10 calls a minute are allowed").retry_after(5_000);
    let plain = |method| Rendering::new(Revision::V2025_06_18, method);
    for (rendering, code) in [
        (plain("tools/call"), -32000),
        (Rendering::new(Revision::LATEST, "tools/call"), 3000),
        (plain("tools/call").with_mgp(true), 3000),
        (plain("mgp/access/query"), 3000),
        (plain("push/event"), -32000),
    ] {
        let error = fault.render(&rendering);
        assert_eq!(error.code, code, "{rendering:?}");
        let data: Value = error.data.expect("data").view().expect("JSON");
        assert_eq!(data["kind"], "rate_limited", "one kind whatever the dialect");
    }
    let structured: Value = fault.structured().view().expect("JSON");
    assert_eq!(
        (&structured["code"], &structured["category"], &structured["retry_after_seconds"]),
        (&json!("RATE_LIMIT_EXCEEDED"), &json!("rate_limited"), &json!(5))
    );
}
