//! Lines and events are the same however the stream is cut. The first byte says how.
#![no_main]

use libfuzzer_sys::fuzz_target;
use switchboard_wire::{Line, LineDecoder, sse};

fn lines(pieces: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
    let mut decoder = LineDecoder::new(64);
    let mut found = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(line) = decoder.next_line() {
            found.push(match line {
                Line::Whole(line) => Some(line.to_vec()),
                Line::TooLong(_) => None,
            });
        }
    }
    found
}

fn events(pieces: &[&[u8]]) -> Vec<sse::SseEvent> {
    let mut decoder = sse::Decoder::new(1 << 20);
    let mut found = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Ok(Some(event)) = decoder.next_event() {
            found.push(event);
        }
    }
    found
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&size, stream)) = bytes.split_first() else { return };
    let closed = [stream, b"\n"].concat();
    let pieces: Vec<&[u8]> = closed.chunks(usize::from(size).max(1)).collect();
    assert_eq!(lines(&[&closed]), lines(&pieces));
    assert_eq!(events(&[&closed]), events(&pieces));
});
