//! Addresses that two arguments make together: servers put a path behind a base, and not all of them put a slash between.
//!
//! `{"base_url": "https://a.example", "path": "@b.example/x"}` leads to `b.example` then.

use switchboard_wire::Raw;

use super::role::Role;
use super::{percent, reach, walk};

/// Bases of one call that are looked at, and parts behind them.
const MAX_BASES: usize = 8;
const MAX_PARTS: usize = 64;
/// Longer strings are no part of an address.
const MAX_PART_BYTES: usize = 2_048;

/// The addresses whose host is another one than that of their base.
pub(super) fn addresses(arguments: &Raw) -> Vec<String> {
    let (mut bases, mut parts) = (Vec::new(), Vec::new());
    walk::each_leaf(arguments, &mut |role, text| {
        let text = text.trim();
        if is_base(role, text) && bases.len() < MAX_BASES {
            bases.push(if text.contains("://") { text.to_owned() } else { format!("http://{text}") });
        } else if may_go_on(role, text) && parts.len() < MAX_PARTS {
            parts.push(text.to_owned());
        }
    });
    bases.iter().flat_map(|base| parts.iter().map(move |part| format!("{base}{part}"))).collect()
}

/// Whether a string ends with a host, so that what is put behind it becomes a part of that.
fn is_base(role: Role, text: &str) -> bool {
    let authority = match text.split_once("://") {
        Some((scheme, authority)) if reach::is_reaching(scheme) => authority,
        None if role == Role::Host => text,
        _ => return false,
    };
    !authority.is_empty() && !authority.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '\\' | '?' | '#'))
}

/// Whether a string makes another host of the one that it is put behind. What begins as a path or a query does not, and
/// neither does a word or a name of a file.
fn may_go_on(role: Role, text: &str) -> bool {
    let is_address = matches!(role, Role::Path | Role::Url | Role::Link | Role::Host);
    let is_part = is_address || matches!(role, Role::Other | Role::Reference);
    if !is_part || text.len() > MAX_PART_BYTES || text.contains(char::is_whitespace) {
        return false;
    }
    let front = text.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let plain = percent::lenient(front);
    let steps = plain.is_empty() || plain.bytes().all(|byte| byte == b'.');
    if steps || is_port(&plain) {
        return false;
    }
    if plain.starts_with(['.', ':', '-', '@']) {
        return plain.len() > 1 && plain.contains(['.', '@']);
    }
    // A whole address of mail is one, unless its key is for paths or addresses; `a.webp` is a file.
    let goes_on = text.len() > front.len();
    if plain.contains('@') {
        goes_on || is_address
    } else {
        goes_on && reach::behind_slash(&format!("/{text}")).is_some()
    }
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
}
