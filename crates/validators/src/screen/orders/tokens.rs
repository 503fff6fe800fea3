//! A text as words, each with the groups of the table that it begins.

use super::rules::Rules;

/// A word of a text; `,` where a clause ends and `.` where a sentence does.
#[derive(Debug)]
pub(super) struct Token {
    pub(super) word: String,
    /// Groups of which an entry begins here, and how many words the entry has.
    pub(super) groups: Vec<(usize, usize)>,
}

impl Token {
    fn new(word: impl Into<String>) -> Self {
        Self { word: word.into(), groups: Vec::new() }
    }
}

/// The words of a text in lower case. `own`: names that are the tool's own, and no other tool.
pub(super) fn tokens(rules: &Rules, text: &str, own: &[String]) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        for chunk in line.split_whitespace() {
            split_chunk(rules, chunk, &mut tokens);
        }
        // A line that is wrapped goes on; an empty one ends a sentence.
        if lines.peek().is_some_and(|next| next.trim().is_empty() || next.trim_start().starts_with(['-', '*', '#'])) {
            tokens.push(Token::new("."));
        }
    }
    for at in 0..tokens.len() {
        let groups = rules.groups_at(&tokens, at, own);
        tokens[at].groups = groups;
    }
    tokens
}

fn is_edge(c: char) -> bool {
    !c.is_alphanumeric() && !matches!(c, '~' | '$' | '/' | '.' | '_' | '@' | '-' | '%' | '&')
}

fn split_chunk(rules: &Rules, chunk: &str, tokens: &mut Vec<Token>) {
    let head = chunk.trim_start_matches(is_edge);
    if head.len() < chunk.len() && chunk.starts_with('(') {
        tokens.push(Token::new(","));
    }
    let word = head.trim_end_matches(|c| is_edge(c) || matches!(c, '.' | '-'));
    let rest = &head[word.len()..];
    if word.chars().any(without_spaces) {
        pieces(rules, word, tokens);
    } else if !word.is_empty() {
        tokens.push(Token::new(word.strip_suffix("'s").unwrap_or(word)));
    }
    if rest.contains(['.', '!', '?', ';', '。', '！', '？']) {
        tokens.push(Token::new("."));
    } else if rest.contains([',', ':', ')', '-']) {
        tokens.push(Token::new(","));
    }
}

/// Words of a script without spaces: the longest entries of the table, and single letters between them.
fn pieces(rules: &Rules, text: &str, tokens: &mut Vec<Token>) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = rules.piece(rest).unwrap_or_else(|| c.len_utf8());
        let piece = &rest[..length];
        match c {
            '。' | '！' | '？' | '；' => tokens.push(Token::new(".")),
            '，' | '、' | '：' | ',' | ':' => tokens.push(Token::new(",")),
            _ => tokens.push(Token::new(piece)),
        }
        rest = &rest[length..];
    }
}

/// Whether the script of a letter puts no spaces between words, or adds to them.
const fn without_spaces(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}
