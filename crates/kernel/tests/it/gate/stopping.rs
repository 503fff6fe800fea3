//! The end of the kernel while calls wait for people: each of them gets an answer, and a line on the record.

use std::time::Duration;

use serde_json::json;
use switchboard_protocol::Era;

use super::world::{House, Script, dangerous, until, writing};

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
    assert!(!super::world::ran(&called.expect("it ends")));
    assert_eq!(script.calls(), 0);
    house.await_events("TOOL_REJECTED", 1).await;
}
