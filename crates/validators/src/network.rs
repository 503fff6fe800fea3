//! URLs and addresses (MGP 4.5, `network_restricted`): does this URL lead to the public internet, and nowhere else?
//!
//! A URL passes only if every reader would see the same host in it, and that host is a public name or a globally
//! reachable address. Where readers are known to differ (credentials, backslashes, blanks, escapes in the host) the
//! answer is no. This module never looks a name up: the caller resolves once, passes the answers here and connects to
//! exactly those. It knows nothing about redirects either; each hop is a new question.

pub(crate) mod inside;
mod name;
mod zones;

use crate::{Finding, Verdict};
use std::net::{IpAddr, Ipv4Addr};
use switchboard_protocol::address::{AddressKind, classify};
use url::{Host, Url};

/// Longer URLs are refused: no client needs them, and everything below may then be linear.
pub const MAX_URL_BYTES: usize = 8192;

/// Whether a caller may be sent to this URL.
///
/// `resolved` is what a resolver answered for the name in the URL; each answer must be public, and no answer is a
/// refusal. Without it a name is judged by how it is spelled. It is ignored when the URL holds an address.
pub fn check(url: &str, resolved: Option<&[IpAddr]>) -> Verdict {
    match host(url)? {
        Host::Ipv4(address) => check_address(IpAddr::V4(address)),
        Host::Ipv6(address) => check_address(IpAddr::V6(address)),
        Host::Domain(name) => {
            name::check_host(&name, resolved.is_some())?;
            match resolved {
                None => Ok(()),
                Some([]) => Err(Finding::new("unresolved", format!("the name `{name}` has no address"))),
                Some(addresses) => addresses.iter().try_for_each(|address| {
                    check_address(*address).map_err(|finding| {
                        Finding::new(finding.rule, format!("the name `{name}` leads to {address}: {finding}"))
                    })
                }),
            }
        }
    }
}

/// Whether this address is part of the public internet.
pub fn check_address(address: IpAddr) -> Verdict {
    let class = classify(address);
    match class.kind {
        AddressKind::Public => Ok(()),
        _ => {
            Err(Finding::new("address-not-public", format!("{address} is not a public address: {}", class.description)))
        }
    }
}

/// Whether a name leads inside by how it is spelled.
pub(crate) fn is_internal_name(name: &str) -> bool {
    name::check(name, false).is_err()
}

/// Whether a name leads inside for no other reason than that its ending is not public: a file would have such a name too.
pub(crate) fn is_only_unknown(host: &Host<String>) -> bool {
    matches!(host, Host::Domain(name) if name::has_unknown_ending(name) && name.contains('.') && !is_internal_name(name))
}

/// Whether a name ends as public ones do.
pub(crate) fn has_public_ending(name: &str) -> bool {
    name::has_public_ending(name)
}

/// The same as [`is_internal_name`] without endings that file names have as well.
pub(crate) fn is_surely_internal_name(name: &str) -> bool {
    name::check(name, false).is_err() && !name::is_like_file(name)
}

/// The one host that every reader of this URL would connect to, in its normal form.
///
/// Says nothing about whether the host is public: that is [`check`].
pub fn host(url: &str) -> Result<Host<String>, Finding> {
    if url.len() > MAX_URL_BYTES {
        return Err(Finding::new("url-size", format!("the URL is longer than {MAX_URL_BYTES} bytes")));
    }
    if url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(ambiguous("a blank or control character"));
    }
    let rest = strip_scheme(url)?;
    let authority = authority(rest)?;
    let Ok(parsed) = Url::parse(url) else {
        return Err(Finding::new("url-syntax", "this is not a valid URL"));
    };
    if parsed.port() == Some(0) {
        return Err(ambiguous("port 0"));
    }
    match parsed.host() {
        None => Err(Finding::new("url-syntax", "the URL has no host")),
        Some(Host::Domain(name)) => Ok(Host::Domain(plain_name(name)?)),
        Some(Host::Ipv6(address)) => Ok(Host::Ipv6(address)),
        Some(Host::Ipv4(address)) => {
            check_decimal_reading(authority)?;
            Ok(Host::Ipv4(address))
        }
    }
}

/// Whether a name is that of a metadata service, which tells every process of a machine in a cloud its keys.
#[must_use]
pub(crate) fn is_metadata_name(name: &str) -> bool {
    name::is_metadata(&name.trim_end_matches('.').to_ascii_lowercase())
}

/// Readers repair `http:/host` and `http:host` differently, so only the full form is taken.
fn strip_scheme(url: &str) -> Result<&str, Finding> {
    let Some((scheme, rest)) = url.split_once(':') else {
        return Err(Finding::new("url-scheme", "the URL has no scheme").suggest("write https:// in front"));
    };
    if !["http", "https", "ws", "wss"].iter().any(|allowed| scheme.eq_ignore_ascii_case(allowed)) {
        return Err(Finding::new("url-scheme", "only http, https, ws and wss URLs are allowed"));
    }
    match rest.strip_prefix("//") {
        Some(rest) if !rest.starts_with(['/', '\\']) => Ok(rest),
        _ => Err(ambiguous("anything but exactly two slashes after the scheme")),
    }
}

/// The part between `//` and the path, if nobody can see another one.
fn authority(rest: &str) -> Result<&str, Finding> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    if authority.contains('\\') {
        return Err(ambiguous("a backslash in the host"));
    }
    if authority.contains('@') {
        return Err(Finding::new("url-userinfo", "the URL carries credentials (`@` before the path)")
            .suggest("pass credentials outside the URL"));
    }
    if authority.contains('%') {
        return Err(ambiguous("a percent escape or zone in the host"));
    }
    // Some readers let the host run on to the first slash, across `?` and `#`.
    if !tail.starts_with('/') && tail.split('/').next().is_some_and(|run| run.contains(['@', '\\'])) {
        return Err(ambiguous("a query or fragment directly after the host that looks like another host"));
    }
    let path = tail.split(['?', '#']).next().unwrap_or_default();
    if path.contains('\\') {
        return Err(ambiguous("a backslash in the path"));
    }
    Ok(authority)
}

/// Letters, digits, hyphen, underscore and dots, as they remain after IDNA; a final dot is dropped.
fn plain_name(name: &str) -> Result<String, Finding> {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let plain = |label: &str| {
        (1..=63).contains(&label.len()) && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    if name.len() > 253 || !name.split('.').all(plain) {
        return Err(Finding::new("url-host", "the host is not a valid name"));
    }
    Ok(name)
}

/// `010.0.0.1` is 8.0.0.1 to one reader and 10.0.0.1 to another: the second reading must be public as well.
fn check_decimal_reading(authority: &str) -> Verdict {
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    let host = host.strip_suffix('.').unwrap_or(host);
    if !host.split('.').any(|part| part.len() > 1 && part.starts_with('0')) {
        return Ok(());
    }
    let mut parts = [0_u8; 4];
    let mut count = 0;
    for part in host.split('.') {
        let (Ok(value), Some(slot)) = (part.parse::<u8>(), parts.get_mut(count)) else {
            return Ok(());
        };
        *slot = value;
        count += 1;
    }
    if count == 4 { check_address(IpAddr::V4(Ipv4Addr::from(parts))) } else { Ok(()) }
}

fn ambiguous(what: &str) -> Finding {
    Finding::new("url-ambiguous", format!("{what} is read differently by different clients"))
        .suggest("write the plain URL: scheme, ://, host, path")
}
