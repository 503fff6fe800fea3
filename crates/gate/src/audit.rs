//! The record of calls, as the gate writes it: the crate `switchboard-audit`, and who did something.

use switchboard_peer::Session;
use switchboard_store::Actor;

pub use switchboard_audit::{Auditor, CALL, about, event, event_of, kernel, result, step, with};

/// The principal of a session as the one who did something.
pub fn principal(session: &Session) -> Actor {
    switchboard_audit::principal(&session.principal, session.identity.admin)
}
