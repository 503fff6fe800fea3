//! Small programs inside arguments: enough of awk and sed to see whether they start something.

use super::runs;
use crate::Verdict;
use crate::shell::argument::Arguments;
use crate::shell::files;
use crate::shell::lexer::Word;

/// The scripts among the arguments of awk or sed.
pub(in crate::shell) struct Scripts<'a> {
    pub(in crate::shell) texts: Vec<&'a str>,
    /// Whether one stands in a file, or may stand where it was not looked for.
    pub(in crate::shell) unseen: bool,
}

/// The scripts of awk: `None` where it loads a library.
pub(in crate::shell) fn of_awk(arguments: &[Word]) -> Option<Scripts<'_>> {
    let (options, rest) = Arguments::leading(arguments, "FvfeilEW");
    if options.has("liE") || options.has_long(&["load", "include", "exec"]) {
        return None;
    }
    let from_file = options.has("f") || options.has_long(&["file"]);
    let named = options.values('e').chain(options.long_values("source"));
    let first = if from_file { None } else { rest.first().map(|word| word.text.as_str()) };
    Some(Scripts { texts: named.chain(first).collect(), unseen: from_file || options.has_open_long() })
}

/// The scripts of sed.
pub(in crate::shell) fn of_sed(arguments: &[Word]) -> Scripts<'_> {
    let (options, rest) = Arguments::leading(arguments, "efl");
    let later = Arguments::read(arguments, "efl");
    let mut texts: Vec<&str> = later.values('e').chain(later.long_values("expression")).collect();
    let from_file = options.has("f") || options.has_long(&["file"]);
    if texts.is_empty() && !from_file && !options.has_long(&["expression"]) {
        texts.extend(rest.first().map(|word| word.text.as_str()));
    }
    let apart = later.long_names().any(|name| ["expression", "line-length"].iter().any(|long| long.starts_with(name)));
    Scripts { texts, unseen: from_file || later.has("f") || apart && later.has_open_long() }
}

/// Awk may compute and print; it may not start programs or load libraries.
pub(super) fn check_awk(arguments: &[Word]) -> Verdict {
    let Some(scripts) = of_awk(arguments) else { return Err(runs("awk with a library")) };
    if scripts.texts.iter().any(|text| awk_starts_program(text)) { Err(runs("awk")) } else { Ok(()) }
}

/// Looks at the program outside its strings and regular expressions.
fn awk_starts_program(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    // A slash is a division after a value, and a regular expression elsewhere.
    let mut after_value = false;
    let mut word = String::new();
    let mut last_word = String::new();
    let mut redirected = false;
    while let Some(&c) = chars.get(at) {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            after_value = true;
            at += 1;
            continue;
        }
        // Blanks may stand between a name and what is called.
        if !word.is_empty() {
            last_word = std::mem::take(&mut word);
        }
        match c {
            '"' => {
                let end = skip_until(&chars, at + 1, '"');
                let text: String = chars.get(at + 1..end).unwrap_or_default().iter().collect();
                // Gawk opens connections by such names.
                let network = text.starts_with("/inet");
                if network || (redirected && files::is_sensitive_target(&text)) {
                    return true;
                }
                at = end;
                after_value = true;
            }
            '/' if !after_value => {
                at = skip_until(&chars, at + 1, '/');
                after_value = true;
            }
            '#' => at = chars[at..].iter().position(|c| *c == '\n').map_or(chars.len(), |end| at + end),
            '@' => return true,
            '|' => {
                if chars.get(at + 1) != Some(&'|') {
                    return true;
                }
                at += 1;
                after_value = false;
            }
            '(' => {
                if last_word == "system" {
                    return true;
                }
                after_value = false;
            }
            ' ' | '\t' | '\n' => {}
            ')' | ']' | '$' => after_value = c != '$',
            _ => after_value = false,
        }
        if !matches!(c, ' ' | '\t' | '\n') {
            last_word.clear();
            redirected = c == '>';
        }
        at += 1;
    }
    false
}

/// The index of the closing character, or of the end.
fn skip_until(chars: &[char], mut at: usize, close: char) -> usize {
    while let Some(&c) = chars.get(at) {
        if c == '\\' {
            at += 1;
        } else if c == close {
            return at;
        }
        at += 1;
    }
    at
}

/// Sed may edit; it may not execute lines or write files that matter.
pub(super) fn check_sed(arguments: &[Word]) -> Verdict {
    of_sed(arguments).texts.into_iter().try_for_each(check_sed_script)
}

fn check_sed_script(text: &str) -> Verdict {
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        match c {
            ' ' | '\t' | '\n' | ';' | '{' | '}' | '!' | ',' | '$' | '+' | '~' | '0'..='9' | 'I' | 'M' => at += 1,
            '/' => at = skip_until(&chars, at + 1, '/') + 1,
            '\\' => match chars.get(at + 1) {
                Some(&close) => at = skip_until(&chars, at + 2, close) + 1,
                None => return Ok(()),
            },
            's' | 'y' => {
                let Some(&close) = chars.get(at + 1) else { return Ok(()) };
                let middle = skip_until(&chars, at + 2, close);
                let end = skip_until(&chars, middle + 1, close);
                at = end + 1;
                while let Some(&flag) = chars.get(at) {
                    match flag {
                        'e' if c == 's' => return Err(runs("sed s///e")),
                        'w' if c == 's' => {
                            check_sed_file(&chars[at + 1..])?;
                            at += 1 + line(&chars[at + 1..]).chars().count();
                        }
                        'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => at += 1,
                        _ => break,
                    }
                }
            }
            'e' => return Err(runs("sed e")),
            'w' | 'W' => {
                check_sed_file(&chars[at + 1..])?;
                at += 1 + line(&chars[at + 1..]).chars().count();
            }
            'r' | 'R' => {
                let name = line(&chars[at + 1..]);
                if files::is_credential(&name) {
                    return Err(files::credential(&name));
                }
                at += 1 + name.chars().count();
            }
            'a' | 'i' | 'c' | '#' | ':' | 'b' | 't' | 'T' => {
                // A label ends at a blank, to some versions.
                let is_label = matches!(c, ':' | 'b' | 't' | 'T');
                at += 1;
                while is_label && chars.get(at).is_some_and(|c| matches!(c, ' ' | '\t')) {
                    at += 1;
                }
                while let Some(&c) = chars.get(at) {
                    if c == '\n' || (is_label && matches!(c, ';' | '}' | ' ' | '\t')) {
                        break;
                    }
                    at += 1;
                }
            }
            _ => at += 1,
        }
    }
    Ok(())
}

fn check_sed_file(rest: &[char]) -> Verdict {
    let name = line(rest);
    let name = name.trim();
    if files::is_sensitive_target(name) { Err(runs("sed w")) } else { Ok(()) }
}

fn line(chars: &[char]) -> String {
    chars.iter().take_while(|c| **c != '\n').collect()
}
