//! How connections are used, kept and given up.

use std::time::Duration;

use bytes::Bytes;
use switchboard_transport::http_client::{Body, HttpClientOptions, HttpError, Target};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{json, post, read_request, serve, target};

const PATIENCE: Duration = Duration::from_secs(10);

/// Hands out the connections that are made, for the test to answer by hand.
async fn by_hand(options: HttpClientOptions) -> (Target, mpsc::Receiver<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let there = target(&format!("http://{}/", listener.local_addr().unwrap()), options);
    let (made, connections) = mpsc::channel(16);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if made.send(stream).await.is_err() {
                return;
            }
        }
    });
    (there, connections)
}

async fn accept(connections: &mut mpsc::Receiver<TcpStream>) -> TcpStream {
    timeout(PATIENCE, connections.recv()).await.unwrap().unwrap()
}

/// Reads one request and answers it with `text`.
async fn answer(stream: &mut TcpStream, text: &str) {
    timeout(PATIENCE, read_request(stream)).await.unwrap().unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
}

/// Waits until the other side has closed the connection.
async fn closed(stream: &mut TcpStream) {
    let mut rest = Vec::new();
    let _reset_or_end = timeout(PATIENCE, stream.read_to_end(&mut rest)).await.expect("the connection stays open");
}

/// What was sent is seen on the other side.
async fn let_it_arrive() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

#[tokio::test]
async fn an_idle_connection_that_the_server_closes_is_not_used_again() {
    let (there, mut connections) = by_hand(HttpClientOptions::default()).await;
    let (first, mut stream) = tokio::join!(post(&there, "x"), async {
        let mut stream = accept(&mut connections).await;
        answer(&mut stream, &json("1")).await;
        stream
    });
    assert_eq!(first.unwrap().1, "1");
    stream.shutdown().await.unwrap();
    let_it_arrive().await;
    let (second, _) = tokio::join!(post(&there, "x"), async {
        answer(&mut accept(&mut connections).await, &json("2")).await;
    });
    assert_eq!(second.unwrap().1, "2");
    closed(&mut stream).await;
}

#[tokio::test]
async fn bytes_that_nobody_asked_for_are_no_answer_to_the_next_question() {
    let (there, mut connections) = by_hand(HttpClientOptions::default()).await;
    for late in [false, true] {
        let (first, mut stream) = tokio::join!(post(&there, "x"), async {
            let mut stream = accept(&mut connections).await;
            let forged = if late { String::new() } else { json("forged") };
            answer(&mut stream, &format!("{}{forged}", json("1"))).await;
            stream
        });
        assert_eq!(first.unwrap().1, "1");
        if late {
            stream.write_all(json("forged").as_bytes()).await.unwrap();
            let_it_arrive().await;
        }
        let (second, last) = tokio::join!(post(&there, "x"), async {
            let mut stream = accept(&mut connections).await;
            answer(&mut stream, &json("2").replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n")).await;
            stream
        });
        assert_eq!(second.unwrap().1, "2");
        drop(last);
    }
}

#[tokio::test]
async fn connections_that_nobody_uses_are_closed() {
    let options = HttpClientOptions { idle_timeout: Duration::from_millis(20), ..HttpClientOptions::default() };
    let (there, mut connections) = by_hand(options).await;
    let (first, mut stream) = tokio::join!(post(&there, "x"), async {
        let mut stream = accept(&mut connections).await;
        answer(&mut stream, &json("1")).await;
        stream
    });
    first.unwrap();
    // Its time is over by the clock on the wall; the task that looks after it is brought forward.
    tokio::time::sleep(Duration::from_millis(30)).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(6)).await;
    tokio::time::resume();
    closed(&mut stream).await;
    drop(there);
}

#[tokio::test]
async fn a_request_that_is_given_up_ends_its_connection() {
    let (there, mut connections) = by_hand(HttpClientOptions::default()).await;
    let asking = tokio::spawn({
        let there = there.clone();
        async move { post(&there, "x").await.map(drop) }
    });
    let mut stream = accept(&mut connections).await;
    timeout(PATIENCE, read_request(&mut stream)).await.unwrap().unwrap();
    asking.abort();
    closed(&mut stream).await;
}

#[tokio::test]
async fn a_stream_that_is_given_up_ends_its_connection() {
    let (there, mut connections) = by_hand(HttpClientOptions::default()).await;
    let asking = there.get_events(there.headers().clone(), None);
    let (answer, mut stream) = tokio::join!(asking, async {
        let mut stream = accept(&mut connections).await;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        answer(&mut stream, head).await;
        stream.write_all(b"9\r\ndata: 1\n\n\r\n").await.unwrap();
        stream
    });
    let Body::Events(mut events) = answer.unwrap().body else { panic!("no stream") };
    assert_eq!(events.next().await.unwrap().unwrap().data, "1");
    // Waiting for the next one may be given up, and taken up again.
    assert!(timeout(Duration::from_millis(10), events.next()).await.is_err());
    stream.write_all(b"5\r\ndata:\r\n").await.unwrap();
    assert!(timeout(Duration::from_millis(10), events.next()).await.is_err());
    stream.write_all(b"3\r\n2\n\n\r\n").await.unwrap();
    assert_eq!(timeout(PATIENCE, events.next()).await.unwrap().unwrap().unwrap().data, "2");
    drop(events);
    closed(&mut stream).await;
}

#[tokio::test]
async fn a_stream_that_breaks_is_no_stream_that_ends() {
    let (there, mut connections) = by_hand(HttpClientOptions::default()).await;
    let asking = there.get_events(there.headers().clone(), None);
    let (answer, ()) = tokio::join!(asking, async {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let mut stream = accept(&mut connections).await;
        answer(&mut stream, &format!("{head}9\r\ndata: 1\n\n\r\n")).await;
    });
    let Body::Events(mut events) = answer.unwrap().body else { panic!("no stream") };
    assert_eq!(events.next().await.unwrap().unwrap().data, "1");
    assert!(matches!(events.next().await, Err(HttpError::Broken { .. })));
}

#[tokio::test]
async fn a_refusal_before_the_whole_request_was_read_is_an_answer() {
    let (there, mut connections) = by_hand(HttpClientOptions::default()).await;
    let large = Bytes::from(vec![b'x'; 32 << 20]);
    let (refused, stream) = tokio::join!(timeout(PATIENCE, there.post(there.headers().clone(), large)), async {
        let mut stream = accept(&mut connections).await;
        stream.read_u8().await.unwrap();
        stream.write_all(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        stream
    });
    assert_eq!(refused.unwrap().unwrap().status.as_u16(), 413);
    // What is left of the large request must not be taken for the next.
    let (next, _) = tokio::join!(post(&there, "x"), async {
        answer(&mut accept(&mut connections).await, &json("2")).await;
    });
    assert_eq!(next.unwrap().1, "2");
    drop(stream);
}

/// Some servers greet before they read.
#[tokio::test]
async fn an_answer_that_begins_early_does_not_cut_the_request_off() {
    let heads = [
        "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    ];
    for head in heads {
        let (there, mut connections) = by_hand(HttpClientOptions::default()).await;
        let large = Bytes::from(vec![b'x'; 32 << 20]);
        let asking = async {
            let answer = there.post(there.headers().clone(), large).await.unwrap();
            let text = match answer.body {
                Body::Whole(body) => String::from_utf8(body.to_vec()).unwrap(),
                Body::Events(mut events) => format!("{:?}", events.next().await.unwrap().unwrap().data),
            };
            (answer.status.as_u16(), text)
        };
        let serving = async {
            let mut stream = accept(&mut connections).await;
            stream.read_u8().await.unwrap();
            stream.write_all(head.as_bytes()).await.unwrap();
            let_it_arrive().await;
            let mut come = vec![0; 1 << 20];
            let mut length = 0;
            while length < 32 << 20 {
                length += stream.read(&mut come).await.unwrap();
            }
            if head.contains("chunked") {
                stream.write_all(b"9\r\ndata: 1\n\n\r\n0\r\n\r\n").await.unwrap();
            }
            stream
        };
        let ((status, text), _stream) = timeout(PATIENCE, async { tokio::join!(asking, serving) }).await.unwrap();
        assert!(status == 202 || text.contains('1'), "{status} {text}");
    }
}

#[tokio::test]
async fn large_bodies_pass_both_ways_however_they_are_marked_off() {
    let (address, _) = serve("127.0.0.1:0", |seen| {
        let body = String::from_utf8(seen.body.clone()).unwrap();
        match body.as_bytes()[0] {
            b'l' => json(&body),
            b'c' => {
                let chunks: String = body
                    .as_bytes()
                    .chunks(10_000)
                    .map(|chunk| format!("{:x}\r\n{}\r\n", chunk.len(), std::str::from_utf8(chunk).unwrap()))
                    .collect();
                format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{chunks}0\r\n\r\n")
            }
            _ => format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{body}"),
        }
    })
    .await;
    let there = target(&format!("http://{address}/"), HttpClientOptions::default());
    for kind in ["length", "chunks", "until the end"] {
        for size in [1, 4 << 10, (4 << 10) + 1, 8 << 10, 3 << 20] {
            let body = Bytes::from(format!("{kind}{}", "x".repeat(size)));
            let answer = timeout(PATIENCE, there.post(there.headers().clone(), body.clone())).await.unwrap().unwrap();
            let Body::Whole(found) = answer.body else { panic!("no whole body") };
            assert!(found == body, "{kind} of {size}: {} bytes", found.len());
        }
    }
}

#[tokio::test]
async fn what_comes_before_the_answer_is_passed_over() {
    let (address, connections) = serve("127.0.0.1:0", |_| {
        format!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n{}", json("1"))
    })
    .await;
    let there = target(&format!("http://{address}/"), HttpClientOptions::default());
    for _ in 0..2 {
        assert_eq!(post(&there, "x").await.unwrap().1, "1");
    }
    assert_eq!(connections.load(std::sync::atomic::Ordering::SeqCst), 1);
    for endless in ["HTTP/1.1 101 Switching\r\n\r\n".to_owned(), "HTTP/1.1 100 Continue\r\n\r\n".repeat(2000)] {
        let (address, _) = serve("127.0.0.1:0", move |_| endless.clone()).await;
        let there = target(&format!("http://{address}/"), HttpClientOptions::default());
        let error = timeout(PATIENCE, post(&there, "x")).await.unwrap().unwrap_err();
        assert!(matches!(error, HttpError::Broken { .. }), "{error}");
    }
}

#[tokio::test]
async fn answers_that_are_no_http_are_named() {
    for (text, why) in [
        ("{\"jsonrpc\":\"2.0\"}\n", "not HTTP"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello", "two lengths"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "no size"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhell", "in the middle"),
    ] {
        let (address, _) = serve("127.0.0.1:0", move |_| text.to_owned()).await;
        let there = target(&format!("http://{address}/"), HttpClientOptions::default());
        let error = timeout(PATIENCE, post(&there, "x")).await.unwrap().unwrap_err();
        assert!(error.was_sent() && error.to_string().contains(why), "{error}");
    }
}
