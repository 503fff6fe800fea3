//! Definitions in the forms that clients of each era accept.

use switchboard_guard::schema;
use switchboard_protocol::Era;
use switchboard_protocol::mcp::strict::{self, Item};
use switchboard_wire::{Edit, Raw};

use super::ListKind;

/// One definition, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Forms {
    /// For modern clients.
    pub(super) modern: Raw,
    /// For legacy clients, where they get another one.
    pub(super) legacy: Legacy,
    /// What was mended for everybody.
    pub(super) mended: Vec<String>,
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
        let modern = strict::item(item, definition, Era::Modern).map_err(|unfit| unfit.to_string())?;
        let legacy = match strict::item(item, definition, Era::Legacy) {
            Err(unfit) => Legacy::Unfit(unfit.to_string()),
            Ok(fit) => {
                let raw = match kind {
                    ListKind::Tools => {
                        strict::legacy_output_schema(&fit.raw, |schema| schema::compiles(schema).is_ok())
                    }
                    _ => None,
                };
                let raw = raw.unwrap_or(fit.raw);
                if raw == modern.raw { Legacy::Same } else { Legacy::Other(raw) }
            }
        };
        Ok(Self { modern: modern.raw, legacy, mended: modern.mended })
    }

    /// The same with another value under a key: the name or address that clients know it by.
    pub(super) fn with(self, key: &str, value: &str) -> Self {
        let set =
            |raw: &Raw| Edit::of(raw).map_or_else(|_| raw.clone(), |edit| edit.set(key, Raw::string(value)).finish());
        let legacy = match &self.legacy {
            Legacy::Other(raw) => Legacy::Other(set(raw)),
            other => other.clone(),
        };
        Self { modern: set(&self.modern), legacy, mended: self.mended }
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
