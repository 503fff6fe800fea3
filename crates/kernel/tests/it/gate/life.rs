//! Lifecycle (MGP 11): health, drain, stop, start, sleep, and who hears of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::{
    GateOptions, Health, Kernel, KernelOptions, Phase, Restart, SERVERS_LIST, SERVERS_ORDER, ServerPolicy, State,
    Upkeep,
};
use switchboard_peer::{BoxFuture, Context, Handler, Identity, Method, Reply, Session};
use switchboard_protocol::Era;
use switchboard_wire::{Notification, Request};

use super::world::{Client, ERAS, House, Script, open_house, spec, tool, until};
use crate::lifecycle::Mute;

const LIFECYCLE: &str = "notifications/mgp.lifecycle";

fn speaks() -> Value {
    json!({"mgp": {"version": "0.3.0", "extensions": ["lifecycle", "error_handling"]}})
}

async fn house(script: &Arc<Script>) -> House {
    House::with(&[("s", script.clone())], ServerPolicy::default, open_house).await
}

fn state(kernel: &Kernel) -> State {
    kernel.status()[0].state
}

#[tokio::test]
async fn a_drained_server_finishes_what_runs_and_refuses_the_rest() {
    for era in ERAS {
        let script = Script::new(era, vec![tool("wait"), tool("read")]);
        let house = house(&script).await;
        let ann = Arc::new(house.client_with(Era::Legacy, "ann", speaks()).await);
        let root = house.admin(Era::Modern, json!({})).await;
        let waiting = tokio::spawn({
            let ann = ann.clone();
            async move { ann.call("wait", json!({})).await }
        });
        script.arrived.notified().await;
        let answer = root.request("mgp/lifecycle/shutdown", json!({"server_id": "s", "timeout_ms": 20_000})).await;
        let answer = answer.unwrap();
        assert_eq!((&answer["accepted"], &answer["pending_requests"]), (&json!(true), &json!(1)));
        assert_eq!(answer["state"], "draining", "the state it goes to");
        until("it drains", || state(&house.kernel) == State::Draining).await;
        let refused = ann.call("read", json!({})).await.unwrap_err();
        assert_eq!(refused.code, 2001, "{refused:?}");
        // An operator's stop is final: waiting does not help.
        let data = refused.data.unwrap();
        assert_eq!(data.at(&["_mgp", "retryable"]).unwrap().as_bytes(), b"false");
        assert!(data.at(&["_mgp", "retry_after_ms"]).is_none());
        script.release.notify_one();
        waiting.await.unwrap().unwrap();
        until("it is down", || state(&house.kernel) == State::Disconnected).await;
        assert_eq!(script.calls(), 1, "nothing new arrived");
        // An operator's stop is final: no call brings it back.
        let refused = ann.call("read", json!({})).await.unwrap_err();
        assert!(refused.message.contains("it was stopped"), "{refused:?}");
        assert_eq!(state(&house.kernel), State::Disconnected);
        root.request(SERVERS_ORDER, json!({"server_id": "s", "order": "start"})).await.unwrap();
        until("it is back", || state(&house.kernel) == State::Connected).await;
        ann.call("read", json!({})).await.unwrap();
        let told: Vec<_> = ann.ear.told.lock().iter().filter(|(method, _)| method == LIFECYCLE).cloned().collect();
        let states: Vec<_> = told.iter().map(|(_, params)| params["new_state"].as_str().unwrap().to_owned()).collect();
        assert_eq!(states, ["draining", "disconnected", "connecting", "connected"]);
        assert_eq!(told[0].1["reason"], "operator_request");
        let on_record = house.await_events("SERVER_DISCONNECTED", 1).await;
        assert_eq!(on_record[0].details["previous_state"], "draining");
        assert_eq!(house.await_events("dev.switchboard.server_order", 2).await.len(), 2);
    }
}

/// A server that comes back after draining is worth waiting for: about as long as its calls take, not as long as they may.
#[tokio::test]
async fn who_calls_a_server_that_drains_to_start_again_is_told_a_sane_time() {
    let script = Script::new(Era::Legacy, vec![tool("wait"), tool("read")]);
    let house = house(&script).await;
    let ann = Arc::new(house.client_with(Era::Legacy, "ann", speaks()).await);
    let root = house.admin(Era::Modern, json!({})).await;
    let waiting = tokio::spawn({
        let ann = ann.clone();
        async move { ann.call("wait", json!({})).await }
    });
    script.arrived.notified().await;
    let params = json!({"server_id": "s", "reason": "configuration_change", "timeout_ms": 30_000});
    assert_eq!(root.request("mgp/lifecycle/shutdown", params).await.unwrap()["state"], "draining");
    until("it drains", || state(&house.kernel) == State::Draining).await;
    let refused = ann.call("read", json!({})).await.unwrap_err();
    let data = refused.data.unwrap();
    assert_eq!(data.at(&["_mgp", "retryable"]).unwrap().as_bytes(), b"true");
    let wait = data.at(&["_mgp", "retry_after_ms"]).unwrap().view::<u64>().unwrap();
    assert!((100..=5_000).contains(&wait), "{wait}");
    script.release.notify_one();
    waiting.await.unwrap().unwrap();
    until("it is back", || state(&house.kernel) == State::Connected).await;
}

#[tokio::test]
async fn only_an_operator_ends_or_starts_servers() {
    for era in ERAS {
        let script = Script::new(Era::Legacy, vec![tool("read")]);
        let house = house(&script).await;
        let ann = house.client(era, "ann").await;
        for (method, params) in [
            ("mgp/lifecycle/shutdown", json!({"server_id": "s", "reason": "operator_request"})),
            (SERVERS_ORDER, json!({"server_id": "s", "order": "stop"})),
            (SERVERS_LIST, json!({})),
        ] {
            let refused = ann.request(method, params).await.unwrap_err();
            assert!(matches!(refused.code, -32005 | 1000), "{method}: {refused:?}");
        }
        let call = json!({"server_id": "s", "reason": "operator_request"});
        assert!(ann.call("mgp_lifecycle_shutdown", call).await.is_err());
        ann.call("read", json!({})).await.unwrap();
        assert_eq!(state(&house.kernel), State::Connected);
        let root = house.admin(era, json!({})).await;
        for params in [json!({}), json!({"server_id": "no"}), json!({"server_id": "s", "reason": "because"})] {
            assert!(root.request("mgp/lifecycle/shutdown", params).await.is_err());
        }
        root.request(SERVERS_ORDER, json!({"server_id": "s", "order": "restart"})).await.unwrap();
        until("it was started again", || script.sessions.lock().len() == 2).await;
        until("it is up", || state(&house.kernel) == State::Connected).await;
        root.request(SERVERS_ORDER, json!({"server_id": "s", "order": "stop"})).await.unwrap();
        until("it is down", || house.kernel.status()[0].phase == Phase::Stopped).await;
    }
}

#[tokio::test]
async fn health_is_told_to_those_who_may_use_the_server() {
    for era in ERAS {
        let script = Script::new(Era::Legacy, vec![tool("read")]);
        let house = House::new(&[("s", script.clone())]).await;
        let root = house.admin(era, speaks()).await;
        let own = root.request("mgp/health/ping", json!({})).await.unwrap();
        assert_eq!((&own["status"], &own["server_id"]), (&json!("healthy"), &json!("switchboard")));
        let ping = root.request("mgp/health/ping", json!({"server_id": "s"})).await.unwrap();
        assert_eq!(ping["status"], "healthy");
        assert_eq!(script.heard("ping").len(), 1, "it is asked in words that it knows");
        let status = root.request("mgp/health/status", json!({"server_id": "s"})).await.unwrap();
        assert_eq!((&status["tools_total"], &status["pending_requests"]), (&json!(1), &json!(0)));
        assert_eq!(status["resources"]["state"], "connected");
        let by_tool = root.call("mgp_health_status", json!({"server_id": "s"})).await.unwrap();
        assert_eq!(by_tool["structuredContent"]["tools_available"], 1);
        let listed = root.list("tools").await;
        assert!(listed.contains(&"mgp_lifecycle_shutdown".to_owned()), "{listed:?}");
        // Who may not use a server does not learn whether it is there.
        let eve = house.client_with(era, "eve", speaks()).await;
        let shape = |name: &str, error: switchboard_wire::ErrorObject| (error.code, error.message.replace(name, "X"));
        let real = eve.request("mgp/health/status", json!({"server_id": "s"})).await.unwrap_err();
        let none = eve.request("mgp/health/status", json!({"server_id": "no"})).await.unwrap_err();
        assert_eq!(shape("`s`", real), shape("`no`", none));
        let listed = eve.list("tools").await;
        assert_eq!(listed, ["mgp_health_ping", "mgp_health_status"]);
    }
}

#[tokio::test]
async fn a_server_that_speaks_of_health_is_asked_in_those_words() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    script.capabilities.lock()["mgp"] = speaks()["mgp"].clone();
    let house = house(&script).await;
    let root = house.admin(Era::Legacy, json!({})).await;
    root.request("mgp/health/ping", json!({"server_id": "s"})).await.unwrap();
    assert_eq!(script.heard("mgp/health/ping").len(), 1);
    root.request("mgp/lifecycle/shutdown", json!({"server_id": "s", "timeout_ms": 1_000})).await.unwrap();
    until("it is told", || !script.heard("mgp/lifecycle/shutdown").is_empty()).await;
    let told = &script.heard("mgp/lifecycle/shutdown")[0];
    assert_eq!((&told["reason"], &told["timeout_ms"]), (&json!("operator_request"), &json!(1_000)));
    until("it is down", || state(&house.kernel) == State::Disconnected).await;
}

#[tokio::test]
async fn a_server_that_says_it_drains_gets_no_new_calls_and_is_started_by_the_next_one() {
    let script = Script::new(Era::Legacy, vec![tool("read"), tool("wait")]);
    script.capabilities.lock()["mgp"] = speaks()["mgp"].clone();
    let kernel = kernel(script.clone(), Upkeep { health_every: None, ..Upkeep::default() });
    kernel.settled(Duration::from_secs(5)).await;
    let ann = Arc::new(ann(&kernel).await);
    let waiting = tokio::spawn({
        let ann = ann.clone();
        async move { ann.call("wait", json!({})).await }
    });
    script.arrived.notified().await;
    let session = script.sessions.lock()[0].clone();
    let tell = |state: &str| {
        let params =
            json!({"server_id": "x", "previous_state": "connected", "new_state": state, "reason": "resource_limit"});
        session.remote().notify(Notification::new(LIFECYCLE, Some(super::world::raw(&params)))).unwrap();
    };
    tell("error");
    tell("draining");
    until("it drains", || state(&kernel) == State::Draining).await;
    assert!(ann.call("read", json!({})).await.unwrap_err().message.contains("takes no new calls"));
    script.release.notify_one();
    waiting.await.unwrap().unwrap();
    until("it is down", || kernel.status()[0].phase == Phase::Asleep && state(&kernel) == State::Disconnected).await;
    ann.call("read", json!({})).await.unwrap();
    assert_eq!(script.sessions.lock().len(), 2);
}

#[tokio::test]
async fn the_end_of_the_kernel_is_told_and_on_record() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    script.capabilities.lock()["mgp"] = speaks()["mgp"].clone();
    let house = house(&script).await;
    house.kernel.shut_down(Duration::from_secs(5)).await;
    assert_eq!(script.heard("mgp/lifecycle/shutdown")[0]["reason"], "kernel_shutdown");
    let ended = house.await_events("SERVER_DISCONNECTED", 1).await;
    assert_eq!(ended[0].details["reason"], "kernel_shutdown");
}

/// A kernel without a store, so that time can be made to pass.
fn kernel(server: Arc<dyn Handler>, upkeep: Upkeep) -> Kernel {
    let mut gate = GateOptions::default();
    open_house(&mut gate);
    let kernel = Kernel::new(KernelOptions { gate, ..KernelOptions::default() });
    let mut spec = spec("s", server, ServerPolicy::default());
    (spec.upkeep, spec.restart) = (upkeep, Restart::OnFailure);
    kernel.apply(vec![spec]);
    kernel
}

async fn ann(kernel: &Kernel) -> Client {
    Client::new(kernel, Identity::new("ann", Method::Token).into(), Era::Legacy, json!({})).await
}

#[tokio::test(start_paused = true)]
async fn an_idle_server_sleeps_and_wakes_on_the_first_call() {
    let script = Script::new(Era::Legacy, vec![tool("read"), tool("wait")]);
    let upkeep = Upkeep { sleep_after: Some(Duration::from_secs(60)), health_every: None, ..Upkeep::default() };
    let kernel = kernel(script.clone(), upkeep);
    kernel.settled(Duration::from_secs(5)).await;
    let ann = Arc::new(ann(&kernel).await);
    tokio::time::sleep(Duration::from_secs(50)).await;
    ann.call("read", json!({})).await.unwrap();
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(kernel.status()[0].phase, Phase::Ready, "it was used meanwhile");
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert_eq!(kernel.status()[0].phase, Phase::Asleep);
    assert_eq!(kernel.status()[0].health, Health::Degraded, "down, and nothing is wrong with it");
    assert_eq!(ann.list("tools").await, ["read", "wait"], "its tools are shown");
    let calls = futures_util::future::join_all((0..10).map(|_| ann.call("read", json!({})))).await;
    assert!(calls.iter().all(Result::is_ok));
    assert_eq!(script.sessions.lock().len(), 2, "it was started once");
    // A call that runs keeps it awake.
    let waiting = tokio::spawn({
        let ann = ann.clone();
        async move { ann.call("wait", json!({})).await }
    });
    script.arrived.notified().await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(kernel.status()[0].phase, Phase::Ready);
    script.release.notify_one();
    waiting.await.unwrap().unwrap();
}

/// A server that answers nothing once it is told so.
struct Sick {
    script: Arc<Script>,
    mute: AtomicBool,
}

impl Handler for Sick {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            if self.mute.load(Ordering::Relaxed) {
                if matches!(&*request.method, "initialize" | "server/discover") {
                    self.mute.store(false, Ordering::Relaxed);
                } else {
                    return std::future::pending().await;
                }
            }
            self.script.request(context, request).await
        })
    }

    fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        self.script.notification(context, notification)
    }

    fn opened(&self, session: &Arc<Session>) {
        self.script.opened(session);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_is_started_anew_but_not_while_it_is_busy() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let sick = Arc::new(Sick { script: script.clone(), mute: AtomicBool::new(false) });
    let kernel = kernel(sick.clone(), Upkeep::default());
    kernel.settled(Duration::from_secs(5)).await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!((state(&kernel), kernel.status()[0].restarts), (State::Connected, 0), "it answers");
    sick.mute.store(true, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!((state(&kernel), kernel.status()[0].restarts), (State::Connected, 1));
    assert_eq!(script.sessions.lock().len(), 2);
    ann(&kernel).await.call("read", json!({})).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_is_started_anew_however_often_it_is_called() {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    let sick = Arc::new(Sick { script: script.clone(), mute: AtomicBool::new(false) });
    let kernel = kernel(sick.clone(), Upkeep::default());
    kernel.settled(Duration::from_secs(5)).await;
    let ann = ann(&kernel).await;
    sick.mute.store(true, Ordering::Relaxed);
    let began = tokio::time::Instant::now();
    while let Err(error) = ann.call("read", json!({})).await {
        assert!(began.elapsed() < Duration::from_secs(900), "it is never found out: {error:?}");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!((state(&kernel), kernel.status()[0].restarts), (State::Connected, 1));
}

#[tokio::test(start_paused = true)]
async fn many_servers_do_not_start_all_at_once() {
    /// Counts the handshakes that are under way.
    struct Slow {
        script: Arc<Script>,
        under_way: Arc<AtomicUsize>,
        most: Arc<AtomicUsize>,
    }
    impl Handler for Slow {
        fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
            Box::pin(async move {
                if &*request.method == "initialize" {
                    let now = self.under_way.fetch_add(1, Ordering::Relaxed) + 1;
                    self.most.fetch_max(now, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    self.under_way.fetch_sub(1, Ordering::Relaxed);
                }
                self.script.request(context, request).await
            })
        }

        fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()> {
            self.script.notification(context, notification)
        }
    }
    let mut gate = GateOptions::default();
    open_house(&mut gate);
    let kernel = Kernel::new(KernelOptions { gate, ..KernelOptions::default() });
    let (under_way, most) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let servers = (0..200).map(|number| {
        let script = Script::new(Era::Legacy, vec![tool("read")]);
        let slow = Slow { script, under_way: under_way.clone(), most: most.clone() };
        spec(&format!("s{number}"), Arc::new(slow), ServerPolicy::default())
    });
    kernel.apply(servers.collect());
    kernel.settled(Duration::from_secs(60)).await;
    assert!(kernel.status().iter().all(|status| status.state == State::Connected));
    assert!((2..=32).contains(&most.load(Ordering::Relaxed)), "{most:?}");
}

#[tokio::test(start_paused = true)]
async fn calls_to_a_server_that_keeps_failing_are_refused_at_once() {
    struct Never;
    impl Handler for Never {
        fn request(&self, _: Context, _: Request) -> BoxFuture<'_, Reply> {
            Box::pin(std::future::ready(Err(switchboard_wire::ErrorObject::new(-32603, "not today")).into()))
        }

        fn notification(&self, _: Context, _: Notification) -> BoxFuture<'_, ()> {
            Box::pin(std::future::ready(()))
        }
    }
    let kernel = kernel(Arc::new(Never), Upkeep::default());
    let ann = ann(&kernel).await;
    tokio::time::sleep(Duration::from_secs(20)).await;
    let began = tokio::time::Instant::now();
    let refused = ann.call("read", json!({})).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_millis(100), "{:?}", began.elapsed());
    assert!(refused.message.contains("not today"), "{refused:?}");
    assert_eq!(state(&kernel), State::Restarting);
}

#[tokio::test]
async fn a_call_that_its_server_was_not_there_for_is_on_record() {
    let house =
        House::with(&[("s", Script::new(Era::Legacy, vec![tool("read")]))], ServerPolicy::default, open_house).await;
    let mut mute = spec("mute", Arc::new(Mute), ServerPolicy::default());
    mute.start_timeout = Duration::from_millis(700);
    let script = spec("s", Script::new(Era::Legacy, vec![tool("read")]), ServerPolicy::default());
    house.kernel.apply(vec![script, mute]);
    let ann = house.client(Era::Legacy, "ann").await;
    let called = ann.call("mute__run", json!({})).await.unwrap_err();
    assert!(called.message.contains("server `mute` is not connected"), "{called:?}");
    let prompted = ann.request("prompts/get", json!({"name": "mute__hello"})).await.unwrap_err();
    assert!(prompted.message.contains("server `mute` is not connected"), "{prompted:?}");
    ann.call("s__none", json!({})).await.unwrap_err();
    ann.call("nobody__none", json!({})).await.unwrap_err();
    let blocked = house.await_events("TOOL_BLOCKED", 3).await;
    let seen: Vec<_> = blocked
        .iter()
        .map(|event| {
            let text = |key: &str| event.details.get(key).and_then(|value| value.as_str().map(str::to_owned));
            let (server, tool) = (event.target.server_id.as_deref(), event.target.tool_name.as_deref());
            (
                server.unwrap().to_owned(),
                tool.map(str::to_owned).or_else(|| text("name")).unwrap(),
                text("step").unwrap(),
            )
        })
        .collect();
    let expected = [("mute", "run", "server_state"), ("mute", "hello", "server_state"), ("s", "none", "name")];
    assert_eq!(seen, expected.map(|(server, name, step)| (server.to_owned(), name.to_owned(), step.to_owned())));
    assert!(blocked.iter().all(|event| &*event.actor.id == "ann" && &*event.result == "BLOCKED"));
}

#[tokio::test]
async fn a_principal_without_access_does_not_wait_for_a_server_that_starts() {
    let house =
        House::with(&[("s", Script::new(Era::Legacy, vec![tool("read")]))], ServerPolicy::default, |_| {}).await;
    let mut mute = spec("mute", Arc::new(Mute), ServerPolicy::default());
    mute.start_timeout = Duration::from_secs(60);
    house.kernel.apply(vec![spec("s", Script::new(Era::Legacy, vec![tool("read")]), ServerPolicy::default()), mute]);
    let ann = house.client(Era::Legacy, "ann").await;
    // Its answer is the one of a server that nobody ever heard of, and comes no later.
    let called = tokio::time::timeout(Duration::from_secs(20), ann.call("mute__run", json!({}))).await.unwrap();
    assert_eq!(called.unwrap_err().message, "Unknown tool: mute__run");
    let blocked = house.await_events("TOOL_BLOCKED", 1).await;
    assert_eq!((&blocked[0].details["step"], blocked[0].target.server_id.as_deref()), (&json!("access"), Some("mute")));
}

#[tokio::test]
async fn a_call_that_is_cancelled_while_it_waits_for_a_start_is_answered_so() {
    let house = House::with(&[], ServerPolicy::default, open_house).await;
    let mut mute = spec("mute", Arc::new(Mute), ServerPolicy::default());
    mute.start_timeout = Duration::from_secs(60);
    house.kernel.apply(vec![mute]);
    let ann = house.client(Era::Legacy, "ann").await;
    let context = ann.context();
    let cancel = context.cancel.clone();
    let params = super::world::raw(&json!({"name": "run", "arguments": {}}));
    let cancelling = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    };
    let (reply, ()) = tokio::join!(ann.send(context, "tools/call", &params), cancelling);
    assert_eq!(reply.unwrap_err().code, -32800);
}

/// Whoever ordered a server down and has the answer can rely on it, before the server itself knows.
#[tokio::test]
async fn no_call_begins_after_an_order_to_end_was_answered() {
    let orders = [
        ("mgp/lifecycle/shutdown", json!({"server_id": "s"})),
        ("mgp/lifecycle/shutdown", json!({"server_id": "s", "reason": "configuration_change"})),
        (SERVERS_ORDER, json!({"server_id": "s", "order": "stop"})),
        (SERVERS_ORDER, json!({"server_id": "s", "order": "drain"})),
    ];
    for (method, order) in orders {
        let script = Script::new(Era::Legacy, vec![tool("read")]);
        let house = house(&script).await;
        let ann = house.client_with(Era::Legacy, "ann", speaks()).await;
        let root = house.admin(Era::Modern, json!({})).await;
        root.request(method, order.clone()).await.unwrap();
        let refused = ann.call("read", json!({})).await.unwrap_err();
        assert!([2000, 2001].contains(&refused.code), "{order}: {refused:?}");
        assert_eq!(script.calls(), 0, "{order}");
        if order["order"] == "stop" {
            until("it is down", || state(&house.kernel) == State::Disconnected).await;
            assert_eq!(
                root.request(SERVERS_ORDER, json!({"server_id": "s", "order": "start"})).await.unwrap()["accepted"],
                true
            );
            until("it is back", || state(&house.kernel) == State::Connected).await;
            ann.call("read", json!({})).await.unwrap();
        }
    }
}

/// What a server does in a call may be what somebody watches for: it hears first what is watched.
#[tokio::test]
async fn a_server_that_comes_back_hears_what_is_watched_before_it_is_called() {
    for (server, first) in [(Era::Legacy, "resources/subscribe"), (Era::Modern, "subscriptions/listen")] {
        let script = Script::new(server, vec![tool("read")]);
        let house = house(&script).await;
        let ann = house.client(Era::Legacy, "ann").await;
        ann.request("resources/subscribe", json!({"uri": "script://one"})).await.unwrap();
        script.heard.lock().clear();
        let mut next = spec("s", script.clone(), ServerPolicy::default());
        next.fingerprint = "2".to_owned();
        house.kernel.apply(vec![next]);
        ann.call("read", json!({})).await.unwrap();
        let heard: Vec<String> = script.heard.lock().iter().map(|(method, _)| method.clone()).collect();
        let place = |name: &str| heard.iter().position(|method| method == name);
        assert!(place(first).is_some() && place(first) < place("tools/call"), "{heard:?}");
    }
}
