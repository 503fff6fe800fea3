//! Questions of servers (MGP 13.4): which are open, which were answered, when to ask again, when to give up.
//!
//! A question belongs to one [`CallbackOrigin`]: one call of one principal. Within it, a server that gets no answer may ask again
//! under the same id: while the question is open it is left alone, and once it was answered the recorded answer is given
//! again. What the server asks under that id must be the same: another text is another question, and takes the place of
//! the first. With the call, its questions and their answers end; nothing of them ever answers anybody else's. A server
//! knows an answer by the id alone: where two of its calls ask under one id at the same time on one connection, a yes to
//! the one could be taken for a yes to the other, so both questions end with no. Towards a client that does not answer, the
//! question is put again a few times, under the same id.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use switchboard_protocol::mgp::callback::{ATTEMPTS, CallbackRequest, CallbackType, RETRY_MS, means_yes};
use switchboard_wire::{Kind, Raw};

/// How much there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallbackLimits {
    /// Open questions altogether.
    pub open: usize,
    /// Of one server.
    pub of_server: usize,
    /// Of one principal, at all servers together: a share, so that nobody's calls take the places of all.
    pub of_principal: usize,
    /// Answers that are remembered.
    pub answered: usize,
    /// Bytes of one answer.
    pub answer_bytes: usize,
    /// How long an answer is waited for, where the server does not say.
    pub usual: Duration,
    /// The longest that a server may ask for.
    pub longest: Duration,
}

impl Default for CallbackLimits {
    fn default() -> Self {
        Self {
            open: 1_024,
            of_server: 256,
            of_principal: 32,
            answered: 1_024,
            answer_bytes: 64 << 10,
            usual: Duration::from_secs(120),
            longest: Duration::from_secs(600),
        }
    }
}

/// Where a question comes from, and who may answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackOrigin {
    /// Who asks.
    pub server: Arc<str>,
    /// Who may answer.
    pub principal: Arc<str>,
    /// The call that it is about, or, outside of any call, the connection that it came on: by a number that is never
    /// used twice while the process lives.
    pub scope: u64,
    /// The connection that the answer goes back on, by a number that no other one has while it is open.
    pub connection: u64,
}

/// One open question.
#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    /// Where it comes from.
    pub origin: CallbackOrigin,
    /// What is asked, as the server wrote it.
    pub request: CallbackRequest,
    /// Until when.
    pub deadline: Instant,
    fingerprint: [u8; 32],
    attempts: u32,
    next: Instant,
}

/// An answer that is given again to a server that asks the same once more.
#[derive(Debug)]
struct Recorded {
    origin: CallbackOrigin,
    callback_id: String,
    fingerprint: [u8; 32],
    answer: Raw,
}

/// What a question that came is.
#[derive(Debug, Clone, PartialEq)]
pub enum Came {
    /// A new one, under this id of ours. An open one that the server had under the same id is closed without an answer.
    New {
        /// The new one.
        id: Arc<str>,
        /// The one in whose place it comes.
        replaces: Option<Arc<str>>,
    },
    /// One that is open already.
    Open,
    /// One that was answered: the answer goes back once more.
    Answered(Raw),
    /// One under an id that another call on the same connection has asked under, whose answer the server has not taken
    /// yet. Neither is answered with yes: these are closed without an answer, and this one is not asked.
    Ambiguous {
        /// Those that were open, by our names.
        ended: Vec<(Arc<str>, Open)>,
    },
    /// One too many.
    TooMany {
        /// Which bound it is beyond.
        bound: CallbackBound,
        /// Whether it is the first one of its call: the rest need not be told of again.
        is_first: bool,
    },
}

/// A bound on open questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackBound {
    /// Of the principal whose call it is.
    Principal,
    /// Of the server that asks.
    Server,
    /// Of all together.
    All,
}

impl CallbackBound {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Principal => "principal",
            Self::Server => "server",
            Self::All => "all",
        }
    }
}

/// Why an answer does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// There is no such question, or none for this principal.
    #[error("no such callback waits for you")]
    Unknown,
    /// It is none of the answers that can be given.
    #[error("the answer must be one of: {0}")]
    NotAnOption(String),
    /// It is too long, or of another kind than was asked for.
    #[error("the answer cannot be taken: {0}")]
    Unfit(&'static str),
}

/// What is to be done about an open question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// It is put to the client again: which try this is.
    Again(u32),
    /// Nobody answered in time.
    TimedOut,
    /// Nothing before then.
    Wait(Instant),
}

/// All questions.
#[derive(Debug)]
pub struct CallbackTable {
    limits: CallbackLimits,
    open: HashMap<Arc<str>, Open>,
    answered: VecDeque<Recorded>,
    /// Answers on their way to the server, by where the question came from and its id.
    underway: Vec<(CallbackOrigin, String)>,
    /// Calls that asked too much: each of them is told of once. They are forgotten with the call.
    refused: HashSet<u64>,
}

impl CallbackTable {
    /// An empty one.
    #[must_use]
    pub fn new(limits: CallbackLimits) -> Self {
        Self { limits, open: HashMap::new(), answered: VecDeque::new(), underway: Vec::new(), refused: HashSet::new() }
    }

    /// Takes a question of a server; `id` is what it will be called.
    pub fn ask(&mut self, id: &str, origin: CallbackOrigin, request: CallbackRequest, now: Instant) -> Came {
        let fingerprint = fingerprint(&request);
        let named = |open: &Open| open.origin == origin && open.request.callback_id == request.callback_id;
        let before = self.open.iter().find(|(_, open)| named(open));
        let before = before.map(|(id, open)| (id.clone(), open.fingerprint == fingerprint));
        if let Some((_, true)) = before {
            return Came::Open;
        }
        let is_same = |recorded: &Recorded| {
            recorded.origin == origin
                && recorded.callback_id == request.callback_id
                && recorded.fingerprint == fingerprint
        };
        if let Some(ended) = self.of_others(&origin, &request.callback_id) {
            return Came::Ambiguous { ended };
        }
        let replaces = before.map(|(id, _)| id);
        if replaces.is_none()
            && let Some(recorded) = self.answered.iter().find(|recorded| is_same(recorded))
        {
            return Came::Answered(recorded.answer.clone());
        }
        if let Some(old) = &replaces {
            self.open.remove(old);
        }
        if let Some(bound) = self.beyond(&origin) {
            // More calls than that cannot be remembered: then each of their questions is told of.
            let is_first = self.refused.len() >= self.limits.open || self.refused.insert(origin.scope);
            return Came::TooMany { bound, is_first };
        }
        let wait = request.timeout_ms.map_or(self.limits.usual, Duration::from_millis).min(self.limits.longest);
        let id: Arc<str> = id.into();
        let open = Open {
            origin,
            request,
            deadline: now + wait,
            fingerprint,
            attempts: 1,
            next: now + Duration::from_millis(RETRY_MS),
        };
        self.open.insert(id.clone(), open);
        Came::New { id, replaces }
    }

    /// Ends the questions that are open under this id on the same connection, where one of another call is, or the answer
    /// to one is on its way.
    fn of_others(&mut self, origin: &CallbackOrigin, callback_id: &str) -> Option<Vec<(Arc<str>, Open)>> {
        let is_other = |other: &CallbackOrigin, id: &str| {
            id == callback_id
                && other.connection == origin.connection
                && other.server == origin.server
                && other.scope != origin.scope
        };
        let is_open = self.open.values().any(|open| is_other(&open.origin, &open.request.callback_id));
        if !is_open && !self.underway.iter().any(|(other, id)| is_other(other, id)) {
            return None;
        }
        let is_meant = |open: &Open| {
            let asked = (&open.origin.server, open.origin.connection, &*open.request.callback_id);
            asked == (&origin.server, origin.connection, callback_id)
        };
        let open = self.open.iter().filter(|(_, open)| is_meant(open));
        let names: Vec<Arc<str>> = open.map(|(name, _)| name.clone()).collect();
        Some(names.into_iter().filter_map(|name| Some((name.clone(), self.open.remove(&name)?))).collect())
    }

    /// The server has taken an answer, or will not.
    pub fn delivered(&mut self, origin: &CallbackOrigin, callback_id: &str) {
        let at = self.underway.iter().position(|(other, id)| other == origin && id == callback_id);
        if let Some(at) = at {
            self.underway.swap_remove(at);
        }
    }

    /// The bound that another question from there would be beyond.
    fn beyond(&self, origin: &CallbackOrigin) -> Option<CallbackBound> {
        let of = |same: fn(&CallbackOrigin, &CallbackOrigin) -> bool| {
            self.open.values().filter(|open| same(&open.origin, origin)).count()
        };
        // What is about no call is nobody's: there each server has a share.
        let same_share = |one: &CallbackOrigin, other: &CallbackOrigin| {
            one.principal == other.principal && (!one.principal.is_empty() || one.server == other.server)
        };
        if of(same_share) >= self.limits.of_principal {
            return Some(CallbackBound::Principal);
        }
        if of(|one, other| one.server == other.server) >= self.limits.of_server {
            return Some(CallbackBound::Server);
        }
        (self.open.len() >= self.limits.open).then_some(CallbackBound::All)
    }

    /// A call, or a connection, has ended: its answers are forgotten. Gives the names of the questions that were open.
    pub fn end(&mut self, scope: u64) -> Vec<Arc<str>> {
        self.answered.retain(|recorded| recorded.origin.scope != scope);
        self.refused.remove(&scope);
        let ended = self.open.iter().filter(|(_, open)| open.origin.scope == scope);
        let ended: Vec<Arc<str>> = ended.map(|(id, _)| id.clone()).collect();
        for id in &ended {
            self.open.remove(id);
        }
        ended
    }

    /// Whether a question of this name is open, whoever may answer it.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.open.contains_key(id)
    }

    /// Until when a question can be answered.
    #[must_use]
    pub fn open_until(&self, id: &str) -> Option<Instant> {
        self.open.get(id).map(|open| open.deadline)
    }

    /// The open questions of a principal.
    pub fn open_for<'a>(&'a self, principal: &'a str) -> impl Iterator<Item = (&'a Arc<str>, &'a Open)> {
        self.open.iter().filter(move |(_, open)| &*open.origin.principal == principal)
    }

    /// One open question.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Open> {
        self.open.get(id)
    }

    /// Takes an answer. It stands, and the question is closed.
    ///
    /// # Errors
    /// It does not count.
    pub fn answer(&mut self, id: &str, principal: Option<&str>, answer: &Raw) -> Result<Open, NoAnswer> {
        let open = self.open.get(id).ok_or(NoAnswer::Unknown)?;
        if principal.is_some_and(|principal| *open.origin.principal != *principal) {
            return Err(NoAnswer::Unknown);
        }
        fits(&open.request, answer, self.limits.answer_bytes)?;
        self.close(id, answer).ok_or(NoAnswer::Unknown)
    }

    /// Closes a question with this answer, whatever it is. The answer is on its way from now on until it is
    /// [`Table::delivered`].
    pub fn close(&mut self, id: &str, answer: &Raw) -> Option<Open> {
        let open = self.open.remove(id)?;
        if self.answered.len() >= self.limits.answered {
            self.answered.pop_front();
        }
        // A question has one answer: what was said to an earlier one under this id holds no more.
        let callback_id = &open.request.callback_id;
        self.answered.retain(|other| other.origin != open.origin || other.callback_id != *callback_id);
        self.answered.push_back(Recorded {
            origin: open.origin.clone(),
            callback_id: open.request.callback_id.clone(),
            fingerprint: open.fingerprint,
            answer: answer.detach(),
        });
        self.underway.push((open.origin.clone(), open.request.callback_id.clone()));
        Some(open)
    }

    /// What is to be done about an open question now; `None` for one that is closed.
    pub fn due(&mut self, id: &str, now: Instant) -> Option<Due> {
        let open = self.open.get_mut(id)?;
        if now >= open.deadline {
            return Some(Due::TimedOut);
        }
        if open.attempts < ATTEMPTS && now >= open.next {
            open.attempts += 1;
            open.next = now + Duration::from_millis(RETRY_MS);
            return Some(Due::Again(open.attempts));
        }
        let next = if open.attempts < ATTEMPTS { open.next.min(open.deadline) } else { open.deadline };
        Some(Due::Wait(next))
    }
}

/// What tells two questions apart: everything that the one who answers can see. Which try it is, and for how long it
/// is waited, changes nothing of what is asked.
fn fingerprint(request: &CallbackRequest) -> [u8; 32] {
    let mut asked = request.clone();
    (asked.mgp, asked.timeout_ms, asked.request_id) = (None, None, None);
    let text = Raw::from_value(&asked).unwrap_or_else(|_| Raw::empty_object());
    Sha256::digest(text.as_bytes()).into()
}

/// The hash of what a question says to the one who answers it, as it is put on record.
#[must_use]
pub fn text_hash(request: &CallbackRequest) -> [u8; 32] {
    let text = request.message.as_deref().or_else(|| request.messages.as_ref().map(Raw::as_str));
    Sha256::digest(text.unwrap_or_default()).into()
}

/// Whether an answer can be given to this question.
fn fits(request: &CallbackRequest, answer: &Raw, most: usize) -> Result<(), NoAnswer> {
    if answer.as_bytes().len() > most {
        return Err(NoAnswer::Unfit("it is too long"));
    }
    let text = answer.as_text();
    match request.kind {
        CallbackType::LlmCompletion if answer.kind() != Kind::Object => Err(NoAnswer::Unfit("it is no object")),
        CallbackType::LlmCompletion => Ok(()),
        _ if text.is_none() => Err(NoAnswer::Unfit("it is no text")),
        CallbackType::Confirmation | CallbackType::Selection => {
            let options = request.options.as_deref().unwrap_or_default();
            let named = text.as_ref().is_some_and(|text| options.contains(text));
            if options.is_empty() || named { Ok(()) } else { Err(NoAnswer::NotAnOption(options.join(", "))) }
        }
        CallbackType::Input | CallbackType::Notification => Ok(()),
    }
}

/// What says yes, or no, to a confirmation with these options.
#[must_use]
pub fn verdict(request: &CallbackRequest, yes: bool) -> String {
    let options = request.options.as_deref().unwrap_or_default();
    let meant = options.iter().find(|option| means_yes(option) == yes);
    let usual = if yes { "confirm" } else { "cancel" };
    meant.map_or_else(|| usual.to_owned(), Clone::clone)
}
