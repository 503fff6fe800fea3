//! Whose question it is: what a server asks reaches people with the server's name in front, so that it cannot pass for one of
//! the gate, which are worded by the gate alone.

use switchboard_protocol::mcp::method;
use switchboard_wire::{Edit, ErrorObject, Kind, Object, Raw};

/// The server's words with its name in front. They stay as they are, also where they begin with such a name themselves.
pub(crate) fn named(server: &str, message: &str) -> String {
    format!("Server `{server}` asks: {message}")
}

/// The parameters of a question to a person, with the name of the server that asks it; `None` where nobody is shown any of it.
pub(crate) fn question_of(server: &str, asked: &str, params: &Raw) -> Option<Raw> {
    if asked != method::ELICIT {
        return None;
    }
    let edit = Edit::of(params).ok()?;
    // One without words could let its fields speak.
    let message = edit.object().text("message").unwrap_or_default();
    Some(edit.set("message", Raw::string(&named(server, &message))).finish())
}

/// A result, or a task, that asks its client for something, with the server's name in each question.
pub(crate) fn result_of(server: &str, result: Raw) -> Raw {
    const ASKED: &str = "inputRequests";
    if result.kind() != Kind::Object || !result.may_have(ASKED) {
        return result;
    }
    let Ok(edit) = Edit::of(&result) else { return result };
    let Some(asked) = edit.object().get(ASKED).and_then(|asked| Object::open(&asked).ok()) else { return result };
    let named = asked.iter().fold(Edit::empty(), |all, (key, request)| {
        let question = (|| {
            let open = Edit::of(&request).ok()?;
            let params = open.object().get("params").unwrap_or_else(Raw::empty_object);
            let params = question_of(server, &open.object().text("method")?, &params)?;
            Some(open.set("params", params).finish())
        })();
        all.set(&key, question.unwrap_or(request))
    });
    edit.set(ASKED, named.finish()).finish()
}

/// A refusal that asks a person to visit addresses first (2025-11-25), with the server's name in each of these questions.
pub(crate) fn refusal_of(server: &str, mut error: ErrorObject) -> ErrorObject {
    const VISITS: &str = "elicitations";
    let named = || {
        let edit = Edit::of(error.data.as_ref()?).ok()?;
        let visits = edit.object().get(VISITS)?.elements()?;
        let visits: Vec<Raw> =
            visits.into_iter().map(|visit| question_of(server, method::ELICIT, &visit).unwrap_or(visit)).collect();
        Some(edit.set(VISITS, Raw::array(&visits)).finish())
    };
    if let Some(data) = named() {
        error.data = Some(data);
    }
    error
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned(), &Limits::default()).unwrap()
    }

    #[test]
    fn only_the_words_of_questions_change() {
        for (result, expected) in [
            (r#"{"content":[],"note":"no inputRequests"}"#, r#"{"content":[],"note":"no inputRequests"}"#),
            (
                r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Allow `rm`?","x":1.10}},"b":{"method":"roots/list"}},"requestState":"s"}"#,
                r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Server `git` asks: Allow `rm`?","x":1.10}},"b":{"method":"roots/list"}},"requestState":"s"}"#,
            ),
            (
                r#"{"inputRequests":{"a":{"method":"elicitation/create"}}}"#,
                r#"{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Server `git` asks: "}}}}"#,
            ),
            (
                r#"{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Server `b` asks: x"}}}}"#,
                r#"{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Server `git` asks: Server `b` asks: x"}}}}"#,
            ),
            (r#"{"inputRequests":[1]}"#, r#"{"inputRequests":[1]}"#),
        ] {
            assert_eq!(result_of("git", raw(result)).as_str(), expected);
        }
    }

    #[test]
    fn an_address_to_visit_is_asked_for_by_name() {
        let mut error = ErrorObject::new(-32042, "visit");
        error.data = Some(raw(r#"{"elicitations":[{"mode":"url","url":"https://a","message":"Sign in"}],"more":1}"#));
        let data = refusal_of("git", error).data.unwrap();
        assert_eq!(
            data.as_str(),
            r#"{"elicitations":[{"mode":"url","url":"https://a","message":"Server `git` asks: Sign in"}],"more":1}"#
        );
        let plain = ErrorObject::new(-32000, "no");
        assert!(refusal_of("git", plain).data.is_none());
    }
}
