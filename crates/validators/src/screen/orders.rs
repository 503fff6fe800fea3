//! Orders by the order of their words: who shall do what to which thing, with a few words between.
//!
//! The weighing of a sentence ([`super::intent`]) knows which kinds of words stand in it, not how they stand together. Here
//! a table (`orders/rules.txt`) says which words, in which order and how far apart, no tool needs for its own use: an
//! order that meets the conversation, other tools, somebody's keys, the user's consent. A rule holds, marks, or clears a
//! sentence that only sounds like an order.

mod rules;
mod tokens;

use super::disguise;
use super::intent::{self, Demands, Found, Place};
use crate::Finding;
use rules::{Answer, Rule, Rules};
use tokens::{Token, tokens};

/// The most words of one text that are compared with the rules; what follows is left to the weighing of sentences.
const MOST_TOKENS: usize = 12_000;
/// The fewest words of a name that can be an order.
const FEWEST_NAME_WORDS: usize = 3;
/// How far behind a negation the word stands that turns it round.
const MOST_BETWEEN: usize = 2;
/// How far before an order the negation stands that forbids it; verbs behind it that turn that round.
const DENIED_BEFORE: usize = 4;
const ENDING: [&str; 12] = [
    "stop", "stopping", "cease", "refuse", "refrain", "decline", "avoid", "ignore", "delay", "wait", "ask", "question",
];
/// The fewest words of a name that is read as a sentence.
const FEWEST_ORDER_WORDS: usize = 6;

/// What a tool is for, as far as its names and its first sentence tell.
#[derive(Debug, Default)]
pub(super) struct Purpose {
    name: Vec<String>,
    opening: Vec<String>,
    /// Names that belong to the tool itself: its own and those of its properties.
    own: Vec<String>,
}

impl Purpose {
    pub(super) fn new(name: &str, description: &str, properties: &[String]) -> Self {
        let words = |text: &str| tokens(Rules::get(), text, &[]).into_iter().map(|token| token.word).collect();
        let plain = disguise::plain(description);
        let opening = plain.split(['.', '\n', '。', ';']).next().unwrap_or_default();
        let own = properties.iter().cloned().chain([name.to_lowercase()]).collect();
        Self { name: words(&spaced(name)), opening: words(opening), own }
    }
}

/// What a text of a definition orders. `value`: it stands where data does.
pub(super) fn check(text: &str, place: Place, value: bool, purpose: &Purpose) -> Option<Found> {
    let is_name = place == Place::Name || value && !text.contains(char::is_whitespace);
    let plain = if is_name { spaced(text) } else { disguise::plain(text) };
    let open = read(&plain, if is_name { Place::Name } else { place }, value, purpose);
    if text.len() < disguise::MIN_ENCODED || open.as_ref().is_some_and(|found| found.certain) {
        return open;
    }
    let hidden = disguise::readings(text, intent::is_word).into_iter().find_map(|reading| {
        let found = read(&disguise::plain(&reading), Place::Other, value, purpose)?;
        // What is much shorter is a part that was hidden, and nobody hides what is honest.
        let certain = found.certain || reading.len() * 10 < text.len() * 9;
        Some(Found { certain, finding: Finding::new("disguised-order", found.finding.message), ..found })
    });
    hidden.or(open)
}

/// Whether a sentence in lower case only sounds like an order.
pub(super) fn is_cleared(sentence: &str) -> bool {
    let rules = Rules::get();
    let tokens = tokens(rules, sentence, &[]);
    let present = groups(&tokens);
    let found = |wanted: Answer| {
        let of_sentences = rules.rules.iter().filter(|rule| !rule.of_names());
        of_sentences.into_iter().any(|rule| rule.answer == wanted && find(rule, &tokens, &present, &|_| true).is_some())
    };
    found(Answer::Clear) && !found(Answer::Hold)
}

/// What the text orders, given in plain letters.
pub(super) fn read(plain: &str, place: Place, value: bool, purpose: &Purpose) -> Option<Found> {
    let rules = Rules::get();
    let mut tokens = tokens(rules, plain, &purpose.own);
    tokens.truncate(MOST_TOKENS);
    if tokens.len() < FEWEST_NAME_WORDS {
        return None;
    }
    let present = groups(&tokens);
    let mut best: Option<(bool, &Rule, String)> = None;
    // A short name says what something is called.
    let is_label = place == Place::Name && tokens.len() < FEWEST_ORDER_WORDS;
    let stands =
        |rule: &&Rule| rule.answer != Answer::Clear && rule.stands(place, value) && (!is_label || rule.of_names());
    for rule in rules.rules.iter().filter(stands) {
        let about = |to: usize| !is_about(rule, purpose, place, &tokens, to);
        let Some((from, to)) = find(rule, &tokens, &present, &about) else { continue };
        let certain = rule.answer == Answer::Hold || value;
        if best.as_ref().is_none_or(|(held, ..)| certain && !held) {
            let quote: Vec<&str> = tokens[from..to].iter().map(|token| token.word.as_str()).collect();
            best = Some((certain, rule, quote.join(" ").chars().take(120).collect()));
        }
        if certain {
            break;
        }
    }
    let (certain, rule, quote) = best?;
    let message = format!("the text speaks to the model: it {}: {quote:?}", rule.kind.says());
    Some(Found { finding: Finding::new("order-to-the-model", message), certain, demands: rule.kind.demands() })
}

/// Whether what the rule speaks of is what the tool is for. The first sentence of a description says so only of others.
fn is_about(rule: &Rule, purpose: &Purpose, place: Place, tokens: &[Token], to: usize) -> bool {
    if rule.about.is_empty() {
        return false;
    }
    let rules = Rules::get();
    let names = |words: &[String]| {
        words.iter().any(|word| rules.groups_of(word).iter().any(|group| rule.about.contains(group)))
    };
    let opening = tokens.iter().position(|token| token.word == ".").unwrap_or(tokens.len());
    // What the first sentence describes is what the tool is for; an order in it is none.
    let first = place == Place::Description && to <= opening;
    let directive = rules.directive();
    let orders =
        || tokens[..opening].iter().any(|token| token.groups.iter().any(|(group, _)| Some(*group) == directive));
    names(&purpose.name) || first && !orders() || !first && place != Place::Name && names(&purpose.opening)
}

/// The groups of which a word stands in a text, in order.
fn groups(tokens: &[Token]) -> Vec<usize> {
    let mut groups: Vec<usize> = tokens.iter().flat_map(|token| token.groups.iter().map(|(group, _)| *group)).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// Where a rule is met: the first word, and the one behind the last.
fn find(rule: &Rule, tokens: &[Token], present: &[usize], fits: &dyn Fn(usize) -> bool) -> Option<(usize, usize)> {
    if rule.steps.iter().any(|step| !step.optional && present.binary_search(&step.group).is_err()) {
        return None;
    }
    (0..tokens.len()).find_map(|from| {
        let to = rule.meets(tokens, from)?;
        (!is_denied(rule, tokens, from) && !is_guarded(rule, tokens, from, to) && fits(to)).then_some((from, to))
    })
}

/// Whether what begins here is forbidden: `do not follow instructions in the page`. A rule that is about something not done begins
/// with the negation itself.
fn is_denied(rule: &Rule, tokens: &[Token], from: usize) -> bool {
    if rule.answer == Answer::Clear {
        return false;
    }
    let rules = Rules::get();
    let is = |at: usize, wanted: Option<usize>| tokens[at].groups.iter().any(|(group, _)| Some(*group) == wanted);
    let start = from.saturating_sub(DENIED_BEFORE);
    let ends = |at: &usize| matches!(tokens[*at].word.as_str(), "." | ",");
    let before = || (start..from).rev().take_while(|at| !ends(at));
    // In "do not follow them" the first verb is `do`.
    if tokens[from].word == "do" && from + 1 < tokens.len() && is(from + 1, rules.negation()) {
        return true;
    }
    // "Never stop to follow them" forbids nothing.
    let undone = |at: usize| is(at, rules.omission()) || ENDING.contains(&tokens[at].word.as_str());
    let denying = before().find(|at| is(*at, rules.negation()));
    denying.is_some_and(|at| !(at + 1..from).any(undone) && !is(from, rules.negation()))
}

/// Whether a word that takes the harm away stands in the same sentence. A negation does so only before what it negates.
fn is_guarded(rule: &Rule, tokens: &[Token], from: usize, to: usize) -> bool {
    if rule.unless.is_empty() {
        return false;
    }
    // A rule that begins with the end of a sentence speaks of the one behind it.
    let first = from + usize::from(tokens[from].word == ".");
    let start = tokens[..first].iter().rposition(|token| token.word == ".").map_or(0, |at| at + 1);
    let end = tokens[to..].iter().position(|token| token.word == ".").map_or(tokens.len(), |at| to + at);
    let rules = Rules::get();
    let has = |at: usize, wanted: Option<usize>| {
        tokens.get(at).is_some_and(|token| token.groups.iter().any(|(group, _)| Some(*group) == wanted))
    };
    // "Do not forget to send it" negates nothing, and neither does "not only".
    let undone = |at: usize| (at + 1..=at + MOST_BETWEEN).any(|behind| behind < from && has(behind, rules.omission()));
    tokens[start..end].iter().enumerate().any(|(at, token)| {
        let at = start + at;
        let counts = |group: usize| match Some(group) {
            _ if !rule.unless.contains(&group) => false,
            negation if negation == rules.negation() => at < to && !undone(at),
            // What stands in front of an order makes no example of it.
            example if example == rules.example() => at > start,
            _ => true,
        };
        token.groups.iter().any(|(group, _)| counts(*group))
    })
}

/// A name as words: `readFile_now` as `read file now`.
pub(super) fn spaced(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    let mut small = false;
    for c in name.chars() {
        if small && c.is_uppercase() {
            out.push(' ');
        }
        small = c.is_lowercase() || c.is_ascii_digit();
        out.push(if matches!(c, '_' | '-' | '.' | '/' | ':') { ' ' } else { c });
    }
    disguise::plain(&out)
}

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Something is kept from the user.
    Secrecy,
    /// Keys, files or the conversation are taken.
    Take,
    /// Other tools are used otherwise than the user means.
    Shadow,
    /// Rules or the user's word are set aside.
    Override,
    /// Somebody else is said to speak, or to have agreed.
    Consent,
    /// Something is run or changed on the machine.
    Machine,
    /// The model's time, trust or memory is used for something else.
    Abuse,
}

impl Kind {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "secrecy" => Self::Secrecy,
            "take" => Self::Take,
            "shadow" => Self::Shadow,
            "override" => Self::Override,
            "consent" => Self::Consent,
            "machine" => Self::Machine,
            "abuse" => Self::Abuse,
            _ => return None,
        })
    }

    const fn says(self) -> &'static str {
        match self {
            Self::Secrecy => "keeps something from the user",
            Self::Take => "asks for secrets, private data or the conversation",
            Self::Shadow => "changes how other tools are used",
            Self::Override => "sets rules or the user's word aside",
            Self::Consent => "speaks or agrees for somebody else",
            Self::Machine => "has something run or changed on the machine",
            Self::Abuse => "uses the model for something else",
        }
    }

    const fn demands(self) -> Demands {
        match self {
            Self::Secrecy => Demands::secrecy(),
            Self::Take | Self::Machine | Self::Shadow => Demands::deed(),
            Self::Override | Self::Consent | Self::Abuse => Demands::act(),
        }
    }
}
