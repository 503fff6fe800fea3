//! The life of one server: what is told of it, in which order, and what it takes calls for.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use switchboard_flow::lifecycle::{After, ShutdownReason, State};
use switchboard_peer::Principal;
use switchboard_protocol::fault::FaultKind;
use switchboard_upstream::{InFlightCall, ListKind, Order, Phase, Restart, Upkeep};
use tokio::time::Instant;

use crate::world::{Script, World};

/// A moment that is shorter than any pause of a server.
const MOMENT: Duration = Duration::from_millis(1);

/// A call that runs.
fn call() -> InFlightCall {
    let related = Arc::new(Script::default());
    InFlightCall { owner: 1, identity: Principal::owner("ann"), shared: true, related, waiting: 0 }
}

#[tokio::test(start_paused = true)]
async fn it_is_judged_before_it_is_shown_and_shown_before_it_is_ready() {
    let world = World::new(Restart::OnFailure, Upkeep::default());
    let log = world.holder.until("permissions, ready", 1).await;
    assert_eq!(
        log,
        [
            "state connecting",
            "inspect 1, shown 0",
            "held 0 0",
            "restore",
            "lists 1 []",
            "operator, starting",
            "state connected",
            "permissions, ready"
        ]
    );
    assert!(world.server.hub_now().is_some() && world.server.takes_calls().is_ok());
}

#[tokio::test(start_paused = true)]
async fn one_that_hangs_is_lost_and_started_again_while_its_lists_stay() {
    let world = World::new(Restart::OnFailure, Upkeep::default());
    world.holder.until("state connected", 1).await;
    world.script.mute.store(true, Ordering::Relaxed);
    let began = Instant::now();
    let log = world.holder.until("lists 1 []", 2).await;
    // Three questions, thirty seconds apart, with five seconds for each answer.
    assert_eq!(began.elapsed().as_secs(), 3 * (30 + 5));
    let told = log.iter().position(|line| line == "state restarting").unwrap();
    assert_eq!(log[told + 1], "lists 1 []", "its state is told before what follows is published");
    world.script.mute.store(false, Ordering::Relaxed);
    world.holder.until("state connected", 2).await;
    assert_eq!((world.server.restarts(), world.server.state()), (1, State::Connected));
    assert_eq!(world.holder.states(), ["connecting", "connected", "error", "restarting", "connected"]);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_not_to_be_started_again_is_given_up_and_shown_no_more() {
    let world = World::new(Restart::Never, Upkeep::default());
    world.holder.until("state connected", 1).await;
    world.script.mute.store(true, Ordering::Relaxed);
    world.holder.until("lists 0 []", 1).await;
    assert_eq!(world.holder.states().last().map(String::as_str), Some("error, given up"));
    let fault = world.server.hub().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::ServerNotReady, "{fault}");
    assert_eq!(world.server.restarts(), 0);
}

#[tokio::test(start_paused = true)]
async fn one_that_cannot_be_started_is_tried_again_after_pauses_that_grow() {
    let script = Script::default();
    script.broken.store(true, Ordering::Relaxed);
    let world = World::of(script, Restart::OnFailure, Upkeep::default());
    world.holder.until("state restarting", 4).await;
    let began = Instant::now();
    assert!(matches!(world.server.phase(), Phase::Failed(_)), "{:?}", world.server.phase());
    let fault = world.server.hub().await.unwrap_err();
    assert!(began.elapsed() < MOMENT && fault.to_string().contains("not today"), "{fault}");
    world.script.broken.store(false, Ordering::Relaxed);
    world.holder.until("state connected", 1).await;
    assert!(began.elapsed() >= Duration::from_secs(4), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn one_that_takes_a_name_of_the_kernel_is_refused_for_good() {
    let world = World::new(Restart::Always, Upkeep::default());
    world.script.tools.lock().push("mgp.tools.discover");
    let log = world.holder.until("lists 0 []", 1).await;
    assert!(matches!(world.server.phase(), Phase::Refused(why) if why.contains("mgp.tools.discover")), "{log:?}");
    assert!(!world.holder.states().contains(&"connected".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn draining_waits_for_the_calls_that_run_and_takes_no_others() {
    let world = World::new(Restart::OnFailure, Upkeep::default());
    world.holder.until("permissions, ready", 1).await;
    let running = world.server.using.begin(call());
    let drain = Order::Drain(After::Restart, ShutdownReason::OperatorRequest, Duration::from_secs(60));
    assert_eq!(world.server.order(drain).unwrap(), State::Connected);
    let fault = world.server.takes_calls().unwrap_err();
    assert_eq!(fault.kind(), FaultKind::ServerDraining);
    world.holder.until("state draining", 1).await;
    tokio::time::advance(Duration::from_secs(30)).await;
    assert_eq!(world.server.state(), State::Draining);
    assert!(world.server.hub_now().is_some(), "the call that runs has its connection");
    drop(running);
    world.holder.until("state connected", 2).await;
    assert!(world.server.takes_calls().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_stopped_server_is_down_only_when_nothing_of_it_is_called_any_more() {
    let world = World::new(Restart::OnFailure, Upkeep::default());
    world.holder.until("permissions, ready", 1).await;
    world.server.order(Order::Stop).unwrap();
    assert_eq!(world.server.takes_calls().unwrap_err().kind(), FaultKind::ServerDraining);
    let log = world.holder.until("lists 0 []", 1).await;
    while world.server.state() != State::Disconnected {
        tokio::task::yield_now().await;
    }
    assert!(world.server.hub_now().is_none() && world.server.hub().await.is_err());
    assert!(!log.contains(&"is called while it is down".to_owned()), "{log:?}");
    world.server.order(Order::Start).unwrap();
    world.holder.until("state connected", 2).await;
    assert!(world.server.takes_calls().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_end_does_not_hold_up_an_order_for_ever() {
    let world = World::new(Restart::OnFailure, Upkeep::default());
    world.holder.until("permissions, ready", 1).await;
    let _running = world.server.using.begin(call());
    let began = Instant::now();
    world.server.order(Order::Drain(After::Stop, ShutdownReason::OperatorRequest, Duration::from_secs(60))).unwrap();
    world.holder.until("state disconnected", 1).await;
    assert_eq!(began.elapsed().as_secs(), 60);
    world.holder.until("lists 0 []", 1).await;
    assert_eq!(world.server.phase(), Phase::Stopped);
    // Nothing but a person starts it again.
    assert!(world.server.hub().await.is_err());
    world.server.order(Order::Start).unwrap();
    world.holder.until("state connected", 2).await;
}

#[tokio::test(start_paused = true)]
async fn one_that_nobody_uses_sleeps_and_the_next_call_wakes_it() {
    let upkeep = Upkeep { sleep_after: Some(Duration::from_secs(300)), health_every: None, ..Upkeep::default() };
    let world = World::new(Restart::OnFailure, upkeep);
    world.holder.until("state disconnected", 1).await;
    assert_eq!((world.server.phase(), world.server.lists().tools.items.len()), (Phase::Asleep, 1));
    assert!(world.server.hub().await.is_ok());
    assert_eq!(world.server.phase(), Phase::Ready);
    assert_eq!(
        world.holder.states(),
        ["connecting", "connected", "draining", "disconnected", "connecting", "connected"]
    );
}

#[tokio::test(start_paused = true)]
async fn one_that_has_outgrown_its_permissions_comes_back_at_once() {
    let world = World::new(Restart::Never, Upkeep::default());
    world.holder.until("permissions, ready", 1).await;
    let began = Instant::now();
    world.holder.outgrown.notify_one();
    world.holder.until("state connected", 2).await;
    assert!(began.elapsed() < MOMENT, "{:?}", began.elapsed());
    assert_eq!(world.server.lists().tools.items.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_was_held_back_comes_in_when_somebody_has_accepted_it() {
    let world = World::new(Restart::OnFailure, Upkeep::default());
    world.holder.held.lock().insert("read".to_owned(), "it is new".to_owned());
    world.holder.until("held 0 1", 1).await;
    world.holder.until("state connected", 1).await;
    assert!(world.server.quarantine().contains_key("read"));
    world.holder.held.lock().clear();
    world.holder.until("lists 1 []", 2).await;
    assert!(world.server.quarantine().is_empty());
}

#[tokio::test(start_paused = true)]
async fn lists_that_changed_are_asked_for_again_and_told_once() {
    let world = World::new(Restart::OnFailure, Upkeep::default());
    world.holder.until("permissions, ready", 1).await;
    world.script.tools.lock().push("write");
    for _ in 0..20 {
        world.server.refresh_said(ListKind::Tools);
    }
    world.holder.until("lists 2 [Tools]", 1).await;
    tokio::time::advance(Duration::from_secs(5)).await;
    let log = world.holder.until("inspect 2, shown 1", 1).await;
    assert_eq!(log.iter().filter(|line| line.starts_with("inspect")).count(), 2, "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn it_ends_for_good_after_the_calls_that_run() {
    let world = World::new(Restart::Always, Upkeep::default());
    world.holder.until("permissions, ready", 1).await;
    let running = world.server.using.begin(call());
    world.server.stop();
    world.holder.until("state draining", 1).await;
    drop(running);
    world.running.await.unwrap();
    assert_eq!(world.server.phase(), Phase::Stopped);
    assert_eq!(world.holder.states(), ["connecting", "connected", "draining", "disconnected"]);
    assert!(world.server.order(Order::Start).is_err());
}
