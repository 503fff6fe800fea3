//! Durable state: what must outlive the process, behind one trait per noun.
//!
//! [`Store`] opens SQLite (the embedded default) or PostgreSQL (feature `postgres`) and hands out the nouns:
//! [`AuditLog`], [`Grants`], [`Pins`], [`Approvals`], [`Tokens`],
//! [`Credentials`]. A write that returned `Ok` survives a kill and a power
//! cut; callers that write at the same time share one commit. The audit log is a hash chain with signed heads, and
//! [`AuditLog::verify`] names the first record that was touched.
//!
//! This crate remembers and does not decide: it evaluates no policy, and it has no clock; every time is an argument.
//! It never sees a secret either: tokens and arguments arrive as a [`Digest`], credentials sealed.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use switchboard_store::{Actor, AuditEvent, Details, Location, Options, Store, Target};
//!
//! let directory = tempfile::tempdir()?;
//! let location = Location::File(directory.path().join("switchboard.db"));
//! let store = Store::open(&location, Options::default()).await?;
//! let event = AuditEvent {
//!     timestamp: "2026-02-27T12:00:00Z".parse()?,
//!     trace_id: None,
//!     event_type: "SERVER_CONNECTED".into(),
//!     actor: Actor { kind: "kernel".into(), id: "switchboard".into() },
//!     target: Target { server_id: Some("files".into()), tool_name: None },
//!     result: "SUCCESS".into(),
//!     details: Details::default(),
//! };
//! let appended = store.audit().append(&[event]).await?;
//! assert_eq!(appended[0].seq, 1);
//! assert!(store.audit().verify(&[]).await?.is_whole());
//! store.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Follows MGP 3 (permissions), 5 (access entries) and 6 (audit events).

mod answer;
mod approvals;
mod audit;
mod callbacks;
mod credentials;
mod digest;
mod error;
mod grants;
mod operations;
mod options;
mod pins;
#[cfg(feature = "postgres")]
mod postgres;
mod private;
mod sql;
mod sqlite;
mod store;
mod tokens;
mod traits;

pub use answer::Answer;
pub use approvals::{Approval, ApprovalState, Claim, Claimed, Decision, HeldCall, Refusal, Reuse, Ticket, Verdict};
pub use audit::{
    Actor, Appended, AuditEvent, AuditExport, AuditFilter, AuditRecord, Breach, Details, Fault, Group, Head, HeadKind,
    Prepared, Report, Restored, Target, Text,
};
pub use callbacks::{CallbackState, StoredCallback};
pub use credentials::Credential;
pub use digest::Digest;
pub use error::StoreError;
pub use grants::{AccessEntry, AccessSelector, EntryType, Permission, PermissionDecision, ServerPermission, Snapshot};
pub use operations::{Operation, OperationState};
pub use options::{Boundary, Faults, HeadPolicy, Mode, Options, Watcher};
pub use pins::{MAX_PIN_VERSIONS, Observation, Observed, Pin, PinState, PinVersion, VersionState};
#[cfg(feature = "postgres")]
pub use postgres::PostgresDialer;
pub use store::{Location, Store};
pub use tokens::{NewToken, Token};
pub use traits::{Approvals, AuditLog, Callbacks, Credentials, Grants, Operations, Pins, Tokens};
