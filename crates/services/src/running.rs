//! The kernel's own methods and tools for what runs over time: streams, events, questions (MGP 12 and 13, proposals 8 and 15).
//!
//! They are for every client that agreed on the extension: each is about what is the client's own.

use serde_json::{Value, json};
use switchboard_protocol::mgp::{Extension, method};
use switchboard_protocol::proposals::{Proposal, push, streaming};

use super::events::EventService;
use super::row::{Form, Needs, OwnMethod, OwnTool, object, run, text};

pub(super) const ROWS: &[OwnMethod] = &[
    OwnMethod::method(
        method::STREAM_CANCEL,
        "Ends a call of yours that is under way, and gives what came of it so far.",
        run!(house, call => house.cancel_stream(call.context, &call.params()).await),
    )
    .tool(tool("mgp_stream_cancel", Extension::Streaming, cancel_schema))
    .uncounted(),
    OwnMethod::method(
        method::STREAM_PACE,
        "Sets how fast the pieces of a call of yours may come; 0 halts them.",
        run!(house, call => house.pace_stream(call.context, &call.params()).await),
    )
    .tool(tool("mgp_stream_pace", Extension::Streaming, pace_schema))
    .uncounted(),
    OwnMethod::method(
        method::EVENTS_SUBSCRIBE,
        "Subscribes to events. The answer says which of the channels there are.",
        run!(house, call => EventService::of(house).subscribe(call.context, &call.params()).await),
    )
    .tool(tool("mgp_events_subscribe", Extension::Events, subscribe_schema)),
    OwnMethod::method(
        method::EVENTS_UNSUBSCRIBE,
        "Ends a subscription.",
        run!(house, call => EventService::of(house).unsubscribe(call.context, &call.params())),
    )
    .tool(tool("mgp_events_unsubscribe", Extension::Events, || {
        object(&json!({"subscription_id": text("The subscription")}), &["subscription_id"])
    }))
    .uncounted(),
    OwnMethod::method(
        method::EVENTS_REPLAY,
        "Gives the events of a subscription after a number.",
        run!(house, call => EventService::of(house).replay(call.context, &call.params())),
    )
    .tool(tool("mgp_events_replay", Extension::Events, replay_schema)),
    OwnMethod::method(
        method::PENDING_CALLBACKS,
        "Lists the questions of servers that wait for your answer.",
        run!(house, call => house.pending_callbacks(call.context, call.form == Form::Tool).await),
    )
    .tool(tool("mgp_events_pending_callbacks", Extension::Callbacks, || object(&json!({}), &[]))),
    OwnMethod::method(
        method::CALLBACK_RESPOND,
        "Answers a question of a server.",
        run!(house, call => house.respond_to_callback(call.context, call.given.as_ref(), call.form == Form::Tool).await),
    )
    .tool(tool("mgp_callback_respond", Extension::Callbacks, || {
        let properties = json!({"callback_id": text("The question"), "response": {"description": "The answer"}});
        object(&properties, &["callback_id", "response"])
    }))
    .uncounted(),
    OwnMethod::method(
        push::SUBSCRIBE,
        "Subscribes to events (proposal 15).",
        run!(house, call => EventService::of(house).subscribe_push(call.context, &call.params()).await),
    ),
    OwnMethod::method(
        push::UNSUBSCRIBE,
        "Ends a subscription (proposal 15).",
        run!(house, call => EventService::of(house).unsubscribe(call.context, &call.params())),
    )
    .uncounted(),
    OwnMethod::method(
        push::POLL,
        "Gives the events of a subscription after a number (proposal 15).",
        run!(house, call => EventService::of(house).replay(call.context, &call.params())),
    ),
    OwnMethod::method(
        streaming::RESUME,
        "Goes on with an operation from a checkpoint that came with one of its pieces.",
        run!(house, call => house.resume_operation(call.context, call.id, &call.params()).await),
    )
    .tool(
        OwnTool::new(streaming::RESUME_TOOL, || {
            let properties = json!({"operation_id": {"type": "string"}, "checkpoint_token": {"type": "string"}});
            object(&properties, &["operation_id", "checkpoint_token"])
        })
        .needs(Needs::Proposal(Proposal::Streaming))
        .hears_delegation()
        .unmarked(),
    ),
];

const fn tool(name: &'static str, extension: Extension, schema: fn() -> Value) -> OwnTool {
    OwnTool::new(name, schema).needs(Needs::Mgp(extension)).hears_delegation().listed_from_kernel_tools()
}

fn cancel_schema() -> Value {
    let properties = json!({
        "request_id": {"description": "The id of the request"},
        "operation_id": text("Or the operation"),
        "reason": text("Why"),
    });
    object(&properties, &[])
}

fn pace_schema() -> Value {
    let properties = json!({
        "request_id": {"description": "The id of the request"},
        "operation_id": text("Or the operation"),
        "max_chunks_per_second": {"type": "number", "minimum": 0},
        "reason": {"type": "string", "enum": ["client_busy", "rendering", "user_paused"]},
    });
    object(&properties, &["max_chunks_per_second"])
}

fn subscribe_schema() -> Value {
    let properties = json!({
        "channels": {"type": "array", "items": {"type": "string"}, "description": "Names or patterns: tool.*"},
        "filter": {"type": "object", "description": "min_severity, and fields that the event must have"},
        "server_id": text("Only of this server"),
        "ttl_seconds": {"type": "integer", "minimum": 1},
    });
    object(&properties, &["channels"])
}

fn replay_schema() -> Value {
    let properties = json!({
        "subscription_id": text("The subscription"),
        "after_seq": {"type": "integer", "minimum": 0},
        "limit": {"type": "integer", "minimum": 1, "maximum": 1000},
    });
    object(&properties, &["subscription_id"])
}
