//! Commands of known programs that a person is asked about all the same, by the table in `excepted.txt`: what prints passwords,
//! keys or an environment, and what changes many things at once by a rule of its own.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::shell::lexer::Word;

const TABLE: &str = include_str!("excepted.txt");

/// The patterns of each program.
static EXCEPTED: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut programs: HashMap<&str, Vec<&str>> = HashMap::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let (name, patterns) = line.split_once(' ').unwrap_or((line, ""));
        if !name.is_empty() {
            programs.entry(name).or_default().push(patterns);
        }
    }
    programs
});

/// Whether a command is one of those, by its words.
pub(super) fn is_excepted(name: &str, words: &[Word]) -> bool {
    // Without a name of what is wanted it shows everything, and the environment with it.
    if name == "systemctl" && words.iter().any(|word| word.text == "show") {
        let picks = |word: &Word| word.text.starts_with("-p") || word.text.starts_with("--property");
        return !words.iter().any(picks) || words.iter().any(|word| word.text.contains("nviron"));
    }
    let Some(lines) = EXCEPTED.get(name) else { return false };
    lines.iter().any(|line| {
        let mut rest = words.iter();
        // `~.Config }` has a blank in it: what stands behind the last mark is one pattern.
        let (front, tail) = match line.rsplit_once(" ~").filter(|(_, tail)| tail.contains(' ')) {
            Some((front, tail)) => (front, Some(tail)),
            None => (*line, None),
        };
        front
            .split_ascii_whitespace()
            .all(|pattern| rest.any(|word| pattern.split('|').any(|one| fits(one, &word.text))))
            && tail.is_none_or(|tail| rest.any(|word| word.text.contains(tail)))
    })
}

fn fits(pattern: &str, text: &str) -> bool {
    if let Some(part) = pattern.strip_prefix('~') {
        return text.to_ascii_lowercase().contains(&part.to_ascii_lowercase());
    }
    match pattern.split_once('*') {
        Some((front, rest)) => text.starts_with(front) && rest.split('*').all(|part| text.contains(part)),
        None => text == pattern,
    }
}
