//! Cypher, the language of Neo4j and its relatives.

use super::words::{CYPHER_BEGINNING, CYPHER_PROCEDURES, CYPHER_WRITING};
use super::{Language, Token};
use crate::{Finding, Verdict};

/// Whether a text is a query in Cypher.
pub(super) fn is_meant(text: &str, language: Language) -> bool {
    let tokens = tokens(text);
    let first = tokens.first().and_then(Token::word).unwrap_or_default();
    if language == Language::Cypher {
        return true;
    }
    // `(n:Label` and `(n)-[` stand in no other language; neither does `match` begin one.
    let node = tokens.windows(3).any(|window| {
        window[0].is('(') && (window[1].is(':') || window[1].word().is_some() && window[2].is(':'))
            || window[0].is(')') && (window[1].is('-') || window[1].is('<')) && (window[2].is('[') || window[2].is('-'))
    });
    let detaches =
        tokens.windows(2).any(|window| window[0].word() == Some("detach") && window[1].word() == Some("delete"));
    (node || detaches) && CYPHER_BEGINNING.contains(&first)
        || first == "match" && tokens.get(1).is_some_and(|token| token.is('('))
}

pub(super) fn check(text: &str) -> Verdict {
    let refuse = |message: String| Err(Finding::new("readonly-cypher", message));
    let tokens = tokens(text);
    for (at, token) in tokens.iter().enumerate() {
        let Some(word) = token.word() else { continue };
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        // A property, a label or a parameter may be called as it likes.
        if before.is_some_and(|token| matches!(token, Token::Symbol('.' | ':' | '$' | '|' | '&'))) {
            continue;
        }
        let next = tokens.get(at + 1);
        // A key of a map, or a variable in a list.
        let is_name = next.is_some_and(|token| matches!(token, Token::Symbol(':' | '.' | ',' | ')' | ']' | '}' | '=')))
            || before.and_then(Token::word) == Some("as");
        if CYPHER_WRITING.contains(&word) && !is_name && next.is_some() {
            return refuse(format!("`{word}` may write"));
        }
        if word == "load" && next.and_then(Token::word) == Some("csv") {
            return refuse("`load csv` reads files and other machines".to_owned());
        }
        if word == "call" {
            let name: String = tokens[at + 1..]
                .iter()
                .map_while(|token| match token {
                    Token::Word(word, _) => Some(word.clone()),
                    Token::Symbol('.') => Some(".".to_owned()),
                    _ => None,
                })
                .collect();
            let subquery = next.is_some_and(|token| token.is('{') || token.is('('));
            if !subquery && !CYPHER_PROCEDURES.iter().any(|known| name.starts_with(known)) {
                return refuse(format!("the procedure `{name}` may write"));
            }
        }
        if word == "apoc" && next.is_some_and(|token| token.is('.')) {
            let part = tokens.get(at + 2).and_then(Token::word).unwrap_or_default();
            let writes = [
                "create", "refactor", "periodic", "cypher", "load", "export", "import", "trigger", "merge", "lock",
                "util", "systemdb", "log",
            ];
            if writes.contains(&part) {
                return refuse(format!("`apoc.{part}` may write"));
            }
        }
    }
    Ok(())
}

/// Strings have backslashes, names backticks, comments two slashes.
fn tokens(text: &str) -> Vec<Token> {
    super::lexer::tokens(text, super::lexer::CYPHER)
}
