//! A client's own connection to a server that is not to be shared: made at its first call, ended with its session.

use std::sync::{Arc, Weak};
use std::time::Duration;

use switchboard_exchange::{About, ConnectionQuestions, Relay, of_server};
use switchboard_peer::client::Connected;
use switchboard_peer::{BoxFuture, Caller, Context, Handler, Reply, Session};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::method;
use switchboard_protocol::mgp;
use switchboard_upstream::{Server, next_pause, send_level};
use switchboard_wire::{ErrorObject, Notification, Raw, Request, code};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::ClientHost;
use crate::introduction::OF_MGP;
use crate::notices::take_notice;
use crate::session::{ClientState, Failures, SessionConnection};

impl ClientState {
    /// The client's own connection to a server, if it was made and holds.
    #[must_use]
    pub fn link_now(&self, server: &Arc<Server>) -> Option<Arc<Connected>> {
        let links = self.links.lock();
        links.as_ref()?.get(server.id()).filter(|link| Arc::ptr_eq(&link.server, server))?.now()
    }

    /// The client's own connection to a server, made at first use and again when it was lost.
    ///
    /// # Errors
    /// It cannot be made, or the session has ended.
    pub async fn link<H: ClientHost>(
        self: &Arc<Self>,
        host: &H,
        server: &Arc<Server>,
        session: &Arc<Session>,
        caller: &Caller,
    ) -> Result<Arc<Connected>, Fault> {
        let link = {
            let mut links = self.links.lock();
            let links = links.as_mut().ok_or_else(session_over)?;
            match links.get(server.id()).filter(|link| Arc::ptr_eq(&link.server, server)) {
                Some(link) => link.clone(),
                None => {
                    let link = SessionConnection::new(server.clone());
                    links.insert(server.id().clone(), link.clone());
                    link
                }
            }
        };
        if let Some(connected) = link.now() {
            return Ok(connected);
        }
        // In a task of its own: a caller that gives up must not make a slow server begin all over again.
        let (sender, made) = oneshot::channel();
        let (state, around, session, caller) = (self.clone(), host.clone(), Arc::downgrade(session), caller.clone());
        host.spawn(Box::pin(async move {
            let _ = sender.send(state.make_link(&around, &link, session, &caller).await);
        }));
        made.await.unwrap_or_else(|_| Err(session_over()))
    }

    async fn make_link<H: ClientHost>(
        self: &Arc<Self>,
        host: &H,
        link: &SessionConnection,
        session: Weak<Session>,
        caller: &Caller,
    ) -> Result<Arc<Connected>, Fault> {
        let server = &link.server;
        let mut failures = link.making.lock().await;
        if let Some(connected) = link.now() {
            return Ok(connected);
        }
        if let Some((at, why)) = &failures.last
            && at.elapsed() < failures.pause
        {
            return Err(unreachable(server, why).retry_after(millis(failures.pause - at.elapsed())));
        }
        let principal = session.upgrade().ok_or_else(session_over)?.principal.clone();
        let (questions, owner) = (host.exchange().connection_questions(), self.owner);
        let handler = Arc::new(FromLink { host: host.clone(), server: server.clone(), session, owner, questions });
        let connected = match server.connect(caller, Some(&principal), handler, host).await {
            Ok(connected) => Arc::new(connected),
            Err(why) => {
                failures.pause = next_pause(failures.pause);
                let fault = unreachable(server, &why).retry_after(millis(failures.pause));
                failures.last = Some((Instant::now(), why));
                return Err(fault);
            }
        };
        *failures = Failures::default();
        link.connected.store(Some(connected.clone()));
        // The session, or the server, may have ended while the connection was made.
        if self.links.lock().is_none() {
            connected.stop().await;
            return Err(session_over());
        }
        if !server.adopt(&connected) {
            connected.stop().await;
            return Err(unreachable(server, "its configuration has just changed").retry_after(0));
        }
        host.spawn(Box::pin(keep_level(Arc::downgrade(self), Arc::downgrade(&connected))));
        if let Some(level) = self.level() {
            send_level(&connected, level).await;
        }
        Ok(connected)
    }
}

fn session_over() -> Fault {
    Fault::new(FaultKind::Cancelled, "the session has ended")
}

fn unreachable(server: &Server, why: &str) -> Fault {
    Fault::new(FaultKind::UpstreamUnavailable, format!("server `{}` cannot be reached: {why}", server.id()))
        .from_server(server.id().as_ref())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A server that lost the session and got a new one does not know which log messages are wanted.
async fn keep_level(state: Weak<ClientState>, connected: Weak<Connected>) {
    let parts = connected.upgrade().map(|connected| (connected.renewals.clone(), connected.closed.clone()));
    let Some((mut renewals, closed)) = parts else { return };
    loop {
        let renewed = tokio::select! {
            renewed = renewals.changed() => renewed.is_ok(),
            () = closed.cancelled() => false,
        };
        let (true, Some(state), Some(connected)) = (renewed, state.upgrade(), connected.upgrade()) else { return };
        if let Some(level) = state.level() {
            send_level(&connected, level).await;
        }
    }
}

/// Takes what arrives on a connection that belongs to one client.
struct FromLink<H> {
    host: H,
    server: Arc<Server>,
    session: Weak<Session>,
    owner: u64,
    /// What the server asks outside of any call.
    questions: ConnectionQuestions,
}

impl<H: ClientHost> FromLink<H> {
    /// The client, if it may be sent what it did not ask for.
    fn client(&self) -> Option<Arc<Session>> {
        let session = self.session.upgrade().filter(|session| ClientState::of(session).is_introduced())?;
        // The connection outlives the right to use it.
        let tables = self.host.gate().granted.latest();
        self.host.gate().knows_of(&tables, &session, &self.server).then_some(session)
    }

    /// A question outside of any call is for the client whose connection it came on.
    fn take_callback(&self, back: &Context, params: Option<&Raw>) {
        let Some(session) = self.client() else { return };
        let client = Context {
            caller: session.caller(),
            remote: session.remote().clone(),
            session,
            cancel: back.cancel.clone(),
            headers: None,
            open_owners: None,
        };
        let asker = Relay::outside(self.host.exchange(), self.server.clone(), client.clone());
        let about = About { client, asker: Arc::new(asker), request: None, call: None };
        let scope = self.questions.scope();
        self.host.exchange().take_callback(&self.server, scope, Some(about), &back.remote, params);
    }
}

impl<H: ClientHost> Handler for FromLink<H> {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            if &*request.method == method::PING {
                return Ok(Raw::empty_object()).into();
            }
            if let Some(related) = self.server.using.newest_of(self.owner) {
                return related.request(context, request).await;
            }
            match self.client() {
                Some(session) => {
                    self.host.exchange().ask_outside(&session, &self.server, request, context.remote).await
                }
                None => Err(ErrorObject::new(code::INTERNAL_ERROR, "the client cannot be asked now")).into(),
            }
        })
    }

    fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // What only the kernel may say of itself is taken out.
            let Some(notification) = of_server(notification) else { return };
            // Other clients' servers may give their tasks the same ids.
            let is_task = &*notification.method == method::TASKS_STATUS;
            if !is_task && take_notice(&self.host, &self.server, &notification) {
                return;
            }
            if !is_task && let Some(related) = self.server.using.newest_of(self.owner) {
                return related.notification(context, notification).await;
            }
            if &*notification.method == mgp::method::CALLBACK_REQUEST {
                return self.take_callback(&context, notification.params.as_ref());
            }
            if notification.method.starts_with(OF_MGP) {
                return;
            }
            let Some(session) = self.client() else { return };
            let is_log = &*notification.method == method::LOG_MESSAGE;
            if !is_log || ClientState::of(&session).wants_log(&notification) {
                let _ = session.remote().notify(notification);
            }
        })
    }
}
