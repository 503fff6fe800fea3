//! Whose question it is: what a server asks reaches people with the server's name in front, so that it cannot pass for one of
//! the gate, which are worded by the gate alone.

use switchboard_protocol::mcp::method;
use switchboard_upstream::Server;
use switchboard_wire::{Edit, ErrorObject, Kind, Limits, Raw};

/// A server as clients know it: by its alias, which their names of tools begin with, where it has one.
pub(crate) fn known_as(server: &Server) -> String {
    match server.policy_now().alias.as_deref() {
        Some(alias) if alias != &**server.id() => format!("{alias} ({})", server.id()),
        _ => server.id().to_string(),
    }
}

/// The server's words with its name in front. They stay as they are, also where they begin with such a name themselves.
pub(crate) fn named(server: &str, message: &str) -> String {
    format!("Server `{server}` asks: {message}")
}

/// The parameters of a question to a person, with the name of the server that asks it; `None` where nobody is shown any of it.
pub(crate) fn question_of(server: &str, asked: &str, params: &Raw) -> Option<Raw> {
    if asked != method::ELICIT {
        return None;
    }
    let edit = edit_of(params);
    // One without words could let its fields speak.
    let message = edit.object().text("message").unwrap_or_default();
    let edit = entitled(server, edit.set("message", Raw::string(&named(server, &message))));
    let Some(schema) = edit.object().get(SCHEMA).filter(|schema| schema.kind() == Kind::Object) else {
        return Some(edit.finish());
    };
    if !schema.may_have(TITLE) {
        return Some(edit.finish());
    }
    let schema = entitled(server, edit_of(&schema)).finish();
    Some(edit.set(SCHEMA, schema).finish())
}

const SCHEMA: &str = "requestedSchema";
const TITLE: &str = "title";

/// The same for a heading, which a client may show above the words, or in their place. One in no words is taken away.
fn entitled(server: &str, edit: Edit) -> Edit {
    match (edit.object().has(TITLE), edit.object().text(TITLE)) {
        (false, _) => edit,
        (true, Some(title)) => edit.set(TITLE, Raw::string(&named(server, &title))),
        (true, None) => edit.remove(TITLE),
    }
}

const ASKED: &str = "inputRequests";

/// A result, or a task, that asks its client for something, with the server's name in each question.
pub(crate) fn answer_of(server: &Server, result: Raw) -> Raw {
    // Nearly all ask for nothing.
    if result.kind() != Kind::Object || !result.may_have(ASKED) {
        return result;
    }
    result_of(&known_as(server), result)
}

fn result_of(server: &str, result: Raw) -> Raw {
    let edit = edit_of(&result);
    let Some(asked) = edit.object().get(ASKED).filter(|asked| asked.kind() == Kind::Object) else { return result };
    let named = edit_of(&asked).object().iter().fold(Edit::empty(), |all, (key, request)| {
        let question = (|| {
            let open = edit_of(&request);
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
        let edit = edit_of(error.data.as_ref()?);
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

/// An object to change. Of a member that stands twice, readers take different ones: only its last one is left, so that no
/// words reach anybody beside those that carry the name. What is no object is an empty one.
fn edit_of(raw: &Raw) -> Edit {
    let once = || {
        let value: serde_json::Value = serde_json::from_str(raw.as_str()).ok()?;
        Edit::of(&Raw::parse(value.to_string(), &Limits::default()).ok()?).ok()
    };
    Edit::of(raw).ok().or_else(once).unwrap_or_else(Edit::empty)
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
            (
                r#"{"inputRequests":{"a":{"method":"roots/list","method":"elicitation/create","params":{"message":"x","message":"Switchboard: allow?"}}}}"#,
                r#"{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Server `git` asks: Switchboard: allow?"}}}}"#,
            ),
            (
                r#"{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"x"}},"a":{"method":"elicitation/create","params":{"message":"y"}}}}"#,
                r#"{"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"Server `git` asks: y"}}}}"#,
            ),
        ] {
            assert_eq!(result_of("git", raw(result)).as_str(), expected);
        }
    }

    #[test]
    fn a_heading_carries_the_name_as_well() {
        for (params, expected) in [
            (r#"{}"#, r#"{"message":"Server `git` asks: "}"#),
            (
                r#"{"title":"Switchboard","message":"x"}"#,
                r#"{"title":"Server `git` asks: Switchboard","message":"Server `git` asks: x"}"#,
            ),
            (r#"{"message":"x","title":["Switchboard"]}"#, r#"{"message":"Server `git` asks: x"}"#),
            (
                r#"{"message":"x","requestedSchema":{"type":"object","title":"Allow?","properties":{"a":{"type":"string","title":"Name"}}}}"#,
                r#"{"message":"Server `git` asks: x","requestedSchema":{"type":"object","title":"Server `git` asks: Allow?","properties":{"a":{"type":"string","title":"Name"}}}}"#,
            ),
            (r#"["title"]"#, r#"{"message":"Server `git` asks: "}"#),
        ] {
            assert_eq!(question_of("git", method::ELICIT, &raw(params)).unwrap().as_str(), expected);
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
        let mut twice = ErrorObject::new(-32042, "visit");
        twice.data = Some(raw(r#"{"elicitations":[{"message":"a","message":"b"}]}"#));
        let data = refusal_of("git", twice).data.unwrap();
        assert_eq!(data.as_str(), r#"{"elicitations":[{"message":"Server `git` asks: b"}]}"#);
        let plain = ErrorObject::new(-32000, "no");
        assert!(refusal_of("git", plain).data.is_none());
    }
}
