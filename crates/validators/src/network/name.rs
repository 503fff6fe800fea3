//! What the spelling of a host name says about where it leads.

use super::inside;
use super::zones::{
    CLOUDS, DEVICES, INTERNAL_ENDINGS, LOOPBACK_ZONES, METADATA_NAMES, REBINDING_ZONES, SPELLING_ZONES, TEST_ENDINGS,
};
use crate::{Finding, Verdict};
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

const ENDINGS: &str = include_str!("endings.txt");

static PUBLIC_ENDINGS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| ENDINGS.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect());

/// Whether a name in lower case is that of a metadata service.
pub(super) fn is_metadata(name: &str) -> bool {
    ends_in(name, METADATA_NAMES) || name.split('.').any(|label| label == "metadata") && ends_in(name, CLOUDS)
}

/// Whether nothing public can be below the last label of a name.
pub(super) fn has_unknown_ending(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|last| !PUBLIC_ENDINGS.contains(last))
}

/// Whether a name ends as public ones do, also in the letters that stand for others.
pub(super) fn has_public_ending(name: &str) -> bool {
    let last = name.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    last.starts_with("xn--") || PUBLIC_ENDINGS.contains(last)
}

/// Names under a known zone are judged here only while nobody has resolved them.
pub(super) fn check(name: &str, resolved: bool) -> Verdict {
    if ends_in(name, INTERNAL_ENDINGS) || is_metadata(name) {
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
    if ends_in(name, DEVICES) {
        return Err(internal(name, "a device in one's own network answers for it"));
    }
    if ends_in(name, SPELLING_ZONES) && !spells_public(name) || spells_private(name) {
        return Err(internal(name, "it spells an address that is not public"));
    }
    Ok(())
}

/// The same for what surely is a host, and no file: endings that do not exist lead inside as well.
pub(super) fn check_host(name: &str, resolved: bool) -> Verdict {
    check(name, resolved)?;
    if !resolved && has_unknown_ending(name) {
        return Err(internal(name, "its ending exists only inside a network"));
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

/// Whether a name in a zone that spells addresses spells some, and only public ones: which of several the zone takes is its
/// own affair.
fn spells_public(name: &str) -> bool {
    let parts: Vec<&str> = name.split(['.', '-']).collect();
    let dotted = parts.windows(4).filter_map(as_v4);
    let hex = parts.iter().filter(|part| part.len() == 8).filter_map(|part| u32::from_str_radix(part, 16).ok());
    let long = name.split('.').filter_map(|label| label.replace('-', ":").parse::<Ipv6Addr>().ok());
    let mut all = dotted.chain(hex.map(Ipv4Addr::from)).map(IpAddr::V4).chain(long.map(IpAddr::V6)).peekable();
    all.peek().is_some() && all.all(|address| super::check_address(address).is_ok())
}

/// Whether a name in any zone spells an address of this machine or of a private network: `10-0-0-1.x`, `10.0.0.1.x`. Only
/// these: `0-9-1-2` is a version.
fn spells_private(name: &str) -> bool {
    let leads_inside =
        |address: Ipv4Addr| inside::is_private(IpAddr::V4(address)) || inside::is_metadata_address(IpAddr::V4(address));
    let labels: Vec<&str> = name.split('.').collect();
    let in_label = |label: &&str| {
        let parts: Vec<&str> = label.split('-').collect();
        parts.windows(4).filter_map(as_v4).any(leads_inside)
    };
    labels.windows(4).filter_map(as_v4).any(leads_inside) || labels.iter().any(in_label)
}

fn as_v4(parts: &[&str]) -> Option<Ipv4Addr> {
    let digits = |part: &&str| (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    if parts.iter().all(digits) { parts.join(".").parse().ok() } else { None }
}

fn internal(name: &str, why: &str) -> Finding {
    Finding::new("host-not-public", format!("`{name}` is not a public host: {why}"))
}
