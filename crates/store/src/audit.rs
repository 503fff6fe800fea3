//! The audit log: events in, a hash chain with signed heads out.
//!
//! A record is `{"event":…,"seq":…,"time":…}` in canonical JSON; its hash is SHA-256 over the hash of the record before
//! it and that text. Heads (the hash at some sequence number, signed) are kept in the database and in a file outside of
//! it, so that neither a cut nor an older copy goes unnoticed. What an event means is not known here (MGP 6.3, 6.4).

mod columns;
mod details;
mod event;
pub(crate) mod evidence;
mod filter;
mod head;
mod key;
mod link;
mod log;
pub(crate) mod once;
mod prepared;
mod record;
mod stamp;
pub(crate) mod tables;
mod verify;

pub use details::Details;
pub use event::{Actor, AuditEvent, Target, Text};
pub use filter::{AuditFilter, Group};
pub use head::{Head, HeadKind};
pub use link::Appended;
pub use log::AuditExport;
pub use prepared::Prepared;
pub use record::AuditRecord;
pub use verify::{Breach, Fault, Report, Restored};

#[cfg(feature = "postgres")]
pub(crate) use columns::Columns;
pub(crate) use link::Link;
