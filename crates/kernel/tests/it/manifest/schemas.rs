//! The published schemas, and everything that has to fit them.

use std::path::PathBuf;

use serde_json::{Value, json};
use switchboard_protocol::proposals::manifest::ServiceManifest;
use switchboard_protocol::proposals::manifest::declared::DeclaredManifest;

use crate::gate::world::raw;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> Value {
    let text = std::fs::read_to_string(root().join(path)).expect("the file");
    serde_json::from_str(&text).expect("JSON")
}

/// What is wrong with a value, by a schema of ours; with a name, by a part of it.
pub(crate) fn faults(schema: &str, part: Option<&str>, value: &Value) -> Vec<String> {
    let root = read(&format!("schemas/{schema}.schema.json"));
    let schema = match part {
        None => root,
        Some(part) => json!({"$schema": root["$schema"], "$defs": root["$defs"], "$ref": format!("#/$defs/{part}")}),
    };
    // A format that is not known fails the test, so that nothing passes because nobody looked.
    let options = jsonschema::options().should_validate_formats(true).should_ignore_unknown_formats(false);
    let validator = options.build(&schema).expect("a schema");
    validator.iter_errors(value).map(|fault| format!("{}: {fault}", fault.instance_path())).collect()
}

/// A keyword that is misspelt checks nothing.
#[test]
fn every_keyword_is_one() {
    const KEYWORDS: [&str; 19] = [
        "$schema",
        "$id",
        "$defs",
        "$ref",
        "title",
        "description",
        "default",
        "type",
        "const",
        "enum",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "uniqueItems",
        "required",
        "items",
    ];
    fn look(schema: &Value) {
        for (keyword, says) in schema.as_object().expect("a schema") {
            match keyword.as_str() {
                "properties" | "$defs" => says.as_object().expect("schemas").values().for_each(look),
                "items" => look(says),
                other => assert!(KEYWORDS.contains(&other), "{other}"),
            }
        }
    }
    for name in ["get-manifest", "intent", "service-manifest"] {
        look(&read(&format!("schemas/{name}.schema.json")));
    }
}

pub(crate) fn is_manifest(value: &Value) {
    assert_eq!(faults("service-manifest", None, value), [""; 0], "{value:#}");
}

#[test]
fn every_example_fits_and_is_read() {
    let mut seen = 0;
    for name in ["github", "jira", "slack", "linear", "notion"] {
        let example = read(&format!("examples/manifests/{name}.json"));
        is_manifest(&example);
        let typed: ServiceManifest = raw(&example).view().expect("a manifest");
        let again: Value = raw(&serde_json::to_value(&typed).unwrap()).view().unwrap();
        assert_eq!(again, example, "nothing of {name} is lost");
        let declared = DeclaredManifest::read(&raw(&example)).expect("a server's manifest");
        assert!(typed.tools.iter().all(|tool| declared.tool(&tool.name).is_some()), "{name}");
        assert!(typed.tools.len() >= 5 && declared.rate_limits.is_some() && !declared.extensions.is_empty());
        seen += typed.tools.iter().filter(|tool| tool.latency.is_some() && tool.cost.is_some()).count();
    }
    assert_eq!(seen, 26, "each tool says how long it takes and what it costs");
    let files = std::fs::read_dir(root().join("examples/manifests")).unwrap();
    assert_eq!(files.count(), 5, "every example is looked at");
}

#[test]
fn the_examples_of_the_proposals_fit() {
    let tool = |more: Value| {
        let mut tool = json!({"name": "", "description": "", "input_schema": {}});
        for (key, value) in more.as_object().unwrap() {
            tool[if key == "tool" { "name" } else { key }] = value.clone();
        }
        tool
    };
    for example in [
        json!({"tool": "export_analytics", "cost": {"category": "metered", "estimated_units": 5}, "latency": "minutes",
            "quota": {"remaining": 12, "resets_at": "2026-03-16T00:00:00Z"}}),
        json!({"tool": "delete_repository", "requires_confirmation": true, "risk_level": "destructive",
            "confirmation_message": "This will permanently delete the repository and all its contents. Proceed?"}),
        json!({"tool": "analyze_image", "input_types": ["image/png", "image/jpeg"], "binary_transport": "multipart",
            "output_types": ["application/json"], "max_input_size_bytes": 10485760}),
    ] {
        assert_eq!(faults("service-manifest", Some("Tool"), &tool(example.clone())), [""; 0], "{example}");
    }
    let call = json!({"tool": "search_issues", "parameters": {"query": "deployment failure"},
        "intent": "Find the most recent ticket related to last Friday's deployment incident"});
    assert_eq!(faults("intent", None, &call), [""; 0]);
    let suggestion = json!({"recommended_tool": "get_recent_incidents",
        "reason": "Filters by incident type and recency, more efficient for this use case"});
    assert_eq!(faults("intent", Some("Suggestion"), &suggestion), [""; 0]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let example = read("examples/manifests/jira.json");
    for (pointer, wrong) in [
        ("/manifest_version", json!("9")),
        ("/server/version", json!("1.0")),
        ("/tools/0/name", json!("Search-Issues")),
        ("/tools/0/latency", json!("soon")),
        ("/tools/0/cost/category", json!("cheap")),
        ("/tools/0/input_schema", json!("object")),
        ("/tools/4/quota/resets_at", json!("tomorrow")),
        ("/tools/4/output_types/0", json!("csv")),
        ("/supported_extensions/0", json!("telepathy")),
        ("/rate_limits/requests_per_minute", json!(-1)),
        ("/auth/methods/0", json!("magic")),
    ] {
        let mut broken = example.clone();
        *broken.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = wrong;
        assert!(!faults("service-manifest", None, &broken).is_empty(), "{pointer}");
    }
    for missing in ["server", "tools", "manifest_version"] {
        let mut broken = example.clone();
        broken.as_object_mut().unwrap().remove(missing);
        assert!(!faults("service-manifest", None, &broken).is_empty(), "{missing}");
    }
}
