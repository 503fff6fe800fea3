//! Pins: a definition is remembered as it was first seen, and held back when it comes to mean something else.
//!
//! What a person or a model relied on is the definition: name, title, description, schemas, annotations and what it
//! says of its security. When it comes to mean something else (`judge.rs`, by the policy of its server), or when a new one
//! certainly gives orders to the model, the tool is neither listed nor called until a person has seen the difference and
//! accepted it; what an honest tool may say too is shown with a mark. Several definitions of one tool can be accepted
//! side by side. Prompts, resources, templates and a server's instructions are remembered in the same way. What else a
//! definition carries may change, and is screened whenever it is seen (`inspect/extras.rs`). Here is what is remembered; what is
//! done with it is in `inspect.rs`.

pub(crate) mod judge;
pub(crate) mod shown;
pub(crate) mod versions;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use judge::{Judgement, Known};
use parking_lot::Mutex;
pub(crate) use shown::definition_hash;
pub use shown::{pin_name, screen_definition};
use switchboard_store::Digest;

/// What is remembered without a store, and what was found out before.
#[derive(Default)]
pub(crate) struct Pins {
    pub(crate) known: Mutex<HashMap<(Arc<str>, String), PinRecord>>,
    /// What screening had nothing against, by kind and text: lists are looked at again and again, and hardly change.
    pub(crate) passed: Mutex<HashSet<Digest>>,
    /// Judgements by all that they depend on: while something is held back it is looked at every few seconds.
    pub(crate) judged: Mutex<HashMap<Digest, Judgement>>,
}

/// What is remembered of one definition.
#[derive(Clone)]
pub(crate) struct PinRecord {
    pub(crate) accepted: Option<Arc<Known>>,
    pub(crate) shown: Digest,
}

/// The command that shows a definition to a person and accepts it; without a name, all that is held of a server.
pub fn accept_command(server: &str, name: Option<&str>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '@' | '+' | ',');
    match name {
        Some(name) if !name.is_empty() && name.chars().all(plain) => format!("switchboard pins accept {server} {name}"),
        Some(name) if !name.contains(['\'', '\\']) && !name.contains(char::is_control) => {
            format!("switchboard pins accept {server} '{name}'")
        }
        _ => format!("switchboard pins accept {server}"),
    }
}
