//! Streams and questions of servers through the real binary, with a kill in the middle.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::serve::{Served, modern_meta};
use crate::support::{Home, until};

fn server(pause: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_switchboard")).with_file_name("examples").join("streaming-server");
    assert!(program.is_file(), "{} is not built: cargo build --example streaming-server", program.display());
    format!("[[servers]]\nid = \"one\"\ncommand = {program:?}\nargs = [{pause:?}]\n")
}

/// A call whose answer is read event by event.
struct Reading(BufReader<TcpStream>);

impl Reading {
    fn begin(served: &Served, token: &str, tool: &str, capabilities: &Value, meta: &[(&str, Value)]) -> Self {
        let mut all = modern_meta(capabilities);
        for (key, value) in meta {
            all[*key] = value.clone();
        }
        let params = json!({"name": tool, "arguments": {}, "_mgp": {"stream": true}, "_meta": all});
        let body = json!({"jsonrpc": "2.0", "id": 20, "method": "tools/call", "params": params}).to_string();
        Self(BufReader::new(served.send("POST", "/mcp", Some(token), &body)))
    }

    /// The next message, whether it comes as an event or as the whole answer.
    fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            let line = line.trim();
            let text = line.strip_prefix("data:").unwrap_or(line).trim();
            if let Ok(message @ Value::Object(_)) = serde_json::from_str(text) {
                return Some(message);
            }
        }
    }

    /// Everything up to the answer, and the answer.
    fn rest(mut self) -> (Vec<Value>, Value) {
        let mut told = Vec::new();
        while let Some(message) = self.next() {
            if message.get("id").is_some() {
                return (told, message);
            }
            told.push(message["params"].clone());
        }
        panic!("no answer after {told:?}")
    }
}

#[test]
fn pieces_reach_a_client_over_http() {
    let home = Home::new();
    home.configure(&server("0"));
    let served = Served::start(&home, &[]);
    let token = served.token.clone().unwrap();
    let mgp = json!({"extensions": {"dev.cloto/mgp": {"version": "0.3.0", "extensions": ["streaming"]}}});
    let (told, answer) = Reading::begin(&served, &token, "count", &mgp, &[]).rest();
    let texts: Vec<_> = told.iter().map(|piece| piece["content"]["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["<0>", "<1>", "<2>", "<3>", "<4>"]);
    assert!(told.iter().all(|piece| piece["request_id"] == 20));
    assert_eq!(answer["result"]["content"][0]["text"], "<0><1><2><3><4>");
    assert_eq!(answer["result"]["_mgp"]["chunks_sent"], 5);
    served.end();
}

#[test]
fn a_long_call_survives_the_client_and_the_kernel() {
    let home = Home::new();
    home.configure(&server("300"));
    let speaks = json!({"extensions": {"streaming": {}}});
    let served = Served::start(&home, &[]);
    let token = served.token.clone().unwrap();
    let mut reading = Reading::begin(&served, &token, "count", &speaks, &[]);
    let first = reading.next().expect("a piece")["params"].clone();
    assert_eq!((&first["sequence"], &first["data"]["text"]), (&json!(0), &json!("<0>")), "{first}");
    // The client goes, and comes back on another connection: the call has gone on.
    drop(reading);
    let token_of = |piece: &Value| ("checkpoint_token", piece["checkpoint_token"].clone());
    let mut reading = Reading::begin(&served, &token, "count", &speaks, &[token_of(&first)]);
    let second = reading.next().expect("a piece")["params"].clone();
    assert_eq!((&second["sequence"], &second["operation_id"]), (&json!(1), &first["operation_id"]));
    // The kernel is killed in the middle.
    served.kill();
    let served = Served::start(&home, &[]);
    let (told, answer) = Reading::begin(&served, &token, "count", &speaks, &[token_of(&second)]).rest();
    let numbers: Vec<_> =
        told.iter().filter(|piece| piece["data"].is_object()).map(|piece| piece["sequence"].clone()).collect();
    assert_eq!(numbers, [2, 3, 4], "what was read does not come again");
    assert_eq!(answer["result"]["content"][0]["text"], "<0><1><2><3><4>");
    assert_eq!(answer["result"]["_meta"]["operation_id"], first["operation_id"]);
    served.end();
}

#[test]
fn the_operator_answers_a_question_of_a_server() {
    let home = Home::new();
    home.configure(&server("0"));
    let served = Served::start(&home, &[]);
    let token = served.token.clone().unwrap();
    let reading = Reading::begin(&served, &token, "decide", &json!({}), &[]);
    let open = || home.run(&["callbacks", "--json"]).json()["open"][0].clone();
    let asked = until(|| Some(open()).filter(|asked| !asked.is_null())).expect("a question");
    assert_eq!((&asked["server"], &asked["type"]), (&json!("one"), &json!("confirmation")));
    assert_eq!(asked["message"], "Server `one` asks: Delete 15 files?");
    let id = &asked["id"].as_str().unwrap()[..8];
    assert!(home.run(&["callbacks"]).ok().contains("answers: confirm, cancel"));
    assert!(home.run(&["callbacks", "answer", id, "perhaps"]).err(2).contains("one of: confirm, cancel"));
    assert!(home.run(&["callbacks", "answer", id, "confirm"]).ok().contains("answered"));
    let (_, answer) = reading.rest();
    assert_eq!(answer["result"]["content"][0]["text"], "confirm");
    assert_eq!(home.run(&["callbacks"]).ok(), "no server asks anything\n");
    served.end();
}
