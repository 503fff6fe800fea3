//! A graph worth walking: who is linked, what dreams make of it, and what walks find.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_contextgraph::graph::edges::EdgeKind;

use crate::questions::told;
use crate::set::{self, Score};
use crate::support::Memory;

/// Eight topics of six memories each, mixed when they are told.
const PLANTED: [[&str; 6]; 8] = [
    [
        "The sourdough starter needs flour every morning",
        "Rye bread bakes for fifty minutes",
        "The bakery sells bread rolls from six o'clock",
        "Yeast dough rises faster in a warm kitchen",
        "Bread flour has more gluten than cake flour",
        "The oven stone makes the crust of the bread crisp",
    ],
    [
        "The database replica lags behind by ten seconds",
        "Postgres vacuum runs at night on the database",
        "The database index on orders is missing",
        "Backups of the database go to another region",
        "The query planner ignores the database index",
        "Connections to the database are pooled",
    ],
    [
        "The goalkeeper hurt his knee in the football match",
        "Football practice begins at seven",
        "The football club needs a new coach",
        "Our striker scored twice in the match",
        "The referee stopped the football match for rain",
        "Tickets for the football final are sold out",
    ],
    [
        "The tomatoes in the garden need water daily",
        "Slugs ate the lettuce in the garden",
        "We planted roses along the garden fence",
        "The garden soil is poor in nitrogen",
        "Compost for the garden comes in April",
        "The apple tree in the garden must be pruned",
    ],
    [
        "The violin needs new strings",
        "The orchestra plays Brahms in November",
        "Her violin teacher moved to Vienna",
        "The concert hall seats nine hundred",
        "The cello section of the orchestra practises on Sundays",
        "The conductor wants a slower tempo in the concert",
    ],
    [
        "The mortgage interest rate is fixed until 2031",
        "The bank wants two payslips for the loan",
        "Our loan is paid back in monthly rates",
        "The bank charges a fee for the account",
        "Interest on the savings account fell again",
        "The mortgage broker calls the bank on Friday",
    ],
    [
        "The dentist found a cavity in the upper tooth",
        "The tooth hurts when drinking something cold",
        "Brush your teeth for two minutes, the dentist says",
        "The dental crown costs six hundred euros",
        "The dentist has a free appointment on Tuesday",
        "Wisdom teeth are pulled in spring by the dentist",
    ],
    [
        "The train to Hamburg was cancelled",
        "Our seats on the train are in coach seven",
        "The railway station is being rebuilt",
        "A rail pass is cheaper than single train tickets",
        "The night train leaves from platform four",
        "Trains run every hour on this railway line",
    ],
];

fn planted() -> (Memory, HashMap<String, usize>) {
    let memory = Memory::new();
    let mut topics = HashMap::new();
    for round in 0..6 {
        for (topic, texts) in PLANTED.iter().enumerate() {
            memory.pass(60_000);
            let answer = memory.inject(texts[(round + topic) % 6]);
            topics.insert(answer["fingerprintId"].as_str().unwrap().to_owned(), topic);
        }
    }
    (memory, topics)
}

fn edges(memory: &Memory) -> Vec<(String, String, EdgeKind, f32)> {
    let read = |space: &mut switchboard_contextgraph::engine::Space, _| {
        let mut all = Vec::new();
        for source in space.graph.edges.sources() {
            for link in space.graph.edges.from(source) {
                let (a, b) = (space.graph.id(source).unwrap(), space.graph.id(link.target).unwrap());
                all.push((a.to_string(), b.to_string(), link.kind, link.weight));
            }
        }
        Ok(all)
    };
    memory.server.with_space(&caller(), read).unwrap()
}

fn caller() -> switchboard_contextgraph::server::MemoryCaller {
    switchboard_contextgraph::server::MemoryCaller { principal: "tester".to_owned(), ..Default::default() }
}

fn dream(memory: &Memory) -> Value {
    memory.pass(1_800_000);
    memory.call("trigger_dream", json!({"force": true}));
    let began = Instant::now();
    loop {
        // Without letting time pass: a phase of a dream ends by the clock, too.
        let answer = memory.server.call(&caller(), "get_dream_status", &crate::support::object(json!({})));
        let status = answer.outcome.unwrap();
        if status["is_dreaming"] == false {
            return status["last_dream_completed"].clone();
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{status:#}");
        std::thread::yield_now();
    }
}

#[test]
fn different_memories_are_linked_and_mostly_with_their_kind() {
    let (memory, topics) = planted();
    let edges = edges(&memory);
    let linked: BTreeSet<&String> = edges.iter().flat_map(|edge| [&edge.0, &edge.1]).collect();
    let same = edges.iter().filter(|edge| topics[&edge.0] == topics[&edge.1]).count();
    println!("{} edges among 48, {same} inside of topics, {} memories linked", edges.len(), linked.len());
    assert!(linked.len() >= 36, "{} of 48 are linked", linked.len());
    assert!(same * 10 >= edges.len() * 8, "{same} of {}", edges.len());
}

#[test]
fn what_dreams_link_belongs_together() {
    let (memory, topics) = planted();
    // Every second link between alike memories is held out: a dream should find what belongs together by itself.
    let held_out: Vec<_> = edges(&memory).into_iter().filter(|edge| edge.2 != EdgeKind::Causes).step_by(2).collect();
    let forget = |space: &mut switchboard_contextgraph::engine::Space, _| {
        for (source, target, kind, _) in &held_out {
            assert!(space.graph.unlink(source.parse().unwrap(), target.parse().unwrap(), *kind));
        }
        Ok(())
    };
    memory.server.with_space(&caller(), forget).unwrap();
    for _ in 0..4 {
        dream(&memory);
    }
    let found: Vec<_> = edges(&memory).into_iter().filter(|edge| edge.2 == EdgeKind::Discovered).collect();
    let right = found.iter().filter(|edge| topics[&edge.0] == topics[&edge.1]).count();
    println!("{right} of {} discovered links are inside of a topic", found.len());
    assert!(found.len() >= 5, "{}", found.len());
    assert!(right * 10 >= found.len() * 8, "precision {right} of {}", found.len());
}

#[test]
fn links_that_are_walked_grow_and_others_that_dreams_made_go() {
    let (memory, _) = planted();
    dream(&memory);
    let of = |kind: EdgeKind| edges(&memory).into_iter().filter(|edge| edge.2 == kind).collect::<Vec<_>>();
    let discovered = of(EdgeKind::Discovered);
    let similar = of(EdgeKind::Similar);
    let walked = similar.iter().min_by(|a, b| a.3.total_cmp(&b.3)).unwrap().clone();
    let mut last = Vec::new();
    for _ in 0..8 {
        memory
            .server
            .with_space(&caller(), |space, now| {
                space.walked(&[walked.0.parse().unwrap(), walked.1.parse().unwrap()], now);
                Ok(())
            })
            .unwrap();
        last.push(dream(&memory));
    }
    let after = of(EdgeKind::Similar);
    let weight = after.iter().find(|edge| edge.0 == walked.0 && edge.1 == walked.1).unwrap().3;
    assert!(weight > walked.3 + 0.1, "walked: {} to {weight}", walked.3);
    let left: Vec<_> = of(EdgeKind::Discovered)
        .into_iter()
        .filter(|edge| discovered.iter().any(|old| old.0 == edge.0 && old.1 == edge.1 && edge.3 <= old.3))
        .collect();
    assert!(!discovered.is_empty() && left.len() < discovered.len(), "{} of {} left", left.len(), discovered.len());
    assert!(last.iter().any(|report| report["edges_pruned"].as_u64().unwrap() > 0));
}

#[test]
fn the_advice_changes_when_it_was_followed() {
    let memory = Memory::new();
    let texts = [
        "Maria is allergic to peanuts",
        "The plumber comes on Thursday",
        "Kenji Watanabe runs marathons",
        "Paint the fence green",
    ];
    for text in texts {
        memory.inject(text);
    }
    let pulse = |memory: &Memory| memory.answer("get_memetic_status", json!({})).pulse.unwrap().suggested_action;
    let before = pulse(&memory);
    dream(&memory);
    let after = pulse(&memory);
    if before == "TriggerDream" {
        assert_ne!(after, "TriggerDream");
    }
    assert_ne!(after, "TriggerDream");
}

#[test]
fn nothing_is_to_be_pruned_only_because_it_is_old() {
    let memory = Memory::new();
    memory.store("Maria is allergic to peanuts");
    memory.call("store_memory", json!({"content": "a scribble nobody needs", "importance": 0.1}));
    memory.pass(400 * 86_400_000);
    let found = memory.call("get_pruning_candidates", json!({}));
    assert_eq!(found["summary"]["total_candidates"], 1, "{found:#}");
    assert!(found["candidates"][0]["reason"] == "Orphaned");
}

#[test]
fn walks_find_more_answers_of_two_hops() {
    let mut scores = [[Score::default(); 2]; 2];
    for set in set::all() {
        let (memory, places) = told(&set);
        for asked in set.asked.iter().filter(|one| one.kind == "two hops") {
            for (at, walk) in [true, false].into_iter().enumerate() {
                let answer = memory.call("search_graph", json!({"query": asked.question, "topK": 5, "walk": walk}));
                let hits = answer["results"].as_array().unwrap();
                let found: Vec<usize> = hits.iter().map(|hit| places[hit["fingerprintId"].as_str().unwrap()]).collect();
                scores[usize::from(asked.held_out)][at].add(&found, asked.answer);
            }
        }
    }
    for (part, [walked, plain]) in ["tuning", "held out"].into_iter().zip(scores) {
        println!("{part} of {}: {} among five with walks, {} without", walked.asked, walked.five, plain.five);
        assert!(walked.five >= plain.five + 5, "{part}: {walked:?} {plain:?}");
    }
}
