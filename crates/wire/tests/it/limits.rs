//! Every limit is refused, under the id of the message, wherever in the message the id stands.

use switchboard_wire::{Limits, Message, Raw, RefusalKind};

const LIMITS: Limits = Limits { bytes: 400, depth: 5, keys: 12, number_length: 8, batch: 2 };

/// The members of a request whose parameters break a limit, in every order.
fn orders(params: &str) -> Vec<String> {
    let members = [
        r#""jsonrpc":"2.0""#.to_owned(),
        r#""id":"x""#.to_owned(),
        r#""method":"m""#.to_owned(),
        format!(r#""params":{params}"#),
    ];
    let mut orders = Vec::new();
    for a in 0..4 {
        for b in (0..4).filter(|&b| b != a) {
            for c in (0..4).filter(|&c| c != a && c != b) {
                let order = [a, b, c, 6 - a - b - c].map(|index| members[index].as_str());
                orders.push(format!("{{{}}}", order.join(",")));
            }
        }
    }
    orders
}

#[test]
fn each_limit_is_refused_under_the_id() {
    let keys: Vec<String> = (0..10).map(|index| format!(r#""k{index}":0"#)).collect();
    let cases = [
        (format!(r#"{{"a":"{}"}}"#, "x".repeat(400)), RefusalKind::TooLong(400)),
        (r#"{"a":[[[[]]]]}"#.to_owned(), RefusalKind::TooDeep(5)),
        (r#"{"a":{"b":{"c":{"d":{}}}}}"#.to_owned(), RefusalKind::TooDeep(5)),
        (format!("{{{}}}", keys.join(",")), RefusalKind::TooManyKeys(12)),
        (r#"{"a":123456789}"#.to_owned(), RefusalKind::NumberTooLong(8)),
        (r#"{"a":1.2345e-7}"#.to_owned(), RefusalKind::NumberTooLong(8)),
    ];
    for (params, kind) in cases {
        for text in orders(&params) {
            let refusal = Message::parse(text.clone(), &LIMITS).expect_err(&text);
            assert_eq!(refusal.kind, kind, "{text}");
            assert_eq!(refusal.id.map(|id| id.to_string()).as_deref(), Some("\"x\""), "{text}");
            assert!(!refusal.unanswerable, "{text}");
        }
    }
}

#[test]
fn up_to_the_limit_is_allowed() {
    let keys: Vec<String> = (0..8).map(|index| format!(r#""k{index}":0"#)).collect();
    let cases = [r#"{"a":[[[]]]}"#.to_owned(), format!("{{{}}}", keys.join(",")), r#"{"a":12345678}"#.to_owned()];
    for params in cases {
        for text in orders(&params) {
            assert!(Message::parse(text.clone(), &LIMITS).is_ok(), "{text}");
        }
    }
    let frame = r#"{"jsonrpc":"2.0","id":"x","method":""}"#.len();
    let text = |length: usize| format!(r#"{{"jsonrpc":"2.0","id":"x","method":"{}"}}"#, "m".repeat(length));
    assert!(Message::parse(text(400 - frame), &LIMITS).is_ok());
    assert!(Message::parse(text(401 - frame), &LIMITS).is_err());
}

#[test]
fn responses_and_notifications_beyond_a_limit_take_no_answer() {
    let long = "x".repeat(500);
    for (text, answers) in [
        (format!(r#"{{"jsonrpc":"2.0","id":7,"result":"{long}"}}"#), Some("7")),
        (format!(r#"{{"result":"{long}","jsonrpc":"2.0","id":7}}"#), Some("7")),
        (format!(r#"{{"error":{{"code":1,"message":"{long}","id":3}},"jsonrpc":"2.0","id":7}}"#), Some("7")),
        (r#"{"jsonrpc":"2.0","id":7,"result":[[[[[[]]]]]]}"#.to_owned(), Some("7")),
        (format!(r#"{{"jsonrpc":"2.0","method":"n","params":{{"a":"{long}"}}}}"#), None),
        (format!(r#"{{"params":{{"id":1,"a":"\"{long}\\"}},"jsonrpc":"2.0","method":"n"}}"#), None),
        (r#"{"jsonrpc":"2.0","method":"n","params":{"a":[[[[[[]]]]]]}}"#.to_owned(), None),
    ] {
        let refusal = Message::parse(text.clone(), &LIMITS).expect_err(&text);
        assert!(refusal.unanswerable, "{text}");
        assert_eq!(refusal.id, None, "{text}");
        assert_eq!(refusal.answers.map(|id| id.to_string()).as_deref(), answers, "{text}");
    }
}

#[test]
fn only_the_envelope_is_asked_for_the_id() {
    let long = "x".repeat(500);
    for (text, id) in [
        (format!(r#"{{"a":{{"id":1}},"b":[{{"id":2}}],"c":"\"id\":3,","id":4,"method":"{long}"}}"#), Some("4")),
        (format!(r#"{{"\u0069d":4,"method":"{long}"}}"#), Some("4")),
        (format!(r#"{{"id":4,"method":"m","x":"{long}","id":5}}"#), None),
        (format!(r#"{{"id":"{long}","method":"m"}}"#), Some("long")),
        (format!(r#"{{"id":"{}","method":"m"}}"#, "x".repeat(2000)), None),
        (format!(r#"{{"id":{{"id":1}},"method":"{long}"}}"#), None),
        (format!(r#"["id",1,"{long}"]"#), None),
        (format!(r#"{{"id":4,"method":"m","params":{{"a":"{long}"#), Some("4")),
        (long.clone(), None),
    ] {
        let refusal = Message::parse(text.clone(), &LIMITS).expect_err(&text);
        assert_eq!(refusal.kind, RefusalKind::TooLong(400), "{text}");
        let expected = id.map(|id| if id == "long" { format!("\"{long}\"") } else { id.to_owned() });
        assert_eq!(refusal.id.map(|id| id.to_string()), expected, "{text}");
    }
}

#[test]
fn deep_nesting_costs_no_stack() {
    let deep = 4_000_000;
    let text =
        format!(r#"{{"jsonrpc":"2.0","params":{{"a":{}{}}},"method":"m","id":1}}"#, "[".repeat(deep), "]".repeat(deep));
    let refusal = Message::parse(text, &Limits::default()).expect_err("too deep");
    assert_eq!(refusal.kind, RefusalKind::TooDeep(128));
    assert_eq!(refusal.id.map(|id| id.to_string()).as_deref(), Some("1"));
    // Mixed brackets must match, however deep they are.
    let mixed: String = (0..1000).map(|level| if level % 3 == 0 { "{\"k\":" } else { "[" }).collect();
    let close: String = (0..1000).rev().map(|level| if level % 3 == 0 { "}" } else { "]" }).collect();
    let limits = Limits { depth: 2000, ..Limits::default() };
    assert!(Raw::parse(format!("{mixed}0{close}"), &limits).is_ok());
    for at in [0, 63, 64, 65, 500, 999] {
        let mut wrong = close.clone().into_bytes();
        wrong[at] = if wrong[at] == b']' { b'}' } else { b']' };
        let text = [mixed.as_bytes(), b"0", &wrong].concat();
        assert_eq!(Raw::parse(text, &limits).expect_err("no match").kind, RefusalKind::Syntax);
    }
}

#[test]
fn the_usual_limits_let_usual_messages_pass() {
    let limits = Limits::default();
    let tools: Vec<String> =
        (0..2000).map(|index| format!(r#"{{"name":"t{index}","inputSchema":{{"type":"object"}}}}"#)).collect();
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{}]}}}}"#, tools.join(","));
    assert!(Message::parse(text, &limits).is_ok());
    // What is within the limits can also be read into a tree.
    let nested = format!("{}{}", "[".repeat(127), "]".repeat(127));
    let value = Raw::parse(nested, &limits).expect("within the limits");
    assert!(value.view::<serde_json::Value>().is_ok());
}
