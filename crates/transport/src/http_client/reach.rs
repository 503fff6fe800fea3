//! How far a target may lead: which addresses are dialled for a name that somebody else chose.
//!
//! Every address that a name resolves to is judged, and what was judged is what is dialled: the name is not asked for
//! again in between.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
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
        let nearness = match address {
            IpAddr::V4(address) => near(address),
            IpAddr::V6(address) => embedded(address).map_or_else(|| near_v6(address), near),
        };
        match self {
            Self::Anywhere => true,
            Self::Network => nearness != Near::Machine,
            Self::Public => nearness == Near::Far,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Near {
    /// This machine, its own link, or no single machine at all.
    Machine,
    /// A private network, or a range without an owner.
    Private,
    Far,
}

fn near(address: Ipv4Addr) -> Near {
    let [a, b, c, _] = address.octets();
    if a == 0 || address.is_loopback() || address.is_link_local() || address.is_multicast() || a >= 240 {
        return Near::Machine;
    }
    let shared = a == 100 && b & 0xc0 == 64;
    let special = (a == 192 && b == 0 && c == 0) || (a == 198 && b & 0xfe == 18) || address.is_documentation();
    if address.is_private() || shared || special { Near::Private } else { Near::Far }
}

fn near_v6(address: Ipv6Addr) -> Near {
    let first = address.segments()[0];
    if address.is_loopback() || address.is_unspecified() || address.is_multicast() || first & 0xffc0 == 0xfe80 {
        return Near::Machine;
    }
    // Only 2000::/3 is given out to anybody.
    let documentation = first == 0x2001 && address.segments()[1] == 0xdb8;
    if first & 0xe000 != 0x2000 || documentation { Near::Private } else { Near::Far }
}

/// The older address inside a newer one that leads to it.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let from = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0xffff) | (0x64, 0xff9b, 0, 0, 0, 0) => Some(from(g, h)),
        (0, 0, 0, 0, 0, 0) if (g, h) != (0, 0) && (g, h) != (0, 1) => Some(from(g, h)),
        (0x2002, ..) => Some(from(b, c)),
        _ => None,
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
