//! What is JSON and what is not: one table, in which our scanner must agree with the grammar of RFC 8259.

use switchboard_wire::{Kind, Limits, Object, Raw, RefusalKind};

use crate::raw;

const VALID: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-1",
    "10",
    "1.5",
    "-0.0",
    "1e5",
    "1E+5",
    "1e-5",
    "0e0",
    "1.5e300",
    "1e400",
    "123456789012345678901234567890",
    "\"\"",
    "\"a\"",
    "\"\\\"\"",
    "\"\\\\\"",
    "\"\\/\\b\\f\\n\\r\\t\"",
    "\"\\u0000\"",
    "\"\\u00e9\\uFFFF\"",
    "\"\\ud83d\\ude00\"",
    "\"\u{7f}\"",
    "\"\u{80}\"",
    "\"é😀\u{2028}\"",
    "\"[{,:}]\"",
    "[]",
    "[ ]",
    "[1]",
    "[1,2]",
    "[[],[]]",
    "[null,true,false,\"x\",{}]",
    "{}",
    "{ }",
    "{\"a\":1}",
    "{\"\":0}",
    "{\"a\":1,\"b\":2}",
    "{\"a\":{\"a\":{\"a\":[]}}}",
    "{\"a\":1,\"a\":2}",
    " \t\r\n1 \t\r\n",
    "[\n1\n,\n2\n]",
    "{\t\"a\"\t:\t1\t}",
    "\"1234567\"",
    "\"12345678\"",
    "\"1234567\\n\"",
    "\"12345678\\n89012345\\\"\"",
];

const INVALID: &[&str] = &[
    "",
    " ",
    "nul",
    "nulll",
    "True",
    "NaN",
    "Infinity",
    "-Infinity",
    "undefined",
    "+1",
    "01",
    "-01",
    "00",
    "1.",
    ".5",
    "-",
    "-.5",
    "1e",
    "1e+",
    "1.e5",
    "1.5.5",
    "0x10",
    "1_000",
    "1 2",
    "\"",
    "\"a",
    "a\"",
    "'a'",
    "\"\\\"",
    "\"\\x41\"",
    "\"\\u12\"",
    "\"\\u123g\"",
    "\"\\U0041\"",
    "\"\\0\"",
    "\"\n\"",
    "\"\t\"",
    "\"\0\"",
    "\"\u{1f}\"",
    "\"12345678\n\"",
    "\"1234567\u{1}\"",
    "[",
    "]",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[,]",
    "[1 2]",
    "[1}",
    "[\"a\":1]",
    "{",
    "}",
    "{\"a\"",
    "{\"a\":",
    "{\"a\":1",
    "{\"a\":1,",
    "{\"a\":1,}",
    "{,}",
    "{\"a\"}",
    "{\"a\",1}",
    "{\"a\":}",
    "{1:1}",
    "{a:1}",
    "{'a':1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\"::1}",
    "{\"a\":1]",
    "{null:1}",
    "[]]",
    "{}}",
    "[][]",
    "{}{}",
    "1,",
    "// c\n1",
    "/* c */1",
    "1#",
    "\u{a0}1",
    "\u{2028}1",
    "\u{b}1",
    "\u{c}1",
    "1\0",
    "\u{feff}1",
];

const NO_UNICODE: &[&[u8]] = &[
    b"\"\\ud800\"",
    b"\"\\udc00\"",
    b"\"\\ud800x\"",
    b"\"\\ud800\\n\"",
    b"\"\\ud800\\u0041\"",
    b"\"\\ud800\\ud800\\udc00\"",
    b"\"\\udc00\\ud800\"",
    b"{\"\\ud800\":1}",
    b"\"\xff\"",
    b"\"\xc3\"",
    b"\"\xc0\xaf\"",
    b"\"\xed\xa0\x80\"",
    b"\"\xf5\x80\x80\x80\"",
];

fn parse(text: &[u8]) -> Result<Raw, RefusalKind> {
    Raw::parse(text.to_vec(), &Limits::default()).map_err(|refusal| refusal.kind)
}

#[test]
fn the_table() {
    for text in VALID {
        let parsed = parse(text.as_bytes());
        assert_eq!(parsed.as_ref().map(Raw::as_str), Ok(text.trim_matches([' ', '\t', '\r', '\n'])), "{text:?}");
    }
    for text in INVALID {
        let expected = matches!(
            parse(text.as_bytes()),
            Err(RefusalKind::Syntax | RefusalKind::Trailing | RefusalKind::ByteOrderMark)
        );
        assert!(expected, "{text:?}: {:?}", parse(text.as_bytes()));
    }
    for text in NO_UNICODE {
        assert_eq!(parse(text), Err(RefusalKind::Unicode), "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn every_place_in_a_string_is_looked_at() {
    // Strings are read eight bytes at a time; a special byte may stand at any place of the eight.
    for length in 0..40 {
        for at in 0..length {
            for (special, valid) in [
                ("\\n", true),
                ("é", true),
                ("\u{1f}", false),
                ("\n", false),
                ("\0", false),
                ("\"", false),
                ("\\", false),
            ] {
                let mut text = "x".repeat(length);
                text.replace_range(at..at + 1, special);
                // A lone backslash makes an escape of whatever follows it.
                let follower = if special == "\\" { "q" } else { "" };
                text.insert_str(at + special.len(), follower);
                let text = format!("\"{text}\"");
                assert_eq!(parse(text.as_bytes()).is_ok(), valid, "{text:?}");
            }
        }
    }
}

#[test]
fn kinds_and_texts() {
    for (text, kind) in [
        ("{}", Kind::Object),
        ("[]", Kind::Array),
        ("\"x\"", Kind::String),
        ("-1", Kind::Number),
        ("0", Kind::Number),
        ("true", Kind::Bool),
        ("false", Kind::Bool),
        ("null", Kind::Null),
    ] {
        assert_eq!(raw(text).kind(), kind);
        assert_eq!(raw(text).as_text().is_some(), kind == Kind::String);
    }
    assert_eq!(raw("\"a\\u00e9\\n\"").as_text().as_deref(), Some("aé\n"));
    assert_eq!(Raw::string("a\"\n\u{1}é").as_str(), "\"a\\\"\\n\\u0001é\"");
}

#[test]
fn members_and_elements() {
    let value = raw(r#"{ "a" : [1, {"b":2} ] , "\u0063":"x", "d":{"e":{"f": 1.10}} }"#);
    assert_eq!(value.at(&["d", "e", "f"]).as_ref().map(Raw::as_str), Some("1.10"));
    assert_eq!(value.at(&["d", "x"]), None);
    assert_eq!(value.at(&["a", "b"]), None);
    let object = Object::open(&value).expect("an object");
    assert_eq!(object.text("c").as_deref(), Some("x"));
    assert_eq!((object.len(), object.has("a"), object.has("b")), (3, true, false));
    let elements = object.get("a").and_then(|a| a.elements()).expect("an array");
    assert_eq!(elements.iter().map(Raw::as_str).collect::<Vec<_>>(), ["1", r#"{"b":2}"#]);
    assert_eq!(Raw::array(&elements).as_str(), r#"[1,{"b":2}]"#);
    assert_eq!(value.elements(), None);
    for twice in [r#"{"a":1,"a":2}"#, r#"{"a":1,"b":2,"\u0061":3}"#] {
        assert_eq!(Object::open(&raw(twice)).expect_err("twice").kind, RefusalKind::DuplicateKey);
        assert_eq!(raw(twice).member("b"), None, "nothing of such an object is acted upon");
    }
    let many: Vec<String> = (0..50).map(|index| format!("\"{index}\":0")).collect();
    assert!(Object::open(&raw(&format!("{{{}}}", many.join(",")))).is_ok());
    assert!(Object::open(&raw(&format!("{{{},\"7\":0}}", many.join(",")))).is_err());
}

#[test]
fn a_bracket_in_a_string_is_none() {
    for inner in [
        r#"{"a":"}"}"#,
        r#"{"}":{"]":["{"]}}"#,
        r#"["]",["\"]"]]"#,
        r#"["\\",{"\\\"}":[]}]"#,
        r#"{ "n" : [ -1.5e3 , true , { } , [ ] , null ] }"#,
        r#"[[[[]]],{"x":{"y":{}}}]"#,
    ] {
        let whole = raw(&format!(r#"{{"first":{inner} , "second":[{inner},2]}}"#));
        let object = Object::open(&whole).expect("an object");
        let members: Vec<_> = object.iter().map(|(key, value)| (key.into_owned(), value.as_str().to_owned())).collect();
        let second = format!("[{inner},2]");
        assert_eq!(members, [("first".to_owned(), inner.to_owned()), ("second".to_owned(), second)]);
        let elements = whole.member("second").and_then(|second| second.elements()).expect("an array");
        assert_eq!(elements.iter().map(Raw::as_str).collect::<Vec<_>>(), [inner, "2"]);
    }
}
