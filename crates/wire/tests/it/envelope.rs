//! Which texts are messages, which are not, and under which id the latter are answered.

use switchboard_wire::{Edit, ErrorObject, Id, Incoming, Limits, Message, RefusalKind, Response};

use crate::{parse, raw};

fn encoded(message: &Message) -> String {
    String::from_utf8(message.encode().to_vec()).expect("messages are UTF-8")
}

#[test]
fn ids_come_back_byte_for_byte() {
    for id in [
        "0",
        "1",
        "-1",
        "-0",
        "9007199254740993",
        "18446744073709551616",
        "-99999999999999999999999999",
        "\"1\"",
        "\"\"",
        "\"a\\u0062\\/\\\"\"",
        "\"é😀\"",
        "\"\\ud83d\\ude00\"",
        "\"\\u0000\"",
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        let Ok(Message::Request(request)) = parse(text.as_bytes()) else { panic!("{text}") };
        assert_eq!(request.id.as_str(), id);
        assert_eq!(encoded(&request.clone().into()), text);
        let answer = Response::new(Some(request.id), Ok(raw("{}")));
        assert_eq!(encoded(&answer.into()), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
}

#[test]
fn half_a_character_is_read_as_a_replacement_character() {
    let pair = r"\ud83d\ude00";
    for (given, expected) in [
        (r"\ud83d", r"\ufffd"),
        (r"\uDE00 b", r"\ufffd b"),
        (r"\udc00\ud800\n\\", r"\ufffd\ufffd\n\\"),
        // A pair behind half of one, and what only looks like an escape.
        (r"\ud83d\ud83d\ude00", r"\ufffd\ud83d\ude00"),
        (r"\\ud83d\ud83dx", r"\\ud83d\ufffdx"),
        (r"\\\ud83d", r"\\\ufffd"),
    ] {
        for (before, after) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"x"#, r#"","b":{"$":"y$"}}}"#),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"description":"x"#, r#""}]}}"#),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":"x"#, r#""}}"#),
            (r#"{"jsonrpc":"2.0","method":"n","params":{"x":"x"#, r#""},"extra":1}"#),
        ] {
            let after = after.replace('$', pair);
            let message = parse(format!("{before}{given}{after}").as_bytes()).expect("a message");
            assert_eq!(encoded(&message), format!("{before}{expected}{after}"));
        }
    }
    let batch = br#"[{"jsonrpc":"2.0","method":"n","params":{"x":"\ud83d"}}]"#;
    let Ok(Incoming::Batch(messages)) = Incoming::parse(batch.to_vec(), &Limits::default()) else { panic!("a batch") };
    assert!(messages.iter().all(Result::is_ok), "{messages:?}");
}

#[test]
fn different_ids_are_different() {
    let ids = ["1", "\"1\"", "9007199254740992", "9007199254740993", "\"a\"", "\"\\u0061\""];
    for (index, first) in ids.iter().enumerate() {
        for (other, second) in ids.iter().enumerate() {
            let [first, second] = [first, second].map(|id| Id::from_raw(&raw(id)).expect("an id"));
            assert_eq!(first == second, index == other, "{first} {second}");
        }
    }
    assert_eq!(Id::number(7), Id::from_raw(&raw("7")).expect("an id"));
    assert_eq!(Id::string("7").as_str(), "\"7\"");
    assert_eq!((Id::number(7).as_u64(), Id::string("7").as_u64()), (Some(7), None));
}

#[test]
fn messages_are_written_as_they_came() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{ "a" : [1.10, 1E5, -0],"a":"twice" },"x":{"y": null},"_meta":1}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{},"trace":"t"}"#,
        r#"{"jsonrpc":"2.0","method":"n"}"#,
        r#"{"jsonrpc":"2.0","id":"a","result":[1,2],"x":false}"#,
        r#"{"jsonrpc":"2.0","id":"a","result":null}"#,
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"é \" \\","data":{ "d":1 },"hint":"h"},"x":1}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":9223372036854775807,"message":"","data":null}}"#,
    ] {
        let message = parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(encoded(&message), text);
    }
}

#[test]
fn members_in_any_order_with_space_between() {
    let text =
        b" { \"params\" : {\"k\":1} ,\t\"x\":2, \"method\":\"m\",\r\n\"id\" : \"7\" , \"jsonrpc\" : \"2.0\" } \n";
    let message = parse(text).expect("a message");
    assert_eq!(encoded(&message), r#"{"jsonrpc":"2.0","id":"7","method":"m","params":{"k":1},"x":2}"#);
}

#[test]
fn a_message_of_many_lines_leaves_on_one() {
    let text = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\r\n  \"a\": \"b\\n\",\n  \"c\": [\n1]\n}}";
    let message = parse(text.as_bytes()).expect("a message");
    let line = encoded(&message);
    assert_eq!(line, r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{    "a": "b\n",   "c": [ 1] }}"#);
    assert_eq!(parse(line.as_bytes()).map(|message| encoded(&message)), Ok(line));
}

#[test]
fn refusals() {
    use RefusalKind::*;
    let some = |id: &str| Some(id.to_owned());
    // The text, why it is refused, the id to answer under, whether it takes no answer, the id it would have answered.
    let table = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"m""#, Syntax, some("1"), false, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":}}"#, Syntax, some("1"), false, None),
        (r#"{"jsonrpc":"2.0","method":"m","params":{"a":},"id":1}"#, Syntax, None, false, None),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"a":}}"#, Syntax, None, true, some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":"#, Syntax, None, true, some("1")),
        ("", Syntax, None, false, None),
        ("nonsense", Syntax, None, false, None),
        ("\u{feff}{}", ByteOrderMark, None, false, None),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m"}{"jsonrpc":"2.0","id":2,"method":"m"}"#,
            Trailing,
            some("1"),
            false,
            None,
        ),
        (r#"{"jsonrpc":"2.0","method":"m"} {"jsonrpc":"2.0","id":2,"method":"m"}"#, Trailing, None, false, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m"},"#, Trailing, some("1"), false, None),
        (r#"{"jsonrpc":"2.0","params":{"a":"\ud800\"},"method":"m","id":1}"#, Syntax, None, false, None),
        (r#"{"jsonrpc":"2.0","id":"\ud800","method":"m"}"#, Unicode, None, false, None),
        (r#"{"jsonrpc":"2.0","method":"\udfff"}"#, Unicode, None, true, None),
        (r#"{"id":1,"method":"m"}"#, Version, some("1"), false, None),
        (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, Version, some("1"), false, None),
        (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, Version, some("1"), false, None),
        (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, BadId, None, false, None),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, BadId, None, false, None),
        (r#"{"jsonrpc":"2.0","id":1e3,"method":"m"}"#, BadId, None, false, None),
        (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, BadId, None, false, None),
        (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"m"}"#, BadId, None, false, None),
        (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, BadId, None, true, None),
        (r#"{"jsonrpc":"2.0","id":1}"#, Shape, some("1"), false, None),
        (r#"{"jsonrpc":"2.0","result":{}}"#, Shape, None, true, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#, Shape, None, true, some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}"#, Shape, None, true, some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"params":{}}"#, Shape, None, true, some("1")),
        ("{}", Version, None, false, None),
        ("[]", Shape, None, false, None),
        ("7", Shape, None, false, None),
        ("\"text\"", Shape, None, false, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, BadMethod, some("1"), false, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#, BadParams, some("1"), false, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#, BadParams, some("1"), false, None),
        (r#"{"jsonrpc":"2.0","method":"m","params":"x"}"#, BadParams, None, true, None),
        (r#"{"jsonrpc":"2.0","id":1,"error":"broken"}"#, BadError, None, true, some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":"E","message":"m"}}"#, BadError, None, true, some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, BadError, None, true, some("1")),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"code":2,"message":"m"}}"#, BadError, None, true, some("1")),
    ];
    for (text, kind, id, unanswerable, answers) in table {
        let refusal = parse(text.as_bytes()).expect_err(text);
        assert_eq!(refusal.kind, kind, "{text}");
        assert_eq!(refusal.id.as_ref().map(ToString::to_string), id, "{text}");
        assert_eq!(refusal.unanswerable, unanswerable, "{text}");
        assert_eq!(refusal.answers.as_ref().map(ToString::to_string), answers, "{text}");
        assert!(refusal.at <= text.len(), "{text}");
        let code = if matches!(kind, Syntax | Unicode | ByteOrderMark | Trailing) { -32700 } else { -32600 };
        assert_eq!(refusal.to_error().code, code, "{text}");
    }
}

#[test]
fn no_key_of_the_envelope_stands_twice() {
    let request = [r#""jsonrpc":"2.0""#, r#""id":1"#, r#""method":"m""#, r#""params":{}"#, r#""x":1"#];
    let escaped = [
        r#""json\u0072pc":"2.0""#,
        r#""\u0069\u0064":1"#,
        r#""metho\u0064":"m""#,
        r#""param\u0073":{}"#,
        r#""\u0078":2"#,
    ];
    for again in request.into_iter().chain(escaped) {
        let text = format!("{{{},{again}}}", request.join(","));
        let refusal = parse(text.as_bytes()).expect_err(&text);
        assert_eq!(refusal.kind, RefusalKind::DuplicateKey, "{text}");
        // Under which of two ids to answer nobody can say.
        let id = (!again.ends_with(":1") || again.contains('x')).then_some("1");
        assert_eq!(refusal.id.as_ref().map(Id::as_str), id, "{text}");
    }
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{},"r\u0065sult":{}}"#;
    assert_eq!(parse(answer.as_bytes()).expect_err(answer).kind, RefusalKind::DuplicateKey);
    // An escaped key is the key it stands for.
    let text = r#"{"\u006asonrpc":"2.0","\u0069d":1,"m\u0065thod":"m"}"#;
    assert!(matches!(parse(text.as_bytes()), Ok(Message::Request(_))));
}

#[test]
fn many_unknown_members_are_compared_quickly() {
    let members: Vec<String> = (0..100_000).map(|index| format!(r#""k{index}":0"#)).collect();
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m",{}}}"#, members.join(","));
    assert!(parse(text.as_bytes()).is_ok());
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m",{},"k5":1}}"#, members.join(","));
    assert_eq!(parse(text.as_bytes()).expect_err("twice").kind, RefusalKind::DuplicateKey);
}

#[test]
fn invalid_utf8_is_refused_with_its_id() {
    let text = b"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"a\":\"\xff\"},\"id\":5}";
    let refusal = parse(text).expect_err("not UTF-8");
    assert_eq!((refusal.kind, refusal.at), (RefusalKind::Unicode, 45));
    assert_eq!(refusal.id.as_ref().map(Id::as_str), Some("5"));
    for broken in [&b"\xc0\x80"[..], b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"] {
        let text = [&b"{\"jsonrpc\":\"2.0\",\"id\":\""[..], broken, b"\",\"method\":\"m\"}"].concat();
        let refusal = parse(&text).expect_err("not UTF-8");
        assert_eq!((refusal.kind, refusal.id), (RefusalKind::Unicode, None), "an id that is no text is not given back");
    }
    let refusal = parse(b"{\"jsonrpc\":\"2.0\",\"\xff\":1,\"\xfe\":2,\"method\":\"m\"}").expect_err("not UTF-8");
    assert_eq!(refusal.kind, RefusalKind::Unicode, "two keys that are no text are not one key");
}

#[test]
fn batches() {
    let limits = Limits { batch: 3, ..Limits::default() };
    let read = |text: &str| Incoming::parse(text.as_bytes().to_vec(), &limits);
    let one = r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#;
    assert!(matches!(read(one), Ok(Incoming::One(Message::Request(_)))));
    let Ok(Incoming::Batch(members)) = read(&format!(" [{one} , 7,\n{{\"jsonrpc\":\"2.0\",\"method\":\"n\"}}]")) else {
        panic!("a batch")
    };
    assert!(matches!(
        members.as_slice(),
        [Ok(Message::Request(_)), Err(refusal), Ok(Message::Notification(_))] if refusal.kind == RefusalKind::Shape
    ));
    for (text, kind) in [
        ("[]".to_owned(), RefusalKind::Batch),
        (format!("[{one},{one},{one},{one}]"), RefusalKind::Batch),
        (format!("[{one}"), RefusalKind::Syntax),
        (format!("[{one}]]"), RefusalKind::Trailing),
        (format!("[{one},]"), RefusalKind::Syntax),
    ] {
        assert_eq!(read(&text).expect_err(&text).kind, kind, "{text}");
    }
    let Ok(Incoming::Batch(members)) = read(&format!("[[{one}]]")) else { panic!("a batch") };
    assert!(matches!(&members[0], Err(refusal) if refusal.kind == RefusalKind::Shape), "no batch in a batch");
    // Where batches are not part of the revision they are refused as a whole.
    assert_eq!(parse(format!("[{one}]").as_bytes()).expect_err("a batch").kind, RefusalKind::Shape);
}

#[test]
fn refusals_become_answers() {
    let refusal = parse(br#"{"jsonrpc":"2.0","id":"a","method":"m","params":7}"#).expect_err("bad params");
    let answer = Message::from(Response::refusing(&refusal));
    assert_eq!(
        encoded(&answer),
        r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"`params` is not an object at byte 48"}}"#
    );
    let refusal = parse(b"?").expect_err("no JSON");
    let answer = encoded(&Response::refusing(&refusal).into());
    assert_eq!(answer, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not valid JSON at byte 0"}}"#);
}

#[test]
fn errors_of_our_own() {
    let error = ErrorObject::new(-32000, "tab\there").with_data(raw(r#"{"a":1}"#));
    let text = encoded(&Response::new(Some(Id::number(3)), Err(error)).into());
    assert_eq!(text, r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"tab\there","data":{"a":1}}}"#);
}

#[test]
fn edits() {
    let set =
        |text: &str, key: &str, value: &str| Edit::of(&raw(text)).expect("an object").set(key, raw(value)).finish();
    let remove = |text: &str, keys: &[&str]| {
        let edit = Edit::of(&raw(text)).expect("an object");
        keys.iter().fold(edit, |edit, key| edit.remove(key)).finish()
    };
    for (text, key, value, expected) in [
        ("{}", "a", "1", r#"{"a":1}"#),
        ("{ }", "a", "1", r#"{ "a":1}"#),
        (r#"{"a":1}"#, "a", "2", r#"{"a":2}"#),
        (r#"{ "a" : 1 , "b":2 }"#, "a", "[]", r#"{ "a" : [] , "b":2 }"#),
        (r#"{ "a" : 1 , "b":2 }"#, "c", "3", r#"{ "a" : 1 , "b":2,"c":3 }"#),
        (r#"{"\u0061":1}"#, "a", "2", r#"{"\u0061":2}"#),
        (r#"{"b":{"a":1}}"#, "a", "2", r#"{"b":{"a":1},"a":2}"#),
    ] {
        assert_eq!(set(text, key, value).as_str(), expected);
    }
    for (text, keys, expected) in [
        (r#"{"a":1,"b":2,"c":3}"#, &["a"][..], r#"{"b":2,"c":3}"#),
        (r#"{"a":1,"b":2,"c":3}"#, &["b"], r#"{"a":1,"c":3}"#),
        (r#"{"a":1,"b":2,"c":3}"#, &["c"], r#"{"a":1,"b":2}"#),
        (r#"{"a":1,"b":2,"c":3}"#, &["a", "b"], r#"{"c":3}"#),
        (r#"{"a":1,"b":2,"c":3}"#, &["a", "b", "c"], "{}"),
        (r#"{"a":1}"#, &["z"], r#"{"a":1}"#),
        ("{ }", &["z"], "{ }"),
    ] {
        assert_eq!(remove(text, keys).as_str(), expected);
    }
    let edit = Edit::of(&raw(r#"{"_meta":{"x":1},"n":1.10}"#)).expect("an object");
    let edited = edit.within("_meta", |meta| meta.set("t", raw("\"v\""))).expect("an object").finish();
    assert_eq!(edited.as_str(), r#"{"_meta":{"x":1,"t":"v"},"n":1.10}"#);
    let twice = Edit::empty().set("a", raw("1")).set("b", raw("2")).remove("a").set("b", raw("3")).finish();
    assert_eq!(twice.as_str(), r#"{"b":3}"#);
    assert!(Edit::of(&raw("[]")).is_err());
    assert!(Edit::of(&raw(r#"{"a":1,"\u0061":2}"#)).is_err(), "the same key twice");
    assert!(Edit::of(&raw(r#"{"a":1}"#)).expect("an object").within("a", |inner| inner).is_err());
}
