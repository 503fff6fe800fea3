//! A small client that asks a server on its standard input and output for its tools and calls some, and a server that plays such a
//! list back.

use std::io::{BufRead as _, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::process;

/// How long a server may take to list its tools.
const LIST_LIMIT: Duration = Duration::from_secs(90);
/// Pages of a list that are read.
const MAX_PAGES: usize = 100;
const REVISION: &str = "2025-06-18";
/// The id of the first call; those before it are of the greeting and the list.
const FIRST_CALL: usize = 10;

/// What a server said of itself.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) tools: Vec<Value>,
    pub(crate) instructions: Value,
    /// What it calls itself.
    pub(crate) info: Value,
    /// What came of each call: a result, or an error.
    pub(crate) called: Vec<Value>,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) arguments: Value,
}

/// Starts a server, asks for its tools, makes some calls, and ends it with everything that it started.
pub(crate) fn visit(command: &mut Command, calls: &[Call]) -> Result<Answer> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().context("starting the server")?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else { bail!("no pipes") };
    let (sender, receiver) = mpsc::sync_channel(64);
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // Some print other things than messages; a receiver that is gone has seen enough.
            if let Ok(message) = serde_json::from_str::<Value>(&line)
                && sender.send(message).is_err()
            {
                break;
            }
        }
    });
    let listed = converse(&mut input, &receiver, calls);
    process::end(&mut child);
    listed
}

fn converse(input: &mut impl Write, answers: &mpsc::Receiver<Value>, calls: &[Call]) -> Result<Answer> {
    let mut send = |message: Value| -> Result<()> { Ok(writeln!(input, "{message}").and_then(|()| input.flush())?) };
    let about = json!({"name": "wild", "version": "1"});
    let hello = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": about});
    send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}))?;
    let deadline = Instant::now() + LIST_LIMIT;
    let mut answer = Answer::default();
    let (mut pages, mut listed) = (0, false);
    loop {
        let message = answers.recv_timeout(deadline.saturating_duration_since(Instant::now())).context("no answer")?;
        if message.get("method").is_some() {
            // A server that asks for something is answered that there is nothing.
            if let Some(id) = message.get("id") {
                send(json!({"jsonrpc": "2.0", "id": id, "result": {"roots": []}}))?;
            }
            continue;
        }
        if listed {
            answer.called.push(message.get("result").or_else(|| message.get("error")).cloned().unwrap_or_default());
        }
        let mut cursor = Value::Null;
        match message.get("result") {
            _ if listed => {}
            None => bail!("it answered {}", message["error"]),
            Some(result) if message["id"] == 1 => {
                answer.instructions = result["instructions"].clone();
                answer.info = result["serverInfo"].clone();
                send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
            }
            Some(result) => {
                answer.tools.extend(result["tools"].as_array().cloned().unwrap_or_default());
                pages += 1;
                match result.get("nextCursor") {
                    Some(Value::String(next)) if !next.is_empty() && pages < MAX_PAGES => cursor = json!(next),
                    _ => listed = true,
                }
            }
        }
        if !listed {
            let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
            send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": params}))?;
            continue;
        }
        let Some(call) = calls.get(answer.called.len()) else { return Ok(answer) };
        let params = json!({"name": call.tool, "arguments": call.arguments});
        let id = FIRST_CALL + answer.called.len();
        send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))?;
    }
}

/// Plays a kept answer back on standard input and output, until the client is gone.
pub(crate) fn replay(file: &Path) -> Result<()> {
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else { continue };
        let result = match method {
            "initialize" => {
                let about = json!({"name": kept["package"], "version": "1"});
                let mut hello =
                    json!({"protocolVersion": REVISION, "capabilities": {"tools": {}}, "serverInfo": about});
                if kept["instructions"].is_string() {
                    hello["instructions"] = kept["instructions"].clone();
                }
                hello
            }
            "tools/list" => json!({"tools": kept["tools"]}),
            "ping" => json!({}),
            _ => {
                let error = json!({"code": -32601, "message": "Method not found"});
                writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": id, "error": error}))?;
                out.flush()?;
                continue;
            }
        };
        writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result}))?;
        out.flush()?;
    }
    Ok(())
}
