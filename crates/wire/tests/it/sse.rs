//! Server-sent events, however they are cut.

use bytes::Bytes;
use switchboard_wire::sse::{Decoder, EventTooLong, SseEvent, encode};

fn decode(pieces: &[&[u8]]) -> Vec<SseEvent> {
    let mut decoder = Decoder::new(10_000);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(event) = decoder.next_event().expect("within the limit") {
            events.push(event);
        }
    }
    events
}

fn event(event: Option<&str>, id: Option<&str>, retry: Option<u64>, data: &str) -> SseEvent {
    SseEvent {
        event: event.map(str::to_owned),
        id: id.map(str::to_owned),
        retry,
        data: Bytes::copy_from_slice(data.as_bytes()),
    }
}

fn stream() -> (&'static str, Vec<SseEvent>) {
    let text = ": a comment\n\
        data: one\n\n\
        event: message\nid: 1\ndata: {\"a\":1,\ndata:  \"b\":2}\n\n\
        :\n\n\
        data\n\n\
        data:\ndata:\n\n\
        id: 2\ndata:\n\n\
        retry: 250\nid: 3\n\n\
        id\nunknown: x\ndata: é😀\n\n\
        event:endpoint\ndata:/messages?id=1: 2\n\n\
        : keep-alive\n\n\n\
        data: last\n\n\
        data: never ended\n";
    let events = vec![
        event(None, None, None, "one"),
        event(Some("message"), Some("1"), None, "{\"a\":1,\n \"b\":2}"),
        event(None, None, None, ""),
        event(None, None, None, "\n"),
        event(None, Some("2"), None, ""),
        event(None, Some("3"), Some(250), ""),
        event(None, Some(""), None, "é😀"),
        event(Some("endpoint"), None, None, "/messages?id=1: 2"),
        event(None, None, None, "last"),
    ];
    (text, events)
}

#[test]
fn cut_at_every_byte_with_every_line_end() {
    let (text, events) = stream();
    for end in ["\n", "\r", "\r\n"] {
        for mark in ["", "\u{feff}"] {
            let stream = format!("{mark}{}", text.replace('\n', end));
            let stream = stream.as_bytes();
            assert_eq!(decode(&[stream]), events, "{end:?}");
            for cut in 0..=stream.len() {
                let (head, tail) = stream.split_at(cut);
                assert_eq!(decode(&[head, tail]), events, "{end:?} cut at {cut}");
            }
            let bytes: Vec<&[u8]> = stream.chunks(1).collect();
            assert_eq!(decode(&bytes), events, "{end:?} byte by byte");
        }
    }
}

#[test]
fn a_line_feed_belongs_to_one_carriage_return_only() {
    // The second line feed is a blank line of its own, although the first came alone in its piece.
    let expected = vec![event(None, None, None, "x")];
    assert_eq!(decode(&[b"data: x\r", b"\n", b"\n"]), expected);
    assert_eq!(decode(&[b"data: x\r", b"\r"]), expected);
    assert_eq!(decode(&[b"data: x\r", b"", b"\n", b"\r", b"\n"]), expected);
    assert_eq!(decode(&[b"data: x\n", b"\r"]), expected);
}

#[test]
fn odd_fields() {
    for (text, expected) in [
        ("retry: +5\ndata: x\n\n", event(None, None, None, "x")),
        ("retry: 5s\ndata: x\n\n", event(None, None, None, "x")),
        ("retry:\ndata: x\n\n", event(None, None, None, "x")),
        ("retry: 5\nretry: x\ndata: x\n\n", event(None, None, Some(5), "x")),
        ("id: a\0b\ndata: x\n\n", event(None, None, None, "x")),
        ("id: a\nid: b\ndata: x\n\n", event(None, Some("b"), None, "x")),
        ("Data: y\ndata: x\n\n", event(None, None, None, "x")),
        (" data: y\ndata: x\n\n", event(None, None, None, "x")),
        ("data:  x\n\n", event(None, None, None, " x")),
    ] {
        assert_eq!(decode(&[text.as_bytes()]), [expected], "{text:?}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    let (_, events) = stream();
    for event in events {
        assert_eq!(decode(&[&encode(&event)]), [event]);
    }
    // A name cannot smuggle in fields of its own.
    let hostile = event(Some("a\ndata: evil"), Some("1\r\n\r\ndata: evil"), None, "x");
    let read = decode(&[&encode(&hostile)]);
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].data, "x");
    // Data of several lines arrives as the same JSON.
    let pretty = event(None, None, None, "{\r\n\"a\":\n1}");
    let read = decode(&[&encode(&pretty)]);
    let value: serde_json::Value = serde_json::from_slice(&read[0].data).expect("JSON");
    assert_eq!(value, serde_json::json!({"a": 1}));
}

#[test]
fn long_events_are_refused() {
    let mut decoder = Decoder::new(100);
    decoder.push(b"data: ");
    let mut refused = None;
    for count in 0..1000 {
        decoder.push(b"xxxxxxxxxx");
        if let Err(error) = decoder.next_event() {
            refused = Some((count, error));
            break;
        }
    }
    assert_eq!(refused, Some((9, EventTooLong(100))));
    let mut decoder = Decoder::new(100);
    decoder.push("data: 123456789\n".repeat(11).as_bytes());
    assert_eq!(decoder.next_event(), Err(EventTooLong(100)), "in many short lines");
    let mut decoder = Decoder::new(100);
    decoder.push("data: 123456789\n\n".repeat(50).as_bytes());
    assert_eq!(std::iter::from_fn(|| decoder.next_event().expect("short events")).count(), 50);
}

#[test]
fn a_long_line_in_small_pieces_is_searched_once() {
    // Searching from the start each time would take minutes here.
    let mut decoder = Decoder::new(64 << 20);
    decoder.push(b"data: ");
    for _ in 0..(32 << 10) {
        decoder.push(&[b'x'; 1024]);
        assert_eq!(decoder.next_event(), Ok(None));
    }
    decoder.push(b"\n\n");
    assert_eq!(decoder.next_event().expect("within the limit").map(|event| event.data.len()), Some(32 << 20));
}
