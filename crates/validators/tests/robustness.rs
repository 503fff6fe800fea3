//! Cases written without a look at the rules, for the validators of commands, code, addresses and paths.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use serde_json::Value;
use switchboard_policy::permission::Scope;
use switchboard_policy::{Verdict, path};
use switchboard_protocol::mgp::security::ToolSecurity;
use switchboard_testkit::effort::worked;
use switchboard_validators::arguments::{self, Checks, NoWorld};
use switchboard_validators::code::{self, Language, Level};
use switchboard_validators::screen::{self, Layer};
use switchboard_validators::{network, shell};
use switchboard_wire::{Edit, Limits, Raw};

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

/// Four times the text may be twelve times the work, and not sixteen.
fn grows_with_its_length(piece: &str, judge: impl Fn(&str)) {
    if let Some(slow) = too_slow(piece, judge) {
        panic!("{slow}");
    }
}

/// What a piece repeated took, where four times the length is twelve times the work.
fn too_slow(piece: &str, judge: impl Fn(&str)) -> Option<String> {
    let judged = |bytes: usize| {
        let text = piece.repeat(bytes / piece.len());
        let before = worked();
        judge(&text);
        worked().saturating_sub(before)
    };
    let least = |bytes: usize| (0..2).map(|_| judged(bytes)).min().unwrap_or_default();
    let (short, long) = (least(5 << 10), least(20 << 10));
    (long >= short * 12).then(|| format!("{piece:?}: {short:?} for 5 KB, {long:?} for 20 KB"))
}

#[test]
fn a_long_statement_takes_no_longer_than_it_is_long() {
    grows_with_its_length("'a',", |list| {
        let text = format!("select * from t where x in ({list}'b')");
        let verdict = arguments::check_statement(&text, false);
        assert!(verdict.is_ok(), "{verdict:?}");
    });
}

/// Words that never end, and texts that are only marks.
#[test]
fn a_long_text_takes_no_longer_than_it_is_long() {
    const PIECES: [&str; 34] = [
        "les",
        "roo",
        "\\u6",
        "\\u006",
        "a.",
        "../",
        "a b ",
        "{\n",
        "- a\n",
        "a: ",
        "a=b\n",
        "${a}",
        "$a",
        "$(a",
        "<a ",
        "<!--",
        "\u{430}",
        "%2e",
        "'\"",
        "\"a\"",
        "@",
        "=",
        "a/b:",
        "`a",
        "\0",
        "\\",
        "a,b\n",
        "({[",
        "]",
        "*",
        "--- a\n",
        "t 1 /*",
        "$(date +%",
        "@@\n-a\n+b\n",
    ];
    let checks = limited();
    let mut slow = Vec::new();
    for piece in PIECES {
        let mut note = |what: &str, found: Option<String>| slow.extend(found.map(|found| format!("{what} {found}")));
        note("screen::result", too_slow(piece, |text| drop(screen::result(text))));
        note("screen::message", too_slow(piece, |text| drop(screen::message(text.as_bytes().to_vec(), Layer::Schema))));
        for key in ["config", "patch", "note", "url", "path", "command", "query", "code", "content"] {
            note(
                key,
                too_slow(piece, |text| {
                    let text = format!("root x;\nlocation {text}\n  b: c\n");
                    let call = Edit::empty().set(key, Raw::string(&text)).finish();
                    let _ = arguments::check(&checks, &call, &NoWorld);
                }),
            );
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}

fn limited() -> Checks {
    let scope = Raw::parse(br#"{"paths": ["/srv/ok/**", "/srv/ok"]}"#.to_vec(), &Limits::default()).unwrap();
    Checks::new(&[], &ToolSecurity::default(), &[Scope::read(&scope).unwrap()], "/srv/ok")
}

/// What is too long or too deep is answered in bounded time, and never by allowing what was not read.
#[test]
fn hostile_sizes_are_answered_and_not_allowed() {
    let megabyte = 1 << 20;
    let scope = path::Scope::new(&["/project/**"], &[], "/project");
    let before = worked();
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
        assert!(arguments::check_statement(&statement, false).is_err(), "{shown}");
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
    let took = worked().saturating_sub(before);
    assert!(took < std::time::Duration::from_secs(20), "{took:?}");
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
