//! Hosts that are glued to something else: `git@host:path`, `--proxy=host:port`, `tcp:host:port`, `host::module`, and the
//! pairs of connection strings.
//!
//! Like [`super::loose`], only what leads inside counts here: versions, ratios and times are glued in the same ways.

use switchboard_policy::keys::{Key, Mark};

use super::loose::{self, Reading};
use super::{REACHING, Target};
use crate::arguments::machine::Machine;
use crate::arguments::pairs;
use crate::percent;

/// Longer text is not taken apart in this way.
const MAX_BYTES: usize = 64 * 1024;
/// What SQL Server and its relatives write in front of a host.
const TRANSPORTS: [&str; 5] = ["tcp:", "udp:", "np:", "lpc:", "admin:"];

/// Whether the value of a pair or option of this name is a host.
pub(in crate::arguments) fn is_host_name(name: &str) -> bool {
    Key::of(name).has(Mark::HostName) || Machine::is_surely(name)
}

/// The hosts that a value of a pair names, without ports, instances and transports.
pub(in crate::arguments) fn hosts_of(value: &str) -> impl Iterator<Item = &str> {
    let bare = TRANSPORTS
        .iter()
        .find_map(|front| value.get(..front.len()).filter(|start| start.eq_ignore_ascii_case(front)))
        .map_or(value, |front| &value[front.len()..]);
    // Behind a comma stands a port, or another host.
    bare.split(',')
        .map(|host| host.split('\\').next().unwrap_or_default().trim())
        .filter(|host| !host.is_empty() && !host.starts_with(['/', '~', '.']) && host.parse::<u16>().is_err())
}

/// The host of `user@host:path`, as ssh and git have it.
pub(in crate::arguments) fn in_remote(token: &str) -> Option<&str> {
    let (user, rest) = token.split_once('@')?;
    let end = rest.find(':')?;
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    let (host, behind) = rest.split_at(end);
    // `me@localhost: hello` has nothing behind, and `scheme://` is a URL.
    (!host.is_empty() && plain(host) && plain(user.rsplit([':', '=']).next().unwrap_or(user)) && behind.len() > 1)
        .then_some(host)
}

pub(super) fn targets(text: &str) -> Vec<Target> {
    let mut found = Vec::new();
    if text.len() > MAX_BYTES || !text.bytes().any(|byte| matches!(byte, b'=' | b'@' | b':' | b';' | b'%')) {
        return found;
    }
    for (name, value) in pairs::of(text) {
        if is_host_name(name) {
            found.extend(hosts_of(value).filter_map(|host| loose::target(host, Reading::Link)));
        }
    }
    let parts = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '(' | ')' | '{' | '}' | ',' | '`' | '|' | ';')
    };
    for token in text.split(parts).filter(|token| token.len() > 2) {
        let slashes = token.find("://");
        let escaped = token.find('%').is_some_and(|at| slashes.is_none_or(|slashes| at < slashes));
        if escaped {
            let read = percent::stages(token).into_iter().skip(1).collect::<Vec<_>>();
            found.extend(read.iter().flat_map(|read| super::in_text(read)));
        }
        if let Some(slashes) = slashes {
            // Where a URL sends its reader on, the escapes of the next URL are read once more.
            let tail = &token[slashes + 3..];
            if tail.contains('%') {
                let read = percent::stages(tail).into_iter().skip(1).collect::<Vec<_>>();
                found.extend(read.iter().filter(|read| read.contains("://")).flat_map(|read| super::in_text(read)));
            }
            continue;
        }
        found.extend(in_remote(token).and_then(|host| loose::target(host, Reading::Link)));
        if let Some((name, value)) = token.split_once('=') {
            let named = token.starts_with('-') && is_host_name(name);
            found.extend(loose::target(value, if named { Reading::Link } else { Reading::Text }));
        }
        if let Some((scheme, rest)) = token.split_once(':')
            && REACHING.iter().any(|known| scheme.eq_ignore_ascii_case(known))
            && !rest.starts_with(['/', '\\'])
        {
            found.extend(loose::target(rest, Reading::Link));
        }
        let pieces = token.split(['=', '@', ':', ';']).filter(|piece| piece.len() < text.len() && piece.len() > 6);
        found.extend(pieces.filter_map(|piece| loose::target(piece, Reading::Text)));
    }
    found
}
