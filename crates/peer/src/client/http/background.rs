//! What runs beside the calls: notifications on their way out, and a legacy server's stream of its own.

use std::sync::Weak;
use std::time::Duration;

use ::http::StatusCode;
use bytes::Bytes;
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp;
use switchboard_transport::http_client::{Answer, Body, EventStream};
use switchboard_wire::sse::SseEvent;
use switchboard_wire::{Id, Message};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::Http;
use super::call::{Cursor, TURN};

/// The longest pause between two attempts to open the stream.
const MOST_PAUSE: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Sends notifications one after the other, in their order.
pub(super) async fn deliver(http: Weak<Http>, closed: CancellationToken, mut queue: mpsc::Receiver<Bytes>) {
    loop {
        let message = tokio::select! {
            message = queue.recv() => message,
            () = closed.cancelled() => None,
        };
        let (Some(message), Some(http)) = (message, http.upgrade()) else { return };
        if let Err(error) = http.deliver(message).await {
            tracing::debug!(%error, "a notification could not be delivered");
        }
    }
}

/// Keeps a legacy server's own stream open: what it sends there belongs to no call.
/// `opened` is told when the first attempt is over.
pub(super) async fn listen(http: Weak<Http>, closed: CancellationToken, opened: oneshot::Sender<()>) {
    tokio::select! {
        () = keep_listening(http, opened) => {}
        () = closed.cancelled() => {}
    }
}

async fn keep_listening(http: Weak<Http>, opened: oneshot::Sender<()>) {
    let mut first = Some(opened);
    let mut cursor = Cursor::default();
    let mut generation = None;
    let mut failures = 0u32;
    loop {
        let Some(this) = http.upgrade() else { return };
        let state = this.state();
        if generation.replace(state.generation) != Some(state.generation) {
            // Event ids of a session that is gone mean nothing to the next.
            cursor = Cursor::default();
        }
        let answer = this.get_events(&state, cursor.last.as_deref()).await;
        // Whoever waits learns it by the sender's end.
        drop(first.take());
        match answer {
            Ok(Answer { body: Body::Events(events), .. }) => {
                drop(this);
                if read(&http, events, &mut cursor).await {
                    failures = 0;
                } else {
                    failures = failures.saturating_add(1);
                }
            }
            Ok(answer) if state.session.is_some() && answer.status == StatusCode::NOT_FOUND => {
                failures = failures.saturating_add(1);
                if let Err(error) = this.renew(state.generation).await {
                    tracing::debug!(%error, "a lost session could not be established again yet");
                }
            }
            Ok(answer) if answer.status.is_server_error() => failures = failures.saturating_add(1),
            // The server has no such stream, or does not give it to us.
            Ok(answer) => {
                tracing::debug!(status = answer.status.as_u16(), "the server offers no stream of its own");
                // A later session may have one.
                let mut renewals = this.renewals.subscribe();
                drop(this);
                if renewals.changed().await.is_err() {
                    return;
                }
                continue;
            }
            Err(error) => {
                tracing::debug!(%error, "the server's own stream could not be opened");
                failures = failures.saturating_add(1);
            }
        }
        let pause = cursor.retry.unwrap_or(FIRST_PAUSE).max(FIRST_PAUSE / 10);
        tokio::time::sleep((pause * 2u32.saturating_pow(failures.min(8))).min(pause.max(MOST_PAUSE))).await;
    }
}

/// Reads a stream to its end; `true` if anything came.
async fn read(http: &Weak<Http>, mut events: Box<EventStream>, cursor: &mut Cursor) -> bool {
    let mut any = false;
    let mut taken = 0u32;
    loop {
        match events.next().await {
            Ok(Some(event)) => {
                any = true;
                taken = taken.wrapping_add(1);
                if taken.is_multiple_of(TURN) {
                    tokio::task::yield_now().await;
                }
                cursor.note(&event);
                let Some(http) = http.upgrade() else { return any };
                http.unsolicited(event).await;
            }
            Ok(None) => return any,
            Err(error) => {
                tracing::debug!(%error, "the server's own stream broke");
                return any;
            }
        }
    }
}

/// The id of the call that a message is about.
fn about(message: &Message) -> Option<u64> {
    match message {
        Message::Response(response) => response.id.as_ref().and_then(Id::as_u64),
        Message::Notification(notification) if &*notification.method == method::PROGRESS => {
            let token = notification.params.as_ref()?.member("progressToken")?;
            Id::from_raw(&token).and_then(|id| id.as_u64())
        }
        Message::Notification(notification) if mgp::method::names_its_request(&notification.method) => {
            let named = notification.params.as_ref()?.member("request_id")?;
            Id::from_raw(&named).and_then(|id| id.as_u64())
        }
        _ => None,
    }
}

impl Http {
    async fn unsolicited(&self, event: SseEvent) {
        if event.data.is_empty() || event.event.as_deref().is_some_and(|kind| kind != "message") {
            return;
        }
        match Message::parse(event.data, &self.limits) {
            Ok(message) => {
                // An answer, or progress, that came this way still belongs to its call.
                let message = match about(&message) {
                    Some(id) => match self.mailboxes.post(id, message) {
                        Some(unclaimed) => unclaimed,
                        None => return,
                    },
                    None => message,
                };
                match message {
                    // One that names a call that cannot be reached this way is nobody's.
                    Message::Notification(notification)
                        if mgp::method::names_its_request(&notification.method)
                            && notification.params.as_ref().is_some_and(|said| said.member("request_id").is_some()) => {
                    }
                    Message::Notification(notification) => self.notified(notification, None).await,
                    Message::Request(request) => self.requested(request, None, &self.closed, None),
                    Message::Response(_) => self.count_stray(),
                }
            }
            Err(refusal) => tracing::debug!(%refusal, "an event that is no message"),
        }
    }
}
