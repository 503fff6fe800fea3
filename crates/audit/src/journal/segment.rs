//! One file of the journal, as memory that is shared with it.
//!
//! Writing there is no call into the operating system, and what was written is the file's, whatever becomes of this
//! process. The file begins with a line that says after which record of the audit log its events come, and with a mark
//! that is new each time the file begins anew. Each event has the mark and its length before it. They are written last:
//! what a kill left half done, and what is left from before, does not have the mark of the day, and reads as nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::ops::Range;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{Ordering, compiler_fence};

use memmap2::{MmapMut, MmapOptions};

/// Bytes of a new file.
const FIRST: usize = 512 << 10;
/// Bytes that a file has at most. The store is far behind when it comes to that.
const MAX_SEGMENT_BYTES: usize = 64 << 20;
/// Bytes that are always free behind the last event, as long as the disk has them: once they cannot be had any more,
/// nothing new is begun, and what is under way can still write down how it ended.
const HEADROOM: usize = 256 << 10;
/// Bytes that a file keeps when it begins anew.
const KEPT: usize = 4 << 20;
/// Bytes that are made in the file at once.
const BLOCK: usize = 64 << 10;
/// How a file begins: the record of the audit log after which everything in it comes.
const AFTER: &str = "after ";
/// Digits of the number of a record.
const DIGITS: usize = 20;
/// Letters of a mark.
const MARK: usize = 16;
/// Digits of the length of an event.
const LENGTH: usize = 8;
/// Bytes of the first line.
const HEAD: usize = AFTER.len() + DIGITS + 1 + MARK + 1;
/// Bytes before an event: mark, space, length, space.
const LABEL: usize = MARK + 1 + LENGTH + 1;

#[derive(Debug)]
pub(super) struct MmapSegment {
    file: File,
    memory: MmapMut,
    /// Where the next event goes.
    end: usize,
    /// There is no more headroom, and the disk gives none.
    low: bool,
    mark: String,
}

impl MmapSegment {
    pub(super) fn new(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(path)?;
        let memory = extended(&file, 0..FIRST)?;
        let mut segment = Self { file, memory, end: 0, low: false, mark: String::new() };
        segment.begin(0)?;
        Ok(segment)
    }

    /// Begins anew: what stands here is needed no more.
    pub(super) fn begin(&mut self, after: u64) -> io::Result<()> {
        self.mark = crate::random_name(MARK);
        if self.mark.len() != MARK {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if self.memory.len() > KEPT {
            self.memory = mapped(&self.file, KEPT)?;
            self.file.set_len(KEPT as u64)?;
        }
        self.end = HEAD;
        self.low = false;
        self.comes_after(after);
        Ok(())
    }

    /// Says after which record of the audit log its events come.
    pub(super) fn comes_after(&mut self, after: u64) {
        let head = format!("{AFTER}{after:0DIGITS$} {}\n", self.mark);
        self.memory[..HEAD].copy_from_slice(head.as_bytes());
    }

    /// Bytes that are used.
    pub(super) const fn bytes(&self) -> usize {
        self.end
    }

    /// Writes an event down; where it stands.
    pub(super) fn write(&mut self, text: &str) -> io::Result<usize> {
        let at = self.end + LABEL;
        // A line's end behind it, for people who look at the file.
        let end = at + text.len() + 1;
        if end + HEADROOM > self.memory.len() {
            self.make_room(end)?;
        }
        self.memory[at..end - 1].copy_from_slice(text.as_bytes());
        self.memory[end - 1] = b'\n';
        // Where this process ends between the two, there is no event.
        compiler_fence(Ordering::SeqCst);
        let label = &mut self.memory[self.end..at];
        label[MARK] = b' ';
        let mut rest = text.len();
        for digit in label[MARK + 1..LABEL - 1].iter_mut().rev() {
            *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
            rest /= 10;
        }
        label[LABEL - 1] = b' ';
        compiler_fence(Ordering::SeqCst);
        label[..MARK].copy_from_slice(self.mark.as_bytes());
        self.end = end;
        Ok(at)
    }

    /// Whether nothing new should be begun.
    pub(super) const fn is_low(&self) -> bool {
        self.low
    }

    /// Looks again whether there is room for more.
    pub(super) fn look_again(&mut self) {
        if self.low {
            let _ = self.make_room(self.end);
        }
    }

    /// Makes the file longer where less than the headroom would be left behind this place.
    fn make_room(&mut self, end: usize) -> io::Result<()> {
        let grown = if end + HEADROOM > self.memory.len() { self.grow(end + HEADROOM) } else { Ok(()) };
        self.low = grown.is_err();
        if end > self.memory.len() { grown } else { Ok(()) }
    }

    /// The event of this length that stands there.
    pub(super) fn text(&self, at: usize, length: usize) -> Option<String> {
        let bytes = self.memory.get(at..at.checked_add(length)?)?;
        String::from_utf8(bytes.to_vec()).ok()
    }

    fn grow(&mut self, least: usize) -> io::Result<()> {
        let before = self.memory.len();
        let wanted = least.next_multiple_of(BLOCK).max(before.saturating_mul(2)).min(MAX_SEGMENT_BYTES);
        if wanted < least {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.memory = extended(&self.file, before..wanted)?;
        Ok(())
    }
}

/// The memory of a file, with more of it. The new part is written and not just named: a disk that is full says so here,
/// and not when the memory is used, which would end the process.
fn extended(file: &File, more: Range<usize>) -> io::Result<MmapMut> {
    let zeros = vec![0; BLOCK];
    let mut at = more.start;
    while at < more.end {
        let bytes = zeros.len().min(more.end - at);
        file.write_all_at(&zeros[..bytes], u64::try_from(at).unwrap_or(u64::MAX))?;
        at += bytes;
    }
    mapped(file, more.end)
}

#[expect(unsafe_code, reason = "memory that is shared with a file can change or vanish with it")]
fn mapped(file: &File, length: usize) -> io::Result<MmapMut> {
    // SAFETY: the file was made a moment ago, under a new name, for its owner alone; nobody else writes it or makes it
    // shorter while this process lives, and it has this many bytes.
    unsafe { MmapOptions::new().len(length).map_mut(file) }
}

/// What stands in the file of a kernel that died: after which record of the audit log, and the texts.
///
/// # Errors
/// It cannot be read.
pub(super) fn read(path: &Path) -> io::Result<(u64, Vec<String>)> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_SEGMENT_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(parse(&bytes).unwrap_or_default())
}

fn parse(bytes: &[u8]) -> Option<(u64, Vec<String>)> {
    let (after, mark) = bytes.get(..HEAD - 1)?.strip_prefix(AFTER.as_bytes())?.split_at_checked(DIGITS)?;
    let after = number(after)?;
    let mark = mark.strip_prefix(b" ")?;
    let mut lines = Vec::new();
    let mut rest = bytes.get(HEAD..)?;
    while let Some(labelled) = rest.strip_prefix(mark).and_then(|rest| rest.strip_prefix(b" ")) {
        let Some((length, text)) = labelled.split_at_checked(LENGTH) else { break };
        let Some(length) = number(length).and_then(|length| usize::try_from(length).ok()) else { break };
        // One byte before the text, one behind it.
        let (Some(line), Some(next)) = (text.get(1..length + 1), text.get(length + 2..)) else { break };
        lines.extend(String::from_utf8(line.to_vec()));
        rest = next;
    }
    Some((after, lines))
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment() -> (tempfile::TempDir, std::path::PathBuf, MmapSegment) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("segment");
        let segment = MmapSegment::new(&path).unwrap();
        (directory, path, segment)
    }

    #[test]
    fn fuzz_journals() {
        switchboard_testkit::fuzzing::fuzz("journal", |bytes| {
            if let Some((_, texts)) = parse(bytes) {
                // Nothing is read that does not stand there.
                assert!(texts.iter().map(String::len).sum::<usize>() <= bytes.len());
            }
        });
    }

    #[test]
    fn what_is_left_from_before_reads_as_nothing() {
        let (_directory, path, mut segment) = segment();
        for number in 0..10 {
            segment.write(&format!("before {number}")).unwrap();
        }
        segment.begin(5).unwrap();
        assert_eq!(read(&path).unwrap(), (5, vec![]));
        segment.write("a").unwrap();
        segment.comes_after(6);
        assert_eq!(read(&path).unwrap(), (6, vec!["a".to_owned()]));
    }

    #[test]
    fn what_a_kill_left_half_done_reads_as_nothing() {
        let (_directory, path, mut segment) = segment();
        let before = segment.write("the first").unwrap();
        let start = segment.end;
        segment.write("the second").unwrap();
        let whole = segment.memory[..segment.end].to_vec();
        assert_eq!(segment.text(before, 9).as_deref(), Some("the first"));
        assert_eq!(read(&path).unwrap().1.len(), 2);
        // The text, then the length, then the mark: it is an event with the last letter of the mark, not before.
        for missing in 1..=MARK {
            let mut torn = whole.clone();
            torn[start + MARK - missing..start + MARK].fill(0);
            assert_eq!(parse(&torn).unwrap().1, ["the first"], "{missing}");
        }
    }

    #[test]
    fn nothing_in_a_file_makes_reading_fail() {
        let (_directory, _, mut segment) = segment();
        segment.write("one").unwrap();
        segment.write("two").unwrap();
        let whole = segment.memory[..segment.end].to_vec();
        for cut in 0..whole.len() {
            let read = parse(&whole[..cut]).unwrap_or_default().1;
            assert!(read.iter().all(|line| line == "one" || line == "two"), "{cut}: {read:?}");
            for byte in [0, b'9', b'\n', 0xff] {
                let mut other = whole.clone();
                other[cut] = byte;
                let _ = parse(&other);
            }
        }
        // A length beyond any memory.
        let mut long = whole;
        long[HEAD + MARK + 1..HEAD + LABEL - 1].fill(b'9');
        assert_eq!(parse(&long).unwrap().1, Vec::<String>::new());
    }

    #[test]
    fn a_file_grows_and_keeps_what_it_has() {
        let (_directory, path, mut segment) = segment();
        let line = "x".repeat(100 << 10);
        let places: Vec<_> = (0..8).map(|_| segment.write(&line).unwrap()).collect();
        assert!(segment.memory.len() > FIRST);
        assert!(places.iter().all(|at| segment.text(*at, line.len()).as_deref() == Some(&*line)));
        assert_eq!(read(&path).unwrap().1.len(), 8);
        let error = segment.write(&"x".repeat(MAX_SEGMENT_BYTES)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(read(&path).unwrap().1.len(), 8);
    }
}
