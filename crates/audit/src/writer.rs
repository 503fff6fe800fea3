//! The work that gives the store what the journal has: many events at once.
//!
//! What the store refuses is kept, in order, and offered again until the store takes it; until then its lines in the
//! journal are needed. An offer whose fate is unknown is made again in such a way that the store recognises what it has
//! already. Kept events that stand in the journal are read from there when they are offered again, so that many of them
//! take little memory; how many there can be is the journal's bound.

use std::sync::Arc;
use std::time::Duration;

use switchboard_store::{AuditEvent, Prepared, Store, StoreError};

use crate::journal::Line;
use crate::open_calls::OpenCalls;
use crate::queue::{AuditQueue, Then, Waiting};

/// Events written together, at most.
const GROUP: usize = 2_048;
/// How long events that nobody waits for are gathered: the journal has them, and each sync costs as much as many calls.
const GATHER: Duration = Duration::from_millis(150);
/// How long to wait until what the store refused is offered again: at first, and at most.
const RETRY: Duration = Duration::from_millis(50);
const MAX_RETRY: Duration = Duration::from_secs(1);

/// Writes what lies in the queue, and the intents of calls that last, until nobody adds anything any more.
pub(super) async fn write_always(store: Option<Store>, queue: Arc<AuditQueue>, open_calls: Arc<OpenCalls>) {
    if let (Some(store), Some(journal)) = (&store, open_calls.journal())
        && let Ok(end) = store.audit().end().await
    {
        journal.begin(end.seq);
    }
    let mut backlog = Backlog::default();
    // Calls with lower numbers than this began a while ago.
    let mut mark = 0;
    // As many events as came last time are expected again.
    let mut usual = 0;
    loop {
        if let Some(pause) = backlog.pause() {
            queue.gather(pause).await;
        } else {
            queue.something(|| open_calls.has_unwritten()).await;
            // Whoever waits for none of these loses nothing by it, and one commit for many costs little more than for
            // one.
            queue.gather(GATHER).await;
        }
        let batch = queue.take(usual);
        usual = batch.events.len();
        let lasting = open_calls.lasting(if batch.flushes.is_empty() { mark } else { u64::MAX });
        mark = open_calls.next();
        if let Some(store) = &store {
            let intents = lasting.into_iter().map(|(call, line)| Waiting {
                event: None,
                then: Then::Begun(call),
                line: Some(line),
                after: None,
            });
            backlog.write(store, &open_calls, intents.chain(batch.events)).await;
        }
        for done in batch.flushes {
            let _ = done.send(());
        }
        if batch.closed {
            return;
        }
    }
}

/// What the store refused, and how often it did.
#[derive(Default)]
struct Backlog {
    events: Vec<Waiting>,
    refusals: u32,
}

impl Backlog {
    /// How long to wait until the store is tried again; `None` where nothing is owed to it.
    fn pause(&self) -> Option<Duration> {
        let doubled = RETRY.saturating_mul(1 << self.refusals.saturating_sub(1).min(10));
        (!self.events.is_empty()).then(|| doubled.min(MAX_RETRY))
    }

    /// Gives the store what it is owed, and what is new, in groups; keeps what it does not take.
    async fn write(&mut self, store: &Store, open_calls: &OpenCalls, fresh: impl Iterator<Item = Waiting>) {
        let late = self.events.len();
        let mut all = std::mem::take(&mut self.events).into_iter().chain(fresh).peekable();
        while all.peek().is_some() {
            let (mut events, mut group) = (Vec::with_capacity(GROUP), Vec::with_capacity(GROUP));
            for mut waiting in all.by_ref().take(GROUP) {
                let Some(event) = waiting.event.take().or_else(|| read_back(store, open_calls, waiting.line?)) else {
                    tracing::error!("an event could not be read back from the journal of the audit log");
                    open_calls.journal().zip(waiting.line).into_iter().for_each(|(journal, line)| journal.settle(line));
                    continue;
                };
                // Without a line in the journal there is nowhere to read it from again.
                waiting.event = waiting.line.is_none().then(|| event.clone());
                events.push(event);
                group.push(waiting);
            }
            if let Err(error) = write_group(store, open_calls, events, &mut group).await {
                group.extend(all.map(Waiting::without_copy));
                self.refused(open_calls, &error, group);
                return;
            }
            if let Some(journal) = open_calls.journal() {
                journal.settle_all(group.iter().filter_map(|waiting| waiting.line));
                journal.rotate(open_calls.last());
            }
        }
        if late > 0 {
            tracing::warn!(events = late, "the audit log takes events again: those that were kept are in it");
        }
        if !open_calls.is_kept() {
            open_calls.kept(true);
        }
        self.refusals = 0;
    }

    fn refused(&mut self, open_calls: &OpenCalls, error: &StoreError, events: Vec<Waiting>) {
        open_calls.kept(false);
        self.refusals = self.refusals.saturating_add(1);
        // Once for each time that the store is away, and now and then while it stays so.
        if self.refusals.is_power_of_two() {
            let kept = events.len();
            tracing::error!(%error, kept, "the audit log takes nothing: events are kept and offered again");
        }
        self.events = events;
    }
}

/// The event that stands in the journal.
fn read_back(store: &Store, open_calls: &OpenCalls, line: Line) -> Option<Prepared> {
    let text = open_calls.journal()?.text(line)?;
    let event: AuditEvent = serde_json::from_str(&text).ok()?;
    store.audit().prepare(&event).ok()
}

/// Writes events together. Where that fails, each of them knows since when the store may have it.
async fn write_group(
    store: &Store,
    open_calls: &OpenCalls,
    events: Vec<Prepared>,
    group: &mut [Waiting],
) -> Result<(), StoreError> {
    let known = open_calls.last();
    let offered_before = group.iter().filter_map(|waiting| waiting.after).min();
    let appended = match offered_before {
        None => store.audit().append_prepared(events).await,
        Some(after) => store.audit().append_once(events, after).await,
    };
    let appended = appended.inspect_err(|_| {
        for waiting in group.iter_mut() {
            waiting.after.get_or_insert(known);
        }
    })?;
    for (appended, waiting) in appended.iter().zip(&*group) {
        match (waiting.then, waiting.line) {
            (Then::Begun(call), _) => open_calls.on_record(call, appended.seq),
            // Its intent may still stand in the journal, because its outcome did not.
            (Then::Ended(call), None) => open_calls.over(call),
            _ => {}
        }
    }
    open_calls.end(group.iter().filter_map(|waiting| match waiting.then {
        Then::Ended(call) => Some(call),
        Then::Begun(_) | Then::Nothing => None,
    }));
    if let Some(last) = appended.iter().map(|appended| appended.seq).max() {
        open_calls.reached(last);
    }
    Ok(())
}
