//! What a definition says that an accepted one does not, and what screening has against it.
//!
//! A whole definition that screening lets through says little of what was added: an honest page of text carries one
//! more sentence easily. So the new sentences are screened by themselves as well, with nothing honest around them.

use std::collections::HashSet;

use serde_json::{Map, Value};
use switchboard_wire::Raw;

use super::text::{in_order, is_path};
use crate::Finding;
use crate::screen::Screening;

/// Bytes of new words that are put together.
const MAX_BYTES: usize = 64 << 10;

/// What speaks against showing a definition beside one that was accepted: something in what is new, or more in the whole
/// than there was before.
#[must_use]
pub fn objection(accepted: &Raw, shown: &Raw, screen: &dyn Fn(&Raw) -> Screening) -> Option<Finding> {
    let unreadable = || Some(Finding::new("tool", "the definition cannot be read"));
    let (Ok(old), Ok(new)) = (accepted.view::<Value>(), shown.view::<Value>()) else { return unreadable() };
    let rank = |screening: &Screening| match screening {
        Screening::Passed => 0,
        Screening::Marked(_) => 1,
        Screening::Held(_) => 2,
    };
    let (before, whole) = (screen(accepted), screen(shown));
    if rank(&whole) > rank(&before) {
        return whole.finding().cloned();
    }
    let mut known = Known::default();
    known.learn(&old);
    let news = known.news_of(&new, 0);
    let Ok(news) = Raw::from_value(&news) else { return unreadable() };
    screen(&news).finding().cloned()
}

/// The texts of a value that the other one does not have, where they are more than a few plain names.
pub(super) fn unknown_words(old: Option<&Value>, new: Option<&Value>) -> Option<String> {
    let mut known = Known::default();
    old.into_iter().for_each(|old| known.learn(old));
    let mut unknown = Vec::new();
    let mut waiting: Vec<&Value> = new.into_iter().collect();
    let mut see = |text: &str| {
        let several = text.contains(char::is_whitespace) || !text.is_ascii() || text.len() > 64;
        if several && !known.has(text) {
            unknown.push(text.to_owned());
        }
    };
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => see(text),
            Value::Array(values) => waiting.extend(values),
            Value::Object(members) => {
                members.keys().for_each(|key| see(key));
                waiting.extend(members.values());
            }
            _ => {}
        }
    }
    (!unknown.is_empty()).then(|| unknown.join("\n").chars().take(MAX_BYTES).collect())
}

/// Sentences and names that were accepted.
#[derive(Default)]
struct Known(HashSet<String>);

impl Known {
    fn learn(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.0.extend(sentences(text).map(plain)),
            Value::Array(values) => values.iter().for_each(|value| self.learn(value)),
            Value::Object(members) => {
                for (key, value) in members {
                    self.0.insert(plain(key));
                    self.learn(value);
                }
            }
            _ => {}
        }
    }

    fn has(&self, text: &str) -> bool {
        sentences(text).all(|sentence| self.0.contains(&plain(sentence)))
    }

    /// The value with nothing in it that is known. Names that are known become too short to be read.
    fn news_of(&self, value: &Value, depth: usize) -> Value {
        match value {
            Value::String(text) => Value::String(self.new_sentences(text)),
            Value::Array(values) => values.iter().map(|value| self.news_of(value, depth + 1)).collect(),
            Value::Object(members) => {
                let mut news = Map::new();
                for (index, (key, value)) in members.iter().enumerate() {
                    // The name of the tool says what it is about, and the words of a schema where a text stands.
                    let is_name = depth == 0 && key == "name";
                    let structural = matches!(
                        key.as_str(),
                        "name" | "title" | "description" | "inputSchema" | "properties" | "items" | "enum" | "default"
                    );
                    let key =
                        if structural || !self.0.contains(&plain(key)) { key.clone() } else { format!("{index}") };
                    news.insert(key, if is_name { value.clone() } else { self.news_of(value, depth + 1) });
                }
                Value::Object(news)
            }
            value => value.clone(),
        }
    }

    fn new_sentences(&self, text: &str) -> String {
        let mut news: Vec<String> = Vec::new();
        for sentence in sentences(text).filter(|sentence| !self.0.contains(&plain(sentence))) {
            news.push(sentence.to_owned());
            // A folder can be named like a sentence.
            let trim =
                |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '~')).to_owned();
            let paths = sentence.split_whitespace().map(trim).filter(|word| is_path(&word.to_lowercase()));
            news.extend(paths.map(|path| path.replace(['/', '\\', '-', '_', '.'], " ")));
        }
        news.join("\n")
    }
}

/// The sentences of a text, roughly.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    let ends = move |c: char| {
        let ends = c == '\n' || c.is_whitespace() && matches!(before, '.' | '!' | '?' | ';');
        before = c;
        ends
    };
    text.split(ends).map(str::trim).filter(|sentence| !sentence.is_empty())
}

fn plain(sentence: &str) -> String {
    let words: Vec<String> = in_order(sentence).split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['.', '!', ';', ',']).to_owned()
}
