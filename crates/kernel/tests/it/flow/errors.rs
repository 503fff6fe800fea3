//! The same refused call, seen by five kinds of client.

use serde_json::{Value, json};
use switchboard_kernel::{GateOptions, ServerPolicy};
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
async fn a_slip_is_told_what_was_meant_among_what_may_be_used() {
    let servers = [
        ("git", Script::new(Era::Legacy, vec![tool("git_status")])),
        ("svn", Script::new(Era::Legacy, vec![tool("status")])),
    ];
    for is_open in [true, false] {
        let open = |gate: &mut GateOptions| {
            if is_open {
                open_house(gate)
            }
        };
        let house = House::with(&servers, ServerPolicy::default, open).await;
        for (era, capabilities) in [(Era::Legacy, json!({})), (Era::Modern, json!({}))] {
            let client = house.client_with(era, "ann", capabilities).await;
            let through = |name: &str| json!({"name": name, "arguments": {}});
            for (wanted, meant) in [
                ("git__git_statuss", Some("git__git_status")),
                ("git_status", Some("git__git_status")),
                ("cvs__status", Some("svn__status")),
                ("git__push", None),
            ] {
                let meant = meant.filter(|_| is_open);
                let hint = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
                let refused = client.request("tools/call", through(wanted)).await.unwrap_err();
                assert_eq!(refused.message, format!("Unknown tool: {wanted}{hint}"), "{era:?}");
            }
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

fn data_of(error: &ErrorObject) -> Value {
    error.data.as_ref().map_or(Value::Null, |data| data.view().expect("JSON"))
}

/// An error of a server that speaks plain MCP: its code and its data pass, and beside them stands where it came from and
/// what each dialect says of getting over it.
#[tokio::test]
async fn the_failure_of_a_plain_server() {
    let server = Script::new(Era::Legacy, vec![tool("down"), tool("bad"), tool("fail")]);
    server.errors.lock().insert("down".to_owned(), (-32000, json!({"db": "down"})));
    server.errors.lock().insert("bad".to_owned(), (-32602, Value::Null));
    let house = House::with(&[("s", server)], ServerPolicy::default, open_house).await;
    for (name, era, capabilities) in clients() {
        let client = house.client_with(era, "ann", capabilities).await;
        let structured = matches!(name, "structured" | "both");
        let down = client.call("down", json!({})).await;
        match &down {
            Err(error) if !structured => {
                let data = data_of(error);
                assert_eq!(error.code, -32000, "{name}");
                assert_eq!(data["db"], "down");
                assert_eq!(data["origin"], json!({"server_id": "s", "dialect": "mcp"}));
                let expected =
                    if name == "mgp" { json!({"category": "external", "retryable": false}) } else { Value::Null };
                assert_eq!(data["_mgp"], expected, "{name}");
            }
            Ok(result) if structured => {
                let error = &result["error"];
                assert_eq!((&result["isError"], &error["code"]), (&json!(true), &json!("UPSTREAM_ERROR")), "{name}");
                assert_eq!(
                    (&error["category"], &error["message"]),
                    (&json!("permanent"), &json!("the server's own words"))
                );
                assert_eq!(
                    (&error["details"]["code"], &error["details"]["data"]["db"]),
                    (&json!(-32000), &json!("down"))
                );
                assert_eq!(result["_mgp"]["code"], if name == "both" { json!(-32000) } else { Value::Null });
            }
            other => panic!("{name}: {other:?}"),
        }
        // What is wrong with the message stays an error of the protocol.
        let bad = client.call("bad", json!({})).await.expect_err("an error");
        assert_eq!(bad.code, -32602);
        let expected = if structured { json!("INVALID_INPUT") } else { Value::Null };
        assert_eq!(data_of(&bad)["structured"]["code"], expected, "{name}");
        let failed = client.call("fail", json!({})).await.expect("a result");
        let expected = if structured { json!("UPSTREAM_ERROR") } else { Value::Null };
        assert_eq!(failed["error"]["code"], expected, "{name}");
    }
}

/// Data that nothing can be added to is kept as it came, beside where the error is from.
#[tokio::test]
async fn data_of_an_error_that_is_no_object_is_kept_beside_its_origin() {
    let server = Script::new(Era::Legacy, vec![tool("odd")]);
    let house = House::with(&[("s", server.clone())], ServerPolicy::default, open_house).await;
    for sent in [json!("text"), json!(""), json!([1, "two"]), json!(7), json!(false), Value::Null] {
        server.errors.lock().insert("odd".to_owned(), (-32000, sent.clone()));
        for (name, era, capabilities) in clients() {
            let client = house.client_with(era, "ann", capabilities).await;
            let odd = client.call("odd", json!({})).await;
            let data = match &odd {
                Err(error) => data_of(error),
                Ok(result) => result["error"]["details"]["data"].clone(),
            };
            assert_eq!(odd.is_ok(), matches!(name, "structured" | "both"), "{name} {sent}");
            assert_eq!(data["server_data"], sent, "{name}");
            if odd.is_err() {
                assert_eq!(data["origin"]["server_id"], "s", "{name} {sent}");
                assert_eq!(data["_mgp"].is_object(), name == "mgp", "{name} {sent}");
            }
        }
    }
}

/// A server that agreed on MGP uses its numbers towards us. A plain client gets the code of its revision.
#[tokio::test]
async fn the_number_of_a_server_that_speaks_mgp() {
    let server = Script::new(Era::Legacy, vec![tool("busy"), tool("other")]);
    *server.capabilities.lock() = json!({"tools": {}, "mgp": {"version": "0.3.0", "extensions": ["error_handling"]}});
    let said = json!({"category": "resource", "retryable": false, "fallback_tool": "other"});
    server.errors.lock().insert("busy".to_owned(), (3000, json!({"_mgp": said})));
    let plain = Script::new(Era::Legacy, vec![tool("own")]);
    plain.errors.lock().insert("own".to_owned(), (3000, Value::Null));
    let house = House::with(&[("s", server), ("p", plain)], ServerPolicy::default, open_house).await;
    for (name, era, capabilities) in clients() {
        let client = house.client_with(era, "ann", capabilities).await;
        let answer = client.call("s__busy", json!({})).await;
        match name {
            "plain" => assert_eq!(answer.unwrap_err().code, -32000),
            "modern" => assert_eq!(answer.unwrap_err().code, 3000),
            "mgp" => {
                let error = answer.unwrap_err();
                assert_eq!(error.code, 3000);
                // By the name that the client can call it by.
                assert_eq!(data_of(&error)["_mgp"]["fallback_tool"], "s__other");
            }
            _ => {
                let error = &answer.expect("a result")["error"];
                let seen = (&error["code"], &error["category"]);
                assert_eq!(
                    seen,
                    (&json!("RATE_LIMIT_EXCEEDED"), &json!("permanent")),
                    "{name}: it says not to try again"
                );
            }
        }
        if era == Era::Legacy && name != "structured" {
            assert_eq!(client.call("p__own", json!({})).await.unwrap_err().code, 3000, "its numbers are its own");
        }
    }
    house.grant("ann", "s", Some("other"), false).await;
    let mgp = house.client_with(Era::Legacy, "ann", says(Era::Legacy, &["error_handling"])).await;
    let error = mgp.call("s__busy", json!({})).await.unwrap_err();
    assert_eq!(data_of(&error)["_mgp"].get("fallback_tool"), None, "what she may not call is not named");
}

/// What an MGP client reads of a failure: the number and the recovery fields, as an error or beside a rejection.
fn seen_by_mgp(answer: &Result<Value, ErrorObject>) -> (Value, Value) {
    match answer {
        Err(error) => (json!(error.code), data_of(error)["_mgp"].clone()),
        Ok(result) => {
            let envelope = rejection(answer);
            assert_eq!(envelope["_mgp"], result["_mgp"], "in the envelope as beside it");
            (result["_mgp"]["code"].clone(), result["_mgp"].clone())
        }
    }
}

/// Every code of MGP 14.3 that a client of the kernel can meet, raised for real. 1002 and 1003 of the bearer token are
/// raised at the HTTP door; 2000 to 2002, 3000 to 3003 and 5002 have tests with the lives and limits of servers.
#[tokio::test]
async fn every_code_reaches_an_mgp_client_with_its_recovery_fields() {
    let strict =
        json!({"security": {"validator": "code_safety", "code_safety": {"level": "strict", "language": "python"}}});
    let schema = json!({"inputSchema": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}});
    let tools = vec![
        tool("plain"),
        tool("off"),
        tool_with("run", &json!({"security": {"validator": "sandbox"}})),
        tool_with("code", &strict),
        tool_with("typed", &schema),
        tool_with("scoped", &json!({"required_scopes": ["files:read"]})),
        tool_with("snap", &json!({"security": {"permissions_required": ["camera"]}})),
        tool("down"),
        tool("p1ain"),
    ];
    let server = Script::new(Era::Legacy, tools);
    *server.capabilities.lock() = json!({"tools": {}, "mgp": {"version": "0.3.0", "extensions": ["security"]}});
    server.errors.lock().insert("down".to_owned(), (5000, Value::Null));
    let policy = || ServerPolicy { disabled: ["off".to_owned()].into(), ..ServerPolicy::default() };
    let house = House::with(&[("s", server)], policy, open_house).await;
    let delegated = json!({"delegation": {"original_actor": "eve", "delegated_via": "someone"}});
    for era in [Era::Legacy, Era::Modern] {
        let client = house.client_with(era, "ann", says(era, &["error_handling", "tool_discovery"])).await;
        for (name, arguments, meta, code, category) in [
            ("snap", json!({}), json!({}), 1000, "security"),
            ("plain", json!({}), delegated.clone(), 1001, "security"),
            ("plain", json!({}), json!({"session_token": "sbs_unknown"}), 1003, "security"),
            ("plain", json!({}), json!({"session_token": "nope"}), 1003, "security"),
            ("run", json!({"command": "rm -rf / --no-preserve-root"}), json!({}), 1010, "security"),
            ("code", json!({"code": "import subprocess"}), json!({}), 1011, "security"),
            ("typed", json!({"a": 1}), json!({}), 4000, "validation"),
            ("missing", json!({}), json!({}), 4001, "validation"),
            ("off", json!({}), json!({}), 4002, "validation"),
            ("p1ain", json!({}), json!({}), 4003, "validation"),
            ("down", json!({}), json!({}), 5000, "external"),
        ] {
            let call = json!({"name": name, "arguments": arguments, "_meta": meta});
            let (seen, recovery) = seen_by_mgp(&client.request("tools/call", call).await);
            assert_eq!(seen, code, "{name} {era:?}: {recovery}");
            assert_eq!(recovery["category"], category, "{name} {era:?}");
            assert!(recovery["retryable"].is_boolean(), "{name} {era:?}: {recovery}");
        }
    }
    // A kernel that ends finds no tools any more.
    let client = house.client_with(Era::Legacy, "ann", says(Era::Legacy, &["tool_discovery"])).await;
    house.kernel.drain();
    let error = client.request("mgp/tools/discover", json!({"query": "plain"})).await.unwrap_err();
    assert_eq!((error.code, &data_of(&error)["_mgp"]["retryable"]), (4100, &json!(true)));
}
