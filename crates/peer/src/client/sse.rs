//! HTTP+SSE, the transport of 2024-11-05: a stream of events one way, a POST per message the other.
//!
//! Both halves are joined to a pair of pipes, so that the connection itself is the one that stdio uses.

use std::sync::Arc;
use std::time::Duration;

use ::http::HeaderMap;
use ::http::header::{CONTENT_TYPE, HeaderValue};
use switchboard_transport::http_client::{Answer, Body, EventStream, HttpClientOptions, Target};
use switchboard_wire::{Limits, Line, LineDecoder};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

use super::stdio::{self, ConnectionStopper, Opening};
use super::{ConnectError, ConnectOptions, Connected};
use crate::Handler;

/// How much may wait between the connection and HTTP, each way.
const PIPE: usize = 256 << 10;
/// How long one message may take to be delivered.
const DELIVERY: Duration = Duration::from_secs(30);
const STEP: &str = "the event stream";

pub(super) async fn connect(
    url: &str,
    headers: &[(String, String)],
    options: ConnectOptions,
    handler: Arc<dyn Handler>,
) -> Result<Connected, ConnectError> {
    let http_options = HttpClientOptions { body_limit: options.limits.bytes, ..HttpClientOptions::default() };
    over(Target::new(url, headers, http_options)?, &options, handler).await
}

/// Connects over the event stream at `target`.
pub(super) async fn over(
    target: Target,
    options: &ConnectOptions,
    handler: Arc<dyn Handler>,
) -> Result<Connected, ConnectError> {
    let bad = |why: String| ConnectError::BadAnswer { step: STEP, why };
    let opening = async {
        let answer = target.get_events(target.headers().clone(), None).await?;
        let mut events = match answer {
            Answer { body: Body::Events(events), .. } => events,
            answer if matches!(answer.status.as_u16(), 401 | 403) => {
                let challenge = answer.header(&::http::header::WWW_AUTHENTICATE).map(str::to_owned);
                return Err(ConnectError::Unauthorized { status: answer.status.as_u16(), challenge });
            }
            answer => return Err(bad(format!("HTTP {}", answer.status.as_u16()))),
        };
        // The first event says where to send to.
        loop {
            let event = events.next().await?.ok_or_else(|| bad("it ended before the `endpoint` event".to_owned()))?;
            if event.event.as_deref() == Some("endpoint") {
                let endpoint = String::from_utf8_lossy(&event.data).trim().to_owned();
                return Ok((events, target.join(&endpoint)?));
            }
        }
    };
    let (events, endpoint) =
        tokio::time::timeout(options.probe_timeout.max(DELIVERY), opening).await.map_err(|_| {
            ConnectError::Timeout { step: STEP, after: options.probe_timeout.max(DELIVERY), stderr: String::new() }
        })??;

    let (near_reader, far_writer) = tokio::io::duplex(PIPE);
    let (far_reader, near_writer) = tokio::io::duplex(PIPE);
    let wire = stdio::start(near_reader, near_writer, options, handler);
    let closed = wire.connection.closed().clone();
    tokio::spawn({
        let closed = closed.clone();
        async move {
            tokio::select! {
                () = receive(events, far_writer) => {}
                () = closed.cancelled() => {}
            }
            // The stream is the connection: without it no answer can come.
            closed.cancel();
        }
    });
    tokio::spawn({
        let limits = options.limits.clone();
        async move {
            tokio::select! {
                () = send(endpoint, far_reader, limits) => closed.cancel(),
                () = closed.cancelled() => {}
            }
        }
    });
    // The modern era has no such transport, so there is nothing to probe for.
    match stdio::agree(&wire, options, Opening::Initialize).await {
        Ok((revision, profile)) => {
            let stopper = Arc::new(ConnectionStopper(wire.connection.clone()));
            Ok(stdio::connected(&wire, options, revision, profile, stopper, None))
        }
        Err(error) => {
            wire.connection.close();
            Err(error)
        }
    }
}

/// Events to lines.
async fn receive(mut events: Box<EventStream>, mut pipe: DuplexStream) {
    loop {
        let event = match events.next().await {
            Ok(Some(event)) => event,
            Ok(None) => return,
            Err(error) => {
                tracing::debug!(%error, "the event stream broke");
                return;
            }
        };
        if event.data.is_empty() || event.event.as_deref().is_some_and(|kind| kind != "message") {
            continue;
        }
        // A line end inside JSON text is white space: inside a string it would be escaped.
        let mut line: Vec<u8> = event.data.iter().map(|&byte| if byte == b'\n' { b' ' } else { byte }).collect();
        line.push(b'\n');
        if pipe.write_all(&line).await.is_err() {
            return;
        }
    }
}

/// Lines to POSTs, one after the other.
async fn send(endpoint: Target, mut pipe: DuplexStream, limits: Limits) {
    let mut headers: HeaderMap = endpoint.headers().clone();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let mut decoder = LineDecoder::new(limits.bytes);
    loop {
        while let Some(line) = decoder.next_line() {
            let Line::Whole(line) = line else { continue };
            let posted = tokio::time::timeout(DELIVERY, endpoint.post(headers.clone(), line)).await;
            match posted {
                Ok(Ok(answer)) if answer.status.is_success() => {}
                Ok(Ok(answer)) => {
                    // A message that is refused has no answer on the stream: calls would wait for nothing.
                    tracing::warn!(status = answer.status.as_u16(), "the server refused a message");
                    return;
                }
                Ok(Err(error)) => {
                    tracing::warn!(%error, "a message could not be delivered");
                    return;
                }
                Err(_) => {
                    tracing::warn!("a message could not be delivered in time");
                    return;
                }
            }
        }
        decoder.buffer().reserve(8 << 10);
        if !matches!(pipe.read_buf(decoder.buffer()).await, Ok(count) if count > 0) {
            return;
        }
    }
}
