//! Which strings a server could connect to, where a grant limits hosts: every form that some client takes for a URL or a
//! host, under any key. What is found in the middle of text is for [`super::reach`].

use switchboard_policy::keys::{Key, Mark};
use switchboard_policy::permission::Scope;
use switchboard_policy::schema::Evidence;

use super::machine::Machine;
use super::markup;
use super::place::{self, Field};
use super::reach;
use super::role::Role;
use super::sql;
use super::uri;
use crate::{Verdict, percent};

/// Endings of names in a network of one's own.
const PRIVATE_ENDINGS: [&str; 8] = ["local", "lan", "internal", "intranet", "corp", "home", "localdomain", "arpa"];
/// Endings of programs that are those of countries, too.
const PROGRAM_ENDINGS: [&str; 10] = ["py", "rs", "sh", "pl", "pm", "cc", "so", "ml", "ps", "md"];
/// Words of keys for names in programs.
const CODE_NAMES: [&str; 18] = [
    "class",
    "classes",
    "function",
    "functions",
    "symbol",
    "symbols",
    "exception",
    "interface",
    "type",
    "types",
    "enum",
    "struct",
    "trait",
    "fqcn",
    "superclass",
    "annotation",
    "namespace",
    "classname",
];
/// Endings of names of products and files of programs, which no name of a host in public has.
const PRODUCT_ENDINGS: [&str; 6] = ["js", "ts", "tsx", "jsx", "mjs", "vue"];
/// Keys whose words are hosts in one tool or another.
const LIKELY_FORMATS: [&str; 6] = ["date", "date-time", "time", "duration", "uuid", "email"];

/// Endings of names in other letters.
const OTHER_ENDINGS: [&str; 30] = [
    "рф",
    "рус",
    "москва",
    "сайт",
    "онлайн",
    "орг",
    "ком",
    "дети",
    "укр",
    "срб",
    "бел",
    "мкд",
    "бг",
    "қаз",
    "ею",
    "ελ",
    "ευ",
    "հայ",
    "გე",
    "中国",
    "中國",
    "香港",
    "台湾",
    "台灣",
    "公司",
    "网络",
    "한국",
    "भारत",
    "ไทย",
    "みんな",
];
/// What stands in front of a host without slashes.
const TRANSPORTS: [&str; 8] = ["tcp", "udp", "tcp4", "tcp6", "ssl", "tls", "quic", "sctp"];

/// What the key of a string tells, as far as hosts go.
pub(super) struct Meaning<'k, 'e> {
    pub(super) role: Role,
    pub(super) field: Field,
    /// The key names something that is no host.
    pub(super) named: bool,
    /// Whether the key names a machine.
    pub(super) machine: Machine,
    /// What else it says of its strings.
    pub(super) other: Other,
    pub(super) evidence: &'k Evidence<'e>,
}

/// What a key says of strings that look like hosts or hold names of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Other {
    /// Nothing.
    No,
    /// They choose among things by what these are called.
    Selector,
    /// They are numbers of another kind than addresses are.
    Digest,
    /// They are names of classes, functions and the like.
    Code,
}

impl Other {
    pub(super) fn of(key: &str) -> Self {
        let key = Key::of(key);
        let last = key.said_last();
        if last.has(Mark::Selects) {
            Self::Selector
        } else if last.has(Mark::Digest) || key.last().starts_with("address") && key.has(Mark::Ledger) {
            Self::Digest
        } else if CODE_NAMES.contains(&key.last())
            || matches!(key.last(), "name" | "names") && key.words().any(|word| CODE_NAMES.contains(&word))
        {
            Self::Code
        } else {
            Self::No
        }
    }
}

/// The addresses in the queries and fragments of URLs: what leads to a host without a scheme, and names of hosts under names for
/// addresses. With a scheme they count wherever they stand.
fn check_inner(scopes: &[Scope], text: &str) -> Verdict {
    let parts = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`');
    for word in text.split(parts).filter(|word| word.contains("://")) {
        let Some(at) = word.find(['?', '#']) else { continue };
        for pair in word[at..].split(['&', ';', '#', '?']).filter(|pair| pair.len() > 2) {
            let (name, value) = pair.split_once('=').unwrap_or(("", pair));
            for read in percent::stages(value) {
                inner(
                    scopes,
                    name,
                    read.trim_matches(|c: char| c.is_whitespace() || matches!(c, ')' | ']' | ',' | '.')),
                )?;
            }
        }
    }
    Ok(())
}

fn inner(scopes: &[Scope], name: &str, value: &str) -> Verdict {
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let repaired = value.split_once(':').is_some_and(|(scheme, rest)| {
        rest.starts_with(is_slash) && uri::REPAIRED.iter().any(|known| scheme.eq_ignore_ascii_case(known))
    });
    if repaired || value.starts_with(is_slash) && value[1..].starts_with(is_slash) {
        return check_operand(scopes, value, None);
    }
    let host = value.split(['/', ':', '?']).next().unwrap_or_default();
    let of_address = matches!(super::role::of(name), Role::Url | Role::Host | Role::Link)
        || Machine::is_surely(name)
        || matches!(name, "u" | "dest" | "destination" | "target" | "goto");
    let is_host = is_name(host) && !place::has_ending(host) || host.parse::<std::net::Ipv4Addr>().is_ok();
    if of_address && is_host { check_operand(scopes, value, None) } else { Ok(()) }
}

/// Whether what a string leads to, if it leads anywhere, is covered by all limits.
pub(super) fn check(scopes: &[Scope], key: &Meaning<'_, '_>, text: &str) -> Verdict {
    // A command was judged by its words, and one word is its program.
    if key.field == Field::Command && !text.contains("://") {
        return Ok(());
    }
    if reach::is_switch(text) {
        return Ok(());
    }
    sockets(text).into_iter().try_for_each(|(host, port)| check_operand(scopes, &host, port))?;
    markup::addresses(text).iter().try_for_each(|address| check_operand(scopes, address, None))?;
    if text.contains("://") {
        check_inner(scopes, text)?;
    }
    if text.trim_start().starts_with('(') {
        // `(DESCRIPTION=(ADDRESS=(HOST=x)))`
        sql::hosts_in(text).into_iter().try_for_each(|host| check_operand(scopes, host, None))?;
    }
    if let Some(squeezed) = uri::squeezed(text) {
        check_word(scopes, key, &squeezed)?;
    }
    check_word(scopes, key, text)?;
    check_list(scopes, key, text.trim())?;
    check_pairs(scopes, key, text.trim())?;
    // `@host`, as clients for names have the server that is asked; `@name` is a person.
    let asked = text.split_whitespace().filter_map(|word| word.strip_prefix('@'));
    let is_machine = |host: &&str| {
        host.parse::<std::net::IpAddr>().is_ok() || is_name(host) && crate::network::has_public_ending(host)
    };
    asked.filter(is_machine).try_for_each(|host| check_operand(scopes, host, None))?;
    // Behind more than one scheme (`jdbc:sqlserver://x;y=z`) stands a host as in a sentence.
    let several = |word: &str| word.find("://").is_some_and(|at| word[..at].contains(':'));
    let parted = text.contains("://") && (text.trim().contains(char::is_whitespace) || several(text.trim()));
    if parted { in_sentence(scopes, text) } else { Ok(()) }
}

/// The hosts and ports that a shell connects to for `/dev/tcp/host/port`, also where quotes part the name.
pub(super) fn sockets(text: &str) -> Vec<(String, Option<u16>)> {
    if !text.contains("dev") {
        return Vec::new();
    }
    let bare = text.replace(['"', '\'', '\\'], "");
    let lower = bare.to_ascii_lowercase();
    let devices = lower.match_indices("/dev/tcp/").chain(lower.match_indices("/dev/udp/"));
    let ends = |c: char| c == '/' || c.is_whitespace();
    let found = devices.filter_map(|(at, device)| {
        let (host, rest) = bare.get(at + device.len()..)?.split_once(ends)?;
        let port = rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|port| port.parse().ok());
        (!host.is_empty()).then(|| (host.to_owned(), port))
    });
    found.collect()
}

/// Several hosts in one string, or one and its port.
fn check_list(scopes: &[Scope], key: &Meaning<'_, '_>, text: &str) -> Verdict {
    let parts = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    if !text.contains(parts) {
        return Ok(());
    }
    let words = || text.split(parts).filter(|word| !word.is_empty());
    if matches!(key.machine, Machine::Perhaps | Machine::Address | Machine::WithPort) {
        key.machine.words(text).into_iter().try_for_each(|word| check_word(scopes, key, word))?;
    }
    let hosts = key.role == Role::Host || key.field == Field::Remote && key.role != Role::Url;
    if hosts || key.machine == Machine::Surely && key.role != Role::Url {
        let mut before = None;
        return words().try_for_each(|word| {
            // Under keys for hosts, a blank parts one from its port or from the next.
            match (before.replace(word), word.parse::<u16>()) {
                (Some(host), Ok(port)) => check_operand(scopes, host, Some(port)),
                _ => check_word(scopes, key, word),
            }
        });
    }
    if key.role == Role::Url && text.contains(char::is_whitespace) {
        return words()
            .filter(|word| word.contains(['.', ':', '/']))
            .try_for_each(|word| check_word(scopes, key, word));
    }
    // A list without blanks, or one of nothing but hosts. A sentence is neither.
    let listed = !text.contains(char::is_whitespace) || words().all(is_host_form);
    if listed { words().try_for_each(|word| check_word(scopes, key, word)) } else { Ok(()) }
}

/// The host of a connection string.
fn check_pairs(scopes: &[Scope], key: &Meaning<'_, '_>, text: &str) -> Verdict {
    // The variables in front of a command were judged with it.
    let pairs = if key.field == Field::Command { Vec::new() } else { super::pairs::of(text) };
    let named = |name: &str| name.to_ascii_lowercase().replace(' ', "_");
    let beside = |(name, _): &(&str, &str)| Key::of(&named(name)).said().has(Mark::BesideHost);
    let surely = matches!(key.role, Role::Link | Role::Url | Role::Host) || pairs.iter().any(beside);
    let chooses = key.other == Other::Selector
        || matches!(key.field, Field::Label | Field::Below)
        || matches!(key.role, Role::Sql | Role::Query | Role::Prose | Role::Content | Role::Code);
    let mut hosts = pairs.iter().filter(|(name, _)| reach::glued::is_host_name(name));
    hosts.try_for_each(|(name, value)| {
        let surely = surely || !chooses && Machine::is_surely(name);
        let mut hosts = reach::glued::hosts_of(value).filter(|host| surely || is_host_form(host));
        let mut hosts = hosts.by_ref().filter(|host| !host.contains(char::is_whitespace));
        hosts.try_for_each(|host| check_operand(scopes, host, None))
    })
}

/// Whether a key holds the value of the object that it stands in.
pub(super) fn is_value_key(key: &str) -> bool {
    Key::of(key).said_last().has(Mark::Value)
}

/// Whether a number is large enough to be an address.
pub(super) fn may_be_address(number: &str) -> bool {
    number.parse::<u64>().is_ok_and(|number| number >= uri::SMALLEST)
}

/// An address in a spelling that only lenient readers take: with octal or hexadecimal parts, or with fewer than four.
fn is_odd_address(word: &str, server: bool) -> bool {
    let host = word.split([':', '/']).next().unwrap_or_default();
    let parts: Vec<&str> = host.split('.').collect();
    let digits = |part: &&str| !part.is_empty() && part.len() < 12 && part.bytes().all(|byte| byte.is_ascii_digit());
    let hex = |part: &&str| part.len() > 2 && part[..2].eq_ignore_ascii_case("0x");
    let octal = |part: &&str| digits(part) && part.len() > 1 && part.starts_with('0');
    if !host.is_ascii() || !parts.iter().all(|part| digits(part) || hex(part)) {
        return false;
    }
    match parts.len() {
        4 => parts.iter().any(|part| octal(part) || hex(part)),
        1 => server && may_be_address(host),
        2 | 3 => server && parts.iter().any(|part| octal(part) || hex(part) || part.len() > 3),
        _ => false,
    }
}

/// Whether a word that is a host is covered by all limits, at this port where it names none.
pub(super) fn check_operand(scopes: &[Scope], word: &str, port: Option<u16>) -> Verdict {
    let folded = switchboard_policy::path::fold_look_alikes(word);
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

fn check_word(scopes: &[Scope], key: &Meaning<'_, '_>, text: &str) -> Verdict {
    let Meaning { role, field, named, machine, other, evidence } = key;
    let folded = switchboard_policy::path::fold_look_alikes(text);
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
    // A member of something in a program, whose addresses are judged by what they are given to.
    if bare && matches!(role, Role::Code | Role::Script) && is_name(word) && !crate::network::has_public_ending(word) {
        return Ok(());
    }
    if bare && (*field == Field::Label && is_name(word) || *named && place::has_ending(word)) {
        return Ok(());
    }
    if *other == Other::Digest && bare && word.starts_with("0x") {
        return Ok(());
    }
    // `java.util.List` under a key for classes, `node.js` in a text or as a name.
    let is_public = || crate::network::has_public_ending(&word.to_lowercase());
    let is_cased = || word.contains(|c: char| c.is_ascii_uppercase());
    let is_code = *other == Other::Code && is_name(word) && (!is_public() || is_cased());
    let is_text = *named
        || matches!(role, Role::Prose | Role::Content | Role::Query)
        || matches!(field, Field::Label | Field::Body);
    let ending = word.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_product = is_text && PRODUCT_ENDINGS.contains(&ending.as_str());
    if bare && *machine == Machine::No && (is_code || is_product) {
        return Ok(());
    }
    // One name behind a slash, where a machine is meant: lenient readers leave the slash out.
    let behind = word.strip_prefix(['/', '\\']).filter(|_| *machine == Machine::Surely && *role != Role::Url);
    if let Some(name) = behind.filter(|name| is_label(name) && !super::body::is_root(name)) {
        return check_operand(scopes, name, None);
    }
    let is_path = *field == Field::Place && *role == Role::Path;
    if !is_path && (is_odd_address(word, *machine == Machine::Surely) || is_other_name(text.trim())) {
        return check_operand(scopes, word, None);
    }
    if let Some(host) = behind_transport(word) {
        check_operand(scopes, host, None)?;
    }
    for host in between_ports(word) {
        check_operand(scopes, host, None)?;
    }
    // Behind a port of a registry stands an image: `evil:5000/x`.
    let of_registry = || {
        let port = word.split_once('/').and_then(|(front, _)| front.split_once(':')).map(|(_, port)| port);
        matches!(role, Role::Link | Role::Reference)
            && is_label(word)
            && port.is_some_and(|port| port.parse::<u16>().is_ok())
    };
    let remote =
        matches!(role, Role::Url | Role::Host) || *field == Field::Remote || machine.takes(word) || of_registry();
    match target(word, remote || reach::glued::in_remote(word).is_some(), is_path) {
        Some((url, names_port)) => reach::within_limits(scopes, url, names_port),
        None => Ok(()),
    }
}

/// The machines in `8080:host:80`, as ways through are written, and in `host:80:1.2.3.4`, which says where a name leads.
fn between_ports(word: &str) -> Vec<&str> {
    let parts: Vec<&str> = word.split(':').collect();
    let is_port = |part: &str| part.parse::<u16>().is_ok();
    let is_address = |part: &str| part.parse::<std::net::Ipv4Addr>().is_ok();
    match parts.as_slice() {
        [from, host, to] if is_port(from) && is_port(to) && is_host_form(host) => vec![host],
        [_, from, host, to] if is_port(from) && is_port(to) && is_host_form(host) => vec![host],
        [host, port, address] if is_port(port) && is_address(address) && !is_port(host) => vec![host, address],
        _ => Vec::new(),
    }
}

/// `tcp:host:80`, `postgres:host`, `jdbc:oracle:thin:@host:1521:x`.
fn behind_transport(word: &str) -> Option<&str> {
    if word.contains("://") {
        return None;
    }
    let (scheme, rest) = uri::scheme_of(word)?;
    if scheme.eq_ignore_ascii_case("jdbc") {
        let host = rest.split_once('@')?.1.trim_start_matches('/');
        return host.split([':', '/']).next().filter(|host| !host.is_empty());
    }
    let connects = TRANSPORTS.iter().any(|known| scheme.eq_ignore_ascii_case(known)) || reach::is_reaching(scheme);
    let file = scheme.eq_ignore_ascii_case("file") || scheme.eq_ignore_ascii_case("unix");
    (connects && !file && is_host_form(rest)).then_some(rest)
}

/// A name in other letters than English ones. What is written without blanks in such letters is more often text.
fn is_other_name(word: &str) -> bool {
    let Some((front, last)) = word.rsplit_once('.') else { return false };
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.');
    let ends = last.len() > 1 && last.bytes().all(|byte| byte.is_ascii_alphabetic()) && !place::has_ending(word)
        || OTHER_ENDINGS.contains(&last.to_lowercase().as_str());
    !word.is_ascii() && !front.is_empty() && front.chars().count() <= 64 && ends && front.chars().all(plain)
}

/// The URL that a word stands for, and whether it names the port.
fn target(word: &str, remote: bool, is_path: bool) -> Option<(String, bool)> {
    let slashes = ['/', '\\'];
    if let Some((scheme, rest)) = word.split_once(':')
        && !rest.is_empty()
        && let Some(known) = uri::REPAIRED.iter().find(|known| scheme.eq_ignore_ascii_case(known))
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
    if let Some(host) = reach::behind_slash(word).filter(|_| remote) {
        let host = host.split(['/', '\\', '?', '#']).next().unwrap_or_default();
        return Some((format!("http://{host}/"), false));
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
    // `nfs.example:/export`, `rsync.example::module/x`.
    if let Some(host) = exporting(word) {
        return Some((format!("http://{host}/"), false));
    }
    // `evil.example:a/b`, as git and ssh have it without a user.
    let front = match front.split_once(':') {
        Some((host, path))
            if is_name(host)
                && crate::network::has_public_ending(host)
                && !place::has_ending(host)
                && path.starts_with(|c: char| c.is_ascii_alphabetic() || c == '~')
                && word.len() > front.len() =>
        {
            host
        }
        _ => front,
    };
    let host = front.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(front, |(host, _)| host);
    let names_port = host.len() < front.len();
    // `fe80::1%eth0`: behind the sign stands by which way it is reached.
    let zoned = word.split_once('%').filter(|(address, _)| address.parse::<std::net::Ipv6Addr>().is_ok());
    if let Some((address, _)) = zoned {
        return Some((format!("http://[{address}]/"), false));
    }
    let is_host = host.parse::<std::net::IpAddr>().is_ok()
        || host.eq_ignore_ascii_case("localhost")
        || is_hex_address(host)
        || !is_path && is_name(host)
        || remote && !host.is_empty() && !word.starts_with(['/', '.', '?', '#']) && !front.contains("//");
    is_host.then(|| (format!("http://{front}/"), names_port))
}

/// The machine in `user@host:/path`, in a word of a program that nobody here knows, and in `nfs.example:/export`.
pub(super) fn copied(word: &str) -> Option<&str> {
    let bare = word.rsplit_once('=').filter(|(option, _)| option.starts_with('-')).map_or(word, |(_, value)| value);
    if bare.contains("://") {
        return None;
    }
    let of_user = bare.split_once('@').and_then(|(_, behind)| behind.split_once(':')).filter(|(host, path)| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
        let is_path = path.starts_with(['/', '~', '.']) || host.contains('.') && !path.is_empty();
        !host.is_empty() && host.bytes().all(is_plain) && is_path && !place::has_ending(host)
    });
    of_user.map(|(host, _)| host).or_else(|| exporting(bare))
}

/// The machine in `nfs.example:/export` and `rsync.example::module`, as far as its name is one in public or in a network of one's
/// own. Files of programs are called like countries, and their tests have two colons.
fn exporting(word: &str) -> Option<&str> {
    let (host, rest) = word.split_once(':')?;
    let is_export = rest.starts_with('/') && !rest.starts_with("//");
    let is_module =
        rest.strip_prefix(':').is_some_and(|module| module.starts_with(|c: char| c.is_ascii_alphanumeric()));
    let ending = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let is_private = || PRIVATE_ENDINGS.iter().any(|own| ending.eq_ignore_ascii_case(own));
    let is_program = || PROGRAM_ENDINGS.iter().any(|own| ending.eq_ignore_ascii_case(own));
    let is_machine = is_name(host) && (crate::network::has_public_ending(host) || is_private());
    ((is_export || is_module && !is_program()) && is_machine && !place::has_ending(host)).then_some(host)
}

/// An address written as one hexadecimal number. Longer and smaller numbers are none.
fn is_hex_address(host: &str) -> bool {
    let hex = host.get(..2).filter(|start| start.eq_ignore_ascii_case("0x")).map(|_| &host[2..]);
    let number = hex.filter(|hex| !hex.starts_with('+')).and_then(|hex| u64::from_str_radix(hex, 16).ok());
    number.is_some_and(|number| (uri::SMALLEST..1 << 32).contains(&number))
}

/// One label of a name, perhaps with a port behind it.
fn is_label(word: &str) -> bool {
    let name = word.split_once(':').map_or(word, |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// Whether the key says that its strings name something, and not a host.
pub(super) fn is_name_key(key: &str) -> bool {
    let key = Key::of(key);
    key.said_last().has(Mark::Names) && !key.has(Mark::OfHost)
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
