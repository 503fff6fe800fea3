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
        assert_eq!(verdict.is_err(), case["expect"] != "allow", "{line} {verdict:?}");
        assert!(case["expect"] != "ask" || verdict.is_err_and(|finding| finding.asks()), "{line}");
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
#[expect(clippy::disallowed_methods, reason = "a test measures how long it takes")]
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

/// What is too long or too deep is answered in bounded time, and never by allowing what was not read.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test measures how long it takes")]
fn hostile_sizes_are_answered_and_not_allowed() {
    let megabyte = 1 << 20;
    let scope = path::Scope::new(&["/project/**"], &[], "/project");
    let begun = std::time::Instant::now();
    for command in [
        "ls ".to_owned() + &"a".repeat(megabyte),
        "ls ".to_owned() + &"a ".repeat(megabyte / 2),
        "(".repeat(10_000) + "ls" + &")".repeat(10_000),
        "{a,".repeat(10_000) + &"}".repeat(10_000),
        "$(".repeat(10_000) + &")".repeat(10_000),
        "`".repeat(10_000),
        "echo ".to_owned() + &"\"$(".repeat(5_000),
        "ls ;".repeat(4_000) + "rm -rf /",
        "env ".repeat(4_000) + "ls",
        "if true; then ".repeat(1_000) + "ls",
    ] {
        let verdict = shell::check(&command);
        let shown: String = command.chars().take(20).collect();
        assert!(verdict.is_err(), "{shown}");
        assert!(verdict.is_err_and(|finding| finding.message.len() < 2_048), "{shown}");
    }
    for statement in [
        "select ".to_owned() + &"(".repeat(10_000) + "1" + &")".repeat(10_000) + "; drop table t",
        "select '".to_owned() + &"a".repeat(megabyte) + "'; drop table t",
        "/* ".repeat(10_000) + " */ drop table t",
        "with a as (".repeat(2_000) + "delete from t",
        "select $".to_owned() + &"$a$".repeat(10_000) + "; drop table t",
    ] {
        let shown: String = statement.chars().take(20).collect();
        assert!(switchboard_validators::arguments::check_statement(&statement, false).is_err(), "{shown}");
    }
    for address in [
        "http://".to_owned() + &"a.".repeat(megabyte / 2),
        "http://".to_owned() + &"[".repeat(10_000),
        "http://127.0.0.1/".to_owned() + &"a".repeat(megabyte),
        "http://".to_owned() + &"%25".repeat(100_000) + "@127.0.0.1/",
    ] {
        assert!(network::check(&address, None).is_err());
    }
    for place in ["a/".repeat(megabyte / 2), "../".repeat(10_000) + "etc/passwd", "%25".repeat(100_000) + "2e%2e/x"] {
        assert!(path::check(&scope, &place, &|_: &str| None).is_err());
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// Trees as deep as a program can be, on the stack that a thread has by default: a walk over one, or its end, ends no process.
#[test]
fn deep_programs_are_answered() {
    let deep = |first: &str, piece: &str, last: &str, bytes: usize| {
        format!("{first}{}{last}", piece.repeat(bytes.saturating_sub(first.len() + last.len()) / piece.len()))
    };
    // The second half is read by nobody, and is parsed neither for judging nor for the hints of its refusal.
    for bytes in [code::MAX_BYTES, 1 << 20] {
        for (first, piece, last) in [
            ("x = ", "-", "1"),
            ("x = ", "not ", "1"),
            ("for i in y:\n    f(a", ".b(1)", ")"),
            ("def f():\n    while f(", "1+", "1): f()"),
            ("x = 1", "+1", ""),
            ("x = ", "lambda:", "1"),
            ("x = 1", " if 1 else 1", ""),
            ("x = a", "[0]", ""),
            ("x = a", "()", ""),
            ("x = a", ".b", ""),
            ("x = ", "(", "1"),
            ("x = ", "[", ""),
            ("if a:\n  pass\n", "elif a:\n  pass\n", ""),
            ("x = ", "await ", "a"),
            ("x = a", "**a", ""),
            ("x = ", "`${", "1"),
            ("x = ", "!", "1"),
            ("x = 1", " ? 1 : 1", ""),
            ("x = ", "a => ", "1"),
            ("", "if (a) b(); else ", "c()"),
            ("", "a: ", "b()"),
            ("x = ", "a = ", "1"),
            ("x = a", "?.b()", ""),
            ("x = ", "typeof ", "a"),
            ("let x: ", "a | ", "b = 1"),
            ("let x: a", "[]", " = 1"),
        ] {
            let source = deep(first, piece, last, bytes);
            for language in [Language::Python, Language::JavaScript, Language::TypeScript] {
                let verdict = code::review(language, Level::Strict, &source);
                assert!(bytes <= code::MAX_BYTES || verdict.is_err(), "{first}{piece}");
            }
        }
    }
}
