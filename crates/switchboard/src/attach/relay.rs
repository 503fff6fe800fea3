//! Carries messages between standard input and output and a kernel.
//!
//! Each way is a task of its own: a client that does not read must not keep us from hearing a signal.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;
use switchboard_wire::{Limits, Raw};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
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
/// Lines of the kernel that may hold a word for standard error.
const MAX_NOTICE_BYTES: usize = 8 << 10;

/// Requests of the client that were not answered yet.
#[derive(Clone, Default)]
struct Open(Arc<Mutex<HashSet<String>>>);

impl Open {
    /// Notes what a line of the client asks, or takes back.
    fn asked(&self, line: &[u8]) {
        let Some(raw) = read(line) else { return };
        let method = raw.member("method").and_then(|method| method.as_text());
        match (raw.member("id"), method.as_deref()) {
            (Some(id), Some(_)) => drop(self.0.lock().insert(id.as_str().to_owned())),
            (None, Some("notifications/cancelled")) => {
                let id = raw.at(&["params", "requestId"]);
                id.map(|id| self.0.lock().remove(id.as_str()));
            }
            _ => {}
        }
    }

    /// Notes what a line of the kernel answers, and tells on standard error what it says of itself.
    fn answered(&self, line: &[u8]) {
        let Some(raw) = read(line) else { return };
        if let (Some(id), None) = (raw.member("id"), raw.member("method")) {
            self.0.lock().remove(id.as_str());
        }
        let text = |path: &[&str]| raw.at(path).and_then(|value| value.as_text());
        if line.len() <= MAX_NOTICE_BYTES
            && text(&["method"]).as_deref() == Some("notifications/message")
            && text(&["params", "logger"]).as_deref() == Some("switchboard")
        {
            tracing::warn!("{}", text(&["params", "data"]).unwrap_or_default());
        }
    }

    fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Error answers to what is still open.
    fn refusals(&self, why: &str) -> String {
        let line = |id: &String| {
            let error = json!({"code": -32000, "message": why});
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n")
        };
        self.0.lock().iter().map(line).collect()
    }
}

/// The lines of a stream that goes by.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Lines {
    /// Sees the next bytes, and calls `each` for every line that they end.
    fn see(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.0.len() + part.len() <= MAX_LINE_BYTES {
                self.0.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                each(&self.0);
                self.0.clear();
            }
        }
    }
}

fn read(line: &[u8]) -> Option<Raw> {
    let limits = Limits { bytes: MAX_LINE_BYTES, ..Limits::default() };
    Raw::parse(std::str::from_utf8(line).ok()?.trim().to_owned(), &limits).ok()
}

/// From the client to the kernel, until the client says no more. Then the kernel answers what runs, and closes.
async fn up(mut writer: OwnedWriteHalf, open: Open) {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut lines = Lines::default();
    while let Ok(bytes) = input.fill_buf().await {
        if bytes.is_empty() {
            break;
        }
        lines.see(bytes, |line| open.asked(line));
        let count = bytes.len();
        if writer.write_all(bytes).await.is_err() {
            return;
        }
        input.consume(count);
    }
    let _ = writer.shutdown().await;
}

/// From the kernel to the client, until the kernel closes; `false` where the client does not take it.
async fn down(mut reader: BufReader<OwnedReadHalf>, open: Open) -> bool {
    let mut output = tokio::io::stdout();
    let mut lines = Lines::default();
    loop {
        let Ok(bytes) = reader.fill_buf().await else { return true };
        if bytes.is_empty() {
            return true;
        }
        let count = bytes.len();
        if output.write_all(bytes).await.is_err() || output.flush().await.is_err() {
            return false;
        }
        lines.see(bytes, |line| open.answered(line));
        reader.consume(count);
    }
}

/// Carries everything until one side ends. A signal ends it after what is open was answered, within `grace`; another one at once.
pub(crate) async fn relay(attached: Attached, mut signals: Signals, grace: Duration) -> Outcome {
    let Attached { process, reader, writer } = attached;
    let open = Open::default();
    let up = tokio::spawn(up(writer, open.clone()));
    let mut down = tokio::spawn(down(reader, open.clone()));
    tokio::select! {
        carried = &mut down => {
            let client_is_gone = !carried.unwrap_or(true);
            if client_is_gone || up.is_finished() && open.is_empty() {
                return Ok(());
            }
            say(&open.refusals("the kernel that the client shared has ended; whether the call was carried out is unknown")).await;
            return if up.is_finished() { Ok(()) } else { Err(lost(process)) };
        }
        () = signals.next() => {}
    }
    let deadline = Instant::now() + grace;
    let answered = async {
        while !open.is_empty() && Instant::now() < deadline {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::select! {
        () = answered => {}
        _ = &mut down => {}
        () = signals.next() => return Ok(()),
    }
    up.abort();
    down.abort();
    say(&open.refusals("the client was told to end; whether the call was carried out is unknown")).await;
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
    fn what_is_open_is_known_from_pieces() {
        let (mut lines, open) = (Lines::default(), Open::default());
        for piece in ["{\"id\":1,\"meth", "od\":\"a\"}\n{\"id\":\"x\",", "\"method\":\"b\"}\n", "{\"method\":\"n\"}\n"]
        {
            lines.see(piece.as_bytes(), |line| open.asked(line));
        }
        open.answered(b"{\"id\":1,\"result\":{}}\n");
        assert_eq!(open.refusals("no").lines().count(), 1);
        assert!(open.refusals("no").contains("\"id\":\"x\""));
        open.asked(b"{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"x\"}}\n");
        assert!(open.is_empty());
    }
}
