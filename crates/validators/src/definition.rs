//! What changed between two definitions of one tool, prompt, resource or server, and whether a person has to see it.
//!
//! Compared is what a definition means: the words that a model reads, the inputs that a schema accepts, and what is said
//! of risk. Another order, other blanks, another folder, version or date in the same sentence, and a schema that accepts
//! less pass. New words, new arguments and inputs that were not accepted before do not: pins are the fence behind
//! screening, which knows only the orders that somebody thought of. Nothing here knows who accepted what, nor which of
//! several accepted definitions is meant; every comparison is with one that was accepted, never with one seen before.

mod news;
mod schema;
mod text;

use serde_json::{Map, Value};
use switchboard_wire::Raw;

use crate::screen;
pub use news::objection;

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where: members joined by dots.
    pub place: String,
    /// What kind of difference it is.
    pub kind: ChangeKind,
    /// What was accepted, as a person reads it.
    pub before: Option<String>,
    /// What is shown now.
    pub after: Option<String>,
}

/// What kind of difference it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ChangeKind {
    /// Blanks, case, order, a folder, a version, a date: nothing that a reader would act upon.
    Spelling,
    /// Fewer inputs are accepted.
    Tightened,
    /// A text has other words.
    Words,
    /// There is another argument.
    ArgumentAdded,
    /// An argument is gone.
    ArgumentGone,
    /// Inputs are accepted that were not.
    Widened,
    /// Something else is said of its risk or its effects.
    Claims,
    /// It says that it does less harm than it said: it destroys no longer, or only reads while it takes more than before.
    Disarmed,
    /// Something differs whose meaning is not known here.
    Unknown,
}

impl ChangeKind {
    /// Whether a person has to see it.
    #[must_use]
    pub const fn asks(self) -> bool {
        !matches!(self, Self::Spelling | Self::Tightened)
    }

    /// The word for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Spelling => "spelling",
            Self::Tightened => "tightened",
            Self::Words => "words",
            Self::ArgumentAdded => "argument_added",
            Self::ArgumentGone => "argument_gone",
            Self::Widened => "widened",
            Self::Claims => "claims",
            Self::Disarmed => "disarmed",
            Self::Unknown => "unknown",
        }
    }

    /// The same in a sentence that holds no word of a server.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Spelling => "the spelling differs",
            Self::Tightened => "it accepts less",
            Self::Words => "its text has other words",
            Self::ArgumentAdded => "it takes an argument that was not there",
            Self::ArgumentGone => "an argument is gone",
            Self::Widened => "it accepts inputs that it did not",
            Self::Claims => "it says something else of its effects",
            Self::Disarmed => "it says that it does less harm than it said",
            Self::Unknown => "a part of it differs",
        }
    }
}

/// Nested values that are compared; beyond, a difference is unknown.
const MAX_DEPTH: usize = 48;
/// What counts as said of risk and effects.
const CLAIMS: [&str; 8] = [
    "security",
    "risk_level",
    "requires_confirmation",
    "confirmation_message",
    "cost",
    "required_scopes",
    "execution",
    "_meta",
];

/// The differences between a definition that was accepted and the one that is shown, in the form in which they are
/// pinned. Empty where they mean the same to the letter.
#[must_use]
pub fn changes(accepted: &Raw, shown: &Raw) -> Vec<Change> {
    let mut found = ChangeList::default();
    let read = |raw: &Raw| -> Option<Value> {
        // Of a member that stands twice readers read one or the other.
        screen::refuse_duplicates(raw).ok()?;
        raw.view().ok()
    };
    match (read(accepted), read(shown)) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => compare(&old, &new, &mut found),
        _ if accepted.as_str() == shown.as_str() => {}
        _ => found.add("", ChangeKind::Unknown, None, None),
    }
    found.0
}

/// Whether no change needs a person.
#[must_use]
pub fn is_alike(changes: &[Change]) -> bool {
    !changes.iter().any(|change| change.kind.asks())
}

/// Whether a definition says that it does less harm than the accepted one: what no release makes right by itself.
#[must_use]
pub fn is_disarmed(changes: &[Change]) -> bool {
    changes.iter().any(|change| change.kind == ChangeKind::Disarmed)
}

fn compare(old: &Map<String, Value>, new: &Map<String, Value>, found: &mut ChangeList) {
    let name = old.get("name").and_then(Value::as_str).unwrap_or_default();
    let title = old.get("title").and_then(Value::as_str).unwrap_or(name);
    for key in keys(old, new) {
        let (before, after) = (old.get(key), new.get(key));
        match key.as_str() {
            "title" => found.title(key, &[name], before, after),
            "description" | "text" => found.text(key, before, after),
            "inputSchema" | "input_schema" => schema::compare(key, name, before, after, found),
            "outputSchema" => output(key, before, after, found),
            "annotations" => annotations(&[title, name], before, after, found),
            "arguments" => arguments(before, after, found),
            key => {
                let kind = if CLAIMS.contains(&key) { ChangeKind::Claims } else { ChangeKind::Unknown };
                found.equal(key, kind, before, after);
            }
        }
    }
    found.mark_disarmed(old);
}

/// The keys of both, each once.
fn keys<'a>(old: &'a Map<String, Value>, new: &'a Map<String, Value>) -> impl Iterator<Item = &'a String> {
    old.keys().chain(new.keys().filter(|key| !old.contains_key(*key)))
}

/// What a tool gives lets nothing in. Only new words count, since a model may read them.
fn output(place: &str, before: Option<&Value>, after: Option<&Value>, found: &mut ChangeList) {
    if before == after {
        return;
    }
    match news::unknown_words(before, after) {
        Some(words) => found.add(place, ChangeKind::Words, None, Some(words)),
        None => found.add(place, ChangeKind::Spelling, None, None),
    }
}

/// Hints: what is not said is what the specification assumes. One that is said for the first time may only make a tool
/// look more dangerous.
fn annotations(names: &[&str], before: Option<&Value>, after: Option<&Value>, found: &mut ChangeList) {
    let none = Map::new();
    let object = |value: Option<&'_ Value>| value.and_then(Value::as_object).cloned();
    if [before, after].into_iter().flatten().any(|value| !value.is_object()) {
        return found.equal("annotations", ChangeKind::Claims, before, after);
    }
    let (old, new) = (object(before).unwrap_or_else(|| none.clone()), object(after).unwrap_or(none));
    for key in keys(&old, &new) {
        let place = format!("annotations.{key}");
        let assumed = match key.as_str() {
            "title" => {
                found.title(&place, names, old.get(key), new.get(key));
                continue;
            }
            // Whether a tool reaches beyond its own world: servers disagree about what that is, and nothing is allowed for it.
            "openWorldHint" if [old.get(key), new.get(key)].into_iter().flatten().all(Value::is_boolean) => {
                if old.get(key) != new.get(key) {
                    found.pair(&place, ChangeKind::Spelling, old.get(key), new.get(key));
                }
                continue;
            }
            "readOnlyHint" | "idempotentHint" => Some(Value::Bool(false)),
            "destructiveHint" | "openWorldHint" => Some(Value::Bool(true)),
            _ => None,
        };
        let (before, after) = (old.get(key).or(assumed.as_ref()), new.get(key).or(assumed.as_ref()));
        if before == after && old.get(key) != new.get(key) {
            found.add(&place, ChangeKind::Spelling, None, None);
        } else {
            found.equal(&place, ChangeKind::Claims, before, after);
        }
    }
}

/// The arguments of a prompt, by name.
fn arguments(before: Option<&Value>, after: Option<&Value>, found: &mut ChangeList) {
    let named = |list: Option<&Value>| -> Option<Vec<(String, Map<String, Value>)>> {
        let list = list.map_or(Some(&[][..]), |list| list.as_array().map(Vec::as_slice))?;
        list.iter().map(|item| Some((item.get("name")?.as_str()?.to_owned(), item.as_object()?.clone()))).collect()
    };
    let (Some(old), Some(new)) = (named(before), named(after)) else {
        return found.equal("arguments", ChangeKind::Unknown, before, after);
    };
    let find = |list: &[(String, Map<String, Value>)], name: &str| {
        list.iter().find(|(other, _)| other == name).map(|(_, item)| item.clone())
    };
    if old.len() == new.len() && old.iter().zip(&new).any(|((one, _), (other, _))| one != other) {
        found.add("arguments", ChangeKind::Spelling, None, None);
    }
    for (name, _) in new.iter().filter(|(name, _)| find(&old, name).is_none()) {
        found.add(&format!("arguments.{name}"), ChangeKind::ArgumentAdded, None, Some(name.clone()));
    }
    for (name, item) in &old {
        let place = format!("arguments.{name}");
        let Some(other) = find(&new, name) else {
            found.add(&place, ChangeKind::ArgumentGone, Some(name.clone()), None);
            continue;
        };
        for key in keys(item, &other) {
            let place = format!("{place}.{key}");
            match key.as_str() {
                "title" => found.title(&place, &[name], item.get(key), other.get(key)),
                "description" => found.text(&place, item.get(key), other.get(key)),
                _ => found.equal(&place, ChangeKind::Unknown, item.get(key), other.get(key)),
            }
        }
    }
}

/// What was found so far.
#[derive(Debug, Default)]
struct ChangeList(Vec<Change>);

impl ChangeList {
    fn add(&mut self, place: &str, kind: ChangeKind, before: Option<String>, after: Option<String>) {
        self.0.push(Change { place: place.to_owned(), kind, before, after });
    }

    /// Claims of less harm: a destructive hint that was said and is taken back, and the claim only to read beside a schema
    /// that takes more.
    fn mark_disarmed(&mut self, old: &Map<String, Value>) {
        let takes_more = self.0.iter().any(|change| {
            change.place.starts_with("input") && matches!(change.kind, ChangeKind::Widened | ChangeKind::ArgumentAdded)
        });
        let said = |key: &str| old.get("annotations").and_then(|hints| hints.get(key)).and_then(Value::as_bool);
        for change in self.0.iter_mut().filter(|change| change.kind == ChangeKind::Claims) {
            let is_less = match change.place.as_str() {
                "annotations.destructiveHint" => said("destructiveHint") == Some(true),
                "annotations.readOnlyHint" => takes_more && said("readOnlyHint") != Some(true),
                _ => false,
            };
            if is_less {
                change.kind = ChangeKind::Disarmed;
            }
        }
    }

    fn pair(&mut self, place: &str, kind: ChangeKind, before: Option<&Value>, after: Option<&Value>) {
        self.add(place, kind, before.map(told), after.map(told));
    }

    /// A member that has to stay as it is.
    fn equal(&mut self, place: &str, kind: ChangeKind, before: Option<&Value>, after: Option<&Value>) {
        if before != after {
            self.pair(place, kind, before, after);
        }
    }

    /// A text that a model reads.
    fn text(&mut self, place: &str, before: Option<&Value>, after: Option<&Value>) {
        if before == after {
            return;
        }
        let filled = |value: Option<&Value>| match value {
            None => Some(String::new()),
            Some(value) => value.as_str().map(str::to_owned),
        };
        let kind = match (filled(before), filled(after)) {
            (Some(old), Some(new)) if text::is_alike(&old, &new) => ChangeKind::Spelling,
            (Some(_), Some(_)) => ChangeKind::Words,
            _ => ChangeKind::Unknown,
        };
        self.pair(place, kind, before, after);
    }

    /// A title: libraries make it of a name, and leave it out again.
    fn title(&mut self, place: &str, names: &[&str], before: Option<&Value>, after: Option<&Value>) {
        let made_of_name =
            |value: &Value| value.as_str().is_some_and(|title| names.iter().any(|name| text::is_title_of(title, name)));
        match after {
            None if before.is_some() => self.pair(place, ChangeKind::Spelling, before, after),
            Some(title) if before != after && made_of_name(title) => {
                self.pair(place, ChangeKind::Spelling, before, after);
            }
            _ => self.text(place, before, after),
        }
    }
}

/// All of it: what is left out is not agreed to.
fn told(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
