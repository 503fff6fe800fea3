//! Frames that are split, joined, too long, or none at all, from clients and from servers.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::serve::Served;
use crate::support::{Home, Peer, server, until};

fn two(flags: &[&str]) -> Home {
    let home = Home::new();
    home.configure(&format!("{}\n{}", server("good", &[]), server("bad", flags)));
    home
}

fn echo(peer: &mut Peer, tool: &str) -> Result<String, String> {
    peer.call(tool, &json!({"text": "hi"}))
}

/// Writes bytes as they are.
fn write(peer: &mut Peer, bytes: &[u8]) {
    let stdin = peer.child.stdin.as_mut().unwrap();
    stdin.write_all(bytes).unwrap();
    stdin.flush().unwrap();
}

fn call(id: u64) -> String {
    let params = json!({"name": "good__echo", "arguments": {"text": format!("ü{id}")}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

fn said(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_message_may_be_split_anywhere() {
    let home = two(&[]);
    let mut peer = home.connect();
    let line = format!("{}\n", call(1_000)).into_bytes();
    for (number, at) in (1..line.len()).step_by(7).enumerate() {
        let id = 2_000 + u64::try_from(number).unwrap();
        let line = format!("{}\n", call(id)).into_bytes();
        let (first, second) = line.split_at(at.min(line.len() - 1));
        write(&mut peer, first);
        write(&mut peer, second);
        assert_eq!(said(&peer.answer_to(id)), format!("ü{id}"));
    }
    for byte in &line {
        write(&mut peer, std::slice::from_ref(byte));
    }
    assert_eq!(said(&peer.answer_to(1_000)), "ü1000", "byte by byte");
    // Several in one write, other line ends, and empty lines.
    write(&mut peer, format!("\n\r\n{}\r\n\n{}\n{}\n", call(1_001), call(1_002), call(1_003)).as_bytes());
    let mut answers: Vec<String> =
        (0..3).map(|_| said(&serde_json::from_str(&peer.next_line()).unwrap()).to_owned()).collect();
    answers.sort();
    assert_eq!(answers, ["ü1001", "ü1002", "ü1003"]);
}

#[test]
fn half_a_message_is_never_carried_out() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let mut peer = home.connect();
    echo(&mut peer, "echo").unwrap();
    let crash = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "crash"}}).to_string();
    write(&mut peer, &crash.as_bytes()[..crash.len() - 1]);
    let (code, _) = peer.end();
    assert_eq!(code, Some(0));
    let log = home.run(&["audit", "query", "--json"]).ok();
    assert!(!log.contains("\"crash\""), "{log}");
}

#[test]
fn servers_that_drip_or_babble_are_understood() {
    for flags in [&["--drip"][..], &["--garbage"], &["--drip", "--garbage"]] {
        let home = two(flags);
        let mut peer = home.connect();
        assert_eq!(echo(&mut peer, "bad__echo"), Ok("hi".to_owned()), "{flags:?}");
        assert_eq!(echo(&mut peer, "good__echo"), Ok("hi".to_owned()), "{flags:?}");
    }
}

#[test]
fn half_an_answer_is_no_answer() {
    let home = two(&["--half-answer"]);
    let mut peer = home.connect();
    assert!(echo(&mut peer, "bad__echo").unwrap_err().contains("is unknown"));
    assert_eq!(echo(&mut peer, "good__echo"), Ok("hi".to_owned()));
    let back = until(|| peer.call("bad__pid", &json!({})).ok());
    assert!(back.is_some(), "it is started again");
}

#[test]
fn a_message_that_is_too_long_is_answered_and_costs_nothing_else() {
    let home = Home::new();
    home.configure(&format!("[limits]\nmessage_bytes = 100000\n{}", server("good", &[])));
    let mut peer = home.connect();
    for text in ["x".repeat(200_000), "[".repeat(300)] {
        let quoted = if text.starts_with('x') { json!(text).to_string() } else { format!("{text}{}", "]".repeat(300)) };
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":5000,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":{quoted}}}}}}}"#
        );
        write(&mut peer, format!("{call}\n").as_bytes());
        let answer = peer.answer_to(5_000);
        assert!(answer["error"]["code"].is_i64(), "{answer}");
        assert_eq!(echo(&mut peer, "echo"), Ok("hi".to_owned()));
    }
}

#[test]
fn ids_come_back_as_they_went() {
    let home = two(&[]);
    let mut peer = home.connect();
    let ids = ["1", "\"1\"", "9007199254740993", "\"\"", "\"\\u00fc\"", "-5"];
    for id in ids {
        let params = json!({"name": "good__echo", "arguments": {"text": id}});
        write(
            &mut peer,
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}\n").as_bytes(),
        );
    }
    let mut left: Vec<&str> = ids.into();
    while !left.is_empty() {
        let line = peer.next_line();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let at = left.iter().position(|id| *id == said(&answer)).unwrap_or_else(|| panic!("{line}"));
        assert!(line.contains(&format!("\"id\":{}", left[at])), "{line}");
        left.remove(at);
    }
}

#[test]
fn clients_that_never_finish_their_request_keep_nobody_out() {
    let home = Home::new();
    home.configure(&server("one", &[]));
    let served = Served::start(&home, &["--no-auth"]);
    until(|| (served.http("GET", "/readyz", None, "").0 == 200).then_some(())).expect("ready");
    let slow: Vec<TcpStream> = (0..300)
        .map(|number| {
            let mut stream = TcpStream::connect(&served.address).unwrap();
            let begun = if number % 2 == 0 { "POST /mcp HT" } else { "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Len" };
            stream.write_all(begun.as_bytes()).unwrap();
            stream
        })
        .collect();
    let began = Instant::now();
    for _ in 0..10 {
        served.call("pid", "x");
    }
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    drop(slow);
    served.end();
}
