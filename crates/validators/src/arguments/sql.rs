//! Queries in arguments, for tools that may only read.
//!
//! Databases differ in what is a string and what is a comment, and a text can be harmless to one and deadly to another.
//! So it is read in each dialect, and passes only if it reads in all of them. A statement reads if it begins with a word
//! for reading, no statement that writes begins anywhere in it (SQL Server wants no semicolon between two), and no
//! function in it does more than compute.
//!
//! A key such as `query` may also hold a search in plain words. How sure one can be that it is a statement is told by the
//! key and by what the tool says of itself ([`Language`]).

mod catalogs;
mod client;
mod computed;
mod cost;
mod cypher;
mod dual;
mod elsewhere;
mod files;
mod fragment;
mod grammar;
mod known;
mod lexer;
mod mongo;
mod named;
mod places;
mod procedures;
mod secrets;
mod tables;
mod words;

use crate::{Finding, Verdict};
use lexer::{DIALECTS, Token};
use switchboard_policy::risk::fallback::words as name_words;
use switchboard_protocol::mgp::security::ToolSecurity;
use tables::Places;
use words::{
    ACTING_PRAGMAS, CHANGING, CLAUSES, ENGLISH, FILE_READERS, FUNCTION_PREFIXES, FUNCTIONS, OBJECTS, PAIRS, READING,
    SENTENCE, SOURCES, SYSTEM_ACTIONS, TELLING_PRAGMAS,
};

pub(super) use client::operands;
pub(super) use computed::{Named, computed};
pub(super) use elsewhere::{Elsewhere, elsewhere, hosts_in};
pub(super) use mongo::check_members;
pub(super) use named::{Literal, files, literals};

/// The most tokens of an argument that are looked at, and of what follows a verb: a longer one is taken for what it may be.
const MAX_ARGUMENT_TOKENS: usize = 1_000;

/// The language that a tool's queries are written in, as its name and description tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Language {
    /// Nobody knows.
    #[default]
    Unknown,
    Sql,
    Cypher,
    Mongo,
}

impl Language {
    /// Told by the name and description of a tool.
    pub(super) fn of(subject: &str) -> Self {
        let words = name_words(subject);
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        if has(&["cypher", "neo4j", "memgraph"]) {
            return Self::Cypher;
        }
        if has(&["mongo", "mongodb"]) {
            return Self::Mongo;
        }
        let names = &[
            "sql",
            "postgres",
            "postgresql",
            "mysql",
            "mariadb",
            "sqlite",
            "duckdb",
            "clickhouse",
            "bigquery",
            "snowflake",
            "redshift",
            "oracle",
            "mssql",
            "databricks",
            "trino",
            "presto",
            "athena",
            "cockroachdb",
            "timescale",
            "motherduck",
            "database",
            "db",
        ];
        // A tool that is called `query` and nothing more takes one.
        let name: Vec<String> = subject.split('\n').next().map(name_words).unwrap_or_default();
        let is_query = name.iter().all(|word| {
            matches!(
                word.as_str(),
                "query" | "run" | "execute" | "read" | "only" | "readonly" | "select" | "statement" | "db" | "queries"
            )
        }) && name
            .iter()
            .any(|word| matches!(word.as_str(), "query" | "select" | "statement" | "queries"));
        if has(names) || is_query { Self::Sql } else { Self::Unknown }
    }
}

/// Whether a tool speaks of rows, or has an argument for the table that they stand in.
pub(super) fn has_rows(declared: &ToolSecurity) -> bool {
    let is_row = |word: &String| {
        matches!(word.as_str(), "table" | "tables" | "row" | "rows" | "record" | "records" | "tablename")
    };
    let said = declared.subject.lines().take(3).flat_map(name_words);
    said.into_iter().any(|word| is_row(&word))
        || declared.properties.iter().flat_map(|key| name_words(key)).any(|word| is_row(&word))
}

/// How sure it is that a text is a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Certainty {
    /// It may be anything; only what clearly is a statement counts.
    Perhaps,
    /// It is one, unless it does not begin like one.
    Likely,
    /// It is one.
    Sure,
}

/// Judges a statement for whoever may also change something: an ordinary change is for a person to agree to.
pub(super) fn check_statement(text: &str, only_reading: bool) -> Verdict {
    let checked = check(text, Language::Sql, Certainty::Sure);
    let Err(finding) = &checked else { return checked };
    let dialects = if lexer::is_ambiguous(text) { &DIALECTS[..] } else { &DIALECTS[..1] };
    let ordinary = || dialects.iter().all(|dialect| known::is_ordinary_change(&lexer::tokens(text, *dialect)));
    let commands =
        || client::check_lines(text, Certainty::Sure).map_or(true, |all| all.doubt.is_some() || all.rest != text);
    if only_reading || finding.asks() || commands() || !ordinary() {
        return checked;
    }
    Err(Finding::new("sql-changes", "the statement changes something").ask())
}

/// Judges a text that may be a statement. What is hostile is refused before anybody is asked about what is not understood.
pub(super) fn check(text: &str, language: Language, certainty: Certainty) -> Verdict {
    if text.len() > super::MAX_STATEMENT_BYTES {
        return Err(Finding::new("sql-size", "the text is too long to be read as a statement").ask());
    }
    mongo::check(text)?;
    if cypher::is_meant(text, language) {
        return cypher::check(text);
    }
    // What stands behind a command is read like any other text, and what is hostile there comes before any doubt.
    let client::Commands { rest, doubt } = client::check_lines(text, certainty)?;
    let text = rest.as_str();
    let dialects = if lexer::is_ambiguous(text) { &DIALECTS[..] } else { &DIALECTS[..1] };
    let mut understood = Vec::new();
    let hints = || Finding::new("sql-not-understood", "a hint does more than say how the query is worked out").ask();
    let mut doubt = doubt.or_else(|| (certainty >= Certainty::Likely && cost::hints_more(text)).then(hints));
    for dialect in dialects {
        let tokens = lexer::tokens(text, *dialect);
        if certainty >= Certainty::Likely {
            understood.push(known::understood(&tokens, certainty == Certainty::Sure));
        }
        match client::check_tokens(&tokens, certainty) {
            Err(finding) if finding.asks() => doubt = doubt.or(Some(finding)),
            judged => judged?,
        }
        for statement in tokens.split(|token| token.is(';')) {
            // Behind an error clients go on with the next statement, and a piece of a statement may begin with anything.
            match judge(statement, certainty) {
                Reading::Fine | Reading::Nonsense => {}
                Reading::Writes(finding) => return Err(finding),
            }
        }
        if certainty < Certainty::Sure && language == Language::Sql {
            fragment::check(&tokens)?;
        }
    }
    doubt.or_else(|| known::together(understood, certainty == Certainty::Sure)).map_or(Ok(()), Err)
}

enum Reading {
    Fine,
    Nonsense,
    Writes(Finding),
}

fn writes(message: String) -> Reading {
    Reading::Writes(Finding::new("readonly-sql", message))
}

fn judge(statement: &[Token], certainty: Certainty) -> Reading {
    let opened = statement.iter().take_while(|token| token.is('(')).count();
    let statement = &statement[opened..];
    if procedures::tells(statement) {
        return Reading::Fine;
    }
    if is_escaped_call(statement) {
        return writes("`{call ..}` runs a procedure".to_owned());
    }
    let Some(first) = statement.first() else { return Reading::Fine };
    let Token::Word(verb, capitals) = first else {
        // A quoted name or variable at the beginning runs a procedure, in SQL Server.
        let runs = matches!(first, Token::Quoted(_)) && certainty == Certainty::Sure && statement.len() > 1;
        return if runs {
            writes("a statement begins with a name: it may run a procedure".to_owned())
        } else {
            Reading::Nonsense
        };
    };
    let reads = READING.contains(&verb.as_str());
    let known = reads || CHANGING.contains(&verb.as_str()) || is_function(verb);
    let may_write = || writes(format!("the statement that begins with `{verb}` may write"));
    let is_sentence = || {
        let is_plain = |word: &str| SENTENCE.contains(&word);
        ENGLISH.contains(&verb.as_str()) && statement.iter().filter_map(Token::word).any(is_plain)
    };
    match certainty {
        Certainty::Sure if !reads => return may_write(),
        Certainty::Likely if is_sentence() && !is_shaped(verb, false, statement) => return Reading::Fine,
        Certainty::Likely if known && !reads => return may_write(),
        Certainty::Likely if verb == "system" && acts_on_system(statement) => return may_write(),
        Certainty::Likely if !known => return Reading::Fine,
        Certainty::Perhaps if !reads => {
            return if known && is_shaped(verb, *capitals, statement) { may_write() } else { Reading::Fine };
        }
        Certainty::Perhaps if !reads_shaped(verb, statement) => return Reading::Fine,
        _ => {}
    }
    match verb.as_str() {
        "pragma" => pragma(statement),
        "explain" => explained(statement),
        _ => within(statement),
    }
}

/// What stands inside a statement that begins with a word for reading.
fn within(statement: &[Token]) -> Reading {
    let places = Places::of(statement);
    let outside = next_outside(statement);
    for at in 0..statement.len() {
        let (before, next) = (at.checked_sub(1).map(|before| &statement[before]), statement.get(at + 1));
        if let Some(text) = statement[at].quoted()
            && (is_outside(text) && places.is_table(at)
                || before.is_some_and(|token| token.is('.')) && (is_rooted(text) || is_hidden(text)))
        {
            return writes(format!("`{text}` in place of a table is a file or another machine"));
        }
        if let Some(message) = fragment::called(statement, at) {
            return writes(message);
        }
        if statement[at].word() == Some("using") && next.is_some_and(|next| next.quoted().is_some()) {
            return writes("`using` and a string runs a program on each row".to_owned());
        }
        let Some(name) = fragment::name(&statement[at]) else { continue };
        let word = name.as_ref();
        // A part of a longer name, as in `t.update`, is no word of its own; functions may have one in front.
        let is_part = before.is_some_and(|token| token.is('.') || token.is('@') || token.is(':'));
        let called = next.is_some_and(|token| token.is('('));
        if word == "nextval" && is_part || fragment::locks(statement, at) {
            return writes(format!("`{word}` changes or locks something"));
        }
        let is_source = before.and_then(Token::word).is_some_and(|word| matches!(word, "from" | "join"));
        let scalar = word == "file" && statement.get(at + 2).is_some_and(|token| token.quoted().is_some());
        if called && (is_source && SOURCES.contains(&word) || scalar) {
            return writes(format!("`{word}(..)` reads files or other machines"));
        }
        // `glob` is a comparison elsewhere.
        let reads_file = FILE_READERS.contains(&word) || is_source && word == "glob";
        // Calls stand in each other: a way to the end of each is only gone where a file lies on it.
        let near = outside.get(at).is_some_and(|next| *next - at <= MAX_ARGUMENT_TOKENS + 1);
        if called && reads_file && near && named_files(&statement[at + 1..]).any(is_outside) {
            return writes(format!(
                "`{word}(..)` reads a file outside of the folder of the database, or another machine"
            ));
        }
        if !is_part && at > 0 && begins_writing(&statement[at..], before) {
            return writes(format!("`{word}` in the statement may write"));
        }
    }
    match fragment::trails(statement) {
        Some(word) => writes(format!("`{word}` at the end is a statement of its own")),
        None => Reading::Fine,
    }
}

/// For each token, the number of the next one that names a file outside; where there is none, one that is out of reach.
fn next_outside(statement: &[Token]) -> Vec<usize> {
    let mut next = usize::MAX;
    let mut found: Vec<usize> = Vec::with_capacity(statement.len());
    for (at, token) in statement.iter().enumerate().rev() {
        if token.quoted().is_some_and(is_outside) {
            next = at;
        }
        found.push(next);
    }
    found.reverse();
    found
}

/// `{call p()}` and `{? = call p()}`, which drivers turn into a call.
fn is_escaped_call(statement: &[Token]) -> bool {
    let [open, rest @ ..] = statement else { return false };
    let behind = rest.iter().position(|token| !token.is('?') && !token.is('='));
    open.is('{') && behind.and_then(|at| rest[at].word()) == Some("call")
}

/// Whether a text, read as SQL in any dialect, starts a program, loads code, or reads or writes files of the server.
pub(super) fn leaves(text: &str) -> bool {
    const BEGINS: &[&str] = &["load", "install", "force", "exec", "execute", "import", "bulk"];
    const PAIRS: &[(&[&str], &[&str])] = &[
        (&["to", "from"], &["program"]),
        (&["into"], &["outfile", "dumpfile"]),
        (&["data", "local"], &["infile"]),
        (&["create", "alter", "load"], &["extension"]),
        (
            &["language"],
            &["c", "plpython3u", "plpythonu", "plpython2u", "plperlu", "pltclu", "java", "javascript", "plsh"],
        ),
    ];
    let dialects = if lexer::is_ambiguous(text) { &DIALECTS[..] } else { &DIALECTS[..1] };
    dialects.iter().any(|dialect| {
        let tokens = lexer::tokens(text, *dialect);
        tokens.split(|token| token.is(';')).any(|statement| {
            let Some(first) = statement.iter().find_map(Token::word) else { return false };
            let attaches = first == "attach" && statement.iter().filter_map(Token::quoted).any(is_outside);
            // A function of the same name, or one word, is no statement.
            let begins = BEGINS.contains(&first) && statement.len() > 1 && !statement.get(1).is_some_and(|t| t.is('('));
            let pairs = |two: &[Token]| match two {
                [one, other] => PAIRS.iter().any(|(first, second)| {
                    one.word().is_some_and(|word| first.contains(&word))
                        && other.word().is_some_and(|word| second.contains(&word))
                }),
                _ => false,
            };
            // `select x from program` names a table: a program stands in quotes.
            let names = |at: usize| {
                let pair = statement.get(at..at + 2).is_some_and(pairs);
                let program = statement.get(at + 1).and_then(Token::word) == Some("program");
                pair && (!program
                    || statement.get(at + 2).is_some_and(|token| !matches!(token, Token::Word(..))) && first == "copy")
            };
            let calls = |at: usize| {
                let name = statement[at].word();
                let called = statement.get(at + 1).is_some_and(|token| token.is('('));
                name.is_some_and(|name| called && READS_OR_RUNS.iter().any(|start| name.starts_with(start)))
            };
            begins
                || attaches
                || (0..statement.len()).any(|at| calls(at) || names(at))
                || statement.iter().filter_map(Token::word).any(|word| word.starts_with("xp_"))
        })
    })
}

/// What functions begin with that read or write files of the server, or run something.
const READS_OR_RUNS: &[&str] = &[
    "lo_export",
    "lo_import",
    "load_extension",
    "load_file",
    "openrowset",
    "pg_execute_server",
    "pg_ls_",
    "pg_read_",
    "sp_oa",
    "shell",
    "sys_eval",
    "sys_exec",
    "dblink",
    "utl_file",
    "dbms_scheduler",
    "query_to_xml",
    "xp_",
];

/// The tokens between the bracket that opens here and its end.
fn arguments(tokens: &[Token]) -> impl Iterator<Item = &Token> {
    let mut depth = 0_usize;
    tokens.iter().take_while(move |token| {
        match token {
            Token::Symbol('(') => depth += 1,
            Token::Symbol(')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 0
    })
}

/// The strings that a function which reads files is given in place of its first argument. Options are none.
fn named_files(call: &[Token]) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let first = arguments(call).take(MAX_ARGUMENT_TOKENS).take_while(move |token| {
        match token {
            Token::Symbol('(' | '[') => depth += 1,
            Token::Symbol(')' | ']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        !(token.is(',') && depth < 2)
    });
    first.filter_map(Token::quoted)
}

/// Whether the name of a file begins at a root or on another machine, or climbs.
fn is_rooted(name: &str) -> bool {
    let name = name.trim();
    name.starts_with(['/', '\\', '~']) || name.contains(":/") || name.split(['/', '\\']).any(|step| step == "..")
}

/// Whether a part of the name of a file begins with a dot, as names of secrets do.
fn is_hidden(name: &str) -> bool {
    name.trim().split(['/', '\\']).any(|step| step.len() > 1 && step.starts_with('.'))
}

/// Whether the name of a file leads out of the folder in which the database looks for it, or to what is hidden there.
fn is_outside(name: &str) -> bool {
    let name = name.trim();
    let drive = name.as_bytes().get(1) == Some(&b':') && name.starts_with(|c: char| c.is_ascii_alphabetic());
    drive || is_rooted(name) || is_hidden(name) || name.contains("://") || name.contains('|')
}

/// Whether a statement of ClickHouse acts on the server itself.
fn acts_on_system(statement: &[Token]) -> bool {
    statement.get(1).and_then(Token::word).is_some_and(|word| SYSTEM_ACTIONS.contains(&word))
}

fn is_function(word: &str) -> bool {
    FUNCTIONS.contains(&word) || FUNCTION_PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

/// Whether a statement that writes begins here, in the middle of another.
fn begins_writing(tokens: &[Token], before: Option<&Token>) -> bool {
    let Some(word) = tokens.first().and_then(Token::word) else { return false };
    let next = tokens.get(1);
    let next_word = next.and_then(Token::word);
    let named = matches!(next, Some(Token::Quoted(_))) || next_word.is_some_and(|next| !CLAUSES.contains(&next));
    let has =
        |wanted: &str| tokens.len() > MAX_ARGUMENT_TOKENS || tokens.iter().any(|token| token.word() == Some(wanted));
    // Where a subquery may stand, a name may not be followed by another.
    let opens = before.is_some_and(|token| token.is('('));
    match word {
        // `unpivot t on a into name n value v` of DuckDB.
        "into" => next_word != Some("name") || !has("value"),
        "for" => matches!(next_word, Some("update" | "share" | "no" | "key")),
        "lock" => next_word == Some("in"),
        "delete" => named || next_word == Some("from") || opens && next.is_some_and(|token| !token.is(')')),
        "insert" | "upsert" => named,
        "update" => named && has("set"),
        "merge" => named && (has("using") || has("into")),
        "replace" => next_word == Some("into") || named && has("values"),
        "truncate" => next_word == Some("table") || named,
        "drop" | "alter" => next_word.is_some_and(|next| OBJECTS.contains(&next)),
        "create" => {
            let shown = before.and_then(Token::word).is_some_and(|word| matches!(word, "show" | "describe"));
            !shown && next_word.is_some_and(|next| OBJECTS.contains(&next))
        }
        "exec" | "execute" => named || next.is_some_and(|token| token.is('(') || token.is('@')),
        "call" => named && tokens.iter().any(|token| token.is('(')),
        "grant" | "revoke" | "deny" => named && (has("on") || has("to")),
        "kill" => matches!(next, Some(Token::Number(_))),
        "dbcc" => named,
        _ => PAIRS.iter().any(|(pair, second)| {
            *pair == word && (second.is_empty() || next_word.is_some_and(|next| second.contains(&next)))
        }),
    }
}

fn pragma(statement: &[Token]) -> Reading {
    let assigns = statement.iter().any(|token| token.is('='));
    let arguments = statement.iter().position(|token| token.is('(')).unwrap_or(statement.len());
    let name = statement[..arguments].iter().rev().find_map(Token::word).unwrap_or_default();
    let takes = arguments < statement.len();
    // Without brackets a second word is an argument of some engines.
    let words = statement[..arguments].iter().filter(|token| !matches!(token, Token::Symbol('.'))).count();
    let dotted = statement[..arguments].iter().any(|token| token.is('.'));
    let plain = words <= if dotted { 3 } else { 2 };
    if assigns || takes && !TELLING_PRAGMAS.contains(&name) || ACTING_PRAGMAS.contains(&name) || !plain {
        return writes(format!("the pragma `{name}` may write"));
    }
    within(statement)
}

/// `explain` runs the statement it explains where it is told to analyse it.
fn explained(statement: &[Token]) -> Reading {
    let begins = |word: &str| READING.contains(&word) || CHANGING.contains(&word);
    let is_option = |word: &str| matches!(word, "analyze" | "table" | "desc" | "from" | "explain");
    let inner = statement.iter().skip(1).filter_map(Token::word).find(|word| begins(word) && !is_option(word));
    match inner {
        Some(verb) if !READING.contains(&verb) => writes(format!("the explained statement `{verb}` may write")),
        _ => within(statement),
    }
}

/// Whether a text that begins with a word for reading is a statement, and not a sentence.
fn reads_shaped(verb: &str, statement: &[Token]) -> bool {
    let has = |wanted: &str| statement.iter().skip(1).any(|token| token.word() == Some(wanted));
    let technical = statement.iter().skip(1).any(|token| match token {
        Token::Symbol(symbol) => matches!(symbol, '*' | '(' | '=' | '<' | '>'),
        Token::Quoted(_) | Token::Number(_) => true,
        Token::Word(..) => false,
    });
    match verb {
        "select" => has("from") || technical,
        "with" => has("as") && statement.iter().any(|token| token.is('(')),
        "explain" => {
            let next = statement.get(1).and_then(Token::word);
            next.is_some_and(|next| matches!(next, "analyze" | "query" | "verbose" | "select" | "with" | "extended"))
                || statement.get(1).is_some_and(|token| token.is('('))
                || next.is_some_and(|next| is_shaped(next, false, &statement[1..]))
        }
        "pragma" => true,
        _ => technical,
    }
}

/// Whether a text that begins with a word for writing is a statement, and not a sentence.
fn is_shaped(verb: &str, capitals: bool, statement: &[Token]) -> bool {
    let word = |at: usize| statement.get(at).and_then(Token::word);
    let has = |wanted: &str| statement.iter().skip(1).any(|token| token.word() == Some(wanted));
    let symbol = |wanted: char| statement.iter().any(|token| token.is(wanted));
    let behind = statement.len() - 1;
    let quoted = |at: usize| matches!(statement.get(at), Some(Token::Quoted(_)));
    let any_quoted = || statement.iter().any(|token| token.quoted().is_some());
    // Nobody shouts one word of a search; some shout all of it.
    let shouts = statement.iter().all(|token| matches!(token, Token::Word(_, true)));
    if capitals && !shouts && behind <= 4 && !has("the") && !has("a") && !has("my") {
        return true;
    }
    match verb {
        "insert" | "replace" | "upsert" => word(1) == Some("into") || has("values") && symbol('('),
        "update" => has("set") && symbol('='),
        "delete" => {
            word(1) == Some("from") && (behind <= 3 || has("where") || has("using")) || has("where") && symbol('=')
        }
        "drop" | "truncate" => {
            let object = word(1).is_some_and(|next| OBJECTS.contains(&next));
            object && (behind == 2 || has("if") && has("exists") || has("cascade"))
        }
        "alter" => {
            word(1).is_some_and(|next| OBJECTS.contains(&next))
                && (has("add") || has("drop") || has("set") || has("rename") || has("to"))
        }
        "create" => {
            let object = word(1).is_some_and(|next| OBJECTS.contains(&next));
            object && (symbol('(') || has("as") && has("select") || has("identified") || has("password"))
        }
        "call" | "exec" | "execute" => {
            symbol('(')
                || quoted(2)
                || symbol('@')
                || word(1).is_some_and(is_function)
                || statement.iter().any(|token| token.is('.'))
        }
        "do" => quoted(1) || word(1).is_some_and(is_function),
        "merge" => word(1) == Some("into") || has("using") && has("when"),
        "copy" => (has("from") || has("to")) && (has("program") || has("stdin") || has("stdout") || any_quoted()),
        "grant" | "revoke" | "deny" => has("on") && (has("to") || has("from")),
        "attach" | "detach" => word(1) == Some("database") || quoted(1),
        "set" => symbol('=') || matches!(word(1), Some("global" | "session" | "role")),
        "prepare" => {
            let verb = statement.iter().position(|token| token.word() == Some("as")).and_then(|at| word(at + 1));
            let begins = |verb: &str| {
                matches!(verb, "select" | "insert" | "update" | "delete" | "merge" | "values" | "with" | "table")
            };
            verb.is_some_and(begins) || word(2) == Some("from") && quoted(3)
        }
        "handler" => matches!(word(2), Some("open" | "read" | "close")),
        "import" if word(1) == Some("foreign") => word(2) == Some("schema"),
        "load" | "install" | "import" | "export" => {
            quoted(1) || word(1) == Some("data") && has("infile") || word(1) == Some("database") && quoted(2)
        }
        "vacuum" | "shutdown" | "reindex" | "checkpoint" => behind == 0 || word(1) == Some("into"),
        "waitfor" => matches!(word(1), Some("delay" | "time")),
        "backup" | "restore" => word(1) == Some("database") && any_quoted(),
        "declare" => symbol('@'),
        _ => is_function(verb),
    }
}
