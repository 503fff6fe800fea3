//! The end of the kernel while calls wait for people: each of them gets an answer, and a line on the record.

use std::time::Duration;

use serde_json::json;
use switchboard_protocol::Era;

use switchboard_store::{ApprovalState, Reuse, Verdict};

use super::world::{House, Script, ann_of, dangerous, kernel_on, ran, until, writing};

const FORM: &str = r#"{"elicitation": {"form": {}}}"#;

/// A modern server waits for input, and the kernel asks its legacy client. Between the two no server works on the call.
#[tokio::test]
async fn a_call_that_waits_for_its_client_is_not_lost_when_the_kernel_ends() {
    for answers in [true, false] {
        let script = Script::new(Era::Modern, vec![writing("asks")]);
        let house = House::new(&[("files", script.clone())]).await;
        house.grant("ann", "files", None, true).await;
        let ann = house.client_with(Era::Legacy, "ann", serde_json::from_str(FORM).unwrap()).await;
        let stopping = async {
            until("she is asked", || !ann.ear.asked.lock().is_empty()).await;
            house.kernel.drain();
            let quiet = tokio::time::timeout(Duration::from_millis(300), house.kernel.quiet(Duration::MAX)).await;
            assert!(quiet.is_err(), "a call is not over");
            if answers {
                *ann.ear.late.lock() = Some(json!({"action": "accept", "content": {}}));
                let quiet = tokio::time::timeout(Duration::from_secs(3), house.kernel.quiet(Duration::MAX)).await;
                assert!(quiet.is_ok(), "now it is");
            }
            house.kernel.shut_down(Duration::from_secs(5)).await;
        };
        let calling = tokio::time::timeout(Duration::from_secs(8), ann.call("asks", json!({})));
        let (called, ()) = tokio::join!(calling, stopping);
        let called = called.expect("it ends");
        if answers {
            assert!(called.is_ok(), "{called:?}");
            continue;
        }
        let error = called.unwrap_err();
        assert!(error.message.contains("ended before the client answered"), "{error:?}");
        let unknown = house.await_events("dev.switchboard.unknown_outcome", 1).await;
        assert_eq!(unknown[0].actor.id, "ann");
    }
}

/// The same for a call that a person has to agree to: it was never sent, and is refused.
#[tokio::test]
async fn a_held_call_is_refused_when_the_kernel_ends() {
    let script = Script::new(Era::Legacy, vec![dangerous("drop")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let ann = house.client(Era::Legacy, "ann").await;
    let stopping = async {
        house.await_events("dev.switchboard.call_held", 1).await;
        house.kernel.drain();
        let quiet = tokio::time::timeout(Duration::from_millis(300), house.kernel.quiet(Duration::MAX)).await;
        assert!(quiet.is_err(), "a call waits");
        house.kernel.shut_down(Duration::from_secs(5)).await;
    };
    let calling = tokio::time::timeout(Duration::from_secs(8), ann.call("drop", json!({})));
    let (called, ()) = tokio::join!(calling, stopping);
    assert!(!ran(&called.expect("it ends")));
    assert_eq!(script.calls(), 0);
    house.await_events("TOOL_REJECTED", 1).await;
}

/// Who says yes while the kernel ends, and is still waited for, has not said it in vain.
#[tokio::test]
async fn a_yes_given_while_the_kernel_ends_counts() {
    let script = Script::new(Era::Legacy, vec![dangerous("wait")]);
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("ann", "files", None, true).await;
    let ann = house.client_with(Era::Legacy, "ann", serde_json::from_str(FORM).unwrap()).await;
    let stopping = async {
        until("she is asked", || !ann.ear.asked.lock().is_empty()).await;
        house.kernel.drain();
        *ann.ear.late.lock() = Some(json!({"action": "accept", "content": {"decision": "once"}}));
        until("it arrives", || script.calls() == 1).await;
        let quiet = tokio::time::timeout(Duration::from_millis(200), house.kernel.quiet(Duration::MAX)).await;
        assert!(quiet.is_err(), "it is not over");
        script.release.notify_one();
        let quiet = tokio::time::timeout(Duration::from_secs(5), house.kernel.quiet(Duration::MAX)).await;
        assert!(quiet.is_ok(), "now it is");
        house.kernel.shut_down(Duration::from_secs(5)).await;
    };
    let (called, ()) = tokio::join!(ann.call("wait", json!({})), stopping);
    assert!(ran(&called), "{called:?}");
    house.await_events("TOOL_EXECUTED", 1).await;
}

/// An answer that comes back to a kernel that ends is not used up there: the next kernel goes by it.
#[tokio::test]
async fn an_answer_to_a_kernel_that_ends_is_good_for_the_next_one() {
    let script = Script::new(Era::Modern, vec![dangerous("drop")]);
    let house = House::with(&[("s", script.clone())], Default::default, super::world::open_house).await;
    let ann = house.client_with(Era::Modern, "ann", serde_json::from_str(FORM).unwrap()).await;
    let asked = ann.call("drop", json!({})).await.unwrap();
    house.kernel.drain();
    let answer = json!({
        "name": "drop", "arguments": {}, "requestState": asked["requestState"],
        "inputResponses": {"confirm": {"action": "accept", "content": {"decision": "once"}}},
    });
    let refused = ann.request("tools/call", answer.clone()).await.unwrap_err();
    assert!(refused.message.contains("takes no new calls"), "{refused:?}");
    // Nobody is asked about a call that could not be made.
    let fresh = ann.call("drop", json!({"x": 1})).await.unwrap_err();
    assert_eq!(fresh.message, refused.message);
    house.kernel.shut_down(Duration::from_secs(5)).await;
    let next = kernel_on(&house.store, &script).await;
    let capabilities = serde_json::from_str(FORM).unwrap();
    let identity = switchboard_peer::Identity::new("ann", switchboard_peer::Method::Token);
    let ann = super::world::Client::new(&next, identity.into(), Era::Modern, capabilities).await;
    let called = ann.request("tools/call", answer).await;
    assert!(ran(&called), "{called:?}");
    assert_eq!(script.calls(), 1);
}

/// Whose call was held by a kernel that has ended is told that, and a yes to it, before or after the same call comes again, counts
/// for that call and for no other one.
#[tokio::test]
async fn a_yes_to_a_call_whose_kernel_has_ended_counts_when_it_comes_again() {
    for first in [true, false] {
        let script = Script::new(Era::Legacy, vec![dangerous("drop")]);
        let house = House::with(&[("s", script.clone())], Default::default, super::world::open_house).await;
        let ann = house.client(Era::Legacy, "ann").await;
        let stopping = async {
            house.await_events("dev.switchboard.call_held", 1).await;
            house.kernel.shut_down(Duration::from_secs(5)).await;
        };
        let (called, ()) = tokio::join!(ann.call("drop", json!({})), stopping);
        let error = called.unwrap_err();
        assert!(error.message.contains("not carried out: Switchboard ended before a person"), "{error:?}");
        let data: serde_json::Value = error.data.unwrap().view().unwrap();
        assert_eq!(data["kind"], "server_draining", "{data}");
        let now = jiff::Timestamp::now();
        let held = house.store.approvals().pending(now, 10).await.unwrap();
        let ids = [held[0].held.id.clone()];
        let later = now + jiff::SignedDuration::from_mins(5);
        let yes = || async {
            let approve = Verdict::Approve(Reuse::Once);
            let decided = house.operator_actions().answer(&ids, approve, None, later).await.unwrap();
            assert_eq!(decided.len(), 1);
        };
        if first {
            yes().await;
        }
        let next = kernel_on(&house.store, &script).await;
        let ann = ann_of(&next, Era::Legacy).await;
        let answering = async {
            if !first {
                house.await_events("dev.switchboard.call_held", 2).await;
                yes().await;
            }
        };
        let calling = tokio::time::timeout(Duration::from_secs(10), ann.call("drop", json!({})));
        let (called, ()) = tokio::join!(calling, answering);
        assert!(ran(&called.expect("it is not waited for longer")), "{first}");
        assert_eq!(script.calls(), 1);
        assert_eq!(house.store.approvals().get(&ids[0]).await.unwrap().unwrap().state, ApprovalState::Used);
        assert!(house.store.approvals().pending(now, 10).await.unwrap().is_empty(), "nothing waits for nobody");
        // It was for once.
        let again = tokio::time::timeout(Duration::from_millis(600), ann.call("drop", json!({}))).await;
        assert!(again.is_err(), "somebody has to be asked again");
    }
}
