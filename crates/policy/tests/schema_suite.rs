//! The official cases of JSON Schema, against the engine that checks arguments.
//!
//! What a schema allows is never refused, in any draft: that holds for every case. Of what a schema does not allow the engine
//! refuses what every reader would refuse; the table says how many cases of each keyword that is, and why the others pass.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;
use switchboard_policy::schema::Schema;
use switchboard_wire::{Limits, Raw};

#[derive(Deserialize)]
struct Group {
    description: String,
    schema: Value,
    tests: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    description: String,
    data: Value,
    valid: bool,
}

/// File, invalid cases that are refused, invalid cases that pass, and why these pass.
const TABLE: &[(&str, usize, usize, &str)] = &[
    ("draft2020-12/additionalProperties", 2, 7, "`false` is left to the server, patterns too, and 1 reads as a flag"),
    ("draft2020-12/allOf", 13, 7, "`multipleOf` is left to the server"),
    ("draft2020-12/anchor", 0, 4, "anchors are not followed"),
    ("draft2020-12/anyOf", 6, 0, ""),
    ("draft2020-12/boolean_schema", 9, 0, ""),
    ("draft2020-12/const", 30, 0, ""),
    ("draft2020-12/contains", 0, 10, "left to the server"),
    ("draft2020-12/content", 0, 0, ""),
    ("draft2020-12/default", 1, 0, ""),
    ("draft2020-12/defs", 0, 1, "the metaschema is not at hand"),
    ("draft2020-12/dependentRequired", 0, 6, "left to the server"),
    ("draft2020-12/dependentSchemas", 0, 10, "left to the server"),
    ("draft2020-12/dynamicRef", 0, 21, "dynamic references are not followed"),
    ("draft2020-12/enum", 23, 0, ""),
    ("draft2020-12/exclusiveMaximum", 2, 0, ""),
    ("draft2020-12/exclusiveMinimum", 2, 0, ""),
    ("draft2020-12/format", 0, 0, ""),
    ("draft2020-12/if-then-else", 0, 8, "left to the server"),
    ("draft2020-12/infinite-loop-detection", 1, 0, ""),
    ("draft2020-12/items", 6, 6, "`false` is left to the server, and texts that read as numbers or flags are taken"),
    ("draft2020-12/maxContains", 0, 6, "left to the server"),
    ("draft2020-12/maxItems", 2, 0, ""),
    ("draft2020-12/maxLength", 2, 0, ""),
    ("draft2020-12/maxProperties", 3, 0, ""),
    ("draft2020-12/maximum", 2, 0, ""),
    ("draft2020-12/minContains", 0, 14, "left to the server"),
    ("draft2020-12/minItems", 2, 0, ""),
    ("draft2020-12/minLength", 2, 1, "some count units of UTF-16"),
    ("draft2020-12/minProperties", 2, 0, ""),
    ("draft2020-12/minimum", 3, 0, ""),
    ("draft2020-12/multipleOf", 0, 4, "left to the server"),
    ("draft2020-12/not", 0, 24, "left to the server"),
    ("draft2020-12/oneOf", 7, 8, "more than one may seem to fit"),
    ("draft2020-12/pattern", 0, 1, "left to the server"),
    ("draft2020-12/patternProperties", 0, 10, "left to the server"),
    ("draft2020-12/prefixItems", 2, 0, ""),
    (
        "draft2020-12/properties",
        8,
        4,
        "patterns are left to the server, and texts that read as numbers or flags are taken",
    ),
    ("draft2020-12/propertyNames", 0, 5, "left to the server"),
    (
        "draft2020-12/ref",
        19,
        22,
        "what stands beside a reference, anchors and ids are not followed, and texts that read as numbers or flags are taken",
    ),
    ("draft2020-12/required", 6, 0, ""),
    ("draft2020-12/type", 55, 4, "texts that read as numbers or flags are taken"),
    ("draft2020-12/unevaluatedItems", 1, 25, "left to the server"),
    ("draft2020-12/unevaluatedProperties", 4, 57, "left to the server"),
    ("draft2020-12/uniqueItems", 0, 19, "left to the server"),
    ("draft4/additionalItems", 0, 5, "left to the server"),
    ("draft4/definitions", 0, 1, "the metaschema is not at hand"),
    ("draft4/enum", 23, 0, ""),
    ("draft4/items", 5, 3, "`false` is left to the server, and texts that read as numbers or flags are taken"),
    ("draft4/maximum", 4, 0, ""),
    ("draft4/minimum", 5, 0, ""),
    (
        "draft4/ref",
        13,
        9,
        "what stands beside a reference, anchors and ids are not followed, and texts that read as numbers or flags are taken",
    ),
    ("draft4/type", 55, 4, "texts that read as numbers or flags are taken"),
    ("draft7/additionalItems", 0, 6, "left to the server"),
    ("draft7/const", 30, 0, ""),
    ("draft7/definitions", 0, 1, "the metaschema is not at hand"),
    ("draft7/enum", 23, 0, ""),
    ("draft7/exclusiveMaximum", 2, 0, ""),
    ("draft7/exclusiveMinimum", 2, 0, ""),
    ("draft7/items", 6, 4, "`false` is left to the server, and texts that read as numbers or flags are taken"),
    ("draft7/maximum", 2, 0, ""),
    ("draft7/minimum", 3, 0, ""),
    (
        "draft7/ref",
        19,
        21,
        "what stands beside a reference, anchors and ids are not followed, and texts that read as numbers or flags are taken",
    ),
    ("draft7/type", 55, 4, "texts that read as numbers or flags are taken"),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/json-schema-test-suite")
}

fn raw(value: &Value) -> Raw {
    Raw::parse(value.to_string(), &Limits::default()).expect("JSON")
}

/// The files, as `draft/keyword`.
fn files() -> Vec<String> {
    let mut files = Vec::new();
    for draft in ["draft2020-12", "draft4", "draft7"] {
        for entry in std::fs::read_dir(folder().join(draft)).expect("the folder") {
            let name = entry.expect("an entry").file_name().into_string().expect("a name");
            files.push(format!("{draft}/{}", name.strip_suffix(".json").expect("a file of cases")));
        }
    }
    files.sort();
    files
}

/// Invalid cases of a file that are refused, and the names of those that pass.
fn run(file: &str) -> (usize, Vec<String>) {
    let text = std::fs::read_to_string(folder().join(format!("{file}.json"))).expect("the file");
    let groups: Vec<Group> = serde_json::from_str(&text).expect("cases");
    let (mut refused, mut passed) = (0, Vec::new());
    for group in groups {
        let schema = Schema::read(&raw(&group.schema));
        for case in group.tests {
            let answer = schema.check(&raw(&case.data));
            let name = format!("{}: {}", group.description, case.description);
            match (case.valid, answer) {
                (true, Err(why)) => panic!("{file}: {name} is valid and refused: {why:?}"),
                (true, Ok(())) => {}
                (false, Err(_)) => refused += 1,
                (false, Ok(())) => passed.push(name),
            }
        }
    }
    (refused, passed)
}

#[test]
fn what_is_valid_is_never_refused_and_what_is_not_as_the_table_says() {
    let known: Vec<&str> = TABLE.iter().map(|(file, ..)| *file).collect();
    let mut wrong = Vec::new();
    for file in files() {
        let (refused, passed) = run(&file);
        let said = TABLE.iter().find(|(name, ..)| *name == file).map(|(_, refused, passed, _)| (*refused, *passed));
        if said != Some((refused, passed.len())) {
            wrong.push(format!("(\"{file}\", {refused}, {}, ..): {passed:#?}", passed.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(known, files(), "every line of the table has its file");
    assert!(TABLE.iter().all(|(_, _, passed, why)| (*passed == 0) == why.is_empty()), "what passes has a reason");
}
