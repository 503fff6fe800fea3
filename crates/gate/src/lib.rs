//! The gate: the one ordered list of steps that every call passes before it reaches a server.
//!
//! Who may use what (access, token scopes, server permissions), whether the arguments are fit to be sent (validators),
//! whether a person has to agree (confirmation), and what is put on record (intent before, outcome after). The
//! decisions themselves are pure and live in `switchboard-policy` and `switchboard-validators`; here they are asked in order,
//! in `steps.rs`. This crate knows the kernel by two traits only ([`Surroundings`], [`Offers`]): it finds no server, sends
//! nothing to one, and puts no list together.

mod agreed_hosts;
mod answers;
mod approval_watcher;
mod arguments;
mod attempt;
pub mod audit;
pub mod audit_sinks;
mod authority;
mod bases;
pub mod canonical;
mod checks;
mod confirm;
mod continued;
mod coverage;
mod dialect;
mod dialed;
mod gate;
pub mod inspect;
mod list_cache;
pub mod lists;
mod meters;
mod negotiation;
mod notices;
mod ongoing;
mod options;
pub mod outbound;
mod own_files;
pub mod passage;
mod pending_confirmations;
mod permit;
pub mod pins;
mod policy;
mod preflight;
mod profiles;
mod progress;
pub mod rates;
mod record;
mod refused;
pub mod request;
mod resolve;
pub mod results;
pub mod rights;
mod rights_changes;
pub mod scopes;
mod sent;
mod state;
mod steps;
mod surroundings;
mod tables;
mod tokens;
mod trace;
mod unknown;

pub use attempt::{Attempt, metadata_beside, metadata_of};
pub use authority::{CallAuthority, Continued, chain_said, with_delegation_beside};
pub use continued::{Continuing, beyond_limits, tokens_of};
pub use dialect::{agreed_with, in_dialects_of, rendered, rendered_for, rendering_for};
pub use dialed::dialer_of;
pub use gate::Gate;
pub use meters::Rates;
pub use ongoing::RunningCall;
pub use options::{GateContext, GateOptions};
pub use passage::{PASSAGES, Passage, Subject, could_be_known};
pub use pending_confirmations::{AskedAbout, PendingConfirmations};
pub use permit::Permit;
pub use policy::{OWNER, ToolPolicy, default_policy};
pub use profiles::{Confirm, Profile, Profiles, ToolName};
pub use progress::{PROGRESS_INTERVAL, RisingProgress, SAID_BY, still_waits};
pub use record::is_outcome_unknown;
pub use refused::{blocked, unavailable};
pub use request::Reading;
pub use rights_changes::RightsChanges;
pub use scopes::Presented;
pub use sent::Sent;
pub use state::GateState;
pub use steps::Admission;
pub use surroundings::{Destination, OfferedTool, Offers, Surroundings};
pub use switchboard_protocol::fault::readable;
pub use switchboard_protocol::provenance;
pub use tables::{EXPIRED, GrantCache, Tables, access_table};
pub use trace::{trace_of, within as within_trace};
pub use unknown::{no_such_method, no_such_prompt, no_such_tool, unknown_resource};
