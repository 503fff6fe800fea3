//! Carries messages between standard input and output and a kernel.
//!
//! A client outlives its kernel: where that goes away, what was open is answered with an error, and the session of the client is begun
//! again at another one.

use std::collections::HashSet;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;
use switchboard_wire::{Edit, Limits, Raw};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::Attached;
use crate::Outcome;
use crate::failure::Failure;
use crate::signals::Signals;

/// How long the last words to the client may take.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How often it is looked whether everything was answered.
const LOOK: Duration = Duration::from_millis(20);
/// Of longer lines nobody knows whether they ask or answer.
const MAX_LINE_BYTES: usize = 64 << 20;
/// Parts of a session that are said again at another kernel.
const MAX_SESSION: usize = 256;
/// Kernels that may go away in this time before the client is given up.
const MAX_LOST: usize = 3;
const WINDOW: Duration = Duration::from_secs(60);
/// Lines of the kernel that may hold a word for standard error.
const MAX_NOTICE_BYTES: usize = 8 << 10;

/// What is known of the client's side: what it asked and was not answered yet, and what its session began with.
#[derive(Default)]
struct State(Mutex<Said>);

#[derive(Default)]
struct Said {
    open: HashSet<String>,
    /// What a session consists of, in the order in which it was said: the handshake, the level of the log, what is watched.
    session: Vec<(String, Vec<u8>)>,
    /// Requests of ours, whose answers are for nobody.
    ours: HashSet<String>,
}

impl State {
    /// Notes what a line of the client asks, or takes back.
    fn asked(&self, line: &[u8]) {
        let Some(raw) = read(line) else { return };
        let Some(method) = raw.member("method").and_then(|method| method.as_text()) else { return };
        let mut said = self.0.lock();
        match raw.member("id") {
            Some(id) => drop(said.open.insert(id.as_str().to_owned())),
            None if method == "notifications/cancelled" => {
                let id = raw.at(&["params", "requestId"]);
                id.map(|id| said.open.remove(id.as_str()));
            }
            None => {}
        }
        let uri = raw.at(&["params", "uri"]).map(|uri| uri.as_str().to_owned()).unwrap_or_default();
        let part = match method.as_str() {
            "initialize" | "notifications/initialized" | "logging/setLevel" => method,
            "resources/subscribe" => uri,
            "resources/unsubscribe" => {
                said.session.retain(|(part, _)| *part != uri);
                return;
            }
            _ => return,
        };
        said.session.retain(|(known, _)| *known != part);
        if said.session.len() < MAX_SESSION {
            said.session.push((part, line.to_vec()));
        }
    }

    /// Notes what a line of the kernel answers, and tells on standard error what it says of itself; `false` for a line that is not for
    /// the client.
    fn answered(&self, line: &[u8]) -> bool {
        let Some(raw) = read(line) else { return true };
        if let (Some(id), None) = (raw.member("id"), raw.member("method")) {
            let mut said = self.0.lock();
            said.open.remove(id.as_str());
            return !said.ours.remove(id.as_str());
        }
        let text = |path: &[&str]| raw.at(path).and_then(|value| value.as_text());
        if line.len() <= MAX_NOTICE_BYTES
            && text(&["method"]).as_deref() == Some("notifications/message")
            && text(&["params", "logger"]).as_deref() == Some("switchboard")
        {
            tracing::warn!("{}", text(&["params", "data"]).unwrap_or_default());
        }
        true
    }

    fn is_answered(&self) -> bool {
        self.0.lock().open.is_empty()
    }

    /// Error answers to what is still open, which is open no more.
    fn refusals(&self, why: &str) -> String {
        let line = |id: String| {
            let error = json!({"code": -32000, "message": why});
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n")
        };
        std::mem::take(&mut self.0.lock().open).into_iter().map(line).collect()
    }

    /// The session of the client, to be begun again at another kernel. Its requests have ids of ours.
    fn greeting_again(&self) -> Vec<u8> {
        let mut said = self.0.lock();
        let Said { session, ours, .. } = &mut *said;
        let mut out = Vec::new();
        for (number, (_, line)) in session.iter().enumerate() {
            let Some(raw) = read(line) else { continue };
            let line = match (raw.member("id"), Edit::of(&raw)) {
                (Some(_), Ok(edit)) => {
                    let id = Raw::string(&format!("switchboard-again-{number}"));
                    ours.insert(id.as_str().to_owned());
                    edit.set("id", id).finish()
                }
                _ => raw,
            };
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
        out
    }

    /// That every list may be another one now, to a client that was in a session.
    fn changes(&self) -> String {
        if !self.0.lock().session.iter().any(|(part, _)| part == "notifications/initialized") {
            return String::new();
        }
        let line = |list: &str| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{list}/list_changed\"}}\n");
        ["tools", "prompts", "resources"].map(line).concat()
    }
}

/// Reads the next line; a part of it where it is longer than any message may be. `None` at the end.
async fn next_line(reader: &mut (impl AsyncBufRead + Unpin)) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let bytes = reader.fill_buf().await.ok()?;
        if bytes.is_empty() {
            return (!line.is_empty()).then_some(line);
        }
        let end = bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let count = end.unwrap_or(bytes.len());
        line.extend_from_slice(&bytes[..count]);
        reader.consume(count);
        if end.is_some() || line.len() >= MAX_LINE_BYTES {
            return Some(line);
        }
    }
}

fn read(line: &[u8]) -> Option<Raw> {
    let limits = Limits { bytes: MAX_LINE_BYTES, ..Limits::default() };
    Raw::parse(std::str::from_utf8(line).ok()?.trim().to_owned(), &limits).ok()
}

/// The lines of the client, until it says no more. One waits at most: what a kernel does not take, the client has to hold.
fn lines_of_client() -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        let mut input = BufReader::new(tokio::io::stdin());
        while let Some(line) = next_line(&mut input).await {
            if sender.send(line).await.is_err() {
                return;
            }
        }
    });
    receiver
}

/// From the client to the kernel: `true` when the client says no more, `false` where the kernel takes no more. A line that it did not
/// take stays in `left`.
async fn up(
    writer: &mut OwnedWriteHalf,
    lines: &mut mpsc::Receiver<Vec<u8>>,
    left: &mut Option<Vec<u8>>,
    state: &State,
) -> bool {
    loop {
        if left.is_none() {
            *left = lines.recv().await;
        }
        let Some(line) = left.as_deref() else {
            let _ = writer.shutdown().await;
            return true;
        };
        // It stays there until it is written: whoever goes on at another kernel begins with it.
        if writer.write_all(line).await.is_err() {
            return false;
        }
        state.asked(line);
        *left = None;
    }
}

/// From the kernel to the client, until the kernel closes; `false` where the client does not take it.
async fn down(reader: &mut BufReader<OwnedReadHalf>, state: &State) -> bool {
    let mut output = tokio::io::stdout();
    while let Some(line) = next_line(reader).await {
        if state.answered(&line) && (output.write_all(&line).await.is_err() || output.flush().await.is_err()) {
            return false;
        }
    }
    true
}

/// How the carrying came to an end.
enum Ended {
    /// The client is gone, or has said and heard all.
    Client,
    /// The kernel went away.
    Kernel,
    Signal,
}

/// Carries both ways until one side ends.
async fn carry(
    attached: &mut Attached,
    lines: &mut mpsc::Receiver<Vec<u8>>,
    left: &mut Option<Vec<u8>>,
    state: &State,
    signals: &mut Signals,
) -> Ended {
    let (mut said_all, mut taken) = (false, true);
    let (reader, writer) = (&mut attached.reader, &mut attached.writer);
    let up = up(writer, lines, left, state);
    let down = down(reader, state);
    tokio::pin!(up, down);
    loop {
        tokio::select! {
            done = &mut up, if !said_all && taken => (said_all, taken) = (done, done),
            takes = &mut down => {
                return if !takes || said_all && state.is_answered() { Ended::Client } else { Ended::Kernel };
            }
            () = signals.next() => return Ended::Signal,
        }
    }
}

/// Carries everything until one side ends. A kernel that goes away is replaced by another one, which `again` gives. A signal ends it
/// after what is open was answered, within `grace`; another one at once.
pub(crate) async fn relay<F>(
    mut attached: Attached,
    mut signals: Signals,
    grace: Duration,
    again: impl Fn() -> F,
) -> Outcome
where
    F: Future<Output = Result<Attached, Failure>>,
{
    let state = State::default();
    let (mut lines, mut left) = (lines_of_client(), None);
    let mut lost_at: Vec<Instant> = Vec::new();
    loop {
        match carry(&mut attached, &mut lines, &mut left, &state, &mut signals).await {
            Ended::Client => return Ok(()),
            Ended::Signal => break,
            Ended::Kernel => {}
        }
        say(&state.refusals("the kernel that the client shared has ended; whether the call was carried out is unknown")).await;
        if lines.is_closed() && lines.is_empty() {
            return Ok(());
        }
        lost_at.retain(|at| at.elapsed() < WINDOW);
        lost_at.push(Instant::now());
        if lost_at.len() > MAX_LOST {
            return Err(lost(attached.process));
        }
        let process = attached.process;
        attached = tokio::select! {
            again = again() => again.map_err(|_| lost(process))?,
            () = signals.next() => return Ok(()),
        };
        tracing::warn!(
            "the kernel of process {process} has ended; the client goes on at that of process {}",
            attached.process
        );
        if attached.writer.write_all(&state.greeting_again()).await.is_err() {
            continue;
        }
        say(&state.changes()).await;
    }
    let deadline = Instant::now() + grace;
    let Attached { reader, .. } = &mut attached;
    let answered = async {
        while !state.is_answered() && Instant::now() < deadline {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::select! {
        () = answered => {}
        _ = down(reader, &state) => {}
        () = signals.next() => return Ok(()),
    }
    say(&state.refusals("the client was told to end; whether the call was carried out is unknown")).await;
    Ok(())
}

/// The last words to the client.
async fn say(text: &str) {
    let mut output = tokio::io::stdout();
    let saying = async {
        output.write_all(text.as_bytes()).await?;
        output.flush().await
    };
    let _ = tokio::time::timeout(LAST_WORDS, saying).await;
}

fn lost(process: u32) -> Failure {
    Failure::failed(format!(
        "the kernel of process {process}, which other clients share, has ended; start the client again"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_known_and_refused_once() {
        let state = State::default();
        for line in ["{\"id\":1,\"method\":\"a\"}\n", "{\"id\":\"x\",\"method\":\"b\"}\n", "{\"method\":\"n\"}\n"] {
            state.asked(line.as_bytes());
        }
        assert!(state.answered(b"{\"id\":1,\"result\":{}}\n"));
        let refusals = state.refusals("no");
        assert!(refusals.lines().count() == 1 && refusals.contains("\"id\":\"x\""), "{refusals}");
        assert!(state.is_answered());
        state.asked(b"{\"id\":2,\"method\":\"a\"}\n");
        state.asked(b"{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}\n");
        assert!(state.is_answered());
    }

    #[test]
    fn a_session_is_begun_again_with_what_it_consists_of() {
        let state = State::default();
        for line in [
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"x":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"a:1"}}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"resources/subscribe","params":{"uri":"a:2"}}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"resources/unsubscribe","params":{"uri":"a:1"}}"#,
            r#"{"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":"error"}}"#,
        ] {
            state.asked(line.as_bytes());
        }
        let again = String::from_utf8(state.greeting_again()).unwrap();
        let methods: Vec<&str> =
            again.lines().filter_map(|line| line.split("method\":\"").nth(1)?.split('"').next()).collect();
        assert_eq!(methods, ["initialize", "notifications/initialized", "resources/subscribe", "logging/setLevel"]);
        assert!(again.contains("a:2") && again.contains("error") && !again.contains("a:1"), "{again}");
        assert!(!state.answered(br#"{"jsonrpc":"2.0","id":"switchboard-again-0","result":{}}"#), "it is for nobody");
        assert!(state.answered(br#"{"jsonrpc":"2.0","id":9,"result":{}}"#));
        assert_eq!(state.changes().lines().count(), 3);
    }
}
