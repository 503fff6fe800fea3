//! The scripts of `sed` and `awk`: they write files, run commands and read from them.

use super::{kept, unknown};
use crate::Finding;
use crate::shell::code::script::{of_awk, of_sed};
use crate::shell::lexer::Word;
use crate::shell::program::base_name;

/// Whether the scripts among these words only work on what they read.
pub(super) fn check(shown: &str, words: &[Word]) -> Result<(), Finding> {
    let is_plain = match base_name(shown).as_str() {
        "sed" | "gsed" => {
            let scripts = of_sed(words);
            // Other systems read the first word behind `-i` as an ending, and the second as the script.
            let is = |option: &str| words.iter().any(|word| word.text == option);
            let mut files = words.iter().filter(|word| !word.text.starts_with('-')).skip(1);
            let shifted = is("-i") && !is("-e") && files.any(|word| word.text.contains(char::is_whitespace));
            // Nothing would be left of the files.
            let in_place = words.iter().any(|word| word.text.starts_with("-i") || word.text.starts_with("--in-place"));
            let letters = |text: &str| text.starts_with('-') && !text.starts_with("--");
            let in_place = in_place || words.iter().any(|word| letters(&word.text) && word.text.contains('i'));
            // Behind `i` stands the ending of the copy.
            let own = |text: &str| text.split('i').next().is_some_and(|own| own.contains('n'));
            let prints = |text: &str| matches!(text, "--quiet" | "--silent") || letters(text) && own(text);
            let prints_only = words.iter().any(|word| prints(&word.text));
            let emptied = in_place
                && scripts.texts.iter().any(|script| may_empty(script) || kept::thins_out(script, prints_only));
            !emptied && !shifted && !scripts.unseen && scripts.texts.iter().all(|script| is_plain_sed(script))
        }
        _ => of_awk(words)
            .is_some_and(|scripts| !scripts.unseen && scripts.texts.iter().all(|script| is_plain_awk(script))),
    };
    if is_plain { Ok(()) } else { Err(unknown(&format!("what this script of `{shown}` does is"))) }
}

/// Whether a script of `sed` may leave nothing of a file: lines are taken away that no pattern and no plain numbers choose.
fn may_empty(script: &str) -> bool {
    let script = script.trim();
    let replaces_all = ["s/.*//", "s/^.*$//", "s/.//", "s/..*//"].iter().any(|front| script.starts_with(front));
    // `/x/d`, `3d`, `1,5d`, `$d`; with a `!` it is all the others.
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let chosen = |address: &str| {
        let address = address.trim();
        address.len() > 1
            && address.starts_with('/')
            && address.ends_with('/')
            && !matches!(address, "/./" | "/.*/" | "/^/" | "/$/")
            || address == "$"
            || is_number(address)
            || address.split_once(',').is_some_and(|(from, to)| is_number(from.trim()) && is_number(to.trim()))
    };
    let takes = |command: &str| {
        let command = command.trim().trim_end_matches(['}', ';']).trim();
        let last = command.chars().next_back();
        let is_short = !command.starts_with('s') && !command.starts_with('y');
        // Behind `q` everything is lost, whatever line it stands at.
        let ends = matches!(last, Some('q' | 'Q')) && !command[..command.len() - 1].contains(char::is_whitespace);
        is_short && (ends || matches!(last, Some('d' | 'D' | 'z')) && !chosen(&command[..command.len() - 1]))
    };
    replaces_all || script.split([';', '\n']).any(takes)
}

/// `awk` runs commands and writes files by `system`, `|`, `>` and `getline`, and loads code by `@`.
fn is_plain_awk(script: &str) -> bool {
    let script = &script.replace("\\\n", " ");
    // A line goes on behind these.
    let mut joined = String::new();
    for line in script.split('\n') {
        joined.push_str(line);
        let goes_on = [",", "{", "&&", "||", "do", "else"].iter().any(|end| line.trim_end().ends_with(end));
        joined.push(if goes_on { ' ' } else { '\n' });
    }
    let script = &joined;
    // Whatever is text and whatever is not.
    if ["system", "getline", "ENVIRON", "ARGV", "ARGC", "fflush", "close", "PROCINFO", "SYMTAB", "FUNCTAB", "@"]
        .iter()
        .any(|word| script.contains(word))
    {
        return false;
    }
    // Where a slash may divide or begin a pattern, nobody knows which quotes open a text.
    let mut before = String::new();
    for c in script.chars() {
        if c == '/' && script.contains('"') && !begins_pattern(&before) && before.matches('/').count().is_multiple_of(2)
        {
            return false;
        }
        before.push(c);
    }
    // Text in quotes and patterns is text.
    let mut bare = String::new();
    let mut letters = script.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '"' | '/' if c == '"' || begins_pattern(&bare) => {
                while let Some(inside) = letters.next() {
                    match inside {
                        '\\' => drop(letters.next()),
                        // Whether a slash or a quote in a class ends the pattern, versions do not agree on.
                        '[' if c == '/' && !is_plain_class(&mut letters) => return false,
                        inside if inside == c => break,
                        _ => {}
                    }
                }
                bare.push(' ');
            }
            c => bare.push(c),
        }
    }
    let bare = bare.replace("||", " ").replace(">=", " ");
    let has_word = |word: &str| {
        bare.match_indices(word).any(|(at, _)| {
            let before = bare[..at].chars().next_back();
            let after = bare[at + word.len()..].chars().next();
            let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            !is_letter(before) && !is_letter(after)
        })
    };
    // `$3 > 10` compares; `print > "file"` and what follows it writes.
    let compares = |part: &str| !part.contains("print");
    let writes = bare.split(['{', '}', ';', '\n']).any(|part| part.contains('>') && !compares(part));
    !bare.contains(['|', '@', '`'])
        && !writes
        && !["system", "getline", "close", "fflush", "ENVIRON"].into_iter().any(has_word)
}

/// Reads a class of letters to its end; whether it has one, and nothing in it could end a pattern or a text.
fn is_plain_class(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let mut first = true;
    for c in letters.by_ref() {
        match c {
            '^' if first => continue,
            ']' if !first => return true,
            '/' | '"' | '\\' | '\n' => return false,
            _ => {}
        }
        first = false;
    }
    false
}

/// Whether a slash behind this begins a pattern, and divides nothing.
fn begins_pattern(before: &str) -> bool {
    before.trim_end().chars().next_back().is_none_or(|last| "(,{}!~&|;=\n".contains(last))
}

/// `sed` runs commands by `e`, and writes and reads files by `w`, `W`, `r` and `R`: as commands, or as flags of `s`.
fn is_plain_sed(script: &str) -> bool {
    // Comments and the texts of `a`, `i` and `c` end with their line, as everything else has to here.
    script.split('\n').all(is_plain_line_of_sed)
}

fn is_plain_line_of_sed(line: &str) -> bool {
    let text = without_address(line.trim_start());
    if text.starts_with('#') {
        return true;
    }
    if text.starts_with(['a', 'i', 'c']) {
        // Behind a mark at its end the text goes on.
        return !line.ends_with('\\') || text.len() == 2;
    }
    let Some(commands) = split_sed(line) else { return false };
    commands.into_iter().all(|command| {
        let command = without_address(command.trim());
        let mut letters = command.chars();
        let rest = letters.as_str();
        // What follows a command that takes nothing is another one, to some versions.
        let ends =
            |rest: &str| rest.get(1..).unwrap_or_default().chars().all(|c| c.is_ascii_digit() || " }\t".contains(c));
        match letters.next() {
            None | Some('a' | 'i' | 'c' | '#') => true,
            // Some versions end a label at a blank, and another command follows.
            Some('b' | 't' | 'T' | ':') => {
                let label = rest.get(1..).unwrap_or_default().trim().trim_end_matches('}').trim_end();
                label.chars().all(|c| c.is_alphanumeric() || "_.-".contains(c))
            }
            Some(
                'p' | 'd' | 'D' | 'P' | 'q' | 'Q' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'l' | '=' | '{' | '}'
                | 'z' | 'F',
            ) => ends(rest),
            Some(command @ ('s' | 'y')) => {
                let Some(mark) = letters.next() else { return false };
                let mut parts = 0;
                let mut escaped = false;
                let mut flags = String::new();
                for c in letters {
                    if parts == 2 {
                        flags.push(c);
                    } else if escaped {
                        escaped = false;
                    } else if c == '\\' {
                        escaped = true;
                    } else if c == mark {
                        parts += 1;
                    }
                }
                let known = if command == 's' { "gpiImM0123456789} " } else { "} " };
                parts == 2 && flags.trim().chars().all(|flag| known.contains(flag))
            }
            Some(_) => false,
        }
    })
}

/// The commands of a line, parted where no pattern goes on. `None` where it cannot be told where one ends: it does not, or its
/// mark stands in a class of letters, which versions read differently.
fn split_sed(script: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut in_pattern: Option<(char, usize)> = None;
    let mut in_class = false;
    let mut escaped = false;
    let mut fresh = true;
    let mut letters = script.char_indices();
    while let Some((at, c)) = letters.next() {
        if escaped {
            escaped = false;
            continue;
        }
        match (c, &mut in_pattern) {
            ('\\', _) => escaped = true,
            (c, Some((mark, left))) if c == *mark => {
                if in_class {
                    return None;
                }
                *left -= 1;
                if *left == 0 {
                    in_pattern = None;
                }
            }
            ('[', Some(_)) => in_class = true,
            (']', Some(_)) => in_class = false,
            (_, Some(_)) => {}
            ('/', None) => (in_pattern, in_class) = (Some(('/', 1)), false),
            ('s' | 'y', None) if fresh => {
                fresh = false;
                if let Some((_, mark)) = letters.next() {
                    (in_pattern, in_class) = (Some((mark, 2)), false);
                }
            }
            (';' | '\n', None) => {
                found.push(&script[start..at]);
                start = at + 1;
                fresh = true;
                continue;
            }
            ('{', None) => {
                found.push(&script[start..at]);
                start = at + 1;
                fresh = true;
                continue;
            }
            _ => {}
        }
        // Numbers, blanks and patterns in front of a command are its address.
        fresh = fresh
            && (in_pattern.is_some()
                || c.is_ascii_digit()
                || c.is_whitespace()
                || matches!(c, ',' | '$' | '!' | '/' | '~' | '+'));
    }
    found.push(&script[start..]);
    in_pattern.is_none().then_some(found)
}

/// A command without the lines that it is for.
fn without_address(command: &str) -> &str {
    let mut rest = command;
    loop {
        let trimmed = rest.trim_start_matches(|c: char| {
            c.is_ascii_digit() || c.is_whitespace() || matches!(c, ',' | '$' | '!' | '~' | '+')
        });
        let Some(pattern) = trimmed.strip_prefix('/') else { return trimmed };
        let mut escaped = false;
        let end = pattern.char_indices().find(|(_, c)| {
            let ends = *c == '/' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let Some((at, _)) = end else { return trimmed };
        rest = pattern[at + 1..].trim_start_matches(['I', 'M']);
    }
}

#[cfg(test)]
mod tests {
    use super::{is_plain_awk, is_plain_sed};

    #[test]
    fn scripts_that_only_work_on_what_they_read() {
        for script in [
            "{print $1}",
            "NR > 1 && $3 >= 10 {print $1, $2}",
            "BEGIN {FS=\",\"} {sum += $2} END {print sum}",
            "/error|warn/ {n++} END {print n}",
            "{print \"a > b | c\"}",
            "/[0-9]+/ {print \"x\"}",
            "/[]a-z]/ {print}",
        ] {
            assert!(is_plain_awk(script), "{script}");
        }
        for script in [
            "{system(\"id\")}",
            "{print $1 | \"sh\"}",
            "{print > \"/etc/x\"}",
            "BEGIN {while ((\"id\" | getline l) > 0) print l}",
            "@load \"x\"",
            "/[/\"]=/ || 1 {print \"id\" | \"sh\" }",
            "BEGIN{$0 ~ /[/\"]=/; print \"x\" > \"conftest.py\"}",
            "/[]/\"]/ {print \"id\" | \"sh\"}",
        ] {
            assert!(!is_plain_awk(script), "{script}");
        }
        for script in [
            "s/a/b/g",
            "1,5p",
            "/x/d",
            "$d",
            "s|/usr|/opt|",
            "2q",
            "/a/,/b/p",
            "s/a/b/;s/c/d/2",
            "/^#/!s/x/y/I",
            "y/abc/xyz/",
            "# a comment\n1d",
            "1a some text",
            "s/[0-9]*//g",
            "/a/{\ns/x/y/\np\n}",
        ] {
            assert!(is_plain_sed(script), "{script}");
        }
        for script in [
            "1e id",
            "s/a/b/e",
            "s/a/b/w /etc/x",
            "w /etc/x",
            "1r /etc/shadow",
            "e",
            "/x/e id",
            "s/a/b/ge",
            "1!e id",
            "#/\nw /dev/null\ne id",
            "1a /\nw /dev/null\ne id",
            "#/\nw out.py",
            "s/[/]/x/;e id;s//",
            "a\\\n/\ne id",
        ] {
            assert!(!is_plain_sed(script), "{script}");
        }
    }
}
