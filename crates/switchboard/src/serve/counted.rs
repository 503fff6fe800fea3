//! The kernel with a counter at its door.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use switchboard_kernel::Kernel;
use switchboard_peer::{BoxFuture, Context, Handler, Reply, Session};
use switchboard_wire::{Notification, Request};

/// What has passed the door.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) requests: AtomicU64,
    pub(crate) notifications: AtomicU64,
    pub(crate) opened: AtomicU64,
    pub(crate) closed: AtomicU64,
}

/// Counts, and passes everything on.
#[derive(Debug)]
pub(crate) struct Counted {
    kernel: Kernel,
    counts: Arc<Counts>,
}

impl Counted {
    pub(crate) fn new(kernel: Kernel) -> Self {
        Self { kernel, counts: Arc::default() }
    }

    pub(crate) fn counts(&self) -> Arc<Counts> {
        self.counts.clone()
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Handler for Counted {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        count(&self.counts.requests);
        self.kernel.request(context, request)
    }

    fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        count(&self.counts.notifications);
        self.kernel.notification(context, notification)
    }

    fn has_profile(&self, name: &str) -> bool {
        self.kernel.has_profile(name)
    }

    fn opened(&self, session: &Arc<Session>) {
        count(&self.counts.opened);
        self.kernel.opened(session);
    }

    fn closed(&self, session: &Arc<Session>) {
        count(&self.counts.closed);
        self.kernel.closed(session);
    }
}
