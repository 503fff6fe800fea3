//! Asking by MCP's own means: an elicitation in the middle of a legacy call, or required input (modern era).

use std::time::Duration;

use serde_json::json;
use switchboard_peer::{Call, CallError, Context, Reply};
use switchboard_protocol::mcp::method;
use switchboard_store::Reuse;
use switchboard_wire::{Edit, Kind, Raw};

use super::question::Question;
use super::{Answered, AskOutcome, QUESTION, STATE};
use switchboard_protocol::bridge;

/// Tells a client that the kernel asks, not the server.
const ASKED_BY: &str = "dev.switchboard/asked_by";

impl Question<'_> {
    /// The question as required input (modern era).
    pub(super) fn ask_by_input(&self) -> Reply {
        let request = Edit::empty()
            .set("method", Raw::string(method::ELICIT))
            .set("params", elicitation(self.attempt.context, &self.message))
            .finish();
        let state = format!("{STATE}{}", self.token());
        Ok(bridge::input_required(&[(QUESTION.to_owned(), request)], Some(&state))).into()
    }
}

/// Asks a legacy client's user in the middle of the call.
pub(super) async fn ask_by_elicitation(context: &Context, message: &str, wait: Duration) -> AskOutcome {
    let mut call = Call::new(method::ELICIT, Some(elicitation(context, message))).within(wait);
    call.max_timeout = wait;
    call.cancel = context.cancel.clone();
    match context.remote.request(call).await {
        Ok(reply) => reply.outcome.map_or(AskOutcome::Nobody, |result| AskOutcome::Answered(read_elicitation(&result))),
        Err(CallError::Timeout(_)) => AskOutcome::Silent,
        Err(_) => AskOutcome::Nobody,
    }
}

fn elicitation(context: &Context, message: &str) -> Raw {
    // Where each request stands alone, there is no session that a yes could hold for.
    let (words, names) = if context.session.lasting {
        (&["once", "session", "deny"][..], &["Allow once", "Allow these arguments for this session", "Deny"][..])
    } else {
        (&["once", "deny"][..], &["Allow once", "Deny"][..])
    };
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": {"type": "string", "title": "Decision", "enum": words, "enumNames": names},
        },
        "required": ["decision"],
    });
    let schema = Raw::from_value(&schema).unwrap_or_else(|_| Raw::empty_object());
    let from = Edit::empty().set(ASKED_BY, Raw::string("switchboard")).finish();
    Edit::empty().set("message", Raw::string(message)).set("requestedSchema", schema).set("_meta", from).finish()
}

/// What was answered; whatever is no clear yes is a no. A question that was closed without a choice (`cancel`, as MCP has it) is not
/// answered, and neither is a form that was sent without a decision, as a client does whose user pressed a button of its own. A
/// decision in another shape says nothing that could be acted upon.
pub(super) fn read_elicitation(result: &Raw) -> Answered {
    let action = result.member("action").and_then(|action| action.as_text());
    if action.as_deref() == Some("cancel") {
        return Answered::Closed;
    }
    let accepted = action.as_deref() == Some("accept");
    let content = result.member("content").filter(|content| content.kind() != Kind::Null);
    let said = |content: &Raw| content.member("decision").filter(|said| said.kind() != Kind::Null);
    let decision = content.as_ref().and_then(said);
    if accepted && decision.is_none() && content.is_none_or(|content| content.kind() == Kind::Object) {
        return Answered::Closed;
    }
    match (accepted, decision.and_then(|decision| decision.as_text()).as_deref()) {
        (true, Some("once")) => Answered::Yes(Reuse::Once),
        (true, Some("session")) => Answered::Yes(Reuse::Session),
        _ => Answered::No,
    }
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    #[test]
    fn only_what_the_schema_asks_for_is_a_yes() {
        let read = |text: &str| {
            let result = Raw::parse(text.as_bytes().to_vec(), &Limits::default()).unwrap();
            matches!(read_elicitation(&result), Answered::Yes(_))
        };
        for yes in [r#""once""#, r#""session""#] {
            assert!(read(&format!(r#"{{"action":"accept","content":{{"decision":{yes}}}}}"#)), "{yes}");
        }
        let no = [
            r#""deny""#,
            r#""ONCE""#,
            r#""once ""#,
            r#""""#,
            r#"["once"]"#,
            r#"["deny"]"#,
            "true",
            "false",
            "null",
            "0",
            "1",
            r#"{"value":"once"}"#,
            r#"{"value":"deny"}"#,
            "{}",
        ];
        for no in no {
            assert!(!read(&format!(r#"{{"action":"accept","content":{{"decision":{no}}}}}"#)), "{no}");
        }
        for no in [
            r#"{"action":"accept"}"#,
            r#"{"action":"cancel","content":{"decision":"once"}}"#,
            r#"{"action":"accept","content":{}}"#,
            r#"{"action":"accept","content":null}"#,
            r#"{"action":"accept","content":"once"}"#,
            r#"{"action":"accept","content":{"Decision":"once"}}"#,
            r#"{"action":"accept","decision":"once"}"#,
            r#"{"action":["accept"],"content":{"decision":"once"}}"#,
            r#"{"action":"decline","content":{"decision":"once"}}"#,
            r#"{"content":{"decision":"once"}}"#,
        ] {
            assert!(!read(no), "{no}");
        }
    }

    #[test]
    fn only_a_question_that_was_closed_is_not_answered() {
        for (answer, expected) in [
            (r#"{"action":"cancel"}"#, Answered::Closed),
            (r#"{"action":"cancel","content":{"decision":"once"}}"#, Answered::Closed),
            (r#"{"action":"accept"}"#, Answered::Closed),
            (r#"{"action":"accept","content":null}"#, Answered::Closed),
            (r#"{"action":"accept","content":{}}"#, Answered::Closed),
            (r#"{"action":"accept","content":{"decision":null}}"#, Answered::Closed),
            (r#"{"action":"accept","content":{"note":"once"}}"#, Answered::Closed),
            (r#"{"action":"accept","content":{"decision":""}}"#, Answered::No),
            (r#"{"action":"accept","content":{"decision":"deny"}}"#, Answered::No),
            (r#"{"action":"accept","content":"once"}"#, Answered::No),
            (r#"{"action":"decline"}"#, Answered::No),
            (r#"{"action":"decline","content":{}}"#, Answered::No),
            (r#"{"action":"Cancel"}"#, Answered::No),
            (r#"{"action":["cancel"]}"#, Answered::No),
            ("{}", Answered::No),
        ] {
            let result = Raw::parse(answer.as_bytes().to_vec(), &Limits::default()).unwrap();
            assert_eq!(read_elicitation(&result), expected, "{answer}");
        }
    }
}
