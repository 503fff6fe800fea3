//! What all servers offer, under the names and addresses that clients see, and the way to each of it.
//!
//! A [`Directory`] is put together from the lists of the servers, and never changed; a [`View`] is one with the servers that it
//! is about, so that whoever holds it sees both at one moment. What is known of a definition before any call of it
//! ([`ToolPolicy`](switchboard_gate::ToolPolicy)) is computed here, once for each. Whether somebody may use it is for the gate to
//! say; this crate deliberately knows no kernel, client's connection, store or clock.

mod directory;
mod open_pages;
mod record;
mod view;

pub use directory::{Directory, Hidden, ListedServer, Mended, Route};
pub use open_pages::OpenPages;
pub use record::put_on_record;
pub use switchboard_upstream::{ListKind, Listing, Lists};
pub use view::{LocatedResource, View};
