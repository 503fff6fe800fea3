//! Coming back for a stream with `Last-Event-ID`.

use serde_json::json;

use crate::client::Ask;
use crate::script::{Seen, Served, call, progress};

#[tokio::test]
async fn a_stream_closed_by_the_server_goes_on_at_the_next_get() {
    let mut served = Served::start().await;
    let session = served.session("2025-11-25").await;
    let mut first = call(&session, "poll").open(served.address).await;
    let primed = first.event().await.unwrap();
    assert!(primed.data.is_empty() && primed.retry == Some(10));
    assert!(first.event().await.is_none());
    served.until(Seen::Started("poll".to_owned())).await;
    let mut second = Ask::get(&session).with("Last-Event-ID", &primed.id.unwrap()).open(served.address).await;
    assert!(second.is_stream());
    served.script.gate.notify_one();
    assert_eq!(second.message().await["result"], json!({"polled": true}));
    assert!(second.event().await.is_none());
}

#[tokio::test]
async fn closing_does_nothing_where_the_client_could_not_come_back() {
    let mut served = Served::start().await;
    let session = served.session("2025-06-18").await;
    let asking = tokio::spawn({
        let (ask, address) = (call(&session, "poll"), served.address);
        async move { ask.send(address).await }
    });
    served.until(Seen::Started("poll".to_owned())).await;
    served.script.gate.notify_one();
    assert_eq!(asking.await.unwrap().json()["result"], json!({"polled": true}));
}

#[tokio::test]
async fn what_came_after_the_last_event_is_sent_again() {
    let served = Served::start().await;
    let session = served.session("2025-11-25").await;
    let mut first = call(&session, "progress").open(served.address).await;
    let primed = first.event().await.unwrap().id.unwrap();
    let one = first.event().await.unwrap().id.unwrap();
    while first.event().await.is_some() {}
    for (after, progresses) in [(&primed, 2), (&one, 1)] {
        let mut again = Ask::get(&session).with("Last-Event-ID", after).open(served.address).await;
        for number in 0..progresses {
            assert_eq!(again.message().await["params"]["progress"], 3 - progresses + number);
        }
        assert_eq!(again.message().await["result"], json!({"done": true}));
        assert!(again.event().await.is_none());
    }
}

#[tokio::test]
async fn an_answer_outlives_its_connection() {
    let mut served = Served::start().await;
    let session = served.session("2025-06-18").await;
    let mut first = call(&session, "gate").open(served.address).await;
    let seen = first.event().await.unwrap().id.unwrap();
    served.until(Seen::Started("gate".to_owned())).await;
    drop(first);
    served.script.gate.notify_one();
    served.until(Seen::Dropped("gate".to_owned())).await;
    let mut again = Ask::get(&session).with("Last-Event-ID", &seen).open(served.address).await;
    assert_eq!(again.message().await["result"], json!({"open": true}));
}

#[tokio::test]
async fn streams_are_not_mixed() {
    let mut served = Served::start().await;
    let id = served.session("2025-11-25").await;
    let mut main = Ask::get(&id).open(served.address).await;
    let mut request = call(&id, "gate").open(served.address).await;
    let primed = request.event().await.unwrap().id.unwrap();
    served.until(Seen::Started("gate".to_owned())).await;
    served.last_session().remote().notify(progress(100)).unwrap();
    drop(request);
    served.script.gate.notify_one();
    let mut again = Ask::get(&id).with("Last-Event-ID", &primed).open(served.address).await;
    assert_eq!(again.message().await["params"]["progress"], 1);
    assert_eq!(again.message().await["result"], json!({"open": true}));
    assert!(again.event().await.is_none());
    // The session's own stream was not touched by the other's return, and can itself be resumed.
    let start = main.event().await.unwrap();
    assert!(start.data.is_empty());
    assert_eq!(main.message().await["params"]["progress"], 100);
    drop(main);
    let mut main = Ask::get(&id).with("Last-Event-ID", &start.id.unwrap()).open(served.address).await;
    assert_eq!(main.message().await["params"]["progress"], 100);
}

#[tokio::test]
async fn ended_streams_are_forgotten_in_their_turn() {
    let served = Served::start().await;
    let session = served.session("2025-11-25").await;
    let mut ids = Vec::new();
    for _ in 0..40 {
        let mut stream = call(&session, "progress").open(served.address).await;
        ids.push(stream.event().await.unwrap().id.unwrap());
        while stream.event().await.is_some() {}
    }
    let resume = |id: &str| Ask::get(&session).with("Last-Event-ID", id);
    assert_eq!(resume(&ids[0]).open(served.address).await.status, 400);
    assert_eq!(resume(&ids[39]).open(served.address).await.status, 200);
}
