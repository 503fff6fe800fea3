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
pub(crate) struct Mute;

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
    mute.start_timeout = Duration::from_secs(20);
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

/// Begins to answer only after a while.
struct Late(Arc<Script>, Duration);

impl Handler for Late {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            if &*request.method == "initialize" {
                tokio::time::sleep(self.1).await;
            }
            self.0.request(context, request).await
        })
    }

    fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        self.0.notification(context, notification)
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_its_server_to_start_and_a_list_does_not() {
    for (server, client_era) in [(Era::Legacy, Era::Legacy), (Era::Legacy, Era::Modern)] {
        let kernel = Kernel::new(KernelOptions { list_wait: Duration::from_secs(1), ..crate::world::open_to_all() });
        let began = tokio::time::Instant::now();
        let mut late =
            local("late", "1", Arc::new(Late(Script::new(server), Duration::from_secs(12))), Sharing::Shared);
        (late.start_timeout, late.era) = (Duration::from_secs(30), switchboard_peer::client::EraChoice::Legacy);
        kernel.apply(vec![late, local("s", "1", Script::new(Era::Legacy), Sharing::Shared)]);
        let mut client = wire(&kernel, "ada", client_era).await;
        let list = client.ask("tools/list", "{}").await.unwrap();
        assert!(!list.as_str().contains("late__") && began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        let prompt = client.begin("prompts/get", r#"{"name":"late__hello"}"#);
        let silent = client.begin("tools/call", r#"{"name":"late__echo"}"#);
        let params = r#"{"name":"late__echo","_meta":{"progressToken":"t"}}"#;
        let result = client.ask("tools/call", params).await.unwrap();
        assert!(result.as_str().contains(r#""text":"ok""#), "{result:?}");
        assert!((12..14).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
        prompt.await.unwrap().unwrap();
        silent.await.unwrap().unwrap();
        let mut told = Vec::new();
        while let Ok(notification) = client.told.try_recv() {
            let Some(params) = notification.params.filter(|_| &*notification.method == "notifications/progress") else {
                continue;
            };
            assert_eq!(params.member("progressToken").unwrap().as_str(), r#""t""#);
            assert!(params.member("message").unwrap().as_str().contains("`late` is still starting"), "{params:?}");
            told.push(params.member("progress").unwrap().as_str().parse::<f64>().unwrap());
        }
        assert_eq!(told.len(), 3, "at once, and every five seconds: {told:?}");
        assert!(
            told.is_sorted_by(|one, next| one < next) && told[0] == 0.0 && told[2] < 0.01,
            "the server's own begins later: {told:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_to_a_server_that_does_not_start_says_so_when_its_start_has_failed() {
    let kernel = Kernel::new(KernelOptions { list_wait: Duration::from_secs(1), ..crate::world::open_to_all() });
    let mut mute = local("mute", "1", Arc::new(Mute), Sharing::Shared);
    mute.start_timeout = Duration::from_secs(20);
    kernel.apply(vec![mute]);
    let client = wire(&kernel, "ada", Era::Legacy).await;
    let began = tokio::time::Instant::now();
    let error = client.ask("tools/call", r#"{"name":"echo"}"#).await.unwrap_err();
    assert!(error.message.contains("`mute` is not connected"), "{error}");
    assert!((18..=20).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    // The kernel's own tools do not wait so long.
    let began = tokio::time::Instant::now();
    assert!(client.ask("tools/call", r#"{"name":"get_manifest"}"#).await.is_ok());
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
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
