//! Manifests: what they hold, for whom, and when they change.
#![allow(clippy::unwrap_used, reason = "a test that finds nothing to unwrap has failed")]

pub(crate) mod schemas;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::{Allowance, Kernel, KernelOptions, PressurePolicy, Quota, Rate, ServerPolicy};
use switchboard_peer::{Identity, Method};
use switchboard_protocol::Era;

use crate::gate::world::{Client, ERAS, House, Script, dangerous, ran, spec, tool, tool_with, until};
use schemas::{faults, is_manifest};

const ASK: &str = "get_manifest";

async fn manifest(client: &Client, params: Value) -> Value {
    let answer = client.request(ASK, params).await.unwrap();
    is_manifest(&answer);
    answer
}

fn named<'a>(manifest: &'a Value, name: &str) -> &'a Value {
    let tools = manifest["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no {name} in {manifest:#}"))
}

fn names(manifest: &Value) -> Vec<&str> {
    manifest["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_manifest_holds_what_is_known_of_what_the_caller_may_use() {
    let export = tool_with(
        "exportAll",
        &json!({"description": "Exports", "latency": "minutes", "cost": {"category": "metered", "estimated_units": 5},
            "required_scopes": ["export"], "output_types": ["text/csv"], "outputSchema": {"type": "object"}}),
    );
    let git = Script::new(Era::Legacy, vec![tool("status"), export, dangerous("wipe")]);
    let mail = Script::new(Era::Modern, vec![tool("send.now")]);
    let house = House::new(&[("git", git), ("mail", mail)]).await;
    house.grant("ann", "git", None, true).await;
    for era in ERAS {
        let ann = house.client(era, "ann").await;
        let all = manifest(&ann, json!({})).await;
        assert_eq!(all["server"]["name"], "switchboard");
        assert_eq!(all["manifest_ttl"], 300);
        let tools = names(&all);
        assert!(tools.contains(&"git__status") && tools.contains(&"get_manifest"), "{tools:?}");
        assert!(!tools.iter().any(|name| name.starts_with("mail")), "what one may not call is not there: {tools:?}");
        let export = named(&all, "git__export_all");
        assert_eq!(export["call_name"], "git__exportAll");
        assert_eq!((&export["latency"], &export["latency_basis"]["source"]), (&json!("minutes"), &json!("declared")));
        assert_eq!(export["cost"], json!({"category": "metered", "estimated_units": 5}));
        assert_eq!(export["required_scopes"], json!(["export"]));
        assert_eq!(export["output_types"], json!(["text/csv"]));
        let wipe = named(&all, "git__wipe");
        assert_eq!((&wipe["risk_level"], &wipe["requires_confirmation"]), (&json!("destructive"), &json!(true)));
        assert_eq!(all["auth"]["methods"], json!(["bearer_token"]));
        let scopes: Vec<&str> =
            all["auth"]["scopes"].as_array().unwrap().iter().map(|scope| scope["name"].as_str().unwrap()).collect();
        assert_eq!(scopes, ["export", "server:git"]);

        let one = manifest(&ann, json!({"server_id": "git"})).await;
        assert_eq!((&one["server"]["server_id"], &one["server"]["name"]), (&json!("git"), &json!("script")));
        assert_eq!((&one["server"]["version"], &one["server"]["reported_version"]), (&json!("1.0.0"), &json!("1")));
        assert_eq!(one["server"]["status"], "connected");
        assert_eq!(names(&one), ["git__status", "git__export_all", "git__wipe"]);
        let hidden = ann.request(ASK, json!({"server_id": "mail"})).await.unwrap_err();
        let absent = ann.request(ASK, json!({"server_id": "liam"})).await.unwrap_err();
        assert_eq!(hidden.code, absent.code, "who may not use a server does not learn whether it is there");
        assert_eq!(hidden.message.replace("mail", ""), absent.message.replace("liam", ""));
        let two = manifest(&ann, json!({"tools": ["git__exportAll", "git__wipe", "mail__send.now"]})).await;
        assert_eq!(names(&two), ["git__export_all", "git__wipe"]);
    }
}

#[tokio::test]
async fn every_name_that_breaks_the_form_gets_one_that_does_not() {
    let script = Script::new(Era::Legacy, vec![tool("a.b"), tool("a_b"), tool("A-b"), tool("9to5")]);
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, crate::gate::world::open_house).await;
    let client = house.client(Era::Legacy, "ann").await;
    let all = manifest(&client, json!({"server_id": "s"})).await;
    for tool in all["tools"].as_array().unwrap() {
        let called = tool.get("call_name").unwrap_or_else(|| &tool["name"]).as_str().unwrap();
        assert!(ran(&client.call(called, json!({})).await), "{called}");
    }
    assert_eq!(script.calls(), all["tools"].as_array().unwrap().len(), "each is called by the name that is given");
}

#[tokio::test]
async fn measured_times_correct_what_a_server_says() {
    let script = Script::new(Era::Legacy, vec![tool_with("quick", &json!({"latency": "minutes"})), tool("fail")]);
    let house = House::with(&[("s", script)], ServerPolicy::default, crate::gate::world::open_house).await;
    let client = house.client(Era::Legacy, "ann").await;
    let before = manifest(&client, json!({})).await;
    assert_eq!(named(&before, "quick")["latency"], "minutes");
    for _ in 0..6 {
        assert!(ran(&client.call("quick", json!({})).await));
        let _ = client.call("fail", json!({})).await;
    }
    let after = manifest(&client, json!({})).await;
    let quick = named(&after, "quick");
    assert_eq!(quick["latency"], "instant");
    assert_eq!(quick["latency_basis"]["source"], "measured");
    assert_eq!((&quick["latency_basis"]["declared"], &quick["latency_basis"]["calls"]), (&json!("minutes"), &json!(6)));
    assert_eq!(named(&after, "fail").get("latency"), None, "what fails says nothing of how long it takes");
    assert_ne!(before["etag"], after["etag"], "another class is another manifest");
}

#[tokio::test]
async fn an_etag_stays_while_nothing_changes_that_one_plans_by() {
    let script = Script::new(Era::Legacy, vec![tool("one")]);
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, crate::gate::world::open_house).await;
    let client = house.client(Era::Legacy, "ann").await;
    let first = manifest(&client, json!({})).await;
    assert!(ran(&client.call("one", json!({})).await));
    let again = client.request(ASK, json!({"if_none_match": first["etag"]})).await.unwrap();
    assert_eq!(faults("get-manifest", Some("Unchanged"), &again), [""; 0], "{again}");
    client.ear.told.lock().clear();
    script.tools.lock().push(tool("two"));
    script.tools_changed();
    let told = || client.ear.told.lock().iter().any(|(method, _)| method == "notifications/manifest/list_changed");
    until("a notice", told).await;
    let other = manifest(&client, json!({"if_none_match": first["etag"]})).await;
    assert_ne!(other["etag"], first["etag"]);
    assert!(names(&other).contains(&"two"));
}

#[tokio::test]
async fn who_never_asked_is_not_told_and_who_subscribed_is() {
    let script = Script::new(Era::Legacy, vec![tool("one")]);
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, crate::gate::world::open_house).await;
    let quiet = house.client(Era::Legacy, "ann").await;
    let mgp = json!({"mgp": {"version": "0.6.0", "extensions": ["events"]}});
    let subscriber = house.client_with(Era::Legacy, "bob", mgp).await;
    let channels = json!({"channels": ["system.manifest.changed"]});
    let subscribed = subscriber.request("mgp/events/subscribe", channels).await.unwrap();
    assert_eq!(subscribed["channels"], json!(["system.manifest.changed"]), "{subscribed}");
    script.tools.lock().push(tool("two"));
    script.tools_changed();
    let told = |client: &Client, name: &str| client.ear.told.lock().iter().any(|(method, _)| method == name);
    until("an event", || told(&subscriber, "notifications/mgp.event")).await;
    until("a list", || told(&quiet, "notifications/tools/list_changed")).await;
    assert!(!told(&quiet, "notifications/manifest/list_changed"));
}

#[tokio::test]
async fn limits_of_the_operator_and_what_is_left_of_them() {
    let script = Script::new(Era::Legacy, vec![tool("one"), tool("two")]);
    let quota = |count| Some(Quota { count, period: Duration::from_hours(24) });
    let per_minute = |count| Some(Rate { count, window: Duration::from_mins(1), burst: count });
    let policy = ServerPolicy {
        pressure: PressurePolicy {
            rates: Allowance { rate: per_minute(30), ..Allowance::default() },
            tools: HashMap::from([("one".to_owned(), Allowance { quota: quota(12), ..Allowance::default() })]),
            ..PressurePolicy::default()
        },
        ..ServerPolicy::default()
    };
    let mut options = KernelOptions::default();
    options.principal_rates.each = Allowance { quota: quota(100), concurrent: Some(4), ..Allowance::default() };
    crate::gate::world::open_house(&mut options.gate);
    let kernel = Kernel::new(options);
    kernel.apply(vec![spec("s", script as Arc<_>, policy)]);
    kernel.settled(Duration::from_secs(5)).await;
    let client = Client::new(&kernel, Identity::new("ann", Method::Oidc).into(), Era::Legacy, json!({})).await;
    let first = manifest(&client, json!({})).await;
    assert!(ran(&client.call("one", json!({})).await));
    let all = manifest(&client, json!({})).await;
    assert_eq!(first["etag"], all["etag"], "counters are no change");
    let limits = &all["rate_limits"];
    assert_eq!((&limits["requests_per_day"], &limits["concurrent"]), (&json!(100), &json!(4)));
    assert_eq!(limits["remaining"], 99);
    assert!(limits["resets_at"].is_string());
    assert_eq!(named(&all, "one")["quota"]["remaining"], 11);
    assert_eq!(named(&all, "one")["rate_limits"], json!({"requests_per_day": 12}));
    assert_eq!(named(&all, "two").get("quota"), None);
    assert_eq!(all["auth"]["methods"], json!(["oauth2_code"]));
    let one = manifest(&client, json!({"server_id": "s"})).await;
    assert_eq!(
        (&one["rate_limits"]["requests_per_minute"], &one["rate_limits"]["remaining"]),
        (&json!(30), &json!(29))
    );
}

/// A server's own manifest, with what it may say and what it may not.
fn own_manifest() -> Value {
    json!({
        "manifest_version": "0.1.0",
        "server": {"name": "x", "version": "1.0.0", "mcp_spec_version": "2025-11-25", "description": "Reads pictures",
            "homepage": "https://pictures.example"},
        "auth": {"methods": ["api_key"], "scopes": [{"name": "see", "description": "See pictures", "grants": ["look"]}]},
        "tools": [
            {"name": "look", "description": "changed", "input_schema": {}, "risk_level": "safe",
                "requires_confirmation": false, "input_types": ["image/png"], "max_input_size_bytes": 10485760,
                "cost": {"category": "metered", "estimated_units": 2}, "latency": "seconds"},
            {"name": "made_up", "description": "Not in the list", "input_schema": {}},
        ],
        "supported_extensions": ["intent_hints", "telepathy"],
        "rate_limits": {"requests_per_minute": 7},
    })
}

#[tokio::test]
async fn a_servers_own_manifest_is_read_and_not_believed_beyond_policy() {
    for era in ERAS {
        let mut look = dangerous("look");
        look["description"] = "Looks at a picture".into();
        let script = Script::new(era, vec![look, tool(ASK)]);
        script
            .results
            .lock()
            .insert(ASK.to_owned(), json!({"content": [{"type": "text", "text": own_manifest().to_string()}]}));
        let other = Script::new(era, vec![tool("plain")]);
        let house = House::with(&[("eye", script.clone()), ("s", other)], ServerPolicy::default, |gate| {
            gate.default_policy = Some(switchboard_protocol::mgp::DefaultPolicy::OptOut);
        })
        .await;
        let client = house.client(Era::Legacy, "ann").await;
        let own = manifest(&client, json!({"server_id": "eye"})).await;
        let look = named(&own, "eye__look");
        assert_eq!((&look["risk_level"], &look["requires_confirmation"]), (&json!("destructive"), &json!(true)));
        assert_eq!(look["description"], "Looks at a picture", "a person may have accepted that, not the other");
        assert_eq!((&look["input_types"], &look["latency"]), (&json!(["image/png"]), &json!("seconds")));
        assert_eq!(look["cost"]["category"], "metered");
        assert_eq!(names(&own), ["eye__look", "eye__get_manifest"], "a manifest adds no tools");
        assert_eq!(own["supported_extensions"], json!(["intent_hints"]));
        assert_eq!(own["rate_limits"]["requests_per_minute"], 7);
        assert_eq!(own["upstream_auth"]["methods"], json!(["api_key"]));
        assert_eq!(own["server"]["homepage"], "https://pictures.example");
        let whole = manifest(&client, json!({})).await;
        assert_eq!(named(&whole, "eye__look")["input_types"], json!(["image/png"]));
        assert_eq!(script.calls(), 1, "what was read is kept for a while");
        let read = house.await_events("dev.switchboard.content_read", 1).await;
        assert_eq!((&*read[0].actor.kind, &read[0].details["kind"]), ("kernel", &json!("manifest")));
    }
}

#[tokio::test]
async fn a_manifest_that_needs_consent_is_not_asked_for() {
    let script = Script::new(Era::Legacy, vec![dangerous(ASK), tool("look")]);
    let other = Script::new(Era::Legacy, vec![tool("plain")]);
    let house = House::with(&[("eye", script.clone()), ("s", other)], ServerPolicy::default, |gate| {
        gate.default_policy = Some(switchboard_protocol::mgp::DefaultPolicy::OptOut);
    })
    .await;
    let client = house.client(Era::Legacy, "ann").await;
    assert_eq!(names(&manifest(&client, json!({"server_id": "eye"})).await).len(), 2);
    assert_eq!(script.calls(), 0);
}

#[tokio::test]
async fn a_model_gets_as_much_as_it_has_room_for() {
    let long = "words ".repeat(200);
    let many: Vec<Value> =
        (0..60).map(|number| tool_with(&format!("tool_{number}"), &json!({"description": long}))).collect();
    let script = Script::new(Era::Legacy, many);
    let house = House::with(&[("s", script)], ServerPolicy::default, crate::gate::world::open_house).await;
    for era in ERAS {
        let client = house.client_with(era, "ann", json!({"extensions": ["multimodal_signatures"]})).await;
        assert!(client.list("tools").await.contains(&ASK.to_owned()));
        let said = client.call(ASK, json!({})).await.unwrap();
        let said = &said["structuredContent"];
        is_manifest(said);
        let shown = said["tools"].as_array().unwrap().len();
        assert!((1..60).contains(&shown), "{shown}");
        // The kernel's own tools are counted among those that are left out.
        assert!(said["truncated"]["omitted"].as_u64().unwrap() >= 60 - shown as u64);
        let all = manifest(&client, json!({})).await;
        assert!(all["tools"].as_array().unwrap().len() > 60, "a program gets all");
        let one = client.call(ASK, json!({"tools": ["tool_59"]})).await.unwrap();
        assert_eq!(names(&one["structuredContent"]), ["tool_59"]);
    }
    let plain = house.client(Era::Legacy, "ann").await;
    assert!(!plain.list("tools").await.contains(&ASK.to_owned()), "who speaks no proposal is not shown it");
    assert!(plain.call(ASK, json!({"tools": ["tool_1"]})).await.is_ok(), "and can call it all the same");
}

#[tokio::test]
async fn a_server_that_stands_alone_keeps_its_own_tool_and_the_method_is_the_kernels() {
    let script = Script::new(Era::Legacy, vec![tool("look"), tool(ASK)]);
    let said = json!({"content": [], "structuredContent": own_manifest(), "odd": 1.5});
    script.results.lock().insert(ASK.to_owned(), said.clone());
    let house = House::with(&[("eye", script.clone())], ServerPolicy::default, crate::gate::world::open_house).await;
    let client = house.client_with(Era::Legacy, "ann", json!({"extensions": ["provenance"]})).await;
    assert_eq!(client.list("tools").await, ["look", ASK], "there is one of that name");
    let answer = client.call(ASK, json!({})).await.unwrap();
    assert_eq!((&answer["structuredContent"], &answer["odd"]), (&said["structuredContent"], &said["odd"]));
    let before = script.calls();
    let (one, other) = tokio::join!(manifest(&client, json!({})), manifest(&client, json!({"server_id": "eye"})));
    assert_eq!(named(&one, "look")["input_types"], json!(["image/png"]));
    assert_eq!(one["server"]["name"], "switchboard");
    assert_eq!(names(&other), ["look", ASK]);
    assert_eq!(script.calls() - before, 1, "who asks at the same time waits for the same answer");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_became_slower_is_told_of() {
    let script = Script::new(Era::Legacy, vec![tool("one")]);
    let mut options = KernelOptions::default();
    crate::gate::world::open_house(&mut options.gate);
    let kernel = Kernel::new(options);
    kernel.apply(vec![spec("s", script as Arc<_>, ServerPolicy::default())]);
    kernel.settled(Duration::from_secs(5)).await;
    let client = Client::new(&kernel, Identity::new("ann", Method::Token).into(), Era::Legacy, json!({})).await;
    let first = manifest(&client, json!({})).await;
    for _ in 0..5 {
        assert!(ran(&client.call("one", json!({})).await));
    }
    client.ear.told.lock().clear();
    let told = || {
        let told = client.ear.told.lock().clone();
        told.into_iter().find(|(method, _)| method == "notifications/manifest/list_changed")
    };
    // The kernel looks now and then; time passes at once here.
    for _ in 0..100 {
        if told().is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(told().expect("a notice").1, json!({"reason": "latency"}));
    assert_ne!(manifest(&client, json!({})).await["etag"], first["etag"]);
}
