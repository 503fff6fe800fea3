//! The work that gives the store what the journal has: many events at once.

use std::sync::Arc;
use std::time::Duration;

use switchboard_store::{AuditEvent, Prepared, Store};

use super::pile::{Pile, Waiting};
use crate::gate::journal::Line;
use crate::gate::underway::Underway;

/// Events written together, at most.
const GROUP: usize = 2_048;
/// How long events that nobody waits for are gathered: the journal has them, and each sync costs as much as many calls.
const GATHER: Duration = Duration::from_millis(150);

/// What becomes of an event once the store has it.
enum Then {
    /// The intent of this call is on record.
    Begun(u64),
    /// The outcome of this call is.
    Ended(u64),
    Nothing,
}

/// Writes what lies on the pile, and the intents of calls that last, until nobody adds anything any more.
pub(super) async fn write_always(store: Option<Store>, pile: Arc<Pile>, underway: Arc<Underway>) {
    if let (Some(store), Some(journal)) = (&store, underway.journal())
        && let Ok(end) = store.audit().end().await
    {
        journal.begin(end.seq);
    }
    // Calls with lower numbers than this began a while ago.
    let mut mark = 0;
    // As many events as came last time are expected again.
    let mut usual = 0;
    loop {
        pile.something(|| underway.has_unwritten()).await;
        // Whoever waits for none of these loses nothing by it, and one commit for many costs little more than for one.
        pile.gather(GATHER).await;
        let taken = pile.take(usual);
        usual = taken.events.len();
        let lasting = underway.lasting(if taken.flushes.is_empty() { mark } else { u64::MAX });
        mark = underway.next();
        if let Some(store) = &store {
            write(store, &underway, lasting, taken.events).await;
        }
        for done in taken.flushes {
            let _ = done.send(());
        }
        if taken.closed {
            return;
        }
    }
}

async fn write(store: &Store, underway: &Underway, lasting: Vec<(u64, Line)>, ended: Vec<Waiting>) {
    let intents = lasting.into_iter().filter_map(|(call, line)| match intent(store, underway, line) {
        Some(event) => Some((event, Then::Begun(call), Some(line))),
        None => {
            tracing::error!("the intent of a call could not be read back from the journal of the audit log");
            underway.journal()?.settle(line);
            None
        }
    });
    let ended = ended.into_iter().map(|Waiting { event, ends, line }| {
        let then = ends.map_or(Then::Nothing, Then::Ended);
        (event, then, line)
    });
    let mut all = intents.chain(ended).peekable();
    while all.peek().is_some() {
        let (mut events, mut thens, mut lines) = (Vec::with_capacity(GROUP), Vec::with_capacity(GROUP), Vec::new());
        for (event, then, line) in all.by_ref().take(GROUP) {
            events.push(event);
            thens.push(then);
            lines.extend(line);
        }
        write_group(store, underway, events, &thens).await;
        if let Some(journal) = underway.journal() {
            journal.settle_all(lines);
            journal.turn(underway.last());
        }
    }
}

/// The intent that stands in the journal.
fn intent(store: &Store, underway: &Underway, line: Line) -> Option<Prepared> {
    let text = underway.journal()?.text(line)?;
    let event: AuditEvent = serde_json::from_str(&text).ok()?;
    store.audit().prepare(&event).ok()
}

/// Writes events together.
async fn write_group(store: &Store, underway: &Underway, events: Vec<Prepared>, thens: &[Then]) {
    let count = events.len();
    match store.audit().append_prepared(events).await {
        Ok(appended) => {
            for (appended, then) in appended.iter().zip(thens) {
                if let Then::Begun(call) = then {
                    underway.on_record(*call, appended.seq);
                }
            }
            underway.end(thens.iter().filter_map(|then| match then {
                Then::Ended(call) => Some(*call),
                Then::Begun(_) | Then::Nothing => None,
            }));
            if let Some(last) = appended.last() {
                underway.reached(last.seq);
            }
        }
        Err(error) => {
            underway.kept(false);
            tracing::error!(%error, events = count, "events could not be written to the audit log");
        }
    }
}
