//! Calls that were begun and have not ended, in a form that outlives this process.
//!
//! Each kernel has a small file beside the store and holds a lock on it for as long as it lives. In it stands up to
//! where the audit log is settled, and which calls from before that are still open; beside it lies its journal. The next
//! kernel on the store finds the files whose lock nobody holds, gives the store what only the journal has, looks at the
//! few records after that point, and writes down that the outcome of what was open is unknown. Whether such a call had
//! an effect is not known here, nor is it tried again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use switchboard_store::{AuditEvent, AuditFilter, AuditRecord, Digest, Store, StoreError};
use tokio_util::sync::CancellationToken;

use super::audit::{self, event, result};
use super::journal::{self, Journal, Left, Line};

/// How the names of the files end, before the name of the instance.
const ENDING: &str = "kernel-";
/// How often it is looked whether another kernel has died.
const LOOK: Duration = Duration::from_secs(60);
/// The same while the store does not answer.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// How long after the last line of a journal the store may have got what stands in it.
const TAKEN_WITHIN: Duration = Duration::from_mins(10);
/// Records that are looked at for one kernel that died, at most.
const SCAN: u64 = 100_000;
/// Records in one page.
const PAGE: usize = 1_000;
/// Open calls that the file names, at most. Those begun last are found in the log.
const NAMED: usize = 16_384;
/// Events written together.
const GROUP: usize = 256;
/// Calls that are taken out of the book at once.
const TOGETHER: usize = 32;
/// The last line of a whole file.
const END: &str = ".";

/// One call that is open.
#[derive(Debug, Clone, Copy)]
struct Open {
    /// The end of the log as it was known when the call began: its intent comes later.
    after: u64,
    /// Where its intent is, once that is known.
    intent: Option<u64>,
}

#[derive(Debug, Default)]
struct Calls {
    open: BTreeMap<u64, Open>,
    /// Those that are not over and whose intent only the journal has, with where it stands there.
    unwritten: BTreeMap<u64, Line>,
    /// The latest record known.
    last: u64,
}

/// The calls of one kernel.
#[derive(Debug)]
pub(crate) struct Underway {
    instance: String,
    next: AtomicU64,
    calls: Mutex<Calls>,
    lease: Option<Lease>,
    journal: Option<Journal>,
    /// Whether the store took what it was last given from the journal.
    keeping: AtomicBool,
}

/// The file, locked.
#[derive(Debug)]
struct Lease {
    path: PathBuf,
    file: File,
    written: Mutex<String>,
}

impl Underway {
    /// For a kernel on this store.
    pub(crate) fn new(store: Option<&Store>) -> Arc<Self> {
        let instance: String = switchboard_peer::random_token().chars().take(16).collect();
        let taken = store.map(|store| {
            let lease = Lease::take(&store.beside(&format!("{ENDING}{instance}")))?;
            let journal = Journal::new(&lease.path)?;
            Ok::<_, io::Error>((lease, journal))
        });
        let (lease, journal) = match taken.transpose() {
            Ok(taken) => taken.unzip(),
            Err(error) => {
                tracing::error!(%error, "open calls cannot be noted beside the store: after a crash they stay open");
                (None, None)
            }
        };
        Arc::new(Self {
            instance,
            next: AtomicU64::new(1),
            calls: Mutex::default(),
            lease,
            journal,
            keeping: AtomicBool::new(true),
        })
    }

    /// What tells this kernel from others on the same store.
    pub(crate) fn instance(&self) -> &str {
        &self.instance
    }

    /// Where events stand until the store has them.
    pub(super) const fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    /// Whether the store took what it was last given.
    pub(super) fn is_kept(&self) -> bool {
        self.keeping.load(Ordering::Relaxed)
    }

    /// The store took what it was given, or did not. Whether it did before.
    pub(super) fn kept(&self, well: bool) -> bool {
        self.keeping.swap(well, Ordering::Relaxed)
    }

    /// The audit log is known to reach to here.
    pub(super) fn reached(&self, seq: u64) {
        let mut calls = self.calls.lock();
        calls.last = calls.last.max(seq);
    }

    /// The latest record of the audit log that is known.
    pub(super) fn last(&self) -> u64 {
        self.calls.lock().last
    }

    /// The number of a call that is about to begin.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The number that the next call gets.
    pub(super) fn next(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Begins a call. Its intent may stand in the journal.
    pub(super) fn begin(&self, number: u64, line: Option<Line>) {
        let mut calls = self.calls.lock();
        let after = calls.last;
        calls.open.insert(number, Open { after, intent: None });
        if let Some(line) = line {
            calls.unwritten.insert(number, line);
        }
    }

    /// The name of a call, unlike any other.
    pub(crate) fn name(&self, number: u64) -> String {
        [&self.instance, ".", &number.to_string()].concat()
    }

    /// The intent of a call is on record.
    pub(super) fn on_record(&self, number: u64, seq: u64) {
        let mut calls = self.calls.lock();
        calls.last = calls.last.max(seq);
        if let Some(open) = calls.open.get_mut(&number) {
            open.intent = Some(seq);
        }
    }

    /// The end of a call stands in the journal: the store needs its intent no more.
    pub(super) fn over(&self, number: u64) {
        let line = self.calls.lock().unwritten.remove(&number);
        if let (Some(journal), Some(line)) = (&self.journal, line) {
            journal.settle(line);
        }
    }

    /// Whether there are intents that only the journal has.
    pub(super) fn has_unwritten(&self) -> bool {
        !self.calls.lock().unwritten.is_empty()
    }

    /// The intents that only the journal has, of calls with lower numbers than this. The caller gives them to the store.
    pub(super) fn lasting(&self, before: u64) -> Vec<(u64, Line)> {
        let mut calls = self.calls.lock();
        let later = calls.unwritten.split_off(&before);
        std::mem::replace(&mut calls.unwritten, later).into_iter().collect()
    }

    /// The outcomes of calls are on record, or there is nothing to be recorded.
    pub(crate) fn end(&self, numbers: impl IntoIterator<Item = u64>) {
        let mut numbers = numbers.into_iter().peekable();
        while numbers.peek().is_some() {
            // A few at a time: every call that begins or ends waits here.
            let mut calls = self.calls.lock();
            for number in numbers.by_ref().take(TOGETHER) {
                calls.open.remove(&number);
            }
        }
    }

    /// How many calls are open.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.calls.lock().open.len()
    }

    /// What the file should say.
    fn summary(&self) -> String {
        let calls = self.calls.lock();
        let unknown = calls.open.values().filter(|open| open.intent.is_none()).map(|open| open.after);
        let mut settled = unknown.min().map_or(calls.last, |after| after.min(calls.last));
        let mut intents: Vec<u64> =
            calls.open.values().filter_map(|open| open.intent).filter(|seq| *seq <= settled).collect();
        intents.sort_unstable();
        if let Some(first) = intents.get(NAMED) {
            settled = first - 1;
            intents.truncate(NAMED);
        }
        let intents: Vec<String> = intents.iter().map(u64::to_string).collect();
        format!("{settled}\n{}\n{END}\n", intents.join(" "))
    }

    /// Brings the file up to date. Touches the disk.
    pub(crate) fn note(&self) {
        let Some(lease) = &self.lease else { return };
        let summary = self.summary();
        let mut written = lease.written.lock();
        if *written == summary {
            return;
        }
        let length = u64::try_from(summary.len()).unwrap_or_default();
        match lease.file.write_all_at(summary.as_bytes(), 0).and_then(|()| lease.file.set_len(length)) {
            Ok(()) => *written = summary,
            Err(error) => tracing::warn!(%error, "open calls cannot be noted beside the store"),
        }
    }

    /// Ends in good order: with nothing open, nothing is left behind.
    pub(crate) fn close(&self) {
        let Some(lease) = &self.lease else { return };
        let settled = self.journal.as_ref().is_none_or(Journal::is_settled);
        if settled && self.calls.lock().open.is_empty() {
            self.journal.iter().for_each(Journal::remove);
            let _ = fs::remove_file(&lease.path);
        } else {
            self.note();
        }
    }

    /// Looks after what other kernels on this store left open, now and then, until this one ends.
    pub(crate) async fn recover_always(&self, store: &Store, closing: &CancellationToken) {
        loop {
            let mut pause = LOOK;
            match self.recover(store).await {
                Ok(0) => {}
                Ok(calls) => tracing::warn!(calls, "calls of a kernel that died ended without anybody knowing how"),
                Err(error) => {
                    tracing::error!(%error, "open calls of kernels that died cannot be looked for");
                    pause = LOOK_AGAIN;
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
        let own = store.beside(&format!("{ENDING}{}", self.instance));
        let prefix = store.beside(ENDING);
        let dead = tokio::task::spawn_blocking(move || dead(&prefix, &own)).await.unwrap_or_default();
        let mut closed = 0;
        for dead in dead {
            dead.replay(store).await?;
            closed += dead.close(store).await?;
            crate::callbacks::end_questions_of(store, &dead.instance).await?;
            journal::remove(&dead.path);
            let _ = fs::remove_file(&dead.path);
        }
        Ok(closed)
    }
}

impl Lease {
    fn take(path: &Path) -> io::Result<Self> {
        // Locked before it has its name: nobody can take it for that of a dead kernel.
        let mut fresh = path.as_os_str().to_owned();
        fresh.push(".new");
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.try_lock().map_err(io::Error::other)?;
        file.write_all_at(format!("0\n\n{END}\n").as_bytes(), 0)?;
        fs::rename(&fresh, path)?;
        Ok(Self { path: path.to_owned(), file, written: Mutex::default() })
    }
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
    (lines.next()? == END).then_some((settled, intents))
}

/// The name of the call that an event is about, if that is a call of this kernel.
fn call_of(event: &AuditEvent, instance: &str) -> Option<String> {
    let name = event.details.get(audit::CALL)?.as_str()?;
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
        mut with: impl FnMut(&AuditRecord),
    ) -> Result<(), StoreError> {
        let end = store.audit().end().await?.seq;
        let mut after = after.max(end.saturating_sub(SCAN)).min(end);
        while after < end {
            let filter = AuditFilter { after: Some(after), through: Some(end), ..AuditFilter::default() };
            let page = store.audit().query(&filter, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            page.iter().for_each(&mut with);
        }
        Ok(())
    }

    async fn close(&self, store: &Store) -> Result<usize, StoreError> {
        let end = store.audit().end().await?.seq;
        let settled = self.settled.unwrap_or(0).max(end.saturating_sub(SCAN)).min(end);
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
    audit::with(event, "reason", "the kernel ended before the call did")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn underway() -> Arc<Underway> {
        Underway::new(None)
    }

    fn begin(calls: &Underway) -> u64 {
        let number = calls.number();
        calls.begin(number, None);
        number
    }

    #[test]
    fn the_file_names_what_the_log_alone_would_not_tell() {
        let calls = underway();
        assert_eq!(calls.summary(), "0\n\n.\n");
        let [one, two, three] = [(); 3].map(|()| begin(&calls));
        calls.on_record(two, 7);
        // Two intents are on their way: they may be anywhere after the beginning.
        assert_eq!(calls.summary(), "0\n\n.\n");
        calls.on_record(one, 5);
        calls.on_record(three, 9);
        assert_eq!(calls.summary(), "9\n5 7 9\n.\n");
        let four = begin(&calls);
        calls.end([two]);
        assert_eq!(calls.summary(), "9\n5 9\n.\n");
        calls.end([one, three, four]);
        assert_eq!((calls.summary().as_str(), calls.len()), ("9\n\n.\n", 0));
    }

    #[test]
    fn only_intents_of_calls_that_last_are_given_to_the_store() {
        let directory = tempfile::tempdir().unwrap();
        let journal = Journal::new(&directory.path().join("kernel-x")).unwrap();
        let calls = underway();
        let [short, long, young] = ["short", "long", "young"].map(|text| {
            let number = calls.number();
            calls.begin(number, Some(journal.write(text).unwrap()));
            number
        });
        calls.over(short);
        let texts = |before| -> Vec<_> {
            calls.lasting(before).into_iter().map(|(call, line)| (call, journal.text(line).unwrap())).collect()
        };
        assert_eq!(texts(young), [(long, "long".to_owned())]);
        assert!(texts(young).is_empty(), "once");
        assert!(calls.has_unwritten());
        assert_eq!(texts(calls.next()), [(young, "young".to_owned())]);
        assert!(!calls.has_unwritten());
        assert_eq!(calls.len(), 3, "none is on record yet");
        calls.end([short, long, young]);
        assert_eq!(calls.len(), 0);
    }

    #[test]
    fn a_torn_file_says_nothing() {
        assert_eq!(read_summary("12\n3 4\n.\n"), Some((12, vec![3, 4])));
        assert_eq!(read_summary("12\n\n.\n9\n.\n"), Some((12, vec![])));
        for torn in ["", "12", "12\n3 4", "12\n3 4\n", "12\n3 x\n.\n", "x\n\n.\n"] {
            assert_eq!(read_summary(torn), None, "{torn:?}");
        }
    }
}
