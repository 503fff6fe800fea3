//! The table of rules, read once, and how one is compared with a text.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::tokens::Token;
use super::{Kind, Place};

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::parse(include_str!("rules.txt")));

/// The most characters of an entry in a script without spaces.
const LONGEST_PIECE: usize = 8;
/// Groups that are known by the shape of a word, and not by a list.
const SHAPES: [&str; 9] = ["@path", "@url", "@mail", "@ident", "@variable", "@many", "@leak", "@ip", "@account"];

/// What nobody puts into an address by way of a template.
const LOOT: [&str; 8] = ["conversation", "chat", "history", "prompt", "secret", "password", "summary", "transcript"];

/// What a rule does with a text that meets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Hold,
    Mark,
    /// The sentence only sounds like an order.
    Clear,
}

/// Where a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    Anywhere,
    /// Names of tools, properties and other members.
    Name,
    /// What is said of a property.
    Parameter,
}

/// One step of a rule: a word of a group, with at most so many words before it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) group: usize,
    pub(super) optional: bool,
    gap: usize,
    reach: Reach,
}

/// What a gap may cross.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Clause,
    Sentence,
    Text,
}

/// A rule of the table.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) answer: Answer,
    pub(super) kind: Kind,
    pub(super) steps: Vec<Step>,
    /// Groups of which no word stands in the sentence.
    pub(super) unless: Vec<usize>,
    /// Groups of which no word stands in the name of the tool or in its first sentence.
    pub(super) about: Vec<usize>,
    place: Where,
}

impl Rule {
    /// Whether it is looked for in such a place.
    pub(super) fn stands(&self, place: Place, value: bool) -> bool {
        // A title in the form of an order says what the tool does: "Disable two-factor authentication".
        let is_label = place == Place::Title && !matches!(self.kind, Kind::Secrecy | Kind::Take | Kind::Override);
        match self.place {
            _ if is_label => false,
            Where::Anywhere => true,
            Where::Name => place == Place::Name,
            Where::Parameter => place == Place::Parameter || place == Place::Other || value,
        }
    }

    /// Whether it is a rule for names.
    pub(super) fn of_names(&self) -> bool {
        self.place == Where::Name
    }

    /// Where the rule ends if it begins at a word.
    pub(super) fn meets(&self, tokens: &[Token], from: usize) -> Option<usize> {
        let (first, rest) = self.steps.split_first()?;
        lengths(tokens, from, first.group).find_map(|length| meet(rest, tokens, from + length))
    }
}

fn lengths(tokens: &[Token], at: usize, group: usize) -> impl Iterator<Item = usize> {
    let groups = tokens.get(at).map(|token| token.groups.as_slice()).unwrap_or_default();
    groups.iter().filter(move |(found, _)| *found == group).map(|(_, length)| *length)
}

// As deep as a rule has steps, and as wide as its gaps: both are small and stand in the table.
fn meet(steps: &[Step], tokens: &[Token], at: usize) -> Option<usize> {
    let Some((step, rest)) = steps.split_first() else { return Some(at) };
    for skipped in 0..=step.gap {
        let next = at + skipped;
        if let Some(end) = lengths(tokens, next, step.group).find_map(|length| meet(rest, tokens, next + length)) {
            return Some(end);
        }
        let stops = match tokens.get(next).map(|token| token.word.as_str()) {
            Some(".") => step.reach != Reach::Text,
            Some(",") => step.reach == Reach::Clause,
            Some(_) => false,
            None => true,
        };
        if stops {
            break;
        }
    }
    if step.optional { meet(rest, tokens, at) } else { None }
}

/// The table.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) rules: Vec<Rule>,
    names: HashMap<&'static str, usize>,
    /// What each group lists, for groups that take it over.
    lists: Vec<Vec<&'static str>>,
    /// Entries by their first word: the words behind it, and the group.
    entries: HashMap<&'static str, Vec<(Vec<&'static str>, usize)>>,
    stems: HashMap<&'static str, Vec<usize>>,
    /// Groups that take over one that is known by its shape.
    shaped: Vec<(usize, usize)>,
}

impl Rules {
    pub(super) fn get() -> &'static Self {
        &RULES
    }

    /// The group of words that negate what follows them.
    pub(super) fn negation(&self) -> Option<usize> {
        self.names.get("@nots").copied()
    }

    /// The group of words that turn a negation round: "do not forget to".
    pub(super) fn omission(&self) -> Option<usize> {
        self.names.get("@omit").copied()
    }

    /// The group of words behind which something is only an example.
    pub(super) fn example(&self) -> Option<usize> {
        self.names.get("@example").copied()
    }

    /// The group of words that make an order of a sentence.
    pub(super) fn directive(&self) -> Option<usize> {
        self.names.get("@directive").copied()
    }

    fn parse(text: &'static str) -> Self {
        let mut table = Self::default();
        for shape in SHAPES {
            table.group(shape);
        }
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some((name, entries)) = line.strip_prefix('@').and_then(|_| line.split_once(" = ")) {
                let group = table.group(name);
                entries.split(", ").for_each(|entry| table.take(group, entry));
            } else if let Some(rule) = table.rule(line) {
                table.rules.push(rule);
            }
        }
        table
    }

    fn group(&mut self, name: &'static str) -> usize {
        if let Some(group) = self.names.get(name) {
            return *group;
        }
        let group = self.lists.len();
        self.lists.push(Vec::new());
        self.names.insert(name, group);
        group
    }

    /// Adds an entry, or all entries of another group.
    fn take(&mut self, group: usize, entry: &'static str) {
        match self.names.get(entry).copied().filter(|_| entry.starts_with('@')) {
            Some(shape) if shape < SHAPES.len() => self.shaped.push((shape, group)),
            Some(other) => self.lists[other].clone().into_iter().for_each(|entry| self.add(group, entry)),
            None => self.add(group, entry),
        }
    }

    fn add(&mut self, group: usize, entry: &'static str) {
        self.lists[group].push(entry);
        if let Some(stem) = entry.strip_suffix('*') {
            return self.stems.entry(stem).or_default().push(group);
        }
        let mut words = entry.split([' ', '_']).filter(|word| !word.is_empty());
        let Some(first) = words.next() else { return };
        // A name with an underscore in it stays one word.
        if entry.contains('_') && !entry.contains(' ') {
            self.entries.entry(entry).or_default().push((Vec::new(), group));
        }
        self.entries.entry(first).or_default().push((words.collect(), group));
    }

    /// `hold secrecy unless @x about @y in name: steps`.
    fn rule(&mut self, line: &'static str) -> Option<Rule> {
        let (head, steps) = line.split_once(": ")?;
        let mut words = head.split_whitespace();
        let answer = match words.next()? {
            "hold" => Answer::Hold,
            "mark" => Answer::Mark,
            "clear" => Answer::Clear,
            _ => return None,
        };
        let kind = Kind::from_name(words.next()?)?;
        let (mut unless, mut about, mut place) = (Vec::new(), Vec::new(), Where::Anywhere);
        let mut list = "";
        for word in words {
            match (list, word) {
                (_, "unless" | "about" | "in") => list = word,
                ("unless", group) => unless.push(self.step(group)),
                ("about", group) => about.push(self.step(group)),
                ("in", "name") => place = Where::Name,
                ("in", "parameter") => place = Where::Parameter,
                _ => return None,
            }
        }
        let (mut gap, mut reach) = (0, Reach::Clause);
        let mut list = Vec::new();
        for word in steps.split_whitespace() {
            let marks = [("~", Reach::Clause), ("..", Reach::Sentence), ("::", Reach::Text)];
            let found = marks.iter().find_map(|(mark, reach)| Some((word.strip_prefix(mark)?.parse().ok()?, *reach)));
            if let Some((words, over)) = found {
                (gap, reach) = (words, over);
                continue;
            }
            let optional = word.ends_with('?');
            let group = self.step(word.trim_end_matches('?'));
            list.push(Step { group, optional, gap, reach });
            (gap, reach) = (0, Reach::Clause);
        }
        Some(Rule { answer, kind, steps: list, unless, about, place })
    }

    /// The group of a step: one with a name, or words with `|` between them.
    fn step(&mut self, step: &'static str) -> usize {
        let known = self.names.contains_key(step);
        let group = self.group(step);
        if !known {
            step.split('|').for_each(|entry| self.take(group, entry));
        }
        group
    }

    /// The groups of a word that stands alone.
    pub(super) fn groups_of(&self, word: &str) -> Vec<usize> {
        let whole = self.entries.get(word).into_iter().flatten().filter(|(rest, _)| rest.is_empty());
        let mut groups: Vec<usize> = whole.map(|(_, group)| *group).collect();
        groups.extend(self.by_stem(word));
        groups
    }

    fn by_stem<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        let ends = word.char_indices().map(|(at, _)| at).skip(2).chain([word.len()]);
        ends.filter_map(|end| self.stems.get(&word[..end])).flatten().copied()
    }

    /// The groups of which an entry begins at a word.
    pub(super) fn groups_at(&self, tokens: &[Token], at: usize, own: &[String]) -> Vec<(usize, usize)> {
        let word = tokens[at].word.as_str();
        let mut groups: Vec<(usize, usize)> = self.by_stem(word).map(|group| (group, 1)).collect();
        for (rest, group) in self.entries.get(word).into_iter().flatten() {
            let mut behind = tokens[at + 1..].iter().map(|token| token.word.as_str());
            if rest.iter().all(|word| behind.next() == Some(word)) {
                groups.push((*group, 1 + rest.len()));
            }
        }
        for (shape, _) in SHAPES.iter().enumerate().filter(|(_, shape)| has_shape(word, shape, own)) {
            let taken = self.shaped.iter().filter(|(taken, _)| *taken == shape).map(|(_, group)| *group);
            groups.extend([shape].into_iter().chain(taken).map(|group| (group, 1)));
        }
        groups
    }

    /// The bytes of the longest entry that a text in a script without spaces begins with.
    pub(super) fn piece(&self, text: &str) -> Option<usize> {
        let ends = text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]).take(LONGEST_PIECE);
        let known = |end: &usize| {
            let word = &text[..*end];
            self.entries.contains_key(word) || self.stems.contains_key(word)
        };
        ends.filter(known).last()
    }
}

/// Whether a word looks like a file, an address, a name in code, a variable of the environment, or a large number.
fn has_shape(word: &str, shape: &str, own: &[String]) -> bool {
    let is_address = word.contains("://") || word.starts_with("www.");
    match shape {
        "@url" => is_address && !word.starts_with("www.example.com") && !word.contains("//example."),
        "@mail" => {
            !is_address
                && word.split_once('@').is_some_and(|(name, host)| {
                    !name.is_empty() && host.contains('.') && !host.ends_with("example.com")
                })
        }
        "@path" => {
            !is_address
                && (word.starts_with("~/") || word.starts_with('/') && word.len() > 4 && word[1..].contains('/'))
        }
        "@ident" => {
            let is_code = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            word.contains('_')
                && !word.starts_with('_')
                && word.chars().all(is_code)
                && !own.iter().any(|own| own == word)
        }
        "@variable" => {
            let word = word.trim_start_matches('$').trim_matches(['{', '}']);
            word.contains('_')
                && ["_key", "_token", "_secret", "_password", "_pat", "_key_id"].iter().any(|end| word.ends_with(end))
                && !own.iter().any(|own| own == word)
        }
        "@account" => super::intent::is_account(word),
        "@leak" => {
            let filled = ["={", "=<", "=%7b", "=$"].iter().any(|mark| word.contains(mark));
            filled && is_address && LOOT.iter().any(|loot| word.contains(loot))
        }
        "@ip" => {
            let host = word.split([':', '/']).next().unwrap_or_default();
            let known = ["8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9", "127.0.0.1", "0.0.0.0"];
            host.parse::<std::net::Ipv4Addr>().is_ok() && !known.contains(&host)
        }
        "@many" => word.parse::<u32>().is_ok_and(|number| (10..=1_000_000).contains(&number)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_rule_or_a_group_that_is_used() {
        let text = include_str!("rules.txt");
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let rules = lines().filter(|line| !line.starts_with('@')).count();
        let table = Rules::parse(text);
        assert_eq!(table.rules.len(), rules);
        for (name, group) in &table.names {
            let is_shaped = SHAPES.contains(name) || table.shaped.iter().any(|(_, shaped)| shaped == group);
            assert!(!table.lists[*group].is_empty() || is_shaped, "{name} is empty");
        }
        // A name with a sign before it is a group, and no word.
        assert!(table.lists.iter().flatten().all(|entry| !entry.starts_with('@')));
        for rule in &table.rules {
            assert!(!rule.steps.is_empty() && !rule.steps[0].optional);
        }
    }
}
