//! Which resources of a server are watched, and keeping the server told.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use parking_lot::Mutex;
use switchboard_peer::{Call, CallError};
use switchboard_protocol::Era;
use switchboard_protocol::mcp::method;
use switchboard_wire::{Edit, Raw, code};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::Instant;

use super::{Server, SharedConnection};

/// A stream of notices is quiet for as long as nothing happens.
const QUIET: Duration = Duration::from_secs(30 * 24 * 3600);
/// The pause before a stream that ended is opened again; it doubles while streams end early.
const REOPEN: Duration = Duration::from_secs(2);
const LONGEST_REOPEN: Duration = Duration::from_secs(60);
/// A stream that lasted this long was a good one.
const LASTING: Duration = Duration::from_secs(30);

/// Resources that a server is asked to watch again at the same time.
const AT_ONCE: usize = 16;

/// How a resource is watched.
#[derive(Debug, Default)]
struct Watch {
    clients: usize,
    /// The server has agreed.
    agreed: bool,
}

/// The watched resources.
#[derive(Debug, Default)]
pub struct WatchedResources {
    uris: Mutex<HashMap<String, Watch>>,
    changed: Notify,
    /// Held while a server is asked, so that nobody relies on what another one's request may yet fail to bring.
    asking: AsyncMutex<()>,
}

impl WatchedResources {
    /// Counts one more client.
    pub fn add(&self, uri: &str) {
        self.uris.lock().entry(uri.to_owned()).or_default().clients += 1;
    }

    /// Counts one client less; `true` for the last one.
    pub fn remove(&self, uri: &str) -> bool {
        let mut uris = self.uris.lock();
        let Some(watch) = uris.get_mut(uri) else { return false };
        watch.clients -= 1;
        let last = watch.clients == 0;
        if last {
            uris.remove(uri);
        }
        last
    }

    fn agree(&self, uri: &str) {
        if let Some(watch) = self.uris.lock().get_mut(uri) {
            watch.agreed = true;
        }
    }

    fn is_agreed(&self, uri: &str) -> bool {
        self.uris.lock().get(uri).is_some_and(|watch| watch.agreed)
    }

    /// Whether anybody watches this.
    pub fn has(&self, uri: &str) -> bool {
        self.uris.lock().contains_key(uri)
    }

    /// Whether anybody watches anything.
    pub fn any(&self) -> bool {
        !self.uris.lock().is_empty()
    }

    fn all(&self) -> Vec<String> {
        let mut uris: Vec<_> = self.uris.lock().keys().cloned().collect();
        uris.sort();
        uris
    }
}

impl Server {
    /// Asks the server to tell of a resource that was added to what is watched; gives its answer where it was asked.
    pub async fn ask_to_watch(
        &self,
        hub: &SharedConnection,
        uri: &str,
        params: Option<Raw>,
    ) -> Result<Raw, CallOutcome> {
        match hub.revision().era() {
            Era::Modern => self.watched.changed.notify_one(),
            Era::Legacy => {
                let _alone = self.watched.asking.lock().await;
                if !self.watched.is_agreed(uri) {
                    let call = Call::new(method::RESOURCES_SUBSCRIBE, params).within(self.spec.call_timeout);
                    let outcome = match hub.remote().request(call).await {
                        Ok(reply) => reply.outcome.map_err(CallOutcome::Refused),
                        Err(error) => Err(CallOutcome::Failed(error)),
                    };
                    if outcome.is_ok() {
                        self.watched.agree(uri);
                    }
                    return outcome;
                }
            }
        }
        Ok(Raw::empty_object())
    }

    /// Ends watching a resource for one client.
    pub async fn unwatch_resource(&self, uri: &str) {
        if !self.watched.remove(uri) {
            return;
        }
        let Some(hub) = self.hub_now() else { return };
        match hub.revision().era() {
            Era::Modern => self.watched.changed.notify_one(),
            Era::Legacy => {
                let _alone = self.watched.asking.lock().await;
                if self.watched.has(uri) {
                    return;
                }
                let params = Edit::empty().set("uri", Raw::string(uri)).finish();
                let call = Call::new(method::RESOURCES_UNSUBSCRIBE, Some(params)).within(self.spec.call_timeout);
                let _ = hub.remote().request(call).await;
            }
        }
    }

    /// After a restart, or on a new session, a legacy server knows nothing of what was watched before.
    pub(super) async fn subscribe_again(&self, hub: &SharedConnection) {
        if hub.revision().era() == Era::Modern {
            return;
        }
        let ask = |uri: String| async move {
            let params = Edit::empty().set("uri", Raw::string(&uri)).finish();
            let call = Call::new(method::RESOURCES_SUBSCRIBE, Some(params)).within(self.spec.call_timeout);
            let _ = hub.remote().request(call).await;
        };
        futures_util::stream::iter(self.watched.all()).for_each_concurrent(AT_ONCE, ask).await;
    }

    /// Keeps a modern server telling us what changes, for as long as it is connected. A legacy one tells by itself.
    pub(super) async fn watch_always(&self, hub: &SharedConnection) {
        if hub.revision().era() == Era::Legacy {
            return std::future::pending().await;
        }
        let mut pause = REOPEN;
        loop {
            let began = Instant::now();
            match self.listen(hub).await {
                Listened::Changed => {}
                Listened::Never => return std::future::pending().await,
                Listened::Ended => {
                    pause = if began.elapsed() >= LASTING { REOPEN } else { (pause * 2).min(LONGEST_REOPEN) };
                    tokio::time::sleep(pause).await;
                    // Nobody told us what changed in between.
                    self.refresh_soon();
                }
            }
        }
    }

    /// One stream of notices, until it ends or must ask for something else.
    async fn listen(&self, hub: &SharedConnection) -> Listened {
        let capabilities = &hub.connected.server.capabilities;
        let says = |path: &[&str]| capabilities.at(path).is_some_and(|raw| raw.as_bytes() == b"true");
        let uris = self.watched.all();
        let mut filter = Edit::empty();
        let mut wanted = false;
        for (capability, key) in
            [("tools", "toolsListChanged"), ("prompts", "promptsListChanged"), ("resources", "resourcesListChanged")]
        {
            if says(&[capability, "listChanged"]) {
                filter = filter.set(key, Raw::from_value(&true).unwrap_or_else(|_| Raw::empty_object()));
                wanted = true;
            }
        }
        if !uris.is_empty() {
            let uris: Vec<Raw> = uris.iter().map(|uri| Raw::string(uri)).collect();
            filter = filter.set("resourceSubscriptions", Raw::array(&uris));
            wanted = true;
        }
        if !wanted {
            self.watched.changed.notified().await;
            return Listened::Changed;
        }
        let params = Edit::empty().set("notifications", filter.finish()).finish();
        let Ok(params) = self.context.caller.modern_params(Some(&params), None) else {
            return Listened::Never;
        };
        let mut call = Call::new(method::SUBSCRIPTIONS_LISTEN, Some(params)).within(QUIET);
        call.max_timeout = QUIET;
        let ended = tokio::select! {
            ended = hub.remote().request(call) => ended,
            () = self.watched.changed.notified() => return Listened::Changed,
        };
        match ended {
            // A server without the method will not learn it.
            Ok(reply) if reply.outcome.as_ref().is_err_and(|error| error.code == code::METHOD_NOT_FOUND) => {
                Listened::Never
            }
            _ => Listened::Ended,
        }
    }
}

/// How a stream of notices ended.
enum Listened {
    /// Something else is to be watched.
    Changed,
    /// The server closed it, or it broke.
    Ended,
    /// There is none to be had.
    Never,
}

/// Why a server did not do as asked.
#[derive(Debug)]
pub enum CallOutcome {
    /// It said no.
    Refused(switchboard_wire::ErrorObject),
    /// It said nothing.
    Failed(CallError),
}
