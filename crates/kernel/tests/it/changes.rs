//! What changes while clients are connected.

use std::sync::Arc;
use std::time::Duration;

use switchboard_kernel::{Kernel, Sharing};
use switchboard_peer::Call;
use switchboard_protocol::Era;
use switchboard_wire::{Edit, Notification, Raw};

use crate::world::{Client, PAIRS, Script, World, client, raw, serve, spec, world};

/// Tells the kernel something from the server's side, in the way of its era.
async fn tell(world: &World, method: &str, params: Raw) {
    if world.script.modern {
        let (context, id) = world.script.streams.lock().last().cloned().expect("an open stream");
        let tagged = Edit::of(&params)
            .expect("object")
            .within("_meta", |meta| meta.set("io.modelcontextprotocol/subscriptionId", id));
        context.remote.notify(Notification::new(method, Some(tagged.expect("object").finish()))).expect("open");
    } else {
        let session = world.script.sessions.lock().first().cloned().expect("a session");
        session.remote().notify(Notification::new(method, Some(params))).expect("open");
    }
}

/// A client that is told of changes, in the way of its era.
async fn listening(world: &World, era: Era, filter: &str) -> Client {
    let mut client = client(&world.url, era).await;
    if era == Era::Modern {
        let remote = client.connected.remote.clone();
        let params = raw(&format!(r#"{{"notifications":{filter}}}"#));
        tokio::spawn(async move { remote.request(Call::new("subscriptions/listen", Some(params))).await });
        let acknowledged = client.hear("notifications/subscriptions/acknowledged").await;
        assert!(
            acknowledged.params.expect("params").at(&["_meta", "io.modelcontextprotocol/subscriptionId"]).is_some()
        );
    }
    client
}

#[tokio::test]
async fn a_changed_list_is_told_and_seen() {
    for (ours, theirs) in PAIRS {
        let world = world(theirs).await;
        world.kernel.settled(Duration::from_secs(5)).await;
        if theirs == Era::Modern {
            world.script.opened_stream.notified().await;
        }
        let mut client = listening(&world, ours, r#"{"toolsListChanged":true}"#).await;
        world.script.more_tools.lock().push("fresh".to_owned());
        tell(&world, "notifications/tools/list_changed", raw("{}")).await;
        client.hear("notifications/tools/list_changed").await;
        let tools = client.ask("tools/list", "{}").await.unwrap();
        assert!(tools.as_str().contains(r#""name":"fresh""#), "{ours:?} {theirs:?}");
    }
}

#[tokio::test]
async fn a_watched_resource_is_told_of() {
    for (ours, theirs) in PAIRS {
        let world = world(theirs).await;
        world.kernel.settled(Duration::from_secs(5)).await;
        if theirs == Era::Modern {
            world.script.opened_stream.notified().await;
        }
        let mut client = listening(&world, ours, r#"{"resourceSubscriptions":["script://one"]}"#).await;
        if ours == Era::Legacy {
            client.ask("resources/subscribe", r#"{"uri":"script://one"}"#).await.unwrap();
        }
        match theirs {
            Era::Legacy => assert_eq!(world.script.heard("resources/subscribe").len(), 1),
            Era::Modern => world.script.opened_stream.notified().await,
        }
        tell(&world, "notifications/resources/updated", raw(r#"{"uri":"script://one","updateExtra":1.10}"#)).await;
        let updated = client.hear("notifications/resources/updated").await.params.unwrap();
        assert_eq!(updated.member("updateExtra").unwrap().as_str(), "1.10", "{ours:?} {theirs:?}");
        if ours == Era::Legacy {
            client.ask("resources/unsubscribe", r#"{"uri":"script://one"}"#).await.unwrap();
            if theirs == Era::Legacy {
                assert_eq!(world.script.heard("resources/unsubscribe").len(), 1);
            }
        }
    }
}

#[tokio::test]
async fn servers_come_and_go_without_disturbing_the_others() {
    let (one, other) = (Script::new(Era::Legacy), Script::new(Era::Legacy));
    let (one_url, other_url) = (serve(one.clone()).await, serve(other).await);
    let kernel = Kernel::new(crate::world::open_to_all());
    kernel.apply(vec![spec("one", &one_url, Sharing::Shared)]);
    let url = serve(Arc::new(kernel.clone())).await;
    let mut client = client(&url, Era::Legacy).await;
    client.ask("tools/call", r#"{"name":"echo"}"#).await.unwrap();
    kernel.apply(vec![spec("one", &one_url, Sharing::Shared), spec("other", &other_url, Sharing::Shared)]);
    client.hear("notifications/tools/list_changed").await;
    kernel.settled(Duration::from_secs(5)).await;
    client.ask("tools/call", r#"{"name":"other__echo"}"#).await.unwrap();
    client.ask("tools/call", r#"{"name":"one__echo"}"#).await.unwrap();
    assert_eq!(one.heard("initialize ").len(), 1, "the server that did not change was left alone");
    kernel.apply(vec![spec("one", &one_url, Sharing::Shared)]);
    client.ask("tools/call", r#"{"name":"echo"}"#).await.unwrap();
    assert!(client.ask("tools/call", r#"{"name":"other__echo"}"#).await.is_err());
}

#[tokio::test]
async fn a_client_that_goes_leaves_nothing_behind() {
    let world = world(Era::Legacy).await;
    let client = client(&world.url, Era::Legacy).await;
    client.ask("tools/call", r#"{"name":"echo"}"#).await.unwrap();
    client.ask("resources/subscribe", r#"{"uri":"script://one"}"#).await.unwrap();
    client.connected.stop().await;
    let gone = async {
        while world.script.heard("resources/unsubscribe").is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), gone).await.expect("the subscription is taken back");
}
