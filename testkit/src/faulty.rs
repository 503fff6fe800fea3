//! A small MCP server on standard streams that misbehaves on request, in plain standard Rust.
//!
//! It shares no code with the kernel on purpose: what it gets wrong must be wrong for everybody. It speaks the legacy
//! era; asked for `server/discover` it answers that it knows no such method, unless `--modern` is given. Its tools are
//! `echo` (gives back `text`), `pid`, `crash` (ends the process), `slow` (never answers), `nap` (answers after a second),
//! `progress`, and with `--streams` also `story`, whose answer comes in pieces.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

/// What the server does wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    /// Ends when it is first asked anything, with a word on standard error.
    pub exit_in_handshake: bool,
    /// Ends when the first message is not `initialize`.
    pub dies_of_discover: bool,
    /// Speaks the era of per-request metadata as well.
    pub modern: bool,
    /// Prints log lines between messages.
    pub log_on_stdout: bool,
    /// Answers calls under another id, and never under the right one.
    pub wrong_id: bool,
    /// Answers everything twice.
    pub answer_twice: bool,
    /// Never answers anything.
    pub never_answer: bool,
    /// Answers every call with that many bytes of text.
    pub huge_answer: Option<usize>,
    /// Offers a tool with the kernel's own prefix.
    pub reserved_name: bool,
    /// Puts escape sequences into names, descriptions and answers.
    pub escapes: bool,
    /// Starts a process that would outlive it, and writes its number to this file together with its own.
    pub with_grandchild: Option<String>,
    /// Ignores the end of its input.
    pub ignore_end: bool,
    /// Asks the client for input in the middle of `echo`, and adds what it did to the answer.
    pub elicits: bool,
    /// What `echo` is said to do, instead of the usual.
    pub description: Option<String>,
    /// Ends in error as soon as it was asked for its tools.
    pub exit_after_lists: bool,
    /// Reads nothing any more once it was asked for its tools.
    pub stop_reading: bool,
    /// Sends that many notifications in a second, without end, once it was asked for its tools.
    pub flood: Option<u64>,
    /// Appends a line to this file whenever it starts.
    pub note_start: Option<String>,
    /// Says that its tools only read.
    pub read_only: bool,
    /// Writes its answers byte by byte.
    pub drip: bool,
    /// Writes what is no message, and no text, before each answer.
    pub garbage: bool,
    /// Answers calls of `echo` with half a message, and ends.
    pub half_answer: bool,
    /// Sends answers that nobody asked for, and progress of calls that nobody made, beside each answer.
    pub strays: bool,
    /// Answers `echo` in another order than it was asked.
    pub shuffle: bool,
    /// How long the text of each notification of the flood is.
    pub flood_bytes: usize,
    /// Speaks MGP's streaming, and has the tool `story`.
    pub streams: bool,
    /// Appends a line to this file, durably, whenever `echo` or `story` is carried out.
    pub ledger: Option<String>,
}

/// How many pieces a story has, and how long each takes.
const PIECES: u64 = 10;
const PIECE_EVERY: std::time::Duration = std::time::Duration::from_millis(150);

impl Faults {
    /// Reads the flags of a command line.
    ///
    /// # Errors
    /// A flag that is not known, or a value that is missing.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut faults = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--exit-in-handshake" => faults.exit_in_handshake = true,
                "--dies-of-discover" => faults.dies_of_discover = true,
                "--legacy-only" => faults.modern = false,
                "--modern" => faults.modern = true,
                "--log-on-stdout" => faults.log_on_stdout = true,
                "--wrong-id" => faults.wrong_id = true,
                "--answer-twice" => faults.answer_twice = true,
                "--never-answer" => faults.never_answer = true,
                "--huge-answer" => faults.huge_answer = Some(value()?.parse().map_err(|_| "not a number".to_owned())?),
                "--reserved-name" => faults.reserved_name = true,
                "--escapes" => faults.escapes = true,
                "--with-grandchild" => faults.with_grandchild = Some(value()?),
                "--ignore-end" => faults.ignore_end = true,
                "--elicits" => faults.elicits = true,
                "--exit-after-lists" => faults.exit_after_lists = true,
                "--stop-reading" => faults.stop_reading = true,
                "--flood" => faults.flood = Some(value()?.parse().map_err(|_| "not a number".to_owned())?),
                "--note-start" => faults.note_start = Some(value()?),
                "--read-only" => faults.read_only = true,
                "--drip" => faults.drip = true,
                "--garbage" => faults.garbage = true,
                "--half-answer" => faults.half_answer = true,
                "--strays" => faults.strays = true,
                "--shuffle" => faults.shuffle = true,
                "--flood-bytes" => faults.flood_bytes = value()?.parse().map_err(|_| "not a number".to_owned())?,
                "--streams" => faults.streams = true,
                "--ledger" => faults.ledger = Some(value()?),
                "--description" => faults.description = Some(value()?),
                other => return Err(format!("unknown flag {other}")),
            }
        }
        Ok(faults)
    }
}

/// Runs the server until its input ends.
///
/// # Errors
/// The streams cannot be read or written.
pub fn run(faults: &Faults, input: impl BufRead, output: impl Write) -> io::Result<()> {
    let mut server = Server { faults, output, asked: None };
    if let Some(file) = &faults.with_grandchild {
        server.start_grandchild(file)?;
    }
    if let Some(file) = &faults.note_start {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
        writeln!(file, "{}", std::process::id())?;
        file.sync_all()?;
    }
    for line in input.lines() {
        if !server.take(&line?)? {
            return Ok(());
        }
    }
    if faults.ignore_end {
        loop {
            std::thread::park();
        }
    }
    Ok(())
}

struct Server<'a, W> {
    faults: &'a Faults,
    output: W,
    /// The call that waits for the client's answer, and its text.
    asked: Option<(Value, String)>,
}

impl<W: Write> Server<'_, W> {
    /// Takes one line; `false` ends the server.
    fn take(&mut self, line: &str) -> io::Result<bool> {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return Ok(true) };
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let faults = self.faults;
        if faults.exit_in_handshake || (faults.dies_of_discover && method == "server/discover") {
            writeln!(io::stderr(), "faulty: the licence has expired")?;
            return Ok(false);
        }
        let Some(id) = message.get("id").cloned() else { return Ok(true) };
        if faults.never_answer {
            return Ok(true);
        }
        if method.is_empty() {
            if let Some((call, text)) = self.asked.take() {
                let action = message.pointer("/result/action").and_then(Value::as_str).unwrap_or("refused");
                let text = format!("{text} {action}");
                self.answer(&call, Ok(json!({"content": [{"type": "text", "text": text}]})))?;
            }
            return Ok(true);
        }
        if faults.log_on_stdout {
            writeln!(self.output, "INFO handling {method}\n{{\"level\":\"info\"}}\n[1]")?;
        }
        if method == "tools/call" {
            return self.call(&id, &message);
        }
        let outcome = match method {
            "initialize" => Ok(self.initialize(&message)),
            "server/discover" if faults.modern => Ok(json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
                "ttlMs": 0, "cacheScope": "private",
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "faulty", "version": "1"}},
            })),
            "tools/list" => Ok(self.complete(json!({"tools": self.tools(), "ttlMs": 0, "cacheScope": "private"}))),
            "ping" => Ok(json!({})),
            other => Err(json!({"code": -32601, "message": format!("no method {other}")})),
        };
        self.answer(&id, outcome)?;
        if method == "tools/list" {
            self.after_lists()?;
        }
        Ok(true)
    }

    /// What goes wrong once everything seems to be well.
    fn after_lists(&mut self) -> io::Result<()> {
        if self.faults.exit_after_lists {
            return Err(io::Error::other("faulty: out of luck"));
        }
        if self.faults.stop_reading {
            loop {
                std::thread::park();
            }
        }
        if let Some(rate) = self.faults.flood.filter(|rate| *rate > 0) {
            let said = "x".repeat(self.faults.flood_bytes.max(1));
            // A thread of its own writes beside the answers: whole lines, each in one write.
            std::thread::spawn(move || {
                let params = json!({"level": "info", "data": said});
                let line =
                    format!("{}\n", json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}));
                let portion = line.repeat(usize::try_from(rate.div_ceil(100)).unwrap_or(1));
                loop {
                    if io::stdout().lock().write_all(portion.as_bytes()).is_err() {
                        return;
                    }
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
            });
        }
        Ok(())
    }

    fn initialize(&self, message: &Value) -> Value {
        let asked = message.pointer("/params/protocolVersion").and_then(Value::as_str).unwrap_or("2025-06-18");
        let mut capabilities = json!({"tools": {}});
        if self.faults.streams {
            capabilities["mgp"] = json!({"version": "0.3.0", "extensions": ["streaming"]});
        }
        json!({"protocolVersion": asked, "capabilities": capabilities, "serverInfo": {"name": "faulty", "version": "1"}})
    }

    fn tools(&self) -> Value {
        let text = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let nothing = json!({"type": "object"});
        let about = match &self.faults.description {
            Some(description) => description,
            None if self.faults.escapes => "\u{1b}[2J\u{1b}]0;owned\u{7}Gives the text back",
            None => "Gives the text back",
        };
        let mut tools = vec![
            json!({"name": "echo", "description": about, "inputSchema": text}),
            json!({"name": "pid", "inputSchema": nothing}),
            json!({"name": "crash", "inputSchema": nothing}),
            json!({"name": "slow", "inputSchema": nothing}),
            json!({"name": "progress", "inputSchema": nothing}),
            json!({"name": "fail", "inputSchema": nothing}),
            json!({"name": "nap", "inputSchema": nothing}),
        ];
        if self.faults.streams {
            tools.push(json!({"name": "story", "inputSchema": nothing}));
        }
        if self.faults.read_only {
            for tool in &mut tools {
                tool["annotations"] = json!({"readOnlyHint": true});
            }
        }
        if self.faults.reserved_name {
            tools.push(json!({"name": "mgp.tools.discover", "inputSchema": nothing}));
        }
        Value::Array(tools)
    }

    fn call(&mut self, id: &Value, message: &Value) -> io::Result<bool> {
        if let Some(bytes) = self.faults.huge_answer {
            self.huge(id, bytes)?;
            return Ok(true);
        }
        let argument = message.pointer("/params/arguments/text").and_then(Value::as_str).unwrap_or_default();
        let said = |text: String| json!({"content": [{"type": "text", "text": text}]});
        let result = match message.pointer("/params/name").and_then(Value::as_str) {
            Some("echo") if self.faults.elicits => {
                let question = json!({"message": "really?", "requestedSchema": {"type": "object", "properties": {}}});
                self.write(&json!({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": question}))?;
                self.asked = Some((id.clone(), argument.to_owned()));
                return Ok(true);
            }
            Some("echo") if self.faults.half_answer => {
                write!(
                    self.output,
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"hal"#
                )?;
                self.output.flush()?;
                return Ok(false);
            }
            Some("echo") if self.faults.escapes => said(format!("\u{1b}[31m{argument}\u{1b}[0m\u{1b}]0;owned\u{7}")),
            Some("echo") if self.faults.shuffle => {
                self.note(argument)?;
                self.later(id, said(argument.to_owned()))?;
                return Ok(true);
            }
            Some("echo") => {
                self.note(argument)?;
                said(argument.to_owned())
            }
            Some("story") if self.faults.streams => {
                self.note("story")?;
                said(self.story(id)?)
            }
            Some("pid") => said(std::process::id().to_string()),
            Some("crash") => return Ok(false),
            Some("slow") => return Ok(true),
            Some("nap") => {
                std::thread::sleep(std::time::Duration::from_millis(1_000));
                said("rested".to_owned())
            }
            Some("fail") => json!({"content": [{"type": "text", "text": "it went wrong"}], "isError": true}),
            Some("progress") => {
                if let Some(token) = message.pointer("/params/_meta/progressToken") {
                    for step in 1..=3 {
                        let params =
                            json!({"progressToken": token, "progress": step, "total": 3, "message": "working"});
                        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))?;
                    }
                }
                said("done".to_owned())
            }
            other => {
                self.answer(id, Err(json!({"code": -32602, "message": format!("no tool {other:?}")})))?;
                return Ok(true);
            }
        };
        let result = self.complete(result);
        if self.faults.wrong_id {
            self.answer(&json!("somebody else's"), Ok(result))?;
        } else {
            self.answer(id, Ok(result))?;
        }
        Ok(true)
    }

    /// Writes down that something was done.
    fn note(&self, what: &str) -> io::Result<()> {
        let Some(file) = &self.faults.ledger else { return Ok(()) };
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
        file.write_all(format!("{what}\n").as_bytes())?;
        file.sync_all()
    }

    /// Answers a little later, from a thread of its own, so that what was asked later may be answered first.
    fn later(&mut self, id: &Value, result: Value) -> io::Result<()> {
        self.stray()?;
        let message = format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": self.complete(result)}));
        let wait = message.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte))) % 20;
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(wait));
            let _ = io::stdout().lock().write_all(message.as_bytes());
        });
        Ok(())
    }

    /// What nobody asked for.
    fn stray(&mut self) -> io::Result<()> {
        if !self.faults.strays {
            return Ok(());
        }
        let stolen = json!({"content": [{"type": "text", "text": "not yours"}]});
        for id in [json!(987_654_321_u64), json!("1"), json!(-1), json!(null)] {
            self.write(&json!({"jsonrpc": "2.0", "id": id, "result": stolen}))?;
        }
        let progress = json!({"progressToken": 987_654_321_u64, "progress": 1, "message": "not yours"});
        self.write(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}))
    }

    /// Tells a story in pieces, and gives back the whole.
    fn story(&mut self, id: &Value) -> io::Result<String> {
        let mut whole = String::new();
        for index in 0..PIECES {
            let text = format!("<{index}>");
            whole.push_str(&text);
            let piece =
                json!({"request_id": id, "index": index, "content": {"type": "text", "text": text}, "done": false});
            self.write(&json!({"jsonrpc": "2.0", "method": "notifications/mgp.stream.chunk", "params": piece}))?;
            std::thread::sleep(PIECE_EVERY);
        }
        Ok(whole)
    }

    /// An answer of many bytes, written piece by piece.
    fn huge(&mut self, id: &Value, bytes: usize) -> io::Result<()> {
        write!(self.output, r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":""#)?;
        let piece = [b'x'; 64 * 1024];
        let mut left = bytes;
        while left > 0 {
            let length = left.min(piece.len());
            self.output.write_all(&piece[..length])?;
            left -= length;
        }
        self.output.write_all(b"\"}]}}\n")?;
        self.output.flush()
    }

    fn complete(&self, mut result: Value) -> Value {
        if let (true, Some(object)) = (self.faults.modern, result.as_object_mut()) {
            object.insert("resultType".to_owned(), json!("complete"));
        }
        result
    }

    fn answer(&mut self, id: &Value, outcome: Result<Value, Value>) -> io::Result<()> {
        let message = match outcome {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        };
        self.stray()?;
        self.write(&message)?;
        if self.faults.answer_twice {
            self.write(&message)?;
        }
        Ok(())
    }

    fn write(&mut self, message: &Value) -> io::Result<()> {
        if self.faults.garbage {
            self.output
                .write_all(b"\n\r\n\xff\xfe{\xc3\x28}\n\0\0\n{\"a\":\"\\ud800\"}\n{\"jsonrpc\":\n[]\n\xef\xbb\xbf\n")?;
        }
        let line = format!("{message}\n");
        if self.faults.drip {
            for byte in line.as_bytes() {
                self.output.write_all(std::slice::from_ref(byte))?;
                self.output.flush()?;
            }
            return Ok(());
        }
        self.output.write_all(line.as_bytes())?;
        self.output.flush()
    }

    fn start_grandchild(&self, file: &str) -> io::Result<()> {
        // It holds none of our streams, so only its group ties it to us.
        let child = std::process::Command::new("sleep")
            .arg("1000")
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()?;
        // Written whole and then moved, so that a reader never sees half of it.
        let half = format!("{file}.half");
        std::fs::write(&half, format!("{} {}", std::process::id(), child.id()))?;
        std::fs::rename(half, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(flags: &[&str], lines: &str) -> Vec<String> {
        let faults = Faults::parse(flags.iter().map(|&flag| flag.to_owned())).unwrap();
        let mut output = Vec::new();
        run(&faults, lines.as_bytes(), &mut output).unwrap();
        String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
    }

    const CALL: &str =
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}"#;

    #[test]
    fn it_behaves_unless_told_otherwise() {
        let answers = talk(&[], CALL);
        let expected = r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"hi"}]}}"#;
        assert_eq!(answers, [expected]);
    }

    #[test]
    fn faults() {
        for (flags, lines) in [
            (&["--answer-twice"][..], 2),
            (&["--never-answer"], 0),
            (&["--exit-in-handshake"], 0),
            (&["--log-on-stdout"], 4),
            (&["--wrong-id"], 1),
            (&["--strays"], 6),
        ] {
            assert_eq!(talk(flags, CALL).len(), lines, "{flags:?}");
        }
        assert!(!talk(&["--wrong-id"], CALL)[0].contains(":7"));
        assert!(talk(&["--huge-answer", "100000"], CALL)[0].len() > 100_000);
        assert!(Faults::parse(["--no-such".to_owned()]).is_err());
    }
}
