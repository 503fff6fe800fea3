//! What a refused model reads.

use super::*;
use crate::Revision;
use crate::fault::Rendering;

fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).expect("valid JSON")
}

/// The example of MGP 7.4.
const SEED: &str = r#"{"status":"rejected","reason":"Code validation failed",
    "violations":["Blocked import: 'subprocess'","Blocked pattern: 'eval('"],
    "hints":{"blocked_imports":["subprocess","shutil"],"allowed_imports":["asyncio","json","httpx"],
    "max_code_size_bytes":10000}}"#;

#[test]
fn the_example_of_the_specification() {
    let read = Rejection::of(&raw(SEED)).expect("a rejection");
    assert_eq!((read.status, read.code, read.retryable), (RejectionStatus::Rejected, RejectionCode::Unknown, true));
    assert_eq!(read.violations, ["Blocked import: 'subprocess'", "Blocked pattern: 'eval('"]);

    let example: serde_json::Map<String, serde_json::Value> = raw(SEED).view().expect("an object");
    let details = format!(r#"{{"violations":{},"hints":{}}}"#, example["violations"], example["hints"]);
    let fault = Fault::new(FaultKind::CodeSafetyViolation, "Code validation failed").with_details(raw(&details));
    let written = Rejection::of_fault(&fault).expect("a rejection").to_raw();
    for (key, value) in example {
        let member = written.member(&key).unwrap_or_else(|| panic!("{key} is missing"));
        assert_eq!(member.view::<serde_json::Value>().expect("a value"), value, "{key}");
    }
    assert_eq!(written.member("code"), Some(raw(r#""CODE_UNSAFE""#)));
    assert_eq!(written.at(&["details", "violations"]), written.member("violations"), "where later versions look");
}

#[test]
fn the_whole_result() {
    let fault = Fault::new(FaultKind::AccessDenied, "`bot` may not call `rm`").suggest("ask the operator for a grant");
    let result = Rejection::of_fault(&fault).expect("a rejection").to_result();
    insta::assert_snapshot!(result.as_str(), @r#"{"content":[{"type":"text","text":"denied: `bot` may not call `rm`\nwhat to do: ask the operator for a grant"}],"isError":true,"_meta":{"dev.cloto/mgp":{"status":"denied","reason":"`bot` may not call `rm`","retryable":true,"remediation_hint":"ask the operator for a grant","code":"ACCESS_DENIED","details":{"kind":"access_denied"}}}}"#);
    let view: crate::mcp::CallToolResult = result.view().expect("a result of tools/call");
    assert_eq!((view.is_error, view.structured_content), (Some(true), None));
}

#[test]
fn who_agreed_on_mgp_has_the_envelope_as_text_and_others_a_sentence() {
    let fault = Fault::new(FaultKind::CodeSafetyViolation, "Code validation failed")
        .with_details(raw(r#"{"violations":["line 1: `eval`","Code validation failed"]}"#));
    let mut rejection = Rejection::of_fault(&fault).expect("a rejection");
    let text = |rejection: &Rejection| {
        let content = rejection.to_result().member("content").expect("content");
        content.elements().expect("blocks")[0].member("text").and_then(|text| text.as_text()).expect("text")
    };
    assert_eq!(text(&rejection), "rejected: Code validation failed\n- line 1: `eval`", "nothing is said twice");
    rejection.retryable = false;
    assert!(text(&rejection).ends_with("what to do: do not make this call again"));
    rejection.recovery = Some(fault.recovery());
    assert_eq!(text(&rejection), rejection.to_raw().as_str());
    assert_eq!(Rejection::of_result(&rejection.to_result()), Some(rejection));
}

#[test]
fn kinds_and_codes() {
    use RejectionCode as Code;
    use RejectionStatus::{Denied, Rejected};
    for (kind, code, status, retryable) in [
        (FaultKind::AccessDenied, Code::AccessDenied, Denied, true),
        (FaultKind::PermissionDenied, Code::AccessDenied, Denied, true),
        (FaultKind::PermissionPending, Code::AccessDenied, Denied, true),
        (FaultKind::ScopeInsufficient, Code::AccessDenied, Denied, true),
        (FaultKind::AuthExpired, Code::AccessDenied, Denied, true),
        (FaultKind::ConfirmationRequired, Code::RiskUnapproved, Rejected, true),
        (FaultKind::ConfirmationInvalid, Code::RiskUnapproved, Rejected, true),
        (FaultKind::ConfirmationDenied, Code::RiskUnapproved, Denied, false),
        (FaultKind::CodeSafetyViolation, Code::CodeUnsafe, Rejected, true),
        (FaultKind::ValidationBlocked, Code::ValidationBlocked, Rejected, true),
        (FaultKind::IsolationViolation, Code::ValidationBlocked, Rejected, true),
        (FaultKind::DefinitionChanged, Code::RiskUnapproved, Rejected, true),
        (FaultKind::DefinitionHeld, Code::RiskUnapproved, Rejected, true),
        (FaultKind::ContentHeld, Code::RiskUnapproved, Rejected, true),
        (FaultKind::SealInvalid, Code::SealUnsigned, Rejected, true),
        (FaultKind::DelegationDepth, Code::DelegationDepth, Denied, false),
        (FaultKind::DelegationCycle, Code::DelegationCycle, Denied, false),
        (FaultKind::SelfDelegation, Code::SelfDelegation, Denied, false),
    ] {
        let rejection = Rejection::of_fault(&Fault::new(kind, "no")).expect("a rejection");
        assert_eq!((rejection.code, rejection.status, rejection.retryable), (code, status, retryable), "{kind}");
        let details = rejection.details.as_ref().and_then(|details| details.member("kind"));
        assert_eq!(details, Some(Raw::string(kind.as_str())));
    }
    // No refusal is left without a reason of its own.
    for kind in FaultKind::ALL {
        let rejection = Rejection::of_fault(&Fault::new(*kind, "no"));
        assert!(rejection.is_none_or(|rejection| rejection.code != Code::Unknown), "{kind:?}");
    }
    for kind in [
        FaultKind::Timeout,
        FaultKind::ConfirmationTimeout,
        FaultKind::RateLimited,
        FaultKind::UnknownTool,
        FaultKind::ServerDraining,
    ] {
        assert_eq!(Rejection::of_fault(&Fault::new(kind, "no")), None, "{kind} is a failure");
    }
}

#[test]
fn what_is_written_is_read_again() {
    for kind in FaultKind::ALL {
        let fault = Fault::new(*kind, "né \"x\"\n").with_details(raw(r#"{"violations":["a"],"n":1.10}"#)).suggest("s");
        let Some(rejection) = Rejection::of_fault(&fault) else { continue };
        assert_eq!(Rejection::of_result(&rejection.to_result()), Some(rejection), "{kind}");
    }
}

#[test]
fn what_is_no_rejection() {
    for result in [
        r#"{"content":[{"type":"text","text":"{\"status\":\"rejected\"}"}]}"#,
        r#"{"content":[{"type":"text","text":"{\"status\":\"Rejected\"}"}],"isError":true}"#,
        r#"{"content":[{"type":"text","text":"rejected"}],"isError":true}"#,
        r#"{"content":[],"isError":true}"#,
        "7",
    ] {
        assert_eq!(Rejection::of_result(&raw(result)), None, "{result}");
    }
}

#[test]
fn the_private_detail_stays_private() {
    let fault = Fault::new(FaultKind::AccessDenied, "no").with_detail("hunter2").with_source("hunter2");
    assert!(!Rejection::of_fault(&fault).expect("a rejection").to_result().as_str().contains("hunter2"));
}

#[test]
fn a_call_that_waits_for_a_person() {
    let request = ConfirmationRequest::new("Delete all?", Consequence::Destructive, "tok-1", "2026-03-01T00:05:00Z");
    let result = request.to_result();
    insta::assert_snapshot!(result.as_str(), @r#"{"status":"confirmation_required","confirmation_message":"Delete all?","risk_level":"destructive","confirmation_token":"tok-1","expires_at":"2026-03-01T00:05:00Z","content":[{"type":"text","text":"{\"status\":\"confirmation_required\",\"confirmation_message\":\"Delete all?\",\"risk_level\":\"destructive\",\"confirmation_token\":\"tok-1\",\"expires_at\":\"2026-03-01T00:05:00Z\"}"}],"isError":true}"#);
    assert_eq!(ConfirmationRequest::of_result(&result), Some(request.clone()));
    assert!(!format!("{request:?}").contains("tok-1"));
    let view: crate::mcp::CallToolResult = result.view().expect("a result of tools/call");
    assert_eq!(view.structured_content, None);
}

#[test]
fn questions_of_servers() {
    for (result, message, risk, token) in [
        (
            r#"{"requires_confirmation":true,"confirmation_message":"?","risk_level":"reversible","tool":"t"}"#,
            "?",
            Consequence::Reversible,
            None,
        ),
        (
            r#"{"content":[],"structuredContent":{"status":"confirmation_required","confirmation_token":"t"}}"#,
            "",
            Consequence::Destructive,
            Some("t"),
        ),
        (
            r#"{"content":[{"type":"text","text":"{\"status\":\"confirmation_required\",\"risk_level\":\"safe\"}"}]}"#,
            "",
            Consequence::Safe,
            None,
        ),
    ] {
        let read = ConfirmationRequest::of_result(&raw(result)).expect("a question");
        assert_eq!((read.message.as_str(), read.risk, read.token.as_deref()), (message, risk, token), "{result}");
    }
    for result in [r#"{"content":[]}"#, r#"{"requires_confirmation":false}"#, r#"{"status":"ok"}"#] {
        assert_eq!(ConfirmationRequest::of_result(&raw(result)), None, "{result}");
    }
}

#[test]
fn a_protocol_error_and_an_envelope_say_the_same() {
    let fault = Fault::new(FaultKind::CodeSafetyViolation, "unsafe").with_details(raw(r#"{"violations":["a"]}"#));
    let error = fault.render(&Rendering::new(Revision::V2025_11_25, "tools/call").with_mgp(true));
    let rejection = Rejection::of_fault(&fault).expect("a rejection");
    assert_eq!((error.code, error.message.as_str()), (1011, rejection.reason.as_str()));
    let told = error.data.and_then(|data| data.at(&["_mgp", "details", "violations"]));
    assert_eq!(told, rejection.to_raw().member("violations"));
}
