//! The end by a signal: whoever comes is told, what runs is answered, and at the bound of connections nobody hangs.

use std::io::Read as _;
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::live::seen;
use crate::serve::{Served, modern_meta};
use crate::support::{Home, LIMIT, server, until};

fn call(tool: &str) -> String {
    let params = json!({"name": tool, "arguments": {"text": "x"}, "_meta": modern_meta(&json!({}))});
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string()
}

fn answer(mut stream: TcpStream) -> (u16, Value) {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer, and not only the end of the connection");
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap_or_default())
}

fn running(home: &Home, server: &str) {
    until(|| (seen(home, server)["pending"] == 1).then_some(())).expect("the call runs");
}

#[test]
fn the_door_stays_open_while_calls_run_and_they_are_answered() {
    let home = Home::new();
    home.configure(&format!("[limits]\nshutdown_grace_ms = 20000\n{}{}", server("one", &[]), server("two", &[])));
    let served = Served::start(&home, &["--no-auth"]);
    until(|| (served.http("GET", "/readyz", None, "").0 == 200).then_some(())).expect("ready");
    let nap = served.send("POST", "/mcp", None, &call("one__nap"));
    running(&home, "one");
    served.signal(rustix::process::Signal::TERM);
    until(|| (served.http("GET", "/readyz", None, "").0 == 503).then_some(())).expect("no longer ready");
    let (_, refused) = served.http("POST", "/mcp", None, &call("two__echo"));
    let refused: Value = serde_json::from_str(&refused).unwrap();
    assert_eq!(refused["error"]["code"], 2001, "{refused}");
    assert_eq!(answer(nap).1["result"]["content"][0]["text"], "rested");
    assert!(served.ended().success());
}

#[test]
fn a_call_past_the_grace_gets_an_error() {
    let home = Home::new();
    home.configure(&format!("[limits]\nshutdown_grace_ms = 300\n{}{}", server("one", &[]), server("two", &[])));
    let served = Served::start(&home, &["--no-auth"]);
    until(|| (served.http("GET", "/readyz", None, "").0 == 200).then_some(())).expect("ready");
    let slow = served.send("POST", "/mcp", None, &call("one__slow"));
    running(&home, "one");
    served.signal(rustix::process::Signal::TERM);
    let (_, late) = answer(slow);
    assert!(late["error"]["message"].is_string() && late["id"] == 7, "{late}");
    assert!(served.ended().success());
}

#[test]
fn on_stdio_an_answer_that_was_waited_for_is_written() {
    let home = Home::new();
    home.configure(&format!("{}{}", server("one", &[]), server("two", &[])));
    for _ in 0..4 {
        let mut peer = home.connect();
        until(|| peer.tools().contains(&"one__nap".to_owned()).then_some(())).expect("the server");
        peer.send(&json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": {"name": "one__nap"}}));
        running(&home, "one");
        let kernel = rustix::process::Pid::from_child(&peer.child);
        rustix::process::kill_process(kernel, rustix::process::Signal::TERM).unwrap();
        assert_eq!(peer.answer_to(900)["result"]["content"][0]["text"], "rested");
        assert!(crate::support::wait(&mut peer.child).success());
    }
}

#[test]
fn on_stdio_a_call_past_the_grace_gets_an_error() {
    let home = Home::new();
    home.configure(&format!("[limits]\nshutdown_grace_ms = 300\n{}{}", server("one", &[]), server("two", &[])));
    let mut peer = home.connect();
    until(|| peer.tools().contains(&"one__slow".to_owned()).then_some(())).expect("the server");
    peer.send(&json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": {"name": "one__slow"}}));
    running(&home, "one");
    let kernel = rustix::process::Pid::from_child(&peer.child);
    rustix::process::kill_process(kernel, rustix::process::Signal::TERM).unwrap();
    let answer = peer.answer_to(900);
    assert!(answer["error"]["message"].is_string(), "{answer}");
    assert!(crate::support::wait(&mut peer.child).success());
}

#[test]
fn above_the_bound_of_connections_nobody_hangs() {
    let home = Home::new();
    home.configure(&format!("[limits]\nconnections = 3\n{}", server("one", &[])));
    let served = Served::start(&home, &["--no-auth"]);
    let idle: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(&served.address).unwrap()).collect();
    let full = until(|| Some(served.http("GET", "/healthz", None, "").0).filter(|status| *status == 503));
    assert_eq!(full, Some(503));
    drop(idle);
    until(|| (served.http("GET", "/healthz", None, "").0 == 200).then_some(())).expect("room again");
    served.end();
}

#[test]
fn a_server_that_hangs_at_the_start_holds_up_nobody_else() {
    let home = Home::new();
    home.configure(&format!(
        "[limits]\nlist_wait_ms = 50000\n{}{}",
        server("good", &[]),
        "[[servers]]\nid = \"hangs\"\ncommand = \"sleep\"\nargs = [\"1000\"]\n"
    ));
    let began = std::time::Instant::now();
    let served = Served::start(&home, &["--no-auth"]);
    // Neither a first call nor a client's hello waits for it.
    let (status, body) = served.http("POST", "/mcp", None, &call("good__pid"));
    assert!(status == 200 && body.contains("\"content\""), "{status} {body}");
    let mut peer = home.connect();
    peer.call("good__pid", &json!({})).unwrap();
    assert!(began.elapsed() < LIMIT / 2, "{:?}", began.elapsed());
    served.end();
}
