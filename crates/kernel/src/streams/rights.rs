//! The right to go on: what streams, what is parked and what was kept ends when its tool is taken from its caller.
//!
//! While anything streams, runs for a while, or waits for its client or a person, the grants are looked at as often as calls would have them looked at, so
//! that nothing goes on for longer after a revocation than a new call would pass.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use switchboard_peer::{CallError, Context};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::proposals::streaming;
use switchboard_store::Operation;

use super::Live;
use super::live::authority_in;
use super::operation::unknown_checkpoint;
use crate::gate::audit::{self, event, result};
use crate::gate::{self, Continued, Continuing, Tables};
use crate::kernel::Kernel;

/// How often grants are looked at while something goes on: whoever revokes waits a little longer than this.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// Questions that are looked at when a grant ends. The rest ends by its own time, and an answer to it does not count.
const MAX_PENDING: usize = 4_096;

impl Kernel {
    /// Ends what its caller may not use any more, by what is known now.
    pub(crate) fn end_revoked(&self) {
        self.end_lost();
        self.gate().rights.announce();
    }

    fn end_lost(&self) {
        let tables = self.gate().granted.latest();
        for live in self.streams().running() {
            if self.has_right(&tables, &live) {
                if self.gate().limits_on(&tables, &live.reader().session, &live.continued()) == live.authority().limits
                {
                    continue;
                }
                // Links and hosts in the arguments are looked up for that.
                let kernel = self.clone();
                self.spawn(async move {
                    kernel.judge_stream(&live).await;
                });
            } else {
                self.revoke_stream(&live, "access");
            }
        }
        self.end_revoked_parked(&tables);
    }

    /// Ends what rests on a token that was taken back. What rests on one that has only run out may be gone on with by whoever
    /// shows a new one.
    fn end_unproven(&self) {
        let now = SystemTime::now();
        for live in self.streams().running() {
            if live.reader().session.identity.is_revoked(now) {
                self.revoke_stream(&live, "token");
            }
        }
        self.end_unproven_parked(now);
    }

    /// Judges a stream by what is known now, and ends it where it may not go on; whether it may.
    pub(super) async fn judge_stream(&self, live: &Arc<Live>) -> bool {
        let tables = self.gate().granted.latest();
        if !self.has_right(&tables, live) {
            self.revoke_stream(live, "access");
            return false;
        }
        let (tool, authority) = (live.continued(), live.authority());
        let limits = self.gate().limits_on(&tables, &live.reader().session, &tool);
        if limits == authority.limits {
            return true;
        }
        if !Box::pin(self.gate().is_within_limits(&tables, &live.context, &tool, &authority)).await {
            self.revoke_stream(live, "limits");
            return false;
        }
        live.set_limits(limits);
        true
    }

    fn has_right(&self, tables: &Tables, live: &Live) -> bool {
        let reader = live.reader();
        if reader.session.identity.is_revoked(SystemTime::now()) {
            return false;
        }
        let who = Continuing { session: &reader.session, tokens: &reader.tokens };
        self.gate().may_continue(tables, &who, &live.continued())
    }

    fn revoke_stream(&self, live: &Live, step: &'static str) {
        let taken_back = "the right to use this tool was taken back while the call ran";
        let why = match step {
            "limits" => gate::beyond_limits(),
            "token" => Fault::new(FaultKind::AuthExpired, "the token that this call was made with has ended"),
            _ => Fault::new(FaultKind::AccessDenied, taken_back),
        };
        // It was sent, and nobody waits for how it ends.
        let why = why.from_server(live.server.id().as_ref()).with_source(CallError::Cancelled);
        if live.is_over() || !live.revoke(why) {
            return;
        }
        let event = audit::event_of(event::TOOL_BLOCKED, audit::principal(&live.reader().session), result::BLOCKED);
        let event = audit::about(event, live.server.id(), Some(&live.tool));
        let event = audit::with(audit::with(event, "step", step), "what", "stream");
        self.gate().audit.note_now(&audit::with(event, "operation", live.operation.as_ref()));
    }

    /// Looks at the grants for as long as something goes on that they could end.
    pub(crate) async fn watch_rights(&self) {
        loop {
            let idle = self.streams().count() == 0 && self.parked().is_empty() && !self.gate().rights.is_watched();
            tokio::select! {
                () = self.closing().cancelled() => return,
                () = self.streams().begun.notified(), if idle => {}
                () = tokio::time::sleep(LOOK_INTERVAL), if !idle => {}
            }
            self.end_unproven();
            match self.gate().granted.again().await {
                Ok(true) => self.grants_changed(),
                // What ends by itself changes nothing in the store, and no store knows of session tokens.
                Ok(false) if self.gate().anything_ends() => {
                    self.end_lost();
                    self.gate().rights.tick();
                }
                _ => {}
            }
        }
    }

    /// Ends what rests on grants that have ended by themselves since some moment: questions that nobody waits for, and what
    /// is watched. What was agreed to for longer is judged when somebody wants to use it.
    pub(crate) async fn end_expired(&self, since: jiff::Timestamp, now: jiff::Timestamp) {
        let Some(store) = self.gate().store() else { return };
        if !self.gate().granted.latest().has_ended_since(since, now) {
            return;
        }
        // Somebody may have made them last longer meanwhile.
        let Ok(tables) = self.gate().tables().await else { return };
        let pending = store.approvals().pending(now, MAX_PENDING).await.unwrap_or_default();
        for held in pending.iter().map(|approval| &approval.held) {
            let whose = (held.principal.as_str(), held.server.as_str(), held.tool.as_str());
            if !tables.grant_ended_since(whose, held.created_at, now) {
                continue;
            }
            if let Err(error) = store.approvals().withdraw(&held.id, gate::EXPIRED, now).await {
                tracing::warn!(%error, "a question about what was granted stays open until its time is over");
            }
        }
        self.grants_changed();
    }

    /// Wakes whoever watches, when something begins to go on.
    pub(crate) fn watch_soon(&self) {
        self.streams().begun.notify_one();
    }

    /// Judges whether somebody may have what was kept of an operation.
    pub(super) async fn admit_kept(&self, context: &Context, kept: &Operation) -> Result<(), Fault> {
        // After a restart the server, and with it the tool, may be still on its way.
        self.wait_for_servers().await;
        let server = self.server(&kept.server).ok_or_else(unknown_checkpoint)?;
        let authority = authority_in(&kept.key);
        let tool = Continued { server: &server, tool: &kept.tool, exposed: &kept.tool, chain: &authority.chain };
        self.gate().admit_continued(context, &tool, streaming::RESUME, unknown_checkpoint).await?;
        self.gate().admit_within(context, &tool, streaming::RESUME, &authority).await?;
        if kept.result.is_some() {
            self.record_resumed(context, &kept.server, &kept.tool, &kept.id).await?;
        }
        Ok(())
    }

    /// Puts on record that somebody goes on with an operation.
    ///
    /// # Errors
    /// It cannot be: nobody may go on.
    pub(super) async fn record_resumed(
        &self,
        context: &Context,
        server: &str,
        tool: &str,
        operation: &str,
    ) -> Result<(), Fault> {
        let actor = audit::principal(&context.session);
        let event = audit::event_of(event::OPERATION_RESUMED, actor, result::SUCCESS);
        let event = audit::with(audit::about(event, server, Some(tool)), "operation", operation);
        self.gate().audit.note_first(event).await
    }
}
