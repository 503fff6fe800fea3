//! What is refused once nothing can be put on record any more.

use switchboard_store::{Boundary, Location, Options};

use super::*;
use crate::events::{event_of, kernel};
use std::sync::atomic::Ordering;

async fn auditor(directory: &std::path::Path, fails: Arc<std::sync::atomic::AtomicBool>) -> (Store, Auditor) {
    let faults = move |boundary| {
        let fails = boundary == Boundary::BeforeCommit && fails.load(Ordering::Relaxed);
        if fails { Err(StoreError::Timeout) } else { Ok(()) }
    };
    let options = Options { faults: Some(Arc::new(faults)), ..Options::default() };
    let store = Store::open(&Location::File(directory.join("store.db")), options).await.unwrap();
    let (auditor, work) = Auditor::new(Some(store.clone()));
    tokio::spawn(work);
    (store, auditor)
}

fn done(text: &str) -> AuditEvent {
    with(event_of(event::TOOL_EXECUTED, kernel(), result::SUCCESS), "text", text)
}

/// The store is away for so long that the journal is full: nothing begins any more, what was begun can still be written
/// down, and all of it is on record when the store is back.
#[tokio::test]
async fn a_full_journal_refuses_what_is_new_and_takes_what_was_begun() {
    let directory = tempfile::tempdir().unwrap();
    let fails = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (store, auditor) = auditor(directory.path(), fails.clone()).await;
    assert!(auditor.admit_read().is_ok() && auditor.is_keeping());
    fails.store(true, Ordering::Relaxed);
    auditor.settle(done("the first"), None).await;
    auditor.flush().await;
    assert!(auditor.admit_read().is_ok(), "the journal takes it");
    assert!(!auditor.is_keeping(), "and it is known that the store does not");
    let refused = auditor.intend(&done("an effect"), 1, false).await.unwrap_err();
    assert!(refused.suggestion().unwrap().contains("does not answer"), "the advice fits the cause: {refused:?}");
    // Fills the journal with what the store would need, if these were events.
    let journal = auditor.open_calls.journal().unwrap();
    let filling = "x".repeat(200 << 10);
    let mut lines = Vec::new();
    while !journal.is_low() {
        lines.push(journal.write(&filling).unwrap());
    }
    assert!(auditor.admit_read().is_err());
    auditor.settle(done("begun before"), None).await;
    auditor.note(done("a refusal")).await;
    fails.store(false, Ordering::Relaxed);
    journal.settle_all(lines);
    auditor.flush().await;
    assert!(auditor.admit_read().is_ok() && auditor.is_keeping());
    let log = store.audit().tail(10).await.unwrap();
    let told = ["the first", "begun before", "a refusal"];
    assert!(told.iter().all(|text| log.iter().filter(|record| record.event.contains(text)).count() == 1), "{log:?}");
}
