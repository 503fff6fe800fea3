//! What is kept of client sessions, and what clients are told: the greeting, changes, notices of servers, failures in their
//! dialects.
//!
//! [`ConnectedClients`] are the sessions that are open; it sends, and needs of its surroundings what is given to each function:
//! the gate, which says who may hear what, and the [`View`](switchboard_directory::View) of servers. What goes on beside a request
//! (a session's own connections, streams of changes, handlers of what servers send) sees those around it as a [`ClientHost`].
//! This crate deliberately knows no kernel and no path of a call: it makes none.

mod awaited;
mod connected;
mod failure;
mod from_server;
mod greeting;
mod host;
mod introduction;
mod link;
mod listen;
mod notices;
mod session;
mod streams;

pub use awaited::AwaitedList;
pub use connected::ConnectedClients;
pub use failure::{told, told_upstream, with_error};
pub use from_server::FromServer;
pub use greeting::{discover, held_of, initialize};
pub use host::ClientHost;
pub use introduction::{MGP_OFFERED, OF_MGP, own_capabilities, own_info, own_log};
pub use listen::listen;
pub use notices::{take_notice, tell_changed};
pub use session::ClientState;
