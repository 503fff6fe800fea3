//! The accept loop and the life of one connection.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::admission::{AccessRules, Admitted, Asking, Door, Manner, Refused};
use super::head_clock::HeadClock;
use super::patient::Patient;
use super::poll_on_wake::PollOnWake;
use super::{Answering, Body, Limits, Principal, Service};

/// Connections above the bound that are told so at one time, and how long that may take.
const MAX_TURNED_AWAY: usize = 64;
const TURN_AWAY: Duration = Duration::from_secs(1);
/// Reads of what such a connection sends.
const MAX_UNREAD: usize = 16;
/// Between two lines in the log about the same trouble.
const COMPLAINT_PAUSE: Duration = Duration::from_secs(10);
/// What a connection may hold of what it reads, and of what it has to write.
const BUFFER: usize = 64 << 10;
/// After the grace period requests that still run are answered with an error, which may take this long.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long to wait before accepting again after the system refused (out of file descriptors, mostly).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub(super) async fn serve(
    listener: TcpListener,
    limits: Limits,
    access: Arc<AccessRules>,
    service: Arc<dyn Service>,
    shutdown: CancellationToken,
) {
    let room = Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS)));
    let door = Arc::new(Semaphore::new(MAX_TURNED_AWAY));
    let connections = TaskTracker::new();
    let mut complaints = Complaints::default();
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                complaints.about("a connection could not be accepted", &error);
                tokio::select! {
                    () = shutdown.cancelled() => break,
                    () = tokio::time::sleep(ACCEPT_PAUSE) => continue,
                }
            }
        };
        // Without it a small answer may wait for a delayed acknowledgement; nothing else depends on it.
        let _ = stream.set_nodelay(true);
        let Ok(permit) = room.clone().try_acquire_owned() else {
            complaints.about("connections are turned away", &"there are as many as there may be");
            // Those that are not even told find their connection closed.
            if let Ok(place) = door.clone().try_acquire_owned() {
                connections.spawn(turn_away_unread(stream, place));
            }
            continue;
        };
        let connection = Connection { stream, access: access.clone(), service: service.clone() };
        // A token of its own: waiting on the common one would make all connections share its lock.
        let ending = shutdown.child_token();
        connections.spawn(run(connection, limits.clone(), ending, permit));
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

/// What is said of the same trouble again and again.
#[derive(Default)]
struct Complaints {
    last: Option<Instant>,
    unsaid: u64,
}

impl Complaints {
    /// Logs a line, but not more often than is of use.
    fn about(&mut self, what: &str, why: &dyn std::fmt::Display) {
        if self.last.is_some_and(|last| last.elapsed() < COMPLAINT_PAUSE) {
            self.unsaid += 1;
            return;
        }
        tracing::warn!(error = %why, unsaid = self.unsaid, "{what}");
        *self = Self { last: Some(Instant::now()), unsaid: 0 };
    }
}

/// Tells a connection above the bound that there is no room, without reading what it wants.
async fn turn_away_unread(mut stream: TcpStream, _place: OwnedSemaphorePermit) {
    let body = r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"there are too many connections"}}"#;
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\nretry-after: 5\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    );
    let told = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        // A connection that is closed before all was read takes the answer with it.
        let mut unread = [0; 4096];
        for _ in 0..MAX_UNREAD {
            if stream.read(&mut unread).await? == 0 {
                break;
            }
        }
        std::io::Result::Ok(())
    };
    let _ = tokio::time::timeout(TURN_AWAY, told).await;
}

struct Connection {
    stream: TcpStream,
    access: Arc<AccessRules>,
    service: Arc<dyn Service>,
}

async fn run(connection: Connection, limits: Limits, ending: CancellationToken, _room: OwnedSemaphorePermit) {
    let Connection { stream, access, service } = connection;
    let door = Door::new(access);
    // The grace period is over. Looked at whenever the connection is polled.
    let late = AtomicBool::new(false);
    // Whether the last request was refused, perhaps before its body was read.
    let refused = AtomicBool::new(false);
    let answer = service_fn(|request: Request<Incoming>| {
        let has_body = !request.body().is_end_stream();
        // What is let in at once becomes the service's own future here, before anything is copied around.
        let path = request.uri().path();
        let manner = Manner { open: service.is_open(path), any_host: service.has_any_host(path) };
        let entry = match door.admit(request.uri(), request.headers(), manner) {
            Ok(Admitted::Now(principal)) => Entry::Open(service.call(request, principal.clone()), principal),
            Ok(Admitted::Later(asking)) => Entry::Later(Box::new((asking, request))),
            Err(why) => Entry::Closed(why),
        };
        let (service, access, late, refused) = (&service, door.access(), &late, &refused);
        // Until there is an answer: what is refused here has not been read.
        refused.store(has_body, Ordering::Relaxed);
        async move {
            let (answering, holder) = match entry {
                Entry::Open(answering, holder) => (answering, holder),
                Entry::Later(waiting) => {
                    let (asking, request) = *waiting;
                    match asking.end().await {
                        Ok(principal) => (service.call(request, principal.clone()), principal),
                        Err(why) => return Ok(turn_away(why, access.challenge(why))),
                    }
                }
                Entry::Closed(why) => return Ok(turn_away(why, access.challenge(why))),
            };
            let mut answering = pin!(PollOnWake::new(answering));
            let answered = poll_fn(|cx| match answering.as_mut().poll(cx) {
                Poll::Pending if late.load(Ordering::Relaxed) => Poll::Ready(None),
                answered => answered.map(Some),
            });
            let Some(mut response) = answered.await else { return Ok(cut_short()) };
            let is_error = response.status().is_client_error() || response.status().is_server_error();
            refused.store(has_body && is_error, Ordering::Relaxed);
            response.body_mut().end_with(&holder);
            Ok::<_, Infallible>(response)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(HeadClock::default()).header_read_timeout(limits.head_timeout).max_buf_size(BUFFER);
    let io = TokioIo::new(Patient::new(stream, limits.write_timeout, &refused));
    let mut serving = pin!(http.serve_connection(io, answer));
    let served = tokio::select! {
        biased;
        served = PollOnWake::new(serving.as_mut()) => served,
        () = ending.cancelled() => {
            serving.as_mut().graceful_shutdown();
            match tokio::time::timeout(limits.grace, serving.as_mut()).await {
                Ok(served) => served,
                Err(_) => {
                    late.store(true, Ordering::Relaxed);
                    tokio::time::timeout(LAST_WORDS, serving).await.unwrap_or(Ok(()))
                }
            }
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection broke");
    }
}

/// A request at the door.
enum Entry<'a> {
    /// It is being answered, for whom.
    Open(Answering<'a>, Principal),
    /// It waits for what is asked elsewhere about its token.
    Later(Box<(Asking, Request<Incoming>)>),
    Closed(Refused),
}

/// A request that ran longer than it was given at the end.
fn cut_short() -> Response<Body> {
    let message = "Switchboard has ended; whether the request was carried out is unknown";
    let body = format!(r#"{{"jsonrpc":"2.0","error":{{"code":-32000,"message":"{message}"}}}}"#);
    let mut response = Response::new(Body::full(body));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The body is not read, so hyper closes the connection behind the answer where one is on its way. What of it is still
/// to come is read by the socket.
fn turn_away(refused: Refused, challenge: Option<&HeaderValue>) -> Response<Body> {
    let mut response = Response::new(Body::full(refused.body()));
    *response.status_mut() = refused.status();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(challenge) = challenge {
        headers.insert(WWW_AUTHENTICATE, challenge.clone());
    }
    response
}

#[cfg(test)]
mod tests;
