//! What a client may have meant by the name of a tool that there is not.
//!
//! It is told only of tools that it may use: what it may not use is refused in the same words as what is not there, and what is
//! near to either is the same.

use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};

use super::Kernel;
use crate::gate::Offers as _;
use crate::names;
use crate::services::{ToolFinder, table};

/// Letters of a name that is looked for, at most.
const MAX_NAME_CHARS: usize = 128;

/// A fault with what the client may have meant, where it is that there is no tool of a name.
pub(super) async fn with_what_was_meant(kernel: &Kernel, context: &Context, fault: Fault) -> Fault {
    if fault.kind() != FaultKind::UnknownTool || fault.suggestion().is_some() {
        return fault;
    }
    let plain = Fault::no_such_tool("");
    let Some(wanted) = fault.message().strip_prefix(plain.message()).filter(|name| !name.is_empty()) else {
        return fault;
    };
    let meant = meant_by(kernel, context, wanted).await;
    if meant.is_empty() {
        return fault;
    }
    let hint = format!("did you mean `{}`?", meant.join("` or `"));
    Fault::new(FaultKind::UnknownTool, format!("{}; {hint}", fault.message())).suggest(hint)
}

/// The tools that a client may use and that have the name at their server, or nearly.
async fn meant_by(kernel: &Kernel, context: &Context, wanted: &str) -> Vec<String> {
    if wanted.len() > MAX_NAME_CHARS {
        return Vec::new();
    }
    let view = kernel.view();
    let usable: Vec<(String, String)> = if names::is_reserved(wanted) {
        let finding = ToolFinder::of(kernel).finding_tools(context, &*kernel.seen_at(&view)).await;
        let own = finding.into_iter().chain(table::listed(kernel, context, false));
        own.filter_map(|tool| tool.member("name")?.as_text()).map(|name| (name.clone(), name)).collect()
    } else {
        let Ok(tables) = kernel.gate().tables().await else { return Vec::new() };
        let usable = view.directory.tools().filter(|(id, exposed, route)| {
            let Some(server) = view.server(id) else { return false };
            let named = Some((&*route.original, *exposed));
            kernel.gate().access(&tables, &context.session, server, named).allow
                && kernel.gate().standing(&tables, server, route.policy.as_deref()).missing.is_empty()
        });
        usable.map(|(_, exposed, route)| (exposed.to_owned(), route.original.to_string())).collect()
    };
    names::meant_among(wanted, &usable)
}
