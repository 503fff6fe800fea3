//! The words of an SQL text, as one dialect reads them: what is quoted and what is a comment differs between databases.

/// Where dialects differ.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Dialect {
    /// `\'` does not end a string.
    backslash: bool,
    /// `$tag$ .. $tag$` is a string.
    dollar: bool,
    /// `E'..'` has backslashes.
    e_strings: bool,
    /// `q'[..]'` is a string.
    q_strings: bool,
    /// `'''..'''` is a string.
    triple: bool,
    /// `[..]` is a name.
    brackets: bool,
    /// `` `..` `` is a name.
    backtick: bool,
    /// `#` starts a comment.
    hash: bool,
    /// `//` starts a comment.
    slashes: bool,
    /// `--` starts a comment only before a blank.
    dash_blank: bool,
    /// `/* /* */ */` is one comment.
    nested: bool,
    /// What stands in `/*! .. */` is run.
    bang: bool,
    /// A carriage return ends a comment.
    cr_ends: bool,
}

const PLAIN: Dialect = Dialect {
    backslash: false,
    dollar: false,
    e_strings: false,
    q_strings: false,
    triple: false,
    brackets: false,
    backtick: false,
    hash: false,
    slashes: false,
    dash_blank: false,
    nested: false,
    bang: false,
    cr_ends: false,
};
const SQLITE: Dialect = Dialect { brackets: true, backtick: true, ..PLAIN };
const POSTGRES: Dialect = Dialect { dollar: true, e_strings: true, nested: true, cr_ends: true, ..PLAIN };
/// PostgreSQL with `standard_conforming_strings` off.
const OLD_POSTGRES: Dialect = Dialect { backslash: true, ..POSTGRES };
const MYSQL: Dialect = Dialect { backslash: true, backtick: true, hash: true, dash_blank: true, bang: true, ..PLAIN };
/// MySQL with `NO_BACKSLASH_ESCAPES`.
const STRICT_MYSQL: Dialect = Dialect { backslash: false, ..MYSQL };
const SQL_SERVER: Dialect = Dialect { brackets: true, nested: true, cr_ends: true, ..PLAIN };
const ORACLE: Dialect = Dialect { q_strings: true, ..PLAIN };
const BIGQUERY: Dialect = Dialect { backslash: true, triple: true, backtick: true, hash: true, ..PLAIN };
const SNOWFLAKE: Dialect = Dialect { backslash: true, dollar: true, slashes: true, ..PLAIN };

/// No SQL at all, but its words are found in the same way.
pub(super) const CYPHER: Dialect = Dialect { backslash: true, backtick: true, slashes: true, ..PLAIN };

/// The first reads most texts as all the others do.
pub(super) const DIALECTS: [Dialect; 10] =
    [PLAIN, SQLITE, POSTGRES, OLD_POSTGRES, MYSQL, STRICT_MYSQL, SQL_SERVER, ORACLE, BIGQUERY, SNOWFLAKE];

/// Whether some dialect may read the text in another way than the first does.
pub(super) fn is_ambiguous(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'\\' | b'$' | b'#' | b'[' | b'`' | b'/' | b'\r'))
        || text.contains("--")
        || text.contains("''")
        || text.contains("\"\"")
        || text.contains("q'")
        || text.contains("Q'")
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word, in lower case, and whether it was written in capitals.
    Word(String, bool),
    /// A quoted name or a string, with what it holds.
    Quoted(String),
    /// A number, as far as it is one: what is too large is as large as can be.
    Number(u64),
    /// Anything else.
    Symbol(char),
}

impl Token {
    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word, _) => Some(word),
            _ => None,
        }
    }

    pub(super) fn quoted(&self) -> Option<&str> {
        match self {
            Self::Quoted(text) => Some(text),
            _ => None,
        }
    }

    pub(super) const fn is(&self, symbol: char) -> bool {
        matches!(self, Self::Symbol(found) if *found == symbol)
    }
}

/// The tokens of a text. What is quoted and not closed runs to the end.
pub(super) fn tokens(text: &str, dialect: Dialect) -> Vec<Token> {
    let mut lexer = Lexer { rest: text, dialect };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next() {
        tokens.push(token);
    }
    tokens
}

struct Lexer<'t> {
    rest: &'t str,
    dialect: Dialect,
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<Token> {
        loop {
            let c = self.rest.chars().next()?;
            if c.is_whitespace() || c == '\0' {
                self.skip(c.len_utf8());
            } else if !self.comment() {
                break;
            }
        }
        let c = self.rest.chars().next()?;
        let dialect = self.dialect;
        match c {
            '\'' | '"' => Some(self.quoted(c, dialect.backslash)),
            '`' if dialect.backtick => Some(self.quoted('`', false)),
            '[' if dialect.brackets => Some(self.quoted(']', false)),
            '$' if dialect.dollar
                && let Some(inner) = self.dollar() =>
            {
                Some(Token::Quoted(inner))
            }
            _ if c.is_ascii_digit() => {
                let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(self.rest.len());
                let value = self.rest[..end].parse::<f64>().unwrap_or_default();
                self.skip(end);
                Some(Token::Number(whole(value)))
            }
            _ if is_word(c) => Some(self.word()),
            _ => {
                self.skip(c.len_utf8());
                Some(Token::Symbol(c))
            }
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// Takes a comment away, if one begins here.
    fn comment(&mut self) -> bool {
        let (rest, dialect) = (self.rest, self.dialect);
        let dashes = rest.strip_prefix("--").is_some_and(|behind| {
            !dialect.dash_blank
                || behind.is_empty()
                || behind.starts_with(|c: char| c.is_whitespace() || c.is_control())
        });
        if dashes || dialect.hash && rest.starts_with('#') || dialect.slashes && rest.starts_with("//") {
            let end = rest.find(|c| c == '\n' || dialect.cr_ends && c == '\r').unwrap_or(rest.len());
            self.skip(end);
            return true;
        }
        let Some(inner) = rest.strip_prefix("/*") else {
            // The end of a comment whose inside is run.
            let ends = dialect.bang && rest.starts_with("*/");
            if ends {
                self.skip(2);
            }
            return ends;
        };
        if dialect.bang && (inner.starts_with('!') || inner.starts_with("M!")) {
            self.rest = inner.trim_start_matches(['M', '!']).trim_start_matches(|c: char| c.is_ascii_digit());
            return true;
        }
        self.rest =
            if dialect.nested { behind_nested(inner) } else { inner.find("*/").map_or("", |end| &inner[end + 2..]) };
        true
    }

    fn quoted(&mut self, end: char, backslash: bool) -> Token {
        let (inner, triple) = (&self.rest[1..], [end; 3].iter().collect::<String>());
        if self.dialect.triple && self.rest.starts_with(&triple) {
            let inner = &self.rest[3..];
            let end = inner.find(&triple);
            self.rest = end.map_or("", |at| &inner[at + 3..]);
            return Token::Quoted(inner[..end.unwrap_or(inner.len())].to_owned());
        }
        let mut letters = inner.char_indices().peekable();
        while let Some((at, c)) = letters.next() {
            if c == '\\' && backslash {
                letters.next();
            } else if c == end {
                // A quote that stands twice is one of them.
                if letters.peek().is_some_and(|(_, next)| *next == end) {
                    letters.next();
                } else {
                    self.rest = &inner[at + 1..];
                    return Token::Quoted(inner[..at].to_owned());
                }
            }
        }
        self.rest = "";
        Token::Quoted(inner.to_owned())
    }

    /// Takes a string between dollars away, if one begins here.
    fn dollar(&mut self) -> Option<String> {
        let (tag, inner) = self.rest.strip_prefix('$')?.split_once('$')?;
        if tag.starts_with(|c: char| c.is_ascii_digit()) || !tag.chars().all(|c| is_word(c) && c != '$') {
            return None;
        }
        let end = format!("${tag}$");
        let at = inner.find(&end);
        self.rest = at.map_or("", |at| &inner[at + end.len()..]);
        Some(inner[..at.unwrap_or(inner.len())].to_owned())
    }

    fn word(&mut self) -> Token {
        let end = self.rest.find(|c: char| !is_word(c) && !c.is_ascii_digit() && c != '$').unwrap_or(self.rest.len());
        let written = &self.rest[..end];
        let behind = &self.rest[end..];
        if let Some(quoted) = behind.strip_prefix('\'') {
            let prefix = written.to_ascii_lowercase();
            if self.dialect.e_strings && prefix == "e" {
                self.skip(end);
                return self.quoted('\'', true);
            }
            if self.dialect.q_strings && (prefix == "q" || prefix == "nq") {
                self.rest = behind_q_string(quoted);
                return Token::Quoted(quoted[..quoted.len() - self.rest.len()].to_owned());
            }
        }
        let capitals = written.len() > 1 && !written.chars().any(char::is_lowercase);
        let word = written.to_lowercase();
        self.skip(end);
        Token::Word(word, capitals)
    }
}

/// The whole part of a number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats stop at the ends of the range"
)]
const fn whole(value: f64) -> u64 {
    value as u64
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii() && !c.is_whitespace()
}

fn behind_nested(mut rest: &str) -> &str {
    let mut depth = 1_usize;
    while depth > 0 {
        let (open, close) = (rest.find("/*"), rest.find("*/"));
        let Some(close) = close else { return "" };
        match open {
            Some(open) if open < close => {
                depth += 1;
                rest = &rest[open + 2..];
            }
            _ => {
                depth -= 1;
                rest = &rest[close + 2..];
            }
        }
    }
    rest
}

fn behind_q_string(inner: &str) -> &str {
    let Some(open) = inner.chars().next() else { return "" };
    let close = match open {
        '[' => ']',
        '{' => '}',
        '(' => ')',
        '<' => '>',
        other => other,
    };
    let end = format!("{close}'");
    let body = &inner[open.len_utf8()..];
    body.find(&end).map_or("", |at| &body[at + end.len()..])
}
