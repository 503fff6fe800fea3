//! Carries messages between standard input and output and a kernel.

use std::collections::HashSet;
use std::time::Duration;

use switchboard_wire::{Limits, Raw};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::{Instant, timeout_at};

use super::Attached;
use crate::Outcome;
use crate::failure::Failure;
use crate::signals::Signals;

/// How long answers that are ready may take to reach the client at the end.
const LAST_ANSWERS: Duration = Duration::from_secs(10);
/// No message is waited for longer than this.
const FOREVER: Duration = Duration::from_secs(86_400);
/// Of longer lines nobody knows whether they ask or answer.
const MAX_LINE_BYTES: usize = 1 << 20;

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

/// The id of a message, and whether it is a request.
fn id_of(line: &[u8]) -> Option<(String, bool)> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let raw = Raw::parse(text.to_owned(), &Limits::default()).ok()?;
    let id = raw.member("id")?.as_str().to_owned();
    Some((id, raw.member("method").is_some()))
}

/// Carries everything until one side ends. A signal ends it after what is open was answered, within `grace`.
pub(crate) async fn relay(attached: Attached, mut signals: Signals, grace: Duration) -> Outcome {
    let Attached { process, mut reader, writer } = attached;
    let mut writer = Some(writer);
    let mut input = BufReader::new(tokio::io::stdin());
    let mut output = tokio::io::stdout();
    let (mut from_client, mut from_kernel) = (Lines::default(), Lines::default());
    // Requests of the client that were not answered yet.
    let mut open: HashSet<String> = HashSet::new();
    let mut deadline: Option<Instant> = None;
    loop {
        let end = deadline.unwrap_or_else(|| Instant::now() + FOREVER);
        tokio::select! {
            read = input.fill_buf(), if deadline.is_none() => {
                let bytes = read.unwrap_or_default();
                let (count, Some(to_kernel)) = (bytes.len(), writer.as_mut().filter(|_| !bytes.is_empty())) else {
                    // The kernel answers what runs, and closes.
                    drop(writer.take());
                    deadline = Some(Instant::now() + LAST_ANSWERS);
                    continue;
                };
                from_client.see(bytes, |line| open.extend(id_of(line).filter(|(_, asks)| *asks).map(|(id, _)| id)));
                let written = to_kernel.write_all(bytes).await;
                input.consume(count);
                if written.is_err() {
                    return Err(lost(process));
                }
            }
            read = timeout_at(end, reader.fill_buf()) => {
                let Ok(read) = read else { return Ok(()) };
                let bytes = read.unwrap_or_default();
                if bytes.is_empty() {
                    return if deadline.is_some() { Ok(()) } else { Err(lost(process)) };
                }
                from_kernel.see(bytes, |line| {
                    if let Some((id, false)) = id_of(line) {
                        open.remove(&id);
                    }
                });
                let count = bytes.len();
                let written = output.write_all(bytes).await;
                reader.consume(count);
                if written.is_err() || output.flush().await.is_err() {
                    return Ok(());
                }
                if deadline.is_some() && writer.is_some() && open.is_empty() {
                    return Ok(());
                }
            }
            () = signals.next() => {
                if deadline.is_some() || open.is_empty() {
                    return Ok(());
                }
                deadline = Some(Instant::now() + grace);
            }
        }
    }
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
    fn lines_are_put_together_from_pieces() {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        for piece in ["{\"id\":1,\"meth", "od\":\"a\"}\n{\"id\":\"x\",", "\"result\":{}}\n", "{\"method\":\"n\"}\n"] {
            lines.see(piece.as_bytes(), |line| seen.push(id_of(line)));
        }
        assert_eq!(seen, [Some(("1".to_owned(), true)), Some(("\"x\"".to_owned(), false)), None]);
    }
}
