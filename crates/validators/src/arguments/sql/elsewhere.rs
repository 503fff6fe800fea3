//! Where a query reaches to another machine: functions that read or write there, statements that make a way there.
//!
//! Whether a limit of hosts holds can be told by an address only. So where one is meant it has to stand there as a string; the name
//! of a server, a cluster or a link that somebody set up before says nothing of where it leads.

use super::computed::{self, Look, NAMING, OF_HOSTS};
use super::fragment;
use super::lexer::Token;
use crate::arguments::{machine::Machine, pairs, reach};

/// Functions whose first argument is the address itself, or a list of such.
const BY_HOST: [&str; 14] = [
    "remote",
    "remotesecure",
    "cluster",
    "clusterallreplicas",
    "distributed",
    "mysql",
    "postgresql",
    "mongodb",
    "redis",
    "kafka",
    "rabbitmq",
    "nats",
    "jdbc",
    "odbc",
];
/// Functions that take a connection string or the name of a connection.
const BY_CONNECTION: [&str; 9] = [
    "dblink",
    "dblink_connect",
    "dblink_connect_u",
    "dblink_exec",
    "postgres_scan",
    "postgres_scan_pushdown",
    "postgres_attach",
    "mysql_scan",
    "opendatasource",
];
/// Kinds of databases in front of a connection string, `postgres:host=x`, and those that are elsewhere whatever follows.
const KINDS: [&str; 12] = [
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "mssql",
    "sqlserver",
    "ducklake",
    "oracle",
    "odbc",
    "jdbc",
    "redis",
    "mongodb",
];
const HOSTED: [&str; 3] = ["md", "motherduck", "snowflake"];
/// Options of a foreign server or a connection whose value is a machine, besides keys that name one.
const OPTIONS: [&str; 12] = [
    "host",
    "hostaddr",
    "servername",
    "server",
    "dbserver",
    "address",
    "endpoint",
    "master_host",
    "source_host",
    "datasrc",
    "kafka_broker_list",
    "rabbitmq_host_port",
];

/// What stands where a query reaches another machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::arguments) enum Elsewhere<'t> {
    /// A machine.
    Host(&'t str),
    /// Nothing that could be held to a limit.
    Unseen(&'t str),
}

/// Calls `see` with everything that a query reaches, until it says that this is enough.
pub(in crate::arguments) fn elsewhere(text: &str, see: &mut dyn FnMut(Elsewhere<'_>) -> bool) {
    let _: Option<()> = computed::find(text, &mut |look| {
        let calls = (0..look.statement.len()).any(|at| called(look, at, see));
        (calls || stated(look, see)).then_some(())
    });
}

/// The machines of a connection string with the kind of its database in front, or of one for Oracle.
pub(in crate::arguments) fn hosts_in(text: &str) -> Vec<&str> {
    let bare = without_kind(text).unwrap_or(text);
    let lower = bare.to_ascii_lowercase();
    if bare.trim_start().starts_with('(') && lower.contains("host") {
        // `(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=x)(PORT=1521)))`
        let values = bare.split('(').filter_map(|part| part.split_once('='));
        let hosts = values.filter(|(name, _)| name.trim().eq_ignore_ascii_case("host"));
        return hosts.map(|(_, value)| value.split(')').next().unwrap_or_default().trim()).collect();
    }
    if bare.len() == text.len() {
        return Vec::new();
    }
    of_pairs(bare)
}

fn of_pairs(text: &str) -> Vec<&str> {
    let hosts = pairs::of(text).into_iter().filter(|(name, _)| reach::glued::is_host_name(name));
    hosts.flat_map(|(_, value)| reach::glued::hosts_of(value)).collect()
}

/// What stands behind the kinds of databases in front of a connection string: `ducklake:postgres:host=x`.
fn without_kind(text: &str) -> Option<&str> {
    let mut rest = text.trim();
    let is_kind = |kind: &str| KINDS.iter().any(|known| kind.eq_ignore_ascii_case(known));
    while let Some((_, behind)) =
        rest.split_once(':').filter(|(kind, behind)| is_kind(kind) && !behind.starts_with("//"))
    {
        rest = behind;
    }
    (rest.len() < text.trim().len()).then_some(rest)
}

/// What a connection string leads to. `false` where nothing of it is too much.
fn connection(text: &str, what: &str, see: &mut dyn FnMut(Elsewhere<'_>) -> bool) -> bool {
    if text.contains("://") {
        // A URL is judged wherever it stands.
        return false;
    }
    let bare = without_kind(text).unwrap_or(text);
    let mut hosts = hosts_in(text);
    hosts.extend(of_pairs(bare));
    if !hosts.is_empty() {
        return hosts.into_iter().any(|host| see(Elsewhere::Host(host)));
    }
    // A database on the same machine.
    let is_local =
        pairs::of(bare).iter().any(|(name, _)| matches!(name.to_ascii_lowercase().as_str(), "dbname" | "database"))
            && !pairs::of(bare).iter().any(|(name, _)| name.eq_ignore_ascii_case("service"));
    !is_local && see(Elsewhere::Unseen(what))
}

/// The machines in a list for ClickHouse and its like: `h1:9000,h2|h3`. What braces stand for is not seen.
fn listed(text: &str, what: &str, see: &mut dyn FnMut(Elsewhere<'_>) -> bool) -> bool {
    if text.contains(['{', '}']) {
        return see(Elsewhere::Unseen(what));
    }
    if text.contains("://") {
        return false;
    }
    if !pairs::of(text).is_empty() {
        return connection(text, what, see);
    }
    let hosts = text.split([',', '|']).map(str::trim).filter(|host| !host.is_empty());
    hosts.map(|host| host.rsplit_once('@').map_or(host, |(_, host)| host)).any(|host| see(Elsewhere::Host(host)))
}

/// Whether the call of a function at this place reaches too far.
fn called(look: &Look<'_>, at: usize, see: &mut dyn FnMut(Elsewhere<'_>) -> bool) -> bool {
    let Some(name) = look.statement.get(at).and_then(fragment::name).filter(|_| look.is(at + 1, '(')) else {
        return false;
    };
    let name = &*name;
    let before = at.checked_sub(1).and_then(|before| look.word(before)).unwrap_or_default();
    if !OF_HOSTS.contains(&name) || NAMING.contains(&before) || before == "column" || before == "key" {
        return false;
    }
    let arguments = look.arguments(at + 1);
    let string =
        |index: usize| arguments.get(index).and_then(|argument: &&[Token]| argument.iter().find_map(Token::quoted));
    let shown = format!("`{name}`");
    match name {
        _ if BY_HOST.contains(&name) => match string(0) {
            Some(text) => listed(text, &shown, see),
            None => !arguments.is_empty() && see(Elsewhere::Unseen(&shown)),
        },
        // `openrowset(bulk '/x', ..)` reads a file.
        "openrowset" | "opendatasource" => {
            let is_file = arguments.first().and_then(|first| first.first()).and_then(Token::word) == Some("bulk");
            if is_file {
                return false;
            }
            match string(1).filter(|text| !text.is_empty()) {
                Some(text) if pairs::of(text).is_empty() => listed(text, &shown, see),
                Some(text) => connection(text, &shown, see),
                None => see(Elsewhere::Unseen(&shown)),
            }
        }
        "openquery" => see(Elsewhere::Unseen(&shown)),
        _ if BY_CONNECTION.contains(&name) => {
            // `dblink_connect('name', 'host=x')`
            let texts = (0..2).filter_map(string).collect::<Vec<_>>();
            let is_named = name.starts_with("dblink_connect") && texts.len() == 2;
            match texts.get(usize::from(is_named)) {
                Some(text) => connection(text, &shown, see),
                None => see(Elsewhere::Unseen(&shown)),
            }
        }
        _ => false,
    }
}

/// Whether a statement makes a way that leads too far.
fn stated(look: &Look<'_>, see: &mut dyn FnMut(Elsewhere<'_>) -> bool) -> bool {
    let tokens = look.statement;
    let front: Vec<&str> = tokens.iter().take(8).map_while(Token::word).collect();
    let begins = front.first().copied().unwrap_or_default();
    let speaks = |word: &str| front.contains(&word);
    let strings = || tokens.iter().filter_map(Token::quoted);
    let behind = |word: &str| {
        let at = tokens.iter().position(|token| token.word() == Some(word))?;
        tokens.get(at + 1).and_then(Token::quoted)
    };
    let makes = matches!(begins, "create" | "alter");
    match begins {
        "attach" => {
            let Some(text) = strings().next() else { return false };
            let (kind, _) = text.split_once(':').unwrap_or_default();
            if HOSTED.iter().any(|known| kind.eq_ignore_ascii_case(known)) {
                return see(Elsewhere::Unseen("`attach`"));
            }
            let last = without_kind(text);
            // `ducklake:x.db` is a file.
            let is_file =
                last.is_some_and(|rest| crate::arguments::place::may_be_path(rest) && pairs::of(rest).is_empty());
            return last.is_some() && !is_file && connection(text, "`attach`", see);
        }
        "clone" => return strings().nth(1).is_none_or(|host| see(Elsewhere::Host(host))),
        "exec" | "execute" | "call" if is_linked(&front) => return of_linked(look, see),
        "exec" | "execute" if tokens.iter().any(|token| token.word() == Some("at")) => {
            return see(Elsewhere::Unseen("`exec .. at`"));
        }
        _ if makes && speaks("link") && speaks("database") => {
            return match behind("using") {
                Some(text) if text.trim_start().starts_with('(') => connection(text, "`create database link`", see),
                Some(text) => {
                    let bare = text.trim_start_matches('/');
                    see(Elsewhere::Host(bare.split([':', '/']).next().unwrap_or_default()))
                }
                None => see(Elsewhere::Unseen("`create database link`")),
            };
        }
        _ if makes && speaks("subscription") => {
            return match behind("connection") {
                Some(text) => connection(text, "`connection`", see),
                None => begins == "create" && see(Elsewhere::Unseen("`create subscription`")),
            };
        }
        _ => {}
    }
    let reaches = makes
        && ["server", "secret", "collection", "dictionary", "foreign", "external", "connection", "table", "database"]
            .into_iter()
            .any(speaks)
        || begins == "change"
        || begins == "start" && speaks("slave");
    (reaches && options(tokens, see)) || remote_table(tokens, see)
}

/// Whether a procedure sets up a linked server.
fn is_linked(front: &[&str]) -> bool {
    front.iter().any(|word| matches!(*word, "sp_addlinkedserver" | "sp_addserver" | "sp_setnetname"))
}

/// The machine of a linked server: `@datasrc`, or else its name.
fn of_linked(look: &Look<'_>, see: &mut dyn FnMut(Elsewhere<'_>) -> bool) -> bool {
    let tokens = look.statement;
    let named = |name: &str| {
        let at =
            tokens.iter().position(|token| token.word().is_some_and(|word| word.trim_start_matches('@') == name))?;
        tokens.get(at + 1..)?.iter().take(3).find_map(Token::quoted)
    };
    if let Some(text) = named("provstr") {
        return connection(text, "`sp_addlinkedserver`", see);
    }
    let first = || tokens.iter().find_map(Token::quoted);
    match named("datasrc").or_else(|| named("netname")).or_else(first) {
        Some(host) => listed(host, "`sp_addlinkedserver`", see),
        None => see(Elsewhere::Unseen("`sp_addlinkedserver`")),
    }
}

/// Options of a statement that name a machine: `options (host 'x')`, `master_host = 'x'`. What is compared names none.
fn options(tokens: &[Token], see: &mut dyn FnMut(Elsewhere<'_>) -> bool) -> bool {
    let ends = tokens.iter().position(|token| matches!(token.word(), Some("where" | "select" | "check" | "default")));
    let tokens = &tokens[..ends.unwrap_or(tokens.len())];
    tokens.iter().enumerate().any(|(at, token)| {
        let Some(text) = token.quoted().filter(|text| !text.is_empty()) else { return false };
        let back = |steps: usize| at.checked_sub(steps).and_then(|at| tokens.get(at));
        let name = match back(1) {
            Some(Token::Symbol('=')) => back(2),
            before => before,
        };
        let name = name.and_then(Token::word).unwrap_or_default();
        let is_host = OPTIONS.contains(&name) || Machine::is_surely(name);
        is_host && listed(text, "an option", see)
    })
}

/// A table behind a link or in a linked server: `t@link`, `srv.db.dbo.t`.
fn remote_table(tokens: &[Token], see: &mut dyn FnMut(Elsewhere<'_>) -> bool) -> bool {
    let is_name = |at: usize| tokens.get(at).is_some_and(|token| fragment::name(token).is_some());
    let is = |at: usize, symbol: char| tokens.get(at).is_some_and(|token| token.is(symbol));
    let is_source = |token: &Token| matches!(token.word(), Some("from" | "join" | "into" | "update"));
    let mut sources = tokens.iter().enumerate().filter(|(_, token)| is_source(token)).map(|(at, _)| at + 1);
    sources.any(|at| {
        let (mut end, mut parts) = (at, 1);
        while is_name(end) && is(end + 1, '.') && (is_name(end + 2) || is(end + 2, '.')) {
            end += if is_name(end + 2) { 2 } else { 3 };
            parts += 1;
        }
        // `srv...t`: parts may be left out.
        let dots = tokens[at..].iter().take(8).take_while(|token| token.is('.') || fragment::name(token).is_some());
        let dots = dots.filter(|token| token.is('.')).count();
        if parts > 3 || dots > 2 {
            return see(Elsewhere::Unseen("a table with four names"));
        }
        is_name(end) && is(end + 1, '@') && is_name(end + 2) && see(Elsewhere::Unseen("a table behind a link"))
    })
}
