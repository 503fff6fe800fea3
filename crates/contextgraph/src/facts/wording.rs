//! A text as it is compared with another that may say the same: many ways to put one thing become one.
//!
//! Contractions, numerals, dates, times and units are written out; listed phrases become one; passive becomes active; lists are sorted; what a
//! name is the owner of is kept beside the words. Then two texts say the same if they have the same words, numbers, dates and names, the same
//! negations before the same words, the same time, and the same order but for parts that may stand elsewhere ("on Friday").

use sha2::{Digest as _, Sha256};

use super::phrases::{self, BEEN};
use super::rewrite::{MAX_TOKENS, Token, is_verb, read, rewrite, sentences, spaceless, thousands};
use super::words::{self, Class, Word};
use super::{MAX_WORDS, ORDERED, lexicon, longest_common, opposite};
use crate::text;

/// The share of words that have to stand in the same order apart from parts that may stand elsewhere.
const CORE_ORDERED: f64 = 0.6;

/// Words that say that it holds of nothing else.
const ONLY: &[&str] = &[
    "only",
    "solely",
    "exclusively",
    "nur",
    "lediglich",
    "seulement",
    "uniquement",
    "solo",
    "sólo",
    "solamente",
    "только",
    "лишь",
];

/// Words of what holds both ways.
const SYMMETRIC: &[&str] = &["married", "engaged", "divorced", "verheiratet"];

/// A text, ready to be compared.
#[derive(Debug, Clone)]
pub struct Wording {
    /// The digest of the text but for white space, the first letter's case and the mark at the end.
    plain: [u8; 32],
    /// Whether there is more of it than is compared.
    long: bool,
    words: Vec<Word>,
    telling: Vec<usize>,
    /// A digest of numbers, dates and negation: those of texts that say the same are equal.
    signature: u64,
    /// Names that own something.
    owners: Vec<String>,
    /// The words that negations stand before.
    denied: Vec<String>,
    /// The words that "only" stands before: it is not the same whether only admins may, or may only.
    focused: Vec<String>,
    /// Nouns behind an article that tells who does it, and behind one that tells to whom: the dog bites, or is bitten.
    cases: [Vec<String>; 2],
    /// Whether something has been, which may be over or not.
    been: bool,
}

impl Wording {
    /// Reads a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let normal = spaceless(&thousands(text).replace(['ё', 'Ё'], "е").replace('\u{2019}', "'"));
        let mut tokens: Vec<Token> = Vec::new();
        let mut words: Vec<Word> = Vec::new();
        let mut owners: Vec<String> = Vec::new();
        let (mut been, mut long) = (false, false);
        for sentence in sentences(&normal) {
            tokens.clear();
            read(sentence, &mut tokens);
            long |= tokens.len() > MAX_TOKENS;
            rewrite(&mut tokens);
            been |= tokens.iter().any(|token| token.lower == BEEN);
            owners.extend(owned_by(&tokens));
            words.extend(tokens.iter().map(word));
            long |= words.len() > MAX_WORDS;
            if long {
                break;
            }
        }
        owners.sort();
        owners.dedup();
        let telling: Vec<usize> =
            (0..words.len()).filter(|&at| !matches!(words[at].class, Class::Filler | Class::Negation)).collect();
        let denied = denied(&words);
        let signature = signature(&words);
        let focused = behind(&words, ONLY);
        let cases = [behind(&words, &["der"]), behind(&words, &["den", "dem"])];
        Self { plain: digest(text), long, words, telling, signature, owners, denied, focused, cases, been }
    }

    /// Whether the texts may say the same, at a glance.
    #[must_use]
    pub fn may_say(&self, other: &Self) -> bool {
        self.signature == other.signature || self.plain == other.plain
    }

    /// Whether the texts say the same.
    #[must_use]
    pub fn says(&self, other: &Self) -> bool {
        if self.plain == other.plain {
            return true;
        }
        if !self.may_say(other) || self.long || other.long {
            return false;
        }
        let (a, b) = (self.telling(), other.telling());
        if a.is_empty() || b.is_empty() || self.denied != other.denied || self.owned_otherwise(other) {
            return false;
        }
        if opposite(&a, &b) || self.other_time(other) || self.other_focus(other) {
            return false;
        }
        let more = |one: &[&Word], two: &[&Word], open: bool| {
            words::leftover(one, two).iter().all(|word| match word.lower.as_str() {
                "was" | "were" => open,
                "in" | "for" | "of" => is_compound(one, two, &word.lower),
                _ => false,
            })
        };
        if !more(&a, &b, other.been) || !more(&b, &a, self.been) {
            return false;
        }
        self.same_values(other) && self.same_order(other, &a, &b)
    }

    fn telling(&self) -> Vec<&Word> {
        self.telling.iter().map(|&at| &self.words[at]).collect()
    }

    /// Whether each says of another that it owns something: Emma is Paul's sister, Emma's sister is Paul.
    fn owned_otherwise(&self, other: &Self) -> bool {
        let alone = |one: &Self, two: &Self| one.owners.iter().any(|owner| !two.owners.contains(owner));
        alone(self, other) && alone(other, self)
    }

    /// Whether "only" stands before something else, or two things have changed their parts.
    fn other_focus(&self, other: &Self) -> bool {
        let changed = |from: usize, to: usize| self.cases[from].iter().any(|noun| other.cases[to].contains(noun));
        self.focused != other.focused || (changed(0, 1) && changed(1, 0))
    }

    /// Whether one tells of now and the other of before, by the same word.
    fn other_time(&self, other: &Self) -> bool {
        let conflict = |a: &Word, b: &Word| a.key == b.key && a.lower != b.lower && a.past != b.past;
        self.telling().iter().any(|a| {
            other.telling().iter().any(|b| conflict(a, b))
                && !other.telling().iter().any(|b| b.key == a.key && b.past == a.past)
        })
    }

    /// Numbers and dates in the same order, or each behind the same word.
    fn same_values(&self, other: &Self) -> bool {
        [Class::Number, Class::Date].into_iter().all(|class| {
            super::of_class(&self.words, class).eq(super::of_class(&other.words, class))
                || super::same_places(&self.words, &other.words, class)
        })
    }

    fn same_order(&self, other: &Self, a: &[&Word], b: &[&Word]) -> bool {
        let names = |words: &[&Word], others: &[&Word]| -> Vec<String> {
            let named = |lower: &str| others.iter().any(|word| word.class == Class::Name && word.lower == lower);
            let is_name = |word: &&&Word| word.class == Class::Name || named(&word.lower);
            words.iter().filter(is_name).map(|word| word.lower.clone()).collect()
        };
        let ordered = |a: &[&Word], b: &[&Word], share: f64| {
            let keys = |words: &[&Word]| words.iter().map(|word| word.key.clone()).collect::<Vec<_>>();
            let (a, b) = (keys(a), keys(b));
            let (a, b): (Vec<&str>, Vec<&str>) =
                (a.iter().map(String::as_str).collect(), b.iter().map(String::as_str).collect());
            longest_common(&a, &b) as f64 >= share * a.len().min(b.len()) as f64
        };
        let (mut names_a, mut names_b) = (names(a, b), names(b, a));
        if a.iter().any(|word| SYMMETRIC.contains(&word.lower.as_str())) && names_a.len() == 2 {
            names_a.sort();
            names_b.sort();
            return names_a == names_b;
        }
        if names_a == names_b && ordered(a, b, ORDERED) {
            return true;
        }
        let ((core_a, parts_a), (core_b, parts_b)) = (self.parts(), other.parts());
        parts_a == parts_b
            && names(&core_a, &core_b) == names(&core_b, &core_a)
            && ordered(&core_a, &core_b, CORE_ORDERED)
    }

    /// The words that stand where they stand, and the parts that may stand elsewhere: what follows a preposition up to the next
    /// part.
    fn parts(&self) -> (Vec<&Word>, Vec<Vec<&str>>) {
        let (mut core, mut parts): (Vec<&Word>, Vec<Vec<&str>>) = (Vec::new(), Vec::new());
        let mut open = false;
        for word in &self.words {
            let lower = word.lower.as_str();
            if phrases::PREPOSITIONS.contains(&lower) && word.class != Class::Number {
                parts.push(vec![word.key.as_str()]);
                open = true;
                continue;
            }
            let begun = parts.last().is_some_and(|part| part.len() > 1);
            if open && begun && (phrases::DETERMINERS.contains(&lower) || is_verb(lower)) {
                open = false;
            }
            if matches!(word.class, Class::Filler | Class::Negation) {
                continue;
            }
            match parts.last_mut().filter(|_| open) {
                Some(part) => part.push(word.key.as_str()),
                None => core.push(word),
            }
        }
        parts.iter_mut().for_each(|part| part[1..].sort_unstable());
        parts.sort_unstable();
        (core, parts)
    }
}

/// Whether what one says with a preposition is one word before the other in the second: the lamp in the hall, the hall lamp.
fn is_compound(one: &[&Word], two: &[&Word], preposition: &str) -> bool {
    one.windows(3)
        .filter(|three| three[1].lower == preposition)
        .all(|three| two.windows(2).any(|pair| pair[0].key == three[2].key && pair[1].key == three[0].key))
}

fn owned_by(tokens: &[Token]) -> Vec<String> {
    let key = |token: &Token| words::classified(&token.lower, false).key;
    let mut owners: Vec<String> = tokens.iter().filter(|token| token.owns).map(key).collect();
    owners.extend(tokens.windows(2).filter(|pair| pair[0].lower == "of" && pair[1].named).map(|pair| key(&pair[1])));
    owners
}

fn word(token: &Token) -> Word {
    let mut word = words::classified(&token.lower, token.named);
    word.past = word.class == Class::Plain && is_past(&token.lower);
    if let Some(base) = lexicon::base_of_past(&token.lower).filter(|_| word.class == Class::Plain) {
        (word.key, word.past) = (words::classified(base, false).key, true);
    }
    word
}

fn is_past(lower: &str) -> bool {
    let base = text::stem(lower);
    (lower.ends_with("ed") && base != lower)
        || (lower.ends_with("te") && lower.chars().count() > 4 && !lower.is_ascii())
        || lexicon::is_past(lower)
}

fn digest(text: &str) -> [u8; 32] {
    let mut sha = Sha256::new();
    let mut bytes = [0; 4];
    super::plain(text).for_each(|c| sha.update(c.encode_utf8(&mut bytes).as_bytes()));
    sha.finalize().into()
}

/// The words that some of these stand before.
fn behind(words: &[Word], before: &[&str]) -> Vec<String> {
    let is_told = |word: &&Word| !matches!(word.class, Class::Filler | Class::Negation);
    let mut out: Vec<String> = (0..words.len())
        .filter(|&at| before.contains(&words[at].lower.as_str()))
        .filter_map(|at| words[at + 1..].iter().find(is_told).map(|word| word.key.clone()))
        .collect();
    out.sort();
    out
}

/// The words that negations stand before.
fn denied(words: &[Word]) -> Vec<String> {
    let mut out: Vec<String> = (0..words.len())
        .filter(|&at| words[at].class == Class::Negation)
        .map(|at| {
            let next = words[at + 1..].iter().find(|word| !matches!(word.class, Class::Filler | Class::Negation));
            next.map(|word| word.key.clone()).unwrap_or_default()
        })
        .collect();
    // "Does not ... never": two of them are one where they deny the same.
    out.sort();
    out.dedup();
    out
}

fn signature(words: &[Word]) -> u64 {
    let mut values: Vec<&str> = words
        .iter()
        .filter(|word| matches!(word.class, Class::Number | Class::Date))
        .map(|word| word.key.as_str())
        .collect();
    values.sort_unstable();
    let denies = super::denies(words);
    values.iter().fold(u64::from(denies), |sum, value| text::hash(value.as_bytes(), sum))
}
