//! Long calls that outlive the connection of their client, and the kernel itself, by their checkpoint tokens.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::serve::{Served, modern_meta};
use crate::support::{Home, server, until};

const WHOLE: &str = "<0><1><2><3><4><5><6><7><8><9>";
const PIECE: &str = "notifications/stream_chunk";

/// A kernel with one server that tells stories, and writes down how often.
struct Scene {
    home: Home,
}

impl Scene {
    fn new(flags: &[&str]) -> Self {
        let home = Home::new();
        let ledger = home.path("ledger").display().to_string();
        let mut all = vec!["--streams", "--ledger", &ledger];
        all.extend(flags);
        home.configure(&server("one", &all));
        Self { home }
    }

    fn serve(&self) -> Served {
        let served = Served::start(&self.home, &["--no-auth"]);
        until(|| (served.http("GET", "/readyz", None, "").0 == 200).then_some(())).expect("ready");
        served
    }

    /// How often the story was told.
    fn told(&self) -> usize {
        std::fs::read_to_string(self.home.path("ledger")).unwrap_or_default().lines().count()
    }
}

/// A request that streams, and its messages as they come.
struct Stream {
    lines: std::io::Lines<BufReader<TcpStream>>,
}

impl Stream {
    fn open(served: &Served, method: &str, mut params: Value) -> Self {
        let token = params["_meta"]["checkpoint_token"].take();
        params["_meta"] = modern_meta(&json!({"extensions": {"streaming": {}}}));
        if token.is_string() {
            params["_meta"]["checkpoint_token"] = token;
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        Self { lines: BufReader::new(served.send("POST", "/mcp", None, &body)).lines() }
    }

    fn call(served: &Served, token: Option<&Value>) -> Self {
        let meta = token.map_or_else(|| json!({}), |token| json!({"checkpoint_token": token}));
        Self::open(served, "tools/call", json!({"name": "story", "arguments": {}, "_meta": meta}))
    }

    /// The next message.
    fn next(&mut self) -> Value {
        loop {
            let line = self.lines.next().expect("a message").unwrap();
            let text = line.strip_prefix("data: ").or_else(|| line.strip_prefix("data:")).unwrap_or(&line);
            if text.starts_with("{\"") {
                return serde_json::from_str(text).unwrap();
            }
        }
    }

    fn piece(&mut self) -> Value {
        loop {
            let message = self.next();
            assert!(message.get("id").is_none(), "{message}");
            if message["method"] == PIECE {
                return message["params"].clone();
            }
        }
    }

    /// The numbers of the pieces that are left, and the answer.
    fn rest(mut self) -> (Vec<u64>, Value) {
        let mut pieces = Vec::new();
        loop {
            let message = self.next();
            if message.get("id").is_some() {
                return (pieces, message);
            }
            if message["method"] == PIECE && message["params"]["is_final"] != true {
                pieces.extend(message["params"]["sequence"].as_u64());
            }
        }
    }
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_call_survives_the_connection_of_its_client() {
    let scene = Scene::new(&[]);
    let served = scene.serve();
    let mut stream = Stream::call(&served, None);
    let first = stream.piece();
    drop(stream);
    let params = json!({"operation_id": first["operation_id"], "checkpoint_token": first["checkpoint_token"]});
    let (pieces, answer) = Stream::open(&served, "operations/resume", params).rest();
    assert_eq!(text(&answer), WHOLE);
    assert_eq!(pieces, (1..10).collect::<Vec<_>>(), "what came after the checkpoint, each once");
    assert_eq!(scene.told(), 1, "the call ran once");
    served.end();
}

#[test]
fn a_call_that_reads_survives_the_kernel() {
    let scene = Scene::new(&["--read-only"]);
    let served = scene.serve();
    let mut stream = Stream::call(&served, None);
    let (_, second) = (stream.piece(), stream.piece());
    served.signal(rustix::process::Signal::KILL);
    served.ended();
    drop(stream);
    let served = scene.serve();
    let (pieces, answer) = Stream::call(&served, Some(&second["checkpoint_token"])).rest();
    assert_eq!(text(&answer), WHOLE);
    assert_eq!(pieces, (2..10).collect::<Vec<_>>(), "what the client has is not sent again");
    assert_eq!(scene.told(), 2, "it was made again");
    // Once more with the same token, after yet another restart: the result is kept.
    served.end();
    let served = scene.serve();
    let (_, answer) = Stream::call(&served, Some(&second["checkpoint_token"])).rest();
    assert_eq!(text(&answer), WHOLE);
    served.end();
}

#[test]
fn a_call_that_may_change_something_is_not_made_again_after_the_kernel_has_died() {
    let scene = Scene::new(&[]);
    let served = scene.serve();
    let mut stream = Stream::call(&served, None);
    let first = stream.piece();
    served.signal(rustix::process::Signal::KILL);
    served.ended();
    let served = scene.serve();
    let (_, answer) = Stream::call(&served, Some(&first["checkpoint_token"])).rest();
    let said = answer.to_string().to_lowercase();
    assert!(said.contains("outcome_unknown"), "{answer}");
    assert_eq!(scene.told(), 1, "nothing is done twice");
    served.end();
}
