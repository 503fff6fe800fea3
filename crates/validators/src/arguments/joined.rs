//! Addresses that two arguments make together: servers put a path behind a base, and not all of them put a slash between.
//!
//! `{"base_url": "https://a.example", "path": "@b.example/x"}` leads to `b.example` then.

use switchboard_wire::Raw;

use super::role::Role;
use super::{percent, reach, walk};
use crate::network;

/// Bases of one call that are looked at, and parts behind them.
const MAX_BASES: usize = 8;
const MAX_PARTS: usize = 64;
/// Longer strings are no part of an address.
const MAX_PART_BYTES: usize = 2_048;

/// An address that two arguments make.
pub(super) struct Joined {
    pub(super) url: String,
    /// Its host, where that is a name without a dot: `@types/node` is a package, unless a machine near by has that name.
    pub(super) local: Option<String>,
}

/// The addresses whose host is another one than that of their base.
pub(super) fn addresses(arguments: &Raw) -> Vec<Joined> {
    let (mut bases, mut parts) = (Vec::new(), Vec::new());
    walk::each_leaf(arguments, &mut |role, text| {
        // Readers of URLs leave out tabs and ends of lines.
        let text = text.trim().replace(['\t', '\n', '\r'], "");
        if is_base(role, &text) && bases.len() < MAX_BASES {
            bases.push(if text.contains("://") { text } else { format!("http://{}", text.trim_start_matches('/')) });
        } else if may_be_part(role, &text) && parts.len() < MAX_PARTS {
            parts.push((role, text));
        }
    });
    // Two parts that stand beside each other may be put together as well, where the first names a user.
    let both = |first: &(Role, String), second: &(Role, String)| (first.0, format!("{}{}", first.1, second.1));
    let together = parts.windows(2).flat_map(|pair| [both(&pair[0], &pair[1]), both(&pair[1], &pair[0])]);
    let together: Vec<_> =
        together.filter(|(_, part)| part.split('/').next().is_some_and(|front| front.contains('@'))).collect();
    let pairs =
        bases.iter().flat_map(|base| parts.iter().chain(&together).map(move |(role, part)| (base, *role, part)));
    pairs.filter_map(|(base, role, part)| join(base, role, part)).collect()
}

/// Whether a string ends with a host, so that what is put behind it becomes a part of that.
fn is_base(role: Role, text: &str) -> bool {
    let authority = match text.split_once("://") {
        Some((scheme, authority)) if reach::is_reaching(scheme) => authority,
        None if role == Role::Host => text,
        None if role == Role::Url => text.strip_prefix("//").unwrap_or(text),
        _ => return false,
    };
    !authority.is_empty() && !authority.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '\\' | '?' | '#'))
}

/// Whether a string may be put behind a host at all. What begins as a path or a query changes nothing of it.
fn may_be_part(role: Role, text: &str) -> bool {
    let is_part = is_address(role) || matches!(role, Role::Other | Role::Reference);
    let front = percent::lenient(front(text));
    let steps = front.is_empty() || front.bytes().all(|byte| byte == b'.');
    is_part && text.len() <= MAX_PART_BYTES && !text.contains(char::is_whitespace) && !steps && !is_port(&front)
}

const fn is_address(role: Role) -> bool {
    matches!(role, Role::Path | Role::Url | Role::Link | Role::Host)
}

fn front(text: &str) -> &str {
    text.split(['/', '\\', '?', '#']).next().unwrap_or_default()
}

/// What a part makes of a base, where it leads to another host. Words, numbers, patterns and names of files do not.
fn join(base: &str, role: Role, part: &str) -> Option<Joined> {
    let plain = percent::lenient(part);
    let url = format!("{base}{plain}");
    // Readers of URLs know the schemes of the web alone by their rules for hosts.
    let read = |url: &str| url::Url::parse(&format!("http:{}", url.split_once(':')?.1)).ok();
    let (ours, theirs) = (read(base)?, read(&url)?);
    let host = theirs.host_str()?;
    if ours.host_str() == Some(host) {
        return None;
    }
    let front = front(&plain);
    let goes_on = plain.len() > front.len();
    let is_name = |host: &str| host.contains('.') && network::has_public_ending(host);
    let mut local = None;
    let is_meant = match (front.rsplit_once('@'), theirs.host()?) {
        (Some((user, behind)), kind) => {
            let is_number = !user.is_empty() && user.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
            if let url::Host::Domain(name) = kind
                && !name.contains('.')
                && name != "localhost"
                && !(is_number || behind.contains(':'))
            {
                local = Some(name.to_owned());
            }
            // A whole address of mail is one, unless its key is for paths or addresses.
            is_number || user.is_empty() || goes_on || is_address(role)
        }
        (None, url::Host::Domain(name)) => {
            (is_address(role) || goes_on || front.starts_with(['.', '-'])) && is_name(name)
        }
        // More digits of an address.
        (None, _) => matches!(role, Role::Path | Role::Url) && goes_on,
    };
    is_meant.then(|| Joined { url: format!("{base}{part}"), local })
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
}
