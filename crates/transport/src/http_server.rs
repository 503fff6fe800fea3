//! The HTTP listener: what must be refused before anything is parsed, and what bounds every connection.
//!
//! A [`Listener`] holds each connection to its limits (how many, how long a head, a body or a write may take), checks
//! `Host`, `Origin` and the bearer token, and hands what is left to a [`Service`]. It deliberately knows no path, no
//! session and no message.

mod admission;
mod body;
mod connection;
mod head_clock;
mod identity;
mod patient;
mod poll_on_wake;

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::{Request, Response};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use admission::{AccessRules, AllowList, Authenticator, BadEntry, Challenges, Checked};
pub use body::{Body, EventSource, ReadError, Room, read_body, read_body_into};
pub use identity::{BadScope, Identity, Method, Principal, Scopes};

/// The answer to one request, on its way.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Response<Body>> + Send + 'a>>;

/// What answers the requests that were let in.
pub trait Service: Send + Sync + 'static {
    /// Answers one request of `principal`. The body has not been read yet: see [`read_body`].
    fn call(&self, request: Request<Incoming>, principal: Principal) -> Answering<'_>;

    /// Whether a path is served without a token. Such a request still gets its principal from a token that it has,
    /// and an empty one otherwise.
    fn is_open(&self, _path: &str) -> bool {
        false
    }

    /// Whether a path is served under any `Host`: probes of machines that know an address alone. It must tell nothing.
    fn has_any_host(&self, _path: &str) -> bool {
        false
    }
}

/// The bounds of a listener.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections at one time. Further ones are told to come back later.
    pub connections: usize,
    /// How long the head of a request may take, and how long a connection may be idle between two.
    pub head_timeout: Duration,
    /// How long the far side may let a write stand still.
    pub write_timeout: Duration,
    /// How long requests that run may go on after the shutdown began. Then they are answered with an error.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            head_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(10),
        }
    }
}

/// A bound listener.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
    access: AccessRules,
}

impl Listener {
    /// Binds an address. The access rules default to loopback names and the bound address, with no token.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn bind(address: SocketAddr) -> std::io::Result<Self> {
        Self::from_tokio(TcpListener::bind(address).await?)
    }

    /// Takes a listener that is bound already.
    ///
    /// # Errors
    /// Its address cannot be read.
    pub fn from_tokio(listener: TcpListener) -> std::io::Result<Self> {
        let address = listener.local_addr()?;
        Ok(Self { listener, address, limits: Limits::default(), access: AccessRules::loopback(address) })
    }

    /// The same listener with other bounds.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same listener with other rules of who is let in.
    #[must_use]
    pub fn with_access(mut self, access: AccessRules) -> Self {
        self.access = access;
        self
    }

    /// Where it listens (a port 0 is resolved).
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` is cancelled: then takes no more connections, lets running requests finish within the
    /// grace period and ends.
    pub async fn serve(self, service: Arc<dyn Service>, shutdown: CancellationToken) {
        connection::serve(self.listener, self.limits, Arc::new(self.access), service, shutdown).await;
    }
}
