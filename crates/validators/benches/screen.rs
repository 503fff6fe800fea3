//! Time of screening one definition: a usual one, the largest that are met, and ones that are made to take long.
#![allow(missing_docs, reason = "criterion's macros make undocumented items")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Map, Value, json};
use switchboard_validators::screen::{self, Screening};
use switchboard_wire::{Limits, Raw};

const PROSE: &str = "Searches the notes of a folder and returns the best matches with their paths. Use `limit` to keep the \
    answer small. Call list_folders first if the folder is not known. Results are sorted by date unless `sort` says more. ";

fn raw(value: &Value) -> Raw {
    Raw::parse(value.to_string(), &Limits::default()).expect("valid JSON")
}

fn properties(count: usize, about: &str) -> Map<String, Value> {
    (0..count).map(|at| (format!("option_{at}"), json!({"type": "string", "description": about}))).collect()
}

fn definition(description: &str, properties: &Map<String, Value>) -> Raw {
    let schema = json!({"type": "object", "properties": properties});
    raw(&json!({"name": "search_notes", "description": description, "inputSchema": schema}))
}

fn screening(criterion: &mut Criterion) {
    let itself = json!({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {
        "next": {"$ref": "#/$defs/node"}, "text": {"type": "string", "description": "What it says."}}}}});
    let usual = "How many matches are returned at most; 20 unless it is given.";
    let cases = [
        // The median of public tools has some 700 bytes in 27 texts, one in a hundred has more than 7 KB.
        ("usual", definition(&PROSE.repeat(2), &properties(6, usual)), Some(Screening::Passed)),
        ("large, 7 KB", definition(&PROSE.repeat(12), &properties(60, usual)), Some(Screening::Passed)),
        ("a description of 100 KB", definition(&PROSE.repeat(440), &Map::new()), None),
        (
            "a schema that refers to itself",
            raw(&json!({"name": "walk", "inputSchema": itself})),
            Some(Screening::Passed),
        ),
    ];
    let mut group = criterion.benchmark_group("screen");
    for (name, definition, expected) in &cases {
        let screened = screen::tool(definition);
        assert!(expected.as_ref().map_or_else(|| screened.is_held(), |expected| screened == *expected), "{screened:?}");
        group.bench_function(*name, |bencher| bencher.iter(|| screen::tool(black_box(definition))));
    }
    group.finish();
}

criterion_group!(benches, screening);
criterion_main!(benches);
