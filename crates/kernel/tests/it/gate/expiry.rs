//! What ends by itself ends everything that rests on it, as a revocation does: grants, session tokens, permissions of
//! servers.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use switchboard_kernel::ServerPolicy;
use switchboard_protocol::Era;
use switchboard_store::{AccessEntry, PermissionDecision, Reuse, Verdict};

use super::world::{ERAS, House, Script, dangerous, entry, open_house, ran, tool, until, writing};

/// Longer than an end takes to count, shorter than any call or approval may last.
const SOON: Duration = Duration::from_secs(4);
/// How long a grant of these tests lasts.
const SHORT: SignedDuration = SignedDuration::from_millis(1_200);

fn later() -> Timestamp {
    Timestamp::now() + SignedDuration::from_mins(5)
}

fn short(principal: &str, tool: Option<&str>) -> AccessEntry {
    AccessEntry { expires_at: Some(Timestamp::now() + SHORT), ..entry(principal, "files", tool, true) }
}

async fn past(end: Timestamp) {
    let left = end.duration_since(Timestamp::now());
    tokio::time::sleep(Duration::try_from(left).unwrap_or_default() + Duration::from_millis(50)).await;
}

/// Answers the next held call for always.
async fn agree_for_always(house: &House) {
    let held = house.await_events("dev.switchboard.call_held", 1).await;
    let id = held[0].details["approval"].as_str().unwrap().to_owned();
    house.operator_actions().answer(&[id], Verdict::Approve(Reuse::Always), None, later()).await.unwrap();
}

/// A yes for always is one for as long as the grant lasts, whoever grants what afterwards.
#[tokio::test]
async fn what_was_agreed_to_ends_when_the_grant_has_run_out() {
    for renewed in ["the same grant", "a grant of the server", "nothing"] {
        let script = Script::new(Era::Legacy, vec![dangerous("drop")]);
        let house = House::new(&[("files", script.clone())]).await;
        if renewed == "nothing" {
            // Without the grant of the tool, that of the server still holds.
            house.grant("ann", "files", None, true).await;
        }
        let granted = house.operator_actions().grant_access(short("ann", Some("drop"))).await.unwrap();
        let ann = house.client(Era::Legacy, "ann").await;
        let (called, ()) = tokio::join!(ann.call("drop", json!({})), agree_for_always(&house));
        assert!(ran(&called), "{called:?}");
        assert!(ran(&ann.call("drop", json!({})).await), "for always");
        past(granted.expires_at.unwrap()).await;
        match renewed {
            "the same grant" => house.grant("ann", "files", Some("drop"), true).await,
            "a grant of the server" => house.grant("ann", "files", None, true).await,
            _ => {}
        }
        let again = tokio::time::timeout(Duration::from_millis(500), ann.call("drop", json!({}))).await;
        assert!(again.is_err(), "{renewed}: she is asked anew: {again:?}");
        assert_eq!(script.calls(), 2, "{renewed}");
    }
}

/// A grant that is made to last longer in time is the same right: who has agreed is not asked again.
#[tokio::test]
async fn a_grant_that_is_renewed_in_time_keeps_what_was_agreed_to() {
    let script = Script::new(Era::Legacy, vec![dangerous("drop")]);
    let house = House::new(&[("files", script.clone())]).await;
    let granted = house.operator_actions().grant_access(short("ann", None)).await.unwrap();
    let ann = house.client(Era::Legacy, "ann").await;
    let (called, ()) = tokio::join!(ann.call("drop", json!({})), agree_for_always(&house));
    assert!(ran(&called), "{called:?}");
    house.grant("ann", "files", None, true).await;
    past(granted.expires_at.unwrap()).await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert!(ran(&ann.call("drop", json!({})).await));
}

/// A question that nobody waits for is not left to be answered.
#[tokio::test]
async fn a_question_ends_when_the_grant_has_run_out() {
    let script = Script::new(Era::Legacy, vec![dangerous("drop")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.operator_actions().grant_access(short("ann", None)).await.unwrap();
    let ann = house.client_with(Era::Modern, "ann", json!({"elicitation": {"form": {}}})).await;
    let asked = ann.call("drop", json!({})).await.unwrap();
    assert_eq!(asked["resultType"], "input_required");
    let pending = || async { house.store.approvals().pending(Timestamp::now(), 10).await.unwrap().len() };
    for _ in 0..200 {
        if pending().await == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(pending().await, 0);
    house.grant("ann", "files", None, true).await;
    let params = json!({
        "name": "drop", "arguments": {}, "requestState": asked["requestState"],
        "inputResponses": {"confirm": {"action": "accept", "content": {"decision": "yes"}}},
    });
    assert!(!ran(&ann.request("tools/call", params).await));
    assert_eq!(script.calls(), 0);
}

/// Nobody answers: the held call ends all the same.
#[tokio::test]
async fn a_held_call_ends_when_the_grant_has_run_out() {
    let script = Script::new(Era::Legacy, vec![dangerous("drop")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.operator_actions().grant_access(short("ann", None)).await.unwrap();
    let ann = house.client(Era::Legacy, "ann").await;
    let called = tokio::time::timeout(SOON, ann.call("drop", json!({}))).await;
    assert!(called.expect("it ends").unwrap_err().message.contains("Unknown tool"));
    assert_eq!(house.store.approvals().pending(Timestamp::now(), 10).await.unwrap().len(), 0);
    assert_eq!(script.calls(), 0);
}

/// A call that its server works on ends as after a revocation.
#[tokio::test]
async fn a_running_call_ends_when_the_grant_has_run_out() {
    for era in ERAS {
        let script = Script::new(Era::Legacy, vec![writing("hang")]);
        let house = House::new(&[("files", script.clone())]).await;
        house.operator_actions().grant_access(short("ann", None)).await.unwrap();
        let ann = house.client(era, "ann").await;
        let refused = tokio::time::timeout(SOON, ann.call("hang", json!({}))).await.expect("it ends").unwrap_err();
        assert!(refused.message.contains("taken back") && refused.message.contains("unknown"), "{refused:?}");
        house.await_events("dev.switchboard.unknown_outcome", 1).await;
        let blocked = house.await_events("TOOL_BLOCKED", 1).await;
        assert_eq!((&blocked[0].details["what"], &blocked[0].details["step"]), (&json!("running"), &json!("access")));
    }
}

/// Parameters of a call with a session token for everything of the server.
async fn with_token(client: &super::world::Client, tool: &str, seconds: u64) -> Value {
    let wanted = json!({"requested_scopes": ["server:files"], "ttl_seconds": seconds});
    let token = client.request("negotiate_scopes", wanted).await.unwrap()["session"]["token"].clone();
    json!({"name": tool, "arguments": {}, "_meta": {"session_token": token}})
}

/// What was begun under a session token ends with it, be it running, held, or parked with a question of its server.
#[tokio::test]
async fn a_call_ends_with_the_session_token_in_its_meta() {
    for era in ERAS {
        let script = Script::new(Era::Legacy, vec![writing("hang"), tool("wait"), dangerous("drop"), tool("asks")]);
        let house = House::with(&[("files", script.clone())], ServerPolicy::default, open_house).await;
        let ann = house.client_with(era, "ann", json!({})).await;
        let params = with_token(&ann, "hang", 1).await;
        let called = tokio::time::timeout(SOON, ann.request("tools/call", params)).await;
        let refused = called.unwrap_or_else(|_| panic!("{era:?}: it ends")).unwrap_err();
        assert!(refused.message.contains("unknown"), "{era:?}: {refused:?}");
        let blocked = house.await_events("TOOL_BLOCKED", 1).await;
        assert_eq!((&blocked[0].details["what"], &blocked[0].details["step"]), (&json!("running"), &json!("scopes")));
        let params = with_token(&ann, "drop", 1).await;
        let called = tokio::time::timeout(SOON, ann.request("tools/call", params)).await;
        assert!(!ran(&called.unwrap_or_else(|_| panic!("{era:?}: held, it ends"))));
        // One that lasts longer than its call ends nothing.
        let params = with_token(&ann, "wait", 60).await;
        let releasing = async {
            until("it arrives", || script.calls() == 2).await;
            tokio::time::sleep(Duration::from_millis(700)).await;
            script.release.notify_one();
        };
        let (called, ()) = tokio::join!(ann.request("tools/call", params), releasing);
        assert!(called.is_ok(), "{era:?}: {called:?}");
        let asking = house.client_with(era, "ann", json!({"elicitation": {"form": {}}})).await;
        let params = with_token(&asking, "asks", 1).await;
        let asked = tokio::time::timeout(SOON, asking.request("tools/call", params.clone())).await;
        if era == Era::Legacy {
            assert!(!ran(&asked.expect("it ends")));
            continue;
        }
        let asked = asked.expect("a question").unwrap();
        assert_eq!(asked["resultType"], "input_required");
        for _ in 0..100 {
            let blocked = house.events().await;
            if blocked.iter().any(|event| event.details.get("what") == Some(&json!("parked"))) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let blocked = house.events().await;
        assert!(blocked.iter().any(|event| event.details.get("what") == Some(&json!("parked"))), "{blocked:?}");
    }
}

/// A permission of the server that is taken back, denied, or runs out in the middle of a call.
#[tokio::test]
async fn a_running_call_ends_with_a_permission_of_its_server() {
    for how in ["revoked", "denied", "run out", "revoked while held"] {
        let tool = if how == "revoked while held" { dangerous("hang") } else { writing("hang") };
        let script = Script::new(Era::Legacy, vec![tool]);
        script.capabilities.lock()["mgp"] = json!({"version": "0.3.0", "extensions": ["permissions", "tool_security"], "permissions_required": ["filesystem.write"]});
        let house = House::with(&[("files", script.clone())], ServerPolicy::default, open_house).await;
        let decide = |decision, ends| {
            let operator_actions = house.operator_actions();
            async move {
                operator_actions
                    .decide_permission("files", "filesystem.write", decision, None, ends, None)
                    .await
                    .unwrap()
            }
        };
        let ends = (how == "run out").then(|| Timestamp::now() + SHORT);
        decide(PermissionDecision::Approved, ends).await;
        tokio::time::sleep(Duration::from_millis(220)).await;
        let ann = house.client(Era::Legacy, "ann").await;
        let changing = async {
            match how {
                "revoked while held" => {
                    house.await_events("dev.switchboard.call_held", 1).await;
                    house.operator_actions().revoke_permission("files", None).await.unwrap();
                }
                _ => until("it arrives", || script.calls() == 1).await,
            }
            match how {
                "revoked" => drop(house.operator_actions().revoke_permission("files", None).await.unwrap()),
                "denied" => decide(PermissionDecision::Denied, None).await,
                _ => {}
            }
        };
        let (called, ()) = tokio::join!(tokio::time::timeout(SOON, ann.call("hang", json!({}))), changing);
        let refused = called.unwrap_or_else(|_| panic!("{how}: it ends"));
        let blocked = house.await_events("TOOL_BLOCKED", 1).await;
        assert_eq!(blocked[0].details["step"], "permissions", "{how}: {blocked:?}");
        if how == "revoked while held" {
            assert_eq!(script.calls(), 0);
            assert!(!ran(&refused));
            continue;
        }
        assert!(refused.unwrap_err().message.contains("unknown"), "{how}");
        house.await_events("dev.switchboard.unknown_outcome", 1).await;
    }
}
