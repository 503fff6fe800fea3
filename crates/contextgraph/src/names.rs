//! Names in a text as people wrote them, and what they seem to name by the words around them. Pure, and of languages that write
//! names with a capital letter; for others a tag such as `person:…` says it.

use serde::{Deserialize, Serialize};

use crate::text;

/// Names of one text, at most.
const MAX_NAMES: usize = 16;
/// Characters of a name, at most.
const MAX_NAME_CHARS: usize = 64;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum EntityKind {
    Person,
    Project,
    Place,
    Organisation,
    Other,
}

impl EntityKind {
    /// The words, in order.
    pub const WORDS: &'static [&'static str] = &["person", "project", "place", "organisation", "other"];
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Person, Self::Project, Self::Place, Self::Organisation, Self::Other];

    /// The word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Project => "project",
            Self::Place => "place",
            Self::Organisation => "organisation",
            Self::Other => "other",
        }
    }

    /// The kind of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// The entity that a tag names: `person:Ada Lovelace`.
#[must_use]
pub fn of_tag(tag: &str) -> Option<(&str, EntityKind)> {
    let (kind, name) = tag.split_once(':')?;
    let kind = EntityKind::from_word(kind.trim())?;
    Some((name.trim(), kind)).filter(|(name, _)| !name.is_empty())
}

const PLACES: &[&str] =
    &["in", "near", "around", "from", "to", "nach", "aus", "à", "en", "visit", "visited", "city", "town"];
const ORGANISATIONS: &[&str] = &["for", "at", "company", "employer", "bei", "firm", "bank"];
const PROJECTS: &[&str] = &["project", "projekt", "projet", "repo", "repository", "codebase"];
const PEOPLE_BEFORE: &[&str] = &[
    "ask",
    "aunt",
    "boss",
    "brother",
    "by",
    "called",
    "colleague",
    "cousin",
    "daughter",
    "dr",
    "father",
    "friend",
    "husband",
    "manager",
    "met",
    "mother",
    "mr",
    "mrs",
    "ms",
    "named",
    "neighbour",
    "sister",
    "son",
    "tell",
    "uncle",
    "wife",
    "with",
];
const PEOPLE_AFTER: &[&str] = &[
    "asked", "has", "hates", "joined", "knows", "likes", "lives", "loves", "moved", "prefers", "said", "says",
    "speaks", "studies", "thinks", "told", "wants", "was", "works", "wrote",
];
const FIRMS: &[&str] = &["ag", "corp", "gmbh", "inc", "llc", "ltd", "plc", "sa"];
/// Capitalised, and yet no names of anything.
const NO_NAMES: &[&str] = &[
    "april",
    "august",
    "december",
    "february",
    "friday",
    "i",
    "january",
    "july",
    "june",
    "march",
    "may",
    "monday",
    "november",
    "october",
    "ok",
    "saturday",
    "september",
    "sunday",
    "thursday",
    "tuesday",
    "wednesday",
];

/// Whether a word in lower case is the name of a day or a month.
#[must_use]
pub fn is_calendar(word: &str) -> bool {
    NO_NAMES.binary_search(&word).is_ok() && word.len() > 2
}

/// The names of a text with what they seem to name, each once, in the order they stand.
#[must_use]
pub fn named(text: &str) -> Vec<(String, EntityKind)> {
    let mut out: Vec<(String, EntityKind)> = Vec::new();
    for sentence in text::sentences(text) {
        let words: Vec<(&str, &str)> = sentence
            .split_whitespace()
            .map(|word| {
                let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
                (word, bare.strip_suffix("'s").or_else(|| bare.strip_suffix("\u{2019}s")).unwrap_or(bare))
            })
            .collect();
        let mut at = 0;
        while at < words.len() {
            let end = run_from(&words, at);
            if end == at {
                at += 1;
                continue;
            }
            let name = words[at..end].iter().map(|(_, bare)| *bare).collect::<Vec<_>>().join(" ");
            let kind = guess(&words, at, end);
            at = end;
            if name.chars().count() > MAX_NAME_CHARS {
                continue;
            }
            if let Some(known) = out.iter_mut().find(|known| known.0 == name) {
                if known.1 == EntityKind::Other {
                    known.1 = kind;
                }
            } else if out.len() < MAX_NAMES {
                out.push((name, kind));
            } else {
                return out;
            }
        }
    }
    out
}

/// Where the name that begins at a word ends; there if none does.
fn run_from(words: &[(&str, &str)], start: usize) -> usize {
    let mut at = start;
    while let Some((whole, bare)) = words.get(at) {
        let mut letters = bare.chars();
        let capital = letters.next().is_some_and(char::is_uppercase);
        let inner = letters.any(char::is_uppercase)
            || (bare.chars().any(char::is_alphabetic) && bare.chars().any(|c| c.is_numeric() || "_/@".contains(c)));
        let lower = bare.to_lowercase();
        let plain = NO_NAMES.binary_search(&lower.as_str()).is_ok() || text::is_stop(&lower);
        // The first word of a sentence is written large whatever it is: it needs a name behind it, or a possessive.
        let first = at == 0 && !inner && !whole.contains("'s") && !whole.contains("\u{2019}s");
        let alone = first
            && !words.get(at + 1).is_some_and(|(_, next)| {
                next.chars().next().is_some_and(char::is_uppercase)
                    || PEOPLE_AFTER.contains(&next.to_lowercase().as_str())
            });
        if bare.is_empty() || plain && !inner || !(capital || inner) || alone {
            break;
        }
        at += 1;
        // A mark ends a name: "Anna, Ben".
        if whole.ends_with([',', ':', ')', '"']) || whole.contains("'s") {
            break;
        }
    }
    at
}

fn guess(words: &[(&str, &str)], start: usize, end: usize) -> EntityKind {
    let lower = |at: usize| words.get(at).map(|(_, bare)| bare.to_lowercase()).unwrap_or_default();
    let before = start.checked_sub(1).map(lower).unwrap_or_default();
    let (last, after) = (lower(end - 1), lower(end));
    let possessive = words[end - 1].0.contains("'s") || words[end - 1].0.contains("\u{2019}s");
    let has = |list: &[&str], word: &str| list.contains(&word);
    if has(PROJECTS, &before) || has(PROJECTS, &after) || has(PROJECTS, &lower(start)) {
        EntityKind::Project
    } else if has(FIRMS, &last) || has(ORGANISATIONS, &before) {
        EntityKind::Organisation
    } else if has(PEOPLE_BEFORE, &before) || has(PEOPLE_AFTER, &after) || possessive {
        EntityKind::Person
    } else if has(PLACES, &before) {
        EntityKind::Place
    } else {
        EntityKind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_with_what_they_name() {
        assert!(NO_NAMES.is_sorted() && FIRMS.is_sorted());
        let check = |text: &str, expected: &[(&str, EntityKind)]| {
            let found = named(text);
            let found: Vec<(&str, EntityKind)> = found.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("Anna lives in Berlin", &[("Anna", EntityKind::Person), ("Berlin", EntityKind::Place)]);
        check("The meeting is on Tuesday in March", &[]);
        check("She works for Siemens AG", &[("Siemens AG", EntityKind::Organisation)]);
        check(
            "The project Atlas needs PostgreSQL",
            &[("Atlas", EntityKind::Project), ("PostgreSQL", EntityKind::Other)],
        );
        check(
            "Ada Lovelace's notes, by Babbage",
            &[("Ada Lovelace", EntityKind::Person), ("Babbage", EntityKind::Person)],
        );
        check("Backups run at night", &[]);
        assert_eq!(of_tag("person: Ann"), Some(("Ann", EntityKind::Person)));
        assert_eq!((of_tag("person:"), of_tag("work:x"), of_tag("plain")), (None, None, None));
        assert!(named(&"Xy Zz, ".repeat(10_000)).len() <= MAX_NAMES);
    }
}
