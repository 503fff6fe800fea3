//! A session token narrows wherever it is shown: in what is told of servers, in what decides for others, and in calls
//! under another name.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use switchboard_kernel::{Asker, ServerPolicy};
use switchboard_peer::{Context, Identity, Method, Principal};
use switchboard_protocol::Era;
use switchboard_wire::ErrorObject;

use super::world::{Client, ERAS, House, Script, open_house, ran, raw, tool};

const HEADER: &str = "x-mcp-session-token";

fn speaks() -> Value {
    json!({"mgp": {"version": "0.6.0", "extensions":
        ["discovery", "lifecycle", "access_control", "audit", "events", "tool_discovery"]}})
}

/// Two servers, open to all, with two tools each.
async fn house() -> House {
    let tools = || Script::new(Era::Legacy, vec![tool("read"), tool("write")]);
    House::with(&[("files", tools()), ("other", tools())], ServerPolicy::default, open_house).await
}

async fn token(client: &Client, scope: &str) -> String {
    let given = client.request("negotiate_scopes", json!({"requested_scopes": [scope]})).await.unwrap();
    given["session"]["token"].as_str().unwrap().to_owned()
}

fn in_headers(client: &Client, token: &str) -> Context {
    let headers = HeaderMap::from_iter([(HEADER.parse().unwrap(), HeaderValue::from_str(token).unwrap())]);
    Context { headers: Some(Arc::new(headers)), ..client.context() }
}

/// A request that shows a token, in one place or in the other.
async fn show(
    client: &Client,
    token: &str,
    by_header: bool,
    method: &str,
    mut params: Value,
) -> Result<Value, ErrorObject> {
    if by_header {
        return client.send(in_headers(client, token), method, &raw(&params)).await;
    }
    params["_meta"] = json!({"session_token": token});
    client.request(method, params).await
}

/// What is told of servers: by the methods, and by the tools that stand for them.
#[tokio::test]
async fn what_is_told_of_servers_goes_by_the_token() {
    for era in ERAS {
        for admin in [false, true] {
            let house = house().await;
            let client =
                if admin { house.admin(era, speaks()).await } else { house.client_with(era, "ann", speaks()).await };
            let token = token(&client, "tool:files__read").await;
            for by_header in [false, true] {
                let ask = async |method: &str, params: Value| show(&client, &token, by_header, method, params).await;
                let what = format!("{era:?}, admin {admin}, header {by_header}");
                let listed = ask("mgp/discovery/list", json!({})).await.unwrap();
                let servers: Vec<_> = listed["servers"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
                assert_eq!(servers, ["files"], "{what}");
                assert_eq!(listed["servers"][0]["tools"], json!(["read"]), "{what}");
                let status = ask("mgp/health/status", json!({})).await.unwrap();
                let checks = status["checks"].as_object().unwrap();
                assert!(
                    checks.contains_key("server:files") && !checks.contains_key("server:other"),
                    "{what}: {status}"
                );
                for method in ["mgp/health/status", "mgp/health/ping", "get_manifest"] {
                    let of = async |id: &str| ask(method, json!({"server_id": id})).await;
                    assert!(of("other").await.is_err(), "{what}: {method}");
                }
                assert!(ask("mgp/health/ping", json!({"server_id": "files"})).await.is_ok(), "{what}");
                for name in ["mgp_health_status", "mgp_health_ping"] {
                    let call = json!({"name": name, "arguments": {"server_id": "other"}});
                    assert!(!ran(&ask("tools/call", call).await), "{what}: {name}");
                    let call = json!({"name": name, "arguments": {"server_id": "files"}});
                    assert!(ran(&ask("tools/call", call).await), "{what}: {name}");
                }
                let call = json!({"name": "mgp_discovery_list", "arguments": {}});
                let told = ask("tools/call", call).await.unwrap().to_string();
                assert!(told.contains("files") && !told.contains("other"), "{what}: {told}");
            }
        }
    }
}

/// A token stands for servers and tools, and never for deciding for others.
#[tokio::test]
async fn a_session_token_decides_nothing_for_others() {
    let house = house().await;
    let boss = house.admin(Era::Legacy, speaks()).await;
    let token = token(&boss, "server:files").await;
    let grant = json!({"agent_id": "eve", "server_id": "files", "entry_type": "server_grant", "permission": "allow"});
    for by_header in [false, true] {
        let ask = async |method: &str, params: Value| show(&boss, &token, by_header, method, params).await;
        for (method, params) in [
            ("mgp/access/grant", grant.clone()),
            ("mgp/access/query", json!({"agent_id": "eve", "server_id": "files"})),
            ("mgp/audit/replay", json!({})),
            ("mgp/lifecycle/shutdown", json!({"server_id": "files", "reason": "operator_request"})),
            ("dev.switchboard/servers/list", json!({})),
            ("tools/call", json!({"name": "mgp_access_grant", "arguments": grant})),
            ("tools/call", json!({"name": "mgp_audit_replay", "arguments": {}})),
            (
                "tools/call",
                json!({"name": "mgp_lifecycle_shutdown",
                "arguments": {"server_id": "files", "reason": "operator_request"}}),
            ),
        ] {
            let answered = ask(method, params.clone()).await;
            assert!(!ran(&answered), "{method} {params}: {answered:?}");
        }
        let told =
            ask("mgp/access/query", json!({"agent_id": "root", "server_id": "other", "tool_name": "read"})).await;
        assert_ne!(told.unwrap()["permission"], "allow", "what the token does not cover is not told of");
    }
    assert!(
        boss.request(
            "mgp/access/grant",
            json!({"agent_id": "eve", "server_id": "files",
        "entry_type": "server_grant", "permission": "allow"})
        )
        .await
        .is_ok(),
        "without it he may"
    );
}

/// The call that `mgp_tools_call` stands for is held to the token of the call around it, wherever that one shows it.
#[tokio::test]
async fn a_call_under_another_name_is_held_to_the_same_token() {
    for era in ERAS {
        let house = house().await;
        let ann = house.client_with(era, "ann", speaks()).await;
        let token = token(&ann, "tool:files__read").await;
        for by_header in [false, true] {
            let call = async |name: &str| {
                let params = json!({"name": "mgp_tools_call", "arguments": {"name": name, "arguments": {}}});
                ran(&show(&ann, &token, by_header, "tools/call", params).await)
            };
            assert!(call("files__read").await, "{era:?} {by_header}");
            assert!(!call("files__write").await, "{era:?} {by_header}");
            assert!(!call("other__read").await, "{era:?} {by_header}");
        }
    }
}

/// What is asked beside the protocol, over HTTP: `/metrics`, `/readyz` and the registry.
#[tokio::test]
async fn who_asks_over_http_is_held_to_his_token() {
    let house = house().await;
    for admin in [false, true] {
        let identity = || Identity { admin, ..Identity::new("ann", Method::Token) };
        let ann = Client::new(&house.kernel, identity().into(), Era::Legacy, json!({})).await;
        let token = token(&ann, "tool:files__read").await;
        let asker = |shown: &[&str]| {
            let shown = shown.iter().map(|token| (HEADER.parse().unwrap(), HeaderValue::from_str(token).unwrap()));
            Asker::new(Principal::from(identity()), HeaderMap::from_iter(shown))
        };
        let wide = asker(&[]);
        assert_eq!(wide.sees_everything(), admin);
        assert_eq!(house.kernel.known_to(&wide).await.unwrap().len(), 2);
        for (shown, counts) in [(vec![&*token], vec![("files", 1)]), (vec!["sbs_ended"], vec![])] {
            let narrow = asker(&shown);
            assert!(!narrow.sees_everything(), "{admin}");
            let known = house.kernel.known_to(&narrow).await.unwrap();
            let known: Vec<_> = known.iter().map(|(id, count)| (&**id, *count)).collect();
            assert_eq!(known, counts);
            let offered = house.kernel.offered_to(&narrow).await.unwrap();
            assert_eq!(offered.iter().map(|server| (&*server.id, server.tools.len())).collect::<Vec<_>>(), counts);
        }
    }
}
