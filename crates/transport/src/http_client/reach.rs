//! How far a target may lead: which addresses are dialled for a name that somebody else chose.
//!
//! Every address that a name resolves to is judged, and what was judged is what is dialled: the name is not asked for
//! again in between.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use switchboard_protocol::address::{AddressKind, classify};
use tower_service::Service;

/// Which addresses may be spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// All: the operator named the target.
    #[default]
    Anywhere,
    /// Other machines, those of a private network as well.
    Network,
    /// Machines on the public internet.
    Public,
}

impl Reach {
    /// Whether an address may be spoken to.
    #[must_use]
    pub fn allows(self, address: IpAddr) -> bool {
        let kind = classify(address).kind;
        match self {
            Self::Anywhere => true,
            Self::Network => matches!(kind, AddressKind::Public | AddressKind::Private | AddressKind::Reserved),
            Self::Public => kind == AddressKind::Public,
        }
    }
}

/// Finds addresses of names, and refuses those that are out of reach.
#[derive(Debug, Clone)]
pub(super) struct Resolver {
    system: GaiResolver,
    reach: Reach,
}

impl Resolver {
    pub(super) fn new(reach: Reach) -> Self {
        Self { system: GaiResolver::new(), reach }
    }
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.system.poll_ready(cx)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (resolving, reach) = (self.system.call(name), self.reach);
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = resolving.await?.collect();
            match addresses.iter().find(|address| !reach.allows(address.ip())) {
                Some(_) => Err(out_of_reach()),
                None => Ok(addresses.into_iter()),
            }
        })
    }
}

/// Which address it was is not told: that would let others explore this network.
pub(super) fn out_of_reach() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "the name leads to an address that must not be spoken to")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_by_reach() {
        for (address, network, public) in [
            ("8.8.8.8", true, true),
            ("2606:4700::1111", true, true),
            ("10.1.2.3", true, false),
            ("172.16.0.1", true, false),
            ("192.168.1.1", true, false),
            ("100.64.0.1", true, false),
            ("198.18.0.1", true, false),
            ("192.0.2.1", true, false),
            ("fd00::1", true, false),
            ("2001:db8::1", true, false),
            ("192.88.99.1", true, false),
            ("2001::1", true, false),
            ("3fff::1", true, false),
            ("2a00::5efe:a00:1", true, false),
            ("168.63.129.16", false, false),
            ("100.100.100.200", false, false),
            ("fd00:ec2::254", false, false),
            ("127.0.0.1", false, false),
            ("127.9.9.9", false, false),
            ("0.0.0.0", false, false),
            ("0.1.2.3", false, false),
            ("169.254.169.254", false, false),
            ("224.0.0.1", false, false),
            ("255.255.255.255", false, false),
            ("::1", false, false),
            ("::", false, false),
            ("fe80::1", false, false),
            ("ff02::1", false, false),
            ("::ffff:127.0.0.1", false, false),
            ("::ffff:10.0.0.1", true, false),
            ("::127.0.0.1", false, false),
            ("64:ff9b::7f00:1", false, false),
            ("64:ff9b::808:808", true, true),
            ("2002:7f00:1::", false, false),
        ] {
            let address: IpAddr = address.parse().unwrap();
            assert!(Reach::Anywhere.allows(address));
            assert_eq!((Reach::Network.allows(address), Reach::Public.allows(address)), (network, public), "{address}");
        }
    }

    #[tokio::test]
    async fn a_name_is_judged_by_where_it_leads() {
        for (reach, good) in [(Reach::Anywhere, true), (Reach::Network, false), (Reach::Public, false)] {
            let resolved = Resolver::new(reach).call("localhost".parse().unwrap()).await;
            assert_eq!(resolved.is_ok(), good, "{reach:?}");
        }
    }
}
