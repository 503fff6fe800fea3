//! Addresses without a proper URL around them, as lenient readers take them.
//!
//! Browsers and their relatives read `http:/host` and `http:\\host` like `http://host`, and `2130706433`, `0x7f.1` and
//! `127.1` like `127.0.0.1`. Such a text counts where it leads inside. What leads nowhere or outside is left alone:
//! versions, file names, numbers and sentences look alike.

use url::{Host, Url};

use super::Target;
use crate::arguments::uri;
use crate::network;

/// How much a text may be read as an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// A word in the middle of others.
    Text,
    /// All of a string about which nothing is known.
    Word,
    /// All of a string that is there to be fetched: numbers count.
    Link,
}

/// What a text leads to, if that is inside.
pub(super) fn target(text: &str, reading: Reading) -> Option<Target> {
    let text = text.trim_matches(|c: char| c.is_control() || c.is_whitespace());
    let text = text.trim_end_matches(['.', ';', '!', '?', ',']);
    let is_slash = |c: char| c == '/' || c == '\\';
    if let Some((scheme, rest)) = text.split_once(':')
        && uri::REPAIRED.iter().any(|repaired| scheme.eq_ignore_ascii_case(repaired))
    {
        return inside(rest.trim_start_matches(is_slash), Reading::Link);
    }
    let mut letters = text.chars();
    let rooted = letters.next().is_some_and(is_slash) && letters.next().is_some_and(is_slash);
    if rooted {
        // In other strings two slashes begin comments and names of shares as well: a mere number counts nowhere.
        return inside(text.trim_start_matches(is_slash), reading);
    }
    inside(text, reading)
}

/// Whether a text names a place in the way of `example.com/path`.
pub(super) fn is_named_place(text: &str) -> bool {
    let Some((host, _)) = text.split_once('/') else { return false };
    let last = host.rsplit('.').next().unwrap_or_default();
    host.contains('.')
        && !host.starts_with('.')
        && last.len() >= 2
        && last.bytes().all(|byte| byte.is_ascii_alphabetic())
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
}

fn inside(text: &str, reading: Reading) -> Option<Target> {
    let end = text.find(['/', '\\', '?', '#']).unwrap_or(text.len());
    let (authority, tail) = text.split_at(end);
    let authority = authority.rsplit('@').next().unwrap_or(authority);
    if authority.is_empty() || authority.len() > 300 || !may_be_host(authority, reading) {
        return None;
    }
    let url = format!("http://{authority}/");
    let parsed = Url::parse(&url).ok()?;
    let leads_inside = match parsed.host()? {
        Host::Ipv4(address) => {
            is_written_as_address(authority, tail, reading) && network::check_address(address.into()).is_err()
        }
        Host::Ipv6(address) => network::check_address(address.into()).is_err(),
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            let behind = !tail.is_empty() || parsed.port().is_some();
            match reading {
                Reading::Link => name == "localhost" || name.contains('.') && network::is_internal_name(name),
                Reading::Word => {
                    name == "localhost" && behind || name.contains('.') && network::is_surely_internal_name(name)
                }
                Reading::Text => {
                    behind && (name == "localhost" || name.contains('.') && network::is_surely_internal_name(name))
                }
            }
        }
    };
    let host = parsed.host_str()?;
    leads_inside.then(|| Target { url: format!("http://{host}/"), names_port: false, guess: true, asked: false })
}

/// Whether it is worth parsing.
fn may_be_host(authority: &str, reading: Reading) -> bool {
    let first = authority.chars().next();
    first.is_some_and(|first| first.is_ascii_digit() || first == '[' || !first.is_ascii() || first == '%')
        || !authority.is_ascii()
        || reading != Reading::Text
        || authority.to_ascii_lowercase().contains("localhost")
        || authority.to_ascii_lowercase().contains("internal")
}

/// Versions, dates, counters and networks in the notation of routers are no addresses.
fn is_written_as_address(authority: &str, tail: &str, reading: Reading) -> bool {
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host).trim_end_matches('.');
    let parts = host.split(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']).count();
    if reading != Reading::Link {
        let network = tail
            .strip_prefix('/')
            .is_some_and(|length| (1..=2).contains(&length.len()) && length.bytes().all(|byte| byte.is_ascii_digit()));
        return parts == 4 && !network;
    }
    match parts {
        1 => {
            let lower = host.to_ascii_lowercase();
            let number = match lower.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).ok(),
                None if lower.len() > 1 && lower.starts_with('0') => u64::from_str_radix(&lower, 8).ok(),
                None => lower.parse().ok(),
            };
            // `0` with something behind it is this machine; alone it is a number.
            number.is_none_or(|number| number >= uri::SMALLEST || number == 0 && !tail.is_empty())
        }
        _ => true,
    }
}
