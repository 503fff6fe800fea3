//! Erasing: nothing of it is found, in no file, by nobody; and nobody erases what is not theirs.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_contextgraph::server::MemoryCaller;
use switchboard_contextgraph::{Code, MemoryOptions, MemoryServer, Principals, SpaceSharing, SqliteStores};
use tempfile::TempDir;

use crate::support::{Memory, object};

const SECRET: &str = "hunter2-XYZZY-\u{e9}\u{e8}";

/// Whether a text is anywhere in the files of a folder.
fn is_in_files(folder: &TempDir, text: &str) -> bool {
    std::fs::read_dir(folder.path()).unwrap().any(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

fn keyed(memory: &Memory, key: &str, tool: &str, arguments: Value) -> Value {
    let caller = MemoryCaller { principal: "tester".to_owned(), idempotency_key: Some(key.to_owned()), space: None };
    memory.server.call(&caller, tool, &object(arguments)).outcome.unwrap()
}

#[test]
fn what_is_erased_leaves_no_trace_in_the_files() {
    let memory = Memory::new();
    for number in 0..60 {
        memory.store(&format!("The password policy asks for number {number} and a long sentence about nothing"));
    }
    let stored = keyed(
        &memory,
        "key",
        "inject_context",
        json!({"content": format!("my secret token is {SECRET}"), "rationale": format!("because {SECRET}"), "tags": [SECRET]}),
    );
    let id = stored["fingerprintId"].clone();
    memory.call("update_memory", json!({"memory_id": id, "content": format!("my other token is {SECRET} too")}));
    memory.call("search_graph", json!({"query": format!("is {SECRET} right")}));
    // A long one has pages of its own, that are free afterwards.
    let long = memory.store(&format!("{SECRET} {}", "and so on ".repeat(5_000)));
    memory.call("forget_memory", json!({"memory_id": long}));
    assert!(is_in_files(&memory.folder, SECRET));
    let erased = memory.call("erase_memory", json!({"memory_ids": [id, long]}));
    assert_eq!((&erased["count"], &erased["scrubbed"]), (&json!(2), &json!(true)));
    // The server is still running, another process too.
    let other = memory.again();
    for one in [&memory, &other] {
        assert_eq!(one.problem("get_memory", json!({"memory_id": id})).code, Code::Storage);
        assert!(one.search("secret token", 5).iter().all(|text| !text.contains(SECRET)));
        assert!(!is_in_files(&memory.folder, SECRET));
    }
    assert!(!is_in_files(&memory.folder, "hunter2"));
    assert_eq!(memory.call("list_memories", json!({}))["total"], 60);
    assert_eq!(memory.call("list_memories", json!({"forgotten": true}))["total"], 0);
    // Once more is no mistake, and neither is the call that was made with a key: it is made again, as nobody knows it.
    assert_eq!(memory.call("erase_memory", json!({"memory_id": id}))["count"], 0);
    assert_eq!(memory.problem("update_memory", json!({"memory_id": id, "content": "x"})).code, Code::Storage);
}

#[test]
fn other_processes_let_go_of_what_was_erased() {
    let memory = Memory::new();
    let other = memory.again();
    let id = memory.store("The safe opens with the number of the house");
    memory.store("Bread needs flour, water, salt and time");
    assert_eq!(other.search("safe", 1).len(), 1);
    memory.call("erase_memory", json!({"memory_id": id}));
    assert_eq!(other.search("how does the safe open", 5), ["Bread needs flour, water, salt and time"]);
    assert_eq!(other.call("get_memetic_status", json!({}))["fingerprintCount"], 1);
    // An export from before does not bring it back.
    let caller = MemoryCaller { principal: "tester".to_owned(), ..MemoryCaller::default() };
    let again = memory.store("The safe opens with the number of the street");
    let mut lines = Vec::new();
    let mut export = |space: &mut switchboard_contextgraph::engine::Space| {
        space.export(|line| {
            lines.push(line.to_string());
            Ok(())
        })
    };
    memory.server.with_space(&caller, |space, _| export(space)).unwrap();
    memory.call("erase_memory", json!({"memory_id": again}));
    let taken = memory.server.with_space(&caller, |space, now| space.import(lines.into_iter(), now)).unwrap();
    assert_eq!(taken.0, 0);
    assert_eq!(memory.call("list_memories", json!({}))["total"], 1);
}

#[test]
fn a_merged_memory_goes_with_its_sources_and_one_of_them_without_the_others() {
    let merged = || {
        let memory = Memory::new();
        let a = memory.store("The backup of the database runs every night at two and takes an hour");
        let b = memory.store("The backup of the database runs every night at two and takes an hour now");
        memory.store("Bread needs flour, water, salt and time");
        let done = memory.call("trigger_consolidation", json!({"min_similarity": 0.8}));
        let target = done["candidates_sample"][0]["target_id"].as_str().unwrap_or_default().to_owned();
        assert!(!target.is_empty(), "{done}");
        (memory, a, b, target)
    };
    let (memory, _, _, target) = merged();
    assert_eq!(memory.call("erase_memory", json!({"memory_id": target}))["count"], 3);
    assert!(!is_in_files(&memory.folder, "runs every night"));
    let (memory, a, b, target) = merged();
    let gone = memory.call("erase_memory", json!({"memory_id": b}));
    assert_eq!(gone["count"], 2, "the merge holds its text");
    assert!(gone["erased"].as_array().unwrap().contains(&json!(target)));
    assert!(!is_in_files(&memory.folder, "hour now"));
    let there = memory.call("get_memory", json!({"memory_id": a}));
    assert!(there.get("forgottenAt").is_none(), "the other is back: {there}");
}

#[test]
fn words_of_goals_go_with_the_memories_they_came_from() {
    let memory = Memory::new();
    for number in 0..6 {
        memory.store(&format!("The zanzibarite shipment number {number} of zanzibarite stones was zanzibarite"));
    }
    let goal = memory.call("auto_bootstrap_north_star", json!({"confidence_threshold": 0.1}));
    assert!(goal.to_string().contains("zanzibarite"), "{goal}");
    let all = memory.call("list_memories", json!({"limit": 100, "maxChars": 0}));
    let ids: Vec<&Value> = all["memories"].as_array().unwrap().iter().map(|one| &one["fingerprintId"]).collect();
    memory.call("erase_memory", json!({"memory_ids": ids}));
    assert!(!is_in_files(&memory.folder, "zanzibarite"));
}

#[test]
fn nobody_erases_what_another_stored() {
    let folder = tempfile::tempdir().unwrap();
    let stores = Arc::new(SqliteStores::open(&folder.path().join("memory.db")).unwrap());
    let team = BTreeMap::from([("team".to_owned(), vec!["*".to_owned()])]);
    let sharing = SpaceSharing::PerPrincipal(Principals { owner: Some("local".to_owned()), shared: Some(team) });
    let server =
        MemoryServer::new(MemoryOptions { sharing, seed: Some(1), dreams: false, ..MemoryOptions::new(stores) })
            .unwrap();
    let call = |principal: &str, tool: &str, arguments: Value| {
        let caller = MemoryCaller { principal: principal.to_owned(), ..MemoryCaller::default() };
        server.call(&caller, tool, &object(arguments)).outcome
    };
    let own = call("ann", "store_memory", json!({"content": "only ann knows"})).unwrap();
    let shared = call("ann", "store_memory", json!({"content": "ann told the team", "space": "team"})).unwrap();
    let (own, shared) = (&own["fingerprintId"], &shared["fingerprintId"]);
    // In another's space there is no such memory.
    for tool in ["erase_memory", "forget_memory", "get_memory"] {
        let problem = call("eve", tool, json!({"memory_id": own})).unwrap_err();
        assert_eq!((problem.code, problem.kind), (Code::Storage, "NODE_NOT_FOUND"), "{tool}");
    }
    // In a space that both use, what another stored is not erased, not even after changing it.
    call("eve", "update_memory", json!({"memory_id": shared, "content": "eve was here", "space": "team"})).unwrap();
    let problem = call("eve", "erase_memory", json!({"memory_id": shared, "space": "team"})).unwrap_err();
    assert_eq!((problem.code, problem.kind), (Code::InvalidParams, "MEMORY_NOT_YOURS"));
    assert_eq!(call("ann", "erase_memory", json!({"memory_id": shared, "space": "team"})).unwrap()["count"], 1);
    let mine = call("eve", "store_memory", json!({"content": "eve told the team", "space": "team"})).unwrap();
    let by_owner = json!({"memory_id": mine["fingerprintId"], "space": "team"});
    assert_eq!(call("local", "erase_memory", by_owner).unwrap()["count"], 1);
    assert_eq!(call("ann", "get_memory", json!({"memory_id": own})).unwrap()["content"], "only ann knows");
}
