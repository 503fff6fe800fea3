//! Retention: while the kernel serves, audit events older than `audit_keep_days` are removed once a day.

use std::time::Duration;

use jiff::Timestamp;
use switchboard_kernel::Office;
use switchboard_store::Store;
use tokio_util::sync::CancellationToken;

use crate::failure::chain;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes what is too old, now and every day, until `ended`.
pub(crate) fn start(store: Store, keep_days: u64, ended: CancellationToken) {
    tokio::spawn(async move {
        let office = Office::of_kernel(store);
        loop {
            prune(&office, keep_days).await;
            tokio::select! {
                () = tokio::time::sleep(DAY) => {}
                () = ended.cancelled() => return,
            }
        }
    });
}

async fn prune(office: &Office, keep_days: u64) {
    let keep = DAY.saturating_mul(u32::try_from(keep_days).unwrap_or(u32::MAX));
    let Ok(until) = Timestamp::now().checked_sub(keep) else { return };
    match office.prune_audit(until).await {
        Ok(Some(head)) => tracing::info!(through = head.seq, keep_days, "old audit events were removed"),
        Ok(None) => {}
        Err(error) => tracing::warn!(error = chain(&error), "old audit events could not be removed"),
    }
}
