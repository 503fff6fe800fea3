//! URLs, hosts and addresses in arguments.

pub(super) mod glued;
mod loose;

use std::net::IpAddr;

use switchboard_policy::permission::Scope;
use url::{Host, Url};

use super::role::Role;
use super::walk::{Doubts, Reason, Refused, at};
use super::{Checks, SCOPE, World, dial, place, uri};
use crate::{Finding, Verdict, network, percent};

/// Schemes that make a client connect or read: a URL of one of them counts wherever it stands.
const REACHING: &[&str] = &[
    "http",
    "https",
    "ws",
    "wss",
    "ftp",
    "ftps",
    "sftp",
    "scp",
    "ssh",
    "tftp",
    "telnet",
    "gopher",
    "dict",
    "ldap",
    "ldaps",
    "smb",
    "nfs",
    "file",
    "jar",
    "netdoc",
    "rsync",
    "git",
    "svn",
    "imap",
    "imaps",
    "pop3",
    "smtp",
    "redis",
    "rediss",
    "mysql",
    "postgres",
    "postgresql",
    "mongodb",
    "amqp",
    "amqps",
    "mqtt",
    "rtsp",
    "rtmp",
    "unix",
    "docker",
];
/// Schemes of files on this machine, and those that some clients take off in front of another one.
const OF_FILES: [&str; 4] = ["file", "netdoc", "local_file", "local-file"];
const AROUND_URLS: [&str; 5] = ["url", "feed", "view-source", "jar", "blob"];
/// Schemes that lead nowhere.
const STILL: &[&str] = &[
    "data", "mailto", "urn", "tel", "about", "cid", "mid", "geo", "doi", "isbn", "arxiv", "pmid", "did", "acct", "tag",
    "spotify",
];

/// Endings of files that are endings of names of hosts as well.
const ENDINGS_OF_BOTH: &[&str] = &["md", "mov", "zip"];

/// Words that switch something that may be a machine: `"proxy": "none"`.
const SWITCHES: [&str; 16] = [
    "none", "off", "on", "true", "false", "yes", "no", "null", "auto", "direct", "enabled", "disabled", "enable",
    "disable", "inherit", "system",
];

/// Something that a server may connect to.
pub(super) struct Target {
    pub(super) url: String,
    /// Whether the URL names the port that is used, as itself or by its scheme.
    names_port: bool,
    /// Whether it may be something else that only looks so.
    pub(super) guess: bool,
    /// Whether a guess is worth asking a resolver.
    pub(super) asked: bool,
}

impl Target {
    const fn sure(url: String) -> Self {
        Self { url, names_port: true, guess: false, asked: true }
    }
}

pub(super) fn check(
    checks: &Checks,
    role: Role,
    text: &str,
    world: &dyn World,
    doubts: Doubts<'_>,
) -> Result<(), Refused> {
    for target in targets(role, text) {
        // A file that lies inside of the paths of a grant may be named by its URL.
        if !checks.places.is_empty()
            && uri::is_file(&target.url)
            && place::inside(&checks.places, &target.url, world).is_ok()
        {
            continue;
        }
        if checks.network
            && let Err(refusal) = dial::check(checks, role, text, &target, world)
        {
            let dial::Refusal { finding, host } = *refusal;
            let refused = at("network_restricted", doubts.weigh(Err(finding)));
            refused.map_err(|refused| Box::new(Reason { host, ..*refused }))?;
        }
        at(SCOPE, check_scopes(&checks.scopes, &target))?;
    }
    Ok(())
}

/// The names among what a string may make a server connect to.
pub(super) fn host_names(role: Role, text: &str) -> Vec<String> {
    let asked = targets(role, text).into_iter().filter(|target| target.asked);
    asked
        .filter_map(|target| match network::host(&target.url) {
            Ok(Host::Domain(name)) => Some(name),
            _ => None,
        })
        .collect()
}

fn check_scopes(scopes: &[Scope], target: &Target) -> Verdict {
    let speaks = |scope: &&Scope| scope.hosts.is_some() || !scope.deny_hosts.is_empty() || scope.ports.is_some();
    let mut limits = scopes.iter().filter(speaks).peekable();
    if limits.peek().is_none() {
        return Ok(());
    }
    // What names a host under a scheme of its own leads to that host.
    let of_own_scheme = || {
        let (scheme, rest) = target.url.trim().split_once(':').filter(|(_, rest)| rest.starts_with("//"))?;
        (is_scheme(scheme) && !is_reaching(scheme)).then(|| network::host(&format!("http:{rest}")).ok()).flatten()
    };
    let host = match network::host(&target.url).or_else(|finding| of_own_scheme().ok_or(finding))? {
        Host::Domain(name) => name,
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => address.to_string(),
    };
    limits.try_for_each(|scope| within(scope, target, &host))
}

/// Whether all limits cover what a URL leads to.
pub(super) fn within_limits(scopes: &[Scope], url: String, names_port: bool) -> Verdict {
    check_scopes(scopes, &Target { url, names_port, guess: false, asked: false })
}

/// Whether a URL of this scheme makes a client connect or read.
pub(super) fn is_reaching(scheme: &str) -> bool {
    REACHING.iter().any(|reaching| scheme.eq_ignore_ascii_case(reaching))
}

fn within(scope: &Scope, target: &Target, host: &str) -> Verdict {
    if let Some(denied) = scope.deny_hosts.iter().find(|denied| is_at_or_below(denied, host)) {
        return Err(Finding::new("host-denied", format!("the host `{host}` is denied by `{denied}`")));
    }
    if scope.hosts.as_ref().is_some_and(|hosts| !hosts.iter().any(|allowed| matches(allowed, host))) {
        return Err(Finding::new("host-outside", format!("the host `{host}` is not among the allowed hosts")));
    }
    let port = || Url::parse(&target.url).ok().and_then(|url| url.port_or_known_default());
    match &scope.ports {
        Some(ports) if target.names_port && port().is_none_or(|port| !ports.contains(&port)) => {
            Err(Finding::new("port-outside", format!("the port of `{host}` is not among the allowed ports")))
        }
        _ => Ok(()),
    }
}

/// `*.example.com` stands for every name below, `*` for every host.
pub(super) fn matches(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(parent) => is_below(parent, host),
        None => pattern == "*" || same(pattern, host),
    }
}

/// A denied name takes everything below with it.
fn is_at_or_below(pattern: &str, host: &str) -> bool {
    let name = pattern.strip_prefix("*.").unwrap_or(pattern);
    matches(pattern, host) || is_below(name, host)
}

fn is_below(parent: &str, host: &str) -> bool {
    let parent = parent.trim_end_matches('.').to_ascii_lowercase();
    host.strip_suffix(parent.as_str()).is_some_and(|front| front.len() > 1 && front.ends_with('.'))
}

fn same(pattern: &str, host: &str) -> bool {
    let pattern = pattern.trim_end_matches('.');
    let pattern = pattern.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(pattern);
    pattern.eq_ignore_ascii_case(host)
}

fn targets(role: Role, text: &str) -> Vec<Target> {
    let mut targets = as_sent(role, text);
    targets.extend(file_at(role, text));
    targets.extend(glued::targets(text));
    if let Some(squeezed) = uri::squeezed(text) {
        targets.extend(as_sent(role, &squeezed));
    }
    targets
}

/// The file that a text of one word leads those to who fetch it: `file:/etc/passwd`, also without a slash and behind what some
/// clients take off.
fn file_at(role: Role, text: &str) -> Option<Target> {
    let mut rest = text.trim();
    if rest.contains(char::is_whitespace) {
        return None;
    }
    while let Some((_, inner)) = rest.split_once(':').filter(|(front, _)| is_one_of(front, &AROUND_URLS)) {
        rest = inner;
    }
    let (_, path) = rest.split_once(':').filter(|(scheme, _)| is_one_of(scheme, &OF_FILES))?;
    // `file:main.rs` is what a search looks in.
    let counts = match role {
        Role::Url | Role::Link | Role::Reference => !path.is_empty(),
        _ => path.starts_with(['/', '\\', '~']),
    };
    counts.then(|| Target::sure(format!("file:{path}")))
}

fn is_one_of(scheme: &str, list: &[&str]) -> bool {
    list.iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

/// Whether a text only says whether something is used, also where its key names a machine.
pub(super) fn is_switch(text: &str) -> bool {
    SWITCHES.iter().any(|switch| text.trim().eq_ignore_ascii_case(switch))
}

fn as_sent(role: Role, text: &str) -> Vec<Target> {
    if is_switch(text) {
        return Vec::new();
    }
    match role {
        Role::Url => {
            // A URL inside of a URL is where a proxy would go.
            let inner = in_text(text).into_iter().filter(|target| !target.guess && target.url != text);
            of_url(text).or_else(|| loose::target(text, loose::Reading::Link)).into_iter().chain(inner).collect()
        }
        Role::Host if !text.is_empty() && !text.contains(char::is_whitespace) => vec![of_host(text)],
        Role::Link | Role::Reference if !text.trim().contains(char::is_whitespace) => of_link(text.trim()),
        Role::Other | Role::Query | Role::CommandWords if !text.trim().contains(char::is_whitespace) => {
            in_text(text).into_iter().chain(loose::target(text.trim(), loose::Reading::Word)).collect()
        }
        // Joined to a base, `//2130706433/x` is an address of its own.
        Role::Path if is_rootless_address(text) => vec![Target::sure(format!("http:{}", text.trim()))],
        _ => in_text(text),
    }
}

/// Whether a text is `//` with an address behind it, in some spelling.
fn is_rootless_address(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("//")
        && Url::parse(&format!("http:{text}"))
            .is_ok_and(|url| matches!(url.host(), Some(Host::Ipv4(_) | Host::Ipv6(_))))
}

/// What a string under a key for URLs leads to. Relative ones lead nowhere new.
fn of_url(text: &str) -> Option<Target> {
    if text.starts_with("//") || text.starts_with("\\\\") {
        return Some(Target::sure(format!("http:{text}")));
    }
    if let Some(host) = behind_slash(text) {
        return Some(Target { guess: true, ..of_host(host) });
    }
    // What stands in front of `@` is no name of a file.
    let front = text.split(['/', '?', '#']).next().unwrap_or_default();
    if front.contains('@') && !front.contains(':') && (front.starts_with('.') || front.contains(char::is_whitespace)) {
        return Some(of_host(&text[front.rfind('@').map_or(0, |at| at + 1)..]));
    }
    if text.is_empty() || text.starts_with(['/', '?', '#', '.']) {
        return None;
    }
    let trimmed = text.trim_start();
    match trimmed.split_once(':') {
        Some((scheme, _)) if STILL.iter().any(|still| scheme.eq_ignore_ascii_case(still)) => None,
        // `localhost:8080` has no scheme, whatever a parser of URLs says.
        Some((scheme, rest)) if is_scheme(scheme) && !rest.starts_with(|c: char| c.is_ascii_digit()) => {
            Some(Target::sure(text.to_owned()))
        }
        _ if text.contains(char::is_whitespace) => None,
        _ => Some(of_host(text)),
    }
}

/// What stands behind one slash, where it looks like a host and not like a file: servers that put `http://` in front of it
/// make a URL whose host that is.
pub(super) fn behind_slash(text: &str) -> Option<&str> {
    let rest = text.trim_start().strip_prefix(['/', '\\']).filter(|rest| !rest.starts_with(['/', '\\']))?;
    let first = percent::lenient(rest.split(['/', '\\', '?', '#']).next().unwrap_or_default());
    let first = switchboard_policy::path::fold_look_alikes(&first);
    let (user, authority) = first.rsplit_once('@').unwrap_or(("", &first));
    // `/42` and `/2024` are paths; `/2130706433` and `/0` are addresses to most clients.
    if authority.parse::<u64>().is_ok_and(|number| number > 0 && number < 1 << 24) {
        return None;
    }
    let port = authority.rsplit_once(':').map(|(_, port)| port).filter(|_| !authority.ends_with(']'));
    let has_port = port.is_some_and(|port| port.is_empty() || port.parse::<u16>().is_ok());
    let is_host = match Url::parse(&format!("http://{authority}/")).ok().as_ref().and_then(Url::host) {
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        Some(Host::Domain(name)) => {
            let last = name.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
            let is_name = name.contains('.')
                && (!place::has_ending(name) || ENDINGS_OF_BOTH.contains(&last))
                && (last.starts_with("xn--") || last.len() > 1 && last.bytes().all(|byte| byte.is_ascii_alphabetic()));
            is_localhost(name) || network::is_metadata_name(name) || has_port || is_name || !user.is_empty()
        }
        None => false,
    };
    is_host.then_some(rest)
}

/// A host, perhaps with a port, perhaps with a path behind it.
fn of_host(text: &str) -> Target {
    if text.contains("://") {
        return Target::sure(text.to_owned());
    }
    if text.parse::<std::net::Ipv6Addr>().is_ok() {
        return Target { url: format!("http://[{text}]/"), names_port: false, guess: false, asked: false };
    }
    let authority = text.split('/').next().unwrap_or(text);
    let names_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let end = if text.contains('/') { "" } else { "/" };
    Target { url: format!("http://{text}{end}"), names_port, guess: false, asked: true }
}

/// What a string under a key for things to fetch leads to.
fn of_link(text: &str) -> Vec<Target> {
    let mut targets = in_text(text);
    if targets.is_empty() {
        targets.extend(loose::target(text, loose::Reading::Link));
    }
    if targets.is_empty() && loose::is_named_place(text) {
        targets.push(Target { guess: true, ..of_host(text) });
    }
    targets
}

/// What stands in the middle of other text.
fn in_text(text: &str) -> Vec<Target> {
    // Most strings hold neither a URL nor an address nor a port.
    let leads = |byte: u8| byte == b':' || byte == b'/' || byte == b'\\' || byte.is_ascii_digit() || !byte.is_ascii();
    if !text.bytes().any(leads) {
        let word = text.trim();
        return if is_localhost(word) || is_metadata(word) { vec![of_host(word)] } else { Vec::new() };
    }
    if is_metadata(text.trim()) {
        return vec![of_host(text.trim())];
    }
    let parts =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '(' | ')' | '{' | '}' | ',' | '`' | '|');
    let mut targets = Vec::new();
    for token in text.split(parts).filter(|token| token.len() > 2) {
        if let Some(socket) = socket_in(token) {
            targets.push(socket);
        } else if token.contains("://") {
            targets.extend(token.match_indices("://").filter_map(|(at, _)| url_around(token, at)));
        } else if let Some(found) = address_in(token) {
            targets.push(found);
        } else {
            targets.extend(loose::target(token, loose::Reading::Text));
        }
    }
    targets
}

/// The URL whose scheme ends at `at`.
fn url_around(token: &str, at: usize) -> Option<Target> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '+';
    let scheme = &token[token[..at].trim_end_matches(is_part).len()..at];
    let scheme = scheme.rsplit('+').next().unwrap_or(scheme);
    if !REACHING.iter().any(|reaching| scheme.eq_ignore_ascii_case(reaching)) {
        return None;
    }
    let rest = token[at..].trim_end_matches(['.', ';', ':', '!', '?', ']']);
    let bracket = if rest.contains('[') && !rest.contains(']') { "]" } else { "" };
    Some(Target::sure(format!("{scheme}{rest}{bracket}")))
}

/// The name of a metadata service, alone, is there to be fetched. In a sentence it is talked about.
fn is_metadata(word: &str) -> bool {
    word.len() < 64 && word.contains('.') && network::is_metadata_name(word)
}

/// A socket of this machine, which some clients connect to as they do to a host.
fn socket_in(token: &str) -> Option<Target> {
    let (scheme, rest) = token.split_once(':')?;
    let is_socket = ["unix", "npipe", "http+unix", "https+unix"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let leads = rest.starts_with(['/', '\\', '.', '@', '~', '%', '$']) && rest.len() > 1;
    (is_socket && leads).then(|| Target::sure(format!("unix:{rest}")))
}

fn address_in(token: &str) -> Option<Target> {
    let word = token.trim_end_matches(['.', ';', '!', '?']);
    if let Ok(address) = word.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Some(of_host(&address.to_string()));
    }
    let (host, port) = word.rsplit_once(':')?;
    port.split('/').next()?.parse::<u16>().ok()?;
    let bare = host.trim_matches(['[', ']']);
    let is_host = is_localhost(bare) || bare.parse::<IpAddr>().is_ok() || is_dotted_name(bare);
    is_host.then(|| Target { guess: true, asked: false, ..of_host(word) })
}

fn is_localhost(text: &str) -> bool {
    text.eq_ignore_ascii_case("localhost") || text.eq_ignore_ascii_case("localhost.")
}

fn is_dotted_name(text: &str) -> bool {
    text.contains('.')
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        && !text.contains('.')
}
