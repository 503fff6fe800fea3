//! The examples of proposals 8, 11 and 15.

use switchboard_wire::{ErrorObject, Limits, Raw};

use super::errors::{ErrorCategory, Recovery, StructuredError};
use super::push::{PushEvent, PushSubscribe, PushSubscribed, terminated, unwrapped};
use super::streaming::{OperationChunk, OperationProgress, Resume};
use crate::Fault;

fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).expect("valid JSON")
}

fn same<T: serde::Serialize + for<'de> serde::Deserialize<'de> + PartialEq + std::fmt::Debug>(text: &str, value: &T) {
    assert_eq!(raw(text).view::<T>().expect("the view"), *value);
    assert_eq!(Raw::from_value(value).expect("JSON").as_str(), text);
}

#[test]
fn the_progress_of_proposal_8() {
    let read: OperationProgress = raw(r#"{"type":"progress","operation_id":"op-42","progress":0.6,
        "message":"Processing row 6,000 of 10,000","estimated_remaining_seconds":12}"#)
    .view()
    .expect("the view");
    let expected = OperationProgress::new("progress", "op-42")
        .progress(0.6)
        .message("Processing row 6,000 of 10,000")
        .estimated_remaining_seconds(12.0);
    assert_eq!(read, expected);
}

#[test]
fn pieces_and_resumption_of_proposal_8() {
    same(
        r#"{"type":"stream_chunk","operation_id":"op-42","sequence":0,"data":{"rows":[1]},"is_final":false,"checkpoint_token":"t"}"#,
        &OperationChunk::new("stream_chunk", "op-42", 0u64)
            .data(raw(r#"{"rows":[1]}"#))
            .is_final(false)
            .checkpoint_token("t"),
    );
    same(r#"{"operation_id":"op-42","checkpoint_token":"t"}"#, &Resume::new("op-42", "t"));
}

#[test]
fn the_error_of_proposal_11() {
    same(
        r#"{"code":"RATE_LIMIT_EXCEEDED","message":"API rate limit reached. Retry available in 42 seconds.","category":"transient","retry_after_seconds":42,"user_actionable":true,"suggestion":"You could narrow the date range to reduce the query cost."}"#,
        &StructuredError::new(
            "RATE_LIMIT_EXCEEDED",
            "API rate limit reached. Retry available in 42 seconds.",
            ErrorCategory::Transient,
        )
        .retry_after_seconds(42u64)
        .user_actionable(true)
        .suggestion("You could narrow the date range to reduce the query cost."),
    );
}

/// The error of MGP 14.4.
fn rate_limited() -> ErrorObject {
    ErrorObject::new(3000, "Rate limited: 10 requests per minute exceeded").with_data(raw(
        r#"{"_mgp":{"category":"resource","retryable":true,"retry_after_ms":5000,"retry_strategy":"exponential_backoff","max_retries":3,"details":{"limit":10,"window_secs":60,"current":12}}}"#,
    ))
}

#[test]
fn the_error_of_mgp_in_the_words_of_proposal_11() {
    let recovery = Recovery::of(&rate_limited()).expect("recovery fields");
    assert_eq!(
        recovery,
        Recovery::new()
            .category("resource")
            .retryable(true)
            .retry_after_ms(5_000u64)
            .retry_strategy("exponential_backoff")
            .max_retries(3u32)
            .details(raw(r#"{"limit":10,"window_secs":60,"current":12}"#)),
    );
    let written = Fault::upstream("s", true, rate_limited()).structured();
    let read: StructuredError = written.view().expect("the view");
    assert_eq!((read.code.as_str(), read.category), ("RATE_LIMIT_EXCEEDED", ErrorCategory::RateLimited));
    assert_eq!(read.retry_after_seconds, Some(5));
}

/// The category says what the server says of trying again, and the code is one of ours: none is made up.
#[test]
fn categories_by_code_and_words() {
    use ErrorCategory::{AuthRequired, InvalidInput, Permanent, RateLimited, Transient};
    for (code, mgp, said, expected) in [
        (1001, true, Some(("security", false)), ("ACCESS_DENIED", AuthRequired)),
        (1010, true, Some(("security", false)), ("VALIDATION_BLOCKED", Permanent)),
        (2001, true, Some(("lifecycle", true)), ("SERVER_DRAINING", Transient)),
        (2001, true, Some(("lifecycle", false)), ("SERVER_DRAINING", Permanent)),
        (3002, true, Some(("resource", true)), ("QUOTA_EXCEEDED", RateLimited)),
        (3003, true, Some(("resource", true)), ("TIMEOUT", Transient)),
        (4000, true, Some(("validation", false)), ("INVALID_INPUT", InvalidInput)),
        (5000, true, Some(("external", false)), ("UPSTREAM_ERROR", Permanent)),
        (5002, true, Some(("upstream", true)), ("UPSTREAM_UNAVAILABLE", Transient)),
        (5002, true, None, ("UPSTREAM_UNAVAILABLE", Permanent)),
        // Of a server that did not agree on MGP its numbers are its own.
        (3000, false, Some(("resource", true)), ("UPSTREAM_ERROR", Transient)),
        (-32000, false, None, ("UPSTREAM_ERROR", Permanent)),
        (-32000, false, Some(("resource", false)), ("UPSTREAM_ERROR", Permanent)),
        (-32000, false, Some(("validation", false)), ("UPSTREAM_ERROR", InvalidInput)),
        (-32602, false, None, ("INVALID_INPUT", InvalidInput)),
    ] {
        let mut error = ErrorObject::new(code, "x");
        if let Some((category, retryable)) = said {
            error = error.with_data(raw(&format!(r#"{{"_mgp":{{"category":"{category}","retryable":{retryable}}}}}"#)));
        }
        let written = Fault::upstream("s", mgp, error).structured();
        let read: StructuredError = written.view().expect("the view");
        assert_eq!((read.code.as_str(), read.category), expected, "{code} {said:?}");
    }
}

#[test]
fn the_subscription_of_proposal_15() {
    let wrapped = raw(
        r#"{"subscribe":{"server":"git-server","events":["commit_to_main","pr_review_requested"],"filter":{"repository":"frontend-app"}}}"#,
    );
    let read: PushSubscribe = unwrapped(&wrapped).view().expect("the view");
    let expected = PushSubscribe::new(vec!["commit_to_main".to_owned(), "pr_review_requested".to_owned()])
        .server("git-server")
        .filter(raw(r#"{"repository":"frontend-app"}"#));
    assert_eq!(read, expected);
    same(
        r#"{"subscription_id":"s-1","status":"active","supported":false,"poll_interval_seconds":10}"#,
        &PushSubscribed::new("s-1", "active").supported(false).poll_interval_seconds(10u64),
    );
}

#[test]
fn events_of_proposal_15_in_both_spellings() {
    for key in ["event", "event_type"] {
        let text = format!(
            r#"{{"type":"event","subscription_id":"s-1","{key}":"commit_to_main","timestamp":"t","payload":{{"n":1}}}}"#
        );
        let read: PushEvent = raw(&text).view().expect("the view");
        assert_eq!(read, PushEvent::new("event", "s-1", "commit_to_main", "t").payload(raw(r#"{"n":1}"#)));
    }
    let end = terminated("s-1", "expired", "t");
    assert_eq!(
        end.as_str(),
        r#"{"type":"subscription_terminated","subscription_id":"s-1","reason":"expired","timestamp":"t"}"#
    );
}
