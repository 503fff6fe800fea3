//! What a URI hides from those who look only at how it begins: blanks that its readers leave out, steps up, and paths
//! in its query.

use crate::percent;

/// Schemes of URLs that lead to another machine, to nowhere or to a person, and never to a file.
const ELSEWHERE: [&str; 15] =
    ["http", "https", "ws", "wss", "ftp", "ftps", "sftp", "ssh", "data", "mailto", "tel", "urn", "about", "cid", "geo"];
/// Schemes of images in a registry.
const REGISTRIES: [&str; 2] = ["oci", "docker"];
/// Schemes after which readers repair missing slashes.
pub(super) const REPAIRED: [&str; 5] = ["http", "https", "ws", "wss", "ftp"];
/// Numbers below are counters, pages and sizes. As addresses they would begin with a zero.
pub(super) const SMALLEST: u64 = 1 << 24;
/// More values of one query are refused where each would have to be looked at.
pub(super) const MAX_VALUES: usize = 256;

/// The scheme of a text, and what stands behind it.
pub(super) fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let plain = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    plain.then_some((scheme, rest))
}

/// Whether a URI leads to another machine or to nowhere. One without a host has a path, and servers read that out of any
/// scheme.
pub(super) fn leads_elsewhere(scheme: &str, rest: &str) -> bool {
    let slashes = rest.len() - rest.trim_start_matches(['/', '\\']).len();
    // `git+https` is reached as `https` is.
    let carrier = scheme.rsplit('+').next().unwrap_or(scheme);
    // `oci:folder` is a folder.
    let of_registry = slashes == 2 && REGISTRIES.iter().any(|other| scheme.eq_ignore_ascii_case(other));
    of_registry
        || ELSEWHERE.iter().any(|other| carrier.eq_ignore_ascii_case(other))
            && if leads_nowhere(scheme) { slashes == 0 } else { matches!(slashes, 0 | 2) }
}

/// Whether URLs of a scheme have no host.
pub(super) fn leads_nowhere(scheme: &str) -> bool {
    ["data", "mailto", "tel", "urn", "about", "cid", "geo"].iter().any(|still| scheme.eq_ignore_ascii_case(still))
}

/// Whether a text is an address of git or ssh with a user: `git@host:a/b.git`.
pub(super) fn is_git_address(text: &str) -> bool {
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    text.split_once('@').and_then(|(user, rest)| Some((user, rest.split_once(':')?))).is_some_and(
        |(user, (host, path))| {
            let names = [user, host].iter().all(|name| !name.is_empty() && plain(name));
            names
                && host.contains('.')
                && !path.is_empty()
                && path.split('/').all(|name| plain(name) && !name.is_empty() && name != "..")
        },
    )
}

/// Whether a text of one word is a `file:` URL.
pub(super) fn is_file(text: &str) -> bool {
    let text = text.trim();
    scheme_of(text).is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("file"))
        && !text.contains(char::is_whitespace)
}

/// Whether it is `data:` with nothing behind but letters that stand for bytes.
pub(super) fn is_bytes(text: &str) -> bool {
    let data = text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
    let payload = text.split_once(";base64,").filter(|(front, _)| !front.contains(['\\', ',']));
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte);
    data && payload.is_some_and(|(_, payload)| payload.bytes().all(is_letter))
}

/// Whether a step of a text leads up, in any escape, also where others beside it are broken.
pub(super) fn climbs(text: &str) -> bool {
    let steps = |text: &str| text.split(['/', '\\', ':']).any(|step| step.trim() == "..");
    percent::stages(text).iter().any(|read| steps(read))
}

/// The text as readers of URLs have it: they leave out tabs and ends of lines wherever they stand. `None` where that
/// changes nothing, and for what is no word even then. A list with one URL in each line is one.
pub(super) fn squeezed(text: &str) -> Option<String> {
    let left_out = |c: char| matches!(c, '\t' | '\r' | '\n');
    let trimmed = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    if !trimmed.contains(left_out) || trimmed.contains(' ') {
        return None;
    }
    let begins = |line: &str| scheme_of(line).is_some_and(|(_, rest)| rest.starts_with("//"));
    if trimmed.split(left_out).filter(|line| !line.is_empty()).all(begins) {
        return None;
    }
    Some(trimmed.replace(left_out, ""))
}

/// What stands behind `?` and `#`, value by value, as it was sent and with its escapes read; `None` where there are more
/// than [`MAX_VALUES`].
pub(super) fn values(uri: &str) -> Option<Vec<String>> {
    let Some(at) = uri.find(['?', '#']) else { return Some(Vec::new()) };
    let raw = uri[at + 1..].split(['&', ';', '#', '?']).flat_map(|pair| {
        let value = pair.split_once('=').map(|(_, value)| value);
        [Some(pair), value].into_iter().flatten()
    });
    let raw: Vec<&str> = raw.filter(|value| !value.is_empty()).take(MAX_VALUES + 1).collect();
    if raw.len() > MAX_VALUES {
        return None;
    }
    let read = |value: &&str| percent::decoded(value).filter(|decoded| decoded != value);
    Some(raw.iter().flat_map(|value| [Some((*value).to_owned()), read(value)]).flatten().collect())
}
