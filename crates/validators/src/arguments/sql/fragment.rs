//! Pieces of a statement: what a tool puts behind its own `where`, `limit` or `from`.
//!
//! A piece begins with anything, so its first word tells nothing. What tells is a function that does more than compute,
//! and a statement that writes where a subquery may stand.

use std::borrow::Cow;

use super::lexer::Token;
use super::words::{ACTING_PRAGMAS, LOCK_HINTS, PACKAGES, TELLING_PRAGMAS, TRAILING};
use super::{begins_writing, is_function};
use crate::{Finding, Verdict};

/// Words that sentences have. A piece of SQL with two of them would have to have columns of these names.
const PLAIN: [&str; 12] = ["the", "please", "how", "what", "which", "who", "my", "me", "our", "you", "your", "does"];

/// The name that a token is, quoted or not.
pub(super) fn name(token: &Token) -> Option<Cow<'_, str>> {
    match token {
        Token::Word(word, _) => Some(Cow::Borrowed(word)),
        Token::Quoted(text) => Some(Cow::Owned(text.to_lowercase())),
        Token::Number(_) | Token::Symbol(_) => None,
    }
}

/// What a call of a function does besides reading, at this place.
pub(super) fn called(tokens: &[Token], at: usize) -> Option<String> {
    let name = name(&tokens[at])?;
    let follows = |symbol: char| tokens.get(at + 1).is_some_and(|next| next.is(symbol));
    let quoted = tokens[at].quoted().is_some();
    let escaped = quoted && name.contains('\\') && at > 0 && tokens[at - 1].is('&');
    if follows('(') && escaped {
        return Some("the name of a function is written in escapes".to_owned());
    }
    let is_package = follows('.') && PACKAGES.iter().any(|package| name.starts_with(package));
    if (follows('(') || is_package) && is_function(&name) {
        return Some(format!("the function `{name}` does more than read"));
    }
    if is_package && name == "cron" && calls_member(tokens, at) {
        return Some(format!("`{name}` plans what is run later"));
    }
    let pragma = name.strip_prefix("pragma_")?;
    (ACTING_PRAGMAS.contains(&pragma) || follows('(') && !TELLING_PRAGMAS.contains(&pragma))
        .then(|| format!("the pragma `{pragma}` may write"))
}

/// Whether what stands behind a name and a dot is called.
fn calls_member(tokens: &[Token], at: usize) -> bool {
    tokens.get(at + 3).is_some_and(|token| token.is('('))
}

/// Whether the last word begins a statement of SQL Server, which needs no semicolon before it.
pub(super) fn trails(statement: &[Token]) -> Option<&str> {
    let [.., before, last] = statement else { return None };
    let word = last.word().filter(|word| TRAILING.contains(word))?;
    let ends = match before {
        Token::Number(_) | Token::Quoted(_) => true,
        Token::Symbol(symbol) => matches!(symbol, ')' | '*'),
        Token::Word(before, _) => !super::words::CLAUSES.contains(&before.as_str()) && !opens_list(before),
    };
    ends.then_some(word)
}

fn opens_list(word: &str) -> bool {
    matches!(word, "select" | "distinct" | "all" | "case" | "returning" | "table" | "describe" | "desc" | "show")
}

/// Whether a hint on a table takes locks that hold up others.
pub(super) fn locks(statement: &[Token], at: usize) -> bool {
    // The way back to the bracket is long in a long list: only hints go it.
    if !statement[at].word().is_some_and(|word| LOCK_HINTS.contains(&word)) {
        return false;
    }
    let opened = statement[..at].iter().rposition(|token| token.is('('));
    opened.is_some_and(|open| open > 0 && statement[open - 1].word() == Some("with"))
}

/// Judges a text that is a piece of a statement, or something else.
pub(super) fn check(tokens: &[Token]) -> Verdict {
    let writes = |message: String| Err(Finding::new("readonly-sql", message));
    let is_sentence = || {
        let plain = tokens.iter().filter_map(Token::word).filter(|word| PLAIN.contains(word)).take(2).count();
        plain > 1 && !tokens.iter().any(|token| is_technical(token) || token.word() == Some("select"))
    };
    for at in 0..tokens.len() {
        if let Some(message) = called(tokens, at) {
            // `sleep (eight hours)` is no call where nothing else looks like SQL.
            let sure = name(&tokens[at]).is_some_and(|name| name.contains(['_', '$']));
            if (sure || tokens.iter().any(is_technical)) && !is_sentence() {
                return writes(message);
            }
        }
        let opened = at > 0 && tokens[at - 1].is('(');
        let verb = tokens[at].word().is_some_and(|word| matches!(word, "delete" | "insert" | "update" | "merge"));
        if opened && verb && begins_writing(&tokens[at..], Some(&tokens[at - 1])) && !is_sentence() {
            return writes("a statement that writes stands in brackets".to_owned());
        }
    }
    Ok(())
}

const fn is_technical(token: &Token) -> bool {
    matches!(token, Token::Symbol('=' | '<' | '>'))
}
