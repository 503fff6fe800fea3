//! `switchboard tools search`, over files and over servers.

use serde_json::{Value, json};

use crate::support::{Home, Peer, server, until};

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn files(home: &Home) -> (String, String) {
    let tools = [
        json!({"id": "t/convert", "server": "time", "name": "convert_time", "description": "Convert a time between zones",
               "inputSchema": {"type": "object", "properties": {"zone": {"type": "string"}}}}),
        json!({"id": "f/read", "server": "files", "name": "read_file", "description": "Read a file", "more": [1]}),
        json!({"id": "w/now", "server": "weather", "name": "get_weather"}),
    ];
    let queries =
        [json!({"id": 7, "query": "show a document"}), json!({"id": "b", "query": "what time is it in Tokyo"})];
    home.write("tools.jsonl", &format!("{}\n", lines(&tools)));
    home.write("queries.jsonl", &lines(&queries));
    let shown = |name: &str| home.path(name).display().to_string();
    (shown("tools.jsonl"), shown("queries.jsonl"))
}

#[test]
fn queries_of_a_file_are_ranked_line_by_line() {
    let home = Home::new();
    let (tools, queries) = files(&home);
    let out = home.run(&["tools", "search", "--catalog", &tools, "--queries", &queries, "--top", "2"]).ok();
    let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!((&answers[0]["id"], &answers[0]["ranked"][0]), (&json!(7), &json!("f/read")));
    assert_eq!((&answers[1]["id"], &answers[1]["ranked"][0]), (&json!("b"), &json!("t/convert")));
    assert!(answers.iter().all(|answer| answer["ranked"].as_array().unwrap().len() == 2));
}

#[test]
fn one_query_is_answered_with_reasons() {
    let home = Home::new();
    let (tools, _) = files(&home);
    let shown = home.run(&["tools", "search", "--catalog", &tools, "convert", "a", "time"]).ok();
    assert!(
        shown.contains("t/convert") && shown.contains("because: ") && shown.contains("\"convert\" in name"),
        "{shown}"
    );
    let found = home.run(&["tools", "search", "--catalog", &tools, "read_file", "--json"]).json();
    assert_eq!((&found["tools"][0]["name"], &found["tools"][0]["relevance_score"]), (&json!("f/read"), &json!(1.0)));
    assert_eq!(found["total_available"], 3);
}

#[test]
fn what_cannot_be_read_is_said() {
    let home = Home::new();
    let (tools, _) = files(&home);
    home.write("bad.jsonl", "{\"id\": 1}\n{\"query\": \n");
    let bad = home.path("bad.jsonl").display().to_string();
    let why = home.run(&["tools", "search", "--catalog", &tools, "--queries", &bad]).err(1);
    assert!(why.contains("line 1") && why.contains("`query`"), "{why}");
    home.run(&["tools", "search", "--catalog", "/nowhere/tools.jsonl", "read"]).err(1);
    home.run(&["tools", "search"]).err(2);
}

#[test]
fn the_tools_of_configured_servers_are_searched() {
    let home = Home::new();
    home.configure(&format!("{}{}", server("one", &[]), server("two", &[])));
    let found = home.run(&["tools", "search", "give me back my text", "--top", "2", "--json"]).json();
    let mut names: Vec<&str> =
        found["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["one__echo", "two__echo"], "{found}");
    assert_eq!(found["tools"][0]["server_id"].as_str().unwrap(), &found["tools"][0]["name"].as_str().unwrap()[..3]);
}

/// The structure of a result.
fn structure(peer: &mut Peer, tool: &str, arguments: &Value) -> Value {
    let answer = peer.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
    answer["result"]["structuredContent"].clone()
}

#[test]
fn a_plain_client_is_given_a_few_tools_finds_another_and_calls_it() {
    let home = Home::new();
    let sections = "[tool_context]\nlevel = 'hybrid'\npinned = ['two__pid']\n";
    home.configure(&format!("{sections}{}{}", server("one", &[]), server("two", &["--modern"])));
    let mut peer = home.connect();
    let first = peer.tools();
    assert_eq!(first, ["mgp_tools_discover", "mgp_tools_request", "mgp_tools_call", "two__pid"]);
    let asked = json!({"query": "gives a text back as it was", "max_results": 1});
    let text = peer.call("mgp_tools_discover", &asked).unwrap();
    assert!(text.contains("__echo(") && text.contains("text: string"), "who reads the text can call it: {text}");
    let found = structure(&mut peer, "mgp_tools_discover", &asked);
    let name = found["tools"][0]["name"].as_str().unwrap().to_owned();
    assert!(name.ends_with("__echo"), "{found}");
    assert!(found["tools"][0]["inputSchema"]["properties"]["text"].is_object(), "{found}");
    assert_eq!(peer.call("mgp_tools_call", &json!({"name": name, "arguments": {"text": "a"}})), Ok("a".to_owned()));
    assert!(peer.tools().contains(&name));
    assert_eq!(peer.call(&name, &json!({"text": "b"})), Ok("b".to_owned()));
}

/// A model that knows a word which nothing else in the program knows.
#[test]
fn a_transformer_orders_what_was_found_in_files_and_in_a_running_kernel() {
    let home = Home::new();
    switchboard_testkit::model::write(&home.path("model"), &[&["zorp", "weather"], &["file", "read"]]).unwrap();
    let model = home.path("model").display().to_string();
    let (tools, _) = files(&home);
    let found = home.run(&["tools", "search", "--catalog", &tools, "--model", &model, "zorp", "--json"]).json();
    let best = &found["tools"][0];
    assert_eq!((&best["name"], &best["reasons"]), (&json!("w/now"), &json!(["meaning 1.00"])), "{found}");
    home.run(&["tools", "search", "--catalog", &tools, "--model", "/nowhere", "zorp"]).err(1);

    switchboard_testkit::model::write(&home.path("model"), &[&["zorp", "echo"], &["pid"], &["fail", "wait"]]).unwrap();
    let sections = "[tool_context]\nlevel = 'hybrid'\nmodel = '~/model'\n";
    home.configure(&format!("{sections}{}", server("one", &[])));
    let mut peer = home.connect();
    let found = structure(&mut peer, "mgp_tools_discover", &json!({"query": "zorp", "max_results": 1}));
    assert_eq!(found["tools"][0]["name"], "echo", "{found}");
    assert_eq!(found["tools"][0]["matched"], json!(["meaning 1.00"]), "{found}");
    let found = home.run(&["tools", "search", "zorp", "--top", "1", "--json"]).json();
    assert_eq!(found["tools"][0]["name"], "echo", "{found}");
}

#[test]
fn a_search_says_which_servers_could_not_be_searched_yet() {
    let home = Home::new();
    let slow = "[[servers]]\nid = 'slow'\ncommand = 'sleep'\nargs = ['60']\n";
    let sections = "[limits]\nlist_wait_ms = 100\n[tool_context]\nlevel = 'hybrid'\n";
    home.configure(&format!("{sections}{}{slow}", server("one", &[])));
    let mut peer = home.connect();
    let asked = json!({"query": "give me back my text", "requirements": {"capabilities": ["echo a text"]}});
    // On a busy machine the quick one takes a while, too.
    until(|| {
        let found = structure(&mut peer, "mgp_tools_discover", &asked);
        (found["servers_starting"] == json!(["slow"])).then_some(())
    });
    for tool in ["mgp_tools_discover", "mgp_tools_request"] {
        let found = structure(&mut peer, tool, &asked);
        assert_eq!(found["servers_starting"], json!(["slow"]), "{found}");
    }
}
