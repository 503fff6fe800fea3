//! A grant that is narrowed lets through what its limits cover, and nothing else.

use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_kernel::ServerPolicy;
use switchboard_protocol::Era;

use super::world::{ERAS, House, Script, entry, kind_of, open_house, ran, rejection, tool};

async fn grant(house: &House, principal: &str, tool: Option<&str>, scope: Option<Value>) {
    let mut entry = entry(principal, "s", tool, true);
    entry.scopes = scope.map(|scope| RawValue::from_string(scope.to_string()).unwrap());
    house.operator_actions().grant_access(entry).await.unwrap();
    tokio::time::sleep(Duration::from_millis(220)).await;
}

fn path(path: &str) -> Value {
    json!({"path": path})
}

#[tokio::test]
async fn arguments_are_held_to_the_limits_of_the_grant_that_decides() {
    let script = Script::new(Era::Legacy, vec![tool("read"), tool("fetch")]);
    let house = House::new(&[("s", script.clone())]).await;
    grant(&house, "ann", None, Some(json!({"paths": ["/srv/ok/**"]}))).await;
    grant(&house, "ann", Some("fetch"), Some(json!({"hosts": ["93.184.216.34"]}))).await;
    grant(&house, "bob", None, None).await;
    for era in ERAS {
        let (ann, bob) = (house.client(era, "ann").await, house.client(era, "bob").await);
        let fetch = |url: &str| json!({"url": url});
        for (tool, arguments, passes) in [
            ("read", path("/srv/ok/a.txt"), true),
            ("read", path("/srv/ok/../secret"), false),
            ("read", path("/etc/passwd"), false),
            ("read", json!({"deep": [{"er": "file:///etc/passwd"}]}), false),
            // The tool's own grant decides, and has other limits.
            ("fetch", path("/etc/passwd"), true),
            ("fetch", fetch("https://93.184.216.34/x"), true),
            ("fetch", fetch("https://8.8.8.8/x"), false),
        ] {
            let called = ann.call(tool, arguments.clone()).await;
            assert_eq!(ran(&called), passes, "{tool} {arguments}: {called:?}");
            if !passes {
                assert_eq!(kind_of(&called), "validation_blocked");
                assert_eq!(rejection(&called)["code"], "VALIDATION_BLOCKED");
            }
            assert!(ran(&bob.call(tool, arguments.clone()).await), "another's limits: {tool} {arguments}");
            let told = ann.request("check_permissions", json!({"tool": tool, "parameters": arguments})).await.unwrap();
            assert_eq!(told["allowed"], passes, "{tool} {arguments}: {told}");
        }
        let read = |uri: &'static str| json!({"uri": uri});
        assert!(ann.request("resources/read", read("file:///srv/ok/a")).await.is_ok());
        assert!(ann.request("resources/read", read("file:///etc/passwd")).await.is_err());
        assert!(bob.request("resources/read", read("file:///etc/passwd")).await.is_ok());
    }
}

/// Somebody who passes a call on does not lend wider limits than each in the chain has.
#[tokio::test]
async fn limits_of_all_in_a_chain_count() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let house = House::new(&[("s", script.clone())]).await;
    grant(&house, "ann", None, Some(json!({"paths": ["/srv/ok/**"]}))).await;
    grant(&house, "bob", None, None).await;
    let bob = house.client(Era::Legacy, "bob").await;
    let delegation =
        json!({"original_actor": "ann", "delegated_via": "bob", "delegation_id": "d", "chain": ["ann", "bob"]});
    for (place, passes) in [("/srv/ok/a", true), ("/etc/passwd", false)] {
        let params = json!({"name": "read", "arguments": path(place), "_mgp": {"delegation": delegation}});
        let called = bob.request("tools/call", params).await;
        assert_eq!(ran(&called), passes, "{place}: {called:?}");
        assert!(ran(&bob.call("read", path(place)).await), "in his own name");
    }
}

#[tokio::test]
async fn limits_that_nobody_understands_allow_nothing() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, open_house).await;
    let ann = house.client(Era::Legacy, "ann").await;
    assert!(ran(&ann.call("read", json!({})).await));
    for scope in [json!({"moons": ["io"]}), json!({"paths": "/srv/**"}), json!([]), json!("x")] {
        grant(&house, "ann", None, Some(scope.clone())).await;
        assert!(ann.list("tools").await.is_empty(), "{scope}");
        assert!(ann.call("read", json!({})).await.is_err(), "{scope}");
    }
}

#[tokio::test]
async fn an_admin_grants_with_limits_over_mgp() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let house = House::new(&[("s", script.clone())]).await;
    let speaks = json!({"mgp": {"version": "0.3.0", "extensions": ["access_control"]}});
    let root = house.admin(Era::Legacy, speaks).await;
    let params = |permission: &str, scopes: Value| {
        json!({
            "entry_type": "server_grant", "agent_id": "ann", "server_id": "s", "permission": permission, "scopes": scopes,
        })
    };
    for bad in [params("allow", json!({"moons": []})), params("allow", json!(7)), params("deny", json!({"paths": []}))]
    {
        assert_eq!(root.request("mgp/access/grant", bad.clone()).await.unwrap_err().code, -32602, "{bad}");
    }
    root.request("mgp/access/grant", params("allow", json!({"paths": ["/srv/ok/**"]}))).await.unwrap();
    let ann = house.client(Era::Legacy, "ann").await;
    assert!(ran(&ann.call("read", path("/srv/ok/a")).await));
    assert_eq!(kind_of(&ann.call("read", path("/etc/passwd")).await), "validation_blocked");
    let granted = house.await_events("ACCESS_GRANTED", 1).await;
    assert_eq!(granted[0].details["scope"], json!({"paths": ["/srv/ok/**"]}));
}
