//! The kernel's own methods and tools for what runs over time: streams, events, questions (MGP 12 and 13, proposals 8
//! and 15). A method `mgp/stream/cancel` and a tool `mgp.stream.cancel` are one implementation.
//!
//! They are for every client that agreed on the extension: each is about what is the client's own.

use serde_json::{Value, json};
use switchboard_peer::{Context, Reply};
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::{Extension, method};
use switchboard_protocol::proposals::{self, Proposal, push, streaming};
use switchboard_wire::{Edit, Id, Raw, Request};

use crate::kernel::Kernel;
use crate::{bridge, initialize};

/// Methods that have a tool of the same meaning, with the extension that they belong to.
const TOOLS: [(&str, Extension); 7] = [
    (method::STREAM_CANCEL, Extension::Streaming),
    (method::STREAM_PACE, Extension::Streaming),
    (method::EVENTS_SUBSCRIBE, Extension::Events),
    (method::EVENTS_UNSUBSCRIBE, Extension::Events),
    (method::EVENTS_REPLAY, Extension::Events),
    (method::PENDING_CALLBACKS, Extension::Callbacks),
    (method::CALLBACK_RESPOND, Extension::Callbacks),
];

impl Kernel {
    /// Answers a method of this kind; `None` for one that is not.
    pub(crate) async fn flow_method(&self, context: &Context, request: &Request) -> Option<Result<Reply, Fault>> {
        let params = request.params.clone().unwrap_or_else(Raw::empty_object);
        if &*request.method == streaming::RESUME {
            return Some(self.resume_operation(context, &request.id, &params).await);
        }
        let answer = self.flow_request(context, &request.method, &params).await?;
        Some(answer.map(|raw| Ok(bridge::for_era(raw, context.caller.era())).into()))
    }

    async fn flow_request(&self, context: &Context, name: &str, params: &Raw) -> Option<Result<Raw, Fault>> {
        Some(match name {
            method::STREAM_CANCEL => self.cancel_stream(context, params).await,
            method::STREAM_PACE => self.pace_stream(context, params).await,
            method::EVENTS_SUBSCRIBE => self.subscribe_events(context, params).await,
            method::EVENTS_UNSUBSCRIBE | push::UNSUBSCRIBE => self.unsubscribe_events(context, params),
            method::EVENTS_REPLAY | push::POLL => self.replay_events(context, params),
            push::SUBSCRIBE => self.subscribe_push(context, params).await,
            method::PENDING_CALLBACKS => self.pending_callbacks(context).await,
            // Questions of the gate itself are answered at its desk.
            method::CALLBACK_RESPOND => return self.answer_callback(context, params).await,
            _ => return None,
        })
    }

    /// Answers a call of a tool of this kind; `None` for one that is not, or that was not agreed on with this client.
    pub(crate) async fn flow_tool(
        &self,
        context: &Context,
        request: &Id,
        name: &str,
        arguments: Option<Raw>,
    ) -> Option<Result<Reply, Fault>> {
        let arguments = arguments.unwrap_or_else(Raw::empty_object);
        if name == streaming::RESUME_TOOL {
            let known = proposals::declared(&context.caller.capabilities).has(Proposal::Streaming);
            return if known { Some(self.resume_operation(context, request, &arguments).await) } else { None };
        }
        let (method, _) = shown(context).find(|(method, _)| method::tool_of(method).as_deref() == Some(name))?;
        let answer = match self.flow_request(context, method, &arguments).await {
            Some(answer) => answer,
            None if method == method::CALLBACK_RESPOND => {
                let request = Request::new(request.clone(), method, Some(arguments));
                self.callback_answered(context, &request).await
            }
            None => return None,
        };
        Some(answer.map(|raw| Ok(bridge::for_era(tool_result(&raw), context.caller.era())).into()))
    }

    /// The tools of this kind that a client is shown.
    pub(crate) fn flow_tools(&self, context: &Context) -> Vec<Raw> {
        let capabilities = &context.caller.capabilities;
        if capabilities.as_bytes().len() <= 2 {
            return Vec::new();
        }
        // Until 0.4 these are methods. Who has methods for them shall not spend a model's attention on tools.
        let by_tools =
            initialize::agreed_with(capabilities).is_some_and(|agreement| has_tools(agreement.peer_version()));
        let own = shown(context).filter(|_| by_tools);
        let mut tools: Vec<Value> = own.filter_map(|(method, _)| definition(method)).collect();
        if proposals::declared(capabilities).has(Proposal::Streaming) {
            tools.push(json!({
                "name": streaming::RESUME_TOOL,
                "description": "Goes on with an operation from a checkpoint that came with one of its pieces.",
                "inputSchema": {"type": "object",
                    "properties": {"operation_id": {"type": "string"}, "checkpoint_token": {"type": "string"}},
                    "required": ["operation_id", "checkpoint_token"]},
            }));
        }
        tools.iter().filter_map(|tool| Raw::from_value(tool).ok()).collect()
    }
}

/// Whether a version of MGP has kernel tools: from 0.5 on.
fn has_tools(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(0), Some(minor)) => minor >= 5,
        (Some(_), _) => true,
        (None, _) => false,
    }
}

/// The methods that a client may call as tools.
fn shown(context: &Context) -> impl Iterator<Item = (&'static str, Extension)> {
    let agreement = initialize::agreed_with(&context.caller.capabilities);
    TOOLS
        .into_iter()
        .filter(move |(_, extension)| agreement.as_ref().is_some_and(|agreement| agreement.has(*extension)))
}

fn definition(method: &str) -> Option<Value> {
    let text = |words: &str| json!({"type": "string", "description": words});
    let (description, properties, required): (_, _, &[&str]) = match method {
        method::STREAM_CANCEL => (
            "Ends a call of yours that is under way, and gives what came of it so far.",
            json!({"request_id": {"description": "The id of the request"}, "operation_id": text("Or the operation"),
                "reason": text("Why")}),
            &[],
        ),
        method::STREAM_PACE => (
            "Sets how fast the pieces of a call of yours may come; 0 halts them.",
            json!({"request_id": {"description": "The id of the request"}, "operation_id": text("Or the operation"),
                "max_chunks_per_second": {"type": "number", "minimum": 0},
                "reason": {"type": "string", "enum": ["client_busy", "rendering", "user_paused"]}}),
            &["max_chunks_per_second"],
        ),
        method::EVENTS_SUBSCRIBE => (
            "Subscribes to events. The answer says which of the channels there are.",
            json!({"channels": {"type": "array", "items": {"type": "string"}, "description": "Names or patterns: tool.*"},
                "filter": {"type": "object", "description": "min_severity, and fields that the event must have"},
                "server_id": text("Only of this server"), "ttl_seconds": {"type": "integer", "minimum": 1}}),
            &["channels"],
        ),
        method::EVENTS_UNSUBSCRIBE => {
            ("Ends a subscription.", json!({"subscription_id": text("The subscription")}), &["subscription_id"])
        }
        method::PENDING_CALLBACKS => ("Lists the questions of servers that wait for your answer.", json!({}), &[]),
        method::CALLBACK_RESPOND => (
            "Answers a question of a server.",
            json!({"callback_id": text("The question"), "response": {"description": "The answer"}}),
            &["callback_id", "response"],
        ),
        method::EVENTS_REPLAY => (
            "Gives the events of a subscription after a number.",
            json!({"subscription_id": text("The subscription"), "after_seq": {"type": "integer", "minimum": 0},
                "limit": {"type": "integer", "minimum": 1, "maximum": 1000}}),
            &["subscription_id"],
        ),
        _ => return None,
    };
    Some(json!({
        "name": method::tool_of(method),
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
        "_mgp": {"source": "kernel", "admin_only": false},
    }))
}

/// What a tool says, for models and for programs.
fn tool_result(answer: &Raw) -> Raw {
    let block = Edit::empty().set("type", Raw::string("text")).set("text", Raw::string(answer.as_str())).finish();
    Edit::empty().set("content", Raw::array([&block])).set("structuredContent", answer.clone()).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_with_kernel_tools() {
        for (version, tools) in
            [("0.3.0", false), ("0.4", false), ("0.5.0", true), ("0.6.1", true), ("1.0", true), ("x", false)]
        {
            assert_eq!(has_tools(version), tools, "{version}");
        }
    }

    #[test]
    fn every_tool_has_a_definition() {
        assert!(TOOLS.iter().all(|(method, _)| definition(method).is_some()));
    }
}
