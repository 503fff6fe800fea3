//! What every store must do. One list of cases, run on each engine; then a whole memory on each.

use std::sync::Arc;

use switchboard_contextgraph::graph::Memory as Known;
use switchboard_contextgraph::graph::edges::{Edge, EdgeKind};
use switchboard_contextgraph::store::{
    Answered, Batch, MAX_QUERIES, MemoryRevision, QUERY, Record, RecordBody, Stores,
};
use switchboard_contextgraph::vector::Sparse;
use switchboard_contextgraph::{Id, SqliteStores};

type Case = fn(&dyn Stores);

macro_rules! cases {
    ($($case:ident),+ $(,)?) => { &[$((stringify!($case), $case)),+] };
}

pub(crate) const CASES: &[(&str, Case)] = cases![
    a_new_space_is_empty,
    what_is_written_is_read_back,
    only_what_is_newer_is_told,
    a_change_of_what_is_known_keeps_the_rest,
    one_memory_may_change_twice_at_once,
    edges_go_and_come_back,
    what_is_given_up_leaves_nothing,
    spaces_are_apart,
    changes_take_turns,
    records_come_newest_first,
    answers_are_kept_for_a_day,
    many_at_once,
    earlier_forms_are_kept,
    what_is_erased_is_gone_with_all_that_names_it,
    the_last_queries_are_kept,
];

const DAY: u64 = 24 * 3_600_000;

pub(crate) fn known(number: u128) -> Known {
    Known {
        id: Id(number),
        created_at: 1_000 + number as u64,
        updated_at: 0,
        last_access: 0,
        access_count: 0,
        importance: 0.5,
        modality: switchboard_contextgraph::embedders::Modality::Text,
        tags: vec!["odd \u{0} \u{1f600}".to_owned()],
        hash: String::new(),
        bytes: 3,
        purpose: [0.25; 13],
        theta: 0.1,
        delta_s: [0.5; 13],
        delta_c: 0.3,
        cluster: Id(number),
        agent: "tester".to_owned(),
        merged_into: None,
        removed_at: None,
        provenance: switchboard_contextgraph::graph::Provenance::default(),
    }
}

fn finding(number: u128) -> Option<(Vec<i8>, Sparse)> {
    let row = (0..256).map(|place| (place as i8).wrapping_add(number as i8)).collect();
    Some((row, Sparse { indices: vec![1, 30_521], values: vec![0.5, number as f32] }))
}

fn body(number: u128) -> RecordBody {
    RecordBody {
        id: Id(number),
        content: format!("text {number} \u{0} \u{e4}\u{1f600}"),
        rationale: number.is_multiple_of(2).then(|| "why\u{0}".to_owned()),
        fingerprint: vec![0, 255, number as u8],
    }
}

fn edge(source: u128, target: u128, weight: f32) -> Edge {
    Edge {
        source: Id(source),
        target: Id(target),
        kind: EdgeKind::Causes,
        weight,
        confidence: 0.75,
        created_at: 5,
        updated_at: 6,
        path: vec![Id(source), Id(9), Id(target)],
    }
}

fn memories(numbers: impl IntoIterator<Item = u128>) -> Batch {
    let mut batch = Batch::default();
    for number in numbers {
        batch.memories.push((known(number), finding(number)));
        batch.bodies.push(body(number));
    }
    batch
}

fn write(stores: &dyn Stores, space: &str, batch: &Batch) -> i64 {
    let mut storage = stores.open(space).unwrap();
    storage.begin().unwrap();
    storage.commit(batch).unwrap()
}

fn revision(number: u128, revision: u64) -> MemoryRevision {
    let mut memory = known(number);
    memory.provenance.revision = revision;
    let content = format!("form {revision} \u{0} of {number}");
    MemoryRevision {
        at: revision,
        memory,
        content,
        rationale: revision.is_multiple_of(2).then(|| "why\u{0}".to_owned()),
    }
}

fn earlier_forms_are_kept(stores: &dyn Stores) {
    let revisions = vec![revision(1, 1), revision(1, 2), revision(2, 1)];
    write(stores, "s", &Batch { revisions, ..memories([1, 2]) });
    let mut storage = stores.open("s").unwrap();
    assert_eq!(storage.history(Id(1)).unwrap(), [revision(1, 2), revision(1, 1)]);
    assert!(storage.history(Id(3)).unwrap().is_empty());
    write(stores, "s", &Batch { revisions: vec![revision(1, 102)], ..Batch::default() });
    assert_eq!(storage.history(Id(1)).unwrap(), [revision(1, 102)], "the oldest are dropped");
}

fn what_is_erased_is_gone_with_all_that_names_it(stores: &dyn Stores) {
    let mut batch = memories([1, 2, 3]);
    batch.edges = vec![edge(1, 2, 0.5), edge(2, 3, 0.5), edge(3, 1, 0.5)];
    batch.revisions = vec![revision(1, 1), revision(2, 1)];
    let naming = |id: u128| format!("{{\"memory\":\"{}\"}}", Id(id));
    let record = |id: u128, names: u128| Record { id: Id(id), at: 1, kind: "stored".to_owned(), data: naming(names) };
    batch.records = vec![record(70, 1), record(71, 2)];
    batch.records.push(Record { id: Id(72), at: 1, kind: QUERY.to_owned(), data: "{}".to_owned() });
    batch.outcome = Some(Answered { key: "k".to_owned(), call: "c".to_owned(), answer: naming(1), at: 1 });
    write(stores, "s", &batch);
    write(stores, "other", &memories([1]));
    let mut storage = stores.open("s").unwrap();
    assert!(!storage.has_remains().unwrap());
    write(stores, "s", &Batch { erased: vec![Id(1), Id(9)], ..Batch::default() });
    let changes = storage.changes(1).unwrap().unwrap();
    let mut erased = changes.erased;
    erased.sort();
    assert_eq!(erased, [Id(1), Id(9)]);
    let all = storage.changes(0).unwrap().unwrap();
    assert_eq!(all.memories.iter().map(|light| light.memory.id.0).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(all.edges, [edge(2, 3, 0.5)]);
    assert!(all.gone.is_empty());
    assert!(storage.bodies(&[Id(1)]).unwrap().is_empty() && storage.history(Id(1)).unwrap().is_empty());
    assert_eq!(storage.history(Id(2)).unwrap().len(), 1);
    assert_eq!(storage.records(None, 9).unwrap(), [record(71, 2)]);
    assert!(storage.outcome("k").unwrap().is_none());
    assert_eq!(stores.open("other").unwrap().bodies(&[Id(1)]).unwrap().len(), 1);
    assert!(storage.has_remains().unwrap());
    assert!(storage.scrub().unwrap());
    assert!(!storage.has_remains().unwrap());
}

fn the_last_queries_are_kept(stores: &dyn Stores) {
    let query = |number: u128| Record { id: Id(number), at: 1, kind: QUERY.to_owned(), data: "{}".to_owned() };
    let most = MAX_QUERIES as u128;
    write(stores, "s", &Batch { records: (1..=most + 5).map(query).collect(), ..Batch::default() });
    let mut storage = stores.open("s").unwrap();
    assert_eq!(storage.records(Some(QUERY), 10_000).unwrap().len(), MAX_QUERIES);
    assert!(storage.record(Id(5)).unwrap().is_none() && storage.record(Id(6)).unwrap().is_some());
}

fn a_new_space_is_empty(stores: &dyn Stores) {
    let mut storage = stores.open("new").unwrap();
    assert!(storage.changes(0).unwrap().is_none());
    assert!(storage.bodies(&[Id(1)]).unwrap().is_empty());
    assert!(storage.bodies(&[]).unwrap().is_empty());
    assert!(storage.records(None, 5).unwrap().is_empty());
    assert!(storage.record(Id(1)).unwrap().is_none());
    assert!(storage.outcome("key").unwrap().is_none());
    assert!(stores.spaces().unwrap().is_empty());
    assert!(["sqlite", "postgres"].contains(&storage.engine()));
}

fn what_is_written_is_read_back(stores: &dyn Stores) {
    // Not in the order of their ids: they come back in the order in which they were stored.
    let mut batch = memories([3, 1, 2]);
    batch.edges.push(edge(3, 1, 0.5));
    batch.state.push(("learning", "{\"a\":1}".to_owned()));
    batch.records.push(Record { id: Id(70), at: 9, kind: "dream".to_owned(), data: "{}".to_owned() });
    assert_eq!(write(stores, "s", &batch), 1);
    let mut storage = stores.open("s").unwrap();
    let changes = storage.changes(0).unwrap().unwrap();
    assert_eq!(changes.version, 1);
    let ids: Vec<u128> = changes.memories.iter().map(|light| light.memory.id.0).collect();
    assert_eq!(ids, [3, 1, 2]);
    for light in &changes.memories {
        let number = light.memory.id.0;
        assert_eq!(light.memory, known(number));
        assert_eq!(Some((light.row.to_vec(), light.words.clone())), finding(number));
    }
    assert_eq!(changes.edges, [edge(3, 1, 0.5)]);
    assert_eq!(changes.state, [("learning".to_owned(), "{\"a\":1}".to_owned())]);
    let mut bodies = storage.bodies(&[Id(1), Id(2), Id(77)]).unwrap();
    bodies.sort_by_key(|body| body.id);
    assert_eq!(bodies.len(), 2);
    for found in bodies {
        let expected = body(found.id.0);
        assert_eq!(
            (found.content, found.rationale, found.fingerprint),
            (expected.content, expected.rationale, expected.fingerprint)
        );
    }
    assert_eq!(storage.record(Id(70)).unwrap().unwrap().kind, "dream");
    assert!(storage.size().unwrap() > 0);
    assert_eq!(stores.spaces().unwrap(), ["s"]);
}

fn only_what_is_newer_is_told(stores: &dyn Stores) {
    let mut reader = stores.open("s").unwrap();
    write(stores, "s", &memories([1]));
    assert_eq!(reader.changes(0).unwrap().unwrap().memories.len(), 1);
    assert!(reader.changes(1).unwrap().is_none());
    assert_eq!(write(stores, "s", &memories([2])), 2);
    let newer = reader.changes(1).unwrap().unwrap();
    assert_eq!(newer.version, 2);
    assert_eq!(newer.memories.iter().map(|light| light.memory.id.0).collect::<Vec<_>>(), [2]);
    // Inside of a change too.
    let mut writer = stores.open("s").unwrap();
    writer.begin().unwrap();
    assert_eq!(writer.changes(1).unwrap().unwrap().memories.len(), 1);
    assert!(writer.changes(2).unwrap().is_none());
    writer.roll_back();
}

fn a_change_of_what_is_known_keeps_the_rest(stores: &dyn Stores) {
    write(stores, "s", &memories([1, 2]));
    let mut changed = known(1);
    changed.access_count = 4;
    write(stores, "s", &Batch { memories: vec![(changed.clone(), None)], ..Batch::default() });
    let mut storage = stores.open("s").unwrap();
    let changes = storage.changes(1).unwrap().unwrap();
    assert_eq!(changes.memories.len(), 1);
    assert_eq!(changes.memories[0].memory, changed);
    assert_eq!(Some((changes.memories[0].row.to_vec(), changes.memories[0].words.clone())), finding(1));
    let all = storage.changes(0).unwrap().unwrap();
    assert_eq!(all.memories.iter().map(|light| light.memory.id.0).collect::<Vec<_>>(), [1, 2]);
}

fn one_memory_may_change_twice_at_once(stores: &dyn Stores) {
    let (mut second, mut third) = (known(1), known(1));
    second.access_count = 2;
    third.access_count = 3;
    let mut batch = memories([1, 2]);
    batch.memories.push((second, None));
    batch.memories.push((third.clone(), None));
    batch.edges = vec![edge(1, 2, 0.1), edge(1, 2, 0.9)];
    batch.state = vec![("dreams", "1".to_owned()), ("dreams", "2".to_owned())];
    write(stores, "s", &batch);
    let changes = stores.open("s").unwrap().changes(0).unwrap().unwrap();
    assert_eq!(changes.memories[0].memory, third);
    assert_eq!(changes.memories.len(), 2);
    assert_eq!(changes.edges, [edge(1, 2, 0.9)]);
    assert_eq!(changes.state, [("dreams".to_owned(), "2".to_owned())]);
}

fn edges_go_and_come_back(stores: &dyn Stores) {
    write(stores, "s", &Batch { edges: vec![edge(1, 2, 0.5), edge(2, 3, 0.5)], ..Batch::default() });
    let gone = vec![(Id(1), Id(2), EdgeKind::Causes), (Id(7), Id(8), EdgeKind::Causes)];
    write(stores, "s", &Batch { gone, ..Batch::default() });
    let mut storage = stores.open("s").unwrap();
    let changes = storage.changes(1).unwrap().unwrap();
    assert_eq!((changes.gone, changes.edges.len()), (vec![(Id(1), Id(2), EdgeKind::Causes)], 0));
    write(stores, "s", &Batch { edges: vec![edge(1, 2, 0.7)], ..Batch::default() });
    let all = storage.changes(0).unwrap().unwrap();
    assert_eq!((all.gone.len(), all.edges), (0, vec![edge(1, 2, 0.7), edge(2, 3, 0.5)]));
}

fn what_is_given_up_leaves_nothing(stores: &dyn Stores) {
    let mut storage = stores.open("s").unwrap();
    storage.begin().unwrap();
    storage.roll_back();
    storage.roll_back();
    assert!(stores.spaces().unwrap().is_empty());
    drop(storage);
    // Nor does somebody who just goes away hold up the others.
    let mut storage = stores.open("s").unwrap();
    storage.begin().unwrap();
    drop(storage);
    assert_eq!(write(stores, "s", &memories([1])), 1);
}

fn spaces_are_apart(stores: &dyn Stores) {
    write(stores, "a", &memories([1]));
    write(stores, "b", &memories([2]));
    assert_eq!(stores.spaces().unwrap(), ["a", "b"]);
    let mut storage = stores.open("b").unwrap();
    assert_eq!(storage.changes(0).unwrap().unwrap().memories[0].memory.id, Id(2));
    assert!(storage.bodies(&[Id(1)]).unwrap().is_empty());
}

fn changes_take_turns(stores: &dyn Stores) {
    std::thread::scope(|scope| {
        for half in 0..2_u128 {
            scope.spawn(move || {
                let mut storage = stores.open("s").unwrap();
                for number in 0..20 {
                    storage.begin().unwrap();
                    let _ = storage.changes(0).unwrap();
                    storage.commit(&memories([half * 1_000 + number])).unwrap();
                }
            });
        }
    });
    let all = stores.open("s").unwrap().changes(0).unwrap().unwrap();
    assert_eq!((all.version, all.memories.len()), (40, 40));
}

fn records_come_newest_first(stores: &dyn Stores) {
    let record = |number: u128, kind: &str| Record {
        id: Id(number),
        at: 1,
        kind: kind.to_owned(),
        data: format!("{{\"n\":{number}}}"),
    };
    let records = vec![record(1, "dream"), record(2, "merge"), record(3, "dream")];
    write(stores, "s", &Batch { records, ..Batch::default() });
    write(stores, "s", &Batch { records: vec![record(4, "merge")], ..Batch::default() });
    let mut storage = stores.open("s").unwrap();
    let mut ids = |kind: Option<&str>, most: usize| -> Vec<u128> {
        storage.records(kind, most).unwrap().iter().map(|record| record.id.0).collect()
    };
    assert_eq!(ids(None, 10), [4, 3, 2, 1]);
    assert_eq!(ids(Some("dream"), 10), [3, 1]);
    assert_eq!(ids(None, 2), [4, 3]);
    assert_eq!(ids(Some("nothing"), 2), [0; 0]);
}

fn answers_are_kept_for_a_day(stores: &dyn Stores) {
    let answered = |key: &str, answer: &str, at: u64| Batch {
        outcome: Some(Answered { key: key.to_owned(), call: "c".to_owned(), answer: answer.to_owned(), at }),
        ..Batch::default()
    };
    write(stores, "s", &answered("k\u{0}", "first", DAY));
    write(stores, "s", &answered("k\u{0}", "second", DAY + 1));
    let mut storage = stores.open("s").unwrap();
    assert_eq!(storage.outcome("k\u{0}").unwrap().unwrap().answer, "second");
    write(stores, "s", &answered("other", "x", 2 * DAY + 2));
    assert!(storage.outcome("k\u{0}").unwrap().is_none());
    assert!(storage.outcome("other").unwrap().is_some());
}

fn many_at_once(stores: &dyn Stores) {
    write(stores, "s", &memories(0..3_000));
    let mut storage = stores.open("s").unwrap();
    let all = storage.changes(0).unwrap().unwrap();
    assert!(all.memories.iter().enumerate().all(|(place, light)| light.memory.id.0 == place as u128));
    let ids: Vec<Id> = (0..3_000).map(Id).collect();
    assert_eq!(storage.bodies(&ids).unwrap().len(), 3_000);
}

#[test]
fn sqlite_keeps_the_contract() {
    for (name, case) in CASES {
        println!("{name}");
        let folder = tempfile::tempdir().unwrap();
        case(&SqliteStores::open(&folder.path().join("memory.db")).unwrap());
    }
}

#[test]
fn a_memory_lives_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    lives_there(|| Arc::new(SqliteStores::open(&folder.path().join("memory.db")).unwrap()));
}

#[test]
fn a_store_of_the_first_form_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    write(&SqliteStores::open(&path).unwrap(), "s", &memories([1, 2]));
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch("DROP TABLE revisions; DROP TABLE erased; DROP TABLE remains; PRAGMA user_version = 1").unwrap();
    // What is known was JSON.
    old.execute_batch(
        "ALTER TABLE memories RENAME TO later; DROP INDEX memories_version;
         CREATE TABLE memories (seq INTEGER PRIMARY KEY, space TEXT NOT NULL, id BLOB NOT NULL, version INTEGER NOT NULL,
             known TEXT NOT NULL, meaning BLOB NOT NULL, words BLOB NOT NULL, UNIQUE (space, id)) STRICT;
         CREATE INDEX memories_version ON memories (space, version);",
    )
    .unwrap();
    for number in [1, 2] {
        old.execute(
            "INSERT INTO memories SELECT seq, space, id, version, ?2, meaning, words FROM later WHERE id = ?1",
            rusqlite::params![Id(number).to_bytes(), serde_json::to_string(&known(number)).unwrap()],
        )
        .unwrap();
    }
    old.execute_batch("DROP TABLE later").unwrap();
    drop(old);
    let stores = SqliteStores::open(&path).unwrap();
    write(&stores, "s", &Batch { erased: vec![Id(1)], revisions: vec![revision(2, 1)], ..Batch::default() });
    let mut storage = stores.open("s").unwrap();
    let left = storage.changes(0).unwrap().unwrap().memories;
    assert_eq!(left.iter().map(|light| light.memory.clone()).collect::<Vec<_>>(), [known(2)]);
    assert_eq!(storage.history(Id(2)).unwrap().len(), 1);
    // What a memory of that form does not say is as it was then.
    let known: Known = serde_json::from_value({
        let mut value = serde_json::to_value(known(1)).unwrap();
        value.as_object_mut().unwrap().remove("provenance");
        value
    })
    .unwrap();
    assert_eq!((known.provenance.revision, known.provenance.count, known.valid_from()), (1, 1, known.created_at));
}

/// Everything that writes, by tools, with a restart in between.
pub(crate) fn lives_there(open: impl Fn() -> Arc<dyn Stores>) {
    use crate::support::{Memory, TOPICS};
    use serde_json::json;

    let memory = Memory::on(open(), crate::support::START);
    let first = memory.store("The spare key is under the blue flowerpot");
    for text in TOPICS {
        memory.inject(text);
    }
    memory.store("The spare key is really under the blue flowerpot");
    let merged = memory.call("trigger_consolidation", json!({"min_similarity": 0.9}));
    assert_eq!(merged["consolidation_result"]["status"], "merged", "{merged}");
    let dreamt = memory.call("trigger_dream", json!({"rationale": "a test", "force": true}));
    assert_eq!(dreamt["triggered"], true, "{dreamt}");
    while memory.call("get_dream_status", json!({}))["is_dreaming"] == true {
        std::thread::yield_now();
    }
    memory.call("trigger_recalibration", json!({"level": 1}));
    memory.call("auto_bootstrap_north_star", json!({"confidence_threshold": 0.1}));
    let before = memory.call("get_memetic_status", json!({}));
    assert_eq!(memory.call("get_dream_status", json!({}))["completed_cycles"], 1);
    let again = Memory::on(open(), crate::support::START + 3_600_000);
    let after = again.call("get_memetic_status", json!({}));
    assert_eq!(before["fingerprintCount"], after["fingerprintCount"]);
    assert_eq!(after["fingerprintCount"], 19);
    assert_eq!(again.call("get_dream_status", json!({}))["completed_cycles"], 1);
    assert!(again.search("where is the key", 1)[0].contains("under the blue flowerpot"));
    let undone = again.call("trigger_consolidation", json!({"undo": merged["undo"]}));
    assert!(undone.is_object());
    assert_eq!(again.call("get_memetic_status", json!({}))["fingerprintCount"], 20);
    // What the one process writes, the other sees at once.
    let seen = memory.call("search_graph", json!({"query": "flowerpot", "topK": 1}));
    assert_eq!(seen["results"][0]["sameAs"].as_array().map(Vec::len), Some(1), "both of them: {seen}");
    let near = again.call("trigger_workspace_broadcast", json!({"memory_id": first, "force": true}));
    assert_eq!(near["success"], true, "{near}");
}
