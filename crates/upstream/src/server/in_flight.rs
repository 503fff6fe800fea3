//! The calls that run on a server: whose they are, and when the last one has ended.
//!
//! What a server sends without naming a call can be given to somebody only while there is no doubt for whom it is. A
//! server that asks such questions therefore serves its clients in turns, as far as that costs nobody much time; a
//! question that comes in doubt between calls of one principal waits for the doubt to end, and one of them that waits for
//! an answer already is taken not to ask again. Between principals nothing is taken for granted, nor between tokens of one
//! principal that are good for different things: a server may answer a call while its question about it is open, or give
//! up waiting, so that no end of a call ends this doubt. A call that was given up may still be worked on: while there is
//! one of somebody else, a question may be about that one.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_peer::Handler;
use switchboard_transport::http_server::Principal;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How long a call waits for the calls of other clients on a server that asks questions. A call that got no turn goes
/// ahead: only a question of the server would have no answer then.
const TURN: Duration = Duration::from_secs(10);
/// How long a question waits until it is clear for which session of a principal it is.
const DOUBT: Duration = Duration::from_secs(15);

/// How long a call that was given up counts as worked on. Servers that heed a cancellation do not answer it, so there is
/// nothing to wait for; those that do not have this long to ask.
const AFTERLIFE: Duration = Duration::from_secs(600);
/// Owners of such calls that are told apart.
const MAX_ABANDONED: usize = 1_024;

/// The calls that run.
#[derive(Default)]
pub struct InFlightCalls {
    calls: Mutex<Calls>,
    /// A call has ended.
    ended: Notify,
    /// The server has asked something without naming a call.
    asks: AtomicBool,
    /// How many calls are open, to be read without waiting.
    running: AtomicUsize,
}

#[derive(Default)]
struct Calls {
    open: HashMap<u64, InFlightCall>,
    next: u64,
    /// Calls on the shared connection that ended without an answer of the server.
    abandoned: u64,
    /// Whose they were, by owner, and when the last of them ended. The server may still work on them.
    ghosts: HashMap<u64, (Principal, Instant)>,
    /// When there were last more of those than are kept.
    crowded: Option<Instant>,
}

impl Calls {
    /// Whether what comes now may be about a call that somebody else gave up.
    fn may_be_for_another(&self, owner: u64, identity: &Principal) -> bool {
        let is_own = |(whose, (ghost, _)): (&u64, &(Principal, Instant))| *whose == owner || are_kin(ghost, identity);
        self.crowded.is_some() || !self.ghosts.iter().all(is_own)
    }

    /// Whether that holds for everybody who has a call here.
    fn is_haunted(&self) -> bool {
        self.shared().all(|(_, user)| self.may_be_for_another(user.owner, &user.identity))
    }

    /// Forgets those whose answer has come, and those of a connection that has ended: `unanswered` are the owners of the
    /// calls that were given up on the one there is.
    fn lay_ghosts(&mut self, unanswered: Option<&[u64]>) {
        if self.ghosts.is_empty() && self.crowded.is_none() {
            return;
        }
        let is_young = |since: &Instant| since.elapsed() < AFTERLIFE;
        self.crowded =
            self.crowded.filter(|since| is_young(since) && unanswered.is_none_or(|owners| !owners.is_empty()));
        self.ghosts
            .retain(|owner, (_, since)| is_young(since) && unanswered.is_none_or(|owners| owners.contains(owner)));
    }

    fn shared(&self) -> impl Iterator<Item = (&u64, &InFlightCall)> {
        self.open.iter().filter(|(_, user)| user.shared)
    }

    /// Whether calls of several principals are open, or a call of one of these owners has ended: what was asked while they
    /// were open may be about any of them.
    fn is_disputed(&self, asked_among: Option<&[u64]>) -> bool {
        let Some((_, one)) = self.shared().next() else { return asked_among.is_some_and(|owners| owners.len() > 1) };
        let are_strangers = self.shared().any(|(_, other)| !are_kin(&one.identity, &other.identity));
        let is_open = |owner: &u64| self.shared().any(|(_, user)| user.owner == *owner);
        are_strangers || asked_among.is_some_and(|owners| owners.len() > 1 && !owners.iter().all(is_open))
    }

    fn insert(&mut self, user: InFlightCall) -> u64 {
        let key = self.next;
        self.next += 1;
        self.open.insert(key, user);
        key
    }

    fn whose(&self) -> Attribution {
        let newest = |users: &mut dyn Iterator<Item = (&u64, &InFlightCall)>| {
            users.max_by_key(|(key, _)| **key).map(|(_, user)| user.related.clone())
        };
        let Some((_, one)) = self.shared().find(|(_, user)| user.waiting == 0).or_else(|| self.shared().next()) else {
            return Attribution::Nobodys;
        };
        if self.may_be_for_another(one.owner, &one.identity) {
            return Attribution::Ambiguous;
        }
        if self.shared().all(|(_, user)| user.owner == one.owner || one.cannot_be_confused_with(user)) {
            let mut own = self.shared().filter(|(_, user)| user.owner == one.owner);
            return newest(&mut own).map_or(Attribution::Nobodys, Attribution::Owners);
        }
        Attribution::Ambiguous
    }
}

/// Who made a call, and who takes what the server sends about it.
pub struct InFlightCall {
    /// Whose it is: one session, or one modern request.
    pub owner: u64,
    /// In whose name it is made.
    pub identity: Principal,
    /// Whether the call takes the connection that all clients share.
    pub shared: bool,
    /// Who takes what the server sends about it.
    pub related: Arc<dyn Handler>,
    /// Questions of the server about this owner's calls that have no answer yet.
    pub waiting: u32,
}

impl InFlightCall {
    /// Whether a call of somebody else cannot be the one that asks while this one can.
    fn cannot_be_confused_with(&self, other: &Self) -> bool {
        self.waiting == 0 && other.waiting > 0 && are_kin(&other.identity, &self.identity)
    }
}

/// Whether what one may be asked, the other may be asked too.
fn are_kin(one: &Principal, other: &Principal) -> bool {
    one.name == other.name && one.scopes == other.scopes && one.profile == other.profile
}

/// Whose a message that names no call can be.
pub enum Attribution {
    /// No call runs on the shared connection.
    Nobodys,
    /// All calls on it have one owner: the newest speaks for it.
    Owners(Arc<dyn Handler>),
    /// Several owners have calls on it.
    Ambiguous,
}

impl InFlightCalls {
    /// Notes a call until the ticket is dropped.
    pub fn begin(self: &Arc<Self>, user: InFlightCall) -> CallTicket {
        let key = self.calls.lock().insert(user);
        self.running.fetch_add(1, Ordering::Relaxed);
        CallTicket { using: self.clone(), key, answered: false }
    }

    /// Notes that the server waits for an answer about an owner's calls, until the guard is dropped.
    pub fn asked(self: &Arc<Self>, owner: u64) -> OpenQuestion {
        self.count(owner, |waiting| waiting.saturating_add(1));
        OpenQuestion { using: self.clone(), owner }
    }

    fn count(&self, owner: u64, change: impl Fn(u32) -> u32) {
        for user in self.calls.lock().open.values_mut().filter(|user| user.owner == owner) {
            user.waiting = change(user.waiting);
        }
        if self.takes_turns() {
            self.ended.notify_waiters();
        }
    }

    /// Whether calls on the shared connection take turns.
    pub fn takes_turns(&self) -> bool {
        self.asks.load(Ordering::Relaxed)
    }

    /// From now on calls on the shared connection take turns.
    pub fn take_turns(&self) {
        self.asks.store(true, Ordering::Relaxed);
    }

    /// The same as [`InFlightCalls::begin`], after the calls of other clients on the shared connection, if they end soon.
    pub async fn begin_in_turn(self: &Arc<Self>, user: InFlightCall) -> CallTicket {
        let deadline = Instant::now() + TURN;
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            let late = Instant::now() >= deadline;
            {
                let mut calls = self.calls.lock();
                let alone =
                    calls.shared().all(|(_, other)| other.owner == user.owner || user.cannot_be_confused_with(other));
                if alone || late {
                    let key = calls.insert(user);
                    self.running.fetch_add(1, Ordering::Relaxed);
                    return CallTicket { using: self.clone(), key, answered: false };
                }
            }
            let _ = tokio::time::timeout_at(deadline, ended).await;
        }
    }

    /// Whose a question on the shared connection is, waited for while it is in doubt between sessions of one principal. A
    /// call that ended without an answer may have been the one that asked: then nobody can say any more. `asked_among` are
    /// the owners of the calls that were open when it arrived.
    pub async fn whose_question(&self, unanswered: Option<&[u64]>, asked_among: Option<&[u64]>) -> Attribution {
        let deadline = Instant::now() + DOUBT;
        let abandoned = {
            let mut calls = self.calls.lock();
            calls.lay_ghosts(unanswered);
            if calls.is_disputed(asked_among) {
                drop(calls);
                self.take_turns();
                return Attribution::Ambiguous;
            }
            calls.abandoned
        };
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            {
                let calls = self.calls.lock();
                match calls.whose() {
                    Attribution::Ambiguous if calls.is_haunted() => return Attribution::Ambiguous,
                    Attribution::Ambiguous if calls.abandoned == abandoned => {}
                    _ if calls.abandoned != abandoned => return Attribution::Ambiguous,
                    clear => return clear,
                }
            }
            if !self.takes_turns() {
                // Ends are told of only from now on, and one may have come just before.
                self.take_turns();
                continue;
            }
            if tokio::time::timeout_at(deadline, ended).await.is_err() {
                return Attribution::Ambiguous;
            }
        }
    }

    /// Whose a message on the shared connection can be.
    pub fn whose(&self, unanswered: Option<&[u64]>) -> Attribution {
        let mut calls = self.calls.lock();
        calls.lay_ghosts(unanswered);
        calls.whose()
    }

    /// Whether a message about no running call may be about one that somebody else gave up.
    pub fn may_be_for_another(&self, identity: &Principal) -> bool {
        // No owner has this number.
        self.calls.lock().may_be_for_another(u64::MAX, identity)
    }

    /// The newest call that an owner has on its own connection.
    pub fn newest_of(&self, owner: u64) -> Option<Arc<dyn Handler>> {
        let calls = self.calls.lock();
        let mine = calls.open.iter().filter(|(_, user)| !user.shared && user.owner == owner);
        mine.max_by_key(|(key, _)| **key).map(|(_, user)| user.related.clone())
    }

    /// Whether all calls on the shared connection are made for one principal.
    pub fn only_for(&self, principal: &str) -> bool {
        let calls = self.calls.lock();
        let ghosts = calls.ghosts.values().map(|(ghost, _)| &*ghost.name);
        let users = calls.shared().map(|(_, user)| &*user.identity.name);
        calls.crowded.is_none() && users.chain(ghosts).all(|name| name == principal)
    }

    /// How many calls run.
    pub fn pending(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// How many calls were ever begun.
    pub fn begun(&self) -> u64 {
        self.calls.lock().next
    }

    /// Waits until no call runs.
    pub async fn idle(&self) {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            if self.calls.lock().open.is_empty() {
                return;
            }
            ended.await;
        }
    }
}

/// Stands for a question that has no answer yet.
#[derive(Debug)]
pub struct OpenQuestion {
    using: Arc<InFlightCalls>,
    owner: u64,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.using.count(self.owner, |waiting| waiting.saturating_sub(1));
    }
}

/// Stands for a call that runs.
#[derive(Debug)]
pub struct CallTicket {
    using: Arc<InFlightCalls>,
    key: u64,
    answered: bool,
}

impl CallTicket {
    /// The server has answered.
    pub const fn answered(&mut self) {
        self.answered = true;
    }
}

impl Drop for CallTicket {
    fn drop(&mut self) {
        self.using.running.fetch_sub(1, Ordering::Relaxed);
        let mut calls = self.using.calls.lock();
        let user = calls.open.remove(&self.key);
        if let Some(user) = user.as_ref().filter(|user| user.shared && !self.answered) {
            calls.abandoned += 1;
            if calls.ghosts.len() < MAX_ABANDONED || calls.ghosts.contains_key(&user.owner) {
                calls.ghosts.insert(user.owner, (user.identity.clone(), Instant::now()));
            } else {
                calls.crowded = Some(Instant::now());
            }
        }
        let idle = calls.open.is_empty();
        drop(calls);
        // Whatever hangs on the call ends outside the lock.
        drop(user);
        if idle || self.using.takes_turns() {
            self.using.ended.notify_waiters();
        }
    }
}

impl fmt::Debug for InFlightCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InFlightCalls").field("pending", &self.pending()).finish_non_exhaustive()
    }
}

impl fmt::Debug for InFlightCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InFlightCall").field("owner", &self.owner).field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl fmt::Debug for Attribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nobodys => "Nobodys",
            Self::Owners(_) => "Owners",
            Self::Ambiguous => "Ambiguous",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchboard_peer::{BoxFuture, Context, Reply};
    use switchboard_wire::{Notification, Raw, Request};

    struct Nobody;

    impl Handler for Nobody {
        fn request(&self, _context: Context, _request: Request) -> BoxFuture<'_, Reply> {
            Box::pin(std::future::ready(Ok(Raw::empty_object()).into()))
        }

        fn notification(&self, _context: Context, _notification: Notification) -> BoxFuture<'_, ()> {
            Box::pin(std::future::ready(()))
        }
    }

    fn user(owner: u64) -> InFlightCall {
        InFlightCall { owner, identity: Principal::owner("local"), shared: true, related: Arc::new(Nobody), waiting: 0 }
    }

    fn of(name: &str, owner: u64) -> InFlightCall {
        InFlightCall { identity: Principal::owner(name), ..user(owner) }
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_may_be_about_a_call_that_another_gave_up() {
        let using = Arc::new(InFlightCalls::default());
        drop(using.begin(of("ann", 1)));
        let _bobs = using.begin(of("bob", 2));
        assert!(matches!(using.whose(Some(&[1])), Attribution::Ambiguous));
        let began = Instant::now();
        assert!(matches!(using.whose_question(Some(&[1]), None).await, Attribution::Ambiguous));
        assert_eq!(began.elapsed(), Duration::ZERO, "nothing that could be waited for would end the doubt");
        assert!(using.may_be_for_another(&Principal::owner("bob")) && !using.only_for("bob"));
        // Another session of hers is asked about it.
        assert!(!using.may_be_for_another(&Principal::owner("ann")));
        // The answer came after all, or the server was started anew.
        assert!(matches!(using.whose_question(Some(&[]), None).await, Attribution::Owners(_)));
        assert!(using.only_for("bob"));
    }

    #[tokio::test(start_paused = true)]
    async fn time_ends_the_doubt() {
        let using = Arc::new(InFlightCalls::default());
        drop(using.begin(of("ann", 1)));
        let _bobs = using.begin(of("bob", 2));
        for unanswered in [None, Some(&[1][..])] {
            assert!(matches!(using.whose(unanswered), Attribution::Ambiguous));
        }
        tokio::time::advance(AFTERLIFE).await;
        assert!(matches!(using.whose(Some(&[1])), Attribution::Owners(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_were_given_up_without_number_stay_in_doubt() {
        let using = Arc::new(InFlightCalls::default());
        for owner in 0..=u64::try_from(MAX_ABANDONED).unwrap() {
            drop(using.begin(of("ann", owner)));
        }
        assert!(using.may_be_for_another(&Principal::owner("ann")), "nobody knows whose the last one was");
        let _anns = using.begin(of("ann", 0));
        assert!(matches!(using.whose(Some(&[0])), Attribution::Ambiguous));
        assert!(matches!(using.whose(Some(&[])), Attribution::Owners(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_narrowed_token_is_not_asked_what_another_token_is() {
        use switchboard_transport::http_server::{Identity, Scopes};
        let using = Arc::new(InFlightCalls::default());
        let _parked = using.begin(of("ann", 1));
        let _question = using.asked(1);
        let (_, scopes) = Scopes::parse(["tool:slow"]).unwrap();
        let narrow = Identity { scopes, ..Identity::clone(&Principal::owner("ann")) };
        let _narrow = using.begin(InFlightCall { identity: narrow.into(), ..user(2) });
        assert!(matches!(using.whose(None), Attribution::Ambiguous));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_waits_for_an_answer_holds_up_only_other_principals() {
        let using = Arc::new(InFlightCalls::default());
        using.take_turns();
        let _parked = using.begin_in_turn(user(1)).await;
        let _question = using.asked(1);
        let began = Instant::now();
        let _mine = using.begin_in_turn(user(2)).await;
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert!(matches!(using.whose_question(None, None).await, Attribution::Owners(_)));
        let _foreign = using.begin_in_turn(of("eve", 3)).await;
        assert_eq!(began.elapsed(), TURN);
        assert!(matches!(using.whose(None), Attribution::Ambiguous));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_in_doubt_waits_until_the_others_are_answered() {
        let using = Arc::new(InFlightCalls::default());
        let _asker = using.begin(user(1));
        let mut other = using.begin(user(2));
        let question = tokio::spawn({
            let using = using.clone();
            async move { using.whose_question(None, None).await }
        });
        tokio::task::yield_now().await;
        other.answered();
        drop(other);
        assert!(matches!(question.await.unwrap(), Attribution::Owners(_)));
        assert!(using.takes_turns());
    }

    #[tokio::test(start_paused = true)]
    async fn no_end_of_a_call_ends_the_doubt_between_principals() {
        let using = Arc::new(InFlightCalls::default());
        let mut asker = using.begin(of("ann", 1));
        let _other = using.begin(of("bob", 2));
        let began = Instant::now();
        assert!(matches!(using.whose_question(None, None).await, Attribution::Ambiguous));
        assert!(using.takes_turns());
        // Her call is answered while her question lies in the queue.
        asker.answered();
        drop(asker);
        assert!(matches!(using.whose_question(None, Some(&[1, 2])).await, Attribution::Ambiguous));
        assert_eq!(began.elapsed(), Duration::ZERO);
        // What is asked after that is about the one call there is.
        assert!(matches!(using.whose_question(None, Some(&[2])).await, Attribution::Owners(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_whose_calls_have_all_ended_is_nobodys_to_answer() {
        let using = Arc::new(InFlightCalls::default());
        assert!(matches!(using.whose_question(None, Some(&[1, 2])).await, Attribution::Ambiguous));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_whose_call_may_be_gone_is_nobodys() {
        let using = Arc::new(InFlightCalls::default());
        let _one = using.begin(user(1));
        let other = using.begin(user(2));
        let question = tokio::spawn({
            let using = using.clone();
            async move { using.whose_question(None, None).await }
        });
        tokio::task::yield_now().await;
        drop(other);
        assert!(matches!(question.await.unwrap(), Attribution::Ambiguous));
    }

    #[tokio::test(start_paused = true)]
    async fn a_doubt_that_does_not_end_is_given_up() {
        let using = Arc::new(InFlightCalls::default());
        let (_one, _other) = (using.begin(user(1)), using.begin(user(2)));
        assert!(matches!(using.whose_question(None, None).await, Attribution::Ambiguous));
    }

    #[tokio::test(start_paused = true)]
    async fn calls_take_turns_but_nobody_waits_for_ever() {
        let using = Arc::new(InFlightCalls::default());
        using.take_turns();
        let mut first = using.begin_in_turn(user(1)).await;
        let _same_owner = using.begin_in_turn(user(1)).await;
        let began = Instant::now();
        let _late = using.begin_in_turn(user(2)).await;
        assert_eq!(began.elapsed(), TURN);
        first.answered();
    }
}
