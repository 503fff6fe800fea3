//! What a text wants from the model: sentences are read for who is addressed, what is to be done and to what, and the
//! combination is weighed.
//!
//! A lexicon sorts words of several languages into classes (a secret, the user, to send, a negation ..). A sentence is
//! the set of its classes; each class and each pair of classes has a weight, fitted to the corpus in `tests/corpus`.
//! Nothing here understands a sentence: an order in words that the lexicon does not know passes.

mod certain;
mod class;
#[cfg(test)]
mod fit;
mod frame;
mod lexicon;
mod purpose;
mod reach;
mod reading;
mod sentence;
mod weights;

use std::sync::LazyLock;

use regex::Regex;

use super::{disguise, orders};
use crate::Finding;
use class::{Class, Classes};
use frame::Frame;
use weights::Weights;

pub(super) use reach::check as reach;
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
    /// A title: a few words that say what something is called.
    Title,
    /// Any other part of a definition.
    Other,
    /// What a tool answered.
    Result,
}

/// From these logarithmic odds on a text is marked.
const MARK: f32 = -0.5;
/// From these on a text is held, where there is a ground that hardly any honest text has ([`certain`]); and where it is
/// of another kind.
const HOLD_GRAVE: f32 = 0.75;
const HOLD: f32 = 1.75;
/// How much more it takes where the user decides.
const LIMITED: f32 = 1.5;
/// How much less it takes behind a disguise, which nobody puts on without a reason.
const DISGUISED: f32 = 1.5;
/// How much surer it has to be of a name, which is no sentence.
const NAME: f32 = 0.3;
/// The same for holding it.
const NAME_HELD: f32 = 1.5;
/// How much surer it has to be of a title, most of which are in the form of an order ("Create alias").
const TITLE: f32 = 1.0;
/// The most words of a title; what has more is a text.
pub(super) const MAX_TITLE_WORDS: usize = 8;
/// The most names of properties that say what a tool is about.
const MOST_PROPERTIES: usize = 100;
/// From these odds on a value is an order: hardly any sentence in one has a frame at all.
const VALUE: f32 = -5.0;
/// The fewest words of a value that is more than a label.
const MIN_VALUE_WORDS: usize = 5;
/// Pieces of markup that end what a tool says and let somebody else speak.
const TURNS: [&str; 12] = [
    "</tool_description",
    "</description>",
    "<tool_result",
    "<user>",
    "</user>",
    "<system>",
    "<assistant>",
    "<|im_start|>",
    "<|user|>",
    "<|system|>",
    "[/inst]",
    "</function_results",
];
/// Bytes of a text that are read.
pub(super) const MAX_TEXT_BYTES: usize = 64 << 10;

/// What a text wants from the model.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) finding: Finding,
    /// Whether no honest text says such a thing.
    pub(super) certain: bool,
    /// What its marked sentences want.
    pub(super) demands: Demands,
}

/// The same of a value (a default, one of a list, an example): what speaks to the model there was put there to be read.
pub(super) fn check_value(text: &str, place: Place, names: Names<'_>) -> Option<Found> {
    let found = check(text, place, names);
    if text.split_whitespace().count() < MIN_VALUE_WORDS {
        return found;
    }
    let found = found.or_else(|| read(&disguise::plain(cut(text)), "", place, names, VALUE))?;
    Some(Found { certain: true, ..found })
}

/// What the text wants from the model, if that is more than to describe.
pub(super) fn check(text: &str, place: Place, names: Names<'_>) -> Option<Found> {
    // Most texts of a definition are one short word: no sentence, and too short to hide one.
    if text.len() < disguise::MIN_ENCODED && text.is_ascii() && !text.contains(char::is_whitespace) {
        return None;
    }
    let text = cut(text);
    let plain = disguise::plain(text);
    let open = read(&plain, "", place, names, MARK);
    if open.as_ref().is_some_and(|found| found.certain) {
        return open;
    }
    // Who lets the user or the system speak in a description, speaks in their place.
    if place != Place::Result
        && let Some(found) = open.as_ref().filter(|_| TURNS.iter().any(|turn| plain.contains(turn)))
    {
        return Some(Found { finding: found.finding.clone(), certain: true, demands: found.demands });
    }
    // A second reading counts only when it says what the text itself does not.
    let disguised = disguise::readings(text, is_word).iter().find_map(|reading| {
        // A reading that is much shorter is a part that was hidden, and no longer what the tool says of itself.
        let (place, mark) =
            if reading.len() * 10 < text.len() * 9 { (Place::Result, MARK - DISGUISED) } else { (place, MARK) };
        let once_more = || {
            let inner = disguise::readings(reading, is_word);
            inner.iter().take(4).find_map(|inner| read(&disguise::plain(inner), &plain, place, names, mark))
        };
        let found = read(&disguise::plain(reading), &plain, place, names, mark)
            .or_else(|| if reading.len() < text.len() { once_more() } else { None })?;
        let message = format!("behind a disguise: {}", found.finding.message);
        // Whoever takes the trouble to hide an order gives one. Digits that may stand for letters are in honest texts too.
        let certain = found.certain || place == Place::Result;
        Some(Found { finding: Finding::new("disguised-order", message), certain, demands: found.demands })
    });
    disguised.or(open)
}

/// Whether the lexicon knows a word.
pub(super) fn is_word(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    !bare.is_empty() && !lexicon::Lexicon::get().word(bare).is_empty()
}

/// The names of a tool, with what it is about: the classes in its name, in the names of its properties and in its first
/// sentence, where that describes.
pub(super) fn names<'a>(tool: &'a str, properties: &'a [String], description: &str) -> Names<'a> {
    let read = |text: &str| reading::read(text, Names::default());
    let opening = sentence::split(&disguise::plain(cut(description))).into_iter().next().unwrap_or_default();
    let name = read(&words(&reach::apart(tool)));
    let opening = Some(read(&opening)).filter(|classes| is_excused(*classes, tool)).unwrap_or_default();
    let core = name.and(opening);
    let domain = properties.iter().take(MOST_PROPERTIES).map(|name| read(&words(name))).fold(core, Classes::and);
    Names { tool, properties, domain, core, opening }
}

/// A name in plain letters, its parts as words.
fn words(name: &str) -> String {
    disguise::plain(&name.replace(['_', '-', '.'], " "))
}

/// Whether a first sentence may say what a tool is about: it does not if it gives a grave order, or tells what to do
/// besides, or names a file with secrets that its name does not speak of.
fn is_excused(classes: Classes, tool: &str) -> bool {
    const BESIDES: Classes = class::set(&[
        Class::First,
        Class::Every,
        Class::Must,
        Class::Also,
        Class::Urgent,
        Class::Regardless,
        Class::Model,
        Class::Destination,
    ]);
    let ordered = classes.meets(BESIDES) && !classes.has(Class::Describes);
    let astray = classes.has(Class::SecretFile) && !reach::keeps_secrets(tool);
    let keys = |frame: &Frame| frame.name == "=!keys" && reach::keeps_secrets(tool);
    let grave = |at: usize| frame::FRAMES.get(at).is_some_and(|frame| frame.is_grave() && !keys(frame));
    !ordered && !astray && !frame::complete(classes).any(grave)
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The weightiest sentence of a text, as far as it does not stand in `open` too. What is certain outweighs the rest.
fn read(text: &str, open: &str, place: Place, names: Names<'_>, mark: f32) -> Option<Found> {
    let weights = Weights::get();
    let mut demands = Demands::default();
    let (certain, _, classes, sentence) = sentences(text, place, names)
        .into_iter()
        .filter(|(sentence, _)| open.is_empty() || !open.contains(sentence.trim()))
        .filter_map(|(sentence, classes)| {
            let classes = purpose::without_examples(classes, &sentence);
            frame::complete(classes).next()?;
            let less = match place {
                Place::Name => NAME,
                Place::Title => TITLE,
                _ => 0.0,
            };
            let odds = weights.odds(classes) - less;
            let sure = odds - if place == Place::Name { NAME_HELD } else { 0.0 };
            let own = own_file(classes, &sentence, names.tool);
            let shown = is_own_call(&sentence, names.tool) && !certain::conceals(own);
            let certain = !shown && certain::is_certain(sure, own, place)
                || place != Place::Result
                    && (certain::takes_content(own, &sentence, names.tool) || has_account(&sentence));
            let first = || place == Place::Description && text.trim_start().starts_with(sentence.trim());
            let told = purpose::only_tells(&sentence, own, place, names)
                || !certain && purpose::is_own(own, place, names)
                || purpose::keeps_for_later(own, &sentence, names.tool) && first();
            (odds >= mark && !told && !orders::is_cleared(&sentence)).then_some((certain, odds, classes, sentence))
        })
        .inspect(|(_, _, classes, _)| demands = demands.and(Demands::of(*classes)))
        .max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))?;
    let quote: String = sentence.trim().chars().take(120).collect();
    let mut wants: Vec<&str> = frame::complete(classes).filter_map(|at| Some(frame::FRAMES.get(at)?.says)).collect();
    wants.sort_unstable();
    wants.dedup();
    let message = format!("the text speaks to the model: it {}: {quote:?}", wants.join("; "));
    let certain = certain || demands.are_certain();
    Some(Found { finding: Finding::new("order-to-the-model", message), certain, demands })
}

/// The classes without the file with secrets, where that is what the tool is for: `.env` in a tool for variables of the
/// environment. Where it is read first, given to somebody, or kept from the user, it counts.
fn own_file(classes: Classes, sentence: &str, tool: &str) -> Classes {
    let abroad = classes.meets(class::set(&[Class::Foreign, Class::Destination, Class::Read, Class::First]));
    let own = classes.has(Class::SecretFile) && sentence.contains(".env") && tool.to_lowercase().contains("env");
    if own && !abroad && !certain::conceals(classes) { classes.without(Class::SecretFile) } else { classes }
}

/// Whether a sentence is an example of a call of the tool itself, with words in quotes and no file with secrets among them.
fn is_own_call(sentence: &str, tool: &str) -> bool {
    let called = tool.len() > 3 && sentence.contains(&format!("{}(", tool.to_lowercase()));
    let quoted = sentence.matches(['\'', '"']).count() >= 4;
    called && quoted && !sentence.contains("~/") && !sentence.contains("/.") && !sentence.contains("id_rsa")
}

/// Whether a word is a bank account or a wallet.
pub(super) fn is_account(word: &str) -> bool {
    word.len() > 14 && account().is_some_and(|account| account.is_match(word))
}

fn account() -> Option<&'static Regex> {
    static ACCOUNT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b(?:[a-z]{2}\d{2}(?: ?[a-z0-9]{4})(?: ?\d{2,4}){2,6}|0x[0-9a-f]{40}|bc1[a-z0-9]{25,})\b").ok()
    });
    ACCOUNT.as_ref()
}

/// Whether a sentence names a bank account or a wallet: where an order is given besides, money is to go there.
fn has_account(sentence: &str) -> bool {
    let example = ["e.g.", "example", "such as"].iter().any(|word| sentence.contains(word));
    !example && account().is_some_and(|account| account.is_match(sentence))
}

/// What the marked sentences of a text or a definition want, taken together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Demands {
    /// Something is kept from the user.
    secrecy: bool,
    /// Something else is to be done.
    act: bool,
    /// Something is to be done without asking.
    unasked: bool,
    /// Something is taken, sent, run or changed besides.
    deed: bool,
}

/// Frames of deeds that nobody orders unasked.
const DEEDS: &[&str] =
    &["=take", "=host", "=fetch", "=reroute", "=meddle", "=!keys", "=!plant", "=!hand-over", "=!grab"];

impl Demands {
    /// Something is kept from the user.
    pub(super) const fn secrecy() -> Self {
        Self { secrecy: true, act: false, unasked: false, deed: false }
    }

    /// Something else is to be done.
    pub(super) const fn act() -> Self {
        Self { secrecy: false, act: true, unasked: false, deed: false }
    }

    /// Something is taken, run or changed besides.
    pub(super) const fn deed() -> Self {
        Self { secrecy: false, act: true, unasked: false, deed: true }
    }

    fn of(classes: Classes) -> Self {
        let act = frame::complete(classes).filter_map(|at| frame::FRAMES.get(at)).any(|frame| !frame.conceals());
        let complete = |wanted: &[&str]| {
            frame::complete(classes).filter_map(|at| frame::FRAMES.get(at)).any(|frame| wanted.contains(&frame.name))
        };
        let limited = classes.meets(class::set(&[Class::Unless, Class::Consults, Class::Guard]));
        let unasked = !limited && complete(&["=!unasked"]) && !classes.has(Class::Describes);
        Self { secrecy: certain::conceals(classes), act, unasked, deed: complete(DEEDS) }
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self {
            secrecy: self.secrecy | other.secrecy,
            act: self.act | other.act,
            unasked: self.unasked | other.unasked,
            deed: self.deed | other.deed,
        }
    }

    /// An order together with secrecy is meant ill, however each of them is put.
    pub(super) const fn are_certain(self) -> bool {
        self.secrecy && self.act || self.unasked && self.deed
    }
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
fn placed(classes: Classes, place: Place, opening: bool, names: Names<'_>) -> Classes {
    // The first sentence and the names say what the tool is about.
    let opening = opening && (!matches!(place, Place::Description) || is_excused(classes, names.tool));
    let stays = opening && matches!(place, Place::Description) || matches!(place, Place::Name);
    // A property does not say of itself that the tool is about what it asks for.
    let domain = if matches!(place, Place::Parameter) { names.core } else { names.domain };
    let classes = if stays { classes } else { reading::topic(classes, domain) };
    let classes = match place {
        Place::Parameter => classes.with(Class::Parameter),
        Place::Title | Place::Other => classes.with(Class::Elsewhere),
        Place::Name | Place::Description | Place::Result => classes,
    };
    if opening && matches!(place, Place::Description | Place::Parameter) {
        classes.with(Class::Opening)
    } else {
        classes
    }
}
