//! The memory as an MCP server: which space a call is about, the answer with its pulse, resources, prompts, dreams beside calls.
//!
//! Everything a tool does is in [`tools`](crate::tools); here is only how it is called.

mod answer;
mod bell;
mod everyday;
mod listing;
mod prompts;
mod resources;
mod room;
mod spaces;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use switchboard_sdk::mgp::{Extension, method};
use switchboard_sdk::{BuildError, Ctx, Error, Raw, Server};
use tokio_util::sync::CancellationToken;

use crate::embedders::{Embedders, TextEmbedding};
use crate::engine::{Comparing, Pulse, Space, SpaceEvent, cancelled};
use crate::error::{Code, Outcome, Problem};
use crate::store::{Answered, Stores};
use crate::tools::args::Args;
use crate::tools::{self, Spec, ToolCall, aliases};
use bell::{Bell, Chime};
use room::{Aborted, Room};

pub use bell::CHANNELS;
pub use everyday::ToolExposure;
pub use spaces::{Principals, SpaceSharing};

/// Spaces that may be open at once.
const SPACES: usize = 64;
/// How long a part of something long may hold a space.
const SLICE: Duration = Duration::from_millis(10);
/// How often what was changed by the way is written, and the need of a dream looked at.
const HOUSEKEEPING: Duration = Duration::from_secs(1);
const INSTRUCTIONS: &str = "A memory that lasts. Store what is worth keeping with inject_context (say why) or store_memory; find it again with \
search_graph in plain language; correct it with update_memory, take it out with forget_memory. Tell with update_synergy_matrix whether a result was right. trigger_dream tidies up; every answer carries \
_cognitive_pulse with what to do next.";

/// How a memory server behaves.
#[derive(Clone)]
pub struct MemoryOptions {
    /// Where memories are kept.
    pub stores: Arc<dyn Stores>,
    /// What turns text into vectors of meaning.
    pub embedding: Arc<dyn TextEmbedding>,
    /// The name of the space that is used where none is named.
    pub default_space: String,
    /// Which space a caller gets.
    pub sharing: SpaceSharing,
    /// Where chance begins; `None` for a seed of the operating system.
    pub seed: Option<u64>,
    /// What time it is, in milliseconds since 1970.
    pub clock: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Whether the memory dreams by itself when it is idle.
    pub dreams: bool,
    /// Which tools clients are shown. All can be called.
    pub shown: ToolExposure,
}

impl MemoryOptions {
    /// The usual: one shared space, the static table, the clock of the machine.
    #[must_use]
    pub fn new(stores: Arc<dyn Stores>) -> Self {
        Self {
            stores,
            embedding: Arc::new(crate::embedders::StaticTable),
            default_space: "default".to_owned(),
            sharing: SpaceSharing::Shared,
            seed: None,
            clock: Arc::new(machine_time),
            dreams: true,
            shown: ToolExposure::default(),
        }
    }
}

impl fmt::Debug for MemoryOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("space", &self.default_space)
            .field("sharing", &self.sharing)
            .finish_non_exhaustive()
    }
}

/// The only place of this crate that reads a wall clock.
fn machine_time() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Why a memory server cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The table of aliases contradicts itself.
    #[error(transparent)]
    Alias(#[from] aliases::Collision),
    /// The server cannot offer something.
    #[error("the memory server cannot be built")]
    Build(#[from] BuildError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] Problem),
}

/// How often tools were called by which kind of name.
#[derive(Debug, Default)]
struct Usage {
    canonical: AtomicU64,
    alias: AtomicU64,
    unknown: AtomicU64,
}

struct Inner {
    options: MemoryOptions,
    embedders: Embedders,
    specs: HashMap<&'static str, Spec>,
    rooms: Mutex<HashMap<String, Arc<Room>>>,
    bell: Arc<Bell>,
    usage: Usage,
    closing: CancellationToken,
}

/// A memory server. Cheap to clone.
#[derive(Clone)]
pub struct MemoryServer(Arc<Inner>);

impl fmt::Debug for MemoryServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryServer").field("options", &self.0.options).finish_non_exhaustive()
    }
}

/// Who calls, and about what.
#[derive(Debug, Clone, Default)]
pub struct MemoryCaller {
    /// Who it is.
    pub principal: String,
    /// The space, if one is named.
    pub space: Option<String>,
    /// The key under which the answer is kept.
    pub idempotency_key: Option<String>,
}

/// What a call came to.
#[derive(Debug, Clone)]
pub struct MemoryAnswer {
    /// The answer of the tool.
    pub outcome: Outcome<Value>,
    /// The pulse; `None` if the space could not be opened.
    pub pulse: Option<Pulse>,
    /// When the answer was first given, if this is a repetition.
    pub replayed: Option<u64>,
    /// What happened by the way.
    pub events: Vec<SpaceEvent>,
}

impl MemoryServer {
    /// A memory server. The table of aliases is checked.
    ///
    /// # Errors
    /// Aliases collide.
    pub fn new(options: MemoryOptions) -> Result<Self, StartError> {
        let specs = tools::all();
        let names: BTreeSet<&str> = specs.iter().map(|spec| spec.name).collect();
        aliases::check(&aliases::ALIASES, &names)?;
        let embedders = Embedders::new(options.embedding.clone());
        Ok(Self(Arc::new(Inner {
            options,
            embedders,
            specs: specs.into_iter().map(|spec| (spec.name, spec)).collect(),
            rooms: Mutex::default(),
            bell: Arc::default(),
            usage: Usage::default(),
            closing: CancellationToken::new(),
        })))
    }

    /// The server that clients speak with.
    ///
    /// # Errors
    /// Something cannot be offered.
    pub fn server(&self) -> Result<Server, StartError> {
        let mut builder = Server::builder("contextgraph", env!("CARGO_PKG_VERSION"))
            .title("ContextGraph")
            .description("A memory that learns, forgets and dreams")
            .instructions(INSTRUCTIONS);
        match self.0.options.shown {
            ToolExposure::All => {
                for spec in tools::all() {
                    builder = builder.tool(listing::tool(self, &spec));
                }
            }
            ToolExposure::Everyday => builder = everyday::offered(self, builder),
        }
        let unlisted = self.clone();
        builder = builder.unlisted_tool(move |ctx, name, arguments| {
            let server = unlisted.clone();
            async move { server.answer_named(&ctx, &name, arguments).await }
        });
        let undo = self.clone();
        builder = builder.method("contextgraph/undo", move |ctx, params| {
            let server = undo.clone();
            async move { server.answer_undo(&ctx, params).await }
        });
        let (subscribe, unsubscribe) = (self.clone(), self.clone());
        builder = builder
            .mgp(&[Extension::Events])
            .method(method::EVENTS_SUBSCRIBE, move |ctx, params| std::future::ready(subscribe.subscribe(&ctx, &params)))
            .method(method::EVENTS_UNSUBSCRIBE, move |ctx, params| {
                std::future::ready(unsubscribe.unsubscribe(&ctx, &params))
            });
        builder = resources::offered(self, builder);
        builder = prompts::offered(self, builder);
        Ok(builder.build()?)
    }

    /// Begins to look after the spaces: writes what was changed by the way, and dreams when it is time. Ends with
    /// [`Self::close`].
    pub fn look_after(&self) {
        let server = self.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = server.0.closing.cancelled() => return,
                    () = tokio::time::sleep(HOUSEKEEPING) => {}
                }
                let rooms = server.open_rooms();
                let (now, dreams) = (server.now(), server.0.options.dreams);
                let work = tokio::task::spawn_blocking(move || {
                    rooms.iter().filter_map(Weak::upgrade).for_each(|room| room.look_after(now, dreams));
                });
                if work.await.is_err() {
                    tracing::warn!("looking after the memory failed unexpectedly");
                }
            }
        });
    }

    /// The rooms that are open, to be held one by one: one that only waits for its turn must be free to be closed for another.
    fn open_rooms(&self) -> Vec<Weak<Room>> {
        self.0.rooms.lock().values().map(Arc::downgrade).collect()
    }

    /// Ends dreams and writes everything that is not written yet.
    pub async fn close(&self) {
        self.0.closing.cancel();
        let rooms: Vec<Arc<Room>> = self.0.rooms.lock().drain().map(|(_, room)| room).collect();
        let work = tokio::task::spawn_blocking(move || {
            for room in rooms {
                room.close();
            }
        });
        if work.await.is_err() {
            tracing::warn!("the memory was not closed properly");
        }
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> u64 {
        (self.0.options.clock)()
    }

    /// Calls by a canonical name, by an alias, and by a name that is none.
    #[must_use]
    pub fn usage(&self) -> (u64, u64, u64) {
        let usage = &self.0.usage;
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (load(&usage.canonical), load(&usage.alias), load(&usage.unknown))
    }

    /// The space that a caller gets.
    fn space_name(&self, caller: &MemoryCaller) -> Outcome<String> {
        self.0.options.sharing.space_of(&self.0.options.default_space, &caller.principal, caller.space.as_deref())
    }

    /// Lets what is stored of a space's state and cannot be read begin anew. What that was.
    ///
    /// # Errors
    /// The store failed.
    pub fn renew(&self, caller: &MemoryCaller) -> Outcome<Vec<&'static str>> {
        self.with_space(caller, |space, _| Ok(space.mind.renew()))
    }

    /// The names of all spaces that hold something.
    ///
    /// # Errors
    /// The store failed.
    pub fn spaces(&self) -> Outcome<Vec<String>> {
        self.0.options.stores.spaces()
    }

    /// Who only reads gets no space that is not there: it was misspelt. A caller's own, the default and those that the
    /// configuration names always are.
    fn exists_to_read(&self, caller: &MemoryCaller, reads: bool) -> Outcome<()> {
        let (name, own) = (self.space_name(caller)?, self.space_name(&MemoryCaller { space: None, ..caller.clone() })?);
        if !reads || name == own || self.0.options.sharing.names(&name) || self.0.rooms.lock().contains_key(&name) {
            return Ok(());
        }
        if self.spaces()?.contains(&name) {
            return Ok(());
        }
        let message = format!("there is no space {name:?} yet: the first memory that is stored in it makes it");
        Err(Problem::new(Code::InvalidParams, "SPACE_NOT_FOUND", message))
    }

    /// The room of the space that a caller gets.
    fn room_of(&self, caller: &MemoryCaller) -> Outcome<Arc<Room>> {
        let name = self.space_name(caller)?;
        let room = self.room(&name)?;
        if room.chime.belongs_to.get().is_none() && self.0.options.sharing.is_own(&caller.principal, &name) {
            let _ = room.chime.belongs_to.set(caller.principal.clone());
        }
        Ok(room)
    }

    fn room(&self, name: &str) -> Outcome<Arc<Room>> {
        let mut rooms = self.0.rooms.lock();
        if let Some(room) = rooms.get(name) {
            room.entered(self.now());
            return Ok(room.clone());
        }
        let mut left = None;
        if rooms.len() >= SPACES {
            // Of those that nobody holds the one that was not used for longest is closed for the new one.
            let idle = rooms
                .iter()
                .filter(|(_, room)| Arc::strong_count(room) == 1 && !room.is_dreaming())
                .min_by_key(|(_, room)| room.last_entered())
                .map(|(name, _)| name.clone());
            left = idle.and_then(|name| rooms.remove(&name));
            match left {
                Some(_) => {}
                None => {
                    let message = format!("{SPACES} spaces are in use: try again later");
                    return Err(Problem::new(Code::Storage, "TOO_MANY_SPACES", message));
                }
            }
        }
        let storage = self.0.options.stores.open(name)?;
        let seed = match self.0.options.seed {
            Some(seed) => seed,
            None => getrandom::u64().map_err(|error| Problem::storage(format!("no randomness: {error}")))?,
        };
        let space = Space::open(name, storage, self.0.embedders.clone(), seed, self.now())?;
        let chime = Chime {
            bell: self.0.bell.clone(),
            sharing: self.0.options.sharing.clone(),
            default_space: self.0.options.default_space.clone(),
            space: name.to_owned(),
            belongs_to: OnceLock::new(),
        };
        let room = Room::new(space, chime, self.0.options.clock.clone());
        room.entered(self.now());
        rooms.insert(name.to_owned(), room.clone());
        drop(rooms);
        // What is written at the end keeps nobody from the other spaces.
        left.iter().for_each(|room| room.close());
        Ok(room)
    }

    /// Calls a tool from inside, without a connection. Blocks.
    #[must_use]
    pub fn call(&self, caller: &MemoryCaller, name: &str, arguments: &Map<String, Value>) -> MemoryAnswer {
        self.call_with(caller, name, arguments, &|| false, &|_, _| {})
    }

    /// As [`Self::call`]; `stopped` says whether the caller has given up, `progress` is told how far it is.
    #[must_use]
    pub fn call_with(
        &self,
        caller: &MemoryCaller,
        name: &str,
        arguments: &Map<String, Value>,
        stopped: &dyn Fn() -> bool,
        progress: &dyn Fn(f64, f64),
    ) -> MemoryAnswer {
        let canonical = aliases::resolve(name);
        let usage = &self.0.usage;
        if canonical == name {
            usage.canonical.fetch_add(1, Ordering::Relaxed);
        } else {
            usage.alias.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(alias = name, canonical, "Resolved tool alias to canonical name");
        }
        // A space that cannot be had has no pulse; the caller's own has.
        let own = caller.clone();
        let nothing = |problem: Problem| {
            let room = self.room_of(&MemoryCaller { space: None, ..own }).ok();
            let pulse = room.map(|room| room.space.lock().pulse());
            MemoryAnswer { outcome: Err(problem), pulse, replayed: None, events: Vec::new() }
        };
        let mut caller = caller.clone();
        if let Some(space) = arguments.get("space").and_then(Value::as_str) {
            caller.space = Some(space.to_owned());
        }
        let reads = self.0.specs.get(canonical).is_none_or(|spec| !spec.writes());
        let room = match self.exists_to_read(&caller, reads).and_then(|()| self.room_of(&caller)) {
            Ok(room) => room,
            Err(problem) => return nothing(problem),
        };
        let Some(spec) = self.0.specs.get(canonical) else {
            usage.unknown.fetch_add(1, Ordering::Relaxed);
            let problem = Problem::new(Code::ToolNotFound, "TOOL_NOT_FOUND", format!("Unknown tool: {name}"));
            let pulse = Some(room.space.lock().pulse());
            return MemoryAnswer { outcome: Err(problem), pulse, replayed: None, events: Vec::new() };
        };
        self.run(&room, spec, &caller, arguments, stopped, progress)
    }

    fn run(
        &self,
        room: &Arc<Room>,
        spec: &Spec,
        caller: &MemoryCaller,
        arguments: &Map<String, Value>,
        stopped: &dyn Fn() -> bool,
        progress: &dyn Fn(f64, f64),
    ) -> MemoryAnswer {
        let began = Instant::now();
        let args = match Args::check(&spec.params, arguments) {
            Ok(args) => args,
            Err(problem) => {
                let pulse = Some(room.space.lock().pulse());
                return MemoryAnswer { outcome: Err(problem), pulse, replayed: None, events: Vec::new() };
            }
        };
        // Whoever ends a dream must not hold the space that the dream works on.
        let aborted = (spec.name == "abort_dream").then(|| Aborted::of(room));
        let dream: &dyn tools::DreamView = match &aborted {
            Some(aborted) => aborted,
            None => &**room,
        };
        let elapsed = || u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let now = self.now();
        let compares = spec.name == "trigger_consolidation" && args.maybe_id("undo").is_none();
        let compared = if compares { Some(Self::compare(room, &args, now, stopped, progress)) } else { None };
        let mut compared = match compared.transpose() {
            Ok(compared) => compared,
            Err(problem) => {
                let pulse = Some(room.space.lock().pulse());
                return MemoryAnswer { outcome: Err(problem), pulse, replayed: None, events: Vec::new() };
            }
        };
        // What would be done is only looked at.
        let writes = spec.writes() && !(compares && args.flag("dry_run"));
        let mut space = room.space.lock();
        let mut replayed = None;
        let work = |space: &mut Space| -> Outcome<Value> {
            spec.needs().map_or(Ok(()), |doc| space.mind.has(doc))?;
            let key = caller.idempotency_key.as_deref().filter(|_| writes);
            let digest = key.map(|_| call_digest(spec.name, arguments));
            if let (Some(key), Some(digest)) = (key, &digest)
                && let Some(known) = space.answered(key)?
            {
                if known.call != *digest {
                    let message = "this idempotency key was used for another call: use a new one";
                    return Err(Problem::new(Code::InvalidParams, "IDEMPOTENCY_CONFLICT", message));
                }
                replayed = Some(known.at);
                return serde_json::from_str(&known.answer).map_err(Problem::storage);
            }
            let mut call = ToolCall {
                space,
                args: &args,
                now,
                agent: &caller.principal,
                is_owner: self.0.options.sharing.is_owner(&caller.principal),
                elapsed_ms: &elapsed,
                stopped,
                progress,
                dream,
                compared: compared.take(),
            };
            let value = (spec.run)(&mut call)?;
            if let (Some(key), Some(digest)) = (key, digest) {
                space.keep_answer(Answered { key: key.to_owned(), call: digest, answer: value.to_string(), at: now });
            }
            Ok(value)
        };
        let mut outcome = if writes { space.write(now, work) } else { space.read(now, work) };
        if let (tools::Class::Erase, Ok(value)) = (spec.class, &mut outcome) {
            value["scrubbed"] = space.is_scrubbed().into();
        }
        let pulse = Some(space.pulse());
        let mut events = space.take_events();
        drop(space);
        room.chime.ring(&events, now);
        events.extend(room.take_late());
        // What was asked for under the lock begins after it; what failed does not begin.
        room.start_if_requested(outcome.is_ok());
        MemoryAnswer { outcome, pulse, replayed, events }
    }

    /// Compares for a consolidation, in slices: other calls get in between.
    fn compare(
        room: &Arc<Room>,
        args: &Args,
        now: u64,
        stopped: &dyn Fn() -> bool,
        progress: &dyn Fn(f64, f64),
    ) -> Outcome<Comparing> {
        let mut comparing = room.space.lock().look(now, |space| Ok(tools::comparing(space, args)))?;
        loop {
            if stopped() {
                return Err(cancelled());
            }
            let (at, all) = comparing.progress();
            progress(at as f64, all.max(1) as f64);
            let began = Instant::now();
            let mut space = room.space.lock();
            let done = space.look(now, |space| space.compare_on(&mut comparing, &|| began.elapsed() > SLICE));
            parking_lot::MutexGuard::unlock_fair(space);
            if done? {
                return Ok(comparing);
            }
        }
    }

    /// Memories that fit a text, as texts: what a hook puts before a model.
    ///
    /// # Errors
    /// The store failed.
    pub fn recall(&self, caller: &MemoryCaller, query: &str, most: usize) -> Outcome<Vec<(crate::Id, f64, String)>> {
        let room = self.room_of(caller)?;
        let mut space = room.space.lock();
        let now = self.now();
        space.read(now, |space| {
            let filter = crate::engine::MemoryFilter::default();
            let search = crate::engine::MemorySearch { query, most, least: 0.0, filter, walk: true };
            let (_, hits) = space.search(&search, now)?;
            let ids: Vec<crate::Id> = hits.iter().map(|hit| hit.id).collect();
            let mut texts = space.texts(&ids)?;
            Ok(hits.iter().filter_map(|hit| Some((hit.id, hit.similarity, texts.remove(&hit.id)?))).collect())
        })
    }

    /// Memories that were marked as reminders, newest first.
    ///
    /// # Errors
    /// The store failed.
    pub fn reminders(&self, caller: &MemoryCaller, most: usize) -> Outcome<Vec<(crate::Id, String)>> {
        let room = self.room_of(caller)?;
        let mut space = room.space.lock();
        let now = self.now();
        space.read(now, |space| {
            let marked = |memory: &crate::graph::Memory| memory.tags.iter().any(|tag| tag == "reminder");
            let ids: Vec<crate::Id> = space
                .graph
                .memories()
                .rev()
                .map(|(_, memory)| memory)
                .filter(|memory| marked(memory))
                .map(|memory| memory.id)
                .take(most)
                .collect();
            let mut texts = space.texts(&ids)?;
            Ok(ids.into_iter().filter_map(|id| Some((id, texts.remove(&id)?))).collect())
        })
    }

    /// Runs something on a space, outside of any tool: for export, import and undoing.
    ///
    /// # Errors
    /// Whatever it fails with.
    pub fn with_space<T>(&self, caller: &MemoryCaller, work: impl FnOnce(&mut Space, u64) -> Outcome<T>) -> Outcome<T> {
        let room = self.room_of(caller)?;
        let mut space = room.space.lock();
        let now = self.now();
        let outcome = space.write(now, |space| work(space, now));
        let events = space.take_events();
        drop(space);
        room.chime.ring(&events, now);
        outcome
    }
}

impl MemoryServer {
    /// Runs something on a space that changes nothing of it.
    ///
    /// # Errors
    /// Whatever it fails with.
    pub fn read_space<T>(&self, caller: &MemoryCaller, work: impl FnOnce(&mut Space) -> Outcome<T>) -> Outcome<T> {
        let room = self.room_of(caller)?;
        let mut space = room.space.lock();
        space.read(self.now(), work)
    }
}

fn call_digest(tool: &str, arguments: &Map<String, Value>) -> String {
    let text = format!("{tool} {}", Value::Object(arguments.clone()));
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl MemoryServer {
    async fn answer_undo(&self, ctx: &Ctx, params: Raw) -> Result<Raw, Error> {
        let value: Value = params.view()?;
        let record = value["operation"].as_str().and_then(|text| text.parse().ok());
        let record =
            record.ok_or_else(|| Error::invalid_params("`operation` is the id that an answer gave as `undo`"))?;
        let (server, caller) = (self.clone(), answer::caller(ctx));
        let work = move || {
            let done = server.with_space(&caller, |space, now| space.undo(record, now));
            done.map_err(|problem| (problem, server.room_of(&caller).ok().map(|room| room.space.lock().pulse())))
        };
        let done = tokio::task::spawn_blocking(work)
            .await?
            .map_err(|(problem, pulse)| answer::error(&problem, pulse.as_ref()))?;
        Ok(Raw::from_value(&json!({"done": done}))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteStores;

    /// Looking after 64 spaces takes a while; until it was over there was no room for another one.
    #[test]
    fn looking_after_spaces_keeps_no_other_out() {
        let folder = tempfile::tempdir().unwrap();
        let stores = Arc::new(SqliteStores::open(&folder.path().join("memory.db")).unwrap());
        let server = MemoryServer::new(MemoryOptions { dreams: false, ..MemoryOptions::new(stores) }).unwrap();
        (0..SPACES).for_each(|at| drop(server.room(&format!("s{at}")).unwrap()));
        let waiting = server.open_rooms();
        server.room("another").unwrap();
        assert_eq!(waiting.iter().filter(|room| room.upgrade().is_none()).count(), 1);
        let held: Vec<Arc<Room>> = server.open_rooms().iter().filter_map(Weak::upgrade).collect();
        assert_eq!(server.room("one more").err().map(|problem| problem.kind), Some("TOO_MANY_SPACES"));
        drop(held);
    }
}
