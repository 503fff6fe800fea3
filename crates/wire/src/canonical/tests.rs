//! The published vectors of RFC 8785 that matter here, and the properties behind them.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::Limits;

fn raw(json: &str) -> Raw {
    Raw::parse(json.to_owned(), &Limits::default()).unwrap()
}

/// Texts as they were hashed when this had two places: they stand in stores, and may not change.
#[test]
fn what_was_hashed_stays_as_it_was() {
    let text = "{ \"b\" : [1.50, -0, 1e2, 9007199254740993, {}], \"\u{ff5e}\":null, \"\u{10000}\":true, \"a\":\"\\u0061\\/\\u001f\\n\\u007f\" }";
    assert_eq!(
        exact(&raw(text)).unwrap(),
        "{\"a\":\"a/\\u001f\\n\u{7f}\",\"b\":[1.50,-0,1e2,9007199254740993,{}],\"\u{ff5e}\":null,\"\u{10000}\":true}"
    );
    assert_eq!(
        of_value(&raw(text).view().unwrap()),
        "{\"a\":\"a/\\u001f\\n\u{7f}\",\"b\":[1.5,0,100,9007199254740993,{}],\"\u{10000}\":true,\"\u{ff5e}\":null}"
    );
}

#[test]
fn spelling_does_not_count_and_digits_do() {
    for (one, other) in [
        // All of these are one value to a reader of floats, or none at all.
        ("[12345678901234567890123]", "[12345678901234567890124]"),
        ("[9007199254740993.0]", "[9007199254740992.0]"),
        ("[1e999]", "[2e999]"),
        ("{}", r#"{"amount":1e999}"#),
        (r#"{"a":1}"#, r#"{"a":"1"}"#),
        (r#"{"a":[]}"#, r#"{"a":{}}"#),
    ] {
        assert_ne!(exact(&raw(one)).unwrap(), exact(&raw(other)).unwrap(), "{one} and {other}");
    }
}

#[test]
fn what_stands_twice_has_no_exact_text() {
    assert!(exact(&raw(r#"{"a":{"b":1,"b":2}}"#)).is_err());
    assert!(exact(&raw(r#"[{"a":1,"\u0061":1}]"#)).is_err());
}

/// The object of RFC 8785, 3.2.3, and the numbers and strings of 3.2.2.
#[test]
fn the_example_of_the_standard() {
    let text = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    assert_eq!(
        of_value(&raw(text).view().unwrap()),
        "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
    );
}

#[test]
fn floats_are_written_as_ecmascript_does() {
    let cases: &[(u64, &str)] = &[
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x4014_0000_0000_0000, "5"),
        (0x3ff8_0000_0000_0000, "1.5"),
    ];
    for (bits, expected) in cases {
        let mut text = String::new();
        write_float(f64::from_bits(*bits), &mut text).unwrap();
        assert_eq!(&text, expected, "{bits:#x}");
    }
}

#[test]
fn keys_are_ordered_by_utf16_and_strings_escaped_little() {
    let value = json!({
        "\u{20ac}": "Euro", "\r": "return", "\u{fb33}": "dagesh", "1": "one", "\u{1f600}": "smile",
        "\u{80}": "control", "\u{f6}": "o",
    });
    assert_eq!(
        of_value(&value),
        "{\"\\r\":\"return\",\"1\":\"one\",\"\u{80}\":\"control\",\"\u{f6}\":\"o\",\"\u{20ac}\":\"Euro\",\
         \"\u{1f600}\":\"smile\",\"\u{fb33}\":\"dagesh\"}"
    );
    assert_eq!(
        of_value(&json!("\u{20ac}$\u{f}\nA'B\"\\\\\"/\u{7f}\t\u{8}\u{c}")),
        "\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u{7f}\\t\\b\\f\""
    );
}

#[test]
fn large_integers_keep_their_digits() {
    assert_eq!(
        of_value(&json!([u64::MAX, i64::MIN, 9_007_199_254_740_993_u64])),
        "[18446744073709551615,-9223372036854775808,9007199254740993]"
    );
}

/// At every place of strings of every length around the size of a block.
#[test]
fn an_escape_is_seen_wherever_it_stands() {
    for length in 1..=33 {
        for at in 0..length {
            for byte in 0..=0x7f_u8 {
                for filler in [b' ', b'!', b'[', b']'] {
                    let mut bytes = vec![filler; length];
                    bytes[at] = byte;
                    let string = String::from_utf8(bytes).unwrap();
                    let needs = byte < 0x20 || byte == b'"' || byte == b'\\';
                    assert_eq!(is_plain(string.as_bytes()), !needs, "{string:?}");
                }
            }
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |float| float.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Reading the canonical text and writing it again changes nothing, so that a stored record can be checked.
    #[test]
    fn is_a_fixed_point(value in any_json()) {
        let once = of_value(&value);
        let read: Value = serde_json::from_str(&once).unwrap();
        prop_assert_eq!(of_value(&read), once);
    }

    /// The same text as that of another writer: serde_json escapes the same characters the same way.
    #[test]
    fn strings_are_escaped_like_those_of_others(string in any::<String>()) {
        prop_assert_eq!(of_value(&Value::from(string.as_str())), serde_json::to_string(&string).unwrap());
    }

    #[test]
    fn integers_are_written_like_those_of_others(one in any::<i64>(), other in any::<u64>(), shift in 0..64_u32) {
        let (one, other) = (one >> shift, other >> shift);
        prop_assert_eq!(of_value(&json!([one, other])), format!("[{one},{other}]"));
    }

    /// Whatever two keys differ in.
    #[test]
    fn keys_are_in_the_order_of_utf16(
        one in "[a\u{e9}\u{d7ff}\u{e000}\u{ff5e}\u{10000}\u{10ffff}]{0,3}",
        other in "[a\u{e9}\u{d7ff}\u{e000}\u{ff5e}\u{10000}\u{10ffff}]{0,3}",
    ) {
        prop_assert_eq!(order(&one, &other), one.encode_utf16().cmp(other.encode_utf16()));
    }

    /// The order in which members were written is not part of the value.
    #[test]
    fn does_not_see_member_order(members in prop::collection::btree_map(any::<String>(), any_json(), 0..8)) {
        let forward: Map<String, Value> = members.clone().into_iter().collect();
        let backward: Map<String, Value> = members.into_iter().rev().collect();
        prop_assert_eq!(of_value(&Value::Object(forward)), of_value(&Value::Object(backward)));
    }

    /// Whoever writes the same value in another order and spelling of its strings has the same text, and reading the text
    /// gives the same text again.
    #[test]
    fn the_exact_text_does_not_see_order_or_blanks(members in prop::collection::btree_map(any::<String>(), any_json(), 0..6)) {
        let forward: Map<String, Value> = members.clone().into_iter().collect();
        let backward: Map<String, Value> = members.into_iter().rev().collect();
        let plain = serde_json::to_string(&Value::Object(forward)).unwrap();
        let pretty = serde_json::to_string_pretty(&Value::Object(backward)).unwrap();
        let text = exact(&raw(&plain)).unwrap();
        prop_assert_eq!(&exact(&raw(&pretty)).unwrap(), &text);
        prop_assert_eq!(exact(&raw(&text)).unwrap(), text);
    }
}
