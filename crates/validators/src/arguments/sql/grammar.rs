//! How the words of a query may follow each other.
//!
//! SQL Server wants no semicolon between two statements, and the verbs of all databases are too many to list. But a value in
//! a query is followed by an operator, a keyword, a comma or an alias, and by nothing else: `select 1 drop master key` has
//! three values in a row. What does not follow this rule is not understood.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::known::words_of;
use super::lexer::Token;
use super::words::{CHANGING, READING};

const WORDS: &str = include_str!("known/keywords.txt");

static KEYWORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| words_of(WORDS, Some("hard")));
/// Those that are names as well: behind a value they are none.
static SOFT: LazyLock<HashSet<&'static str>> = LazyLock::new(|| words_of(WORDS, Some("soft")));

/// Verbs of SQL Server that begin no statement elsewhere.
const VERBS: &[&str] = &["setuser", "dump", "add", "readtext", "throw"];

/// Types in front of a string that are one value with it.
const TYPES: &[&str] = &[
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "datetime",
    "datetime64",
    "interval",
    "n",
    "e",
    "x",
    "b",
    "r",
    "u",
    "br",
    "rb",
    "json",
    "jsonb",
    "uuid",
    "inet",
    "cidr",
    "numeric",
    "decimal",
    "bignumeric",
    "point",
    "box",
    "bytea",
    "text",
    "varchar",
    "binary",
    "_utf8",
    "_utf8mb4",
    "_binary",
    "_latin1",
];
/// Units of an interval behind its number, and second words of types.
const UNITS: &[&str] = &[
    "microsecond",
    "millisecond",
    "second",
    "minute",
    "hour",
    "day",
    "week",
    "month",
    "quarter",
    "year",
    "microseconds",
    "milliseconds",
    "seconds",
    "minutes",
    "hours",
    "days",
    "weeks",
    "months",
    "quarters",
    "years",
    "precision",
    "varying",
    "unsigned",
    "signed",
];
/// What may follow an alias that is called like a verb.
const BEHIND_ALIAS: &str = "from where group order limit having union intersect except minus join left right inner outer cross full natural \
     on using window offset fetch qualify and or is in not like ilike between then else end when asc desc nulls as \
     over for collate lateral tablesample format settings within filter rlike regexp";

/// Whether a word is no name in a query.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(word)
}

/// What does not follow the rule, if anything.
pub(super) fn doubt(statement: &[Token]) -> Option<&'static str> {
    if let Some(doubt) = piped(statement).or_else(|| second_verb(statement)) {
        return Some(doubt);
    }
    let verb = statement.iter().find_map(Token::word);
    // What stands behind these is not the language of queries.
    let is_query = !matches!(verb, Some("show" | "describe" | "desc" | "pragma" | "explain"));
    // Between two dollars stands a string, or an error.
    let dollars = statement.windows(2).any(|two| two[0].is('$') && two[1].is('$'));
    if is_query && !dollars { in_a_row(statement) } else { None }
}

/// Where a scan stands inside of one pair of brackets.
#[derive(Clone, Copy, Default)]
struct Place {
    /// How many values stand here beside each other.
    values: usize,
    /// Whether the next value belongs to the one before, behind a dot or a cast.
    joined: bool,
    /// Cases that were begun and not ended.
    cases: usize,
    /// Whether the bracket stands right behind a value: a call, an index, names of columns.
    called: bool,
    /// Whether these are definitions of columns, which have words of all kinds.
    free: bool,
}

fn in_a_row(statement: &[Token]) -> Option<&'static str> {
    const DOUBT: &str = "values follow each other with nothing between them";
    // `lateral view explode(a) t as b` of Hive and Spark.
    let views = statement.windows(2).any(|two| two[0].word() == Some("lateral") && two[1].word() == Some("view"));
    let mut outside: Vec<Place> = Vec::new();
    let mut place = Place::default();
    for (at, token) in statement.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| statement.get(before));
        match token {
            Token::Symbol('(' | '[' | '{') => {
                let free = before.and_then(Token::word) == Some("with");
                let counts = matches!(before.and_then(Token::word), Some("top" | "on"));
                let called = counts || before.is_some_and(ends_value);
                outside.push(place);
                place = Place { called, free: free || place.free, ..Place::default() };
            }
            Token::Symbol(')' | ']' | '}') => {
                let called = place.called;
                place = outside.pop().unwrap_or_default();
                if !called && !place.joined {
                    place.values += 1;
                }
                place.joined = false;
            }
            Token::Symbol('.' | ':' | '@' | '$') => {
                // A parameter is a value of its own: `= @a`, `:name`.
                let begins = !place.joined && before.is_none_or(|token| !ends_value(token));
                place.values += usize::from(begins && !token.is('.'));
                place.joined = true;
            }
            Token::Symbol('*') if before.is_none_or(|token| !ends_value(token)) => {
                place.values = 1;
                place.joined = false;
            }
            Token::Symbol('?' | '\\' | '#') => {}
            Token::Symbol(',') => place = Place { values: 0, joined: false, ..place },
            Token::Symbol(_) => {
                if place.values > 1 && !place.free {
                    return Some(DOUBT);
                }
                place = Place { values: 0, joined: false, ..place };
            }
            Token::Word(word, _) if !place.joined && is_keyword_here(word, place) && !is_owner(statement, at) => {
                if word == "as" && place.values > 1 && !place.free && !views {
                    return Some(DOUBT);
                }
                place.cases += usize::from(word == "case");
                place.values = usize::from(is_last(word));
            }
            Token::Word(word, _) if names_hint(word, statement.get(at + 1)) => place.values = 0,
            Token::Word(word, _) if word == "end" && place.cases > 0 && !place.joined => {
                place.cases -= 1;
                place.values = 1;
            }
            Token::Word(..) | Token::Quoted(_) | Token::Number(_) => {
                let one = place.joined || before.is_some_and(|before| is_one(before, token));
                place.values += usize::from(!one);
                place.joined = false;
            }
        }
        if place.values > 2 && !place.free {
            return Some(DOUBT);
        }
    }
    None
}

fn is_keyword_here(word: &str, place: Place) -> bool {
    is_keyword(word) || place.values > 0 && SOFT.contains(word)
}

/// Whether a keyword is a name, since a part of a longer one follows.
fn is_owner(statement: &[Token], at: usize) -> bool {
    statement.get(at + 1).is_some_and(|next| next.is('.') && statement.get(at + 2).is_some_and(|token| !token.is('.')))
}

/// Whether two tokens beside each other are one value.
fn is_one(before: &Token, token: &Token) -> bool {
    match (before, token) {
        (Token::Quoted(_), Token::Quoted(_)) => true,
        // How many are wanted.
        (Token::Word(word, _), Token::Number(_)) => word == "top",
        // `m['k']` and `list[1]`, to those who take brackets for quotes.
        (Token::Word(word, _), Token::Quoted(text)) => {
            let index = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '\'' | '"' | '-'));
            index || TYPES.contains(&word.as_str())
        }
        (Token::Word(first, _), Token::Word(word, _)) if first == "character" && word == "set" => true,
        (_, Token::Word(word, _)) => UNITS.contains(&word.as_str()),
        _ => false,
    }
}

/// Whether a value ends with this token.
pub(super) fn ends_value(token: &Token) -> bool {
    match token {
        Token::Number(_) | Token::Quoted(_) => true,
        Token::Symbol(symbol) => matches!(symbol, ')' | ']' | '}' | '?' | '*'),
        Token::Word(word, _) => !is_keyword(word) || is_last(word),
    }
}

/// Keywords behind which no value is wanted.
fn is_last(word: &str) -> bool {
    matches!(word, "asc" | "desc" | "only" | "isnull" | "notnull" | "ties")
}

/// `select 1 ->> put ..`: Snowflake runs what follows. In JSON a key follows.
fn piped(statement: &[Token]) -> Option<&'static str> {
    let is_verb = |at: usize| {
        let word = statement.get(at).and_then(Token::word);
        let next = statement.get(at + 1);
        let tells = next.is_some_and(|next| match next {
            Token::Word(word, _) => !is_keyword(word),
            Token::Quoted(_) | Token::Number(_) => true,
            Token::Symbol(symbol) => matches!(symbol, '@' | '$' | '*'),
        });
        word.is_some_and(|word| tells || CHANGING.contains(&word) || READING.contains(&word))
    };
    let pipes = |at: usize| {
        let symbol = |offset: usize, wanted: char| statement.get(at + offset).is_some_and(|token| token.is(wanted));
        symbol(0, '-') && symbol(1, '>') && symbol(2, '>') && is_verb(at + 3)
    };
    (0..statement.len()).any(pipes).then_some("`->>` hands on to another statement")
}

/// A verb behind a value, with something behind it that follows no alias.
fn second_verb(statement: &[Token]) -> Option<&'static str> {
    let shown = statement.first().and_then(Token::word) == Some("show");
    let begins = |at: usize| {
        let Some(word) = statement[at].word().filter(|word| is_verb(word)) else { return false };
        let before = &statement[at - 1];
        let next = statement.get(at + 1);
        let is_alias = match next {
            // SQL Server takes these for a statement, and nobody calls a column so.
            None => !matches!(word, "commit" | "rollback"),
            Some(Token::Word(next, _)) => {
                crate::listed(BEHIND_ALIAS, next.as_str()) && !(next == "as" && matches!(word, "exec" | "execute"))
                    || is_hint(word, next)
            }
            // `* replace (a + 1 as a)` is a part of the list of columns.
            Some(Token::Symbol('(')) => word == "replace",
            Some(Token::Symbol(symbol)) => !matches!(symbol, '@' | '$'),
            Some(Token::Quoted(_) | Token::Number(_)) => false,
        };
        ends_value(before) && !is_alias
    };
    let from = if shown { 3 } else { 1 };
    (from..statement.len()).any(begins).then_some("a second statement may begin in it")
}

fn is_verb(word: &str) -> bool {
    VERBS.contains(&word)
        || CHANGING.contains(&word) && !matches!(word, "end" | "fetch" | "start" | "analyze" | "comment")
}

fn names_hint(word: &str, next: Option<&Token>) -> bool {
    next.and_then(Token::word).is_some_and(|next| is_hint(word, next))
}

/// `use index (i)` is a hint of MySQL.
fn is_hint(word: &str, next: &str) -> bool {
    matches!(word, "use" | "force" | "ignore") && matches!(next, "index" | "key")
}
