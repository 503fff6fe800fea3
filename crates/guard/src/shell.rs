//! Shell commands (MGP 4.5, `sandbox`): may this string be handed to a shell?
//!
//! The string is read the way a shell reads it, and only one simple command is accepted: no operator, no
//! substitution, no redirection, no variable that decides what runs. Then the program and its arguments are judged by
//! what they do: delete trees, change privileges, damage the host, run other code, send data out. Programs that run
//! their arguments are looked through. A program that is not known here is taken for an ordinary one, so this is a
//! second line behind permission and isolation, not a replacement for them. Quoted text, messages and patterns are
//! only text.

mod argument;
mod code;
mod damage;
mod delete;
mod files;
mod lexer;
mod outbound;
mod privilege;
mod program;
mod readers;
mod variables;

use crate::{Finding, Verdict};
use lexer::Word;

/// Longer commands are refused.
pub const MAX_COMMAND_BYTES: usize = 16 * 1024;
/// How many programs may run each other in one command before it counts as hiding something.
const MAX_DEPTH: usize = 6;

/// Whether a shell may be given this command.
pub fn check(command: &str) -> Verdict {
    check_at(command, 0)
}

/// Whether this command only reads: everything that [`check`] demands, and a program known to change nothing.
pub fn readonly(command: &str) -> Verdict {
    check(command)?;
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
    if command.len() > MAX_COMMAND_BYTES {
        return Err(Finding::new("shell-size", format!("the command is longer than {MAX_COMMAND_BYTES} bytes")));
    }
    let words = lexer::words(command)?;
    check_words(&words, depth)?;
    // Only some shells expand braces, so the command must be harmless with and without.
    match lexer::expand_braces(&words)? {
        Some(expanded) => check_words(&expanded, depth),
        None => Ok(()),
    }
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
