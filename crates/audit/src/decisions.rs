//! What operators decide, told to those who hear of events.
//!
//! A decision is written by whoever makes it: a command in another process, another kernel on the same store, a method of
//! this one. So none of them tells of it. The log is followed instead, and each decision is told from there, once in
//! each kernel, wherever it was made.

use std::time::Duration;

use switchboard_store::{AuditFilter, Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::Auditor;
use crate::events::event;

/// How often it is looked whether somebody decided.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Decisions that are told at one look. The rest comes with the next.
const PAGE: usize = 500;

impl Auditor {
    /// Tells of decisions until the kernel ends.
    pub async fn tell_decisions(&self, closing: &CancellationToken) {
        let Some(store) = self.store.clone() else { return };
        let mut told = None;
        loop {
            match self.tell_since(&store, told).await {
                Ok(through) => told = Some(through),
                Err(error) => tracing::debug!(%error, "the audit log cannot be followed now"),
            }
            tokio::select! {
                () = closing.cancelled() => return,
                () = self.decided.notified() => {}
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
        }
    }

    /// Somebody decided in this process: it need not be waited for.
    pub fn look_for_decisions(&self) {
        self.decided.notify_one();
    }

    /// Tells what was decided after a record, and says up to which one all is told now. At first nothing is: it was
    /// decided before.
    async fn tell_since(&self, store: &Store, told: Option<u64>) -> Result<u64, StoreError> {
        let end = store.audit().end().await?.seq;
        let Some(told) = told.filter(|told| *told < end && self.is_heard()) else { return Ok(end) };
        let filter = AuditFilter {
            event_types: event::DECISIONS.map(str::to_owned).to_vec(),
            after: Some(told),
            through: Some(end),
            ..AuditFilter::default()
        };
        let records = store.audit().query(&filter, PAGE).await?;
        for record in &records {
            self.tell(&record.parse()?);
        }
        Ok(if records.len() < PAGE { end } else { records.last().map_or(end, |record| record.seq) })
    }
}
