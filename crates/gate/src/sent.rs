//! What a server is sent to act upon, apart from what a message says of itself.

use switchboard_protocol::mgp::negotiation::EXTENSION_ID;
use switchboard_store::Digest;
use switchboard_validators::percent;
use switchboard_wire::{Edit, Object, Raw, Refusal};

use crate::canonical;
use crate::passage::Subject;

/// Members of parameters that are about the request and not for the server's work.
pub(crate) const ABOUT: [&str; 5] = ["_meta", "_mgp", "requestState", "inputResponses", "task"];

/// Members of parameters that the dialects know as being about the request, and that may be others when it is made again.
pub(crate) const ALSO_ABOUT: [&str; 13] = [
    "checkpoint_token",
    "confirmation_token",
    "delegation",
    "idempotency_key",
    "idempotency_ttl_seconds",
    "intent",
    "operation_id",
    "step_id",
    "stream",
    "trace_id",
    "traceparent",
    "transaction_id",
    "user_confirmed",
];

/// Members of MGP's objects that belong to the conversation and say nothing that a server works on.
const OF_CONVERSATION: [&str; 4] = ["stream", "attempt", "seq", "session_state"];

/// Members of `task` that say how long it is kept and how often it is asked about.
pub(crate) const ABOUT_TASK: [&str; 3] = ["ttl", "pollInterval", "_meta"];

/// What a URL begins with that leads to a host.
pub(crate) const URL_BEGINNINGS: [&str; 4] = ["https://", "http://", "wss://", "ws://"];

/// All that a server is sent to act upon: the arguments, and beside them what no dialect knows, since the server may.
pub struct Sent {
    pub(crate) arguments: Raw,
    pub(crate) beside: Option<Raw>,
}

impl std::fmt::Debug for Sent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sent").finish_non_exhaustive()
    }
}

impl Sent {
    /// Of a call of a tool.
    pub fn of_call(params: &Object) -> Self {
        let arguments = params.get("arguments").unwrap_or_else(Raw::empty_object);
        Self { arguments, beside: unknown_of(Subject::Tool, params) }
    }

    /// One value that shows all of it: the arguments, where there is nothing else.
    pub(crate) fn whole(self) -> Raw {
        match &self.beside {
            Some(beside) => match Edit::of(beside) {
                Ok(edit) => edit.set("arguments", self.arguments).finish(),
                Err(_) => self.arguments,
            },
            None => self.arguments,
        }
    }

    /// What names all of it. Arguments that look like the whole of something else have another name.
    ///
    /// # Errors
    /// A member stands twice somewhere.
    pub fn digest(&self) -> Result<Digest, Refusal> {
        let Some(beside) = &self.beside else { return canonical::digest(&self.arguments) };
        // No such text has a line break in it.
        Ok(Digest::of(format!("{}\n{}", canonical::text(&self.arguments)?, canonical::text(beside)?).as_bytes()))
    }
}

/// What stands behind the scheme of an address, its escapes read, as the path that it may be.
pub(crate) fn path_of(sent: &Raw) -> Option<Raw> {
    let address = sent.member("resource").or_else(|| sent.member("uri"))?.as_text()?;
    let (scheme, rest) = address.split_once(':')?;
    // What lies at another machine's address is that machine's.
    if URL_BEGINNINGS.iter().any(|begin| begin.starts_with(&format!("{}:", scheme.trim().to_ascii_lowercase()))) {
        return None;
    }
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let read = percent::stages(rest).pop()?.into_owned();
    Some(Edit::empty().set("path", Raw::string(&read)).finish())
}

/// What stands beside the arguments and is known to no dialect.
pub(crate) fn unknown_of(subject: Subject, params: &Object) -> Option<Raw> {
    beside_of(subject, params, &ALSO_ABOUT)
}

pub(crate) fn beside_of(subject: Subject, params: &Object, except: &[&str]) -> Option<Raw> {
    // Of everything else all parameters are judged anyway.
    if !matches!(subject, Subject::Tool | Subject::Prompt) {
        return None;
    }
    // Most calls have nothing else.
    let is_plain = params.len() == ["name", "arguments", "_meta"].iter().filter(|key| params.has(key)).count();
    if is_plain && !params.get("_meta").is_some_and(|meta| may_say_more(&meta)) {
        return None;
    }
    let is_known = |key: &str| ["name", "arguments"].contains(&key) || ABOUT.contains(&key) || except.contains(&key);
    let rest = with_reserved(rest_of(params, is_known), params, except);
    // What is said of the task, and more than that.
    match params.get("task").and_then(|task| beyond_task(&task)) {
        Some(more) => Edit::of_optional(rest.as_ref()).ok().map(|edit| edit.set("task", more).finish()),
        None => rest,
    }
}

/// Whether `_meta` may hold members of MGP. A name can be written with escapes.
fn may_say_more(meta: &Raw) -> bool {
    ["_mgp", EXTENSION_ID, r"\u"].iter().any(|name| memchr::memmem::find(meta.as_bytes(), name.as_bytes()).is_some())
}

/// What is sent to be acted upon with the members of MGP's own objects beside it that no dialect knows: they go to the server as
/// they came, and it may act upon them.
pub(crate) fn with_reserved(rest: Option<Raw>, params: &Object, except: &[&str]) -> Option<Raw> {
    let own = params.get("_mgp").and_then(|own| beyond_own(&own, except));
    let meta = params.get("_meta").filter(may_say_more).and_then(|meta| match Object::open(&meta) {
        Ok(meta) => {
            let inner =
                ["_mgp", EXTENSION_ID].into_iter().filter_map(|key| Some((key, beyond_own(&meta.get(key)?, except)?)));
            let inner = inner
                .fold(None, |edit: Option<Edit>, (key, more)| Some(edit.unwrap_or_else(Edit::empty).set(key, more)));
            inner.map(Edit::finish)
        }
        Err(_) => Some(meta),
    });
    if own.is_none() && meta.is_none() {
        return rest;
    }
    let edit = Edit::of_optional(rest.as_ref()).ok()?;
    Some(edit.set_optional("_mgp", own).set_optional("_meta", meta).finish())
}

/// The members of an object of MGP that are not known; all of what is none.
fn beyond_own(own: &Raw, except: &[&str]) -> Option<Raw> {
    match Object::open(own) {
        Ok(own) => rest_of(&own, |key| {
            let bare = key.strip_prefix(EXTENSION_ID).and_then(|rest| rest.strip_prefix('/')).unwrap_or(key);
            except.contains(&bare) || OF_CONVERSATION.contains(&bare)
        }),
        Err(_) if own.as_str() == "null" => None,
        Err(_) => Some(own.clone()),
    }
}

/// The members of an object without those that are known; nothing where no other is left.
pub(crate) fn rest_of(object: &Object, is_known: impl Fn(&str) -> bool) -> Option<Raw> {
    if object.iter().all(|(key, _)| is_known(&key)) {
        return None;
    }
    let rest = object.iter().filter(|(key, _)| !is_known(key));
    Some(rest.fold(Edit::empty(), |edit, (key, value)| edit.set(&key, value)).finish())
}

/// What stands in `task` beyond what is said of the task: the server may act upon it.
pub(crate) fn beyond_task(task: &Raw) -> Option<Raw> {
    match Object::open(task) {
        Ok(task) => rest_of(&task, |key| ABOUT_TASK.contains(&key)),
        Err(_) => Some(task.clone()),
    }
}
