//! What a question of a server belongs to: one call or, outside of any call, one connection.
//!
//! A scope has a number that is never given again while the process lives: a question is about one call, whoever reuses
//! ids. With the call or the connection, everything that was asked and answered under it ends.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::Callbacks;
use crate::exchange::{Exchange, ExchangeState};
use crate::host::Host;

static NEXT_SCOPE: AtomicU64 = AtomicU64::new(1);

fn next_scope() -> u64 {
    NEXT_SCOPE.fetch_add(1, Ordering::Relaxed)
}

impl<H: Host> Exchange<H> {
    /// A name for a question: hard to guess, and telling which kernel asks. With that kernel, it ends.
    pub(super) fn callback_name(&self) -> String {
        let random: String = switchboard_peer::random_token().chars().filter(|c| *c != '.').collect();
        format!("{random}.{}", self.host.gate().audit().open_calls().instance())
    }
}

/// What names a call of a tool on the record, and at the gate.
#[derive(Debug)]
pub struct CallNames {
    /// The tool as the server calls it.
    pub tool: Arc<str>,
    /// The tool as the client calls it.
    pub exposed: Box<str>,
    /// What ties its events together.
    pub trace: Box<str>,
    /// Those on whose behalf it is made.
    pub chain: Arc<[String]>,
}

/// The questions of one call. A call without any has no number, and pays nothing.
#[derive(Debug, Clone, Default)]
pub struct CallQuestions {
    scope: OnceLock<u64>,
    /// Known where the server may ask.
    pub(crate) call: Option<Arc<CallNames>>,
}

impl CallQuestions {
    /// Those of a call that has a name.
    #[must_use]
    pub fn of(call: Option<Arc<CallNames>>) -> Self {
        Self { scope: OnceLock::new(), call }
    }

    /// The same for several requests to the server that are one call of the client.
    pub(crate) fn shared(self) -> Self {
        let _ = self.scope.set(next_scope());
        self
    }

    /// Whether it belongs to several requests.
    pub(crate) fn is_shared(&self) -> bool {
        self.scope.get().is_some()
    }

    pub(crate) fn scope(&self) -> u64 {
        *self.scope.get_or_init(next_scope)
    }

    /// The call has ended.
    fn end(&self, callbacks: &Callbacks) {
        if let Some(scope) = self.scope.get() {
            callbacks.end(*scope);
        }
    }
}

/// Ends the questions of a call, however the call ends.
pub(crate) struct EndOfQuestions<'a> {
    pub(crate) callbacks: &'a Callbacks,
    pub(crate) questions: &'a CallQuestions,
}

impl Drop for EndOfQuestions<'_> {
    fn drop(&mut self) {
        self.questions.end(self.callbacks);
    }
}

/// The questions that come on one connection and are about no call.
#[derive(Debug)]
pub struct ConnectionQuestions {
    state: Arc<ExchangeState>,
    scope: u64,
}

impl ConnectionQuestions {
    pub(crate) fn new(state: &Arc<ExchangeState>) -> Self {
        Self { state: state.clone(), scope: next_scope() }
    }

    /// Under which they are asked.
    #[must_use]
    pub const fn scope(&self) -> u64 {
        self.scope
    }
}

impl Drop for ConnectionQuestions {
    fn drop(&mut self) {
        self.state.callbacks.end(self.scope);
    }
}
