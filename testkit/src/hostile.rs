//! A program that tries to get out of its confinement, one attempt for each run, and says on standard output how far
//! it came.
//!
//! It is plain about what it finds: the text of a file it should not read, the number of processes it started. Whether
//! that is an escape is judged outside, by somebody who sees the file, the socket or the process that was aimed at. It
//! shares no code with what confines it.

mod attempts;
mod raw;

use serde_json::{Value, json};

pub use attempts::NAMES;

/// What the attempts aim at. All of it is made by the test, outside of what the program may use.
#[derive(Debug, Clone, Default)]
pub struct Aims(Value);

impl Aims {
    /// Reads the aims from the JSON text of an object.
    ///
    /// # Errors
    /// The text is no JSON.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map(Self).map_err(|error| error.to_string())
    }

    fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn number(&self, name: &str) -> usize {
        self.0.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok()).unwrap_or_default()
    }
}

/// Makes one attempt. The answer says what came of it: `got` with what was reached, or `held` with the reason.
#[must_use]
pub fn run(name: &str, aims: &Aims) -> Value {
    match attempts::attempt(name, aims) {
        Ok(got) => json!({ "attempt": name, "got": got }),
        Err(why) => json!({ "attempt": name, "held": why }),
    }
}
