//! Nothing long is in the way of other calls, nor of other processes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::Memory;

#[test]
fn a_consolidation_lets_others_in_and_a_dry_one_changes_nothing() {
    let memory = Memory::new();
    let lines = (0..600)
        .map(|at| json!({"content": format!("Meeting {at} about the budget of the harbour is at ten")}).to_string());
    memory.server.with_space(&caller(), |space, now| space.import(lines, now)).unwrap();
    let other = memory.again();
    let (over, enough) = (AtomicBool::new(false), AtomicBool::new(false));
    let (mut waits, mut stored) = (Vec::new(), 0);
    let took = std::thread::scope(|scope| {
        let compared = scope.spawn(|| {
            let began = Instant::now();
            // One is over before others came in often enough to tell.
            while !enough.load(Ordering::Acquire) {
                let arguments = json!({"dry_run": true, "max_memories": 600, "min_similarity": 0.6});
                let answer = memory.call("trigger_consolidation", arguments);
                assert_eq!(answer["statistics"]["pairs_consolidated"], 0);
                assert!(answer["statistics"]["pairs_evaluated"].as_u64().unwrap() > 100_000, "{answer}");
            }
            over.store(true, Ordering::Release);
            began.elapsed()
        });
        while !over.load(Ordering::Acquire) {
            let began = Instant::now();
            memory.search("budget of the harbour", 3);
            waits.push(began.elapsed());
            if stored < 3 {
                // As another process: it must not find the store locked.
                other.store(&format!("Something else, number {stored}"));
                stored += 1;
            }
            enough.store(waits.len() >= 20, Ordering::Release);
        }
        compared.join().unwrap()
    });
    let longest = waits.iter().max().copied().unwrap_or_default();
    println!("{} searches in {took:?}, the longest took {longest:?}", waits.len());
    assert_eq!(stored, 3);
    assert!(
        waits.len() >= 5 && longest < took / 2 + Duration::from_millis(50),
        "{} in {took:?}, {longest:?}",
        waits.len()
    );
    let left = memory.call("get_memetic_status", json!({}))["fingerprintCount"].as_u64().unwrap();
    assert_eq!(left, 603, "a dry run merges nothing");
}

/// What a search changes by the way is written later, when another process is done; what was found is told.
#[test]
fn a_search_does_not_fail_because_another_process_writes() {
    let memory = Memory::new();
    memory.store("The key is under the pot");
    memory.search("key", 1);
    memory.pass(60_000);
    let other = rusqlite::Connection::open(memory.folder.path().join("memory.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(memory.search("key", 1).len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    memory.pass(60_000);
    assert_eq!(memory.search("key", 1).len(), 1);
}

fn caller() -> switchboard_contextgraph::server::MemoryCaller {
    switchboard_contextgraph::server::MemoryCaller { principal: "tester".to_owned(), ..Default::default() }
}
