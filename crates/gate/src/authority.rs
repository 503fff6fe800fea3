//! What the right to a call rests on besides its tool: those on whose behalf it is made, and the limits that its arguments
//! are within.
//!
//! A call that goes on keeps both, to be judged again when grants, permissions or settings change. Arguments are kept in
//! memory only, and only for as long as the call runs. Where they are not at hand any more, other limits than those that
//! the call was judged by mean that it does not go on.

use crate::{arguments, rights};
use std::sync::Arc;

use serde_json::Value;
use switchboard_peer::{Context, Session};
use switchboard_policy::access::ChainFault;
use switchboard_policy::permission::Scope;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::DefaultPolicy;
use switchboard_protocol::mgp::metadata::{Delegation, Metadata};
use switchboard_store::Digest;
use switchboard_wire::{Edit, Extra, Object, Raw};

use super::attempt::{Attempt, Stop};
use super::audit::step;
use super::tables::Tables;
use super::{Gate, Subject};
use crate::surroundings::{Destination, Offers};
use switchboard_upstream::Server;

/// Letters of a name in a chain of delegation.
const MAX_ACTOR_CHARS: usize = 256;

/// The tool whose call goes on.
#[derive(Debug, Clone, Copy)]
pub struct Continued<'a> {
    /// The server that has it.
    pub server: &'a Server,
    /// As the server calls it.
    pub tool: &'a str,
    /// As the client called it; it may have another name by now.
    pub exposed: &'a str,
    /// Those on whose behalf the call is made, the caller last; nobody where it is the caller's own.
    pub chain: &'a [String],
}

/// What the right to one call rests on.
#[derive(Debug, Clone, Default)]
pub struct CallAuthority {
    /// Those on whose behalf it is made, in their order, the caller last; nobody where it is the caller's own.
    pub chain: Arc<[String]>,
    /// Names the limits that it was judged by; empty where there were none.
    pub limits: String,
    /// What it was called with, while that is at hand.
    pub params: Option<Object>,
}

impl CallAuthority {
    /// Of a call that is judged now.
    pub fn of_call(
        gate: Gate<'_>,
        session: &Session,
        tool: Continued<'_>,
        chain: Arc<[String]>,
        params: Option<Object>,
    ) -> Self {
        let tool = Continued { chain: &chain, ..tool };
        let limits = gate.limits_on(&gate.granted.latest(), session, &tool);
        Self { limits, params, chain }
    }

    /// The same as a text that outlives the kernel; empty where nothing is to be remembered.
    pub fn to_text(&self) -> String {
        if self.chain.is_empty() {
            return self.limits.clone();
        }
        let names = std::iter::once(&self.limits).chain(self.chain.iter());
        Value::from_iter(names.map(String::as_str)).to_string()
    }

    /// What such a text says.
    pub fn from_text(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        match serde_json::from_str::<Vec<String>>(&text) {
            Ok(mut names) if !names.is_empty() => {
                let limits = names.remove(0);
                Self { chain: names.into(), limits, params: None }
            }
            _ => Self { limits: text.into_owned(), ..Self::default() },
        }
    }
}

/// The tool under the name that clients know it by now.
pub(crate) fn named(offers: &dyn Offers, tool: &Continued<'_>) -> Option<(String, Destination)> {
    let is_it = |place: &Destination| *place.original == *tool.tool && place.server.id() == tool.server.id();
    match offers.tool(tool.exposed).filter(is_it) {
        Some(place) => Some((tool.exposed.to_owned(), place)),
        None => offers.tool_of(tool.server.id(), tool.tool),
    }
}

/// Whether a value could speak of a delegation: nearly none does, and need not be opened for it.
pub(crate) fn may_say_delegation(value: &Raw) -> bool {
    // A name can be written with escapes.
    ["delegation", r"\u"].iter().any(|word| memchr::memmem::find(value.as_bytes(), word.as_bytes()).is_some())
}

/// The arguments of a tool of the kernel, with what its call says beside them of those it is made for: the method that the
/// tool stands for has both in one place.
pub fn with_delegation_beside(arguments: Option<Raw>, params: Option<&Raw>) -> Option<Raw> {
    let said = params.filter(|params| may_say_delegation(params)).and_then(|params| Object::open(params).ok());
    let Some(said) = said else { return arguments };
    let arguments = arguments.unwrap_or_else(Raw::empty_object);
    let Ok(edit) = Edit::of(&arguments) else { return Some(arguments) };
    let beside = ["_meta", "_mgp", "delegation"].into_iter().filter_map(|key| Some((key, said.get(key)?)));
    let added =
        beside.fold(edit, |edit, (key, value)| if edit.object().has(key) { edit } else { edit.set(key, value) });
    Some(added.finish())
}

/// All who a call says that it passed through; nobody where it says nothing of it, which is nearly always.
pub fn chain_said(session: &Session, params: &Object, extra: &Extra) -> Arc<[String]> {
    if !may_say_delegation(params.raw()) && extra.is_empty() {
        return Arc::default();
    }
    let delegation =
        Metadata::of_open(Some(params.clone()), extra).ok().and_then(|metadata| metadata.delegation().ok().flatten());
    delegation.map_or_else(Vec::new, |delegation| chain_of(&delegation, session)).into()
}

/// All who a call passed through, the caller last.
pub(super) fn chain_of(delegation: &Delegation, session: &Session) -> Vec<String> {
    let mut chain = vec![delegation.original_actor.clone()];
    let mut others = delegation.chain.iter().peekable();
    // Some name the first actor in the chain as well. Later he has no place in it.
    others.next_if(|name| **name == delegation.original_actor);
    chain.extend(others.cloned());
    if chain.last().is_none_or(|last| **last != *session.principal) {
        chain.push(session.principal.as_ref().to_owned());
    }
    chain
}

impl Gate<'_> {
    /// Names the limits that hold for a tool and its caller now; nothing where there are none.
    pub fn limits_on(&self, tables: &Tables, session: &Session, tool: &Continued<'_>) -> String {
        match limits_of(self, tables, session, tool) {
            Some(scopes) if scopes.is_empty() => String::new(),
            Some(scopes) => Digest::of(format!("{scopes:?}").as_bytes()).to_hex(),
            // What cannot be used has limits that nothing is within.
            None => "none".to_owned(),
        }
    }

    /// Whether a call is within the limits that hold now: those that it was judged by, or others that cover its arguments.
    pub async fn is_within_limits(
        &self,
        tables: &Tables,
        context: &Context,
        tool: &Continued<'_>,
        authority: &CallAuthority,
    ) -> bool {
        if self.limits_on(tables, &context.session, tool) == authority.limits {
            return true;
        }
        let Some(params) = &authority.params else { return false };
        let Some(scopes) = limits_of(self, tables, &context.session, tool) else { return false };
        let Some((exposed, place)) = named(&*self.offers(), tool) else { return false };
        let Some(policy) = place.policy.as_deref() else { return false };
        let attempt = Attempt {
            subject: Subject::Tool,
            context,
            server: &place.server,
            exposed: &exposed,
            tool: tool.tool,
            policy,
            params,
            raw: params.raw(),
            sent: None,
            within: None,
            metadata: &Metadata::default(),
            trace: "",
            request: None,
        };
        arguments::violation(self, &attempt, &scopes).await.is_none_or(|violation| violation.finding.asks())
    }
}

/// What narrows a call that was passed on: the limits of each in the chain.
///
/// # Errors
/// One of them may not use the tool, or there is something wrong with the chain.
pub(crate) fn chain_limits(
    gate: &Gate<'_>,
    tables: &Tables,
    server: &Server,
    tool: Option<&str>,
    chain: &[String],
) -> Result<Vec<Scope>, Fault> {
    let refuse = |kind, text: String| Err(Fault::new(kind, text));
    if chain.iter().any(|name| name.chars().nth(MAX_ACTOR_CHARS).is_some()) {
        return refuse(FaultKind::AccessDenied, "a name in the chain of delegation is too long".to_owned());
    }
    let chain: Vec<&str> = chain.iter().map(String::as_str).collect();
    let now = gate.granted.time();
    // Each of them by what holds for him: that the caller may do all by default gives the others nothing.
    let by_his_own = |name: &&str| {
        let default = gate.options().default_for(name, server);
        tables.access.decide(name, server.id(), tool, default, now)
    };
    match tables.access.decide_chain(&chain, server.id(), tool, DefaultPolicy::OptOut, now) {
        Ok(access) if access.allow && chain.iter().all(|name| by_his_own(name).allow) => {
            Ok(chain.iter().map(by_his_own).filter_map(|access| tables.limits(&access).cloned()).collect())
        }
        Ok(_) => refuse(FaultKind::AccessDenied, "somebody in the chain may not use this tool".to_owned()),
        Err(ChainFault::TooDeep) => refuse(FaultKind::DelegationDepth, "delegation_depth_exceeded".to_owned()),
        Err(fault @ ChainFault::Cycle) => refuse(FaultKind::DelegationCycle, fault.to_string()),
        Err(fault) => refuse(FaultKind::AccessDenied, fault.to_string()),
    }
}

/// A call on somebody's behalf has no more rights than each of those it passed through: what narrows theirs.
pub(crate) async fn check_delegation(
    gate: &Gate<'_>,
    attempt: &Attempt<'_>,
    delegation: &Delegation,
    tables: &Tables,
) -> Result<Vec<Scope>, Stop> {
    let session = &attempt.context.session;
    let judged = if delegation.delegated_via == *session.principal {
        let tool = attempt.called().map(|(tool, _)| tool);
        chain_limits(gate, tables, attempt.server, tool, &chain_of(delegation, session))
    } else {
        let text = "the call says that it was passed on by somebody who is not calling";
        Err(Fault::new(FaultKind::AccessDenied, text))
    };
    let fault = match judged {
        Ok(limits) => return Ok(limits),
        Err(fault) => fault,
    };
    Err(attempt.refuse_at(gate, step::DELEGATION, &fault).await)
}

/// The limits that hold for a call of a tool now, as its call would be judged by them.
fn limits_of(gate: &Gate<'_>, tables: &Tables, session: &Session, tool: &Continued<'_>) -> Option<Vec<Scope>> {
    let (exposed, place) = named(&*gate.offers(), tool)?;
    let access = gate.access(tables, session, tool.server, Some((tool.tool, &exposed)));
    let standing = rights::has_permissions(gate, tables, tool.server, place.policy.as_deref()).ok()?;
    let mut scopes: Vec<_> = standing.granted.into_iter().filter_map(|granted| granted.scope).collect();
    scopes.extend(tables.limits(&access).cloned());
    if !tool.chain.is_empty() {
        scopes.extend(chain_limits(gate, tables, tool.server, Some(tool.tool), tool.chain).ok()?);
    }
    Some(scopes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_outlives_the_kernel_is_read_as_it_was_written() {
        for (chain, limits) in [(&[][..], ""), (&[], "ab12"), (&["ann", "b\"o\nb"], ""), (&["ann", "bob"], "ab12")] {
            let chain: Arc<[String]> = chain.iter().map(|name| (*name).to_owned()).collect();
            let written = CallAuthority { chain: chain.clone(), limits: limits.to_owned(), params: None };
            let read = CallAuthority::from_text(written.to_text().as_bytes());
            assert_eq!((read.chain, read.limits.as_str()), (chain, limits));
        }
    }
}
