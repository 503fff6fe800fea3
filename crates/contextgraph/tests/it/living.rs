//! Living with memories: get, list, update, forget, relate, entities; and what search results carry.

use serde_json::{Value, json};
use switchboard_contextgraph::Code;
use switchboard_contextgraph::server::MemoryCaller;

use crate::support::{Memory, object};

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn a_memory_is_read_by_its_id() {
    let memory = Memory::new();
    let stored = memory.call(
        "inject_context",
        json!({"content": "The key is under the pot", "rationale": "asked often", "tags": ["home"], "importance": 0.9}),
    );
    let found = memory.call("get_memory", json!({"memory_id": stored["fingerprintId"]}));
    assert_eq!(found["content"], "The key is under the pot");
    assert_eq!(found["rationale"], "asked often");
    assert_eq!(found["tags"], json!(["home"]));
    assert_eq!((&found["agent"], &found["kind"], &found["version"]), (&json!("tester"), &json!("text"), &json!(1)));
    assert_eq!(found["importance"], 0.9);
    assert_eq!(found["createdAt"], "2026-05-28T20:26:40.1Z");
    // The other spelling, and other names of the same.
    for name in ["memoryId", "id", "fingerprint_id"] {
        assert_eq!(
            memory.call("get_memory", json!({name: stored["fingerprintId"]}))["content"],
            found["content"],
            "{name}"
        );
    }
    let nobody = json!({"memory_id": "00000000-0000-7000-8000-000000000001"});
    assert_eq!(memory.problem("get_memory", nobody).code, Code::Storage);
}

#[test]
fn memories_are_listed_page_by_page() {
    let memory = Memory::new();
    for number in 0..25 {
        let tags = if number % 5 == 0 { json!(["fifth", "x"]) } else { json!(["x"]) };
        let importance = f64::from(number) / 25.0;
        memory.call(
            "store_memory",
            json!({"content": format!("note number {number}"), "tags": tags, "importance": importance}),
        );
    }
    let (mut seen, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let page = memory.call("list_memories", json!({"limit": 10, "cursor": cursor}));
        assert_eq!(page["total"], 25);
        seen.extend(page["memories"].as_array().unwrap().iter().map(|one| text(&one["content"])));
        pages += 1;
        // What is stored meanwhile does not shift the pages that follow.
        memory.call("store_memory", json!({"content": format!("later {pages}"), "space": "other"}));
        match page.get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    let expected: Vec<String> = (0..25).rev().map(|number| format!("note number {number}")).collect();
    assert_eq!((seen, pages), (expected, 3));
    let count = |arguments: Value| memory.call("list_memories", arguments)["total"].as_u64().unwrap();
    assert_eq!(count(json!({"tags": ["fifth"]})), 5);
    assert_eq!(count(json!({"tags": ["FIFTH", "x"]})), 5);
    assert_eq!(count(json!({"minImportance": 0.8})), 5);
    assert_eq!(count(json!({"agent": "somebody"})), 0);
    assert_eq!(count(json!({"agent": "tester"})), 25);
    assert_eq!(count(json!({"after": "2026-05-28"})), 25);
    assert_eq!(count(json!({"before": "2026-05-28"})), 0);
    assert_eq!(count(json!({"after": "2026-06"})), 0);
    let oldest = memory.call("list_memories", json!({"order": "oldest", "limit": 1, "max_chars": 6}));
    assert_eq!(oldest["memories"][0]["content"], "note n\u{2026}");
    for bad in [json!({"cursor": "x"}), json!({"limit": 101}), json!({"limit": 1_000_000}), json!({"after": "soon"})] {
        assert_eq!(memory.problem("list_memories", bad).code, Code::InvalidParams);
    }
}

#[test]
fn a_memory_is_corrected_and_the_version_before_is_kept() {
    let memory = Memory::new();
    let id = memory.store("The standup is at nine in room Curie");
    memory.store("Bread needs flour, water, salt and time");
    let changed = memory.call(
        "update_memory",
        json!({"memory_id": id, "content": "Bananas ripen faster in a paper bag", "version": 1}),
    );
    assert_eq!(changed["version"], 2);
    // It is found by its new text and not by its old one.
    assert_eq!(memory.search("how do bananas ripen", 1), ["Bananas ripen faster in a paper bag"]);
    let old = memory.call("search_graph", json!({"query": "standup room Curie", "minSimilarity": 0.3}));
    assert_eq!(old["count"], 0, "{old}");
    let found = memory.call("get_memory", json!({"memory_id": id, "history": true}));
    assert_eq!(found["history"][0]["content"], "The standup is at nine in room Curie");
    assert_eq!((&found["history"][0]["version"], &found["version"]), (&json!(1), &json!(2)));
    // Whoever changes what it did not read loses, and nothing is changed.
    let late = memory.problem("update_memory", json!({"memory_id": id, "content": "mine", "version": 1}));
    assert_eq!((late.code, late.kind), (Code::Storage, "VERSION_CONFLICT"));
    assert_eq!(memory.call("get_memory", json!({"memory_id": id}))["version"], 2);
    // Marks alone change nothing of the text.
    memory
        .call("update_memory", json!({"memory_id": id, "tags": ["fruit"], "importance": 1.0, "validTo": "2027-01-01"}));
    let found = memory.again().call("get_memory", json!({"memory_id": id, "history": true}));
    assert_eq!((&found["tags"], &found["version"]), (&json!(["fruit"]), &json!(3)));
    assert_eq!(found["content"], "Bananas ripen faster in a paper bag");
    assert_eq!(found["validTo"], "2027-01-01T00:00:00Z");
    for bad in [
        json!({"memory_id": id}),
        json!({"memory_id": id, "content": "  "}),
        json!({"memory_id": id, "importance": 2}),
        json!({"memory_id": id, "validTo": "1999"}),
    ] {
        assert_eq!(memory.problem("update_memory", bad.clone()).code, Code::InvalidParams, "{bad}");
    }
}

#[test]
fn of_updates_that_race_one_wins() {
    let memory = Memory::new();
    let id = memory.store("counter");
    let other = memory.again();
    let change = |memory: &Memory, content: &str| {
        let arguments = object(json!({"memory_id": id, "content": content, "version": 1}));
        memory.server.call(&MemoryCaller::default(), "update_memory", &arguments).outcome
    };
    let outcomes = std::thread::scope(|scope| {
        let a = scope.spawn(|| change(&memory, "from a"));
        let b = scope.spawn(|| change(&other, "from b"));
        [a.join().unwrap(), b.join().unwrap()]
    });
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let lost = outcomes.iter().find_map(|outcome| outcome.as_ref().err()).unwrap();
    assert_eq!(lost.kind, "VERSION_CONFLICT");
    let found = memory.call("get_memory", json!({"memory_id": id, "history": true}));
    assert_eq!((&found["version"], found["history"].as_array().unwrap().len()), (&json!(2), 1));
}

#[tokio::test]
async fn changes_are_undone_once() {
    let memory = Memory::new();
    let id = memory.store("The standup is at nine");
    let mut client = memory.connect().await;
    let update = memory.call("update_memory", json!({"memory_id": id, "content": "The standup is at ten"}));
    let undo = client.request("contextgraph/undo", json!({"operation": update["undo"]})).await;
    assert!(undo["result"]["done"].as_str().unwrap().contains("version 1"), "{undo}");
    let found = memory.call("get_memory", json!({"memory_id": id, "history": true}));
    assert_eq!((&found["content"], &found["version"]), (&json!("The standup is at nine"), &json!(3)));
    // What was undone is not undone again, and that is no mistake of this program.
    let again = client.request("contextgraph/undo", json!({"operation": update["undo"]})).await;
    assert_eq!((&again["error"]["code"], &again["error"]["data"]["kind"]), (&json!(-32602), &json!("ALREADY_UNDONE")));
    assert!(again["error"]["data"]["_cognitive_pulse"].is_object(), "{again}");
    let never = client.request("contextgraph/undo", json!({"operation": id})).await;
    assert_eq!((&never["error"]["code"], &never["error"]["data"]["kind"]), (&json!(-32602), &json!("NOTHING_TO_UNDO")));

    let forgotten = memory.call("forget_memory", json!({"memory_id": id}));
    assert!(memory.search("standup", 5).is_empty());
    let undo = client.request("contextgraph/undo", json!({"operation": forgotten["undo"]})).await;
    assert!(undo["result"]["done"].is_string(), "{undo}");
    assert_eq!(memory.search("standup", 5), ["The standup is at nine"]);
}

#[test]
fn what_is_forgotten_is_not_found_and_can_be_restored() {
    let memory = Memory::new();
    let id = memory.store("The spare key is under the blue flowerpot");
    let kept = memory.store("Bread needs flour, water, salt and time");
    memory.call("forget_memory", json!({"memory_id": id}));
    assert_eq!(memory.search("where is the spare key", 5), ["Bread needs flour, water, salt and time"]);
    assert_eq!(memory.call("list_memories", json!({}))["total"], 1);
    let forgotten = memory.call("list_memories", json!({"forgotten": true}));
    assert_eq!(forgotten["memories"][0]["fingerprintId"], json!(id));
    assert!(forgotten["memories"][0]["forgottenAt"].is_string());
    // One that is not there makes none be forgotten.
    let both = json!({"memory_ids": [kept, "00000000-0000-7000-8000-000000000001"]});
    assert_eq!(memory.problem("forget_memory", both).code, Code::Storage);
    assert_eq!(memory.call("list_memories", json!({}))["total"], 1);
    assert_eq!(memory.call("forget_memory", json!({"memory_id": id, "restore": true}))["restored"], 1);
    assert_eq!(memory.again().search("where is the spare key", 1), ["The spare key is under the blue flowerpot"]);
}

#[test]
fn memories_are_related_by_whoever_knows() {
    let memory = Memory::new();
    let (a, b, c) =
        (memory.store("The office is in Bonn"), memory.store("We rent two floors"), memory.store("Parking is free"));
    memory.call("relate_memories", json!({"source": b, "target": a, "type": "part_of"}));
    let found = memory.again().call("get_memory", json!({"memory_id": a}));
    let edge = found["edges"].as_array().unwrap().iter().find(|edge| edge["kind"] == "part_of").unwrap();
    assert_eq!((&edge["memory_id"], &edge["direction"]), (&json!(b), &json!("in")));
    // Superseding ends the other, and does not go in a circle, however long.
    memory.call("relate_memories", json!({"source": b, "target": a, "type": "supersedes"}));
    memory.call("relate_memories", json!({"source": c, "target": b, "type": "supersedes"}));
    let found = memory.call("get_memory", json!({"memory_id": a}));
    assert_eq!(found["supersededBy"], json!([b]));
    assert!(found["validTo"].is_string());
    let circle = memory.problem("relate_memories", json!({"source": a, "target": c, "type": "supersedes"}));
    assert_eq!((circle.code, circle.kind), (Code::InvalidParams, "SUPERSEDES_LOOP"));
    assert_eq!(
        memory.problem("relate_memories", json!({"source": a, "target": a, "type": "related"})).code,
        Code::InvalidParams
    );
    memory.call("unrelate_memories", json!({"source": b, "target": a, "type": "supersedes"}));
    assert!(memory.call("get_memory", json!({"memory_id": a})).get("validTo").is_none());
    let gone = memory.problem("unrelate_memories", json!({"source": b, "target": a, "type": "supersedes"}));
    assert_eq!(gone.kind, "EDGE_NOT_FOUND");
}

#[test]
fn entities_are_things_with_their_memories() {
    let memory = Memory::new();
    memory.store("Anna lives in Berlin");
    memory.store("Anna works for Siemens on the project Atlas");
    memory.store("Ben met Anna at the station");
    memory.call("store_memory", json!({"content": "\u{7530}\u{4e2d}\u{3055}\u{3093}\u{306f}\u{7d05}\u{8336}", "tags": ["person:\u{7530}\u{4e2d}"]}));
    memory.store("Bread needs flour, water, salt and time");
    let all = memory.call("list_entities", json!({}));
    assert_eq!(all["entities"][0]["name"], "Anna");
    assert_eq!((&all["entities"][0]["memories"], &all["entities"][0]["type"]), (&json!(3), &json!("person")));
    let of = |kind: &str| -> Vec<String> {
        let found = memory.call("list_entities", json!({"type": kind}));
        found["entities"].as_array().unwrap().iter().map(|one| text(&one["name"])).collect()
    };
    assert_eq!(
        (of("place"), of("project"), of("organisation")),
        (vec!["Berlin".into()], vec!["Atlas".into()], vec!["Siemens".into()])
    );
    assert!(of("person").contains(&"\u{7530}\u{4e2d}".to_owned()));
    let anna = memory.call("list_entities", json!({"name": "anna", "limit": 2}));
    assert_eq!((&anna["total"], anna["memories"].as_array().unwrap().len()), (&json!(3), 2));
    let beside: Vec<String> = anna["beside"].as_array().unwrap().iter().map(|one| text(&one["name"])).collect();
    assert!(beside.contains(&"Berlin".to_owned()), "{beside:?}");
    let rest = memory.call("list_entities", json!({"name": "anna", "cursor": anna["nextCursor"]}));
    assert_eq!(rest["memories"][0]["content"], "Anna lives in Berlin");
    assert_eq!(memory.problem("list_entities", json!({"name": "Zoe"})).kind, "ENTITY_NOT_FOUND");
}

#[test]
fn results_carry_what_is_needed_to_judge_them() {
    let memory = Memory::new();
    let long = format!("The router is in the cellar. {}", "It hums. ".repeat(100));
    memory.call("store_memory", json!({"content": long, "tags": ["home"], "importance": 0.9}));
    memory.call("store_memory", json!({"content": "The router password is on the fridge", "tags": ["home", "secret"]}));
    let found = memory.call("search_graph", json!({"query": "where is the router"}));
    let first = &found["results"][0];
    for key in ["content", "createdAt", "tags", "agent", "kind", "similarity"] {
        assert!(!first[key].is_null(), "{key}: {first}");
    }
    let cut = found["results"].as_array().unwrap().iter().find(|one| text(&one["content"]).contains("cellar")).unwrap();
    assert_eq!(text(&cut["content"]).chars().count(), 401);
    let search = |more: Value| -> Vec<Value> {
        let mut arguments = json!({"query": "where is the router"});
        arguments.as_object_mut().unwrap().extend(object(more));
        memory.call("search_graph", arguments)["results"].as_array().unwrap().clone()
    };
    assert_eq!(search(json!({"tags": ["secret"]})).len(), 1);
    assert_eq!(search(json!({"min_importance": 0.8})).len(), 1);
    assert_eq!(search(json!({"agent": "nobody"})).len(), 0);
    assert_eq!(search(json!({"before": "2020"})).len(), 0);
    assert!(search(json!({"include_content": false})).iter().all(|one| one.get("content").is_none()));
    assert!(search(json!({"includeContent": true})).iter().any(|one| one["content"] == long.as_str()));
    assert!(search(json!({"maxChars": 5})).iter().all(|one| text(&one["content"]).chars().count() == 6));
    let unknown = memory.problem("search_graph", json!({"query": "x", "topk_": 3, "includContent": true}));
    assert_eq!((unknown.code, unknown.kind), (Code::InvalidParams, "UNKNOWN_PARAMETER"));
    assert!(unknown.message.contains("`includeContent`"), "{}", unknown.message);
}

#[test]
fn too_many_tags_are_refused() {
    let memory = Memory::new();
    let megabyte = vec!["x".repeat(64); 1 << 14];
    let id = memory.store("something");
    for (tool, arguments) in [
        ("store_memory", json!({"content": "a", "tags": megabyte})),
        ("store_memory", json!({"content": "a", "tags": ["y".repeat(1 << 20)]})),
        ("update_memory", json!({"memory_id": id, "tags": megabyte})),
    ] {
        let problem = memory.problem(tool, arguments);
        assert_eq!((problem.code, problem.kind), (Code::InvalidParams, "PAYLOAD_TOO_LARGE"), "{tool}");
    }
    assert_eq!(memory.call("list_memories", json!({}))["total"], 1);
}

/// A model has tools and no methods: what it did it takes back by one.
#[test]
fn a_change_is_taken_back_by_a_tool_once() {
    let memory = Memory::new();
    let stored = memory.call("store_memory", json!({"content": "The rent is 900 euros"}));
    let id = stored["fingerprintId"].clone();
    let changed = memory.call("update_memory", json!({"memory_id": id, "content": "The rent is 950 euros"}));
    let done = memory.call("undo_change", json!({"operation": changed["undo"]}));
    assert!(done["done"].as_str().unwrap().contains("version 1"), "{done}");
    assert_eq!(memory.call("get_memory", json!({"memory_id": id}))["content"], "The rent is 900 euros");
    let refused = |arguments: Value| memory.problem("undo_change", arguments);
    assert_eq!(refused(json!({"undo": changed["undo"]})).kind, "ALREADY_UNDONE");
    assert_eq!(refused(json!({"operation": id})).kind, "NOTHING_TO_UNDO");
    memory.call("undo_change", json!({"operation": stored["undo"]}));
    assert_eq!(memory.call("list_memories", json!({}))["total"], 0);
}
