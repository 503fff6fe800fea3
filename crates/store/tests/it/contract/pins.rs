//! Accepted definitions of tools.

use serde_json::json;
use switchboard_store::{Observation, PinState};

use crate::sample::{Fixture, at, digest, json_text};

fn shown(text: &str, at_first: PinState, second: i64) -> Observation {
    Observation {
        server: "files".to_owned(),
        tool: "read".to_owned(),
        hash: digest(text),
        definition: json_text(&json!({"description": text})),
        at_first,
        now: at(second),
    }
}

pub(crate) async fn first_use_then_change_then_acceptance(fixture: &mut Fixture) {
    let pins = fixture.store.pins();
    let first = pins.observe(&shown("reads", PinState::Accepted, 1)).await.unwrap();
    assert_eq!((first.before, first.pin.state), (None, PinState::Accepted));
    let same = pins.observe(&shown("reads", PinState::Quarantined, 2)).await.unwrap();
    assert_eq!(
        (same.before, same.pin.state, same.pin.changed_at),
        (Some(PinState::Accepted), PinState::Accepted, at(1))
    );
    let changed = pins.observe(&shown("reads and sends", PinState::Accepted, 3)).await.unwrap();
    assert_eq!((changed.before, changed.pin.state), (Some(PinState::Accepted), PinState::Quarantined));
    let (hash, accepted) = changed.pin.accepted.unwrap();
    assert_eq!((hash, accepted.get()), (digest("reads"), "{\"description\":\"reads\"}"));
    assert_eq!(changed.pin.shown.get(), "{\"description\":\"reads and sends\"}");
    assert_eq!((changed.pin.first_seen, changed.pin.changed_at), (at(1), at(3)));
    // Restarting does not clear it, and neither does showing it again.
    fixture.reopen().await;
    let pins = fixture.store.pins();
    let again = pins.observe(&shown("reads and sends", PinState::Accepted, 4)).await.unwrap();
    assert_eq!((again.before, again.pin.state), (Some(PinState::Quarantined), PinState::Quarantined));
    // Going back to what was accepted does.
    let back = pins.observe(&shown("reads", PinState::Accepted, 5)).await.unwrap();
    assert_eq!(back.pin.state, PinState::Accepted);
    assert_eq!(pins.list(Some("files")).await.unwrap().len(), 1);
    assert_eq!(pins.list(Some("other")).await.unwrap().len(), 0);
    assert_eq!(pins.forget("files", Some("write")).await.unwrap(), 0);
    assert_eq!(pins.forget("files", None).await.unwrap(), 1);
    assert!(pins.list(None).await.unwrap().is_empty());
}

pub(crate) async fn what_a_human_saw_is_what_is_accepted(fixture: &mut Fixture) {
    let pins = fixture.store.pins();
    let first = pins.observe(&shown("one", PinState::Quarantined, 1)).await.unwrap();
    assert_eq!(first.pin.state, PinState::Quarantined);
    assert!(first.pin.accepted.is_none());
    pins.observe(&shown("two", PinState::Quarantined, 2)).await.unwrap();
    // The definition changed while the human was reading.
    assert!(pins.accept("files", "read", digest("one"), "operator", at(3)).await.unwrap().is_none());
    let accepted = pins.accept("files", "read", digest("two"), "operator", at(4)).await.unwrap().unwrap();
    assert_eq!((accepted.state, accepted.accepted_at), (PinState::Accepted, Some(at(4))));
    assert_eq!(accepted.accepted_by.as_deref(), Some("operator"));
    assert_eq!(accepted.accepted.unwrap().0, digest("two"));
}
