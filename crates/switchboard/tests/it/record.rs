//! The record of calls as an operator sees it: outcomes that nobody saw, older copies of the database, damage.

use std::fs;

use serde_json::{Value, json};

use crate::serve::Served;
use crate::support::{Home, Peer, server, until};

const DATABASE: &str = ".local/share/switchboard/switchboard.db";

/// Calls `echo` once, and ends.
fn call_once(home: &Home) {
    let mut peer = home.connect();
    assert_eq!(peer.call("echo", &json!({"text": "x"})), Ok("x".to_owned()));
    assert_eq!(peer.end().0, Some(0));
}

fn outcomes(home: &Home, server: &str) -> Vec<(String, String)> {
    let events = home.run(&["--json", "audit", "query", "--server", server]).json();
    let calls = events["events"].as_array().unwrap().iter().filter(|event| event["details"]["call"].is_string());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let ends = calls.filter(|event| event["result"] != "PENDING");
    ends.map(|event| (text(&event["event_type"]), text(&event["result"]))).collect()
}

/// A server dies with a call in its hands: nobody knows whether it did it, and all are told so. Where it is said to change
/// something, nobody is invited to do it twice.
#[test]
fn a_call_that_nobody_saw_the_end_of_is_unknown() {
    let home = Home::new();
    let said = "[servers.tools.crash]\nrisk = \"dangerous\"\nconfirm = false\n[servers.tools.slow]\nrisk = \"dangerous\"\nconfirm = false\n";
    let slow = "call_timeout_ms = 300\n";
    home.configure(&format!("{}{slow}{}{slow}{said}", server("unsaid", &[]), server("said", &[])));
    let mut peer: Peer = home.connect();
    for tool in ["slow", "crash"] {
        for (id, retryable) in [("unsaid", true), ("said", false)] {
            let answer = peer.ask("tools/call", &json!({"name": format!("{id}__{tool}"), "arguments": {}}));
            let error = &answer["error"];
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("whether the call was carried out is unknown"), "{id} {tool}: {answer}");
            assert_eq!(error["data"]["retryable"] == true, retryable, "{id} {tool}: {answer}");
        }
    }
    assert_eq!(peer.end().0, Some(0));
    for id in ["unsaid", "said"] {
        let unknown = ("dev.switchboard.unknown_outcome".to_owned(), "UNKNOWN".to_owned());
        assert_eq!(outcomes(&home, id), [unknown.clone(), unknown], "{id}");
    }
}

#[test]
fn an_older_copy_is_refused_until_an_operator_accepts_it_and_the_break_stays_visible() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    call_once(&home);
    let copy = home.path("copy.db");
    fs::copy(home.path(DATABASE), &copy).unwrap();
    let before = home.run(&["audit", "verify", "--json"]).json();
    assert_eq!(before["restores"], json!([]));
    assert!(home.run(&["restore", "--yes"]).ok().contains("nothing was changed"));
    call_once(&home);
    let after = home.run(&["audit", "verify", "--json"]).json();
    fs::copy(&copy, home.path(DATABASE)).unwrap();
    let refused = home.run(&["access"]).err(1);
    assert!(refused.contains("switchboard restore"), "{refused}");
    assert!(home.run(&["audit", "verify"]).err(1).contains("older copy put back"));
    let asked = home.run(&["restore"]);
    assert!(asked.err(2).contains("--yes"), "there is nobody to ask");
    home.run(&["restore", "--yes", "--reason", "the disk broke"]).ok();
    for _ in 0..2 {
        let told = home.run(&["audit", "verify"]).ok();
        assert!(told.contains("break from record") && told.contains("the disk broke"), "{told}");
        let report = home.run(&["audit", "verify", "--json"]).json();
        let accepted = &report["restores"][0];
        assert_eq!((&report["whole"], &accepted["continues_after"]), (&json!(true), &before["last"]), "{report}");
        assert_eq!(accepted["reached"], after["last"], "{report}");
        assert!(accepted["accepted_by"].is_string() && accepted["accepted_at"].is_string(), "{report}");
        // The log goes on, and stays whole.
        call_once(&home);
    }
    // What is changed after that is found, and cannot be accepted.
    let database = home.path(DATABASE);
    let mut bytes = fs::read(&database).unwrap();
    let place = bytes.windows(13).position(|window| window == b"TOOL_EXECUTED").unwrap();
    bytes[place] = b'X';
    fs::write(&database, bytes).unwrap();
    assert!(home.run(&["restore", "--yes"]).err(1).contains("nothing was changed"));
}

/// All records are taken out of the database, and what stands beside them is left: nothing starts on that, what runs makes no call that
/// changes something, and there is a way back.
#[test]
fn an_emptied_log_stops_effects_until_an_operator_accepts_it() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    call_once(&home);
    let before = home.run(&["audit", "verify", "--json"]).json()["last"].clone();
    let served = Served::start(&home, &["--no-auth"]);
    until(|| (served.http("GET", "/readyz", None, "").0 == 200).then_some(())).expect("ready");
    let empty = || {
        let connection = rusqlite::Connection::open(home.path(DATABASE)).unwrap();
        connection.execute("DELETE FROM audit", []).unwrap();
    };
    empty();
    let call = || {
        let meta = crate::serve::modern_meta(&json!({}));
        let params = json!({"name": "echo", "arguments": {"text": "x"}, "_meta": meta});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        served.http("POST", "/mcp", None, &request.to_string()).1
    };
    let refused = until(|| Some(call()).filter(|answer| answer.contains("\"error\""))).expect("it is noticed");
    assert!(refused.contains("cannot be put on record"), "{refused}");
    served.end();
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("the tail was cut") && told.contains("switchboard restore"), "{told}");
    assert!(home.run(&["audit", "verify"]).err(1).contains("the tail was cut"));
    let restored = home.run(&["restore", "--yes", "--reason", "somebody emptied it", "--json"]).json();
    assert_eq!(restored["continues_after"], 0, "{restored}");
    let report = home.run(&["audit", "verify", "--json"]).json();
    assert_eq!((&report["whole"], &report["restores"][0]["continues_after"]), (&json!(true), &json!(0)), "{report}");
    assert!(report["restores"][0]["reached"].as_u64() >= before.as_u64(), "{report}");
    assert!(report["restores"][0]["accepted_by"].is_string(), "{report}");
    call_once(&home);
    home.run(&["audit", "verify"]).ok();
}

#[test]
fn an_emptied_configuration_file_removes_nothing() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let served = Served::start(&home, &["--no-auth"]);
    until(|| (served.http("GET", "/readyz", None, "").0 == 200).then_some(())).expect("ready");
    let refused = |count: u64| {
        let metrics = served.http("GET", "/metrics", None, "").1;
        metrics.contains(&format!("switchboard_reloads_refused_total {count}\n"))
    };
    assert!(refused(0));
    home.configure("");
    until(|| refused(1).then_some(())).expect("it is noticed");
    assert!(served.tools(None).unwrap().contains(&"echo".to_owned()), "the servers stay");
    // Whoever wants none says so.
    home.configure("# none\n");
    until(|| (!served.tools(None).unwrap().contains(&"echo".to_owned())).then_some(())).expect("it is gone");
}

/// Damaged pages are found before anything is built on them.
#[test]
fn a_damaged_database_is_refused() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    call_once(&home);
    let database = home.path(DATABASE);
    let mut bytes = fs::read(&database).unwrap();
    // Every page but the first, which says what the file is: each gets a header that no page has.
    for page in bytes.chunks_mut(8192).skip(1) {
        page[..8].fill(0x5a);
    }
    fs::write(&database, bytes).unwrap();
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("damaged"), "{output:?}");
}

/// The file of the database is gone while the kernel runs: nothing is done that could not be put on record.
#[test]
fn a_database_that_is_removed_while_it_is_used_stops_effects() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let served = Served::start(&home, &["--no-auth"]);
    until(|| (served.http("GET", "/readyz", None, "").0 == 200).then_some(())).expect("ready");
    let call = || {
        let meta = crate::serve::modern_meta(&json!({}));
        let params = json!({"name": "echo", "arguments": {"text": "x"}, "_meta": meta});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        served.http("POST", "/mcp", None, &request.to_string()).1
    };
    assert!(call().contains("\"x\""));
    fs::remove_file(home.path(DATABASE)).unwrap();
    let refused = until(|| Some(call()).filter(|answer| answer.contains("\"error\""))).expect("it is noticed");
    assert!(refused.contains("cannot be put on record"), "{refused}");
    assert_eq!(served.http("GET", "/readyz", None, "").0, 503);
}

/// A log that begins where another one was is told apart from one that is the first.
#[test]
fn a_key_without_its_log_is_warned_of() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let warned = || home.connect().end().1.contains("A new one begins");
    assert!(!warned(), "the first log is no surprise");
    assert_eq!(home.run(&["audit", "verify", "--json"]).json()["begun_anew"], json!([]));
    // Everything goes but the key.
    let key = home.path(DATABASE).with_extension("audit-key");
    for entry in fs::read_dir(key.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && path != key {
            fs::remove_file(path).unwrap();
        }
    }
    assert!(key.exists());
    assert!(warned() && !warned(), "once, by whoever begins it");
    assert_eq!(home.run(&["audit", "verify", "--json"]).json()["begun_anew"].as_array().unwrap().len(), 1);
    assert!(home.run(&["audit", "verify"]).stderr.contains("beside the key of an earlier one"));
}
