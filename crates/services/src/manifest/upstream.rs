//! The manifests that servers have of themselves: asked for, read, and kept for a while.
//!
//! A server that has a tool `get_manifest` is asked when somebody wants its manifest, as far as that tool needs no person's
//! consent and its server lacks no permission. What it says is a claim; `build.rs` decides what becomes of it. A server
//! that does not answer in time has none.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_audit::{self as audit, Auditor, event, result};
use switchboard_peer::Call;
use switchboard_protocol::Era;
use switchboard_protocol::mcp::method;
use switchboard_protocol::proposals::manifest::declared::DeclaredManifest;
use switchboard_protocol::proposals::{self, Proposal};
use switchboard_upstream::{Lists, Server};
use switchboard_validators::screen;
use switchboard_wire::{Edit, Limits, Raw};
use tokio::time::Instant;

use crate::house::ServerView;

/// How long a server may take.
const ANSWER: Duration = Duration::from_secs(3);
/// Bytes of one manifest.
const MOST_BYTES: usize = 2 << 20;
/// How long a manifest is kept, whatever it says; and where it says nothing.
const SHORTEST: Duration = Duration::from_mins(1);
const MAX_REFRESH_INTERVAL: Duration = Duration::from_hours(1);
const DEFAULT_REFRESH_INTERVAL: Duration = Duration::from_mins(5);

/// What was asked for.
#[derive(Default)]
pub(super) struct UpstreamManifests(Mutex<HashMap<Arc<str>, Arc<UpstreamManifest>>>);

/// What one server said.
#[derive(Default)]
struct UpstreamManifest {
    /// The last word, for who does not wait.
    last: Mutex<Option<Arc<DeclaredManifest>>>,
    /// Held by whoever asks.
    asking: tokio::sync::Mutex<Option<(Instant, Arc<Lists>)>>,
}

impl UpstreamManifests {
    fn of(&self, server: &Arc<str>) -> Arc<UpstreamManifest> {
        self.0.lock().entry(server.clone()).or_default().clone()
    }

    /// Forgets servers that are gone.
    pub(super) fn retain(&self, view: &dyn ServerView) {
        self.0.lock().retain(|id, _| view.servers().iter().any(|server| server.id() == id));
    }

    fn last(&self, server: &str) -> Option<Arc<DeclaredManifest>> {
        self.0.lock().get(server)?.last.lock().clone()
    }
}

impl UpstreamManifests {
    /// What a server says of itself by its tool of that name, asked for again where that is too old or its lists have changed;
    /// and whether it says something else than before.
    pub(super) async fn ask(
        &self,
        server: &Arc<Server>,
        tool: &str,
        limits: &Limits,
        audit: &Auditor,
    ) -> (Option<Arc<DeclaredManifest>>, bool) {
        let kept = self.of(server.id());
        let mut asking = kept.asking.lock().await;
        let lists = server.lists();
        let fresh = asking.as_ref().is_some_and(|(until, of)| Instant::now() < *until && Arc::ptr_eq(of, &lists));
        if fresh {
            return (kept.last.lock().clone(), false);
        }
        let said = asked(server, tool, limits, audit).await;
        let holds =
            said.as_ref().and_then(|said| said.ttl_seconds).map_or(DEFAULT_REFRESH_INTERVAL, Duration::from_secs);
        *asking = Some((Instant::now() + holds.clamp(SHORTEST, MAX_REFRESH_INTERVAL), lists));
        let said = said.map(Arc::new);
        let before = std::mem::replace(&mut *kept.last.lock(), said.clone());
        let has_changed = before.is_some() && before != said;
        (said, has_changed)
    }

    /// Whether a server says that it understands a proposal: in its capabilities, or in a manifest that was read.
    pub(super) fn understands(&self, server: &Server, proposal: Proposal) -> bool {
        let hub = server.hub_now();
        let declared = hub.map(|hub| proposals::declared(&hub.connected.server.capabilities));
        declared.is_some_and(|declared| declared.has(proposal))
            || self.last(server.id()).is_some_and(|said| said.extensions.contains(&proposal))
    }
}

async fn asked(server: &Arc<Server>, name: &str, limits: &Limits, auditor: &Auditor) -> Option<DeclaredManifest> {
    let hub = server.hub_now()?;
    let params = Edit::empty().set("name", Raw::string(name)).set("arguments", Raw::empty_object()).finish();
    let params = match hub.revision().era() {
        Era::Legacy => params,
        Era::Modern => hub.caller.modern_params(Some(&params), None).ok()?,
    };
    let mut call = Call::new(method::TOOLS_CALL, Some(params)).within(ANSWER);
    call.max_timeout = ANSWER;
    let answer = hub.remote().request(call).await.ok().and_then(|reply| reply.outcome.ok());
    let limits = Limits { bytes: MOST_BYTES, ..limits.clone() };
    let said = answer
        .filter(|answer| answer.as_bytes().len() <= MOST_BYTES)
        .and_then(|answer| DeclaredManifest::in_result(&answer, &limits));
    let outcome = if said.is_some() { result::SUCCESS } else { result::FAILURE };
    let event = audit::event_of(event::READ, audit::kernel(), outcome);
    let event = audit::with(audit::about(event, server.id(), Some(name)), "kind", "manifest");
    auditor.note(event).await;
    said.map(calm)
}

/// A manifest without texts that give orders to a model: nobody has accepted them.
fn calm(mut said: DeclaredManifest) -> DeclaredManifest {
    let calm = |text: &str| !screen::is_striking(text);
    said.description = said.description.filter(|text| calm(text));
    if let Some(scopes) = said.auth.as_mut().and_then(|auth| auth.scopes.as_mut()) {
        scopes.retain(|scope| calm(&scope.name));
        scopes.iter_mut().filter(|scope| !calm(&scope.description)).for_each(|scope| scope.description.clear());
    }
    said
}
