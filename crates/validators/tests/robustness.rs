//! Cases written without a look at the rules, for the validators of commands, code, addresses and paths.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::Value;
use switchboard_policy::{Verdict, path};
use switchboard_validators::code::{self, Language, Level};
use switchboard_validators::{network, shell};

fn check(lines: &str, judge: impl Fn(&str) -> Verdict) {
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let verdict = judge(case["input"].as_str().unwrap());
        assert_eq!(verdict.is_err(), case["expect"] == "block", "{line} {verdict:?}");
    }
}

#[test]
fn commands() {
    check(include_str!("corpus/shell.jsonl"), shell::check);
}

#[test]
fn python() {
    check(include_str!("corpus/python.jsonl"), |source| code::check(Language::Python, Level::Standard, source));
}

#[test]
fn addresses() {
    check(include_str!("corpus/network.jsonl"), |url| network::check(url, None));
}

#[test]
fn paths() {
    let scope = path::Scope::new(&["/project/**", "/tmp/**"], &["**/.env", "**/secrets/**"], "/project");
    check(include_str!("corpus/path.jsonl"), |input| path::check(&scope, input, &|_: &str| None));
}

/// Four times the text may take eight times as long, and not sixteen.
#[test]
fn a_long_statement_takes_no_longer_than_it_is_long() {
    let judged = |list: usize| {
        let text = format!("select * from t where x in ({}'b')", "'a',".repeat(list));
        let begun = std::time::Instant::now();
        let verdict = switchboard_validators::arguments::check_statement(&text, false);
        assert!(verdict.is_ok(), "{verdict:?}");
        begun.elapsed()
    };
    let least = |list: usize| (0..3).map(|_| judged(list)).min().unwrap_or_default();
    let (short, long) = (least(4_000), least(16_000));
    assert!(long < short * 8, "{short:?} for 16 KB, {long:?} for 64 KB");
}
