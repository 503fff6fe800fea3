//! Who calls, on which session, and who answers.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use http::HeaderMap;
use parking_lot::RwLock;
use switchboard_protocol::mcp::meta;
use switchboard_protocol::{Era, Revision, bridge};
use switchboard_transport::http_server::Principal;
use switchboard_wire::{ErrorObject, Extra, Notification, Object, Raw, Refusal, Request};
use tokio_util::sync::CancellationToken;

use crate::Remote;

/// A future on the heap, so that handlers and remotes can be used without knowing their type.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What answers the messages that arrive on a connection.
///
/// The transport has already checked framing, limits and the rules of the revision's transport (headers, sessions).
/// `initialize` and `server/discover` are requests like any other; the face of the connection notes what was agreed.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request. Dropping the future, or `context.cancel`, means that nobody waits for the answer any more.
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply>;

    /// Takes a notification. Notifications of one connection arrive in order; this must not wait for long.
    fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()>;

    /// Whether there is a profile of this name: a part of what is served, at an address of its own.
    fn has_profile(&self, _name: &str) -> bool {
        false
    }

    /// A lasting session has begun (legacy `initialize` was answered, or a stdio connection opened).
    fn opened(&self, _session: &Arc<Session>) {}

    /// A lasting session has ended, for whatever reason. Called once for each one opened.
    fn closed(&self, _session: &Arc<Session>) {}
}

/// The answer to a request, with members of the envelope that JSON-RPC does not define.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The result, untouched, or the error.
    pub outcome: Result<Raw, ErrorObject>,
    /// Extra members of the envelope.
    pub extra: Extra,
}

impl From<Result<Raw, ErrorObject>> for Reply {
    fn from(outcome: Result<Raw, ErrorObject>) -> Self {
        Self { outcome, extra: Extra::default() }
    }
}

/// What a client said of itself: once in `initialize`, or with every modern request.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The revision agreed on, or named by the request.
    pub revision: Revision,
    /// `clientInfo`, untouched.
    pub info: Option<Raw>,
    /// The client's capabilities, an object, untouched.
    pub capabilities: Raw,
}

impl Caller {
    /// A client that has not said anything yet.
    #[must_use]
    pub fn unknown() -> Self {
        Self { revision: Revision::LATEST_LEGACY, info: None, capabilities: Raw::empty_object() }
    }

    /// What the client said in `initialize`, with the revision that the answer settled on.
    #[must_use]
    pub fn from_initialize(params: Option<&Raw>, result: &Raw) -> Self {
        let agreed = result.member("protocolVersion").and_then(|version| version.as_text());
        let revision = agreed.as_deref().and_then(Revision::parse).unwrap_or(Revision::LATEST_LEGACY);
        let member = |key: &str| params.and_then(|params| params.member(key)).map(|raw| raw.detach());
        let capabilities = member("capabilities").unwrap_or_else(Raw::empty_object);
        Self { revision, info: member("clientInfo"), capabilities }
    }

    /// What the client said in the `_meta` of a modern request; `None` for a request that names no known revision.
    #[must_use]
    pub fn from_request_meta(params: Option<&Raw>) -> Option<Self> {
        let meta = Object::open(&params?.member("_meta")?).ok()?;
        let revision = Revision::parse(&meta.text(meta::PROTOCOL_VERSION)?)?;
        let capabilities = meta.get(meta::CLIENT_CAPABILITIES).unwrap_or_else(Raw::empty_object);
        Some(Self { revision, info: meta.get(meta::CLIENT_INFO), capabilities })
    }

    /// The parameters of a modern request that is made for this client, and from which level on it wants log messages.
    ///
    /// # Errors
    /// A member stands twice.
    pub fn modern_params(&self, params: Option<&Raw>, level: Option<&str>) -> Result<Raw, Refusal> {
        bridge::modern_params(params, self.info.as_ref(), &self.capabilities, level)
    }

    /// The era the client speaks.
    #[must_use]
    pub const fn era(&self) -> Era {
        self.revision.era()
    }

    /// Whether the client declared the capability found by following `path`.
    #[must_use]
    pub fn can(&self, path: &[&str]) -> bool {
        self.capabilities.at(path).is_some()
    }
}

/// Everything about one arriving message besides the message.
#[derive(Clone)]
pub struct Context {
    /// The session it belongs to. A modern HTTP request has one of its own, which ends with it.
    pub session: Arc<Session>,
    /// Who sent it. Before `initialize` a legacy caller has no capabilities.
    pub caller: Arc<Caller>,
    /// Sends to the sender, along with the answer to this message where the transport has such a thing (the response
    /// stream of one HTTP POST), else on the session.
    pub remote: Arc<dyn Remote>,
    /// Cancelled when the sender cancels this request or goes away.
    pub cancel: CancellationToken,
    /// The HTTP headers, where there were any (`Mcp-Param-*` are checked by who knows the tool).
    pub headers: Option<Arc<HeaderMap>>,
    /// For a question that names no call: whose calls ([`crate::Call::owner`]) were open on the connection when it arrived,
    /// where the connection knows. Whoever is answered meanwhile may be the one it was about.
    pub open_owners: Option<Arc<[u64]>>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("session", &self.session.id)
            .field("caller", &self.caller)
            .finish_non_exhaustive()
    }
}

/// One client's session: a stdio connection, an HTTP session, or a single modern request.
pub struct Session {
    /// Unique in this process, and hard to guess where it is given to a client.
    pub id: Arc<str>,
    /// Who was authenticated: never taken from a parameter.
    pub principal: Arc<str>,
    /// How that was proved, and what the proof is good for.
    pub identity: Principal,
    /// Whether the session outlives one request.
    pub lasting: bool,
    caller: RwLock<Arc<Caller>>,
    remote: Arc<dyn Remote>,
    state: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl Session {
    /// A session whose unsolicited messages leave through `remote`.
    #[must_use]
    pub fn new(id: Arc<str>, identity: Principal, lasting: bool, caller: Caller, remote: Arc<dyn Remote>) -> Arc<Self> {
        let (principal, caller) = (identity.name.clone(), RwLock::new(Arc::new(caller)));
        Arc::new(Self { id, principal, identity, lasting, caller, remote, state: OnceLock::new() })
    }

    /// What the client said of itself.
    #[must_use]
    pub fn caller(&self) -> Arc<Caller> {
        self.caller.read().clone()
    }

    /// Notes what the client said of itself in `initialize`.
    pub fn introduce(&self, caller: Caller) {
        *self.caller.write() = Arc::new(caller);
    }

    /// Sends messages that belong to no request of the client.
    #[must_use]
    pub fn remote(&self) -> &Arc<dyn Remote> {
        &self.remote
    }

    /// Under what the lists of a session are kept: sessions of one principal that may do different things see different ones.
    #[must_use]
    pub fn rights_key(&self) -> Arc<str> {
        let identity = &self.identity;
        if !identity.is_limited() {
            return self.principal.clone();
        }
        format!("{}\n{:?}\n{:?}", self.principal, identity.profile, identity.scopes).into()
    }

    /// The handler's own state of this session, made at first use. Always ask for the same type.
    pub fn state<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Option<Arc<T>> {
        self.state.get_or_init(|| Arc::new(make())).clone().downcast().ok()
    }

    /// The handler's own state, if it was made.
    #[must_use]
    pub fn existing_state<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.state.get()?.clone().downcast().ok()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("id", &self.id).field("principal", &self.principal).finish_non_exhaustive()
    }
}
