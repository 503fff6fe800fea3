//! The accept loop and the life of one connection.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::admission::{Access, Admitted, Asking, Door, Refused};
use super::head_clock::HeadClock;
use super::patient::Patient;
use super::woken::Woken;
use super::{Answering, Body, Limits, Principal, Service};

/// How long to wait before accepting again after the system refused (out of file descriptors, mostly).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

pub(super) async fn serve(
    listener: TcpListener,
    limits: Limits,
    access: Arc<Access>,
    service: Arc<dyn Service>,
    shutdown: CancellationToken,
) {
    let room = Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS)));
    let connections = TaskTracker::new();
    let next = async || {
        let permit = room.clone().acquire_owned().await.ok()?;
        loop {
            match listener.accept().await {
                Ok((stream, _)) => return Some((stream, permit)),
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    };
    loop {
        let accepted = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            accepted = next() => accepted,
        };
        let Some((stream, permit)) = accepted else { break };
        // Without it a small answer may wait for a delayed acknowledgement; nothing else depends on it.
        let _ = stream.set_nodelay(true);
        let connection = Connection { stream, access: access.clone(), service: service.clone() };
        // A token of its own: waiting on the common one would make all connections share its lock.
        let ending = shutdown.child_token();
        connections.spawn(run(connection, limits.clone(), ending, permit));
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

struct Connection {
    stream: TcpStream,
    access: Arc<Access>,
    service: Arc<dyn Service>,
}

async fn run(connection: Connection, limits: Limits, ending: CancellationToken, _room: OwnedSemaphorePermit) {
    let Connection { stream, access, service } = connection;
    let door = Door::new(access);
    let answer = service_fn(|request: Request<Incoming>| {
        // What is let in at once becomes the service's own future here, before anything is copied around.
        let entry = match door.admit(request.uri(), request.headers(), service.is_open(request.uri().path())) {
            Ok(Admitted::Now(principal)) => Entry::Open(service.call(request, principal.clone()), principal),
            Ok(Admitted::Later(asking)) => Entry::Later(Box::new((asking, request))),
            Err(refused) => Entry::Closed(refused),
        };
        let (service, access) = (&service, door.access());
        async move {
            let (answering, holder) = match entry {
                Entry::Open(answering, holder) => (answering, holder),
                Entry::Later(waiting) => {
                    let (asking, request) = *waiting;
                    match asking.end().await {
                        Ok(principal) => (service.call(request, principal.clone()), principal),
                        Err(refused) => return Ok(turn_away(refused, access.challenge(refused))),
                    }
                }
                Entry::Closed(refused) => return Ok(turn_away(refused, access.challenge(refused))),
            };
            let mut response = Woken::new(answering).await;
            response.body_mut().end_with(&holder);
            Ok::<_, Infallible>(response)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(HeadClock::default()).header_read_timeout(limits.head_timeout);
    let io = TokioIo::new(Patient::new(stream, limits.write_timeout));
    let mut serving = pin!(http.serve_connection(io, answer));
    let served = tokio::select! {
        biased;
        served = Woken::new(serving.as_mut()) => served,
        () = ending.cancelled() => {
            serving.as_mut().graceful_shutdown();
            tokio::time::timeout(limits.grace, serving).await.unwrap_or(Ok(()))
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

/// The body is not read, so hyper closes the connection behind the answer where one is on its way.
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
