//! Definitions in the forms that clients of each era accept.

use switchboard_gate::results::MARKS;
use switchboard_protocol::Era;
use switchboard_protocol::mcp::app::with_resource;
use switchboard_protocol::mcp::strict::{self, Item};
use switchboard_validators::screen;
use switchboard_wire::{Edit, Raw};

use super::ListKind;

const OUTPUT_SCHEMA: &str = "outputSchema";

/// One definition, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Forms {
    /// For modern clients.
    pub(super) modern: Raw,
    /// For legacy clients, where they get another one.
    pub(super) legacy: Legacy,
    /// What was mended for everybody.
    pub(super) mended: Vec<String>,
    /// What is different for legacy clients alone.
    pub(super) legacy_only: Vec<String>,
}

/// A definition for legacy clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Legacy {
    /// The same.
    Same,
    /// What their era knows of it.
    Other(Raw),
    /// None, because they would refuse the whole list with it.
    Unfit(String),
}

impl Forms {
    /// The forms of a definition.
    ///
    /// # Errors
    /// Why no client can be shown it.
    pub(super) fn of(kind: ListKind, definition: &Raw) -> Result<Self, String> {
        let item = match kind {
            ListKind::Tools => Item::Tool,
            ListKind::Prompts => Item::Prompt,
            ListKind::Resources => Item::Resource,
            ListKind::Templates => Item::Template,
        };
        let mut modern = strict::item(item, definition, Era::Modern).map_err(|unfit| unfit.to_string())?;
        let compiled = modern.raw.member(OUTPUT_SCHEMA).filter(|_| kind == ListKind::Tools);
        let unusable = compiled.as_ref().and_then(|schema| screen::compiles(schema).err());
        if let Some(why) = &unusable {
            modern.raw = without_output_schema(&modern.raw);
            modern.mended.push(format!("`{OUTPUT_SCHEMA}` cannot be compiled: {}", why.message));
        }
        let mut legacy_only = Vec::new();
        let legacy = match strict::item(item, definition, Era::Legacy) {
            Err(unfit) => Legacy::Unfit(unfit.to_string()),
            Ok(mut fit) => {
                let schema = fit.raw.member(OUTPUT_SCHEMA).filter(|_| kind == ListKind::Tools);
                // It is compiled once where it is the same for both.
                let verdict = match schema {
                    Some(schema) if Some(&schema) == compiled.as_ref() => unusable,
                    Some(schema) => screen::compiles(&schema).err(),
                    None => None,
                };
                if let Some(why) = verdict {
                    fit.raw = without_output_schema(&fit.raw);
                    fit.mended.push(format!("`{OUTPUT_SCHEMA}` cannot be compiled: {}", why.message));
                }
                legacy_only.extend(fit.mended.into_iter().filter(|note| !modern.mended.contains(note)));
                if fit.raw == modern.raw { Legacy::Same } else { Legacy::Other(fit.raw) }
            }
        };
        Ok(Self { modern: modern.raw, legacy, mended: modern.mended, legacy_only })
    }

    /// The same with another value under a key: the name or address that clients know it by.
    pub(super) fn with(self, key: &str, value: &str) -> Self {
        let set =
            |raw: &Raw| Edit::of(raw).map_or_else(|_| raw.clone(), |edit| edit.set(key, Raw::string(value)).finish());
        let legacy = match &self.legacy {
            Legacy::Other(raw) => Legacy::Other(set(raw)),
            other => other.clone(),
        };
        Self { modern: set(&self.modern), legacy, ..self }
    }

    /// The same with what was found in it told in `_meta`.
    pub(super) fn with_mark(self, marks: &Raw) -> Self {
        let set = |raw: &Raw| {
            let marked = Edit::of(raw).and_then(|edit| edit.within("_meta", |meta| meta.set(MARKS, marks.clone())));
            marked.map_or_else(|_| raw.clone(), Edit::finish)
        };
        let legacy = match &self.legacy {
            Legacy::Other(raw) => Legacy::Other(set(raw)),
            other => other.clone(),
        };
        Self { modern: set(&self.modern), legacy, ..self }
    }

    /// The same with another address of its page.
    pub(super) fn with_page(self, uri: &str) -> Self {
        let legacy = match &self.legacy {
            Legacy::Other(raw) => Legacy::Other(with_resource(raw, uri)),
            other => other.clone(),
        };
        Self { modern: with_resource(&self.modern, uri), legacy, ..self }
    }

    /// The form for a client, if it can be shown one.
    pub(super) const fn for_client(&self, is_legacy: bool) -> Option<&Raw> {
        match (&self.legacy, is_legacy) {
            (_, false) | (Legacy::Same, true) => Some(&self.modern),
            (Legacy::Other(raw), true) => Some(raw),
            (Legacy::Unfit(_), true) => None,
        }
    }
}

/// A tool that does not say what it gives. SDKs of both eras compile that schema when they read the list or the first
/// result, and would lose either with one that cannot be compiled.
fn without_output_schema(tool: &Raw) -> Raw {
    Edit::of(tool).map_or_else(|_| tool.clone(), |edit| edit.remove(OUTPUT_SCHEMA).finish())
}
