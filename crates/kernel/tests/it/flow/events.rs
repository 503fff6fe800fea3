//! Events through the kernel: its own and its servers', pushed and asked for.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::Kernel;
use switchboard_peer::{Identity, Method};
use switchboard_protocol::Era;
use switchboard_wire::Notification;

use super::world::{Streamer, kernel, says};
use crate::gate::world::{Client, raw, until};

const EVENT: &str = "notifications/mgp.event";

async fn client(kernel: &Kernel, name: &str, era: Era, admin: bool) -> Client {
    let identity = Identity { admin, ..Identity::new(name, Method::Token) };
    Client::new(kernel, identity.into(), era, says(era, &["events", "streaming"])).await
}

async fn subscribe(client: &Client, params: Value) -> Value {
    client.send_as(30, "mgp/events/subscribe", params).await.expect("a subscription")
}

fn channels(client: &Client) -> Vec<String> {
    let name = |event: &Value| event["channel"].as_str().expect("a channel").to_owned();
    client.told(EVENT).iter().map(name).collect()
}

fn emit(server: &Arc<Streamer>, said: &Value) {
    let sessions = server.sessions.lock().clone();
    for session in sessions {
        let _ = session.remote().notify(Notification::new(EVENT, Some(raw(said))));
    }
}

#[tokio::test]
async fn the_kernel_tells_each_of_its_own_and_the_operator_of_all() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, "ann", Era::Legacy, false).await;
    let bob = client(&kernel, "bob", Era::Legacy, false).await;
    let root = client(&kernel, "root", Era::Legacy, true).await;
    let mut ids = Vec::new();
    for client in [&ann, &bob, &root] {
        let answer = subscribe(client, json!({"channels": ["tool.*", "weather.*"]})).await;
        assert_eq!(answer["subscribed"], json!(["tool.*"]));
        assert_eq!(answer["unsupported"], json!(["weather.*"]));
        ids.push(answer["subscription_id"].clone());
    }
    ann.call("think", json!({})).await.expect("a result");
    until("she hears of it", || channels(&ann).contains(&"tool.completed".to_owned())).await;
    until("root hears of it", || channels(&root).contains(&"tool.completed".to_owned())).await;
    let event = &ann.told(EVENT)[0];
    assert_eq!(
        (&event["subscription_id"], &event["_mgp.seq"], &event["severity"]),
        (&ids[0], &json!(1), &json!("info"))
    );
    assert_eq!(event["data"]["target"]["tool_name"], "think");
    assert_eq!(channels(&bob), Vec::<String>::new(), "not his");
    let end = json!({"subscription_id": ids[0]});
    bob.send_as(1, "mgp/events/unsubscribe", end.clone()).await.expect_err("not his");
    ann.send_as(1, "mgp/events/unsubscribe", end.clone()).await.expect("hers");
    assert_eq!(ann.send_as(1, "mgp/events/unsubscribe", end).await.expect_err("over").code, 4001);
    let before = ann.told(EVENT).len();
    ann.call("think", json!({})).await.expect("a result");
    until("root hears of it", || channels(&root).iter().filter(|name| *name == "tool.completed").count() == 2).await;
    assert_eq!(ann.told(EVENT).len(), before);
}

#[tokio::test]
async fn every_state_of_a_server_is_told_to_those_who_may_use_it() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, "ann", Era::Legacy, false).await;
    let asked = subscribe(&ann, json!({"channels": ["system.server.*"]})).await;
    assert_eq!(asked["subscribed"], json!(["system.server.*"]));
    // A modern client has no session; it hears of it on a stream of its own.
    let listener = client(&kernel, "ann", Era::Modern, false).await;
    let stream = listener.begin_listening(&json!({"notifications": {"dev.cloto/mgp": {"channels": ["system.*"]}}}));
    until("the stream", || !listener.told("notifications/subscriptions/acknowledged").is_empty()).await;
    let root = client(&kernel, "root", Era::Legacy, true).await;
    let order = json!({"server_id": "s", "order": "restart"});
    root.send_as(1, "dev.switchboard/servers/order", order).await.expect("accepted");
    let states = |client: &Client| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let told = client.told(EVENT);
        let of_servers = told.iter().filter(|event| event["channel"].as_str().unwrap().starts_with("system.server."));
        of_servers.map(|event| (text(&event["channel"]), text(&event["data"]["details"]["new_state"]))).collect()
    };
    let back = ("system.server.connected".to_owned(), "connected".to_owned());
    for client in [&ann, &listener] {
        until("it is back", || states(client).contains(&back)).await;
        let seen = states(client);
        assert!(seen.contains(&("system.server.state".to_owned(), "draining".to_owned())), "{seen:?}");
        assert!(seen.iter().any(|(channel, _)| channel == "system.server.disconnected"), "{seen:?}");
        assert!(client.told(EVENT).iter().all(|event| event["server_id"] == "s"));
    }
    stream.cancel.cancel();
}

#[tokio::test]
async fn filters_hold() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, "ann", Era::Legacy, false).await;
    subscribe(&ann, json!({"channels": ["*"], "filter": {"min_severity": "warning"}})).await;
    let named = subscribe(&ann, json!({"channels": ["tool.*"], "filter": {"target.tool_name": "bare"}})).await;
    ann.call("think", json!({})).await.expect("a result");
    ann.call("bare", json!({})).await.expect("a result");
    until("the one that is meant", || !ann.told(EVENT).is_empty()).await;
    let told = ann.told(EVENT);
    assert!(told.iter().all(|event| event["subscription_id"] == named["subscription_id"]), "{told:?}");
    assert!(told.iter().all(|event| event["data"]["target"]["tool_name"] == "bare"));
    for bad in [json!({"channels": []}), json!({"channels": ["a..b"]}), json!({"channels": ["a"], "filter": 1})] {
        assert_eq!(ann.send_as(1, "mgp/events/subscribe", bad).await.expect_err("refused").code, -32602);
    }
}

#[tokio::test]
async fn events_of_servers_reach_who_asked_once() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, "ann", Era::Legacy, false).await;
    let answer = subscribe(&ann, json!({"channels": ["model.token_usage", "model.*"], "server_id": "s"})).await;
    assert_eq!(answer["subscribed"], json!(["model.token_usage", "model.*"]));
    assert_eq!(server.heard("mgp/events/subscribe").len(), 2, "once for each pattern");
    let other = client(&kernel, "ann", Era::Legacy, false).await;
    subscribe(&other, json!({"channels": ["model.token_usage"]})).await;
    assert_eq!(server.heard("mgp/events/subscribe").len(), 2, "they share");
    let said = json!({"subscription_id": "their-1", "channel": "model.token_usage",
        "timestamp": "2026-02-27T12:05:00.000Z", "data": {"tokens_used": 1500}});
    emit(&server, &said);
    until("both hear of it", || !ann.told(EVENT).is_empty() && !other.told(EVENT).is_empty()).await;
    let event = ann.told(EVENT)[0].clone();
    assert_eq!((&event["server_id"], &event["data"]["tokens_used"]), (&json!("s"), &json!(1500)));
    assert_eq!(event["timestamp"], "2026-02-27T12:05:00.000Z");
    // What nobody asked for, or what is not under the pattern that was, is nobody's.
    let mut foreign = said.clone();
    foreign["subscription_id"] = "guess".into();
    emit(&server, &foreign);
    let mut elsewhere = said.clone();
    elsewhere["channel"] = "security.access_denied".into();
    emit(&server, &elsewhere);
    let mut last = said;
    last["data"] = json!({"last": true});
    emit(&server, &last);
    until("the last", || other.told(EVENT).iter().any(|event| event["data"]["last"] == true)).await;
    assert_eq!(other.told(EVENT).len(), 2);
}

#[tokio::test]
async fn what_nobody_wants_any_more_is_given_back() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, "ann", Era::Legacy, false).await;
    let one = subscribe(&ann, json!({"channels": ["model.*"]})).await;
    subscribe(&ann, json!({"channels": ["model.*"]})).await;
    ann.send_as(1, "mgp/events/unsubscribe", json!({"subscription_id": one["subscription_id"]})).await.expect("ended");
    assert_eq!(server.heard("mgp/events/unsubscribe").len(), 0, "one is left");
    switchboard_peer::Handler::closed(&kernel, &ann.session);
    until("the server hears", || server.heard("mgp/events/unsubscribe").len() == 1).await;
}

#[tokio::test]
async fn what_was_missed_can_be_had_again() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, "ann", Era::Legacy, false).await;
    let answer = subscribe(&ann, json!({"channels": ["tool.completed"]})).await;
    for _ in 0..3 {
        ann.call("think", json!({})).await.expect("a result");
    }
    until("three", || ann.told(EVENT).len() == 3).await;
    let params = json!({"subscription_id": answer["subscription_id"], "after_seq": 1, "limit": 1});
    let replayed = ann.send_as(1, "mgp/events/replay", params.clone()).await.expect("events");
    assert_eq!(replayed["events"], json!([ann.told(EVENT)[1]]));
    assert_eq!((&replayed["has_more"], &replayed["truncated"]), (&json!(true), &json!(false)));
    let tool = ann.call("mgp_events_replay", params.clone()).await.expect("a result");
    assert_eq!(tool["structuredContent"], replayed);
    let bob = client(&kernel, "bob", Era::Legacy, false).await;
    assert_eq!(bob.send_as(1, "mgp/events/replay", params).await.expect_err("not his").code, 1000);
    let unknown = json!({"subscription_id": "sub-0"});
    assert_eq!(bob.send_as(1, "mgp/events/replay", unknown).await.expect_err("none").code, 4001);
}

#[tokio::test]
async fn a_modern_client_asks_or_opens_a_stream() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, "ann", Era::Modern, false).await;
    let answer = subscribe(&ann, json!({"channels": ["tool.completed"]})).await;
    assert_eq!((&answer["push"], &answer["poll_interval_seconds"]), (&json!(false), &json!(10)));
    assert!(answer["expires_at"].is_string());
    ann.call("think", json!({})).await.expect("a result");
    let params = json!({"subscription_id": answer["subscription_id"]});
    for _ in 0..200 {
        let replayed = ann.send_as(1, "mgp/events/replay", params.clone()).await.expect("events");
        if replayed["events"].as_array().is_some_and(|events| events.len() == 1) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(ann.told(EVENT), Vec::<Value>::new(), "nothing comes by itself");

    let listener = client(&kernel, "ann", Era::Modern, false).await;
    let stream = listener.begin_listening(&json!({"notifications": {"dev.cloto/mgp": {"channels": ["tool.*"]}}}));
    until("the stream", || !listener.told("notifications/subscriptions/acknowledged").is_empty()).await;
    let agreed = &listener.told("notifications/subscriptions/acknowledged")[0]["notifications"]["dev.cloto/mgp"];
    assert_eq!(agreed["subscribed"], json!(["tool.*"]));
    ann.call("think", json!({})).await.expect("a result");
    until("an event", || !listener.told(EVENT).is_empty()).await;
    assert_eq!(listener.told(EVENT)[0]["_meta"]["io.modelcontextprotocol/subscriptionId"], 40);
    stream.cancel.cancel();
    let _ = stream.answer.await;
    let id = agreed["subscription_id"].clone();
    let over = ann.send_as(1, "mgp/events/replay", json!({"subscription_id": id})).await.expect_err("ended with it");
    assert_eq!(over.code, 4001);
}

#[tokio::test(start_paused = true)]
async fn subscriptions_end_in_their_time_and_say_so() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let ann = client(&kernel, "ann", Era::Legacy, false).await;
    let answer = subscribe(&ann, json!({"channels": ["tool.*"], "ttl_seconds": 60})).await;
    tokio::time::sleep(Duration::from_secs(61)).await;
    until("the end", || !ann.told(EVENT).is_empty()).await;
    let end = &ann.told(EVENT)[0];
    assert_eq!(end["channel"], "system.subscription_terminated");
    assert_eq!((&end["subscription_id"], &end["data"]["reason"]), (&answer["subscription_id"], &json!("expired")));
}

#[tokio::test]
async fn proposal_15() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let identity = Identity::new("ann", Method::Token);
    let capabilities = json!({"extensions": ["subscribe_notify"]});
    let ann = Client::new(&kernel, identity.clone().into(), Era::Legacy, capabilities.clone()).await;
    let asked = json!({"subscribe": {"events": ["tool.completed"], "filter": {"target.tool_name": "think"}}});
    let answer = ann.send_as(1, "events/subscribe", asked).await.expect("an answer");
    assert_eq!((&answer["status"], &answer["supported_events"]), (&json!("active"), &json!(["tool.completed"])));
    assert!(answer["expires_at"].is_string() && answer.get("poll_interval_seconds").is_none());
    ann.call("think", json!({})).await.expect("a result");
    until("an event", || !ann.told("notifications/event").is_empty()).await;
    let event = &ann.told("notifications/event")[0];
    assert_eq!((&event["type"], &event["event"]), (&json!("event"), &json!("tool.completed")));
    assert_eq!(event["payload"]["target"]["tool_name"], "think");
    let denied = ann.send_as(1, "events/subscribe", json!({"events": ["commit_to_main"]})).await.expect("an answer");
    assert_eq!(denied["status"], "denied");
    let ended = json!({"subscription_id": answer["subscription_id"]});
    assert_eq!(ann.send_as(1, "events/unsubscribe", ended).await.expect("ended")["status"], "cancelled");
    let modern = Client::new(&kernel, identity.into(), Era::Modern, capabilities).await;
    let answer = modern.send_as(1, "events/subscribe", json!({"events": ["tool.completed"]})).await.expect("an answer");
    assert_eq!((&answer["supported"], &answer["poll_interval_seconds"]), (&json!(false), &json!(10)));
    modern.call("think", json!({})).await.expect("a result");
    let params = json!({"subscription_id": answer["subscription_id"]});
    for _ in 0..200 {
        let polled = modern.send_as(1, "events/poll", params.clone()).await.expect("events");
        if polled["events"].as_array().is_some_and(|events| events[..].iter().any(|event| event["type"] == "event")) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("no event came");
}

#[tokio::test]
async fn a_subscriber_may_name_its_subscription() {
    let server = Streamer::new(Era::Legacy, true);
    let kernel = kernel(&server, None).await;
    let capabilities = json!({"extensions": ["subscribe_notify"]});
    let ann = Client::new(&kernel, Identity::new("ann", Method::Token).into(), Era::Legacy, capabilities.clone()).await;
    let bob = Client::new(&kernel, Identity::new("bob", Method::Token).into(), Era::Legacy, capabilities).await;
    let asked = json!({"events": ["tool.completed"], "subscription_id": "mine"});
    for client in [&ann, &bob] {
        let answer = client.send_as(1, "events/subscribe", asked.clone()).await.expect("an answer");
        assert_eq!((&answer["subscription_id"], &answer["status"]), (&json!("mine"), &json!("active")));
    }
    ann.send_as(1, "events/subscribe", asked).await.expect_err("there is one of that name");
    ann.call("think", json!({})).await.expect("a result");
    until("an event", || !ann.told("notifications/event").is_empty()).await;
    assert_eq!(ann.told("notifications/event")[0]["subscription_id"], "mine");
    assert!(bob.told("notifications/event").is_empty(), "not of his calls");
    let named = json!({"subscription_id": "mine"});
    ann.send_as(1, "events/poll", named.clone()).await.expect("events");
    ann.send_as(1, "events/unsubscribe", named.clone()).await.expect("ended");
    let over = ann.send_as(1, "events/poll", named.clone()).await.expect_err("over");
    assert!(over.data.expect("data").as_str().contains("unknown_subscription"));
    bob.send_as(1, "events/poll", named).await.expect("his own goes on");
}

#[tokio::test]
async fn a_server_of_proposal_15_is_asked_for_its_events() {
    let server = Streamer::new(Era::Legacy, false);
    server.proposals.lock().push("subscribe_notify");
    let kernel = kernel(&server, None).await;
    let capabilities = json!({"extensions": ["subscribe_notify"]});
    let ann = Client::new(&kernel, Identity::new("ann", Method::Token).into(), Era::Legacy, capabilities).await;
    let answer = ann.send_as(1, "events/subscribe", json!({"events": ["build.failed", "no.such"]})).await;
    let answer = answer.expect("an answer");
    assert_eq!((&answer["status"], &answer["supported_events"]), (&json!("active"), &json!(["build.failed"])));
    assert_eq!(server.heard("events/subscribe").len(), 2);
    let denied = ann.send_as(1, "events/subscribe", json!({"events": ["no.such"]})).await.expect("an answer");
    assert_eq!(denied["status"], "denied");
    let said = json!({"type": "event", "subscription_id": "push-1", "event": "build.failed",
        "timestamp": "2026-01-01T00:00:00Z", "payload": {"branch": "main"}});
    let session = server.sessions.lock()[0].clone();
    let _ = session.remote().notify(Notification::new("notifications/event", Some(raw(&said))));
    until("the event", || !ann.told("notifications/event").is_empty()).await;
    assert_eq!(ann.told("notifications/event")[0]["payload"]["branch"], "main");
    ann.send_as(1, "events/unsubscribe", json!({"subscription_id": answer["subscription_id"]})).await.expect("ended");
    until("the server hears of it", || !server.heard("events/unsubscribe").is_empty()).await;
}
