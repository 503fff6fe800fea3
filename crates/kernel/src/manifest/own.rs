//! The kernel's own part of manifests: its tools, and how callers come to it.

use std::collections::BTreeMap;

use serde_json::json;
use switchboard_peer::{Context, Method};
use switchboard_protocol::proposals::manifest::{AuthCapabilities, AuthMethod, GET_MANIFEST, ManifestTool, ScopeOffer};
use switchboard_protocol::proposals::{self, CHECK_PERMISSIONS, NEGOTIATE_SCOPES};
use switchboard_wire::Raw;

use super::shown;
use crate::gate::Tables;
use crate::kernel::{Kernel, View};

impl Kernel {
    /// The tool that gives manifests, for clients that speak any of the proposals.
    pub(crate) fn manifest_tools(&self, context: &Context) -> Vec<Raw> {
        let capabilities = &context.caller.capabilities;
        // A server's own tool of that name is in its place.
        let taken = self.view().directory.tool(GET_MANIFEST).is_some();
        if capabilities.as_bytes().len() <= 2 || taken || proposals::declared(capabilities).is_empty() {
            return Vec::new();
        }
        vec![definition()]
    }

    /// Every tool of the kernel that this client can call, listed or not.
    pub(super) async fn own_definitions(&self, context: &Context, view: &View) -> Vec<Raw> {
        let mut tools = self.finding_tools(context, view).await;
        tools.extend(self.agreed_tools(context));
        let text = |about: &str| json!({"type": "string", "description": about});
        let list = |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
        let check = json!({
            "name": CHECK_PERMISSIONS,
            "description": "Whether a call would pass, and what is missing.",
            "inputSchema": {"type": "object", "required": ["tool"], "properties": {
                "tool": text("The tool's name"), "parameters": {"type": "object", "description": "Its arguments"}}},
            "annotations": {"readOnlyHint": true, "idempotentHint": true},
        });
        let negotiate = json!({
            "name": NEGOTIATE_SCOPES,
            "description": "Asks for a session token with these scopes.",
            "inputSchema": {"type": "object", "required": ["requested_scopes"], "properties": {
                "requested_scopes": list("Names of scopes"), "justification": text("Why"),
                "ttl_seconds": {"type": "integer", "minimum": 1}}},
        });
        tools.push(definition());
        tools.extend([check, negotiate].iter().filter_map(|tool| Raw::from_value(tool).ok()));
        let name = |tool: &Raw| tool.member("name").and_then(|name| name.as_text());
        tools.retain(|tool| name(tool).is_some_and(|name| view.directory.tool(&name).is_none()));
        tools
    }

    /// How this caller is known, and the scopes that it may ask for.
    pub(super) fn auth_for(
        &self,
        context: &Context,
        tables: &Tables,
        view: &View,
        tools: &[&ManifestTool],
    ) -> AuthCapabilities {
        let method = match context.session.identity.method {
            Method::Token => AuthMethod::BearerToken,
            Method::Oidc => AuthMethod::Oauth2Code,
            _ => AuthMethod::None,
        };
        let mut scopes: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
        for tool in tools {
            let server =
                tool.server_id.as_deref().and_then(|id| view.servers.iter().find(|server| &**server.id() == id));
            let Some(server) = server else { continue };
            if self.access(tables, &context.session, server, None).allow {
                let about = || (format!("Everything of server {} that you may use", server.id()), Vec::new());
                scopes.entry(format!("server:{}", server.id())).or_insert_with(about).1.push(tool.name.clone());
            }
            for scope in tool.required_scopes.iter().flatten() {
                let about = || (format!("Named by tools of server {}", server.id()), Vec::new());
                scopes.entry(scope.clone()).or_insert_with(about).1.push(tool.name.clone());
            }
        }
        let scopes: Vec<ScopeOffer> =
            scopes.into_iter().map(|(name, (about, grants))| ScopeOffer::new(name, about).grants(grants)).collect();
        AuthCapabilities::new()
            .methods(vec![method])
            .scopes(scopes)
            .session_ttl_seconds(self.gate().options().session_ttl.as_secs())
    }
}

/// The tool `get_manifest`.
fn definition() -> Raw {
    let tool = json!({
        "name": GET_MANIFEST,
        "description": "What you may use here, as a plan needs it: tools with schemas, cost, latency (measured), quotas, \
            scopes, media types and sizes. Name a server or single tools to get less.",
        "inputSchema": {"type": "object", "properties": {
            "server_id": {"type": "string", "description": "Only this server"},
            "tools": {"type": "array", "items": {"type": "string"}, "description": "Only these tools, by name"},
            "if_none_match": {"type": "string", "description": "The etag of a manifest that you have"}}},
        "annotations": {"readOnlyHint": true, "idempotentHint": true},
        "_mgp": {"source": "kernel", "admin_only": false},
    });
    Raw::from_value(&tool).unwrap_or_else(|_| Raw::empty_object())
}

/// What a server says of itself in its greeting: description and page, where they give no orders to a model.
pub(super) fn told_of(info: Option<&Raw>) -> (Option<String>, Option<String>) {
    let text = |key: &str| info.and_then(|info| info.member(key)?.as_text());
    let page = text("websiteUrl").filter(|page| page.starts_with("https://") && shown(page));
    (text("description").filter(|text| shown(text)), page)
}
