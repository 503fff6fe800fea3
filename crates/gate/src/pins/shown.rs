//! What a server shows to people and models, in the form in which it is remembered: under which name, which members
//! count, and what of it is screened.

use std::collections::HashSet;

use switchboard_protocol::mgp::EXTENSION_ID;
use switchboard_store::Digest;
use switchboard_validators::screen::{self, Screening};
use switchboard_wire::{Edit, Object, Raw};

use crate::canonical;
use switchboard_upstream::INSTRUCTIONS;
use switchboard_upstream::names;
use switchboard_upstream::{ListKind, Lists};
/// The members of a tool that count.
const OF_TOOL: [&str; 14] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "input_schema",
    "outputSchema",
    "annotations",
    "security",
    "risk_level",
    "requires_confirmation",
    "confirmation_message",
    "cost",
    "required_scopes",
    "execution",
];
/// What counts of a definition's `_meta`: what is said there of security. The rest may change with every answer, and is
/// screened whenever it is seen.
pub(crate) const COUNTED_META: [&str; 8] = [
    "security",
    "risk_level",
    "requires_confirmation",
    "confirmation_message",
    "cost",
    "required_scopes",
    "mgp",
    EXTENSION_ID,
];
const OF_PROMPT: [&str; 4] = ["name", "title", "description", "arguments"];
/// Size and time of change are part of what a resource is at the moment, and not of what it is.
const OF_RESOURCE: [&str; 5] = ["uri", "name", "title", "description", "mimeType"];
const OF_TEMPLATE: [&str; 5] = ["uriTemplate", "name", "title", "description", "mimeType"];

/// The members of an element of a list that count.
pub(crate) const fn counted_of(kind: ListKind) -> &'static [&'static str] {
    match kind {
        ListKind::Tools => &OF_TOOL,
        ListKind::Prompts => &OF_PROMPT,
        ListKind::Resources => &OF_RESOURCE,
        ListKind::Templates => &OF_TEMPLATE,
    }
}

/// The name under which something of a list is remembered. No tool has a name with a colon.
#[must_use]
pub fn pin_name(kind: ListKind, name: &str) -> String {
    match prefix(kind) {
        Some(prefix) => format!("{prefix}{name}"),
        None => name.to_owned(),
    }
}

/// A definition, remembered under `name`, as what a tool says of itself: in this form it is screened.
#[must_use]
pub(crate) fn told_to_model(name: &str, definition: &Raw) -> Raw {
    let Ok(object) = Object::open(definition) else { return definition.clone() };
    let text = match kind_of(name) {
        ListKind::Tools if name != INSTRUCTIONS => return definition.clone(),
        ListKind::Tools => object.text("text").unwrap_or_default(),
        _ => {
            let own = ["title", "description"].into_iter().filter_map(|key| object.text(key));
            let arguments = object.get("arguments").and_then(|list| list.elements()).unwrap_or_default();
            let of_arguments = arguments.iter().filter_map(|argument| argument.member("description")?.as_text());
            own.chain(of_arguments).collect::<Vec<_>>().join("\n")
        }
    };
    let called = object.text("name").unwrap_or_else(|| name.trim_matches(['(', ')']).to_owned());
    Edit::empty().set("name", Raw::string(&called)).set("description", Raw::string(&text)).finish()
}

/// Screens a definition that is remembered under `name`, as the gate does.
#[must_use]
pub fn screen_definition(name: &str, definition: &Raw) -> Screening {
    screen_told(name, &told_to_model(name, definition))
}

/// The same for a definition in the form of [`told_to_model`].
pub(crate) fn screen_told(name: &str, told: &Raw) -> Screening {
    if kind_of(name) == ListKind::Tools && name != INSTRUCTIONS { screen::tool(told) } else { screen::item(told) }
}

/// Of which kind the thing is that is remembered under this name.
pub(crate) fn kind_of(name: &str) -> ListKind {
    let has = |kind: &ListKind| prefix(*kind).is_some_and(|prefix| name.starts_with(prefix));
    ListKind::ALL.into_iter().find(has).unwrap_or(ListKind::Tools)
}

const fn prefix(kind: ListKind) -> Option<&'static str> {
    match kind {
        ListKind::Tools => None,
        ListKind::Prompts => Some("prompt:"),
        ListKind::Resources => Some("resource:"),
        ListKind::Templates => Some("template:"),
    }
}

/// The hash of the definition of a tool or a prompt, as it is pinned.
pub(crate) fn definition_hash(kind: ListKind, definition: &Raw) -> Option<Digest> {
    let shown = match kind {
        ListKind::Tools => Shown::of_tool(definition),
        kind => Shown::of_item(kind, "name", counted_of(kind), definition),
    };
    shown.map(|shown| shown.hash)
}

/// One definition.
pub(crate) struct Shown {
    pub(crate) name: String,
    pub(crate) definition: String,
    pub(crate) hash: Digest,
    /// What is screened.
    pub(crate) raw: Raw,
}

/// Everything that a server shows.
pub(crate) fn shown_by(lists: &Lists, instructions: Option<&str>) -> Vec<Shown> {
    let mut shown: Vec<Shown> = lists.tools.items.iter().filter_map(Shown::of_tool).collect();
    let of = |kind, key, counted| move |item: &Raw| Shown::of_item(kind, key, counted, item);
    shown.extend(lists.prompts.items.iter().filter_map(of(ListKind::Prompts, "name", &OF_PROMPT[..])));
    shown.extend(lists.templates.items.iter().filter_map(of(ListKind::Templates, "uriTemplate", &OF_TEMPLATE[..])));
    // Of two resources at one address only the first is ever shown.
    let mut seen = HashSet::new();
    let resources = lists.resources.items.iter().filter_map(of(ListKind::Resources, "uri", &OF_RESOURCE[..]));
    shown.extend(resources.filter(|shown| seen.insert(shown.name.clone())));
    if let Some(text) = instructions {
        shown.push(Shown::of_instructions(text));
    }
    shown
}

impl Shown {
    fn new(name: String, counted: &Raw, raw: Raw) -> Self {
        // A definition in which a member stands twice is compared as it was written.
        let definition = canonical::text(counted).unwrap_or_else(|_| counted.as_str().to_owned());
        Self { name, hash: Digest::of(definition.as_bytes()), definition, raw }
    }

    fn of_tool(tool: &Raw) -> Option<Self> {
        let object = Object::open(tool).ok()?;
        // A name that is not accepted is never shown.
        let name = object.text("name").filter(|name| names::check(name).is_ok())?;
        let counted = OF_TOOL.into_iter().fold(Edit::empty(), |edit, key| edit.set_optional(key, object.get(key)));
        let meta = object.get("_meta").map(|meta| match Object::open(&meta) {
            Ok(meta) => {
                let counted = |edit: Edit, key| edit.set_optional(key, meta.get(key));
                COUNTED_META.into_iter().fold(Edit::empty(), counted).finish()
            }
            Err(_) => meta,
        });
        let counted = counted.set_optional("_meta", meta.filter(|meta| meta.as_str() != "{}")).finish();
        Some(Self::new(name, &counted, tool.clone()))
    }

    fn of_item(kind: ListKind, key: &str, counted: &[&str], item: &Raw) -> Option<Self> {
        let object = Object::open(item).ok()?;
        let name = pin_name(kind, &object.text(key)?);
        let counted = counted.iter().fold(Edit::empty(), |edit, key| edit.set_optional(key, object.get(key))).finish();
        let raw = told_to_model(&name, &counted);
        Some(Self::new(name, &counted, raw))
    }

    /// A text that comes with a definition, in the form in which it is screened.
    pub(crate) fn of_text(pin: &str, name: &str, text: &str) -> Self {
        let raw = Edit::empty().set("name", Raw::string(name)).set("description", Raw::string(text)).finish();
        Self::new(pin.to_owned(), &raw, raw.clone())
    }

    /// The instructions of a server.
    pub(crate) fn of_instructions(text: &str) -> Self {
        let counted = Edit::empty().set("text", Raw::string(text)).finish();
        let raw = told_to_model(INSTRUCTIONS, &counted);
        Self::new(INSTRUCTIONS.to_owned(), &counted, raw)
    }
}
