//! `initialize` and `server/discover`: what the kernel says of itself and of the servers behind it.

mod capabilities;
mod notice;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use switchboard_directory::View;
use switchboard_gate::inspect::remembered_instructions;
use switchboard_gate::{Presented, agreed_with, provenance};
use switchboard_peer::{Context, Reply};
use switchboard_protocol::mcp::{meta, method};
use switchboard_protocol::mgp::NegotiationPlace;
use switchboard_protocol::spoken::{NAME, PROPOSALS};
use switchboard_protocol::{Era, Revision, bridge, proposals};
use switchboard_services::{self as services, ToolFinder};
use switchboard_upstream::{Phase, Server};
use switchboard_wire::{Edit, Kind, Object, Raw};

use crate::introduction::{own_info, yes};
use crate::{ClientHost, ClientState};

/// Answers `initialize`, with the servers that are there.
pub async fn initialize<H: ClientHost>(host: &H, context: &Context, params: Option<&Raw>) -> Reply {
    let asked = params.and_then(|params| params.member("protocolVersion")?.as_text());
    let revision = Revision::negotiate_legacy(asked.as_deref().unwrap_or_default());
    let greeting = greeting(host, context).await;
    let said = params.and_then(|params| params.member("capabilities"));
    let base = greeting.base.filter(|(_, era)| *era == Era::Legacy).map(|(raw, _)| raw);
    let edit = base.as_ref().and_then(|raw| Edit::of(raw).ok()).unwrap_or_else(Edit::empty);
    let result = edit
        .set("protocolVersion", Raw::string(revision.as_str()))
        .set("capabilities", with_mgp(legacy_capabilities(&greeting.capabilities), said.as_ref()))
        .set("serverInfo", greeting.info)
        .set_optional("instructions", greeting.instructions.as_deref().map(Raw::string))
        .finish();
    ClientState::of(&context.session).introduce();
    Ok(result).into()
}

/// Answers `server/discover`, with the servers that are there.
pub async fn discover<H: ClientHost>(host: &H, context: &Context) -> Reply {
    let greeting = greeting(host, context).await;
    let said = Some(&context.caller.capabilities);
    let base = greeting.base.filter(|(_, era)| *era == Era::Modern).map(|(raw, _)| raw);
    let edit = base.as_ref().and_then(|raw| Edit::of(raw).ok()).unwrap_or_else(Edit::empty);
    let versions: Vec<Raw> = Revision::ALL.iter().rev().map(|revision| Raw::string(revision.as_str())).collect();
    let edit = edit
        .set("supportedVersions", Raw::array(&versions))
        .set("capabilities", with_mgp(modern_capabilities(&greeting.capabilities), said))
        .set_optional("instructions", greeting.instructions.as_deref().map(Raw::string));
    let edit = edit.within("_meta", |meta| meta.set(meta::SERVER_INFO, greeting.info));
    let result = edit.map_or_else(|_| Raw::empty_object(), Edit::finish);
    Ok(bridge::modern_result(result, method::DISCOVER)).into()
}

/// What this client is told: nothing of servers that it may not use at all.
async fn greeting<H: ClientHost>(host: &H, context: &Context) -> Greeting {
    let view = host.offered();
    let gate = host.gate();
    let tables = gate.tables().await.ok();
    let presented = Presented::of(context, None);
    // A principal that may use a single tool has reason to know of the server.
    let may_see = |server: &Server| {
        tables.as_deref().is_some_and(|tables| gate.knows_within(tables, &context.session, &presented, server))
    };
    // What is held back is told by name to those alone who may use the whole server.
    let may_use = |server: &Server| {
        tables.as_deref().is_some_and(|tables| gate.access(tables, &context.session, server, None).allow)
    };
    // Of one that is just starting, or sleeps, what it said when it was last seen: a client reads instructions once.
    let mut remembered = HashMap::new();
    for server in view.servers.iter().filter(|server| will_come(server) && may_see(server)) {
        if let Some(text) = remembered_instructions(&gate, server).await {
            remembered.insert(server.id().clone(), text);
        }
    }
    let greeting = Greeting::of(&view, may_see, may_use, &remembered);
    ToolFinder::of(host).note_instructed(context, greeting.instructed.clone());
    greeting
}

/// Whether a server is not connected, and will be by itself.
fn will_come(server: &Server) -> bool {
    server.hub_now().is_none() && matches!(server.phase(), Phase::Starting | Phase::Asleep)
}

/// Capabilities with what was agreed on of MGP: never offered to a client that did not ask (MGP 2.4).
fn with_mgp(capabilities: Raw, said: Option<&Raw>) -> Raw {
    let capabilities = with_proposals(capabilities, said);
    let Some(agreement) = said.and_then(agreed_with) else { return capabilities };
    let declared = agreement.declare_in(&capabilities, [("server_id", Raw::string(NAME))]);
    declared.unwrap_or(capabilities)
}

/// Capabilities with those of the client's proposals that are spoken here: never one that it did not name.
fn with_proposals(capabilities: Raw, said: Option<&Raw>) -> Raw {
    let Some(shared) = said.map(|said| proposals::declared(said).shared_with(&PROPOSALS)) else { return capabilities };
    if shared.is_empty() {
        return capabilities;
    }
    shared.declare_in(&capabilities).unwrap_or(capabilities)
}

/// Capabilities of a server without what it agreed on with the kernel.
fn without_mgp(capabilities: &Raw) -> Raw {
    let Ok(mut edit) = Edit::of(capabilities) else { return capabilities.clone() };
    for place in NegotiationPlace::ALL {
        edit = match place.path() {
            [outer, inner] if capabilities.at(&[outer, inner]).is_some() => {
                match edit.within(outer, |object| object.remove(inner)) {
                    Ok(edit) => edit,
                    Err(_) => return capabilities.clone(),
                }
            }
            [key] => edit.remove(key),
            _ => edit,
        };
    }
    edit.finish()
}

/// What a lone server says of itself beside its instructions.
fn own_words(result: &Raw) -> Raw {
    let result = &provenance::cleaned(result.clone()).unwrap_or_else(Raw::empty_object);
    let said = Edit::of(result).map_or_else(|_| Raw::empty_object(), |edit| edit.remove("instructions").finish());
    capabilities::without_orders(
        &said,
        &["protocolVersion", "supportedVersions", "capabilities", "serverInfo", "_meta"],
    )
}

/// What a server is called, with what clients refuse a connection for lacking.
fn named(info: Raw, id: &str) -> Raw {
    let Ok(edit) = Edit::of(&info) else { return own_info() };
    let missing = [("name", id), ("version", "0")]
        .into_iter()
        .filter(|(key, _)| edit.object().get(key).is_none_or(|value| value.kind() != Kind::String));
    let wrong = ["title", "description", "websiteUrl"]
        .into_iter()
        .filter(|key| edit.object().get(key).is_some_and(|value| value.kind() != Kind::String));
    let (missing, wrong): (Vec<_>, Vec<_>) = (missing.collect(), wrong.collect());
    if missing.is_empty() && wrong.is_empty() {
        return info;
    }
    let edit = wrong.into_iter().fold(edit, |edit, key| edit.remove(key));
    missing.into_iter().fold(edit, |edit, (key, value)| edit.set(key, Raw::string(value))).finish()
}

/// What is held back of a server, for an answer that lists tools.
#[must_use]
pub fn held_of(server: &Server) -> serde_json::Value {
    notice::of_server(server.id(), &server.quarantine())
}

/// What clients are told.
struct Greeting {
    /// The only server's own greeting, and its era: what else it says passes along with it.
    base: Option<(Raw, Era)>,
    info: Raw,
    capabilities: Raw,
    instructions: Option<String>,
    /// The servers whose instructions these are.
    instructed: HashSet<Arc<str>>,
}

impl Greeting {
    fn of(
        view: &View,
        may_see: impl Fn(&Server) -> bool,
        may_use: impl Fn(&Server) -> bool,
        remembered: &HashMap<Arc<str>, String>,
    ) -> Self {
        let seen = view.servers.iter().filter(|server| may_see(server));
        let hubs: Vec<_> = seen.map(|server| (server, server.hub_now())).collect();
        let used = hubs.iter().filter(|(server, _)| may_use(server));
        let held: Vec<_> = used.map(|(server, _)| (&**server.id(), server.quarantine())).collect();
        let missing = hubs.iter().filter(|(server, _)| server.is_missing()).map(|(server, _)| &**server.id());
        let notices = [notice::of_held(held.iter().map(|(id, held)| (*id, &**held))), notice::of_missing(missing)];
        let notice = notices.into_iter().flatten().reduce(|one, other| format!("{one}\n\n{other}"));
        let with_notice = |told: Option<String>| match (told, notice) {
            (Some(told), Some(notice)) => Some(format!("{told}\n\n{notice}")),
            (told, notice) => told.or(notice),
        };
        if let ([(server, Some(hub))], 1) = (hubs.as_slice(), view.servers.len()) {
            let (id, instructions) = (server.id().clone(), server.instructions());
            let server = &hub.connected.server;
            let said = capabilities::well_formed(&without_mgp(&server.capabilities));
            return Self {
                // Instructions that are held back must not come in by the back door.
                base: Some((own_words(&server.result), hub.revision().era())),
                info: server.info.clone().and_then(provenance::cleaned).map_or_else(own_info, |info| named(info, &id)),
                capabilities: announce(&capabilities::without_orders(&said, &[]), false),
                instructions: with_notice(instructions),
                instructed: [id].into(),
            };
        }
        let mut capabilities = Raw::empty_object();
        for (_, hub) in &hubs {
            let Some(hub) = hub else { continue };
            let said = capabilities::defined(&without_mgp(&hub.connected.server.capabilities));
            capabilities = merge(&capabilities, &said);
        }
        let said = hubs.iter().filter_map(|(server, _)| {
            Some((server.id(), server.instructions().or_else(|| remembered.get(server.id()).cloned())?))
        });
        let (instructions, mut instructed) = services::joined(said);
        // What a server says now that it is up may be something else: it comes with the tools that are found.
        instructed.retain(|id| !remembered.contains_key(id));
        let instructions = with_notice(instructions);
        let info = own_info();
        Self { base: None, info, capabilities: announce(&capabilities, true), instructions, instructed }
    }
}

/// The union of two objects, two levels deep; where both have a value that is no object, the first one stays.
fn merge(one: &Raw, other: &Raw) -> Raw {
    let (Ok(edit), Ok(other)) = (Edit::of(one), Object::open(other)) else { return one.clone() };
    let mut edit = edit;
    for (key, value) in other.iter() {
        let merged = match edit.object().get(&key) {
            None => value,
            Some(mine) => merge(&mine, &value),
        };
        edit = edit.set(&key, merged);
    }
    edit.finish()
}

/// Capabilities as the kernel gives them out: it can always tell of changes, and with several servers any of them
/// may come to offer anything.
fn announce(capabilities: &Raw, everything: bool) -> Raw {
    let Ok(edit) = Edit::of(capabilities) else { return Raw::empty_object() };
    let mut edit = edit;
    for key in ["tools", "prompts", "resources"] {
        if everything || edit.object().has(key) {
            edit = match edit.within(key, |inner| inner.set("listChanged", yes())) {
                Ok(edit) => edit,
                Err(_) => return capabilities.clone(),
            };
        }
    }
    if everything {
        for key in ["completions", "logging"] {
            if !edit.object().has(key) {
                edit = edit.set(key, Raw::empty_object());
            }
        }
    }
    edit.finish()
}

/// What of the capabilities a legacy client is told: subscriptions and tasks work whatever the server's era.
fn legacy_capabilities(capabilities: &Raw) -> Raw {
    let Ok(mut edit) = Edit::of(capabilities) else { return capabilities.clone() };
    if edit.object().has("resources") {
        edit = match edit.within("resources", |resources| resources.set("subscribe", yes())) {
            Ok(edit) => edit,
            Err(_) => return capabilities.clone(),
        };
    }
    if capabilities.at(&["extensions", meta::TASKS_EXTENSION]).is_some() && !edit.object().has("tasks") {
        let nothing = Raw::empty_object;
        let calls = Edit::empty().set("tools", Edit::empty().set("call", nothing()).finish()).finish();
        let tasks = Edit::empty().set("list", nothing()).set("cancel", nothing()).set("requests", calls);
        edit = edit.set("tasks", tasks.finish());
    }
    edit.finish()
}

/// What of the capabilities a modern client is told: tasks are an extension there.
fn modern_capabilities(capabilities: &Raw) -> Raw {
    let Ok(edit) = Edit::of(capabilities) else { return capabilities.clone() };
    if !edit.object().has("tasks") {
        return edit.finish();
    }
    edit.remove("tasks")
        .within("extensions", |inner| inner.set(meta::TASKS_EXTENSION, Raw::empty_object()))
        .map_or_else(|_| capabilities.clone(), Edit::finish)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_a_name_or_version_has_one_to_clients() {
        for (info, expected) in [
            (
                serde_json::json!({"name": "a", "version": "1", "title": "A"}),
                r#"{"name":"a","version":"1","title":"A"}"#,
            ),
            (serde_json::json!({"title": 5}), r#"{"name":"x","version":"0"}"#),
            (serde_json::json!({"name": null, "version": 2, "y": 1}), r#"{"name":"x","version":"0","y":1}"#),
        ] {
            assert_eq!(named(Raw::from_value(&info).unwrap(), "x").as_str(), expected);
        }
    }

    #[test]
    fn what_a_server_says_of_itself_holds_no_key_of_the_kernel() {
        let said = serde_json::json!({"protocolVersion": "x", "_meta": {"dev.switchboard/incomplete": [], "own": 1}});
        let said = own_words(&Raw::from_value(&said).unwrap());
        assert_eq!(said.member("_meta").unwrap().as_str(), r#"{"own":1}"#);
    }
}
