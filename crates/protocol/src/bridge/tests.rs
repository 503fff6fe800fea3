//! The four pairs of eras, message by message.

use super::*;
use switchboard_wire::Limits;

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned(), &Limits::default()).unwrap()
}

/// The parameters for a client that said something of itself.
fn made(params: Option<&Raw>, level: Option<&str>) -> Raw {
    let info = raw(r#"{"name":"c","version":"1","x":1}"#);
    let capabilities = raw(r#"{"elicitation":{},"tasks":{},"mgp":{"version":"0.3.0"}}"#);
    modern_params(params, Some(&info), &capabilities, level).unwrap()
}

#[test]
fn a_legacy_request_gets_the_metadata_of_a_modern_one_and_keeps_its_own() {
    let params = raw(r#"{"name":"echo","n":1.10,"_meta":{"progressToken":7,"x":{"y":1}}}"#);
    let modern = made(Some(&params), Some("debug"));
    assert_eq!(
        modern.as_str(),
        concat!(
            r#"{"name":"echo","n":1.10,"_meta":{"progressToken":7,"x":{"y":1},"#,
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"mgp":{"version":"0.3.0"}},"#,
            r#""io.modelcontextprotocol/clientInfo":{"name":"c","version":"1","x":1},"#,
            r#""io.modelcontextprotocol/logLevel":"debug"}}"#
        )
    );
    assert!(made(None, None).at(&["_meta", meta::PROTOCOL_VERSION]).is_some());
}

#[test]
fn a_legacy_result_becomes_complete_and_a_modern_one_stays() {
    let legacy = modern_result(raw(r#"{"content":[],"state":1}"#), method::TOOLS_CALL);
    assert_eq!(legacy.as_str(), r#"{"content":[],"state":1,"resultType":"complete"}"#);
    let listed = modern_result(raw(r#"{"tools":[]}"#), method::TOOLS_LIST);
    assert_eq!(listed.as_str(), r#"{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#);
    let question = raw(r#"{"resultType":"x","ttlMs":5,"cacheScope":"public","contents":[]}"#);
    assert_eq!(modern_result(question.clone(), method::RESOURCES_READ), question);
    // What is shown differs by principal: the server's own word on keeping it does not hold for ours.
    let modern = raw(r#"{"resultType":"complete","ttlMs":5,"cacheScope":"public","contents":[]}"#);
    let kept = modern_result(modern, method::RESOURCES_READ);
    assert_eq!(kept.as_str(), r#"{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[]}"#);
}

#[test]
fn input_is_asked_for_and_given_back_byte_for_byte() {
    let asked = raw(
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"s\u0041"}"#,
    );
    let ResultType::InputRequired { requests, state } = result_type(&asked) else { panic!("{asked:?}") };
    assert_eq!(requests, [("a".to_owned(), raw(r#"{"method":"roots/list"}"#))]);
    let retry = with_input(&raw(r#"{"name":"t"}"#), &[("a".to_owned(), raw(r#"{"roots":[]}"#))], state).unwrap();
    assert_eq!(retry.as_str(), r#"{"name":"t","inputResponses":{"a":{"roots":[]}},"requestState":"s\u0041"}"#);
    let again = input_required(&requests, Some("token"));
    assert_eq!(
        again.as_str(),
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"token"}"#
    );
}

#[test]
fn results_are_told_apart() {
    assert_eq!(result_type(&raw(r#"{"content":[]}"#)), ResultType::Complete);
    assert_eq!(result_type(&raw(r#"{"resultType":"task","taskId":"1"}"#)), ResultType::Task);
    assert_eq!(result_type(&raw("[]")), ResultType::Complete);
}

#[test]
fn a_modern_request_loses_what_only_its_era_says() {
    let params = raw(
        r#"{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":1,"io.modelcontextprotocol/clientCapabilities":{},"own":1.10},"requestState":"x"}"#,
    );
    assert_eq!(
        legacy_params(Some(&params)).unwrap().unwrap().as_str(),
        r#"{"name":"t","_meta":{"progressToken":1,"own":1.10}}"#
    );
    let only = raw(r#"{"_meta":{"io.modelcontextprotocol/clientInfo":{}},"uri":"x"}"#);
    assert_eq!(legacy_params(Some(&only)).unwrap().unwrap().as_str(), r#"{"uri":"x"}"#);
    assert_eq!(legacy_params(None).unwrap(), None);
}
