//! Servers whose every answer a test writes, and a handler that keeps what it gets.

#[path = "../../../transport/tests/http_client/raw.rs"]
mod raw;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_peer::client::ConnectOptions;
use switchboard_peer::{BoxFuture, Call, CallError, Context, Handler, Remote, Reply};
use switchboard_wire::{Limits, Notification, Raw, Request};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// One HTTP request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) verb: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The JSON-RPC method, or the verb of a request without a body.
    pub(crate) fn what(&self) -> String {
        self.body["method"].as_str().map_or_else(|| self.verb.clone(), str::to_owned)
    }

    pub(crate) fn is_response(&self) -> bool {
        self.verb == "POST" && self.body.get("method").is_none()
    }

    pub(crate) fn result(&self, result: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }

    pub(crate) fn error(&self, code: i64, message: &str, data: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "error": {"code": code, "message": message, "data": data}})
    }
}

/// The connection to answer on.
pub(crate) struct Wire(TcpStream);

impl Wire {
    pub(crate) async fn answer(&mut self, status: u16, headers: &str, body: &str) {
        let text = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
        self.raw(text.as_bytes()).await;
    }

    pub(crate) async fn json(&mut self, body: &Value) {
        self.answer(200, "content-type: application/json\r\n", &body.to_string()).await;
    }

    pub(crate) async fn begin_events(&mut self) {
        self.raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n").await;
    }

    pub(crate) async fn event(&mut self, body: &Value) {
        self.raw(format!("event: message\ndata: {body}\n\n").as_bytes()).await;
    }

    pub(crate) async fn raw(&mut self, bytes: &[u8]) {
        // A client that has gone is what some tests are about.
        let _ = self.0.write_all(bytes).await;
    }

    /// Waits until the client has closed its end.
    pub(crate) async fn closed(&mut self) {
        let mut rest = [0u8; 64];
        while matches!(self.0.read(&mut rest).await, Ok(count) if count > 0) {}
    }
}

/// A scripted HTTP server.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) log: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Runs `script` for each request; the connection is kept if the script gives it back.
    pub(crate) async fn start<F, Fut>(script: F) -> Self
    where
        F: Fn(Seen, Wire) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Option<Wire>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let log: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (script, seen) = (Arc::new(script), log.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, seen) = (script.clone(), seen.clone());
                tokio::spawn(async move {
                    let mut wire = Wire(stream);
                    while let Some(request) = read_request(&mut wire.0).await {
                        seen.lock().push(request.clone());
                        match script(request, wire).await {
                            Some(back) => wire = back,
                            None => return,
                        }
                    }
                });
            }
        });
        Self { url, log }
    }

    pub(crate) fn whats(&self) -> Vec<String> {
        self.log.lock().iter().map(Seen::what).collect()
    }

    pub(crate) fn count(&self, what: &str) -> usize {
        self.whats().iter().filter(|seen| *seen == what).count()
    }

    pub(crate) fn find(&self, what: &str) -> Seen {
        self.log.lock().iter().find(|seen| seen.what() == what).cloned().unwrap()
    }

    /// Waits until a request of that kind has come.
    pub(crate) async fn await_request(&self, what: &str) -> Seen {
        let looking = async {
            while self.count(what) == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), looking).await.unwrap_or_else(|_| panic!("no {what} came"));
        self.find(what)
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
    let (head, body) = raw::read_request(stream).await?;
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (verb, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Seen { verb, path, headers, body })
}

pub(crate) fn raw(value: &Value) -> Raw {
    Raw::parse(value.to_string(), &Limits::default()).unwrap()
}

pub(crate) fn options() -> ConnectOptions {
    let mut options = ConnectOptions::new(raw(&json!({"name": "us", "version": "1"})), raw(&json!({"roots": {}})));
    options.start_timeout = Duration::from_secs(20);
    options
}

/// Keeps what arrives, and answers requests with their own parameters.
pub(crate) struct Keeper(mpsc::UnboundedSender<(String, Value)>);

impl Keeper {
    pub(crate) fn new() -> (Arc<Self>, mpsc::UnboundedReceiver<(String, Value)>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Arc::new(Self(sender)), receiver)
    }

    fn keep(&self, method: &str, params: Option<&Raw>) {
        let params = params.map_or(Value::Null, |params| params.view().unwrap());
        let _ = self.0.send((method.to_owned(), params));
    }
}

impl Handler for Keeper {
    fn request(&self, _context: Context, request: Request) -> BoxFuture<'_, Reply> {
        self.keep(&request.method, request.params.as_ref());
        Box::pin(async move { Ok(request.params.unwrap_or_else(Raw::empty_object)).into() })
    }

    fn notification(&self, _context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        self.keep(&notification.method, notification.params.as_ref());
        Box::pin(async {})
    }
}

pub(crate) fn silent() -> Arc<Keeper> {
    Keeper::new().0
}

pub(crate) fn tool_call(params: &Value) -> Call {
    Call::new("tools/call", Some(raw(params))).within(Duration::from_secs(10))
}

pub(crate) async fn ask(remote: &Arc<dyn Remote>, params: &Value) -> Result<Value, CallError> {
    let reply = remote.request(tool_call(params)).await?;
    Ok(reply.outcome.unwrap_or_else(|error| panic!("refused: {error}")).view().unwrap())
}
