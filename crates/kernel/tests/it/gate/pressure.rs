//! Rates, quotas, breakers and repetitions: what is refused with which code, and what is tried again.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_kernel::{
    Allowance, BreakerPolicy, GateOptions, Kernel, KernelOptions, PressurePolicy, PrincipalRates, Quota, Rate,
    ServerPolicy,
};
use switchboard_peer::{BoxFuture, Context, Handler, Identity, Method, Reply, Session};
use switchboard_protocol::Era;
use switchboard_wire::{ErrorObject, Notification, Request};

use super::world::{Client, ERAS, House, Script, open_house, raw, spec, tool, tool_with, until};

fn speaks() -> Value {
    json!({"mgp": {"version": "0.3.0", "extensions": ["error_handling"]}})
}

fn per_minute(count: u32, burst: u32) -> Allowance {
    Allowance { rate: Some(Rate { count, window: Duration::from_secs(60), burst }), ..Allowance::default() }
}

/// A kernel without a store, so that time can be made to pass.
fn kernel(server: Arc<dyn Handler>, principals: PrincipalRates, pressure: impl FnOnce(&mut PressurePolicy)) -> Kernel {
    let mut gate = GateOptions::default();
    open_house(&mut gate);
    let kernel = Kernel::new(KernelOptions { gate, principal_rates: principals, ..KernelOptions::default() });
    let mut policy = ServerPolicy::default();
    pressure(&mut policy.pressure);
    let mut spec = spec("s", server, policy);
    spec.upkeep.health_every = None;
    kernel.apply(vec![spec]);
    kernel
}

async fn client(kernel: &Kernel, name: &str, era: Era) -> Client {
    kernel.settled(Duration::from_secs(5)).await;
    Client::new(kernel, Identity::new(name, Method::Token).into(), era, speaks()).await
}

fn advice(error: &ErrorObject) -> (i64, u64, String) {
    let data = error.data.as_ref().unwrap_or_else(|| panic!("no data in {error:?}"));
    let after = data.at(&["_mgp", "retry_after_ms"]).unwrap_or_else(|| panic!("no time in {data:?}"));
    let scope = data.at(&["_mgp", "details", "scope"]).and_then(|scope| scope.as_text()).unwrap_or_default();
    (error.code, after.view().unwrap(), scope)
}

#[tokio::test(start_paused = true)]
async fn each_bound_has_its_code_and_a_time() {
    for era in ERAS {
        let script = Script::new(Era::Legacy, vec![tool("read"), tool("rare"), tool("wait")]);
        let quota =
            Allowance { quota: Some(Quota { count: 2, period: Duration::from_secs(3600) }), ..Allowance::default() };
        let named = [("eve".to_owned(), per_minute(6, 2))].into();
        let principals = PrincipalRates { each: Allowance::default(), named };
        let kernel = kernel(script.clone(), principals, |pressure| {
            pressure.rates.concurrent = Some(1);
            pressure.tools.insert("rare".to_owned(), quota);
        });
        let (ann, eve) = (Arc::new(client(&kernel, "ann", era).await), client(&kernel, "eve", era).await);
        // So many at once, and then one in ten seconds; for her alone.
        assert!(eve.call("read", json!({})).await.is_ok() && eve.call("read", json!({})).await.is_ok());
        let (code, after, scope) = advice(&eve.call("read", json!({})).await.unwrap_err());
        assert_eq!((code, scope.as_str()), (3000, "principal"));
        assert!((9_000..=10_000).contains(&after), "{after}");
        for _ in 0..20 {
            ann.call("read", json!({})).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(after)).await;
        eve.call("read", json!({})).await.unwrap();
        // So many in an hour, of everybody together.
        ann.call("rare", json!({})).await.unwrap();
        tokio::time::sleep(Duration::from_secs(10)).await;
        eve.call("rare", json!({})).await.unwrap();
        let (code, after, scope) = advice(&ann.call("rare", json!({})).await.unwrap_err());
        assert_eq!((code, scope.as_str()), (3002, "tool"));
        assert!(after > 3_500_000, "{after}");
        // One at a time at this server.
        let waiting = tokio::spawn({
            let ann = ann.clone();
            async move { ann.call("wait", json!({})).await }
        });
        script.arrived.notified().await;
        let (code, _, scope) = advice(&ann.call("read", json!({})).await.unwrap_err());
        assert_eq!((code, scope.as_str()), (3001, "server"));
        script.release.notify_one();
        waiting.await.unwrap().unwrap();
        ann.call("read", json!({})).await.unwrap();
    }
}

/// The kernel's own methods and tools pass the same step as those of servers.
#[tokio::test(start_paused = true)]
async fn the_kernels_own_methods_and_tools_are_counted_for_their_principal() {
    for era in ERAS {
        let script = Script::new(Era::Legacy, vec![tool("read")]);
        let principals = PrincipalRates { each: per_minute(2, 2), named: HashMap::new() };
        let kernel = kernel(script.clone(), principals, |_| {});
        let mut capabilities = speaks();
        capabilities["mgp"] = json!({"version": "0.6.0", "extensions": ["error_handling", "lifecycle", "streaming"]});
        kernel.settled(Duration::from_secs(5)).await;
        let someone = |name: &str| {
            let identity = Identity::new(name, Method::Token);
            Client::new(&kernel, identity.into(), era, capabilities.clone())
        };
        let (ann, bob) = (someone("ann").await, someone("bob").await);
        ann.request("mgp/health/ping", json!({})).await.unwrap();
        ann.call("mgp_health_ping", json!({"server_id": "s"})).await.unwrap();
        for refused in [
            ann.request("mgp/health/ping", json!({})).await.unwrap_err(),
            ann.call("mgp_health_ping", json!({"server_id": "s"})).await.unwrap_err(),
            ann.call("read", json!({})).await.unwrap_err(),
        ] {
            let (code, _, scope) = advice(&refused);
            assert_eq!((code, scope.as_str()), (3000, "principal"), "{refused:?}");
        }
        // What ends something is never too much.
        let cancelled = ann.request("mgp/stream/cancel", json!({"request_id": 77})).await;
        assert!(cancelled.as_ref().err().is_none_or(|error| error.code != 3000), "{cancelled:?}");
        bob.request("mgp/health/ping", json!({})).await.unwrap();
    }
}

/// A request of the kernel's own that cannot be read uses nothing up, as a call does not that its schema refuses.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_not_counted() {
    let principals = PrincipalRates { each: per_minute(6, 2), ..PrincipalRates::default() };
    let kernel = kernel(Script::new(Era::Legacy, vec![tool("read")]), principals, |_| {});
    let ann = client(&kernel, "ann", Era::Legacy).await;
    for _ in 0..10 {
        let refused = ann.request("mgp/access/query", json!({"agent_id": 7})).await.unwrap_err();
        assert_ne!(refused.code, 3000, "{refused:?}");
    }
    for _ in 0..2 {
        ann.request("mgp/health/ping", json!({})).await.unwrap();
    }
    assert_eq!(advice(&ann.request("mgp/health/ping", json!({})).await.unwrap_err()).0, 3000);
}

#[tokio::test(start_paused = true)]
async fn one_refusal_is_told_to_each_client_in_its_own_words() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let kernel = kernel(script.clone(), PrincipalRates::default(), |pressure| pressure.rates = per_minute(1, 1));
    kernel.settled(Duration::from_secs(5)).await;
    let structured = json!({"extensions": {"structured_errors": {}}});
    let mut both = structured.clone();
    both["mgp"] = speaks()["mgp"].clone();
    let someone = |era, capabilities: Value| {
        let (kernel, identity) = (kernel.clone(), Identity::new("ann", Method::Token));
        async move { Client::new(&kernel, identity.into(), era, capabilities).await }
    };
    someone(Era::Legacy, json!({})).await.call("read", json!({})).await.unwrap();
    for (era, capabilities, code, mgp, proposal) in [
        (Era::Legacy, json!({}), -32000, false, false),
        (Era::Modern, json!({}), 3000, false, false),
        (Era::Legacy, speaks(), 3000, true, false),
        (Era::Legacy, structured, -32000, false, true),
        (Era::Modern, both, 3000, true, true),
    ] {
        let answer = someone(era, capabilities.clone()).await.call("read", json!({})).await;
        // A client of proposal 11 reads it as a result; the words of MGP stand beside it.
        let (data, mgp_code) = match answer {
            Ok(result) => {
                assert!(proposal && result["isError"] == true, "{capabilities}: {result}");
                assert_eq!(
                    (&result["error"]["code"], &result["error"]["category"]),
                    (&json!("RATE_LIMIT_EXCEEDED"), &json!("rate_limited"))
                );
                assert_eq!(result["error"]["retry_after_seconds"], 60);
                let code = result["_mgp"]["code"].clone();
                (result, code)
            }
            Err(error) => {
                assert!(!proposal, "{capabilities}: {error:?}");
                assert_eq!(error.code, code, "{capabilities}: {error:?}");
                let data: Value = error.data.as_ref().unwrap().view().unwrap();
                assert_eq!(data["kind"], "rate_limited");
                (data, json!(error.code))
            }
        };
        assert_eq!(data.get("_mgp").is_some(), mgp, "{capabilities}: {data}");
        if mgp {
            assert_eq!(mgp_code, 3000);
            assert_eq!((&data["_mgp"]["category"], &data["_mgp"]["retryable"]), (&json!("resource"), &json!(true)));
            assert_eq!(data["_mgp"]["details"], json!({"scope": "server", "limit": 1, "window_secs": 60}));
        }
    }
}

#[tokio::test]
async fn what_is_refused_for_another_reason_uses_nothing_up() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let policy = || {
        let mut policy = ServerPolicy::default();
        policy.pressure.rates = per_minute(1, 1);
        policy
    };
    let house = House::with(&[("s", script.clone())], policy, |_| {}).await;
    let eve = house.client(Era::Legacy, "eve").await;
    for _ in 0..10 {
        assert_eq!(eve.call("read", json!({})).await.unwrap_err().code, -32602, "for her there is no such tool");
    }
    let root = house.admin(Era::Legacy, speaks()).await;
    house.grant("root", "s", None, true).await;
    root.call("read", json!({})).await.unwrap();
    let refused = root.call("read", json!({})).await.unwrap_err();
    assert_eq!(refused.code, 3000, "{refused:?}");
    let events = house.await_events("TOOL_BLOCKED", 11).await;
    assert_eq!(events.iter().filter(|event| event.details["step"] == "rate").count(), 1);
    // Prompts and resources count as well.
    assert_eq!(root.request("prompts/get", json!({"name": "hello"})).await.unwrap_err().code, 3000);
}

/// A server whose calls fail as a test says.
struct Moody {
    script: Arc<Script>,
    /// Errors that the next calls get, the last one first.
    errors: Mutex<Vec<ErrorObject>>,
    /// Calls that hang from now on.
    hang: AtomicUsize,
}

impl Moody {
    fn new(tools: Vec<Value>) -> Arc<Self> {
        let script = Script::new(Era::Legacy, tools);
        Arc::new(Self { script, errors: Mutex::default(), hang: AtomicUsize::new(0) })
    }

    fn fails(&self, times: usize, advice: &Value) {
        let mut error = ErrorObject::new(5001, "upstream is slow");
        error.data = Some(raw(&json!({"_mgp": advice})));
        self.errors.lock().extend(std::iter::repeat_n(error, times));
    }
}

impl Handler for Moody {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let call = &*request.method == "tools/call";
            if call && self.hang.load(Ordering::Relaxed) > 0 {
                self.hang.fetch_sub(1, Ordering::Relaxed);
                return std::future::pending().await;
            }
            let error = if call { self.errors.lock().pop() } else { None };
            let reply = self.script.request(context, request).await;
            error.map_or(reply, |error| Err(error).into())
        })
    }

    fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        self.script.notification(context, notification)
    }

    fn opened(&self, session: &Arc<Session>) {
        self.script.opened(session);
    }
}

fn reading(name: &str) -> Value {
    tool_with(name, &json!({"annotations": {"readOnlyHint": true}}))
}

#[tokio::test(start_paused = true)]
async fn what_only_reads_is_tried_again_as_the_server_says() {
    for era in ERAS {
        let moody = Moody::new(vec![reading("read"), tool("write")]);
        let kernel = kernel(moody.clone(), PrincipalRates::default(), |_| {});
        let ann = client(&kernel, "ann", era).await;
        let advice = json!({"retryable": true, "retry_after_ms": 1_000, "retry_strategy": "exponential_backoff"});
        moody.fails(2, &advice);
        let began = tokio::time::Instant::now();
        ann.call("read", json!({})).await.unwrap();
        assert_eq!(moody.script.calls(), 3);
        assert!((3_000..4_000).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
        // Twice is enough.
        moody.fails(5, &advice);
        assert_eq!(ann.call("read", json!({})).await.unwrap_err().code, 5001);
        assert_eq!(moody.script.calls(), 6);
        moody.errors.lock().clear();
        // What may change something is not repeated, nor what the server says is of no use.
        moody.fails(1, &advice);
        assert!(ann.call("write", json!({})).await.is_err());
        moody.fails(1, &json!({"retryable": false}));
        assert!(ann.call("read", json!({})).await.is_err());
        assert_eq!(moody.script.calls(), 8);
    }
}

#[tokio::test]
async fn every_repetition_is_on_record_and_shares_the_trace() {
    let moody = Moody::new(vec![reading("read")]);
    let house = House::with(&[], ServerPolicy::default, open_house).await;
    house.kernel.apply(vec![spec("s", moody.clone(), ServerPolicy::default())]);
    let ann = client(&house.kernel, "ann", Era::Legacy).await;
    moody.fails(2, &json!({"retryable": true, "retry_strategy": "immediate"}));
    ann.request("tools/call", json!({"name": "read", "trace_id": "t-1"})).await.unwrap();
    let events = house.await_events("dev.switchboard.call_retried", 2).await;
    assert_eq!(events.iter().map(|event| event.details["attempt"].clone()).collect::<Vec<_>>(), [json!(2), json!(3)]);
    assert!(events.iter().all(|event| event.trace_id.as_deref() == Some("t-1") && event.actor.id == "ann"));
}

#[tokio::test(start_paused = true)]
async fn another_tool_is_tried_in_the_end_through_the_whole_gate() {
    let advice = |tool: &str| json!({"retryable": true, "max_retries": 0, "fallback_tool": tool});
    for era in ERAS {
        let moody = Moody::new(vec![reading("read"), reading("spare"), super::world::dangerous("drop")]);
        let kernel = kernel(moody.clone(), PrincipalRates::default(), |_| {});
        let ann = client(&kernel, "ann", era).await;
        moody.fails(1, &advice("spare"));
        let answer = ann.call("read", json!({"x": 1})).await.unwrap();
        assert_eq!(answer["ran"], "spare");
        assert_eq!(answer["_meta"]["dev.switchboard/fallback"]["tool"], "spare");
        assert_eq!(moody.script.heard("tools/call")[1]["arguments"], json!({"x": 1}));
        // A redirect to what a person has to agree to is no way round the person.
        moody.fails(1, &advice("drop"));
        let refused = ann.call("read", json!({})).await;
        assert_eq!(refused.unwrap_err().code, 5001, "the first failure is told");
        assert!(moody.script.heard("tools/call").iter().all(|call| call["name"] != "drop"));
        // No further than once, and not to itself.
        moody.fails(2, &advice("spare"));
        assert!(ann.call("read", json!({})).await.is_err());
        moody.fails(1, &advice("read"));
        assert!(ann.call("read", json!({})).await.is_err());
        moody.fails(1, &advice("none"));
        assert!(ann.call("read", json!({})).await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_keeps_failing_is_left_alone_and_tried_now_and_then() {
    let moody = Moody::new(vec![tool("write")]);
    let kernel = kernel(moody.clone(), PrincipalRates::default(), |pressure| {
        let (open, longest) = (Duration::from_secs(10), Duration::from_secs(60));
        pressure.breaker = BreakerPolicy { failures: 3, open, longest };
    });
    let ann = client(&kernel, "ann", Era::Legacy).await;
    moody.hang.store(3, Ordering::Relaxed);
    for _ in 0..3 {
        assert_eq!(ann.call("write", json!({})).await.unwrap_err().code, 3003);
    }
    assert_eq!(kernel.status()[0].breaker, "open");
    let began = tokio::time::Instant::now();
    let (code, after, _) = advice(&ann.call("write", json!({})).await.unwrap_err());
    assert_eq!((code, began.elapsed().is_zero()), (5002, true), "at once");
    assert!((9_000..=10_000).contains(&after), "{after}");
    assert_eq!(moody.script.calls(), 0);
    tokio::time::sleep(Duration::from_millis(after)).await;
    ann.call("write", json!({})).await.unwrap();
    assert_eq!(kernel.status()[0].breaker, "closed");
}

#[tokio::test(start_paused = true)]
async fn notifications_are_bounded_and_calls_go_on() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let mut gate = GateOptions::default();
    open_house(&mut gate);
    let rate = Rate { count: 10, window: Duration::from_secs(1), burst: 10 };
    let kernel = Kernel::new(KernelOptions { gate, notification_rate: Some(rate), ..KernelOptions::default() });
    kernel.apply(vec![spec("s", script.clone(), ServerPolicy::default())]);
    let ann = client(&kernel, "ann", Era::Legacy).await;
    let session = script.sessions.lock()[0].clone();
    for n in 0..500 {
        let told = Notification::new("notifications/message", Some(raw(&json!({"level": "info", "data": n}))));
        let _ = session.remote().notify(told);
    }
    ann.call("read", json!({})).await.unwrap();
    until("they were thrown away", || kernel.status()[0].activity.dropped_notifications > 0).await;
    let heard = ann.ear.told.lock().iter().filter(|(method, _)| method == "notifications/message").count();
    assert!(heard <= 20, "{heard}");
}

#[tokio::test]
async fn one_principal_does_not_take_the_places_of_all_calls_that_wait() {
    let script = Script::new(Era::Legacy, vec![tool("asks")]);
    let mut gate = GateOptions::default();
    open_house(&mut gate);
    let kernel = Kernel::new(KernelOptions { gate, parked_calls_each: 2, ..KernelOptions::default() });
    // Each at a server of its own, so that nobody doubts whose question it is.
    let servers = ["a", "b", "c", "d"].map(|id| spec(id, script.clone(), ServerPolicy::default()));
    kernel.apply(servers.into());
    kernel.settled(Duration::from_secs(5)).await;
    let capable = json!({"elicitation": {"form": {}}, "mgp": speaks()["mgp"]});
    let someone = |name: &str| {
        let (kernel, capable, identity) = (kernel.clone(), capable.clone(), Identity::new(name, Method::Token));
        async move { Client::new(&kernel, identity.into(), Era::Modern, capable).await }
    };
    let (eve, ann) = (someone("eve").await, someone("ann").await);
    for tool in ["a__asks", "b__asks"] {
        assert_eq!(eve.call(tool, json!({})).await.unwrap()["resultType"], "input_required");
    }
    assert_eq!(eve.call("c__asks", json!({})).await.unwrap_err().code, 3002);
    assert_eq!(ann.call("d__asks", json!({})).await.unwrap()["resultType"], "input_required");
}
