//! Answers that nobody asked for, in another order, twice, or too late: each caller gets its own and nothing else.

use serde_json::{Value, json};

use crate::live::seen;
use crate::serve::{Served, modern_meta};
use crate::support::{Home, server, until};

/// Texts that follow from a seed, so that a failure can be seen again.
fn texts(seed: u64, count: u64) -> impl Iterator<Item = String> {
    (0..count).scan(seed, |state, number| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(format!("{number}-{:x}", *state >> 20))
    })
}

#[test]
fn each_caller_gets_its_own_answer() {
    let home = Home::new();
    home.configure(&format!(
        "{}\n{}",
        server("good", &["--shuffle"]),
        server("bad", &["--strays", "--shuffle", "--answer-twice"])
    ));
    let served = Served::start(&home, &["--no-auth"]);
    until(|| (served.http("GET", "/readyz", None, "").0 == 200).then_some(())).expect("ready");
    let meta = modern_meta(&json!({}));
    std::thread::scope(|scope| {
        for seed in 1..=8 {
            let (served, meta) = (&served, &meta);
            scope.spawn(move || {
                for (number, text) in texts(seed, 40).enumerate() {
                    let tool = if number % 4 == 0 { "good__echo" } else { "bad__echo" };
                    // All of them use the same id, which is their right: each has a connection of its own.
                    let params = json!({"name": tool, "arguments": {"text": text}, "_meta": meta});
                    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
                    let (_, body) = served.http("POST", "/mcp", None, &request.to_string());
                    let answer: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
                    assert_eq!(answer["id"], 1);
                    assert_eq!(answer["result"]["content"][0]["text"], text, "seed {seed}, call {number}: {answer}");
                }
            });
        }
    });
    assert!(seen(&home, "bad")["stray_answers"].as_u64().unwrap() >= 240, "they are counted");
    assert_eq!(seen(&home, "good")["stray_answers"], 0);
    assert_eq!(seen(&home, "bad")["health"], "degraded");
    assert_eq!(seen(&home, "good")["health"], "healthy");
    served.end();
}

#[test]
fn what_comes_after_a_call_was_taken_back_reaches_nobody() {
    let home = Home::new();
    home.configure(&format!("{}\n{}", server("one", &["--strays"]), server("two", &[])));
    let mut peer = home.connect();
    let before = seen(&home, "one")["stray_answers"].as_u64().unwrap();
    let call = json!({"name": "one__nap", "_meta": {"progressToken": "mine"}});
    peer.send(&json!({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": call}));
    until(|| (seen(&home, "one")["pending"] == 1).then_some(())).expect("the call runs");
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 900}}));
    peer.send(&json!({"jsonrpc": "2.0", "id": 901, "method": "tools/call", "params": {"name": "one__nap"}}));
    // The late answer of the first comes before that of the second, and is nobody's.
    loop {
        let line = peer.next_line();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert!(message["id"] != 900 && !line.contains("not yours"), "{line}");
        if message["id"] == 901 {
            assert_eq!(message["result"]["content"][0]["text"], "rested");
            break;
        }
    }
    let after = seen(&home, "one")["stray_answers"].as_u64().unwrap();
    assert!(after > before + 4, "the late one is counted as well: {before}, {after}");
    assert_eq!(peer.call("two__echo", &json!({"text": "fine"})), Ok("fine".to_owned()));
}
