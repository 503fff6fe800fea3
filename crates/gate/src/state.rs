//! What the gate keeps.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use jiff::Timestamp;
use serde_json::json;
use switchboard_audit::Auditor;
use switchboard_store::{AuditEvent, Digest, Store};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agreed_hosts::AgreedHosts;
use crate::approval_watcher::ApprovalWatcher;
use crate::audit_sinks;
use crate::list_cache::ListCache;
use crate::meters::Rates;
use crate::notices::SentNotices;
use crate::options::{GateContext, GateOptions};
use crate::pending_confirmations::PendingConfirmations;
use crate::pins::Pins;
use crate::rights_changes::RightsChanges;
use crate::tables::GrantCache;
use crate::tokens::Tokens;

/// What the gate keeps. It lives as long as whoever holds it.
pub struct GateState {
    options: ArcSwap<GateOptions>,
    store: Option<Store>,
    pub(crate) context: GateContext,
    /// When it began: what waited for a person before waits at no kernel, or at another one.
    pub(crate) began: Timestamp,
    /// The record of calls.
    pub audit: Auditor,
    /// Servers that hear of events.
    pub server_sinks: Arc<audit_sinks::ServerSinks>,
    /// What was granted.
    pub granted: GrantCache,
    /// What waits for a person.
    pub desk: PendingConfirmations,
    pub(crate) approvals_watched: ApprovalWatcher,
    /// Counts calls from when a person is asked about them until they are over, where the person agreed.
    pub(crate) agreed_calls: TaskTracker,
    /// Tells that rights may have changed.
    pub rights: RightsChanges,
    pub(crate) pins: Pins,
    pub(crate) lists: ListCache,
    pub(crate) tokens: Tokens,
    pub(crate) told: SentNotices,
    pub(crate) agreed: AgreedHosts,
    /// What is counted.
    pub rates: Rates,
}

impl GateState {
    /// The gate's state, and work that must run beside it.
    pub fn new(options: GateOptions, context: GateContext) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (audit, writing) = Auditor::new(options.store.clone());
        let granted = GrantCache::new(options.store.clone());
        let state = Self {
            audit,
            server_sinks: Arc::default(),
            began: granted.time(),
            granted,
            desk: PendingConfirmations::default(),
            approvals_watched: ApprovalWatcher::default(),
            agreed_calls: TaskTracker::new(),
            rights: RightsChanges::default(),
            pins: Pins::default(),
            lists: ListCache::default(),
            tokens: Tokens::default(),
            told: SentNotices::default(),
            agreed: AgreedHosts::default(),
            rates: Rates::new(context.principal_rates.clone()),
            store: options.store.clone(),
            options: ArcSwap::from_pointee(options),
            context,
        };
        (state, writing)
    }

    /// Where grants, pins, approvals and the audit log are kept, if anywhere.
    #[must_use]
    pub fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Whether any right ends by itself: a grant, a permission, a session token.
    #[must_use]
    pub fn anything_ends(&self) -> bool {
        self.granted.latest().anything_expires || !self.tokens.is_empty()
    }

    /// How calls are judged at the moment.
    #[must_use]
    pub fn options(&self) -> Guard<Arc<GateOptions>> {
        self.options.load()
    }

    /// Judges calls in another way from now on. The store stays, and so does the bound on results, which belongs to the
    /// limits. What is under way is judged anew at its next step. Says whether definitions are judged in another way.
    pub fn judge_by(&self, options: GateOptions) -> bool {
        let before = self.options.load_full();
        let next = GateOptions { store: before.store.clone(), result_bytes: before.result_bytes, ..options };
        let definitions = (before.pin_definitions, before.screen_definitions);
        let inspects = definitions != (next.pin_definitions, next.screen_definitions);
        self.options.store(Arc::new(next));
        self.agreed.clear();
        inspects
    }

    /// Whether the operator wants nobody asked.
    #[must_use]
    pub fn approves_all(&self) -> bool {
        self.options().approves_all()
    }

    /// Looks, until the end begins, which of the calls that wait for a person were decided about in the store.
    pub async fn watch_approvals(&self, store: &Store) {
        self.approvals_watched.run(store, || self.granted.time(), self.closing()).await;
    }

    /// Whether something is told for the first time, for as long as this process remembers.
    pub fn is_news(&self, said: &[&str]) -> bool {
        self.told.is_new(Digest::of(json!(said).to_string().as_bytes()))
    }

    /// Puts an event on record, unless it was before. Whether this is the first time.
    pub fn note_once(&self, event: &AuditEvent) -> bool {
        let first = self.told.first(event);
        if first {
            self.audit.note_now(event);
        }
        first
    }

    /// Calls that a person is asked about or has agreed to, and that are not over.
    #[must_use]
    pub const fn agreed_calls(&self) -> &TaskTracker {
        &self.agreed_calls
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.context.tasks.spawn(work);
    }

    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.context.closing
    }
}

impl std::fmt::Debug for GateState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GateState").field("options", &self.options()).finish_non_exhaustive()
    }
}
