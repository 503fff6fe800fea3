//! Which `requestState` a modern server gave to whom, and for what.
//!
//! To the server all clients are one, so it cannot bind what it gives out to the one who got it: that is done here. What is
//! not remembered, after a restart for instance, is for the server to judge.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use memchr::memmem::Finder;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use switchboard_peer::Reply;
use switchboard_wire::{Object, Raw};
use tokio::time::Instant;

use crate::bridge::{self, ResultType};
use crate::parked::fingerprint;

/// How long it is remembered.
const LIFE: Duration = Duration::from_mins(10);
/// States of one server that are remembered; the oldest make room.
const MAX_STATES: usize = 4096;
/// Requests that one state may be given for. A server that gives the same to more than that tells nobody apart by it.
const MAX_OWNERS: usize = 64;

/// A request that a state may be given for, or is sent with.
#[derive(Clone)]
pub(crate) struct Stateful {
    pub(crate) principal: Arc<str>,
    pub(crate) method: Box<str>,
    pub(crate) params: Option<Raw>,
}

impl Stateful {
    fn fingerprint(&self, server: &str) -> [u8; 32] {
        let params = self.params.as_ref().and_then(|params| Object::open(params).ok());
        params.map_or([0; 32], |params| fingerprint(server, &self.method, &params))
    }
}

/// What is known of a state that a request brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brought {
    /// It brings none, or one that nobody remembers.
    Unknown,
    /// It was given to the same principal for the same request.
    Own,
    /// It was given to somebody else, or for something else.
    Foreign,
}

struct Owner {
    principal: Arc<str>,
    fingerprint: [u8; 32],
}

struct Given {
    /// Whom it was given to, for what.
    owners: Vec<Owner>,
    until: Instant,
}

/// The states of one server.
#[derive(Default)]
pub(crate) struct States {
    given: Mutex<HashMap<[u8; 32], Given>>,
}

impl States {
    /// What is known of the state in this request.
    pub(crate) fn brought(&self, server: &str, request: &Stateful) -> Brought {
        let state = request.params.as_ref().and_then(|params| params.member("requestState"));
        let Some(state) = state else { return Brought::Unknown };
        let given = self.given.lock();
        let Some(given) = given.get(&key(&state)).filter(|given| given.until > Instant::now()) else {
            return Brought::Unknown;
        };
        let fingerprint = request.fingerprint(server);
        let is_own = |owner: &Owner| owner.principal == request.principal && owner.fingerprint == fingerprint;
        match given.owners.iter().any(is_own) {
            true => Brought::Own,
            false if given.owners.len() >= MAX_OWNERS => Brought::Unknown,
            false => Brought::Foreign,
        }
    }

    /// Remembers the state in an answer, if there is one.
    pub(crate) fn note(&self, server: &str, request: &Stateful, reply: &Reply) {
        /// Most answers have none, and need not be opened for it.
        static MEMBER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"requestState\""));
        let Ok(result) = &reply.outcome else { return };
        if MEMBER.find(result.as_bytes()).is_none() {
            return;
        }
        let ResultType::InputRequired { state: Some(state), .. } = bridge::result_type(result) else { return };
        let now = Instant::now();
        let owner = Owner { principal: request.principal.clone(), fingerprint: request.fingerprint(server) };
        let mut states = self.given.lock();
        states.retain(|_, given| given.until > now);
        let key = key(&state);
        if states.len() >= MAX_STATES
            && !states.contains_key(&key)
            && let Some(oldest) = states.iter().min_by_key(|(_, given)| given.until).map(|(key, _)| *key)
        {
            states.remove(&oldest);
        }
        let given = states.entry(key).or_insert_with(|| Given { owners: Vec::new(), until: now });
        given.until = now + LIFE;
        let is_same = |known: &Owner| known.principal == owner.principal && known.fingerprint == owner.fingerprint;
        if given.owners.len() < MAX_OWNERS && !given.owners.iter().any(is_same) {
            given.owners.push(owner);
        }
    }
}

/// However it is spelled: decoders skip blanks and marks, so its letters and digits count.
fn key(state: &Raw) -> [u8; 32] {
    let text = state.as_text().unwrap_or_else(|| state.as_str().to_owned());
    let letters: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    Sha256::digest(if letters.is_empty() { text } else { letters }.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use switchboard_wire::Limits;

    use super::*;

    fn request(principal: &str, params: &str) -> Stateful {
        let params = Raw::parse(params.to_owned(), &Limits::default()).ok();
        Stateful { principal: principal.into(), method: "tools/call".into(), params }
    }

    #[test]
    fn a_state_belongs_to_who_got_it_and_to_the_request_it_was_given_for() {
        let states = States::default();
        let asked = r#"{"resultType":"input_required","requestState":"s1","inputRequests":{}}"#;
        let reply: Reply = Ok(Raw::parse(asked.to_owned(), &Limits::default()).unwrap()).into();
        states.note("srv", &request("bob", r#"{"name":"t","arguments":{"a":1}}"#), &reply);
        for (principal, params, expected) in [
            ("bob", r#"{"name":"t","arguments":{"a":1},"requestState":"s1","inputResponses":{}}"#, Brought::Own),
            ("bob", r#"{"name":"t","arguments":{"a":1},"requestState":"\u0073\u0031"}"#, Brought::Own),
            ("eve", r#"{"name":"t","arguments":{"a":1},"requestState":"s1"}"#, Brought::Foreign),
            ("eve", r#"{"name":"t","arguments":{"a":1},"requestState":"s1\n"}"#, Brought::Foreign),
            ("eve", r#"{"name":"t","arguments":{"a":1},"requestState":["s 1"]}"#, Brought::Foreign),
            ("bob", r#"{"name":"t","arguments":{"a":2},"requestState":"s1"}"#, Brought::Foreign),
            ("bob", r#"{"name":"u","arguments":{"a":1},"requestState":"s1"}"#, Brought::Foreign),
            ("bob", r#"{"name":"t","arguments":{"a":1},"requestState":"s2"}"#, Brought::Unknown),
            ("bob", r#"{"name":"t","arguments":{"a":1},"requestState":null}"#, Brought::Unknown),
            ("bob", r#"{"name":"t","arguments":{"a":1}}"#, Brought::Unknown),
        ] {
            assert_eq!(states.brought("srv", &request(principal, params)), expected, "{principal} {params}");
        }
        // Some servers give everybody the same.
        let of_eve = r#"{"name":"t","arguments":{"a":1},"requestState":"s1"}"#;
        states.note("srv", &request("eve", r#"{"name":"t","arguments":{"a":1}}"#), &reply);
        for principal in ["bob", "eve"] {
            assert_eq!(states.brought("srv", &request(principal, of_eve)), Brought::Own);
        }
    }
}
