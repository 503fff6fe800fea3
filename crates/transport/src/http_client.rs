//! HTTP/1.1 requests to one server, plain and streaming, over connections that are kept open.
//!
//! This module decides how a connection is made, kept and given up, which answers are read whole and which as a
//! stream of events, and how much of either is read. It deliberately knows no MCP header, no session and no retry
//! policy beyond this one: a request that never left may be sent again. Redirects are not followed, so that the
//! credentials of a server reach no other.

mod connection;
mod error;
mod events;
mod framing;
mod head;
mod outgoing;
mod pool;
mod reach;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue, LOCATION};
use http::{HeaderMap, Method, StatusCode, Uri};
use url::Url;

pub use self::error::HttpError;
pub use self::events::EventStream;
use self::head::Head;
pub use self::head::Headers;
pub use self::outgoing::Outgoing;
use self::pool::{Lease, Pool};
pub use self::reach::Reach;

/// Bounds on what one server may cost.
#[derive(Debug, Clone)]
pub struct HttpClientOptions {
    /// How long a connection may take to be made, name lookup and TLS included.
    pub connect_timeout: Duration,
    /// Bytes of an answer that is read whole, and of one event of a stream.
    pub body_limit: usize,
    /// Connections kept open while nobody uses them.
    pub max_idle: usize,
    /// How long an unused connection is kept. A server's `Keep-Alive: timeout` shortens it.
    pub idle_timeout: Duration,
    /// How far the target may lead.
    pub reach: Reach,
}

impl Default for HttpClientOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            body_limit: 16 << 20,
            max_idle: 64,
            idle_timeout: Duration::from_secs(55),
            reach: Reach::Anywhere,
        }
    }
}

/// The address of one server with the headers that every request to it carries.
#[derive(Clone)]
pub struct Target {
    pool: Arc<Pool>,
    url: Url,
    path: Uri,
    headers: HeaderMap,
}

impl std::fmt::Debug for Target {
    /// Headers and user info carry credentials, so neither is shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("origin", &self.pool.origin()).field("path", &self.url.path()).finish()
    }
}

/// What a server answered.
#[derive(Debug)]
pub struct Answer {
    /// The status, never a redirect.
    pub status: StatusCode,
    /// The headers.
    pub headers: Headers,
    /// The body, by its content type.
    pub body: Body,
    /// The connection that a whole body came over. It is kept for other requests only once somebody has seen that this is
    /// the right answer: one that came twice would be taken for the answer to the next request.
    connection: Option<Lease>,
    limit: usize,
}

/// The body of an [`Answer`].
#[derive(Debug)]
pub enum Body {
    /// All of it.
    Whole(Bytes),
    /// A stream of events, still open.
    Events(Box<EventStream>),
}

impl Answer {
    /// The text of a header, where it is there and readable.
    #[must_use]
    pub fn header(&self, name: &HeaderName) -> Option<&str> {
        std::str::from_utf8(self.headers.get(name)?).ok()
    }

    /// Keeps the connection for other requests: this was the answer to the one that was sent. Without this it is closed.
    pub fn keep_connection(&mut self) {
        if let Some(lease) = self.connection.take() {
            lease.give_back();
        }
    }

    /// The number of the message ([`Outgoing::tagged`]) that was answered before over this connection; 0 where there is
    /// none.
    #[must_use]
    pub fn previous(&self) -> u64 {
        self.connection.as_ref().map_or(0, |lease| lease.connection.previous())
    }

    /// The answer that comes after this one, which repeats an earlier one. The connection is closed afterwards.
    ///
    /// # Errors
    /// None comes, or one that cannot be used.
    pub async fn following(self) -> Result<Self, HttpError> {
        let ended = || HttpError::Broken { origin: String::new(), why: "nothing comes behind a stream".to_owned() };
        let (head, lease) = self.connection.ok_or_else(ended)?.next_head().await?;
        Self::read(head, lease, self.limit).await
    }

    async fn read(head: Head, mut lease: Lease, limit: usize) -> Result<Self, HttpError> {
        let Head { status, framing, is_events, headers, .. } = head;
        if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
            let location =
                headers.get(&LOCATION).map_or_else(String::new, |value| redact_url(&String::from_utf8_lossy(value)));
            return Err(HttpError::Redirect { status: status.as_u16(), location });
        }
        if status.is_success() && is_events {
            let body = Body::Events(Box::new(EventStream::new(framing, lease, limit)));
            return Ok(Self { status, headers, body, connection: None, limit });
        }
        let body = Body::Whole(events::read_whole(framing, &mut lease, limit).await?);
        Ok(Self { status, headers, body, connection: Some(lease), limit })
    }
}

impl Target {
    /// A target from a URL of scheme `http` or `https`.
    ///
    /// # Errors
    /// The URL cannot be used, or a header has a name or value that HTTP does not allow.
    pub fn new(url: &str, headers: &[(String, String)], options: HttpClientOptions) -> Result<Self, HttpError> {
        let url =
            Url::parse(url).map_err(|error| HttpError::BadUrl { url: redact_url(url), why: error.to_string() })?;
        let mut fixed = HeaderMap::with_capacity(headers.len() + 8);
        for (name, value) in headers {
            let bad = || HttpError::BadHeader(name.clone());
            let key = HeaderName::try_from(name.as_str()).map_err(|_| bad())?;
            let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| bad())?;
            value.set_sensitive(true);
            fixed.append(key, value);
        }
        let pool = Arc::new(Pool::new(&url, options)?);
        Self::build(pool, url, fixed)
    }

    fn build(pool: Arc<Pool>, url: Url, mut headers: HeaderMap) -> Result<Self, HttpError> {
        let bad = |why: &str| HttpError::BadUrl { url: redact_url(url.as_str()), why: why.to_owned() };
        let mut path = url.path().to_owned();
        if let Some(query) = url.query() {
            path.push('?');
            path.push_str(query);
        }
        let path = Uri::try_from(path).map_err(|_| bad("the path is not valid"))?;
        if !headers.contains_key(HOST) {
            let host = HeaderValue::try_from(pool.authority()).map_err(|_| bad("the host is not valid"))?;
            headers.insert(HOST, host);
        }
        Ok(Self { pool, url, path, headers })
    }

    /// A sibling of this target: `reference` is resolved against its URL.
    ///
    /// # Errors
    /// The reference is no URL, or leads to another origin, which must not get this target's headers.
    pub fn join(&self, reference: &str) -> Result<Self, HttpError> {
        let url = self
            .url
            .join(reference)
            .map_err(|error| HttpError::BadUrl { url: redact_url(reference), why: error.to_string() })?;
        if url.origin() != self.url.origin() {
            let why = format!("it leaves the origin {}", self.pool.origin());
            return Err(HttpError::BadUrl { url: redact_url(url.as_str()), why });
        }
        Self::build(self.pool.clone(), url, self.headers.clone())
    }

    /// The headers that every request to this target needs. Requests start from a clone of these.
    #[must_use]
    pub const fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The address without credentials and query, for messages.
    #[must_use]
    pub fn display(&self) -> String {
        redact_url(self.url.as_str())
    }

    /// Sends `body` and gives the answer. `headers` must contain [`Target::headers`].
    ///
    /// There is no deadline for the answer here: whoever calls knows how long it may take.
    ///
    /// # Errors
    /// No answer, or one that cannot be used. [`HttpError::was_sent`] says whether the server may have seen it.
    pub async fn post(&self, headers: HeaderMap, body: Bytes) -> Result<Answer, HttpError> {
        self.send_and_keep(self.outgoing(headers, body)).await
    }

    /// The message that [`Target::post`] sends.
    #[must_use]
    pub fn outgoing(&self, headers: impl Into<Arc<HeaderMap>>, body: Bytes) -> Outgoing {
        Outgoing::new(Method::POST, self.path.clone(), headers.into(), body)
    }

    /// Asks for a stream of events. `headers` must contain [`Target::headers`].
    ///
    /// # Errors
    /// As [`Target::post`]. A server that has no stream answers with a status and a whole body.
    pub async fn get_events(&self, mut headers: HeaderMap, last_event: Option<&str>) -> Result<Answer, HttpError> {
        headers.remove(CONTENT_TYPE);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(id) = last_event {
            let value = HeaderValue::try_from(id).map_err(|_| HttpError::BadHeader("last-event-id".to_owned()))?;
            headers.insert(HeaderName::from_static("last-event-id"), value);
        }
        self.send_and_keep(Outgoing::new(Method::GET, self.path.clone(), headers.into(), Bytes::new())).await
    }

    /// Asks for a document. `headers` must contain [`Target::headers`].
    ///
    /// # Errors
    /// As [`Target::post`].
    pub async fn get(&self, headers: HeaderMap) -> Result<Answer, HttpError> {
        self.send_and_keep(Outgoing::new(Method::GET, self.path.clone(), headers.into(), Bytes::new())).await
    }

    /// Deletes what the headers name. `headers` must contain [`Target::headers`].
    ///
    /// # Errors
    /// As [`Target::post`].
    pub async fn delete(&self, mut headers: HeaderMap) -> Result<StatusCode, HttpError> {
        headers.remove(CONTENT_TYPE);
        let request = Outgoing::new(Method::DELETE, self.path.clone(), headers.into(), Bytes::new());
        Ok(self.send_and_keep(request).await?.status)
    }

    /// Sends a message of this target. Whoever gets the answer looks whether it is the right one, and then says so with
    /// [`Answer::keep_connection`].
    ///
    /// # Errors
    /// As [`Target::post`].
    pub async fn send(&self, message: Outgoing) -> Result<Answer, HttpError> {
        let (head, lease) = self.pool.send(&message).await?;
        Answer::read(head, lease, self.pool.options().body_limit).await
    }

    /// Sends a message whose answer nobody could mistake for another.
    async fn send_and_keep(&self, message: Outgoing) -> Result<Answer, HttpError> {
        let mut answer = self.send(message).await?;
        answer.keep_connection();
        Ok(answer)
    }
}

/// A URL as it may be shown: without user info, query and fragment, which often carry tokens.
#[must_use]
pub fn redact_url(text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else {
        return text.split(['?', '#']).next().unwrap_or_default().to_owned();
    };
    let _opaque = url.set_username("").and_then(|()| url.set_password(None));
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}
