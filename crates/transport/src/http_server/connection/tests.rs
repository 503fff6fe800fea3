//! Connections that do not behave.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;

use super::super::{Answering, EventSource, Listener, Principal};
use super::*;

const PATIENCE: Duration = Duration::from_secs(20);
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Answers with an endless stream where it was given something to drop at its end, else with a few bytes.
struct Answers {
    calls: AtomicUsize,
    endless: Mutex<Option<oneshot::Sender<()>>>,
}

struct Endless {
    _dropped: oneshot::Sender<()>,
}

impl EventSource for Endless {
    fn poll_event(&mut self, _: &mut Context<'_>) -> Poll<Option<Bytes>> {
        Poll::Ready(Some(Bytes::from_static(&[b'x'; 16384])))
    }
}

impl Service for Answers {
    fn call(&self, request: Request<Incoming>, _: Principal) -> Answering<'_> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if request.method() == http::Method::POST {
            // Nothing of the body is read.
            let mut refused = Response::new(Body::full("no room"));
            *refused.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            return Box::pin(async move { refused });
        }
        let body = match self.endless.lock().take() {
            Some(dropped) => Body::events(Endless { _dropped: dropped }, PATIENCE),
            None => Body::full("fine"),
        };
        Box::pin(async move { Response::new(body) })
    }
}

async fn start(limits: Limits, endless: Option<oneshot::Sender<()>>) -> (SocketAddr, Arc<Answers>, CancellationToken) {
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap().with_limits(limits);
    let address = listener.address();
    let answers = Arc::new(Answers { calls: AtomicUsize::new(0), endless: Mutex::new(endless) });
    let shutdown = CancellationToken::new();
    tokio::spawn(listener.serve(answers.clone(), shutdown.clone()));
    (address, answers, shutdown)
}

async fn read_answer(socket: &mut TcpStream) -> String {
    let mut text = Vec::new();
    while !text.ends_with(b"fine") {
        let mut piece = [0; 512];
        let read = tokio::time::timeout(PATIENCE, socket.read(&mut piece)).await.unwrap().unwrap();
        assert!(read > 0, "{}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&piece[..read]);
    }
    String::from_utf8(text).unwrap()
}

#[tokio::test]
async fn a_far_side_that_does_not_read_is_given_up() {
    let (sender, dropped) = oneshot::channel();
    let limits = Limits { write_timeout: Duration::from_millis(20), ..Limits::default() };
    let (address, _, shutdown) = start(limits, Some(sender)).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(REQUEST).await.unwrap();
    // The socket stays open on this side and is never read.
    assert!(tokio::time::timeout(PATIENCE, dropped).await.expect("given up").is_err());
    shutdown.cancel();
}

#[tokio::test]
async fn a_head_that_never_ends_is_given_up() {
    let limits = Limits { head_timeout: Duration::from_millis(20), ..Limits::default() };
    let (address, answers, shutdown) = start(limits, None).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(&REQUEST[..REQUEST.len() - 2]).await.unwrap();
    let mut rest = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, socket.read_to_end(&mut rest)).await.expect("closed");
    assert_eq!(answers.calls.load(Ordering::SeqCst), 0);
    shutdown.cancel();
}

#[tokio::test]
async fn connections_over_the_limit_are_told_to_come_back() {
    let (address, answers, shutdown) = start(Limits { connections: 1, ..Limits::default() }, None).await;
    let mut first = TcpStream::connect(address).await.unwrap();
    first.write_all(REQUEST).await.unwrap();
    read_answer(&mut first).await;
    for calls in 2..5 {
        let mut second = TcpStream::connect(address).await.unwrap();
        second.write_all(REQUEST).await.unwrap();
        let mut told = String::new();
        tokio::time::timeout(PATIENCE, second.read_to_string(&mut told)).await.expect("told").unwrap();
        assert!(told.starts_with("HTTP/1.1 503 ") && told.contains("retry-after: "), "{told}");
        first.write_all(REQUEST).await.unwrap();
        read_answer(&mut first).await;
        assert_eq!(answers.calls.load(Ordering::SeqCst), calls);
    }
    drop(first);
    // The end of the first is noticed in its own time.
    loop {
        let mut third = TcpStream::connect(address).await.unwrap();
        third.write_all(REQUEST).await.unwrap();
        let mut head = [0; 12];
        third.read_exact(&mut head).await.unwrap();
        if &head == b"HTTP/1.1 200" {
            break;
        }
    }
    shutdown.cancel();
}

#[tokio::test]
async fn the_grace_period_ends() {
    let (sender, dropped) = oneshot::channel();
    let limits = Limits { grace: Duration::from_millis(20), ..Limits::default() };
    let (address, _, shutdown) = start(limits, Some(sender)).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(REQUEST).await.unwrap();
    let mut first = [0; 1];
    socket.read_exact(&mut first).await.unwrap();
    shutdown.cancel();
    assert!(tokio::time::timeout(PATIENCE, dropped).await.expect("ended").is_err());
}

/// A client as they are: it reads the answer when it has sent everything.
async fn post(address: SocketAddr, host: &str, length: usize) -> std::io::Result<String> {
    let mut socket = TcpStream::connect(address).await?;
    let head = format!("POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n");
    socket.write_all(head.as_bytes()).await?;
    let piece = vec![b'x'; 64 << 10];
    for start in (0..length).step_by(piece.len()) {
        socket.write_all(&piece[..piece.len().min(length - start)]).await?;
    }
    let mut told = String::new();
    socket.read_to_string(&mut told).await?;
    Ok(told)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_still_sending_reads_why_it_was_refused() {
    let (address, _, shutdown) = start(Limits::default(), None).await;
    for (host, status) in [("localhost", "503"), ("elsewhere.example", "403")] {
        let told = tokio::time::timeout(PATIENCE, post(address, host, 15 << 20)).await.expect("in time");
        let told = told.unwrap_or_else(|error| panic!("{status}: {error}"));
        assert!(told.starts_with(&format!("HTTP/1.1 {status} ")), "{told}");
    }
    shutdown.cancel();
}

#[tokio::test]
async fn what_a_refused_client_sends_is_read_only_so_long() {
    let (address, _, shutdown) = start(Limits::default(), None).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n").await.unwrap();
    // It is told at once, and goes on all the same, for as long as it is let.
    let mut head = [0; 12];
    tokio::time::timeout(PATIENCE, socket.read_exact(&mut head)).await.expect("told").unwrap();
    assert_eq!(&head, b"HTTP/1.1 503");
    let sending = async { while socket.write_all(&[b'x'; 64 << 10]).await.is_ok() {} };
    tokio::time::timeout(PATIENCE, sending).await.expect("cut off");
    shutdown.cancel();
}

#[tokio::test]
async fn a_refused_client_that_has_stopped_sending_is_not_waited_for() {
    let (address, _, shutdown) = start(Limits { connections: 1, ..Limits::default() }, None).await;
    let mut refused = TcpStream::connect(address).await.unwrap();
    refused.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nx").await.unwrap();
    let mut told = String::new();
    tokio::time::timeout(PATIENCE, refused.read_to_string(&mut told)).await.expect("told").unwrap();
    assert!(told.starts_with("HTTP/1.1 503 ") && told.ends_with("no room"), "{told}");
    // Its place is free again although it stays.
    let served = async {
        loop {
            let mut next = TcpStream::connect(address).await.unwrap();
            next.write_all(REQUEST).await.unwrap();
            let mut head = [0; 12];
            if next.read_exact(&mut head).await.is_ok() && &head == b"HTTP/1.1 200" {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, served).await.expect("a place");
    shutdown.cancel();
}
