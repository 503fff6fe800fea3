//! Each step has its place and its name, and what may not be called is not listed.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_audit::event;
use switchboard_flow::meter::{Allowance, Rate};
use switchboard_gate::rates::PrincipalRates;
use switchboard_gate::{Admission, GateOptions};
use switchboard_policy::risk::OperatorWord;
use switchboard_upstream::ListKind;

use crate::world::{World, caller, raw};

/// The steps that a call can be refused at by what is said in it and of it, in their order.
const STEPS: [&str; 7] = ["access", "delegation", "scopes", "schema", "validators", "rate", "confirmation"];

fn definition() -> Value {
    json!({
        "name": "run",
        "inputSchema": {
            "type": "object",
            "properties": {"command": {"type": "string"}, "times": {"type": "integer"}},
        },
        "security": {"validator": "sandbox"},
    })
}

/// Nobody is asked.
fn unasked() -> OperatorWord {
    OperatorWord { confirm: Some(false), ..OperatorWord::default() }
}

/// A call in which these steps find something, and the world that it is made in.
async fn refused_at(steps: &[&str]) -> Vec<(String, Option<String>)> {
    let has = |step: &str| steps.contains(&step);
    let once = Rate { count: 1, window: Duration::from_secs(3600), burst: 1 };
    let each = Allowance { rate: has("rate").then_some(once), ..Allowance::default() };
    let word = OperatorWord { confirm: Some(has("confirmation")), ..OperatorWord::default() };
    let rates = PrincipalRates { each, ..PrincipalRates::default() };
    let world = World::new(&definition(), word, GateOptions::default(), rates);
    let principal = if has("access") { "eve" } else { "local" };
    if has("rate") {
        // What the rate allows.
        let _ = world.call(principal, &json!({"command": "ls"}), &json!({})).await;
        let _ = world.call("local", &json!({"command": "ls"}), &json!({})).await;
        world.events();
    }
    let command = if has("validators") { "rm -rf / --no-preserve-root" } else { "ls" };
    let arguments =
        if has("schema") { json!({"command": command, "times": "twice"}) } else { json!({"command": command}) };
    let mut beside = json!({});
    if has("delegation") {
        beside["_mgp"] = json!({"delegation": {
            "original_actor": "zoe", "delegated_via": "somebody", "delegation_id": "d", "chain": ["zoe", "somebody"],
        }});
    }
    if has("scopes") {
        beside["_meta"] = json!({"dev.switchboard/session_token": "sbs_unknown"});
    }
    let outcome = world.call(principal, &arguments, &beside).await;
    let passed = matches!(outcome, Ok(Admission::Go(..)));
    assert_eq!(passed, steps.is_empty(), "{steps:?}: {outcome:?}");
    drop(outcome);
    world.events()
}

#[tokio::test]
async fn the_first_step_that_finds_something_refuses_under_its_name() {
    for at in 0..STEPS.len() {
        let events = refused_at(&STEPS[at..]).await;
        let step = events.iter().find_map(|(_, step)| step.as_deref());
        assert_eq!(step, Some(STEPS[at]), "{events:?}");
    }
}

#[tokio::test]
async fn a_call_that_passes_and_is_given_up_has_an_unknown_end() {
    let events = refused_at(&[]).await;
    let types: Vec<&str> = events.iter().map(|(event_type, _)| event_type.as_str()).collect();
    assert_eq!(types, [event::INTENT, event::UNKNOWN_OUTCOME]);
}

#[tokio::test]
async fn what_may_not_be_called_is_not_listed() {
    let world = World::new(&definition(), unasked(), GateOptions::default(), PrincipalRates::default());
    for (principal, listed) in [("local", true), ("eve", false)] {
        let list = world.gate().visible(&caller(principal), world.offers(), ListKind::Tools).await.unwrap();
        assert_eq!(list.as_str(), listed.to_string(), "{principal}");
        let called = world.call(principal, &json!({"command": "ls"}), &json!({})).await;
        assert_eq!(matches!(called, Ok(Admission::Go(..))), listed, "{principal}: {called:?}");
    }
}

#[tokio::test]
async fn a_call_that_waits_for_input_of_its_client_stays_open() {
    let world = World::new(&definition(), unasked(), GateOptions::default(), PrincipalRates::default());
    let admission = world.call("local", &json!({"command": "ls"}), &json!({})).await.unwrap();
    let Admission::Go(permit, _) = admission else { panic!("{admission:?}") };
    world.events();
    let result = raw(&json!({"resultType": "input_required", "requestState": "state", "inputRequests": {}}));
    world.gate().settle(permit, &Ok(Ok(result).into())).await;
    assert_eq!(*world.around.open.lock(), ["state"]);
}
