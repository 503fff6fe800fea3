//! The examples of MGP 13.4.

use switchboard_wire::Limits;

use super::*;

fn raw(text: &str) -> Raw {
    Raw::parse(text.as_bytes().to_vec(), &Limits::default()).expect("valid JSON")
}

#[test]
fn the_question_of_the_specification() {
    let text = r#"{"callback_id":"cb-001","request_id":20,"type":"confirmation","message":"This operation will delete 15 files. Continue?","options":["confirm","cancel"],"timeout_ms":60000}"#;
    let read: CallbackRequest = raw(text).view().expect("the view");
    let expected = CallbackRequest::new("cb-001", CallbackType::Confirmation)
        .request_id(raw("20"))
        .message("This operation will delete 15 files. Continue?")
        .options(vec!["confirm".to_owned(), "cancel".to_owned()])
        .timeout_ms(60_000u64);
    assert_eq!(read, expected);
    let again: CallbackRequest = Raw::from_value(&read).expect("JSON").view().expect("the view");
    assert_eq!(again, expected);
}

#[test]
fn the_answer_of_the_specification() {
    let text = r#"{"callback_id":"cb-001","response":"confirm"}"#;
    let read: CallbackResponse = raw(text).view().expect("the view");
    assert_eq!(read, CallbackResponse::new("cb-001", Raw::string("confirm")));
    assert_eq!(Raw::from_value(&read).expect("JSON").as_str(), text);
}

#[test]
fn the_types_of_the_specification_and_the_later_one() {
    for word in ["confirmation", "input", "selection", "notification", "llm_completion"] {
        let text = format!(r#"{{"callback_id":"c","type":"{word}"}}"#);
        assert_eq!(raw(&text).view::<CallbackRequest>().expect("the view").kind.as_str(), word);
    }
    assert!(raw(r#"{"callback_id":"c","type":"order"}"#).view::<CallbackRequest>().is_err());
}

#[test]
fn a_completion_is_asked_for_and_given() {
    let asked = r#"{"callback_id":"c","type":"llm_completion","messages":[{"role":"user","content":"hi"}],"model_hints":{"speed_priority":0.9},"tools":[],"_mgp":{"attempt":2}}"#;
    let read: CallbackRequest = raw(asked).view().expect("the view");
    assert_eq!(read.mgp.and_then(|mgp| mgp.attempt), Some(2));
    assert!(read.messages.is_some() && read.model_hints.is_some() && read.tools.is_some());
    let given = r#"{"content":"hello","model":"m","usage":{"prompt_tokens":1,"completion_tokens":2},"tool_calls":[]}"#;
    let read: Completion = raw(given).view().expect("the view");
    assert_eq!(Raw::from_value(&read).expect("JSON").as_str(), given);
}

#[test]
fn only_a_yes_is_a_yes() {
    for (answer, yes) in
        [("confirm", true), ("yes", true), ("cancel", false), ("", false), ("Confirm everything", false)]
    {
        assert_eq!(means_yes(answer), yes, "{answer}");
    }
}
