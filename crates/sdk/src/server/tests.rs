//! A server called directly, by clients of every revision.

mod calls;
mod lists;
mod questions;
mod tasks;

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_peer::{BoxFuture, Call, CallError, Caller, Context, Handler, Remote, Reply, SendError, Session};
use switchboard_protocol::mcp::{meta, method};
use switchboard_protocol::{Era, Revision};
use switchboard_wire::{ErrorObject, Id, Notification, Raw, Request};
use tokio_util::sync::CancellationToken;

use super::Server;

fn raw(value: &Value) -> Raw {
    Raw::from_value(value).expect("JSON")
}

fn value(raw: &Raw) -> Value {
    raw.view().expect("JSON")
}

type Answers = Box<dyn Fn(&str, Value) -> Result<Value, ErrorObject> + Send + Sync>;

/// The far side: keeps what it is told and answers what it is asked.
struct Far {
    told: Mutex<Vec<(String, Value)>>,
    asked: Mutex<Vec<(String, Value)>>,
    answers: Answers,
    arrived: tokio::sync::Notify,
}

impl Remote for Far {
    fn request(&self, call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        let params = call.params.as_ref().map(value).unwrap_or_default();
        self.asked.lock().push((call.method.to_string(), params.clone()));
        let answer = (self.answers)(&call.method, params).map(|answer| raw(&answer));
        Box::pin(async move { Ok(answer.into()) })
    }

    fn notify(&self, notification: Notification) -> Result<(), SendError> {
        let params = notification.params.as_ref().map(value).unwrap_or_default();
        self.told.lock().push((notification.method.into(), params));
        self.arrived.notify_waiters();
        Ok(())
    }
}

impl Far {
    fn told(&self, method: &str) -> Vec<Value> {
        self.told.lock().iter().filter(|(told, _)| told == method).map(|(_, params)| params.clone()).collect()
    }

    async fn hears(&self, method: &str) -> Value {
        loop {
            let arrived = self.arrived.notified();
            if let Some(params) = self.told(method).pop() {
                return params;
            }
            arrived.await;
        }
    }
}

/// A client of some revision.
#[derive(Clone)]
struct Client {
    server: Server,
    revision: Revision,
    capabilities: Value,
    session: Arc<Session>,
    far: Arc<Far>,
    meta: Value,
}

impl Client {
    fn new(server: &Server, revision: Revision, capabilities: Value) -> Self {
        Self::answering(server, revision, capabilities, |_, _| Err(ErrorObject::new(-1, "no")))
    }

    fn answering(
        server: &Server,
        revision: Revision,
        capabilities: Value,
        answers: impl Fn(&str, Value) -> Result<Value, ErrorObject> + Send + Sync + 'static,
    ) -> Self {
        let far = Arc::new(Far {
            told: Mutex::default(),
            asked: Mutex::default(),
            answers: Box::new(answers),
            arrived: tokio::sync::Notify::new(),
        });
        let caller = Caller { revision, info: None, capabilities: raw(&capabilities) };
        let id = switchboard_peer::random_token();
        let session = Session::new(id.into(), "ada".into(), true, caller, far.clone());
        server.opened(&session);
        Self { server: server.clone(), revision, capabilities, session, far, meta: json!({}) }
    }

    /// Another principal at the same server.
    fn as_principal(&self, principal: &str) -> Self {
        let caller = Caller { revision: self.revision, info: None, capabilities: raw(&self.capabilities) };
        let session = Session::new("other".into(), principal.into(), true, caller, self.far.clone());
        Self { session, ..self.clone() }
    }

    fn with_meta(&self, meta: Value) -> Self {
        Self { meta, ..self.clone() }
    }

    fn context(&self, cancel: CancellationToken) -> Context {
        let caller = Caller { revision: self.revision, info: None, capabilities: raw(&self.capabilities) };
        Context {
            session: self.session.clone(),
            caller: Arc::new(caller),
            remote: self.far.clone(),
            cancel,
            headers: None,
            open_owners: None,
        }
    }

    fn params(&self, mut params: Value) -> Raw {
        let mut meta = self.meta.clone();
        if self.revision.era() == Era::Modern {
            meta[meta::PROTOCOL_VERSION] = self.revision.as_str().into();
            meta[meta::CLIENT_CAPABILITIES] = self.capabilities.clone();
        }
        if meta != json!({}) {
            params["_meta"] = meta;
        }
        raw(&params)
    }

    async fn call(&self, method: &str, params: Value) -> Result<Value, ErrorObject> {
        self.call_until(method, params, CancellationToken::new()).await
    }

    async fn call_until(&self, method: &str, params: Value, cancel: CancellationToken) -> Result<Value, ErrorObject> {
        let request = Request::new(Id::number(7), method, Some(self.params(params)));
        self.server.request(self.context(cancel), request).await.outcome.map(|result| value(&result))
    }

    async fn tool(&self, name: &str, arguments: Value) -> Result<Value, ErrorObject> {
        self.call(method::TOOLS_CALL, json!({"name": name, "arguments": arguments})).await
    }

    async fn initialized(&self) {
        let notification = Notification::new(method::INITIALIZED, None);
        self.server.notification(self.context(CancellationToken::new()), notification).await;
    }
}

/// The text of a tool's result.
fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

fn code(outcome: Result<Value, ErrorObject>) -> i64 {
    match outcome {
        Err(error) => error.code,
        Ok(result) => panic!("not an error: {result}"),
    }
}
