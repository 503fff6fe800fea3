//! What a caller wants to reach (proposal 2): passed to servers that understand it, and answered with advice.
//!
//! It decides which servers are told, and whether another tool would clearly fit better. Advice is put beside the result and
//! changes nothing else: the call was made as it was asked for. Only tools are named that the caller could call at that moment
//! and that are no more dangerous than the one it called. What a server advises is held to the same: a server shall not send
//! a client to tools that are not there for it. A call without an intent costs a look at its members.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use switchboard_catalog::{Hit, Search};
use switchboard_peer::{Context, Reply};
use switchboard_protocol::mgp::Risk;
use switchboard_protocol::proposals::{self, Proposal};
use switchboard_upstream::Server;
use switchboard_validators::screen;
use switchboard_wire::{Edit, Kind, Object, Raw};

use super::discovery::{FinderState, ToolFinder};
use super::house::{FinderHouse, ServerView, Setup};
use super::manifest::Manifests;

/// The member of a call that says it.
const INTENT: &str = "intent";
/// Where the proposal has advice in a result.
const SUGGESTION: &str = "suggestion";
/// Where our own is, in `_meta`.
const OWN: &str = "dev.switchboard/suggestion";
/// Tools that are compared.
const COMPARED: usize = 50;
/// When another tool is clearly better. Who calls a server has chosen it, and tools of others that read alike are not its
/// tools: they have to fit far better. Measured on the open sets of tool search, with each query as the intent: a call of
/// the right tool gets other advice in 0.3 to 2.5 of a hundred cases on four of the five (23 where prompts belong to
/// servers rather than to tools); a call of a wrong tool beside it gets the right advice in 25 to 48, another in 0.5 to 12.
const AT_HOME: Bounds = Bounds { fits: 0.5, share: 0.5 };
const ABROAD: Bounds = Bounds { fits: 0.7, share: 0.15 };
/// How long an answer waits for an index that is not ready. Without one there is no advice.
const INDEX_WAIT: Duration = Duration::from_millis(250);
/// Reasons that are told.
const REASONS: usize = 3;

/// When another tool is clearly better.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// How well it has to fit.
    fits: f32,
    /// The share of that beyond which the called tool is as good.
    share: f32,
}

/// Tells servers what a caller wants to reach, and gives advice.
pub struct Adviser<'a, H: ?Sized> {
    house: &'a H,
    discovery: &'a FinderState,
    manifests: &'a Manifests,
}

impl<'a, H: Setup + ?Sized> Adviser<'a, H> {
    /// That of a house.
    #[must_use]
    pub fn of(house: &'a H) -> Self {
        let services = house.services();
        Self { house, discovery: &services.discovery, manifests: &services.manifests }
    }
}

impl<H: FinderHouse + ?Sized> Adviser<'_, H> {
    /// Parameters of a call with its intent as this server expects it; `None` where they can stay as they are.
    ///
    /// A server that understands it finds it at both places that are in use. For others a client of the proposal is heard
    /// by us alone: a member of the parameters that a server does not know can break it. `_meta` is never touched there.
    pub fn params_towards(
        &self,
        context: &Context,
        server: &Server,
        params: Option<&Raw>,
        intent: &str,
    ) -> Option<Raw> {
        let edit = Edit::of(params?).ok()?;
        let beside = edit.object().has(INTENT);
        if !self.manifests.understands(server, Proposal::IntentHints) {
            let ours = beside && speaks(context);
            return ours.then(|| edit.remove(INTENT).finish());
        }
        let within = edit.object().get("_meta").and_then(|meta| Object::open(&meta).ok());
        let edit = if beside { edit } else { edit.set(INTENT, Raw::string(intent)) };
        if within.is_some_and(|meta| meta.has(INTENT)) {
            return (!beside).then(|| edit.finish());
        }
        Some(edit.within("_meta", |meta| meta.set(INTENT, Raw::string(intent))).ok()?.finish())
    }

    /// The answer to a call with an intent, with advice where there is some.
    pub async fn advised(
        &self,
        context: &Context,
        server: &Arc<Server>,
        called: &str,
        intent: &str,
        reply: Reply,
    ) -> Reply {
        let Ok(result) = &reply.outcome else { return reply };
        let Ok(object) = Object::open(result) else { return reply };
        // What is not over yet is no answer.
        let over = object.text("resultType").is_none_or(|kind| kind == "complete") && !object.has("task");
        if !over {
            return reply;
        }
        let advised = if is_advice(object.get(SUGGESTION).as_ref()) {
            self.of_server(context, server, result).await
        } else {
            self.own_advice(context, called, intent, result).await
        };
        match advised {
            Some(result) => Reply { outcome: Ok(result), ..reply },
            None => reply,
        }
    }

    /// A result with the server's advice under the name that the client knows the tool by, or without it where the client
    /// cannot call that tool.
    async fn of_server(&self, context: &Context, server: &Server, result: &Raw) -> Option<Raw> {
        let advice = result.member(SUGGESTION)?;
        let named = advice.member("recommended_tool")?.as_text()?;
        let calm = advice.member("reason").and_then(|why| why.as_text()).is_none_or(|why| !screen::is_striking(&why));
        let view = self.house.view();
        let list = view.visible_tools(context).await.ok()?;
        let seen = ToolFinder::of(self.house).seen(&context.session, &list);
        let mut tools = view.tools();
        let exposed = tools
            .find(|tool| tool.id == server.id() && *tool.original == *named)
            .map(|tool| tool.exposed)
            .filter(|exposed| calm && seen.has(exposed));
        let edit = Edit::of(result).ok()?;
        let Some(exposed) = exposed else { return Some(edit.remove(SUGGESTION).finish()) };
        if exposed == named {
            return None;
        }
        let advice = Edit::of(&advice).ok()?.set("recommended_tool", Raw::string(exposed)).finish();
        Some(edit.set(SUGGESTION, advice).finish())
    }

    async fn own_advice(&self, context: &Context, called: &str, intent: &str, result: &Raw) -> Option<Raw> {
        let view = self.house.view();
        let list = view.visible_tools(context).await.ok()?;
        tokio::time::timeout(INDEX_WAIT, self.discovery.index_up_to_date(&view)).await.ok()?;
        let seen = ToolFinder::of(self.house).seen(&context.session, &list);
        let (home, risk) = place_of(&*view, called)?;
        let callable = |name: &str, everywhere: bool| {
            let place = place_of(&*view, name).filter(|_| name == called || seen.has(name));
            place.is_some_and(|(server, other)| other <= risk && (everywhere || server == home))
        };
        let search = Search::new(intent).top(COMPARED);
        let find = |everywhere| self.discovery.search(&search, |name| callable(name, everywhere)).hits;
        let advice = better(&find(false), called, AT_HOME).or_else(|| better(&find(true), called, ABROAD));
        let (best, own) = advice?;
        let why: Vec<String> = best.reasons.iter().take(REASONS).map(ToString::to_string).collect();
        let round = |number: f32| (f64::from(number) * 100.0).round() / 100.0;
        let advice = Raw::from_value(&json!({
            "recommended_tool": &*best.id,
            "reason": format!("fits what you want to reach better than {called}: {}", why.join("; ")),
            "relevance": round(best.relevance),
            "called_relevance": round(own),
        }))
        .ok()?;
        let edit = Edit::of(result).ok()?.within("_meta", |meta| meta.set(OWN, advice.clone())).ok()?;
        Some(if speaks(context) { edit.set(SUGGESTION, advice).finish() } else { edit.finish() })
    }
}

/// The best tool where it is clearly better than the one that was called, and how well that one fits.
fn better(hits: &[Hit], called: &str, bounds: Bounds) -> Option<(Hit, f32)> {
    let best = hits.first().filter(|best| &*best.id != called && best.relevance >= bounds.fits)?;
    let own = hits.iter().find(|hit| &*hit.id == called).map_or(0.0, |hit| hit.relevance);
    (own <= best.relevance * bounds.share).then(|| (best.clone(), own))
}

fn is_advice(value: Option<&Raw>) -> bool {
    value.is_some_and(|value| value.kind() == Kind::Object && value.member("recommended_tool").is_some())
}

fn speaks(context: &Context) -> bool {
    proposals::declared(&context.caller.capabilities).has(Proposal::IntentHints)
}

/// The server that has a tool, and how dangerous the tool is.
fn place_of(view: &dyn ServerView, name: &str) -> Option<(usize, Risk)> {
    let route = view.tool(name)?;
    Some((route.server, route.policy?.assessment.risk))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_clearly_better_is_named() {
        let hit =
            |id: &str, relevance| Hit { id: id.into(), server: "s".into(), score: 1.0, relevance, reasons: vec![] };
        for (hits, at_home, abroad) in [
            (vec![], None, None),
            (vec![hit("called", 0.9), hit("other", 0.8)], None, None),
            (vec![hit("other", 0.8), hit("called", 0.7)], None, None),
            (vec![hit("other", 0.4), hit("called", 0.1)], None, None),
            (vec![hit("other", 0.8), hit("third", 0.6), hit("called", 0.4)], Some(0.4), None),
            (vec![hit("other", 0.8), hit("called", 0.1)], Some(0.1), Some(0.1)),
            (vec![hit("other", 0.6)], Some(0.0), None),
            (vec![hit("other", 0.8)], Some(0.0), Some(0.0)),
        ] {
            let found = |bounds| better(&hits, "called", bounds).map(|(best, own)| (best.id.to_string(), own));
            let expected = |own: Option<f32>| own.map(|own| ("other".to_owned(), own));
            assert_eq!((found(AT_HOME), found(ABROAD)), (expected(at_home), expected(abroad)), "{hits:?}");
        }
    }
}
