//! Callers over streamable HTTP.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::JoinSet;

use super::{Caller, Plan, Ready, Sessions, Tally};
use crate::connection::{Connection, Routing, Session, Target};
use crate::error::{Error, Result, within};

/// A caller that fails pauses before it dials again, so that a dead server does not turn the load into a SYN flood.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(50);

/// One connection and the session used on it.
pub(super) struct HttpCaller {
    plan: Arc<Plan>,
    target: Target,
    connection: Connection,
    session: Session,
    owns_session: bool,
}

/// Connects all callers at the same time, each with its handshake.
pub(super) async fn set_up(plan: &Arc<Plan>, target: &Target, sessions: Sessions) -> Result<Ready<HttpCaller>> {
    let shared = match sessions {
        Sessions::Shared => {
            let mut connection = Connection::open(target).await?;
            Some(within("the handshake", plan.setup_limit, connection.start_session(&plan.call.version)).await?)
        }
        Sessions::Own | Sessions::Ignored => None,
    };
    let mut starting = JoinSet::new();
    for _ in 0..plan.callers {
        let (plan, target, shared) = (Arc::clone(plan), target.clone(), shared.clone());
        starting.spawn(async move {
            let begun = Instant::now();
            let mut connection = Connection::open(&target).await?;
            let mut session = match shared {
                Some(session) => session,
                None => within("the handshake", plan.setup_limit, connection.start_session(&plan.call.version)).await?,
            };
            if sessions == Sessions::Ignored {
                session.id = None;
            }
            let owns_session = sessions == Sessions::Own && session.id.is_some();
            Ok((HttpCaller { plan, target, connection, session, owns_session }, begun.elapsed()))
        });
    }
    let mut ready = Ready { callers: Vec::new(), slowest_setup: Duration::ZERO, failed: Tally::default() };
    while let Some(joined) = starting.join_next().await {
        match joined.unwrap_or_else(|error| Err(Error::Answer(format!("set-up stopped: {error}")))) {
            Ok((caller, took)) => {
                ready.callers.push(caller);
                ready.slowest_setup = ready.slowest_setup.max(took);
            }
            Err(error) => ready.failed.fail(true, &error),
        }
    }
    Ok(ready)
}

impl Caller for HttpCaller {
    async fn exchange(&mut self, body: String, id: u64) -> Result<Value> {
        let call = &self.plan.call;
        let routing = Routing { method: &call.method, name: call.name() };
        self.connection.call(&self.session, routing, body, id).await
    }

    async fn recover(&mut self) -> Result<()> {
        tokio::time::sleep(PAUSE_AFTER_FAILURE).await;
        self.connection = Connection::open(&self.target).await?;
        Ok(())
    }

    async fn finish(mut self) -> Result<()> {
        if self.owns_session { self.connection.end_session(&self.session).await } else { Ok(()) }
    }
}
