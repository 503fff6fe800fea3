//! The memory: alone, inside of the kernel at the first start, across restarts, and taken along.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::serve::{Served, modern_meta};
use crate::support::{Home, Peer, server, wait};

pub(crate) fn connect(home: &Home, args: &[&str]) -> Peer {
    let mut peer = Peer::start(home.command(args));
    peer.initialize();
    peer
}

pub(crate) fn store(peer: &mut Peer, content: &str) {
    let answer = peer.call("inject_context", &json!({"content": content, "rationale": "a test"})).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
    assert!(answer["fingerprintId"].is_string(), "{answer}");
}

pub(crate) fn found(peer: &mut Peer, query: &str) -> Vec<String> {
    let answer = peer.call("search_graph", &json!({"query": query, "includeContent": true})).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    answer["results"].as_array().unwrap().iter().map(|hit| hit["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_first_start_has_a_memory_that_lasts() {
    let home = Home::new();
    let mut peer = home.connect();
    let at_hand = peer.tools();
    for name in ["inject_context", "store_memory", "search_graph", "utl_status"] {
        assert!(at_hand.contains(&name.to_owned()), "{at_hand:?}");
    }
    assert!(!at_hand.contains(&"mgp_tools_discover".to_owned()), "all of it fits: {at_hand:?}");
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
fn parameters_of_the_memory_that_are_written_otherwise_are_understood_behind_the_gate() {
    let home = Home::new();
    let mut peer = home.connect();
    let refused = peer.call("store_memory", &json!({"contnet": "x"})).unwrap_or_else(|error| error);
    assert!(refused.contains("did you mean `content`?"), "{refused}");
    store(&mut peer, "The bicycle pump hangs in the cellar");
    let found =
        peer.call("search_graph", &json!({"query": "bicycle pump", "include_content": true, "topk": 1})).unwrap();
    assert!(found.contains("The bicycle pump hangs in the cellar"), "{found}");
}

#[test]
fn a_configuration_decides_whether_there_is_a_memory() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    assert!(!home.connect().tools().iter().any(|name| name.contains("search_graph")), "not unless it is asked for");
    home.configure(&format!("[memory]\nenabled = true\nspace = 'work'\n{}", server("one", &[])));
    let mut peer = home.connect();
    let said = peer.call("memory__get_memetic_status", &json!({})).unwrap();
    assert!(said.contains("\"space\":\"work\""), "{said}");
    assert_eq!(peer.end().0, Some(0));
    // One that was used is not left out without a word, unless that was decided.
    for (said, told) in [("", true), ("[memory]\nenabled = false\n", false)] {
        home.configure(&format!("{said}{}", server("one", &[])));
        assert_eq!(home.run(&["stdio"]).stderr.contains("the built-in memory is not among the servers"), told);
    }
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
    assert!(!tools.is_empty(), "its tools, or those that find them");
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
    assert!(lines.lines().count() == 6 && lines.contains("ferry"), "one memory, and what was learned: {lines}");
    let other = Home::new();
    let mut child = other.command(&["memory", "import", "--json"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    assert!(wait(&mut child).success());
    let mut peer = other.connect();
    assert_eq!(found(&mut peer, "boat departure"), ["The ferry leaves at seven"]);
    assert!(home.run(&["memory", "undo", "nonsense"]).err(2).contains("UUID"));
}

#[test]
fn people_live_with_memories_beside_a_running_kernel() {
    let home = Home::new();
    let mut peer = home.connect();
    store(&mut peer, "The spare key is under the blue flowerpot");
    store(&mut peer, "The wifi password is xyzzy-4711-plugh");
    let json_of = |args: &[&str]| -> Value { serde_json::from_str(&home.run(args).ok()).unwrap() };
    let listed = json_of(&["memory", "list", "--json"]);
    assert_eq!((&listed["total"], &listed["schema_version"]), (&json!(2), &json!(1)), "{listed}");
    let id = |text: &str| -> String {
        let all = listed["memories"].as_array().unwrap();
        let one = all.iter().find(|one| one["content"].as_str().unwrap().contains(text)).unwrap();
        one["fingerprintId"].as_str().unwrap().to_owned()
    };
    let (key, wifi) = (id("key"), id("wifi"));
    let shown = home.run(&["memory", "search", "where", "is", "the", "key", "--limit", "1"]).ok();
    assert!(shown.contains("flowerpot") && shown.contains(&key), "{shown}");
    // The end of an id is enough.
    let end = &key[key.len() - 12..];
    home.run(&["memory", "edit", end, "--content", "The spare key is under the red flowerpot", "--tag", "home"]).ok();
    let shown = home.run(&["memory", "show", end]).ok();
    assert!(shown.contains("red flowerpot") && shown.contains("version 1 until"), "{shown}");
    assert_eq!(found(&mut peer, "flowerpot")[0], "The spare key is under the red flowerpot", "the kernel sees it");
    assert!(home.run(&["memory", "edit", end, "--version", "1", "--importance", "1"]).err(1).contains("version 2"));
    assert!(home.run(&["memory", "list", "--tag", "home"]).ok().contains("red flowerpot"));
    home.run(&["memory", "forget", &key]).ok();
    assert!(found(&mut peer, "flowerpot").iter().all(|text| !text.contains("flowerpot")));
    home.run(&["memory", "forget", &key, "--restore"]).ok();
    // Erasing asks, or wants to be told; then nothing is left, while the kernel goes on.
    assert!(home.run(&["memory", "erase", &wifi]).err(2).contains("--yes"));
    home.run(&["memory", "erase", &wifi, "--yes"]).ok();
    assert!(found(&mut peer, "wifi password").iter().all(|text| !text.contains("xyzzy")));
    assert_eq!(peer.end().0, Some(0));
    let database = home.path(".local/share/switchboard/memory.db");
    for end in ["", "-wal"] {
        let mut path = database.clone().into_os_string();
        path.push(end);
        let bytes = std::fs::read(path).unwrap_or_default();
        assert!(!bytes.windows(10).any(|window| window == b"xyzzy-4711"), "memory.db{end}");
    }
    let stats = json_of(&["memory", "stats", "--json"]);
    assert_eq!((&stats["memories"], &stats["tags"]["home"]), (&json!(1), &json!(1)), "{stats}");
    assert!(home.run(&["memory", "show", "zz"]).err(2).contains("id"));
    assert!(home.run(&["memory", "show", "ffffffff"]).err(1).contains("memory list"));
    assert!(home.run(&["memory", "list", "--after", "soon"]).err(2).contains("after"));
    // Who only reads makes no space.
    assert!(home.run(&["memory", "list", "--space", "defualt"]).err(2).contains("default"));
    assert_eq!(home.run(&["memory", "spaces"]).ok().trim(), "default");
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

/// What a principal asks of a kernel over HTTP, in the modern way, speaking MGP.
fn ask(served: &Served, token: &str, method: &str, mut params: Value) -> Value {
    let spoken = json!({"extensions": {"dev.cloto/mgp": {"version": "0.3.0", "extensions": ["events"]}}});
    params["_meta"] = modern_meta(&spoken);
    // Names that somebody might try to go by.
    for key in ["principal", "contextgraph/principal", "dev.switchboard/principal"] {
        params["_meta"][key] = json!("ann");
    }
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let (_, body) = served.http("POST", "/mcp", Some(token), &request.to_string());
    // An answer with something before it is a stream.
    let text = body.lines().filter_map(|line| line.strip_prefix("data: ")).next_back().unwrap_or(&body).to_owned();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {body}"))
}

#[expect(clippy::needless_pass_by_value, reason = "arguments are written where they are used")]
fn call(served: &Served, token: &str, tool: &str, arguments: Value) -> Value {
    let answer = ask(served, token, "tools/call", json!({"name": tool, "arguments": arguments}));
    let result = &answer["result"]["structuredContent"];
    if result.is_object() { result.clone() } else { answer["error"].clone() }
}

fn texts(found: &Value) -> Vec<&str> {
    found["results"].as_array().expect("results").iter().map(|hit| hit["content"].as_str().expect("a text")).collect()
}

/// A kernel with a memory, and the tokens of the owner and of two agents.
fn with_two_agents(home: &Home, more: &str) -> (Served, [String; 3]) {
    home.configure(&format!("[memory]\nenabled = true\n{more}"));
    for agent in ["ann", "ben"] {
        home.run(&["grant", "--agent", agent, "--server", "memory"]).ok();
    }
    let served = Served::start(home, &[]);
    let token = |agent: &str| {
        let made: Value = serde_json::from_str(&home.run(&["token", "create", agent, "--json"]).ok()).unwrap();
        let token = made["token"].as_str().unwrap().to_owned();
        crate::support::until(|| served.tools(Some(&token)).ok()).expect("let in");
        token
    };
    let tokens = [served.token.clone().expect("the owner's"), token("ann"), token("ben")];
    (served, tokens)
}

/// The name of a change is no right to it: only whose memories they are takes it back, also where somebody else knows that name.
#[test]
fn nobody_takes_back_the_changes_of_another_principal() {
    let home = Home::new();
    let (served, [owner, ann, ben]) = with_two_agents(&home, "");
    let kept = call(&served, &ann, "store_memory", json!({"content": "The silver key is in the drawer"}));
    let undo = kept["undo"].as_str().unwrap_or_else(|| panic!("{kept}")).to_owned();
    let there = || {
        let found = call(&served, &ann, "search_graph", json!({"query": "silver key", "includeContent": true}));
        found["results"].as_array().map_or(0, Vec::len)
    };
    for other in [&ben, &owner] {
        let refused =
            ask(&served, other, "tools/call", json!({"name": "undo_change", "arguments": {"operation": undo}}));
        assert!(refused.to_string().contains("NOTHING_TO_UNDO"), "{refused}");
        assert_eq!(there(), 1);
    }
    let done = call(&served, &ann, "undo_change", json!({"operation": undo}));
    assert!(done["done"].is_string() && there() == 0, "{done}");
}

#[test]
fn each_principal_has_memories_of_its_own_and_some_are_shared() {
    let home = Home::new();
    let (served, [owner, ann, ben]) = with_two_agents(&home, "shared = {team = ['ann', 'ben'], board = ['ben']}\n");
    let search = |token: &str, more: &Value| {
        let mut arguments = json!({"query": "where is the key", "includeContent": true});
        if let (Some(arguments), Some(more)) = (arguments.as_object_mut(), more.as_object()) {
            arguments.extend(more.clone());
        }
        call(&served, token, "search_graph", arguments)
    };
    for (token, key) in [(&owner, "brass"), (&ann, "silver"), (&ben, "golden")] {
        let kept = call(&served, token, "store_memory", json!({"content": format!("The {key} key is in the drawer")}));
        assert!(kept["fingerprintId"].is_string(), "{kept}");
    }
    for (token, key) in [(&owner, "brass"), (&ann, "silver"), (&ben, "golden")] {
        let found = search(token, &json!({}));
        assert_eq!(texts(&found), [format!("The {key} key is in the drawer")]);
    }
    // Nobody gets into another's space, by any name.
    let theirs: Vec<String> = home.run(&["memory", "spaces"]).ok().lines().map(str::to_owned).collect();
    assert_eq!(theirs.len(), 3, "{theirs:?}");
    let of_ann = theirs.iter().find(|space| space.starts_with("of-ann")).expect("hers");
    for space in [of_ann, "default", "shared", "board2", "*"] {
        let refused = search(&ben, &json!({"space": space}));
        assert_eq!(refused["code"], -32602, "{space}: {refused}");
    }
    let refused = search(&ann, &json!({"space": "board"}));
    assert_eq!(refused["data"]["kind"], "SPACE_NOT_YOURS", "{refused}");
    // By its id as a resource neither.
    let kept = call(&served, &ann, "store_memory", json!({"content": "The code is 1234"}));
    let uri = format!("contextgraph://memory/{}", kept["fingerprintId"].as_str().unwrap());
    assert!(ask(&served, &ann, "resources/read", json!({"uri": uri}))["result"].is_object());
    assert!(ask(&served, &ben, "resources/read", json!({"uri": uri}))["error"].is_object());
    // What is shared is there for both, and for nobody else.
    call(&served, &ann, "store_memory", json!({"content": "The team's key is with the porter", "space": "team"}));
    assert_eq!(texts(&search(&ben, &json!({"space": "team"}))), ["The team's key is with the porter"]);
    // The owner of the machine may look everywhere.
    assert_eq!(texts(&search(&owner, &json!({"space": of_ann}))).len(), 2);
    served.end();
    // All of it lasts.
    let served = Served::start(&home, &[]);
    let found = call(&served, &ben, "search_graph", json!({"query": "key", "includeContent": true}));
    assert_eq!(texts(&found), ["The golden key is in the drawer"]);
    served.end();
}

#[test]
fn all_can_have_the_same_memories() {
    let home = Home::new();
    let (served, [owner, ann, ben]) = with_two_agents(&home, "sharing = 'all'\n");
    call(&served, &ann, "store_memory", json!({"content": "The key is in the drawer"}));
    for token in [&owner, &ben] {
        let found = call(&served, token, "search_graph", json!({"query": "key", "includeContent": true}));
        assert_eq!(texts(&found), ["The key is in the drawer"]);
    }
    served.end();
}

#[test]
fn events_of_a_memory_are_heard_by_those_whose_it_is() {
    let home = Home::new();
    let (served, [_, ann, ben]) = with_two_agents(&home, "shared = {team = ['ann', 'ben'], ours = ['ben']}\n");
    let subscribe = |token: &str| {
        let asked = json!({"channels": ["memory.*", "system.dream.*", "weather.*"]});
        let answer = ask(&served, token, "mgp/events/subscribe", asked);
        assert_eq!(answer["result"]["subscribed"], json!(["memory.*", "system.dream.*"]), "{answer}");
        answer["result"]["subscription_id"].as_str().unwrap().to_owned()
    };
    let (of_ann, of_ben) = (subscribe(&ann), subscribe(&ben));
    let mine = call(&served, &ann, "store_memory", json!({"content": "one of ann"}));
    call(&served, &ben, "store_memory", json!({"content": "one of ben"}));
    call(&served, &ben, "store_memory", json!({"content": "one of ben and others", "space": "ours"}));
    call(&served, &ben, "store_memory", json!({"content": "one of both", "space": "team"}));
    call(&served, &ann, "trigger_dream", json!({"force": true, "wait": true}));
    let heard = |token: &str, id: &str, enough: usize| -> Vec<Value> {
        let told = crate::support::until(|| {
            let asked = json!({"subscription_id": id, "after_seq": 0});
            let answer = ask(&served, token, "mgp/events/replay", asked);
            let events = answer["result"]["events"].as_array().cloned().unwrap_or_default();
            (events.len() >= enough).then_some(events)
        });
        told.expect("events")
    };
    let told = heard(&ann, &of_ann, 4);
    let channels: Vec<&str> = told.iter().map(|event| event["channel"].as_str().unwrap()).collect();
    assert_eq!(channels, ["memory.stored", "memory.stored", "system.dream.started", "system.dream.completed"]);
    assert_eq!(told[0]["data"]["memory_id"], mine["fingerprintId"]);
    assert_eq!(told[1]["data"]["space"], "team");
    assert_eq!(told[0]["server_id"], "memory");
    let numbers: Vec<u64> = told.iter().map(|event| event["_mgp.seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    let told = heard(&ben, &of_ben, 3);
    let spaces: Vec<&str> = told.iter().map(|event| event["data"]["space"].as_str().unwrap()).collect();
    assert!(spaces[0].starts_with("of-ben") && spaces[1..] == ["ours", "team"], "{spaces:?}");
    served.end();
}

#[test]
fn it_stays_when_the_first_server_is_added() {
    for made_by in [&["add", "one", "--", "does-not-matter"][..], &["init"]] {
        let home = Home::new();
        home.run(made_by).ok();
        let text = std::fs::read_to_string(home.user_file()).unwrap();
        assert!(text.contains("\n[memory]\nenabled = true\n"), "{made_by:?}: {text}");
        let servers = home.run(&["servers", "--json"]).json();
        let memory = servers["servers"].as_array().unwrap().iter().find(|server| server["id"] == "memory");
        assert_eq!(memory.unwrap()["state"], "ready", "{made_by:?}: {servers}");
        // One more server decides nothing about it.
        let text = text.replace("enabled = true", "enabled = false");
        std::fs::write(home.user_file(), text).unwrap();
        home.run(&["add", "two", "--", "does-not-matter"]).ok();
        let servers = home.run(&["servers", "--json"]).json();
        assert!(!servers["servers"].to_string().contains("\"memory\""), "{made_by:?}: {servers}");
    }
    let home = Home::new();
    home.run(&["add", "--project", "one", "--", "does-not-matter"]).ok();
    assert!(!std::fs::read_to_string(home.path("project/mgp.toml")).unwrap().contains("[memory]"));
}
