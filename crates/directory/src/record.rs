//! What is put on record when the tools that are shown change: a risk that was not believed, a definition that clients would
//! refuse, a name that two want. Each of it is told once, however often lists are put together.

use serde_json::Value;
use switchboard_gate::GateState;
use switchboard_gate::audit::{self, event, result};

use crate::Directory;

/// Puts on record what is striking about the tools of a directory.
pub fn put_on_record(gate: &GateState, directory: &Directory) {
    for (server, _, route) in directory.tools() {
        let Some(policy) = route.policy.as_deref().filter(|policy| policy.assessment.overridden) else { continue };
        let (said, holds) = (policy.security.risk, policy.assessment.risk);
        let event = audit::event_of(event::RISK_LEVEL_OVERRIDE, audit::kernel(), result::SUCCESS);
        let event = audit::about(event, server, Some(&route.original));
        let event = audit::with(event, "declared_risk", said.map_or(Value::Null, |risk| risk.as_str().into()));
        gate.note_once(&audit::with(event, "effective_risk", holds.as_str()));
    }
    for hidden in directory.hidden.iter().filter(|hidden| hidden.unfit) {
        let event = audit::event_of(event::DEFINITION_UNFIT, audit::kernel(), result::BLOCKED);
        let event = audit::about(event, &hidden.server, Some(&hidden.name));
        let event = audit::with(event, "reason", hidden.why.as_str());
        if gate.note_once(&event) {
            tracing::warn!(server = %hidden.server, name = ?hidden.name, why = %hidden.why, "a definition is not shown");
        }
    }
    for mended in &directory.mended {
        tracing::debug!(server = %mended.server, name = ?mended.name, what = ?mended.what, "a definition was mended");
    }
    for hidden in &directory.hidden {
        let Some(other) = &hidden.conflicts_with else { continue };
        let event = audit::event_of(event::TOOL_NAME_CONFLICT, audit::kernel(), result::BLOCKED);
        let event = audit::about(event, &hidden.server, Some(&hidden.name));
        gate.note_once(&audit::with(event, "conflicts_with", other.as_str()));
    }
}
