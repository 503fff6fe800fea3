//! A command string as the words a shell makes of it. Everything that is more than one simple command is refused
//! here; what remains needs no recursion, so no input can exhaust the stack.

use super::variables;
use crate::Finding;
use unicode_normalization::UnicodeNormalization as _;

/// More words than this are refused.
const MAX_WORDS: usize = 1024;
/// More words than this out of one word with braces are refused.
const MAX_BRACE_WORDS: usize = 256;

/// One character of a word, and whether quotes take away its special meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    c: char,
    quoted: bool,
}

/// One word with its quotes removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// The text, with compatibility forms of Unicode replaced by the plain characters.
    pub(super) text: String,
    /// Part of the text is only known when the command runs.
    pub(super) dynamic: bool,
    /// The shell replaces the word by the files that match it.
    pub(super) glob: bool,
    /// Some of it was quoted.
    pub(super) quoted: bool,
    /// Quotes stand where they can only hide the text from a reader.
    pub(super) disguised: bool,
    /// A letter in the middle has a backslash in front of it.
    pub(super) escaped: bool,
    marks: Vec<Mark>,
}

impl Word {
    /// Whether this is exactly that text, unquoted: only then may it be a reserved word.
    pub(super) fn is_plain(&self, text: &str) -> bool {
        !self.quoted && !self.dynamic && self.text == text
    }

    /// Name and value, if the word in front of a command is an assignment.
    pub(super) fn assignment(&self) -> Option<(&str, &str)> {
        let unquoted = self.marks.iter().take_while(|mark| mark.c != '=').all(|mark| !mark.quoted);
        assignment(&self.text).filter(|_| unquoted && !self.marks.is_empty())
    }

    /// Whether a shell takes it, and all behind it, for a comment.
    pub(super) fn begins_comment(&self) -> bool {
        self.marks.first().is_some_and(|mark| mark.c == '#' && !mark.quoted)
    }

    /// Whether quotes cover only some of the letters of a name.
    pub(super) fn is_patchwork(&self) -> bool {
        self.marks
            .windows(2)
            .any(|pair| pair[0].quoted != pair[1].quoted && pair.iter().all(|mark| mark.c.is_ascii_alphanumeric()))
    }

    /// An operator in the notation of URLs, in a word that is no URL: somebody expects it to be decoded.
    fn has_encoded_operator(&self) -> bool {
        !self.text.contains("://")
            && self.marks.windows(3).any(|run| {
                !run[0].quoted
                    && run[0].c == '%'
                    && matches!(
                        (run[1].c, run[2].c.to_ascii_lowercase()),
                        ('0', 'a' | 'd') | ('3', 'b' | 'c' | 'e') | ('2', '6') | ('7', 'c') | ('6', '0')
                    )
            })
    }

    fn from_marks(marks: Vec<Mark>) -> Self {
        let raw: String = marks.iter().map(|mark| mark.c).collect();
        let text = if raw.is_ascii() { raw } else { raw.nfkc().collect() };
        let glob = marks.iter().any(|mark| !mark.quoted && matches!(mark.c, '*' | '?' | '['));
        let quoted = marks.iter().any(|mark| mark.quoted);
        Self { text, glob, quoted, marks, ..Self::default() }
    }
}

/// Name and value of a word that assigns: `NAME=value`, `NAME+=value`, `NAME[0]=value`.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let valid = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    valid.then_some((name, value))
}

/// Splits a command into words, or says why it is not one simple command.
pub(super) fn words(command: &str) -> Result<Vec<Word>, Finding> {
    if let Some(c) = command.chars().find(|c| is_refused_character(*c)) {
        let code = u32::from(c);
        return Err(Finding::new("shell-control", format!("the command contains the control character U+{code:04X}")));
    }
    let mut lexer = Lexer { input: command.trim_end().chars().collect(), ..Lexer::default() };
    // A backslash in front of a final blank escapes it: then the blank belongs to the command.
    if lexer.input.last() == Some(&'\\') {
        return Err(Finding::new("shell-syntax", "the command ends in a backslash"));
    }
    lexer.run()?;
    Ok(lexer.words)
}

fn is_refused_character(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n'))
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[derive(Default)]
struct Lexer {
    input: Vec<char>,
    at: usize,
    words: Vec<Word>,
    marks: Vec<Mark>,
    in_word: bool,
    dynamic: bool,
    disguised: bool,
    escaped: bool,
}

impl Lexer {
    fn run(&mut self) -> Result<(), Finding> {
        while let Some(c) = self.next() {
            match c {
                ' ' | '\t' => self.end_word()?,
                '\n' => return Err(operator("a line break")),
                ';' | '&' | '|' | '<' | '>' | '(' | ')' => return Err(operator(&format!("`{c}`"))),
                '`' => return Err(substitution("a backquote")),
                '\'' => self.single_quotes()?,
                '"' => self.double_quotes()?,
                '\\' => self.backslash(),
                '$' => self.dollar(false)?,
                c if c.is_whitespace() => return Err(Finding::new("shell-blank", "an unusual blank outside quotes")),
                c => {
                    if !c.is_ascii() && c.nfkc().any(|plain| ";&|<>()$`\\'\"\n".contains(plain)) {
                        return Err(operator("a character that passes for an operator"));
                    }
                    self.push(c, false);
                }
            }
        }
        self.end_word()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.input.get(self.at).copied();
        self.at += usize::from(c.is_some());
        c
    }

    fn peek(&self) -> Option<char> {
        self.input.get(self.at).copied()
    }

    fn push(&mut self, c: char, quoted: bool) {
        self.in_word = true;
        self.marks.push(Mark { c, quoted });
    }

    fn end_word(&mut self) -> Result<(), Finding> {
        if self.in_word {
            if self.words.len() >= MAX_WORDS {
                return Err(Finding::new("shell-size", "the command has too many words"));
            }
            let mut word = Word::from_marks(std::mem::take(&mut self.marks));
            word.dynamic = self.dynamic;
            word.disguised = self.disguised;
            word.escaped = self.escaped;
            if word.has_encoded_operator() {
                return Err(operator("an operator in URL notation"));
            }
            // An empty pair of quotes leaves no character behind, but it was a quoted word.
            word.quoted |= word.text.is_empty();
            self.words.push(word);
        }
        (self.in_word, self.dynamic, self.disguised, self.escaped) = (false, false, false, false);
        Ok(())
    }

    fn backslash(&mut self) {
        match self.next() {
            None | Some('\n') => {}
            Some(c) => {
                let inside = self.in_word && self.marks.last().is_some_and(|mark| mark.c.is_ascii_alphanumeric());
                self.escaped |= inside && c.is_ascii_alphanumeric();
                self.push(c, true);
            }
        }
    }

    fn single_quotes(&mut self) -> Result<(), Finding> {
        let start = self.marks.len();
        self.in_word = true;
        loop {
            match self.next() {
                None => return Err(unterminated()),
                Some('\'') => break,
                Some(c) => self.push(c, true),
            }
        }
        self.note_disguise(start);
        Ok(())
    }

    fn double_quotes(&mut self) -> Result<(), Finding> {
        let start = self.marks.len();
        self.in_word = true;
        loop {
            match self.next() {
                None => return Err(unterminated()),
                Some('"') => break,
                Some('`') => return Err(substitution("a backquote")),
                Some('$') => self.dollar(true)?,
                Some('\\') => match self.next() {
                    None => return Err(unterminated()),
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.push(c, true),
                    Some(c) => {
                        self.push('\\', true);
                        self.push(c, true);
                    }
                },
                Some(c) => self.push(c, true),
            }
        }
        self.note_disguise(start);
        Ok(())
    }

    /// Quotes around nothing, or around letters in the middle of letters, have no use but to break up a word.
    fn note_disguise(&mut self, start: usize) {
        let inside = &self.marks[start..];
        let letter_before = start > 0 && self.marks[start - 1].c.is_ascii_alphanumeric();
        let letter_after = self.peek().is_some_and(|c| c.is_ascii_alphanumeric());
        let letters = inside.iter().all(|mark| mark.c.is_ascii_alphanumeric());
        let something_before = start > 0;
        let something_after = self.peek().is_some_and(|c| !c.is_whitespace());
        self.disguised |= if inside.is_empty() {
            (something_before || something_after) && (letter_before || letter_after)
        } else {
            letters && letter_before && letter_after
        };
    }

    fn dollar(&mut self, quoted: bool) -> Result<(), Finding> {
        match self.peek() {
            Some('(' | '[') => Err(substitution("`$(`")),
            Some('{') => self.braced_variable(quoted),
            Some('\'') if !quoted => self.ansi_quotes(),
            Some('"') if !quoted => Err(substitution("`$\"`")),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                    self.at += 1;
                }
                self.variable(&name, quoted)
            }
            // There are no positional parameters in a command string, so inside quotes this is nothing.
            Some('1'..='9') if quoted => {
                self.at += 1;
                Ok(())
            }
            Some('?' | '$' | '#') => {
                self.at += 1;
                self.push('0', quoted);
                Ok(())
            }
            Some('@' | '*' | '-' | '!' | '0'..='9') => Err(substitution("a special variable")),
            _ => {
                self.push('$', quoted);
                Ok(())
            }
        }
    }

    fn braced_variable(&mut self, quoted: bool) -> Result<(), Finding> {
        self.at += 1;
        let mut name = String::new();
        loop {
            match self.next() {
                Some('}') if !name.is_empty() => return self.variable(&name, quoted),
                Some(c) if c.is_ascii_alphanumeric() || c == '_' => name.push(c),
                _ => return Err(substitution("an expansion in `${..}`")),
            }
        }
    }

    fn variable(&mut self, name: &str, quoted: bool) -> Result<(), Finding> {
        variables::check_expansion(name, quoted)?;
        self.dynamic = true;
        let shown = if name == "HOME" { "~".to_owned() } else { format!("${name}") };
        self.in_word = true;
        for c in shown.chars() {
            self.push(c, true);
        }
        Ok(())
    }

    /// `$'..'`: escapes are decoded, so that the checks see what the program will see.
    fn ansi_quotes(&mut self) -> Result<(), Finding> {
        self.at += 1;
        self.in_word = true;
        loop {
            let c = match self.next() {
                None => return Err(unterminated()),
                Some('\'') => return Ok(()),
                Some('\\') => self.ansi_escape()?,
                Some(c) => c,
            };
            self.push(c, true);
        }
    }

    fn ansi_escape(&mut self) -> Result<char, Finding> {
        match self.next() {
            None => Err(unterminated()),
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some('r') => Ok('\r'),
            // Letters spelled as numbers hide what they spell; nobody writes plain text that way.
            Some('x' | 'u' | 'U' | '0'..='7') => Err(Finding::new("shell-disguise", "characters written as numbers")
                .suggest("write the characters themselves")),
            Some(c) => Ok(c),
        }
    }
}

/// The words with unquoted braces expanded, or nothing if there are none to expand.
pub(super) fn expand_braces(words: &[Word]) -> Result<Option<Vec<Word>>, Finding> {
    if !words.iter().any(|word| word.marks.iter().any(|mark| !mark.quoted && mark.c == '{')) {
        return Ok(None);
    }
    let mut out = Vec::new();
    let mut changed = false;
    for word in words {
        let mut pending = vec![word.marks.clone()];
        let mut done: Vec<Vec<Mark>> = Vec::new();
        while let Some(marks) = pending.pop() {
            if pending.len() + done.len() > MAX_BRACE_WORDS || out.len() > MAX_WORDS {
                return Err(Finding::new("shell-size", "the braces expand to too many words"));
            }
            match expand_once(&marks) {
                Some(expanded) => {
                    changed = true;
                    pending.extend(expanded.into_iter().rev());
                }
                None => done.push(marks),
            }
        }
        for marks in done {
            let mut expanded = Word::from_marks(marks);
            expanded.dynamic = word.dynamic;
            expanded.disguised = word.disguised;
            expanded.escaped = word.escaped;
            out.push(expanded);
        }
    }
    Ok(changed.then_some(out))
}

/// Expands the first unquoted `{a,b}`. A range such as `{1..9}` yields its two ends: enough to judge it.
fn expand_once(marks: &[Mark]) -> Option<Vec<Vec<Mark>>> {
    let special = |mark: &Mark, c: char| !mark.quoted && mark.c == c;
    let mut from = 0;
    loop {
        let open = from + marks[from..].iter().position(|mark| special(mark, '{'))?;
        let mut depth = 0_usize;
        let mut parts = vec![open + 1];
        let mut close = None;
        for (at, mark) in marks.iter().enumerate().skip(open) {
            if special(mark, '{') {
                depth += 1;
            } else if special(mark, '}') {
                depth -= 1;
                if depth == 0 {
                    close = Some(at);
                    break;
                }
            } else if special(mark, ',') && depth == 1 {
                parts.push(at + 1);
            }
        }
        let close = close?;
        let inside = &marks[open + 1..close];
        let range = inside.windows(2).position(|pair| special(&pair[0], '.') && special(&pair[1], '.'));
        let choices: Vec<&[Mark]> = if parts.len() > 1 {
            let ends = parts.iter().skip(1).map(|start| start - 1).chain([close]);
            parts.iter().zip(ends).map(|(start, end)| &marks[*start..end]).collect()
        } else if let Some(dots) = range {
            vec![&inside[..dots], &inside[dots + 2..]]
        } else {
            from = open + 1;
            continue;
        };
        let expand = |choice: &[Mark]| [&marks[..open], choice, &marks[close + 1..]].concat();
        return Some(choices.into_iter().map(expand).collect());
    }
}

fn operator(what: &str) -> Finding {
    Finding::new("shell-operator", format!("{what} starts a second command or redirects one"))
        .suggest("send one simple command; quote the character if it is only text")
}

fn substitution(what: &str) -> Finding {
    Finding::new("shell-substitution", format!("{what} is replaced by the shell before the command runs"))
        .suggest("write the value itself, or use single quotes if it is only text")
}

fn unterminated() -> Finding {
    Finding::new("shell-syntax", "a quote is not closed")
}
