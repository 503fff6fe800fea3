//! What the right to a call rests on besides its tool, judged: those on whose behalf it is made, and the limits that its
//! arguments are within.

use std::sync::Arc;

use switchboard_peer::{Context, Session};
use switchboard_policy::access::ChainFault;
pub(crate) use switchboard_policy::authority::CallAuthority;
use switchboard_policy::permission::Scope;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::DefaultPolicy;
use switchboard_protocol::mgp::metadata::{Delegation, Metadata};
use switchboard_store::Digest;
use switchboard_wire::{Edit, Extra, Kind, Object, Raw};

use super::answers;
use super::audit::{self, event, result};
use super::continued::{Continued, named};
use super::refused::refused;
use super::tables::Tables;
use super::{Attempt, Subject};
use crate::kernel::Kernel;
use crate::server::Server;

/// Letters of a name in a chain of delegation.
const MAX_ACTOR_CHARS: usize = 256;

/// Whether a value could speak of a delegation: nearly none does, and need not be opened for it.
fn may_say_delegation(value: &Raw) -> bool {
    // A name can be written with escapes.
    ["delegation", r"\u"].iter().any(|word| memchr::memmem::find(value.as_bytes(), word.as_bytes()).is_some())
}

/// The arguments of a tool of the kernel, with what its call says beside them of those it is made for: the method that the
/// tool stands for has both in one place.
pub(crate) fn with_delegation_beside(arguments: Option<Raw>, params: Option<&Raw>) -> Option<Raw> {
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
pub(crate) fn chain_said(session: &Session, params: &Object, extra: &Extra) -> Arc<[String]> {
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

impl Kernel {
    /// What the right to a call that is judged now rests on.
    pub(crate) fn authority_of(
        &self,
        session: &Session,
        tool: Continued<'_>,
        chain: Arc<[String]>,
        params: Option<Object>,
    ) -> CallAuthority {
        let tool = Continued { chain: &chain, ..tool };
        let limits = self.limits_on(&self.gate().granted.latest(), session, &tool);
        CallAuthority { limits, params, chain }
    }

    /// What narrows a call that was passed on: the limits of each in the chain.
    ///
    /// # Errors
    /// One of them may not use the tool, or there is something wrong with the chain.
    pub(super) fn chain_limits(
        &self,
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
        let now = self.gate().granted.time();
        // Each of them by what holds for him: that the caller may do all by default gives the others nothing.
        let by_his_own = |name: &&str| {
            let default = self.default_for(name, server);
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

    /// Judges an answer in the middle of a call, and puts it on record before its server gets it.
    ///
    /// # Errors
    /// It may not be given, or cannot be put on record.
    pub(crate) async fn admit_answer_for(
        &self,
        context: &Context,
        server: &Server,
        tool: Option<&str>,
        answer: &Raw,
    ) -> Result<(), Fault> {
        self.judge_delegated_answer(context, server, tool, answer).await?;
        answers::record(&self.gate().audit, &context.session, server, tool, answer).await
    }

    /// Judges on whose behalf an answer says that it is given: as a call that says so.
    ///
    /// # Errors
    /// Somebody in the chain may not make the call, or the answer says it of somebody who does not give it. On record.
    async fn judge_delegated_answer(
        &self,
        context: &Context,
        server: &Server,
        tool: Option<&str>,
        answer: &Raw,
    ) -> Result<(), Fault> {
        if !may_say_delegation(answer) || answer.kind() != Kind::Object {
            return Ok(());
        }
        let session = &context.session;
        let judge = async {
            let metadata = Metadata::of(Some(answer), &Extra::default()).map_err(Fault::malformed)?;
            let Some(delegation) = metadata.delegation()? else { return Ok(()) };
            if delegation.delegated_via != *session.principal {
                let text = "the answer says that it was passed on by somebody who does not give it";
                return Err(Fault::new(FaultKind::AccessDenied, text));
            }
            let tables = self.tables().await?;
            self.chain_limits(&tables, server, tool, &chain_of(&delegation, session)).map(drop)
        };
        let Err(fault) = judge.await else { return Ok(()) };
        let event = audit::event_of(event::TOOL_BLOCKED, audit::principal(session), result::BLOCKED);
        let event = audit::with(audit::about(event, server.id(), tool), "step", "delegation");
        let event = audit::with(audit::with(event, "what", "answer"), "reason", fault.message());
        self.gate().audit.note(refused(event, &fault)).await;
        Err(fault)
    }

    /// The limits that hold for a call of a tool now, as its call would be judged by them.
    fn limits_of(&self, tables: &Tables, session: &Session, tool: &Continued<'_>) -> Option<Vec<Scope>> {
        let view = self.view();
        let (exposed, route) = named(&view, tool)?;
        let access = self.access(tables, session, tool.server, Some((tool.tool, &exposed)));
        let standing = self.has_permissions(tables, tool.server, route.policy.as_deref()).ok()?;
        let mut scopes: Vec<_> = standing.granted.into_iter().filter_map(|granted| granted.scope).collect();
        scopes.extend(tables.limits(&access).cloned());
        if !tool.chain.is_empty() {
            scopes.extend(self.chain_limits(tables, tool.server, Some(tool.tool), tool.chain).ok()?);
        }
        Some(scopes)
    }

    /// Names the limits that hold for a tool and its caller now; nothing where there are none.
    pub(crate) fn limits_on(&self, tables: &Tables, session: &Session, tool: &Continued<'_>) -> String {
        match self.limits_of(tables, session, tool) {
            Some(scopes) if scopes.is_empty() => String::new(),
            Some(scopes) => Digest::of(format!("{scopes:?}").as_bytes()).to_hex(),
            // What cannot be used has limits that nothing is within.
            None => "none".to_owned(),
        }
    }

    /// Whether a call is within the limits that hold now: those that it was judged by, or others that cover its arguments.
    pub(crate) async fn is_within_limits(
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
        let Some(scopes) = self.limits_of(tables, &context.session, tool) else { return false };
        let view = self.view();
        let Some((exposed, route)) = named(&view, tool) else { return false };
        let Some(server) = view.servers.get(route.server) else { return false };
        let Some(policy) = route.policy.as_deref() else { return false };
        let attempt = Attempt {
            subject: Subject::Tool,
            context,
            server,
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
        self.violation(&attempt, &scopes).await.is_none_or(|violation| violation.finding.asks())
    }
}
