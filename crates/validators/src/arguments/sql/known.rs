//! Statements that are understood: one that begins with a word for reading, in which every function is known to compute
//! from what it is given or to tell of the database itself.
//!
//! The functions stand in a table, a group for each dialect; a statement may use those of all, since the database is not
//! known. What is not in it (a function of the database's own, a name in quotes that is called) may do anything: a person
//! is asked. What is hostile was looked for before, in [`super::check`].

use std::collections::HashSet;
use std::sync::LazyLock;

use super::lexer::Token;
use super::words::{READING, TELLING_PRAGMAS};
use super::{Certainty, Reading, grammar, places, procedures, reads_shaped};
use crate::Finding;

const FUNCTIONS: &str = include_str!("known/functions.txt");
const WORDS: &str = include_str!("known/words.txt");

struct Tables {
    functions: HashSet<&'static str>,
    clauses: HashSet<&'static str>,
    owners: HashSet<&'static str>,
    methods: HashSet<&'static str>,
    combinators: HashSet<&'static str>,
    pragmas: HashSet<&'static str>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables {
    functions: words_of(FUNCTIONS, None),
    clauses: words_of(WORDS, Some("clauses")),
    owners: words_of(WORDS, Some("owners")),
    methods: words_of(WORDS, Some("methods")),
    combinators: words_of(WORDS, Some("combinators")),
    pragmas: words_of(WORDS, Some("pragmas")),
});

/// The words of one group of a table, or of all.
pub(super) fn words_of(table: &'static str, group: Option<&str>) -> HashSet<&'static str> {
    let mut current = "";
    let mut words = HashSet::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            current = name;
        } else if group.is_none_or(|group| group == current) {
            words.extend(line.split_whitespace());
        }
    }
    words
}

/// What one dialect makes of a text.
pub(super) enum Understood {
    /// Every part of it is known.
    Yes,
    /// It is no statement that begins with a word for reading.
    Otherwise,
    /// Something in it is not known.
    Not(Finding),
}

/// What all dialects together make of a text: one in which it is an error runs nothing of it.
pub(super) fn together(found: Vec<Understood>, sure: bool) -> Option<Finding> {
    let read = found.iter().any(|one| matches!(one, Understood::Yes));
    let doubt = found.into_iter().find_map(|one| match one {
        Understood::Not(finding) => Some(finding),
        _ => None,
    });
    doubt.or_else(|| (sure && !read).then(|| ask("it begins with no word for reading")))
}

/// What is not understood of a text, if it is a statement. `sure` is whether it can be nothing else.
pub(super) fn understood(tokens: &[Token], sure: bool) -> Understood {
    let mut statements = tokens.split(|token| token.is(';')).filter(|statement| !statement.is_empty());
    let Some(first) = statements.next() else { return Understood::Yes };
    let is_statement = |statement: &[Token]| {
        let verb = statement.iter().find(|token| !token.is('(')).and_then(Token::word);
        verb.is_some_and(|verb| READING.contains(&verb) && (sure || reads_shaped(verb, statement)))
    };
    if procedures::tells(first) && statements.clone().next().is_none() {
        return Understood::Yes;
    }
    if !is_statement(first) {
        return Understood::Otherwise;
    }
    if statements.next().is_some() {
        return Understood::Not(ask("there is more than one statement"));
    }
    // Pragmas have a table of their own.
    let is_pragma = first.first().and_then(Token::word) == Some("pragma");
    if is_pragma && !is_known_pragma(first) {
        return Understood::Not(ask("the pragma is not known"));
    }
    let odd = || grammar::doubt(first).map(ask).or_else(|| places::doubt(first).map(|why| ask(&why)));
    within(first).filter(|_| !is_pragma).or_else(odd).map_or(Understood::Yes, Understood::Not)
}

/// Whether a pragma tells of the database, or of a setting that is a number or a mode.
fn is_known_pragma(statement: &[Token]) -> bool {
    let brackets = statement.iter().position(|token| token.is('(')).unwrap_or(statement.len());
    let name = statement[..brackets].iter().rev().find_map(Token::word).unwrap_or_default();
    TELLING_PRAGMAS.contains(&name) || TABLES.pragmas.contains(name)
}

fn within(statement: &[Token]) -> Option<Finding> {
    for (at, token) in statement.iter().enumerate() {
        if token.word().is_some_and(|word| word.contains(is_invisible)) {
            return Some(ask("it holds characters that nobody sees"));
        }
        let follows = |symbol: char| statement.get(at + 1).is_some_and(|next| next.is(symbol));
        if token.is('{') {
            return Some(ask("braces are filled in by somebody, or run something"));
        }
        let escapes = at > 0 && statement[at - 1].word() == Some("u") && token.is('&');
        if escapes && statement.get(at + 1).and_then(Token::quoted).is_some_and(|text| text.contains('\\')) {
            return Some(ask("a name is written in escapes"));
        }
        if token.is(':') && follows('=') {
            return Some(ask("`:=` sets a variable"));
        }
        if !follows('(') {
            continue;
        }
        // `columns('.*')` of DuckDB picks columns by a pattern; in `json_table` names stand there.
        let picks = statement.get(at + 2).is_some_and(|next| next.quoted().is_some() || next.word() == Some("lambda"));
        if token.word() == Some("columns") && picks {
            return Some(ask("columns are picked by a pattern"));
        }
        let called = match token {
            Token::Word(word, _) if is_known(word, &statement[..at]) => continue,
            Token::Word(word, _) => word.as_str(),
            Token::Quoted(name) => name.as_str(),
            Token::Number(_) | Token::Symbol(_) => continue,
        };
        // `a = b(+)` joins, in Oracle.
        let joins = matches!(statement.get(at + 2..at + 4), Some([plus, end]) if plus.is('+') && end.is(')'));
        if !joins && !names_columns(statement, at) {
            let shown: String = called.chars().take(64).collect();
            return Some(ask(&format!("the function `{shown}` is not known")));
        }
    }
    None
}

/// Characters without width, which some read as blanks and others as letters.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// Whether a word in front of a bracket is a known function, or none at all.
fn is_known(word: &str, before: &[Token]) -> bool {
    let tables = &*TABLES;
    if before.last().is_some_and(|token| token.is('.')) {
        let owner = before.iter().rev().nth(1).and_then(Token::word);
        return owner.is_some_and(|owner| tables.owners.contains(owner)) && is_function(word)
            || tables.methods.contains(word);
    }
    tables.clauses.contains(word) || is_function(word)
}

/// ClickHouse adds endings to the names of functions: `sumIf`, `avgOrNull`.
fn is_function(word: &str) -> bool {
    let tables = &*TABLES;
    tables.functions.contains(word)
        || tables
            .combinators
            .iter()
            .any(|ending| word.strip_suffix(ending).is_some_and(|stem| tables.functions.contains(stem)))
}

/// Whether a name and its bracket say how columns are called: `with t(a, b) as (..)`, `as t(a, b)`, `unnest(x) t(a)`.
fn names_columns(statement: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| statement.get(before));
    if before.is_some_and(|token| token.is(')') || token.word() == Some("as")) {
        return true;
    }
    let begins = before.is_some_and(|token| token.is(',') || matches!(token.word(), Some("with" | "recursive")));
    let end = statement[at..].iter().position(|token| token.is(')')).map(|end| at + end);
    let plain = |end: usize| {
        statement[at + 2..end].iter().all(|token| matches!(token, Token::Word(..) | Token::Quoted(_)) || token.is(','))
    };
    begins
        && end.is_some_and(|end| {
            let opens = statement.get(end + 2).is_some_and(|token| {
                token.is('(') || token.word().is_some_and(|word| matches!(word, "materialized" | "not"))
            });
            plain(end) && statement.get(end + 1).and_then(Token::word) == Some("as") && opens
        })
}

fn ask(why: &str) -> Finding {
    Finding::new("sql-not-understood", format!("the statement is not understood: {why}")).ask()
}

/// Statements that change something in the ordinary way, which a person may agree to where changing is allowed at all.
/// Those that read may stand beside them.
pub(super) fn is_ordinary_change(tokens: &[Token]) -> bool {
    let reads = |statement: &[Token]| {
        let verb = statement.first().and_then(Token::word);
        let fine = || matches!(super::judge(statement, Certainty::Sure), Reading::Fine);
        verb.is_some_and(|verb| READING.contains(&verb)) && fine()
    };
    let statements = || tokens.split(|token| token.is(';')).filter(|statement| !statement.is_empty());
    !tokens.iter().any(|token| token.is('\\'))
        && statements().any(is_ordinary)
        && statements().all(|statement| reads(statement) || is_ordinary(statement))
}

fn is_ordinary(statement: &[Token]) -> bool {
    const OBJECTS: &[&str] =
        &["table", "index", "view", "schema", "sequence", "unique", "materialized", "temp", "temporary"];
    const NEVER: &[&str] = &[
        "outfile",
        "dumpfile",
        "infile",
        "program",
        "exec",
        "execute",
        "shutdown",
        "truncate",
        "grant",
        "revoke",
        "attach",
        "copy",
        "kill",
        "call",
        "immediate",
        "procedure",
        "function",
        "trigger",
        "extension",
        "server",
        "user",
        "role",
        "external",
        "location",
        "engine",
    ];
    let word = |at: usize| statement.get(at).and_then(Token::word);
    let has = |wanted: &str| statement.iter().any(|token| token.word() == Some(wanted));
    let ordinary = match word(0) {
        Some("insert") => true,
        Some("update" | "delete") => has("where"),
        Some("merge") => has("when"),
        Some("create") => {
            let object = if word(1) == Some("or") { word(3) } else { word(1) };
            object.is_some_and(|object| OBJECTS.contains(&object))
        }
        Some("alter") => word(1) == Some("table"),
        Some("comment") => word(1) == Some("on"),
        // Where names are looked for; who one is and what is allowed stands under other words.
        Some("set") => word(1) == Some("search_path") || word(2) == Some("search_path"),
        Some("start") => word(1) == Some("transaction") && statement.len() <= 4,
        Some("analyze" | "vacuum" | "begin" | "commit" | "rollback" | "use") => statement.len() <= 3,
        _ => false,
    };
    let called = |at: usize| super::fragment::called(statement, at).is_some();
    let acts = |at: usize| {
        let verb = at > 0 && word(at) == Some("drop") && word(0) != Some("alter");
        verb || word(at).is_some_and(|word| NEVER.contains(&word))
    };
    let reading = statement.iter().position(|token| token.word() == Some("select"));
    let reads = reading.is_none_or(|at| matches!(super::within(&statement[at..]), Reading::Fine));
    ordinary
        && reads
        && within(statement.get(reading.unwrap_or(statement.len())..).unwrap_or_default()).is_none()
        && !(0..statement.len()).any(|at| called(at) || acts(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_function_is_both_known_and_hostile() {
        let both: Vec<_> = TABLES.functions.iter().filter(|name| super::super::is_function(name)).collect();
        assert!(both.is_empty(), "{both:?}");
    }
}
