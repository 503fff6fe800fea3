//! The record of calls (MGP 6): what is written before a call is made and after it, how hard, and what is found after a
//! crash.
//!
//! An event stands in the journal before anybody hears of what it is about; a writer gives the store many of them at once.
//! Calls that were begun are in a register that outlives the process, and the next kernel on the store finishes what a dead
//! one left. This crate knows the store and nothing of servers, clients or the gate: who hears of events as they are made
//! is behind [`AuditSink`].

mod auditor;
mod counts;
mod decisions;
mod events;
mod journal;
mod open_calls;
mod queue;
mod recovery;
mod sink;
pub mod trace;
mod writer;

pub use auditor::Auditor;
pub use counts::EventCounts;
pub use events::{CALL, about, event, event_of, kernel, principal, result, step, with};
pub use open_calls::OpenCalls;
pub use sink::AuditSink;

/// Letters and digits that nobody else has, to tell kernels and beginnings of files apart.
fn random_name(letters: usize) -> String {
    let mut bytes = vec![0u8; letters.div_ceil(2)];
    // Without randomness two kernels could take each other for dead: ending at once is the only safe way on.
    getrandom::fill(&mut bytes).unwrap_or_else(|_| std::process::abort());
    let mut name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    name.truncate(letters);
    name
}
