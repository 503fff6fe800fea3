//! What was granted, in memory and never far behind the store.
//!
//! The store says by a number whether something changed. It is asked at most every [`FRESH`], on the way of a call: a
//! decision never rests on anything older. Who revokes waits [`SETTLED`] before saying that it is done, so that no
//! later call passes, in this process or in another one on the same store.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use jiff::Timestamp;
use serde_json::value::RawValue;
use switchboard_policy::access::{Access, AccessTable, Rule};
use switchboard_policy::permission::{self, Decided, Decision, Scope};
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_store::{AccessEntry, Permission, PermissionDecision, ServerPermission, Snapshot, Store};
use switchboard_wire::{Limits, Raw};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How old the tables may be that a decision rests on.
const FRESH: Duration = Duration::from_millis(200);
/// After this long, whatever was revoked is revoked everywhere.
pub const SETTLED: Duration = Duration::from_millis(250);
/// Who took back what was agreed to under a grant that has ended by itself.
pub const EXPIRED: &str = "expired grant";
/// How often the latest time ever seen is written down.
const CLOCK: Duration = Duration::from_secs(10);

/// Everything that was granted, at one moment.
#[derive(Debug, Default)]
pub struct Tables {
    /// Grows with every change.
    pub revision: u64,
    /// Who may use what.
    pub access: AccessTable,
    /// The entries behind the rules of `access`, in the same order.
    pub entries: Vec<AccessEntry>,
    /// What narrows each of them, in the same order.
    limits: Vec<Option<Scope>>,
    /// Whether any of it ends by itself.
    pub anything_expires: bool,
    permissions: HashMap<String, Vec<Decided>>,
    /// The same as they are kept, with who decided.
    decisions: Vec<ServerPermission>,
}

impl Tables {
    fn of(snapshot: Snapshot) -> Self {
        let mut permissions: HashMap<String, Vec<Decided>> = HashMap::new();
        for permission in &snapshot.permissions {
            permissions.entry(permission.server.clone()).or_default().push(decided(permission));
        }
        let expires = snapshot.access.iter().map(|entry| entry.expires_at);
        let expires = expires.chain(snapshot.permissions.iter().map(|permission| permission.expires_at));
        let anything_expires = expires.into_iter().any(|end| end.is_some());
        Self {
            anything_expires,
            revision: snapshot.revision,
            access: access_table(&snapshot.access),
            limits: snapshot
                .access
                .iter()
                .map(|entry| limits_of(entry.scopes.as_deref()).unwrap_or_default())
                .collect(),
            entries: snapshot.access,
            permissions,
            decisions: snapshot.permissions,
        }
    }

    /// What narrows the grant that decided, if anything does.
    pub fn limits(&self, access: &Access) -> Option<&Scope> {
        self.limits.get(access.rule?)?.as_ref()
    }

    /// Whether a grant that covers a tool has ended since `given`: what was agreed to under it ended with it.
    pub fn grant_ended_since(&self, whose: (&str, &str, &str), given: Timestamp, now: Timestamp) -> bool {
        self.anything_expires && ended_between(&self.entries, given, now).any(|entry| covers(entry, whose))
    }

    /// Whether any grant has ended since some moment.
    pub fn has_ended_since(&self, since: Timestamp, now: Timestamp) -> bool {
        self.anything_expires && ended_between(&self.entries, since, now).next().is_some()
    }

    /// What a person decided about a permission of a server, as it is kept.
    pub fn decision(&self, server: &str, permission: &str) -> Option<&ServerPermission> {
        let same = |word: &str| {
            word == permission || permission::name::read(word).is_ok_and(|known| known.canonical == permission)
        };
        let about = |one: &&ServerPermission| one.server == server && same(&one.permission);
        self.decisions.iter().filter(about).rfind(|one| one.decision != PermissionDecision::Deferred)
    }

    /// What was decided about the permissions of a server.
    pub fn permissions(&self, server: &str) -> &[Decided] {
        self.permissions.get(server).map_or(&[], Vec::as_slice)
    }
}

/// Grants that ended by themselves after `since`, up to now.
fn ended_between(entries: &[AccessEntry], since: Timestamp, now: Timestamp) -> impl Iterator<Item = &AccessEntry> {
    let has_ended = move |entry: &&AccessEntry| {
        entry.permission == Permission::Allow && entry.expires_at.is_some_and(|end| since < end && end <= now)
    };
    entries.iter().filter(has_ended)
}

/// Whether an entry is about this principal, server and tool.
fn covers(entry: &AccessEntry, (principal, server, tool): (&str, &str, &str)) -> bool {
    entry.principal == principal && entry.server == server && entry.tool.as_deref().is_none_or(|own| own == tool)
}

/// The rules of stored entries, in the same order.
pub fn access_table(entries: &[AccessEntry]) -> AccessTable {
    let rule = |entry: &AccessEntry| Rule {
        principal: entry.principal.clone(),
        server: entry.server.clone(),
        tool: entry.tool.clone(),
        // Limits that cannot be read must not become none.
        allow: entry.permission == Permission::Allow && limits_of(entry.scopes.as_deref()).is_ok(),
        expires_at: entry.expires_at,
    };
    AccessTable::new(entries.iter().map(rule).collect())
}

/// The limits of a grant.
///
/// # Errors
/// They are not understood.
fn limits_of(scopes: Option<&RawValue>) -> Result<Option<Scope>, ()> {
    let Some(scopes) = scopes else { return Ok(None) };
    let raw = Raw::parse(scopes.get().to_owned(), &Limits::default()).map_err(|_| ())?;
    Scope::read(&raw).map(Some).map_err(|_| ())
}

fn decided(permission: &ServerPermission) -> Decided {
    let decision = match permission.decision {
        PermissionDecision::Approved => Decision::Approved,
        PermissionDecision::Denied => Decision::Denied,
        PermissionDecision::Deferred => Decision::Deferred,
    };
    // A scope that cannot be read must not become none.
    let (decision, scope) = match limits_of(permission.scopes.as_deref()) {
        Ok(scope) => (decision, scope),
        Err(()) => (Decision::Denied, None),
    };
    Decided { permission: permission.permission.clone(), decision, scope, expires_at: permission.expires_at }
}

/// The tables and how they are kept.
pub struct GrantCache {
    store: Option<Store>,
    tables: ArcSwap<Tables>,
    began: Instant,
    /// Milliseconds from the beginning to the last look at the store, plus one; 0 before the first.
    looked: AtomicU64,
    /// The same for the clock.
    clocked: AtomicU64,
    /// The latest time ever seen, in microseconds: a clock that goes back revives nothing.
    latest: AtomicU64,
    /// The store could be read and written when that was last tried.
    usable: AtomicBool,
    looking: Mutex<()>,
}

impl std::fmt::Debug for GrantCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GrantCache").field("tables", &self.tables.load()).finish_non_exhaustive()
    }
}

impl GrantCache {
    pub(crate) fn new(store: Option<Store>) -> Self {
        Self {
            store,
            tables: ArcSwap::default(),
            began: Instant::now(),
            looked: AtomicU64::new(0),
            clocked: AtomicU64::new(0),
            latest: AtomicU64::new(0),
            usable: AtomicBool::new(true),
            looking: Mutex::new(()),
        }
    }

    /// The tables as they were last read, however long ago: for what cannot wait.
    pub fn latest(&self) -> Arc<Tables> {
        self.tables.load_full()
    }

    /// The tables, if they are fresh.
    pub fn now(&self) -> Option<Arc<Tables>> {
        let fresh = self.store.is_none() || self.age(&self.looked).is_some_and(|age| age < FRESH);
        fresh.then(|| self.tables.load_full())
    }

    /// The tables, read again if they are not fresh. Second, whether they changed by that.
    ///
    /// # Errors
    /// The store cannot be read: nothing can be decided.
    pub(crate) async fn fresh(&self) -> Result<(Arc<Tables>, bool), Fault> {
        if let Some(tables) = self.now() {
            return Ok((tables, false));
        }
        let _alone = self.looking.lock().await;
        match self.now() {
            Some(tables) => Ok((tables, false)),
            None => self.look().await,
        }
    }

    /// Reads the tables again, fresh or not.
    pub async fn again(&self) -> Result<bool, Fault> {
        let _alone = self.looking.lock().await;
        Ok(self.look().await?.1)
    }

    async fn look(&self) -> Result<(Arc<Tables>, bool), Fault> {
        let Some(store) = &self.store else { return Ok((self.tables.load_full(), false)) };
        let looked = self.stamp();
        let unreadable = |error| Fault::new(FaultKind::ResourceExhausted, "grants cannot be read").with_source(error);
        let revision = store.grants().revision().await.map_err(unreadable)?;
        let before = self.tables.load_full();
        let first = self.looked.load(Ordering::Acquire) == 0;
        if first {
            let latest = store.remembered_time().await.map_err(unreadable)?;
            self.note_time(latest.unwrap_or(Timestamp::UNIX_EPOCH));
        } else if revision < before.revision {
            // What was revoked since would be granted again.
            return Err(Fault::new(FaultKind::ResourceExhausted, "grants cannot be read: the database fell back")
                .suggest("it is older than what this kernel knows: put the right one back, or start anew on it"));
        }
        let changed = first || before.revision != revision;
        if changed {
            let snapshot = store.grants().load().await.map_err(unreadable)?;
            self.tables.store(Arc::new(Tables::of(snapshot)));
        }
        self.looked.store(looked, Ordering::Release);
        Ok((self.tables.load_full(), changed && !first))
    }

    /// Looks whether the store can be read and written, and writes the latest time down where that is due. Not on the way
    /// of a call: a store that is locked would hold up all of them.
    pub async fn look_after_store(&self) {
        let Some(store) = &self.store else { return };
        if store.grants().revision().await.is_err() {
            return self.usable.store(false, Ordering::Relaxed);
        }
        let due = self.age(&self.clocked).is_none_or(|age| age >= CLOCK);
        if !due && self.usable.load(Ordering::Relaxed) {
            return;
        }
        let written = store.latest_time(self.time()).await;
        if let Ok(latest) = written {
            self.note_time(latest);
            self.clocked.store(self.stamp(), Ordering::Release);
        }
        self.usable.store(written.is_ok(), Ordering::Relaxed);
    }

    /// Whether the store could be read and written when that was last tried.
    pub fn store_is_usable(&self) -> bool {
        self.usable.load(Ordering::Relaxed)
    }

    fn note_time(&self, latest: Timestamp) {
        self.latest.fetch_max(u64::try_from(latest.as_microsecond()).unwrap_or(0), Ordering::AcqRel);
    }

    /// The present time, which never goes back.
    pub fn time(&self) -> Timestamp {
        let now = Timestamp::now();
        let micros = u64::try_from(now.as_microsecond()).unwrap_or(0);
        let latest = self.latest.fetch_max(micros, Ordering::AcqRel);
        if latest <= micros {
            return now;
        }
        i64::try_from(latest).ok().and_then(|micros| Timestamp::from_microsecond(micros).ok()).unwrap_or(now)
    }

    fn stamp(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1
    }

    fn age(&self, stamp: &AtomicU64) -> Option<Duration> {
        match stamp.load(Ordering::Acquire) {
            0 => None,
            stamp => Some(Duration::from_millis(self.stamp().saturating_sub(stamp))),
        }
    }
}
