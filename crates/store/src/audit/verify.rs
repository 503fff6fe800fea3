//! Whether a chain is whole: a pure walk over records, in order, against signed heads.
//!
//! The walk names the first record that is missing, changed or out of place, and why. It trusts only the keys it is
//! given: whoever can write the database but not sign cannot hide a change behind a new hash.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;

use super::evidence::Gathered;
use super::head::{Head, HeadKind};
use super::{AuditRecord, Link};
use crate::Digest;

/// Why a record is bad.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The record is not there, though later ones are.
    Missing,
    /// The record does not follow the one before it: another was put in its place.
    Unlinked,
    /// The text or the time of the record was changed.
    Altered,
    /// The searchable columns do not say what the event says.
    Disagrees,
    /// The hashes were recomputed: from here to the next signed head the log is not what it was.
    Rewritten {
        /// The head that tells.
        head: u64,
    },
    /// The log ends before this record, though a signed head covers more: the tail was cut, or an older copy put back.
    Cut {
        /// How far the log once went.
        reached: u64,
    },
    /// A head on file has a signature that is not ours.
    Forged,
    /// A line of the file of heads cannot be read.
    Unreadable {
        /// Which line.
        line: usize,
    },
    /// The signed heads outside of the database are gone.
    NoHeads,
}

/// The first bad record, and why it is bad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// The sequence number.
    pub seq: u64,
    /// What is wrong with it.
    pub fault: Fault,
}

impl fmt::Display for Breach {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "record {}: ", self.seq)?;
        match &self.fault {
            Fault::Missing => write!(formatter, "it is missing"),
            Fault::Unlinked => write!(formatter, "it does not follow the record before it"),
            Fault::Altered => write!(formatter, "it was changed"),
            Fault::Disagrees => write!(formatter, "its searchable columns do not say what its event says"),
            Fault::Rewritten { head } => write!(formatter, "the log was rewritten; the signed head at {head} differs"),
            Fault::Cut { reached } => write!(
                formatter,
                "the log ends before it, but a signed head covers {reached}: the tail was cut, or an older copy put back"
            ),
            Fault::Forged => write!(formatter, "the signature of its head is not ours"),
            Fault::Unreadable { line } => write!(formatter, "line {line} of the file of heads cannot be read"),
            Fault::NoHeads => write!(formatter, "the signed heads that belong to the log are gone"),
        }
    }
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The first record that is there; 0 if none is.
    pub first: u64,
    /// The last record that was checked.
    pub last: u64,
    /// Records that were checked.
    pub records: u64,
    /// Signed heads that agreed.
    pub heads: u64,
    /// Heads in the database with a key that is not trusted here. They prove nothing.
    pub foreign: u64,
    /// Records after the last signed head: whole among themselves, but vouched for by nobody.
    pub unsealed: u64,
    /// Breaks that an operator has accepted, in the order of the log.
    pub restores: Vec<Restored>,
    /// The first bad record.
    pub breach: Option<Breach>,
}

/// A break in the log that an operator has accepted: from here on it is another log than it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// The last record that the operator accepted as it is.
    pub seq: u64,
    /// The first record that is not, or may not be, what it was.
    pub from: u64,
    /// How far the log once went.
    pub reached: u64,
    /// When it was accepted.
    pub time: Timestamp,
}

impl Report {
    /// A report on a log that cannot even be walked.
    pub(crate) const fn broken(breach: Breach) -> Self {
        let restores = Vec::new();
        Self { first: 0, last: 0, records: 0, heads: 0, foreign: 0, unsealed: 0, restores, breach: Some(breach) }
    }

    /// Whether nothing is wrong.
    pub const fn is_whole(&self) -> bool {
        self.breach.is_none()
    }
}

/// What a sequence number is expected to be.
#[derive(Debug)]
enum Mark {
    /// The chain had this hash there. Where an operator has accepted the log as it is up to a later record, that it has
    /// another one now is part of what was accepted.
    Hash(Digest, Option<u64>),
    Bad(Fault),
}

/// The evidence, in the order in which it was made.
#[derive(Debug, Default)]
struct Collected {
    grown: Vec<(Link, Option<u64>)>,
    /// Where retention has cut the log, and whether that stands on file and not in the database.
    starts: Vec<(Link, bool)>,
    /// What is accepted now comes from the file.
    is_on_file: bool,
    bad: Vec<(u64, Fault)>,
    restores: Vec<Restored>,
}

impl Collected {
    fn accept(&mut self, head: &Head) {
        match head.kind {
            HeadKind::Grown => {}
            HeadKind::Restored => self.restore(head),
            HeadKind::Pruned => self.starts.push((head.link(), self.is_on_file)),
        }
        self.grown.push((head.link(), None));
    }

    /// What the evidence said until now counts no more where it disagrees with the log as it was accepted. The log up to
    /// there is vouched for by this head: nothing in it can be changed behind its back.
    fn restore(&mut self, head: &Head) {
        let beyond = self.grown.iter().map(|(link, _)| link.seq).max().unwrap_or_default();
        let from = self.bad.drain(..).map(|(seq, _)| seq).min().unwrap_or(u64::MAX).min(head.seq + 1);
        self.grown.retain_mut(|(link, accepted)| {
            accepted.get_or_insert(head.seq);
            link.seq <= head.seq
        });
        // A copy from before a retention has the records again that it had removed: what the copy itself says counts, and
        // what is done after this.
        if self.is_on_file {
            self.starts.retain(|(_, is_on_file)| !is_on_file);
        }
        let restored = Restored { seq: head.seq, from, reached: beyond.max(head.seq), time: head.time };
        // The same head is in the database and on file.
        match self.restores.iter_mut().find(|other| other.seq == head.seq && other.time == head.time) {
            Some(known) => {
                known.from = known.from.min(restored.from);
                known.reached = known.reached.max(restored.reached);
            }
            None => self.restores.push(restored),
        }
    }
}

/// The walk. Feed it every record in order, then [`Verifier::finish`].
#[derive(Debug)]
pub(crate) struct Verifier {
    at: Link,
    /// The last sequence number that a trusted head vouches for.
    vouched: u64,
    marks: BTreeMap<u64, Vec<Mark>>,
    reached: u64,
    report: Report,
}

impl Verifier {
    /// `gathered` comes from the files outside of the database, `kept` from inside it or from elsewhere.
    pub(crate) fn new(gathered: Gathered, kept: &[Head], trusted: &[String]) -> Self {
        let mut collected = Collected::default();
        let mut foreign = 0;
        // Inside first: a head of an operator's restore, on file, then overrules what an old copy carries.
        for head in kept {
            if trusted.contains(&head.key) && head.is_genuine() {
                collected.accept(head);
            } else if trusted.contains(&head.key) {
                collected.bad.push((head.seq, Fault::Forged));
            } else {
                foreign += 1;
            }
        }
        let lines = gathered.heads.len();
        collected.is_on_file = true;
        for (line, head) in gathered.heads.into_iter().enumerate() {
            match head {
                Some(head) if trusted.contains(&head.key) && head.is_genuine() => collected.accept(&head),
                Some(head) => collected.bad.push((head.seq, Fault::Forged)),
                None => {
                    let seq = collected.grown.last().map_or(0, |(link, _)| link.seq);
                    collected.bad.push((seq, Fault::Unreadable { line: line + 1 }));
                }
            }
        }
        let start = |collected: &Collected| {
            let last = collected.starts.iter().map(|(link, _)| *link).max_by_key(|link| link.seq);
            last.unwrap_or(Link::GENESIS)
        };
        let first = start(&collected).seq;
        match gathered.tip {
            Some(tip) if tip.seq > 0 && lines == 0 => collected.bad.push((first, Fault::NoHeads)),
            Some(tip) if trusted.contains(&tip.key) && tip.is_genuine() => collected.accept(&tip),
            Some(tip) => collected.bad.push((tip.seq, Fault::Forged)),
            None => collected.bad.push((first, Fault::NoHeads)),
        }
        let start = start(&collected);
        let Collected { grown, bad, restores, .. } = collected;
        let mut marks: BTreeMap<u64, Vec<Mark>> = BTreeMap::new();
        let mut reached = 0;
        for (link, accepted) in grown.into_iter().filter(|(link, _)| link.seq >= start.seq) {
            reached = reached.max(link.seq);
            marks.entry(link.seq).or_default().push(Mark::Hash(link.hash, accepted));
        }
        for (seq, fault) in bad {
            marks.entry(seq.max(start.seq)).or_default().push(Mark::Bad(fault));
        }
        let report =
            Report { first: 0, last: start.seq, records: 0, heads: 0, foreign, unsealed: 0, restores, breach: None };
        let mut verifier = Self { at: start, vouched: start.seq, marks, reached, report };
        verifier.check_marks();
        verifier
    }

    /// Checks the next record. `false` means that a breach was found and no more is needed.
    pub(crate) fn record(&mut self, record: &AuditRecord) -> bool {
        if self.report.breach.is_some() {
            return false;
        }
        let expected = self.at.seq + 1;
        let fault = if record.seq != expected {
            Some(Fault::Missing)
        } else if record.previous != self.at.hash {
            Some(Fault::Unlinked)
        } else if !record.hash_agrees() {
            Some(Fault::Altered)
        } else if !record.columns_agree() {
            Some(Fault::Disagrees)
        } else {
            None
        };
        if let Some(fault) = fault {
            self.report.breach = Some(Breach { seq: expected, fault });
            return false;
        }
        self.at = Link { seq: record.seq, hash: record.hash };
        self.report.records += 1;
        self.report.last = record.seq;
        if self.report.first == 0 {
            self.report.first = record.seq;
        }
        self.check_marks();
        self.report.breach.is_none()
    }

    pub(crate) fn finish(mut self) -> Report {
        if self.report.breach.is_none() && self.reached > self.at.seq {
            self.report.breach = Some(Breach { seq: self.at.seq + 1, fault: Fault::Cut { reached: self.reached } });
        }
        if self.report.breach.is_none()
            && let Some((seq, marks)) = self.marks.pop_first()
        {
            // Only bad heads beyond the end can be left.
            let fault = marks.into_iter().find_map(|mark| match mark {
                Mark::Bad(fault) => Some(fault),
                Mark::Hash(..) => None,
            });
            self.report.breach = fault.map(|fault| Breach { seq, fault });
        }
        self.report.unsealed = self.at.seq - self.vouched;
        self.report
    }

    fn check_marks(&mut self) {
        for mark in self.marks.remove(&self.at.seq).into_iter().flatten() {
            let fault = match mark {
                Mark::Hash(hash, _) if hash == self.at.hash => {
                    self.report.heads += 1;
                    self.vouched = self.at.seq;
                    continue;
                }
                Mark::Hash(_, Some(accepted)) => {
                    for restored in self.report.restores.iter_mut().filter(|restored| restored.seq == accepted) {
                        restored.from = restored.from.min(self.vouched + 1);
                    }
                    continue;
                }
                // Everything since the last head that agreed is in doubt.
                Mark::Hash(_, None) => Breach { seq: self.vouched + 1, fault: Fault::Rewritten { head: self.at.seq } },
                Mark::Bad(fault) => Breach { seq: self.at.seq, fault },
            };
            self.report.breach.get_or_insert(fault);
        }
    }
}
