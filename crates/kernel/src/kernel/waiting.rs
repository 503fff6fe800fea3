//! Waiting for servers that are just starting: for as many as somebody needs, and no longer.
//!
//! A list is answered without a server that takes long. A request that names something of one server waits for that server,
//! as long as its start may take: an early refusal would only be tried again.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_wire::Raw;
use tokio::time::{Instant, MissedTickBehavior};

use super::Kernel;
use crate::directory::View;
use crate::gate::{PROGRESS_INTERVAL, Subject, still_waits, unavailable};
use crate::names;
use crate::server::Server;
use crate::services::table;

/// How long a client that says hello waits for servers that are just starting, counted from their start, where there are
/// several: what it is told of them does not depend on a single one.
const HELLO_WAIT: Duration = Duration::from_secs(1);

/// How long nothing was heard of a call before its client is told that it goes on.
const SILENCE: Duration = Duration::from_millis(4_500);

/// Waits until `is_known` holds, while servers are starting: the others do not wait for one that hangs.
pub(super) async fn until_known(kernel: &Kernel, is_known: impl Fn(&View) -> bool + Send) {
    let (view, limit) = (kernel.view(), kernel.options().list_wait);
    let starting = view.servers.iter().filter(|server| !server.phase().is_settled());
    let mut starting: FuturesUnordered<_> = starting.map(|server| server.settled_within(limit)).collect();
    while !is_known(&kernel.view()) && starting.next().await.is_some() {}
}

/// Waits for servers before the answer to `initialize` or `server/discover`, no longer than `limit`.
pub(super) async fn until_greeted(kernel: &Kernel, limit: Option<Duration>) {
    let longest = kernel.options().list_wait;
    let wait = if kernel.view().servers.len() > 1 { longest.min(HELLO_WAIT) } else { longest };
    kernel.wait_for_servers_within(limit.map_or(wait, |limit| wait.min(limit))).await;
}

/// Tells a client that asked for progress, from time to time, that its call goes on while the server says nothing of it: many clients
/// wait longer for what they hear of, and a person sees that it is not forgotten.
pub(super) async fn with_signs_of_life<T>(
    context: &Context,
    server: &str,
    token: &Raw,
    work: impl Future<Output = T>,
) -> T {
    let began = Instant::now();
    let mut tick = tokio::time::interval_at(began + PROGRESS_INTERVAL, PROGRESS_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = work.as_mut() => return done,
            now = tick.tick() => {
                let told = context.remote.last_progress();
                if told.is_none_or(|told| now.saturating_duration_since(told) >= SILENCE) {
                    let message = format!("server `{server}` works on it ({} s)", began.elapsed().as_secs());
                    let _ = context.remote.notify(still_waits(token, &message));
                }
            }
        }
    }
}

/// A request for something that a client named, and that no server is known to have.
pub(super) struct Named<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) context: &'a Context,
    pub(super) subject: Subject,
    pub(super) name: &'a str,
    pub(super) params: Option<&'a Raw>,
}

impl Named<'_> {
    /// Waits until `is_known` holds, while a server that may have it is starting: as long as that may take, or until the
    /// client goes away.
    pub(super) async fn until_known(&self, is_known: impl Fn(&View) -> bool + Send) {
        let view = self.kernel.view();
        if view.servers.iter().all(|server| server.phase().is_settled()) {
            return;
        }
        // A server may have a tool of such a name as well.
        if names::is_reserved(self.name) || table::is_own_tool(self.name) {
            return until_known(self.kernel, is_known).await;
        }
        let Ok(tables) = self.kernel.gate().tables().await else { return };
        let starting = |server: &&Arc<Server>| {
            // Who may not use a server is not told by a wait that it is there.
            let may = |called| self.kernel.gate().access(&tables, &self.context.session, server, called).allow;
            !server.phase().is_settled() && self.called_at(&view, server).is_some_and(may)
        };
        let starting: Vec<_> = view.servers.iter().filter(starting).collect();
        let Some(limit) = starting.iter().map(|server| server.spec.start_timeout).max() else { return };
        let limit = limit.min(self.kernel.options().longest_call);
        let now = Instant::now();
        starting.iter().for_each(|server| server.hurry());
        let ids: Vec<&str> = starting.iter().map(|server| &**server.id()).collect();
        let mut settling: FuturesUnordered<_> =
            starting.iter().map(|server| server.settled(now + server.spec.start_timeout.min(limit))).collect();
        let known = async { while !is_known(&self.kernel.view()) && settling.next().await.is_some() {} };
        self.with_progress(&ids.join("`, `"), known).await;
    }

    /// Waits for the server of something that is known, while that one is on its way up; `false` if the client may not use
    /// it anyway.
    ///
    /// # Errors
    /// Why it is not there. That is on record.
    pub(super) async fn until_back(&self, server: &Arc<Server>, original: &str) -> Result<bool, Fault> {
        let tables = self.kernel.gate().tables().await?;
        let called = (self.subject == Subject::Tool).then_some((original, self.name));
        if !self.kernel.gate().access(&tables, &self.context.session, server, called).allow {
            return Ok(false);
        }
        match self.with_progress(server.id(), server.hub()).await {
            Some(Err(fault)) => {
                unavailable(self.kernel.gate(), self.context, self.subject, (server.id(), original), &fault).await;
                Err(fault)
            }
            Some(Ok(_)) => Ok(true),
            None => Err(Fault::new(FaultKind::Cancelled, "the call was cancelled")),
        }
    }

    /// Does something that takes long while a server starts; the client is told so, if it asked for progress. `None` where
    /// the client went away.
    async fn with_progress<T>(&self, server: &str, work: impl Future<Output = T>) -> Option<T> {
        let token = self.params.and_then(|params| params.at(&["_meta", "progressToken"]));
        let mut tick = tokio::time::interval(PROGRESS_INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = work.as_mut() => return Some(done),
                () = self.context.cancel.cancelled() => return None,
                _ = tick.tick(), if token.is_some() => {
                    let told = token.as_ref().map(|token| {
                        let message = format!("server `{server}` is still starting; the call waits for it");
                        still_waits(token, &message)
                    });
                    let _ = told.map(|told| self.context.remote.notify(told));
                }
            }
        }
    }

    /// What access to it at this server depends on, if the server may have it: the names of a tool.
    fn called_at<'n>(&'n self, view: &View, server: &Server) -> Option<Option<(&'n str, &'n str)>> {
        let own = view.own_name(server, self.name)?;
        Some((self.subject == Subject::Tool).then_some((own, self.name)))
    }
}
