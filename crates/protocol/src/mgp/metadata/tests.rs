//! Which of several places wins, and what is refused.

use super::*;
use switchboard_wire::Limits;

fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).expect("valid JSON")
}

fn metadata(params: &str) -> Metadata {
    Metadata::of_params(&raw(params)).expect("metadata")
}

fn beside(members: &[(&str, &str)]) -> Extra {
    let mut extra = Extra::default();
    for (key, value) in members {
        extra.push(key, raw(value));
    }
    extra
}

#[test]
fn the_first_place_wins() {
    let all = [
        (r#""_meta":{"dev.cloto/mgp":{"trace_id":"1"},"trace_id":"2"}"#, "1"),
        (r#""_meta":{"dev.cloto/mgp/trace_id":"1","trace_id":"2"}"#, "1"),
        (r#""_meta":{"trace_id":"2"}"#, "2"),
        (r#""_mgp":{"trace_id":"3"}"#, "3"),
        (r#""trace_id":"4""#, "4"),
    ];
    let outside = beside(&[("_meta", r#"{"trace_id":"5"}"#), ("trace_id", r#""6""#)]);
    for (first, (own, expected)) in all.iter().enumerate() {
        for (later, _) in
            all.iter().skip(first + 1).filter(|(later, _)| own.starts_with("\"_meta") != later.starts_with("\"_meta"))
        {
            let params = raw(&format!("{{{later},{own}}}"));
            let read = Metadata::of(Some(&params), &outside).expect("metadata").trace_id();
            assert_eq!(read.as_deref(), Some(*expected), "{own} over {later}");
        }
    }
    assert_eq!(metadata(&format!("{{{}}}", all[0].0)).trace_id().as_deref(), Some("1"));
    assert_eq!(metadata(&format!("{{{}}}", all[1].0)).trace_id().as_deref(), Some("1"));
    let read = |params: Option<&Raw>, extra: &Extra| Metadata::of(params, extra).expect("metadata").trace_id();
    assert_eq!(read(Some(&raw("{}")), &outside).as_deref(), Some("5"));
    assert_eq!(read(None, &beside(&[("trace_id", r#""6""#)])).as_deref(), Some("6"));
    assert_eq!(read(None, &Extra::default()), None);
}

#[test]
fn null_and_other_shapes_are_skipped() {
    assert_eq!(metadata(r#"{"_meta":{"intent":null},"intent":"order"}"#).intent().as_deref(), Some("order"));
    assert_eq!(metadata(r#"{"_meta":7,"_mgp":[],"intent":"order"}"#).intent().as_deref(), Some("order"));
    assert_eq!(metadata(r#"{"arguments":{"intent":"not this"}}"#).intent(), None, "arguments are the tool's");
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    for params in [
        r#"{"_meta":{"a":1,"a":2}}"#,
        r#"{"_mgp":{"a":1,"\u0061":2}}"#,
        r#"{"_meta":{"dev.cloto/mgp":{"a":1,"a":2}}}"#,
        r#"{"a":1,"a":2}"#,
    ] {
        assert!(Metadata::of_params(&raw(params)).is_err(), "{params}");
    }
}

#[test]
fn traces() {
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    for (parent, legal) in [
        (format!("00-{trace}-00f067aa0ba902b7-01"), true),
        (format!("cc-{trace}-00f067aa0ba902b7-01-more"), true),
        (format!("00-{trace}-00f067aa0ba902b7-01-more"), false),
        (format!("ff-{trace}-00f067aa0ba902b7-01"), false),
        (format!("00-{}-00f067aa0ba902b7-01", trace.to_uppercase()), false),
        (format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)), false),
        (format!("00-{trace}-0000000000000000-01"), false),
        (format!("00-{trace}-00f067aa0ba902b7"), false),
        (String::new(), false),
    ] {
        assert_eq!(trace_of(&parent), legal.then_some(trace), "{parent}");
    }
    let both = format!(r#"{{"_meta":{{"traceparent":"00-{trace}-00f067aa0ba902b7-01"}},"trace_id":"t-1"}}"#);
    assert_eq!(metadata(&both).trace_id().as_deref(), Some("t-1"), "what MGP names comes first");
    let alone = format!(r#"{{"_meta":{{"traceparent":"00-{trace}-00f067aa0ba902b7-01"}}}}"#);
    assert_eq!(metadata(&alone).trace_id().as_deref(), Some(trace));
    for useless in [r#""""#, "7", r#""a b""#, r#""a\nb""#, &format!("\"{}\"", "x".repeat(129))] {
        assert_eq!(metadata(&format!(r#"{{"trace_id":{useless}}}"#)).trace_id(), None, "{useless}");
    }
}

#[test]
fn idempotency_keys() {
    for (key, legal) in [("op-2026-03-15-abc123", true), ("a:b.c_d", true), ("", false), ("a b", false), ("é", false)]
    {
        let read = metadata(&format!(r#"{{"_meta":{{"idempotency_key":"{key}"}}}}"#)).idempotency_key();
        assert_eq!(read, if legal { Ok(Some(key.to_owned())) } else { Err(Malformed { key: "idempotency_key" }) });
    }
    let long =
        |length: usize| metadata(&format!(r#"{{"idempotency_key":"{}"}}"#, "k".repeat(length))).idempotency_key();
    assert!(long(128).is_ok() && long(129).is_err());
    assert!(metadata(r#"{"idempotency_key":7}"#).idempotency_key().is_err());
    assert_eq!(metadata("{}").idempotency_key(), Ok(None));
    assert_eq!(metadata(r#"{"idempotency_ttl_seconds":60}"#).idempotency_ttl_seconds(), Ok(Some(60)));
}

#[test]
fn delegations() {
    let read = metadata(
        r#"{"_mgp":{"delegation":{"original_actor":"a","delegated_via":"b","delegation_id":"d","chain":["a","b"]}}}"#,
    );
    let delegation = read.delegation().expect("well-formed").expect("a delegation");
    assert_eq!((delegation.original_actor.as_str(), delegation.delegated_via.as_str()), ("a", "b"));
    assert_eq!((delegation.delegation_id.as_deref(), delegation.chain.len()), (Some("d"), 2));
    for malformed in
        ["7", "{}", r#"{"original_actor":"a"}"#, r#"{"original_actor":"a","delegated_via":"b","chain":"a"}"#]
    {
        let read = metadata(&format!(r#"{{"_mgp":{{"delegation":{malformed}}}}}"#)).delegation();
        assert_eq!(read, Err(Malformed { key: "delegation" }), "{malformed}: never taken for absent");
    }
}

#[test]
fn confirmations() {
    for (params, token, confirmed) in [
        (r#"{"_meta":{"confirmation_token":"t","user_confirmed":true}}"#, Some("t"), true),
        (r#"{"_mgp":{"confirmation_token":"t"},"user_confirmed":true}"#, Some("t"), true),
        (r#"{"user_confirmed":true}"#, None, true),
        (r#"{"user_confirmed":"true","confirmation_token":7}"#, None, false),
        (r#"{"arguments":{"user_confirmed":true,"confirmation_token":"t"}}"#, None, false),
    ] {
        let read = Confirmation::of(&raw(params)).expect("metadata");
        assert_eq!(read, Confirmation { token: token.map(str::to_owned), user_confirmed: confirmed }, "{params}");
        assert!(!format!("{read:?}").contains("\"t\""), "a token is not for logs");
    }
    let params = raw(
        r#"{"name":"x","_meta":{"progressToken":1,"confirmation_token":"t","dev.cloto/mgp":{"user_confirmed":true,"a":1}},"user_confirmed":true,"arguments":{ "n":1.10 }}"#,
    );
    let without = Confirmation::removed_from(&params).expect("parameters");
    insta::assert_snapshot!(without.as_str(), @r#"{"name":"x","_meta":{"progressToken":1,"dev.cloto/mgp":{"a":1}},"arguments":{ "n":1.10 }}"#);
}

#[test]
fn streams() {
    assert!(metadata(r#"{"name":"t","arguments":{},"_mgp":{"stream":true}}"#).wants_stream());
    assert!(!metadata(r#"{"_mgp":{"stream":"true"}}"#).wants_stream());
}
