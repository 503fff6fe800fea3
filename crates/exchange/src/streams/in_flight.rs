//! Requests that run, by the id that their client gave them, so that the client can take any of them back (MGP 12.7).
//!
//! Only requests of clients that agreed on `streaming` are noted: nobody else can name one.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_gate::agreed_with;
use switchboard_peer::Context;
use switchboard_protocol::mgp::{Extension, method};
use switchboard_wire::{Raw, Request};
use tokio_util::sync::CancellationToken;

/// Requests that are noted at once. One beyond that can be taken back by the means of MCP alone.
const MAX_IN_FLIGHT: usize = 65_536;

/// Whose request, by the text of its id.
type Key = (Arc<str>, String);

/// The requests that run.
#[derive(Clone, Default)]
pub(crate) struct InFlightRequests(Arc<Mutex<HashMap<Key, Vec<InFlight>>>>);

struct InFlight {
    session: Arc<str>,
    cancel: CancellationToken,
}

impl InFlightRequests {
    /// Notes a request until the guard is dropped. From then on the context can be cancelled from here as well.
    pub(crate) fn begin(&self, context: &mut Context, request: &Request) -> Option<InFlightGuard> {
        let capabilities = &context.caller.capabilities;
        if capabilities.as_bytes().len() <= 2 || &*request.method == method::STREAM_CANCEL {
            return None;
        }
        agreed_with(capabilities).filter(|agreed| agreed.has(Extension::Streaming))?;
        let key = (context.session.principal.clone(), request.id.as_str().to_owned());
        let cancel = context.cancel.child_token();
        let entry = InFlight { session: context.session.id.clone(), cancel: cancel.clone() };
        {
            let mut all = self.0.lock();
            if all.len() >= MAX_IN_FLIGHT {
                return None;
            }
            all.entry(key.clone()).or_default().push(entry);
        }
        context.cancel = cancel.clone();
        Some(InFlightGuard { all: self.clone(), key, cancel })
    }

    /// Ends a request of this client; `false` where there is none, or where it cannot be told which is meant.
    pub(crate) fn cancel(&self, context: &Context, id: &Raw) -> bool {
        let all = self.0.lock();
        let Some(named) = all.get(&(context.session.principal.clone(), id.as_str().to_owned())) else { return false };
        let meant = if context.session.lasting {
            named.iter().find(|one| one.session == context.session.id)
        } else {
            // Requests without a session have only their ids, which other programs of the same user may use as well.
            named.first().filter(|_| named.len() == 1)
        };
        if let Some(meant) = meant {
            meant.cancel.cancel();
        }
        meant.is_some()
    }
}

/// Stands for a request that runs.
pub struct InFlightGuard {
    all: InFlightRequests,
    key: Key,
    cancel: CancellationToken,
}

impl std::fmt::Debug for InFlightGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InFlightGuard").field("key", &self.key).finish_non_exhaustive()
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        // It is off the list with this, and whoever still holds the context learns that nobody waits any more.
        self.cancel.cancel();
        let mut all = self.all.0.lock();
        if let Some(named) = all.get_mut(&self.key) {
            named.retain(|one| !one.cancel.is_cancelled());
            if named.is_empty() {
                all.remove(&self.key);
            }
        }
    }
}
