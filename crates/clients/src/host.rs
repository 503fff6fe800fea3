//! What goes on beside a client's requests needs of those around it, beside the gate and what services see.

use std::sync::Arc;

use switchboard_directory::{ListKind, LocatedResource, View};
use switchboard_exchange::Exchange;
use switchboard_peer::{BoxFuture, Context};
use switchboard_protocol::fault::Fault;
use switchboard_services::house::House;
use switchboard_wire::Raw;

use crate::ConnectedClients;

/// Those around the clients: the host of calls on their way and the house of services, and these five.
pub trait ClientHost: switchboard_exchange::Host + House {
    /// The sessions that are open.
    fn connected(&self) -> &ConnectedClients;

    /// The servers and what all of them offer, at this moment.
    fn offered(&self) -> Arc<View>;

    /// What a client would be listed at this moment, servers that are still starting or not.
    fn list_now<'a>(&'a self, context: &'a Context, kind: ListKind) -> BoxFuture<'a, Result<Raw, Fault>>;

    /// Calls on their way.
    fn exchange(&self) -> Exchange<Self>;

    /// The server that has a resource which a principal named, and what it is read by.
    fn locate(&self, uri: &str, principal: &str) -> Option<LocatedResource>;
}
