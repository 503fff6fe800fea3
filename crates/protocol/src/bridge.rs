//! What a message of one era becomes in the other. Pure: raw JSON in, raw JSON out, only the named keys change.

use switchboard_wire::{Edit, ErrorObject, Object, Raw, Refusal};

use crate::mcp::{meta, method, strict};
use crate::{Era, Revision};

/// A legacy server (2025-11-25) refuses a call until somebody has been at an address.
const URL_ELICITATION_REQUIRED: i64 = -32042;
/// How the keys of such questions begin.
const VISIT: &str = "visit-";

/// What a result says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultType {
    /// It is the answer.
    Complete,
    /// The client must give something first: what, and what to send back with it.
    InputRequired {
        /// What is asked for, by key.
        requests: Vec<(String, Raw)>,
        /// What is to be sent back.
        state: Option<Raw>,
    },
    /// A task stands for the answer.
    Task,
}

/// Reads what kind of result this is. A result without `resultType` is complete.
pub fn result_type(result: &Raw) -> ResultType {
    Object::open(result).map_or(ResultType::Complete, |object| result_type_of(&object))
}

/// The same for a result that is open already.
pub fn result_type_of(object: &Object) -> ResultType {
    match object.text("resultType").as_deref() {
        Some("input_required") => {
            let requests = object.get("inputRequests").and_then(|raw| Object::open(&raw).ok());
            let requests =
                requests.iter().flat_map(Object::iter).map(|(key, value)| (key.into_owned(), value)).collect();
            ResultType::InputRequired { requests, state: object.get("requestState") }
        }
        Some("task") => ResultType::Task,
        _ => ResultType::Complete,
    }
}

/// The parameters of a modern request made for a client that said this of itself: what `_meta` must say and does not is
/// added.
///
/// # Errors
/// A member stands twice.
pub fn modern_params(
    params: Option<&Raw>,
    info: Option<&Raw>,
    capabilities: &Raw,
    level: Option<&str>,
) -> Result<Raw, Refusal> {
    let edit = Edit::of_optional(params)?.within("_meta", |meta| {
        let mut meta = meta;
        let missing = |meta: &Edit, key| !meta.object().has(key);
        // A request that came in another revision goes out in the one that is spoken here.
        meta = meta.set(meta::PROTOCOL_VERSION, Raw::string(Revision::LATEST.as_str()));
        if missing(&meta, meta::CLIENT_CAPABILITIES) {
            meta = meta.set(meta::CLIENT_CAPABILITIES, modern_capabilities(capabilities));
        }
        if missing(&meta, meta::CLIENT_INFO) {
            meta = meta.set_optional(meta::CLIENT_INFO, info.cloned());
        }
        if missing(&meta, meta::LOG_LEVEL) {
            meta = meta.set_optional(meta::LOG_LEVEL, level.map(Raw::string));
        }
        meta
    })?;
    Ok(edit.finish())
}

/// The parameters of a legacy request made for a modern client: what only a modern request says is left out, because a
/// server that speaks both eras would take the request for a modern one.
pub fn legacy_params(params: Option<&Raw>) -> Result<Option<Raw>, Refusal> {
    let Some(params) = params else { return Ok(None) };
    let edit = Edit::of(params)?;
    let Some(given) = edit.object().get("_meta") else { return Ok(Some(edit.finish())) };
    let mut meta = Edit::of(&given)?;
    for key in [meta::PROTOCOL_VERSION, meta::CLIENT_CAPABILITIES, meta::CLIENT_INFO, meta::LOG_LEVEL] {
        meta = meta.remove(key);
    }
    let left = meta.finish();
    let edit = if Object::open(&left)?.is_empty() { edit.remove("_meta") } else { edit.set("_meta", left) };
    Ok(Some(edit.remove("inputResponses").remove("requestState").finish()))
}

/// A legacy client's capabilities as a modern server may see them: the era's own form of tasks is left out.
fn modern_capabilities(capabilities: &Raw) -> Raw {
    Edit::of(capabilities).map_or_else(|_| Raw::empty_object(), |edit| edit.remove("tasks").finish())
}

/// A result of the kernel's own, as the client's era wants it.
pub fn for_era(result: Raw, era: Era) -> Raw {
    if era == Era::Modern { modern_result(result, "") } else { result }
}

/// A result as a modern client must get it: with its type, and with cache rules where they are required.
///
/// What a list shows, and whether a resource may be read, differs from one principal to the next and ends with a revoke.
/// So whatever a server says of its own answer, nobody may keep ours for others, nor for later.
pub fn modern_result(result: Raw, asked: &str) -> Raw {
    let Ok(mut edit) = Edit::of(&result) else { return result };
    let said = edit.object().text("resultType");
    if !edit.object().has("resultType") {
        edit = edit.set("resultType", Raw::string("complete"));
    }
    // A question to the client is never kept, and has no rules for it.
    if is_cacheable(asked) && said.is_none_or(|kind| kind == "complete") {
        edit = edit.set("ttlMs", Raw::number(0)).set("cacheScope", Raw::string("private"));
    }
    edit.finish()
}

/// A server's result as this client's revision has it. `uri` is the resource that was asked for.
///
/// # Errors
/// No client would accept the result.
pub fn for_client(
    mut result: Raw,
    asked: &str,
    uri: Option<&str>,
    revision: Revision,
) -> Result<Raw, strict::Misshapen> {
    if let Some(other) = uri.and_then(|uri| strict::addressed(&result, uri)) {
        result = other;
    }
    let result = strict::result(asked, &result, revision)?.unwrap_or(result);
    Ok(if revision.era() == Era::Modern && is_cacheable(asked) { modern_result(result, asked) } else { result })
}

fn is_cacheable(asked: &str) -> bool {
    matches!(
        asked,
        method::TOOLS_LIST
            | method::PROMPTS_LIST
            | method::RESOURCES_LIST
            | method::RESOURCES_TEMPLATES_LIST
            | method::RESOURCES_READ
            | method::DISCOVER
    )
}

/// A retry of a request that needs input, with what the client gave.
pub fn with_input(params: &Raw, responses: &[(String, Raw)], state: Option<Raw>) -> Result<Raw, Refusal> {
    let given = responses.iter().fold(Edit::empty(), |edit, (key, value)| edit.set(key, value.clone())).finish();
    let edit = Edit::of(params)?.set("inputResponses", given);
    Ok(match state {
        Some(state) => edit.set("requestState", state),
        None => edit.remove("requestState"),
    }
    .finish())
}

/// The input that a legacy server's refusal asks for: addresses to be visited before the call is made again.
pub fn urls_to_visit(error: &ErrorObject) -> Option<Vec<(String, Raw)>> {
    let asked = error.data.as_ref().filter(|_| error.code == URL_ELICITATION_REQUIRED)?;
    let asked = asked.member("elicitations")?.elements().filter(|asked| !asked.is_empty())?;
    let embed =
        |(index, params): (usize, &Raw)| (format!("{VISIT}{index}"), embedded_request(method::ELICIT, Some(params)));
    Some(asked.iter().enumerate().map(embed).collect())
}

/// Whether the client says that its person did not go where the server had asked.
pub fn did_not_visit(params: Option<&Raw>) -> bool {
    let given = params.and_then(|params| Object::open(&params.member("inputResponses")?).ok());
    given.iter().flat_map(Object::iter).any(|(key, answer)| {
        key.starts_with(VISIT) && answer.member("action").and_then(|raw| raw.as_text()).as_deref() != Some("accept")
    })
}

/// An `input_required` result that asks for the given requests.
pub fn input_required(requests: &[(String, Raw)], state: Option<&str>) -> Raw {
    let asked = requests.iter().fold(Edit::empty(), |edit, (key, value)| edit.set(key, value.clone())).finish();
    Edit::empty()
        .set("resultType", Raw::string("input_required"))
        .set("inputRequests", asked)
        .set_optional("requestState", state.map(Raw::string))
        .finish()
}

/// A request of a server as it stands inside `inputRequests`.
pub fn embedded_request(method: &str, params: Option<&Raw>) -> Raw {
    Edit::empty().set("method", Raw::string(method)).set_optional("params", params.cloned()).finish()
}

/// The capability that a client must have to be asked this; `None` for what needs none.
pub fn needed_capability(asked: &str) -> Option<&'static str> {
    match asked {
        method::CREATE_MESSAGE => Some("sampling"),
        method::ELICIT => Some("elicitation"),
        method::ROOTS_LIST => Some("roots"),
        _ => None,
    }
}

/// Whether the era still has this request.
pub fn exists_in(asked: &str, era: Era) -> bool {
    match asked {
        method::INITIALIZE
        | method::PING
        | method::SET_LEVEL
        | method::RESOURCES_SUBSCRIBE
        | method::RESOURCES_UNSUBSCRIBE
        | method::TASKS_LIST
        | method::TASKS_RESULT => era == Era::Legacy,
        method::DISCOVER | method::SUBSCRIPTIONS_LISTEN | method::TASKS_UPDATE => era == Era::Modern,
        _ => true,
    }
}

#[cfg(test)]
mod tests;
