//! Patterns over paths: `**` stands for any number of names, also none, `*` for any part of one name, `?` for one
//! character of it. `/a/**` therefore matches `/a` itself.

use std::fmt;

/// One pattern, split into names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    names: Vec<String>,
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
        Self { names, anchored: pattern.starts_with('/') }
    }

    /// Whether an absolute path, given as its names, matches. A pattern that does not start with a slash may match
    /// at any depth.
    pub fn matches(&self, path: &[String]) -> bool {
        // `reached[i]` says that the names so far are used up by the first `i` parts of the pattern.
        let mut reached = vec![false; self.names.len() + 1];
        reached[0] = true;
        self.skip_empty(&mut reached);
        for name in path {
            let mut next = vec![false; self.names.len() + 1];
            next[0] = !self.anchored && reached[0];
            for (index, part) in self.names.iter().enumerate() {
                if part == "**" {
                    next[index + 1] |= reached[index + 1] || reached[index];
                } else {
                    next[index + 1] |= reached[index] && matches_name(part, name);
                }
            }
            self.skip_empty(&mut next);
            reached = next;
        }
        reached[self.names.len()]
    }

    /// The same pattern with each name changed, to compare what was changed in the same way.
    pub(super) fn folded(&self, change: impl Fn(&str) -> String) -> Self {
        Self { names: self.names.iter().map(|name| change(name)).collect(), anchored: self.anchored }
    }

    fn skip_empty(&self, reached: &mut [bool]) {
        for (index, part) in self.names.iter().enumerate() {
            if part == "**" && reached[index] {
                reached[index + 1] = true;
            }
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
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => {
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
