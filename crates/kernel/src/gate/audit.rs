//! The audit trail (MGP 6): how events are made, when they are written, and how hard.
//!
//! What is said to change something is on disk before it happens and again when it is over. What may change something,
//! without anybody saying so, is in the journal before it happens, and so is the end of every call before anybody hears
//! of it; the store has it a moment later. The journal outlives the process, not a power cut. Without a store, events go
//! to the log. Text in an event is cut where it is long: whoever sends much must not keep an event, or those beside it,
//! from being written.

mod decisions;
mod pile;
mod writing;

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use switchboard_peer::Session;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_store::{Actor, AuditEvent, Details, Store, Target};
use tokio::sync::Notify;

use super::hearers::{Hearer, Hearers};
use super::underway::Underway;
use pile::{Pile, Waiting};

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
    /// Somebody went on with an operation, or got its kept result.
    pub(crate) const OPERATION_RESUMED: &str = "dev.switchboard.operation_resumed";
    /// A tool is not the one that was accepted.
    pub(crate) const QUARANTINED: &str = "dev.switchboard.definition_quarantined";
    /// A tool is described as if it gave orders to the model.
    pub(crate) const MARKED: &str = "dev.switchboard.definition_marked";
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
    /// The operator wants definitions taken as at first sight.
    pub(crate) const DEFINITION_FORGOTTEN: &str = "dev.switchboard.definition_forgotten";
    /// Old records were removed.
    pub(crate) const AUDIT_PRUNED: &str = "dev.switchboard.audit_pruned";

    /// What is written by whoever decides, and told from the log. The last four are of the program around the kernel:
    /// who may come in, and in whose name servers are used.
    pub(crate) const DECISIONS: [&str; 13] = [
        PERMISSION_GRANTED,
        PERMISSION_DENIED,
        PERMISSION_REVOKED,
        ACCESS_GRANTED,
        ACCESS_REVOKED,
        CALLBACK_ANSWERED,
        DEFINITION_ACCEPTED,
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

/// Writes events.
pub(crate) struct Auditor {
    store: Option<Store>,
    /// What is in the journal, and not yet in the store.
    pile: Arc<Pile>,
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
        let pile = Arc::new(Pile::default());
        let work = writing::write_always(store.clone(), pile.clone(), underway.clone());
        (
            Self { store, pile, underway, hearers: Hearers::default(), tap: OnceLock::new(), decided: Notify::new() },
            work,
        )
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
        let Some(store) = &self.store else { return Ok(0) };
        let writing = async { store.audit().append_prepared(vec![store.audit().prepare(&event)?]).await };
        match writing.await {
            Ok(appended) => Ok(appended.last().map_or(0, |appended| appended.seq)),
            Err(error) => {
                tracing::error!(%error, event = %event.event_type, "the audit log takes nothing");
                Err(unwritable().with_source(error))
            }
        }
    }

    /// Writes an event: to the journal now, to the store soon.
    pub(crate) async fn note(&self, event: AuditEvent) {
        if let Some(waiting) = self.journaled(&event, None) {
            self.pile.add(waiting).await;
        }
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
            !synced && self.underway.keeps() && self.store.as_ref().is_some_and(Store::takes_writes)
        });
        let Some(journal) = journal else {
            self.underway.begin(call, None);
            let seq = self.record(intent()).await?;
            self.underway.on_record(call, seq);
            self.underway.kept(true);
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
            unwritable()
        })?;
        self.underway.begin(call, Some(line));
        self.pile.stir();
        Ok(())
    }

    /// Writes an event as [`Auditor::note`] does, from where nobody can wait: if too much waits already, it goes to the
    /// log alone.
    pub(crate) fn note_now(&self, event: &AuditEvent) {
        self.note_end(event, None);
    }

    /// The same for the end of a call.
    pub(crate) fn note_end(&self, event: &AuditEvent, call: Option<u64>) {
        let Some(waiting) = self.journaled(event, call) else { return self.underway.end(call) };
        if let Err(waiting) = self.pile.try_add(waiting) {
            tracing::error!(event = waiting.event.text(), "the audit log is behind: this event is not in it");
            if let (Some(journal), Some(line)) = (self.underway.journal(), waiting.line) {
                journal.settle(line);
            }
        }
    }

    /// Writes down how a call ended that may have changed something: in the journal when this returns, whoever goes
    /// away meanwhile.
    pub(crate) async fn settle(&self, event: AuditEvent, call: u64) {
        let Some(waiting) = self.journaled(&event, Some(call)) else { return self.underway.end([call]) };
        if let Err(waiting) = self.pile.try_add(waiting) {
            // In a task of its own: a caller that goes away now does not take the outcome along.
            let pile = self.pile.clone();
            let _ = tokio::spawn(async move { pile.add(waiting).await }).await;
        }
    }

    /// An event that stands in the journal, to be written to the store; `None` where there is none.
    fn journaled(&self, event: &AuditEvent, ends: Option<u64>) -> Option<Waiting> {
        self.tell(event);
        let event = match self.store.as_ref()?.audit().prepare(event) {
            Ok(event) => event,
            Err(error) => {
                tracing::error!(%error, "an event could not be written to the audit log");
                return None;
            }
        };
        let written = self.underway.journal().map(|journal| journal.write(event.text()));
        let line = written.transpose().unwrap_or_else(|error| {
            tracing::error!(%error, "the journal of the audit log takes nothing");
            None
        });
        if let Some(call) = ends {
            self.underway.over(call);
        }
        Some(Waiting { event, ends, line })
    }

    /// Waits until what was to be written soon is written.
    pub(crate) async fn flush(&self) {
        let _ = tokio::time::timeout(FLUSH, self.pile.flush()).await;
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
        self.pile.close();
    }
}

/// The fault of a call that would not be on record.
fn unwritable() -> Fault {
    Fault::new(FaultKind::ResourceExhausted, "the call cannot be put on record, so it is not made")
        .suggest("make room on the disk, or see `switchboard doctor`")
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
