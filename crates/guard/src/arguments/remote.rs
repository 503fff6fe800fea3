//! Which strings a server could connect to, where a grant limits hosts: every form that some client takes for a URL or a
//! host, under any key. What is found in the middle of text is for [`super::reach`].

use super::place::Field;
use super::reach;
use super::role::Role;
use super::uri;
use crate::Verdict;
use crate::permission::Scope;
use crate::schema::Evidence;

/// Keys whose words are hosts in one tool or another.
const LIKELY_FORMATS: [&str; 6] = ["date", "date-time", "time", "duration", "uuid", "email"];

/// Whether what a string leads to, if it leads anywhere, is covered by all limits.
pub(super) fn check(scopes: &[Scope], role: Role, field: Field, evidence: &Evidence<'_>, text: &str) -> Verdict {
    if let Some(squeezed) = uri::squeezed(text) {
        check_word(scopes, role, field, evidence, &squeezed)?;
    }
    check_word(scopes, role, field, evidence, text)
}

fn check_word(scopes: &[Scope], role: Role, field: Field, evidence: &Evidence<'_>, text: &str) -> Verdict {
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
        && reach::is_reaching(scheme)
        && !rest.is_empty()
    {
        // `http:host`, `http:/host` and `http:\\host` are one to most clients.
        let known = ["http", "https", "ws", "wss", "ftp"].iter().find(|known| scheme.eq_ignore_ascii_case(known))?;
        return Some((format!("{known}://{}", rest.trim_start_matches(slashes)), true));
    }
    if word.starts_with("//") || word.starts_with("\\\\") {
        return Some((format!("http://{}", word.trim_start_matches(slashes)), false));
    }
    let front = word.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    // `git@host:path`, as ssh and git have it.
    let front = match front.rsplit_once('@') {
        Some((_, host)) if host.contains(':') || remote => host.split(':').next().unwrap_or_default(),
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

/// A name with dots that ends in letters, as names of hosts do.
fn is_name(host: &str) -> bool {
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    host.contains('.')
        && !host.starts_with('.')
        && last.len() > 1
        && last.bytes().all(|byte| byte.is_ascii_alphabetic())
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}
