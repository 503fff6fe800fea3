//! Which addresses belong to the public internet: the special-purpose registries of IANA, and what an IPv6 address
//! may carry inside it.

use crate::{Finding, Verdict};
use ipnet::{Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(a: u16, b: u16, c: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), length)
}

/// IPv4 blocks that are not globally reachable, and single addresses at which a cloud serves its metadata.
const RESERVED_V4: [(Ipv4Net, &str); 17] = [
    (v4(0, 0, 0, 0, 8), "this network"),
    (v4(10, 0, 0, 0, 8), "a private network"),
    (v4(100, 64, 0, 0, 10), "shared carrier space"),
    (v4(127, 0, 0, 0, 8), "this machine"),
    (v4(168, 63, 129, 16, 32), "a cloud metadata service"),
    (v4(169, 254, 0, 0, 16), "link-local, where cloud metadata is served"),
    (v4(172, 16, 0, 0, 12), "a private network"),
    (v4(192, 0, 0, 0, 24), "protocol assignments"),
    (v4(192, 0, 2, 0, 24), "documentation"),
    (v4(192, 88, 99, 0, 24), "the retired 6to4 relays"),
    (v4(192, 168, 0, 0, 16), "a private network"),
    (v4(198, 18, 0, 0, 15), "benchmarking"),
    (v4(198, 51, 100, 0, 24), "documentation"),
    (v4(203, 0, 113, 0, 24), "documentation"),
    (v4(224, 0, 0, 0, 4), "multicast"),
    (v4(240, 0, 0, 0, 4), "reserved space"),
    (v4(255, 255, 255, 255, 32), "broadcast"),
];

/// The only IPv6 block from which global unicast addresses are handed out.
const GLOBAL_UNICAST: Ipv6Net = v6(0x2000, 0, 0, 3);
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 0, 96);
const SIX_TO_FOUR: Ipv6Net = v6(0x2002, 0, 0, 16);

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

pub(super) fn check(address: IpAddr) -> Verdict {
    let reason = match address {
        IpAddr::V4(address) => reserved_v4(address),
        IpAddr::V6(address) => reserved_v6(address),
    };
    reason.map_or(Ok(()), |what| {
        Err(Finding::new("address-not-public", format!("{address} is not a public address: {what}")))
    })
}

fn reserved_v4(address: Ipv4Addr) -> Option<&'static str> {
    RESERVED_V4.iter().find(|(net, _)| net.contains(&address)).map(|(_, what)| *what)
}

/// The IPv4 address that an IPv6 address stands for, where its prefix says that it does.
pub(super) fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    if let Some(inner) = address.to_ipv4_mapped() {
        return Some(inner);
    }
    if NAT64.contains(&address) || TRANSLATORS.iter().any(|net| net.contains(&address)) {
        return Some(join(segments[6], segments[7]));
    }
    SIX_TO_FOUR.contains(&address).then(|| join(segments[1], segments[2]))
}

fn reserved_v6(address: Ipv6Addr) -> Option<&'static str> {
    let segments = address.segments();
    if let Some(inner) = carried(address) {
        return reserved_v4(inner);
    }
    if !GLOBAL_UNICAST.contains(&address) {
        return Some(if address.is_loopback() {
            "this machine"
        } else if address.is_multicast() {
            "multicast"
        } else {
            "outside the global unicast block"
        });
    }
    if REACHABLE_ASSIGNMENTS.iter().any(|net| net.contains(&address)) {
        return None;
    }
    if let Some((_, what)) = RESERVED_V6.iter().find(|(net, _)| net.contains(&address)) {
        return Some(what);
    }
    // ISATAP puts an IPv4 address behind this marker in the lower half of any prefix.
    let isatap = segments[5] == 0x5efe && (segments[4] == 0 || segments[4] == 0x200);
    if isatap { reserved_v4(join(segments[6], segments[7])) } else { None }
}

fn join(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}
