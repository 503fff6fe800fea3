//! A server gets what the operator gives it, and is told so.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_kernel::ServerPolicy;
use switchboard_peer::Call;
use switchboard_protocol::Era;
use switchboard_protocol::mgp::{ApprovalPolicy, TrustLevel};
use switchboard_store::PermissionDecision;
use switchboard_wire::Notification;

use super::world::{ERAS, House, Script, kind_of, open_house, ran, raw, tool, tool_with, until};

const PLACES: [&str; 3] = ["own", "experimental", "extensions"];

/// Capabilities with a declaration at one of the three places.
fn declares(place: &str, version: &str, more: &Value) -> Value {
    let mut said = json!({"version": version, "extensions": ["permissions", "tool_security"]});
    for (key, value) in more.as_object().unwrap() {
        said[key] = value.clone();
    }
    let mut capabilities = json!({"tools": {}, "prompts": {}, "resources": {}, "completions": {}});
    match place {
        "own" => capabilities["mgp"] = said,
        "experimental" => capabilities["experimental"] = json!({"mgp": said}),
        _ => capabilities["extensions"] = json!({"dev.cloto/mgp": said}),
    }
    capabilities
}

fn needs(permission: &str) -> Value {
    json!({"permissions_required": [permission]})
}

async fn decide(
    house: &House,
    permission: &str,
    decision: PermissionDecision,
    scope: Option<Value>,
    until: Option<Timestamp>,
) {
    let scope = scope.map(|scope| RawValue::from_string(scope.to_string()).unwrap());
    house.operator_actions().decide_permission("s", permission, decision, scope, until, None).await.unwrap();
    tokio::time::sleep(Duration::from_millis(220)).await;
}

async fn closed(house: &House, script: &Script, era: Era) {
    let ann = house.client(era, "ann").await;
    let before = script.heard.lock().len();
    for kind in ["tools", "prompts", "resources"] {
        assert!(ann.list(kind).await.is_empty(), "{kind} are listed");
    }
    assert!(ann.call("read", json!({})).await.is_err());
    assert!(ann.request("prompts/get", json!({"name": "hello"})).await.is_err());
    assert!(ann.request("resources/read", json!({"uri": "script://one"})).await.is_err());
    assert!(ann.request("vendor/own", json!({})).await.is_err());
    let complete = json!({"ref": {"type": "ref/prompt", "name": "hello"}, "argument": {"name": "a", "value": ""}});
    assert!(ann.request("completion/complete", complete).await.is_err());
    if era == Era::Legacy {
        assert!(ann.request("resources/subscribe", json!({"uri": "script://one"})).await.is_err());
    }
    ann.notify("notifications/vendor.do", json!({})).await;
    let heard: Vec<_> = script.heard.lock()[before..]
        .iter()
        .map(|(method, _)| method.clone())
        .filter(|method| !method.starts_with("mgp/"))
        .collect();
    assert!(heard.is_empty(), "it heard {heard:?}");
}

#[tokio::test]
async fn a_server_is_closed_until_the_operator_says_yes() {
    for place in PLACES {
        for server in ERAS {
            let script = Script::new(server, vec![tool("read")]);
            *script.capabilities.lock() = declares(place, "0.3.0", &needs("filesystem.read"));
            let house = House::with(&[("s", script.clone())], ServerPolicy::default, open_house).await;
            for era in ERAS {
                closed(&house, &script, era).await;
            }
            // It was told to wait, in the words of its version, and the operator finds the question.
            until("it is told to wait", || !script.heard("mgp/permission/request").is_empty()).await;
            assert_eq!(script.heard("mgp/permission/request")[0]["permissions"], json!(["filesystem.read"]));
            let asked = house.store.grants().load().await.unwrap().permissions;
            assert_eq!(
                (asked[0].permission.as_str(), asked[0].decision),
                ("filesystem.read", PermissionDecision::Deferred)
            );
            // A server that answers itself changes nothing.
            let session = script.sessions.lock()[0].clone();
            let forged = raw(&json!({"grants": {"filesystem.read": "approved"}}));
            let _ = session.remote().notify(Notification::new("mgp/permission/response", Some(forged.clone())));
            let call = Call::new("mgp/permission/response", Some(forged)).within(Duration::from_secs(1));
            let _ = session.remote().request(call).await;
            closed(&house, &script, Era::Legacy).await;
            decide(&house, "filesystem.read", PermissionDecision::Approved, None, None).await;
            for era in ERAS {
                let ann = house.client(era, "ann").await;
                assert_eq!(ann.list("tools").await, ["read"]);
                assert!(ran(&ann.call("read", json!({})).await));
            }
            until("it is told of the decision", || !script.heard("mgp/permission/response").is_empty()).await;
            assert_eq!(script.heard("mgp/permission/response")[0]["grants"]["filesystem.read"], "approved");
        }
    }
}

#[tokio::test]
async fn later_versions_hear_later_words() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    *script.capabilities.lock() = declares("own", "0.6.0", &needs("camera"));
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, open_house).await;
    until("it is told to wait", || !script.heard("mgp/permission/await").is_empty()).await;
    decide(&house, "camera", PermissionDecision::Denied, None, None).await;
    until("it is told of the decision", || !script.heard("mgp/permission/grant").is_empty()).await;
    assert_eq!(script.heard("mgp/permission/grant")[0]["grants"]["camera"], "denied");
    closed(&house, &script, Era::Legacy).await;
}

#[tokio::test]
async fn what_is_denied_expired_or_taken_back_is_closed() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    *script.capabilities.lock() = declares("own", "0.3.0", &needs("memory.read"));
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, open_house).await;
    decide(&house, "memory.read", PermissionDecision::Denied, None, None).await;
    closed(&house, &script, Era::Legacy).await;
    let soon = Timestamp::now() + SignedDuration::from_millis(900);
    decide(&house, "memory.read", PermissionDecision::Approved, None, Some(soon)).await;
    let ann = house.client(Era::Legacy, "ann").await;
    assert_eq!(ann.list("tools").await, ["read"]);
    assert!(ran(&ann.call("read", json!({})).await));
    tokio::time::sleep(Duration::from_millis(900)).await;
    closed(&house, &script, Era::Modern).await;
    closed(&house, &script, Era::Legacy).await;
    decide(&house, "memory.read", PermissionDecision::Approved, None, None).await;
    assert!(ran(&ann.call("read", json!({})).await));
    house.operator_actions().revoke_permission("s", None).await.unwrap();
    closed(&house, &script, Era::Legacy).await;
}

/// While a server is away, nobody has forgotten what it must be granted.
#[tokio::test]
async fn a_restart_is_no_way_round() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    *script.capabilities.lock() =
        declares("own", "0.3.0", &json!({"permissions_required": ["filesystem.read"], "trust_level": "untrusted"}));
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, |gate| {
        open_house(gate);
        gate.approval_wait = Duration::from_millis(200);
    })
    .await;
    let ann = Arc::new(house.client(Era::Legacy, "ann").await);
    for granted in [false, true] {
        if granted {
            decide(&house, "filesystem.read", PermissionDecision::Approved, None, None).await;
        }
        script.sessions.lock().clear();
        let phases = || house.kernel.status()[0].phase.clone();
        // The connection is lost; calls that come meanwhile wait for the server.
        house.kernel.apply(vec![super::world::spec("s", Arc::new(Gone), ServerPolicy::default())]);
        house.kernel.apply(vec![super::world::spec("s", script.clone(), ServerPolicy::default())]);
        let called = ann.call("read", json!({})).await;
        assert!(!ran(&called), "{granted}: passed while {:?}", phases());
        house.kernel.settled(Duration::from_secs(5)).await;
        let called = ann.call("read", json!({})).await;
        if granted {
            assert_eq!(kind_of(&called), "confirmation_required", "it says of itself that it is not to be trusted");
        } else {
            assert!(called.is_err());
        }
    }
    assert_eq!(script.calls(), 0);
}

/// A server that never comes up.
struct Gone;

impl switchboard_peer::Handler for Gone {
    fn request(
        &self,
        _: switchboard_peer::Context,
        _: switchboard_wire::Request,
    ) -> switchboard_peer::BoxFuture<'_, switchboard_peer::Reply> {
        Box::pin(std::future::pending())
    }

    fn notification(&self, _: switchboard_peer::Context, _: Notification) -> switchboard_peer::BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn scopes_narrow_what_arguments_may_say() {
    let table = [
        ("filesystem.read", json!({"paths": ["/srv/data/**"]}), "path", "/srv/data/a.txt", "/etc/passwd"),
        ("filesystem.read", json!({"paths": ["/srv/data/**"]}), "path", "/srv/data/b", "/srv/data/../../etc/passwd"),
        (
            "network.outbound",
            json!({"hosts": ["93.184.215.14"]}),
            "url",
            "http://93.184.215.14/",
            "http://93.184.215.15/",
        ),
        ("shell.execute", json!({"commands": ["git status", "ls"]}), "command", "git status", "git push"),
    ];
    for (permission, scope, key, fits, not) in table {
        let script = Script::new(
            Era::Legacy,
            vec![tool_with(
                "read",
                &json!({"inputSchema": {"type": "object", "properties": {key: {"type": "string"}}}}),
            )],
        );
        *script.capabilities.lock() = declares("own", "0.3.0", &needs(permission));
        let operator = || {
            let word = switchboard_policy::risk::OperatorWord { confirm: Some(false), ..Default::default() };
            ServerPolicy { tools: [("read".to_owned(), word)].into(), ..ServerPolicy::default() }
        };
        let house = House::with(&[("s", script.clone())], operator, open_house).await;
        decide(&house, permission, PermissionDecision::Approved, Some(scope.clone()), None).await;
        let ann = house.client(Era::Legacy, "ann").await;
        let called = ann.call("read", json!({key: fits})).await;
        assert!(ran(&called), "{permission} {scope} {fits}: {called:?}");
        let refused = ann.call("read", json!({"inner": [{key: not}]})).await;
        assert_eq!(kind_of(&refused), "validation_blocked", "{permission} {scope} {not}");
        assert_eq!(script.calls(), 1);
    }
}

#[tokio::test]
async fn a_scope_that_cannot_be_read_is_not_none() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    *script.capabilities.lock() = declares("own", "0.3.0", &needs("filesystem.read"));
    let policy = || ServerPolicy {
        permissions_granted: vec![("filesystem.read".to_owned(), Some(raw(&json!({"pathz": ["/"]}))))],
        ..ServerPolicy::default()
    };
    let house = House::with(&[("s", script.clone())], policy, open_house).await;
    closed(&house, &script, Era::Legacy).await;
    decide(&house, "filesystem.read", PermissionDecision::Approved, Some(json!({"pathz": ["/"]})), None).await;
    closed(&house, &script, Era::Legacy).await;
}

#[tokio::test]
async fn policies_decide_without_a_person() {
    let table = [
        (ApprovalPolicy::AutoApprove, "memory.read", true),
        (ApprovalPolicy::AutoApprove, "filesystem.write", false),
        (ApprovalPolicy::AutoApprove, "camera", false),
        (ApprovalPolicy::DenyAll, "memory.read", false),
        (ApprovalPolicy::ConfigOnly, "memory.read", false),
    ];
    for (policy, permission, passes) in table {
        let script = Script::new(Era::Legacy, vec![tool("read")]);
        *script.capabilities.lock() = declares("own", "0.3.0", &needs(permission));
        let house = House::with(&[("s", script.clone())], ServerPolicy::default, |gate| {
            open_house(gate);
            gate.approval_policy = policy;
        })
        .await;
        let ann = house.client(Era::Legacy, "ann").await;
        assert_eq!(ran(&ann.call("read", json!({})).await), passes, "{policy:?} {permission}");
        if passes {
            let events = house.await_events("TOOL_EXECUTED", 1).await;
            assert_eq!(events[0].details["approval_policy"], "auto_approve");
        }
    }
}

/// What a server says of its trust can only lower it.
#[tokio::test]
async fn a_claim_of_trust_only_lowers() {
    for (operator, claim, asks) in [
        (TrustLevel::Standard, "untrusted", true),
        (TrustLevel::Standard, "experimental", true),
        (TrustLevel::Standard, "core", false),
        (TrustLevel::Untrusted, "core", true),
        (TrustLevel::Experimental, "core", true),
        (TrustLevel::Core, "nonsense", true),
    ] {
        let script = Script::new(Era::Legacy, vec![tool("read")]);
        *script.capabilities.lock() = declares("own", "0.3.0", &json!({"trust_level": claim}));
        let policy = || ServerPolicy { trust: operator, ..ServerPolicy::default() };
        let house = House::with(&[("s", script.clone())], policy, |gate| {
            open_house(gate);
            gate.approval_wait = Duration::from_millis(100);
        })
        .await;
        let ann = house.client(Era::Legacy, "ann").await;
        let called = ann.call("read", json!({})).await;
        assert_eq!(ran(&called), !asks, "{operator:?} claims {claim}");
        let vendor = ann.request("vendor/own", json!({})).await;
        assert_eq!(vendor.is_ok(), !asks, "what nobody can explain passes only to the trusted");
    }
}

#[tokio::test]
async fn a_server_that_asks_for_very_much_gets_nothing() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let many: Vec<_> = (0..5_000).map(|index| format!("com.example.p{index}")).collect();
    *script.capabilities.lock() = declares("own", "0.3.0", &json!({"permissions_required": many}));
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, |gate| {
        open_house(gate);
        gate.approval_policy = ApprovalPolicy::AutoApprove;
    })
    .await;
    closed(&house, &script, Era::Legacy).await;
    assert!(house.store.grants().load().await.unwrap().permissions.len() <= 64);
}

/// The limits of a grant hold for everything that is said to the server, not for tools alone.
#[tokio::test]
async fn scopes_narrow_resources_as_well() {
    for era in ERAS {
        let script = Script::new(Era::Legacy, vec![tool("read")]);
        *script.capabilities.lock() = declares("own", "0.3.0", &needs("filesystem.read"));
        let house = House::with(&[("s", script.clone())], ServerPolicy::default, open_house).await;
        let scope = json!({"paths": ["/srv/data/**"]});
        decide(&house, "filesystem.read", PermissionDecision::Approved, Some(scope), None).await;
        let ann = house.client(era, "ann").await;
        for uri in ["file:///srv/data/a.txt", "script://one"] {
            ann.request("resources/read", json!({"uri": uri})).await.unwrap_or_else(|error| panic!("{uri}: {error:?}"));
        }
        for uri in ["file:///etc/passwd", "file:///srv/data/../../etc/passwd", "/etc/passwd"] {
            assert!(ann.request("resources/read", json!({"uri": uri})).await.is_err(), "{uri}");
        }
        assert!(
            ann.request("prompts/get", json!({"name": "hello", "arguments": {"path": "/etc/passwd"}})).await.is_err()
        );
        assert!(ann.request("vendor/own", json!({"path": "/etc/passwd"})).await.is_err());
        assert_eq!(script.heard("resources/read").len(), 2);
        assert!(script.heard("prompts/get").is_empty() && script.heard("vendor/own").is_empty());
    }
}

/// A server hears who decided, until when and within which limits, and hears it once.
#[tokio::test]
async fn a_decision_is_told_with_its_author_its_end_and_its_limits() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    *script.capabilities.lock() = declares("own", "0.3.0", &needs("filesystem.read"));
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, open_house).await;
    let end = Timestamp::now() + SignedDuration::from_hours(1);
    let limits = json!({"paths": ["/srv/ok/**"]});
    decide(&house, "filesystem.read", PermissionDecision::Approved, Some(limits.clone()), Some(end)).await;
    until("it is told of the decision", || !script.heard("mgp/permission/response").is_empty()).await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    let told = script.heard("mgp/permission/response");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["approved_by"], &told[0]["scopes"]["filesystem.read"]), (&json!("olga"), &limits), "{told:?}");
    let until: Timestamp = told[0]["expires_at"].as_str().unwrap().parse().unwrap();
    assert_eq!(until.as_millisecond(), end.as_millisecond());
}
