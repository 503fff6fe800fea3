//! Who hears of changes, and how they are told.
//!
//! Legacy clients hear of changed lists on their session, and of resources that they subscribed to. Modern clients
//! open streams that say what they want, and every notice on one names it. Telling never waits: a client that reads
//! too slowly misses notices, and is free to ask for the list again.

use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use switchboard_peer::{Remote, Session};
use switchboard_protocol::mcp::{LoggingLevel, SubscriptionFilter, meta, method};
use switchboard_wire::{Edit, Notification, Raw};

/// Resources that one session or one stream may watch.
pub(crate) const MAX_WATCHED: usize = 1_000;
/// Streams that may be open at once.
const MAX_STREAMS: usize = 16_384;

/// Something that happened.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Tools,
    Prompts,
    Resources,
    Resource(String),
    /// A task of the modern era, by its id, with its state as `notifications/tasks` has it.
    Task(String, Raw),
}

/// What is remembered of a legacy session.
#[derive(Debug, Default)]
pub(crate) struct SessionState {
    inner: Mutex<SessionInner>,
}

#[derive(Debug, Default)]
struct SessionInner {
    /// Whether the client has shown that it speaks the legacy era: only then is it told anything unasked.
    initialized: bool,
    level: Option<LoggingLevel>,
    watched: HashSet<String>,
}

impl SessionState {
    /// The state of a session.
    pub(crate) fn of(session: &Session) -> Arc<Self> {
        // Only this type is ever kept there by an sdk server, so the second way is never taken.
        session.state(Self::default).unwrap_or_default()
    }

    pub(crate) fn initialized(&self) {
        self.inner.lock().initialized = true;
    }

    pub(crate) fn set_level(&self, level: LoggingLevel) {
        self.inner.lock().level = Some(level);
    }

    /// The least grave level that the client wants. Until it says so: what people usually want to see.
    pub(crate) fn level(&self) -> LoggingLevel {
        self.inner.lock().level.unwrap_or(LoggingLevel::Info)
    }

    /// Whether there was room.
    pub(crate) fn watch(&self, uri: String) -> bool {
        let mut inner = self.inner.lock();
        if inner.watched.len() >= MAX_WATCHED && !inner.watched.contains(&uri) {
            return false;
        }
        inner.watched.insert(uri);
        true
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        self.inner.lock().watched.remove(uri);
    }

    fn wants(&self, change: &Change) -> bool {
        let inner = self.inner.lock();
        inner.initialized
            && match change {
                Change::Tools | Change::Prompts | Change::Resources => true,
                Change::Resource(uri) => inner.watched.contains(uri),
                Change::Task(..) => false,
            }
    }
}

/// Everyone who may be told.
#[derive(Default)]
pub(crate) struct Feed {
    sessions: Mutex<HashMap<Arc<str>, Arc<Session>>>,
    streams: Mutex<HashMap<u64, Stream>>,
    next: AtomicU64,
}

/// One `subscriptions/listen` request.
struct Stream {
    id: Raw,
    filter: SubscriptionFilter,
    remote: Arc<dyn Remote>,
}

/// An open stream. Dropping it closes it.
pub(crate) struct Listening<'a> {
    feed: &'a Feed,
    key: u64,
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.feed.streams.lock().remove(&self.key);
    }
}

impl Feed {
    pub(crate) fn opened(&self, session: &Arc<Session>) {
        self.sessions.lock().insert(session.id.clone(), session.clone());
    }

    pub(crate) fn closed(&self, session: &Arc<Session>) {
        self.sessions.lock().remove(&session.id);
    }

    /// Opens a stream, unless there are too many. `acknowledge` sends its first message.
    pub(crate) fn listen(
        &self,
        id: Raw,
        filter: SubscriptionFilter,
        remote: Arc<dyn Remote>,
        acknowledge: impl FnOnce(),
    ) -> Option<Listening<'_>> {
        let mut streams = self.streams.lock();
        if streams.len() >= MAX_STREAMS {
            return None;
        }
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        // Under the lock, so that the acknowledgement is the first message of the stream.
        acknowledge();
        streams.insert(key, Stream { id, filter, remote });
        Some(Listening { feed: self, key })
    }

    /// Tells everyone who wants to hear of it.
    pub(crate) fn publish(&self, change: &Change) {
        let (method, params) = change.notice();
        let sessions: Vec<_> = self.sessions.lock().values().cloned().collect();
        for session in sessions {
            let wanted = session.existing_state::<SessionState>().is_some_and(|state| state.wants(change));
            if wanted && session.remote().notify(Notification::new(method, params.clone())).is_err() {
                tracing::debug!(session = %session.id, method, "a notice was dropped");
            }
        }
        for stream in self.streams.lock().values().filter(|stream| change.fits(&stream.filter)) {
            let tagged = tag(params.as_ref(), &stream.id);
            if stream.remote.notify(Notification::new(method, Some(tagged))).is_err() {
                tracing::debug!(stream = stream.id.as_str(), method, "a notice was dropped");
            }
        }
    }
}

/// Adds the id of the stream to the parameters of a notice.
pub(crate) fn tag(params: Option<&Raw>, id: &Raw) -> Raw {
    Edit::of_optional(params)
        .and_then(|edit| edit.within("_meta", |meta| meta.set(meta::SUBSCRIPTION_ID, id.clone())))
        // The parameters are our own: an object without a `_meta` that could be anything else.
        .map_or_else(|_| Raw::empty_object(), Edit::finish)
}

impl Change {
    fn notice(&self) -> (&'static str, Option<Raw>) {
        match self {
            Self::Tools => (method::TOOLS_LIST_CHANGED, None),
            Self::Prompts => (method::PROMPTS_LIST_CHANGED, None),
            Self::Resources => (method::RESOURCES_LIST_CHANGED, None),
            Self::Resource(uri) => {
                (method::RESOURCES_UPDATED, Some(Edit::empty().set("uri", Raw::string(uri)).finish()))
            }
            Self::Task(_, state) => (method::TASKS_CHANGED, Some(state.clone())),
        }
    }

    fn fits(&self, filter: &SubscriptionFilter) -> bool {
        let has = |list: &Option<Vec<String>>, wanted: &String| list.as_ref().is_some_and(|list| list.contains(wanted));
        match self {
            Self::Tools => filter.tools_list_changed == Some(true),
            Self::Prompts => filter.prompts_list_changed == Some(true),
            Self::Resources => filter.resources_list_changed == Some(true),
            Self::Resource(uri) => has(&filter.resource_subscriptions, uri),
            Self::Task(id, _) => has(&filter.task_ids, id),
        }
    }
}
