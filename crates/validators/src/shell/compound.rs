//! Commands of several parts: lists, pipes, redirections, substitutions, loops. A person is asked about them, unless a part
//! is recognised as hostile by itself.

use super::{MAX_COMMAND_BYTES, code, hostile};
use crate::Finding;

/// More parts are refused.
const MAX_PARTS: usize = 256;
/// Words that open or close a part of a compound command.
const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "esac", "time", "!", "{", "}", "[[", "case",
    "in",
];

/// Whether a finding says that a command is more than a simple one.
pub(super) fn is_compound(finding: &Finding) -> bool {
    matches!(finding.rule, "shell-operator" | "shell-substitution")
}

/// What follows from such a command: the finding about the part that is hostile, or the question about the whole.
pub(super) fn check(command: &str, finding: Finding) -> Finding {
    if command.len() > MAX_COMMAND_BYTES {
        return finding;
    }
    let Some(parts) = parts(command) else {
        return Finding::new("shell-nesting", "the command has too many parts to look at all of them");
    };
    for part in &parts {
        if let Some(found) = of_part(part) {
            return found;
        }
    }
    finding.ask()
}

/// The parts of a command, each with what is hostile about it. `None` where there are too many.
pub(super) fn findings(command: &str) -> Option<Vec<(String, Option<Finding>)>> {
    let parts = parts(command)?;
    Some(parts.into_iter().map(|part| (part.text.trim().to_owned(), of_part(&part))).collect())
}

/// What is hostile about one part, if anything is.
fn of_part(part: &Part) -> Option<Finding> {
    if let Some(target) = part.text.strip_prefix('>') {
        // A file that is written, as if by a program that does.
        let quoted = format!("tee '{}'", target.replace('\'', ""));
        return hostile(&quoted).err().filter(is_harm);
    }
    let mut text = part.text.trim();
    while let Some((word, rest)) =
        text.split_once(char::is_whitespace).or(Some((text, ""))).filter(|_| !text.is_empty())
    {
        if !KEYWORDS.contains(&word) {
            break;
        }
        text = rest.trim_start();
    }
    if text.is_empty() || text.starts_with("for ") || text.starts_with("select ") {
        return None;
    }
    let program = text.split_whitespace().next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    if part.piped && code::SHELLS.contains(&program) && !text.contains(' ') {
        return Some(Finding::new("shell-code", format!("`{program}` runs whatever it is sent")));
    }
    hostile(text).err().filter(is_harm)
}

/// Whether a finding is about what a part does, and not about how it is cut out.
fn is_harm(finding: &Finding) -> bool {
    !matches!(
        finding.rule,
        "shell-empty" | "shell-syntax" | "shell-blank" | "shell-operator" | "shell-substitution" | "shell-command-word"
    )
}

/// One part of a command, or behind `>` the name of a file that is written.
struct Part {
    text: String,
    /// Whether it reads what another part prints.
    piped: bool,
}

/// The parts of a command, also those in substitutions. `None` where there are too many.
fn parts(command: &str) -> Option<Vec<Part>> {
    let mut found = Vec::new();
    let mut pending = vec![command.to_owned()];
    while let Some(text) = pending.pop() {
        split(&text, &mut found, &mut pending);
        if found.len() + pending.len() > MAX_PARTS {
            return None;
        }
    }
    Some(found)
}

/// Cuts one text at its operators. What stands in substitutions is left for later; quotes stay with their part.
fn split(text: &str, found: &mut Vec<Part>, inner: &mut Vec<String>) {
    let letters: Vec<char> = text.chars().collect();
    let mut part = String::new();
    let mut piped = false;
    let mut quote: Option<char> = None;
    let mut at = 0;
    let mut end = |part: &mut String, piped: bool| {
        let text = std::mem::take(part);
        if !text.trim().is_empty() {
            found.push(Part { text, piped });
        }
    };
    while let Some(c) = letters.get(at).copied() {
        at += 1;
        match (c, quote) {
            ('\\', None | Some('"')) => {
                part.push(c);
                part.extend(letters.get(at).copied());
                at += 1;
            }
            ('\'' | '"', None) => {
                quote = Some(c);
                part.push(c);
            }
            (c, Some(mark)) if c == mark => {
                quote = None;
                part.push(c);
            }
            ('$', None | Some('"')) if letters.get(at) == Some(&'(') => {
                let close = closing(&letters, at);
                inner.push(letters[at + 1..close].iter().collect());
                at = close + 1;
                // Something stands there that nobody knows.
                part.push('x');
            }
            ('`', None | Some('"')) => {
                let close = (at..letters.len()).find(|at| letters[*at] == '`').unwrap_or(letters.len());
                inner.push(letters[at..close].iter().collect());
                at = close + 1;
                part.push('x');
            }
            (_, Some(_)) => part.push(c),
            ('>', None) => {
                while letters.get(at).is_some_and(|c| matches!(c, '>' | '|' | '&')) {
                    at += 1;
                }
                // The number of what is written stands in front.
                let number = part.trim_end_matches(|c: char| c.is_ascii_digit()).len();
                part.truncate(number);
                let from = (at..letters.len()).find(|at| letters[*at] != ' ').unwrap_or(letters.len());
                let stop = |c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | ')' | '<' | '>');
                let to = (from..letters.len()).find(|at| stop(letters[*at])).unwrap_or(letters.len());
                let target: String = letters[from..to].iter().filter(|c| !matches!(c, '"' | '\'')).collect();
                if !target.is_empty() && !target.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
                    end(&mut format!(">{target}"), false);
                }
                at = to;
            }
            ('<', None) => part.push(' '),
            (';' | '&' | '\n' | '(' | ')' | '|', None) => {
                end(&mut part, piped);
                piped = c == '|' && letters.get(at) != Some(&'|');
                while letters.get(at).is_some_and(|c| matches!(c, '|' | '&' | ';')) {
                    at += 1;
                }
            }
            (c, None) => part.push(c),
        }
    }
    end(&mut part, piped);
}

/// Where the bracket that opens at `open` is closed; the end where it is not.
fn closing(letters: &[char], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, c) in letters.iter().enumerate().skip(open) {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    letters.len()
}
