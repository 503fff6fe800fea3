//! Calls that go on for a while: each is judged again when rights change, and ends when its own has gone.
//!
//! A call that waits for a person is refused as it would be if it were made now. A call that its server works on is given
//! up: the server is told that it is cancelled, the client that its right was taken back, and the record says that
//! nobody knows what it has done. Streams and parked calls are looked after where they are kept.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use switchboard_peer::{CallError, Context, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::method;
use switchboard_wire::{Extra, Object, Raw};
use tokio::sync::watch;

use super::audit::{self, event, result};
use super::authority::{CallAuthority, chain_said};
use super::continued::{Continued, named};
use super::{Attempt, Judged};
use crate::forward::Forward;
use crate::kernel::Kernel;
use crate::names;
use crate::server::Server;

/// How long a call runs before anybody looks at its right again. Most have ended by then.
const GRACE: Duration = Duration::from_millis(100);

/// Tells whoever goes on with something that rights may have changed.
#[derive(Debug)]
pub(crate) struct RightsChanges(watch::Sender<()>);

impl Default for RightsChanges {
    fn default() -> Self {
        Self(watch::channel(()).0)
    }
}

impl RightsChanges {
    /// Rights may have changed.
    pub(crate) fn announce(&self) {
        self.0.send_replace(());
    }

    /// Whether anything goes on that they could end.
    pub(crate) fn is_watched(&self) -> bool {
        self.0.receiver_count() > 0
    }

    fn watched(&self) -> watch::Receiver<()> {
        self.0.subscribe()
    }
}

/// A request that its server works on.
pub(crate) struct RunningCall<'a> {
    kernel: &'a Kernel,
    context: &'a Context,
    server: &'a Arc<Server>,
    /// The parameters of a call of a tool, in the server's own names; nothing for what is no such call.
    called: Option<Raw>,
    extra: Extra,
}

/// What a running call rests on no longer.
struct Lost {
    step: &'static str,
    tool: Option<String>,
}

impl<'a> RunningCall<'a> {
    /// The request that is about to be sent; nothing for one whose right is looked after elsewhere.
    pub(crate) fn of(
        kernel: &'a Kernel,
        context: &'a Context,
        server: &'a Arc<Server>,
        forward: &Forward,
    ) -> Option<Self> {
        // A stream is ended where it is kept; whoever asks about a task is judged once more when it is answered.
        if forward.live.is_some() || forward.method.starts_with("tasks/") {
            return None;
        }
        let called = forward.params.clone().filter(|_| *forward.method == *method::TOOLS_CALL);
        Some(Self { kernel, context, server, called, extra: forward.extra.clone() })
    }

    /// Its outcome, or that the right to it was taken back before it had one.
    pub(crate) async fn outcome(self, call: impl Future<Output = Result<Reply, Fault>>) -> Result<Reply, Fault> {
        let mut call = pin!(call);
        if let Ok(outcome) = tokio::time::timeout(GRACE, call.as_mut()).await {
            return outcome;
        }
        let ended = &self.context.session.identity.ended;
        let mut changes = self.kernel.gate().rights.watched();
        self.kernel.watch_soon();
        loop {
            // Once before anything was announced: it may have been while nobody listened.
            if let Err(lost) = Box::pin(self.judge()).await {
                return Err(self.refused(&lost));
            }
            tokio::select! {
                outcome = call.as_mut() => return outcome,
                _ = changes.changed() => {}
                () = ended.cancelled() => {}
            }
        }
    }

    /// Whether it may go on, by what is known now: a store that does not answer ends no call.
    async fn judge(&self) -> Result<(), Lost> {
        let Self { kernel, context, .. } = self;
        let (session, tables) = (&context.session, kernel.gate().granted.latest());
        // Settings are those of the server that has the name now.
        let server = kernel.server(self.server.id()).unwrap_or_else(|| self.server.clone());
        let params = self.called.as_ref().and_then(|params| Object::open(params).ok());
        let tool = params.as_ref().and_then(|params| params.text("name"));
        let lost = |step: &'static str| Lost { step, tool: tool.clone() };
        if session.identity.ended.is_cancelled() {
            return Err(lost("token"));
        }
        let (Some(params), Some(tool)) = (&params, &tool) else {
            let allowed = kernel.access(&tables, session, &server, None).allow;
            if !allowed {
                return Err(lost("access"));
            }
            return kernel.has_permissions(&tables, &server, None).map(drop).map_err(|_| lost("permissions"));
        };
        let chain = chain_said(session, params, &self.extra);
        let view = kernel.view();
        let call = Continued { server: &server, tool, exposed: tool, chain: &chain };
        // A server may take a tool off its list while it runs.
        let found = named(&view, &call);
        let exposed = found.as_ref().map_or_else(|| names::expose(server.id(), tool), |(exposed, _)| exposed.clone());
        if !kernel.access(&tables, session, &server, Some((tool, &exposed))).allow {
            return Err(lost("access"));
        }
        if !chain.is_empty() && kernel.chain_limits(&tables, &server, Some(tool), &chain).is_err() {
            return Err(lost("delegation"));
        }
        let Some((_, route)) = found else { return Ok(()) };
        if kernel.has_permissions(&tables, &server, route.policy.as_deref()).is_err() {
            return Err(lost("permissions"));
        }
        let authority = CallAuthority { chain: chain.clone(), params: Some(params.clone()), ..Default::default() };
        let within = Box::pin(kernel.is_within_limits(&tables, context, &call, &authority)).await;
        if within { Ok(()) } else { Err(lost("limits")) }
    }

    /// The fault of a call that was given up: it was sent, and nobody waits for how it ends.
    fn refused(&self, lost: &Lost) -> Fault {
        let event = audit::event_of(event::TOOL_BLOCKED, audit::principal(&self.context.session), result::BLOCKED);
        let event = audit::about(event, self.server.id(), lost.tool.as_deref());
        let event = audit::with(audit::with(event, "step", lost.step), "what", "running");
        self.kernel.gate().audit.note_now(&event);
        let kind = if lost.step == "token" { FaultKind::AuthExpired } else { FaultKind::AccessDenied };
        let text = "the right to make this call was taken back while it ran; whether it was carried out is unknown";
        Fault::new(kind, text).from_server(self.server.id().as_ref()).with_source(CallError::Cancelled)
    }
}

impl Kernel {
    /// Waits until an attempt that waits for a person may not be made any more: the client's answer then.
    ///
    /// # Errors
    /// The same, where it is an error.
    pub(super) async fn until_refused(&self, attempt: &Attempt<'_>) -> Result<Reply, Fault> {
        let ended = &attempt.context.session.identity.ended;
        let mut changes = self.gate().rights.watched();
        self.watch_soon();
        loop {
            if ended.is_cancelled() {
                return Ok(self.token_ended(attempt).await);
            }
            if let Judged::Refused(refusal) = Box::pin(self.check_rights(attempt)).await? {
                return Ok(refusal);
            }
            tokio::select! {
                _ = changes.changed() => {}
                () = ended.cancelled() => {}
            }
        }
    }
}
