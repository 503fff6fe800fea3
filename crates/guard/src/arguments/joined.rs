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
        // Readers of URLs leave out tabs and ends of lines.
        let text = text.trim().replace(['\t', '\n', '\r'], "");
        if is_base(role, &text) && bases.len() < MAX_BASES {
            bases.push(if text.contains("://") { text } else { format!("http://{}", text.trim_start_matches('/')) });
        } else if may_go_on(role, &text) && parts.len() < MAX_PARTS {
            parts.push(text);
        }
    });
    bases.iter().flat_map(|base| parts.iter().map(move |part| format!("{base}{part}"))).collect()
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
    let goes_on = text.len() > front.len();
    match plain.rsplit_once('@') {
        // A whole address of mail is one, unless its key is for paths or addresses.
        Some((user, host)) => {
            let is_number = user.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
            (is_number || goes_on || is_address) && is_host(host)
        }
        None => plain.strip_prefix(['.', '-']).is_some_and(is_name),
    }
}

/// Whether a text reads as a host: a name with an ending of letters, `localhost`, or an address in some spelling. Numbers, patterns
/// and names of packages are none.
fn is_host(text: &str) -> bool {
    let host = text.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(text, |(host, _)| host);
    let is_address = matches!(
        url::Url::parse(&format!("http://{host}/")).ok().as_ref().and_then(url::Url::host),
        Some(url::Host::Ipv4(_) | url::Host::Ipv6(_))
    );
    is_address || is_name(host) || host.eq_ignore_ascii_case("localhost")
}

/// Whether a text is a name with dots and an ending of letters.
fn is_name(host: &str) -> bool {
    let is_plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    is_plain && host.contains('.') && last.len() > 1 && last.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
}
