//! A small MGP server on standard streams that sends results in pieces and asks in the middle of calls.
//!
//! It shares no code with the kernel on purpose. Its tools are `count`, which sends a piece every so often, and `decide`,
//! which asks for a confirmation and gives back the answer.

use std::io::{self, BufRead, Write};
use std::time::Duration;

use serde_json::{Value, json};

/// Pieces of `count`.
const PIECES: u64 = 5;

/// Runs the server until its input ends. `pause` is how long `count` takes for a piece.
///
/// # Errors
/// The streams cannot be read or written.
pub fn run(pause: Duration, input: impl BufRead, output: impl Write) -> io::Result<()> {
    let mut server = Server { pause, output, asks: None };
    for line in input.lines() {
        if let Ok(message) = serde_json::from_str::<Value>(&line?) {
            server.take(&message)?;
        }
    }
    Ok(())
}

struct Server<W> {
    pause: Duration,
    output: W,
    /// The call that waits for an answer.
    asks: Option<Value>,
}

impl<W: Write> Server<W> {
    fn take(&mut self, message: &Value) -> io::Result<()> {
        let Some(id) = message.get("id") else { return Ok(()) };
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}, "mgp": {"version": "0.3.0", "extensions": ["streaming", "bidirectional"]}},
                "serverInfo": {"name": "streamer", "version": "1"},
            }),
            "tools/list" => {
                let read = json!({"readOnlyHint": true});
                let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}, "annotations": read});
                json!({"tools": [tool("count"), tool("decide")]})
            }
            "tools/call" if message["params"]["name"] == "count" => self.count(id)?,
            "tools/call" => {
                let asked = json!({"callback_id": "cb-1", "request_id": id, "type": "confirmation",
                    "message": "Delete 15 files?", "options": ["confirm", "cancel"], "timeout_ms": 60_000});
                self.asks = Some(id.clone());
                return self.tell("notifications/mgp.callback.request", &asked);
            }
            "mgp/callback/respond" => {
                if let Some(call) = self.asks.take() {
                    let text = message["params"]["response"].clone();
                    self.answer(&call, &json!({"content": [{"type": "text", "text": text}]}))?;
                }
                json!({})
            }
            "ping" => json!({}),
            other => {
                let error = json!({"code": -32601, "message": format!("no method {other}")});
                return self.write(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
        };
        self.answer(id, &result)
    }

    fn count(&mut self, id: &Value) -> io::Result<Value> {
        let mut all = String::new();
        for index in 0..PIECES {
            let text = format!("<{index}>");
            all.push_str(&text);
            let content = json!({"type": "text", "text": text});
            let piece = json!({"request_id": id, "index": index, "content": content, "done": false});
            self.tell("notifications/mgp.stream.chunk", &piece)?;
            std::thread::sleep(self.pause);
        }
        Ok(json!({"content": [{"type": "text", "text": all}]}))
    }

    fn tell(&mut self, method: &str, params: &Value) -> io::Result<()> {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    fn answer(&mut self, id: &Value, result: &Value) -> io::Result<()> {
        self.write(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    fn write(&mut self, message: &Value) -> io::Result<()> {
        writeln!(self.output, "{message}")?;
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_before_the_whole() {
        let mut output = Vec::new();
        let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"count"}}"#;
        run(Duration::ZERO, call.as_bytes(), &mut output).unwrap();
        let lines: Vec<Value> =
            String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 6);
        assert_eq!(lines[4]["params"]["content"]["text"], "<4>");
        assert_eq!(lines[5]["result"]["content"][0]["text"], "<0><1><2><3><4>");
    }
}
