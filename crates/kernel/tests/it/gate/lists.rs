//! What is listed can be called, and what is not listed does not exist: for tools, prompts and resources.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::json;
use switchboard_kernel::ServerPolicy;
use switchboard_peer::{Identity, Method, Scopes};
use switchboard_protocol::Era;
use switchboard_protocol::mgp::DefaultPolicy;

use super::world::{Client, ERAS, House, Script, entry, kind_of, open_house, parsed, ran, shape, tool, tool_with};

const SERVERS: [&str; 3] = ["git", "files", "db"];
const TOOLS: [&str; 3] = ["read", "write", "store"];
const PEOPLE: [&str; 3] = ["ann", "bob", "local"];

#[derive(Debug, Clone)]
struct Rule {
    principal: usize,
    server: usize,
    tool: Option<usize>,
    allow: bool,
    /// Over, lasting, or without an end.
    ends: Option<bool>,
}

fn rule() -> impl Strategy<Value = Rule> {
    (0..3usize, 0..3usize, prop::option::of(0..3usize), any::<bool>(), prop::option::of(any::<bool>()))
        .prop_map(|(principal, server, tool, allow, ends)| Rule { principal, server, tool, allow, ends })
}

fn policy() -> impl Strategy<Value = Option<DefaultPolicy>> {
    prop::option::of(prop_oneof![Just(DefaultPolicy::OptIn), Just(DefaultPolicy::OptOut)])
}

/// A token's limits, in its own words.
fn scopes() -> impl Strategy<Value = Vec<&'static str>> {
    prop_oneof![
        3 => Just(vec![]),
        1 => Just(vec!["server:git"]),
        1 => Just(vec!["tool:files__read"]),
        1 => Just(vec!["tool:db__*", "server:files"]),
    ]
}

async fn listing_is_callable(rules: &[Rule], defaults: [Option<DefaultPolicy>; 3], limits: &[&'static str], era: Era) {
    let scripts: Vec<_> = SERVERS.iter().map(|id| (*id, Script::new(Era::Legacy, TOOLS.map(tool).to_vec()))).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let policy = || {
        let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        ServerPolicy { default_policy: defaults[index], ..ServerPolicy::default() }
    };
    let house = House::with(&scripts, policy, |_| {}).await;
    for rule in rules {
        let tool = rule.tool.map(|tool| TOOLS[tool]);
        let mut entry = entry(PEOPLE[rule.principal], SERVERS[rule.server], tool, rule.allow);
        let hour = SignedDuration::from_hours(1);
        entry.expires_at = rule.ends.map(|over| if over { Timestamp::now() } else { Timestamp::now() + hour });
        // Straight into the store: nobody waits here.
        house.store.grants().put_access(&entry).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(210)).await;
    for person in PEOPLE {
        let (admin, scopes) = Scopes::parse(limits.iter().copied()).unwrap();
        let identity = Identity { admin, scopes, ..Identity::new(person, Method::Token) };
        let client = Client::new(&house.kernel, identity.into(), era, json!({})).await;
        check(&client, &house).await;
    }
}

async fn check(client: &Client, _house: &House) {
    let listed = client.list("tools").await;
    for server in SERVERS {
        for tool in TOOLS {
            let name = format!("{server}__{tool}");
            let called = client.call(&name, json!({})).await;
            if listed.contains(&name) {
                assert!(ran(&called), "{name} is listed and cannot be called: {called:?}");
            } else {
                // What is near to it, among what the client may use, is the same for a server that there is not.
                let none = format!("none__{tool}");
                let missing = client.call(&none, json!({})).await.unwrap_err();
                assert_eq!(shape(&called.unwrap_err(), &name), shape(&missing, &none), "{name} is not listed");
            }
            // Nothing about the call but the name may tell whether the tool is there.
            let odd = format!(r#"{{"name":"{name}","_meta":{{"a":1,"a":2}}}}"#);
            if client.era == Era::Legacy {
                let missing = format!("none__{tool}");
                let none = odd.replace(&name, &missing);
                let odd = client.send(client.context(), "tools/call", &parsed(&odd)).await.unwrap_err();
                let none = client.send(client.context(), "tools/call", &parsed(&none)).await.unwrap_err();
                assert_eq!(shape(&odd, &name), shape(&none, &missing));
            }
        }
    }
    let missing = client.request("prompts/get", json!({"name": "none__such"})).await.unwrap_err();
    let missing = shape(&missing, "none__such");
    let listed = client.list("prompts").await;
    for server in SERVERS {
        let name = format!("{server}__hello");
        let got = client.request("prompts/get", json!({"name": name})).await;
        let complete = json!({"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": "a", "value": ""}});
        let completed = client.request("completion/complete", complete).await;
        if listed.contains(&name) {
            assert!(got.is_ok() && completed.is_ok(), "{name} is listed: {got:?} {completed:?}");
        } else {
            assert_eq!(shape(&got.unwrap_err(), &name), missing, "{name} is not listed");
            assert_eq!(shape(&completed.unwrap_err(), &name), missing, "{name} is not listed");
        }
    }
    let missing = client.request("resources/read", json!({"uri": "none+script://one"})).await.unwrap_err();
    let missing = shape(&missing, "none+script://one");
    let listed = client.list("resources").await;
    for server in SERVERS {
        let uri = format!("{server}+script://one");
        let read = client.request("resources/read", json!({"uri": uri})).await;
        if listed.contains(&uri) {
            assert!(read.is_ok(), "{uri} is listed: {read:?}");
        } else {
            assert_eq!(shape(&read.unwrap_err(), &uri), missing, "{uri} is not listed");
        }
        if client.era == Era::Legacy && !listed.contains(&uri) {
            for method in ["resources/subscribe", "resources/unsubscribe"] {
                let refused = client.request(method, json!({"uri": uri})).await.unwrap_err();
                assert_eq!(shape(&refused, &uri), missing, "{method} tells of {uri}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn every_listed_thing_works_and_every_other_does_not_exist(
        rules in prop::collection::vec(rule(), 0..14),
        defaults in [policy(), policy(), policy()],
        limits in scopes(),
        modern in any::<bool>(),
    ) {
        let era = if modern { Era::Modern } else { Era::Legacy };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(listing_is_callable(&rules, defaults, &limits, era));
    }
}

/// What a session token of the test is asked to hold; `None` for a caller without one.
fn held() -> impl Strategy<Value = Option<Vec<&'static str>>> {
    let scope =
        prop::sample::select(vec!["data:write", "data:drop", "tool:git__read", "server:files", "tool:db__write"]);
    prop::option::of(prop::collection::vec(scope, 0..4))
}

/// With scopes demanded or not, with a session token or without.
async fn listing_is_callable_within_scopes(demand: bool, held: Option<&[&str]>, rules: &[Rule], era: Era) {
    let tools = || {
        let needs = |name, scope: &str| tool_with(name, &json!({"required_scopes": [scope]}));
        vec![tool("read"), needs("write", "data:write"), needs("store", "data:drop")]
    };
    let scripts: Vec<_> = SERVERS.iter().map(|id| (*id, Script::new(Era::Legacy, tools()))).collect();
    let house = House::with(&scripts, ServerPolicy::default, |gate| {
        open_house(gate);
        gate.demand_scopes = demand;
    })
    .await;
    for rule in rules {
        let entry = entry("ann", SERVERS[rule.server], rule.tool.map(|tool| TOOLS[tool]), rule.allow);
        house.store.grants().put_access(&entry).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(210)).await;
    let ann = house.client(era, "ann").await;
    let mut meta = json!({});
    if let Some(scopes) = held {
        let given = ann.request("negotiate_scopes", json!({"requested_scopes": scopes})).await.unwrap();
        meta["session_token"] = given["session"]["token"].clone();
    }
    let list = ann.request("tools/list", json!({"_meta": meta})).await.unwrap();
    let listed: Vec<_> = list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for server in SERVERS {
        for tool in TOOLS {
            let name = format!("{server}__{tool}");
            let called = ann.request("tools/call", json!({"name": name, "arguments": {}, "_meta": meta})).await;
            assert_eq!(ran(&called), listed.contains(&&*name), "{name}, {held:?}: {called:?}");
            let asked = json!({"tool": name, "parameters": {}, "_meta": meta});
            let told = ann.request("check_permissions", asked).await.unwrap();
            assert_eq!(told["allowed"], listed.contains(&&*name), "{name}, {held:?}: {told}");
            // What only a scope is missing for can be asked about, though it is not listed.
            if called.is_ok() && !ran(&called) {
                assert_eq!(kind_of(&called), "scope_insufficient");
                assert!(!told["missing_scopes"].as_array().unwrap().is_empty(), "{name}: {told}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn what_scopes_do_not_cover_is_not_listed(
        demand in any::<bool>(),
        held in held(),
        rules in prop::collection::vec(rule(), 0..5),
        modern in any::<bool>(),
    ) {
        let era = if modern { Era::Modern } else { Era::Legacy };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(listing_is_callable_within_scopes(demand, held.as_deref(), &rules, era));
    }
}

/// A token for one tool opens nothing else of the server.
#[tokio::test]
async fn a_token_for_a_tool_reads_no_resource() {
    for era in ERAS {
        let script = Script::new(Era::Legacy, vec![tool("read"), tool("write")]);
        let house = House::with(&[("files", script.clone())], ServerPolicy::default, open_house).await;
        let (_, scopes) = Scopes::parse(["tool:read"]).unwrap();
        let identity = Identity { scopes, ..Identity::new("ann", Method::Token) };
        let ann = Client::new(&house.kernel, identity.into(), era, json!({})).await;
        assert_eq!(ann.list("tools").await, ["read"]);
        assert!(ran(&ann.call("read", json!({})).await));
        assert!(ann.call("write", json!({})).await.is_err());
        assert!(ann.list("resources").await.is_empty() && ann.list("prompts").await.is_empty());
        assert!(ann.request("resources/read", json!({"uri": "script://one"})).await.is_err());
        assert!(ann.request("prompts/get", json!({"name": "hello"})).await.is_err());
        assert!(ann.request("vendor/own", json!({})).await.is_err());
        assert!(script.heard("resources/read").is_empty() && script.heard("vendor/own").is_empty());
    }
}

/// The kernel's own tools are called by those who see them.
#[tokio::test]
async fn the_kernels_tools_are_listed_where_they_can_be_called() {
    let speaks = json!({"mgp": {"version": "0.3.0", "extensions": ["access_control"]}});
    for (admin, mgp) in [(false, false), (false, true), (true, false), (true, true)] {
        let script = Script::new(Era::Legacy, vec![tool("read")]);
        let house = House::with(&[("files", script.clone())], ServerPolicy::default, open_house).await;
        let capabilities = if mgp { speaks.clone() } else { json!({}) };
        let client = match admin {
            true => house.admin(Era::Legacy, capabilities).await,
            false => house.client_with(Era::Legacy, "ann", capabilities).await,
        };
        let listed = client.list("tools").await;
        let me = &*client.session.principal;
        let called = client.call("mgp_access_query", json!({"agent_id": me, "server_id": "files"})).await;
        assert_eq!(listed.contains(&"mgp_access_query".to_owned()), admin && mgp);
        assert_eq!(called.is_ok(), admin && mgp, "admin {admin}, mgp {mgp}: {called:?}");
        if let Err(error) = called {
            let none = client.call("mgp_none", json!({})).await.unwrap_err();
            assert_eq!(shape(&error, "mgp_access_query"), shape(&none, "mgp_none"));
        }
    }
}

/// Whether a server is there is not told to who may not use it.
#[tokio::test]
async fn asking_about_oneself_does_not_tell_which_servers_there_are() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    *script.instructions.lock() = Some("secret instructions".to_owned());
    let house = House::new(&[("files", script.clone())]).await;
    house.grant("eve", "files", None, false).await;
    let eve = house.client(Era::Legacy, "eve").await;
    assert!(eve.greeting.get("instructions").is_none(), "a denial opens nothing: {}", eve.greeting);
    assert_eq!(eve.greeting["serverInfo"]["name"], "switchboard");
    let bob = house.client(Era::Legacy, "bob").await;
    let about = |server: &str| json!({"agent_id": "bob", "server_id": server, "tool_name": "read"});
    let there = bob.request("mgp/access/query", about("files")).await.unwrap();
    let gone = bob.request("mgp/access/query", about("none")).await.unwrap();
    assert_eq!(there, gone);
    assert_eq!(there["permission"], "deny");
}

/// What a client says to all is heard by servers that it may use.
#[tokio::test]
async fn notifications_pass_the_gate() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let house = House::new(&[("files", script.clone())]).await;
    let eve = house.client(Era::Legacy, "eve").await;
    for method in ["notifications/vendor.erase", "notifications/roots/list_changed", "notifications/mgp.audit"] {
        eve.notify(method, json!({})).await;
    }
    house.grant("ann", "files", None, true).await;
    let ann = house.client(Era::Legacy, "ann").await;
    tokio::time::sleep(Duration::from_millis(210)).await;
    ann.notify("notifications/vendor.hello", json!({})).await;
    super::world::until("the notification arrives", || !script.heard("notifications/vendor.hello").is_empty()).await;
    assert!(script.heard("notifications/vendor.erase").is_empty());
    assert!(script.heard("notifications/roots/list_changed").is_empty());
    assert!(script.heard("notifications/mgp.audit").is_empty());
}

/// A server that may not be used neither asks nor tells the only client that is there.
#[tokio::test]
async fn a_server_speaks_only_to_those_who_may_use_it() {
    use switchboard_peer::Call;
    use switchboard_wire::Notification;
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let house = House::new(&[("files", script.clone())]).await;
    let eve = house.client_with(Era::Legacy, "eve", json!({"elicitation": {}})).await;
    let session = script.sessions.lock()[0].clone();
    let _ = session.remote().notify(Notification::new(
        "notifications/message",
        Some(super::world::raw(&json!({"level": "error", "data": "psst"}))),
    ));
    let question = super::world::raw(&json!({"message": "Your password?", "requestedSchema": {"type": "object"}}));
    let call = Call::new("elicitation/create", Some(question)).within(Duration::from_secs(3));
    let answer = session.remote().request(call).await.unwrap().outcome;
    assert!(answer.is_err());
    assert!(eve.ear.asked.lock().is_empty());
    assert!(eve.ear.told.lock().iter().all(|(method, _)| method != "notifications/message"));
}
