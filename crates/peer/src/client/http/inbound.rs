//! What the server sends besides answers: notifications in order, requests in tasks of their own.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_protocol::Era;
use switchboard_protocol::mcp::method;
use switchboard_wire::{ErrorObject, Id, Message, Notification, Request, Response, code};
use tokio_util::sync::CancellationToken;

use super::Http;
use super::timer::Thinking;
use crate::Handler;

/// Requests of the server that may run at once.
const MAX_SERVER_REQUESTS: usize = 256;

/// The server's requests that run now.
#[derive(Default)]
pub(super) struct Running(Mutex<HashMap<Id, CancellationToken>>);

impl Http {
    pub(super) async fn notified(&self, notification: Notification, related: Option<&Arc<dyn Handler>>) {
        if &*notification.method == method::CANCELLED && self.state().era() == Era::Legacy {
            let id = notification.params.as_ref().and_then(|params| Id::from_raw(&params.member("requestId")?));
            if let Some(token) = id.and_then(|id| self.running.0.lock().get(&id).cloned()) {
                token.cancel();
            }
            return;
        }
        let handler = related.unwrap_or(&self.handler);
        handler.notification(self.context(self.closed.child_token()), notification).await;
    }

    /// Answers a request of the server, in a task of its own; `call` is what it came with, and ends it.
    pub(super) fn requested(
        &self,
        request: Request,
        related: Option<Arc<dyn Handler>>,
        call: &CancellationToken,
        thinking: Option<Thinking>,
    ) {
        let Some(http) = self.me.upgrade() else { return };
        if self.state().era() == Era::Modern {
            // A modern server may not ask, and may not be answered.
            tracing::debug!(method = %request.method, "a modern server sent a request, which is dropped");
            return;
        }
        let cancel = call.child_token();
        let refusal = {
            let mut running = self.running.0.lock();
            if running.contains_key(&request.id) {
                Some(ErrorObject::new(code::INVALID_REQUEST, "a request with this id is still being answered"))
            } else if running.len() >= MAX_SERVER_REQUESTS {
                Some(ErrorObject::new(code::INTERNAL_ERROR, "too many requests at once"))
            } else {
                running.insert(request.id.clone(), cancel.clone());
                None
            }
        };
        tokio::spawn(async move {
            let _thinking = thinking;
            let id = request.id.clone();
            let response = match refusal {
                Some(error) => Response::new(Some(id), Err(error)),
                None => {
                    let _entry = Entry { http: http.clone(), id: id.clone() };
                    let handler = related.unwrap_or_else(|| http.handler.clone());
                    let context = http.context(cancel.clone());
                    tokio::select! {
                        biased;
                        reply = handler.request(context, request) => {
                            Response { id: Some(id), outcome: reply.outcome, extra: reply.extra }
                        }
                        () = cancel.cancelled() => return,
                        () = http.closed.cancelled() => return,
                    }
                }
            };
            if let Err(error) = http.deliver(Message::from(response).encode()).await {
                tracing::debug!(%error, "an answer could not be given to the server");
            }
        });
    }
}

/// Takes a running request off the books.
struct Entry {
    http: Arc<Http>,
    id: Id,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.http.running.0.lock().remove(&self.id);
    }
}
