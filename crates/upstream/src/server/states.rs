//! Which `requestState` a modern server gave to whom, and for what; and what was asked for with it.
//!
//! To the server all clients are one, so it cannot bind what it gives out to the one who got it: that is done here. What is
//! not remembered, after a restart for instance, is for the server to judge.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use memchr::memmem::Finder;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use switchboard_peer::Reply;
use switchboard_protocol::bridge::{self, ResultType};
use switchboard_wire::{Object, Raw};
use tokio::time::Instant;

/// How long it is remembered.
const STATE_TTL: Duration = Duration::from_mins(10);
/// RequestStates of one server that are remembered. Whoever has most of them makes room.
const MAX_STATES: usize = 4096;
/// Of these, those of one principal; its oldest make room. Nobody pushes out what was given to somebody else.
const MAX_STATES_OF_ONE: usize = 256;
/// Requests of one principal that one state may be given for; its oldest make room.
const MAX_REQUESTS_OF_ONE: usize = 16;
/// Principals that one state may be given to. A server that gives the same to more than that tells nobody apart by it.
const MAX_PRINCIPALS: usize = 64;

/// Questions of one answer whose keys are remembered.
const MAX_QUESTIONS: usize = 64;

/// A request that a state may be given for, or is sent with.
#[derive(Debug, Clone)]
pub struct StatefulRequest {
    /// Who makes it.
    pub principal: Arc<str>,
    /// Its method.
    pub method: Box<str>,
    /// Its parameters.
    pub params: Option<Raw>,
    /// What makes a request the same one, of its server, its method and its parameters.
    pub fingerprint: fn(&str, &str, &Object) -> [u8; 32],
}

impl StatefulRequest {
    fn fingerprint(&self, server: &str) -> [u8; 32] {
        let params = self.params.as_ref().and_then(|params| Object::open(params).ok());
        params.map_or([0; 32], |params| (self.fingerprint)(server, &self.method, &params))
    }
}

/// What is known of a state that a request brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateOwnership {
    /// It brings none, or one that nobody remembers.
    Unknown,
    /// It was given to the same principal for the same request.
    Own,
    /// It was given to somebody else, or for something else.
    Foreign,
}

/// Whom a state was given to, and for what.
#[derive(Debug)]
struct Owner {
    principal: Arc<str>,
    fingerprint: [u8; 32],
    until: Instant,
    /// The keys of what was asked for with it.
    asked: Box<[u64]>,
}

/// The states of one server.
#[derive(Debug, Default)]
pub struct RequestStates {
    given: Mutex<HashMap<[u8; 32], Vec<Owner>>>,
}

impl RequestStates {
    /// What is known of the state in this request.
    pub fn brought(&self, server: &str, request: &StatefulRequest) -> StateOwnership {
        let state = request.params.as_ref().and_then(|params| params.member("requestState"));
        let Some(state) = state else { return StateOwnership::Unknown };
        let (given, now) = (self.given.lock(), Instant::now());
        let owners = given.get(&key(&state)).map_or(&[][..], Vec::as_slice);
        let owners: Vec<&Owner> = owners.iter().filter(|owner| owner.until > now).collect();
        if owners.is_empty() {
            return StateOwnership::Unknown;
        }
        let fingerprint = request.fingerprint(server);
        let is_own = |owner: &&Owner| owner.principal == request.principal && owner.fingerprint == fingerprint;
        let principals: HashSet<&str> = owners.iter().map(|owner| &*owner.principal).collect();
        match owners.iter().any(is_own) {
            true => StateOwnership::Own,
            false if principals.len() >= MAX_PRINCIPALS => StateOwnership::Unknown,
            false => StateOwnership::Foreign,
        }
    }

    /// Whether the one who makes this request was asked for what it brings under this key.
    pub fn was_asked(&self, server: &str, request: &StatefulRequest, key: &str) -> bool {
        let state = request.params.as_ref().and_then(|params| params.member("requestState"));
        let (given, now, asked) = (self.given.lock(), Instant::now(), hash_of(key));
        let Some(owners) = given.get(&key_of(state.as_ref())) else { return false };
        let fingerprint = request.fingerprint(server);
        let mut own = owners.iter().filter(|owner| owner.principal == request.principal && owner.until > now);
        own.any(|owner| owner.fingerprint == fingerprint && owner.asked.contains(&asked))
    }

    /// Remembers what an answer asks for, if it asks for anything, and the state that goes with it.
    pub fn note(&self, server: &str, request: &StatefulRequest, reply: &Reply) {
        /// Most answers ask for nothing, and need not be opened for it.
        static MEMBERS: LazyLock<[Finder<'static>; 2]> =
            LazyLock::new(|| ["\"requestState\"", "\"inputRequests\""].map(Finder::new));
        let Ok(result) = &reply.outcome else { return };
        if MEMBERS.iter().all(|member| member.find(result.as_bytes()).is_none()) {
            return;
        }
        let Ok(result) = Object::open(result) else { return };
        // A task that asks is a complete answer.
        let asked = result.get("inputRequests").and_then(|asked| Object::open(&asked).ok());
        let asked: Box<[u64]> =
            asked.iter().flat_map(Object::iter).take(MAX_QUESTIONS).map(|(key, _)| hash_of(&key)).collect();
        let state = match bridge::result_type_of(&result) {
            ResultType::InputRequired { state, .. } => state,
            _ => None,
        };
        if state.is_none() && asked.is_empty() {
            return;
        }
        let now = Instant::now();
        let (principal, fingerprint) = (request.principal.clone(), request.fingerprint(server));
        let mut states = self.given.lock();
        let key = key_of(state.as_ref());
        states.retain(|_, owners| {
            owners.retain(|owner| owner.until > now);
            !owners.is_empty()
        });
        if let Some(owners) = states.get_mut(&key) {
            // Given once more, it is as good as new.
            owners.retain(|owner| owner.principal != principal || owner.fingerprint != fingerprint);
            make_room(owners, &principal);
        }
        let mut counts: HashMap<Arc<str>, usize> = HashMap::new();
        for owner in states.values().flatten() {
            *counts.entry(owner.principal.clone()).or_default() += 1;
        }
        if counts.get(&principal).is_some_and(|own| *own >= MAX_STATES_OF_ONE) {
            forget_oldest(&mut states, &principal);
        } else if counts.values().sum::<usize>() >= MAX_STATES
            && let Some((greediest, _)) = counts.iter().max_by_key(|(_, count)| **count)
        {
            forget_oldest(&mut states, greediest);
        }
        states.entry(key).or_default().push(Owner { principal, fingerprint, until: now + STATE_TTL, asked });
    }
}

/// Makes room for one more request of a principal that a state is given for.
fn make_room(owners: &mut Vec<Owner>, principal: &str) {
    let own = owners.iter().filter(|owner| *owner.principal == *principal).count();
    if own >= MAX_REQUESTS_OF_ONE
        // They stand in the order in which they came.
        && let Some(oldest) = owners.iter().position(|owner| *owner.principal == *principal)
    {
        owners.remove(oldest);
    }
}

/// Forgets what was given to a principal the longest time ago.
fn forget_oldest(states: &mut HashMap<[u8; 32], Vec<Owner>>, principal: &str) {
    let own = states.iter().flat_map(|(key, owners)| owners.iter().enumerate().map(move |owner| (*key, owner)));
    let own = own.filter(|(_, (_, owner))| *owner.principal == *principal);
    let oldest = own.min_by_key(|(_, (_, owner))| owner.until).map(|(key, (at, _))| (key, at));
    if let Some((key, at)) = oldest
        && let Some(owners) = states.get_mut(&key)
    {
        owners.remove(at);
        if owners.is_empty() {
            states.remove(&key);
        }
    }
}

/// What the key of a question is remembered by.
fn hash_of(key: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

/// What is asked without a state is remembered under none.
fn key_of(state: Option<&Raw>) -> [u8; 32] {
    state.map_or([0; 32], key)
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

    /// All that is asked for, and not what a client sends back.
    fn asked_for(server: &str, method: &str, params: &Object) -> [u8; 32] {
        let asked = params.iter().filter(|(key, _)| !matches!(&**key, "requestState" | "inputResponses"));
        let asked: Vec<_> = asked.map(|(key, value)| format!("{key}={}", value.as_str())).collect();
        Sha256::digest(format!("{server} {method} {asked:?}")).into()
    }

    fn request(principal: &str, params: &str) -> StatefulRequest {
        let params = Raw::parse(params.to_owned(), &Limits::default()).ok();
        StatefulRequest { principal: principal.into(), method: "tools/call".into(), params, fingerprint: asked_for }
    }

    #[test]
    fn a_state_belongs_to_who_got_it_and_to_the_request_it_was_given_for() {
        let states = RequestStates::default();
        let asked = r#"{"resultType":"input_required","requestState":"s1","inputRequests":{}}"#;
        let reply: Reply = Ok(Raw::parse(asked.to_owned(), &Limits::default()).unwrap()).into();
        states.note("srv", &request("bob", r#"{"name":"t","arguments":{"a":1}}"#), &reply);
        for (principal, params, expected) in [
            ("bob", r#"{"name":"t","arguments":{"a":1},"requestState":"s1","inputResponses":{}}"#, StateOwnership::Own),
            ("bob", r#"{"name":"t","arguments":{"a":1},"requestState":"\u0073\u0031"}"#, StateOwnership::Own),
            ("eve", r#"{"name":"t","arguments":{"a":1},"requestState":"s1"}"#, StateOwnership::Foreign),
            ("eve", r#"{"name":"t","arguments":{"a":1},"requestState":"s1\n"}"#, StateOwnership::Foreign),
            ("eve", r#"{"name":"t","arguments":{"a":1},"requestState":["s 1"]}"#, StateOwnership::Foreign),
            ("bob", r#"{"name":"t","arguments":{"a":2},"requestState":"s1"}"#, StateOwnership::Foreign),
            ("bob", r#"{"name":"u","arguments":{"a":1},"requestState":"s1"}"#, StateOwnership::Foreign),
            ("bob", r#"{"name":"t","arguments":{"a":1},"requestState":"s2"}"#, StateOwnership::Unknown),
            ("bob", r#"{"name":"t","arguments":{"a":1},"requestState":null}"#, StateOwnership::Unknown),
            ("bob", r#"{"name":"t","arguments":{"a":1}}"#, StateOwnership::Unknown),
        ] {
            assert_eq!(states.brought("srv", &request(principal, params)), expected, "{principal} {params}");
        }
        // Some servers give everybody the same.
        let of_eve = r#"{"name":"t","arguments":{"a":1},"requestState":"s1"}"#;
        states.note("srv", &request("eve", r#"{"name":"t","arguments":{"a":1}}"#), &reply);
        for principal in ["bob", "eve"] {
            assert_eq!(states.brought("srv", &request(principal, of_eve)), StateOwnership::Own);
        }
    }

    /// An answer to a question is known by who was asked, for which request, with which state and under which key.
    #[test]
    fn a_question_is_known_by_all_that_it_came_with() {
        let states = RequestStates::default();
        let reply = |text: &str| -> Reply { Ok(Raw::parse(text.to_owned(), &Limits::default()).unwrap()).into() };
        let asked = |who, params, key| states.was_asked("srv", &request(who, params), key);
        let with = r#"{"resultType":"input_required","requestState":"s1","inputRequests":{"who":{}}}"#;
        states.note("srv", &request("bob", r#"{"name":"t"}"#), &reply(with));
        assert!(asked("bob", r#"{"name":"t","requestState":"s1"}"#, "who"));
        assert!(!asked("bob", r#"{"name":"t","requestState":"s1"}"#, "what"));
        assert!(!asked("bob", r#"{"name":"t","requestState":"s2"}"#, "who"));
        assert!(!asked("bob", r#"{"name":"t"}"#, "who"));
        assert!(!asked("bob", r#"{"name":"u","requestState":"s1"}"#, "who"));
        assert!(!asked("eve", r#"{"name":"t","requestState":"s1"}"#, "who"));
        // A task, or a server that needs no state.
        let without = r#"{"taskId":"1","status":"input_required","inputRequests":{"where":{}}}"#;
        states.note("srv", &request("bob", r#"{"name":"t"}"#), &reply(without));
        assert!(asked("bob", r#"{"name":"t"}"#, "where"));
        assert!(!asked("bob", r#"{"name":"t","requestState":"s1"}"#, "where"));
        assert_eq!(states.brought("srv", &request("eve", r#"{"name":"t"}"#)), StateOwnership::Unknown);
    }

    fn reply(state: &str) -> Reply {
        let asked = format!(r#"{{"resultType":"input_required","requestState":"{state}","inputRequests":{{}}}}"#);
        Ok(Raw::parse(asked, &Limits::default()).unwrap()).into()
    }

    fn bringing(principal: &str, argument: usize, state: &str) -> StatefulRequest {
        request(principal, &format!(r#"{{"name":"t","arguments":{{"a":{argument}}},"requestState":"{state}"}}"#))
    }

    fn asking(principal: &str, argument: usize) -> StatefulRequest {
        request(principal, &format!(r#"{{"name":"t","arguments":{{"a":{argument}}}}}"#))
    }

    #[test]
    fn nobody_pushes_out_what_was_given_to_somebody_else() {
        let states = RequestStates::default();
        states.note("srv", &asking("bob", 1), &reply("of-bob"));
        for number in 0..MAX_STATES + 10 {
            states.note("srv", &asking("eve", number), &reply(&format!("of-eve-{number}")));
        }
        assert_eq!(states.brought("srv", &bringing("bob", 1, "of-bob")), StateOwnership::Own);
        assert_eq!(states.brought("srv", &bringing("eve", 1, "of-bob")), StateOwnership::Foreign);
        let last = format!("of-eve-{}", MAX_STATES + 9);
        assert_eq!(states.brought("srv", &bringing("eve", MAX_STATES + 9, &last)), StateOwnership::Own);
        assert_eq!(
            states.brought("srv", &bringing("eve", 0, "of-eve-0")),
            StateOwnership::Unknown,
            "her own made room"
        );
        let kept: usize = states.given.lock().values().map(Vec::len).sum();
        assert_eq!(kept, MAX_STATES_OF_ONE + 1);
    }

    /// One who gets the same state for ever so many requests of theirs does not make it anybody's.
    #[test]
    fn a_state_stays_foreign_however_many_requests_of_one_it_was_given_for() {
        let states = RequestStates::default();
        states.note("srv", &asking("bob", 1), &reply("same"));
        for number in 0..MAX_PRINCIPALS * 2 {
            states.note("srv", &asking("eve", number), &reply("same"));
        }
        assert_eq!(states.brought("srv", &bringing("bob", 1, "same")), StateOwnership::Own);
        for (principal, argument) in [("bob", 2), ("eve", MAX_PRINCIPALS * 4), ("mal", 1)] {
            assert_eq!(
                states.brought("srv", &bringing(principal, argument, "same")),
                StateOwnership::Foreign,
                "{principal}"
            );
        }
        // Given to everybody, it tells nobody apart.
        for number in 0..MAX_PRINCIPALS {
            states.note("srv", &asking(&format!("p{number}"), 1), &reply("same"));
        }
        assert_eq!(states.brought("srv", &bringing("mal", 1, "same")), StateOwnership::Unknown);
        assert_eq!(states.brought("srv", &bringing("bob", 1, "same")), StateOwnership::Own);
    }
}
