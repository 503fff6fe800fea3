//! What a task looks like in the two eras. Pure.
//!
//! The core of 2025-11-25 wraps a task in the answer and gives the result by a method of its own; the extension of the
//! modern era lays the task flat and its result, error or questions beside it. Times have other names.

use switchboard_protocol::mcp::meta;
use switchboard_wire::{Edit, Object, Raw};

/// Members of a modern task that a legacy one does not have.
const MODERN_ONLY: [&str; 4] = ["resultType", "result", "error", "inputRequests"];

/// A modern task in the form of 2025-11-25.
pub(crate) fn to_legacy(task: &Raw) -> Raw {
    let Ok(mut edit) = Edit::of(task) else { return task.clone() };
    for key in MODERN_ONLY {
        edit = edit.remove(key);
    }
    rename(edit, [("ttlMs", "ttl"), ("pollIntervalMs", "pollInterval")]).finish()
}

/// A task of 2025-11-25 in the form of the modern extension.
pub(crate) fn to_modern(task: &Raw) -> Raw {
    let Ok(edit) = Edit::of(task) else { return task.clone() };
    rename(edit, [("ttl", "ttlMs"), ("pollInterval", "pollIntervalMs")]).finish()
}

fn rename(mut edit: Edit, names: [(&str, &str); 2]) -> Edit {
    for (from, to) in names {
        if let Some(value) = edit.object().get(from) {
            edit = edit.remove(from).set(to, value);
        }
    }
    edit
}

/// The answer to `tools/call` that stands for a legacy task.
pub(crate) fn created_legacy(task: &Raw) -> Raw {
    Edit::empty().set("task", to_legacy(task)).finish()
}

/// The answer to `tools/call` that stands for a modern task.
pub(crate) fn created_modern(answer: &Raw) -> Option<Raw> {
    let task = answer.member("task")?;
    let edit = Edit::of(&to_modern(&task)).ok()?.set("resultType", Raw::string("task"));
    Some(edit.set_optional("_meta", answer.member("_meta")).finish())
}

/// A task that is over, made for a legacy client that asked for one where the server answered at once.
pub(crate) fn finished_legacy(id: &str, now: &str) -> Raw {
    Edit::empty()
        .set("taskId", Raw::string(id))
        .set("status", Raw::string("completed"))
        .set("createdAt", Raw::string(now))
        .set("lastUpdatedAt", Raw::string(now))
        .set("ttl", Raw::number(u64::try_from(super::FINISHED_KEPT.as_millis()).unwrap_or_default()))
        .finish()
}

/// A result with a note of the task it belongs to, as `tasks/result` gives it.
pub(crate) fn with_related_task(result: &Raw, id: &str) -> Raw {
    let task = Edit::empty().set("taskId", Raw::string(id)).finish();
    let edit = Edit::of(result).and_then(|edit| edit.within("_meta", |inner| inner.set(meta::RELATED_TASK, task)));
    edit.map_or_else(|_| result.clone(), Edit::finish)
}

/// The state of a task.
pub(crate) fn status(task: &Object) -> String {
    task.text("status").unwrap_or_default()
}

/// Parameters that name a task.
pub(crate) fn naming(id: &str) -> Raw {
    Edit::empty().set("taskId", Raw::string(id)).finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchboard_wire::Limits;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned(), &Limits::default()).unwrap()
    }

    #[test]
    fn a_task_changes_its_form_and_keeps_what_is_unknown() {
        let modern =
            raw(r#"{"resultType":"task","taskId":"t","status":"working","ttlMs":60000,"pollIntervalMs":50,"x":1.10}"#);
        let legacy = to_legacy(&modern);
        assert_eq!(legacy.as_str(), r#"{"taskId":"t","status":"working","x":1.10,"ttl":60000,"pollInterval":50}"#);
        assert_eq!(
            created_modern(&created_legacy(&modern)).unwrap().as_str(),
            r#"{"taskId":"t","status":"working","x":1.10,"ttlMs":60000,"pollIntervalMs":50,"resultType":"task"}"#
        );
        assert_eq!(created_modern(&raw(r#"{"content":[]}"#)), None);
    }

    #[test]
    fn a_result_names_its_task() {
        let result = with_related_task(&raw(r#"{"content":[],"_meta":{"k":1}}"#), "t");
        assert_eq!(
            result.as_str(),
            r#"{"content":[],"_meta":{"k":1,"io.modelcontextprotocol/related-task":{"taskId":"t"}}}"#
        );
    }
}
