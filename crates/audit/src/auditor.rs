//! The audit trail (MGP 6): how events are made, when they are written, and how hard.
//!
//! What is said to change something is on disk before it happens and again when it is over. What may change something,
//! without anybody saying so, is in the journal before it happens, and so is the end of every call before anybody hears
//! of it; the store has it a moment later. The journal outlives the process, not a power cut. While the store takes
//! nothing, what happened is kept in the journal and nothing that changes something begins; once the journal has no room
//! either, nothing begins at all. Without a store, events go to the log. Text in an event is cut where it is long: whoever sends much must not keep an event, or those beside it,
//! from being written.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_store::{AuditEvent, Details, Store, StoreError};
use tokio::sync::Notify;

use crate::counts::{EventCounters, EventCounts};
use crate::events::{CALL, event, result, with};
use crate::open_calls::OpenCalls;
use crate::queue::{AuditQueue, Then, Waiting};
use crate::sink::{AuditSink, AuditSinks};
use crate::writer;

/// How long the writing of what waits may take at the end.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether an event takes room in the journal when little is left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    /// It tells of something that happened.
    Needed,
    /// Nothing happened: what is left is for those to whom something did.
    IfPlenty,
}

/// Writes events.
pub struct Auditor {
    pub(crate) store: Option<Store>,
    /// What is in the journal, and not yet in the store.
    queue: Arc<AuditQueue>,
    open_calls: Arc<OpenCalls>,
    sinks: AuditSinks,
    counters: EventCounters,
    /// Somebody decided in this process.
    pub(crate) decided: Notify,
}

thread_local! {
    /// Where the text of an intent is put together: it is in the journal a moment later.
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
}

impl std::fmt::Debug for Auditor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auditor").field("keeps", &self.keeps()).finish_non_exhaustive()
    }
}

impl Auditor {
    /// An auditor, and the work that writes what is written soon. It ends with the auditor.
    pub fn new(store: Option<Store>) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let open_calls = OpenCalls::new(store.as_ref());
        let queue = Arc::new(AuditQueue::default());
        let work = writer::write_always(store.clone(), queue.clone(), open_calls.clone());
        let (sinks, counters, decided) = (AuditSinks::default(), EventCounters::default(), Notify::new());
        (Self { store, queue, open_calls, sinks, counters, decided }, work)
    }

    /// The calls that were begun and have not ended.
    #[must_use]
    pub const fn open_calls(&self) -> &Arc<OpenCalls> {
        &self.open_calls
    }

    /// Whether anything is kept.
    pub const fn keeps(&self) -> bool {
        self.store.is_some()
    }

    /// Writes an event, and says where it is. When this returns, it is durable.
    ///
    /// # Errors
    /// The store takes nothing: what the event is about must not happen.
    pub async fn record(&self, event: AuditEvent) -> Result<u64, Fault> {
        self.tell(&event);
        self.append(&event).await.map_err(|error| unwritable(Some(&error)).with_source(error))
    }

    /// The same behind everything that was noted before it.
    ///
    /// # Errors
    /// As [`Self::record`].
    pub async fn record_in_order(&self, event: AuditEvent) -> Result<u64, Fault> {
        if self.keeps() {
            self.flush().await;
        }
        self.record(event).await
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
    pub fn admit_read(&self) -> Result<(), Fault> {
        let kept = match self.open_calls.journal() {
            _ if self.store.is_none() => true,
            Some(journal) => !journal.is_low(),
            None => self.open_calls.is_kept(),
        };
        if kept { Ok(()) } else { Err(unwritable(None)) }
    }

    /// Whether something that changes something can be put on record, and so may begin.
    ///
    /// # Errors
    /// It cannot: the store takes nothing.
    pub fn admit_effect(&self) -> Result<(), Fault> {
        if self.is_keeping() { Ok(()) } else { Err(unwritable(None)) }
    }

    /// Whether what happens can be put on record now.
    pub fn is_keeping(&self) -> bool {
        self.store.is_none() || self.open_calls.is_kept() && self.admit_read().is_ok()
    }

    /// Writes an event: to the journal now, to the store soon.
    pub async fn note(&self, event: AuditEvent) {
        let Some(waiting) = self.journaled(&event, None, Room::IfPlenty) else { return };
        match self.queue.try_add(waiting) {
            Ok(()) => {}
            Err(waiting) if waiting.line.is_some() && !self.open_calls.is_kept() => self.queue.add_line(waiting),
            // Nothing happened that must be told: who was refused does not wait for the store to come back.
            Err(_) if !self.open_calls.is_kept() => {
                tracing::error!(event = %event.event_type, "neither store nor journal take this event");
            }
            Err(waiting) => self.queue.add(waiting).await,
        }
    }

    /// The same for something that happens only if it is on record.
    ///
    /// # Errors
    /// Neither the store nor the journal has room: it must not happen.
    pub async fn note_first(&self, event: AuditEvent) -> Result<(), Fault> {
        self.admit_read()?;
        self.settle(event, None).await;
        Ok(())
    }

    /// Writes down that a call is about to be made that ends, if all goes well, with this event: durably, or to the
    /// journal. The store gets to know of it only if the call lasts.
    ///
    /// # Errors
    /// It cannot be written: the call must not be made.
    pub async fn intend(&self, outcome: &AuditEvent, call: u64, synced: bool) -> Result<(), Fault> {
        let intent =
            || AuditEvent { event_type: event::INTENT.into(), result: result::PENDING.into(), ..outcome.clone() };
        let journal = self.open_calls.journal().filter(|_| {
            // The journal alone is no record. Whether the store takes something again is seen by asking it.
            let keeps = self.open_calls.is_kept() && self.store.as_ref().is_some_and(Store::takes_writes);
            !synced && keeps
        });
        let journal = journal.filter(|journal| !journal.is_low());
        let Some(journal) = journal else {
            self.open_calls.begin(call, None);
            let intent = intent();
            self.tell(&intent);
            let seq = self.append(&intent).await.map_err(|error| {
                // One event that is too large says nothing of the others.
                if !matches!(error, StoreError::TooLarge { .. }) {
                    self.open_calls.kept(false);
                }
                unwritable(Some(&error)).with_source(error)
            })?;
            self.open_calls.on_record(call, seq);
            if !self.open_calls.kept(true) {
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
        self.open_calls.begin(call, Some(line));
        self.queue.wake_writer();
        Ok(())
    }

    /// Writes an event as [`Auditor::note`] does, from where nobody can wait: if too much waits already, it goes to the
    /// log alone.
    pub fn note_now(&self, event: &AuditEvent) {
        self.note_at_once(event, None, Room::IfPlenty);
    }

    /// The same for a call that was not made after all.
    pub fn note_not_made(&self, event: &AuditEvent, call: u64) {
        self.note_at_once(event, Some(call), Room::IfPlenty);
    }

    /// The same for the end of a call.
    pub fn note_end(&self, event: &AuditEvent, call: Option<u64>) {
        self.note_at_once(event, call, Room::Needed);
    }

    fn note_at_once(&self, event: &AuditEvent, call: Option<u64>, room: Room) {
        let Some(waiting) = self.journaled(event, call, room) else { return self.open_calls.end(call) };
        match self.queue.try_add(waiting) {
            Ok(()) => {}
            Err(waiting) if waiting.line.is_some() => self.queue.add_line(waiting),
            Err(_) => tracing::error!(event = event.canonical(), "the audit log is behind: this event is not in it"),
        }
    }

    /// Writes down how a call ended: in the journal when this returns, whoever goes away meanwhile. A call that only read
    /// has no number.
    pub async fn settle(&self, event: AuditEvent, call: Option<u64>) {
        let Some(waiting) = self.journaled(&event, call, Room::Needed) else { return self.open_calls.end(call) };
        self.keep(waiting).await;
    }

    /// The same for a call whose outcome is on disk when this returns. Where the store does not take it, it stands in the
    /// journal, and the store gets it as soon as it takes something again.
    pub async fn settle_synced(&self, event: AuditEvent, call: u64) {
        self.tell(&event);
        let known = self.open_calls.last();
        let offered = self.open_calls.is_kept();
        if offered && self.append(&event).await.is_ok() {
            return self.open_calls.end([call]);
        }
        self.open_calls.kept(false);
        let Some(waiting) = self.written_down(&event, Some(call), Room::Needed) else {
            return self.open_calls.end([call]);
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
        let journal = self.open_calls.journal().filter(|journal| room == Room::Needed || !journal.is_low());
        let written = journal.map(|journal| journal.write(prepared.text()));
        let line = written.transpose().unwrap_or_else(|error| {
            tracing::error!(%error, "the journal of the audit log takes nothing");
            None
        });
        // An intent in the journal is needed until its outcome stands there too.
        if let Some(call) = ends.filter(|_| line.is_some()) {
            self.open_calls.over(call);
        }
        let then = ends.map_or(Then::Nothing, Then::Ended);
        Some(Waiting { event: Some(prepared), then, line, after: None })
    }

    /// Waits until what was to be written soon is written.
    pub async fn flush(&self) {
        let _ = tokio::time::timeout(FLUSH_TIMEOUT, self.queue.flush()).await;
    }

    /// Names who hears of events: once, at the beginning.
    pub fn set_sinks(&self, sinks: Vec<Arc<dyn AuditSink>>) {
        self.sinks.set(sinks);
    }

    /// Whether anybody hears of events.
    pub(crate) fn is_heard(&self) -> bool {
        self.sinks.are_listening() || tracing::enabled!(target: "audit", tracing::Level::DEBUG)
    }

    /// How many events there were, and how many wait to be written.
    #[must_use]
    pub fn counts(&self) -> EventCounts {
        self.counters.snapshot(self.queue.len())
    }

    pub(crate) fn tell(&self, event: &AuditEvent) {
        self.counters.note(event);
        self.sinks.emit(event);
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
