//! Finding and learning beside forgetting, superseding and merging: none of them undoes another.

use serde_json::{Value, json};
use switchboard_contextgraph::autonomy::consolidation::ConsolidationStrategy;
use switchboard_contextgraph::engine::Space;
use switchboard_contextgraph::graph::edges::EdgeKind;
use switchboard_contextgraph::server::MemoryCaller;

use crate::support::Memory;

fn with<T>(memory: &Memory, work: impl FnOnce(&mut Space, u64) -> T) -> T {
    let caller = MemoryCaller { principal: "tester".to_owned(), ..MemoryCaller::default() };
    memory.server.with_space(&caller, |space, now| Ok(work(space, now))).unwrap()
}

fn ids(answer: &Value) -> Vec<String> {
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|hit| hit["fingerprintId"].as_str().unwrap().to_owned()).collect()
}

fn judge(memory: &Memory, query: &str, result: &str) {
    let asked = memory.call("search_graph", json!({"query": query, "topK": 10}));
    memory.call(
        "update_synergy_matrix",
        json!({"query_vector_id": asked["queryId"], "result_vector_id": result, "feedback": "relevant"}),
    );
}

fn judged(memory: &Memory, id: &str) -> usize {
    let id = id.parse().unwrap();
    with(memory, |space, _| space.mind.judged.all.iter().filter(|one| one.result == id).count())
}

fn is_in_files(memory: &Memory, text: &str) -> bool {
    std::fs::read_dir(memory.folder.path()).unwrap().any(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

const BREAD: &str = "Bread needs flour, water, salt and time";

#[test]
fn what_was_said_of_a_memory_goes_when_it_is_forgotten_or_erased() {
    let memory = Memory::new();
    let forgotten = memory.store("The key of the cellar hangs behind the door");
    let erased = memory.store("The number of the safe is in the blue book");
    let bread = memory.store(BREAD);
    judge(&memory, "where is the key of the cellar", &forgotten);
    judge(&memory, "which qwertzuiop book has the number of the safe", &erased);
    judge(&memory, "what does bread need", &bread);
    for id in [&forgotten, &erased, &bread] {
        assert_eq!(judged(&memory, id), 1);
    }
    let caller = MemoryCaller { principal: "tester".to_owned(), ..MemoryCaller::default() };
    memory.server.read_space(&caller, Space::flush).unwrap();
    assert!(is_in_files(&memory, "qwertzuiop"), "what was asked is on record");
    memory.call("forget_memory", json!({"memory_id": forgotten}));
    memory.call("erase_memory", json!({"memory_id": erased}));
    assert!(!is_in_files(&memory, "qwertzuiop"), "what was asked is gone");
    assert!(!is_in_files(&memory, &erased), "nothing names it");
    for one in [&memory, &memory.again()] {
        assert_eq!((judged(one, &forgotten), judged(one, &erased), judged(one, &bread)), (0, 0, 1));
    }
}

#[test]
fn what_was_superseded_stays_behind_even_if_it_was_called_right() {
    let memory = Memory::new();
    let berlin = memory.store("The user lives in Berlin");
    memory.store("The user plays the cello in an orchestra");
    for _ in 0..3 {
        judge(&memory, "Where does the user live?", &berlin);
    }
    let munich = memory.call("store_memory", json!({"content": "The user moved to Munich; Berlin is no longer home"}));
    let munich = munich["fingerprintId"].as_str().unwrap().to_owned();
    for walk in [true, false] {
        for most in [1, 2, 10] {
            for query in ["Where does the user live?", "lives in Berlin"] {
                let arguments = json!({"query": query, "topK": most, "walk": walk});
                let found = ids(&memory.call("search_graph", arguments));
                let place = |id: &String| found.iter().position(|other| other == id).unwrap_or(usize::MAX);
                assert_eq!(place(&munich), 0, "{query} {most} {found:?}");
                assert!(place(&berlin) > place(&munich));
            }
        }
    }
}

#[test]
fn neither_walks_nor_feedback_bring_in_what_a_filter_leaves_out() {
    let memory = Memory::new();
    let store = |content: &str, tag: &str| {
        let stored = memory.call("store_memory", json!({"content": content, "tags": [tag]}));
        stored["fingerprintId"].as_str().unwrap().to_owned()
    };
    let sister = store("Ingrid is the sister of Clara", "family");
    let work = store("Ingrid works at the city library", "work");
    memory.store(BREAD);
    let query = "where does the sister of Clara work";
    judge(&memory, query, &work);
    let search = |more: Value| {
        let mut arguments = json!({"query": query, "topK": 10});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ids(&memory.call("search_graph", arguments))
    };
    assert!(search(json!({})).contains(&work));
    assert_eq!(search(json!({"tags": ["family"]})), [sister]);
    assert_eq!(search(json!({"tags": ["work"]})), [work]);
}

#[test]
fn walks_and_dreams_leave_alone_what_was_forgotten_or_erased() {
    let memory = Memory::new();
    let sister = memory.store("Ingrid is the sister of Clara");
    let work = memory.store("Ingrid works at the city library");
    let garden = memory.store("Ingrid works in the garden on Sundays");
    for text in ["The orchestra plays Brahms in November", "The loan is paid back in monthly rates", BREAD] {
        memory.store(text);
    }
    let edges = |memory: &Memory| {
        with(memory, |space, _| {
            let mut all: Vec<(String, String, EdgeKind, f32)> = Vec::new();
            for source in space.graph.edges.sources() {
                for link in space.graph.edges.from(source) {
                    let (a, b) = (space.graph.id(source).unwrap(), space.graph.id(link.target).unwrap());
                    all.push((a.to_string(), b.to_string(), link.kind, link.weight));
                }
            }
            all
        })
    };
    let of = |all: &[(String, String, EdgeKind, f32)], id: &String| -> Vec<(String, String, EdgeKind, f32)> {
        let mut own: Vec<_> = all.iter().filter(|edge| edge.0 == *id || edge.1 == *id).cloned().collect();
        own.sort_by(|a, b| (&a.0, &a.1, a.2.word()).cmp(&(&b.0, &b.1, b.2.word())));
        own
    };
    let query = "where does the sister of Clara work";
    // Walked often enough for a shortcut.
    for _ in 0..10 {
        let found = ids(&memory.call("search_graph", json!({"query": query})));
        assert!(found.contains(&work) && found.contains(&garden));
    }
    memory.call("forget_memory", json!({"memory_id": work}));
    memory.call("erase_memory", json!({"memory_id": garden}));
    let kept = of(&edges(&memory), &work);
    assert!(!kept.is_empty(), "edges of what was forgotten are kept");
    for _ in 0..3 {
        memory.pass(1_800_000);
        with(&memory, |space, now| {
            let mut dream = space.begin_dream(now);
            for _ in 0..1_000 {
                if matches!(
                    space.dream_on(&mut dream, now, &|| false).unwrap(),
                    switchboard_contextgraph::engine::Slice::Done
                ) {
                    break;
                }
            }
            space.end_dream(&mut dream, true, now);
        });
    }
    let after = edges(&memory);
    assert_eq!(of(&after, &work), kept, "dreams neither link it nor weaken what it had");
    assert!(of(&after, &garden).is_empty());
    let found = memory.call("search_graph", json!({"query": query}));
    assert_eq!(ids(&found)[0], sister);
    assert!(!ids(&found).contains(&work) && !ids(&found).contains(&garden), "{found}");
    // What comes later is not linked with it, and it is there again when it is restored.
    let later = memory.store("Ingrid works at the city library on Mondays only");
    assert!(of(&edges(&memory), &later).iter().all(|edge| edge.0 != work && edge.1 != work));
    memory.call("forget_memory", json!({"memory_id": work, "restore": true}));
    assert!(ids(&memory.call("search_graph", json!({"query": query}))).contains(&work));
}

#[test]
fn what_changed_while_memories_were_compared_is_not_merged() {
    let texts = ["The user lives in Munich", "The user really lives in Munich"];
    // What a call does between comparing and merging, and whether the two are one afterwards.
    type Between = fn(&Memory, &str, &str);
    let cases: [(Between, usize); 4] = [
        (|_, _, _| (), 1),
        (|memory, _, b| drop(memory.call("update_memory", json!({"memory_id": b, "content": "Rent is due"}))), 0),
        (
            |memory, a, b| {
                drop(memory.call("relate_memories", json!({"source": b, "target": a, "type": "contradicts"})))
            },
            0,
        ),
        (|memory, a, _| drop(memory.call("forget_memory", json!({"memory_id": a}))), 0),
    ];
    for (at, (between, merges)) in cases.into_iter().enumerate() {
        let memory = Memory::new();
        let (a, b) = (memory.store(texts[0]), memory.store(texts[1]));
        let compared = with(&memory, |space, _| {
            let mut comparing = space.begin_comparing(ConsolidationStrategy::Similarity, 100, 0.85);
            assert!(space.compare_on(&mut comparing, &|| false).unwrap());
            comparing
        });
        between(&memory, &a, &b);
        let done = with(&memory, |space, now| space.merge_compared(compared, false, now, &|_, _| false).unwrap());
        assert_eq!(done.merges.len(), merges, "case {at}");
    }
}

#[test]
fn an_edge_keeps_apart_what_says_the_same_as_a_third() {
    let memory = Memory::new();
    let a = memory.store("The user lives in Munich");
    memory.store("The user really lives in Munich");
    let c = memory.store("The user resides in Munich");
    memory.call("relate_memories", json!({"source": a, "target": c, "type": "contradicts"}));
    memory.call("trigger_consolidation", json!({}));
    for id in [a, c] {
        assert!(memory.call("get_memory", json!({"memory_id": id})).get("forgottenAt").is_none());
    }
    assert_eq!(memory.call("list_memories", json!({}))["total"], 3);
}

#[test]
fn an_update_ends_the_edges_of_names_that_it_took_out() {
    let memory = Memory::new();
    let a = memory.store("Ingrid is the sister of Clara");
    let b = memory.store("Ingrid works at the city library");
    let shared = |memory: &Memory| {
        let id = b.parse().unwrap();
        with(memory, |space, _| space.neighbourhood(id).iter().filter(|edge| edge.1 == EdgeKind::Shared).count())
    };
    assert_eq!(shared(&memory), 1);
    memory.call("update_memory", json!({"memory_id": a, "content": "Sabine is the aunt of Clara"}));
    assert_eq!(shared(&memory), 0);
}

#[test]
fn parameters_that_are_not_known_are_refused_and_those_of_searching_are() {
    let memory = Memory::new();
    memory.store(BREAD);
    assert!(!ids(&memory.call("search_graph", json!({"query": "bread", "walk": false, "tags": []}))).is_empty());
    let problem = memory.problem("search_graph", json!({"query": "bread", "walks": false}));
    assert!(problem.message.contains("walks"), "{problem:?}");
}

#[test]
fn feedback_comes_along_with_an_export_and_not_that_of_what_was_erased() {
    let memory = Memory::new();
    let bread = memory.store(BREAD);
    let safe = memory.store("The number of the safe is in the blue book");
    judge(&memory, "what does bread need", &bread);
    judge(&memory, "where is the number of the safe", &safe);
    let mut lines: Vec<String> = Vec::new();
    with(&memory, |space, _| {
        space.export(|line| {
            lines.push(line.to_string());
            Ok(())
        })
    })
    .unwrap();
    let other = Memory::new();
    with(&other, |space, now| space.import(lines.clone().into_iter(), now)).unwrap();
    assert_eq!((judged(&other, &bread), judged(&other, &safe)), (1, 1));
    other.call("erase_memory", json!({"memory_ids": [bread, safe]}));
    with(&other, |space, now| space.import(lines.into_iter(), now)).unwrap();
    assert_eq!((judged(&other, &bread), judged(&other, &safe)), (0, 0));
}
