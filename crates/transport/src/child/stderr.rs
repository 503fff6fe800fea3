//! What a process says on its standard error: logged line by line, and its end kept for error messages.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_wire::{Line, LineDecoder};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How much of the end is kept.
const KEPT: usize = 64 << 10;
/// How much of one line is kept.
const LINE: usize = 8 << 10;

/// The last lines that a process wrote to its standard error, at most 64 KiB of them.
#[derive(Clone, Default)]
pub struct StderrTail(Arc<Mutex<Ring>>);

#[derive(Default)]
struct Ring {
    lines: VecDeque<String>,
    bytes: usize,
}

impl StderrTail {
    /// The lines, oldest first.
    #[must_use]
    pub fn text(&self) -> String {
        let ring = self.0.lock();
        let mut text = String::with_capacity(ring.bytes);
        for line in &ring.lines {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    /// The last line, which often says why a process ended.
    #[must_use]
    pub fn last_line(&self) -> Option<String> {
        self.0.lock().lines.back().cloned()
    }

    fn push(&self, line: String) {
        let mut ring = self.0.lock();
        ring.bytes += line.len() + 1;
        ring.lines.push_back(line);
        while ring.bytes > KEPT {
            let Some(oldest) = ring.lines.pop_front() else { break };
            ring.bytes -= oldest.len() + 1;
        }
    }
}

impl fmt::Debug for StderrTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StderrTail({} bytes)", self.0.lock().bytes)
    }
}

/// Reads until the end, so that the process never blocks on a full pipe.
pub(super) async fn drain(mut stream: impl AsyncRead + Unpin, tail: StderrTail, program: String, pid: u32) {
    let mut decoder = LineDecoder::new(LINE);
    loop {
        let buffer = decoder.buffer();
        buffer.reserve(4 << 10);
        let read = stream.read_buf(buffer).await;
        let ended = !matches!(read, Ok(count) if count > 0);
        while let Some(line) = decoder.next_line() {
            let text = match line {
                Line::Whole(line) => clean(&line),
                Line::TooLong(_) => format!("(a line longer than {LINE} bytes)"),
            };
            tracing::debug!(target: "switchboard::server_stderr", program, pid, "{text}");
            tail.push(text);
        }
        if ended {
            if let Some(rest) = decoder.finish() {
                tail.push(clean(&rest));
            }
            return;
        }
    }
}

/// The text without escape sequences and control characters, which could rewrite a terminal or a log.
fn clean(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => skip_escape(&mut characters),
            '\u{9b}' => skip_control_sequence(&mut characters),
            '\t' => out.push(' '),
            // Bidirectional overrides reorder what is shown.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            character if character.is_control() => {}
            character => out.push(character),
        }
    }
    out
}

type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_escape(characters: &mut Characters<'_>) {
    match characters.next() {
        Some('[') => skip_control_sequence(characters),
        // Operating system command and its like: until BEL or ESC \.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(character) = characters.next() {
                match character {
                    '\u{7}' | '\u{9c}' => return,
                    '\u{1b}' => {
                        characters.next_if_eq(&'\\');
                        return;
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn skip_control_sequence(characters: &mut Characters<'_>) {
    for character in characters.by_ref() {
        if ('\u{40}'..='\u{7e}').contains(&character) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_control_characters_are_taken_out() {
        let cases: &[(&str, &str)] = &[
            ("plain", "plain"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link", "link"),
            ("a\tb\rc\u{8}d", "a bcd"),
            ("\u{202e}evil", "evil"),
            ("cut \u{1b}[3", "cut "),
            ("\u{1b}", ""),
            ("grüße", "grüße"),
        ];
        for (given, expected) in cases {
            assert_eq!(clean(given.as_bytes()), *expected, "{given:?}");
        }
    }

    #[tokio::test]
    async fn the_ring_keeps_the_end_and_no_more() {
        let tail = StderrTail::default();
        let text: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
        drain(text.as_bytes(), tail.clone(), "p".to_owned(), 1).await;
        let kept = tail.text();
        assert!(kept.len() <= KEPT, "{}", kept.len());
        assert!(kept.ends_with("line 19999\n"));
        assert_eq!(tail.last_line().as_deref(), Some("line 19999"));
    }

    #[tokio::test]
    async fn a_line_without_end_is_bounded_and_the_next_is_read() {
        let tail = StderrTail::default();
        let text = format!("{}\nafter", "x".repeat(1 << 20));
        drain(text.as_bytes(), tail.clone(), "p".to_owned(), 1).await;
        assert_eq!(tail.text(), format!("(a line longer than {LINE} bytes)\nafter\n"));
    }
}
