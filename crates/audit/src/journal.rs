//! Events on their way to the store, in a form that outlives this process.
//!
//! An event stands here before anybody hears of what it is about; the store takes it a moment later, with many others
//! and durably. What stands here is memory that the operating system shares with a file, not synced: it outlives the end
//! of this process, however that comes, and not a power cut. Two files take turns, so that one can begin anew once the
//! store has all of it. What the events mean is not known here, nor who reads them after a crash (see
//! [`super::open_calls`]).

mod segment;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use segment::MmapSegment;

/// Bytes in one file after which the other one's turn comes.
const ROTATE_AT: usize = 2 << 20;
/// How the names of the files end, before their number.
const ENDING: &str = ".journal-";

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    segment: usize,
    at: usize,
    length: usize,
}

/// The journal of one kernel.
#[derive(Debug)]
pub(super) struct Journal {
    paths: [PathBuf; 2],
    segments: Mutex<Segments>,
    /// Events in each file that the store does not have yet.
    waiting: [AtomicU64; 2],
    /// There is room only for the ends of what was begun.
    low: AtomicBool,
}

#[derive(Debug)]
struct Segments {
    both: [MmapSegment; 2],
    /// Which of them takes events.
    current: usize,
    /// The latest record of the audit log that is known: all that is written from now on comes after it.
    after: u64,
}

impl Segments {
    fn write(&mut self, text: &str) -> io::Result<usize> {
        self.both[self.current].write(text)
    }

    const fn is_low(&self) -> bool {
        self.both[self.current].is_low()
    }
}

impl Journal {
    /// A new journal in files whose names begin with this path.
    ///
    /// # Errors
    /// The files cannot be made.
    pub(super) fn new(beside: &Path) -> io::Result<Self> {
        let paths = [path_of(beside, 0), path_of(beside, 1)];
        let both = [MmapSegment::new(&paths[0])?, MmapSegment::new(&paths[1])?];
        let segments = Mutex::new(Segments { both, current: 0, after: 0 });
        Ok(Self { paths, segments, waiting: Default::default(), low: AtomicBool::new(false) })
    }

    /// Writes an event down.
    ///
    /// # Errors
    /// The disk takes nothing, or both files are as long as they may be.
    pub(super) fn write(&self, text: &str) -> io::Result<Line> {
        let mut segments = self.segments.lock();
        let mut written = segments.write(text);
        if written.is_err() && self.rotate_early(&mut segments) {
            written = segments.write(text);
        }
        let segment = segments.current;
        if written.is_ok() {
            self.waiting[segment].fetch_add(1, Ordering::Relaxed);
        }
        if segments.is_low() {
            self.rotate_early(&mut segments);
            self.low.store(segments.is_low(), Ordering::Relaxed);
        }
        written.map(|at| Line { segment, at, length: text.len() })
    }

    /// Whether there is room only for the ends of what was begun: nothing that needs a line here should begin.
    pub(super) fn is_low(&self) -> bool {
        self.low.load(Ordering::Relaxed) && {
            let mut segments = self.segments.lock();
            let current = segments.current;
            segments.both[current].look_again();
            if segments.is_low() {
                self.rotate_early(&mut segments);
            }
            let low = segments.is_low();
            self.low.store(low, Ordering::Relaxed);
            low
        }
    }

    /// The text of an event that the store does not have yet.
    pub(super) fn text(&self, line: Line) -> Option<String> {
        self.segments.lock().both.get(line.segment)?.text(line.at, line.length)
    }

    /// The store has an event, or needs it no more.
    pub(super) fn settle(&self, line: Line) {
        self.settle_all([line]);
    }

    /// The same for many.
    pub(super) fn settle_all(&self, lines: impl IntoIterator<Item = Line>) {
        let mut settled = [0; 2];
        for line in lines {
            settled[line.segment] += 1;
        }
        for (waiting, settled) in self.waiting.iter().zip(settled) {
            waiting.fetch_sub(settled, Ordering::Relaxed);
        }
    }

    /// Lets the files change places where it is time. All that is written from now on comes after this record of the
    /// audit log.
    pub(super) fn rotate(&self, after: u64) {
        let mut segments = self.segments.lock();
        segments.after = segments.after.max(after);
        if segments.both[segments.current].bytes() >= ROTATE_AT {
            self.rotate_to_other(&mut segments);
        }
    }

    /// The same before its time, where the file that takes events cannot grow any more.
    fn rotate_early(&self, segments: &mut Segments) -> bool {
        let before = segments.current;
        self.rotate_to_other(segments);
        segments.current != before
    }

    /// A file begins anew only when the store has all of it.
    fn rotate_to_other(&self, segments: &mut Segments) {
        let next = 1 - segments.current;
        if self.waiting[next].load(Ordering::Relaxed) > 0 {
            return;
        }
        let after = segments.after;
        match segments.both[next].begin(after) {
            Ok(()) => segments.current = next,
            Err(error) => tracing::warn!(%error, "the journal of the audit log cannot begin anew yet"),
        }
    }

    /// Says where the audit log ends, before the first event of this journal is in it.
    pub(super) fn begin(&self, after: u64) {
        let mut segments = self.segments.lock();
        segments.after = after;
        segments.both.iter_mut().for_each(|segment| segment.comes_after(after));
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
        let (after, lines) = match segment::read(&path_of(beside, number)) {
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
        let segment = journal.write("{\"a\":1}").unwrap();
        journal.write("{\"b\":2}").unwrap();
        assert!(!journal.is_settled());
        let left = read(&path).unwrap();
        assert_eq!((left.after, left.lines), (7, vec!["{\"a\":1}".to_owned(), "{\"b\":2}".to_owned()]));
        journal.settle(segment);
        journal.settle(segment);
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
        let segments: Vec<_> = (0..3).map(|_| journal.write(&line).unwrap()).collect();
        journal.rotate(10);
        let later = journal.write("later").unwrap();
        assert_ne!(later.segment, segments[0].segment);
        // The first file is still needed: however long the second grows, it stays.
        let more: Vec<_> = (0..3).map(|_| journal.write(&line).unwrap()).collect();
        journal.rotate(11);
        assert!(more.iter().all(|line| line.segment == later.segment));
        assert_eq!(journal.write("again").unwrap().segment, later.segment);
        assert_eq!(read(&path).unwrap().lines.len(), 8);
        for line in segments {
            journal.settle(line);
        }
        journal.rotate(12);
        assert_ne!(journal.write("first again").unwrap().segment, later.segment);
        let left = read(&path).unwrap();
        assert_eq!((left.after, left.lines.len()), (10, 6));
        assert_eq!(left.lines[0], "first again");
    }

    /// Both files are as long as they may be: there is still room for the ends of what was begun, and for everything
    /// once the store has one of them.
    #[test]
    fn a_full_journal_keeps_room_for_what_was_begun() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kernel-x");
        let journal = Journal::new(&path).unwrap();
        let line = "x".repeat(100 << 10);
        let mut lines = Vec::new();
        while !journal.is_low() {
            lines.push(journal.write(&line).unwrap());
            assert!(lines.len() < 2_000, "it has a bound");
        }
        assert!(lines.iter().any(|line| line.segment == 0) && lines.iter().any(|line| line.segment == 1));
        for _ in 0..100 {
            lines.push(journal.write(&"y".repeat(1_000)).unwrap());
        }
        assert!(journal.is_low());
        assert_eq!(read(&path).unwrap().lines.len(), lines.len());
        assert!(journal.write(&line.repeat(4)).is_err(), "more than is kept for ends");
        let (first, second): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.segment == 0);
        journal.settle_all(first);
        assert!(!journal.is_low(), "the file that the store has begins anew");
        assert_eq!(read(&path).unwrap().lines.len(), second.len());
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
