//! Which strings a server could connect to, where a grant limits hosts: every form that some client takes for a URL or a
//! host, under any key. What is found in the middle of text is for [`super::reach`].

use super::place::{self, Field};
use super::reach;
use super::role::Role;
use super::uri;
use crate::Verdict;
use crate::permission::Scope;
use crate::schema::Evidence;

/// Keys whose words are hosts in one tool or another.
const LIKELY_FORMATS: [&str; 6] = ["date", "date-time", "time", "duration", "uuid", "email"];

/// Schemes after which readers repair missing slashes.
const REPAIRED: [&str; 5] = ["http", "https", "ws", "wss", "ftp"];

/// Whether what a string leads to, if it leads anywhere, is covered by all limits.
pub(super) fn check(
    scopes: &[Scope],
    role: Role,
    field: Field,
    named: bool,
    evidence: &Evidence<'_>,
    text: &str,
) -> Verdict {
    if let Some(squeezed) = uri::squeezed(text) {
        check_word(scopes, role, field, named, evidence, &squeezed)?;
    }
    check_word(scopes, role, field, named, evidence, text)?;
    // Under keys for hosts, a blank parts one from its port or from the next.
    if (matches!(role, Role::Url | Role::Host) || field == Field::Remote) && text.trim().contains(char::is_whitespace) {
        let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| word.contains(['.', ':', '/']));
        words.into_iter().try_for_each(|word| check_word(scopes, role, field, named, evidence, word))?;
    }
    if text.contains("://") && text.trim().contains(char::is_whitespace) { in_sentence(scopes, text) } else { Ok(()) }
}

/// Whether a word that is a host is covered by all limits, at this port where it names none.
pub(super) fn check_operand(scopes: &[Scope], word: &str, port: Option<u16>) -> Verdict {
    let folded = crate::path::fold_look_alikes(word);
    let Some((url, names_port)) = target(&folded, true, false) else { return Ok(()) };
    match port.filter(|_| !names_port) {
        Some(port) => reach::within_limits(scopes, with_port(&url, port), true),
        None => reach::within_limits(scopes, url, names_port),
    }
}

fn with_port(url: &str, port: u16) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    format!("{scheme}://{}:{port}{}", &rest[..end], &rest[end..])
}

/// Whether a word looks like a host, perhaps with a port: an address, or a name with dots.
pub(super) fn is_host_form(word: &str) -> bool {
    target(word, false, false).is_some()
}

/// URLs of any scheme in the middle of text.
fn in_sentence(scopes: &[Scope], text: &str) -> Verdict {
    for (at, _) in text.match_indices("://") {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let scheme = &text[text[..at].trim_end_matches(is_part).len()..at];
        let known = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.len() > 1;
        let ends = |c: char| !c.is_ascii_alphanumeric() && c.is_ascii() && !"-._:@[]%".contains(c);
        let authority = text[at + 3..].split(ends).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default().trim_end_matches(['.', ':', ']', '-']);
        if !known || scheme.eq_ignore_ascii_case("file") || !host.contains(|c: char| c.is_alphanumeric()) {
            continue;
        }
        let closing = if host.starts_with('[') { "]" } else { "" };
        let names_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        reach::within_limits(scopes, format!("http://{host}{closing}/"), names_port)?;
    }
    Ok(())
}

fn check_word(scopes: &[Scope], role: Role, field: Field, named: bool, evidence: &Evidence<'_>, text: &str) -> Verdict {
    let folded = crate::path::fold_look_alikes(text);
    let word =
        folded.trim_matches(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '<' | '>'));
    if word.is_empty()
        || word.contains(char::is_whitespace)
        || evidence.lists(text)
        || evidence.has_format(&LIKELY_FORMATS)
    {
        return Ok(());
    }
    // Where the key is for labels a name with dots is one, and under keys for names it is a file's if it ends so.
    let bare = !word.contains(['/', '\\', ':', '@', '?', '#']) && word.parse::<std::net::IpAddr>().is_err();
    if bare && (field == Field::Label && is_name(word) || named && place::has_ending(word)) {
        return Ok(());
    }
    let remote = matches!(role, Role::Url | Role::Host) || field == Field::Remote;
    match target(word, remote, field == Field::Place && role == Role::Path) {
        Some((url, names_port)) => reach::within_limits(scopes, url, names_port),
        None => Ok(()),
    }
}

/// The URL that a word stands for, and whether it names the port.
fn target(word: &str, remote: bool, is_path: bool) -> Option<(String, bool)> {
    let slashes = ['/', '\\'];
    if let Some((scheme, rest)) = word.split_once(':')
        && !rest.is_empty()
        && let Some(known) = REPAIRED.iter().find(|known| scheme.eq_ignore_ascii_case(known))
    {
        // `http:host`, `http:/host` and `http:\\host` are one to most clients.
        return Some((format!("{known}://{}", rest.trim_start_matches(slashes)), true));
    }
    if let Some((scheme, rest)) = uri::scheme_of(word)
        && scheme.len() > 1
        && !scheme.eq_ignore_ascii_case("file")
        && rest.len() == rest.trim_start_matches(slashes).len() + 2
    {
        let authority = rest.trim_start_matches(slashes).split(['/', '\\', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        let names_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        return (!host.is_empty()).then(|| (format!("http://{host}/"), names_port));
    }
    if word.starts_with("//") || word.starts_with("\\\\") {
        return Some((format!("http://{}", word.trim_start_matches(slashes)), false));
    }
    let front = word.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    // `git@host:path`, as ssh and git have it.
    let front = match front.rsplit_once('@') {
        // `user:password@host`; who writes mail names no password.
        Some((user, host)) if host.contains(':') || remote || user.contains(':') && !is_mail(user) => {
            host.split(':').next().unwrap_or_default()
        }
        Some(_) => return None,
        None => front,
    };
    let host = front.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(front, |(host, _)| host);
    let names_port = host.len() < front.len();
    let is_host = host.parse::<std::net::IpAddr>().is_ok()
        || host.eq_ignore_ascii_case("localhost")
        || host.len() > 2 && host.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x"))
        || !is_path && is_name(host)
        || remote && !host.is_empty() && !word.starts_with(['/', '.', '?', '#']) && !front.contains("//");
    is_host.then(|| (format!("http://{front}/"), names_port))
}

/// Whether the key says that its strings name something, and not a host.
pub(super) fn is_name_key(key: &str) -> bool {
    let words = crate::risk::fallback::words(key);
    let is_host = |word: &String| matches!(word.as_str(), "host" | "domain" | "server" | "site" | "dns");
    let last = words.last().map(String::as_str).unwrap_or_default();
    matches!(last, "name" | "names" | "title" | "output" | "outputs") && !words.iter().any(is_host)
}

fn is_mail(user: &str) -> bool {
    user.split(':').next().is_some_and(|scheme| scheme.eq_ignore_ascii_case("mailto"))
}

/// A name with dots that ends in letters, as names of hosts do.
fn is_name(host: &str) -> bool {
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    host.contains('.')
        && !host.starts_with('.')
        && last.len() > 1
        && last.bytes().all(|byte| byte.is_ascii_alphabetic())
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}
