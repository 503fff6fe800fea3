//! Shell commands (MGP 4.5, `sandbox`): may this string be handed to a shell?
//!
//! Three answers. The string is read the way a shell reads it, and what is recognised as hostile is refused: programs that
//! delete trees, change privileges, damage the host, run other code, send data out. Programs that run their arguments are
//! looked through. What is one simple command of which every program, subcommand and option stands in a table of what is
//! known and harmless in its place is understood ([`known`]). Everything else is not understood, and a person is asked:
//! unknown programs and options, operators, redirections, substitutions. Quoted text, messages and patterns are only text.

mod argument;
mod around;
mod code;
mod compound;
mod damage;
mod delete;
mod everyday;
mod files;
mod known;
mod lexer;
mod outbound;
mod privilege;
mod program;
mod readers;
mod variables;

use crate::{Finding, Verdict};
pub use around::{Around, check_around};
pub use known::{Understood, UnreadableLine};
use lexer::Word;
pub(crate) use program::{base_name, is_of_system};

/// Longer commands are refused.
pub const MAX_COMMAND_BYTES: usize = 16 * 1024;
/// How many programs may run each other in one command before it counts as hiding something.
const MAX_DEPTH: usize = 6;

/// Whether a shell may be given this command, by the table as it is.
///
/// # Errors
/// It is hostile, or it is not understood ([`Finding::asks`]).
pub fn check(command: &str) -> Verdict {
    check_with(command, &Understood::default())
}

/// The same with what an operator added to the table.
///
/// # Errors
/// As [`check`].
pub fn check_with(command: &str, understood: &Understood) -> Verdict {
    with_and_without_comments(command, |command| check_as_it_is(command, understood))
}

/// What a shell drops as a comment may hide what it runs, and an interactive one may drop nothing: both have to be harmless. With lines
/// behind a comment it is not understood: readers disagree on where the comment and its quotes end.
fn with_and_without_comments(command: &str, judge: impl Fn(&str) -> Verdict) -> Verdict {
    let verdict = judge(command);
    let Some(bare) = without_comments(command) else { return verdict };
    let more_lines = match bare.lines_behind {
        true => Err(known::unknown("what a shell makes of the lines behind a comment is")),
        false => Ok(()),
    };
    let findings = [verdict, judge(&bare.text), more_lines].into_iter().filter_map(Result::err);
    findings.reduce(|one, other| if other.answer > one.answer { other } else { one }).map_or(Ok(()), Err)
}

/// A command without what may be its comments.
pub(crate) struct Uncommented {
    pub(crate) text: String,
    /// Whether there are lines behind one.
    pub(crate) lines_behind: bool,
}

/// A command without its comments: from a `#` where a word may begin to the end of its line. `None` where it has none, or nothing else.
pub(crate) fn without_comments(command: &str) -> Option<Uncommented> {
    if !command.contains('#') {
        return None;
    }
    let (mut text, mut quote, mut begins, mut found) = (String::with_capacity(command.len()), None, true, None);
    let mut letters = command.char_indices().peekable();
    while let Some((at, c)) = letters.next() {
        match (c, quote) {
            ('#', None) if begins => {
                found = found.or(Some(at));
                while letters.next_if(|(_, c)| *c != '\n').is_some() {}
                continue;
            }
            ('\\', None | Some('"')) => {
                let next = letters.next().map(|(_, c)| c);
                // The line goes on: for the shell nothing stood here.
                if next != Some('\n') {
                    text.push(c);
                    text.extend(next);
                    begins = false;
                }
                continue;
            }
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(mark)) if c == mark => quote = None,
            _ => {}
        }
        begins = quote.is_none() && (c.is_whitespace() || ";&|()<>".contains(c));
        text.push(c);
    }
    let first = found.filter(|_| !text.trim().is_empty())?;
    let lines_behind = command[first..].trim_end().contains(['\n', '\r']);
    Some(Uncommented { text, lines_behind })
}

fn check_as_it_is(command: &str, understood: &Understood) -> Verdict {
    let read = match Readings::of(command).and_then(|read| read.each(|words| check_words(words, 0)).map(|()| read)) {
        Ok(read) => read,
        Err(finding) if compound::is_compound(&finding) => return Err(compound::check(command, finding)),
        Err(finding) => return Err(finding),
    };
    read.each(|words| known::check(words, understood))
}

/// The same where a person can be asked: what is dangerous and done every day is theirs to decide.
///
/// # Errors
/// As [`check`].
pub fn check_for_person(command: &str, understood: &Understood) -> Verdict {
    with_and_without_comments(command, |command| {
        check_as_it_is(command, understood).map_err(|finding| match finding.asks() || !everyday::is(command) {
            true => finding,
            false => finding.ask(),
        })
    })
}

/// The words of a command, and what some shells make of its braces and its comment: it must be harmless with and without.
struct Readings {
    words: Vec<Word>,
    expanded: Option<Vec<Word>>,
    /// How many words stand in front of a comment, where there is one.
    before_comment: Option<usize>,
}

impl Readings {
    fn of(command: &str) -> Result<Self, Finding> {
        if command.len() > MAX_COMMAND_BYTES {
            return Err(Finding::new("shell-size", format!("the command is longer than {MAX_COMMAND_BYTES} bytes")));
        }
        let words = lexer::words(command)?;
        let expanded = lexer::expand_braces(&words)?;
        let before_comment = words.iter().position(Word::begins_comment).filter(|at| *at > 0);
        Ok(Self { words, expanded, before_comment })
    }

    fn each(&self, judge: impl Fn(&[Word]) -> Verdict) -> Verdict {
        judge(&self.words)?;
        self.before_comment.map_or(Ok(()), |at| judge(&self.words[..at]))?;
        self.expanded.as_deref().map_or(Ok(()), judge)
    }
}

/// Whether a command is one simple command that is not recognised as hostile.
pub(crate) fn hostile(command: &str) -> Verdict {
    check_at(command, 0)
}

/// Whether a program of this name is in the table of what is known.
pub(crate) fn is_known_program(name: &str) -> bool {
    known::has(name)
}

/// Whether a word is a subcommand of a program, at this place among them.
pub(crate) fn is_subcommand(program: &str, at: usize, word: &str) -> bool {
    known::is_subcommand(program, at, word)
}

/// The variables that a command sets in front of its program, as a shell reads them. What no shell reads as one simple
/// command is parted by its blanks.
pub(crate) fn assignments(command: &str) -> Vec<(String, String)> {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let Ok(words) = lexer::words(command) else {
        let words = command.split_whitespace().skip_while(|word| *word == "!");
        return words.map_while(lexer::assignment).map(owned).collect();
    };
    let mut set = Vec::new();
    for word in words.iter().filter(|word| !word.is_plain("!")) {
        let Some(variable) = word.assignment() else { break };
        set.push(owned(variable));
    }
    set
}

/// The name and value of a word that sets a variable where a command begins.
pub(crate) fn assignment(word: &str) -> Option<(&str, &str)> {
    lexer::assignment(word)
}

/// Whether a variable of the environment decides what runs.
pub(crate) fn decides(name: &str) -> bool {
    variables::check_assignment(name, "/").is_err()
}

/// Whether words for a program that nobody names set nothing that decides what runs, and bring nothing in from elsewhere.
pub(crate) fn check_loose_words(words: &[String]) -> Verdict {
    for word in words {
        let is_name =
            |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        if let Some((name, value)) = word.split_once('=').filter(|(name, _)| is_name(name)) {
            variables::check_assignment(name, value)?;
        }
    }
    let value = |word: &String| word.split_once('=').map_or(word.as_str(), |(_, value)| value).to_owned();
    match words.iter().find(|word| known::comes_from_elsewhere(&value(word))) {
        Some(word) => Err(known::unknown(&format!("what a program does with `{word}` is"))),
        None => Ok(()),
    }
}

/// The doubt about something of which only what it is is known.
pub(crate) fn not_understood(what: &str) -> Finding {
    known::unknown(what)
}

/// Whether a file may hold secrets, by its name and place.
pub(crate) fn may_hold_secrets(path: &str) -> bool {
    known::may_hold_secrets(path)
}

/// Whether a name has a word in it, in any of many languages, that says that a password or a key is there.
pub(crate) fn names_secret(name: &str) -> bool {
    known::names_secret(name)
}

/// Whether a file is known to hold secrets.
pub(crate) fn holds_secrets(path: &str) -> bool {
    files::is_credential(path)
}

/// Whether what is written to a place decides what runs later or who may come in.
pub(crate) fn place_decides(path: &str) -> bool {
    known::place_decides(path)
}

/// Whether a file describes the project it lies in.
pub(crate) fn is_document(path: &str) -> bool {
    known::is_document(path)
}

/// Whether a file says of itself that it is new or a copy, or lies where tools put what they make.
pub(crate) fn is_new(path: &str) -> bool {
    known::is_new(path)
}

/// Whether this command only reads: one simple command that is not hostile, of a program known to change nothing.
pub fn readonly(command: &str) -> Verdict {
    hostile(command)?;
    let words = lexer::words(command)?;
    readers::check(&words)
}

/// The words of one simple command, from its program on: assignments in front are left out.
pub(crate) fn plain_words(command: &str) -> Result<Vec<String>, Finding> {
    let words = lexer::words(command)?;
    let program = words.iter().position(|word| !word.is_plain("!") && word.assignment().is_none());
    let Some(command) = program.and_then(|at| words.get(at..)) else { return Ok(Vec::new()) };
    if command.first().is_some_and(|program| program.dynamic || program.glob) {
        return Err(Finding::new("shell-program", "the program is only known when the command runs"));
    }
    Ok(command.iter().map(|word| word.text.clone()).collect())
}

/// `depth` counts how many programs have handed text to a shell so far.
fn check_at(command: &str, depth: usize) -> Verdict {
    Readings::of(command)?.each(|words| check_words(words, depth))
}

fn check_words(words: &[Word], depth: usize) -> Verdict {
    if depth > MAX_DEPTH {
        return Err(Finding::new("shell-nesting", "too many programs that run other programs"));
    }
    let mut command = words;
    while let [first, rest @ ..] = command {
        if first.is_plain("!") {
            command = rest;
            continue;
        }
        let Some((name, value)) = first.assignment() else { break };
        variables::check_assignment(name, value)?;
        command = rest;
    }
    match command {
        [] if words.is_empty() => Err(Finding::new("shell-empty", "the command is empty")),
        [] => Ok(()),
        [name, arguments @ ..] => program::check(name, arguments, depth),
    }
}
