//! The step `rate` of the gate: how often, how many at once, and how much altogether (MGP 14.3: 3000, 3001, 3002).
//!
//! Counted for a principal, a server and a tool, as far as the operator set bounds. Where he set none, nothing is
//! counted, locked or allocated. What is refused by one bound is counted by none.

use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};

use super::Attempt;
use super::audit::{self, event, result, step};
use crate::Gate;
use crate::meters::Metered;
pub use crate::meters::PrincipalRates;

impl Gate<'_> {
    /// Counts a request that the kernel answers itself, and gives it back where its parameters could not be read: a call of a
    /// server's tool that does not fit its schema is not counted either.
    ///
    /// # Errors
    /// The bound is reached.
    pub async fn metered_own<T>(
        &self,
        context: &Context,
        name: &str,
        answering: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        meter_own(self, context, name)?;
        let answer = answering.await;
        if let Err(fault) = &answer
            && fault.kind() == FaultKind::InvalidParams
        {
            self.rates.give_back(&context.session.principal);
        }
        answer
    }
}

/// Counts a request, as one that runs until what is returned is dropped where it may run long.
///
/// # Errors
/// A bound is reached.
pub(crate) fn meter(gate: &Gate<'_>, attempt: &Attempt<'_>) -> Result<Option<Box<Metered>>, Fault> {
    let principal = &attempt.context.session.principal;
    let tool = attempt.called().map(|(tool, _)| tool);
    let outcome = gate.rates.count(principal, Some((attempt.server, tool)), attempt.subject.passage().runs);
    if let Err(fault) = &outcome {
        let event = audit::with(attempt.event(event::TOOL_BLOCKED, result::BLOCKED), step::KEY, step::RATE);
        gate.audit.note_now(&audit::with(event, "reason", fault.message()));
    }
    outcome
}

/// Counts a request that the kernel answers itself, by the name of its method or tool: against how often its principal
/// may ask.
fn meter_own(gate: &Gate<'_>, context: &Context, name: &str) -> Result<(), Fault> {
    let outcome = gate.rates.count(&context.session.principal, None, false);
    if let Err(fault) = &outcome {
        let event = audit::event_of(event::TOOL_BLOCKED, audit::principal(&context.session), result::BLOCKED);
        let event = audit::with(audit::with(event, step::KEY, step::RATE), "method", name);
        gate.audit.note_now(&audit::with(event, "reason", fault.message()));
    }
    outcome.map(drop)
}
