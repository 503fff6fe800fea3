//! What the spelling of a host name says about where it leads.

use crate::{Finding, Verdict};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Endings that are never delegated in the public tree: whatever a resolver says about them is local.
const INTERNAL_ENDINGS: &[&str] = &[
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "lan",
    "home.arpa",
    "home",
    "corp",
    "private",
    "consul",
    "svc",
    "cluster",
    "docker",
    "onion",
    "alt",
    "in-addr.arpa",
    "ip6.arpa",
    "dhcp",
];

/// Set aside for tests: without an answer from a resolver they cannot be public.
const TEST_ENDINGS: &[&str] = &["test", "invalid"];

/// Public names that always lead inside: metadata services that a cloud answers only for its own machines.
const METADATA_NAMES: &[&str] = &[
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "metadata.tencentyun.com",
    "metadata.azure.com",
    "metadata.cloud.ibm.com",
    "metadata.goog",
    "metadata.exoscale.com",
    "metadata.scaleway.com",
];

/// The same below endings that are never public.
const INTERNAL_METADATA_NAMES: &[&str] =
    &["metadata.google.internal", "metadata.azure.internal", "instance-data.ec2.internal", "metadata.internal"];

/// Whether a name in lower case is that of a metadata service.
pub(super) fn is_metadata(name: &str) -> bool {
    METADATA_NAMES.contains(&name) || INTERNAL_METADATA_NAMES.contains(&name)
}

/// Public zones that always answer with an address of the asking machine.
const LOOPBACK_ZONES: &[&str] = &[
    "localtest.me",
    "lvh.me",
    "vcap.me",
    "lacolhost.com",
    "localho.st",
    "localh.st",
    "fuf.me",
    "local.gd",
    "yoogle.com",
    "smackaho.st",
    "42foo.com",
    "feacluster.com",
    "localdomain.pw",
    "spoofed.burpcollaborator.net",
    "dod.network",
    "127-0-0-1.org.uk",
    "lvh.xyz",
    "loopback.world",
    "readme.localtest.me",
];

/// Public zones that answer with whatever address the name spells.
const SPELLING_ZONES: &[&str] = &[
    "nip.io",
    "sslip.io",
    "xip.io",
    "backname.io",
    "traefik.me",
    "ip6.name",
    "ipv6-literal.net",
    "xip.name",
    "plex.direct",
];

/// Public zones that exist to change their answer between a check and its use.
const REBINDING_ZONES: &[&str] = &["rbndr.us", "1u.ms", "rebind.network", "rebind.it", "whonow.net"];

/// Names under a known zone are judged here only while nobody has resolved them.
pub(super) fn check(name: &str, resolved: bool) -> Verdict {
    if ends_in(name, INTERNAL_ENDINGS) || METADATA_NAMES.contains(&name) {
        return Err(internal(name, "it exists only inside a network"));
    }
    if resolved {
        return Ok(());
    }
    if !name.contains('.') {
        return Err(internal(name, "a name without a dot is looked up locally"));
    }
    if ends_in(name, TEST_ENDINGS) {
        return Err(internal(name, "its ending is set aside for tests"));
    }
    if ends_in(name, LOOPBACK_ZONES) {
        return Err(internal(name, "it leads back to this machine"));
    }
    if ends_in(name, REBINDING_ZONES) {
        return Err(internal(name, "its zone changes answers between check and use"));
    }
    if ends_in(name, SPELLING_ZONES)
        && spelled_address(name).is_none_or(|address| super::check_address(address).is_err())
    {
        return Err(internal(name, "it spells an address that is not public"));
    }
    Ok(())
}

/// Whether a name belongs to a zone that exists to spell addresses or to change its answers, or is that of a tunnel.
pub(super) fn misleads(name: &str) -> bool {
    const ODD: &[&str] = &["onion", "alt", "in-addr.arpa", "ip6.arpa"];
    [LOOPBACK_ZONES, SPELLING_ZONES, REBINDING_ZONES, ODD].iter().any(|zones| ends_in(name, zones))
}

/// Internal endings that are endings of files too, as in `settings.local`.
pub(super) fn is_like_file(name: &str) -> bool {
    const LIKE_FILES: &[&str] = &[
        "local", "lan", "home", "corp", "private", "svc", "cluster", "docker", "alt", "dhcp", "test", "invalid",
        "consul",
    ];
    let is_cluster = ends_in(name, &["svc.cluster.local", "service.consul", "node.consul"]);
    ends_in(name, LIKE_FILES) && !is_cluster
}

fn ends_in(name: &str, endings: &[&str]) -> bool {
    endings.iter().any(|ending| name.strip_suffix(ending).is_some_and(|front| front.is_empty() || front.ends_with('.')))
}

/// The address that a name such as `app.10-0-0-1.zone` or `app.10.0.0.1.zone` spells.
fn spelled_address(name: &str) -> Option<IpAddr> {
    let labels: Vec<&str> = name.split('.').collect();
    for window in labels.windows(4) {
        if let Ok(address) = window.join(".").parse::<Ipv4Addr>() {
            return Some(IpAddr::V4(address));
        }
    }
    for label in labels {
        if let Ok(address) = label.replace('-', ":").parse::<Ipv6Addr>() {
            return Some(IpAddr::V6(address));
        }
        let parts: Vec<&str> = label.split('-').collect();
        for window in parts.windows(4) {
            if let Ok(address) = window.join(".").parse::<Ipv4Addr>() {
                return Some(IpAddr::V4(address));
            }
        }
        if label.len() == 8
            && let Ok(bits) = u32::from_str_radix(label, 16)
        {
            return Some(IpAddr::V4(Ipv4Addr::from(bits)));
        }
    }
    None
}

fn internal(name: &str, why: &str) -> Finding {
    Finding::new("host-not-public", format!("`{name}` is not a public host: {why}"))
}
