//! A question in the forms that clients understand, and their answers back.

use serde_json::{Value, json};
use switchboard_peer::Context;
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp::callback::{CallbackRequest, CallbackType};
use switchboard_wire::{Edit, Id, Notification, Raw};
use tokio_util::sync::CancellationToken;

use super::{About, own_request};
use crate::asker;

/// Tokens that a model may use for an answer, where the server does not say.
const TOKENS: u64 = 1_024;

/// The question as an MGP callback. Everything that the server said stays, under our id and the client's own, and with the
/// server's name in front of its words.
pub(super) fn callback(
    id: &str,
    (server, known_as): (&str, &str),
    about: Option<&Id>,
    request: &CallbackRequest,
    attempt: u32,
) -> Raw {
    let said = Raw::from_value(request).unwrap_or_else(|_| Raw::empty_object());
    let Ok(edit) = Edit::of(&said) else { return said };
    let edit = edit.set("callback_id", Raw::string(id)).set("server_id", Raw::string(server));
    let edit = match &request.message {
        // Information is no question.
        Some(message) if request.kind != CallbackType::Notification => {
            edit.set("message", Raw::string(&asker::named(known_as, message)))
        }
        _ => edit,
    };
    let edit = match about {
        Some(about) => edit.set("request_id", about.to_raw()),
        None => edit.remove("request_id"),
    };
    let edit = if attempt > 1 {
        edit.set("_mgp", Edit::empty().set("attempt", Raw::number(attempt.into())).finish())
    } else {
        edit.remove("_mgp")
    };
    edit.finish()
}

/// Information as a log message.
pub(super) fn log_message(server: &str, request: &CallbackRequest) -> Notification {
    let params = json!({"level": "info", "logger": server, "data": request.message});
    Notification::new(method::LOG_MESSAGE, Raw::from_value(&params).ok())
}

/// Puts the question to a client in the words of the base protocol; `None` where it cannot be asked, or gives none.
pub(super) async fn ask(about: &About, request: &CallbackRequest) -> Option<Raw> {
    let (asked, needs) = match request.kind {
        CallbackType::LlmCompletion => (own_request(method::CREATE_MESSAGE, sampling(request)), "sampling"),
        _ => (own_request(method::ELICIT, elicitation(request)), "elicitation"),
    };
    if !about.client.caller.can(&[needs]) {
        return None;
    }
    let context = Context { cancel: CancellationToken::new(), ..about.client.clone() };
    let reply = about.asker.request(context, asked).await;
    let result = reply.outcome.ok()?;
    match request.kind {
        CallbackType::LlmCompletion => completion(&result),
        _ => answer(&result, request),
    }
}

/// The question as an elicitation. Whoever puts it to the client names the server.
fn elicitation(request: &CallbackRequest) -> Raw {
    let options = match (&request.options, request.kind) {
        (Some(options), _) if !options.is_empty() => Some(options.clone()),
        (_, CallbackType::Confirmation) => Some(vec!["confirm".to_owned(), "cancel".to_owned()]),
        _ => None,
    };
    let response = match options {
        Some(options) => json!({"type": "string", "title": "Answer", "enum": options}),
        None => json!({"type": "string", "title": "Answer"}),
    };
    let message = request.message.as_deref().unwrap_or("(no message)");
    let params = json!({
        "message": message,
        "requestedSchema": {"type": "object", "properties": {"response": response}, "required": ["response"]},
    });
    Raw::from_value(&params).unwrap_or_else(|_| Raw::empty_object())
}

/// The answer to that. Who declines a confirmation says no; who declines something else gives no answer.
fn answer(result: &Raw, request: &CallbackRequest) -> Option<Raw> {
    let accepted = result.member("action").and_then(|action| action.as_text()).as_deref() == Some("accept");
    let said = result.at(&["content", "response"]).filter(|said| said.as_text().is_some());
    match (accepted, said, request.kind) {
        (true, Some(said), _) => Some(as_offered(said, request)),
        (_, _, CallbackType::Confirmation) => Some(Raw::string(&switchboard_flow::callback::verdict(request, false))),
        _ => None,
    }
}

/// An answer in the server's own spelling, where it is one of its options but for case and blanks.
fn as_offered(said: Raw, request: &CallbackRequest) -> Raw {
    let meant = said.as_text().unwrap_or_default();
    let mut options = request.options.iter().flatten();
    let same = |option: &&String| option.trim().to_lowercase() == meant.trim().to_lowercase();
    options.find(same).map_or(said, |option| Raw::string(option))
}

/// A completion as a request for sampling.
fn sampling(request: &CallbackRequest) -> Raw {
    let messages: Vec<Value> = request.messages.as_ref().and_then(|raw| raw.view().ok()).unwrap_or_default();
    let text = |content: &Value| match content {
        Value::String(text) => json!({"type": "text", "text": text}),
        other => other.clone(),
    };
    let is_system = |message: &&Value| message["role"] == "system";
    let system: Vec<&str> =
        messages.iter().filter(is_system).filter_map(|message| message["content"].as_str()).collect();
    let turns: Vec<Value> = messages
        .iter()
        .filter(|message| !is_system(message))
        .map(|message| json!({"role": message["role"], "content": text(&message["content"])}))
        .collect();
    let hints: Value = request.model_hints.as_ref().and_then(|raw| raw.view().ok()).unwrap_or_default();
    let mut preferences = json!({});
    for (theirs, ours) in [("speed_priority", "speedPriority"), ("intelligence_priority", "intelligencePriority")] {
        if hints[theirs].is_number() {
            preferences[ours] = hints[theirs].clone();
        }
    }
    if let Some(provider) = hints["provider"].as_str() {
        preferences["hints"] = json!([{"name": provider}]);
    }
    let mut params = json!({"messages": turns, "maxTokens": TOKENS, "modelPreferences": preferences});
    if !system.is_empty() {
        params["systemPrompt"] = system.join("\n\n").into();
    }
    if let Some(tools) = request.tools.as_ref().and_then(|raw| raw.view::<Value>().ok())
        && tools.as_array().is_some_and(|tools| !tools.is_empty())
    {
        params["tools"] = tools;
    }
    Raw::from_value(&params).unwrap_or_else(|_| Raw::empty_object())
}

/// What a model said, in the words of MGP.
fn completion(result: &Raw) -> Option<Raw> {
    let result: Value = result.view().ok()?;
    let blocks = match &result["content"] {
        Value::Array(blocks) => blocks.clone(),
        block => vec![block.clone()],
    };
    let of = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
    let text: Vec<&str> = of("text").filter_map(|block| block["text"].as_str()).collect();
    let calls: Vec<Value> = of("tool_use")
        .map(|block| json!({"id": block["id"], "name": block["name"], "arguments": block["input"]}))
        .collect();
    let said = json!({
        "content": text.concat(),
        "model": result["model"],
        "usage": {"prompt_tokens": null, "completion_tokens": null},
        "tool_calls": calls,
    });
    Raw::from_value(&said).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(value: &Value) -> Raw {
        Raw::from_value(value).unwrap()
    }

    fn read(raw: &Raw) -> Value {
        raw.view().unwrap()
    }

    #[test]
    fn a_completion_becomes_sampling_and_comes_back() {
        let request = CallbackRequest::new("c", CallbackType::LlmCompletion)
            .messages(raw(&json!([{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}])))
            .model_hints(raw(&json!({"speed_priority": 0.9, "provider": "acme"})));
        let asked = read(&sampling(&request));
        assert_eq!(asked["systemPrompt"], "be brief");
        assert_eq!(asked["messages"], json!([{"role": "user", "content": {"type": "text", "text": "hi"}}]));
        assert_eq!(asked["modelPreferences"], json!({"speedPriority": 0.9, "hints": [{"name": "acme"}]}));
        let result = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "hello"}});
        let said = read(&completion(&raw(&result)).unwrap());
        assert_eq!((&said["content"], &said["model"]), (&json!("hello"), &json!("m")));
    }

    #[test]
    fn answers_of_people() {
        let confirmation = CallbackRequest::new("c", CallbackType::Confirmation);
        let input = CallbackRequest::new("c", CallbackType::Input);
        let options = vec!["Red".to_owned(), "Blue".to_owned()];
        let selection = CallbackRequest::new("c", CallbackType::Selection).options(options);
        let accept = |text: &str| json!({"action": "accept", "content": {"response": text}});
        for (request, result, expected) in [
            (&confirmation, accept("confirm"), Some("confirm")),
            (&confirmation, json!({"action": "decline"}), Some("cancel")),
            (&input, accept("blue"), Some("blue")),
            (&selection, accept(" red"), Some("Red")),
            (&selection, accept("green"), Some("green")),
            (&input, json!({"action": "cancel"}), None),
        ] {
            let said = answer(&raw(&result), request).and_then(|said| said.as_text());
            assert_eq!(said.as_deref(), expected, "{result}");
        }
    }

    #[test]
    fn a_callback_keeps_what_the_server_said() {
        let request =
            CallbackRequest::new("theirs", CallbackType::Selection).request_id(Raw::number(7)).message("Which?");
        let told = read(&callback("ours", ("s", "s"), Some(&Id::number(20)), &request, 2));
        assert_eq!(
            (&told["callback_id"], &told["request_id"], &told["server_id"]),
            (&json!("ours"), &json!(20), &json!("s"))
        );
        assert_eq!((&told["message"], &told["_mgp"]["attempt"]), (&json!("Server `s` asks: Which?"), &json!(2)));
    }
}
