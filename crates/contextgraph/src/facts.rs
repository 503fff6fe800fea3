//! Facts: whether two texts say the same, and whether one replaces the other. Pure.
//!
//! *The same* is decided by words and not by vectors: vectors put "prefers dark mode" next to "does not prefer dark mode". Two texts
//! say the same if they have the same words up to inflection, articles, fillers, synonyms that are listed and the order of clauses,
//! and the same numbers, dates, names and negation. When in doubt they do not.
//!
//! *A newer text replaces an older one* if both say something of the same subject by the same kind of verb, of which only one value can
//! hold: another number or date, another name or place, the contrary. Verbs of events ("bought", "met") and of likings replace nothing,
//! because both can be true. The verbs are listed for English, German, French, Spanish, Italian and Russian; in Chinese, Japanese and Korean
//! sentences are cut at listed signs ([`spaceless`]). Other languages have no such verbs here and nothing of theirs is replaced.

mod lexicon;
mod numerals;
mod phrases;
mod rewrite;
mod spaceless;
mod wording;
mod words;

pub use wording::Wording;

use words::{Class, Word};

/// Words of a text that are compared; a longer text says the same as another only if it is the same.
const MAX_WORDS: usize = 256;
/// Sentences of a text that may replace another, and words of each.
const MAX_SENTENCES: usize = 6;
const MAX_SENTENCE_WORDS: usize = 40;
/// The share of words that have to stand in the same order.
const ORDERED: f64 = 0.6;

/// Why a newer text replaces an older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum FactChange {
    Number,
    Date,
    Name,
    Value,
    Negation,
    Opposite,
}

/// Whether two texts are the same but for white space, the first letter's case and the mark at the end.
#[must_use]
pub fn is_same_text(a: &str, b: &str) -> bool {
    plain(a).eq(plain(b))
}

fn plain(text: &str) -> impl Iterator<Item = char> {
    let text = text.trim().trim_end_matches(['.', '!', ';', '。']);
    let first = text.chars().next().into_iter().flat_map(char::to_lowercase);
    let rest = text.chars().skip(1);
    let mut blank = false;
    first.chain(rest).filter_map(move |c| {
        let was = std::mem::replace(&mut blank, c.is_whitespace());
        match (c.is_whitespace(), was) {
            (true, true) => None,
            (true, false) => Some(' '),
            (false, _) => Some(c),
        }
    })
}

/// Whether two texts say the same. Who compares many reads each [`Wording`] once.
#[must_use]
pub fn says_the_same(a: &str, b: &str) -> bool {
    is_same_text(a, b) || Wording::of(a).says(&Wording::of(b))
}

/// Whether, and by what, a newer text replaces an older one.
#[must_use]
pub fn replaces(newer: &str, older: &str) -> Option<FactChange> {
    let change = spaceless::replaces(newer, older).or_else(|| {
        let statements = |text: &str| -> Vec<Statement> {
            crate::text::sentences(text).take(MAX_SENTENCES).filter_map(Statement::of).collect()
        };
        let older = statements(older);
        statements(newer).iter().find_map(|new| older.iter().find_map(|old| new.replaces(old)))
    })?;
    // A date in another form is the same date.
    (!says_the_same(newer, older)).then_some(change)
}

fn of_class(words: &[Word], class: Class) -> impl Iterator<Item = &str> {
    words.iter().filter(move |word| word.class == class).map(|word| word.key.as_str())
}

/// Whether numbers or dates stand behind the same words, in whichever order.
fn same_places(a: &[Word], b: &[Word], class: Class) -> bool {
    let places = |words: &[Word]| -> Vec<(String, String)> {
        let words: Vec<&Word> = words.iter().filter(|word| word.class != Class::Filler).collect();
        let mut places: Vec<(String, String)> = words
            .windows(2)
            .filter(|pair| pair[1].class == class)
            .map(|pair| (pair[0].key.clone(), pair[1].key.clone()))
            .collect();
        places.sort();
        places
    };
    of_class(a, class).count() == of_class(b, class).count()
        && places(a).len() == of_class(a, class).count()
        && places(a) == places(b)
}

fn denies(words: &[Word]) -> bool {
    words.iter().filter(|word| word.class == Class::Negation).count() % 2 == 1
}

/// Whether one text has a word and the other its opposite.
fn opposite(a: &[&Word], b: &[&Word]) -> bool {
    let has = |words: &[&Word], key: &str| words.iter().any(|word| word.key == key);
    lexicon::OPPOSITES.iter().any(|(x, y)| {
        (has(a, x) && has(b, y) && !has(a, y) && !has(b, x)) || (has(a, y) && has(b, x) && !has(a, x) && !has(b, y))
    })
}

fn longest_common(a: &[&str], b: &[&str]) -> usize {
    let mut row = vec![0usize; b.len() + 1];
    for left in a {
        let mut before = 0;
        for (at, right) in b.iter().enumerate() {
            let known = row[at + 1];
            row[at + 1] = if left == right { before + 1 } else { known.max(row[at]) };
            before = known;
        }
    }
    row[b.len()]
}

/// A sentence that says something of a subject by a verb.
struct Statement {
    subject: Vec<Word>,
    verb: lexicon::Verb,
    /// What it says, with the verb's particles.
    value: Vec<Word>,
    denies: bool,
}

impl Statement {
    fn of(sentence: &str) -> Option<Self> {
        let words = words::of(sentence, MAX_SENTENCE_WORDS + 1);
        if words.len() > MAX_SENTENCE_WORDS {
            return None;
        }
        let (at, verb) =
            words.iter().enumerate().skip(1).find_map(|(at, word)| Some((at, lexicon::verb(&word.lower)?)))?;
        let is_telling = |word: &&Word| !matches!(word.class, Class::Filler | Class::Negation);
        let subject: Vec<Word> = words[..at].iter().filter(is_telling).cloned().collect();
        let value: Vec<Word> = words[at + 1..].iter().filter(is_telling).cloned().collect();
        (!subject.is_empty()).then(|| Self { subject, verb, value, denies: denies(&words) })
    }

    fn replaces(&self, older: &Self) -> Option<FactChange> {
        // "The sister of Clara" is not Clara: a subject of which one says more may be another.
        let (new, old): (Vec<&Word>, Vec<&Word>) = (self.subject.iter().collect(), older.subject.iter().collect());
        let same_subject = words::leftover(&new, &old).is_empty() && words::leftover(&old, &new).is_empty();
        if !same_subject || !self.verb.may_replace(older.verb) {
            return None;
        }
        let (new, old): (Vec<&Word>, Vec<&Word>) = (self.value.iter().collect(), older.value.iter().collect());
        let (more, less) = (words::leftover(&new, &old), words::leftover(&old, &new));
        if self.denies != older.denies {
            // The contrary of the same, or the end of it.
            let shared = old.len() - less.len();
            let same = more.is_empty() && less.is_empty();
            return (same || (self.denies && !old.is_empty() && shared * 2 >= old.len() && more.is_empty()))
                .then_some(FactChange::Negation);
        }
        if opposite(&new, &old) && more.len() == 1 && less.len() == 1 {
            return Some(FactChange::Opposite);
        }
        self.another_value(older, &more, &less)
    }

    fn another_value(&self, older: &Self, more: &[&Word], less: &[&Word]) -> Option<FactChange> {
        if more.is_empty() || less.is_empty() {
            return None;
        }
        let has = |words: &[&Word], class: Class| words.iter().any(|word| word.class == class);
        let moved = self.verb.is_change() || older.verb.is_change();
        // Prepositions change with the verb: lives in, moved to.
        let plain = |words: &[&Word]| {
            words
                .iter()
                .filter(|word| word.class == Class::Plain && !(moved && lexicon::is_preposition(&word.lower)))
                .count()
        };
        let only_typed = plain(more) == 0 && plain(less) == 0;
        for (class, change) in [(Class::Number, FactChange::Number), (Class::Date, FactChange::Date)] {
            let names = has(more, Class::Name) != has(less, Class::Name);
            if has(more, class) && has(less, class) && only_typed && !names && self.verb.is_stative() {
                let named = has(more, Class::Name) && has(less, Class::Name);
                return (!named || self.verb.has_one_name()).then_some(change);
            }
        }
        let one_of = self.names_one_of() || older.names_one_of();
        if has(more, Class::Name) && has(less, Class::Name) && (self.verb.has_one_name() || one_of) {
            return (only_typed || one_of).then_some(FactChange::Name);
        }
        (one_of && self.verb.is_copula() && older.verb.is_copula()).then_some(FactChange::Value)
    }

    /// Whether the subject is something of which there is one value: a name, a price, a favourite.
    fn names_one_of(&self) -> bool {
        self.verb.is_copula() && self.subject.iter().any(|word| lexicon::has_one_value(&word.lower, &word.key))
    }
}

#[cfg(test)]
mod tests;
