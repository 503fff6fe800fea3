//! Connections to one origin, kept open between requests.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use parking_lot::Mutex;
use tower_service::Service as _;
use url::Url;

use super::reach::{Reach, Resolver, out_of_reach};
use super::{HttpError, HttpOptions};

type Sender = SendRequest<Full<Bytes>>;

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

/// How long a connection that was just given back may take to become ready again.
const SETTLE: Duration = Duration::from_millis(200);

/// Open connections to one origin.
pub(super) struct Pool {
    base: Uri,
    authority: String,
    options: HttpOptions,
    idle: Arc<Idle>,
}

/// Those that nobody uses at the moment. The most recently used one stands last.
struct Idle {
    origin: String,
    kept: Mutex<VecDeque<Kept>>,
    max: usize,
}

struct Kept {
    sender: Sender,
    until: Instant,
}

/// The head of an answer, with the connection its body still occupies.
pub(super) struct Exchange {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Incoming,
    pub(super) lease: Lease,
}

/// A connection in use. Dropping it closes the connection; giving it back keeps it open.
pub(super) struct Lease {
    sender: Sender,
    idle: Arc<Idle>,
    keep_for: Duration,
}

impl Lease {
    /// To be called when the body was read to its end.
    pub(super) fn give_back(self) {
        if self.keep_for.is_zero() || self.sender.is_closed() {
            return;
        }
        let mut kept = self.idle.kept.lock();
        if kept.len() >= self.idle.max {
            kept.pop_front();
        }
        kept.push_back(Kept { sender: self.sender, until: Instant::now() + self.keep_for });
    }

    pub(super) fn broken(&self, error: &hyper::Error) -> HttpError {
        self.idle.broken(error)
    }
}

impl Idle {
    fn broken(&self, error: &hyper::Error) -> HttpError {
        HttpError::Broken { origin: self.origin.clone(), why: reason(error) }
    }
}

impl Pool {
    pub(super) fn new(url: &Url, options: HttpOptions) -> Result<Self, HttpError> {
        let bad = |why: &str| HttpError::BadUrl { url: super::redact(url.as_str()), why: why.to_owned() };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad("only http and https are spoken"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("it holds a user name or a password: put them into an `Authorization` header"));
        }
        let literal = match url.host() {
            Some(url::Host::Ipv4(address)) => Some(address.into()),
            Some(url::Host::Ipv6(address)) => Some(address.into()),
            _ => None,
        };
        if literal.is_some_and(|address| !options.reach.allows(address)) {
            return Err(bad(&out_of_reach().to_string()));
        }
        let host = url.host_str().ok_or_else(|| bad("it names no host"))?;
        let authority = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let origin = format!("{}://{authority}", url.scheme());
        let base = Uri::try_from(format!("{origin}/")).map_err(|_| bad("the host is not valid"))?;
        let idle = Arc::new(Idle { origin, kept: Mutex::default(), max: options.max_idle.max(1) });
        Ok(Self { base, authority, options, idle })
    }

    pub(super) fn origin(&self) -> &str {
        &self.idle.origin
    }

    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    pub(super) const fn options(&self) -> &HttpOptions {
        &self.options
    }

    pub(super) async fn send(&self, mut request: Box<Request<Full<Bytes>>>) -> Result<Exchange, HttpError> {
        // A kept connection may have been closed by the server meanwhile. hyper hands the request back if not a byte
        // of it was written, and only then it is sent again, each time over another connection; the last is new.
        while let Some(mut sender) = self.take_idle().await {
            match sender.try_send_request(*request).await {
                Ok(response) => return Ok(self.exchange(sender, response)),
                Err(mut error) => match error.take_message() {
                    Some(unsent) => *request = unsent,
                    None => return Err(self.idle.broken(error.error())),
                },
            }
        }
        // Connecting is rare and takes a large future, which calls over kept connections need not carry.
        let mut sender = Box::pin(self.connect()).await?;
        match sender.try_send_request(*request).await {
            Ok(response) => Ok(self.exchange(sender, response)),
            Err(error) if error.message().is_some() => Err(HttpError::NotSent(self.origin().to_owned())),
            Err(error) => Err(self.idle.broken(error.error())),
        }
    }

    fn exchange(&self, sender: Sender, response: http::Response<Incoming>) -> Exchange {
        let (head, body) = response.into_parts();
        let keep_for = keep_alive(&head.headers)
            .map_or(self.options.idle_timeout, |promised| promised.min(self.options.idle_timeout));
        let lease = Lease { sender, idle: self.idle.clone(), keep_for };
        Exchange { status: head.status, headers: head.headers, body, lease }
    }

    /// A kept connection that can take a request.
    async fn take_idle(&self) -> Option<Sender> {
        loop {
            let mut candidate = self.pop()?;
            if candidate.is_ready() {
                return Some(candidate);
            }
            // Given back a moment ago: its task still has to notice that the answer was read.
            if matches!(Box::pin(tokio::time::timeout(SETTLE, candidate.ready())).await, Ok(Ok(()))) {
                return Some(candidate);
            }
        }
    }

    fn pop(&self) -> Option<Sender> {
        let mut kept = self.idle.kept.lock();
        let now = Instant::now();
        while kept.front().is_some_and(|oldest| oldest.until <= now || oldest.sender.is_closed()) {
            kept.pop_front();
        }
        // Prefer one that is ready: waiting for another costs more than looking.
        let ready = kept.iter().rposition(|kept| kept.until > now && kept.sender.is_ready());
        let place = ready.or_else(|| kept.iter().rposition(|kept| kept.until > now && !kept.sender.is_closed()))?;
        kept.remove(place).map(|kept| kept.sender)
    }

    async fn connect(&self) -> Result<Sender, HttpError> {
        let failed = |why: String| HttpError::Connect { origin: self.origin().to_owned(), why };
        let mut connector = match self.options.reach {
            Reach::Anywhere => ANYWHERE.clone(),
            Reach::Network => NETWORK.clone(),
            Reach::Public => PUBLIC.clone(),
        };
        let connecting = async {
            // The connector is always ready: it holds no queue.
            let stream = connector.call(self.base.clone()).await.map_err(|error| failed(chain(&*error)))?;
            http1::Builder::new().handshake(stream).await.map_err(|error| failed(reason(&error)))
        };
        let (sender, connection) = tokio::time::timeout(self.options.connect_timeout, connecting)
            .await
            .map_err(|_| failed(format!("no connection within {:?}", self.options.connect_timeout)))??;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = %reason(&error), "a connection to a server ended badly");
            }
        });
        Ok(sender)
    }
}

/// The time a server promises to keep the connection, less a second, so that we are the first to give it up.
fn keep_alive(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(KEEP_ALIVE)?.to_str().ok()?;
    let seconds = text.split(',').find_map(|part| part.trim().strip_prefix("timeout=")?.parse::<u64>().ok())?;
    Some(Duration::from_secs(seconds.saturating_sub(1)))
}

fn reason(error: &hyper::Error) -> String {
    chain(error)
}

/// An error with its causes, which hyper keeps apart.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}

type Connector = HttpsConnector<HttpConnector<Resolver>>;

/// Made once: reading the root certificates takes milliseconds.
static ANYWHERE: LazyLock<Connector> = LazyLock::new(|| connector(Reach::Anywhere));
static NETWORK: LazyLock<Connector> = LazyLock::new(|| connector(Reach::Network));
static PUBLIC: LazyLock<Connector> = LazyLock::new(|| connector(Reach::Public));

fn connector(reach: Reach) -> Connector {
    let mut http = HttpConnector::new_with_resolver(Resolver::new(reach));
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_keepalive(Some(Duration::from_secs(60)));
    // The machine's own list of authorities knows the private one of a company, and `SSL_CERT_FILE` can name another. A
    // machine without any (a bare container) gets the list that everybody uses.
    let builder = match hyper_rustls::HttpsConnectorBuilder::new().with_native_roots() {
        Ok(builder) => builder,
        Err(error) => {
            tracing::debug!(%error, "this machine has no list of certificate authorities: the built-in one is used");
            hyper_rustls::HttpsConnectorBuilder::new().with_webpki_roots()
        }
    };
    builder.https_or_http().enable_http1().wrap_connector(http)
}
