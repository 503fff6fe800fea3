//! What a client asks of its streams: to end one, to slow it down, to send pieces again (MGP 12.7 and later versions).

use std::time::Duration;

use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::method;
use switchboard_protocol::mgp::stream::{StreamCancelParams, StreamGap, StreamPace};
use switchboard_wire::{Edit, Notification, Raw};

use super::book::unknown_request;
use crate::kernel::{Kernel, readable};

/// How long a server may take to say what it has of a call that was taken back.
pub(super) const CANCEL_WAIT: Duration = Duration::from_secs(2);
/// The longest reason that is passed on.
const LONGEST_REASON: usize = 256;

impl Kernel {
    /// Answers `mgp/stream/cancel`: ends a call and gives what came of it.
    pub(crate) async fn cancel_stream(&self, context: &Context, params: &Raw) -> Result<Raw, Fault> {
        let said: StreamCancelParams = read(params)?;
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
        self.gate().admit_continued(context, &live.continued(), method::STREAM_CANCEL, unknown_request).await?;
        let reason: String =
            said.reason.unwrap_or_else(|| "cancelled".to_owned()).chars().take(LONGEST_REASON).collect();
        let theirs = live.stop_at_server(context, &reason).await;
        let cancelled = !live.is_over();
        live.cancel.cancel();
        let partial = match theirs.or_else(|| live.partial()) {
            // What is too long, or cannot be judged, is left out.
            Some(partial) => match self.gate().look_at_result(&live.server, Ok(Ok(partial).into())).await {
                Ok(reply) => reply.outcome.ok(),
                Err(_) => None,
            },
            None => None,
        };
        Ok(Edit::empty().set("cancelled", Raw::boolean(cancelled)).set_optional("partial_result", partial).finish())
    }

    /// Answers `mgp/stream/pace`.
    pub(crate) async fn pace_stream(&self, context: &Context, params: &Raw) -> Result<Raw, Fault> {
        let said: StreamPace = read(params)?;
        let per_second = said.max_chunks_per_second;
        if !per_second.is_finite() || per_second < 0.0 {
            return Err(Fault::new(FaultKind::InvalidParams, "`max_chunks_per_second` is no number from 0 on"));
        }
        let live = self.streams().find(context, said.request_id.as_ref(), said.operation_id.as_deref())?;
        self.gate().admit_continued(context, &live.continued(), method::STREAM_PACE, unknown_request).await?;
        live.pace(context, per_second, said.reason.as_deref()).await;
        let word = if per_second == 0.0 { "paused" } else { "paced" };
        Ok(Edit::empty().set_optional("request_id", said.request_id).set(word, Raw::boolean(true)).finish())
    }

    /// Forgets what is written of operations and questions that are long over.
    pub(crate) async fn forget_old(&self) {
        let Some(store) = self.gate().store() else { return };
        let now = self.gate().granted.time();
        if let Err(error) = store.operations().expire(now).await {
            tracing::debug!(%error, "old operations could not be removed");
        }
        if let Err(error) = store.callbacks().expire(now).await {
            tracing::debug!(%error, "old questions could not be removed");
        }
    }

    /// Takes what a client says about its streams without asking.
    pub(crate) async fn told_about_stream(&self, context: &Context, notification: &Notification) {
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
                if self.gate().admit_continued(context, &tool, method::STREAM_GAP, unknown_request).await.is_ok() {
                    live.send_again(&said.missing_indices);
                }
            }
            _ => {}
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(params: &Raw) -> Result<T, Fault> {
    params.view().map_err(|error| Fault::new(FaultKind::InvalidParams, readable(&error)))
}
