//! The tokens that are good at this moment, in memory, so that letting somebody in costs one look into a table.
//!
//! The store is asked twice a second whether a token was issued or revoked, by whichever process; a revocation is
//! effective here after [`REVOCATION_DELAY`] at the latest, and ends the streams that the token holds open. While the store cannot
//! be asked, what was known last counts, but not for longer than half a minute: then nobody is let in, and who comes is told
//! to come again, not that the token is wrong. Tokens that expired stay so when the clock goes back.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use parking_lot::RwLock;
use subtle::ConstantTimeEq as _;
use switchboard_protocol::fault::error_chain;
use switchboard_store::{Digest, Store, StoreError, Token};
use switchboard_transport::http_server::{Authenticator, Checked, Identity, Method, Principal, Scopes};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::IdentityError;

/// How often the store is asked for changes.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// After this long, what was issued or revoked elsewhere is known here.
pub const REVOCATION_DELAY: Duration = Duration::from_millis(700);
/// How long tokens are believed in without asking.
const MAX_STALENESS: Duration = Duration::from_secs(30);
/// How often the time of the last use is written down. The first use of a token is written at the next look: that it was
/// used at all is known at once.
const LAST_USE_INTERVAL: Duration = Duration::from_secs(60);

/// The tokens that are good.
pub struct TokenCache {
    store: Store,
    table: RwLock<TokenTable>,
    /// The latest time ever seen, in microseconds.
    latest: AtomicI64,
}

struct TokenTable {
    revision: u64,
    /// When the store was last asked.
    asked: Instant,
    tokens: HashMap<Digest, Entry>,
    /// Those whose time was over when the store was read: who shows one is told so.
    expired: HashSet<Digest>,
}

struct Entry {
    principal: Principal,
    expires_at: Option<Timestamp>,
    /// Milliseconds since 1970 of a use that was not written down yet; 0 for none.
    used: AtomicI64,
    /// Whether the store knows of any use.
    known_used: AtomicBool,
}

/// Which uses are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Uses {
    /// Those of tokens that the store takes for unused.
    First,
    All,
}

impl TokenCache {
    /// Reads the tokens.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn open(store: Store) -> Result<Arc<Self>, IdentityError> {
        let table = TokenTable { revision: 0, asked: Instant::now(), tokens: HashMap::new(), expired: HashSet::new() };
        // What the kernels on this store have seen of the time counts here too.
        let latest = store.remembered_time().await?.unwrap_or(Timestamp::UNIX_EPOCH);
        let cache = Self { store, table: RwLock::new(table), latest: AtomicI64::new(latest.as_microsecond()) };
        cache.read().await?;
        Ok(Arc::new(cache))
    }

    /// Follows the store until `stop` is cancelled.
    pub fn follow(self: &Arc<Self>, stop: CancellationToken) {
        let cache = self.clone();
        tokio::spawn(async move {
            let mut look = tokio::time::interval(POLL_INTERVAL);
            look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            let mut written = Instant::now();
            loop {
                tokio::select! {
                    () = stop.cancelled() => break,
                    _ = look.tick() => {}
                }
                if let Err(error) = cache.refresh().await {
                    tracing::warn!(error = error_chain(&error), "the store cannot be asked for revoked tokens");
                }
                let due = written.elapsed() >= LAST_USE_INTERVAL;
                if due {
                    written = Instant::now();
                }
                cache.write_uses(if due { Uses::All } else { Uses::First }).await;
            }
            cache.write_uses(Uses::All).await;
        });
    }

    /// Takes over what changed in the store. A process that changes tokens itself calls this, so that nothing is left
    /// to wait for.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn refresh(&self) -> Result<(), StoreError> {
        if self.store.tokens().revision().await? == self.table.read().revision {
            self.table.write().asked = Instant::now();
        } else {
            self.read().await?;
        }
        let now = self.time(Timestamp::now());
        for entry in self.table.read().tokens.values().filter(|entry| !entry.is_good(now)) {
            entry.principal.ended.cancel();
        }
        Ok(())
    }

    async fn read(&self) -> Result<(), StoreError> {
        let asked = Instant::now();
        // The revision first: a change in between makes the table look older than it is, and it is read again.
        let revision = self.store.tokens().revision().await?;
        let listed = self.store.tokens().list().await?;
        let now = self.time(Timestamp::now());
        let mut table = self.table.write();
        let mut before = std::mem::take(&mut table.tokens);
        for token in listed.iter().filter(|token| token.is_valid(now)) {
            // The same entry again, so that streams that are open end with it and not before.
            let entry = before.remove(&token.hash).or_else(|| Entry::new(token));
            table.tokens.extend(entry.map(|entry| (token.hash, entry)));
        }
        let over = listed.iter().filter(|token| token.revoked_at.is_none() && !token.is_valid(now));
        table.expired = over.map(|token| token.hash).collect();
        (table.revision, table.asked) = (revision, asked);
        drop(table);
        for gone in before.values() {
            gone.principal.ended.cancel();
        }
        Ok(())
    }

    async fn write_uses(&self, which: Uses) {
        let uses: Vec<(Digest, Timestamp)> = {
            let table = self.table.read();
            let wanted = |entry: &Entry| which == Uses::All || !entry.known_used.load(Ordering::Relaxed);
            let wanted = table.tokens.iter().filter(|(_, entry)| wanted(entry));
            let taken = wanted.map(|(hash, entry)| (*hash, entry.used.swap(0, Ordering::Relaxed)));
            taken
                .filter(|(_, used)| *used != 0)
                .filter_map(|(hash, used)| Some((hash, Timestamp::from_millisecond(used).ok()?)))
                .collect()
        };
        for (hash, used) in uses {
            if let Err(error) = self.store.tokens().touch(hash, used).await {
                tracing::debug!(error = error_chain(&error), "the last use of a token could not be written down");
                return;
            }
            if let Some(entry) = self.table.read().tokens.get(&hash) {
                entry.known_used.store(true, Ordering::Relaxed);
            }
        }
    }

    /// The present time, which never goes back.
    fn time(&self, now: Timestamp) -> Timestamp {
        let micros = now.as_microsecond();
        let latest = self.latest.fetch_max(micros, Ordering::AcqRel);
        if latest <= micros { now } else { Timestamp::from_microsecond(latest).unwrap_or(now) }
    }

    /// Whether a moment has passed, as far as was ever seen.
    pub(super) fn is_past(&self, moment: SystemTime) -> bool {
        Timestamp::try_from(moment).is_ok_and(|moment| moment <= self.time(Timestamp::now()))
    }

    /// The store was not asked for so long that nothing is known for certain.
    fn is_blind(&self) -> bool {
        self.table.read().asked.elapsed() > MAX_STALENESS
    }

    fn find(&self, secret: &str, now: Timestamp) -> Option<Principal> {
        let presented = Digest::of(secret.as_bytes());
        let table = self.table.read();
        // The table is searched by the hash of the secret. How long that takes tells nothing about a secret, because
        // nobody can choose a text by its hash.
        let (hash, entry) = table.tokens.get_key_value(&presented)?;
        if !bool::from(hash.as_bytes().ct_eq(presented.as_bytes())) || !entry.is_good(now) {
            return None;
        }
        entry.used.store(now.as_millisecond(), Ordering::Relaxed);
        Some(entry.principal.clone())
    }

    /// Whether a secret was good until its time was over. Only who has it can ask.
    fn has_expired(&self, secret: &str, now: Timestamp) -> bool {
        let presented = Digest::of(secret.as_bytes());
        let table = self.table.read();
        table.expired.contains(&presented) || table.tokens.get(&presented).is_some_and(|entry| !entry.is_good(now))
    }
}

impl Authenticator for TokenCache {
    fn check(&self, token: Option<&str>) -> Checked {
        let Some(token) = token else { return Checked::Unknown };
        if self.is_blind() {
            return Checked::Unavailable;
        }
        let now = self.time(Timestamp::now());
        match self.find(token, now) {
            Some(principal) => Checked::Known(principal),
            None if self.has_expired(token, now) => Checked::Expired,
            None => Checked::Unknown,
        }
    }
}

impl std::fmt::Debug for TokenCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenCache").field("tokens", &self.table.read().tokens.len()).finish_non_exhaustive()
    }
}

impl Entry {
    /// `None` for a token whose scopes cannot be read: it is good for nothing.
    fn new(token: &Token) -> Option<Self> {
        let words: Vec<String> = match &token.scopes {
            Some(raw) => serde_json::from_str(raw.get()).ok()?,
            None => Vec::new(),
        };
        let (admin, scopes) = Scopes::parse(words.iter().map(String::as_str)).ok()?;
        let identity = Identity {
            admin,
            scopes,
            expires_at: token.expires_at.map(SystemTime::from),
            ..Identity::new(token.principal.as_str(), Method::Token)
        };
        Some(Self {
            principal: identity.into(),
            expires_at: token.expires_at,
            used: AtomicI64::new(0),
            known_used: AtomicBool::new(token.last_used_at.is_some()),
        })
    }

    fn is_good(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tests::store;
    use crate::tokens::{TokenRequest, issue};

    async fn token(store: &Store, name: &str, scopes: &[&str], expires_at: Option<Timestamp>) -> String {
        let scopes: Vec<String> = scopes.iter().map(|&word| word.to_owned()).collect();
        let request = TokenRequest { name, principal: "ann", scopes: &scopes, expires_at };
        issue(store, &request, Timestamp::now()).await.unwrap().1
    }

    #[tokio::test]
    async fn a_token_says_whose_it_is_and_what_it_is_good_for() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let plain = token(&store, "plain", &[], None).await;
        let admin = token(&store, "admin", &["admin", "server:git"], None).await;
        let cache = TokenCache::open(store).await.unwrap();
        let now = Timestamp::now();
        let who = cache.find(&plain, now).unwrap();
        assert_eq!((&*who.name, who.admin, who.method), ("ann", false, Method::Token));
        assert!(who.scopes.is_none() && who.covers_tool("any", "any__tool"));
        let who = cache.find(&admin, now).unwrap();
        assert!(who.admin && who.covers_whole_server("git") && !who.covers_whole_server("time"));
        for wrong in ["", "sb_", &plain[..plain.len() - 1], &format!("{plain} ")] {
            assert!(cache.find(wrong, now).is_none(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn expiry_is_to_the_instant() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let end = Timestamp::from_second(Timestamp::now().as_second() + 100).unwrap();
        let secret = token(&store, "short", &[], Some(end)).await;
        let cache = TokenCache::open(store).await.unwrap();
        let before = Timestamp::from_millisecond(end.as_millisecond() - 1).unwrap();
        assert!(cache.find(&secret, before).is_some());
        assert!(cache.find(&secret, end).is_none());
        assert!(!cache.has_expired(&secret, before) && cache.has_expired(&secret, end));
    }

    #[tokio::test]
    async fn who_shows_a_token_whose_time_is_over_is_told_so() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let past = Timestamp::from_second(Timestamp::now().as_second() - 1).unwrap();
        let (over, gone) = (token(&store, "over", &[], Some(past)).await, token(&store, "gone", &[], Some(past)).await);
        store.tokens().revoke("gone", Timestamp::now()).await.unwrap().unwrap();
        let cache = TokenCache::open(store).await.unwrap();
        assert!(matches!(cache.check(Some(&over)), Checked::Expired));
        assert!(matches!(cache.check(Some(&gone)), Checked::Unknown), "what was revoked is nobody's");
        assert!(matches!(cache.check(Some("sb_other")), Checked::Unknown));
        assert!(matches!(cache.check(None), Checked::Unknown));
    }

    #[tokio::test]
    async fn a_clock_that_goes_back_revives_no_token() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let now = Timestamp::now();
        let hour = |hours: i64| Timestamp::from_second(now.as_second() + hours * 3_600).unwrap();
        let secret = token(&store, "short", &[], Some(hour(2))).await;
        let cache = TokenCache::open(store.clone()).await.unwrap();
        assert!(cache.find(&secret, cache.time(now)).is_some());
        assert!(cache.find(&secret, cache.time(hour(24))).is_none());
        assert!(cache.find(&secret, cache.time(now)).is_none(), "the clock went back");
        // A kernel wrote down what it saw; the next start knows it.
        store.latest_time(hour(24)).await.unwrap();
        let cache = TokenCache::open(store).await.unwrap();
        assert!(cache.find(&secret, cache.time(now)).is_none(), "after a restart");
    }

    #[tokio::test]
    async fn without_the_store_a_token_is_not_wrong_but_cannot_be_looked_up() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let secret = token(&store, "good", &[], None).await;
        let cache = TokenCache::open(store).await.unwrap();
        assert!(matches!(cache.check(Some(&secret)), Checked::Known(_)));
        tokio::time::pause();
        tokio::time::advance(MAX_STALENESS + Duration::from_secs(1)).await;
        assert!(matches!(cache.check(Some(&secret)), Checked::Unavailable));
        assert!(matches!(cache.check(Some("sb_other")), Checked::Unavailable));
        assert!(matches!(cache.check(None), Checked::Unknown));
    }

    #[tokio::test]
    async fn what_another_process_revokes_is_refused_and_its_streams_end() {
        let folder = tempfile::tempdir().unwrap();
        let ours = store(folder.path()).await;
        let (bad, good) = (token(&ours, "bad", &[], None).await, token(&ours, "good", &[], None).await);
        let cache = TokenCache::open(ours).await.unwrap();
        let stop = CancellationToken::new();
        cache.follow(stop.clone());
        let (held, kept) = (cache.find(&bad, Timestamp::now()).unwrap(), cache.find(&good, Timestamp::now()).unwrap());
        let theirs = store(folder.path()).await;
        theirs.tokens().revoke("bad", Timestamp::now()).await.unwrap().unwrap();
        // Waits for what the other process did to be noticed here; fails by the limit if it is not.
        tokio::time::timeout(Duration::from_secs(5), held.ended.cancelled()).await.unwrap();
        assert!(cache.find(&bad, Timestamp::now()).is_none());
        assert!(cache.find(&good, Timestamp::now()).is_some() && !kept.ended.is_cancelled());
        let fresh = token(&theirs, "fresh", &[], None).await;
        cache.refresh().await.unwrap();
        assert!(cache.find(&fresh, Timestamp::now()).is_some());
        stop.cancel();
    }

    #[tokio::test]
    async fn uses_are_written_down() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path()).await;
        let secret = token(&store, "used", &[], None).await;
        token(&store, "unused", &[], None).await;
        let cache = TokenCache::open(store.clone()).await.unwrap();
        cache.find(&secret, Timestamp::now()).unwrap();
        // At the next look, though uses are written down but once in a minute.
        cache.write_uses(Uses::First).await;
        let listed = store.tokens().list().await.unwrap();
        let used: Vec<bool> = listed.iter().map(|token| token.last_used_at.is_some()).collect();
        assert_eq!((listed[0].name.as_str(), used.as_slice()), ("used", &[true, false][..]));
        let before = listed[0].last_used_at;
        let later = Timestamp::now() + jiff::SignedDuration::from_secs(1);
        cache.find(&secret, later).unwrap();
        cache.write_uses(Uses::First).await;
        assert_eq!(store.tokens().list().await.unwrap()[0].last_used_at, before, "not at every look");
        cache.write_uses(Uses::All).await;
        assert_ne!(store.tokens().list().await.unwrap()[0].last_used_at, before);
    }
}
