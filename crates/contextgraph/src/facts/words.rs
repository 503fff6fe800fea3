//! A text as facts are compared: words with what they are, contractions taken apart, numerals as digits.

use super::lexicon;
use crate::{names, text};

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Plain,
    Number,
    Date,
    Name,
    Negation,
    Filler,
}

/// A word.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) class: Class,
    /// In lower case.
    pub(super) lower: String,
    /// What it is compared by: its stem, or that of a synonym.
    pub(super) key: String,
    /// Whether it is a verb that tells of what is over.
    pub(super) past: bool,
}

/// The words of a text, at most so many.
pub(super) fn of(text: &str, most: usize) -> Vec<Word> {
    let mut out: Vec<Word> = Vec::new();
    for sentence in text::sentences(text) {
        for (at, raw) in
            sentence.split(|c: char| c.is_whitespace() || "/()[]{}\"\u{201c}\u{201d},".contains(c)).enumerate()
        {
            let bare = raw.trim_matches(|c: char| !c.is_alphanumeric());
            if bare.is_empty() {
                continue;
            }
            let bare = bare.replace('\u{2019}', "'");
            let whole = bare.to_lowercase();
            let (stem, negated) = contraction(&whole);
            if !stem.is_empty() {
                out.push(word(&bare, stem, at == 0));
            }
            if negated {
                out.push(classified("not", false));
            }
            if out.len() >= most {
                out.truncate(most);
                return out;
            }
        }
    }
    out
}

/// A word without what is drawn together with it, and whether that was a negation.
fn contraction(lower: &str) -> (&str, bool) {
    if let Some(base) = lower.strip_suffix("n't") {
        return (
            match base {
                "ca" => "can",
                "wo" => "will",
                other => other,
            },
            true,
        );
    }
    if lower == "cannot" {
        return ("can", true);
    }
    for ending in ["'s", "'re", "'ll", "'ve", "'m", "'d"] {
        if let Some(base) = lower.strip_suffix(ending) {
            return (base, false);
        }
    }
    (lower, false)
}

fn word(written: &str, lower: &str, first: bool) -> Word {
    let mut letters = written.chars();
    let capital = letters.next().is_some_and(char::is_uppercase);
    let inner = letters.any(char::is_uppercase);
    classified(lower, (capital && !first) || inner)
}

/// A word in lower case by what it is. `named`: it is written as a name is.
pub(super) fn classified(lower: &str, named: bool) -> Word {
    let number = lexicon::numeral(lower).map(ToOwned::to_owned).or_else(|| number(lower));
    let (class, key) = if lexicon::is_negation(lower) {
        (Class::Negation, lower.to_owned())
    } else if is_full_date(lower) {
        (Class::Date, lower.to_owned())
    } else if let Some(number) = number {
        (Class::Number, number)
    } else if names::is_calendar(lower) || lexicon::is_date(lower) {
        (Class::Date, lower.to_owned())
    } else if lexicon::is_filler(lower) {
        (Class::Filler, lower.to_owned())
    } else if let Some(key) = lexicon::synonym(&text::stem(lower)).filter(|_| named) {
        // Nouns are written as names are in German.
        (Class::Plain, key.to_owned())
    } else if named || lower.chars().any(|c| c.is_numeric() || "_@#".contains(c)) {
        (Class::Name, lower.to_owned())
    } else {
        let stem = text::stem(&lower.replace('-', ""));
        let key = lexicon::synonym(&stem).map_or(stem, ToOwned::to_owned);
        (Class::Plain, key)
    };
    Word { class, lower: lower.to_owned(), key, past: false }
}

/// Whether it is a date of digits: a year or none, month, day.
fn is_full_date(lower: &str) -> bool {
    lower.contains('-')
        && lower.len() >= 6
        && lower.split('-').count() >= 2
        && lower.split('-').skip(1).all(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit()))
        && lower
            .split('-')
            .next()
            .is_some_and(|year| year.is_empty() || (year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit())))
}

/// A number as digits: `1,000`, `15th`, `3pm`, `10:30`, `2.5`, `40%`.
fn number(lower: &str) -> Option<String> {
    let digits: String = lower.chars().take_while(|c| c.is_ascii_digit() || ".,:".contains(*c)).collect();
    let rest = &lower[digits.len()..];
    let is_unit = [
        "", "st", "nd", "rd", "th", "am", "pm", "h", "%", "eur", "usd", "gb", "mb", "kb", "km", "kg", "ms", "s", "min",
    ]
    .contains(&rest);
    if !is_unit || !digits.chars().any(|c| c.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_end_matches(['.', ',', ':']).replace(',', "");
    Some(match rest {
        "" | "st" | "nd" | "rd" | "th" => digits,
        unit => format!("{digits}{unit}"),
    })
}

/// The words of one text that the other does not have.
pub(super) fn leftover<'a>(words: &[&'a Word], other: &[&Word]) -> Vec<&'a Word> {
    let has = |one: &Word| other.iter().any(|word| word.key == one.key || word.lower == one.lower);
    let joined = |list: &[&Word], key: &str| {
        list.windows(2).any(|pair| {
            pair[0].lower.len() + pair[1].lower.len() == key.len()
                && format!("{}{}", pair[0].lower, pair[1].lower) == key
        })
    };
    let mut out = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let after = words.get(at + 1);
        let in_compound = |pair: Option<String>| {
            pair.is_some_and(|pair| other.iter().any(|word| word.lower.replace('-', "") == pair || word.key == pair))
        };
        let with = |first: Option<&&Word>, second: Option<&&Word>| Some(format!("{}{}", first?.lower, second?.lower));
        if has(word)
            || joined(other, &word.lower.replace('-', ""))
            || in_compound(with(before, Some(word)))
            || in_compound(with(Some(word), after))
        {
            continue;
        }
        out.push(*word);
    }
    out
}
