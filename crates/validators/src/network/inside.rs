//! Hosts that are not public: which of them somebody works with, and which are there to be stolen from.
//!
//! A page on this machine, a device in a private network and a name of an intranet are opened by people every day: whether
//! a tool may is for a person to say. A metadata service gives the keys of a machine to whoever asks, and names that spell
//! an address or change their answer exist to mislead: nobody is asked about these.

use ipnet::{Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use url::Host;

use super::{address, name};

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

/// This machine and private networks. `0.0.0.0` is what many programs print as their own address.
const WORKED_WITH_V4: [Ipv4Net; 6] = [
    v4(0, 0, 0, 0, 32),
    v4(10, 0, 0, 0, 8),
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    v4(172, 16, 0, 0, 12),
    v4(192, 168, 0, 0, 16),
];
/// Where clouds serve metadata: AWS, Azure, Google and most others; Azure's second; Alibaba; Oracle.
const METADATA_V4: [Ipv4Net; 4] =
    [v4(169, 254, 0, 0, 16), v4(168, 63, 129, 16, 32), v4(100, 100, 100, 200, 32), v4(192, 0, 0, 192, 32)];
/// The same over IPv6: AWS, Google, Oracle.
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
];
const UNIQUE_LOCAL: Ipv6Net = Ipv6Net::new_assert(Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7);

/// Whether an address is that of a metadata service, also inside of an IPv6 address.
pub(crate) fn is_metadata_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => METADATA_V4.iter().any(|net| net.contains(&address)),
        IpAddr::V6(address) => {
            METADATA_V6.contains(&address)
                || address::carried(address).is_some_and(|inner| METADATA_V4.iter().any(|net| net.contains(&inner)))
        }
    }
}

/// Whether a host leads to a metadata service, by itself or by what a resolver answered.
pub(crate) fn is_metadata(host: &Host<String>, resolved: Option<&[IpAddr]>) -> bool {
    match host {
        Host::Ipv4(address) => is_metadata_address(IpAddr::V4(*address)),
        Host::Ipv6(address) => is_metadata_address(IpAddr::V6(*address)),
        Host::Domain(name) => {
            super::is_metadata_name(name) || resolved.is_some_and(|all| all.iter().any(|one| is_metadata_address(*one)))
        }
    }
}

/// Whether a host that is not public is one that people work with.
pub(crate) fn is_worked_with(host: &Host<String>, resolved: Option<&[IpAddr]>) -> bool {
    if is_metadata(host, resolved) {
        return false;
    }
    match host {
        Host::Ipv4(address) => is_private(IpAddr::V4(*address)),
        Host::Ipv6(address) => is_private(IpAddr::V6(*address)),
        Host::Domain(name) if name::misleads(name) => false,
        Host::Domain(_) => {
            resolved.is_none_or(|all| all.iter().all(|one| is_private(*one) || super::check_address(*one).is_ok()))
        }
    }
}

/// Whether an address is of this machine or of a private network.
pub(super) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => WORKED_WITH_V4.iter().any(|net| net.contains(&address)),
        IpAddr::V6(address) => address.is_loopback() || UNIQUE_LOCAL.contains(&address),
    }
}
