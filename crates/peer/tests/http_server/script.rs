//! A handler whose requests do what their names say, and a face that serves it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_peer::server::http::{HttpEndpoint, HttpOptions};
use switchboard_peer::{BoxFuture, Call, Context, Handler, Reply, SendError, Session};
use switchboard_protocol::Revision;
use switchboard_transport::http_server::{AccessRules, Listener};
use switchboard_wire::{ErrorObject, Notification, Raw, Request};
use tokio::sync::{Notify, mpsc};

use crate::client::{Ask, within};

/// What the handler saw.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Started(String),
    Cancelled(String),
    Dropped(String),
    Notified(String),
    Opened(String),
    Closed(String),
}

pub(crate) struct Script {
    seen: mpsc::UnboundedSender<Seen>,
    /// Lets `gate` and `poll` finish.
    pub(crate) gate: Notify,
    pub(crate) sessions: Mutex<Vec<Arc<Session>>>,
    pub(crate) opened: AtomicUsize,
    pub(crate) flooded: AtomicUsize,
}

struct Falling(mpsc::UnboundedSender<Seen>, String);

impl Drop for Falling {
    fn drop(&mut self) {
        let _ = self.0.send(Seen::Dropped(self.1.clone()));
    }
}

fn raw(value: &Value) -> Raw {
    Raw::from_value(value).unwrap()
}

pub(crate) fn progress(number: u64) -> Notification {
    Notification::new("notifications/progress", Some(raw(&json!({"progressToken": "t", "progress": number}))))
}

impl Script {
    async fn run(&self, context: Context, request: Request) -> Reply {
        let method = request.method.to_string();
        let ok = |value: Value| Reply::from(Ok(raw(&value)));
        match &*method {
            "initialize" => {
                let params: Value = request.params.unwrap().view().unwrap();
                if params["fail"] == true {
                    return Reply::from(Err(ErrorObject::new(-32602, "no")));
                }
                let revision = Revision::negotiate_legacy(params["protocolVersion"].as_str().unwrap());
                ok(
                    json!({"protocolVersion": revision.as_str(), "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}),
                )
            }
            "echo" | "tools/call" | "resources/read" => {
                let mut reply = Reply::from(Ok(request.params.unwrap_or_else(Raw::empty_object)));
                reply.extra = request.extra;
                reply
            }
            "large" => {
                let params: Value = request.params.unwrap().view().unwrap();
                ok(json!({"text": "x".repeat(params["bytes"].as_u64().unwrap() as usize)}))
            }
            "caller" => {
                let caller = &context.caller;
                ok(json!({
                    "revision": caller.revision.as_str(),
                    "sampling": caller.can(&["sampling"]),
                    "principal": &*context.session.principal,
                    "lasting": context.session.lasting,
                    "asks": context.remote.can_request(),
                }))
            }
            "progress" => {
                context.remote.notify(progress(1)).unwrap();
                context.remote.notify(progress(2)).unwrap();
                ok(json!({"done": true}))
            }
            "gate" | "quiet-gate" => {
                let _falling = Falling(self.seen.clone(), method.clone());
                if method == "gate" {
                    context.remote.notify(progress(1)).unwrap();
                }
                let _ = self.seen.send(Seen::Started(method.clone()));
                tokio::select! {
                    () = self.gate.notified() => ok(json!({"open": true})),
                    () = context.cancel.cancelled() => {
                        let _ = self.seen.send(Seen::Cancelled(method.clone()));
                        ok(json!({"cancelled": true}))
                    }
                }
            }
            "poll" => {
                context.remote.close_stream();
                let _ = self.seen.send(Seen::Started(method.clone()));
                self.gate.notified().await;
                ok(json!({"polled": true}))
            }
            "ask" => {
                let call = Call::new("roots/list", Some(raw(&json!({"x": 1}))));
                match context.remote.request(call).await {
                    Ok(reply) => reply,
                    Err(error) => Reply::from(Err(ErrorObject::new(1, error.to_string()))),
                }
            }
            "subscriptions/listen" => {
                let _falling = Falling(self.seen.clone(), method.clone());
                context.remote.notify(Notification::new("notifications/subscriptions/acknowledged", None)).unwrap();
                loop {
                    tokio::select! {
                        () = self.gate.notified() => context.remote.notify(progress(9)).unwrap(),
                        () = context.cancel.cancelled() => return ok(json!({"resultType": "complete"})),
                    }
                }
            }
            "flood" => {
                let _falling = Falling(self.seen.clone(), method.clone());
                let padding = "x".repeat(10_000);
                loop {
                    let note = Notification::new("notifications/message", Some(raw(&json!({ "data": padding }))));
                    match context.remote.notify(note) {
                        Ok(()) => self.flooded.fetch_add(1, Ordering::Relaxed),
                        Err(SendError::Full) => break,
                        Err(SendError::Closed) => unreachable!("the stream was not closed"),
                    };
                    tokio::task::yield_now().await;
                }
                let _ = self.seen.send(Seen::Started(method.clone()));
                context.cancel.cancelled().await;
                ok(json!({}))
            }
            "burst" => {
                // All at once: nobody has a chance to read in between.
                let kept = (0..5_000).filter(|number| context.remote.notify(progress(*number)).is_ok()).count();
                ok(json!({ "kept": kept }))
            }
            "panic" => panic!("as asked"),
            "missing-capability" => Reply::from(Err(ErrorObject::new(-32021, "needs sampling"))),
            "invalid" => Reply::from(Err(ErrorObject::new(-32602, "wrong"))),
            _ => Reply::from(Err(ErrorObject::new(-32601, "no such method"))),
        }
    }
}

impl Handler for Script {
    fn has_profile(&self, name: &str) -> bool {
        name == "work"
    }

    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(self.run(context, request))
    }

    fn notification(&self, _context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let token = notification.params.and_then(|params| params.member("progressToken"));
            let token = token.map(|token| format!(" {}", token.as_str())).unwrap_or_default();
            let _ = self.seen.send(Seen::Notified(format!("{}{token}", notification.method)));
        })
    }

    fn opened(&self, session: &Arc<Session>) {
        self.opened.fetch_add(1, Ordering::Relaxed);
        self.sessions.lock().push(session.clone());
        let _ = self.seen.send(Seen::Opened(session.id.to_string()));
    }

    fn closed(&self, session: &Arc<Session>) {
        let _ = self.seen.send(Seen::Closed(session.id.to_string()));
    }
}

/// A running face.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) script: Arc<Script>,
    pub(crate) face: Arc<HttpEndpoint>,
    pub(crate) options: HttpOptions,
    seen: mpsc::UnboundedReceiver<Seen>,
    pub(crate) serving: tokio::task::JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.options.shutdown.cancel();
    }
}

pub(crate) fn quick() -> HttpOptions {
    HttpOptions { cancel_grace: Duration::from_millis(200), retry: Duration::from_millis(10), ..HttpOptions::default() }
}

impl Served {
    pub(crate) async fn start() -> Self {
        Self::with(quick(), |access| access).await
    }

    pub(crate) async fn with(options: HttpOptions, access: impl FnOnce(AccessRules) -> AccessRules) -> Self {
        let (sender, seen) = mpsc::unbounded_channel();
        let script = Arc::new(Script {
            seen: sender,
            gate: Notify::new(),
            sessions: Mutex::default(),
            opened: AtomicUsize::new(0),
            flooded: AtomicUsize::new(0),
        });
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.address();
        let listener = listener.with_access(access(AccessRules::loopback(address)));
        let face = Arc::new(HttpEndpoint::new(options.clone(), script.clone()));
        let serving = tokio::spawn(face.clone().serve(listener));
        Self { address, script, face, options, seen, serving }
    }

    /// The next thing the handler saw.
    pub(crate) async fn next_seen(&mut self) -> Seen {
        within(self.seen.recv()).await.unwrap()
    }

    /// Reads on until the handler saw this.
    pub(crate) async fn until(&mut self, wanted: Seen) {
        while self.next_seen().await != wanted {}
    }

    /// Opens a session and gives its id.
    pub(crate) async fn session(&self, revision: &str) -> String {
        let answer = initialize(revision).send(self.address).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.header("mcp-session-id").unwrap().to_owned()
    }

    pub(crate) fn last_session(&self) -> Arc<Session> {
        self.script.sessions.lock().last().unwrap().clone()
    }
}

pub(crate) fn initialize(revision: &str) -> Ask {
    let params = json!({
        "protocolVersion": revision,
        "capabilities": {"sampling": {}},
        "clientInfo": {"name": "c", "version": "1"},
    });
    Ask::post(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string())
}

/// A request of a legacy session.
pub(crate) fn call(session: &str, method: &str) -> Ask {
    Ask::post(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#)).in_session(session)
}
