//! What the kernel answers itself: its own methods and tools.
//!
//! One table (`table.rs`, of rows as `row.rs` has them) says of each what it is called, who may, what must be agreed on, whether it counts, where it is
//! listed and which function answers. This file is what is done with a row: a method and a tool are dispatched, and written as
//! the client's era wants them, in one place. This crate knows no kernel, directory, stream or transport: what a service needs
//! of the house around it are the traits of `house.rs`, and each keeps its own state, all of it together in [`Services`].
//!
//! - `access.rs` who may use what; `access/agreement.rs` a person agrees to a change. - `scopes.rs` session tokens and whether a
//!   call would pass. - `audit.rs` the log. - `permissions.rs` what nobody sends. - `lifecycle.rs` health, start and end of
//!   servers. - `running.rs` streams, events and questions. - `discovery.rs` finding tools. - `registry.rs` servers that come and
//!   go. - `manifest.rs` what a caller may use. - `events.rs` subscriptions. - `intent.rs` advice.
//! - `operator_actions.rs` what an operator decides, from here and from commands.

/// Shows a type by its name alone: what it holds is long, or other people's.
macro_rules! shown_by_name {
    ($([$($generics:tt)*] $type:ty, $name:literal;)*) => {$(
        impl<$($generics)*> std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct($name).finish_non_exhaustive()
            }
        }
    )*};
}

mod access;
mod audit;
mod discovery;
mod events;
pub mod house;
mod instructions;
mod intent;
mod lifecycle;
mod manifest;
mod operator_actions;
mod permissions;
pub mod registry;
mod row;
mod running;
mod scopes;
mod server_offers;
pub mod table;
mod tool_context;

use std::sync::Arc;

use switchboard_peer::{Context, Reply, Session};
use switchboard_protocol::bridge;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_store::Actor;
use switchboard_wire::{Edit, Raw, Request};

pub use self::discovery::{CALL, FinderState, ToolFinder, VisibleTools};
pub use self::events::{EventService, Events, NewSubscription, on_stream};
use self::house::DynHouse;
pub use self::instructions::joined;
pub use self::intent::Adviser;
pub use self::lifecycle::{SERVERS_LIST, SERVERS_ORDER, ServerLife, ending};
pub use self::manifest::{ManifestService, Manifests};
pub use self::operator_actions::OperatorActions;
use self::registry::{Registrar, Registry};
use self::row::{Answer, Form, Negotiated, OwnCall, OwnMethod, Who};
pub use self::tool_context::{
    AgentTools, COMMAND_LINE, ClientBounds, ClientList, ClientTools, Clients, ListableTool, ToolContext,
};

shown_by_name! {
    [] FinderState, "FinderState";
    [] VisibleTools, "VisibleTools";
    [H: ?Sized] ToolFinder<'_, H>, "ToolFinder";
    [] Events, "Events";
    [H: ?Sized] EventService<H>, "EventService";
    [H: ?Sized] Adviser<'_, H>, "Adviser";
    [H: ?Sized] ServerLife<'_, H>, "ServerLife";
    [] Manifests, "Manifests";
    [H: ?Sized] ManifestService<'_, H>, "ManifestService";
    [] Registry, "Registry";
    [H: ?Sized] Registrar<'_, H>, "Registrar";
}

/// What services keep, each its own.
#[derive(Debug, Default)]
pub struct Services {
    /// What is loaded for whom.
    pub discovery: FinderState,
    /// Subscriptions and the bus.
    pub events: Arc<Events>,
    /// What was asked for and measured.
    pub manifests: Manifests,
    /// The servers that come and go.
    pub registry: Registry,
}

/// Answers a method that is the kernel's own; `None` for one that is not.
///
/// Every method of MGP is: one that is not in the table is between a kernel and its servers. A client that sends it speaks
/// to a kernel, and shall not speak to a server in the kernel's voice.
pub async fn own_method(house: &DynHouse, context: &Context, request: &Request) -> Option<Result<Reply, Fault>> {
    let name = &*request.method;
    let is_here = |row: &&OwnMethod| !row.gives_way || house.view().tool(name).is_none();
    let Some(row) = table::of_method(name).filter(is_here) else {
        return name.starts_with(table::PREFIX).then(|| Err(Fault::no_such_method(name)));
    };
    // access
    if let Who::Admin(what, instead) = row.who
        && !house.decides_for_others(context)
    {
        return Some(Err(not_admin(what, instead)));
    }
    let call = OwnCall { context, id: &request.id, given: request.params.clone(), form: Form::Method };
    Some(match row.run(house, &call).await {
        Ok(Answer::Unknown) => Err(Fault::no_such_method(name)),
        answer => answer.and_then(|answer| reply(&call, answer, None)),
    })
}

/// Answers a call of a tool that is the kernel's own; `None` for one that is not, or that this client does not have: what
/// is not there for a client does not exist for it.
pub async fn own_tool(
    house: &DynHouse,
    context: &Context,
    name: &str,
    request: &Request,
    arguments: Option<Raw>,
) -> Option<Result<Reply, Fault>> {
    let (row, tool) = table::of_tool(name)?;
    // access: the tools for finding others answer everybody. A list grows and shrinks with the servers that are up, and who was
    // told of them in one moment calls them in another.
    if Negotiated::of(house, context).has(tool) == Some(false) {
        return None;
    }
    let given = if tool.hears_delegation {
        house.with_delegation_beside(arguments, request.params.as_ref())
    } else {
        arguments
    };
    let given = Some(given.unwrap_or_else(Raw::empty_object));
    let call = OwnCall { context, id: &request.id, given, form: Form::Tool };
    match row.run(house, &call).await {
        Ok(Answer::Unknown) => None,
        answer => Some(answer.and_then(|answer| reply(&call, answer, tool.words))),
    }
}

/// What a client is told.
fn reply(
    call: &OwnCall<'_>,
    answer: Answer,
    words: Option<fn(&serde_json::Value) -> Option<String>>,
) -> Result<Reply, Fault> {
    let raw = match answer {
        Answer::Raw(raw) => raw,
        Answer::Value(value) => Raw::from_value(&value).map_err(Fault::internal)?,
        Answer::Reply(reply) => return Ok(reply),
        Answer::Unknown => return Err(Fault::no_such_tool("")),
    };
    let result = match call.form {
        Form::Method => raw,
        Form::Tool => {
            let text = words.and_then(|words| words(&raw.view().unwrap_or_default()));
            tool_result(&raw, text.as_deref())
        }
    };
    Ok(Ok(bridge::for_era(result, call.context.caller.era())).into())
}

/// What a tool says, for programs and, in the same words or in others, for models.
fn tool_result(answer: &Raw, text: Option<&str>) -> Raw {
    let text = Raw::string(text.unwrap_or(answer.as_str()));
    let block = Edit::empty().set("type", Raw::string("text")).set("text", text).finish();
    Edit::empty().set("content", Raw::array([&block])).set("structuredContent", answer.clone()).finish()
}

/// The refusal of what only somebody may do who decides for others.
pub(crate) fn not_admin(what: &str, instead: Option<&'static str>) -> Fault {
    let fault = Fault::new(FaultKind::PermissionDenied, format!("you may not {what}"));
    match instead {
        Some(instead) => fault.suggest(instead),
        None => fault,
    }
}

/// The principal of a session as the one who did something.
fn principal(session: &Session) -> Actor {
    switchboard_audit::principal(&session.principal, session.identity.admin)
}
