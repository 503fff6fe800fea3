//! The HTTP client against servers written byte by byte.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod life;
mod raw;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use switchboard_transport::http_client::{Body, HttpClientOptions, HttpError, Target};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

/// One request as it came.
#[derive(Debug)]
struct Seen {
    head: String,
    body: Vec<u8>,
}

async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
    let (head, body) = raw::read_request(stream).await?;
    Some(Seen { head, body })
}

/// Answers every request with what `answer` gives, and counts connections.
async fn serve(
    address: &str,
    answer: impl Fn(&Seen) -> String + Send + Sync + 'static,
) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(address).await.unwrap();
    let place = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let (count, answer) = (connections.clone(), Arc::new(answer));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            let answer = answer.clone();
            tokio::spawn(async move {
                while let Some(seen) = read_request(&mut stream).await {
                    let text = answer(&seen);
                    if stream.write_all(text.as_bytes()).await.is_err() || text.contains("connection: close") {
                        return;
                    }
                }
            });
        }
    });
    (place, connections)
}

fn json(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn target(url: &str, options: HttpClientOptions) -> Target {
    Target::new(url, &[("authorization".to_owned(), "Bearer t".to_owned())], options).unwrap()
}

async fn post(target: &Target, body: &'static str) -> Result<(u16, Bytes), HttpError> {
    let answer = target.post(target.headers().clone(), Bytes::from_static(body.as_bytes())).await?;
    match answer.body {
        Body::Whole(body) => Ok((answer.status.as_u16(), body)),
        Body::Events(_) => panic!("a stream where none was expected"),
    }
}

#[tokio::test]
async fn requests_share_one_connection_and_carry_path_query_host_and_headers() {
    let (address, connections) = serve("127.0.0.1:0", |seen| {
        let head = seen.head.to_ascii_lowercase();
        assert!(seen.head.starts_with("POST /base/mcp?key=1 HTTP/1.1\r\n"), "{}", seen.head);
        assert!(head.contains("authorization: bearer t\r\n") && head.contains("host: 127.0.0.1:"), "{head}");
        json(std::str::from_utf8(&seen.body).unwrap())
    })
    .await;
    let target = target(&format!("http://{address}/base/mcp?key=1"), HttpClientOptions::default());
    for body in ["one", "two", "three", "four"] {
        assert_eq!(post(&target, body).await.unwrap(), (200, Bytes::from(body)));
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    assert!(!format!("{target:?}").contains("Bearer"));
    assert!(!target.display().contains("key"));
}

#[tokio::test]
async fn ipv6_addresses_work() {
    let Ok(probe) = TcpListener::bind("[::1]:0").await else { return };
    drop(probe);
    let (address, _) = serve("[::1]:0", |_| json("{}")).await;
    assert_eq!(post(&target(&format!("http://{address}/"), HttpClientOptions::default()), "x").await.unwrap().0, 200);
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_replaced_without_an_error() {
    let (address, connections) = serve("127.0.0.1:0", |_| {
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}"
            .to_owned()
    })
    .await;
    let target = target(&format!("http://{address}/"), HttpClientOptions::default());
    for _ in 0..5 {
        assert_eq!(post(&target, "x").await.unwrap().0, 200);
    }
    assert_eq!(connections.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn a_server_that_promises_no_time_gets_a_new_connection_each_time() {
    let (address, connections) = serve("127.0.0.1:0", |_| {
        "HTTP/1.1 200 OK\r\nkeep-alive: timeout=1, max=5\r\ncontent-length: 2\r\n\r\n{}".to_owned()
    })
    .await;
    let target = target(&format!("http://{address}/"), HttpClientOptions::default());
    for _ in 0..2 {
        post(&target, "x").await.unwrap();
    }
    assert_eq!(connections.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn many_callers_at_once_all_get_their_own_answer() {
    let (address, _) = serve("127.0.0.1:0", |seen| json(std::str::from_utf8(&seen.body).unwrap())).await;
    let target =
        target(&format!("http://{address}/"), HttpClientOptions { max_idle: 4, ..HttpClientOptions::default() });
    let mut callers = Vec::new();
    for number in 0..64 {
        let target = target.clone();
        callers.push(tokio::spawn(async move {
            for round in 0..10 {
                let body = Bytes::from(format!("{number}-{round}"));
                let answer = target.post(target.headers().clone(), body.clone()).await.unwrap();
                let Body::Whole(found) = answer.body else { panic!("no whole body") };
                assert_eq!(found, body);
            }
        }));
    }
    for caller in callers {
        caller.await.unwrap();
    }
}

#[tokio::test]
async fn redirects_are_named_and_not_followed() {
    let (address, connections) = serve("127.0.0.1:0", |_| {
        "HTTP/1.1 307 T\r\nlocation: http://elsewhere.example/mcp?token=secret\r\ncontent-length: 0\r\n\r\n".to_owned()
    })
    .await;
    let error = post(&target(&format!("http://{address}/"), HttpClientOptions::default()), "x").await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("http://elsewhere.example/mcp") && !text.contains("secret"), "{text}");
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn answers_that_are_too_long_are_given_up() {
    let declared = "HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\n".to_owned();
    let chunked =
        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7d0\r\n{}\r\n0\r\n\r\n", "x".repeat(2000));
    let event = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {}", "x".repeat(2000));
    for text in [declared, chunked, event] {
        let (address, _) = serve("127.0.0.1:0", move |_| text.clone()).await;
        let target = target(
            &format!("http://{address}/"),
            HttpClientOptions { body_limit: 1000, ..HttpClientOptions::default() },
        );
        let outcome = match target.post(target.headers().clone(), Bytes::new()).await {
            Ok(answer) => match answer.body {
                Body::Events(mut events) => events.next().await.map(|_| ()),
                Body::Whole(_) => Ok(()),
            },
            Err(error) => Err(error),
        };
        assert!(matches!(outcome, Err(HttpError::TooLarge(1000))), "{outcome:?}");
    }
}

#[tokio::test]
async fn events_are_read_one_by_one_and_the_connection_is_used_again() {
    let (address, connections) = serve("127.0.0.1:0", |seen| {
        if seen.head.starts_with("GET") {
            assert!(seen.head.to_ascii_lowercase().contains("last-event-id: 7\r\n"), "{}", seen.head);
            let events = "id: 8\nretry: 5\ndata: \n\ndata: {\"a\":1}\n\n: comment\n\n";
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: Text/Event-Stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{events}\r\n0\r\n\r\n",
                events.len()
            )
        } else {
            json("{}")
        }
    })
    .await;
    let target = target(&format!("http://{address}/"), HttpClientOptions::default());
    let answer = target.get_events(target.headers().clone(), Some("7")).await.unwrap();
    let Body::Events(mut events) = answer.body else { panic!("no stream") };
    let first = events.next().await.unwrap().unwrap();
    assert_eq!((first.id.as_deref(), first.retry, first.data.len()), (Some("8"), Some(5), 0));
    assert_eq!(events.next().await.unwrap().unwrap().data, "{\"a\":1}");
    assert_eq!(events.next().await.unwrap(), None);
    post(&target, "x").await.unwrap();
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_breaks_says_whether_it_was_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await.unwrap();
    });
    let there = target(&format!("http://{address}/"), HttpClientOptions::default());
    let error = post(&there, "x").await.unwrap_err();
    assert!(error.was_sent(), "{error}");
    // The listener is gone now.
    let error = post(&there, "x").await.unwrap_err();
    assert!(!error.was_sent() && error.to_string().contains(&address.to_string()), "{error}");
}

#[tokio::test]
async fn a_server_that_does_not_accept_is_given_up_in_time() {
    // The handshake of TLS never comes to an end: nobody answers.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let options = HttpClientOptions { connect_timeout: Duration::from_millis(50), ..HttpClientOptions::default() };
    let error = post(&target(&format!("https://{address}/"), options), "x").await.unwrap_err();
    assert!(matches!(error, HttpError::Connect { .. }), "{error}");
}

#[test]
fn addresses_and_headers_that_cannot_be_used_are_refused() {
    for url in ["", "ftp://x/", "http://", "not a url", "http://[::1/", "http://user:pw@host/"] {
        assert!(matches!(Target::new(url, &[], HttpClientOptions::default()), Err(HttpError::BadUrl { .. })), "{url}");
    }
    let bad = [("x y".to_owned(), "v".to_owned())];
    assert!(matches!(Target::new("http://h/", &bad, HttpClientOptions::default()), Err(HttpError::BadHeader(_))));
    let secret = [("authorization".to_owned(), "se\ncret".to_owned())];
    let error = Target::new("http://h/", &secret, HttpClientOptions::default()).unwrap_err();
    assert!(!error.to_string().contains("cret"), "{error}");
}

#[test]
fn a_sibling_stays_on_its_origin() {
    let target = target("http://host:8080/sse?x=1", HttpClientOptions::default());
    assert_eq!(target.join("/messages?session=1").unwrap().display(), "http://host:8080/messages");
    assert_eq!(target.join("post").unwrap().display(), "http://host:8080/post");
    for other in ["http://evil.example/", "https://host:8080/", "//evil.example/x", "http://host/"] {
        assert!(target.join(other).is_err(), "{other}");
    }
}
