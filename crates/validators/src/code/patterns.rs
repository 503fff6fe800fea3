//! Patterns that take for ever: a group that repeats and holds nothing but what repeats itself, such as `(a+)+`.

use std::iter::Peekable;
use std::str::Chars;

/// Groups of a pattern that are looked at.
const MAX_GROUPS: usize = 64;
/// Bytes of a pattern that are looked at.
const MAX_PATTERN_BYTES: usize = 2_000;

/// Whether a pattern can be made to try the same letters in more and more ways.
pub(super) fn takes_for_ever(pattern: &str) -> bool {
    pattern.len() <= MAX_PATTERN_BYTES
        && group_starts(pattern).into_iter().take(MAX_GROUPS).any(|at| {
            let inner = &pattern[at + 1..];
            let Some(end) = group_end(inner) else { return false };
            let again = inner[end + 1..].starts_with(['*', '+'])
                || inner[end + 1..].starts_with('{') && is_open(&inner[end + 1..]);
            again && (only_repeats(&inner[..end]) || has_twins(&inner[..end]))
        })
}

/// Where groups begin.
fn group_starts(pattern: &str) -> Vec<usize> {
    let (mut starts, mut escaped, mut class) = (Vec::new(), false, false);
    for (at, letter) in pattern.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '(' if !class => starts.push(at),
            _ => {}
        }
    }
    starts
}

/// Whether `{2,}` has no end.
fn is_open(rest: &str) -> bool {
    rest.split('}').next().is_some_and(|count| count.ends_with(','))
}

/// Where the group ends that begins in front of this.
fn group_end(inner: &str) -> Option<usize> {
    let (mut depth, mut escaped, mut class) = (0usize, false, false);
    for (at, letter) in inner.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            _ if class => {}
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether a group has at least one part that repeats without an end, and none that must be there once.
fn only_repeats(group: &str) -> bool {
    let group = group.trim_start_matches("?:").trim_start_matches('^').trim_end_matches('$');
    let mut letters = group.chars().peekable();
    let mut repeats = false;
    while let Some(letter) = letters.next() {
        match letter {
            '|' => return false,
            '\\' => {
                letters.next();
            }
            '[' => skip_class(&mut letters),
            '(' => {
                let rest: String = letters.clone().collect();
                let Some(end) = group_end(&rest) else { return false };
                let inner = only_repeats(&rest[..end]);
                letters.nth(rest[..end].chars().count());
                if !inner && !matches!(letters.peek(), Some('*' | '?')) {
                    return false;
                }
                repeats |= inner || letters.next_if_eq(&'*').is_some();
                continue;
            }
            _ => {}
        }
        match letters.peek() {
            Some('+' | '*') => {
                letters.next();
                repeats = true;
            }
            Some('?') => {
                letters.next();
            }
            Some('{') => {
                let count: String = letters.clone().take_while(|letter| *letter != '}').collect();
                if !count.ends_with(',') {
                    return false;
                }
                letters.nth(count.chars().count());
                repeats = true;
            }
            _ => return false,
        }
        // As few as possible, or all at once.
        letters.next_if(|letter| matches!(letter, '?' | '+'));
    }
    repeats
}

fn skip_class(letters: &mut Peekable<Chars<'_>>) {
    let mut first = true;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            ']' if !first => return,
            '^' if first => continue,
            _ => {}
        }
        first = false;
    }
}

/// Whether two branches of a group begin alike: `a|aa`.
fn has_twins(group: &str) -> bool {
    if group.contains(['(', '[']) {
        return false;
    }
    let branches: Vec<&str> = group.trim_start_matches("?:").split('|').take(MAX_GROUPS).collect();
    branches.iter().enumerate().any(|(at, one)| {
        let later = branches.get(at + 1..).unwrap_or_default();
        !one.is_empty()
            && later.iter().any(|other| other.starts_with(one) || one.starts_with(other) && !other.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_take_for_ever_are_told_from_ordinary_ones() {
        for pattern in [
            "^(a+)+$",
            "(a*)*b",
            "(\\w+\\s?)*$",
            "([a-z]+)*",
            "(.*)+x",
            "(a|aa)+$",
            "((a+)+)+",
            "(\\d{2,})*x",
            "(?:x+x+)+y",
        ] {
            assert!(takes_for_ever(pattern), "{pattern}");
        }
        for pattern in [
            "^[a-z]+@[a-z]+$",
            "(foo|bar)+",
            "(\\d{3})-(\\d+)",
            "([a-z]+\\.)+com",
            "(,\\d+)*",
            "\\((a+)\\)+",
            "(?:-\\w+)*",
            "[(a+)+]?",
        ] {
            assert!(!takes_for_ever(pattern), "{pattern}");
        }
    }
}
