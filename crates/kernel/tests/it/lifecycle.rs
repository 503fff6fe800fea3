//! Servers that are replaced, hang, or end, while clients are connected.

use std::sync::Arc;
use std::time::Duration;

use switchboard_kernel::{Kernel, KernelOptions, Sharing};
use switchboard_peer::{BoxFuture, Context, Handler, Reply};
use switchboard_protocol::Era;
use switchboard_wire::{Notification, Request};

use crate::wire::{local, until, wire};
use crate::world::{Script, raw};

fn kernel_with(version: &str, script: &Arc<Script>, sharing: Sharing) -> Kernel {
    let kernel = Kernel::new(crate::world::open_to_all());
    kernel.apply(vec![local("s", version, script.clone(), sharing)]);
    kernel
}

#[tokio::test]
async fn calls_in_flight_survive_a_changed_configuration() {
    for sharing in [Sharing::Shared, Sharing::PerSession] {
        let (old, new) = (Script::new(Era::Legacy), Script::new(Era::Legacy));
        for script in [&old, &new] {
            script.more_tools.lock().push("wait".to_owned());
        }
        let kernel = kernel_with("1", &old, sharing);
        let client = wire(&kernel, "ada", Era::Legacy).await;
        let waiting = client.begin("tools/call", r#"{"name":"wait"}"#);
        until("the call has arrived", || !old.heard("tools/call").is_empty()).await;
        kernel.apply(vec![local("s", "2", new.clone(), sharing)]);
        client.ask("tools/call", r#"{"name":"echo"}"#).await.unwrap();
        assert_eq!(new.heard("tools/call").len(), 1, "new calls go to the new one");
        old.release.notify_one();
        waiting.await.unwrap().unwrap_or_else(|error| panic!("{sharing:?}: {error}"));
        until("the old one is left", || *old.ended.lock() == old.sessions.lock().len()).await;
    }
}

#[tokio::test]
async fn watched_resources_stay_watched_when_their_server_is_replaced() {
    let (old, new) = (Script::new(Era::Legacy), Script::new(Era::Legacy));
    let kernel = kernel_with("1", &old, Sharing::Shared);
    let mut client = wire(&kernel, "ada", Era::Legacy).await;
    client.ask("resources/subscribe", r#"{"uri":"script://one"}"#).await.unwrap();
    kernel.apply(vec![local("s", "2", new.clone(), Sharing::Shared)]);
    until("the new one is asked", || !new.heard("resources/subscribe").is_empty()).await;
    let session = new.sessions.lock()[0].clone();
    let told = Notification::new("notifications/resources/updated", Some(raw(r#"{"uri":"script://one"}"#)));
    session.remote().notify(told).unwrap();
    client.hear("notifications/resources/updated").await;
    client.ask("resources/unsubscribe", r#"{"uri":"script://one"}"#).await.unwrap();
    assert_eq!(new.heard("resources/unsubscribe").len(), 1);
}

#[tokio::test]
async fn the_end_of_the_kernel_ends_links_and_calls_that_wait_for_input() {
    let script = Script::new(Era::Legacy);
    let kernel = kernel_with("1", &script, Sharing::PerSession);
    let legacy = wire(&kernel, "ada", Era::Legacy).await;
    legacy.ask("tools/call", r#"{"name":"echo"}"#).await.unwrap();
    let modern = wire(&kernel, "ada", Era::Modern).await;
    let asked = modern.ask("tools/call", r#"{"name":"ask"}"#).await.unwrap();
    assert!(asked.member("requestState").is_some());
    assert_eq!(script.sessions.lock().len(), 3, "one for the lists, one for each client");
    kernel.shut_down(Duration::from_secs(5)).await;
    until("all sessions are over", || *script.ended.lock() == 3).await;
    kernel.apply(vec![local("s", "2", script.clone(), Sharing::Shared)]);
    assert!(kernel.status().iter().all(|status| status.id.as_ref() != "s" || status.counts[0] > 0));
    assert_eq!(script.sessions.lock().len(), 3, "nothing begins after the end");
}

/// Answers nothing.
struct Mute;

impl Handler for Mute {
    fn request(&self, _context: Context, _request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(std::future::pending())
    }

    fn notification(&self, _context: Context, _notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_delays_nobody_for_long() {
    let kernel = Kernel::new(KernelOptions { list_wait: Duration::from_secs(1), ..crate::world::open_to_all() });
    let script = Script::new(Era::Legacy);
    let mut mute = local("mute", "1", Arc::new(Mute), Sharing::Shared);
    mute.start_timeout = Duration::from_secs(3600);
    kernel.apply(vec![mute, local("s", "1", script, Sharing::Shared)]);
    let client = wire(&kernel, "ada", Era::Legacy).await;
    let began = tokio::time::Instant::now();
    client.ask("tools/list", "{}").await.unwrap();
    client.ask("prompts/get", r#"{"name":"s__hello"}"#).await.unwrap();
    client.ask("resources/read", r#"{"uri":"script://one"}"#).await.unwrap();
    assert!(client.ask("tools/call", r#"{"name":"s__none"}"#).await.is_err());
    assert!(began.elapsed() < Duration::from_millis(100), "{:?}", began.elapsed());
    let error = client.ask("tools/call", r#"{"name":"mute__echo"}"#).await.unwrap_err();
    assert!(error.message.contains("`mute` is not connected"), "the reason is told: {error}");
}

#[tokio::test]
async fn a_list_that_fails_later_leaves_the_known_one() {
    let script = Script::new(Era::Legacy);
    let kernel = kernel_with("1", &script, Sharing::Shared);
    let client = wire(&kernel, "ada", Era::Legacy).await;
    *script.broken_list.lock() = true;
    let session = script.sessions.lock()[0].clone();
    session.remote().notify(Notification::new("notifications/tools/list_changed", None)).unwrap();
    until("the problem is known", || !kernel.status()[0].problems.is_empty()).await;
    client.ask("tools/call", r#"{"name":"echo"}"#).await.unwrap();
    assert_eq!(kernel.status()[0].counts[0], 5);
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_notices_is_answered_now_and_then() {
    let script = Script::new(Era::Legacy);
    let kernel = kernel_with("1", &script, Sharing::Shared);
    kernel.settled(Duration::from_secs(5)).await;
    let session = script.sessions.lock()[0].clone();
    script.heard.lock().clear();
    for _ in 0..1000 {
        session.remote().notify(Notification::new("notifications/tools/list_changed", None)).unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let asked = script.heard("tools/list").len();
    assert!((8..=12).contains(&asked), "{asked} times in ten seconds");
}

/// Counts those who introduce themselves, and gives only the first an answer.
#[derive(Default)]
struct OnlyOne(parking_lot::Mutex<usize>, Arc<Script>);

impl Handler for OnlyOne {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            if &*request.method == "initialize" {
                let count = {
                    let mut count = self.0.lock();
                    *count += 1;
                    *count
                };
                if count > 1 {
                    return Err(switchboard_wire::ErrorObject::new(-32603, "no more room")).into();
                }
            }
            self.1.request(context, request).await
        })
    }

    fn notification(&self, _context: Context, _notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_takes_no_more_clients_is_not_pestered() {
    let server = Arc::new(OnlyOne::default());
    let kernel = Kernel::new(crate::world::open_to_all());
    kernel.apply(vec![local("s", "1", server.clone(), Sharing::PerSession)]);
    let client = wire(&kernel, "ada", Era::Legacy).await;
    for _ in 0..20 {
        let error = client.ask("tools/call", r#"{"name":"echo"}"#).await.unwrap_err();
        assert!(error.message.contains("no more room"), "{error}");
    }
    assert_eq!(*server.0.lock(), 2, "one for the lists, one attempt for the client");
    tokio::time::sleep(Duration::from_secs(1)).await;
    client.ask("tools/call", r#"{"name":"echo"}"#).await.unwrap_err();
    assert_eq!(*server.0.lock(), 3, "after a pause it is tried again");
}
