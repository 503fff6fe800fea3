//! What kernels that died left open: found by their files, finished from their journals, and written down as unknown.
//!
//! The next kernel on the store finds the files whose lock nobody holds, gives the store what only the journal has, looks
//! at the few records after the point up to which the log is settled, and writes down that the outcome of what was open is
//! unknown. Whether such a call had an effect is not known here, nor is it tried again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use switchboard_store::{AuditEvent, AuditFilter, AuditRecord, Digest, Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::events::{CALL, event, result, with};
use crate::journal::{self, Left};
use crate::open_calls::{FILE_PREFIX, OpenCalls, SUMMARY_END};

/// How often it is looked whether another kernel has died.
const POLL_INTERVAL: Duration = Duration::from_secs(60);
/// The same while the store does not answer.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);
/// How long after the last line of a journal the store may have got what stands in it.
const TAKEN_WITHIN: Duration = Duration::from_mins(10);
/// Records that are looked at for one kernel that died, at most.
const MAX_SCANNED: u64 = 100_000;
/// Records in one page.
const PAGE: usize = 1_000;
/// Events written together.
const GROUP: usize = 256;
/// Open questions that are looked through for one kernel that died.
const MAX_LEFT_OPEN: usize = 1_024;

impl OpenCalls {
    /// Looks after what other kernels on this store left open, now and then, until this one ends.
    pub async fn recover_always(&self, store: &Store, closing: &CancellationToken) {
        loop {
            let mut pause = POLL_INTERVAL;
            match self.recover(store).await {
                Ok(0) => {}
                Ok(calls) => tracing::warn!(calls, "calls of a kernel that died ended without anybody knowing how"),
                Err(error) => {
                    tracing::error!(%error, "open calls of kernels that died cannot be looked for");
                    pause = RETRY_INTERVAL;
                }
            }
            tokio::select! {
                () = closing.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Writes down that the outcome of what dead kernels left open is unknown; how many calls that were.
    ///
    /// # Errors
    /// The store, or the directory, cannot be read or written.
    async fn recover(&self, store: &Store) -> Result<usize, StoreError> {
        let own = store.beside(&format!("{FILE_PREFIX}{}", self.instance()));
        let prefix = store.beside(FILE_PREFIX);
        let dead = tokio::task::spawn_blocking(move || dead(&prefix, &own)).await.unwrap_or_default();
        let mut closed = 0;
        for dead in dead {
            dead.replay(store).await?;
            closed += dead.close(store).await?;
            end_questions_of(store, &dead.instance).await?;
            journal::remove(&dead.path);
            let _ = fs::remove_file(&dead.path);
        }
        Ok(closed)
    }
}

/// Ends the questions that a kernel left open when it died: nobody waits for their answers.
async fn end_questions_of(store: &Store, instance: &str) -> Result<usize, StoreError> {
    let ending = format!(".{instance}");
    let open = store.callbacks().pending(Timestamp::now(), MAX_LEFT_OPEN).await?;
    let mut ended = 0;
    for callback in open.iter().filter(|callback| callback.id.ends_with(&ending)) {
        store.callbacks().close(&callback.id).await?;
        ended += 1;
    }
    Ok(ended)
}

/// What a dead kernel left.
#[derive(Debug)]
struct Dead {
    instance: String,
    path: PathBuf,
    /// Held until it is dealt with: of two kernels that start at once, one does it.
    _lock: File,
    /// Up to where the log is settled; `None` where the file cannot be read.
    settled: Option<u64>,
    intents: Vec<u64>,
}

/// The files of kernels that live no more.
fn dead(prefix: &Path, own: &Path) -> Vec<Dead> {
    let (Some(directory), Some(start)) = (prefix.parent(), prefix.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let Ok(files) = fs::read_dir(directory) else { return Vec::new() };
    let read = |path: PathBuf| {
        let instance = path.file_name()?.to_str()?.strip_prefix(start)?.to_owned();
        if path == own || instance.is_empty() || instance.contains('.') {
            return None;
        }
        let mut file = OpenOptions::new().read(true).write(true).open(&path).ok()?;
        file.try_lock().ok()?;
        // Another kernel may have dealt with it between the two lines above.
        if file.metadata().ok()?.nlink() == 0 {
            return None;
        }
        let mut text = String::new();
        let whole = file.read_to_string(&mut text).is_ok();
        let (settled, intents) = whole.then(|| read_summary(&text)).flatten().unzip();
        Some(Dead { instance, path, _lock: file, settled, intents: intents.unwrap_or_default() })
    };
    files.filter_map(|file| read(file.ok()?.path())).collect()
}

fn read_summary(text: &str) -> Option<(u64, Vec<u64>)> {
    let mut lines = text.lines();
    let settled = lines.next()?.parse().ok()?;
    let intents = lines.next()?.split_whitespace().map(|seq| seq.parse().ok()).collect::<Option<_>>()?;
    (lines.next()? == SUMMARY_END).then_some((settled, intents))
}

/// The name of the call that an event is about, if that is a call of this kernel.
fn call_of(event: &AuditEvent, instance: &str) -> Option<String> {
    let name = event.details.get(CALL)?.as_str()?;
    name.strip_prefix(instance)?.starts_with('.').then(|| name.to_owned())
}

impl Dead {
    /// Gives the store what only the journal of the dead kernel has.
    async fn replay(&self, store: &Store) -> Result<(), StoreError> {
        let path = self.path.clone();
        let left =
            tokio::task::spawn_blocking(move || journal::read(&path)).await.unwrap_or_else(|_| Ok(Left::default()));
        let left = left.unwrap_or_else(|error| {
            tracing::error!(%error, "the journal of a kernel that died cannot be read");
            Left::default()
        });
        if left.lines.is_empty() {
            return Ok(());
        }
        // A line that was torn is no event.
        let events = left.lines.iter().filter_map(|line| Some((line.as_str(), serde_json::from_str(line).ok()?)));
        let events: Vec<(&str, AuditEvent)> = events.collect();
        let mut ended: HashSet<String> = events.iter().filter_map(|(_, event)| self.ends(event)).collect();
        // How often each text stands in the log: of two events with the same one, both must.
        let mut known: HashMap<Digest, usize> = HashMap::new();
        let end = store.audit().end().await?.seq;
        // By time as well: other replicas may have added any number of records since.
        let times = events.iter().map(|(_, event)| event.timestamp);
        let until = times.clone().max().and_then(|last| last.checked_add(TAKEN_WITHIN).ok());
        let mut filter = AuditFilter {
            after: Some(left.after.min(end)),
            through: Some(end),
            since: times.min(),
            until,
            ..AuditFilter::default()
        };
        loop {
            let page = store.audit().query(&filter, PAGE).await?;
            for record in &page {
                *known.entry(Digest::of(record.event.as_bytes())).or_default() += 1;
                ended.extend(self.own(record).and_then(|event| self.ends(&event)));
            }
            filter.after = page.last().map(|last| last.seq);
            if page.len() < PAGE {
                break;
            }
        }
        let missing = events.into_iter().filter(|(line, event)| {
            let over = event.event_type == event::INTENT
                && call_of(event, &self.instance).is_some_and(|call| ended.contains(&call));
            let stands = known.get_mut(&Digest::of(line.as_bytes())).filter(|count| **count > 0);
            !over && stands.map(|count| *count -= 1).is_none()
        });
        let missing: Vec<AuditEvent> = missing.map(|(_, event)| event).collect();
        for group in missing.chunks(GROUP) {
            let group = group.iter().map(|event| store.audit().prepare(event)).collect::<Result<_, _>>()?;
            // An earlier try may have been given up while the store was still at it.
            store.audit().append_once(group, end).await?;
        }
        if !missing.is_empty() {
            tracing::warn!(events = missing.len(), "events of a kernel that died came from its journal");
        }
        Ok(())
    }

    /// The call that an event ends.
    fn ends(&self, event: &AuditEvent) -> Option<String> {
        call_of(event, &self.instance).filter(|_| event.event_type != event::INTENT)
    }

    /// The event of a record that names the dead kernel. Most are of others: those are not read.
    fn own(&self, record: &AuditRecord) -> Option<AuditEvent> {
        record.event.contains(&self.instance).then(|| record.parse().ok()).flatten()
    }

    /// Looks at the records after this one, as far back as is looked.
    async fn each_after(
        &self,
        store: &Store,
        after: u64,
        mut visit: impl FnMut(&AuditRecord),
    ) -> Result<(), StoreError> {
        let end = store.audit().end().await?.seq;
        let mut after = after.max(end.saturating_sub(MAX_SCANNED)).min(end);
        while after < end {
            let filter = AuditFilter { after: Some(after), through: Some(end), ..AuditFilter::default() };
            let page = store.audit().query(&filter, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            page.iter().for_each(&mut visit);
        }
        Ok(())
    }

    async fn close(&self, store: &Store) -> Result<usize, StoreError> {
        let end = store.audit().end().await?.seq;
        let settled = self.settled.unwrap_or(0).max(end.saturating_sub(MAX_SCANNED)).min(end);
        let mut open: BTreeMap<String, (u64, AuditEvent)> = BTreeMap::new();
        for seq in self.intents.iter().filter(|seq| **seq <= settled) {
            if let Some((name, intent)) = self.still_open(store, *seq).await? {
                open.insert(name, (*seq, intent));
            }
        }
        let mut ended = HashSet::new();
        self.each_after(store, settled, |record| {
            let Some(event) = self.own(record) else { return };
            let Some(name) = call_of(&event, &self.instance) else { return };
            if event.event_type == event::INTENT {
                open.insert(name, (record.seq, event));
            } else {
                ended.insert(name);
            }
        })
        .await?;
        open.retain(|name, _| !ended.contains(name));
        let events: Vec<_> = open.into_values().map(|(seq, intent)| unknown(intent, seq)).collect();
        for group in events.chunks(GROUP) {
            store.audit().append(group).await?;
        }
        Ok(events.len())
    }

    /// The intent with this number, unless its outcome is on record: that may have come before the file said so.
    async fn still_open(&self, store: &Store, seq: u64) -> Result<Option<(String, AuditEvent)>, StoreError> {
        let filter = AuditFilter { after: Some(seq - 1), through: Some(seq), ..AuditFilter::default() };
        let record = store.audit().query(&filter, 1).await?.into_iter().next();
        let Some(intent) = record.and_then(|record| record.parse().ok()) else { return Ok(None) };
        let Some(name) = call_of(&intent, &self.instance) else { return Ok(None) };
        let filter = AuditFilter {
            after: Some(seq),
            trace_id: intent.trace_id.as_deref().map(ToOwned::to_owned),
            ..AuditFilter::default()
        };
        let later = store.audit().query(&filter, PAGE).await?;
        let same = |record: &AuditRecord| {
            record.parse().is_ok_and(|event| call_of(&event, &self.instance).as_ref() == Some(&name))
        };
        Ok((!later.iter().any(same)).then_some((name, intent)))
    }
}

/// What is written down about a call whose end nobody saw.
fn unknown(intent: AuditEvent, seq: u64) -> AuditEvent {
    let mut event = AuditEvent {
        timestamp: Timestamp::now(),
        event_type: event::UNKNOWN_OUTCOME.into(),
        result: result::UNKNOWN.into(),
        ..intent
    };
    event.details.insert("intent_seq", seq);
    with(event, "reason", "the kernel ended before the call did")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_file_says_nothing() {
        assert_eq!(read_summary("12\n3 4\n.\n"), Some((12, vec![3, 4])));
        assert_eq!(read_summary("12\n\n.\n9\n.\n"), Some((12, vec![])));
        for torn in ["", "12", "12\n3 4", "12\n3 4\n", "12\n3 x\n.\n", "x\n\n.\n"] {
            assert_eq!(read_summary(torn), None, "{torn:?}");
        }
    }
}
