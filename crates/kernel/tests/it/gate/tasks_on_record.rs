//! What is answered of tasks is on record, or not answered.

use serde_json::json;
use switchboard_protocol::Era;
use switchboard_store::Boundary;

use super::outage::{Outage, failing};
use super::world::{Client, House, Script, ann_of, kernel_on, open_house, tool};

fn script() -> std::sync::Arc<Script> {
    let script = Script::new(Era::Modern, vec![tool("read")]);
    script.capabilities.lock()["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
    let task = json!({"resultType": "task", "taskId": "t-1", "status": "working"});
    script.results.lock().insert("read".to_owned(), task);
    script
}

fn extension() -> serde_json::Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

#[tokio::test]
async fn requests_about_tasks_are_on_record() {
    let script = script();
    let house = House::with(&[("files", script.clone())], Default::default, open_house).await;
    let ann = house.client_with(Era::Modern, "ann", extension()).await;
    assert_eq!(ann.call("read", json!({})).await.unwrap()["taskId"], "t-1");
    for method in ["tasks/get", "tasks/cancel"] {
        let _ = ann.request(method, json!({"taskId": "t-1"})).await;
    }
    let asked = house.await_events("dev.switchboard.task_asked", 2).await;
    let said: Vec<_> = asked.iter().map(|event| (&event.details["what"], &event.details["task"])).collect();
    assert_eq!(said, [(&json!("tasks/get"), &json!("t-1")), (&json!("tasks/cancel"), &json!("t-1"))]);
    assert!(asked.iter().all(|event| event.actor.id == "ann" && event.target.tool_name.as_deref() == Some("read")));
}

/// While the store takes nothing, a task is not cancelled: that would be on no record.
#[tokio::test]
async fn a_task_is_not_changed_while_nothing_can_be_put_on_record() {
    let directory = tempfile::tempdir().unwrap();
    let outage = Outage::default();
    let store = failing(directory.path(), &outage).await;
    let script = script();
    let kernel = kernel_on(&store, &script).await;
    let identity = switchboard_peer::Identity::new("ann", switchboard_peer::Method::Token);
    let ann = Client::new(&kernel, identity.into(), Era::Modern, extension()).await;
    ann.call("read", json!({})).await.unwrap();
    *outage.lock() = Some(Boundary::BeforeCommit);
    // Seen by who tries to write.
    let other = ann_of(&kernel, Era::Modern).await;
    for _ in 0..20 {
        let _ = other.call("read", json!({})).await;
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let refused = ann.request("tasks/cancel", json!({"taskId": "t-1"})).await.unwrap_err();
    assert!(refused.message.contains("record") || refused.message.contains("audit"), "{refused:?}");
    assert_eq!(script.heard("tasks/cancel").len(), 0);
    *outage.lock() = None;
    kernel.shut_down(std::time::Duration::from_secs(5)).await;
}
