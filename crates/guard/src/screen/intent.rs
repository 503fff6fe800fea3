//! What a text wants from the model: a small scored model of intent, not a list of sentences.
//!
//! A sentence is read for acts (conceal, override, take out, redirect, run, approve, impersonate), for what they act on,
//! and for signs that it speaks to the model. Each act has a weight by how sure it is; acts of different kinds in the
//! same or in neighbouring sentences add up. Strong wording about the tool's own use has no act, and no weight.

mod features;
mod tone;

use std::sync::LazyLock;

use regex::RegexSet;

use super::disguise;
use crate::Finding;
use features::{Act, FEATURES, Feature};

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The name of a tool or of a property.
    Name,
    /// The description of the tool.
    Description,
    /// Something about one parameter: what the model fills in.
    Parameter,
    /// Any other part of a definition.
    Other,
    /// What a tool answered.
    Result,
}

/// From here on a text is held.
const HOLD: f32 = 1.0;
/// How much the tone of a sentence counts.
const TONE: f32 = 1.0;
/// Texts longer than this are read in pieces of this length.
const MOST_BYTES: usize = 60_000;

static PATTERNS: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    let patterns: Vec<String> = FEATURES.iter().map(|feature| features::expand(feature.pattern)).collect();
    regex::RegexSetBuilder::new(patterns).size_limit(64 << 20).dfa_size_limit(16 << 20).build().ok()
});

/// What the text wants from the model, if that is more than to describe.
pub(super) fn check(text: &str, place: Place) -> Option<Finding> {
    // Patterns that do not compile are a fault of this program: then nothing is let through unseen.
    let Some(patterns) = &*PATTERNS else { return Some(Finding::new("intent", "the text could not be read")) };
    let text = cut(text);
    if let Some(finding) = read(patterns, &disguise::plain(text), place) {
        return Some(finding);
    }
    // A second reading counts only when it says what the text itself does not.
    disguise::readings(text).iter().find_map(|reading| {
        let plain = disguise::plain(reading);
        let once_more = || {
            disguise::readings(reading).iter().take(4).find_map(|inner| read(patterns, &disguise::plain(inner), place))
        };
        let finding =
            read(patterns, &plain, place).or_else(|| if reading.len() < text.len() { once_more() } else { None })?;
        Some(Finding::new("disguised-order", format!("behind a disguise: {}", finding.message)))
    })
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(MOST_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn read(patterns: &RegexSet, text: &str, place: Place) -> Option<Finding> {
    let mut best: Option<(f32, Vec<&Feature>, String)> = None;
    let mut previous: Vec<usize> = Vec::new();
    for (at, sentence) in sentences(text).into_iter().enumerate() {
        let here: Vec<usize> = patterns.matches(&sentence).into_iter().collect();
        let mut window = previous;
        window.extend(&here);
        let (found, features) = score(&window, place, at > 0);
        // The first sentence says what the tool does, which may sound like an order.
        let odds = tone::odds(&sentence) - if at == 0 { 0.5 } else { 0.0 };
        let score = found + TONE * ((odds + 2.0) / 1.4).clamp(0.0, 1.5);
        previous = here;
        if best.as_ref().is_none_or(|(before, ..)| score > *before) {
            best = Some((score, features, sentence));
        }
    }
    let (score, features, sentence) = best?;
    if score < HOLD {
        return None;
    }
    let mut acts: Vec<&str> = features.iter().map(|feature| feature.act.says()).collect();
    if acts.is_empty() {
        acts.push("reads like an order to the model");
    }
    let quote: String = sentence.trim().chars().take(120).collect();
    Some(Finding::new("order-to-the-model", format!("the text {}: {quote:?}", acts.join(", "))))
}

/// Adds up what was found in a sentence and its neighbour.
fn score(found: &[usize], place: Place, later: bool) -> (f32, Vec<&'static Feature>) {
    let mut best: Vec<&'static Feature> = Vec::new();
    for feature in found.iter().filter_map(|at| FEATURES.get(*at)) {
        match best.iter_mut().find(|earlier| earlier.act == feature.act) {
            Some(earlier) if earlier.weight < feature.weight => *earlier = feature,
            Some(_) => {}
            None => best.push(feature),
        }
    }
    let core: f32 = best.iter().filter(|feature| !feature.act.only_adds()).map(|feature| feature.weight).sum();
    let innocent = best.iter().any(|feature| feature.act == Act::Innocent);
    let mut total = core;
    if core >= 0.4 {
        total += best.iter().filter(|feature| feature.act.only_adds()).map(|feature| feature.weight).sum::<f32>();
        // A parameter is what the model fills in, and what follows the first sentence is no summary of the tool.
        if place == Place::Parameter && best.iter().any(|feature| feature.act == Act::TakeOut) {
            total += 0.2;
        }
        if later {
            total += 0.15;
        }
    }
    if innocent {
        total -= 0.5;
    }
    best.retain(|feature| feature.act != Act::Innocent && feature.act.says() != "");
    (total, best)
}

/// The sentences of a text. A line that is wrapped goes on; an empty line ends a sentence.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    let mut characters = text.chars().peekable();
    let mut blank_line = false;
    while let Some(c) = characters.next() {
        let current = sentences.last_mut();
        let Some(current) = current else { break };
        match c {
            '\n' => {
                if blank_line {
                    sentences.push(String::new());
                } else {
                    current.push(' ');
                }
                blank_line = true;
            }
            // Dots that stand for something left out end no sentence.
            '.' | '!' | '?' | ';'
                if !current.ends_with('.')
                    && characters
                        .peek()
                        .is_none_or(|next| next.is_whitespace() || matches!(next, '"' | '\'' | ')' | '<')) =>
            {
                current.push(c);
                sentences.push(String::new());
            }
            '。' | '！' | '？' | '；' => {
                current.push(c);
                sentences.push(String::new());
            }
            c if c.is_whitespace() => {
                if !current.ends_with(' ') {
                    current.push(' ');
                }
            }
            c => {
                blank_line = false;
                current.push(c);
            }
        }
    }
    sentences.retain(|sentence| !sentence.trim().is_empty());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_compile() {
        for feature in FEATURES {
            let pattern = features::expand(feature.pattern);
            assert!(!pattern.contains('@') || pattern.contains("[@"), "{pattern}");
            if let Err(error) = regex::Regex::new(&pattern) {
                panic!("{pattern}: {error}");
            }
        }
        assert!(PATTERNS.is_some());
    }

    #[test]
    fn splitting() {
        assert_eq!(sentences("One two.\nThree\nfour.  Five ~/.ssh/x"), ["One two.", " Three four.", " Five ~/.ssh/x"]);
        assert_eq!(sentences("a\n\nb").len(), 2);
        assert_eq!(sentences("say \"use it to ...\" in your words").len(), 1);
        assert!(sentences("").is_empty());
    }
}
