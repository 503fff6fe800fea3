//! Events over a connection: to those who subscribed and may hear of them, and to nobody else.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_contextgraph::server::CHANNELS;
use switchboard_contextgraph::{MemoryOptions, MemoryServer, Principals, SpaceSharing, SqliteStores};

use crate::support::{Client, Memory};

fn mgp() -> Value {
    json!({"mgp": {"version": "0.3.0", "extensions": ["events", "permissions"]}})
}

async fn subscribe(client: &mut Client, channels: Value) -> Value {
    client.request("mgp/events/subscribe", json!({"channels": channels})).await["result"].clone()
}

/// The events that have come, by channel.
fn heard(client: &Client) -> Vec<&str> {
    let events = client.notices.iter().filter(|notice| notice["method"] == "notifications/mgp.event");
    events.map(|event| event["params"]["channel"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_is_told_in_order_with_numbers() {
    let memory = Memory::new();
    let mut client = Client::speaking(&memory.server, "local", mgp()).await;
    let asked = subscribe(&mut client, json!(["memory.*", "system.dream.*", "weather.*"])).await;
    assert_eq!(asked["subscribed"], json!(["memory.*", "system.dream.*"]));
    assert_eq!(asked["unsupported"], json!(["weather.*"]));
    let kept = client.call("store_memory", json!({"content": "The key is in the drawer"})).await;
    let kept = kept["result"]["structuredContent"].clone();
    client.call("store_memory", json!({"content": "The key is really in the drawer"})).await;
    let merged = client.call("trigger_consolidation", json!({"min_similarity": 0.9})).await;
    let merged = merged["result"]["structuredContent"].clone();
    client.call("trigger_dream", json!({"force": true, "wait": true})).await;
    client.request("contextgraph/undo", json!({"operation": merged["undo"]})).await;
    // What was told before is there before the next answer.
    client.call("utl_status", json!({})).await;
    let told: Vec<Value> = client
        .notices
        .iter()
        .filter(|notice| notice["method"] == "notifications/mgp.event")
        .map(|notice| notice["params"].clone())
        .collect();
    let channels = heard(&client);
    for expected in [
        "memory.stored",
        "memory.consolidated",
        "system.dream.started",
        "system.dream.completed",
        "memory.removed",
        "memory.restored",
    ] {
        assert!(channels.contains(&expected), "{expected}: {channels:?}");
    }
    assert!(channels.iter().all(|channel| CHANNELS.contains(channel)), "{channels:?}");
    assert_eq!(told[0]["data"]["memory_id"], kept["fingerprintId"]);
    assert_eq!((&told[0]["data"]["space"], &told[0]["severity"]), (&json!("default"), &json!("info")));
    assert!(told[0]["timestamp"].as_str().unwrap().ends_with('Z'), "{}", told[0]);
    for (place, event) in told.iter().enumerate() {
        assert_eq!(event["_mgp.seq"], place + 1);
        assert_eq!(event["subscription_id"], asked["subscription_id"]);
    }
    // Nothing more after the end.
    let before = channels.len();
    let ended = client.request("mgp/events/unsubscribe", json!({"subscription_id": asked["subscription_id"]})).await;
    assert!(ended["result"].is_object(), "{ended}");
    client.call("store_memory", json!({"content": "Something new"})).await;
    assert_eq!(heard(&client).len(), before);
    let again = client.request("mgp/events/unsubscribe", json!({"subscription_id": asked["subscription_id"]})).await;
    assert_eq!(again["error"]["code"], -32602);
    for bad in [json!({}), json!({"channels": []}), json!({"channels": "memory.*"}), json!({"channels": vec!["a"; 65]})]
    {
        assert!(client.request("mgp/events/subscribe", bad).await["error"].is_object());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plain_clients_are_told_nothing_of_mgp() {
    let memory = Memory::new();
    let mut client = memory.connect().await;
    client.call("store_memory", json!({"content": "The key is in the drawer"})).await;
    assert_eq!(heard(&client), [""; 0]);
    let offer = |capabilities: Value| json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}});
    let welcome = client.request("initialize", offer(json!({}))).await;
    assert!(!welcome["result"].to_string().contains("mgp"), "{welcome}");
    let welcome = client.request("initialize", offer(mgp())).await;
    assert_eq!(welcome["result"]["capabilities"]["mgp"]["extensions"], json!(["events"]), "{welcome}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_hears_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let stores = Arc::new(SqliteStores::open(&folder.path().join("memory.db")).unwrap());
    let principals = Principals { owner: Some("local".to_owned()), shared: None };
    let options =
        MemoryOptions { sharing: SpaceSharing::PerPrincipal(principals), dreams: false, ..MemoryOptions::new(stores) };
    let server = MemoryServer::new(options).unwrap();
    let mut clients = Vec::new();
    for name in ["local", "ann", "ben"] {
        let mut client = Client::speaking(&server, name, mgp()).await;
        subscribe(&mut client, json!(["*"])).await;
        clients.push(client);
    }
    let [owner, ann, ben] = &mut clients[..] else { panic!("three") };
    ann.call("store_memory", json!({"content": "one of ann"})).await;
    ben.call("store_memory", json!({"content": "one of ben"})).await;
    ben.call("store_memory", json!({"content": "one for all", "space": "shared-news"})).await;
    for client in [&mut *owner, &mut *ann, &mut *ben] {
        client.call("utl_status", json!({})).await;
    }
    let counts = [&*owner, &*ann, &*ben].map(|client| heard(client).len());
    assert_eq!(counts, [3, 2, 2]);
    let whose: Vec<&Value> = owner
        .notices
        .iter()
        .filter(|notice| notice["method"] == "notifications/mgp.event")
        .map(|notice| &notice["params"]["_mgp"]["principals"])
        .collect();
    assert_eq!(whose, [&json!(["local", "ann"]), &json!(["local", "ben"]), &Value::Null]);
    let refused = ann.call("search_graph", json!({"query": "x", "space": "default"})).await;
    assert_eq!(refused["error"]["data"]["kind"], "SPACE_NOT_YOURS", "{refused}");
}
