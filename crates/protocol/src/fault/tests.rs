//! One fault seen through every dialect.

use super::*;
use crate::Era;
use switchboard_wire::{Limits, Message, Response};

fn text(fault: &Fault, rendering: &Rendering) -> String {
    let message = Message::from(Response::new(None, Err(fault.render(rendering))));
    let text = message.encode();
    let text = std::str::from_utf8(&text).expect("messages are UTF-8");
    let error = text.strip_prefix(r#"{"jsonrpc":"2.0","id":null,"error":"#).and_then(|rest| rest.strip_suffix('}'));
    error.expect("an error response").to_owned()
}

fn plain(revision: Revision) -> Rendering {
    Rendering::new(revision, "tools/call")
}

fn code(kind: FaultKind, rendering: &Rendering) -> i64 {
    Fault::new(kind, "x").render(rendering).code
}

#[test]
fn one_fault_in_five_dialects() {
    let fault = Fault::new(FaultKind::RateLimited, "10 calls a minute are allowed")
        .retry_after(1_500)
        .suggest("wait, or ask for a larger limit")
        .with_detail("bucket tenant-7 of 10.0.0.3")
        .with_details(Raw::parse(&br#"{"limit":10}"#[..], &Limits::default()).expect("valid"))
        .from_server("files");
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2025_11_25)), @r#"{"code":-32000,"message":"10 calls a minute are allowed","data":{"kind":"rate_limited","origin":{"server_id":"files"},"retryable":true,"retryAfterMs":1500,"suggestion":"wait, or ask for a larger limit","details":{"limit":10}}}"#);
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2026_07_28)), @r#"{"code":3000,"message":"10 calls a minute are allowed","data":{"kind":"rate_limited","origin":{"server_id":"files"},"retryable":true,"retryAfterMs":1500,"suggestion":"wait, or ask for a larger limit","details":{"limit":10}}}"#);
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2025_11_25).with_mgp(true)), @r#"{"code":3000,"message":"10 calls a minute are allowed","data":{"kind":"rate_limited","origin":{"server_id":"files"},"_mgp":{"category":"resource","retryable":true,"retry_after_ms":1500,"retry_strategy":"exponential_backoff","max_retries":3,"suggestion":"wait, or ask for a larger limit","details":{"limit":10}}}}"#);
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2025_11_25).with_structured(true)), @r#"{"code":-32000,"message":"10 calls a minute are allowed","data":{"kind":"rate_limited","origin":{"server_id":"files"},"structured":{"code":"RATE_LIMIT_EXCEEDED","message":"10 calls a minute are allowed","category":"rate_limited","retry_after_seconds":2,"user_actionable":false,"suggestion":"wait, or ask for a larger limit","details":{"limit":10}}}}"#);
    insta::assert_snapshot!(text(&fault, &Rendering::new(Revision::V2025_11_25, "push/event")), @r#"{"code":-32000,"message":"10 calls a minute are allowed","data":{"kind":"rate_limited","origin":{"server_id":"files"},"retryable":true,"retryAfterMs":1500,"suggestion":"wait, or ask for a larger limit","details":{"limit":10}}}"#);
}

#[test]
fn a_refused_call_in_five_dialects() {
    let fault = Fault::new(FaultKind::AccessDenied, "not for this caller").fall_back_to("search");
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2024_11_05)), @r#"{"code":-32005,"message":"not for this caller","data":{"kind":"access_denied"}}"#);
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2026_07_28)), @r#"{"code":1001,"message":"not for this caller","data":{"kind":"access_denied"}}"#);
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2026_07_28).with_mgp(true)), @r#"{"code":1001,"message":"not for this caller","data":{"kind":"access_denied","_mgp":{"category":"security","retryable":false,"fallback_tool":"search"}}}"#);
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2026_07_28).with_mgp(true).with_structured(true)), @r#"{"code":1001,"message":"not for this caller","data":{"kind":"access_denied","_mgp":{"category":"security","retryable":false,"fallback_tool":"search"},"structured":{"code":"ACCESS_DENIED","message":"not for this caller","category":"auth_required","user_actionable":true}}}"#);
    insta::assert_snapshot!(text(&fault, &Rendering::new(Revision::V2025_06_18, "channels/open")), @r#"{"code":-32002,"message":"not for this caller","data":{"kind":"access_denied"}}"#);
}

#[test]
fn refusals_of_the_gate_for_five_kinds_of_client() {
    use FaultKind as K;
    // Kind; legacy, modern, MGP, MCPL method; proposal 11's code and category; whether a person can act.
    let table = [
        (K::ServerNotReady, -32000, 2000, 2000, -32000, "SERVER_NOT_READY", "transient", false),
        (K::ServerDraining, -32000, 2001, 2001, -32000, "SERVER_DRAINING", "transient", false),
        (K::ServerRestarting, -32000, 2002, 2002, -32000, "SERVER_RESTARTING", "transient", false),
        (K::SealInvalid, -32005, 1010, 1010, -32002, "SEAL_INVALID", "permanent", true),
        (K::PermissionDenied, -32005, 1000, 1000, -32002, "SCOPE_INSUFFICIENT", "auth_required", true),
        (K::PermissionPending, -32005, 1000, 1000, -32002, "PERMISSION_PENDING", "auth_required", true),
        (K::AccessDenied, -32005, 1001, 1001, -32002, "ACCESS_DENIED", "auth_required", true),
        (K::DelegationDepth, -32005, 1000, 1000, -32002, "DELEGATION_DEPTH", "permanent", false),
        (K::DelegationCycle, -32005, 1000, 1000, -32002, "DELEGATION_CYCLE", "permanent", false),
        (K::SelfDelegation, -32005, 1000, 1000, -32002, "SELF_DELEGATION", "permanent", false),
        (K::ScopeInsufficient, -32005, 1000, 1000, -32002, "SCOPE_INSUFFICIENT", "auth_required", true),
        (K::AuthRequired, -32005, 1002, 1002, -32002, "AUTH_REQUIRED", "auth_required", true),
        (K::AuthExpired, -32005, 1003, 1003, -32002, "AUTH_EXPIRED", "auth_required", true),
        (K::FeatureSetDisabled, -32001, 6001, 6001, -32001, "FEATURE_SET_DISABLED", "auth_required", false),
        (K::InvalidArguments, -32602, -32602, 4000, -32602, "INVALID_INPUT", "invalid_input", false),
        (K::UnknownTool, -32602, -32602, 4001, -32602, "RESOURCE_NOT_FOUND", "invalid_input", false),
        (K::ToolDisabled, -32602, -32602, 4002, -32602, "TOOL_DISABLED", "permanent", true),
        (K::ValidationBlocked, -32005, 1010, 1010, -32002, "VALIDATION_BLOCKED", "permanent", false),
        (K::CodeSafetyViolation, -32005, 1011, 1011, -32002, "CODE_UNSAFE", "permanent", false),
        (K::DefinitionChanged, -32005, 1010, 1010, -32002, "DEFINITION_CHANGED", "auth_required", true),
        (K::DefinitionHeld, -32005, 1010, 1010, -32002, "DEFINITION_HELD", "auth_required", true),
        (K::ContentHeld, -32005, 1010, 1010, -32002, "CONTENT_HELD", "auth_required", true),
        (K::IsolationViolation, -32005, 1010, 1010, -32002, "ISOLATION_VIOLATION", "permanent", false),
        (K::RateLimited, -32000, 3000, 3000, -32000, "RATE_LIMIT_EXCEEDED", "rate_limited", false),
        (K::ResourceExhausted, -32000, 3001, 3001, -32000, "RESOURCE_EXHAUSTED", "transient", false),
        (K::QuotaExceeded, -32000, 3002, 3002, -32000, "QUOTA_EXCEEDED", "rate_limited", true),
        (K::Timeout, -32000, 3003, 3003, -32000, "TIMEOUT", "transient", false),
        (K::IdempotencyConflict, -32602, -32602, 4000, -32602, "IDEMPOTENCY_CONFLICT", "invalid_input", false),
        (K::ConfirmationRequired, -32005, 1000, 1000, -32002, "CONFIRMATION_REQUIRED", "auth_required", true),
        (K::ConfirmationInvalid, -32005, 1000, 1000, -32002, "CONFIRMATION_INVALID", "auth_required", true),
        (K::ConfirmationDenied, -32005, 1000, 1000, -32002, "CONFIRMATION_DENIED", "permanent", false),
        (K::ConfirmationTimeout, -32000, 3003, 3003, -32000, "CONFIRMATION_TIMEOUT", "transient", true),
    ];
    let legacy = plain(Revision::V2025_11_25);
    for (kind, old, new, mgp, mcpl, word, category, actionable) in table {
        assert_eq!(code(kind, &legacy), old, "{kind}, legacy");
        assert_eq!(code(kind, &plain(Revision::V2026_07_28)), new, "{kind}, modern");
        // MGP has no words for the feature sets of MCPL, so a legacy client of it reads the legacy code.
        let expected = if kind == K::FeatureSetDisabled { old } else { mgp };
        assert_eq!(code(kind, &legacy.with_mgp(true)), expected, "{kind}, MGP");
        assert_eq!(code(kind, &plain(Revision::V2026_07_28).with_mgp(true)), mgp, "{kind}, modern MGP");
        assert_eq!(code(kind, &Rendering::new(Revision::V2025_11_25, "channels/open")), mcpl, "{kind}, MCPL");
        let data = Fault::new(kind, "x").render(&legacy.with_structured(true)).data.expect("data");
        let told = |key| data.at(&["structured", key]).and_then(|value| value.as_text());
        assert_eq!((told("code").as_deref(), told("category").as_deref()), (Some(word), Some(category)), "{kind}");
        assert_eq!(data.at(&["structured", "user_actionable"]), Some(Raw::boolean(actionable)), "{kind}");
        // Proposal 11 wants a time where trying again helps.
        let timed = data.at(&["structured", "retry_after_seconds"]).is_some();
        assert!(timed || !kind.retry().retryable, "{kind} is retryable without a time");
    }
}

#[test]
fn a_held_tool_in_five_dialects() {
    let fault = Fault::new(FaultKind::DefinitionChanged, "`rm` is not the tool that was accepted")
        .suggest("an operator can look at the change");
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2025_06_18)), @r#"{"code":-32005,"message":"`rm` is not the tool that was accepted","data":{"kind":"definition_changed","suggestion":"an operator can look at the change"}}"#);
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2026_07_28)), @r#"{"code":1010,"message":"`rm` is not the tool that was accepted","data":{"kind":"definition_changed","suggestion":"an operator can look at the change"}}"#);
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2025_06_18).with_mgp(true)), @r#"{"code":1010,"message":"`rm` is not the tool that was accepted","data":{"kind":"definition_changed","_mgp":{"category":"security","retryable":false,"suggestion":"an operator can look at the change"}}}"#);
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2025_06_18).with_structured(true)), @r#"{"code":-32005,"message":"`rm` is not the tool that was accepted","data":{"kind":"definition_changed","structured":{"code":"DEFINITION_CHANGED","message":"`rm` is not the tool that was accepted","category":"auth_required","user_actionable":true,"suggestion":"an operator can look at the change"}}}"#);
    insta::assert_snapshot!(text(&fault, &Rendering::new(Revision::V2025_06_18, "channels/open")), @r#"{"code":-32002,"message":"`rm` is not the tool that was accepted","data":{"kind":"definition_changed","suggestion":"an operator can look at the change"}}"#);
}

#[test]
fn the_error_of_the_specification() {
    // MGP 14.4, with our own `kind` beside it.
    let fault = Fault::new(FaultKind::RateLimited, "Rate limited: 10 requests per minute exceeded")
        .retry_after(5_000)
        .with_details(
            Raw::parse(&br#"{"limit":10,"window_secs":60,"current":12}"#[..], &Limits::default()).expect("valid"),
        );
    let written = text(&fault, &plain(Revision::V2024_11_05).with_mgp(true));
    assert_eq!(
        written.replace(r#""kind":"rate_limited","#, ""),
        r#"{"code":3000,"message":"Rate limited: 10 requests per minute exceeded","data":{"_mgp":{"category":"resource","retryable":true,"retry_after_ms":5000,"retry_strategy":"exponential_backoff","max_retries":3,"details":{"limit":10,"window_secs":60,"current":12}}}}"#
    );
}

#[test]
fn members_that_mcp_asks_for() {
    let fault = Fault::unsupported_version("1900-01-01", &Revision::ALL);
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2026_07_28)), @r#"{"code":-32022,"message":"unsupported protocol version: \"1900-01-01\"","data":{"kind":"unsupported_protocol_version","supported":["2024-11-05","2025-03-26","2025-06-18","2025-11-25","2026-07-28"],"requested":"1900-01-01"}}"#);
    let required = Raw::parse(&br#"{"sampling":{}}"#[..], &Limits::default()).expect("valid");
    let fault = Fault::missing_capability("sampling is needed", required);
    insta::assert_snapshot!(text(&fault, &plain(Revision::V2026_07_28)), @r#"{"code":-32021,"message":"sampling is needed","data":{"kind":"missing_client_capability","requiredCapabilities":{"sampling":{}}}}"#);
}

#[test]
fn codes_of_the_revisions() {
    for revision in Revision::ALL {
        let plain = plain(revision);
        let modern = revision.era() == Era::Modern;
        let old = |legacy, modern_code| if modern { modern_code } else { legacy };
        let table = [
            (FaultKind::Parse, -32700),
            (FaultKind::InvalidRequest, -32600),
            (FaultKind::MethodNotFound, -32601),
            (FaultKind::InvalidParams, -32602),
            (FaultKind::InvalidArguments, -32602),
            (FaultKind::Internal, -32603),
            (FaultKind::UnknownTool, -32602),
            (FaultKind::UnknownPrompt, -32602),
            (FaultKind::UnknownResource, old(-32002, -32602)),
            (FaultKind::HeaderMismatch, old(-32600, -32020)),
            (FaultKind::MissingClientCapability, old(-32602, -32021)),
            (FaultKind::UnsupportedProtocolVersion, old(-32602, -32022)),
            (FaultKind::UrlElicitationRequired, if revision == Revision::V2025_11_25 { -32042 } else { -32603 }),
            (FaultKind::PermissionDenied, old(-32005, 1000)),
            (FaultKind::Timeout, old(-32000, 3003)),
        ];
        for (kind, expected) in table {
            assert_eq!(code(kind, &plain), expected, "{kind} in {revision}");
        }
    }
}

#[test]
fn codes_of_mgp() {
    let table = [
        (FaultKind::PermissionDenied, 1000),
        (FaultKind::AccessDenied, 1001),
        (FaultKind::AuthRequired, 1002),
        (FaultKind::AuthExpired, 1003),
        (FaultKind::ValidationBlocked, 1010),
        (FaultKind::CodeSafetyViolation, 1011),
        (FaultKind::ServerNotReady, 2000),
        (FaultKind::ServerDraining, 2001),
        (FaultKind::ServerRestarting, 2002),
        (FaultKind::RateLimited, 3000),
        (FaultKind::ResourceExhausted, 3001),
        (FaultKind::QuotaExceeded, 3002),
        (FaultKind::Timeout, 3003),
        (FaultKind::InvalidArguments, 4000),
        (FaultKind::UnknownTool, 4001),
        (FaultKind::ToolDisabled, 4002),
        (FaultKind::UpstreamError, 5000),
        (FaultKind::UpstreamTimeout, 5001),
        (FaultKind::UpstreamUnavailable, 5002),
        (FaultKind::MethodNotFound, -32601),
        (FaultKind::InvalidParams, -32602),
    ];
    for revision in Revision::ALL {
        for (kind, expected) in table {
            assert_eq!(code(kind, &plain(revision).with_mgp(true)), expected, "{kind} in {revision}");
        }
    }
    assert_eq!(code(FaultKind::UnknownResource, &Rendering::new(Revision::V2025_11_25, "mgp/access/query")), 4004);
}

#[test]
fn codes_of_mcpl() {
    let legacy = Rendering::new(Revision::V2025_11_25, "channels/publish");
    let table = [
        (FaultKind::FeatureSetDisabled, -32001),
        (FaultKind::UnknownFeatureSet, -32003),
        (FaultKind::CheckpointNotFound, -32005),
        (FaultKind::ChannelNotPermitted, -32017),
        (FaultKind::UnknownChannel, -32023),
        (FaultKind::ChannelOpenFailed, -32024),
        (FaultKind::AccessDenied, -32002),
        (FaultKind::InvalidParams, -32602),
    ];
    for (kind, expected) in table {
        assert_eq!(code(kind, &legacy), expected, "{kind}");
    }
}

#[test]
fn a_modern_wire_never_sees_a_code_that_is_closed_to_us() {
    let methods = ["tools/call", "mgp/access/query", "channels/open"];
    for kind in FaultKind::ALL {
        for (method, mgp) in methods.into_iter().zip([true, false, false]).chain([("tools/call", false)]) {
            let code = code(*kind, &Rendering::new(Revision::V2026_07_28, method).with_mgp(mgp));
            let standard = matches!(code, -32700 | -32603..=-32600 | -32022..=-32020);
            assert!(standard || !(-32768..=-32000).contains(&code), "{kind} gives {code} for {method}");
        }
    }
}

#[test]
fn kind_is_always_told_and_detail_never() {
    let mut names = std::collections::HashSet::new();
    for kind in FaultKind::ALL {
        assert!(names.insert(kind.as_str()), "{kind} stands twice");
        let fault = Fault::new(*kind, "public").with_detail("hunter2").with_source("hunter2");
        for revision in Revision::ALL {
            for (mgp, structured) in [(false, false), (true, false), (false, true), (true, true)] {
                let error = fault.render(&plain(revision).with_mgp(mgp).with_structured(structured));
                let data = error.data.expect("data is always there");
                assert_eq!(data.member("kind").and_then(|kind| kind.as_text()).as_deref(), Some(kind.as_str()));
                assert_eq!(data.member("_mgp").is_some(), mgp);
                assert_eq!(data.member("structured").is_some(), structured);
                assert!(!data.as_str().contains("hunter2"));
            }
        }
    }
}

#[test]
fn a_servers_error_passes_unchanged() {
    let text =
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32050,"message":"odd \u00e9","data":{ "a" : 1.10 },"x":[1, 2]}}"#;
    let parse = || match Message::parse(text.as_bytes().to_vec(), &Limits::default()) {
        Ok(Message::Response(Response { outcome: Err(error), .. })) => error,
        other => panic!("not an error response: {other:?}"),
    };
    let fault = Fault::upstream("files", false, parse());
    assert_eq!(fault.origin(), Some("files"));
    assert_eq!(fault.render(&plain(Revision::V2025_11_25)), parse());
    // Who speaks more than MCP finds more, beside what the server said.
    let more = fault.render(&plain(Revision::V2025_11_25).with_mgp(true).with_structured(true));
    assert_eq!((more.code, &more.message, &more.extra), (-32050, &parse().message, &parse().extra));
    let data = more.data.expect("data");
    assert!(data.as_str().starts_with(r#"{ "a" : 1.10"#), "{data:?}");
    assert_eq!(data.at(&["_mgp", "category"]).and_then(|word| word.as_text()).as_deref(), Some("external"));
    assert_eq!(data.at(&["_mgp", "retryable"]).map(|flag| flag.as_str().to_owned()).as_deref(), Some("false"));
    assert_eq!(data.at(&["structured", "code"]).and_then(|word| word.as_text()).as_deref(), Some("UPSTREAM_ERROR"));
    assert_eq!(
        data.at(&["structured", "details", "data", "a"]).map(|a| a.as_str().to_owned()).as_deref(),
        Some("1.10")
    );
    // The one exception: a code that the revision forbids us to send.
    let modern = fault.render(&plain(Revision::V2026_07_28));
    assert_eq!((modern.code, &modern.data, &modern.extra), (-32603, &parse().data, &parse().extra));
    for (from, to) in [(-32002, -32602), (-32042, -32603), (-32021, -32021), (-32000, -32000), (7, 7)] {
        let fault = Fault::upstream("files", false, ErrorObject::new(from, "x"));
        assert_eq!(fault.render(&plain(Revision::V2026_07_28)).code, to);
    }
}

/// MGP's numbers are for who agreed on MGP; the numbers of a server that did not are its own.
#[test]
fn a_number_of_mgp_becomes_the_code_of_the_clients_revision() {
    for (code, in_mgp, plain_legacy) in
        [(3000, true, -32000), (1000, true, -32005), (4001, true, -32602), (3000, false, 3000), (7, true, 7)]
    {
        let fault = Fault::upstream("s", in_mgp, ErrorObject::new(code, "x"));
        assert_eq!(fault.render(&plain(Revision::V2025_11_25)).code, plain_legacy, "{code} {in_mgp}");
        assert_eq!(fault.render(&plain(Revision::V2025_11_25).with_mgp(true)).code, code);
    }
}

#[test]
fn families() {
    for (method, family) in [
        ("tools/call", MethodFamily::Mcp),
        ("notifications/progress", MethodFamily::Mcp),
        ("mgp/stream/cancel", MethodFamily::Mgp),
        ("notifications/mgp.event", MethodFamily::Mgp),
        ("push/event", MethodFamily::Mcpl),
        ("featureSets/update", MethodFamily::Mcpl),
        ("context", MethodFamily::Mcp),
    ] {
        assert_eq!(MethodFamily::of(method), family, "{method}");
    }
}

#[test]
fn the_source_stays_reachable() {
    let fault = Fault::internal(std::io::Error::other("disk"));
    assert_eq!(fault.source().map(ToString::to_string).as_deref(), Some("disk"));
    assert_eq!(fault.to_string(), "internal error");
}

#[test]
fn what_trying_again_does_not_help_is_not_transient() {
    for (advice, category) in [(None, "transient"), (Some(RetryAdvice::NEVER), "permanent")] {
        let fault = Fault::new(FaultKind::ServerDraining, "no new calls");
        let fault = advice.into_iter().fold(fault, Fault::with_retry);
        assert_eq!(fault.structured().member("category").unwrap().as_text().as_deref(), Some(category));
    }
}
