//! `recommend_servers` (proposal 13): which server could do what is needed, how sure that is, and what is given away.
//!
//! Servers that are there, connected or asleep, are found through the catalog of their tools and through what they say
//! of themselves. Those of registries are found in a copy of the registry that is searched here: no registry learns
//! what anybody looks for. A recommendation starts nothing and adds nothing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_audit::{self as audit, Auditor};
use switchboard_catalog::{Catalog, Search, Tool};
use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, readable};
use switchboard_protocol::proposals::RECOMMEND_SERVERS;
use switchboard_wire::Raw;

use super::listing::{Asker, Listing};
use super::register::invalid;
use super::{KnownServer, OfferedServer, ServerSource};
use crate::discovery::FinderState;
use crate::house::{AccessRights, RecordKeeping, ServerDirectory, Setup};
use crate::principal;

/// Recommendations where nobody says how many, and at most.
const DEFAULT_RECOMMENDATIONS: usize = 5;
const MAX_RECOMMENDATIONS: usize = 20;
/// Bytes of what is looked for.
const MAX_QUERY_BYTES: usize = 2_000;
/// Tools that are looked at for servers that are there.
const TOOLS: usize = 40;
/// How long a registry may take.
const WAIT: Duration = Duration::from_secs(10);
/// From which relevance on a match is worth naming, and how sure it is.
const LOW: f32 = 0.35;
const MEDIUM: f32 = 0.5;
const HIGH: f32 = 0.65;

const PRIVATE: &str = "What you look for stays on this machine: registries are read as a whole and searched here. A server \
    that is not connected gets to know of you when it is added and called.";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RecommendParams {
    capability_needed: String,
    /// The same in other words.
    task: String,
    max_results: Option<usize>,
    /// `false` to look only among servers that are there.
    registries: Option<bool>,
}

/// Copies of registries, ready to be searched.
#[derive(Default)]
pub(super) struct Shelf(RwLock<HashMap<String, Shelved>>);

struct Shelved {
    /// What the copy is of. Another list means that the registry was read again.
    of: Arc<Vec<KnownServer>>,
    catalog: Arc<Catalog>,
}

impl Shelf {
    fn catalog(&self, address: &str, of: &Arc<Vec<KnownServer>>) -> Arc<Catalog> {
        if let Some(shelved) = self.0.read().get(address).filter(|shelved| Arc::ptr_eq(&shelved.of, of)) {
            return shelved.catalog.clone();
        }
        let tool = |(number, server): (usize, &KnownServer)| Tool {
            id: number.to_string(),
            server: server.name.clone(),
            name: server.name.rsplit('/').next().unwrap_or_default().to_owned(),
            description: server.description.clone(),
            ..Tool::default()
        };
        let mut catalog = Catalog::default();
        catalog.extend(of.iter().enumerate().map(tool).collect());
        let catalog = Arc::new(catalog);
        // There are as many as the configuration names.
        self.0.write().insert(address.to_owned(), Shelved { of: of.clone(), catalog: catalog.clone() });
        catalog
    }
}

/// A server that can do what is needed.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerOffer {
    /// The server.
    pub server: OfferedServer,
    /// How well it fits, from 0 to 1.
    pub relevance: f32,
    /// The tools that do it, under the names that clients see.
    pub tools: Vec<String>,
}

/// One recommendation, and by how much.
struct Recommendation {
    relevance: f32,
    told: Value,
}

/// Says which server could help.
pub(super) struct Recommender<'a, H: ?Sized> {
    pub(super) listing: Listing<'a, H>,
    pub(super) discovery: &'a FinderState,
    pub(super) sources: &'a [Arc<dyn ServerSource>],
    pub(super) audit: &'a Auditor,
}

impl<'a, H: RecordKeeping + Setup + ?Sized> Recommender<'a, H> {
    pub(super) fn of(house: &'a H) -> Self {
        Self {
            listing: Listing::of(house),
            discovery: &house.services().discovery,
            sources: &house.server_offers().sources,
            audit: house.audit(),
        }
    }
}

impl<H: ServerDirectory + AccessRights + ?Sized> Recommender<'_, H> {
    pub(super) async fn recommend(&self, context: &Context, params: &Raw) -> Result<Raw, Fault> {
        let asked: RecommendParams = params.view().map_err(|error| invalid(readable(params, &error)))?;
        let needed = if asked.capability_needed.trim().is_empty() { asked.task } else { asked.capability_needed };
        if needed.trim().is_empty() || needed.len() > MAX_QUERY_BYTES {
            return Err(invalid(format!(
                "`capability_needed` is 1 to {MAX_QUERY_BYTES} bytes: what the server must do"
            )));
        }
        let words = needed.replace(['_', '-'], " ");
        let mut found = self.those_there(context, &needed, &words).await?;
        let mut unread = Vec::new();
        if asked.registries != Some(false) {
            for source in self.sources {
                match self.those_of(source, &needed, &words).await {
                    Ok(more) => found.extend(more),
                    Err(why) => unread.push(json!({"registry_url": source.address(), "why": why})),
                }
            }
        }
        found.sort_by(|one, other| other.relevance.total_cmp(&one.relevance));
        found.truncate(asked.max_results.unwrap_or(DEFAULT_RECOMMENDATIONS).clamp(1, MAX_RECOMMENDATIONS));
        let event = audit::event_of(audit::event::TOOLS_SOUGHT, principal(&context.session), audit::result::SUCCESS);
        let query = switchboard_policy::redact::value(&Raw::string(&needed));
        let event = audit::with(audit::with(event, "method", RECOMMEND_SERVERS), "query", query);
        let names: Vec<&str> = found.iter().filter_map(|found| found.told["server_name"].as_str()).collect();
        self.audit.note(audit::with(event, "found", names.join(", "))).await;
        let mut answer = json!({
            "capability_needed": needed,
            "recommendations": found.into_iter().map(|found| without_nothing(found.told)).collect::<Vec<_>>(),
            "privacy": {"query_shared": false, "note": PRIVATE},
        });
        if !unread.is_empty() {
            answer["registries_unread"] = Value::Array(unread);
        }
        Raw::from_value(&answer).map_err(Fault::internal)
    }

    /// The servers that somebody may know of and that can do what is needed, the best first.
    pub(super) async fn offers(&self, asker: &Asker, needed: &str) -> Result<Vec<ServerOffer>, Fault> {
        let servers = self.listing.offered(&asker.requester(self.listing.house)).await?;
        let mut offers = self.fitting(servers, &needed.replace(['_', '-'], " ")).await;
        offers.sort_by(|one, other| other.relevance.total_cmp(&one.relevance));
        Ok(offers)
    }

    /// Those of some servers that fit, through their tools and through what is said of them.
    async fn fitting(&self, servers: Vec<OfferedServer>, words: &str) -> Vec<ServerOffer> {
        let visible: HashSet<&str> =
            servers.iter().flat_map(|server| &server.tools).map(|(_, exposed, _)| exposed.as_str()).collect();
        let hits = self.discovery.search_among(&self.listing.house.view(), &visible, words, TOOLS).await;
        drop(visible);
        let about = |server: &OfferedServer| Tool {
            id: server.id.clone(),
            server: server.id.clone(),
            name: server.id.clone(),
            description: server.description.clone().unwrap_or_default(),
            ..Tool::default()
        };
        let mut catalog = Catalog::default();
        catalog.extend(servers.iter().map(about).collect());
        let described = catalog.search(&Search::new(words).top(servers.len().max(1)), |_| true);
        let mut offers = Vec::new();
        for server in servers {
            let tools: Vec<_> = hits.iter().filter(|hit| *hit.server == *server.id && hit.relevance >= LOW).collect();
            let by_tools = tools.first().map_or(0.0, |hit| hit.relevance);
            let itself = described.hits.iter().find(|hit| *hit.id == *server.id && server.description.is_some());
            let relevance = itself.map_or(0.0, |hit| hit.relevance).max(by_tools);
            if relevance >= LOW {
                let tools = tools.iter().take(3).map(|hit| hit.id.to_string()).collect();
                offers.push(ServerOffer { server, relevance, tools });
            }
        }
        offers
    }

    /// Servers that are there.
    async fn those_there(&self, context: &Context, needed: &str, words: &str) -> Result<Vec<Recommendation>, Fault> {
        let servers = self.listing.offered(&self.listing.house.requester(context)).await?;
        let found = |ServerOffer { server, relevance, tools }: ServerOffer| {
            let next = if tools.is_empty() { "find its tools with mgp_tools_discover" } else { "call the tools named" };
            let told = json!({
                "capability": needed,
                "server": server.id,
                "server_name": server.id,
                "description": server.description,
                "match_confidence": confidence(relevance),
                "relevance_score": rounded(relevance),
                "available": "here",
                "status": server.status,
                "asleep": server.asleep,
                "tools": tools,
                "auth_flow": "none",
                "next": next,
            });
            Recommendation { relevance, told }
        };
        Ok(self.fitting(servers, words).await.into_iter().map(found).collect())
    }

    /// Servers that a registry names.
    async fn those_of(
        &self,
        source: &Arc<dyn ServerSource>,
        needed: &str,
        words: &str,
    ) -> Result<Vec<Recommendation>, String> {
        let servers = tokio::time::timeout(WAIT, source.servers());
        let servers = servers.await.map_err(|_| "the registry did not answer in time".to_owned())??;
        let (shelf, address) = (self.listing.registry.shelf.clone(), source.address().to_owned());
        let (known, words) = (servers.clone(), words.to_owned());
        // The first search of a large registry reads all of it.
        let searching = tokio::task::spawn_blocking(move || {
            let catalog = shelf.catalog(&address, &known);
            catalog.search(&Search::new(words).top(MAX_RECOMMENDATIONS), |_| true)
        });
        let hits = searching.await.map_err(|_| "the kernel is ending".to_owned())?.hits;
        let told = |hit: &switchboard_catalog::Hit| {
            let server = hit.id.parse::<usize>().ok().and_then(|number| servers.get(number))?;
            let sure = confidence(hit.relevance)?;
            let told = json!({
                "capability": needed,
                "server": server.name,
                "server_name": server.name,
                "description": server.description,
                "registry_url": server.address,
                "match_confidence": sure,
                "relevance_score": rounded(hit.relevance),
                "available": "registry",
                "auth_flow": server.auth_flow,
                "next": format!("the operator adds it with `switchboard registry add {}`", server.name),
            });
            Some(Recommendation { relevance: hit.relevance, told })
        };
        Ok(hits.iter().filter_map(told).collect())
    }
}

fn confidence(relevance: f32) -> Option<&'static str> {
    match relevance {
        sure if sure >= HIGH => Some("high"),
        sure if sure >= MEDIUM => Some("medium"),
        sure if sure >= LOW => Some("low"),
        _ => None,
    }
}

/// Without the members that nothing is known of.
fn without_nothing(mut told: Value) -> Value {
    if let Value::Object(members) = &mut told {
        members.retain(|_, value| !value.is_null());
    }
    told
}

fn rounded(relevance: f32) -> f64 {
    (f64::from(relevance) * 100.0).round() / 100.0
}
