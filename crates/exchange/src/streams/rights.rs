//! The right to go on: what streams, what is parked and what was kept ends when its tool is taken from its caller.

use std::sync::Arc;
use std::time::SystemTime;

use switchboard_gate::audit::{self, event, result, step};
use switchboard_gate::{Continued, Continuing, Tables, beyond_limits};
use switchboard_peer::{CallError, Context};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::proposals::streaming;
use switchboard_store::Operation;

use super::Live;
use super::live::authority_in;
use super::operation::unknown_checkpoint;
use crate::exchange::Exchange;
use crate::host::Host;

impl<H: Host> Exchange<H> {
    /// Ends calls that go on and that their caller may not make any more, by what is known now.
    pub(crate) fn end_revoked_calls(&self) {
        let tables = self.host.gate().granted.latest();
        for live in self.streams().running() {
            if self.has_right(&tables, &live) {
                if self.host.gate().limits_on(&tables, &live.reader().session, &live.continued())
                    == live.authority().limits
                {
                    continue;
                }
                // Links and hosts in the arguments are looked up for that.
                let exchange = self.clone();
                self.spawn(async move {
                    exchange.judge_stream(&live).await;
                });
            } else {
                self.revoke_stream(&live, step::ACCESS);
            }
        }
        self.end_revoked_parked(&tables);
    }

    /// Ends what rests on a token that was taken back. What rests on one that has only run out may be gone on with by whoever
    /// shows a new one.
    pub(crate) fn end_unproven(&self, now: SystemTime) {
        for live in self.streams().running() {
            if live.reader().session.identity.is_revoked(now) {
                self.revoke_stream(&live, step::TOKEN);
            }
        }
        self.end_unproven_parked(now);
    }

    /// Judges a stream by what is known now, and ends it where it may not go on; whether it may.
    pub(super) async fn judge_stream(&self, live: &Arc<Live>) -> bool {
        let tables = self.host.gate().granted.latest();
        if !self.has_right(&tables, live) {
            self.revoke_stream(live, step::ACCESS);
            return false;
        }
        let (tool, authority) = (live.continued(), live.authority());
        let limits = self.host.gate().limits_on(&tables, &live.reader().session, &tool);
        if limits == authority.limits {
            return true;
        }
        if !Box::pin(self.host.gate().is_within_limits(&tables, &live.context, &tool, &authority)).await {
            self.revoke_stream(live, step::LIMITS);
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
        self.host.gate().may_continue(tables, &who, &live.continued())
    }

    fn revoke_stream(&self, live: &Live, step: &'static str) {
        let taken_back = "the right to use this tool was taken back while the call ran";
        let why = match step {
            step::LIMITS => beyond_limits(),
            step::TOKEN => Fault::new(FaultKind::AuthExpired, "the token that this call was made with has ended"),
            _ => Fault::new(FaultKind::AccessDenied, taken_back),
        };
        // It was sent, and nobody waits for how it ends.
        let why = why.from_server(live.server.id().as_ref()).with_source(CallError::Cancelled);
        if live.is_over() || !live.revoke(why) {
            return;
        }
        let event = audit::event_of(event::TOOL_BLOCKED, audit::principal(&live.reader().session), result::BLOCKED);
        let event = audit::about(event, live.server.id(), Some(&live.tool));
        let event = audit::with(audit::with(event, step::KEY, step), "what", "stream");
        self.host.gate().audit().note_now(&audit::with(event, "operation", live.operation.as_ref()));
    }

    /// Judges whether somebody may have what was kept of an operation.
    pub(super) async fn admit_kept(&self, context: &Context, kept: &Operation) -> Result<(), Fault> {
        // After a restart the server, and with it the tool, may be still on its way.
        self.host.wait_for_servers().await;
        let server = self.server(&kept.server).ok_or_else(unknown_checkpoint)?;
        let authority = authority_in(&kept.key);
        let tool = Continued { server: &server, tool: &kept.tool, exposed: &kept.tool, chain: &authority.chain };
        self.host.gate().admit_continued(context, &tool, streaming::RESUME, unknown_checkpoint).await?;
        self.host.gate().admit_within(context, &tool, streaming::RESUME, &authority).await?;
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
        self.host.gate().audit().note_first(event).await
    }
}
