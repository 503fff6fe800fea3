//! Calls that go on for a while: each is judged again when rights change, and ends when its own has gone.
//!
//! A call that waits for a person is refused as it would be if it were made now. A call that its server works on is given
//! up: the server is told that it is cancelled, the client that its right was taken back, and the record says that
//! nobody knows what it has done. Streams and parked calls are looked after where they are kept.

use crate::{authority, rights, scopes};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use switchboard_peer::{CallError, Context, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_wire::{Extra, Object, Raw};

use super::audit::{self, event, result, step};
use super::authority::{CallAuthority, Continued, chain_said, named};
use super::scopes::{Presented, ScopeTarget};
use super::{Gate, ToolPolicy};
use switchboard_upstream::Server;

/// How long a call runs before anybody looks at its right again. Most have ended by then.
const GRACE: Duration = Duration::from_millis(100);

/// A request that its server works on.
pub struct RunningCall<'a> {
    gate: Gate<'a>,
    context: &'a Context,
    server: &'a Arc<Server>,
    /// The parameters of a call of a tool, in the server's own names; nothing for what is no such call.
    called: Option<Raw>,
    extra: Extra,
    /// The session tokens that it was made with.
    tokens: Presented,
    /// How many changes of rights there had been when it was sent.
    changes: u64,
}

/// A call of a tool, opened.
struct CalledTool {
    name: String,
    params: Object,
    chain: Arc<[String]>,
}

/// What a running call rests on no longer.
struct Lost {
    step: &'static str,
    tool: Option<String>,
}

impl std::fmt::Debug for RunningCall<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningCall").field("server", self.server.id()).finish_non_exhaustive()
    }
}

impl<'a> RunningCall<'a> {
    /// A request that is about to be sent. `called` are the parameters of a call of a tool, in the server's own names, with the
    /// session tokens that it was made with; nothing for what is no such call.
    #[must_use]
    pub fn new(
        gate: Gate<'a>,
        context: &'a Context,
        server: &'a Arc<Server>,
        called: Option<(Raw, Presented)>,
        extra: Extra,
    ) -> Self {
        let changes = gate.rights.count();
        let (called, tokens) = match called {
            Some((called, tokens)) => (Some(called), tokens),
            None => (None, Presented::of(context, None)),
        };
        Self { gate, context, server, called, extra, tokens, changes }
    }

    /// Its outcome, or that the right to it was taken back before it had one.
    pub async fn outcome(self, call: impl Future<Output = Result<Reply, Fault>>) -> Result<Reply, Fault> {
        let mut call = pin!(call);
        if let Ok(outcome) = tokio::time::timeout(GRACE, call.as_mut()).await {
            return outcome;
        }
        let ended = &self.context.session.identity.ended;
        let mut changes = self.gate.rights.watched();
        self.gate.around.watch_rights();
        let tool = self.called_tool();
        let is_as_sent = self.gate.rights.count() == self.changes;
        // Where nothing has changed since, it was judged by the limits that hold now.
        let mut limits = tool.as_ref().filter(|_| is_as_sent).map_or_else(String::new, |tool| self.limits_on(tool));
        loop {
            if let Err(lost) = Box::pin(self.judge(tool.as_ref(), &mut limits)).await {
                return Err(self.refused(&lost));
            }
            tokio::select! {
                outcome = call.as_mut() => return outcome,
                _ = changes.changed() => {}
                () = ended.cancelled() => {}
            }
        }
    }

    fn called_tool(&self) -> Option<CalledTool> {
        let params = Object::open(self.called.as_ref()?).ok()?;
        let chain = chain_said(&self.context.session, &params, &self.extra);
        Some(CalledTool { name: params.text("name")?, params, chain })
    }

    /// The server that has the name now: its settings count.
    fn server_now(&self) -> Arc<Server> {
        self.gate.server(self.server.id()).unwrap_or_else(|| self.server.clone())
    }

    /// Names the limits that hold for the call now.
    fn limits_on(&self, tool: &CalledTool) -> String {
        let (tables, server) = (self.gate.granted.latest(), self.server_now());
        self.gate.limits_on(&tables, &self.context.session, &tool.continued(&server))
    }

    /// Whether it may go on, by what is known now: a store that does not answer ends no call. `limits` names those that its
    /// arguments were last held to.
    async fn judge(&self, tool: Option<&CalledTool>, limits: &mut String) -> Result<(), Lost> {
        let Self { gate, context, .. } = self;
        let (session, tables, server) = (&context.session, gate.granted.latest(), self.server_now());
        let lost = |step: &'static str| Lost { step, tool: tool.map(|tool| tool.name.clone()) };
        if session.identity.ended.is_cancelled() {
            return Err(lost(step::TOKEN));
        }
        let scopes = |tool: Option<(&str, &ToolPolicy)>| {
            let wanted = ScopeTarget { server: server.id(), tool };
            scopes::hold_to_scopes(gate, &session.principal, &self.tokens, wanted).map_err(|_| lost(step::SCOPES))
        };
        let Some(tool) = tool else {
            if !self.tokens.is_empty() {
                scopes(None)?;
            }
            if !gate.access(&tables, session, &server, None).allow {
                return Err(lost(step::ACCESS));
            }
            return rights::has_permissions(gate, &tables, &server, None)
                .map(drop)
                .map_err(|_| lost(step::PERMISSIONS));
        };
        let call = tool.continued(&server);
        // A server may take a tool off its list while it runs.
        let found = named(&*gate.offers(), &call);
        let exposed = found.as_ref().map_or_else(|| server.naming().expose(&tool.name), |(exposed, _)| exposed.clone());
        if !gate.access(&tables, session, &server, Some((&tool.name, &exposed))).allow {
            return Err(lost(step::ACCESS));
        }
        if !tool.chain.is_empty()
            && authority::chain_limits(gate, &tables, &server, Some(&tool.name), &tool.chain).is_err()
        {
            return Err(lost(step::DELEGATION));
        }
        let Some((_, place)) = found else { return Ok(()) };
        if rights::has_permissions(gate, &tables, &server, place.policy.as_deref()).is_err() {
            return Err(lost(step::PERMISSIONS));
        }
        if let Some(policy) = place.policy.as_deref().filter(|_| !self.tokens.is_empty()) {
            scopes(Some((&exposed, policy)))?;
        }
        let params = Some(tool.params.clone());
        let authority = CallAuthority { chain: tool.chain.clone(), limits: std::mem::take(limits), params };
        if !Box::pin(gate.is_within_limits(&tables, context, &call, &authority)).await {
            // A permission may have ended since it was looked at: the limits that it brought went with it.
            let lasts = rights::has_permissions(gate, &tables, &server, place.policy.as_deref()).is_ok();
            return Err(lost(if lasts { step::LIMITS } else { step::PERMISSIONS }));
        }
        *limits = gate.limits_on(&tables, session, &call);
        Ok(())
    }

    /// The fault of a call that was given up: it was sent, and nobody waits for how it ends.
    fn refused(&self, lost: &Lost) -> Fault {
        let event = audit::event_of(event::TOOL_BLOCKED, audit::principal(&self.context.session), result::BLOCKED);
        let event = audit::about(event, self.server.id(), lost.tool.as_deref());
        let event = audit::with(audit::with(event, step::KEY, lost.step), "what", "running");
        self.gate.audit.note_now(&event);
        let kind = if matches!(lost.step, step::TOKEN | step::SCOPES) {
            FaultKind::AuthExpired
        } else {
            FaultKind::AccessDenied
        };
        let text = "the right to make this call was taken back while it ran; whether it was carried out is unknown";
        Fault::new(kind, text).from_server(self.server.id().as_ref()).with_source(CallError::Cancelled)
    }
}

impl CalledTool {
    fn continued<'a>(&'a self, server: &'a Server) -> Continued<'a> {
        Continued { server, tool: &self.name, exposed: &self.name, chain: &self.chain }
    }
}

impl Gate<'_> {
    /// What comes of some work, or nothing once `may` says that it may not go on or its token has ended. It is asked again
    /// whenever rights change.
    pub async fn while_it_may<T>(
        &self,
        context: &Context,
        work: impl Future<Output = T>,
        may: impl Fn() -> bool,
    ) -> Option<T> {
        let mut work = pin!(work);
        if let Ok(done) = tokio::time::timeout(GRACE, work.as_mut()).await {
            return Some(done);
        }
        let ended = &context.session.identity.ended;
        let mut changes = self.rights.watched();
        self.around.watch_rights();
        loop {
            if ended.is_cancelled() || !may() {
                return None;
            }
            tokio::select! {
                done = work.as_mut() => return Some(done),
                _ = changes.changed() => {}
                () = ended.cancelled() => {}
            }
        }
    }
}
