//! Limits of hosts: code that connects by itself, in every way that its language has, and code that connects to nothing.

use serde_json::{Value, json};
use switchboard_validators::arguments::Checks;

use crate::common::{assert_honest, assert_hostile, checks};

fn limited() -> Checks {
    checks(
        &[],
        &json!({"name": "run_code", "description": "Runs code"}),
        &[json!({"hosts": ["ok.example.com", "*.good.example"]})],
    )
}

/// Programs, parted by a line of dashes, in a language or in one that nobody names.
fn programs(language: &str, text: &str) -> Vec<Value> {
    let each = text.split("\n---\n").map(|program| program.trim_matches('\n'));
    each.flat_map(|program| [json!({"code": program, "language": language}), json!({"code": program})]).collect()
}

#[test]
fn python_that_connects_elsewhere_is_refused_under_limits_of_hosts() {
    assert_hostile(&limited(), &programs("python", include_str!("../tables/reaching-hostile.py.txt")));
}

#[test]
fn python_that_connects_inside_or_to_nothing_passes_under_limits_of_hosts() {
    assert_honest(&limited(), &programs("python", include_str!("../tables/reaching-honest.py.txt")));
}

#[test]
fn javascript_that_connects_elsewhere_is_refused_under_limits_of_hosts() {
    assert_hostile(&limited(), &programs("javascript", include_str!("../tables/reaching-hostile.js.txt")));
}

#[test]
fn javascript_that_connects_inside_or_to_nothing_passes_under_limits_of_hosts() {
    assert_honest(&limited(), &programs("javascript", include_str!("../tables/reaching-honest.js.txt")));
}

#[test]
fn a_refusal_says_what_would_permit_the_code() {
    let arguments = json!({"code": "import requests\nrequests.get(input())", "language": "python"});
    let refused = crate::common::check(&limited(), &arguments).expect_err("an address that nobody sees");
    assert_eq!(refused.finding.rule, "host-unseen");
    assert!(refused.finding.suggestion.is_some_and(|text| text.contains("constant string")));
}
