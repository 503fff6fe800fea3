//! The instructions that a server had when it was last seen, for a client that says hello before it is up again.
//!
//! They are what pins remember of it. What waits for a person, was refused, or would not pass screening as it is today is not
//! given to anybody.

use std::time::Duration;

use serde_json::Value;
use switchboard_store::{Pin, PinState};
use switchboard_upstream::{INSTRUCTIONS, Server};
use switchboard_validators::screen::Screening;

use super::{remembering, screening};
use crate::Gate;
use crate::pins::shown::Shown;

/// How long a greeting waits for the store.
const STORE_WAIT: Duration = Duration::from_millis(500);

/// The instructions of a server as it was last seen, where nobody objects to them.
pub async fn remembered_instructions(gate: &Gate<'_>, server: &Server) -> Option<String> {
    let store = remembering(gate)?;
    let asking = store.pins().list(Some(server.id()));
    let pins = tokio::time::timeout(STORE_WAIT, asking).await.ok()?.ok()?;
    let text = pins.iter().find(|pin| pin.tool == INSTRUCTIONS).and_then(text_of)?;
    let passes = !matches!(screening(gate, server, &Shown::of_instructions(&text)), Screening::Held(_));
    passes.then_some(text)
}

/// The text that a server showed last, unless that is held back.
fn text_of(pin: &Pin) -> Option<String> {
    if pin.state == PinState::Quarantined {
        return None;
    }
    let shown: Value = serde_json::from_str(pin.shown.get()).ok()?;
    shown.get("text")?.as_str().map(str::to_owned)
}
