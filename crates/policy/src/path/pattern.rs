//! What patterns for names stand for, as shells and libraries read them: braces, ranges, groups, classes and escapes.
//!
//! Whatever judges a pattern begins here. [`choices`] puts apart what is chosen before any folder is looked at; [`may_climb`]
//! says whether a step of what is left, or of the whole, may be read as `..`.

/// More choices of one pattern are not put apart.
const MAX_CHOICES: usize = 64;
/// Longer patterns are not put apart either.
const MAX_BYTES: usize = super::MAX_PATH_BYTES;
/// Deeper groups are not looked into, and count as what they may be at worst.
const MAX_DEPTH: usize = 16;
/// What may stand several times is walked several times, and counts as so many.
const REPEATED: usize = 4;
/// Longer classes are none.
const MAX_CLASS: usize = 256;
/// Signs in front of a group, as libraries for patterns have them.
const GROUP_SIGNS: [char; 5] = ['@', '+', '*', '?', '!'];
/// Characters that decide where a path leads. A range that holds them stands for them.
const DECIDING: [char; 5] = ['.', '/', '\\', '~', '$'];
/// A number of any length.
const NUMBER: &str = "[0-9-]*";

/// What braces and groups of a pattern stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    /// Patterns without any of them, as far as they were put apart.
    pub texts: Vec<String>,
    /// Whether all of them were.
    pub whole: bool,
}

/// What `{a,b}`, `{a..c}`, `@(a|b)` and the like in a pattern stand for. A word alone in braces (`{id}`) is written like that.
#[must_use]
pub fn choices(pattern: &str) -> Choices {
    if pattern.len() > MAX_BYTES {
        return Choices { texts: vec![pattern.to_owned()], whole: !pattern.contains(['{', '(']) };
    }
    let (mut open, mut texts, mut whole) = (vec![pattern.to_owned()], Vec::new(), true);
    while let Some(choice) = open.pop() {
        match choice.rmatch_indices(['{', '(']).find_map(|(at, _)| apart(&choice, at)) {
            Some(more) if open.len() + texts.len() + more.len() <= MAX_CHOICES => open.extend(more),
            more => {
                whole &= more.is_none();
                texts.push(choice);
            }
        }
    }
    Choices { texts, whole }
}

/// What a path stands for where it is taken for a pattern: its choices, with `..` in the place of each step that may be one.
#[must_use]
pub fn readings(pattern: &str) -> Choices {
    if !pattern.contains(['{', '(', '[']) {
        return Choices { texts: vec![pattern.to_owned()], whole: true };
    }
    let mut choices = choices(pattern);
    if !choices.whole {
        return choices;
    }
    let step = |step: &'_ str| if may_climb(step) { "..".to_owned() } else { step.to_owned() };
    for text in &mut choices.texts {
        *text = text.split('/').map(step).collect::<Vec<_>>().join("/");
    }
    choices
}

/// The choices of what opens at one place, if something does.
fn apart(text: &str, at: usize) -> Option<Vec<String>> {
    let (front, rest) = (&text[..at], &text[at + 1..]);
    if text[at..].starts_with('(') {
        let (inner, behind) = rest.split_once(')')?;
        return Some(of_group(front, inner, behind));
    }
    let (inner, behind) = rest.split_once('}')?;
    let words: Vec<String> = if inner.contains(',') {
        inner.split(',').map(str::to_owned).collect()
    } else if let Some(range) = range(inner) {
        range
    } else if !inner.is_empty() && inner.chars().all(|c| DECIDING.contains(&c)) {
        vec![inner.to_owned()]
    } else {
        return None;
    };
    Some(words.iter().map(|word| format!("{front}{word}{behind}")).collect())
}

/// The choices of a group, `@(a|b)` or a plain one. What may stand several times stands once and twice.
fn of_group(front: &str, inner: &str, behind: &str) -> Vec<String> {
    let sign = front.chars().next_back().filter(|sign| GROUP_SIGNS.contains(sign));
    // In an expression the sign belongs to what stands in front of it.
    let bare = sign.map_or(front, |sign| &front[..front.len() - sign.len_utf8()]);
    let words: Vec<&str> = inner.trim_start_matches("?:").split('|').collect();
    let once = words.iter().map(|word| format!("{bare}{word}{behind}"));
    let twice = words.iter().map(|word| format!("{bare}{word}{word}{behind}"));
    let none = || format!("{bare}{behind}");
    match sign {
        Some('!') => vec![format!("{bare}*{behind}")],
        Some('+') => once.chain(twice).collect(),
        Some('*') => once.chain(twice).chain([none()]).collect(),
        Some('?') => once.chain([none()]).collect(),
        _ => once.collect(),
    }
}

/// What `a..c` or `1..9` in braces stands for, perhaps with a width of its steps: the characters that decide about a path one by
/// one, all others as a class.
fn range(inner: &str) -> Option<Vec<String>> {
    let is_number = |text: &str| text.trim_start_matches('-').parse::<u64>().is_ok();
    let letters: Vec<char> = inner.chars().collect();
    if let [from, '.', '.', to, rest @ ..] = letters.as_slice()
        && matches!(rest, [] | ['.', '.', ..])
        && !(from.is_ascii_digit() && to.is_ascii_digit())
    {
        let (from, to) = (*from.min(to), *from.max(to));
        let among = |c: &&char| (from..=to).contains(*c);
        let class =
            if [from, to].iter().any(|c| "]!^[\\".contains(*c)) { "?".to_owned() } else { format!("[a{from}-{to}]") };
        return Some(DECIDING.iter().filter(among).map(char::to_string).chain([class]).collect());
    }
    let mut parts = inner.split("..");
    let (from, to) = (parts.next()?, parts.next()?);
    (is_number(from) && is_number(to)).then(|| vec![NUMBER.to_owned()])
}

/// Whether some reader of a pattern finds a step in it that is `..`: as it stands, by its choices, by classes that have a dot, by
/// escapes. A sign in front of a name stands for no dot.
#[must_use]
pub fn may_climb(pattern: &str) -> bool {
    let letters: Vec<char> = pattern.chars().collect();
    let ends = Walk::of(&letters).all(Ends::START, 0);
    ends.0 & (Ends::TWO.0 | Ends::CLIMBED.0) != 0
}

/// Where in a step the readings of a pattern may stand, as a set.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ends(u8);

impl Ends {
    const NONE: Self = Self(0);
    /// Where a step begins.
    const START: Self = Self(1);
    /// Behind one dot that begins it.
    const ONE: Self = Self(2);
    /// Behind two, and nothing else.
    const TWO: Self = Self(4);
    /// Behind anything else.
    const OTHER: Self = Self(8);
    /// Behind a step up.
    const CLIMBED: Self = Self(16);

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn only(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Behind one more dot.
    const fn dot(self) -> Self {
        let one = if self.has(Self::START) { Self::ONE } else { Self::NONE };
        let two = if self.has(Self::ONE) { Self::TWO } else { Self::NONE };
        let more = if self.has(Self::TWO) || self.has(Self::OTHER) { Self::OTHER } else { Self::NONE };
        self.only(Self::CLIMBED).and(one).and(two).and(more)
    }

    /// Behind the end of a step.
    const fn slash(self) -> Self {
        let climbed = if self.has(Self::TWO) { Self::CLIMBED } else { Self::NONE };
        let goes_on = self.0 & !Self::CLIMBED.0 != 0;
        self.only(Self::CLIMBED).and(climbed).and(if goes_on { Self::START } else { Self::NONE })
    }

    /// Behind any other letter.
    const fn letter(self) -> Self {
        let goes_on = self.0 & !Self::CLIMBED.0 != 0;
        self.only(Self::CLIMBED).and(if goes_on { Self::OTHER } else { Self::NONE })
    }

    fn one(self, c: char) -> Self {
        match c {
            '.' => self.dot(),
            '/' => self.slash(),
            _ => self.letter(),
        }
    }

    /// Behind one letter that a sign stands for: no dot where a step begins.
    const fn any(self) -> Self {
        Self(self.0 & !Self::START.0).dot().and(self.letter())
    }

    /// Behind any number of them.
    const fn many(self) -> Self {
        let once = Self(self.0 & !Self::START.0).and(self.letter());
        let dots = Self(self.0 & !Self::START.0).dot();
        once.and(dots).and(dots.dot())
    }
}

struct Walk<'a> {
    letters: &'a [char],
    /// Where what opens at a place is closed.
    closes: Vec<Option<usize>>,
}

impl<'a> Walk<'a> {
    fn of(letters: &'a [char]) -> Self {
        let mut closes = vec![None; letters.len()];
        let (mut braces, mut groups) = (Vec::new(), Vec::new());
        for (at, c) in letters.iter().enumerate() {
            let opened = match c {
                '{' => {
                    braces.push(at);
                    None
                }
                '(' => {
                    groups.push(at);
                    None
                }
                '}' => braces.pop(),
                ')' => groups.pop(),
                _ => None,
            };
            if let Some(close) = opened.and_then(|opened| closes.get_mut(opened)) {
                *close = Some(at);
            }
        }
        Self { letters, closes }
    }

    fn all(&self, from: Ends, depth: usize) -> Ends {
        let (mut ends, mut at) = (from, 0);
        while let Some(c) = self.letters.get(at).copied() {
            let sign = GROUP_SIGNS.contains(&c) && self.letters.get(at + 1) == Some(&'(');
            let opens = if sign { at + 1 } else { at };
            let closes = self.closes.get(opens).copied().flatten();
            if let Some(end) = closes {
                ends = self.group(ends, sign.then_some(c), (opens, end), depth);
                at = end + 1;
                continue;
            }
            if c == '['
                && let Some(end) = self.class_end(at)
            {
                ends = class(ends, &self.letters[at + 1..end]);
                at = end + 1;
                continue;
            }
            ends = match c {
                '*' => ends.many(),
                '?' => ends.any(),
                // An escape: what follows is meant, and is no less than what it says.
                '\\' => ends,
                c => ends.one(c),
            };
            at += 1;
        }
        ends
    }

    /// What a group or braces make of it.
    fn group(&self, from: Ends, sign: Option<char>, (opens, closes): (usize, usize), depth: usize) -> Ends {
        if depth >= MAX_DEPTH {
            return Ends::CLIMBED;
        }
        let inner = &self.letters[opens + 1..closes];
        let depth = depth + if matches!(sign, Some('+' | '*')) { REPEATED } else { 1 };
        let once = |from: Ends| {
            let parts = if self.letters[opens] == '(' { '|' } else { ',' };
            let pieces = split(inner, parts);
            let text: String = inner.iter().collect();
            if let [_] = pieces.as_slice()
                && parts == ','
                && let Some(range) = range(&text)
            {
                let each = range.iter().map(|one| {
                    let letters: Vec<char> = one.chars().collect();
                    Walk::of(&letters).all(from, depth)
                });
                return each.fold(Ends::NONE, Ends::and);
            }
            let each = pieces.iter().map(|piece| Walk::of(piece).all(from, depth));
            // A word alone in braces is written like that to most.
            let written = if parts == ',' && pieces.len() == 1 { from.letter() } else { Ends::NONE };
            each.fold(written, Ends::and)
        };
        match sign {
            Some('!') => from.many(),
            Some('?') => from.and(once(from)),
            Some('+' | '*') => {
                let mut ends = if sign == Some('*') { from.and(once(from)) } else { once(from) };
                // Each round adds at least one of five places.
                for _ in 0..5 {
                    let more = ends.and(once(ends));
                    if more == ends {
                        break;
                    }
                    ends = more;
                }
                ends
            }
            _ => once(from),
        }
    }

    fn class_end(&self, opens: usize) -> Option<usize> {
        let letters = &self.letters[..self.letters.len().min(opens + MAX_CLASS)];
        let negated = usize::from(matches!(letters.get(opens + 1), Some('!' | '^')));
        let mut at = opens + negated + 1;
        let first = at;
        while let Some(c) = letters.get(at) {
            // A bracket right behind the first one is a letter among the others.
            if *c == ']' && at > first {
                return Some(at);
            }
            let name = letters.get(at + 1).filter(|mark| *c == '[' && ":.=".contains(**mark));
            let named = name.and_then(|mark| {
                let rest = letters.get(at + 2..)?;
                rest.windows(2).position(|two| two == [*mark, ']'])
            });
            at += named.map_or(1, |length| length + 4);
        }
        None
    }
}

/// The pieces between separators that stand in no group of their own.
fn split(letters: &[char], parts: char) -> Vec<&[char]> {
    let (mut pieces, mut begins, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, c) in letters.iter().enumerate() {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
            c if *c == parts && depth == 0 => {
                pieces.push(&letters[begins..at]);
                begins = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&letters[begins..]);
    pieces
}

/// What a class of letters makes of it.
fn class(from: Ends, inside: &[char]) -> Ends {
    let rest = inside.strip_prefix(&['!']).or_else(|| inside.strip_prefix(&['^']));
    let letters = rest.unwrap_or(inside);
    // No reader finds a separator by a class.
    let has = |wanted: char| {
        // Names of classes stand for dots as well, those of letters and digits aside.
        let named = letters.windows(3).any(|three| matches!(three, ['[', '.' | '=', _] | ['[', ':', 'p' | 'g']));
        named
            || letters.contains(&wanted)
            || letters.windows(3).any(|three| three[1] == '-' && (three[0]..=three[2]).contains(&wanted))
    };
    let is_dot = has('.') != rest.is_some();
    from.letter().and(if is_dot { from.dot() } else { Ends::NONE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_ranges_and_groups_are_put_apart() {
        for (text, expected) in [
            ("a", &["a"][..]),
            ("{a,b}/c", &["a/c", "b/c"]),
            ("@(..)/x", &["../x"]),
            ("+(.)/x", &["../x", "./x"]),
            ("(..|x)/y", &["../y", "x/y"]),
            ("?(../)x", &["../x", "x"]),
            ("..{,}/x", &["../x", "../x"]),
            ("(unclosed", &["(unclosed"]),
            ("{id}/x", &["{id}/x"]),
            ("{..}/x", &["../x"]),
            ("{l..n}gp", &["[al-n]gp"]),
            ("{1..10}.txt", &["[0-9-]*.txt"]),
            ("{-..0}./x", &["../x", "/./x", "[a--0]./x"]),
            ("{@(a|b),{c,d}}", &["a", "a", "b", "b", "c", "c", "d", "d"]),
        ] {
            let mut found = choices(text).texts;
            found.sort();
            let mut expected = expected.to_vec();
            expected.sort_unstable();
            assert_eq!(found, expected, "{text}");
        }
        for long in ["{a,b}".repeat(40), "+(a|b)".repeat(40), "{-..0}".repeat(40)] {
            let found = choices(&long);
            assert!(!found.whole && found.texts.len() <= MAX_CHOICES, "{long}");
        }
    }

    #[test]
    fn whatever_may_be_a_step_up_climbs() {
        for pattern in [
            "..",
            "../x",
            "a/..",
            "a/../b",
            "[.][.]/x",
            ".[.]",
            "[.].",
            ".?",
            ".*",
            "..*",
            ".*/x",
            "\\.\\./x",
            "a/\\.\\./x",
            "[.]\\./x",
            "{-..0}./x",
            ".{-..0}/**",
            "{-..0}{-..0}/*",
            "{.,x}{-..0}/*",
            "{..}/x",
            "{.}{.}/x",
            "@(..)/x",
            "+(.)/x",
            "*(.)/x",
            ".@(.|a)/x",
            "?(.)./x",
            "[!a][!b]/x",
            "[!a]*/x",
            "[^a]*",
            ".[!a]/x",
            "[--0][--0]/x",
            "[[:punct:]][[:punct:]]/x",
            ".[[.full-stop.]]/x",
            "[+-9].",
            "{a,{b,..}}/x",
            "@({a,.}.|b)/x",
            "x{/..,}/y",
            "{../x,a}/*",
            "a/{b,.}{c,.}/d",
            ".+(.)/x",
        ] {
            assert!(may_climb(pattern), "{pattern}");
        }
        let many = format!("{}{{.,x}}{{.,y}}/z", "{a,b}/".repeat(40));
        // What is long or deep is answered in time, and never taken for harmless.
        let repeated = format!("{}.{}/x", "+(".repeat(200), ")".repeat(200));
        assert!(may_climb(&repeated) && !may_climb(&"(".repeat(1 << 18)) && !may_climb(&"[a".repeat(1 << 18)));
        assert!(!choices(&"(a)".repeat(1 << 18)).whole && may_climb(&format!("{}/..", "(a)".repeat(1 << 16))));
        let deep = format!("{}x{}", "{a,".repeat(40), "}".repeat(40));
        assert!(may_climb(&many) && may_climb(&deep));
    }

    #[test]
    fn names_and_patterns_that_go_down_do_not() {
        for pattern in [
            "",
            ".",
            "a",
            "./x",
            "...",
            "a..b",
            "..a",
            "a..",
            "[id]/page.tsx",
            "[...slug].tsx",
            "[...slug]/page.tsx",
            "[[...slug]]/page.tsx",
            "[!a]*.ts",
            "src/**/*.{ts,tsx}",
            "*.py",
            "**/*.md",
            ".github/*",
            ".e*",
            ".env*",
            "?x",
            "??/x",
            "*/x",
            "*..",
            "[a-z]*",
            ".[!.]*",
            "[^.]*/x",
            "[!.]*",
            "{a..z}/x",
            "{1..9}.txt",
            "a.{1..2}",
            "(.)photo",
            "app/@modal/(..)photo/[id]/page.tsx",
            "app/(group)/x",
            "{id}/x",
            "!(node_modules)/**",
            "!(x)",
            "{src,tests}/**",
            "fn (new|of)\\(",
            "\\.(js|ts)$",
            "\\bword\\b",
            "https?://x",
            "[^/]+/y",
            "import .*\\.\\./x",
            "[a-zA-Z_]+\\.rs",
        ] {
            assert!(!may_climb(pattern), "{pattern}");
        }
    }
}
