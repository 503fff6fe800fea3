//! Evidence outside of the database: the signing key, the file of signed heads, and the tip.
//!
//! The file of heads only grows: a line per head, synced. The tip is one signed head that follows every commit, written
//! in place and not synced; it may lag behind the database and never runs ahead of it, because it is written after the
//! commit. A database that ends before its evidence was cut or replaced.
//!
//! What this cannot see: someone who puts back the database, the heads and the tip of one and the same moment. Only a
//! head that was kept elsewhere tells.

use std::cmp::Ordering;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::key::AuditKey;
use super::verify::{Breach, Fault};
use super::{Head, HeadKind, Link};
use crate::{Digest, HeadPolicy, Mode, Options, StoreError, private};

/// Length of the tip file. A head has less than 400 bytes.
const TIP_BYTES: usize = 512;
/// Heads whose signatures are looked at when the files are opened, the newest ones.
const LOOKED_AT: usize = 256;

/// The evidence of one log.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) key: AuditKey,
    pub(crate) trusted: Vec<String>,
    policy: HeadPolicy,
    heads: PathBuf,
    tip: PathBuf,
}

/// What is on file.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// One per line; `None` for a line that cannot be read.
    pub(crate) heads: Vec<Option<Head>>,
    pub(crate) tip: Option<Head>,
}

/// What is on file that the database must agree with before anything is appended to it.
#[derive(Debug, Default)]
pub(crate) struct Newest {
    /// The newest heads.
    pub(crate) heads: Vec<Head>,
    /// The heads of retention, whose signatures were not looked at.
    pub(crate) pruned: Vec<Head>,
}

impl Evidence {
    /// Opens the evidence, and makes the key at first use.
    pub(crate) fn open(directory: &Path, stem: &str, options: &Options) -> Result<Self, StoreError> {
        let [key, heads, tip] = ["key", "heads", "tip"].map(|end| directory.join(format!("{stem}.audit-{end}")));
        let key = if options.mode == Mode::ReadOnly || heads.exists() {
            // Heads without their key: a new key would make them look forged, and silence would hide the loss.
            AuditKey::load(&key)?
        } else {
            private::directory(directory)?;
            if key.exists() {
                tracing::warn!(key = %key.display(), "the key of an earlier audit log is here, and that log is gone");
            }
            AuditKey::load_or_new(&key)?
        };
        for path in [&heads, &tip] {
            if path.exists() {
                private::file(path)?;
            }
        }
        let mut trusted = options.trusted_keys.clone();
        trusted.push(key.public().to_owned());
        Ok(Self { key, trusted, policy: options.heads, heads, tip })
    }

    /// A path beside the files, with another ending.
    pub(crate) fn beside(&self, ending: &str) -> PathBuf {
        let name = self.heads.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let stem = name.strip_suffix(".audit-heads").unwrap_or(name);
        self.heads.with_file_name(format!("{stem}.{ending}"))
    }

    /// Reads what is on file. A last line without its end is the trace of a crash, and no head.
    pub(crate) fn gather(&self) -> Result<Gathered, StoreError> {
        let text = read(&self.heads)?.unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        Ok(Gathered { heads: whole.lines().map(Head::parse).collect(), tip: self.read_tip()? })
    }

    fn read_tip(&self) -> Result<Option<Head>, StoreError> {
        let mut last = None;
        // The writer of another process may be at it: a reader that saw half of a write looks again.
        for _ in 0..3 {
            // An empty one was made by an open that did not get further; it never held a head.
            let Some(text) = read(&self.tip)?.filter(|text| !text.is_empty()) else { return Ok(None) };
            last = Head::parse(text.trim());
            if last.as_ref().is_some_and(Head::is_genuine) {
                break;
            }
        }
        match last {
            Some(head) => Ok(Some(head)),
            None => Err(StoreError::ChainBroken(Breach { seq: 0, fault: Fault::Unreadable { line: 0 } })),
        }
    }

    /// What the database must agree with before anything is appended to it.
    pub(crate) fn newest(&self, mode: Mode) -> Result<Newest, StoreError> {
        match (self.read_newest(), mode) {
            // Unreadable evidence is what a restore may be about.
            (Err(StoreError::ChainBroken(_)), Mode::Restore { .. }) => Ok(Newest::default()),
            (newest, _) => newest,
        }
    }

    fn read_newest(&self) -> Result<Newest, StoreError> {
        let gathered = self.gather()?;
        let lone_tip = gathered.heads.is_empty() && gathered.tip.as_ref().is_some_and(|tip| tip.seq > 0);
        if lone_tip || (gathered.tip.is_none() && !gathered.heads.is_empty()) {
            let seq = gathered.tip.or_else(|| gathered.heads.into_iter().flatten().next_back()).map_or(0, |it| it.seq);
            return Err(StoreError::ChainBroken(Breach { seq, fault: Fault::NoHeads }));
        }
        self.look_through(&gathered.heads)?;
        let newest = gathered.heads.last().cloned().flatten();
        let pruned = gathered.heads.into_iter().flatten().filter(|head| head.kind == HeadKind::Pruned).collect();
        let heads: Vec<Head> = newest.into_iter().chain(gathered.tip).collect();
        match heads.iter().find(|head| !self.is_ours(head)) {
            Some(head) => Err(StoreError::ChainBroken(Breach { seq: head.seq, fault: Fault::Forged })),
            None => Ok(Newest { heads, pruned }),
        }
    }

    /// Whether a head is signed by one of the keys that count.
    pub(crate) fn is_ours(&self, head: &Head) -> bool {
        self.trusted.contains(&head.key) && head.is_genuine()
    }

    /// Looks at the heads on file as far as a start has the time: each is to be read, and of the newest each is to be ours.
    /// What came before the operator accepted the log counts no more; the signatures of older ones are for `verify`.
    fn look_through(&self, heads: &[Option<Head>]) -> Result<(), StoreError> {
        let is_restore = |head: &Option<Head>| {
            head.as_ref().is_some_and(|head| head.kind == HeadKind::Restored && self.is_ours(head))
        };
        let from = heads.iter().rposition(is_restore).unwrap_or_default();
        let newest = heads.len().saturating_sub(LOOKED_AT);
        let mut seq = 0;
        for (line, head) in heads.iter().enumerate().skip(from) {
            let fault = match head {
                None => Fault::Unreadable { line: line + 1 },
                Some(head) if line >= newest && !self.is_ours(head) => Fault::Forged,
                Some(head) => {
                    seq = head.seq;
                    continue;
                }
            };
            let seq = head.as_ref().map_or(seq, |head| head.seq);
            return Err(StoreError::ChainBroken(Breach { seq, fault }));
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Option<String>, StoreError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(private::failed("read", path)(error)),
    }
}

/// What a group of writes has done to the chain so far.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// The end of the chain, once something changed it.
    pub(crate) end: Option<Link>,
    /// The latest time among the records of the group.
    pub(crate) time: Option<Timestamp>,
    /// A head that was signed.
    pub(crate) head: Option<Head>,
}

impl Progress {
    /// Records with these times (microseconds) were added, and the chain ends here.
    pub(crate) fn appended(&mut self, end: Link, times: impl Iterator<Item = i64>) {
        self.end = Some(end);
        self.time = self.time.max(times.max().and_then(|time| Timestamp::from_microsecond(time).ok()));
    }
}

/// The writing side of the evidence: owned by the thread that commits.
#[derive(Debug)]
pub(crate) struct Ledger {
    heads: File,
    tip: File,
    /// Sequence number and time of the last head.
    last: Option<(u64, Timestamp)>,
    /// Where the chain ended when this writer last saw it: from there it has to go on.
    end: Link,
    /// Heads that are in the database and could not be put on file yet. The newest suffices.
    owed: Option<Head>,
}

impl Ledger {
    /// Opens the files for writing, making them if needed, and ends a line that a crash left half written.
    pub(crate) fn open(evidence: &Evidence) -> Result<Self, StoreError> {
        let open = |path: &Path, append: bool| {
            OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .append(append)
                .mode(0o600)
                .open(path)
                .map_err(private::failed("open", path))
        };
        let text = read(&evidence.heads)?.unwrap_or_default();
        let heads = open(&evidence.heads, true)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            heads.set_len(whole as u64).map_err(private::failed("repair", &evidence.heads))?;
        }
        let tip = open(&evidence.tip, false)?;
        let last = text[..whole].lines().next_back().and_then(Head::parse).map(|head| (head.seq, head.time));
        Ok(Self { heads, tip, last, end: Link::GENESIS, owed: None })
    }

    /// Whether a chain that ends here goes on from where this writer left it. Where others have added to it, only the
    /// record with the number that is returned tells, see [`Ledger::agrees`].
    ///
    /// # Errors
    /// It does not: an older copy of the database was put in its place, or another one.
    pub(crate) fn follows(&self, tip: Link) -> Result<Option<u64>, StoreError> {
        let breach = |seq, fault| Err(StoreError::ChainBroken(Breach { seq, fault }));
        match tip.seq.cmp(&self.end.seq) {
            Ordering::Less => breach(tip.seq + 1, Fault::Cut { reached: self.end.seq }),
            Ordering::Equal if tip.hash != self.end.hash => breach(tip.seq, Fault::Rewritten { head: self.end.seq }),
            Ordering::Equal => Ok(None),
            Ordering::Greater => Ok((self.end.seq > 0).then_some(self.end.seq)),
        }
    }

    /// Whether the record where this writer left the chain still has this hash; `None` where retention removed it.
    ///
    /// # Errors
    /// It has another one.
    pub(crate) fn agrees(&self, hash: Option<Digest>) -> Result<(), StoreError> {
        if hash.is_some_and(|hash| hash != self.end.hash) {
            let fault = Fault::Rewritten { head: self.end.seq };
            return Err(StoreError::ChainBroken(Breach { seq: self.end.seq, fault }));
        }
        Ok(())
    }

    /// A signed head for the end of a group, if one is due.
    pub(crate) fn due(&self, end: Link, time: Timestamp, evidence: &Evidence) -> Option<Head> {
        let due = match self.last {
            None => true,
            Some((seq, at)) => {
                let interval = i64::try_from(evidence.policy.interval.as_micros()).unwrap_or(i64::MAX);
                // A clock that went back makes no head overdue; the count still does.
                end.seq.saturating_sub(seq) >= evidence.policy.records
                    || time.as_microsecond().saturating_sub(at.as_microsecond()) >= interval
            }
        };
        due.then(|| Head::sign(HeadKind::Grown, end, time, &evidence.key))
    }

    /// Puts on file what a committed group has done.
    pub(crate) fn follow(&mut self, progress: Progress, evidence: &Evidence) {
        let Progress { end, time, head } = progress;
        let of_head = head.as_ref().map(|head| (head.link(), head.time));
        let end = end.or_else(|| of_head.map(|(link, _)| link));
        let time = time.or_else(|| of_head.map(|(_, time)| time));
        if let (Some(end), Some(time)) = (end, time) {
            self.record(end, time, head, evidence);
        }
    }

    /// Puts on file what was committed. A failure here takes nothing back: it is tried again with the next commit.
    pub(crate) fn record(&mut self, end: Link, time: Timestamp, head: Option<Head>, evidence: &Evidence) {
        self.end = end;
        if let Some(head) = head {
            self.last = Some((head.seq, head.time));
            self.owed = Some(head);
        }
        if let Err(error) = self.try_record(end, time, evidence) {
            tracing::warn!(%error, seq = end.seq, "the signed head of the audit log could not be put on file yet");
        }
    }

    /// Puts on file what is in the database already. At first use this makes the files, so that their absence later
    /// means something.
    pub(crate) fn begin(&mut self, end: Link, newest: Option<Head>, evidence: &Evidence) -> Result<(), StoreError> {
        let time = newest.as_ref().map_or(Timestamp::UNIX_EPOCH, |head| head.time);
        let failed = || private::failed("write", &evidence.tip);
        if self.tip.metadata().map_err(failed())?.len() == 0 {
            // Synced once, here: a file that is new and not synced can be empty after a power cut, and an empty tip is
            // a breach. Later writes go over a block that is there.
            self.write_tip(Link::GENESIS, time, evidence).and_then(|()| self.tip.sync_all()).map_err(failed())?;
            private::sync_directory(evidence.tip.parent().unwrap_or(&evidence.tip))?;
        }
        self.catch_up(newest);
        // A tip beyond the start is never without a head on file.
        let head = (end.seq > 0 && self.last.is_none()).then(|| Head::sign(HeadKind::Grown, end, time, &evidence.key));
        self.record(end, time, head, evidence);
        Ok(())
    }

    fn catch_up(&mut self, newest: Option<Head>) {
        if let Some(head) = newest.filter(|head| self.last.is_none_or(|(seq, _)| seq < head.seq)) {
            self.last = Some((head.seq, head.time));
            self.owed = Some(head);
        }
    }

    fn try_record(&mut self, end: Link, time: Timestamp, evidence: &Evidence) -> io::Result<()> {
        if let Some(head) = &self.owed {
            // The tip alone may know how far the log went before it was restored, and is about to be written over.
            let before = evidence.read_tip().ok().flatten().filter(|tip| {
                let is_ours = evidence.trusted.contains(&tip.key) && tip.is_genuine();
                head.kind == HeadKind::Restored && is_ours && tip.seq > head.seq
            });
            for head in before.iter().chain([head]) {
                self.heads.write_all(format!("{}\n", head.line()).as_bytes())?;
            }
            self.heads.sync_data()?;
            self.owed = None;
        }
        self.write_tip(end, time, evidence)
    }

    fn write_tip(&self, end: Link, time: Timestamp, evidence: &Evidence) -> io::Result<()> {
        let tip = Head::sign(HeadKind::Grown, end, time, &evidence.key);
        let line = format!("{:<width$}\n", tip.line(), width = TIP_BYTES - 1);
        self.tip.write_all_at(line.as_bytes(), 0)
    }
}
