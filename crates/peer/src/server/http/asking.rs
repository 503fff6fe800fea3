//! Requests of ours to a legacy client: ids, waiting, deadlines, cancellation.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use switchboard_protocol::mcp::{meta, method};
use switchboard_wire::{Edit, Id, Message, Notification, Raw, Request, Response};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use crate::{Call, CallError, Handler, Reply, SendError};

/// More open requests than this to one client are refused.
const MAX_OPEN_REQUESTS: usize = 1024;

/// The requests to one client that wait for an answer. Their ids are numbers, unique within the session.
#[derive(Default)]
pub(super) struct Asking {
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, Waiting>>,
}

struct Waiting {
    answer: oneshot::Sender<Reply>,
    /// When the client last gave a sign of life about this request.
    alive: watch::Sender<Instant>,
    /// The token the caller chose for progress; on the wire stands the request's id instead.
    token: Option<Raw>,
    related: Option<Arc<dyn Handler>>,
}

/// Takes the entry away whichever way the wait ends, and tells the client if it ends early.
struct Open<'a, S: Fn(&Bytes) -> Result<(), SendError>> {
    asking: &'a Asking,
    id: u64,
    send: S,
    tell: bool,
}

impl<S: Fn(&Bytes) -> Result<(), SendError>> Drop for Open<'_, S> {
    fn drop(&mut self) {
        self.asking.waiting.lock().remove(&self.id);
        if self.tell {
            let params = Edit::empty().set("requestId", Raw::number(self.id)).finish();
            let _ = (self.send)(&Message::from(Notification::new(method::CANCELLED, Some(params))).encode());
        }
    }
}

impl Asking {
    /// Sends a request with `send` and waits for its answer.
    pub(super) async fn ask(
        &self,
        call: Call,
        send: impl Fn(&Bytes) -> Result<(), SendError> + Send,
    ) -> Result<Reply, CallError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let (params, token) = own_token(id, call.params);
        let (answer, mut answered) = oneshot::channel();
        let started = Instant::now();
        let (alive, mut life) = watch::channel(started);
        {
            let mut waiting = self.waiting.lock();
            if waiting.len() >= MAX_OPEN_REQUESTS {
                return Err(CallError::NotSent("too many requests wait for this client".to_owned()));
            }
            waiting.insert(id, Waiting { answer, alive, token, related: call.related });
        }
        let mut open = Open { asking: self, id, send, tell: false };
        let request = Request { id: Id::number(id), method: call.method, params, extra: call.extra };
        (open.send)(&Message::from(request).encode()).map_err(|error| CallError::NotSent(error.to_string()))?;
        open.tell = true;
        let last = started + call.max_timeout;
        loop {
            let deadline = (*life.borrow_and_update() + call.timeout).min(last);
            tokio::select! {
                biased;
                reply = &mut answered => {
                    open.tell = false;
                    return reply.map_err(|_| CallError::Closed);
                }
                () = call.cancel.cancelled() => return Err(CallError::Cancelled),
                Ok(()) = life.changed() => {}
                () = tokio::time::sleep_until(deadline) => return Err(CallError::Timeout(started.elapsed())),
            }
        }
    }

    /// Gives a request its answer; `false` where nobody waits for it.
    pub(super) fn answer(&self, response: Response) -> bool {
        let Some(id) = response.id.as_ref().and_then(Id::as_u64) else { return false };
        let Some(waiting) = self.waiting.lock().remove(&id) else { return false };
        waiting.answer.send(Reply { outcome: response.outcome, extra: response.extra }).is_ok()
    }

    /// Notes progress on a request of ours: gives back the notification with the token of whoever asked, and who
    /// takes it. `None` where the token is none of ours.
    pub(super) fn progress(&self, notification: &Notification) -> Option<(Notification, Option<Arc<dyn Handler>>)> {
        let params = notification.params.as_ref()?;
        let id: u64 = params.member(meta::PROGRESS_TOKEN)?.view().ok()?;
        let (token, related) = {
            let waiting = self.waiting.lock();
            let waiting = waiting.get(&id)?;
            waiting.alive.send_replace(Instant::now());
            (waiting.token.clone()?, waiting.related.clone())
        };
        let params = Edit::of(params).ok()?.set(meta::PROGRESS_TOKEN, token).finish();
        Some((Notification { params: Some(params), ..notification.clone() }, related))
    }

    /// Nobody will answer any more.
    pub(super) fn close(&self) {
        self.waiting.lock().clear();
    }
}

/// Gives every request its own progress token, so that two callers who chose the same one do not meet.
fn own_token(id: u64, params: Option<Raw>) -> (Option<Raw>, Option<Raw>) {
    let token = params.as_ref().and_then(|params| params.at(&["_meta", meta::PROGRESS_TOKEN]));
    let (Some(params), Some(token)) = (&params, token) else { return (params, None) };
    let edited = Edit::of(params)
        .and_then(|edit| edit.within("_meta", |edit| edit.set(meta::PROGRESS_TOKEN, Raw::number(id))))
        .map_or_else(|_| params.clone(), Edit::finish);
    (Some(edited), Some(token))
}
