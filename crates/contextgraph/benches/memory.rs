//! The figures of the memory: names, pulse, storing, differences, searching among 100,000, a dream over 10,000.
//!
//! `cargo bench -p switchboard-contextgraph --bench memory`. The large graphs are taken in as an export is, which is
//! quicker than storing one by one.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Map, Value, json};
use switchboard_contextgraph::embedders::{Embedders, Modality, StaticTable};
use switchboard_contextgraph::engine::{Search, Slice, Space};
use switchboard_contextgraph::graph::Memory;
use switchboard_contextgraph::graph::edges::{Edge, Kind};
use switchboard_contextgraph::server::Caller;
use switchboard_contextgraph::store::Stores as _;
use switchboard_contextgraph::tools::aliases;
use switchboard_contextgraph::{Id, MemoryServer, Options, SqliteStores};

const SUBJECTS: [&str; 12] = [
    "database",
    "garden",
    "invoice",
    "telescope",
    "bicycle",
    "kitchen",
    "contract",
    "server",
    "holiday",
    "violin",
    "budget",
    "harbour",
];
const DEEDS: [&str; 10] =
    ["broke", "grew", "arrived", "closed", "failed", "improved", "moved", "started", "ended", "changed"];
const TIMES: [&str; 8] =
    ["on Monday", "in spring", "at night", "last year", "yesterday", "after lunch", "in May", "too early"];

fn sentence(number: usize) -> String {
    let pick = |list: &[&'static str], step: usize| list[number / step % list.len()];
    format!(
        "Note {number}: the {} {} {} because of the {} near the {}",
        pick(&SUBJECTS, 1),
        pick(&DEEDS, 12),
        pick(&TIMES, 120),
        pick(&SUBJECTS, 7),
        pick(&SUBJECTS, 53),
    )
}

fn space(folder: &std::path::Path, name: &str) -> Space {
    let stores = SqliteStores::open(&folder.join("memory.db")).expect("a store");
    let storage = stores.open(name).expect("a space");
    Space::open(name, storage, Embedders::new(Arc::new(StaticTable)), 1, 0).expect("an empty space")
}

/// Takes in so many, each linked with `links` others.
fn fill(space: &mut Space, count: usize, links: usize) {
    let id = |number: usize| Id(0x0190_0000_0000_7000_8000_0000_0000_0000 + number as u128);
    let line = |number: usize| {
        let memory = Memory {
            id: id(number),
            created_at: number as u64,
            updated_at: number as u64,
            last_access: number as u64,
            access_count: (number % 7) as u64,
            importance: 0.5,
            modality: Modality::Text,
            tags: Vec::new(),
            hash: String::new(),
            bytes: 100,
            purpose: [0.0; 13],
            theta: 0.0,
            delta_s: [0.5; 13],
            delta_c: 0.5,
            cluster: id(number % 1_000),
            agent: "bench".to_owned(),
            merged_into: None,
            removed_at: None,
        };
        let mut memory = json!(memory);
        memory["content"] = sentence(number).into();
        json!({"memory": memory}).to_string()
    };
    for from in (0..count).step_by(2_000) {
        let lines = (from..(from + 2_000).min(count)).map(line);
        space.write(1_000, |space| space.import(lines, 1_000)).expect("taken in");
    }
    let edge = |number: usize| {
        let (source, step) = (number / links.max(1), 1 + 37 * (number % links.max(1)));
        let target = id((source + step) % count);
        json!({"edge": Edge::new(id(source), target, Kind::Similar, 0.6, 0.6, 1_000)}).to_string()
    };
    space.write(1_000, |space| space.import((0..count * links).map(edge), 1_000)).expect("linked");
}

fn names_and_calls(c: &mut Criterion) {
    c.bench_function("alias resolution", |b| b.iter(|| aliases::resolve(black_box("consolidate_memories"))));
    let folder = tempfile::tempdir().expect("a folder");
    let stores = SqliteStores::open(&folder.path().join("memory.db")).expect("a store");
    let server = MemoryServer::new(Options { dreams: false, ..Options::new(Arc::new(stores)) }).expect("a server");
    let caller = Caller::default();
    let object = |value: Value| value.as_object().cloned().unwrap_or_default();
    for number in 0..60 {
        let arguments = object(json!({"content": sentence(number), "rationale": "a bench"}));
        server.call(&caller, "inject_context", &arguments).outcome.expect("stored");
    }
    c.bench_function("pulse", |b| {
        b.iter(|| server.with_space(&caller, |space, _| Ok(space.pulse())).expect("a pulse"))
    });
    let mut number = 100;
    c.bench_function("store_memory", |b| {
        b.iter(|| {
            number += 1;
            server.call(&caller, "store_memory", &object(json!({"content": sentence(number)})))
        });
    });
    c.bench_function("inject_context", |b| {
        b.iter(|| {
            number += 1;
            server.call(
                &caller,
                "inject_context",
                &object(json!({"content": sentence(number), "rationale": "a bench"})),
            )
        });
    });
    let fingerprints: Vec<Value> = server
        .with_space(&caller, |space, now| {
            let ids: Vec<_> = space.graph.memories().take(2).map(|(_, memory)| memory.id).collect();
            ids.iter()
                .map(|id| Ok(switchboard_contextgraph::fingerprint::wire::write(&space.fingerprint(*id, now)?)))
                .collect()
        })
        .expect("fingerprints");
    let arguments: Map<String, Value> = object(
        json!({"old_fingerprint": fingerprints[0], "new_fingerprint": fingerprints[1], "include_diagnostics": true}),
    );
    c.bench_function("compute_delta_sc", |b| b.iter(|| server.call(&caller, "compute_delta_sc", &arguments)));
}

fn searching(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut space = space(folder.path(), "large");
    let count = std::env::var("MEMORIES").ok().and_then(|count| count.parse().ok()).unwrap_or(100_000);
    fill(&mut space, count, 3);
    let mut now = 10_000_000;
    let mut group = c.benchmark_group("search_graph");
    group.sample_size(30);
    group.bench_function(format!("{count} memories"), |b| {
        b.iter(|| {
            now += 10;
            let search =
                Search { query: "what happened to the violin in spring", most: 10, least: 0.0, modality: None };
            space.read(now, |space| space.search(&search, now)).expect("found")
        });
    });
    group.finish();
}

fn dreaming(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut space = space(folder.path(), "dream");
    fill(&mut space, 10_000, 5);
    let mut group = c.benchmark_group("dream");
    group.sample_size(10);
    group.bench_function("10,000 memories", |b| {
        b.iter_custom(|rounds| {
            let began = Instant::now();
            for _ in 0..rounds {
                let mut longest = Duration::ZERO;
                let mut dream = space.begin_dream(20_000_000);
                loop {
                    let slice_began = Instant::now();
                    let slice =
                        space.write_beside(20_000_000, |space| space.dream_on(&mut dream, 20_000_000, &|| false));
                    longest = longest.max(slice_began.elapsed());
                    if slice.expect("a slice") == Slice::Done {
                        break;
                    }
                }
                assert!(longest < Duration::from_millis(100), "a slice took {longest:?}");
            }
            began.elapsed()
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(4));
    targets = names_and_calls, searching, dreaming
}
criterion_main!(benches);
