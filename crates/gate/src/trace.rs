//! Which trace a request has: the caller's own, or a new one.

use switchboard_audit::trace;
use switchboard_protocol::mgp::metadata::{Metadata, usable_trace_id};
use switchboard_wire::Raw;

/// Does something for a request: events that are made meanwhile have its trace. `asked` are the parameters of a method, or
/// the arguments of a tool, of the kernel's own; some name the trace there (MGP 16.6).
pub async fn within<W: Future>(metadata: &Metadata, asked: Option<&Raw>, work: W) -> W::Output {
    let named = |key: &str| asked?.member(key)?.as_text().filter(|id| usable_trace_id(id));
    let told = metadata.trace_id().or_else(|| named("task_trace_id")).or_else(|| named("trace_id"));
    trace::within(told, work).await
}

/// What ties the events of one call together: the caller's own trace, or a new one.
pub fn trace_of(metadata: &Metadata) -> String {
    metadata.trace_id().unwrap_or_else(trace::new_trace)
}
