//! A kill at any moment loses nothing that was acknowledged.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::Memory;

/// Starts the example that serves a memory on standard streams.
#[test]
fn what_was_acknowledged_survives_a_kill() {
    let program = std::env::current_exe().unwrap();
    let program = program.parent().and_then(|deps| deps.parent()).unwrap().join("examples").join("memory-stdio");
    assert!(program.is_file(), "{} is not built: cargo build --example memory-stdio", program.display());
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let path = folder.path().join("memory.db");
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        let mut child = Command::new(&program).arg(&path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut send = |message: Value| writeln!(input, "{message}").unwrap();
        send(
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2024-11-05", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"}}}),
        );
        // More is asked for than is waited for: the kill falls into the middle of something.
        for number in 1..=12 {
            let content = format!("round {round} fact {number}");
            send(json!({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                "params": {"name": "store_memory", "arguments": {"content": content}}}));
        }
        let mut seen = 0;
        while seen < 5 {
            let answer: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
            if let Some(id) = answer["result"]["structuredContent"]["fingerprintId"].as_str() {
                acknowledged.push((id.to_owned(), format!("round {round} fact {}", answer["id"])));
                seen += 1;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let memory = Memory::at(folder, crate::support::START);
    let caller = switchboard_contextgraph::server::MemoryCaller::default();
    for (id, text) in &acknowledged {
        let id = id.parse().unwrap();
        let kept = memory.server.with_space(&caller, |space, _| space.body(id)).unwrap();
        assert_eq!(kept.content, *text);
    }
    let count = memory.call("get_memetic_status", json!({}))["fingerprintCount"].as_u64().unwrap();
    assert!((15..=36).contains(&count), "{count}");
    memory.store("and it goes on");
}
