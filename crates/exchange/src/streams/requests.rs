//! What a client asks of its streams: to end one, to slow it down, to send pieces again (MGP 12.7 and later versions).

use std::time::Duration;

use switchboard_peer::{Call, CallError, Context, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::method;
use switchboard_protocol::mgp::stream::{StreamCancelParams, StreamGap, StreamPace};
use switchboard_wire::{Edit, Notification, Raw};

use super::Live;
use super::book::unknown_request;
use crate::exchange::Exchange;
use crate::host::Host;
use crate::params::view;

/// How long a server may take to say what it has of a call that was taken back.
const CANCEL_WAIT: Duration = Duration::from_secs(2);
/// The longest reason that is passed on.
const LONGEST_REASON: usize = 256;

impl<H: Host> Exchange<H> {
    /// Answers `mgp/stream/cancel`: ends a call and gives what came of it.
    ///
    /// # Errors
    /// There is no such call of this client, or what is said of it cannot be read.
    pub async fn cancel_stream(&self, context: &Context, params: &Raw) -> Result<Raw, Fault> {
        let said: StreamCancelParams = view(params)?;
        let live = match self.streams().find(context, said.request_id.as_ref(), said.operation_id.as_deref()) {
            Ok(live) => live,
            Err(fault) => {
                // A call that does not stream has nothing to show, and ends all the same.
                let ended = said.request_id.is_some_and(|id| self.streams().in_flight.cancel(context, &id));
                return if ended {
                    Ok(Edit::empty().set("cancelled", Raw::boolean(true)).finish())
                } else {
                    Err(fault)
                };
            }
        };
        self.host.gate().admit_continued(context, &live.continued(), method::STREAM_CANCEL, unknown_request).await?;
        let reason: String =
            said.reason.unwrap_or_else(|| "cancelled".to_owned()).chars().take(LONGEST_REASON).collect();
        let theirs = self.stop_at_server(&live, context, &reason).await;
        let cancelled = !live.is_over();
        live.cancel.cancel();
        let partial = match theirs.or_else(|| live.partial()) {
            // What is too long, or cannot be judged, is left out.
            Some(partial) => match self.host.gate().look_at_result(&live.server, Ok(Ok(partial).into())).await {
                Ok(reply) => reply.outcome.ok(),
                Err(_) => None,
            },
            None => None,
        };
        Ok(Edit::empty().set("cancelled", Raw::boolean(cancelled)).set_optional("partial_result", partial).finish())
    }

    /// Answers `mgp/stream/pace`.
    ///
    /// # Errors
    /// There is no such stream of this client, or what is said of it cannot be read.
    pub async fn pace_stream(&self, context: &Context, params: &Raw) -> Result<Raw, Fault> {
        let said: StreamPace = view(params)?;
        let per_second = said.max_chunks_per_second;
        if !per_second.is_finite() || per_second < 0.0 {
            return Err(Fault::new(FaultKind::InvalidParams, "`max_chunks_per_second` is no number from 0 on"));
        }
        let live = self.streams().find(context, said.request_id.as_ref(), said.operation_id.as_deref())?;
        self.host.gate().admit_continued(context, &live.continued(), method::STREAM_PACE, unknown_request).await?;
        live.set_pace(per_second);
        self.tell_pace(&live, context, per_second, said.reason.as_deref()).await;
        let word = if per_second == 0.0 { "paused" } else { "paced" };
        Ok(Edit::empty().set_optional("request_id", said.request_id).set(word, Raw::boolean(true)).finish())
    }

    /// Tells the server how fast pieces may come.
    async fn tell_pace(&self, live: &Live, context: &Context, per_second: f64, reason: Option<&str>) {
        let Some(theirs) = live.id_at_server() else { return };
        let Ok(upstream) = self.upstream(context, &live.server).await else { return };
        let params = Edit::empty()
            .set("request_id", theirs)
            .set("max_chunks_per_second", Raw::from_value(&per_second).unwrap_or_else(|_| Raw::number(0)))
            .set_optional("reason", reason.map(Raw::string))
            .finish();
        let _ = upstream.remote.notify(Notification::new(method::STREAM_PACE_NOTICE, Some(params)));
    }

    /// Asks the server to stop and for what it has, at most for a moment.
    async fn stop_at_server(&self, live: &Live, context: &Context, reason: &str) -> Option<Raw> {
        let theirs = live.id_at_server()?;
        let upstream = self.upstream(context, &live.server).await.ok()?;
        let params = Edit::empty().set("request_id", theirs).set("reason", Raw::string(reason)).finish();
        let mut call = Call::new(method::STREAM_CANCEL, Some(params)).within(CANCEL_WAIT);
        call.max_timeout = CANCEL_WAIT;
        let reply: Result<Reply, CallError> = upstream.remote.request(call).await;
        reply.ok()?.outcome.ok()?.member("partial_result")
    }

    /// Takes what a client says about its streams without asking.
    pub async fn told_about_stream(&self, context: &Context, notification: &Notification) {
        let Some(params) = &notification.params else { return };
        match &*notification.method {
            method::STREAM_PACE_NOTICE => {
                if let Err(fault) = self.pace_stream(context, params).await {
                    tracing::debug!(%fault, "a pace for no stream");
                }
            }
            method::STREAM_GAP => {
                let Ok(said) = params.view::<StreamGap>() else { return };
                let live = self.streams().find(context, Some(&said.request_id), None).ok();
                let Some(live) = live else { return };
                let tool = live.continued();
                if self.host.gate().admit_continued(context, &tool, method::STREAM_GAP, unknown_request).await.is_ok() {
                    live.send_again(&said.missing_indices);
                }
            }
            _ => {}
        }
    }
}
