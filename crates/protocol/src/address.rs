//! Which kind an IP address is: the one table of special-purpose blocks (IANA's registries), of metadata services, and of what an
//! IPv6 address may carry inside it.
//!
//! It decides nothing: validators refuse what is not public, the HTTP client dials what its reach allows. Both read this
//! table, so that they cannot disagree.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Schemes of addresses of servers that have a transport of their own, beside HTTP: what connects to each stands in `peer`.
pub const OWN_TRANSPORTS: &[&str] = &["unix"];

/// Whether an address of a server has a scheme with a transport of its own.
///
/// ```
/// # use switchboard_protocol::address::has_own_transport;
/// assert!(has_own_transport("unix:/run/mcp.sock") && !has_own_transport("https://host.example/mcp"));
/// ```
#[must_use]
pub fn has_own_transport(address: &str) -> bool {
    address.split_once(':').is_some_and(|(scheme, _)| OWN_TRANSPORTS.contains(&scheme))
}

/// What an address is, as far as it matters to who is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressKind {
    /// Globally reachable.
    Public,
    /// Of a private network.
    Private,
    /// Reserved, documentation, benchmarking, tunnels: no machine that anybody works with.
    Reserved,
    /// This machine.
    ThisMachine,
    /// Of the link this machine is on, or of no single machine: link-local, multicast, broadcast.
    Link,
    /// Where a cloud hands out the credentials of its machines.
    Metadata,
}

/// An address with the kind of the block it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressClass {
    /// The kind.
    pub kind: AddressKind,
    /// What the block is, in words for people; empty for a public address.
    pub description: &'static str,
}

use AddressKind::{Link, Metadata, Private, Reserved, ThisMachine};

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(a: u16, b: u16, c: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), length)
}

/// IPv4 blocks that are not globally reachable; the first one that contains an address counts.
const BLOCKS_V4: [(Ipv4Net, AddressKind, &str); 20] = [
    (v4(168, 63, 129, 16, 32), Metadata, "a cloud metadata service"),
    (v4(100, 100, 100, 200, 32), Metadata, "a cloud metadata service"),
    (v4(192, 0, 0, 192, 32), Metadata, "a cloud metadata service"),
    (v4(169, 254, 0, 0, 16), Metadata, "link-local, where cloud metadata is served"),
    // What many programs print as their own address.
    (v4(0, 0, 0, 0, 32), ThisMachine, "this machine"),
    (v4(0, 0, 0, 0, 8), Link, "this network"),
    (v4(10, 0, 0, 0, 8), Private, "a private network"),
    (v4(100, 64, 0, 0, 10), Private, "shared carrier space"),
    (v4(127, 0, 0, 0, 8), ThisMachine, "this machine"),
    (v4(172, 16, 0, 0, 12), Private, "a private network"),
    (v4(192, 0, 0, 0, 24), Reserved, "protocol assignments"),
    (v4(192, 0, 2, 0, 24), Reserved, "documentation"),
    (v4(192, 88, 99, 0, 24), Reserved, "the retired 6to4 relays"),
    (v4(192, 168, 0, 0, 16), Private, "a private network"),
    (v4(198, 18, 0, 0, 15), Reserved, "benchmarking"),
    (v4(198, 51, 100, 0, 24), Reserved, "documentation"),
    (v4(203, 0, 113, 0, 24), Reserved, "documentation"),
    (v4(224, 0, 0, 0, 4), Link, "multicast"),
    (v4(255, 255, 255, 255, 32), Link, "broadcast"),
    (v4(240, 0, 0, 0, 4), Link, "reserved space"),
];

/// Metadata services over IPv6: AWS, Google, Oracle.
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
];

/// The only IPv6 block from which global unicast addresses are handed out.
const GLOBAL_UNICAST: Ipv6Net = v6(0x2000, 0, 0, 3);
const UNIQUE_LOCAL: Ipv6Net = v6(0xfc00, 0, 0, 7);
const LINK_LOCAL: Ipv6Net = v6(0xfe80, 0, 0, 10);
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 0, 96);
const SIX_TO_FOUR: Ipv6Net = v6(0x2002, 0, 0, 16);
/// The retired way of writing an IPv4 address as an IPv6 one; some systems still dial it.
const COMPATIBLE: Ipv6Net = v6(0, 0, 0, 96);

/// Public translators to IPv4: what stands behind the prefix is where they connect to.
const TRANSLATORS: [Ipv6Net; 6] = [
    Ipv6Net::new_assert(Ipv6Addr::new(0x2001, 0x67c, 0x2960, 0x6464, 0, 0, 0, 0), 96),
    Ipv6Net::new_assert(Ipv6Addr::new(0x2001, 0x67c, 0x2b0, 0xdb32, 0, 1, 0, 0), 96),
    Ipv6Net::new_assert(Ipv6Addr::new(0x2a00, 0x1098, 0x2b, 0, 0, 0, 0, 0), 96),
    Ipv6Net::new_assert(Ipv6Addr::new(0x2a00, 0x1098, 0x2c, 1, 0, 0, 0, 0), 96),
    Ipv6Net::new_assert(Ipv6Addr::new(0x2a01, 0x4f8, 0xc2c, 0x123f, 0x64, 0, 0, 0), 96),
    Ipv6Net::new_assert(Ipv6Addr::new(0x2a01, 0x4f9, 0xc010, 0x3f02, 0x64, 0, 0, 0), 96),
];

/// Blocks inside [`GLOBAL_UNICAST`] that are not globally reachable.
const RESERVED_V6: [(Ipv6Net, &str); 4] = [
    (v6(0x2001, 0, 0, 32), "a Teredo tunnel"),
    (v6(0x2001, 0, 0, 23), "protocol assignments"),
    (v6(0x2001, 0xdb8, 0, 32), "documentation"),
    (v6(0x3fff, 0, 0, 20), "documentation"),
];

/// Parts of the protocol assignments that the registry does call globally reachable.
const REACHABLE_ASSIGNMENTS: [Ipv6Net; 4] =
    [v6(0x2001, 3, 0, 32), v6(0x2001, 4, 0x112, 48), v6(0x2001, 0x20, 0, 28), v6(0x2001, 0x30, 0, 28)];

/// Which kind an address is. An IPv6 address that leads to an IPv4 one is of that one's kind.
///
/// ```
/// use switchboard_protocol::address::{AddressKind, classify};
///
/// assert_eq!(classify("8.8.8.8".parse()?).kind, AddressKind::Public);
/// assert_eq!(classify("::ffff:10.0.0.1".parse()?).kind, AddressKind::Private);
/// assert_eq!(classify("169.254.169.254".parse()?).kind, AddressKind::Metadata);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    }
}

/// The IPv4 address that an IPv6 address stands for, where its prefix says that it does.
#[must_use]
pub fn carried_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    if let Some(inner) = address.to_ipv4_mapped() {
        return Some(inner);
    }
    if NAT64.contains(&address) || TRANSLATORS.iter().any(|net| net.contains(&address)) {
        return Some(join(segments[6], segments[7]));
    }
    SIX_TO_FOUR.contains(&address).then(|| join(segments[1], segments[2]))
}

const fn class(kind: AddressKind, description: &'static str) -> AddressClass {
    AddressClass { kind, description }
}

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    BLOCKS_V4
        .iter()
        .find(|(net, ..)| net.contains(&address))
        .map_or(class(AddressKind::Public, ""), |&(_, kind, description)| class(kind, description))
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    if METADATA_V6.contains(&address) {
        return class(Metadata, "a cloud metadata service");
    }
    if address.is_loopback() || address.is_unspecified() {
        return class(ThisMachine, "this machine");
    }
    if let Some(inner) = carried_ipv4(address) {
        return classify_v4(inner);
    }
    if !GLOBAL_UNICAST.contains(&address) {
        return outside_global_unicast(address);
    }
    if REACHABLE_ASSIGNMENTS.iter().any(|net| net.contains(&address)) {
        return class(AddressKind::Public, "");
    }
    if let Some(&(_, description)) = RESERVED_V6.iter().find(|(net, _)| net.contains(&address)) {
        return class(Reserved, description);
    }
    // ISATAP puts an IPv4 address behind this marker in the lower half of any prefix.
    let segments = address.segments();
    let is_isatap = segments[5] == 0x5efe && (segments[4] == 0 || segments[4] == 0x200);
    if is_isatap { classify_v4(join(segments[6], segments[7])) } else { class(AddressKind::Public, "") }
}

fn outside_global_unicast(address: Ipv6Addr) -> AddressClass {
    const OUTSIDE: &str = "outside the global unicast block";
    if address.is_multicast() {
        class(Link, "multicast")
    } else if LINK_LOCAL.contains(&address) {
        class(Link, OUTSIDE)
    } else if UNIQUE_LOCAL.contains(&address) {
        class(Private, OUTSIDE)
    } else if COMPATIBLE.contains(&address) {
        let segments = address.segments();
        match classify_v4(join(segments[6], segments[7])).kind {
            AddressKind::Public => class(Reserved, OUTSIDE),
            kind => class(kind, OUTSIDE),
        }
    } else {
        class(Reserved, OUTSIDE)
    }
}

fn join(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_addresses() {
        use AddressKind::Public;
        for (address, expected) in [
            ("8.8.8.8", Public),
            ("2606:4700::1111", Public),
            ("64:ff9b::808:808", Public),
            ("2001:20::1", Public),
            ("10.1.2.3", Private),
            ("100.64.0.1", Private),
            ("fd00::1", Private),
            ("::ffff:10.0.0.1", Private),
            ("2001:db8:0:0:0:5efe:a00:1", Reserved),
            ("2a00::5efe:a00:1", Private),
            ("2a00::200:5efe:808:808", Public),
            ("192.0.2.1", Reserved),
            ("192.88.99.1", Reserved),
            ("198.18.0.1", Reserved),
            ("2001::1", Reserved),
            ("3fff::1", Reserved),
            ("::8.8.8.8", Reserved),
            ("127.9.9.9", ThisMachine),
            ("0.0.0.0", ThisMachine),
            ("::1", ThisMachine),
            ("::", ThisMachine),
            ("::127.0.0.1", ThisMachine),
            ("64:ff9b::7f00:1", ThisMachine),
            ("2002:7f00:1::", ThisMachine),
            ("0.1.2.3", Link),
            ("224.0.0.1", Link),
            ("255.255.255.255", Link),
            ("fe80::1", Link),
            ("ff02::1", Link),
            ("169.254.169.254", Metadata),
            ("168.63.129.16", Metadata),
            ("100.100.100.200", Metadata),
            ("192.0.0.192", Metadata),
            ("fd00:ec2::254", Metadata),
            ("::ffff:169.254.169.254", Metadata),
            ("2002:a9fe:a9fe::", Metadata),
        ] {
            let found = classify(address.parse().unwrap());
            assert_eq!(found.kind, expected, "{address}");
            assert_eq!(found.description.is_empty(), expected == Public, "{address}");
        }
    }
}
