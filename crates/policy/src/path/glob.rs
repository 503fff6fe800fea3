//! Patterns over paths: `**` stands for any number of names, also none, `*` for any part of one name, `?` for one
//! character of it. `/a/**` therefore matches `/a` itself.

use std::fmt;

/// One pattern, split into names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    names: Vec<String>,
    /// The same with each name folded, to compare with a path that was folded in the same way.
    folded: Vec<String>,
    anchored: bool,
}

impl Glob {
    /// Reads a pattern. Empty names and `.` mean nothing; runs of `**` mean the same as one.
    pub fn new(pattern: &str) -> Self {
        let mut names: Vec<String> = Vec::new();
        for name in pattern.split('/').filter(|name| !name.is_empty() && *name != ".") {
            if name != "**" || names.last().is_none_or(|last| last != "**") {
                names.push(name.to_owned());
            }
        }
        let folded = names.iter().map(|name| super::fold(name)).collect();
        Self { names, folded, anchored: pattern.starts_with('/') }
    }

    /// Whether an absolute path, given as its names, matches. A pattern that does not start with a slash may match
    /// at any depth.
    pub fn matches(&self, path: &[String]) -> bool {
        matches_names(&self.names, self.anchored, path.iter().map(|name| |part: &str| matches_name(part, name)))
    }

    /// Whether folding changes nothing about this pattern.
    pub(super) fn is_folded(&self) -> bool {
        self.names == self.folded
    }

    /// The same for a path whose names were folded.
    pub(super) fn matches_folded(&self, path: &[String]) -> bool {
        matches_names(&self.folded, self.anchored, path.iter().map(|name| |part: &str| matches_name(part, name)))
    }

    /// Whether something may match both this and a path of patterns. `finds_hidden` is whether a sign in front may be a dot.
    pub(super) fn may_find(&self, path: &[Spread], finds_hidden: bool) -> bool {
        let deep = [String::from("**")];
        let own: Vec<&String> = deep.iter().filter(|_| !self.anchored).chain(&self.folded).collect();
        let is_deep = |name: &Spread| matches!(name.0.as_slice(), [Letter::One('*'), Letter::One('*')]);
        meet(
            own.len(),
            path.len(),
            |at| own[at] == "**",
            |at| is_deep(&path[at]),
            |i, j| path[j].may_be(own[i], finds_hidden),
        )
    }

    /// The same where the path may be a pattern itself: whether something that it stands for matches.
    pub(super) fn may_match_folded(&self, path: &[Spread]) -> bool {
        let names = path.iter().map(|name| |part: &str| matches_letters(part, name.0.len(), |at, c| name.0[at].has(c)));
        matches_names(&self.folded, self.anchored, names)
    }
}

/// Stands for a group in a pattern: like `*`, but also for a dot in front. No name has it.
const GROUP: &str = "\0";

/// A name with [`GROUP`] for each group that a shell or a library chooses from: `@(a|b)`, `!(x)`, `{1..9}`.
pub(super) fn plain_groups(name: &str) -> String {
    let (mut plain, mut rest) = (String::new(), name);
    while let Some(at) = rest.find(['(', '{']) {
        let close = if rest[at..].starts_with('(') { ')' } else { '}' };
        let Some(end) = rest[at..].find(close) else { break };
        let (front, inside) = (&rest[..at], &rest[at + 1..at + end]);
        let (marked, chooses) = match front.strip_suffix(['@', '!', '+', '?', '*']) {
            Some(front) if close == ')' => (front, true),
            _ => (front, close == '}' && (inside.contains(',') || inside.contains(".."))),
        };
        plain.push_str(marked);
        plain.push_str(if chooses { GROUP } else { &rest[at..=at + end] });
        rest = &rest[at + end + 1..];
    }
    plain + rest
}

/// A name in which `[..]` stands for one letter of several.
#[derive(Debug)]
pub(super) struct Spread(Vec<Letter>);

#[derive(Debug)]
enum Letter {
    One(char),
    /// Which ones, from and to, and whether it is these or all others.
    Among(Vec<(char, char)>, bool),
}

impl Letter {
    fn has(&self, c: char) -> bool {
        match self {
            Self::One(one) => *one == c,
            Self::Among(ranges, wanted) => ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) == *wanted,
        }
    }
}

impl Spread {
    pub(super) fn new(name: &str) -> Self {
        let letters: Vec<char> = name.chars().collect();
        let (mut spread, mut at) = (Vec::new(), 0);
        while let Some(c) = letters.get(at) {
            at += 1;
            // A bracket right behind the first one is a letter among the others.
            let end = letters.iter().skip(at + 1).position(|c| *c == ']').map(|end| at + 1 + end);
            let (true, Some(end)) = (*c == '[', end) else {
                spread.push(Letter::One(*c));
                continue;
            };
            let inside = &letters[at..end];
            let rest = inside.strip_prefix(&['!']).or_else(|| inside.strip_prefix(&['^']));
            let mut ranges: Vec<(char, char)> = rest.unwrap_or(inside).iter().map(|c| (*c, *c)).collect();
            ranges.extend(inside.windows(3).filter(|three| three[1] == '-').map(|three| (three[0], three[2])));
            spread.push(Letter::Among(ranges, rest.is_none()));
            at = end + 1;
        }
        Self(spread)
    }
}

impl Spread {
    /// Whether some name fits both this, as a pattern, and another pattern.
    fn may_be(&self, pattern: &str, finds_hidden: bool) -> bool {
        let pattern: Vec<char> = pattern.chars().collect();
        let is_sign = |letter: &Letter| matches!(letter, Letter::One('*' | '?'));
        if !finds_hidden && pattern.first() == Some(&'.') && self.0.first().is_some_and(is_sign) {
            return false;
        }
        let star = |at: usize| matches!(self.0[at], Letter::One('*' | '\0'));
        meet(
            pattern.len(),
            self.0.len(),
            |at| pattern[at] == '*',
            star,
            |i, j| pattern[i] == '?' || matches!(self.0[j], Letter::One('?')) || self.0[j].has(pattern[i]),
        )
    }
}

/// Whether two rows of pieces have something in common, of which some stand for any number of pieces.
fn meet(
    first: usize,
    second: usize,
    is_any: impl Fn(usize) -> bool,
    is_any_too: impl Fn(usize) -> bool,
    fits: impl Fn(usize, usize) -> bool,
) -> bool {
    let mut row = vec![false; second + 1];
    for i in 0..=first {
        let above = std::mem::replace(&mut row, vec![false; second + 1]);
        for j in 0..=second {
            let begins = i == 0 && j == 0;
            let without = i > 0 && above[j] && (is_any(i - 1) || j < second && is_any_too(j));
            let without_too = j > 0 && row[j - 1] && (is_any_too(j - 1) || i < first && is_any(i));
            let both = i > 0 && j > 0 && above[j - 1] && !is_any(i - 1) && !is_any_too(j - 1) && fits(i - 1, j - 1);
            row[j] = begins || without || without_too || both;
        }
    }
    row[second]
}

fn matches_names(pattern: &[String], anchored: bool, path: impl Iterator<Item = impl Fn(&str) -> bool>) -> bool {
    // `reached[i]` says that the names so far are used up by the first `i` parts of the pattern.
    let size = pattern.len() + 1;
    // Short patterns, which are nearly all, need no memory of their own.
    let (mut short, mut long) = ([[false; 16]; 2], Vec::new());
    let (mut reached, mut next) = if size <= 16 {
        let [reached, next] = &mut short;
        (&mut reached[..size], &mut next[..size])
    } else {
        long.resize(2 * size, false);
        long.split_at_mut(size)
    };
    reached[0] = true;
    skip_empty(pattern, reached);
    for name in path {
        next.fill(false);
        next[0] = !anchored && reached[0];
        for (index, part) in pattern.iter().enumerate() {
            if part == "**" {
                next[index + 1] |= reached[index + 1] || reached[index];
            } else {
                next[index + 1] |= reached[index] && name(part);
            }
        }
        skip_empty(pattern, next);
        std::mem::swap(&mut reached, &mut next);
    }
    reached[pattern.len()]
}

fn skip_empty(pattern: &[String], reached: &mut [bool]) {
    for (index, part) in pattern.iter().enumerate() {
        if part == "**" && reached[index] {
            reached[index + 1] = true;
        }
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.anchored { "/" } else { "" };
        write!(formatter, "{slash}{}", self.names.join("/"))
    }
}

/// `*` and `?` in one name, in linear space and without backing up further than the last star.
fn matches_name(pattern: &str, name: &str) -> bool {
    if !pattern.contains(['*', '?']) {
        return pattern == name;
    }
    let name: Vec<char> = name.chars().collect();
    matches_letters(pattern, name.len(), |at, c| name[at] == c)
}

/// The same for a name of which only is known whether it may have a letter at a place.
fn matches_letters(pattern: &str, length: usize, has: impl Fn(usize, char) -> bool) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < length {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || has(n, *c) => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((star_p, star_n)) = star else { return false };
                star = Some((star_p, star_n + 1));
                p = star_p + 1;
                n = star_n + 1;
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_meet_where_a_name_fits_both() {
        let path = |text: &str| text.split('/').map(|name| Spread::new(&plain_groups(name))).collect::<Vec<_>>();
        for (deny, pattern, hidden, meets) in [
            ("**/.env", ".e*", false, true),
            ("**/.env", ".[e]nv", false, true),
            ("**/.env", ".[!a]nv", false, true),
            ("**/.env", ".[a-d]nv", false, false),
            ("**/.env", ".en?", false, true),
            ("**/.env", ".en??", false, false),
            ("**/.env", "*", false, false),
            ("**/.env", "*", true, true),
            ("**/.env", "*env", true, true),
            ("**/.env", "@(.env|x)", false, true),
            ("**/.env", ".{a..z}nv", false, true),
            ("**/.env", "a/b/.e*", false, true),
            ("**/.env", "**/.e*", false, true),
            ("**/.env", "**/*.rs", true, false),
            ("**/secret*", "s*", false, true),
            ("**/secret*", "*.txt", false, true),
            ("**/secret*", "a*", false, false),
            ("/a/private/**", "a/p*", false, true),
            ("/a/private/**", "a/p*/x", false, true),
            ("/a/private/**", "a/*.txt", false, false),
            ("/a/private/**", "b/**", false, false),
            ("/a/private/**", "**", false, true),
            ("/a/b", "a", false, false),
            ("/a/b", "a/**", false, true),
        ] {
            assert_eq!(Glob::new(deny).may_find(&path(pattern), hidden), meets, "{deny} {pattern}");
        }
    }

    #[test]
    fn long_patterns_match_as_short_ones_do() {
        let names = |count: usize| (0..count).map(|index| format!("n{index}")).collect::<Vec<_>>();
        for count in [1, 14, 15, 16, 17, 40] {
            let pattern = Glob::new(&format!("/{}/**", names(count).join("/")));
            assert!(pattern.matches(&names(count)), "{count}");
            assert!(pattern.matches(&names(count + 3)), "{count}");
            assert!(!pattern.matches(&names(count - 1)), "{count}");
        }
    }
}
