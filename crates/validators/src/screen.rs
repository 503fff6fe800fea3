//! Messages, tool definitions and results: what is malformed, and what speaks to the model instead of describing.
//!
//! [`message`] refuses; [`tool`] and [`item`] hold what is certain for review and mark the rest; [`result`] only marks.
//! None of them drops anything, and none of them knows who sent it: trust is decided elsewhere.

mod compile;
mod disguise;
mod glance;
mod hidden;
mod intent;
mod orders;
mod regexes;
mod rpc;
mod schema;
mod tool;

use bytes::Bytes;
use switchboard_policy::secrets::{self, SecretMatch};
use switchboard_wire::{Limits, Object, Raw};

use crate::{Finding, Verdict};

pub use compile::compiles;
pub(crate) use tool::is_plain_text;
pub use tool::{Screening, item, tool};

/// How much of a message is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// RFC 8259 text in valid UTF-8.
    Json,
    /// One JSON-RPC 2.0 message as MCP and MGP use it.
    Rpc,
    /// The `inputSchema` of a tool.
    Schema,
}

impl Layer {
    /// Reads the name of a layer.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "json" => Self::Json,
            "rpc" => Self::Rpc,
            "schema" => Self::Schema,
            _ => return None,
        })
    }
}

/// Judges the bytes of a message, up to the layer.
///
/// # Errors
/// The bytes are malformed at that layer or at one below it.
pub fn message(bytes: impl Into<Bytes>, layer: Layer) -> Verdict {
    let bytes = bytes.into();
    let limits = Limits::default();
    match layer {
        Layer::Json => {
            Raw::parse(bytes, &limits).map(drop).map_err(|refusal| Finding::new("json", refusal.to_string()))
        }
        Layer::Rpc => rpc::check(bytes, &limits),
        Layer::Schema => {
            let raw = Raw::parse(bytes, &limits).map_err(|refusal| Finding::new("json", refusal.to_string()))?;
            schema::check(&raw)
        }
    }
}

/// Judges the `inputSchema` of a tool that is parsed already.
///
/// # Errors
/// The schema is not one that a client could use safely.
pub fn input_schema(schema: &Raw) -> Verdict {
    schema::check(schema)
}

/// What is striking about a result or another text for the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// Hidden characters and orders to the model.
    pub findings: Vec<Finding>,
    /// Keys and passwords, by where they stand.
    pub secrets: Vec<SecretMatch>,
}

impl Marks {
    /// Whether there is nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.secrets.is_empty()
    }
}

/// Marks what a result says to the model, what it hides, and the secrets in it.
#[must_use]
pub fn result(text: &str) -> Marks {
    let spoken = intent::check(text, intent::Place::Result, intent::Names::default()).map(|found| found.finding);
    let findings = [hidden::check(text), spoken].into_iter().flatten().collect();
    Marks { findings, secrets: secrets::find(text) }
}

/// Whether a text is worth marking: a look that takes a fraction of the time of [`result`], and misses what is said in
/// words that nobody thought of.
#[must_use]
pub fn is_striking(text: &str) -> bool {
    glance::is_striking(text)
}

/// The same for all strings in a JSON text, as it is written.
#[must_use]
pub fn is_striking_json(json: &str) -> bool {
    glance::is_striking_json(json)
}

/// Refuses a value in which an object, at any depth, has the same key twice: readers would disagree about it.
pub(crate) fn refuse_duplicates(raw: &Raw) -> Verdict {
    let mut waiting = vec![raw.clone()];
    while let Some(value) = waiting.pop() {
        match value.kind() {
            switchboard_wire::Kind::Object => {
                let object = Object::open(&value)
                    .map_err(|_| Finding::new("duplicate-key", "the same key stands twice in one object"))?;
                waiting.extend(object.iter().map(|(_, value)| value).filter(is_container));
            }
            switchboard_wire::Kind::Array => {
                waiting.extend(value.elements().into_iter().flatten().filter(is_container))
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_container(raw: &Raw) -> bool {
    matches!(raw.kind(), switchboard_wire::Kind::Object | switchboard_wire::Kind::Array)
}
