//! A small HTTP/1.1 client that shows everything: status, headers, and events one by one.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use switchboard_wire::sse::{Decoder, SseEvent};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// No single step of a test takes this long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const MODERN: &str = "2026-07-28";

/// A request to be sent.
#[derive(Clone)]
pub(crate) struct Ask {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<String>,
}

impl Ask {
    pub(crate) fn new(method: &'static str, path: &str) -> Self {
        Self { method, path: path.to_owned(), headers: Vec::new(), body: None }
    }

    /// A POST to the endpoint, with the headers that every client sends.
    pub(crate) fn post(body: impl Into<String>) -> Self {
        let ask = Self::new("POST", "/mcp");
        ask.with("Content-Type", "application/json").with("Accept", "application/json, text/event-stream").body(body)
    }

    pub(crate) fn get(session: &str) -> Self {
        Self::new("GET", "/mcp").with("Accept", "text/event-stream").with("Mcp-Session-Id", session)
    }

    /// A modern request that follows every rule.
    pub(crate) fn modern(method: &str, params: Value) -> Self {
        let mut params = params;
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = serde_json::json!({});
        let mut ask = Self::post("").with("MCP-Protocol-Version", MODERN).with("Mcp-Method", method);
        if let Some(name) = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str) {
            ask = ask.with("Mcp-Name", name);
        }
        ask.body(serde_json::json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string())
    }

    pub(crate) fn at(mut self, path: &str) -> Self {
        self.path = path.to_owned();
        self
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same header once more.
    pub(crate) fn also(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<String>) -> Self {
        self.body = Some(body.into());
        self
    }

    pub(crate) fn in_session(self, session: &str) -> Self {
        self.with("Mcp-Session-Id", session)
    }

    fn text(&self, address: SocketAddr) -> String {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            text.push_str(&format!("Host: {address}\r\n"));
        }
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &self.body {
            text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        } else {
            text.push_str("\r\n");
        }
        text
    }

    /// Sends the request and reads the head of the answer.
    pub(crate) async fn open(&self, address: SocketAddr) -> Answer {
        within(async {
            let mut socket = TcpStream::connect(address).await.unwrap();
            socket.write_all(self.text(address).as_bytes()).await.unwrap();
            Answer::read(socket).await
        })
        .await
    }

    /// Sends the request without waiting for anything.
    pub(crate) async fn send_only(&self, address: SocketAddr) -> TcpStream {
        let mut socket = TcpStream::connect(address).await.unwrap();
        socket.write_all(self.text(address).as_bytes()).await.unwrap();
        socket
    }

    /// Sends the request and reads the whole answer.
    pub(crate) async fn send(&self, address: SocketAddr) -> Whole {
        let mut answer = self.open(address).await;
        let body = within(answer.rest()).await;
        Whole { status: answer.status, headers: answer.headers, body: String::from_utf8(body).unwrap() }
    }
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Whole {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The JSON-RPC error code, or zero.
    pub(crate) fn code(&self) -> i64 {
        if self.body.is_empty() { 0 } else { self.json()["error"]["code"].as_i64().unwrap_or(0) }
    }
}

/// An answer whose body is still to be read.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    socket: TcpStream,
    buffer: Vec<u8>,
    /// Bytes left of the body or the chunk.
    left: Option<usize>,
    chunked: bool,
    events: Decoder,
}

impl Answer {
    async fn read(socket: TcpStream) -> Self {
        let mut answer = Self {
            status: 0,
            headers: Vec::new(),
            socket,
            buffer: Vec::new(),
            left: None,
            chunked: false,
            events: Decoder::new(64 << 20),
        };
        let head = answer.line_end(b"\r\n\r\n").await.expect("a head");
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.split("\r\n");
        answer.status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        answer.headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let header = |name: &str| answer.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        answer.chunked = header("transfer-encoding").is_some_and(|value| value == "chunked");
        let length = header("content-length").map(|value| value.parse().unwrap());
        let left = if answer.chunked { None } else { Some(length.unwrap_or(0)) };
        answer.left = left;
        answer
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.headers.iter().any(|(name, value)| name == "content-type" && value == "text/event-stream")
    }

    async fn fill(&mut self) -> bool {
        let mut piece = [0; 4096];
        let read = self.socket.read(&mut piece).await.unwrap_or(0);
        self.buffer.extend_from_slice(&piece[..read]);
        read > 0
    }

    /// Everything before the mark.
    async fn line_end(&mut self, mark: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.buffer.windows(mark.len()).position(|window| window == mark) {
                let before = self.buffer[..at].to_vec();
                self.buffer.drain(..at + mark.len());
                return Some(before);
            }
            if !self.fill().await {
                return None;
            }
        }
    }

    /// The next piece of the body.
    pub(crate) async fn piece(&mut self) -> Option<Vec<u8>> {
        if self.chunked && self.left.is_none() {
            let size = self.line_end(b"\r\n").await?;
            let size = usize::from_str_radix(std::str::from_utf8(&size).unwrap(), 16).unwrap();
            self.left = Some(size);
            if size == 0 {
                return None;
            }
        }
        let left = self.left.unwrap();
        if left == 0 {
            return None;
        }
        while self.buffer.is_empty() {
            if !self.fill().await {
                return None;
            }
        }
        let take = left.min(self.buffer.len());
        let piece: Vec<u8> = self.buffer.drain(..take).collect();
        self.left = Some(left - take);
        if self.chunked && left == take {
            self.line_end(b"\r\n").await?;
            self.left = None;
        }
        Some(piece)
    }

    async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        while let Some(piece) = self.piece().await {
            rest.extend(piece);
        }
        rest
    }

    /// The next event of the stream; `None` at its end.
    pub(crate) async fn event(&mut self) -> Option<SseEvent> {
        within(async {
            loop {
                if let Some(event) = self.events.next_event().unwrap() {
                    return Some(event);
                }
                let piece = self.piece().await?;
                self.events.push(&piece);
            }
        })
        .await
    }

    /// The message in the next event.
    pub(crate) async fn message(&mut self) -> Value {
        let event = self.event().await.expect("an event");
        serde_json::from_slice(&event.data).unwrap_or_else(|error| panic!("{error}: {event:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Fails a step that never ends.
pub(crate) async fn within<T>(step: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, step).await.expect("this step never ended")
}
