//! Profiles: sessions that chose a part of what is served, beside sessions of the same principal that did not.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::{Confirm, GateOptions, Level, Profile, ServerPolicy, Shown, ToolName};
use switchboard_peer::{Identity, Method};
use switchboard_protocol::Era;
use switchboard_protocol::mgp::Risk;

use super::world::{Client, ERAS, House, Script, kind_of, open_house, ran, shape, tool_with, writing};

fn reading(name: &str) -> Value {
    tool_with(name, &json!({"description": "Read the log", "annotations": {"readOnlyHint": true}}))
}

fn names(names: &[&str]) -> Vec<ToolName> {
    names.iter().map(|&name| ToolName::from(name)).collect()
}

fn gate(profiles: Vec<(&str, Profile)>) -> GateOptions {
    let mut gate = GateOptions { approval_wait: Duration::from_millis(50), ..GateOptions::default() };
    open_house(&mut gate);
    gate.profiles = profiles.into_iter().map(|(name, profile)| (name.to_owned(), profile)).collect();
    gate
}

fn work() -> Profile {
    Profile {
        servers: vec!["git".to_owned()],
        tools: names(&["time__now"]),
        without: names(&["git__write"]),
        ..Profile::default()
    }
}

struct Place {
    house: House,
    git: Arc<Script>,
}

impl Place {
    async fn new(profiles: Vec<(&str, Profile)>) -> Self {
        let git = Script::new(Era::Legacy, vec![reading("log"), writing("write")]);
        *git.prompts.lock() = vec![json!({"name": "commit"})];
        let time = Script::new(Era::Modern, vec![reading("now"), reading("zones")]);
        time.prompts.lock().push(json!({"name": "when"}));
        let gate = gate(profiles);
        let house = House::with(&[("git", git.clone()), ("time", time)], ServerPolicy::default, |options| {
            let store = options.store.take();
            *options = GateOptions { store, ..gate };
        })
        .await;
        Self { house, git }
    }

    async fn ann(&self, era: Era, profile: Option<&str>) -> Client {
        let ann = Identity::new("ann", Method::Token);
        let ann = profile.map_or_else(|| ann.clone(), |name| ann.within_profile(name));
        Client::new(&self.house.kernel, ann.into(), era, json!({})).await
    }
}

#[tokio::test]
async fn a_session_sees_and_uses_what_its_profile_has() {
    let place = Place::new(vec![("work", work())]).await;
    for era in ERAS {
        let (narrow, wide) = (place.ann(era, Some("work")).await, place.ann(era, None).await);
        // The sessions of one principal do not change each other's lists.
        for _ in 0..2 {
            assert_eq!(narrow.list("tools").await, ["git__log", "time__now"], "{era:?}");
            assert_eq!(wide.list("tools").await, ["git__log", "git__write", "time__now", "time__zones"]);
        }
        assert_eq!(narrow.list("prompts").await, ["git__commit"], "one tool of a server opens nothing else of it");
        for (tool, runs) in [("git__log", true), ("git__write", false), ("time__now", true), ("time__zones", false)] {
            assert_eq!(ran(&narrow.call(tool, json!({})).await), runs, "{tool}");
        }
        let found = narrow.call("mgp_tools_discover", json!({"query": "write zones"})).await;
        let found = found.map(|found| found.to_string()).unwrap_or_default();
        assert!(!found.contains("time__zones") && !found.contains("git__write"), "{found}");
        let through = json!({"name": "git__write", "arguments": {}});
        assert!(!ran(&narrow.call("mgp_tools_call", through).await), "by no other way");
        assert!(narrow.request("prompts/get", json!({"name": "time__when"})).await.is_err());
        // What is no part of it does not exist.
        let refused = narrow.call("git__write", json!({})).await.unwrap_err();
        let nobodys = narrow.call("git__pull", json!({})).await.unwrap_err();
        assert_eq!(shape(&refused, "git__write"), shape(&nobodys, "git__pull"));
    }
}

#[tokio::test]
async fn a_change_holds_for_sessions_that_are_open() {
    let place = Place::new(vec![("work", work())]).await;
    let kernel = &place.house.kernel;
    for era in ERAS {
        kernel.judge_by(gate(vec![("work", work())]));
        let ann = place.ann(era, Some("work")).await;
        assert!(ran(&ann.call("git__log", json!({})).await));
        kernel.judge_by(gate(vec![("work", Profile { servers: vec!["time".to_owned()], ..Profile::default() })]));
        assert_eq!(ann.list("tools").await, ["time__now", "time__zones"], "{era:?}");
        assert!(!ran(&ann.call("git__log", json!({})).await));
        // One that is gone leaves nothing, and not everything.
        kernel.judge_by(gate(Vec::new()));
        assert!(ann.list("tools").await.is_empty() && !kernel.has_profile("work"));
        assert!(!ran(&ann.call("time__now", json!({})).await));
    }
}

#[tokio::test]
async fn a_profile_bounds_risk_and_asks_more() {
    let safe = Profile { max_risk: Some(Risk::Safe), ..Profile::default() };
    let careful = Profile { confirm: Confirm::Changes, ..Profile::default() };
    let strict = Profile { confirm: Confirm::All, ..Profile::default() };
    let place = Place::new(vec![("safe", safe), ("careful", careful), ("strict", strict)]).await;
    for era in ERAS {
        let plain = place.ann(era, None).await;
        assert!(ran(&plain.call("git__write", json!({})).await), "nobody is asked without a profile");
        let safe = place.ann(era, Some("safe")).await;
        assert_eq!(safe.list("tools").await, ["git__log", "time__now", "time__zones"]);
        assert!(!ran(&safe.call("git__write", json!({})).await));
        let calls = place.git.calls();
        for (profile, tool, asks) in [
            ("careful", "git__write", true),
            ("careful", "git__log", false),
            ("strict", "git__write", true),
            ("strict", "git__log", true),
        ] {
            let called = place.ann(era, Some(profile)).await.call(tool, json!({})).await;
            assert_eq!(
                !ran(&called) && kind_of(&called) == "confirmation_required",
                asks,
                "{profile} {tool}: {called:?}"
            );
        }
        assert_eq!(place.git.calls(), calls + 1, "what is asked about is not done");
    }
}

#[tokio::test]
async fn a_profile_takes_away_and_never_gives() {
    let place = Place::new(vec![("work", work())]).await;
    place.house.grant("ann", "git", Some("log"), false).await;
    for era in ERAS {
        let ann = place.ann(era, Some("work")).await;
        assert_eq!(ann.list("tools").await, ["time__now"]);
        assert!(!ran(&ann.call("git__log", json!({})).await));
    }
    let owner = Identity { admin: true, ..Identity::new("root", Method::Local) };
    assert!(!owner.within_profile("work").admin, "who works in a profile decides nothing for others");
}

#[tokio::test]
async fn a_profile_says_how_much_is_listed() {
    let few = Profile { shown: Some(Shown::At(Level::Hybrid)), pinned: vec!["git__log".to_owned()], ..work() };
    let place = Place::new(vec![("few", few)]).await;
    for era in ERAS {
        let narrow = place.ann(era, Some("few")).await;
        let listed = narrow.list("tools").await;
        assert!(listed.contains(&"git__log".to_owned()) && !listed.contains(&"time__now".to_owned()), "{listed:?}");
        assert!(listed.contains(&"mgp_tools_discover".to_owned()));
        assert_eq!(place.ann(era, None).await.list("tools").await.len(), 4);
    }
}
