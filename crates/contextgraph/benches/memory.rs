//! The figures of the memory, as percentiles: names, pulse, storing, differences, searching among 100,000, a dream over
//! 10,000.
//!
//! `cargo bench -p switchboard-contextgraph --bench memory`. Ends with an error if a figure is not what it should be. The large
//! graphs are taken in as an export is, which is quicker than storing one by one.

#![expect(clippy::print_stdout, reason = "figures are read by people")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use switchboard_contextgraph::embedders::{Embedders, Modality, StaticTable};
use switchboard_contextgraph::engine::{Slice, Space};
use switchboard_contextgraph::graph::Memory;
use switchboard_contextgraph::graph::edges::{Edge, EdgeKind};
use switchboard_contextgraph::server::MemoryCaller;
use switchboard_contextgraph::store::Stores as _;
use switchboard_contextgraph::tools::aliases;
use switchboard_contextgraph::{Id, MemoryOptions, MemoryServer, SqliteStores};

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
            provenance: switchboard_contextgraph::graph::Provenance::default(),
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
        json!({"edge": Edge::new(id(source), target, EdgeKind::Similar, 0.6, 0.6, 1_000)}).to_string()
    };
    space.write(1_000, |space| space.import((0..count * links).map(edge), 1_000)).expect("linked");
}

/// Measures something again and again and prints its percentiles. Whether the one that counts is under its bound.
struct Figures {
    all_good: bool,
}

impl Figures {
    fn took(&mut self, what: &str, percentile: usize, bound: Duration, mut samples: Vec<Duration>) {
        samples.sort_unstable();
        let at = |percent: usize| samples[(samples.len() * percent / 100).min(samples.len() - 1)];
        let good = at(percentile) < bound;
        self.all_good &= good;
        println!(
            "{what:<44} p50 {:>10.3?}  p95 {:>10.3?}  p99 {:>10.3?}  max {:>10.3?}  of {:>6}; p{percentile} under {bound:?}: {}",
            at(50),
            at(95),
            at(99),
            at(100),
            samples.len(),
            if good { "yes" } else { "NO" }
        );
    }

    fn measure(&mut self, what: &str, count: usize, percentile: usize, bound: Duration, mut work: impl FnMut(usize)) {
        (0..count / 10).for_each(&mut work);
        let samples = (0..count).map(|number| {
            let began = Instant::now();
            work(count + number);
            began.elapsed()
        });
        let samples = samples.collect();
        self.took(what, percentile, bound, samples);
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn server(folder: &std::path::Path, space: &str) -> MemoryServer {
    let stores = SqliteStores::open(&folder.join("memory.db")).expect("a store");
    let options =
        MemoryOptions { dreams: false, default_space: space.to_owned(), ..MemoryOptions::new(Arc::new(stores)) };
    MemoryServer::new(options).expect("a server")
}

fn names_and_calls(figures: &mut Figures) {
    // One resolution is quicker than a clock: a thousand are measured together.
    let names = ["consolidate_memories", "discover_goals", "gwt/compute_delta_sc", "search_graph", "nothing"];
    let samples = (0..5_000).map(|_| {
        let began = Instant::now();
        for number in 0..1_000 {
            black_box(aliases::resolve(black_box(names[number % names.len()])));
        }
        began.elapsed() / 1_000
    });
    let samples = samples.collect();
    figures.took("alias resolution", 99, Duration::from_micros(1), samples);
    let folder = tempfile::tempdir().expect("a folder");
    let server = server(folder.path(), "default");
    let caller = MemoryCaller::default();
    let call =
        |tool: &str, arguments: Value| server.call(&caller, tool, &object(arguments)).outcome.expect("an answer");
    for number in 0..60 {
        call("inject_context", json!({"content": sentence(number), "rationale": "a bench"}));
    }
    let stores = SqliteStores::open(&folder.path().join("memory.db")).expect("a store");
    let storage = stores.open("default").expect("a space");
    let space = Space::open("default", storage, Embedders::new(Arc::new(StaticTable)), 1, 0).expect("the space");
    figures.measure("pulse", 10_000, 99, Duration::from_millis(1), |_| {
        black_box(space.pulse());
    });
    figures.measure("utl_status, a whole call with its pulse", 5_000, 99, Duration::from_millis(1), |_| {
        call("utl_status", json!({}));
    });
    figures.measure("store_memory, on the disk", 1_000, 95, Duration::from_millis(20), |number| {
        call("store_memory", json!({"content": sentence(10_000 + number)}));
    });
    figures.measure("inject_context, on the disk", 1_000, 95, Duration::from_millis(20), |number| {
        call("inject_context", json!({"content": sentence(20_000 + number), "rationale": "a bench"}));
    });
    let fingerprints: Vec<Value> = server
        .with_space(&caller, |space, now| {
            let ids: Vec<_> = space.graph.memories().take(2).map(|(_, memory)| memory.id).collect();
            ids.iter()
                .map(|id| Ok(switchboard_contextgraph::fingerprint::wire::write(&space.fingerprint(*id, now)?)))
                .collect()
        })
        .expect("fingerprints");
    let arguments =
        json!({"old_fingerprint": fingerprints[0], "new_fingerprint": fingerprints[1], "include_diagnostics": true});
    figures.measure("compute_delta_sc", 2_000, 95, Duration::from_millis(25), |_| {
        call("compute_delta_sc", arguments.clone());
    });
}

fn searching(figures: &mut Figures) {
    let folder = tempfile::tempdir().expect("a folder");
    let count = std::env::var("MEMORIES").ok().and_then(|count| count.parse().ok()).unwrap_or(100_000);
    fill(&mut space(folder.path(), "large"), count, 3);
    let server = server(folder.path(), "large");
    let caller = MemoryCaller::default();
    let search = |query: String| {
        let arguments = object(json!({"query": query, "includeContent": true}));
        server.call(&caller, "search_graph", &arguments).outcome.expect("found")
    };
    let began = Instant::now();
    search("anything".to_owned());
    let first = format!("a first search in {count}, read from the disk");
    figures.took(&first, 50, Duration::from_millis(300), vec![began.elapsed()]);
    let bound = Duration::from_millis(30);
    // Others each time: what an earlier one read does not help.
    figures.measure(&format!("search_graph by meaning, {count}"), 300, 95, bound, |number| {
        let asked = ["what went wrong with the instrument", "when did the boat trip begin", "news about money matters"];
        search(format!("{} {}", asked[number % 3], TIMES[number % 8]));
    });
    figures.measure(&format!("search_graph by words, {count}"), 300, 95, bound, |number| {
        search(format!("note {} {} {}", (number * 331) % count, SUBJECTS[number % 12], DEEDS[number % 10]));
    });
}

/// By purpose among 20,000, and what a memory takes on the disk.
fn by_purpose(figures: &mut Figures) {
    let folder = tempfile::tempdir().expect("a folder");
    let count = 20_000;
    fill(&mut space(folder.path(), "purpose"), count, 3);
    let server = server(folder.path(), "purpose");
    let caller = MemoryCaller::default();
    figures.measure("search_teleological, 20000", 100, 95, Duration::from_millis(50), |number| {
        let query = format!("{} {}", SUBJECTS[number % 12], DEEDS[number % 10]);
        let arguments = object(json!({"query_content": query, "max_results": 10}));
        server.call(&caller, "search_teleological", &arguments).outcome.expect("found");
    });
    let bytes = std::fs::metadata(folder.path().join("memory.db")).map_or(0, |file| file.len());
    let texts: usize = (0..count).map(|number| sentence(number).len()).sum();
    let each = (bytes - texts as u64) / count as u64;
    figures.all_good &= each <= 4_096;
    println!("{:<44} {each} bytes beside its text; at most 4096", "a memory with three edges on the disk");
}

/// What others wait for while many alike memories are compared.
fn consolidating(figures: &mut Figures) {
    let folder = tempfile::tempdir().expect("a folder");
    let server = server(folder.path(), "alike");
    let caller = MemoryCaller::default();
    for number in 0..600 {
        let content = format!("Meeting {number} about the budget of the harbour is at ten");
        server.call(&caller, "store_memory", &object(json!({"content": content}))).outcome.expect("stored");
    }
    let over = std::sync::atomic::AtomicBool::new(false);
    let mut waits = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let began = Instant::now();
            let arguments = object(json!({"dry_run": true, "max_memories": 600, "min_similarity": 0.6}));
            server.call(&caller, "trigger_consolidation", &arguments).outcome.expect("compared");
            println!("{:<44} {:?}", "comparing 600 alike memories", began.elapsed());
            over.store(true, std::sync::atomic::Ordering::Release);
        });
        while !over.load(std::sync::atomic::Ordering::Acquire) {
            let began = Instant::now();
            server
                .call(&caller, "search_graph", &object(json!({"query": "budget of the harbour"})))
                .outcome
                .expect("found");
            waits.push(began.elapsed());
        }
    });
    figures.took("search_graph meanwhile", 100, Duration::from_millis(50), waits);
}

/// What the process holds in memory, in mebibytes: now and at most.
fn held() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of = |key: &str| {
        let line = status.lines().find(|line| line.starts_with(key));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) / 1024
    };
    (of("VmRSS:"), of("VmHWM:"))
}

fn dreaming(figures: &mut Figures) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut large = space(folder.path(), "dream");
    fill(&mut large, 10_000, 5);
    let (before, _) = held();
    let mut slices = Vec::new();
    for round in 0..3 {
        let began = Instant::now();
        let now = 20_000_000 + round * 10_000_000;
        let mut dream = large.begin_dream(now);
        loop {
            let slice_began = Instant::now();
            let slice = large.write_beside(now, |space| space.dream_on(&mut dream, now, &|| false));
            slices.push(slice_began.elapsed());
            if slice.expect("a slice") == Slice::Done {
                break;
            }
        }
        let (now_held, most) = held();
        println!(
            "{:<44} {:?} of work; {before} MiB held before, {now_held} after, {most} at most so far",
            format!("dream {round} over 10,000 memories, 50,000 edges"),
            began.elapsed()
        );
    }
    figures.took("one slice of a dream", 99, Duration::from_millis(100), slices);
    drop(large);
    let server = server(folder.path(), "dream");
    let caller = MemoryCaller::default();
    let call =
        |tool: &str, arguments: Value| server.call(&caller, tool, &object(arguments)).outcome.expect("an answer");
    call("get_dream_status", json!({}));
    let mut aborts = Vec::new();
    for round in 0..30 {
        call("trigger_dream", json!({"force": true}));
        // Somewhere in the middle, each time elsewhere.
        std::thread::sleep(Duration::from_millis(13 * (round % 10)));
        let began = Instant::now();
        call("abort_dream", json!({}));
        aborts.push(began.elapsed());
    }
    figures.took("abort_dream, until it is awake", 99, Duration::from_millis(100), aborts);
}

fn main() -> std::process::ExitCode {
    let mut figures = Figures { all_good: true };
    names_and_calls(&mut figures);
    dreaming(&mut figures);
    consolidating(&mut figures);
    by_purpose(&mut figures);
    searching(&mut figures);
    if figures.all_good { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
}
