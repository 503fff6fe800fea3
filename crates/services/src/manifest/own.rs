//! The kernel's own part of manifests: how callers come to it.

use std::collections::BTreeMap;
use std::time::Duration;

use switchboard_peer::{Context, Method};
use switchboard_protocol::proposals::manifest::{AuthCapabilities, AuthMethod, ManifestTool, ScopeOffer};
use switchboard_wire::Raw;

use super::shown;
use crate::house::{Entitlements, ServerView};

/// How this caller is known, and the scopes that it may ask for.
pub(super) fn auth_for(
    entitlements: &dyn Entitlements,
    session_ttl: Duration,
    context: &Context,
    view: &dyn ServerView,
    tools: &[&ManifestTool],
) -> AuthCapabilities {
    let method = match context.session.identity.method {
        Method::Token => AuthMethod::BearerToken,
        Method::Oidc => AuthMethod::Oauth2Code,
        _ => AuthMethod::None,
    };
    let mut scopes: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    for tool in tools {
        let server = tool.server_id.as_deref().and_then(|id| view.servers().iter().find(|server| &**server.id() == id));
        let Some(server) = server else { continue };
        if entitlements.allows(&context.session, server, None) {
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
    AuthCapabilities::new().methods(vec![method]).scopes(scopes).session_ttl_seconds(session_ttl.as_secs())
}

/// What a server says of itself in its greeting: description and page, where they give no orders to a model.
pub(super) fn told_of(info: Option<&Raw>) -> (Option<String>, Option<String>) {
    let text = |key: &str| info.and_then(|info| info.member(key)?.as_text());
    let page = text("websiteUrl").filter(|page| page.starts_with("https://") && shown(page));
    (text("description").filter(|text| shown(text)), page)
}
