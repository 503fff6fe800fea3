//! Logging in to a remote server, and in whose name it is used afterwards.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::serve::Served;
use crate::support::{Home, LIMIT, lines_of, until, wait};
use crate::tracker::{Tracker, agree, refuse};

/// Runs `login` and is the person whom it asks.
fn login(home: &Home, more: &[&str], person: &str) {
    let arguments: Vec<&str> = ["login", "tracker", "--json"].iter().chain(more).copied().collect();
    let mut child = home.command(&arguments).spawn().unwrap();
    let (said, shown) = (lines_of(child.stdout.take()), lines_of(child.stderr.take()));
    let page = loop {
        let line = shown.recv_timeout(LIMIT).expect("the address of the page");
        if let Some(page) = line.trim().strip_prefix("http://") {
            break format!("http://{page}");
        }
    };
    agree(&page, person);
    assert!(wait(&mut child).success());
    let said: String = said.iter().collect();
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["logged_in"], true);
}

fn whoami(home: &Home) -> String {
    home.run(&["call", "whoami"]).ok().trim().to_owned()
}

#[test]
fn a_login_lasts_is_renewed_and_can_be_taken_back() {
    let tracker = Tracker::start(true);
    let home = Home::new();
    home.configure(&tracker.entry());
    let state = |home: &Home| home.run(&["servers", "--json"]).json()["servers"][0].clone();
    let before = state(&home);
    assert_eq!(before["state"], "needs login", "{before}");
    assert!(before["problem"].as_str().unwrap().contains("switchboard login tracker"), "{before}");
    assert_eq!(tracker.registrations(), 0, "nobody is registered before a person wants it");

    login(&home, &["--no-browser"], "ann");
    assert_eq!(whoami(&home), "Bearer ann-2");
    assert_eq!(state(&home)["state"], "ready");
    // Each renewal brings another refresh token, and the old one is worth nothing: it must have been kept.
    for number in 3..6 {
        tracker.expire();
        assert_eq!(whoami(&home), format!("Bearer ann-{number}"));
    }
    assert_eq!(tracker.registrations(), 1);
    for name in ["switchboard.db", "switchboard.db-wal", "credentials.key"] {
        let bytes = std::fs::read(home.path(&format!(".local/share/switchboard/{name}"))).unwrap_or_default();
        let has = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
        assert!(!has(b"ann-5") && !has(b"refresh-5"), "{name}");
    }

    home.run(&["logout", "tracker"]).ok();
    assert_eq!(state(&home)["state"], "needs login");
    assert!(home.run(&["logout", "tracker"]).err(1).contains("no login"));
}

#[test]
fn whoever_says_no_is_asked_once() {
    let tracker = Tracker::start(true);
    let home = Home::new();
    home.configure(&tracker.entry());
    let mut child = home.command(&["login", "tracker", "--no-browser"]).spawn().unwrap();
    let shown = lines_of(child.stderr.take());
    let mut said = Vec::new();
    while let Ok(line) = shown.recv_timeout(LIMIT) {
        if line.trim().starts_with("http://") {
            refuse(line.trim());
        }
        said.push(line);
    }
    assert_eq!(wait(&mut child).code(), Some(1));
    assert_eq!(said.iter().filter(|line| line.trim().starts_with("http://")).count(), 1, "{said:?}");
    assert!(said.last().unwrap().contains("authorization was not given"), "{said:?}");
}

#[test]
fn a_client_id_can_be_given() {
    let tracker = Tracker::start(true);
    tracker.know_only("1a2b");
    let home = Home::new();
    home.configure(&tracker.entry());
    let said = home.run(&["login", "tracker", "--no-browser"]).err(1);
    assert!(said.contains("client id"), "{said}");
    login(&home, &["--no-browser", "--client-id", "1a2b"], "ann");
    tracker.expire();
    assert!(whoami(&home).starts_with("Bearer ann-"));
    assert_eq!(tracker.registrations(), 0);
}

/// Without a person: with the password of a client that was set up beforehand.
#[test]
fn tokens_are_got_in_our_own_name() {
    let tracker = Tracker::start(true);
    tracker.know_machine("switchboard", "s3cret");
    let home = Home::new();
    let oauth = |secret: &str, more: &str| {
        let entry = tracker.entry();
        format!("{entry}[servers.oauth]\nclient_id = 'switchboard'\nclient_secret = '{secret}'\n{more}")
    };
    home.configure(&oauth("s3cret", "scopes = ['issues:read', 'issues:write']\n"));
    assert!(whoami(&home).starts_with("Bearer machine-"));
    assert_eq!(tracker.machine_scopes(), ["issues:read issues:write"]);
    tracker.expire();
    assert!(whoami(&home).starts_with("Bearer machine-"), "another one is got when one is over");
    assert_eq!(tracker.registrations(), 0);
    assert!(home.run(&["login", "tracker"]).err(2).contains("in its configuration"));
    // Bound to another authorization server, or with another password, there is nothing to be had.
    for entry in [oauth("s3cret", "issuer = 'https://other.example'\n"), oauth("wrong", "")] {
        home.configure(&entry);
        let said = home.run(&["call", "whoami"]).err(1);
        assert!(!said.contains("s3cret") && !said.contains("wrong"), "{said}");
    }
}

#[test]
fn what_has_no_login_says_so() {
    let home = Home::new();
    home.configure(
        "[[servers]]\nid = 'a'\nurl = 'http://127.0.0.1:1/mcp'\ntoken = 't'\n[[servers]]\nid = 'b'\ncommand = 'true'\n",
    );
    for (server, words) in [("a", "token in its configuration"), ("b", "program"), ("c", "no server is called")] {
        let said = home.run(&["login", server]).err(2);
        assert!(said.contains(words), "{server}: {said}");
    }
}

/// A legacy session over HTTP that calls `whoami`.
fn whoami_over_http(served: &Served, token: &str) -> Option<String> {
    let mut session = String::new();
    let mut last = String::new();
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    for (method, params) in [("initialize", hello), ("tools/call", json!({"name": "whoami", "arguments": {}}))] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let mut stream = TcpStream::connect(&served.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n{session}\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n\r\n{body}",
            served.address,
            body.len()
        )
        .unwrap();
        last.clear();
        stream.read_to_string(&mut last).unwrap();
        let id = last.lines().find_map(|line| line.strip_prefix("mcp-session-id: ").map(str::to_owned));
        if let Some(id) = id {
            session = format!("Mcp-Session-Id: {id}\r\n");
        }
    }
    let start = last.find("{\"jsonrpc\"")?;
    let answer = serde_json::Deserializer::from_str(&last[start..]).into_iter::<Value>().next()?.ok()?;
    answer["result"]["content"][0]["text"].as_str().map(str::to_owned)
}

fn token(home: &Home, name: &str) -> String {
    home.run(&["token", "create", name, "--json"]).json()["token"].as_str().unwrap().to_owned()
}

#[test]
fn each_principal_uses_a_server_in_its_own_name() {
    let tracker = Tracker::start(true);
    let home = Home::new();
    home.configure(&tracker.entry());
    login(&home, &[], "team");
    login(&home, &["--principal", "ann"], "ann");
    let (ann, bob) = (token(&home, "ann"), token(&home, "bob"));
    let served = Served::start(&home, &[]);
    let of = |token: &str, start: &str| {
        until(|| whoami_over_http(&served, token).filter(|who| who.starts_with("Bearer")))
            .filter(|who| who.starts_with(start))
    };
    assert!(of(&ann, "Bearer ann-").is_some());
    assert!(of(&bob, "Bearer team-").is_some());
    // A modern request has no session of its own, and its principal has a connection nevertheless.
    for (token, start) in [(&ann, "Bearer ann-"), (&bob, "Bearer team-")] {
        let who = served.call("whoami", token);
        assert!(who.starts_with(start), "{who}");
    }
    // Nothing that a client came in with has left this machine.
    for secret in [&ann, &bob] {
        assert!(!tracker.seen().iter().any(|seen| seen.contains(secret.as_str())));
    }
    served.end();
}

#[test]
fn the_token_of_a_client_is_never_passed_on() {
    let tracker = Tracker::start(false);
    let home = Home::new();
    home.configure(&tracker.entry());
    let secret = token(&home, "ann");
    let served = Served::start(&home, &[]);
    let who = until(|| whoami_over_http(&served, &secret)).expect("an answer");
    assert_eq!(who, "nobody");
    assert_eq!(tracker.seen(), Vec::<String>::new());
    served.end();
}
