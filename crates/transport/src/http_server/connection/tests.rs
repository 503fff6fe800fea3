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
    fn call(&self, _: Request<Incoming>, _: Principal) -> Answering<'_> {
        self.calls.fetch_add(1, Ordering::SeqCst);
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
