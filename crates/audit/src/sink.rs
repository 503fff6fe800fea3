//! Who hears of events as they are made, beside the log.

use std::sync::{Arc, OnceLock};

use switchboard_store::AuditEvent;

/// Takes events as they are made: a server that collects them, the bus of events.
pub trait AuditSink: Send + Sync {
    /// Whether anybody wants events now. Most kernels have nobody, and every call asks.
    fn is_listening(&self) -> bool;

    /// Takes an event. It must not wait, and no lock of the log is held meanwhile.
    fn emit(&self, event: &AuditEvent);
}

/// All of them, named once at the beginning.
#[derive(Default)]
pub(crate) struct AuditSinks(OnceLock<Box<[Arc<dyn AuditSink>]>>);

impl AuditSinks {
    pub(crate) fn set(&self, sinks: Vec<Arc<dyn AuditSink>>) {
        let _ = self.0.set(sinks.into());
    }

    pub(crate) fn are_listening(&self) -> bool {
        self.all().any(|sink| sink.is_listening())
    }

    pub(crate) fn emit(&self, event: &AuditEvent) {
        self.all().filter(|sink| sink.is_listening()).for_each(|sink| sink.emit(event));
    }

    fn all(&self) -> impl Iterator<Item = &Arc<dyn AuditSink>> {
        self.0.get().into_iter().flatten()
    }
}
