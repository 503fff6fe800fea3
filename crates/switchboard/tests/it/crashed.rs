//! The end of the kernel, by kill -9 and by SIGTERM, with calls that run and calls that wait for a person: what the callers
//! hear, and what the record says.

use std::io::Read as _;
use std::net::TcpStream;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::serve::{Served, modern_meta};
use crate::support::{Home, server, until};

const HELD: &str = "dev.switchboard.call_held";
const INTENT: &str = "dev.switchboard.tool_intent";
const UNKNOWN: &str = "dev.switchboard.unknown_outcome";

fn call(tool: &str) -> String {
    let params = json!({"name": tool, "arguments": {"text": "x"}, "_meta": modern_meta(&json!({}))});
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string()
}

/// The answer to a call, whole or at the end of a stream; nothing where the connection only ended.
fn answer(mut stream: TcpStream) -> Option<Value> {
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()).find(|message| message["id"] == 7)
}

/// What is on record about a tool: the types of its events, with their results.
fn record(home: &Home, tool: &str) -> Vec<(String, String)> {
    let events = home.run(&["--json", "audit", "query", "--server", "one"]).json();
    let about = events["events"].as_array().unwrap().iter().filter(|event| event["target"]["tool_name"] == tool);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    about.map(|event| (text(&event["event_type"]), text(&event["result"]))).collect()
}

fn has(record: &[(String, String)], event_type: &str) -> usize {
    record.iter().filter(|(one, _)| one == event_type).count()
}

struct Scene {
    home: Home,
}

impl Scene {
    /// One tool runs for long and is said to change something, one has to be agreed to.
    fn new() -> Self {
        let home = Home::new();
        let tools =
            "[servers.tools.slow]\nrisk = \"dangerous\"\nconfirm = false\n[servers.tools.echo]\nconfirm = true\n";
        home.configure(&format!(
            "[limits]\nshutdown_grace_ms = 500\n{}{tools}{}",
            server("one", &[]),
            server("two", &[])
        ));
        Self { home }
    }

    fn serve(&self) -> Served {
        let served = Served::start(&self.home, &["--no-auth"]);
        until(|| (served.http("GET", "/readyz", None, "").0 == 200).then_some(())).expect("ready");
        served
    }

    /// Makes both calls, and waits until one runs and the other is held.
    fn both(&self, served: &Served) -> (TcpStream, TcpStream) {
        let running = served.send("POST", "/mcp", None, &call("one__slow"));
        let held = served.send("POST", "/mcp", None, &call("one__echo"));
        until(|| (has(&record(&self.home, "slow"), INTENT) == 1).then_some(())).expect("it runs");
        until(|| (has(&record(&self.home, "echo"), HELD) == 1).then_some(())).expect("it is held");
        (running, held)
    }
}

#[test]
fn after_kill_9_what_ran_is_unknown_and_what_was_held_was_never_made() {
    let scene = Scene::new();
    let served = scene.serve();
    let (running, held) = scene.both(&served);
    served.signal(Signal::KILL);
    served.ended();
    assert_eq!((answer(running), answer(held)), (None, None), "nobody was there to say anything");
    let before = record(&scene.home, "slow");
    assert_eq!((has(&before, INTENT), has(&before, UNKNOWN)), (1, 0), "{before:?}");
    let served = scene.serve();
    let slow = until(|| Some(record(&scene.home, "slow")).filter(|record| has(record, UNKNOWN) == 1));
    let slow = slow.expect("its outcome is said to be unknown");
    assert!(slow.contains(&(UNKNOWN.to_owned(), "UNKNOWN".to_owned())), "{slow:?}");
    assert_eq!((has(&slow, INTENT), has(&slow, "TOOL_EXECUTED")), (1, 0), "once, and with one end: {slow:?}");
    let echo = record(&scene.home, "echo");
    let made = [INTENT, UNKNOWN, "TOOL_EXECUTED"].map(|event_type| has(&echo, event_type));
    assert_eq!((has(&echo, HELD), made), (1, [0, 0, 0]), "{echo:?}");
    served.end();
    assert!(scene.home.run(&["audit", "verify"]).ok().contains("whole"));
}

#[test]
fn after_sigterm_both_are_answered_and_the_record_says_how_they_ended() {
    let scene = Scene::new();
    let served = scene.serve();
    let (running, held) = scene.both(&served);
    served.signal(Signal::TERM);
    let late = answer(running).expect("an answer");
    assert!(late["error"]["message"].as_str().is_some_and(|text| text.contains("unknown")), "{late}");
    let refused = answer(held).expect("an answer");
    assert!(refused["error"].is_object() || refused["result"]["isError"] == true, "{refused}");
    assert!(served.ended().success());
    let slow = record(&scene.home, "slow");
    assert!(slow.contains(&(UNKNOWN.to_owned(), "UNKNOWN".to_owned())), "{slow:?}");
    assert_eq!((has(&slow, INTENT), has(&slow, UNKNOWN), has(&slow, "TOOL_EXECUTED")), (1, 1, 0), "{slow:?}");
    let echo = record(&scene.home, "echo");
    assert_eq!((has(&echo, HELD), has(&echo, "TOOL_REJECTED"), has(&echo, INTENT)), (1, 1, 0), "{echo:?}");
    // A new start finds nothing to report.
    scene.serve().end();
    assert_eq!(record(&scene.home, "slow"), slow);
    assert!(scene.home.run(&["audit", "verify"]).ok().contains("whole"));
}

/// A server that is taken out of the configuration takes the calls along that wait for a person.
#[test]
fn a_held_call_is_refused_when_a_reload_takes_its_server_away() {
    let scene = Scene::new();
    let served = scene.serve();
    let held = served.send("POST", "/mcp", None, &call("one__echo"));
    until(|| (has(&record(&scene.home, "echo"), HELD) == 1).then_some(())).expect("it is held");
    let began = std::time::Instant::now();
    scene.home.configure(&server("two", &[]));
    let refused = answer(held).expect("an answer");
    assert!(refused["error"].is_object() || refused["result"]["isError"] == true, "{refused}");
    assert!(refused.to_string().contains("has gone"), "{refused}");
    assert!(began.elapsed() < std::time::Duration::from_secs(30), "long before its question times out");
    assert_eq!(has(&record(&scene.home, "echo"), INTENT), 0);
    served.end();
}
