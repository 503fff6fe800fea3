//! A tool definition: every text in it, wherever it stands, is read as the model would read it.

use serde_json::Value;
use switchboard_wire::Raw;

use super::intent::{self, Demands, Found, Names, Place};
use super::orders::{self, Purpose};
use super::{disguise, hidden, refuse_duplicates, schema};
use crate::{Finding, Verdict};

/// The most texts of one definition that are read.
const MOST_TEXTS: usize = 20_000;
/// Bytes of texts of one definition that are read. Of some 3,000 public tools none has more than 64 KiB.
const MAX_BYTES: usize = 512 << 10;

/// Members of a schema that hold values: data, in which nobody speaks to a model.
const VALUES: [&str; 14] = [
    "default",
    "const",
    "enum",
    "example",
    "examples",
    "pattern",
    "format",
    "required",
    "$ref",
    "$id",
    "$anchor",
    "contentMediaType",
    "contentEncoding",
    "dependentRequired",
];
/// Members of a schema whose own members have names that the server chose.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Words that make an order of a name, and the fewest words of one.
const ORDERING: [&str; 7] = ["important", "always", "must", "ignore", "secretly", "immediately", "mandatory"];
const MIN_ORDER_WORDS: usize = 7;
/// Bytes up to which descriptions are joined.
const MAX_JOINED: usize = 2_000;

/// What screening says of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Screening {
    /// Nothing was found.
    Passed,
    /// Something that an honest definition may hold too: it is shown, and what was found is told beside it.
    Marked(Finding),
    /// Something that no honest definition holds, or something that could not be read: a person looks at it before a
    /// model does.
    Held(Finding),
}

impl Screening {
    /// What was found.
    #[must_use]
    pub const fn finding(&self) -> Option<&Finding> {
        match self {
            Self::Passed => None,
            Self::Marked(finding) | Self::Held(finding) => Some(finding),
        }
    }

    /// Whether a person has to look at it first.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        matches!(self, Self::Held(_))
    }

    /// The word that `switchboard check tool` answers with.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Passed => "allow",
            Self::Marked(_) => "mark",
            Self::Held(_) => "block",
        }
    }
}

/// Screens the definition of a tool.
#[must_use]
pub fn tool(definition: &Raw) -> Screening {
    screen(definition, check_name)
}

/// Screens what else a server tells a model of itself: a prompt, a resource, its instructions, as an object with a
/// `name` and a `description`. The name may be a title, an address or a sentence.
#[must_use]
pub fn item(definition: &Raw) -> Screening {
    screen(definition, |_| Ok(()))
}

/// Whether screening has nothing against words that stand alone.
pub(crate) fn is_plain_text(text: &str) -> bool {
    let told = serde_json::json!({"name": "values", "description": text});
    Raw::from_value(&told).is_ok_and(|told| item(&told) == Screening::Passed)
}

fn screen(definition: &Raw, check_name: fn(&str) -> Verdict) -> Screening {
    let value = match read(definition) {
        Ok(value) => value,
        Err(finding) => return Screening::Held(finding),
    };
    let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
    if let Err(finding) = check_name(name) {
        return Screening::Held(finding);
    }
    let properties = property_names(&value);
    let description = value.get("description").and_then(Value::as_str).unwrap_or_default();
    let names = intent::names(name, &properties, description);
    let purpose = Purpose::new(name, description, &properties);
    let mut definition = Definition::default();
    let mut texts = Texts::default();
    let walked = texts.walk(&value, &mut Vec::new(), false, &mut |text, spot, path| {
        definition.add(text, spot, path, names, &purpose);
        // What is held is not read to its end.
        if definition.held.is_some() { Err(Finding::new("tool", "held")) } else { Ok(()) }
    });
    if walked.is_ok() {
        definition.add_joined(names, &purpose);
    }
    match (definition.held, definition.marked, walked) {
        (Some(finding), ..) => Screening::Held(finding),
        (None, _, Err(finding)) => Screening::Held(finding),
        (None, Some(finding), Ok(())) => Screening::Marked(finding),
        (None, None, Ok(())) => Screening::Passed,
    }
}

fn read(definition: &Raw) -> Result<Value, Finding> {
    refuse_duplicates(definition)?;
    let value: Value =
        definition.view().map_err(|error| Finding::new("tool", format!("the definition cannot be read: {error}")))?;
    if !value.is_object() {
        return Err(Finding::new("tool", "the definition is no object"));
    }
    // Whoever reads a schema that refers to itself and nothing else reads on for ever.
    for schema in ["inputSchema", "outputSchema"] {
        value.get(schema).map_or(Ok(()), schema::comes_to_an_end).map_err(|finding| finding.inside(schema))?;
    }
    Ok(value)
}

/// What was found in a definition so far.
#[derive(Default)]
struct Definition {
    held: Option<Finding>,
    marked: Option<Finding>,
    demands: Demands,
    /// Descriptions that follow one another, and how many each has of them.
    joined: Vec<(String, usize)>,
}

impl Definition {
    fn add(&mut self, text: &str, spot: Spot, path: &[String], names: Names<'_>, purpose: &Purpose) {
        let Spot { place, value } = spot;
        let hidden = hidden::check(text).map(|finding| Found {
            finding,
            certain: !hidden::is_stray(text),
            demands: Demands::default(),
        });
        let spoken = if place == Place::Name {
            intent::check(&words(text), place, names)
        } else if value {
            intent::check_value(text, place, names)
        } else {
            intent::check(text, place, names)
        };
        let property = place == Place::Name && path.last().is_some_and(|parent| parent == "properties");
        let reached = intent::reach(text, place, property, names);
        let ordered = orders::check(text, place, value, purpose);
        let place = if path.is_empty() { "a key".to_owned() } else { path.join(".") };
        for found in [hidden, spoken, reached, ordered].into_iter().flatten() {
            self.found(found, &place);
        }
        if !value && path.last().is_some_and(|member| member == "description") {
            self.join(text);
        }
    }

    fn found(&mut self, found: Found, place: &str) {
        let Found { finding, certain, demands } = found;
        self.demands = self.demands.and(demands);
        let certain = certain || self.demands.are_certain();
        let slot = if certain { &mut self.held } else { &mut self.marked };
        slot.get_or_insert_with(|| finding.inside(place));
    }

    /// Keeps a description that goes on where the one before it broke off.
    fn join(&mut self, text: &str) {
        let text = text.trim();
        let open = |text: &str| !text.ends_with(['.', '!', '?', ':', ')', '"', '\'', '`', '。']);
        let goes_on = text.starts_with(|c: char| c.is_lowercase() || matches!(c, '~' | '/' | '.' | '$'));
        match self.joined.last_mut() {
            Some((last, pieces)) if open(last) && goes_on && last.len() < MAX_JOINED => {
                last.push(' ');
                last.push_str(text);
                *pieces += 1;
            }
            _ => self.joined.push((text.to_owned(), 1)),
        }
    }

    /// Reads what stands in several descriptions as the one sentence that it may be. What is in pieces is held only
    /// with an order that is certain.
    fn add_joined(&mut self, names: Names<'_>, purpose: &Purpose) {
        for (text, _) in std::mem::take(&mut self.joined).into_iter().filter(|(_, pieces)| *pieces > 1) {
            let found = [
                orders::check(&text, Place::Parameter, false, purpose),
                intent::reach(&text, Place::Parameter, false, names),
            ];
            for found in found.into_iter().flatten().filter(|found| found.certain) {
                self.found(found, "several descriptions");
            }
        }
    }
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
    let mut texts = Texts::default();
    let all = texts.walk(definition, &mut Vec::new(), false, &mut |text, Spot { place, .. }, _| {
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
    let parts = || name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    if parts().count() >= MIN_ORDER_WORDS && parts().any(|part| ORDERING.contains(&part.to_lowercase().as_str())) {
        return refuse("the name is an order");
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
    bytes: usize,
}

impl Default for Texts {
    fn default() -> Self {
        Self { budget: MOST_TEXTS, bytes: MAX_BYTES }
    }
}

/// What is done with a text, given where it stands.
type Visit<'a> = dyn FnMut(&str, Spot, &[String]) -> Verdict + 'a;

/// Where a text stands, and whether it is data there.
#[derive(Debug, Clone, Copy)]
struct Spot {
    place: Place,
    value: bool,
}

impl Texts {
    // As deep as the definition is nested, which reading it has bounded.
    fn walk(&mut self, value: &Value, path: &mut Vec<String>, data: bool, visit: &mut Visit<'_>) -> Verdict {
        match value {
            Value::String(text) => self.text(text, Spot { place: place(path), value: data }, path, visit),
            Value::Array(values) => values.iter().try_for_each(|value| self.walk(value, path, data, visit)),
            Value::Object(members) => {
                let named = path.last().is_some_and(|parent| NAMED.contains(&parent.as_str()));
                for (key, value) in members {
                    // Names of properties are read too: they tell the model what to put there.
                    self.text(key, Spot { place: Place::Name, value: false }, path, visit)?;
                    let data = data || !named && VALUES.contains(&key.as_str());
                    path.push(key.clone());
                    self.walk(value, path, data, visit)?;
                    path.pop();
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn text(&mut self, text: &str, spot: Spot, path: &[String], visit: &mut Visit<'_>) -> Verdict {
        if text.len() < 4 {
            return Ok(());
        }
        if self.budget == 0 {
            return Err(Finding::new("tool", "the definition has too many texts to be read"));
        }
        if text.len() > intent::MAX_TEXT_BYTES || text.len() > self.bytes {
            return Err(Finding::new("tool", "the definition has a text that is too long to be read"));
        }
        self.budget -= 1;
        self.bytes -= text.len();
        let is_text = spot.place == Place::Title && !is_label(text);
        let place = if is_text { Place::Other } else { spot.place };
        visit(text, Spot { place, ..spot }, path)
    }
}

/// Whether a title is a few words without an end of a sentence between them.
fn is_label(text: &str) -> bool {
    text.split_whitespace().count() <= intent::MAX_TITLE_WORDS
        && !text.trim_end().contains(". ")
        && !text.contains('\n')
}

fn place(path: &[String]) -> Place {
    match path {
        [] => Place::Name,
        [name] if name == "name" => Place::Name,
        [name] if name == "description" => Place::Description,
        [.., title] if title == "title" => Place::Title,
        [schema, ..] if schema == "inputSchema" && path.iter().any(|part| part == "properties") => Place::Parameter,
        _ => Place::Other,
    }
}
