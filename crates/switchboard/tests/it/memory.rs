//! The memory: alone, inside of the kernel at the first start, across restarts, and taken along.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::serve::Served;
use crate::support::{Home, Peer, server, wait};

fn connect(home: &Home, args: &[&str]) -> Peer {
    let mut peer = Peer::start(home.command(args));
    peer.initialize();
    peer
}

fn store(peer: &mut Peer, content: &str) {
    let answer = peer.call("inject_context", &json!({"content": content, "rationale": "a test"})).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
    assert!(answer["fingerprintId"].is_string(), "{answer}");
}

fn found(peer: &mut Peer, query: &str) -> Vec<String> {
    let answer = peer.call("search_graph", &json!({"query": query, "includeContent": true})).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    answer["results"].as_array().unwrap().iter().map(|hit| hit["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_first_start_has_a_memory_that_lasts() {
    let home = Home::new();
    let mut peer = home.connect();
    let at_hand = peer.tools();
    for name in ["inject_context", "store_memory", "search_graph", "mgp.tools.discover"] {
        assert!(at_hand.contains(&name.to_owned()), "{at_hand:?}");
    }
    assert!(at_hand.len() < 10, "the rest is found, not listed: {at_hand:?}");
    store(&mut peer, "The spare key is under the blue flowerpot");
    assert_eq!(peer.end().0, Some(0));
    let mut peer = home.connect();
    assert_eq!(found(&mut peer, "where can I find the key"), ["The spare key is under the blue flowerpot"]);
    let state = peer.ask("tools/call", &json!({"name": "utl_status", "arguments": {}}));
    assert_eq!(state["result"]["structuredContent"]["interaction_count"], 1, "{state}");
    assert!(state["result"]["_cognitive_pulse"]["entropy"].is_number(), "the pulse passes the kernel: {state}");
    // The same memory, alone and beside the kernel.
    let mut alone = connect(&home, &["memory"]);
    assert_eq!(found(&mut alone, "flowerpot").len(), 1);
    store(&mut alone, "The ladder is in the garage");
    assert_eq!(found(&mut peer, "ladder")[0], "The ladder is in the garage");
    assert_eq!(alone.end().0, Some(0));
}

#[test]
fn a_configuration_decides_whether_there_is_a_memory() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    assert!(!home.connect().tools().iter().any(|name| name.contains("search_graph")), "not unless it is asked for");
    home.configure(&format!("[memory]\nenabled = true\nspace = 'work'\n{}", server("one", &[])));
    let mut peer = home.connect();
    assert!(peer.tools().contains(&"memory__search_graph".to_owned()), "{:?}", peer.tools());
    let said = peer.call("memory__get_memetic_status", &json!({})).unwrap();
    assert!(said.contains("\"space\":\"work\""), "{said}");
    home.configure("[memory]\nenabled = 'yes'\n");
    assert!(home.run(&["tools"]).err(2).contains("enabled"));
    home.configure("[memory]\nspace = 'a b'\n");
    assert!(home.run(&["tools"]).err(2).contains("space"));
}

#[test]
fn serve_names_the_memory_and_lets_it_be_used() {
    let home = Home::new();
    let served = Served::start(&home, &["--no-auth"]);
    let tools = served.tools(None).unwrap();
    assert!(tools.contains(&"store_memory".to_owned()), "{tools:?}");
}

#[test]
fn a_space_can_be_taken_along_and_changes_taken_back() {
    let home = Home::new();
    let mut peer = connect(&home, &["memory", "--space", "trip"]);
    store(&mut peer, "The ferry leaves at seven");
    let changed = peer.call("adjust_coupling", &json!({"new_K": 7})).unwrap();
    let changed: Value = serde_json::from_str(&changed).unwrap();
    assert_eq!(peer.end().0, Some(0));
    let undone = home.run(&["memory", "undo", changed["undo"].as_str().unwrap(), "--space", "trip"]).ok();
    assert!(undone.contains("coupling"), "{undone}");
    let lines = home.run(&["memory", "export", "--space", "trip"]).ok();
    assert!(lines.lines().count() == 2 && lines.contains("ferry"), "{lines}");
    let other = Home::new();
    let mut child = other.command(&["memory", "import", "--json"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    assert!(wait(&mut child).success());
    let mut peer = other.connect();
    assert_eq!(found(&mut peer, "boat departure"), ["The ferry leaves at seven"]);
    assert!(home.run(&["memory", "undo", "nonsense"]).err(2).contains("UUID"));
}

#[test]
fn over_http_a_token_is_asked_for() {
    let home = Home::new();
    let mut child = home.command(&["memory", "--listen", "127.0.0.1:0", "--json"]).spawn().unwrap();
    let line = crate::support::lines_of(child.stdout.take()).recv_timeout(crate::support::LIMIT).expect("the address");
    let said: Value = serde_json::from_str(&line).unwrap();
    assert!(said["url"].as_str().unwrap().starts_with("http://127.0.0.1:") && said["token"].is_string(), "{said}");
    let address = said["url"].as_str().unwrap().trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let mut stream = std::net::TcpStream::connect(&address).unwrap();
    write!(stream, "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{{}}")
        .unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut stream, &mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 401"), "{text}");
    let _ = child.kill();
    wait(&mut child);
    assert!(home.run(&["memory", "--listen", "0.0.0.0:0"]).err(2).contains("--allow-remote"));
}
