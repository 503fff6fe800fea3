//! One keep-alive HTTP/1.1 connection of a caller, and the MCP session on it.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::endpoint::Endpoint;
use crate::error::{Error, Result, within};
use crate::message::{self, Era};
use crate::sse::EventReader;

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// An event or error text larger than this is a fault of the server, not a load.
const LARGEST_EVENT: usize = 64 << 20;
const SHOWN_ERROR_BYTES: usize = 300;

/// What is the same for every request of a load.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where to connect.
    pub endpoint: Endpoint,
    /// Extra headers, for instance a token.
    pub headers: Vec<(String, String)>,
}

/// The state a caller keeps between requests.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The session id, where the server gave one.
    pub id: Option<String>,
    /// The revision to name in the protocol-version header; none before the handshake.
    pub version: Option<String>,
}

/// The headers of the modern era that repeat what the body says.
#[derive(Clone, Copy, Debug)]
pub struct Routing<'a> {
    /// The JSON-RPC method.
    pub method: &'a str,
    /// The tool, where the method takes one.
    pub name: Option<&'a str>,
}

/// A connection that can carry one request at a time.
#[derive(Debug)]
pub struct Connection {
    target: Target,
    sender: http1::SendRequest<Full<Bytes>>,
}

impl Connection {
    /// Connects, within a fixed limit.
    pub async fn open(target: &Target) -> Result<Self> {
        Ok(Self { target: target.clone(), sender: dial(&target.endpoint.authority).await? })
    }

    /// Performs the handshake of the legacy era; in the modern era there is none.
    pub async fn start_session(&mut self, version: &str) -> Result<Session> {
        if Era::of(version) == Era::Modern {
            return Ok(Session { id: None, version: Some(version.to_owned()) });
        }
        let routing = Routing { method: "initialize", name: None };
        let response = self.send(Method::POST, &Session::default(), routing, message::initialize(version)).await?;
        let header = response.headers().get("mcp-session-id");
        let id = header.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let answer = read_answer(response, 0).await?;
        if let Some(error) = answer.get("error") {
            return Err(Error::Answer(format!("initialize: {error}")));
        }
        let agreed = answer.pointer("/result/protocolVersion").and_then(Value::as_str).unwrap_or(version);
        let session = Session { id, version: Some(agreed.to_owned()) };
        let routing = Routing { method: "notifications/initialized", name: None };
        let response = self.send(Method::POST, &session, routing, message::INITIALIZED.to_owned()).await?;
        response.into_body().collect().await?;
        Ok(session)
    }

    /// Sends a request and returns the answer to id `id`, whether it comes as JSON or as an event stream.
    pub async fn call(&mut self, session: &Session, routing: Routing<'_>, body: String, id: u64) -> Result<Value> {
        let response = self.send(Method::POST, session, routing, body).await?;
        read_answer(response, id).await
    }

    /// Opens the stream on which a legacy server may speak first; the caller keeps the body to keep it open.
    pub async fn open_stream(&mut self, session: &Session) -> Result<Incoming> {
        let routing = Routing { method: "", name: None };
        Ok(self.send(Method::GET, session, routing, String::new()).await?.into_body())
    }

    /// Ends a legacy session.
    pub async fn end_session(&mut self, session: &Session) -> Result<()> {
        let routing = Routing { method: "", name: None };
        let response = self.send(Method::DELETE, session, routing, String::new()).await?;
        response.into_body().collect().await?;
        Ok(())
    }

    async fn send(
        &mut self,
        method: Method,
        session: &Session,
        routing: Routing<'_>,
        body: String,
    ) -> Result<Response<Incoming>> {
        if !self.sender.is_ready() && self.sender.ready().await.is_err() {
            self.sender = dial(&self.target.endpoint.authority).await?;
        }
        let accept = if method == Method::GET { "text/event-stream" } else { "application/json, text/event-stream" };
        let mut request = Request::builder()
            .method(method)
            .uri(&self.target.endpoint.path)
            .header("host", &self.target.endpoint.authority)
            .header("accept", accept);
        if !body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        if let Some(version) = &session.version {
            request = request.header("mcp-protocol-version", version);
            if Era::of(version) == Era::Modern {
                request = request.header("mcp-method", routing.method);
                if let Some(name) = routing.name {
                    request = request.header("mcp-name", name);
                }
            }
        }
        if let Some(id) = &session.id {
            request = request.header("mcp-session-id", id);
        }
        for (name, value) in &self.target.headers {
            request = request.header(name, value);
        }
        let response = self.sender.send_request(request.body(Full::new(Bytes::from(body)))?).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = response.into_body().collect().await?.to_bytes();
        let shown = &body[..body.len().min(SHOWN_ERROR_BYTES)];
        Err(Error::Status { status: status.as_u16(), body: String::from_utf8_lossy(shown).into_owned() })
    }
}

async fn dial(authority: &str) -> Result<http1::SendRequest<Full<Bytes>>> {
    within("connecting", CONNECT_LIMIT, async {
        let stream = TcpStream::connect(authority).await.map_err(Error::io(format!("connecting to {authority}")))?;
        stream.set_nodelay(true).map_err(Error::io("setting TCP_NODELAY"))?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // The task ends with the connection; a broken one shows as an error of the next request.
        tokio::spawn(connection);
        Ok(sender)
    })
    .await
}

async fn read_answer(response: Response<Incoming>, id: u64) -> Result<Value> {
    let content_type = response.headers().get("content-type");
    let streamed = content_type.is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"));
    let mut body = response.into_body();
    if !streamed {
        return Ok(serde_json::from_slice(&body.collect().await?.to_bytes())?);
    }
    // The stream is read to its end even after the answer, so that the connection can be used again.
    let (mut events, mut found) = (EventReader::default(), None);
    while let Some(frame) = body.frame().await {
        let frame = frame?;
        let Some(data) = frame.data_ref().filter(|_| found.is_none()) else { continue };
        events.push(data);
        if events.pending() > LARGEST_EVENT {
            return Err(Error::Answer(format!("an event of more than {LARGEST_EVENT} bytes")));
        }
        while let Some(data) = events.next_data() {
            let message: Value = serde_json::from_str(&data)?;
            if message.get("id").and_then(Value::as_u64) == Some(id) && message.get("method").is_none() {
                found = Some(message);
            }
        }
    }
    found.ok_or_else(|| Error::Answer("the event stream ended without the answer".to_owned()))
}
