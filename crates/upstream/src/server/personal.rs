//! Connections in the name of one principal: for those who have credentials of their own at a server that others share,
//! and for all at a server that keeps principals apart.
//!
//! Made at the first call, used by all sessions of the principal, ended after a time without calls or with the server.
//! What is said there beside a call belongs to nobody in particular and is not passed on; what changes at the server is
//! heard on the hub.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use switchboard_peer::client::{Connected, Target};
use switchboard_peer::{BoxFuture, Context, Handler, Reply};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::method;
use switchboard_wire::{ErrorObject, Notification, Raw, Request, code};
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::Instant;

use super::Server;
use crate::holder::Gatekeeper;
use crate::spec::Sharing;

/// A connection without a call for so long is ended.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// Principals that have connections to one server at a time: over the network, and to one in this process.
const MAX_PRINCIPALS: usize = 256;
const MAX_PRINCIPALS_IN_PROCESS: usize = 4_096;

/// The connections of a server that belong to single principals.
#[derive(Default)]
pub(super) struct Personal(Mutex<HashMap<Arc<str>, Arc<Own>>>);

/// That of one principal.
struct Own {
    connected: ArcSwapOption<Connected>,
    used: Mutex<Instant>,
    /// Held while it is made, so that this happens once.
    making: AsyncMutex<()>,
}

impl Own {
    fn now(&self) -> Option<Arc<Connected>> {
        self.connected.load_full().filter(|connected| !connected.closed.is_cancelled())
    }
}

impl Server {
    /// The connection of a principal who has one of its own here.
    pub async fn personal(
        self: &Arc<Self>,
        principal: &Arc<str>,
        gatekeeper: &dyn Gatekeeper,
    ) -> Result<Arc<Connected>, Fault> {
        let unavailable = |why: &str| {
            Fault::new(FaultKind::UpstreamUnavailable, format!("server `{}` cannot be reached: {why}", self.id()))
                .from_server(self.id().as_ref())
        };
        let own = self.own(principal).ok_or_else(|| unavailable("too many principals use it"))?;
        *own.used.lock() = Instant::now();
        if let Some(connected) = own.now() {
            return Ok(connected);
        }
        let _making = own.making.lock().await;
        if let Some(connected) = own.now() {
            return Ok(connected);
        }
        let made = self.connect(&self.context.caller, Some(principal), Arc::new(Nobody), gatekeeper).await;
        let connected = Arc::new(made.map_err(|why| unavailable(&why))?);
        if !self.adopt(&connected) {
            connected.stop().await;
            return Err(unavailable("its configuration has just changed").retry_after(0));
        }
        own.connected.store(Some(connected.clone()));
        Ok(connected)
    }

    /// Whether a principal has a connection of its own here: because it has credentials, or because all have.
    pub fn has_personal(&self, principal: &str) -> bool {
        if self.spec.sharing == Sharing::PerPrincipal {
            return *principal != *self.context.owner;
        }
        matches!(self.spec.target, Target::Http { .. })
            && self.context.credentials.as_ref().is_some_and(|known| known.has_own(self.id(), principal))
    }

    fn own(&self, principal: &Arc<str>) -> Option<Arc<Own>> {
        let mut all = self.personal.0.lock();
        if let Some(own) = all.get(principal) {
            return Some(own.clone());
        }
        all.retain(|_, own| {
            let idle = own.used.lock().elapsed() >= IDLE;
            if let (true, Some(connected)) = (idle, own.now()) {
                self.context.tasks.spawn(async move { connected.stop().await });
            }
            !idle
        });
        let most =
            if matches!(self.spec.target, Target::InProcess(_)) { MAX_PRINCIPALS_IN_PROCESS } else { MAX_PRINCIPALS };
        if all.len() >= most {
            return None;
        }
        let own =
            Own { connected: ArcSwapOption::empty(), used: Mutex::new(Instant::now()), making: AsyncMutex::default() };
        Some(all.entry(principal.clone()).or_insert_with(|| Arc::new(own)).clone())
    }
}

/// Takes what belongs to no call.
struct Nobody;

impl Handler for Nobody {
    fn request(&self, _: Context, request: Request) -> BoxFuture<'_, Reply> {
        let outcome = if &*request.method == method::PING {
            Ok(Raw::empty_object())
        } else {
            Err(ErrorObject::new(code::INTERNAL_ERROR, "nobody can be asked outside of a call"))
        };
        Box::pin(std::future::ready(outcome.into()))
    }

    fn notification(&self, _: Context, _: Notification) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
