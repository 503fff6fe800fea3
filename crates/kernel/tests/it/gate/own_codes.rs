//! The kernel's own tools have two spellings, and each refuses with the same number.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use switchboard_kernel::ServerPolicy;
use switchboard_peer::{Identity, Method};
use switchboard_protocol::Era;
use switchboard_wire::ErrorObject;

use super::world::{Client, ERAS, House, Script, open_house, tool};

/// What a client may speak besides the base protocol.
fn dialects(era: Era) -> Vec<(&'static str, Value)> {
    let extensions = [
        "permissions",
        "tool_security",
        "access_control",
        "audit",
        "code_safety",
        "lifecycle",
        "health_monitoring",
        "streaming",
        "bidirectional",
        "events",
        "callbacks",
        "discovery",
        "tool_discovery",
        "error_handling",
    ];
    let mgp = |version: &str| json!({"version": version, "extensions": extensions});
    let declared = |version: &str| match era {
        Era::Legacy => json!({"mgp": mgp(version)}),
        Era::Modern => json!({"extensions": {"dev.cloto/mgp": mgp(version)}}),
    };
    vec![
        ("plain", json!({"sampling": {}})),
        ("mgp 0.3", declared("0.3.0")),
        ("mgp 0.6", declared("0.6.0")),
        ("proposals", json!({"experimental": {"proposals": ["structured_errors"]}, "sampling": {}})),
    ]
}

/// The number of a refusal, and its kind; what is no error by the form of its result.
fn form(answer: &Result<Value, ErrorObject>) -> String {
    match answer {
        Err(error) => {
            let data: Value = error.data.as_ref().and_then(|data| data.view().ok()).unwrap_or_default();
            format!("{} {} {}", error.code, data["kind"], data["_mgp"]["category"])
        }
        Ok(result) => {
            let keys: BTreeSet<_> = result.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect();
            format!("{keys:?} {} {}", result["isError"], result["error"]["code"])
        }
    }
}

#[tokio::test]
async fn both_spellings_of_every_own_tool_refuse_alike() {
    let house =
        House::with(&[("files", Script::new(Era::Legacy, vec![tool("read")]))], ServerPolicy::default, open_house)
            .await;
    // Every tool of the kernel that anybody is shown.
    let mut names = BTreeSet::new();
    for era in ERAS {
        for (_, capabilities) in dialects(era) {
            let identity = Identity { admin: true, ..Identity::new("root", Method::Token) };
            let root = Client::new(&house.kernel, identity.into(), era, capabilities).await;
            names.extend(root.list("tools").await.into_iter().filter(|name| name.starts_with("mgp_")));
        }
    }
    assert!(names.len() >= 10, "{names:?}");
    names.insert("mgp_health_ping".to_owned());
    names.insert("mgp_no_such_thing".to_owned());
    let wrong = [
        json!({}),
        json!({"server_id": "nope", "name": "nope", "tool_name": "nope", "agent_id": "eve", "entry_type": "server_grant"}),
        json!({"subscription_id": "nope", "callback_id": "nope", "response": "x", "request_id": 77, "query": 7}),
    ];
    for era in ERAS {
        for (dialect, capabilities) in dialects(era) {
            for admin in [true, false] {
                let identity = Identity { admin, ..Identity::new("root", Method::Token) };
                let client = Client::new(&house.kernel, identity.into(), era, capabilities.clone()).await;
                for name in &names {
                    for arguments in &wrong {
                        let listed = form(&client.call(name, arguments.clone()).await);
                        let dotted = form(&client.call(&name.replace('_', "."), arguments.clone()).await);
                        assert_eq!(listed, dotted, "{era:?} {dialect} admin {admin}: {name} {arguments}");
                        let in_mgp =
                            ["4004", "1000", "1001", "2000", "4000"].iter().any(|code| listed.starts_with(code));
                        assert!(
                            !in_mgp || dialect.starts_with("mgp"),
                            "numbers of MGP to others: {dialect} {name} {listed}"
                        );
                    }
                }
            }
        }
    }
}

/// The number for a server that there is not, in the dialect of the client.
#[tokio::test]
async fn a_server_that_is_unknown_has_the_number_of_the_clients_dialect() {
    let house =
        House::with(&[("files", Script::new(Era::Legacy, vec![tool("read")]))], ServerPolicy::default, open_house)
            .await;
    for era in ERAS {
        for (dialect, capabilities) in dialects(era).into_iter().filter(|(dialect, _)| dialect.starts_with("mgp")) {
            let identity = Identity { admin: true, ..Identity::new("root", Method::Token) };
            let root = Client::new(&house.kernel, identity.into(), era, capabilities).await;
            for name in ["mgp_health_ping", "mgp.health.ping"] {
                let refused = root.call(name, json!({"server_id": "nope"})).await.unwrap_err();
                assert_eq!(refused.code, 4004, "{era:?} {dialect} {name}: {refused:?}");
            }
            let asked = root.request("mgp/health/ping", json!({"server_id": "nope"})).await.unwrap_err();
            assert_eq!(asked.code, 4004, "{era:?} {dialect}: {asked:?}");
        }
    }
}
