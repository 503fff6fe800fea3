//! Hosts that are not public: which of them somebody works with, and which are there to be stolen from.
//!
//! A page on this machine, a device in a private network and a name of an intranet are opened by people every day: whether
//! a tool may is for a person to say. A metadata service gives the keys of a machine to whoever asks, and names that spell
//! an address or change their answer exist to mislead: nobody is asked about these.

use std::net::IpAddr;
use switchboard_protocol::address::{AddressKind, classify};
use url::Host;

use super::name;

/// Whether an address is that of a metadata service, also inside of an IPv6 address.
pub(crate) fn is_metadata_address(address: IpAddr) -> bool {
    classify(address).kind == AddressKind::Metadata
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

/// Whether an address is of this machine or of a private network, written as everybody does: not inside of another one.
pub(super) fn is_private(address: IpAddr) -> bool {
    let is_plain = match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local(),
    };
    is_plain && matches!(classify(address).kind, AddressKind::Private | AddressKind::ThisMachine)
}
