//! The engine that checks arguments beside the crate `jsonschema`, on schemas and values that are made up.
//!
//! What the engine refuses, the other refuses as well: that holds for every schema. Where a schema has only keywords that are
//! checked and no value is one that servers are known to take beside the letter (a number in a text), both agree.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use switchboard_policy::schema::Schema;
use switchboard_wire::{Limits, Raw};

const NAMES: [&str; 4] = ["a", "b", "c/d", "e~"];

fn raw(value: &Value) -> Raw {
    Raw::parse(value.to_string(), &Limits::default()).expect("JSON")
}

fn oracle(schema: &Value) -> jsonschema::Validator {
    jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(schema).expect("a schema")
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(&NAMES[..]).prop_map(str::to_owned)
}

/// Texts of which no server makes a number, a flag or a list.
fn text() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["x", "xy", "xyz", "\u{e9}\u{e9}", "words and more"]).prop_map(str::to_owned)
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-4_i64..5).prop_map(Value::from),
        (-8_i64..9).prop_map(|half| json!(half as f64 / 2.0)),
        Just(json!(1e300)),
    ]
}

/// A value. Whole numbers `beyond` what a reader of floats tells apart stand in no schema of which both say the same: there the
/// engine takes neighbours for equal.
fn value_of(beyond: bool) -> impl Strategy<Value = Value> {
    let large = if beyond { 4 } else { 1 };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        // A number where a flag is wanted is taken, if it is one of these two: they are no numbers here.
        number().prop_filter("may be a flag", |number| *number != json!(0) && *number != json!(1)),
        (0_u64..large).prop_map(|more| json!(9_007_199_254_740_990 + more)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn value() -> impl Strategy<Value = Value> {
    value_of(true)
}

fn types() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]);
    prop_oneof![
        word.clone().prop_map(Value::from),
        prop::collection::btree_set(word, 1..4).prop_map(|words| words.into_iter().collect::<Vec<_>>().into()),
    ]
}

type Part = (&'static str, Value);

/// Keywords that both check in the same way.
fn checked(inner: &BoxedStrategy<Value>) -> impl Strategy<Value = Part> + use<> {
    let list = prop::collection::vec(inner.clone(), 1..3).prop_map(Value::from);
    let count = || (0_u64..4).prop_map(Value::from);
    prop_oneof![
        types().prop_map(|types| ("type", types)),
        prop::collection::vec(value_of(false), 1..4).prop_map(|values| ("enum", values.into())),
        value_of(false).prop_map(|value| ("const", value)),
        prop::collection::btree_set(name(), 0..3)
            .prop_map(|names| ("required", names.into_iter().collect::<Vec<_>>().into())),
        prop::collection::btree_map(name(), inner.clone(), 0..4)
            .prop_map(|members| ("properties", Value::Object(members.into_iter().collect()))),
        inner.clone().prop_filter("left to the server", Value::is_object).prop_map(|one| ("additionalProperties", one)),
        inner.clone().prop_filter("left to the server", Value::is_object).prop_map(|one| ("items", one)),
        list.clone().prop_map(|all| ("prefixItems", all)),
        list.clone().prop_map(|all| ("allOf", all)),
        list.prop_map(|all| ("anyOf", all)),
        count().prop_map(|count| ("minItems", count)),
        count().prop_map(|count| ("maxItems", count)),
        count().prop_map(|count| ("minLength", count)),
        count().prop_map(|count| ("maxLength", count)),
        count().prop_map(|count| ("minProperties", count)),
        count().prop_map(|count| ("maxProperties", count)),
        number().prop_map(|number| ("minimum", number)),
        number().prop_map(|number| ("maximum", number)),
        number().prop_map(|number| ("exclusiveMinimum", number)),
        number().prop_map(|number| ("exclusiveMaximum", number)),
        Just(("description", json!("words"))),
    ]
}

/// Keywords that are left to the server, altogether or in part.
fn lenient(inner: &BoxedStrategy<Value>) -> impl Strategy<Value = Part> + use<> {
    let list = prop::collection::vec(inner.clone(), 1..3).prop_map(Value::from);
    prop_oneof![
        Just(("additionalProperties", json!(false))),
        Just(("items", json!(false))),
        Just(("pattern", json!("^x"))),
        Just(("uniqueItems", json!(true))),
        Just(("multipleOf", json!(2))),
        Just(("default", json!(1))),
        Just(("properties", json!({"b": {"$ref": "#"}}))),
        // Beyond what a reader of floats tells apart.
        prop::sample::select(vec!["maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "const"])
            .prop_map(|key| (key, json!(9_007_199_254_740_993_u64))),
        prop::collection::vec(value(), 1..4).prop_map(|values| ("enum", values.into())),
        list.prop_map(|all| ("oneOf", all)),
        inner.clone().prop_map(|one| ("not", one)),
        inner.clone().prop_map(|one| ("contains", one)),
        inner.clone().prop_map(|one| ("propertyNames", one)),
        inner.clone().prop_map(|one| ("patternProperties", json!({"^a": one}))),
        (inner.clone(), inner.clone()).prop_map(|(when, then)| ("dependentSchemas", json!({"a": when, "b": then}))),
        inner.clone().prop_map(|one| ("unevaluatedProperties", one)),
        inner.clone().prop_map(|one| ("$defs", json!({"n": one}))),
    ]
}

fn schema(with_lenient: bool) -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![6 => types().prop_map(|types| json!({"type": types})), 1 => any::<bool>().prop_map(Value::from)];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        let inner = inner.boxed();
        let part = if with_lenient {
            prop_oneof![3 => checked(&inner), 1 => lenient(&inner)].boxed()
        } else {
            checked(&inner).boxed()
        };
        prop::collection::vec(part, 1..4).prop_map(|parts| {
            Value::Object(parts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn both_agree_where_everything_is_checked(schema in schema(false), values in prop::collection::vec(value(), 1..8)) {
        let (own, other) = (Schema::read(&raw(&schema)), oracle(&schema));
        for value in values {
            let answer = own.check(&raw(&value));
            prop_assert_eq!(answer.is_ok(), other.is_valid(&value), "{} {} {:?}", schema, value, answer);
        }
    }

    #[test]
    fn what_is_refused_is_refused_by_the_other_too(schema in schema(true), values in prop::collection::vec(value(), 1..8)) {
        let (own, other) = (Schema::read(&raw(&schema)), oracle(&schema));
        for value in values {
            if let Err(why) = own.check(&raw(&value)) {
                prop_assert!(!other.is_valid(&value), "{} {} {:?}", schema, value, why);
            }
        }
    }
}
