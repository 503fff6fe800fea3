//! Calls that were begun and have not ended, in a form that outlives this process.
//!
//! Each kernel has a small file beside the store and holds a lock on it for as long as it lives. In it stands up to
//! where the audit log is settled, and which calls from before that are still open; beside it lies its journal. What
//! becomes of the file after a crash is in [`crate::recovery`].

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use switchboard_store::Store;

use crate::journal::{Journal, Line};

/// How the names of the files begin, before the name of the instance.
pub(crate) const FILE_PREFIX: &str = "kernel-";
/// Letters in the name of an instance.
const INSTANCE_LETTERS: usize = 16;
/// Open calls that the file names, at most. Those begun last are found in the log.
const MAX_NAMED: usize = 16_384;
/// Calls that are taken out of the register at once.
const MAX_REMOVED_AT_ONCE: usize = 32;
/// The last line of a whole file.
pub(crate) const SUMMARY_END: &str = ".";

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
pub struct OpenCalls {
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

impl OpenCalls {
    /// For a kernel on this store.
    pub(crate) fn new(store: Option<&Store>) -> Arc<Self> {
        let instance: String = crate::random_name(INSTANCE_LETTERS);
        let taken = store.map(|store| {
            let lease = Lease::take(&store.beside(&format!("{FILE_PREFIX}{instance}")))?;
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
    pub fn instance(&self) -> &str {
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
    pub fn number(&self) -> u64 {
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
    pub fn name(&self, number: u64) -> String {
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
    pub fn end(&self, numbers: impl IntoIterator<Item = u64>) {
        let mut numbers = numbers.into_iter().peekable();
        while numbers.peek().is_some() {
            // A few at a time: every call that begins or ends waits here.
            let mut calls = self.calls.lock();
            for number in numbers.by_ref().take(MAX_REMOVED_AT_ONCE) {
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
        if let Some(first) = intents.get(MAX_NAMED) {
            settled = first - 1;
            intents.truncate(MAX_NAMED);
        }
        let intents: Vec<String> = intents.iter().map(u64::to_string).collect();
        format!("{settled}\n{}\n{SUMMARY_END}\n", intents.join(" "))
    }

    /// Brings the file up to date. Touches the disk.
    pub fn note(&self) {
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
    pub fn close(&self) {
        let Some(lease) = &self.lease else { return };
        let settled = self.journal.as_ref().is_none_or(Journal::is_settled);
        if settled && self.calls.lock().open.is_empty() {
            self.journal.iter().for_each(Journal::remove);
            let _ = fs::remove_file(&lease.path);
        } else {
            self.note();
        }
    }
}

impl Lease {
    fn take(path: &Path) -> io::Result<Self> {
        // Locked before it has its name: nobody can take it for that of a dead kernel.
        let mut fresh = path.as_os_str().to_owned();
        fresh.push(".new");
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.try_lock().map_err(io::Error::other)?;
        file.write_all_at(format!("0\n\n{SUMMARY_END}\n").as_bytes(), 0)?;
        fs::rename(&fresh, path)?;
        Ok(Self { path: path.to_owned(), file, written: Mutex::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_calls() -> Arc<OpenCalls> {
        OpenCalls::new(None)
    }

    fn begin(calls: &OpenCalls) -> u64 {
        let number = calls.number();
        calls.begin(number, None);
        number
    }

    #[test]
    fn the_file_names_what_the_log_alone_would_not_tell() {
        let calls = open_calls();
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
        let calls = open_calls();
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
}
