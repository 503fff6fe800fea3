//! Services in a house without a kernel: no server, no store, no connection.

mod house;

use serde_json::{Value, json};
use switchboard_peer::{Context, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::method;
use switchboard_services::house::DynHouse;
use switchboard_services::{SERVERS_LIST, own_method, own_tool};
use switchboard_wire::{Id, Raw, Request};

use house::{Empty, agent, owner};

async fn sent(house: &DynHouse, context: &Context, name: &str, params: Value) -> Option<Result<Value, Fault>> {
    let request = Request::new(Id::number(1), name, Some(Raw::from_value(&params).expect("JSON")));
    Some(own_method(house, context, &request).await?.map(result_of))
}

fn result_of(reply: Reply) -> Value {
    reply.outcome.expect("a result").view().expect("JSON")
}

fn kind(answer: Option<Result<Value, Fault>>) -> FaultKind {
    answer.expect("it is the kernel's own").expect_err("it is refused").kind()
}

#[tokio::test]
async fn what_sounds_like_mgp_is_answered_here_and_the_rest_is_not() {
    let house = Empty::default();
    assert_eq!(kind(sent(&house, &agent(), "mgp/no/such", json!({})).await), FaultKind::MethodNotFound);
    assert!(sent(&house, &agent(), "vendor/method", json!({})).await.is_none());
    assert!(sent(&house, &agent(), "tools/call", json!({})).await.is_none());
}

#[tokio::test]
async fn only_who_decides_for_others_orders_servers_and_reads_of_all() {
    let house = Empty::default();
    let shutdown = json!({"server_id": "a", "reason": "operator_request"});
    let refused = sent(&house, &agent(), method::LIFECYCLE_SHUTDOWN, shutdown.clone()).await;
    assert_eq!(kind(refused), FaultKind::PermissionDenied);
    let unknown = sent(&house, &owner(), method::LIFECYCLE_SHUTDOWN, shutdown).await;
    assert_eq!(kind(unknown), FaultKind::UnknownResource);
    assert_eq!(kind(sent(&house, &agent(), SERVERS_LIST, json!({})).await), FaultKind::PermissionDenied);
    let listed = sent(&house, &owner(), SERVERS_LIST, json!({})).await.unwrap().unwrap();
    assert_eq!((&listed["servers"], &listed["draining"]), (&json!([]), &json!(false)));
}

#[tokio::test]
async fn nothing_is_found_in_a_house_that_ends() {
    let mut house = Empty::default();
    let query = json!({"query": "convert a time"});
    let found = sent(&house, &agent(), method::TOOLS_DISCOVER, query.clone()).await.unwrap().unwrap();
    assert_eq!((&found["tools"], &found["total_available"]), (&json!([]), &json!(0)));
    house.is_draining = true;
    assert_eq!(kind(sent(&house, &agent(), method::TOOLS_DISCOVER, query).await), FaultKind::DiscoveryUnavailable);
}

#[tokio::test]
async fn where_nothing_can_be_registered_the_method_does_not_exist_and_neither_does_the_tool() {
    let house = Empty::default();
    let wanted = json!({"id": "x", "command": "true"});
    let refused = sent(&house, &owner(), method::DISCOVERY_REGISTER, wanted).await;
    assert_eq!(kind(refused), FaultKind::MethodNotFound);
    // The tool is for who agreed on the extension.
    let request = Request::new(Id::number(1), "tools/call", None);
    assert!(own_tool(&house, &owner(), "mgp_discovery_register", &request, None).await.is_none());
}

#[tokio::test]
async fn who_asks_about_others_decides_for_them() {
    let house = Empty::default();
    let about = json!({"agent_id": "somebody", "server_id": "a"});
    assert_eq!(kind(sent(&house, &agent(), method::ACCESS_QUERY, about.clone()).await), FaultKind::PermissionDenied);
    let entries = sent(&house, &owner(), method::ACCESS_QUERY, about).await.unwrap().unwrap();
    assert_eq!(entries["entries"], json!([]));
    let own = json!({"agent_id": "agent", "server_id": "a"});
    assert!(sent(&house, &agent(), method::ACCESS_QUERY, own).await.unwrap().is_ok());
}
