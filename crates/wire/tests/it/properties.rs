//! What holds for all messages, tried on many.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;
use switchboard_wire::{Edit, Limits, Line, LineDecoder, Message, Object, Raw, RefusalKind};

fn space() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "", "", "", " ", "\t", "  "])
}

fn text() -> impl Strategy<Value = String> {
    let plain = prop::collection::vec(prop::char::any(), 0..12).prop_map(|characters| {
        let text: String = characters.into_iter().collect();
        serde_json::to_string(&text).expect("text has a JSON form")
    });
    let escaped =
        prop::collection::vec(prop::sample::select(vec!["\\u0061", "\\/", "\\ud83d\\ude00", "é", "x", "\\\\"]), 0..6);
    prop_oneof![3 => plain, 1 => escaped.prop_map(|parts| format!("\"{}\"", parts.concat()))]
}

fn key() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!['a', 'b', 'c', 'é', '"', '\\', '\n', '-', '/']), 0..6)
        .prop_map(|characters| characters.into_iter().collect())
}

/// JSON text with white space, odd numbers, escapes, and no key twice in one object.
fn json() -> impl Strategy<Value = String> {
    let number = (any::<i64>(), 0..4u8).prop_map(|(number, form)| match form {
        0 => number.to_string(),
        1 => format!("{}.10", number % 1000),
        2 => format!("{}E+{}", number % 10, number.unsigned_abs() % 20),
        _ => format!("{number}{}", number.unsigned_abs()),
    });
    let leaf = prop_oneof![Just("null".to_owned()), Just("true".to_owned()), Just("false".to_owned()), number, text()];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let array = (prop::collection::vec((inner.clone(), space()), 0..6), space()).prop_map(|(elements, end)| {
            let elements: Vec<String> =
                elements.into_iter().map(|(element, space)| format!("{space}{element}")).collect();
            format!("[{}{end}]", elements.join(","))
        });
        prop_oneof![array, object(inner)]
    })
}

fn object(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let members = prop::collection::btree_map(key(), (value, space(), space()), 0..6);
    (members, space()).prop_map(|(members, end)| write_object(&members, end))
}

fn write_object(members: &BTreeMap<String, (String, &str, &str)>, end: &str) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(key, (value, before, after))| format!("{before}{}{after}:{before}{value}", serde_json::json!(key)))
        .collect();
    format!("{{{}{end}}}", members.join(","))
}

/// Bytes that matter to the grammar.
const NOISE: &[u8] = b"{}[]\",:\\ \n\0e.-+0u";

fn limits() -> Limits {
    Limits::default()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages_keep_every_byte(id in any::<i64>(), params in object(json()), result in json(), extra in json(), name in key()) {
        let name = serde_json::json!(format!("x{name}"));
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{params},{name}:{extra}}}"#),
            format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params},{name}:{extra}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result},{name}:{extra}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{id},"message":{name},"data":{result},{name}:{extra}}}}}"#),
        ] {
            let message = Message::parse(text.clone(), &limits()).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
            let encoded = message.encode();
            prop_assert_eq!(std::str::from_utf8(&encoded), Ok(text.as_str()));
        }
    }

    #[test]
    fn the_scanner_agrees_with_serde_json(text in json(), cut in any::<prop::sample::Index>(), noise in any::<u8>(), how in 0..5u8) {
        let mut bytes = text.into_bytes();
        let at = cut.index(bytes.len() + 1);
        match how {
            0 => {}
            1 => bytes.truncate(at),
            2 if at < bytes.len() => bytes[at] = noise,
            3 if at < bytes.len() => { bytes.remove(at); }
            _ => bytes.insert(at, NOISE[usize::from(noise) % NOISE.len()]),
        }
        let ours = Raw::parse(bytes.clone(), &limits());
        let theirs = serde_json::from_slice::<Value>(&bytes);
        // A number too large for a double is still a number.
        let out_of_range = theirs.as_ref().is_err_and(|error| error.to_string().starts_with("number out of range"));
        prop_assert!(ours.is_ok() == theirs.is_ok() || out_of_range, "{:?} {:?} {}", ours, theirs, String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn objects_open_to_what_serde_json_sees(text in object(json())) {
        let raw = Raw::parse(text, &limits()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let object = Object::open(&raw).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let Ok(value) = raw.view::<serde_json::Map<String, Value>>() else { return Ok(()) };
        prop_assert_eq!(object.len(), value.len());
        for ((key, member), (expected_key, expected)) in object.iter().zip(&value) {
            prop_assert_eq!(&*key, expected_key);
            prop_assert_eq!(&member.view::<Value>().map_err(|error| TestCaseError::fail(error.to_string()))?, expected);
        }
    }

    #[test]
    fn objects_with_a_key_twice_never_open(text in object(json()), again in json(), which in any::<prop::sample::Index>()) {
        let raw = Raw::parse(text.clone(), &limits()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let object = Object::open(&raw).map_err(|error| TestCaseError::fail(error.to_string()))?;
        if object.is_empty() {
            return Ok(());
        }
        let (key, _) = object.iter().nth(which.index(object.len())).expect("within");
        let escaped: String = key.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let twice = format!("{},\"{escaped}\":{again}}}", text.trim_end().strip_suffix('}').expect("an object"));
        let raw = Raw::parse(twice, &limits()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(Object::open(&raw).map(|_| ()).map_err(|refusal| refusal.kind), Err(RefusalKind::DuplicateKey));
    }

    #[test]
    fn edits_leave_the_rest_alone(
        members in prop::collection::btree_map(key(), (json(), space(), space()), 0..6),
        end in space(),
        changes in prop::collection::vec((key(), prop::option::of(json())), 0..5),
    ) {
        let before = Raw::parse(write_object(&members, end), &limits()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut edit = Edit::of(&before).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut expected: Vec<(String, String)> = members.iter().map(|(key, (value, ..))| (key.clone(), value.clone())).collect();
        for (key, value) in &changes {
            edit = match value {
                Some(value) => edit.set(key, Raw::parse(value.clone(), &limits()).map_err(|error| TestCaseError::fail(error.to_string()))?),
                None => edit.remove(key),
            };
            let place = expected.iter().position(|(name, _)| name == key);
            match (place, value) {
                (Some(place), Some(value)) => expected[place].1 = value.clone(),
                (Some(place), None) => { expected.remove(place); }
                (None, Some(value)) => expected.push((key.clone(), value.clone())),
                (None, None) => {}
            }
        }
        let after = edit.finish();
        let checked = Raw::parse(after.bytes().clone(), &limits());
        prop_assert!(checked.is_ok(), "{:?} became {:?}", before, after);
        let object = Object::open(&after).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut found: Vec<(String, String)> = object.iter().map(|(key, value)| (key.into_owned(), value.as_str().to_owned())).collect();
        // A member that was removed and set again stands in its old place; only the set of members is compared then.
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
        // Members that were not named keep their text, white space included, one by one.
        for (key, (value, space_before, space_after)) in &members {
            if !changes.iter().any(|(changed, _)| changed == key) {
                let text = format!("{}{space_after}:{space_before}{value}", serde_json::json!(key));
                prop_assert!(after.as_str().contains(&text), "{} is not in {}", text, after.as_str());
            }
        }
        if changes.is_empty() {
            prop_assert_eq!(before.as_bytes(), after.as_bytes());
        }
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut(
        stream in prop::collection::vec(prop::sample::select(b"ab\n\r \t\"{}:,\xef\xbb\xbf".to_vec()), 0..200),
        sizes in prop::collection::vec(1..20usize, 1..20),
        limit in 1..30usize,
    ) {
        let read = |pieces: Vec<&[u8]>| {
            let mut decoder = LineDecoder::new(limit);
            let mut lines = Vec::new();
            for piece in pieces {
                decoder.push(piece);
                while let Some(line) = decoder.next_line() {
                    lines.push(match line { Line::Whole(line) => Some(line), Line::TooLong(_) => None });
                }
            }
            (lines, decoder.finish())
        };
        let mut pieces = Vec::new();
        let mut rest = stream.as_slice();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, tail) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece);
            rest = tail;
        }
        // Where the stream ends inside a long line, it depends on the cuts whether that was refused yet.
        let closed = [stream.as_slice(), b"\n"].concat();
        let (whole, _) = read(vec![closed.as_slice()]);
        pieces.push(b"\n");
        prop_assert_eq!(read(pieces).0, whole);
    }

    #[test]
    fn anything_at_all_is_answered_and_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let tight = Limits { bytes: 200, depth: 3, keys: 5, number_length: 4, batch: 2 };
        for limits in [limits(), tight] {
            let _ = Message::parse(bytes.clone(), &limits);
            let _ = switchboard_wire::Incoming::parse(bytes.clone(), &limits);
        }
        let mut decoder = switchboard_wire::sse::Decoder::new(100);
        decoder.push(&bytes);
        while let Ok(Some(_)) = decoder.next_event() {}
    }
}
