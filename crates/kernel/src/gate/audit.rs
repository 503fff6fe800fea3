//! The audit trail (MGP 6): how events are made, when they are written, and how hard.
//!
//! What is said to change something is on disk before it happens and again when it is over. What may change something,
//! without anybody saying so, is in the journal before it happens, and so is the end of every call before anybody hears
//! of it; the store has it a moment later. The journal outlives the process, not a power cut. While the store takes
//! nothing, what happened is kept in the journal and nothing that changes something begins; once the journal has no room
//! either, nothing begins at all. Without a store, events go to the log. Text in an event is cut where it is long: whoever sends much must not keep an event, or those beside it,
//! from being written.

mod decisions;
mod queue;
#[cfg(test)]
mod tests;
mod writer;

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use switchboard_peer::Session;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_store::{Actor, AuditEvent, Details, Store, StoreError, Target};
use tokio::sync::Notify;

use super::hearers::{Hearer, Hearers};
use super::underway::Underway;
use queue::{AuditQueue, Then, Waiting};

/// How long the writing of what waits may take at the end.
const FLUSH: Duration = Duration::from_secs(10);
/// Bytes of one text in the details of an event.
const LONGEST_TEXT: usize = 2_048;
/// The detail that ties the outcome of a call to its intent.
pub(crate) const CALL: &str = "call";

/// The event types of MGP 6.4 and later versions, and the kernel's own.
pub(crate) mod event {
    pub(crate) use switchboard_protocol::mgp::audit::event::*;

    /// A call that may change something is about to be made.
    pub(crate) const INTENT: &str = "dev.switchboard.tool_intent";
    /// A call was begun, and nobody saw how it ended.
    pub(crate) const UNKNOWN_OUTCOME: &str = "dev.switchboard.unknown_outcome";
    /// A request that only its server understands was passed on.
    pub(crate) const PASSED: &str = "dev.switchboard.request_passed";
    /// A call waits for a person.
    pub(crate) const HELD: &str = "dev.switchboard.call_held";
    /// A person, or a standing approval, let a held call go on.
    pub(crate) const APPROVED: &str = "dev.switchboard.call_approved";
    /// The operator answered a question of a server.
    pub(crate) const CALLBACK_ANSWERED: &str = "dev.switchboard.callback_answered";
    /// A question of a server was not asked, because too many are open.
    pub(crate) const CALLBACK_REFUSED: &str = "dev.switchboard.callback_refused";
    /// Somebody asked about a task, or went on with it.
    pub(crate) const TASK_ASKED: &str = "dev.switchboard.task_asked";
    /// Somebody went on with an operation, or got its kept result.
    pub(crate) const OPERATION_RESUMED: &str = "dev.switchboard.operation_resumed";
    /// A tool is not the one that was accepted.
    pub(crate) const QUARANTINED: &str = "dev.switchboard.definition_quarantined";
    /// A tool is described as if it gave orders to the model.
    pub(crate) const MARKED: &str = "dev.switchboard.definition_marked";
    /// A definition is not shown, because clients would refuse the whole list with it.
    pub(crate) const DEFINITION_UNFIT: &str = "dev.switchboard.definition_unfit";
    /// Somebody asked for scopes.
    pub(crate) const SCOPES_NEGOTIATED: &str = "dev.switchboard.scopes_negotiated";
    /// A call that failed is made again, or another in its place.
    pub(crate) const RETRIED: &str = "dev.switchboard.call_retried";
    /// Calls to a server are stopped for a while, or no longer.
    pub(crate) const BREAKER: &str = "dev.switchboard.breaker";
    /// A server is in another state.
    pub(crate) const SERVER_STATE: &str = "dev.switchboard.server_state";
    /// Somebody wants a server started or ended.
    pub(crate) const SERVER_ORDER: &str = "dev.switchboard.server_order";
    /// Somebody registered a server, or wrote a tool that has one.
    pub(crate) const SERVER_REGISTERED: &str = "dev.switchboard.server_registered";
    /// Such a server was ended and is gone.
    pub(crate) const SERVER_DEREGISTERED: &str = "dev.switchboard.server_deregistered";
    /// Somebody was not let register a server or write a tool.
    pub(crate) const REGISTRATION_REFUSED: &str = "dev.switchboard.registration_refused";
    /// A prompt was got or a resource read.
    pub(crate) const READ: &str = "dev.switchboard.content_read";
    /// Somebody searched for tools, or asked for some.
    pub(crate) const TOOLS_SOUGHT: &str = "dev.switchboard.tools_sought";
    /// The operator accepted the definition of a tool.
    pub(crate) const DEFINITION_ACCEPTED: &str = "dev.switchboard.definition_accepted";
    /// The operator has seen a definition and does not want it.
    pub(crate) const DEFINITION_REFUSED: &str = "dev.switchboard.definition_refused";
    /// The operator wants definitions taken as at first sight.
    pub(crate) const DEFINITION_FORGOTTEN: &str = "dev.switchboard.definition_forgotten";
    /// Old records were removed.
    pub(crate) const AUDIT_PRUNED: &str = "dev.switchboard.audit_pruned";

    /// What is written by whoever decides, and told from the log. The last four are of the program around the kernel:
    /// who may come in, and in whose name servers are used.
    pub(crate) const DECISIONS: [&str; 14] = [
        PERMISSION_GRANTED,
        PERMISSION_DENIED,
        PERMISSION_REVOKED,
        ACCESS_GRANTED,
        ACCESS_REVOKED,
        CALLBACK_ANSWERED,
        DEFINITION_ACCEPTED,
        DEFINITION_REFUSED,
        DEFINITION_FORGOTTEN,
        AUDIT_PRUNED,
        "dev.switchboard.token_issued",
        "dev.switchboard.token_revoked",
        "dev.switchboard.login",
        "dev.switchboard.logout",
    ];
}

/// What an event says of how something ended.
pub(crate) mod result {
    pub(crate) const SUCCESS: &str = "SUCCESS";
    pub(crate) const FAILURE: &str = "FAILURE";
    pub(crate) const BLOCKED: &str = "BLOCKED";
    pub(crate) const PENDING: &str = "PENDING";
    pub(crate) const UNKNOWN: &str = "UNKNOWN";
}

/// Whether an event takes room in the journal when little is left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    /// It tells of something that happened.
    Needed,
    /// Nothing happened: what is left is for those to whom something did.
    IfPlenty,
}

/// Writes events.
pub(crate) struct Auditor {
    store: Option<Store>,
    /// What is in the journal, and not yet in the store.
    queue: Arc<AuditQueue>,
    pub(crate) underway: Arc<Underway>,
    /// Servers that want to hear of events.
    hearers: Hearers,
    /// Hears of every event as well.
    tap: OnceLock<Tap>,
    /// Somebody decided in this process.
    decided: Notify,
}

/// Somebody who hears of every event, while anybody wants to.
struct Tap {
    wanted: Arc<AtomicUsize>,
    tell: Box<dyn Fn(&AuditEvent) + Send + Sync>,
}

thread_local! {
    /// Where the text of an intent is put together: it is in the journal a moment later.
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
}

impl Auditor {
    /// An auditor, and the work that writes what is written soon. It ends with the auditor.
    pub(crate) fn new(store: Option<Store>) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let underway = Underway::new(store.as_ref());
        let queue = Arc::new(AuditQueue::default());
        let work = writer::write_always(store.clone(), queue.clone(), underway.clone());
        let (hearers, tap, decided) = (Hearers::default(), OnceLock::new(), Notify::new());
        (Self { store, queue, underway, hearers, tap, decided }, work)
    }

    /// Whether anything is kept.
    pub(crate) const fn keeps(&self) -> bool {
        self.store.is_some()
    }

    /// Writes an event, and says where it is. When this returns, it is durable.
    ///
    /// # Errors
    /// The store takes nothing: what the event is about must not happen.
    pub(crate) async fn record(&self, event: AuditEvent) -> Result<u64, Fault> {
        self.tell(&event);
        self.append(&event).await.map_err(|error| unwritable(Some(&error)).with_source(error))
    }

    async fn append(&self, event: &AuditEvent) -> Result<u64, StoreError> {
        let Some(store) = &self.store else { return Ok(0) };
        let writing = async { store.audit().append_prepared(vec![store.audit().prepare(event)?]).await };
        let appended = writing.await.inspect_err(|error| {
            tracing::error!(%error, event = %event.event_type, "the audit log takes nothing");
        })?;
        Ok(appended.last().map_or(0, |appended| appended.seq))
    }

    /// Whether a call that only reads can be put on record when it is over.
    ///
    /// # Errors
    /// It cannot: the store takes nothing, and the journal has no room left.
    pub(crate) fn admit_read(&self) -> Result<(), Fault> {
        let kept = match self.underway.journal() {
            _ if self.store.is_none() => true,
            Some(journal) => !journal.is_low(),
            None => self.underway.is_kept(),
        };
        if kept { Ok(()) } else { Err(unwritable(None)) }
    }

    /// Whether something that changes something can be put on record, and so may begin.
    ///
    /// # Errors
    /// It cannot: the store takes nothing.
    pub(crate) fn admit_effect(&self) -> Result<(), Fault> {
        if self.is_keeping() { Ok(()) } else { Err(unwritable(None)) }
    }

    /// Whether what happens can be put on record now.
    pub(crate) fn is_keeping(&self) -> bool {
        self.store.is_none() || self.underway.is_kept() && self.admit_read().is_ok()
    }

    /// Writes an event: to the journal now, to the store soon.
    pub(crate) async fn note(&self, event: AuditEvent) {
        let Some(waiting) = self.journaled(&event, None, Room::IfPlenty) else { return };
        match self.queue.try_add(waiting) {
            Ok(()) => {}
            Err(waiting) if waiting.line.is_some() && !self.underway.is_kept() => self.queue.add_line(waiting),
            // Nothing happened that must be told: who was refused does not wait for the store to come back.
            Err(_) if !self.underway.is_kept() => {
                tracing::error!(event = %event.event_type, "neither store nor journal take this event");
            }
            Err(waiting) => self.queue.add(waiting).await,
        }
    }

    /// The same for something that happens only if it is on record.
    ///
    /// # Errors
    /// Neither the store nor the journal has room: it must not happen.
    pub(crate) async fn note_first(&self, event: AuditEvent) -> Result<(), Fault> {
        self.admit_read()?;
        self.settle(event, None).await;
        Ok(())
    }

    /// Writes down that a call is about to be made that ends, if all goes well, with this event: durably, or to the
    /// journal. The store gets to know of it only if the call lasts.
    ///
    /// # Errors
    /// It cannot be written: the call must not be made.
    pub(crate) async fn intend(&self, outcome: &AuditEvent, call: u64, synced: bool) -> Result<(), Fault> {
        let intent =
            || AuditEvent { event_type: event::INTENT.into(), result: result::PENDING.into(), ..outcome.clone() };
        let journal = self.underway.journal().filter(|_| {
            // The journal alone is no record. Whether the store takes something again is seen by asking it.
            let keeps = self.underway.is_kept() && self.store.as_ref().is_some_and(Store::takes_writes);
            !synced && keeps
        });
        let journal = journal.filter(|journal| !journal.is_low());
        let Some(journal) = journal else {
            self.underway.begin(call, None);
            let intent = intent();
            self.tell(&intent);
            let seq = self.append(&intent).await.map_err(|error| {
                // One event that is too large says nothing of the others.
                if !matches!(error, StoreError::TooLarge { .. }) {
                    self.underway.kept(false);
                }
                unwritable(Some(&error)).with_source(error)
            })?;
            self.underway.on_record(call, seq);
            if !self.underway.kept(true) {
                self.queue.hurry();
            }
            return Ok(());
        };
        if self.is_heard() {
            self.tell(&intent());
        }
        let written = TEXT.with_borrow_mut(|text| {
            text.clear();
            outcome.canonical_as(event::INTENT, result::PENDING, text);
            if self.store.as_ref().is_some_and(|store| text.len() > store.audit().longest_event()) {
                return Err(std::io::ErrorKind::FileTooLarge.into());
            }
            journal.write(text)
        });
        let line = written.map_err(|error| {
            tracing::error!(%error, "the journal of the audit log takes nothing");
            unwritable(None)
        })?;
        self.underway.begin(call, Some(line));
        self.queue.wake_writer();
        Ok(())
    }

    /// Writes an event as [`Auditor::note`] does, from where nobody can wait: if too much waits already, it goes to the
    /// log alone.
    pub(crate) fn note_now(&self, event: &AuditEvent) {
        self.note_at_once(event, None, Room::IfPlenty);
    }

    /// The same for a call that was not made after all.
    pub(crate) fn note_not_made(&self, event: &AuditEvent, call: u64) {
        self.note_at_once(event, Some(call), Room::IfPlenty);
    }

    /// The same for the end of a call.
    pub(crate) fn note_end(&self, event: &AuditEvent, call: Option<u64>) {
        self.note_at_once(event, call, Room::Needed);
    }

    fn note_at_once(&self, event: &AuditEvent, call: Option<u64>, room: Room) {
        let Some(waiting) = self.journaled(event, call, room) else { return self.underway.end(call) };
        match self.queue.try_add(waiting) {
            Ok(()) => {}
            Err(waiting) if waiting.line.is_some() => self.queue.add_line(waiting),
            Err(_) => tracing::error!(event = event.canonical(), "the audit log is behind: this event is not in it"),
        }
    }

    /// Writes down how a call ended: in the journal when this returns, whoever goes away meanwhile. A call that only read
    /// has no number.
    pub(crate) async fn settle(&self, event: AuditEvent, call: Option<u64>) {
        let Some(waiting) = self.journaled(&event, call, Room::Needed) else { return self.underway.end(call) };
        self.keep(waiting).await;
    }

    /// The same for a call whose outcome is on disk when this returns. Where the store does not take it, it stands in the
    /// journal, and the store gets it as soon as it takes something again.
    pub(crate) async fn settle_synced(&self, event: AuditEvent, call: u64) {
        self.tell(&event);
        let known = self.underway.last();
        let offered = self.underway.is_kept();
        if offered && self.append(&event).await.is_ok() {
            return self.underway.end([call]);
        }
        self.underway.kept(false);
        let Some(waiting) = self.written_down(&event, Some(call), Room::Needed) else {
            return self.underway.end([call]);
        };
        self.keep(Waiting { after: offered.then_some(known), ..waiting }).await;
    }

    /// Leaves an event to the writer.
    async fn keep(&self, waiting: Waiting) {
        let journaled = waiting.line.is_some();
        if let Err(waiting) = self.queue.try_add(waiting) {
            // In a task of its own: a caller that goes away now does not take the outcome along.
            let queue = self.queue.clone();
            let _ = tokio::spawn(async move { queue.add(waiting).await }).await;
        }
        if !journaled {
            // Nothing but this process has it: the store is tried before anybody hears of it.
            self.flush().await;
        }
    }

    /// An event that stands in the journal, to be written to the store; `None` where there is none.
    fn journaled(&self, event: &AuditEvent, ends: Option<u64>, room: Room) -> Option<Waiting> {
        self.tell(event);
        self.written_down(event, ends, room)
    }

    fn written_down(&self, event: &AuditEvent, ends: Option<u64>, room: Room) -> Option<Waiting> {
        let log = self.store.as_ref()?.audit();
        // What happened is on record, if need be without what it happened with.
        let prepared = match log.prepare(event).or_else(|_| log.prepare(&shortened(event))) {
            Ok(prepared) => prepared,
            Err(error) => {
                tracing::error!(%error, "an event could not be written to the audit log");
                return None;
            }
        };
        let journal = self.underway.journal().filter(|journal| room == Room::Needed || !journal.is_low());
        let written = journal.map(|journal| journal.write(prepared.text()));
        let line = written.transpose().unwrap_or_else(|error| {
            tracing::error!(%error, "the journal of the audit log takes nothing");
            None
        });
        // An intent in the journal is needed until its outcome stands there too.
        if let Some(call) = ends.filter(|_| line.is_some()) {
            self.underway.over(call);
        }
        let then = ends.map_or(Then::Nothing, Then::Ended);
        Some(Waiting { event: Some(prepared), then, line, after: None })
    }

    /// Waits until what was to be written soon is written.
    pub(crate) async fn flush(&self) {
        let _ = tokio::time::timeout(FLUSH, self.queue.flush()).await;
    }

    /// Names the servers that hear of events from now on.
    pub(crate) fn set_hearers(&self, hearers: Vec<Hearer>) {
        self.hearers.set(hearers);
    }

    /// Names who hears of every event from now on, while somebody wants to: once, at the beginning.
    pub(crate) fn tap(&self, wanted: Arc<AtomicUsize>, tell: impl Fn(&AuditEvent) + Send + Sync + 'static) {
        let _ = self.tap.set(Tap { wanted, tell: Box::new(tell) });
    }

    /// Whether anybody hears of events.
    fn is_heard(&self) -> bool {
        let tapped = self.tap.get().is_some_and(|tap| tap.wanted.load(Ordering::Relaxed) > 0);
        tapped || !self.hearers.is_empty() || tracing::enabled!(target: "audit", tracing::Level::DEBUG)
    }

    fn tell(&self, event: &AuditEvent) {
        if let Some(tap) = self.tap.get().filter(|tap| tap.wanted.load(Ordering::Relaxed) > 0) {
            (tap.tell)(event);
        }
        self.hearers.tell(event);
        log(event);
    }
}

impl Drop for Auditor {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// An event without what can be long in it.
fn shortened(event: &AuditEvent) -> AuditEvent {
    let kept = [CALL, "duration_ms", "error", "error_code", "step"];
    let mut short = AuditEvent { details: Details::default(), ..event.clone() };
    for key in kept {
        if let Some(value) = event.details.get(key) {
            short.details.insert(key, value.clone());
        }
    }
    with(short, "details_omitted", true)
}

/// The fault of a call that would not be on record, with what can be done about it.
fn unwritable(cause: Option<&StoreError>) -> Fault {
    let advice = match cause {
        Some(StoreError::Full(_)) => "make room on the disk",
        Some(StoreError::Busy(_)) => "another process holds the database: end it, or try again",
        Some(StoreError::Unavailable(_) | StoreError::Timeout | StoreError::Undetermined) => {
            "the database does not answer: see that it runs; calls pass again as soon as it does"
        }
        Some(StoreError::ChainBroken(_)) => {
            "the database is not the one that this kernel wrote to last: put that one back, or see `switchboard restore`"
        }
        Some(StoreError::Gone(_)) => "the file of the database was removed or replaced: put it back, then start anew",
        Some(StoreError::Corrupt(_)) => "the database is damaged: restore a copy, see `switchboard restore`",
        Some(StoreError::ReadOnly) => "the database takes no writes: see whether it is a standby",
        _ => "see `switchboard doctor` and the log of the kernel",
    };
    Fault::new(FaultKind::ResourceExhausted, "the call cannot be put on record, so it is not made").suggest(advice)
}

fn log(event: &AuditEvent) {
    tracing::debug!(
        target: "audit",
        event = %event.event_type,
        actor = %event.actor.id,
        server = event.target.server_id.as_deref(),
        tool = event.target.tool_name.as_deref(),
        result = %event.result,
    );
}

/// An event about nothing in particular yet, with the trace of the request that is being answered.
pub(crate) fn event_of(event_type: &str, actor: Actor, outcome: &str) -> AuditEvent {
    AuditEvent {
        timestamp: Timestamp::now(),
        trace_id: Some(super::trace::current().into()),
        event_type: event_type.into(),
        actor,
        target: Target::default(),
        result: outcome.into(),
        details: Details::default(),
    }
}

/// The kernel as the one who did something.
pub(crate) fn kernel() -> Actor {
    Actor { kind: "kernel".into(), id: "switchboard".into() }
}

/// The principal of a session as the one who did something.
pub(crate) fn principal(session: &Session) -> Actor {
    let kind = if session.identity.admin { "user" } else { "agent" };
    Actor { kind: kind.into(), id: session.principal.as_ref().into() }
}

/// An event with one more detail.
pub(crate) fn with(mut event: AuditEvent, key: &str, value: impl Into<Value>) -> AuditEvent {
    let value = match value.into() {
        Value::String(text) if text.len() > LONGEST_TEXT => {
            let shown = &text[..text.floor_char_boundary(LONGEST_TEXT)];
            format!("{shown}… ({} bytes)", text.len()).into()
        }
        value => value,
    };
    event.details.insert(key, value);
    event
}

/// An event about a server, and a tool of it.
pub(crate) fn about(mut event: AuditEvent, server: &str, tool: Option<&str>) -> AuditEvent {
    event.target = Target { server_id: Some(server.into()), tool_name: tool.map(Into::into) };
    event
}
