//! The examples of MGP 13.2 and 13.3.

use switchboard_wire::Limits;

use super::*;

fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).expect("valid JSON")
}

fn same<T: serde::Serialize + for<'de> serde::Deserialize<'de> + PartialEq + fmt::Debug>(text: &str, value: &T) {
    assert_eq!(raw(text).view::<T>().expect("the view"), *value);
    assert_eq!(Raw::from_value(value).expect("JSON").as_str(), text);
}

#[test]
fn the_subscription_of_the_specification() {
    let channels = || vec!["model.token_usage".to_owned(), "system.error".to_owned()];
    same(
        r#"{"channels":["model.token_usage","system.error"],"filter":{"min_severity":"warning"}}"#,
        &SubscribeParams::new(channels()).filter(raw(r#"{"min_severity":"warning"}"#)),
    );
    same(
        r#"{"subscribed":["model.token_usage","system.error"],"unsupported":[],"subscription_id":"sub-001"}"#,
        &SubscribeResult::new(channels(), Vec::new(), "sub-001"),
    );
    same(r#"{"subscription_id":"sub-001"}"#, &UnsubscribeParams::new("sub-001"));
}

#[test]
fn the_event_of_the_specification() {
    let data = r#"{"tokens_used":1500,"tokens_remaining":8500,"model":"llama3.1-70b"}"#;
    same(
        &format!(
            r#"{{"subscription_id":"sub-001","channel":"model.token_usage","timestamp":"2026-02-27T12:05:00.000Z","data":{data}}}"#
        ),
        &Event::new("sub-001", "model.token_usage", "2026-02-27T12:05:00.000Z").data(raw(data)),
    );
}

#[test]
fn numbers_of_later_versions() {
    same(
        r#"{"subscription_id":"s","channel":"a.b","timestamp":"t","severity":"error","_mgp.seq":7}"#,
        &Event::new("s", "a.b", "t").severity(Severity::Error).seq(7u64),
    );
    same(r#"{"subscription_id":"s","after_seq":3,"limit":10}"#, &{
        ReplayParams::new("s").after_seq(3u64).limit(10u64)
    });
    same(r#"{"events":[],"has_more":false,"truncated":true}"#, &ReplayResult::new(Vec::new(), false, true));
}

#[test]
fn severities_compare() {
    assert!(Severity::Info < Severity::Warning && Severity::Warning < Severity::Error);
    assert_eq!(Severity::from_word("critical"), Some(Severity::Error));
}
