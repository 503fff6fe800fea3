//! What peers declare, and the answers of proposals 4, 6 and 11.

use super::*;
use crate::fault::FaultKind;
use switchboard_wire::Limits;

fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).expect("valid JSON")
}

#[test]
fn declarations() {
    use Proposal as P;
    for (capabilities, expected, form) in [
        ("{}", vec![], Form::Object),
        (
            r#"{"extensions":["structured_errors","x","human_in_the_loop",7]}"#,
            vec![P::HumanInTheLoop, P::StructuredErrors],
            Form::Array,
        ),
        (r#"{"extensions":{"dev.cloto/mgp":{},"idempotency":{}}}"#, vec![P::Idempotency], Form::Object),
        (r#"{"extensions":"idempotency"}"#, vec![], Form::Object),
        (r#"{"extensions":{"idempotency":{},"idempotency":{}}}"#, vec![], Form::Object),
        ("[]", vec![], Form::Object),
    ] {
        let read = declared(&raw(capabilities));
        assert_eq!((read.iter().collect::<Vec<_>>(), read.form()), (expected, form), "{capabilities}");
    }
    assert_eq!(Proposal::WORDS.len(), 14);
}

#[test]
fn answers_have_the_form_of_the_question() {
    let ours = [Proposal::StructuredErrors, Proposal::Idempotency];
    for (asked, own, answer) in [
        (r#"{"extensions":["structured_errors","provenance"]}"#, "{}", r#"{"extensions":["structured_errors"]}"#),
        (r#"{"extensions":{"structured_errors":{}}}"#, "{}", r#"{"extensions":{"structured_errors":{}}}"#),
        (
            r#"{"extensions":["idempotency"]}"#,
            r#"{"extensions":{"dev.cloto/mgp":{"version":"0.3.0"}}}"#,
            r#"{"extensions":{"dev.cloto/mgp":{"version":"0.3.0"},"idempotency":{}}}"#,
        ),
        (r#"{"extensions":["provenance"]}"#, r#"{"tools":{}}"#, r#"{"tools":{}}"#),
        ("{}", "{}", "{}"),
    ] {
        let shared = declared(&raw(asked)).shared_with(&ours);
        assert_eq!(shared.declare_in(&raw(own)).expect("capabilities").as_str(), answer, "{asked}");
    }
}

#[test]
fn risks_in_both_vocabularies() {
    for (risk, reversible, expected) in [
        (Risk::Safe, Some(false), Consequence::Safe),
        (Risk::Moderate, None, Consequence::Reversible),
        (Risk::Moderate, Some(true), Consequence::Reversible),
        (Risk::Moderate, Some(false), Consequence::Destructive),
        (Risk::Dangerous, Some(true), Consequence::Reversible),
        (Risk::Dangerous, None, Consequence::Destructive),
        (Risk::Dangerous, Some(false), Consequence::Destructive),
    ] {
        assert_eq!(Consequence::of_risk(risk, reversible), expected, "{risk} {reversible:?}");
    }
    for word in Consequence::WORDS {
        let consequence = Consequence::from_word(word).expect("a word");
        let (risk, reversible) = consequence.to_risk();
        assert_eq!(Consequence::of_risk(risk, reversible), consequence, "there and back");
    }
}

#[test]
fn failures_that_are_results() {
    let fault = Fault::new(FaultKind::ScopeInsufficient, "a scope is missing")
        .suggest("ask for it")
        .with_details(raw(r#"{"missing_scopes":["delete:tickets"]}"#));
    let result = failure_result(&fault).expect("a result");
    insta::assert_snapshot!(result.as_str(), @r#"{"content":[{"type":"text","text":"a scope is missing"}],"isError":true,"error":{"code":"SCOPE_INSUFFICIENT","message":"a scope is missing","category":"auth_required","user_actionable":true,"suggestion":"ask for it","details":{"missing_scopes":["delete:tickets"]}}}"#);
    for (kind, result) in [
        (FaultKind::UnknownTool, true),
        (FaultKind::InvalidArguments, true),
        (FaultKind::RateLimited, true),
        (FaultKind::Timeout, true),
        (FaultKind::AccessDenied, true),
        (FaultKind::Parse, false),
        (FaultKind::MethodNotFound, false),
        (FaultKind::InvalidParams, false),
        (FaultKind::Internal, false),
        (FaultKind::HeaderMismatch, false),
        (FaultKind::UrlElicitationRequired, false),
        (FaultKind::Cancelled, false),
        (FaultKind::SessionNotFound, false),
    ] {
        assert_eq!(failure_result(&Fault::new(kind, "x")).is_some(), result, "{kind}");
    }
}

#[test]
fn scopes() {
    for text in [
        r#"{"tool":"delete_ticket","scopes_held":["read:tickets"],"parameters":{"id":1.10}}"#,
        r#"{"tool":"t","scopes_held":[],"x":1}"#,
    ] {
        let read: PermissionCheckParams = raw(text).view().expect("params");
        assert_eq!(Raw::from_value(&read).expect("JSON").as_str(), text);
    }
    let answer = PermissionCheckResult::new(false)
        .missing_scopes(vec!["delete:tickets".to_owned()])
        .reason("the scope was not given");
    assert_eq!(
        Raw::from_value(&answer).expect("JSON").as_str(),
        r#"{"allowed":false,"missing_scopes":["delete:tickets"],"reason":"the scope was not given"}"#
    );
    let asked: ScopeNegotiationParams =
        raw(r#"{"requested_scopes":["a","b"],"justification":"j","ttl_seconds":60}"#).view().expect("params");
    assert_eq!((asked.requested_scopes.len(), asked.ttl_seconds), (2, Some(60)));
    let session =
        SessionToken::new("tok-1", vec!["a".to_owned()], "2026-03-01T00:00:00Z").inactivity_timeout_seconds(900_u64);
    let answer = ScopeNegotiationResult::new(vec!["a".to_owned()], session)
        .denied_scopes(vec![DeniedScope::new("b").reason("not for you")]);
    assert!(!format!("{answer:?}").contains("tok-1"), "a token is not for logs");
    assert_eq!(
        Raw::from_value(&answer).expect("JSON").as_str(),
        r#"{"granted_scopes":["a"],"session":{"token":"tok-1","scopes":["a"],"expires_at":"2026-03-01T00:00:00Z","inactivity_timeout_seconds":900},"denied_scopes":[{"scope":"b","reason":"not for you"}]}"#
    );
}
