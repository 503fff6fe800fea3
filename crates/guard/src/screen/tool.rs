//! A tool definition: every text in it, wherever it stands, is read as the model would read it.

use serde_json::Value;
use switchboard_wire::Raw;

use super::intent::{self, Place};
use super::{disguise, hidden, refuse_duplicates};
use crate::{Finding, Verdict};

/// The most texts of one definition that are read.
const MOST_TEXTS: usize = 20_000;

/// Judges a tool definition; an error means that a person should look at it before a model does.
///
/// # Errors
/// It hides something, or speaks to the model about other things than its own use.
pub fn tool(definition: &Raw) -> Verdict {
    refuse_duplicates(definition)?;
    let value: Value =
        definition.view().map_err(|error| Finding::new("tool", format!("the definition cannot be read: {error}")))?;
    let Some(members) = value.as_object() else { return Err(Finding::new("tool", "the definition is no object")) };
    let Some(name) = members.get("name").and_then(Value::as_str) else {
        return Err(Finding::new("tool-name", "the tool has no name"));
    };
    check_name(name)?;
    let mut texts = Texts { budget: MOST_TEXTS };
    texts.walk(&value, &mut Vec::new())
}

/// A name is one word or a few, not a text.
fn check_name(name: &str) -> Verdict {
    let refuse = |message: &str| Err(Finding::new("tool-name", message.to_owned()));
    if name.is_empty() || name.chars().count() > 128 {
        return refuse("the name is empty or too long");
    }
    if name.chars().any(|c| c.is_control() || matches!(c, '<' | '>' | '`' | '"' | '\\' | '{' | '}' | ';' | '|' | '$')) {
        return refuse("the name holds characters that no name needs");
    }
    if name.split_whitespace().count() > 6 {
        return refuse("the name is a sentence");
    }
    let foreign = |c: char| !c.is_ascii() && c.is_alphabetic();
    if name.chars().any(foreign)
        && name.chars().any(|c| c.is_ascii_alphabetic())
        && name.chars().any(|c| hidden::look_alike(c).is_some())
    {
        return refuse("the name mixes alphabets that look alike");
    }
    if disguise::plain(name) != name.to_lowercase() {
        return refuse("the name holds characters that stand for others");
    }
    Ok(())
}

struct Texts {
    budget: usize,
}

impl Texts {
    // As deep as the definition is nested, which reading it has bounded.
    fn walk(&mut self, value: &Value, path: &mut Vec<String>) -> Verdict {
        match value {
            Value::String(text) => self.text(text, place(path), path),
            Value::Array(values) => values.iter().try_for_each(|value| self.walk(value, path)),
            Value::Object(members) => {
                for (key, value) in members {
                    // Names of properties are read too: they tell the model what to put there.
                    self.text(key, Place::Name, path)?;
                    path.push(key.clone());
                    self.walk(value, path)?;
                    path.pop();
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn text(&mut self, text: &str, place: Place, path: &[String]) -> Verdict {
        if text.len() < 4 {
            return Ok(());
        }
        if self.budget == 0 {
            return Err(Finding::new("tool", "the definition has too many texts to be read"));
        }
        self.budget -= 1;
        let finding = hidden::check(text).or_else(|| {
            // A name joined by underscores or hyphens is read as words.
            if place == Place::Name {
                intent::check(&text.replace(['_', '-', '.'], " "), place)
            } else {
                intent::check(text, place)
            }
        });
        let Some(mut finding) = finding else { return Ok(()) };
        finding.message =
            format!("{} (in {})", finding.message, if path.is_empty() { "a key".to_owned() } else { path.join(".") });
        Err(finding)
    }
}

fn place(path: &[String]) -> Place {
    match path {
        [] => Place::Name,
        [name] if name == "name" => Place::Name,
        [name] if name == "description" => Place::Description,
        [schema, ..] if schema == "inputSchema" && path.iter().any(|part| part == "properties") => Place::Parameter,
        _ => Place::Other,
    }
}
