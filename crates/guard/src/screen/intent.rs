//! What a text wants from the model: sentences are read for who is addressed, what is to be done and to what, and the
//! combination is weighed.
//!
//! A lexicon sorts words of several languages into classes (a secret, the user, to send, a negation ..). A sentence is
//! the set of its classes; each class and each pair of classes has a weight, fitted to the corpus in `tests/corpus`.
//! Nothing here understands a sentence: an order in words that the lexicon does not know passes.

mod class;
#[cfg(test)]
mod fit;
mod frame;
mod lexicon;
mod reading;
mod sentence;
mod weights;

use super::disguise;
use crate::Finding;
use class::{Class, Classes};
use weights::Weights;

pub(super) use reading::Names;

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

/// From these logarithmic odds on a text is held.
const HOLD: f32 = 0.65;
/// From these on it is hardly ever the way in which an honest tool is described.
const SURE: f32 = 4.0;
/// How much less it takes behind a disguise, which nobody puts on without a reason.
const DISGUISED: f32 = 1.5;
/// How much surer it has to be of a name, which is no sentence.
const NAME: f32 = 0.3;
/// The most names of properties that say what a tool is about.
const MOST_PROPERTIES: usize = 100;
/// Texts longer than this are read in pieces of this length.
const MOST_BYTES: usize = 60_000;

/// The rule of a finding that an honest tool may give rise to.
pub const PERHAPS: &str = "order-to-the-model-perhaps";

/// What the text wants from the model, if that is more than to describe.
pub(super) fn check(text: &str, place: Place, names: Names<'_>) -> Option<Finding> {
    let text = cut(text);
    if let Some(finding) = read(&disguise::plain(text), place, names, HOLD) {
        return Some(finding);
    }
    // A second reading counts only when it says what the text itself does not.
    disguise::readings(text).iter().find_map(|reading| {
        // A reading that is much shorter is a part that was hidden, and no longer what the tool says of itself.
        let (place, hold) =
            if reading.len() * 10 < text.len() * 9 { (Place::Result, HOLD - DISGUISED) } else { (place, HOLD) };
        let once_more = || {
            let inner = disguise::readings(reading);
            inner.iter().take(4).find_map(|inner| read(&disguise::plain(inner), place, names, hold))
        };
        let finding = read(&disguise::plain(reading), place, names, hold)
            .or_else(|| if reading.len() < text.len() { once_more() } else { None })?;
        Some(Finding::new("disguised-order", format!("behind a disguise: {}", finding.message)))
    })
}

/// What a tool is about: the classes in its name, in the names of its properties and in its first sentence.
pub(super) fn domain(name: &str, properties: &[String], description: &str) -> Classes {
    let words = |name: &str| disguise::plain(&name.replace(['_', '-', '.'], " "));
    let opening = sentence::split(&disguise::plain(cut(description))).into_iter().next().unwrap_or_default();
    let names = properties.iter().take(MOST_PROPERTIES).map(|name| words(name)).chain([words(name), opening]);
    names.map(|text| reading::read(&text, Names::default())).fold(Classes::default(), Classes::and)
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(MOST_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn read(text: &str, place: Place, names: Names<'_>, hold: f32) -> Option<Finding> {
    let weights = Weights::get();
    let (odds, classes, sentence) = sentences(text, place, names)
        .into_iter()
        .map(|(sentence, classes)| (weights.odds(classes), classes, sentence))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    if odds < if place == Place::Name { hold + NAME } else { hold } {
        return None;
    }
    let quote: String = sentence.trim().chars().take(120).collect();
    let wants: Vec<&str> = frame::complete(classes).filter_map(|at| Some(frame::FRAMES.get(at)?.says)).collect();
    let reasons = weights.reasons(classes).join(", ");
    Some(Finding::new(
        if odds >= SURE { "order-to-the-model" } else { PERHAPS },
        format!("the text speaks to the model: it {} ({reasons}): {quote:?}", wants.join("; ")),
    ))
}

/// The sentences of a text in lower case that could be orders, with what they are about.
fn sentences(text: &str, place: Place, names: Names<'_>) -> Vec<(String, Classes)> {
    let mut sentences = Vec::new();
    for (at, sentence) in sentence::split(text).into_iter().enumerate() {
        let mut words = sentence.split_whitespace();
        loop {
            let part: Vec<&str> = words.by_ref().take(reading::MOST_WORDS).collect();
            if part.is_empty() {
                break;
            }
            // One word alone is a value, an address or a keyword.
            if part.len() == 1 && part[0].is_ascii() {
                continue;
            }
            let part = part.join(" ");
            let classes = placed(reading::read(&part, names), place, at == 0, names);
            if frame::complete(classes).next().is_some() {
                sentences.push((part, classes));
            }
        }
    }
    sentences
}

/// Adds where the sentence stands.
const fn placed(classes: Classes, place: Place, opening: bool, names: Names<'_>) -> Classes {
    // The first sentence and the names say what the tool is about.
    let stays = opening && matches!(place, Place::Description) || matches!(place, Place::Name);
    let classes = if stays { classes } else { reading::topic(classes, names.domain) };
    let classes = match place {
        Place::Parameter => classes.with(Class::Parameter),
        Place::Other => classes.with(Class::Elsewhere),
        Place::Name | Place::Description | Place::Result => classes,
    };
    if opening && matches!(place, Place::Description | Place::Parameter) {
        classes.with(Class::Opening)
    } else {
        classes
    }
}
