//! What programs read: every command answers `--json` in one shape.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{Home, server};

/// Commands that go on until they are ended, or speak a protocol on standard output.
const SERVING: &[&str] = &["serve", "stdio", "audit serve", "approvals watch", "login", "memory"];

/// One line for every command, in an order in which each has something to work on. Those that end with code 1 or 2 here say why as an
/// object, too. `…` stands for the id of a memory.
const LINES: &[&str] = &[
    "init --project",
    "tools",
    "tools --names",
    "tools search echo",
    "servers",
    "servers start one",
    "servers stop one",
    "servers drain one",
    "servers restart one",
    "servers disable one",
    "servers enable one",
    "kernel",
    "kernel status",
    "kernel restart",
    "kernel stop",
    "uninstall --dry-run",
    "call one__echo text=x",
    "call nope",
    "manifest",
    "doctor",
    "trust --list",
    "trust --yes",
    "grant --principal ann --server one",
    "access",
    "access --principal ann --server one --tool echo",
    "revoke --principal ann --server one",
    "token create laptop",
    "token list",
    "token revoke laptop",
    "logout one",
    "approvals list",
    "approvals approve 12345678",
    "approvals deny --all",
    "approvals remembered",
    "approvals forget 12345678",
    "callbacks list",
    "callbacks answer 12345678 yes",
    "tools disable one__echo",
    "tools enable one__echo",
    "tools confirm one__echo never",
    "tools confirm one__echo default",
    "tools validator one__echo none",
    "tools validator one__echo default",
    "pins list",
    "pins show one echo",
    "pins review",
    "pins accept one --yes",
    "pins refuse one --yes",
    "pins forget one echo",
    "audit tail",
    "audit query",
    "audit verify",
    "audit seal",
    "audit stats",
    "audit export",
    "audit export --format json",
    "audit export --format csv",
    "audit export --format csv --output audit.csv",
    "audit prune --before 365d --yes",
    "restore --yes",
    "memory import",
    "memory list",
    "memory search key",
    "memory show …",
    "memory edit … --importance 0.9",
    "memory forget …",
    "memory erase … --yes",
    "memory stats",
    "memory export",
    "memory spaces",
    "memory renew",
    "memory undo 0198c6f2-7d5e-7a61-9c3e-1f2a3b4c5d6e",
    "registry search charts",
    "registry show com.example/charts",
    "registry add ./server.json --yes",
    "registry registered",
    "registry deregister one",
    "import --dry-run",
    "connect cursor",
    "disconnect cursor",
    "add two -- true",
    "remove two",
    "check shell",
    "tools --no-such-flag",
];

/// The commands below one, as its help lists them.
fn below(home: &Home, path: &str) -> Vec<String> {
    let words: Vec<&str> = path.split_whitespace().chain(["--help"]).collect();
    let help = home.run(&words).ok();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| line.starts_with("  "));
    let names = listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(|name| format!("{path} {name}").trim().to_owned()).collect()
}

/// Every command and subcommand there is.
fn all_commands(home: &Home) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for command in below(home, "") {
        all.extend(below(home, &command));
        all.insert(command);
    }
    all
}

/// Calls back for every text that is a time of RFC 3339, with the name of its member.
fn each_time(key: &str, value: &Value, found: &mut impl FnMut(&str, &str)) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| each_time(key, value, found)),
        Value::Array(items) => items.iter().for_each(|item| each_time(key, item, found)),
        Value::String(text) if key.ends_with("_at") || key == "timestamp" => found(key, text),
        _ => {}
    }
}

/// Runs a command with something on its standard input.
fn run(home: &Home, line: &str, input: &str) -> (Option<i32>, String, String) {
    let words: Vec<&str> = ["--json"].into_iter().chain(line.split_whitespace()).collect();
    let mut child = home.command(&words).stdin(Stdio::piped()).spawn().unwrap();
    // One that does not read it may have ended before.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn every_command_answers_programs_in_one_shape() {
    let home = Home::new();
    home.configure(&format!("{}[memory]\nenabled = true\n", server("one", &[])));
    // The names of a server that stands alone are short; the other form is understood.
    let mut missing = all_commands(&home);
    for serving in SERVING {
        missing.remove(*serving);
    }
    let mut memory = String::new();
    for line in LINES {
        let line = line.replace('…', &memory);
        let input = match line.as_str() {
            "memory import" => "{\"content\": \"The spare key is under the red pot\"}\n",
            "check shell" => "{\"id\": 1, \"input\": \"ls\"}\n",
            _ => "",
        };
        let (code, stdout, stderr) = run(&home, &line, input);
        assert!(matches!(code, Some(0..=2)), "{line}: {code:?} {stderr}");
        // One object, or one on each line.
        let whole = serde_json::from_str::<Value>(&stdout).map(|value| vec![value]);
        let objects = whole.unwrap_or_else(|_| {
            let read =
                |text: &str| serde_json::from_str(text).unwrap_or_else(|error| panic!("{line}: {error}: {text}"));
            stdout.lines().map(read).collect()
        });
        assert!(!objects.is_empty(), "{line}: nothing on standard output; {stderr}");
        for object in &objects {
            assert!(object.is_object() && object["schema_version"].is_u64(), "{line}: {object}");
            each_time("", object, &mut |key, time| {
                let digits = time.split('.').nth(1).map(|rest| rest.trim_end_matches('Z').len());
                assert_eq!(digits, Some(3), "{line} {key}: {time}");
            });
        }
        if code == Some(2) {
            assert!(
                objects[0]["error"]["message"].is_string() && objects[0]["error"]["exit_code"] == 2,
                "{line}: {stdout}"
            );
        }
        if line == "memory list" {
            memory = objects[0]["memories"][0]["fingerprintId"].as_str().unwrap_or_default().to_owned();
            assert!(!memory.is_empty(), "{stdout}");
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        missing.remove(words[0]);
        missing.remove(&words.iter().take(2).copied().collect::<Vec<_>>().join(" "));
    }
    assert!(missing.is_empty(), "no line tries {missing:?}");
}
