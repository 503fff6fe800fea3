//! Events on their way to the store, in a form that outlives this process.
//!
//! An event stands here before anybody hears of what it is about; the store takes it a moment later, with many others
//! and durably. What stands here is memory that the operating system shares with a file, not synced: it outlives the end
//! of this process, however that comes, and not a power cut. Two files take turns, so that one can begin anew once the
//! store has all of it. What the events mean is not known here, nor who reads them after a crash (see
//! [`super::underway`]).

mod sheet;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use sheet::Sheet;

/// Bytes in one file after which the other one's turn comes.
const TURN: usize = 2 << 20;
/// How the names of the files end, before their number.
const ENDING: &str = ".journal-";

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    page: usize,
    at: usize,
    length: usize,
}

/// The journal of one kernel.
#[derive(Debug)]
pub(super) struct Journal {
    paths: [PathBuf; 2],
    sheets: Mutex<Sheets>,
    /// Events in each file that the store does not have yet.
    waiting: [AtomicU64; 2],
}

#[derive(Debug)]
struct Sheets {
    both: [Sheet; 2],
    /// Which of them takes events.
    turn: usize,
}

impl Journal {
    /// A new journal in files whose names begin with this path.
    ///
    /// # Errors
    /// The files cannot be made.
    pub(super) fn new(beside: &Path) -> io::Result<Self> {
        let paths = [path_of(beside, 0), path_of(beside, 1)];
        let both = [Sheet::new(&paths[0])?, Sheet::new(&paths[1])?];
        Ok(Self { paths, sheets: Mutex::new(Sheets { both, turn: 0 }), waiting: Default::default() })
    }

    /// Writes an event down.
    ///
    /// # Errors
    /// The disk takes nothing.
    pub(super) fn write(&self, text: &str) -> io::Result<Line> {
        let mut sheets = self.sheets.lock();
        let page = sheets.turn;
        let at = sheets.both[page].write(text)?;
        self.waiting[page].fetch_add(1, Ordering::Relaxed);
        Ok(Line { page, at, length: text.len() })
    }

    /// The text of an event that the store does not have yet.
    pub(super) fn text(&self, line: Line) -> Option<String> {
        self.sheets.lock().both.get(line.page)?.text(line.at, line.length)
    }

    /// The store has an event, or needs it no more.
    pub(super) fn settle(&self, line: Line) {
        self.settle_all([line]);
    }

    /// The same for many.
    pub(super) fn settle_all(&self, lines: impl IntoIterator<Item = Line>) {
        let mut settled = [0; 2];
        for line in lines {
            settled[line.page] += 1;
        }
        for (waiting, settled) in self.waiting.iter().zip(settled) {
            waiting.fetch_sub(settled, Ordering::Relaxed);
        }
    }

    /// Lets the files change places where it is time. All that is written from now on comes after this record of the
    /// audit log.
    pub(super) fn turn(&self, after: u64) {
        let mut sheets = self.sheets.lock();
        let next = 1 - sheets.turn;
        if sheets.both[sheets.turn].bytes() < TURN || self.waiting[next].load(Ordering::Relaxed) > 0 {
            return;
        }
        match sheets.both[next].begin(after) {
            Ok(()) => sheets.turn = next,
            Err(error) => tracing::warn!(%error, "the journal of the audit log cannot begin anew yet"),
        }
    }

    /// Says where the audit log ends, before the first event of this journal is in it.
    pub(super) fn begin(&self, after: u64) {
        self.sheets.lock().both.iter_mut().for_each(|sheet| sheet.comes_after(after));
    }

    /// Removes the files: the store has everything.
    pub(super) fn remove(&self) {
        for path in &self.paths {
            let _ = fs::remove_file(path);
        }
    }

    /// Whether the store has everything.
    pub(super) fn is_settled(&self) -> bool {
        self.waiting.iter().all(|waiting| waiting.load(Ordering::Relaxed) == 0)
    }
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
    /// The texts of the events, whether the store has them or not.
    pub(super) lines: Vec<String>,
}

/// Reads the journal in files whose names begin with this path. Files that are not there hold nothing.
///
/// # Errors
/// A file is there and cannot be read.
pub(super) fn read(beside: &Path) -> io::Result<Left> {
    let mut left = Left { after: u64::MAX, lines: Vec::new() };
    for number in 0..2 {
        let (after, lines) = match sheet::read(&path_of(beside, number)) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if !lines.is_empty() {
            left.after = left.after.min(after);
            left.lines.extend(lines);
        }
    }
    if left.lines.is_empty() {
        left.after = 0;
    }
    Ok(left)
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
        assert_ne!(later.page, pages[0].page);
        // The first file is still needed: however long the second grows, it stays.
        let more: Vec<_> = (0..3).map(|_| journal.write(&line).unwrap()).collect();
        journal.turn(11);
        assert!(more.iter().all(|line| line.page == later.page));
        assert_eq!(journal.write("again").unwrap().page, later.page);
        assert_eq!(read(&path).unwrap().lines.len(), 8);
        for line in pages {
            journal.settle(line);
        }
        journal.turn(12);
        assert_ne!(journal.write("first again").unwrap().page, later.page);
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
