//! One seed and one clock give one memory; and a restart gives the same memory back.

use serde_json::{Value, json};

use crate::support::{Memory, TOPICS};

/// Everything that can be asked, after the same calls.
fn state(memory: &Memory) -> Vec<Value> {
    let mut out = Vec::new();
    for (tool, arguments) in [
        ("get_memetic_status", json!({})),
        ("utl_status", json!({})),
        ("get_ego_state", json!({})),
        ("get_threshold_status", json!({})),
        ("get_neuromodulation_state", json!({})),
        ("get_dream_status", json!({})),
        ("get_workspace_status", json!({})),
        ("get_pruning_candidates", json!({"min_staleness_days": 0})),
        ("manage_teleological_profile", json!({"action": "list"})),
    ] {
        let mut answer = memory.call(tool, arguments);
        if let Some(size) = answer.get_mut("storageSizeBytes") {
            *size = json!(null);
        }
        out.push(answer);
    }
    out
}

fn lived() -> Memory {
    let memory = Memory::new();
    for text in TOPICS {
        memory.inject(text);
    }
    let found = memory.call("search_graph", json!({"query": "a full disk"}));
    memory.call(
        "update_synergy_matrix",
        json!({"query_vector_id": found["queryId"], "result_vector_id": found["results"][0]["fingerprintId"], "feedback": "relevant"}),
    );
    memory.call("auto_bootstrap_north_star", json!({"confidence_threshold": 0.4}));
    memory.call("adjust_neuromodulator", json!({"modulator": "ne", "delta": 0.3}));
    memory.call("manage_teleological_profile", json!({"action": "create", "profile_id": "own"}));
    memory
}

#[test]
fn the_same_calls_give_the_same_memory() {
    let (a, b) = (lived(), lived());
    assert_eq!(state(&a), state(&b));
    assert_eq!(
        a.call("search_graph", json!({"query": "football"})),
        b.call("search_graph", json!({"query": "football"}))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_gives_the_same_memory_back() {
    let memory = lived();
    let before = state(&memory);
    memory.server.close().await;
    let again = memory.again();
    let after = state(&again);
    for (before, after) in before.iter().zip(&after) {
        for key in [
            "fingerprintCount",
            "edgeCount",
            "quadrantCounts",
            "interaction_count",
            "entropy",
            "learning_score",
            "purpose_vector",
            "trajectory_length",
            "thresholds",
            "temperatures",
            "count",
            "profiles",
            "summary",
        ] {
            same(key, before.get(key), after.get(key));
        }
    }
    assert_eq!(again.search("when does the team train", 1).len(), 1);
    let star = again.call("get_autonomous_status", json!({}));
    assert_eq!(star["north_star"]["configured"], true);
}

/// Equal but for the last digit of a number, which JSON does not always keep.
fn same(key: &str, a: Option<&Value>, b: Option<&Value>) {
    match (a, b) {
        (Some(Value::Number(a)), Some(Value::Number(b))) => {
            assert!((a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-9, "{key}: {a} {b}");
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) if a.len() == b.len() => {
            a.iter().zip(b).for_each(|(a, b)| same(key, Some(a), Some(b)));
        }
        (Some(Value::Object(a)), Some(Value::Object(b))) if a.len() == b.len() => {
            a.iter().for_each(|(name, value)| same(&format!("{key}.{name}"), Some(value), b.get(name)));
        }
        _ => assert_eq!(a, b, "{key}"),
    }
}

#[test]
fn two_processes_see_what_the_other_stores() {
    let first = Memory::new();
    first.store("stored by the first");
    let second = first.again();
    assert_eq!(second.search("stored by", 5), ["stored by the first"]);
    second.store("stored by the second");
    first.store("stored by the first again");
    let mut all = first.search("stored by", 5);
    all.sort();
    assert_eq!(all, ["stored by the first", "stored by the first again", "stored by the second"]);
    assert_eq!(second.search("stored by", 5).len(), 3);
}

#[test]
fn long_histories_are_written_by_the_way() {
    let memory = Memory::new();
    memory.inject("The first of all");
    for number in 0..30 {
        memory.search(&format!("anything {number}"), 1);
    }
    let version = |key: &str| -> i64 {
        let connection = rusqlite::Connection::open(memory.folder.path().join("memory.db")).unwrap();
        let sql = "SELECT COALESCE(MAX(version), 0) FROM state WHERE key = ?1";
        connection.query_row(sql, [key], |row| row.get(0)).unwrap()
    };
    let before = ["calibration", "gwt", "dreams", "learning"].map(version);
    memory.inject("The second");
    let after = ["calibration", "gwt", "dreams", "learning"].map(version);
    assert_eq!(before[..3], after[..3], "not with every change");
    assert!(after[3] > before[3], "what was learned is");
    memory.pass(2_000);
    memory.search("anything", 1);
    let later = ["calibration", "gwt", "dreams"].map(version);
    assert!(later.iter().zip(after).all(|(later, after)| *later > after), "{later:?} {after:?}");
    let again = memory.again();
    assert_eq!(again.call("get_ego_state", json!({}))["trajectory_length"], 2);
}
