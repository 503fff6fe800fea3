//! The files that a query names, and what else stands in its strings: read in each dialect, since what is a string differs.
//!
//! A string counts in place of a table, behind a word for files, in the call of a function that reads or writes some however deep,
//! and, where it has the form of a path by itself, in the call of a function that nobody here knows. What is compared, stored or
//! cut is data.

use super::lexer::{self, DIALECTS, Token};
use super::tables::Places;
use super::words::{FILE_READERS, SOURCES};
use super::{computed, fragment, is_function};
use crate::arguments::role::{self, Role};
use crate::arguments::{body, place};

/// Words at the beginning of a statement about a file: the next string of it is one.
const BEGINNING: [&str; 8] = ["attach", "load", "install", "import", "export", "restore", "backup", "unload"];
/// Words in front of the name of a file.
const NAMING: [&str; 7] = ["database", "infile", "outfile", "dumpfile", "disk", "to", "into"];
/// The same where something is made or changed: `location '/x'`, `as '/x.so'`.
const MAKING: [&str; 2] = ["create", "alter"];
const MADE_OF: [&str; 6] = ["directory", "location", "filename", "path", "library", "as"];
/// Words in front of a dot and a name in quotes that is a file: `csv.`/x``.
const FORMATS: [&str; 8] = ["csv", "json", "text", "parquet", "orc", "avro", "delta", "binaryfile"];
/// Words that begin a call of a procedure.
const CALLING: [&str; 3] = ["exec", "execute", "call"];
/// Words behind which a string is compared, stored or shown.
const COMPARING: [&str; 18] = [
    "like", "ilike", "rlike", "regexp", "glob", "similar", "in", "between", "and", "or", "not", "then", "else", "when",
    "default", "values", "escape", "interval",
];
/// Words in front of brackets that call nothing, and functions that only work on texts.
const DATA: [&str; 74] = [
    "in",
    "values",
    "and",
    "or",
    "not",
    "where",
    "on",
    "when",
    "then",
    "else",
    "select",
    "as",
    "like",
    "any",
    "all",
    "some",
    "filter",
    "exists",
    "over",
    "by",
    "set",
    "from",
    "join",
    "match",
    "create",
    "merge",
    "using",
    "array",
    "row",
    "concat",
    "concat_ws",
    "replace",
    "starts_with",
    "startswith",
    "ends_with",
    "endswith",
    "contains",
    "position",
    "strpos",
    "instr",
    "locate",
    "charindex",
    "split_part",
    "split",
    "string_split",
    "substr",
    "substring",
    "left",
    "right",
    "trim",
    "ltrim",
    "rtrim",
    "btrim",
    "lower",
    "upper",
    "coalesce",
    "ifnull",
    "nullif",
    "if",
    "iif",
    "length",
    "format",
    "date_format",
    "strftime",
    "to_char",
    "cast",
    "string_agg",
    "group_concat",
    "decode",
    "translate",
    "count",
    "min",
    "max",
    "ilike",
];

/// A string in a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::arguments) struct Literal {
    pub(in crate::arguments) text: String,
    /// The word in front of it.
    pub(in crate::arguments) before: String,
}

/// What a string in some brackets is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    /// Data.
    Data,
    /// A file, if it has the form of one.
    Perhaps,
    /// A file.
    File,
}

fn each_reading(text: &str, look: &mut dyn FnMut(&[Token])) {
    if !text.contains(['\'', '"', '$', '`']) {
        return;
    }
    let dialects = if lexer::is_ambiguous(text) { &DIALECTS[..] } else { &DIALECTS[..1] };
    let mut seen: Vec<Vec<Token>> = Vec::new();
    for dialect in dialects {
        let tokens = lexer::tokens(text, *dialect);
        if !seen.contains(&tokens) {
            look(&tokens);
            seen.push(tokens);
        }
    }
}

/// All strings of a query.
pub(in crate::arguments) fn literals(text: &str) -> Vec<Literal> {
    let mut found: Vec<Literal> = Vec::new();
    each_reading(text, &mut |tokens| {
        for (at, token) in tokens.iter().enumerate() {
            if let Token::Quoted(text) = token {
                let before = at.checked_sub(1).and_then(|at| tokens[at].word()).unwrap_or_default().to_owned();
                found.push(Literal { text: text.clone(), before });
            }
        }
    });
    found
}

/// The files that a text names, read as a query.
pub(in crate::arguments) fn files(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    // More than are looked into are refused as what is computed.
    for text in computed::texts(text).all {
        each_reading(&text, &mut |tokens| collect(tokens, &mut found));
    }
    found
}

fn collect(tokens: &[Token], found: &mut Vec<String>) {
    let places = Places::of(tokens);
    let mut outside: Vec<Within> = Vec::new();
    let mut within = Within::Data;
    // Whether the statement began with a word for files, or with a call, and whether the word before names a file.
    let (mut is_begun, mut calls, mut is_named, mut begins) = (false, false, false, true);
    let (mut makes, mut is_made_of) = (false, false);
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        match token {
            Token::Symbol('(') => {
                outside.push(within);
                let source = at.checked_sub(2).and_then(|source| tokens[source].word());
                // What is compared by this name is no file.
                let finds =
                    before.and_then(Token::word) == Some("glob") && matches!(source, Some("from" | "join" | ","));
                within = if finds { Within::File } else { called(before, within) };
            }
            Token::Symbol(')') => within = outside.pop().unwrap_or(Within::Data),
            Token::Symbol(';') => (is_begun, calls, makes, begins) = (false, false, false, true),
            Token::Quoted(file) => {
                // `filename = '/x'` in a call is an argument by its name.
                let is_option = || {
                    let name = at.checked_sub(2).and_then(|name| tokens[name].word());
                    within == Within::Perhaps && name.is_some_and(|name| role::of(name) == Role::Path)
                };
                let is_compared = before.is_some_and(is_comparing) && !is_option();
                let is_perhaps = within == Within::Perhaps || calls;
                let counts = is_begun
                    || is_named
                    || within == Within::File
                    || places.is_table(at)
                    || is_perhaps && !is_compared && is_path(file)
                    || makes && is_made_of && is_path(file)
                    || is_of_format(tokens, at);
                if counts {
                    found.push(file.clone());
                }
                is_begun = false;
            }
            _ => {}
        }
        if let Some(word) = token.word().filter(|_| begins) {
            is_begun = BEGINNING.contains(&word);
            calls = CALLING.contains(&word);
            makes = MAKING.contains(&word);
        }
        begins = token.is(';');
        if !token.is('=') {
            is_named = token.word().is_some_and(|word| NAMING.contains(&word));
            is_made_of = token.word().is_some_and(|word| MADE_OF.contains(&word));
        }
    }
}

/// Whether what stands in quotes is a file, by the format in front of it.
fn is_of_format(tokens: &[Token], at: usize) -> bool {
    let format = at.checked_sub(2).and_then(|format| tokens[format].word());
    format.is_some_and(|format| FORMATS.contains(&format)) && tokens[at - 1].is('.')
}

/// What strings in brackets are, by what stands in front of them.
fn called(before: Option<&Token>, around: Within) -> Within {
    let Some(name) = before.and_then(fragment::name) else { return around };
    if around == Within::File
        || is_function(&name)
        || FILE_READERS.contains(&name.as_ref())
        || SOURCES.contains(&name.as_ref())
    {
        return Within::File;
    }
    let of_text = ["regexp", "json", "jsonb", "date", "str_", "parse_"].iter().any(|front| name.starts_with(front));
    if of_text && name.as_ref() != "json" || DATA.contains(&name.as_ref()) { around } else { Within::Perhaps }
}

fn is_comparing(token: &Token) -> bool {
    match token {
        Token::Symbol(symbol) => matches!(symbol, '=' | '<' | '>' | '!' | '~' | '|' | ':' | '+'),
        Token::Word(word, _) => COMPARING.contains(&word.as_str()),
        Token::Quoted(_) | Token::Number(_) => false,
    }
}

/// Whether a string has the form of a path by itself. One separator has not, nor what only begins as a route does.
fn is_path(text: &str) -> bool {
    let first = text.strip_prefix('/').map(|rest| rest.split('/').next().unwrap_or_default());
    body::names_path(&[], text)
        || first.is_some_and(body::is_root)
        || place::begins_as_path(text) && text.starts_with("..")
}
