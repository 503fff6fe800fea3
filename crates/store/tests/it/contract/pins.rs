//! Accepted definitions of tools.

use serde_json::json;
use switchboard_store::{Location, MAX_PIN_VERSIONS, Observation, PinState, VersionState};

use crate::sample::{Fixture, at, digest, json_text};

fn shown(text: &str, at_first: PinState, second: i64) -> Observation {
    Observation {
        server: "files".to_owned(),
        tool: "read".to_owned(),
        hash: digest(text),
        definition: json_text(&json!({"description": text})),
        at_first,
        later: PinState::Quarantined,
        server_version: Some("1.0.0".to_owned()),
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
    // One that was never shown cannot be accepted.
    assert!(pins.accept("files", "read", digest("three"), "operator", at(3)).await.unwrap().is_none());
    // The definition changed while the human was reading: what he saw is accepted, and not what is shown by now.
    let first = pins.accept("files", "read", digest("one"), "operator", at(3)).await.unwrap().unwrap();
    assert_eq!((first.state, first.accepted.unwrap().0), (PinState::Quarantined, digest("one")));
    let accepted = pins.accept("files", "read", digest("two"), "operator", at(4)).await.unwrap().unwrap();
    assert_eq!((accepted.state, accepted.accepted_at), (PinState::Accepted, Some(at(4))));
    assert_eq!(accepted.accepted_by.as_deref(), Some("operator"));
    assert_eq!(accepted.accepted.unwrap().0, digest("two"));
}

pub(crate) async fn several_definitions_are_accepted_side_by_side(fixture: &mut Fixture) {
    let pins = fixture.store.pins();
    for (second, text) in [(1, "one"), (2, "two"), (3, "one")] {
        let seen = pins.observe(&shown(text, PinState::Accepted, second)).await.unwrap();
        assert_eq!(seen.pin.state, if text == "one" { PinState::Accepted } else { PinState::Quarantined });
    }
    // It is not shown at the moment, and waits all the same.
    pins.accept("files", "read", digest("two"), "operator", at(4)).await.unwrap().unwrap();
    for text in ["two", "one", "two"] {
        let seen = pins.observe(&shown(text, PinState::Accepted, 5)).await.unwrap();
        assert_eq!(seen.pin.state, PinState::Accepted, "{text}");
    }
    let versions = pins.versions(Some("files")).await.unwrap();
    assert!(versions.iter().all(|version| version.state == VersionState::Accepted), "{versions:?}");
    let by: Vec<_> = versions.iter().map(|version| version.decided_by.as_deref()).collect();
    assert!(by.contains(&None) && by.contains(&Some("operator")), "{by:?}");
    assert_eq!(versions[0].server_version.as_deref(), Some("1.0.0"));
    fixture.reopen().await;
    let pins = fixture.store.pins();
    // Another one that passes is not accepted by that.
    let passed = Observation { later: PinState::Passed, ..shown("alike", PinState::Accepted, 6) };
    assert_eq!(pins.observe(&passed).await.unwrap().pin.state, PinState::Passed);
    assert_eq!(pins.versions(Some("files")).await.unwrap().len(), 2);
    // A person can make it so.
    pins.accept("files", "read", digest("alike"), "operator", at(7)).await.unwrap().unwrap();
    assert_eq!(pins.versions(None).await.unwrap().len(), 3);
    assert_eq!(pins.forget("files", Some("read")).await.unwrap(), 1);
    assert!(pins.versions(None).await.unwrap().is_empty());
}

pub(crate) async fn a_refused_definition_waits_no_longer(fixture: &mut Fixture) {
    let pins = fixture.store.pins();
    pins.observe(&shown("one", PinState::Accepted, 1)).await.unwrap();
    pins.observe(&shown("two", PinState::Accepted, 2)).await.unwrap();
    assert!(!pins.refuse("files", "read", digest("one"), "operator", at(3)).await.unwrap(), "it does not wait");
    assert!(pins.refuse("files", "read", digest("two"), "operator", at(3)).await.unwrap());
    assert!(!pins.refuse("files", "read", digest("two"), "operator", at(3)).await.unwrap(), "only once");
    let again = pins.observe(&shown("two", PinState::Accepted, 4)).await.unwrap();
    assert_eq!(again.pin.state, PinState::Quarantined);
    let states: Vec<_> = pins.versions(None).await.unwrap().iter().map(|version| version.state).collect();
    assert!(states.contains(&VersionState::Refused) && !states.contains(&VersionState::HeldCall), "{states:?}");
    // Who thinks better of it can still accept it.
    assert!(pins.accept("files", "read", digest("two"), "operator", at(5)).await.unwrap().is_some());
}

pub(crate) async fn definitions_of_one_tool_are_bounded(fixture: &mut Fixture) {
    let pins = fixture.store.pins();
    for number in 0..30 {
        let text = format!("text {number}");
        pins.observe(&shown(&text, PinState::Accepted, number)).await.unwrap();
        if number % 2 == 0 {
            pins.accept("files", "read", digest(&text), "operator", at(number)).await.unwrap().unwrap();
        }
    }
    let versions = pins.versions(None).await.unwrap();
    let count = |state| versions.iter().filter(|version| version.state == state).count();
    assert_eq!((count(VersionState::Accepted), count(VersionState::HeldCall)), (MAX_PIN_VERSIONS, MAX_PIN_VERSIONS));
    let newest = versions.iter().find(|version| version.hash == digest("text 28")).unwrap();
    assert_eq!(newest.state, VersionState::Accepted, "the newest stay");
}

/// A store of an earlier build keeps what was accepted, and what waits.
pub(crate) async fn accepted_definitions_of_earlier_builds_stay(fixture: &mut Fixture) {
    let sqlite = matches!(fixture.location, Location::File(_));
    let (version, bytes) = if sqlite {
        ("PRAGMA user_version = 4", "X'")
    } else {
        ("DELETE FROM switchboard_schema WHERE version > 4; INSERT INTO switchboard_schema VALUES (4)", "'\\x")
    };
    let hash = |text: &str| format!("{bytes}{}'", digest(text));
    fixture
        .execute(&format!(
            "DROP TABLE pin_versions; ALTER TABLE pins DROP COLUMN server_version; \
             INSERT INTO pins VALUES ('s', 'kept', 'accepted', {one}, '{{}}', {one}, '{{}}', 1, 1, 'olga', 2); \
             INSERT INTO pins VALUES ('s', 'changed', 'quarantined', {one}, '{{}}', {two}, '{{\"a\":1}}', 1, 3, NULL, 2); \
             INSERT INTO pins VALUES ('s', 'new', 'quarantined', NULL, NULL, {two}, '{{}}', 1, 3, NULL, NULL); {version}",
            one = hash("one"),
            two = hash("two"),
        ))
        .await;
    fixture.reopen().await;
    let pins = fixture.store.pins();
    let versions = pins.versions(None).await.unwrap();
    let told: Vec<_> =
        versions.iter().map(|it| (it.tool.as_str(), it.hash, it.state, it.decided_by.as_deref())).collect();
    assert_eq!(told.len(), 4, "{told:?}");
    for expected in [
        ("kept", digest("one"), VersionState::Accepted, Some("olga")),
        ("changed", digest("one"), VersionState::Accepted, None),
        ("changed", digest("two"), VersionState::HeldCall, None),
        ("new", digest("two"), VersionState::HeldCall, None),
    ] {
        assert!(told.contains(&expected), "{expected:?}: {told:?}");
    }
    assert!(pins.accept("s", "changed", digest("two"), "olga", at(5)).await.unwrap().is_some());
    assert_eq!(pins.list(Some("s")).await.unwrap().len(), 3);
}
