//! How much each class counts, each pair of classes, and each pair and triple of groups of classes in one sentence.
//!
//! The numbers are fitted to the corpus under `tests/corpus` by `cargo xtask fit-screening`; nobody edits them by hand.

use std::sync::LazyLock;

use super::class::{COUNT, Class, Classes, set};
use super::frame::{self, FRAMES};

static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| Weights::parse(include_str!("weights.txt")));

/// Classes that do the same in an order: what is true of one is likely to be true of the others.
const GROUPS: [(&str, Classes); 14] = [
    ("ADDRESSED", set(&[Class::You, Class::Model, Class::Imperative, Class::Must])),
    ("LOOT", set(&[Class::Secret, Class::SecretFile, Class::Context, Class::Personal, Class::UserData])),
    ("MOVE", set(&[Class::Read, Class::Put, Class::Send, Class::Copy, Class::Encode, Class::Show, Class::Tell])),
    ("WHERE", set(&[Class::Slot, Class::Foreign, Class::Destination, Class::Us, Class::Own])),
    ("OTHERS", set(&[Class::AnyTool, Class::KindTool, Class::Named])),
    ("MEDDLE", set(&[Class::Change, Class::Remove, Class::Skip, Class::NotCall, Class::Drop])),
    ("VALUES", set(&[Class::Money, Class::Answer, Class::Link, Class::Code])),
    (
        "CONCEAL",
        set(&[
            Class::NotTell,
            Class::NotKnow,
            Class::Hide,
            Class::Pretend,
            Class::Silent,
            Class::NotShow,
            Class::NotPut,
        ]),
    ),
    ("PEOPLE", set(&[Class::User, Class::Answer, Class::Log])),
    ("BOUNDS", set(&[Class::Rules, Class::Permission, Class::Machine])),
    (
        "LOOSEN",
        set(&[
            Class::Drop,
            Class::Outrank,
            Class::Approve,
            Class::Skip,
            Class::NotAsk,
            Class::NotPermission,
            Class::Mode,
            Class::Trust,
            Class::Obey,
        ]),
    ),
    ("SCOPE", set(&[Class::Every, Class::All, Class::When, Class::Regardless, Class::First, Class::Also])),
    ("HOST", set(&[Class::Persist, Class::AgentFile, Class::Machine, Class::Command, Class::Code])),
    ("DO", set(&[Class::Run, Class::Put, Class::Call, Class::Remember, Class::Read])),
];

const GROUP_COUNT: usize = GROUPS.len();
/// Where the kinds of features begin in the table.
const PAIRS: usize = COUNT;
const GROUP_PAIRS: usize = PAIRS + COUNT * COUNT;
const TRIPLES: usize = GROUP_PAIRS + GROUP_COUNT * GROUP_COUNT;
/// How many features there could be.
pub(super) const FEATURES: usize = FRAME + FRAMES.len();
const FRAME: usize = TRIPLES + GROUP_COUNT * GROUP_COUNT * GROUP_COUNT;

/// Logarithmic odds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weights {
    pub(super) bias: f32,
    pub(super) table: Vec<f32>,
}

impl Weights {
    pub(super) fn get() -> &'static Self {
        &WEIGHTS
    }

    /// Reads `NAME HUNDREDTHS` lines.
    fn parse(text: &str) -> Self {
        let mut weights = Self { bias: 0.0, table: vec![0.0; FEATURES] };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((name, value)) = line.split_once(' ') else { continue };
            let value = value.parse::<i16>().map_or(0.0, |hundredths| f32::from(hundredths) / 100.0);
            if name == "bias" {
                weights.bias = value;
            } else if let Some(at) = number(name) {
                weights.table[at] = value;
            }
        }
        weights
    }

    /// The logarithmic odds that a sentence with these classes is an order to the model.
    pub(super) fn odds(&self, classes: Classes) -> f32 {
        let mut odds = self.bias;
        features(classes, |at| odds += self.table[at]);
        odds
    }
}

/// Visits the features of a set of classes.
pub(super) fn features(classes: Classes, mut visit: impl FnMut(usize)) {
    for first in classes.iter() {
        visit(first);
        classes.iter().filter(|second| *second > first).for_each(|second| visit(PAIRS + first * COUNT + second));
    }
    frame::complete(classes).for_each(|at| visit(FRAME + at));
    let mut present = [0usize; GROUP_COUNT];
    let mut count = 0;
    for (at, _) in GROUPS.iter().enumerate().filter(|(_, (_, group))| classes.meets(*group)) {
        present[count] = at;
        count += 1;
    }
    let present = &present[..count];
    for (at, first) in present.iter().enumerate() {
        for (behind, second) in present.iter().enumerate().skip(at + 1) {
            visit(GROUP_PAIRS + first * GROUP_COUNT + second);
            for third in &present[behind + 1..] {
                visit(TRIPLES + (first * GROUP_COUNT + second) * GROUP_COUNT + third);
            }
        }
    }
}

/// What a feature is believed to weigh before anything is fitted: complete frames speak for an order, signs of
/// protection and of plain description against it.
#[cfg(test)]
pub(super) fn prior(at: usize) -> f32 {
    match kind(at) {
        (1, true) => FRAMES.get(at - FRAME).map_or(0.0, |frame| frame.prior),
        (1, false) => match Class::ALL.get(at) {
            Some(Class::Guard) => -2.0,
            Some(Class::Describes | Class::Detect) => -1.5,
            Some(Class::Unless | Class::Refrain | Class::Disclaims) => -1.0,
            Some(Class::Consults) => -0.7,
            Some(Class::Benign | Class::Domain | Class::Opening | Class::Parameter) => -0.5,
            _ => 0.0,
        },
        // To tell the user is the opposite of hiding.
        _ if at == PAIRS + Class::User as usize * COUNT + Class::Tell as usize => -1.5,
        _ => 0.0,
    }
}

/// How many parts a feature has, and whether they are groups.
#[cfg(test)]
pub(super) const fn kind(at: usize) -> (usize, bool) {
    match at {
        at if at < PAIRS => (1, false),
        at if at < GROUP_PAIRS => (2, false),
        at if at < TRIPLES => (2, true),
        at if at < FRAME => (3, true),
        _ => (1, true),
    }
}

/// The name of a feature.
#[cfg(test)]
pub(super) fn name(at: usize) -> String {
    let class = |number: usize| Class::ALL.get(number % COUNT).map_or("", |class| class.name());
    let group = |number: usize| GROUPS.get(number % GROUP_COUNT).map_or("", |(name, _)| *name);
    match kind(at) {
        (1, true) => FRAMES.get(at - FRAME).map_or("", |frame| frame.name).to_owned(),
        (1, false) => class(at).to_owned(),
        (2, false) => format!("{}+{}", class((at - PAIRS) / COUNT), class(at - PAIRS)),
        (2, true) => format!("{}+{}", group((at - GROUP_PAIRS) / GROUP_COUNT), group(at - GROUP_PAIRS)),
        _ => {
            let at = at - TRIPLES;
            format!("{}+{}+{}", group(at / GROUP_COUNT / GROUP_COUNT), group(at / GROUP_COUNT), group(at))
        }
    }
}

/// The feature of a name.
fn number(name: &str) -> Option<usize> {
    let class = |name: &str| Class::ALL.iter().position(|class| class.name() == name);
    let group = |name: &str| GROUPS.iter().position(|(group, _)| *group == name);
    let parts: Vec<&str> = name.split('+').collect();
    Some(match parts.as_slice() {
        [one] if one.starts_with('=') => FRAME + FRAMES.iter().position(|frame| frame.name == *one)?,
        [one] => class(one)?,
        [first, second] => match (class(first), class(second)) {
            (Some(first), Some(second)) => PAIRS + first * COUNT + second,
            _ => GROUP_PAIRS + group(first)? * GROUP_COUNT + group(second)?,
        },
        [first, second, third] => {
            TRIPLES + (group(first)? * GROUP_COUNT + group(second)?) * GROUP_COUNT + group(third)?
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree() {
        let all = Class::ALL.iter().fold(Classes::default(), |all, class| all.with(*class));
        features(all, |at| assert_eq!(number(&name(at)), Some(at), "{}", name(at)));
    }
}
