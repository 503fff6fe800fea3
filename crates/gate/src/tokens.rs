//! Session tokens (proposal 4): what stands for a set of scopes for a while.
//!
//! They are kept in memory, by their hash, and end with the process, at their time, or after a while without a call. A
//! token is good for the principal that it was given to and nobody else. It never gives a right: it can only narrow
//! what its principal may do anyway. Whether a call needs one is not decided here.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_store::Digest;
use tokio::time::Instant;

/// Tokens that are kept, all principals together.
const MAX_TOKENS: usize = 10_000;
/// Tokens of one principal. Its oldest makes room for a new one.
const MAX_TOKENS_OF_ONE: usize = 100;
/// What our tokens begin with, so that those of servers are not taken for ours.
pub(crate) const PREFIX: &str = "sbs_";

/// What a token stands for.
#[derive(Debug, Clone)]
struct SessionToken {
    principal: Arc<str>,
    scopes: Arc<[String]>,
    given: Instant,
    ends: Instant,
    /// After how long without a call it ends.
    idle: Duration,
    used: Instant,
}

impl SessionToken {
    fn is_good(&self, now: Instant) -> bool {
        now < self.ends && now.saturating_duration_since(self.used) < self.idle
    }
}

/// The tokens of this process.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    held: Mutex<HashMap<Digest, SessionToken>>,
}

impl Tokens {
    /// A new token; `None` while there are too many.
    pub(crate) fn give(
        &self,
        principal: &Arc<str>,
        scopes: &[String],
        life: Duration,
        idle: Duration,
        now: Instant,
    ) -> Option<String> {
        let token = format!("{PREFIX}{}{}", switchboard_peer::random_token(), switchboard_peer::random_token());
        let mut held = self.held.lock();
        let own =
            |held: &HashMap<Digest, SessionToken>| held.values().filter(|held| held.principal == *principal).count();
        if held.len() >= MAX_TOKENS || own(&held) >= MAX_TOKENS_OF_ONE {
            held.retain(|_, held| held.is_good(now));
        }
        if own(&held) >= MAX_TOKENS_OF_ONE {
            let mine = held.iter().filter(|(_, held)| held.principal == *principal);
            if let Some(oldest) = mine.min_by_key(|(_, held)| held.given).map(|(digest, _)| *digest) {
                held.remove(&oldest);
            }
        }
        if held.len() >= MAX_TOKENS {
            return None;
        }
        let ends = now.checked_add(life)?;
        let kept =
            SessionToken { principal: principal.clone(), scopes: scopes.into(), given: now, ends, idle, used: now };
        held.insert(Digest::of(token.as_bytes()), kept);
        Some(token)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.lock().is_empty()
    }

    /// The scopes that a token stands for in the hands of this principal; `None` if it is unknown, over, or another's.
    pub(crate) fn scopes(&self, token: &str, principal: &str, now: Instant) -> Option<Arc<[String]>> {
        self.find(token, principal, now, |_| {})
    }

    /// The same for a request that shows it: its wait for the next one begins again.
    pub(crate) fn use_scopes(&self, token: &str, principal: &str, now: Instant) -> Option<Arc<[String]>> {
        self.find(token, principal, now, |known| known.used = now)
    }

    fn find(
        &self,
        token: &str,
        principal: &str,
        now: Instant,
        found: impl FnOnce(&mut SessionToken),
    ) -> Option<Arc<[String]>> {
        let digest = Digest::of(token.as_bytes());
        let mut held = self.held.lock();
        let known = held.get_mut(&digest).filter(|known| *known.principal == *principal)?;
        if !known.is_good(now) {
            held.remove(&digest);
            return None;
        }
        found(known);
        Some(known.scopes.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);
    const IDLE: Duration = Duration::from_mins(15);

    fn scopes(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[tokio::test]
    async fn a_token_is_good_for_its_principal_and_its_time() {
        let (tokens, now) = (Tokens::default(), Instant::now());
        let token = tokens.give(&"ada".into(), &scopes(&["a"]), HOUR, IDLE, now).unwrap();
        assert!(token.starts_with(PREFIX) && token.len() > 60);
        let at = |principal, minutes| tokens.use_scopes(&token, principal, now + Duration::from_mins(minutes));
        assert_eq!(at("ada", 0).as_deref(), Some(&scopes(&["a"])[..]));
        assert_eq!(at("eve", 0), None);
        assert!(tokens.scopes(&token.replace('s', "t"), "ada", now).is_none());
        // Each use starts the wait for the next one, and none moves the end.
        for minutes in [14, 28, 42, 56] {
            assert!(at("ada", minutes).is_some(), "{minutes}");
        }
        assert!(at("ada", 60).is_none(), "its end is exact");
        assert!(at("ada", 56).is_none(), "what has ended stays so");
    }

    #[tokio::test]
    async fn a_token_that_nobody_uses_ends() {
        let (tokens, now) = (Tokens::default(), Instant::now());
        let token = tokens.give(&"ada".into(), &[], HOUR, IDLE, now).unwrap();
        // What a stranger tries does not keep it alive, nor does what is looked up without a request.
        assert!(tokens.use_scopes(&token, "eve", now + Duration::from_mins(14)).is_none());
        assert!(tokens.scopes(&token, "ada", now + Duration::from_mins(14)).is_some());
        assert!(tokens.scopes(&token, "ada", now + IDLE).is_none());
    }

    #[tokio::test]
    async fn there_is_a_bound_for_each_and_for_all() {
        let (tokens, now) = (Tokens::default(), Instant::now());
        let give = |name: &str, after| tokens.give(&name.into(), &[], HOUR, IDLE, now + Duration::from_secs(after));
        let first = give("ada", 0).unwrap();
        let second = give("ada", 1).unwrap();
        for _ in 2..=MAX_TOKENS_OF_ONE {
            give("ada", 2).unwrap();
        }
        assert!(tokens.scopes(&first, "ada", now).is_none(), "the oldest made room");
        assert!(tokens.scopes(&second, "ada", now).is_some());
        for index in 0..(MAX_TOKENS - MAX_TOKENS_OF_ONE) {
            give(&format!("p{}", index / MAX_TOKENS_OF_ONE), 3).unwrap();
        }
        assert_eq!(give("late", 4), None);
        assert!(give("ada", 4).is_some(), "its own oldest makes room");
        assert!(give("late", 3 + IDLE.as_secs()).is_some(), "those that are over make room");
    }
}
