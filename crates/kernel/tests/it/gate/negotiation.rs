//! What clients and servers are told of MGP: what they asked for, where they asked.

use serde_json::{Value, json};
use switchboard_kernel::ServerPolicy;
use switchboard_protocol::Era;

use super::world::{ERAS, House, Script, open_house, tool};

const PLACES: [&str; 3] = ["/mgp", "/experimental/mgp", "/extensions/dev.cloto~1mgp"];

fn at(place: &str, value: &Value) -> Value {
    match place {
        "/mgp" => json!({"mgp": value}),
        "/experimental/mgp" => json!({"experimental": {"mgp": value}}),
        _ => json!({"extensions": {"dev.cloto/mgp": value}}),
    }
}

/// A server that declares MGP wherever it can be declared.
async fn house(server: Era) -> House {
    let script = Script::new(server, vec![tool("read")]);
    let declared = json!({"version": "0.3.0", "extensions": ["tool_security", "audit"], "server_id": "inner", "trust_level": "core"});
    *script.capabilities.lock() = json!({
        "tools": {}, "prompts": {}, "resources": {}, "mgp": declared, "experimental": {"mgp": declared, "odd": {}},
        "extensions": {"dev.cloto/mgp": declared, "x.example/y": {}},
    });
    House::with(&[("inner", script)], ServerPolicy::default, open_house).await
}

#[tokio::test]
async fn nothing_is_offered_to_who_did_not_ask() {
    for server in ERAS {
        let house = house(server).await;
        for era in ERAS {
            for capabilities in
                [json!({}), json!({"mgp": true}), json!({"mgp": {"version": 3}}), json!({"experimental": {}})]
            {
                let client = house.client_with(era, "ann", capabilities).await;
                let told = &client.greeting["capabilities"];
                for place in PLACES {
                    assert!(told.pointer(place).is_none(), "{place} in {told}");
                }
                assert!(!client.greeting.to_string().contains("inner"), "{}", client.greeting);
                // What else the server says passes.
                assert!(
                    told["experimental"]["odd"].is_object() && told["extensions"]["x.example/y"].is_object(),
                    "{told}"
                );
                let list = client.request("tools/list", json!({})).await.unwrap();
                assert!(list["tools"][0].get("security").is_none());
                assert!(list["tools"][0]["_meta"]["dev.cloto/mgp"]["security"].is_object(), "for all, under `_meta`");
            }
        }
    }
}

#[tokio::test]
async fn it_is_answered_where_it_was_asked() {
    for server in ERAS {
        let house = house(server).await;
        for era in ERAS {
            for place in PLACES {
                let offer =
                    json!({"version": "0.3.0", "extensions": ["tool_security", "audit", "delegation", "nonsense"]});
                let client = house.client_with(era, "ann", at(place, &offer)).await;
                let told = &client.greeting["capabilities"];
                let answer = told.pointer(place).unwrap_or_else(|| panic!("nothing at {place} in {told}"));
                let both = json!(["tool_security", "audit", "delegation"]);
                assert_eq!(answer["extensions"], both, "what both speak, and no more");
                assert_eq!(answer["server_id"], "switchboard");
                assert!(answer.get("trust_level").is_none());
                for other in PLACES.iter().filter(|other| **other != place) {
                    assert!(told.pointer(other).is_none(), "{other} in {told}");
                }
                let list = client.request("tools/list", json!({})).await.unwrap();
                assert!(list["tools"][0]["security"]["effective_risk_level"].is_string(), "{list}");
            }
            // Another major version is plain MCP, in lists as well.
            let offer = json!({"version": "7.0.0", "extensions": ["tool_security"]});
            let client = house.client_with(era, "ann", at("/mgp", &offer)).await;
            assert!(client.greeting["capabilities"].get("mgp").is_none());
            let list = client.request("tools/list", json!({})).await.unwrap();
            assert!(list["tools"][0].get("security").is_none());
        }
    }
}

#[tokio::test]
async fn servers_are_offered_what_the_kernel_speaks() {
    for era in ERAS {
        let script = Script::new(era, vec![tool("read")]);
        let house = House::with(&[("s", script.clone())], ServerPolicy::default, open_house).await;
        let said = match era {
            Era::Legacy => script.heard("initialize")[0]["capabilities"].clone(),
            Era::Modern => {
                script.heard("server/discover")[0]["_meta"]["io.modelcontextprotocol/clientCapabilities"].clone()
            }
        };
        let offers = PLACES.iter().filter_map(|place| said.pointer(place)).count();
        assert!(offers >= 2, "{said}");
        drop(house);
    }
}

/// What would be sent to a client unasked is not begun for one that agreed on nothing.
#[tokio::test]
async fn a_plain_client_cannot_have_itself_sent_events() {
    let house = house(Era::Legacy).await;
    for era in ERAS {
        let client = house.client(era, "ann").await;
        let refused = client.request("mgp/events/subscribe", json!({"channels": ["*"]})).await.unwrap_err();
        assert_eq!(refused.code, -32601, "{era:?}: {refused:?}");
        assert!(client.ear.told.lock().iter().all(|(method, _)| !method.starts_with("notifications/mgp.")), "{era:?}");
    }
}
