//! One call on its way, from a client of either era to a server of either era, and everything that outlives a single message
//! of it: forwarding, tasks, parked calls, streams, questions in its middle, repetition.
//!
//! An [`Exchange`] is what is under way and the surroundings that it needs, which stand in [`Host`]: who the servers are, what
//! is kept of a client, and the gate, which says who may go on with what. This crate deliberately knows no kernel, directory
//! or configuration: which server a name belongs to and whether a call may be made at all is for others to say.

mod asker;
mod callbacks;
mod exchange;
mod forward;
mod host;
mod mentions;
mod origin;
mod params;
mod parked;
mod relay;
mod repeat;
mod repeat_offender;
mod rights_watch;
mod streams;
mod tasks;

pub use callbacks::{About, CallNames, CallQuestions, ConnectionQuestions};
pub use exchange::{Exchange, ExchangeOptions, ExchangeState};
pub use forward::{Forward, TaskMode, failed};
pub use host::{ExchangeClients, Host, Servers};
pub use origin::{MGP_DIALECT, stamped};
pub use params::{member_missing, object_of, params_missing, text_of};
pub use relay::{LogFilter, Relay, level_index, level_name, of_server, wants_log};
pub use repeat::{
    NextAttempt, RepeatableCall, Repetition, goes_on, has_failed, has_worked, marked_as_fallback, told_of_unknown,
};
pub use streams::{AdmittedCall, InFlightGuard, Live, StreamRequest, StreamedCall};
pub use tasks::{TaskTool, unknown_task};
