//! Failures as a client's dialects have them: plain MCP, MGP 14, proposal 11, or several at once.
//!
//! A server's own error keeps its number and everything that it says. Beside it stands which server it came from, and what
//! each dialect says of getting over it.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use switchboard_directory::View;
use switchboard_exchange::MGP_DIALECT;
use switchboard_gate::{Gate, Offers as _, in_dialects_of};
use switchboard_peer::{Context, Reply};
use switchboard_protocol::bridge;
use switchboard_protocol::fault::{Fault, FaultKind, Rendering};
use switchboard_protocol::mcp::strict;
use switchboard_protocol::proposals::{self, Proposal};
use switchboard_wire::{Edit, ErrorObject, Raw};

/// Letters of a tool's own words that are repeated in the error of its result.
const MAX_MESSAGE_CHARS: usize = 500;

/// A fault as a client's answer. What is wrong with the call itself, and not with its form, is a result for a client of
/// proposal 11.
#[must_use]
pub fn told(context: &Context, plain: Rendering, is_call: bool, fault: &Fault) -> Reply {
    let rendering = in_dialects_of(context, plain);
    let failure = if is_call && rendering.structured { proposals::failure_result(fault) } else { None };
    match failure {
        Some(result) => {
            let said = fault.render(&rendering);
            // Who speaks MGP as well finds its code and its recovery fields where results have such things.
            let mgp = said.data.as_ref().and_then(|data| data.member("_mgp")).filter(|_| rendering.mgp);
            let code = Raw::from_value(&said.code).ok().filter(|_| rendering.mgp);
            let mgp = mgp.and_then(|mgp| Some(Edit::of(&mgp).ok()?.set_optional("code", code).finish()));
            let result = Edit::of(&result).map_or(result, |edit| edit.set_optional("_mgp", mgp).finish());
            Ok(bridge::for_era(result, context.caller.era())).into()
        }
        None => Err(fault.render(&rendering)).into(),
    }
}

/// The server that an error was stamped with, and whether it is in the words of MGP.
fn origin_of(error: &ErrorObject) -> Option<(String, bool)> {
    let origin = error.data.as_ref()?.member("origin")?;
    let text = |key: &str| origin.member(key)?.as_text();
    Some((text("server_id")?, text("dialect")? == MGP_DIALECT))
}

/// A result of a tool that failed, with the error object of proposal 11 for a client that speaks it. What the tool said
/// itself stays.
#[must_use]
pub fn with_error(context: &Context, reply: Reply) -> Reply {
    static FLAG: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"isError\""));
    let Ok(result) = &reply.outcome else { return reply };
    let capabilities = &context.caller.capabilities;
    // Capabilities are short, and most do not name it; results can be long.
    if memchr::memmem::find(capabilities.as_bytes(), Proposal::StructuredErrors.as_str().as_bytes()).is_none()
        || FLAG.find(result.as_bytes()).is_none()
        || !proposals::declared(capabilities).has(Proposal::StructuredErrors)
    {
        return reply;
    }
    let Ok(edit) = Edit::of(result) else { return reply };
    let failed = edit.object().get("isError").is_some_and(|flag| strict::says_failure(&flag));
    // A question of the gate, or of the server, is no failure.
    if !failed || edit.object().has("error") || edit.object().has("status") {
        return reply;
    }
    let text = edit.object().get("content").and_then(|content| content.elements()?.first()?.member("text")?.as_text());
    let message: String = text.as_deref().unwrap_or("the tool failed").chars().take(MAX_MESSAGE_CHARS).collect();
    let error = Fault::new(FaultKind::UpstreamError, message).structured();
    Reply { outcome: Ok(edit.set("error", error).finish()), ..reply }
}

/// An error as a client's answer: a server's own, or one that was written for the client already.
pub async fn told_upstream(
    (gate, view): (Gate<'_>, &View),
    context: &Context,
    plain: Rendering,
    is_call: bool,
    error: ErrorObject,
) -> Reply {
    let Some((server, in_mgp)) = origin_of(&error) else {
        return Err(Fault::upstream("", false, error).render(&plain)).into();
    };
    let error = with_known_fallback((gate, view), context, &server, error).await;
    told(context, plain, is_call, &Fault::upstream(server, in_mgp, error))
}

/// An error that names another tool of its server by the name that the client knows it by, if it may use it.
async fn with_known_fallback(
    (gate, view): (Gate<'_>, &View),
    context: &Context,
    server: &str,
    mut error: ErrorObject,
) -> ErrorObject {
    const KEY: &str = "fallback_tool";
    let named = error.data.as_ref().and_then(|data| data.at(&["_mgp", KEY])?.as_text());
    let (Some(named), Some(data)) = (named, &error.data) else { return error };
    let known = name_for((gate, view), context, server, &named).await;
    let edited = Edit::of(data).and_then(|data| {
        data.within("_mgp", |said| match &known {
            Some(known) => said.set(KEY, Raw::string(known)),
            None => said.remove(KEY),
        })
    });
    if let Ok(edited) = edited {
        error.data = Some(edited.finish());
    }
    error
}

/// What a client calls a tool of a server; `None` where it may not use it.
async fn name_for((gate, view): (Gate<'_>, &View), context: &Context, server: &str, tool: &str) -> Option<String> {
    let tables = gate.tables().await.ok()?;
    let server = view.server(server)?;
    let (exposed, route) = view.directory.tool_of(server.id(), tool)?;
    let may = gate.access(&tables, &context.session, server, Some((tool, exposed))).allow;
    let lacks = !gate.standing(&tables, server, route.policy.as_deref()).missing.is_empty();
    (may && !lacks).then(|| exposed.to_owned())
}
