//! Retention: while the kernel serves, audit events older than `audit_keep_days` are removed once a day.

use std::time::Duration;

use jiff::Timestamp;
use switchboard_kernel::OperatorActions;
use switchboard_store::Store;
use tokio_util::sync::CancellationToken;

use crate::failure::chain;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes what is too old, now and every day, until `ended`.
pub(crate) fn start(store: Store, keep_days: u64, ended: CancellationToken) {
    tokio::spawn(async move {
        let office = OperatorActions::of_kernel(store);
        loop {
            prune(&office, keep_days).await;
            tokio::select! {
                () = tokio::time::sleep(DAY) => {}
                () = ended.cancelled() => return,
            }
        }
    });
}

async fn prune(office: &OperatorActions, keep_days: u64) {
    let keep = DAY.saturating_mul(u32::try_from(keep_days).unwrap_or(u32::MAX));
    let Ok(until) = Timestamp::now().checked_sub(keep) else { return };
    match office.prune_audit(until).await {
        Ok(Some(head)) => tracing::info!(through = head.seq, keep_days, "old audit events were removed"),
        Ok(None) => {}
        Err(error) => tracing::warn!(error = chain(&error), "old audit events could not be removed"),
    }
}

#[cfg(test)]
mod tests {
    use switchboard_store::{Actor, AuditEvent, AuditFilter, Details, Location, Options, Target};

    use super::*;

    #[tokio::test]
    async fn only_what_is_too_old_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::File(folder.path().join("store.db"));
        let store = Store::open(&location, Options::default()).await.unwrap();
        let event = |event_type: &str, days: u32| AuditEvent {
            timestamp: Timestamp::now().checked_sub(DAY * days).unwrap(),
            trace_id: None,
            event_type: event_type.into(),
            actor: Actor { kind: "agent".into(), id: "a".into() },
            target: Target::default(),
            result: "SUCCESS".into(),
            details: Details::default(),
        };
        store.audit().append(&[event("old", 31), event("young", 29)]).await.unwrap();
        let office = OperatorActions::of_kernel(store.clone());
        prune(&office, 30).await;
        prune(&office, 30).await;
        let left = store.audit().query(&AuditFilter::default(), 10).await.unwrap();
        let types: Vec<_> = left.iter().map(|record| record.parse().unwrap().event_type).collect();
        assert_eq!(types, ["young", "dev.switchboard.audit_pruned"]);
        assert!(store.audit().verify(&[]).await.unwrap().is_whole());
        store.close().await.unwrap();
    }
}
