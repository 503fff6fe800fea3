//! A tool definition: every text in it, wherever it stands, is read as the model would read it.

use serde_json::Value;
use switchboard_wire::Raw;

use super::intent::{self, Names, Place};
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
    let properties = property_names(&value);
    let description = members.get("description").and_then(Value::as_str).unwrap_or_default();
    let names = Names { tool: name, properties: &properties, domain: intent::domain(name, &properties, description) };
    let mut texts = Texts { budget: MOST_TEXTS };
    texts.walk(&value, &mut Vec::new(), &mut |text, place, path| judge(text, place, path, names))
}

/// The names of the properties in a definition, at any depth, in lower case.
pub(super) fn property_names(value: &Value) -> Vec<String> {
    let mut names = Vec::new();
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(members) => {
                if let Some(Value::Object(properties)) = members.get("properties") {
                    names.extend(
                        properties
                            .keys()
                            .take(MOST_TEXTS - names.len().min(MOST_TEXTS))
                            .map(|name| name.to_lowercase()),
                    );
                }
                waiting.extend(members.values());
            }
            Value::Array(values) => waiting.extend(values),
            _ => {}
        }
    }
    names
}

/// Every text of a definition that a model reads, with where it stands.
#[cfg(test)]
pub(super) fn texts(definition: &Value) -> Vec<(String, Place)> {
    let mut found = Vec::new();
    let mut texts = Texts { budget: MOST_TEXTS };
    let all = texts.walk(definition, &mut Vec::new(), &mut |text, place, _| {
        found.push((if place == Place::Name { words(text) } else { text.to_owned() }, place));
        Ok(())
    });
    assert_eq!(all, Ok(()));
    found
}

/// A name joined by underscores or hyphens, as words.
fn words(name: &str) -> String {
    name.replace(['_', '-', '.'], " ")
}

fn judge(text: &str, place: Place, path: &[String], names: Names<'_>) -> Verdict {
    let finding = hidden::check(text).or_else(|| {
        if place == Place::Name { intent::check(&words(text), place, names) } else { intent::check(text, place, names) }
    });
    let Some(mut finding) = finding else { return Ok(()) };
    finding.message =
        format!("{} (in {})", finding.message, if path.is_empty() { "a key".to_owned() } else { path.join(".") });
    Err(finding)
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

/// What is done with a text, given where it stands.
type Visit<'a> = dyn FnMut(&str, Place, &[String]) -> Verdict + 'a;

impl Texts {
    // As deep as the definition is nested, which reading it has bounded.
    fn walk(&mut self, value: &Value, path: &mut Vec<String>, visit: &mut Visit<'_>) -> Verdict {
        match value {
            Value::String(text) => self.text(text, place(path), path, visit),
            Value::Array(values) => values.iter().try_for_each(|value| self.walk(value, path, visit)),
            Value::Object(members) => {
                for (key, value) in members {
                    // Names of properties are read too: they tell the model what to put there.
                    self.text(key, Place::Name, path, visit)?;
                    path.push(key.clone());
                    self.walk(value, path, visit)?;
                    path.pop();
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn text(&mut self, text: &str, place: Place, path: &[String], visit: &mut Visit<'_>) -> Verdict {
        if text.len() < 4 {
            return Ok(());
        }
        if self.budget == 0 {
            return Err(Finding::new("tool", "the definition has too many texts to be read"));
        }
        self.budget -= 1;
        visit(text, place, path)
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
