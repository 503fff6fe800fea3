//! Servers that misbehave: each with a clear message, while the healthy one beside it keeps working.

use serde_json::{Value, json};

use crate::support::{Home, Peer, server};

/// A healthy server and one with these faults.
fn beside(flags: &[&str], more: &str) -> Home {
    let home = Home::new();
    home.configure(&format!("{}\n{}{more}", server("good", &[]), server("bad", flags)));
    home
}

fn good_works(peer: &mut Peer) {
    assert_eq!(peer.call("good__echo", &json!({"text": "fine"})), Ok("fine".to_owned()));
}

/// State and problem of the server `bad`, after checking that `good` is well.
fn states(home: &Home) -> (String, String) {
    let ran = home.run(&["servers", "--json"]);
    let servers = ran.json()["servers"].clone();
    assert_eq!(servers[0]["state"], "ready", "{ran:?}");
    let text = |key: &str| servers[1][key].as_str().unwrap_or_default().to_owned();
    (text("state"), text("problem"))
}

/// `doctor` names the server, the place, and what to do next, and fails.
fn doctor_tells(home: &Home, word: &str) {
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for word in [word, "server \"bad\"", "next: ", "servers.toml:"] {
        assert!(ran.stdout.contains(word), "{word}: {ran:?}");
    }
}

#[test]
fn a_missing_command() {
    let home = Home::new();
    home.configure(&format!(
        "{}\n[[servers]]\nid = \"bad\"\ncommand = \"no-such-program-anywhere\"\n",
        server("good", &[])
    ));
    let (state, problem) = states(&home);
    assert_eq!(state, "failed");
    assert!(problem.contains("`no-such-program-anywhere` was not found"), "{problem}");
    doctor_tells(&home, "was not found");
    let mut peer = home.connect();
    good_works(&mut peer);
}

#[test]
fn a_server_that_dies_in_the_handshake() {
    let home = beside(&["--exit-in-handshake"], "");
    let (state, problem) = states(&home);
    assert_eq!(state, "failed");
    assert!(problem.contains("ended during the handshake") && problem.contains("the licence has expired"), "{problem}");
    doctor_tells(&home, "the licence has expired");
    let mut peer = home.connect();
    good_works(&mut peer);
    let tools = home.run(&["tools", "--names"]);
    assert!(tools.stderr.contains("server \"bad\" failed"), "{tools:?}");
    assert!(tools.ok().contains("good__echo"));
    assert!(home.run(&["call", "bad__echo", "text=x"]).err(1).contains("the licence has expired"));
}

#[test]
fn a_server_that_dies_of_the_probe_is_started_again() {
    let home = beside(&["--dies-of-discover"], "");
    assert_eq!(states(&home).0, "ready");
}

#[test]
fn a_server_that_logs_on_stdout() {
    let home = beside(&["--log-on-stdout"], "");
    let mut peer = home.connect();
    good_works(&mut peer);
    assert_eq!(peer.call("bad__echo", &json!({"text": "a"})), Ok("a".to_owned()));
    // Only messages reach the client: the peer refuses anything else.
    let (code, _) = peer.end();
    assert_eq!(code, Some(0));
}

#[test]
fn a_server_that_answers_the_wrong_id() {
    let home = beside(&["--wrong-id"], "call_timeout_ms = 700\n");
    let mut peer = home.connect();
    let error = peer.call("bad__echo", &json!({"text": "a"})).unwrap_err();
    assert!(error.contains("bad"), "{error}");
    good_works(&mut peer);
    assert!(home.run(&["call", "bad__echo", "text=x"]).err(1).contains("bad"));
}

#[test]
fn a_server_that_answers_twice() {
    let home = beside(&["--answer-twice"], "");
    let mut peer = home.connect();
    for number in 0..20 {
        let text = number.to_string();
        assert_eq!(peer.call("bad__echo", &json!({"text": text})), Ok(text));
    }
    good_works(&mut peer);
    assert_eq!(peer.end().0, Some(0));
}

#[test]
fn a_server_that_never_answers() {
    let home = beside(&["--never-answer"], "start_timeout_ms = 1500\n");
    let (state, problem) = states(&home);
    assert_eq!(state, "failed");
    assert!(problem.contains("did not answer"), "{problem}");
    let mut peer = home.connect();
    good_works(&mut peer);
    // A call does not wait for servers that it does not need.
    assert_eq!(home.run(&["call", "good__echo", "text=x"]).ok(), "x\n");
}

#[test]
fn a_tool_that_never_answers() {
    let home = beside(&[], "call_timeout_ms = 700\n");
    let mut peer = home.connect();
    let error = peer.call("bad__slow", &json!({})).unwrap_err();
    assert!(error.contains("bad"), "{error}");
    good_works(&mut peer);
    assert_eq!(peer.call("bad__echo", &json!({"text": "still here"})), Ok("still here".to_owned()));
}

#[test]
fn a_server_that_sends_a_hundred_megabytes() {
    let home = beside(&["--huge-answer", "100000000"], "call_timeout_ms = 20000\n");
    let mut peer = home.connect();
    let answer: Value = peer.ask("tools/call", &json!({"name": "bad__echo", "arguments": {"text": "a"}}));
    let error = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{}", &answer.to_string()[..200]));
    assert!(error.contains("bad"), "{error}");
    good_works(&mut peer);
}

#[test]
fn a_server_that_uses_the_kernels_own_prefix() {
    let home = beside(&["--reserved-name"], "");
    let (state, problem) = states(&home);
    assert_eq!(state, "refused");
    assert!(problem.contains("mgp.tools.discover"), "{problem}");
    doctor_tells(&home, "mgp.tools.discover");
    let mut peer = home.connect();
    good_works(&mut peer);
    assert!(!peer.tools().iter().any(|tool| tool.starts_with("bad__")));
}

#[test]
fn a_server_that_crashes_comes_back() {
    let home = beside(&[], "");
    let mut peer = home.connect();
    let before = peer.call("bad__pid", &json!({})).unwrap();
    let error = peer.call("bad__crash", &json!({})).unwrap_err();
    assert!(error.contains("bad"), "{error}");
    good_works(&mut peer);
    let after = crate::support::until(|| peer.call("bad__pid", &json!({})).ok()).expect("the server is back");
    assert_ne!(before, after);
}

#[test]
fn nothing_from_a_server_drives_the_terminal() {
    // A server that is not trusted would not be shown at all.
    let home = beside(&["--escapes"], "mgp = { trust_level = 'trusted' }\n");
    for command in [&["tools"][..], &["call", "bad__echo", "text=x"], &["servers"], &["doctor"]] {
        let ran = home.run(command);
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran:?}");
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    assert_eq!(home.run(&["call", "bad__echo", "text=x"]).ok(), "x\n");
}
