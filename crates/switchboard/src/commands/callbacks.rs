//! `switchboard callbacks`: the operator answers questions that servers ask in the middle of calls (MGP 13.4). The calls
//! run in kernels of other processes; the store is where both meet.

use jiff::Timestamp;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_store::StoredCallback;

use super::operator_session::{OperatorSession, age, cell, visible};
use crate::Outcome;
use crate::arguments::{CallbacksCommand, Common};
use crate::failure::Failure;
use crate::screen;

/// Questions that are shown at once, at most. No more can be open.
const MAX_SHOWN_QUESTIONS: usize = 1_024;
/// The fewest letters by which a question is named.
const SHORTEST: usize = 4;
/// Letters of an id that are shown to people.
const SHORT: usize = 12;

pub(crate) async fn run(common: &Common, command: Option<&CallbacksCommand>) -> Outcome {
    let desk = OperatorSession::open(common).await?;
    let outcome = match command {
        None | Some(CallbacksCommand::List) => list(common, &desk).await,
        Some(CallbacksCommand::Answer { id, answer }) => say(common, &desk, id, answer).await,
    };
    desk.close().await;
    outcome
}

async fn list(common: &Common, desk: &OperatorSession) -> Outcome {
    let now = Timestamp::now();
    let open = desk.office.store().callbacks().pending(now, MAX_SHOWN_QUESTIONS).await?;
    if common.json {
        screen::json(&json!({"open": open.iter().map(told).collect::<Vec<_>>()}));
        return Ok(());
    }
    if open.is_empty() {
        screen::out("no server asks anything");
        return Ok(());
    }
    for callback in &open {
        screen::out(text(callback, now));
        screen::out("");
    }
    screen::out("answer with `switchboard callbacks answer ID TEXT`");
    Ok(())
}

async fn say(common: &Common, desk: &OperatorSession, id: &str, answer: &str) -> Outcome {
    let open = desk.office.store().callbacks().pending(Timestamp::now(), MAX_SHOWN_QUESTIONS).await?;
    let callback = choose(&open, id)?;
    let options = options(callback);
    if !options.is_empty() && !options.iter().any(|option| option == answer) {
        let shown: Vec<String> = options.iter().map(|option| cell(option)).collect();
        return Err(Failure::usage(format!("the answer must be one of: {}", shown.join(", "))));
    }
    let said = RawValue::from_string(Value::from(answer).to_string()).map_err(Failure::failed)?;
    match desk.office.answer_callback(&callback.id, &said).await? {
        Some(_) if common.json => screen::json(&json!({"answered": callback.id, "answer": answer})),
        Some(_) => screen::out(format_args!("{}: answered", short(&callback.id))),
        None => return Err(Failure::failed("the question was answered, or ended, just before")),
    }
    Ok(())
}

/// The question that is meant.
fn choose<'a>(open: &'a [StoredCallback], id: &str) -> Result<&'a StoredCallback, Failure> {
    let exact = open.iter().find(|callback| callback.id == id);
    let beginning = |callback: &&StoredCallback| id.len() >= SHORTEST && callback.id.starts_with(id);
    let fitting: Vec<_> = open.iter().filter(beginning).collect();
    match (exact, fitting.as_slice()) {
        (Some(callback), _) | (None, &[callback]) => Ok(callback),
        (None, []) => Err(Failure::failed(format!(
            "no question called {} is open: it may be answered or over; see `switchboard callbacks`",
            cell(id)
        ))),
        (None, several) => {
            Err(Failure::failed(format!("{} questions begin with {}: write more of it", several.len(), cell(id))))
        }
    }
}

fn shown(callback: &StoredCallback) -> Value {
    serde_json::from_str(callback.shown.get()).unwrap_or_default()
}

fn options(callback: &StoredCallback) -> Vec<String> {
    let list = shown(callback)["options"].as_array().cloned().unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn told(callback: &StoredCallback) -> Value {
    let shown = shown(callback);
    json!({
        "id": callback.id,
        "server": callback.server,
        "principal": callback.principal,
        "type": callback.kind,
        "message": shown["message"],
        "options": shown["options"],
        "asked_at": callback.created_at.to_string(),
        "expires_at": callback.expires_at.to_string(),
    })
}

fn text(callback: &StoredCallback, now: Timestamp) -> String {
    let asked_for = if callback.principal.is_empty() { "nobody's call" } else { callback.principal.as_str() };
    let message = shown(callback)["message"].as_str().unwrap_or_default().to_owned();
    let mut text = format!(
        "{}  {} of server {}, for {}, {} ago\n  {}",
        short(&callback.id),
        cell(&callback.kind),
        cell(&callback.server),
        cell(asked_for),
        age(callback.created_at, now),
        visible(&message).replace('\n', "\n  "),
    );
    let options: Vec<String> = options(callback).iter().map(|option| cell(option)).collect();
    if !options.is_empty() {
        text.push_str(&format!("\n  answers: {}", options.join(", ")));
    }
    text
}

fn short(id: &str) -> String {
    cell(id.get(..SHORT).unwrap_or(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn callback(id: &str, shown: &Value) -> StoredCallback {
        StoredCallback {
            id: id.to_owned(),
            principal: "ann".to_owned(),
            server: "files".to_owned(),
            kind: "selection".to_owned(),
            shown: RawValue::from_string(shown.to_string()).unwrap(),
            state: switchboard_store::CallbackState::Open,
            answer: None,
            answered_by: None,
            created_at: Timestamp::UNIX_EPOCH,
            expires_at: Timestamp::MAX,
        }
    }

    #[test]
    fn a_question_is_shown_with_what_can_be_answered_and_nothing_hidden() {
        let asked = callback("abcdefghijklmnop", &json!({"message": "Which\u{202e}?", "options": ["a", "b"]}));
        let text = text(&asked, Timestamp::from_second(30).unwrap());
        assert_eq!(
            text,
            "abcdefghijkl  selection of server files, for ann, 30 s ago\n  Which\\u{202e}?\n  answers: a, b"
        );
        assert_eq!(told(&asked)["options"], json!(["a", "b"]));
    }

    #[test]
    fn a_beginning_names_one_question() {
        let open = [callback("abcd1", &json!({})), callback("abcd2", &json!({})), callback("x", &json!({}))];
        for (id, found) in [("abcd1", Some(0)), ("x", Some(2)), ("abcd", None), ("abc", None), ("zzzz", None)] {
            assert_eq!(
                choose(&open, id).ok().map(|callback| callback.id.clone()),
                found.map(|at: usize| open[at].id.clone()),
                "{id}"
            );
        }
    }
}
