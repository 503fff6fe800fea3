//! The hosts that a command names, where a grant limits hosts.
//!
//! The program tells which of its words are hosts ([`programs`]): an operand needs neither a dot nor a colon to be one,
//! and the value of an option that is a file, a header or a time is none. Programs that run others are looked through.
//! Of a program that is not known, only options that speak of a host are judged, if their value looks like one.

mod programs;
pub(super) mod words;

use super::machine::Machine;
use super::{pairs, place, reach, remote};
use crate::{Finding, Verdict, shell};
use programs::{Operands, PROGRAMS, Program};
use switchboard_policy::permission::Scope;
use words::{GIT_VALUES, GIT_VERBS, HOST_OPTIONS, SHELLS, WRAPPERS};

/// How often one command may stand in another.
const MAX_DEPTH: usize = 4;
/// Where a shell may begin another command.
const SEPARATORS: [char; 12] = [';', '|', '&', '\n', '\r', '(', ')', '`', '{', '}', '<', '>'];

/// Whether the hosts that a command names are covered by all limits.
pub(super) fn check(scopes: &[Scope], line: &str) -> Verdict {
    let mut sockets = remote::sockets(line).into_iter();
    sockets.try_for_each(|(host, port)| remote::check_operand(scopes, &host, port))?;
    check_line(scopes, line, 0)
}

fn check_line(scopes: &[Scope], line: &str, depth: usize) -> Verdict {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    match shell::plain_words(line) {
        Ok(words) => {
            check_variables(scopes, line)?;
            check_words(scopes, &words, depth)
        }
        // More than one command, or none that can be read: each piece counts, and every word that is a program.
        Err(_) => line.split(SEPARATORS).try_for_each(|piece| {
            check_variables(scopes, piece)?;
            let words = shell::plain_words(piece).unwrap_or_else(|_| {
                piece.split_whitespace().map(|word| word.trim_matches(['"', '\'', '$']).to_owned()).collect()
            });
            check_words(scopes, &words, depth)?;
            let known = words.iter().skip(1).position(|word| find(word).is_some() || shell::base_name(word) == "git");
            known.map_or(Ok(()), |at| check_words(scopes, &words[at + 1..], depth))
        }),
    }
}

/// Whether a word is the name of a program that connects, in its usual spelling.
pub(super) fn is_program(word: &str) -> bool {
    find(word).is_some() && (word.contains('/') || word == shell::base_name(word))
}

fn find(word: &str) -> Option<&'static Program> {
    let name = shell::base_name(word);
    PROGRAMS.iter().find(|program| program.names.contains(&name.as_str()))
}

/// What a command sets in front of its program.
fn check_variables(scopes: &[Scope], line: &str) -> Verdict {
    shell::assignments(line).iter().try_for_each(|(name, value)| variable(scopes, name, value))
}

/// A variable that some program takes a host from.
fn variable(scopes: &[Scope], name: &str, value: &str) -> Verdict {
    let words = switchboard_policy::risk::fallback::words(name);
    let value = value.trim_matches(['"', '\'']);
    if words.iter().any(|word| word == "no") {
        return Ok(());
    }
    if words.iter().any(|word| HOST_OPTIONS.contains(&word.as_str())) {
        likely(scopes, value)?;
    }
    // `PGHOST=db1`: what the variable is called says that every word is a host.
    if Machine::is_surely(name) && !is_listening(value) { surely(scopes, value, None) } else { Ok(()) }
}

/// What stands so deep that it was not read is not let through.
fn too_deep() -> Finding {
    Finding::new("host-outside", format!("commands stand in each other more than {MAX_DEPTH} times"))
}

fn check_words(scopes: &[Scope], words: &[String], depth: usize) -> Verdict {
    if depth > MAX_DEPTH {
        return Err(too_deep());
    }
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let name = shell::base_name(program);
    if WRAPPERS.contains(&name.as_str()) {
        return behind_wrapper(scopes, arguments, depth);
    }
    if SHELLS.contains(&name.as_str()) {
        return behind_shell(scopes, arguments, depth);
    }
    // `python3 -m pip install ..`
    if name.starts_with("python")
        && let [first, module @ ..] = arguments
        && first == "-m"
    {
        return check_words(scopes, module, depth);
    }
    if name == "git" {
        return git(scopes, arguments);
    }
    // `docker login registry.example`, `getent hosts x`
    if let Some(at) = arguments.iter().position(|word| word == "login") {
        arguments[at + 1..].iter().filter(|word| !word.starts_with('-')).try_for_each(|word| likely(scopes, word))?;
    }
    if name == "getent" && arguments.first().is_some_and(|database| database.contains("hosts")) {
        return arguments[1..].iter().try_for_each(|word| surely(scopes, word, None));
    }
    match find(program) {
        Some(program) => known(scopes, program, arguments),
        None => unknown(scopes, arguments),
    }
}

/// The lines that a shell is given, and the command behind `-c` where it is several words.
fn behind_shell(scopes: &[Scope], words: &[String], depth: usize) -> Verdict {
    let mut lines = words.iter().filter(|word| word.contains(char::is_whitespace));
    lines.try_for_each(|line| check_line(scopes, line, depth + 1))?;
    let is_command = |word: &String| ["-c", "/c", "-command"].iter().any(|option| word.eq_ignore_ascii_case(option));
    match words.iter().position(is_command) {
        Some(at) => check_words(scopes, &words[at + 1..], depth + 1),
        None => Ok(()),
    }
}

/// The command behind a program that runs it: the first word that is no option, no value of one, no number and no variable.
fn behind_wrapper(scopes: &[Scope], words: &[String], depth: usize) -> Verdict {
    let mut before = "";
    for (at, word) in words.iter().enumerate() {
        if let Some((name, value)) = shell::assignment(word) {
            variable(scopes, name, value)?;
        } else if !word.starts_with('-') && !is_measure(word) {
            let name = shell::base_name(word);
            let is_program = find(word).is_some()
                || name == "git"
                || WRAPPERS.contains(&name.as_str())
                || SHELLS.contains(&name.as_str());
            if is_program || !before.starts_with('-') {
                return check_words(scopes, &words[at..], depth + 1);
            }
        }
        before = word;
    }
    Ok(())
}

/// `5`, `1.5s`, `10m`.
fn is_measure(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word
            .trim_end_matches(|c: char| c.is_ascii_alphabetic())
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
        && word.len() < 8
}

/// A program that nobody here knows.
fn unknown(scopes: &[Scope], words: &[String]) -> Verdict {
    let copied = words.iter().filter_map(|word| remote::copied(word));
    copied.into_iter().try_for_each(|host| surely(scopes, host, None))?;
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix("--") else { continue };
        let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        let value = value.or_else(|| words.peek().map(|next| next.as_str()).filter(|next| !next.starts_with('-')));
        if let Some(value) = value.filter(|_| names_host(name))
            && !is_listening(value)
        {
            likely(scopes, value)?;
        }
    }
    Ok(())
}

/// Whether a long option speaks of a host, and not of a file about one.
fn names_host(option: &str) -> bool {
    let words = switchboard_policy::risk::fallback::words(option);
    let is_other = |word: &String| matches!(word.as_str(), "file" | "name" | "id" | "type" | "port" | "path" | "map");
    words.iter().any(|word| HOST_OPTIONS.contains(&word.as_str())) && !words.last().is_some_and(is_other)
}

/// Whether a setting names a host: `HostName`, `ProxyJump`, `http.proxy`.
fn is_host_setting(name: &str) -> bool {
    names_host(name) || ["hostname", "proxyjump"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Where a program of one's own waits for others.
fn is_listening(value: &str) -> bool {
    let host = value.rsplit_once(':').map_or(value, |(host, _)| host);
    matches!(host, "0.0.0.0" | "127.0.0.1" | "localhost" | "::" | "[::]" | "::1" | "[::1]")
}

/// What the words of a known program name, in the order in which they stand.
#[derive(Default)]
struct Named<'w> {
    operands: Vec<&'w str>,
    hosts: Vec<&'w str>,
    port: Option<u16>,
    listens: bool,
}

fn read<'w>(program: &Program, words: &'w [String]) -> Named<'w> {
    let mut named = Named::default();
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "--" {
            named.operands.extend(words.by_ref());
        } else if let Some(option) = word.strip_prefix("--") {
            long(program, option, &mut words, &mut named);
        } else if let Some(option) = word.strip_prefix('-').filter(|option| program.one_dash && option.len() > 1) {
            long(program, option, &mut words, &mut named);
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            short(program, letters, &mut words, &mut named);
        } else if !word.starts_with('+') {
            named.operands.push(word);
        }
    }
    named
}

fn long<'w>(program: &Program, option: &'w str, words: &mut dyn Iterator<Item = &'w str>, named: &mut Named<'w>) {
    let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
    let listed = |list: &[&str]| list.iter().any(|known| name.eq_ignore_ascii_case(known));
    named.listens |= name == "listen";
    if listed(program.long_hosts) {
        named.hosts.extend(value.or_else(|| words.next()));
    } else if !program.lists.is_empty() && matches!(name, "inventory" | "inventory-file") {
        named.hosts.extend(self::listed(value.or_else(|| words.next()).unwrap_or_default()));
    } else if name.eq_ignore_ascii_case("port") {
        named.port = value.or_else(|| words.next()).and_then(|port| port.parse().ok());
    } else if listed(program.long_values) {
        if value.is_none() {
            words.next();
        }
    } else if let Some(value) = value {
        let is_host = names_host(name) || remote::is_host_form(value) && !place::has_ending(value);
        named.hosts.extend(Some(value).filter(|_| is_host));
    } else if names_host(name) {
        named.hosts.extend(words.next());
    }
}

fn short<'w>(program: &Program, letters: &'w str, words: &mut dyn Iterator<Item = &'w str>, named: &mut Named<'w>) {
    for (at, letter) in letters.char_indices() {
        let rest = Some(&letters[at + letter.len_utf8()..]).filter(|rest| !rest.is_empty());
        named.listens |= letter == 'l' && !program.values.contains('l') && program.names.contains(&"nc");
        if program.port_option == Some(letter) {
            named.port = rest.or_else(|| words.next()).and_then(|port| port.parse().ok());
        } else if program.hosts.contains(letter) {
            named.hosts.extend(rest.map(|rest| rest.trim_start_matches('=')).or_else(|| words.next()));
        } else if program.lists.contains(letter) {
            named.hosts.extend(listed(rest.or_else(|| words.next()).unwrap_or_default()));
        } else if program.values.contains(letter) {
            let value = rest.or_else(|| words.next()).unwrap_or_default();
            // `-o ProxyJump=x` and `-c http.proxy=x` are pairs, `-L 80:host:80` a way through.
            let pair = value.split_once('=').filter(|(name, _)| is_host_setting(name));
            named.hosts.extend(pair.map(|(_, value)| value));
            // `-c url.X.insteadOf=Y` turns Y into X.
            let replaced = value.strip_prefix("url.").and_then(|rest| rest.split_once(".insteadOf="));
            named.hosts.extend(replaced.map(|(host, _)| host));
        } else if matches!(letter, 'L' | 'R') && program.names.contains(&"ssh") {
            let value = rest.or_else(|| words.next()).unwrap_or_default();
            let parts: Vec<&str> = value.split(':').collect();
            named.hosts.extend(parts.len().checked_sub(2).filter(|at| *at > 0).and_then(|at| parts.get(at)).copied());
        } else {
            continue;
        }
        return;
    }
}

/// Hosts in a list with commas; without one it is the name of a file.
fn listed(value: &str) -> impl Iterator<Item = &str> {
    let hosts = value.split(',').map(str::trim).filter(|host| !host.is_empty());
    hosts.filter(|_| value.contains(','))
}

fn known(scopes: &[Scope], program: &Program, words: &[String]) -> Verdict {
    let named = read(program, words);
    if !program.verbs.is_empty() && !named.operands.first().is_some_and(|verb| program.verbs.contains(verb)) {
        return named.hosts.iter().try_for_each(|host| surely(scopes, host, named.port));
    }
    let port = named.port.or(program.port);
    // Where the host is an option, it is what is connected to; elsewhere it is a proxy or a way through.
    let port_of_hosts = port.filter(|_| program.operands == Operands::Addresses);
    named.hosts.iter().try_for_each(|host| surely(scopes, host, port_of_hosts))?;
    if named.listens {
        return Ok(());
    }
    let operands = named.operands.iter().copied();
    match program.operands {
        Operands::All => operands.filter(|word| !is_record(word)).try_for_each(|word| surely(scopes, word, port)),
        Operands::First => {
            // `http POST host`: a method stands in front.
            let mut operands = operands.skip_while(|word| is_method(word));
            let Some(host) = operands.next() else { return Ok(()) };
            let port = operands.next().and_then(|port| port.parse().ok()).or(port);
            surely(scopes, host, port)
        }
        Operands::Copies => operands.filter_map(copy).try_for_each(|host| surely(scopes, host, port)),
        Operands::Addresses => {
            let mut operands = operands.filter(|word| is_address(word));
            operands.try_for_each(|word| address(scopes, word, port))
        }
        Operands::Transports => operands.filter_map(transport).try_for_each(|host| surely(scopes, host, None)),
    }
}

/// The type of a record or a class, which `dig` takes beside names.
fn is_record(word: &str) -> bool {
    const RECORDS: [&str; 16] = [
        "A", "AAAA", "ANY", "AXFR", "CAA", "CNAME", "DNSKEY", "DS", "IN", "MX", "NS", "PTR", "SOA", "SRV", "TXT",
        "HTTPS",
    ];
    RECORDS.contains(&word)
}

fn is_method(word: &str) -> bool {
    matches!(word, "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS" | "get" | "post" | "put" | "delete")
}

/// The other side of a copy: what stands in front of a colon, if no separator does.
fn copy(word: &str) -> Option<&str> {
    if word.contains("://") || word.starts_with("//") {
        return Some(word);
    }
    let (front, _) = word.split_once(':')?;
    (!front.is_empty() && !front.contains('/')).then_some(front)
}

fn transport(word: &str) -> Option<&str> {
    let (kind, rest) = word.split_once(':')?;
    let kind = kind.to_ascii_lowercase();
    let connects =
        ["tcp", "udp", "ssl", "openssl", "sctp", "proxy", "socks"].iter().any(|known| kind.starts_with(known));
    let listens = kind.contains("listen") || kind.ends_with("-l");
    (connects && !listens).then(|| rest.split(',').next().unwrap_or_default())
}

/// Whether an operand is a URL, a host with a path behind it, or a connection string.
fn is_address(word: &str) -> bool {
    let front = word.split('/').next().unwrap_or_default();
    word.contains("://")
        || word.contains('/') && (remote::is_host_form(front) || has_port(front))
        || !settings(word).is_empty()
        || word.starts_with("//")
        || reach::glued::in_remote(word).is_some()
        || word.strip_suffix(':').is_some_and(remote::is_host_form)
        || !pairs::of(word).is_empty()
}

/// `db1:443` in front of a path, as images of a registry have it. Two numbers are ports.
fn has_port(front: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit());
    front.split_once(':').is_some_and(|(name, port)| is_name(name) && port.parse::<u16>().is_ok())
}

/// Hosts among the settings of a connection that stand behind its kind: `:sftp,host=db1:folder`.
fn settings(word: &str) -> Vec<&str> {
    let pieces = word.split(',').skip(1).filter_map(|piece| piece.split_once('='));
    let hosts =
        pieces.filter(|(name, _)| reach::glued::is_host_name(name)).map(|(_, value)| value.trim_matches(['"', '\'']));
    let hosts =
        hosts.map(|value| if value.contains("://") { value } else { value.split(':').next().unwrap_or_default() });
    hosts.filter(|host| !host.is_empty() && pairs::of(word).is_empty()).collect()
}

fn address(scopes: &[Scope], word: &str, port: Option<u16>) -> Verdict {
    settings(word).into_iter().try_for_each(|host| surely(scopes, host, port))?;
    let pairs = pairs::of(word);
    if pairs.is_empty() && word.starts_with(':') {
        return Ok(());
    }
    if pairs.is_empty() || word.contains("://") {
        return surely(scopes, word.strip_prefix("git+").unwrap_or(word), port.filter(|_| !word.contains("://")));
    }
    let mut hosts = pairs.into_iter().filter(|(name, _)| reach::glued::is_host_name(name));
    hosts.try_for_each(|(_, value)| reach::glued::hosts_of(value).try_for_each(|host| surely(scopes, host, port)))
}

/// A word that is a host, whatever it looks like.
fn surely(scopes: &[Scope], word: &str, port: Option<u16>) -> Verdict {
    let word = word.trim_matches(['"', '\'', '@', '<', '>']);
    let word = word.strip_prefix("/v:").unwrap_or(word);
    let is_path = word.starts_with(['/', '.', '~', '?', '#', '-']) && !word.starts_with("//");
    if word.is_empty() || is_path || super::uri::is_file(word) {
        return Ok(());
    }
    remote::check_operand(scopes, word, port)
}

/// A word that is a host if it looks like one.
fn likely(scopes: &[Scope], word: &str) -> Verdict {
    if word.contains("://") || remote::is_host_form(word) && !place::has_ending(word) {
        return surely(scopes, word, None);
    }
    Ok(())
}

fn git(scopes: &[Scope], words: &[String]) -> Verdict {
    let git = Program { values: "bocCjXsm", long_values: GIT_VALUES, long_hosts: &["remote"], ..PROGRAMS[0] };
    let named = read(&Program { hosts: "", ..git }, words);
    let Some((verb, operands)) = named.operands.split_first() else { return Ok(()) };
    let found = GIT_VERBS.iter().find(|(known, _)| known == verb);
    let at = match (found, *verb, operands.first()) {
        (Some((_, at)), ..) => *at,
        (None, "remote", Some(&("add" | "set-url"))) => 2,
        (None, "submodule", Some(&"add")) => 1,
        _ => return Ok(()),
    };
    named.hosts.iter().try_for_each(|host| surely(scopes, host, None))?;
    let Some(side) = operands.get(at) else { return Ok(()) };
    // A name without signs is a remote of the configuration, and what else has none of them is a folder.
    let is_side =
        side.contains(':') || side.starts_with("//") || side.split('/').next().is_some_and(remote::is_host_form);
    if is_side { surely(scopes, side, None) } else { Ok(()) }
}
