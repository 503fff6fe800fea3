//! Results at the gate: what a call brought back, before the client reads it.
//!
//! A result that is too large is not passed on. Text that hides something, gives orders to a model, or holds a secret
//! is passed on untouched and marked beside the content, for whoever shows it: nothing is ever taken out. What a
//! server of the core says is not searched, nor is what lies beyond the first texts of a large result. Texts of servers
//! with the usual trust are searched only where a first look finds something.

use serde_json::{Value, json};
use switchboard_peer::Reply;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::TrustLevel;
use switchboard_store::AuditEvent;
use switchboard_validators::screen;
use switchboard_wire::{Edit, Kind, Object, Raw};
use tokio::sync::Semaphore;

use crate::Gate;
use switchboard_upstream::Server;

/// Where the marks stand in the `_meta` of a result or a definition.
pub const MARKS: &str = "dev.switchboard/marks";
/// Bytes of text that are searched in one result.
const MOST_BYTES: usize = 256 << 10;
/// Bytes that are searched without leaving the thread: more would hold up other calls.
const AT_ONCE: usize = 128;
/// Results that are searched at a time. Each search takes a thread, which keeps memory for the next one.
const MAX_SEARCHES: usize = 4;
static SEARCHES: Semaphore = Semaphore::const_new(MAX_SEARCHES);
/// Marks of one result.
const MOST_MARKS: usize = 50;

impl Gate<'_> {
    /// Looks at what a call brought back.
    ///
    /// # Errors
    /// The call had failed already, or its result is too large.
    pub async fn look_at_result(&self, server: &Server, outcome: Result<Reply, Fault>) -> Result<Reply, Fault> {
        let mut reply = outcome?;
        let Ok(result) = &reply.outcome else { return Ok(reply) };
        let (options, size) = (self.options(), result.as_bytes().len());
        if size > options.result_bytes {
            let text =
                format!("the result of server `{}` has {size} bytes, more than {}", server.id(), options.result_bytes);
            return Err(Fault::new(FaultKind::UpstreamInvalid, text)
                .from_server(server.id().as_ref())
                .suggest("ask for less at a time, or let the operator raise `result_bytes` in [limits]"));
        }
        let trust = server.trust();
        if !options.screen_results || trust >= TrustLevel::Core {
            return Ok(reply);
        }
        // Most results are plain data, and reading them would take longer than the call.
        let glances = trust >= TrustLevel::Standard;
        if glances && !screen::is_striking_json(result.as_str()) {
            return Ok(reply);
        }
        // Before anything is copied out of the result: a thousand that come at once are looked at one after the other.
        let _turn = SEARCHES.acquire().await;
        let mut texts = texts(result);
        if glances {
            texts.retain(|(_, text)| screen::is_striking(text));
        }
        let size: usize = texts.iter().map(|(_, text)| text.len()).sum();
        let marks = match size {
            0 => return Ok(reply),
            1..=AT_ONCE => marks(&texts),
            // Without marks where the search itself failed: it must not cost the caller the result.
            _ => tokio::task::spawn_blocking(move || marks(&texts)).await.unwrap_or_default(),
        };
        if !marks.is_empty()
            && let Some(marked) = marked(result, &marks)
        {
            reply.outcome = Ok(marked);
        }
        Ok(reply)
    }
}

/// Tells of the marks of a result in the event about its call.
pub(super) fn note_marks(event: &mut AuditEvent, result: &Object) {
    let Some(marks) = result.get("_meta").and_then(|meta| meta.member(MARKS)?.elements()) else { return };
    let rule = |mark: &Raw| mark.member("rule").and_then(|rule| rule.as_text()).filter(|rule| rule.len() <= 64);
    let rules: Vec<Value> = marks.iter().take(MOST_MARKS).filter_map(rule).map(Value::from).collect();
    event.details.insert("result_marks", rules);
}

/// The texts that a model will read, with where they stand: of a tool, of a prompt, of a resource.
fn texts(result: &Raw) -> Vec<(String, String)> {
    let elements = |key: &str| {
        let list = result.member(key).filter(|list| list.kind() == Kind::Array);
        list.and_then(|list| list.elements()).unwrap_or_default()
    };
    let mut blocks: Vec<(String, Raw)> = Vec::new();
    for (index, block) in elements("content").into_iter().enumerate() {
        blocks.push((format!("/content/{index}"), block));
    }
    for (index, message) in elements("messages").into_iter().enumerate() {
        let Some(content) = message.member("content") else { continue };
        match content.elements().filter(|_| content.kind() == Kind::Array) {
            Some(parts) => blocks.extend(
                parts.into_iter().enumerate().map(|(part, block)| (format!("/messages/{index}/content/{part}"), block)),
            ),
            None => blocks.push((format!("/messages/{index}/content"), content)),
        }
    }
    let mut left = MOST_BYTES;
    let mut texts = Vec::new();
    let mut take = |place: String, text: Option<String>| {
        let Some(mut text) = text else { return };
        let end = (0..=text.len().min(left)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        left -= end;
        if !text.is_empty() {
            texts.push((place, text));
        }
    };
    for (at, block) in blocks {
        let (path, place): (&[&str], _) = match block.member("type").and_then(|kind| kind.as_text()).as_deref() {
            Some("text") => (&["text"], "text"),
            Some("resource") => (&["resource", "text"], "resource/text"),
            _ => continue,
        };
        take(format!("{at}/{place}"), block.at(path).and_then(|text| text.as_text()));
    }
    for (index, item) in elements("contents").into_iter().enumerate() {
        take(format!("/contents/{index}/text"), item.member("text").and_then(|text| text.as_text()));
    }
    texts
}

fn marks(texts: &[(String, String)]) -> Vec<Value> {
    let mut marks = Vec::new();
    for (place, text) in texts {
        let found = screen::result(text);
        let findings = found.findings.iter().map(|finding| (finding.rule, finding.message.clone()));
        let secrets = found
            .secrets
            .iter()
            .map(|secret| ("secret", format!("what looks like a {} at byte {}", secret.kind, secret.place.start)));
        let mark = |(rule, message)| json!({"rule": rule, "message": message, "at": place});
        marks.extend(findings.chain(secrets).map(mark).take(MOST_MARKS - marks.len()));
    }
    marks
}

/// The result with the marks beside its content; `None` where there is no place for them.
fn marked(result: &Raw, marks: &[Value]) -> Option<Raw> {
    let list = Raw::from_value(marks).ok()?;
    Some(Edit::of(result).ok()?.within("_meta", |meta| meta.set(MARKS, list)).ok()?.finish())
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned(), &Limits::default()).unwrap()
    }

    fn rules(result: &str) -> Vec<(String, String)> {
        let text = |mark: &Value, key: &str| mark[key].as_str().unwrap().to_owned();
        marks(&texts(&raw(result))).iter().map(|mark| (text(mark, "rule"), text(mark, "at"))).collect()
    }

    #[test]
    fn what_is_striking_is_marked_where_it_stands() {
        let place = |at: &str| ("hidden-text".to_owned(), at.to_owned());
        for (result, expected) in [
            (r#"{"content":[{"type":"text","text":"plain words"}]}"#, vec![]),
            (
                r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b\u202ec"}]}"#,
                vec![place("/content/1/text")],
            ),
            (
                r#"{"content":[{"type":"resource","resource":{"text":"b\u202ec"}}]}"#,
                vec![place("/content/0/resource/text")],
            ),
            (r#"{"content":[{"type":"image","data":"b\u202ec"}],"structuredContent":{"text":"\u202e"}}"#, vec![]),
            (
                r#"{"messages":[{"role":"user","content":{"type":"text","text":"b\u202ec"}}]}"#,
                vec![place("/messages/0/content/text")],
            ),
            (r#"{"contents":[{"uri":"x:y","text":"b\u202ec"}]}"#, vec![place("/contents/0/text")]),
            (r#"{"content":{"text":"b\u202ec"}}"#, vec![]),
            (r#"{"resultType":"input_required"}"#, vec![]),
        ] {
            assert_eq!(rules(result), expected, "{result}");
        }
        let secret = rules(&format!(r#"{{"content":[{{"type":"text","text":"AKIA{}"}}]}}"#, "ABCDEFGHIJKLMNOP"));
        assert_eq!(secret, [("secret".to_owned(), "/content/0/text".to_owned())]);
    }

    #[test]
    fn only_so_much_is_searched_and_only_so_much_is_told() {
        let late = format!(r#"{{"content":[{{"type":"text","text":"{}\u202e"}}]}}"#, "x ".repeat(MOST_BYTES / 2));
        assert_eq!(rules(&late), []);
        let key = format!("AKIA{} ", "ABCDEFGHIJKLMNOP");
        let many = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, key.repeat(200));
        assert_eq!(rules(&many).len(), MOST_MARKS);
    }

    #[test]
    fn marks_leave_everything_else_as_it_was() {
        let result = raw(r#"{"content":[{"n":1.10}],"_meta":{"k":1e400},"x":[ 1 ]}"#);
        let marked = marked(&result, &[json!({"rule":"r"})]).unwrap();
        let expected =
            r#"{"content":[{"n":1.10}],"_meta":{"k":1e400,"dev.switchboard/marks":[{"rule":"r"}]},"x":[ 1 ]}"#;
        assert_eq!(marked.as_str(), expected);
    }
}
