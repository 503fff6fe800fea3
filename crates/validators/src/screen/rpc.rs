//! One JSON-RPC message as MCP and MGP use it: the envelope by the wire's own reader, then the parameters of the
//! methods that are defined. Unknown methods and unknown members pass; a member that is defined has its type.

use bytes::Bytes;
use switchboard_wire::{Id, Kind, Limits, Message, Object, Raw};

use super::refuse_duplicates;
use crate::{Finding, Verdict};

/// Integers beyond this are not the same for every reader.
const SAFE: f64 = 9_007_199_254_740_991.0;
/// A hundred years in milliseconds: no time-out is longer.
const LONGEST_WAIT: f64 = 3_155_760_000_000.0;

/// What a member must be.
#[derive(Clone, Copy)]
enum Is {
    /// Text without NUL.
    Text,
    /// Text that names something: not empty, no control characters.
    Name,
    /// A URI: a name with a scheme.
    Uri,
    /// One of these words.
    OneOf(&'static [&'static str]),
    Object,
    /// An object whose members are all texts.
    Texts,
    Array,
    /// An array of names.
    Names,
    Bool,
    /// A string or an integer.
    Id,
    /// A number that is finite and no less than zero.
    Count,
    /// A time in milliseconds or seconds.
    Wait,
    /// A finite number.
    Number,
    /// Anything.
    Any,
}

/// A member: its name, whether it must be there, and what it is.
type Member = (&'static str, bool, Is);

const LEVELS: Is = Is::OneOf(&["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]);
const PAGE: &[Member] = &[("cursor", false, Is::Text)];
const URI: &[Member] = &[("uri", true, Is::Uri)];
const TASK: &[Member] = &[("taskId", true, Is::Name)];

/// The parameters of a request that MCP or MGP defines; `None` for any other method.
fn request(method: &str) -> Option<&'static [Member]> {
    Some(match method {
        "initialize" => {
            &[("protocolVersion", true, Is::Name), ("capabilities", true, Is::Object), ("clientInfo", true, Is::Object)]
        }
        "ping" | "server/discover" | "roots/list" | "mgp/health/status" | "mgp/tools/session" => &[],
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" | "tasks/list" => PAGE,
        "tools/call" => &[
            ("name", true, Is::Name),
            ("arguments", false, Is::Object),
            ("task", false, Is::Object),
            ("_mgp", false, Is::Object),
        ],
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => URI,
        "prompts/get" => &[("name", true, Is::Name), ("arguments", false, Is::Texts)],
        "completion/complete" => {
            &[("ref", true, Is::Object), ("argument", true, Is::Object), ("context", false, Is::Object)]
        }
        "logging/setLevel" => &[("level", true, LEVELS)],
        "sampling/createMessage" => &[
            ("messages", true, Is::Array),
            ("maxTokens", true, Is::Count),
            ("systemPrompt", false, Is::Text),
            ("temperature", false, Is::Number),
            ("stopSequences", false, Is::Array),
            ("modelPreferences", false, Is::Object),
        ],
        "elicitation/create" => {
            &[("message", true, Is::Text), ("requestedSchema", false, Is::Object), ("url", false, Is::Uri)]
        }
        "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/update" => TASK,
        "subscriptions/listen" => &[("notifications", true, Is::Object)],
        "mgp/permission/request" | "mgp/permission/await" => &[
            ("request_id", true, Is::Id),
            ("permissions", true, Is::Names),
            ("policy", false, Is::OneOf(&["interactive", "auto_approve", "deny_all", "config_only"])),
            ("message", false, Is::Text),
        ],
        "mgp/permission/response" | "mgp/permission/grant" => &[("request_id", true, Is::Id)],
        "mgp/access/query" => {
            &[("agent_id", true, Is::Name), ("server_id", false, Is::Name), ("tool_name", false, Is::Name)]
        }
        "mgp/access/grant" => &[
            ("entry_type", true, Is::OneOf(&["capability", "server_grant", "tool_grant"])),
            ("agent_id", true, Is::Name),
            ("server_id", true, Is::Name),
            ("tool_name", false, Is::Name),
            ("permission", true, Is::OneOf(&["allow", "deny"])),
            ("granted_by", false, Is::Name),
            ("justification", false, Is::Text),
            ("expires_at", false, Is::Text),
        ],
        "mgp/access/revoke" => &[
            ("entry_type", true, Is::OneOf(&["capability", "server_grant", "tool_grant"])),
            ("agent_id", true, Is::Name),
            ("server_id", true, Is::Name),
            ("tool_name", false, Is::Name),
        ],
        "mgp/health/ping" => &[("timestamp", false, Is::Text)],
        "mgp/lifecycle/shutdown" => &[("reason", false, Is::Text), ("timeout_ms", false, Is::Wait)],
        "mgp/stream/cancel" => &[("request_id", true, Is::Id), ("reason", false, Is::Text)],
        "mgp/events/subscribe" => &[("channels", true, Is::Names), ("filter", false, Is::Object)],
        "mgp/events/unsubscribe" => &[("subscription_id", true, Is::Name)],
        "mgp/callback/respond" => &[("callback_id", true, Is::Name), ("response", true, Is::Any)],
        "mgp/discovery/list" => &[("filter", false, Is::Object)],
        "mgp/discovery/register" => &[
            ("id", true, Is::Name),
            ("command", false, Is::Name),
            ("args", false, Is::Array),
            ("transport", false, Is::Name),
            ("mgp", false, Is::Object),
            ("created_by", false, Is::Name),
            ("justification", false, Is::Text),
        ],
        "mgp/discovery/deregister" => &[("id", true, Is::Name), ("reason", false, Is::Text)],
        "mgp/tools/discover" => &[
            ("query", false, Is::Text),
            ("strategy", false, Is::OneOf(&["keyword", "semantic", "category"])),
            ("max_results", false, Is::Count),
            ("filter", false, Is::Object),
        ],
        "mgp/tools/request" => {
            &[("reason", true, Is::Text), ("context", false, Is::Text), ("requirements", false, Is::Object)]
        }
        "mgp/tools/session/evict" => &[("tools", true, Is::Names), ("reason", false, Is::Text)],
        _ => return None,
    })
}

/// The parameters of a notification that MCP or MGP defines.
fn notification(method: &str) -> Option<&'static [Member]> {
    Some(match method {
        "notifications/cancelled" => &[("requestId", true, Is::Id), ("reason", false, Is::Text)],
        "notifications/progress" => &[
            ("progressToken", true, Is::Id),
            ("progress", true, Is::Number),
            ("total", false, Is::Number),
            ("message", false, Is::Text),
        ],
        "notifications/message" => &[("level", true, LEVELS), ("logger", false, Is::Text), ("data", true, Is::Any)],
        "notifications/resources/updated" => URI,
        "notifications/tasks/status" | "notifications/tasks" => &[("taskId", true, Is::Name)],
        "notifications/elicitation/complete" => &[("elicitationId", true, Is::Name)],
        "notifications/mgp.audit" => &[
            ("event_type", true, Is::Name),
            ("timestamp", false, Is::Text),
            ("actor", false, Is::Object),
            ("target", false, Is::Object),
        ],
        "notifications/mgp.lifecycle" => {
            &[("server_id", true, Is::Name), ("previous_state", false, Is::Name), ("new_state", true, Is::Name)]
        }
        "notifications/mgp.stream.chunk" => &[
            ("request_id", true, Is::Id),
            ("index", true, Is::Count),
            ("content", true, Is::Any),
            ("done", false, Is::Bool),
        ],
        "notifications/mgp.stream.progress" => &[
            ("request_id", true, Is::Id),
            ("progress", true, Is::Number),
            ("message", false, Is::Text),
            ("estimated_remaining_ms", false, Is::Wait),
        ],
        "notifications/mgp.event" => {
            &[("subscription_id", true, Is::Name), ("channel", true, Is::Name), ("timestamp", false, Is::Text)]
        }
        "notifications/mgp.callback.request" => &[
            ("callback_id", true, Is::Name),
            ("type", true, Is::Name),
            ("message", true, Is::Text),
            ("options", false, Is::Array),
            ("timeout_ms", false, Is::Wait),
        ],
        _ => return None,
    })
}

/// Judges one message.
pub(super) fn check(bytes: Bytes, limits: &Limits) -> Verdict {
    let message = Message::parse(bytes.clone(), limits).map_err(|refusal| Finding::new("rpc", refusal.to_string()))?;
    let whole = Raw::parse(bytes, limits).map_err(|refusal| Finding::new("json", refusal.to_string()))?;
    refuse_duplicates(&whole)?;
    match &message {
        Message::Request(message) => {
            method_name(&message.method)?;
            if message.method.starts_with("notifications/") {
                return Err(refuse("a notification with an id".to_owned()));
            }
            let params = params(message.params.as_ref())?;
            meta(&params)?;
            if let Some(members) = request(&message.method) {
                members_fit(&params, members)?;
            }
            parts(&message.method, &params)
        }
        Message::Notification(message) => {
            method_name(&message.method)?;
            if request(&message.method).is_some() {
                return Err(refuse(format!("the request `{}` has no id", message.method)));
            }
            let params = params(message.params.as_ref())?;
            meta(&params)?;
            notification(&message.method).map_or(Ok(()), |members| members_fit(&params, members))
        }
        Message::Response(message) => match &message.outcome {
            Ok(result) => outcome(result),
            Err(_) => Ok(()),
        },
    }
}

fn refuse(message: String) -> Finding {
    Finding::new("rpc", message)
}

fn method_name(method: &str) -> Verdict {
    if method.is_empty() || method.len() > 256 || method.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(refuse("the method is no name".to_owned()));
    }
    Ok(())
}

/// The parameters, opened one level; none where there are none. Deeper parts stay raw, whatever they hold.
fn params(raw: Option<&Raw>) -> Result<Object, Finding> {
    open(raw.unwrap_or(&Raw::empty_object())).ok_or_else(|| refuse("the parameters are no object".to_owned()))
}

fn open(raw: &Raw) -> Option<Object> {
    Object::open(raw).ok()
}

fn members_fit(object: &Object, members: &[Member]) -> Verdict {
    for (name, needed, is) in members {
        match object.get(name) {
            None if *needed => return Err(refuse(format!("`{name}` is missing"))),
            None => {}
            // MGP writes out what is not there.
            Some(value) if value.kind() == Kind::Null && !needed && name.contains('_') => {}
            Some(value) if fits(&value, *is) => {}
            Some(value) => return Err(refuse(format!("`{name}` cannot be {}", brief(value.as_str())))),
        }
    }
    Ok(())
}

fn brief(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}..", &text[..at]),
        None => text.to_owned(),
    }
}

fn fits(value: &Raw, is: Is) -> bool {
    let text = |fits: fn(&str) -> bool| value.as_text().is_some_and(|text| fits(&text));
    match is {
        Is::Any => true,
        Is::Text => text(|text| !text.contains('\0')),
        Is::Name => text(is_name),
        Is::Uri => text(is_uri),
        Is::OneOf(words) => value.as_text().is_some_and(|word| words.contains(&word.as_str())),
        Is::Object => value.kind() == Kind::Object,
        Is::Texts => open(value).is_some_and(|members| members.iter().all(|(_, value)| value.kind() == Kind::String)),
        Is::Array => value.kind() == Kind::Array,
        Is::Names => value.elements().is_some_and(|names| names.iter().all(|name| fits(name, Is::Name))),
        Is::Bool => value.kind() == Kind::Bool,
        Is::Id => Id::from_raw(value).is_some(),
        Is::Number => value.view::<f64>().is_ok_and(f64::is_finite),
        Is::Count => whole(value, SAFE),
        Is::Wait => whole(value, LONGEST_WAIT),
    }
}

fn whole(value: &Raw, most: f64) -> bool {
    value.view::<f64>().is_ok_and(|number| (0.0..=most).contains(&number) && number.fract() == 0.0)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 1_024 && !text.chars().any(char::is_control)
}

/// A scheme and something behind it, without control characters.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let scheme_fits = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    scheme_fits && !rest.is_empty() && text.len() <= 65_536 && !text.chars().any(char::is_control)
}

/// The metadata that every message may carry.
fn meta(params: &Object) -> Verdict {
    let Some(meta) = params.get("_meta") else { return Ok(()) };
    let Some(meta) = open(&meta) else { return Err(refuse("`_meta` is no object".to_owned())) };
    members_fit(
        &meta,
        &[
            ("progressToken", false, Is::Id),
            ("io.modelcontextprotocol/protocolVersion", false, Is::Name),
            ("io.modelcontextprotocol/clientInfo", false, Is::Object),
            ("io.modelcontextprotocol/clientCapabilities", false, Is::Object),
        ],
    )
}

/// Objects inside the parameters of a request.
fn parts(method: &str, params: &Object) -> Verdict {
    let part = |name: &str| params.get(name).and_then(|part| open(&part));
    match method {
        "initialize" => {
            if let Some(info) = part("clientInfo") {
                members_fit(&info, &[("name", true, Is::Text), ("version", true, Is::Text)])?;
            }
            for (name, capability) in part("capabilities").iter().flat_map(Object::iter) {
                if capability.kind() != Kind::Object {
                    return Err(refuse(format!("the capability `{name}` is no object")));
                }
            }
            Ok(())
        }
        "completion/complete" => {
            if let Some(reference) = part("ref") {
                members_fit(&reference, &[("type", true, Is::OneOf(&["ref/prompt", "ref/resource", "ref/tool"]))])?;
                if reference.text("type").as_deref() == Some("ref/resource") {
                    members_fit(&reference, &[("uri", true, Is::Text)])?;
                } else {
                    members_fit(&reference, &[("name", true, Is::Name)])?;
                }
            }
            part("argument").map_or(Ok(()), |argument| {
                members_fit(&argument, &[("name", true, Is::Name), ("value", true, Is::Text)])
            })
        }
        "tools/call" => part("task").map_or(Ok(()), |task| members_fit(&task, &[("ttl", false, Is::Wait)])),
        "sampling/createMessage" => {
            for message in params.get("messages").and_then(|messages| messages.elements()).into_iter().flatten() {
                let Some(message) = open(&message) else { return Err(refuse("a message is no object".to_owned())) };
                members_fit(
                    &message,
                    &[("role", true, Is::OneOf(&["user", "assistant"])), ("content", true, Is::Any)],
                )?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A result: an object, and what MCP defines in results has its type.
fn outcome(result: &Raw) -> Verdict {
    let Some(result) = open(result) else { return Err(refuse("the result is no object".to_owned())) };
    meta(&result)?;
    members_fit(
        &result,
        &[("nextCursor", false, Is::Text), ("isError", false, Is::Bool), ("serverInfo", false, Is::Object)],
    )?;
    for list in ["tools", "resources", "prompts", "resourceTemplates", "contents"] {
        let Some(value) = result.get(list) else { continue };
        let fits = value.elements().is_some_and(|items| {
            // MGP lists the names of tools in some answers.
            items.iter().all(|item| item.kind() == Kind::Object || list == "tools" && item.kind() == Kind::String)
        });
        if !fits {
            return Err(refuse(format!("`{list}` is no list of objects")));
        }
    }
    Ok(())
}
