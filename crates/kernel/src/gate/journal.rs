//! Events on their way to the store, in a form that outlives this process.
//!
//! An event stands here before anybody hears of what it is about; the store takes it a moment later, with many others
//! and durably. What stands here was handed to the operating system and not synced: it outlives the end of this process,
//! however that comes, and not a power cut. Two files take turns, so that one can be emptied once the store has all of
//! it. What the events mean is not known here, nor who reads them after a crash (see [`super::underway`]).

use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

/// Bytes in one file after which the other one's turn comes.
const TURN: u64 = 2 << 20;
/// Bytes that are read of one file after a crash, at most.
const MOST_READ: u64 = 64 << 20;
/// How the names of the files end, before their number.
const ENDING: &str = ".journal-";
/// How a file begins: the record of the audit log after which everything in it comes.
const AFTER: &str = "after ";

/// The file that an event was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Page(usize);

#[derive(Debug)]
struct Sheet {
    path: PathBuf,
    /// Writes at the end, wherever that is.
    end: File,
    /// Writes the first line.
    start: File,
    bytes: AtomicU64,
    /// Events that the store does not have yet.
    waiting: AtomicU64,
}

/// The journal of one kernel.
#[derive(Debug)]
pub(super) struct Journal {
    sheets: [Sheet; 2],
    /// Which of them takes events. Who writes reads this; who changes it waits until nobody writes.
    turn: RwLock<usize>,
}

impl Journal {
    /// A new journal in files whose names begin with this path.
    ///
    /// # Errors
    /// The files cannot be made.
    pub(super) fn new(beside: &Path) -> io::Result<Self> {
        Ok(Self { sheets: [Sheet::new(path_of(beside, 0))?, Sheet::new(path_of(beside, 1))?], turn: RwLock::new(0) })
    }

    /// Writes an event down: one line of text.
    ///
    /// # Errors
    /// The disk takes nothing.
    pub(super) fn write(&self, text: &str) -> io::Result<Page> {
        let turn = self.turn.read();
        let sheet = &self.sheets[*turn];
        let length = text.len() + 1;
        // In one write: other threads write here as well, and each line has to stay whole.
        let written = (&sheet.end).write_vectored(&[IoSlice::new(text.as_bytes()), IoSlice::new(b"\n")])?;
        sheet.bytes.fetch_add(u64::try_from(written).unwrap_or(u64::MAX), Ordering::Relaxed);
        if written < length {
            // What is there of the line reads as nothing, if only it ends.
            let _ = (&sheet.end).write_all(b"\n");
            return Err(io::ErrorKind::StorageFull.into());
        }
        sheet.waiting.fetch_add(1, Ordering::Relaxed);
        Ok(Page(*turn))
    }

    /// The store has one more event of a file.
    pub(super) fn settle(&self, page: Page) {
        if let Some(sheet) = self.sheets.get(page.0) {
            sheet.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Lets the files change places where it is time. All that is written from now on comes after this record of the
    /// audit log.
    pub(super) fn turn(&self, after: u64) {
        let now = *self.turn.read();
        let next = 1 - now;
        let (full, empty) = (&self.sheets[now], &self.sheets[next]);
        if full.bytes.load(Ordering::Relaxed) < TURN || empty.waiting.load(Ordering::Relaxed) > 0 {
            return;
        }
        let mut turn = self.turn.write();
        match empty.begin(after) {
            Ok(()) => *turn = next,
            Err(error) => tracing::warn!(%error, "the journal of the audit log cannot be emptied yet"),
        }
    }

    /// Says where the audit log ends, before the first event of this journal is in it.
    pub(super) fn begin(&self, after: u64) {
        for sheet in &self.sheets {
            let _ = sheet.start.write_all_at(first_line(after).as_bytes(), 0);
        }
    }

    /// Removes the files: the store has everything.
    pub(super) fn remove(&self) {
        for sheet in &self.sheets {
            let _ = fs::remove_file(&sheet.path);
        }
    }

    /// Whether the store has everything.
    pub(super) fn is_settled(&self) -> bool {
        self.sheets.iter().all(|sheet| sheet.waiting.load(Ordering::Relaxed) == 0)
    }
}

impl Sheet {
    fn new(path: PathBuf) -> io::Result<Self> {
        let start = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        let end = OpenOptions::new().append(true).open(&path)?;
        let sheet = Self { path, end, start, bytes: AtomicU64::new(0), waiting: AtomicU64::new(0) };
        sheet.begin(0)?;
        Ok(sheet)
    }

    fn begin(&self, after: u64) -> io::Result<()> {
        let line = first_line(after);
        self.start.set_len(0)?;
        self.start.write_all_at(line.as_bytes(), 0)?;
        self.bytes.store(u64::try_from(line.len()).unwrap_or_default(), Ordering::Relaxed);
        Ok(())
    }
}

/// Always of the same length, so that another number can take its place.
fn first_line(after: u64) -> String {
    format!("{AFTER}{after:020}\n")
}

fn path_of(beside: &Path, number: usize) -> PathBuf {
    let mut path = beside.as_os_str().to_owned();
    path.push(format!("{ENDING}{number}"));
    path.into()
}

/// What a journal held when its kernel died.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Everything in it comes after this record of the audit log.
    pub(super) after: u64,
    /// The texts of the events, whether the store has them or not. The last one may be torn.
    pub(super) lines: Vec<String>,
}

/// Reads the journal in files whose names begin with this path. Files that are not there hold nothing.
///
/// # Errors
/// A file is there and cannot be read.
pub(super) fn read(beside: &Path) -> io::Result<Left> {
    let mut after = u64::MAX;
    let mut lines = Vec::new();
    for number in 0..2 {
        let bytes = match File::open(path_of(beside, number)) {
            Ok(file) => {
                let mut bytes = Vec::new();
                io::Read::read_to_end(&mut io::Read::take(file, MOST_READ), &mut bytes)?;
                bytes
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut of_file = text.lines();
        let first = of_file.next().and_then(|line| line.strip_prefix(AFTER)?.parse().ok());
        // A file that says nothing of its beginning may begin anywhere.
        let events: Vec<String> = of_file.map(ToOwned::to_owned).collect();
        if !events.is_empty() {
            after = after.min(first.unwrap_or(0));
            lines.extend(events);
        }
    }
    Ok(Left { after: if lines.is_empty() { 0 } else { after }, lines })
}

/// Removes what [`read`] reads.
pub(super) fn remove(beside: &Path) {
    for number in 0..2 {
        let _ = fs::remove_file(path_of(beside, number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_after_a_crash() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kernel-x");
        let journal = Journal::new(&path).unwrap();
        assert!(read(&path).unwrap().lines.is_empty());
        journal.begin(7);
        let page = journal.write("{\"a\":1}").unwrap();
        journal.write("{\"b\":2}").unwrap();
        assert!(!journal.is_settled());
        let left = read(&path).unwrap();
        assert_eq!((left.after, left.lines), (7, vec!["{\"a\":1}".to_owned(), "{\"b\":2}".to_owned()]));
        journal.settle(page);
        journal.settle(page);
        assert!(journal.is_settled());
        journal.remove();
        assert!(read(&path).unwrap().lines.is_empty());
    }

    #[test]
    fn a_file_is_emptied_only_when_the_store_has_all_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kernel-x");
        let journal = Journal::new(&path).unwrap();
        let line = "x".repeat(1 << 20);
        let pages: Vec<_> = (0..3).map(|_| journal.write(&line).unwrap()).collect();
        journal.turn(10);
        let later = journal.write("later").unwrap();
        assert_ne!(later, pages[0]);
        // The first file is still needed: however long the second grows, it stays.
        let more: Vec<_> = (0..3).map(|_| journal.write(&line).unwrap()).collect();
        journal.turn(11);
        assert!(more.iter().all(|page| *page == later));
        assert_eq!(journal.write("again").unwrap(), later);
        assert_eq!(read(&path).unwrap().lines.len(), 8);
        for page in pages {
            journal.settle(page);
        }
        journal.turn(12);
        assert_ne!(journal.write("first again").unwrap(), later);
        let left = read(&path).unwrap();
        assert_eq!((left.after, left.lines.len()), (10, 6));
        assert_eq!(left.lines[0], "first again");
    }

    #[test]
    fn lines_of_many_threads_stay_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kernel-x");
        let journal = Journal::new(&path).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let journal = &journal;
                scope.spawn(move || {
                    for number in 0..200 {
                        journal.write(&format!("{thread}:{number}:{}", "y".repeat(number))).unwrap();
                    }
                });
            }
        });
        let left = read(&path).unwrap();
        assert_eq!(left.lines.len(), 800);
        for line in left.lines {
            let mut parts = line.split(':');
            let (_, number, rest) = (parts.next(), parts.next().unwrap(), parts.next().unwrap());
            assert_eq!(rest.len(), number.parse::<usize>().unwrap());
        }
    }
}
