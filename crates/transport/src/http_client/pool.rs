//! Connections to one origin, kept open between requests.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Weak};
use std::time::{Duration, Instant};

use http::Uri;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use parking_lot::Mutex;
use switchboard_protocol::fault::error_chain;
use tower_service::Service as _;
use url::Url;

use super::connection::{Connection, Failure};
use super::head::Head;
use super::outgoing::Outgoing;
use super::reach::{Reach, Resolver, out_of_reach};
use super::{HttpClientOptions, HttpError};

/// How often unused connections are looked after.
const SWEEP: Duration = Duration::from_secs(5);

/// Open connections to one origin.
pub(super) struct Pool {
    base: Uri,
    authority: String,
    options: HttpClientOptions,
    idle: Arc<Idle>,
}

/// Those that nobody uses at the moment.
struct Idle {
    origin: String,
    shelf: Mutex<Shelf>,
    max: usize,
}

#[derive(Default)]
struct Shelf {
    /// The most recently used one stands last.
    kept: VecDeque<IdleConnection>,
    /// Whether a task looks after them.
    is_swept: bool,
}

/// A connection is large, and changes hands often: it stays where it is on the heap.
struct IdleConnection {
    connection: Box<Connection>,
    until: Instant,
}

impl IdleConnection {
    fn is_usable(&mut self, now: Instant) -> bool {
        self.until > now && self.connection.is_quiet()
    }
}

/// A connection in use. Dropping it closes the connection; giving it back keeps it open.
pub(super) struct Lease {
    pub(super) connection: Box<Connection>,
    idle: Arc<Idle>,
    keep_for: Duration,
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease").field("origin", &self.idle.origin).finish_non_exhaustive()
    }
}

impl Lease {
    /// To be called when the body was read to its end.
    pub(super) fn give_back(mut self) {
        if self.keep_for.is_zero() || !self.connection.is_quiet() {
            return;
        }
        self.connection.shrink();
        self.idle.keep(IdleConnection { connection: self.connection, until: Instant::now() + self.keep_for });
    }

    /// Reads the head of another answer.
    pub(super) async fn next_head(mut self) -> Result<(Head, Self), HttpError> {
        let head = self.connection.head().await.map_err(|failure| self.failed(failure))?;
        // Whoever answers twice is not asked again over the same connection.
        self.keep_for = Duration::ZERO;
        Ok((head, self))
    }

    /// What a failure while the answer was read means.
    pub(super) fn failed(&self, failure: Failure) -> HttpError {
        self.idle.failed(failure)
    }
}

impl Idle {
    fn failed(&self, failure: Failure) -> HttpError {
        match failure {
            Failure::Unsent => HttpError::NotSent(self.origin.clone()),
            Failure::Broken(why) => HttpError::Broken { origin: self.origin.clone(), why },
        }
    }

    fn keep(self: &Arc<Self>, kept: IdleConnection) {
        let mut shelf = self.shelf.lock();
        if shelf.kept.len() >= self.max {
            shelf.kept.pop_front();
        }
        shelf.kept.push_back(kept);
        if !shelf.is_swept {
            shelf.is_swept = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }

    /// A kept connection that can take a request.
    fn take(&self) -> Option<Box<Connection>> {
        let now = Instant::now();
        loop {
            let mut newest = self.shelf.lock().kept.pop_back()?;
            if newest.is_usable(now) {
                return Some(newest.connection);
            }
        }
    }
}

/// Closes connections that the server has closed, or that nobody has used for long, until there are none.
async fn sweep(idle: Weak<Idle>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let Some(idle) = idle.upgrade() else { return };
        let mut shelf = idle.shelf.lock();
        let now = Instant::now();
        shelf.kept.retain_mut(|kept| kept.is_usable(now));
        if shelf.kept.is_empty() {
            shelf.is_swept = false;
            return;
        }
    }
}

impl Pool {
    pub(super) fn new(url: &Url, options: HttpClientOptions) -> Result<Self, HttpError> {
        let bad = |why: &str| HttpError::BadUrl { url: super::redact_url(url.as_str()), why: why.to_owned() };
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
        let idle = Arc::new(Idle { origin, shelf: Mutex::default(), max: options.max_idle.max(1) });
        Ok(Self { base, authority, options, idle })
    }

    pub(super) fn origin(&self) -> &str {
        &self.idle.origin
    }

    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    pub(super) const fn options(&self) -> &HttpClientOptions {
        &self.options
    }

    /// Sends a request, and gives the head of its answer with the connection that the body still occupies.
    pub(super) async fn send(&self, message: &Outgoing) -> Result<(Head, Lease), HttpError> {
        // The server may have closed a kept connection meanwhile. A request of which it saw nothing is sent again, each
        // time over another connection; the last is new.
        while let Some(mut connection) = self.idle.take() {
            match connection.ask(message).await {
                Ok(head) => return Ok(self.lease(connection, head)),
                Err(Failure::Unsent) => {}
                Err(failure) => return Err(self.idle.failed(failure)),
            }
        }
        // Connecting is rare and takes a large future, which calls over kept connections need not carry.
        let mut connection = Box::pin(self.connect()).await?;
        let head = connection.ask(message).await.map_err(|failure| self.idle.failed(failure))?;
        Ok(self.lease(connection, head))
    }

    fn lease(&self, connection: Box<Connection>, head: Head) -> (Head, Lease) {
        let longest = if head.is_kept { self.options.idle_timeout } else { Duration::ZERO };
        let keep_for = head.kept_for.map_or(longest, |promised| promised.min(longest));
        (head, Lease { connection, idle: self.idle.clone(), keep_for })
    }

    async fn connect(&self) -> Result<Box<Connection>, HttpError> {
        let failed = |why: String| HttpError::Connect { origin: self.origin().to_owned(), why };
        let mut connector = match self.options.reach {
            Reach::Anywhere => ANYWHERE.clone(),
            Reach::Network => NETWORK.clone(),
            Reach::Public => PUBLIC.clone(),
        };
        // The connector is always ready: it holds no queue.
        let connecting = tokio::time::timeout(self.options.connect_timeout, connector.call(self.base.clone()));
        let stream = connecting
            .await
            .map_err(|_| failed(format!("no connection within {:?}", self.options.connect_timeout)))?
            .map_err(|error| failed(error_chain(&*error)))?;
        Ok(Box::new(Connection::new(stream)))
    }
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
