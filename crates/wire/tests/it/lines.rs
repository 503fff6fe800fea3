//! Lines of a stream, however it is cut.

use switchboard_wire::{Line, LineDecoder};

fn decode(pieces: &[&[u8]], limit: usize) -> (Vec<String>, Option<String>) {
    let mut decoder = LineDecoder::new(limit);
    let mut lines = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        while let Some(line) = decoder.next_line() {
            lines.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(&line).into_owned(),
                Line::TooLong(refusal) => format!(
                    "too long, id {:?}, answers {:?}{}",
                    refusal.id,
                    refusal.answers,
                    if refusal.unanswerable { ", no answer" } else { "" }
                ),
            });
        }
    }
    (lines, decoder.finish().map(|rest| String::from_utf8_lossy(&rest).into_owned()))
}

fn messages() -> Vec<String> {
    let mut messages: Vec<String> = (0..16)
        .map(|index| format!(r#"{{"jsonrpc":"2.0","id":{index},"method":"m{index}","params":{{"t":"é😀 \n \\"}}}}"#))
        .collect();
    messages.push(r#"{"jsonrpc":"2.0","method":"n"}"#.to_owned());
    messages.push(r#"{"jsonrpc":"2.0","id":"a","result":{}}"#.to_owned());
    messages.push("not a message".to_owned());
    messages.push(format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{}"}}"#, "long".repeat(50)));
    messages
}

#[test]
fn cut_at_every_byte() {
    for end in ["\n", "\r\n", "\n\n", " \t\r\n\r\n \n"] {
        let stream = messages().into_iter().map(|message| message + end).collect::<String>();
        let stream = stream.as_bytes();
        let whole = decode(&[stream], 1000);
        assert_eq!(whole, (messages(), None));
        for cut in 0..=stream.len() {
            let (head, tail) = stream.split_at(cut);
            assert_eq!(decode(&[head, tail], 1000), whole, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(decode(&bytes, 1000), whole, "byte by byte");
    }
}

#[test]
fn too_long_lines_are_refused_the_same_however_they_are_cut() {
    let long = "x".repeat(60);
    let stream = [
        "\u{feff}0123456789012345678901234567890123456789".to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{long}"}}"#),
        "{}".to_owned(),
        format!(r#"{{"result":"{long}","id":2}}"#),
        format!(r#"{{"params":["{long}",{{"id":9}}],"id":"3","method":"m"}}"#),
        format!(r#"{{"params":["{long}"],"method":"m"}}"#),
        "x".repeat(60),
        "0123456789012345678901234567890123456789\r".to_owned(),
        "0123456789012345678901234567890123456789x\r".to_owned(),
        "last".to_owned(),
        String::new(),
    ]
    .join("\n");
    let expected: Vec<String> = [
        "0123456789012345678901234567890123456789",
        "too long, id Some(1), answers None",
        "{}",
        "too long, id None, answers Some(2), no answer",
        "too long, id Some(\"3\"), answers None",
        "too long, id None, answers None, no answer",
        "too long, id None, answers None",
        "0123456789012345678901234567890123456789",
        "too long, id None, answers None",
        "last",
    ]
    .map(str::to_owned)
    .to_vec();
    let stream = stream.as_bytes();
    for cut in 0..=stream.len() {
        let (head, tail) = stream.split_at(cut);
        assert_eq!(decode(&[head, tail], 40).0, expected, "cut at {cut}");
    }
    for size in [1, 2, 3, 7, 41] {
        let pieces: Vec<&[u8]> = stream.chunks(size).collect();
        assert_eq!(decode(&pieces, 40).0, expected, "in pieces of {size}");
    }
}

#[test]
fn a_request_is_refused_before_it_ends() {
    let mut decoder = LineDecoder::new(40);
    decoder.push(br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"endless":"....."#);
    assert!(matches!(decoder.next_line(), Some(Line::TooLong(refusal)) if refusal.id.is_some()));
    for _ in 0..100 {
        decoder.push(b"....................................................");
        assert_eq!(decoder.next_line(), None);
    }
    decoder.push(b"\"}}\nnext\n");
    assert!(matches!(decoder.next_line(), Some(Line::Whole(line)) if line == "next"));
}

#[test]
fn a_hundred_megabytes_take_bounded_memory() {
    let limit = 1 << 20;
    let mut decoder = LineDecoder::new(limit);
    let piece = vec![b'x'; 64 << 10];
    decoder.push(br#"{"result":{"text":""#);
    let mut largest = 0;
    for _ in 0..1600 {
        decoder.push(&piece);
        assert_eq!(decoder.next_line(), None);
        largest = largest.max(decoder.buffer().capacity());
    }
    decoder.push(b"\"},\"jsonrpc\":\"2.0\",\"id\":42}\n{}\n");
    let Some(Line::TooLong(refusal)) = decoder.next_line() else { panic!("a refusal") };
    assert_eq!(refusal.answers.map(|id| id.to_string()).as_deref(), Some("42"));
    assert!(matches!(decoder.next_line(), Some(Line::Whole(line)) if line == "{}"));
    assert!(largest <= 4 * limit, "{largest} bytes were kept");
    assert!(decoder.buffer().capacity() <= 2 * piece.len(), "the memory is given back");
}

#[test]
fn odd_bytes() {
    for (stream, lines, rest) in [
        (&b""[..], vec![], None),
        (b"\n\r\n \t \n", vec![], None),
        (b"\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n", vec!["{}", "\u{feff}{}"], None),
        (b"\xef\xbb\n", vec!["\u{fffd}"], None),
        (b"a\rb\n", vec!["a\rb"], None),
        (b"a\0b\n", vec!["a\0b"], None),
        (b"{}\x0c\n", vec!["{}\x0c"], None),
        (b"{}\n{\"jsonrpc\"", vec!["{}"], Some("{\"jsonrpc\"")),
        (b"{}\n  ", vec!["{}"], None),
    ] {
        let (found, left) = decode(&[stream], 100);
        assert_eq!((found, left.as_deref()), (lines.into_iter().map(str::to_owned).collect(), rest));
    }
    let mut decoder = LineDecoder::new(4);
    decoder.push(b"123456");
    assert!(matches!(decoder.next_line(), Some(Line::TooLong(_))));
    assert_eq!(decoder.finish(), None, "what was refused is not reported again");
}
