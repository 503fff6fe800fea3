//! What goes on beside a client's requests needs of those around it, beside the gate and what services see.

use std::sync::Arc;

use switchboard_directory::{LocatedResource, View};
use switchboard_exchange::Exchange;
use switchboard_services::house::House;

use crate::ConnectedClients;

/// Those around the clients: the host of calls on their way and the house of services, and these four.
pub trait ClientHost: switchboard_exchange::Host + House {
    /// The sessions that are open.
    fn connected(&self) -> &ConnectedClients;

    /// The servers and what all of them offer, at this moment.
    fn offered(&self) -> Arc<View>;

    /// Calls on their way.
    fn exchange(&self) -> Exchange<Self>;

    /// The server that has a resource which a principal named, and what it is read by.
    fn locate(&self, uri: &str, principal: &str) -> Option<LocatedResource>;
}
