//! Strange bytes: messages, values, lines and events. The same laws as the coverage-guided targets in `fuzz/`.

use switchboard_testkit::fuzzing::fuzz;
use switchboard_wire::{Edit, Incoming, Limits, Line, LineDecoder, Message, Object, Raw, RefusalKind, sse};

#[test]
fn fuzz_messages() {
    fuzz("wire_message", |bytes| {
        let limits = Limits::default();
        let _ = Incoming::parse(bytes.to_vec(), &limits);
        if let Ok(message) = Message::parse(bytes.to_vec(), &limits) {
            let encoded = message.encode();
            assert!(!encoded.contains(&b'\n'));
            let again = Message::parse(encoded.clone(), &limits).expect("what was written can be read");
            assert_eq!(again.encode(), encoded);
        }
        match Raw::parse(bytes.to_vec(), &limits) {
            Ok(raw) => {
                assert!(serde_json::from_slice::<&serde_json::value::RawValue>(bytes).is_ok());
                if let Ok(object) = Object::open(&raw) {
                    let edited = Edit::of(&raw).expect("it opened before").set("new", Raw::number(1)).finish();
                    let edited = Raw::parse(edited.bytes().clone(), &limits).expect("an edit is valid");
                    let expected = object.len() + usize::from(!object.has("new"));
                    assert_eq!(Object::open(&edited).expect("an object").len(), expected);
                }
            }
            Err(refusal)
                if matches!(refusal.kind, RefusalKind::Syntax | RefusalKind::Trailing | RefusalKind::Unicode) =>
            {
                assert!(serde_json::from_slice::<serde_json::Value>(bytes).is_err());
            }
            Err(_) => {}
        }
    });
}

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

#[test]
fn fuzz_frames() {
    fuzz("wire_frames", |bytes| {
        let Some((&size, stream)) = bytes.split_first() else { return };
        let closed = [stream, b"\n"].concat();
        let pieces: Vec<&[u8]> = closed.chunks(usize::from(size).max(1)).collect();
        assert_eq!(lines(&[&closed]), lines(&pieces));
        assert_eq!(events(&[&closed]), events(&pieces));
    });
}
