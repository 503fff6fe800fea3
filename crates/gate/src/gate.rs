//! The handle by which the gate is used: its state, and those around it.

use std::ops::Deref;
use std::sync::Arc;

use switchboard_audit::Auditor;
use switchboard_store::Store;
use switchboard_upstream::Server;

use crate::state::GateState;
use crate::surroundings::{Offers, Surroundings};

/// The gate: its state, and those around it. As cheap to copy as two references.
#[derive(Clone, Copy)]
pub struct Gate<'a> {
    pub(crate) state: &'a Arc<GateState>,
    pub(crate) around: &'a dyn Surroundings,
}

impl<'a> Gate<'a> {
    /// The gate with this state, in these surroundings.
    #[must_use]
    pub fn new(state: &'a Arc<GateState>, around: &'a dyn Surroundings) -> Self {
        Self { state, around }
    }

    /// Where grants, pins, approvals and the audit log are kept, if anywhere.
    #[must_use]
    pub fn store(&self) -> Option<&'a Store> {
        self.state.store()
    }

    /// The record of calls.
    #[must_use]
    pub fn audit(&self) -> &'a Auditor {
        &self.state.audit
    }

    pub(crate) fn offers(&self) -> Arc<dyn Offers> {
        self.around.offers()
    }

    pub(crate) fn server(&self, id: &str) -> Option<Arc<Server>> {
        self.around.offers().server(id).cloned()
    }
}

impl Deref for Gate<'_> {
    type Target = GateState;

    fn deref(&self) -> &GateState {
        self.state
    }
}

impl std::fmt::Debug for Gate<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.state.fmt(f)
    }
}
