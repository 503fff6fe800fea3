//! Commands of the programs that people type queries into: `psql`, `sqlite3`, `mysql`, `sqlplus`, `sqlcmd`. Some tools hand
//! the text to one of them, and their commands run programs, and read and write files.
//!
//! Commands that only tell stand in tables, and pass with plain operands; those known to act are refused; a person is
//! asked about the rest. What follows a command is judged like any other text.

use super::lexer::{self, DIALECTS};
use super::words::{CHANGING, CLAUSES, READING};
use super::{Certainty, Token, grammar};
use crate::{Finding, Verdict};

/// Commands of `psql` and `mysql` that act, behind their backslash.
const BACKSLASH: &[&str] = &[
    "copy",
    "i",
    "ir",
    "include",
    "include_relative",
    "o",
    "out",
    "w",
    "write",
    "e",
    "edit",
    "ef",
    "ev",
    "s",
    "c",
    "connect",
    "cd",
    "set",
    "setenv",
    "getenv",
    "lo_import",
    "lo_export",
    "lo_unlink",
    "password",
    "prompt",
    "watch",
    "gexec",
    "gset",
    "T",
    "P",
    "R",
];
/// Those of them that count behind a query even where the text may be something else.
const ANYWHERE: &[&str] = &["copy", "gexec", "gset", "lo_import", "lo_export", "lo_unlink", "setenv", "include"];
/// Commands of `sqlite3` and `duckdb` that act, behind their dot; `sqlite3` takes the beginning of one for the whole.
const DOT: &[&str] = &[
    "shell", "system", "import", "load", "output", "once", "open", "read", "save", "backup", "restore", "clone",
    "excel", "log", "archive", "ar", "cd", "session", "www", "trace", "edit", "recover", "dbconfig", "filectrl",
];
/// Commands behind a dot that only tell, or say how it is told.
const TELLING_DOT: &[&str] = &[
    "tables",
    "table",
    "schema",
    "fullschema",
    "databases",
    "indexes",
    "indices",
    "headers",
    "header",
    "mode",
    "show",
    "help",
    "width",
    "nullvalue",
    "separator",
    "timer",
    "stats",
    "eqp",
    "explain",
    "changes",
    "echo",
    "bail",
    "dbinfo",
    "version",
    "columns",
    "maxrows",
    "maxwidth",
    "quit",
    "exit",
    "lint",
];
/// The same behind a backslash. `\d` and all that begin with it are not here: they describe.
const TELLING_BACKSLASH: &[&str] = &[
    "l",
    "list",
    "z",
    "sf",
    "sv",
    "conninfo",
    "timing",
    "x",
    "h",
    "help",
    "q",
    "a",
    "t",
    "H",
    "html",
    "f",
    "encoding",
    "errverbose",
    "p",
    "print",
    "echo",
    "copyright",
    "G",
    "g",
    "gx",
    "gdesc",
    "crosstabview",
    "C",
];
/// What `\pset` sets without running anything.
const PRINTING: &[&str] = &[
    "border",
    "format",
    "null",
    "expanded",
    "tuples_only",
    "title",
    "footer",
    "linestyle",
    "fieldsep",
    "recordsep",
    "columns",
    "numericlocale",
];
/// Commands without any sign whose operand is a file.
const OF_FILES: &[&str] =
    &["source", "tee", "spool", "spo", "start", "get", "save", "edit", "@", "@@", ":r", ":out", ":error"];
/// What may stand behind a query, and nothing behind it.
const ENDING: &[&str] = &["g", "gx", "gdesc", "crosstabview", "x", "p"];
/// Words that begin a command of `mysql` or `sqlplus` without any sign.
const PLAIN: &[&str] = &[
    "host",
    "ho",
    "hos",
    "spo",
    "spoo",
    "sta",
    "sav",
    "get",
    "source",
    "system",
    "spool",
    "pager",
    "tee",
    "start",
    "run",
    "edit",
    "ed",
    "connect",
    "conn",
    "store",
    "save",
    "input",
    "password",
    "copy",
    "delimiter",
    "define",
    "accept",
    "whenever",
    "script",
    "output",
    "export",
];

/// What a text is to a client program.
pub(super) struct Commands {
    /// The text without the commands that only tell.
    pub(super) rest: String,
    /// What is not understood among them.
    pub(super) doubt: Option<Finding>,
}

/// Judges each line by how it begins.
pub(super) fn check_lines(text: &str, certainty: Certainty) -> Result<Commands, Finding> {
    if certainty < Certainty::Likely {
        return Ok(Commands { rest: text.to_owned(), doubt: None });
    }
    let (mut rest, mut doubt) = (String::with_capacity(text.len()), None);
    for written in text.split_inclusive(['\n', '\r']) {
        let line = written.trim();
        let found = match line.chars().next() {
            Some('\\') => backslash(&line[1..])?,
            Some('.') if !line[1..].starts_with(|c: char| c.is_ascii_digit()) => dot(&line[1..])?,
            // `!! dir` and `:r file` of `sqlcmd`, `!system` of `snowsql`, `@file` and `$ program` of `sqlplus`.
            Some('!' | '@' | ':' | '$') if !continues(&rest, line) => Found::Unknown(line),
            // A slash alone ends a statement in `sqlplus`, and divides elsewhere.
            Some(_) if rest.trim_end().ends_with("\n/") && is_verb(line) => Found::Unknown(line),
            Some(_) if is_plain_command(line) && !continues(&rest, line) => Found::Unknown(line),
            _ => Found::None,
        };
        match found {
            Found::Telling => rest.push('\n'),
            Found::None => rest.push_str(written),
            Found::Unknown(command) => {
                doubt = doubt.or_else(|| Some(asks(command)));
                rest.push_str(written);
            }
        }
    }
    Ok(Commands { rest, doubt })
}

enum Found<'t> {
    None,
    Telling,
    Unknown(&'t str),
}

fn backslash(rest: &str) -> Result<Found<'_>, Finding> {
    let name = word_of(rest);
    if rest.starts_with(['!', '.']) || BACKSLASH.contains(&name) {
        return Err(acts(&format!("\\{name}")));
    }
    let operands = rest[name.len()..].trim_start_matches('+');
    let first = operands.split_whitespace().next().unwrap_or_default();
    let tells = TELLING_BACKSLASH.contains(&name)
        || name.starts_with('d') && name.len() <= 6
        || name == "pset" && (first.is_empty() || PRINTING.contains(&first))
        || name.is_empty() && operands.starts_with('?');
    // `\g file` and `\g |program` write there.
    let sends = matches!(name, "g" | "gx") && !operands.trim_matches([' ', ';']).is_empty();
    if sends {
        return Err(acts(&format!("\\{name}")));
    }
    Ok(if tells && are_plain(operands) { Found::Telling } else { Found::Unknown(rest) })
}

fn dot(rest: &str) -> Result<Found<'_>, Finding> {
    let name = word_of(rest);
    let ends = rest[name.len()..].chars().next().is_none_or(|c| c.is_whitespace() || c == ';');
    let lower = name.to_ascii_lowercase();
    let tells = TELLING_DOT.contains(&lower.as_str());
    // `.sh` is `.shell`.
    let is_begun = |dot: &&str| dot.starts_with(&lower) && (lower.len() > 1 || dot.len() == 1);
    if ends && !tells && !lower.is_empty() && DOT.iter().any(is_begun) {
        return Err(acts(&format!(".{name}")));
    }
    Ok(if ends && tells && are_plain(&rest[name.len()..]) { Found::Telling } else { Found::Unknown(rest) })
}

/// Whether operands are names and patterns, in which nothing is run and behind which nothing begins.
fn are_plain(operands: &str) -> bool {
    let operands = operands.trim();
    let operands = operands.strip_suffix(';').unwrap_or(operands);
    operands.chars().all(|c| c.is_alphanumeric() || " \t_.*+?$-,\"'%=".contains(c))
}

fn is_verb(line: &str) -> bool {
    let word = word_of(line).to_ascii_lowercase();
    CHANGING.contains(&word.as_str()) || READING.contains(&word.as_str())
}

/// Whether a line begins with a word of a client program and something that it may be told.
fn is_plain_command(line: &str) -> bool {
    let name = word_of(line);
    let lower = name.to_ascii_lowercase();
    let behind = &line[name.len()..];
    let operand = behind.trim_start();
    let next = word_of(operand).to_ascii_lowercase();
    // `start with` and `source as s` belong to a query.
    let is_operand = operand.starts_with(['/', '.', '~', '|', '-', '"', '\'', '\\', '$'])
        || !next.is_empty() && !CLAUSES.contains(&next.as_str()) && next != "with" && next != "transaction";
    PLAIN.contains(&lower.as_str()) && behind.starts_with(char::is_whitespace) && is_operand
}

/// Whether the query in front of a line wants a value next, so that the line is one.
fn continues(before: &str, line: &str) -> bool {
    let before = before.trim_end();
    if before.is_empty() {
        return false;
    }
    // Casts and operators may begin a line.
    if line.starts_with("::") || line.starts_with("!=") || line.starts_with("@>") || line.starts_with("@@") {
        return true;
    }
    let tokens = lexer::tokens(before.rsplit('\n').next().unwrap_or_default(), DIALECTS[0]);
    tokens.last().is_some_and(|token| match token {
        Token::Symbol(symbol) => matches!(symbol, ',' | '(' | '=' | '<' | '>' | '+' | '-' | '|'),
        Token::Word(word, _) => grammar::is_keyword(word),
        Token::Quoted(_) | Token::Number(_) => false,
    })
}

/// Judges what stands behind a backslash outside of strings and comments.
pub(super) fn check_tokens(tokens: &[Token], certainty: Certainty) -> Verdict {
    let mut doubt = None;
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| token.is('\\')) {
        let (next, behind) = (tokens.get(at + 1), tokens.get(at + 2));
        let name = next.and_then(Token::word).unwrap_or_default();
        // `\\g` alone only sends the query; with something behind it writes the result there.
        let writes = matches!(name, "g" | "gx") && behind.is_some_and(|token| !token.is(';'));
        let known = if certainty == Certainty::Sure { BACKSLASH } else { ANYWHERE };
        let runs = next.is_some_and(|token| token.is('!')) || known.contains(&name);
        let surely = name == "gexec" || at == 0 && next.is_some_and(|token| token.is('!'));
        if (runs || writes) && (surely || certainty >= Certainty::Likely) {
            return Err(acts(&format!("\\{}", if name.is_empty() { "!" } else { name })));
        }
        let ends = ENDING.contains(&name) && behind.is_none_or(|token| token.is(';'));
        if !ends && certainty == Certainty::Sure {
            doubt = Some(asks(name));
        }
    }
    doubt.map_or(Ok(()), Err)
}

fn word_of(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

fn acts(command: &str) -> Finding {
    let message = format!("`{command}` is a command of a client program, which may run programs or use files");
    Finding::new("readonly-client", message)
}

fn asks(command: &str) -> Finding {
    let shown: String = command.chars().take(64).collect();
    Finding::new("sql-not-understood", format!("`{shown}` may be a command of a client program")).ask()
}

/// The words behind commands of clients, without quotes: the files of `.read x`, `\\i x` and `source x` are among them.
pub(in crate::arguments) fn operands(text: &str) -> Vec<&str> {
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`' | ';' | '|' | '<' | '>');
    let lines = text.lines().flat_map(|line| {
        let bare = line.trim();
        let first = bare.split_whitespace().next().unwrap_or_default();
        let is_dot = bare.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        let last = bare.rsplit(';').next().unwrap_or_default().trim();
        let plain = [bare, last].into_iter().find(|line| {
            let word = line.split_whitespace().next().unwrap_or_default();
            OF_FILES.iter().any(|command| word.eq_ignore_ascii_case(command))
        });
        let glued = first.strip_prefix('@').map(|rest| rest.trim_start_matches('@'));
        let behind = bare.split_once('\\').map(|(_, behind)| behind);
        let commands = is_dot.then_some(bare).into_iter().chain(plain).chain(behind);
        commands.flat_map(|command| command.split_whitespace().skip(1)).chain(glued)
    });
    lines.map(|word| word.trim_matches(is_quote)).filter(|word| !word.is_empty()).collect()
}
