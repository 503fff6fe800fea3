//! `switchboard restore`: the operator says that an older copy of the database is to be continued.
//!
//! Where the copy came from, and how it got to its place, is the operator's business. What is decided here is only that
//! its audit log goes on: from its last record, with a signed head and an event that say so.

use jiff::Timestamp;
use serde_json::{Value, json};
use switchboard_store::{AuditFilter, Breach, Fault, Restored, Store, StoreError};

use super::operator_session::minute;
use crate::Outcome;
use crate::arguments::{Common, Restore};
use crate::failure::Failure;
use crate::identity_audit::{self, LOG_RESTORED};
use crate::storage::{open_to_read, open_to_restore};
use crate::{screen, setup};

/// The detail that says after which record the log goes on.
const CONTINUES_AFTER: &str = "continues_after";
/// The most that an operator's reason may hold.
const MAX_REASON: usize = 500;

pub(crate) async fn run(common: &Common, options: &Restore) -> Outcome {
    if options.reason.as_ref().is_some_and(|reason| reason.chars().count() > MAX_REASON) {
        return Err(Failure::usage(format!("the reason is longer than {MAX_REASON} characters")));
    }
    let loaded = setup::read(common)?;
    let store = open_to_read(&loaded, Vec::new()).await?;
    let seen = look(&store).await;
    let _ = store.close().await;
    let (end, breach) = seen?;
    let Some(breach) = breach else {
        if common.json {
            screen::json(&json!({"restored": false, "continues_after": end}));
        } else {
            screen::out("nothing was changed: the log agrees with its signed heads");
        }
        return Ok(());
    };
    if matches!(breach.fault, Fault::Missing | Fault::Unlinked | Fault::Altered | Fault::Disagrees) {
        return Err(Failure::failed(format!(
            "nothing was changed: {breach}. Records of this copy are not what they were, which nobody can accept; put \
             another copy in its place"
        )));
    }
    if !options.yes {
        screen::note(format_args!("{breach}"));
        if !screen::can_ask() {
            return Err(Failure::usage("nothing was changed: there is no terminal to ask on; say --yes"));
        }
        let question =
            format!("Go on after record {end}, and give up what is not in this copy? Are all kernels stopped?");
        if !screen::confirmed(&question) {
            screen::out("nothing was changed");
            return Ok(());
        }
    }
    let store = open_to_restore(&loaded, Timestamp::now()).await?;
    // Where it goes on is what was signed just now, whatever the log said of itself before.
    let end = store.audit().end().await.map_err(Failure::from)?.seq;
    let mut details = vec![(CONTINUES_AFTER, json!(end)), ("breach", breach.to_string().into())];
    details.extend(options.reason.iter().map(|reason| ("reason", Value::from(reason.as_str()))));
    let written = identity_audit::write(&store, LOG_RESTORED, None, &details).await;
    let report = store.audit().verify(&[]).await.map_err(Failure::from);
    let _ = store.close().await;
    written?;
    if let Some(breach) = report?.breach {
        return Err(Failure::failed(format!("the log was accepted, and there is more: {breach}")));
    }
    if common.json {
        screen::json(&json!({"restored": true, "continues_after": end}));
    } else {
        screen::out(format_args!("the log goes on after record {end}; `switchboard audit verify` tells of the break"));
        screen::note("replicas with data folders of their own need the same word there; then start the kernels");
    }
    Ok(())
}

/// Where the records end that are there, and what is wrong with the log.
async fn look(store: &Store) -> Result<(u64, Option<Breach>), StoreError> {
    let report = store.audit().verify(&[]).await?;
    let last = store.audit().tail(1).await?.last().map(|record| record.seq);
    Ok((last.unwrap_or(report.last), report.breach))
}

/// Who accepted a break, and why.
pub(super) struct Acceptance {
    pub(super) by: String,
    pub(super) reason: Option<String>,
}

/// The event that an operator's word left behind.
pub(super) async fn acceptance(store: &Store, restored: &Restored) -> Result<Option<Acceptance>, StoreError> {
    let filter =
        AuditFilter { event_types: vec![LOG_RESTORED.to_owned()], after: Some(restored.seq), ..AuditFilter::default() };
    for record in store.audit().query(&filter, 1_000).await? {
        let Ok(event) = record.parse() else { continue };
        if event.details.get(CONTINUES_AFTER).and_then(Value::as_u64) == Some(restored.seq) {
            let reason = event.details.get("reason").and_then(Value::as_str).map(str::to_owned);
            return Ok(Some(Acceptance { by: event.actor.id.to_string(), reason }));
        }
    }
    Ok(None)
}

/// An accepted break, in words.
pub(super) fn told(restored: &Restored, acceptance: Option<&Acceptance>) -> String {
    let Restored { seq, from, reached, time } = restored;
    let lost =
        if reached > seq { format!("records up to {reached} are not in it") } else { "it was rewritten".to_owned() };
    let by = acceptance.map_or_else(String::new, |one| format!(" by {}", screen::plain_line(&one.by)));
    let reason = acceptance.and_then(|one| one.reason.as_deref());
    let reason = reason.map_or_else(String::new, |reason| format!(": {}", screen::plain_line(reason)));
    format!("break from record {from} on ({lost}); accepted as it is up to {seq}{by} on {}{reason}", minute(*time))
}
