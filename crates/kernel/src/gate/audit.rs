//! The audit trail (MGP 6): how events are made, when they are written, and how hard.
//!
//! What is said to change something is on disk before it happens and again when it is over. What may change something,
//! without anybody saying so, is in the journal before it happens, and so is the end of every call before anybody hears
//! of it; the store has it a moment later. The journal outlives the process, not a power cut. Without a store, events go
//! to the log. Text in an event is cut where it is long: whoever sends much must not keep an event, or those beside it,
//! from being written.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value};
use switchboard_peer::Session;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_store::{Actor, AuditEvent, Prepared, Store, Target};
use tokio::sync::{Notify, mpsc, oneshot};

use super::hearers::{Hearer, Hearers};
use super::journal::Page;
use super::underway::Underway;

/// Events that may wait to be written. Who comes later waits.
const QUEUE: usize = 8_192;
/// Events written together, at most.
const GROUP: usize = 2_048;
/// How long events that nobody waits for are gathered: the journal has them, and each sync costs as much as many calls.
const GATHER: Duration = Duration::from_millis(150);
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
    soon: mpsc::Sender<Job>,
    /// Somebody waits for what is gathered.
    hurry: Arc<Notify>,
    pub(crate) underway: Arc<Underway>,
    /// Servers that want to hear of events.
    hearers: Hearers,
    /// Hears of every event as well.
    tap: OnceLock<Tap>,
}

type Tap = Box<dyn Fn(&AuditEvent) + Send + Sync>;

enum Job {
    Write(Box<Waiting>),
    Flush(oneshot::Sender<()>),
}

/// An event on its way to the store.
struct Waiting {
    event: Prepared,
    part: Part,
    /// Where it stands in the journal.
    page: Option<Page>,
}

/// What an event says of a call that may change something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    None,
    /// It is about to be made.
    Begins(u64),
    /// It is over.
    Ends(u64),
}

impl Auditor {
    /// An auditor, and the work that writes what is written soon. It ends with the auditor.
    pub(crate) fn new(store: Option<Store>) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (soon, jobs) = mpsc::channel(QUEUE);
        let underway = Underway::new(store.as_ref());
        let hurry = Arc::new(Notify::new());
        let work = write_soon(store.clone(), jobs, hurry.clone(), underway.clone());
        (Self { store, soon, hurry, underway, hearers: Hearers::default(), tap: OnceLock::new() }, work)
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
        log(&event);
        let Some(store) = &self.store else { return Ok(0) };
        let name = event.event_type.clone();
        let writing = async { store.audit().append_prepared(vec![store.audit().prepare(event)?]).await };
        match writing.await {
            Ok(appended) => Ok(appended.last().map_or(0, |appended| appended.seq)),
            Err(error) => {
                tracing::error!(%error, event = %name, "the audit log takes nothing");
                Err(unwritable().with_source(error))
            }
        }
    }

    /// Writes an event: to the journal now, to the store soon.
    pub(crate) async fn note(&self, event: AuditEvent) {
        if let Some(job) = self.journaled(event, Part::None) {
            // The other end is there as long as this one.
            let _ = self.soon.send(job).await;
        }
    }

    /// Writes down that a call is about to be made, where nobody says whether it changes something.
    ///
    /// # Errors
    /// Neither journal nor store takes anything: the call must not be made.
    pub(crate) async fn intend(&self, event: AuditEvent, call: u64) -> Result<(), Fault> {
        let Some(store) = &self.store else {
            return self.record(event).await.map(drop);
        };
        if !self.underway.keeps() || !store.takes_writes() {
            // The journal alone is no record. Whether the store takes something again is seen by asking it.
            let seq = self.record(event).await?;
            self.underway.on_record(call, seq);
            self.underway.kept(true);
            return Ok(());
        }
        let Some(job) = self.journaled(event, Part::Begins(call)) else { return Err(unwritable()) };
        if matches!(&job, Job::Write(waiting) if waiting.page.is_none()) {
            return Err(unwritable());
        }
        let _ = self.soon.send(job).await;
        Ok(())
    }

    /// The same from where nobody can wait: if too much waits already, the event goes to the log alone.
    pub(crate) fn note_now(&self, event: AuditEvent) {
        self.note_end(event, None);
    }

    /// The same for the end of a call.
    pub(crate) fn note_end(&self, event: AuditEvent, call: Option<u64>) {
        let Some(job) = self.journaled(event, call.map_or(Part::None, Part::Ends)) else { return };
        if let Err(mpsc::error::TrySendError::Full(Job::Write(waiting))) = self.soon.try_send(job) {
            tracing::error!(event = waiting.event.text(), "the audit log is behind: this event is not in it");
            self.forget(&waiting);
        }
    }

    /// Writes down how a call ended that may have changed something: in the journal when this returns, whoever goes
    /// away meanwhile.
    pub(crate) async fn settle(&self, event: AuditEvent, call: u64) {
        let Some(job) = self.journaled(event, Part::Ends(call)) else { return self.underway.end(call) };
        if let Err(mpsc::error::TrySendError::Full(job)) = self.soon.try_send(job) {
            // In a task of its own: a caller that goes away now does not take the outcome along.
            let soon = self.soon.clone();
            let _ = tokio::spawn(async move { soon.send(job).await.is_ok() }).await;
        }
    }

    /// An event that stands in the journal, to be written to the store; `None` where there is none.
    fn journaled(&self, event: AuditEvent, part: Part) -> Option<Job> {
        self.tell(&event);
        log(&event);
        let event = match self.store.as_ref()?.audit().prepare(event) {
            Ok(event) => event,
            Err(error) => {
                tracing::error!(%error, "an event could not be written to the audit log");
                return None;
            }
        };
        let written = self.underway.journal().map(|journal| journal.write(event.text()));
        let page = written.transpose().unwrap_or_else(|error| {
            tracing::error!(%error, "the journal of the audit log takes nothing");
            None
        });
        Some(Job::Write(Box::new(Waiting { event, part, page })))
    }

    fn forget(&self, waiting: &Waiting) {
        if let (Some(journal), Some(page)) = (self.underway.journal(), waiting.page) {
            journal.settle(page);
        }
    }

    /// Waits until what was to be written soon is written.
    pub(crate) async fn flush(&self) {
        let (done, written) = oneshot::channel();
        let flush = async {
            if self.soon.send(Job::Flush(done)).await.is_ok() {
                self.hurry.notify_one();
                let _ = written.await;
            }
        };
        let _ = tokio::time::timeout(FLUSH, flush).await;
    }

    /// Names the servers that hear of events from now on.
    pub(crate) fn set_hearers(&self, hearers: Vec<Hearer>) {
        self.hearers.set(hearers);
    }

    /// Names who hears of every event from now on: once, at the beginning.
    pub(crate) fn tap(&self, tap: impl Fn(&AuditEvent) + Send + Sync + 'static) {
        let _ = self.tap.set(Box::new(tap));
    }

    fn tell(&self, event: &AuditEvent) {
        if let Some(tap) = self.tap.get() {
            tap(event);
        }
        self.hearers.tell(event);
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

async fn write_soon(store: Option<Store>, mut jobs: mpsc::Receiver<Job>, hurry: Arc<Notify>, underway: Arc<Underway>) {
    if let (Some(store), Some(journal)) = (&store, underway.journal())
        && let Ok(end) = store.audit().end().await
    {
        journal.begin(end.seq);
    }
    let mut group = Vec::with_capacity(GROUP);
    loop {
        group.clear();
        if jobs.recv_many(&mut group, GROUP).await == 0 {
            return;
        }
        // Whoever waits for none of these loses nothing by it, and one commit for many costs little more than for one.
        if group.len() < GROUP {
            let _ = tokio::time::timeout(GATHER, hurry.notified()).await;
        }
        while group.len() < GROUP
            && let Ok(job) = jobs.try_recv()
        {
            group.push(job);
        }
        let (mut events, mut waiting) = (Vec::with_capacity(group.len()), Vec::new());
        for job in group.drain(..) {
            match job {
                Job::Write(event) => events.push(*event),
                Job::Flush(done) => waiting.push(done),
            }
        }
        if let (Some(store), false) = (&store, events.is_empty()) {
            write_group(store, events, &underway).await;
        }
        for done in waiting {
            let _ = done.send(());
        }
    }
}

/// Writes events together.
async fn write_group(store: &Store, group: Vec<Waiting>, underway: &Underway) {
    // A call that was over before its intent was written has its outcome, and needs no intent beside it.
    let over: HashSet<u64> = group
        .iter()
        .filter_map(|waiting| if let Part::Ends(call) = waiting.part { Some(call) } else { None })
        .collect();
    let (mut events, mut parts, mut pages) =
        (Vec::with_capacity(group.len()), Vec::with_capacity(group.len()), Vec::new());
    for Waiting { event, part, page } in group {
        pages.extend(page);
        if !matches!(part, Part::Begins(call) if over.contains(&call)) {
            events.push(event);
            parts.push(part);
        }
    }
    let count = events.len();
    match store.audit().append_prepared(events).await {
        Ok(appended) => {
            for (appended, part) in appended.iter().zip(&parts) {
                match part {
                    Part::None => {}
                    Part::Begins(call) => underway.on_record(*call, appended.seq),
                    Part::Ends(call) => underway.end(*call),
                }
            }
            if let Some(last) = appended.last() {
                underway.reached(last.seq);
            }
        }
        Err(error) => {
            underway.kept(false);
            tracing::error!(%error, events = count, "events could not be written to the audit log");
        }
    }
    if let Some(journal) = underway.journal() {
        pages.into_iter().for_each(|page| journal.settle(page));
        journal.turn(underway.last());
    }
}

/// An event about nothing in particular yet.
pub(crate) fn event_of(event_type: &str, actor: Actor, outcome: &str) -> AuditEvent {
    AuditEvent {
        timestamp: Timestamp::now(),
        trace_id: None,
        event_type: event_type.to_owned(),
        actor,
        target: Target::default(),
        result: outcome.to_owned(),
        details: Map::new(),
    }
}

/// The kernel as the one who did something.
pub(crate) fn kernel() -> Actor {
    Actor { kind: "kernel".to_owned(), id: "switchboard".to_owned() }
}

/// The principal of a session as the one who did something.
pub(crate) fn principal(session: &Session) -> Actor {
    let kind = if session.identity.admin { "user" } else { "agent" };
    Actor { kind: kind.to_owned(), id: session.principal.as_ref().to_owned() }
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
    event.details.insert(key.to_owned(), value);
    event
}

/// An event about a server, and a tool of it.
pub(crate) fn about(mut event: AuditEvent, server: &str, tool: Option<&str>) -> AuditEvent {
    event.target = Target { server_id: Some(server.to_owned()), tool_name: tool.map(ToOwned::to_owned) };
    event
}
