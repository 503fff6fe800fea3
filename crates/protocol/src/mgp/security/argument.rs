//! What a schema says of the arguments of a tool, as far as it tells what they are for.

use switchboard_wire::{Kind, Object, Raw};

/// Arguments of one tool that are read, those within others included.
const MAX_ARGUMENTS: usize = 256;
/// How deep a schema is followed.
const DEEPEST: usize = 12;
/// Characters of title and description that are kept.
const MOST_CHARS: usize = 240;
/// Lines of a description that are looked at.
const MOST_LINES: usize = 400;
/// Words of a closed list that are kept.
const MOST_WORDS: usize = 64;

/// One argument, or a member within one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its title and the beginning of its description.
    pub says: String,
    /// The words it may be, where the schema lists them.
    pub words: Vec<String>,
    /// Whether it cannot be free text: a number, a yes or no, one of a list.
    pub closed: bool,
}

impl Argument {
    /// The arguments that a schema names, at any depth, each as often as it is written.
    #[must_use]
    pub fn of_schema(schema: &Raw) -> Vec<Self> {
        let mut found = Vec::new();
        collect(schema, 0, &mut found);
        found
    }

    /// Adds what the description of the tool says of arguments that the schema says nothing of, as libraries for Python do:
    /// a line each that begins with the name and a colon.
    pub(super) fn described(arguments: &mut [Self], description: &str) {
        let lines = description.lines().take(MOST_LINES).filter_map(|line| {
            let line = line.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
            let (key, says) = line.split_once(':')?;
            // `name (str, optional)`, `name`: and the like.
            let key = key.split(['(', ' ', '`', '*', '"']).next().unwrap_or_default();
            Some((key, says.trim())).filter(|(key, _)| !key.is_empty())
        });
        for (key, says) in lines {
            for argument in
                arguments.iter_mut().filter(|argument| argument.name == key && !argument.says.contains('\n'))
            {
                let said = format!("{}\n{says}", argument.says);
                argument.says = said.chars().take(MOST_CHARS).collect();
            }
        }
    }

    fn of(name: &str, schema: &Raw) -> Self {
        let text = |key: &str| schema.member(key).and_then(|text| text.as_text()).unwrap_or_default();
        let (title, description) = (text("title"), text("description").replace('\n', " "));
        let says = if description.is_empty() { title } else { format!("{title}\n{description}") };
        let words = words(schema, 0);
        Self {
            name: name.to_owned(),
            // One line of each: whether there is a second tells whether there is a description.
            says: says.trim_end().chars().take(MOST_CHARS).collect(),
            closed: !words.is_empty() || is_closed(schema, 0),
            words,
        }
    }
}

fn collect(schema: &Raw, depth: usize, found: &mut Vec<Argument>) {
    if depth > DEEPEST || found.len() >= MAX_ARGUMENTS {
        return;
    }
    if let Some(elements) = schema.elements() {
        for element in elements {
            collect(&element, depth + 1, found);
        }
        return;
    }
    let Ok(object) = Object::open(schema) else { return };
    for (key, value) in object.iter() {
        match key.as_ref() {
            "properties" => {
                let Ok(properties) = Object::open(&value) else { continue };
                for (name, schema) in properties.iter() {
                    if found.len() < MAX_ARGUMENTS {
                        found.push(Argument::of(&name, &schema));
                    }
                    collect(&schema, depth + 1, found);
                }
            }
            "$defs" | "definitions" => {
                let Ok(shared) = Object::open(&value) else { continue };
                for (_, schema) in shared.iter() {
                    collect(&schema, depth + 1, found);
                }
            }
            "items" | "prefixItems" | "anyOf" | "oneOf" | "allOf" | "additionalProperties" | "then" | "else" => {
                collect(&value, depth + 1, found);
            }
            _ => {}
        }
    }
}

/// The words of a list, also of one that stands in the elements or in alternatives.
fn words(schema: &Raw, depth: usize) -> Vec<String> {
    if depth > 3 {
        return Vec::new();
    }
    let listed = schema.member("enum").and_then(|list| list.elements()).or_else(|| Some(vec![schema.member("const")?]));
    if let Some(listed) = listed {
        return listed.iter().filter_map(Raw::as_text).take(MOST_WORDS).collect();
    }
    if let Some(items) = schema.member("items") {
        return words(&items, depth + 1);
    }
    let mut all = Vec::new();
    for part in ["anyOf", "oneOf"].iter().filter_map(|key| schema.member(key)?.elements()).flatten() {
        let said = words(&part, depth + 1);
        // One alternative that is open leaves all of it open.
        if said.is_empty() && !is_closed(&part, depth + 1) {
            return Vec::new();
        }
        all.extend(said);
    }
    all.truncate(MOST_WORDS);
    all
}

fn is_closed(schema: &Raw, depth: usize) -> bool {
    if depth > 3 {
        return false;
    }
    let is_plain = |word: &str| matches!(word, "number" | "integer" | "boolean" | "null");
    if let Some(written) = schema.member("type") {
        return match written.kind() {
            Kind::Array => written.elements().unwrap_or_default().iter().all(|word| is(word, is_plain)),
            _ if is(&written, |word| word == "array") => {
                schema.member("items").is_some_and(|items| is_closed(&items, depth + 1))
            }
            _ => is(&written, is_plain),
        };
    }
    let mut parts = ["anyOf", "oneOf"].iter().filter_map(|key| schema.member(key)?.elements()).flatten().peekable();
    parts.peek().is_some() && parts.all(|part| !words(&part, depth + 1).is_empty() || is_closed(&part, depth + 1))
}

fn is(word: &Raw, test: impl Fn(&str) -> bool) -> bool {
    word.as_text().is_some_and(|word| test(&word))
}
