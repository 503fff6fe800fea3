//! The statements of the audit tables, shared by both engines, and the check that is made before the first append.

use super::evidence::{Evidence, Newest};
use super::verify::{Breach, Fault};
use super::{Head, HeadKind, Link};
use crate::sql::{Row, Statement};
use crate::{Digest, Mode, StoreError};

/// The present end of the chain, and the hash of the record there as that record has it.
pub(crate) const TIP: &str =
    "SELECT seq, hash, (SELECT hash FROM audit WHERE audit.seq = audit_tip.seq) FROM audit_tip WHERE id = 1";

/// The first record that is there.
pub(crate) const FIRST: &str = "SELECT seq FROM audit ORDER BY seq LIMIT 1";

pub(crate) fn set_tip(link: Link) -> Statement {
    Statement::new("UPDATE audit_tip SET seq = $1, hash = $2 WHERE id = 1", [link.seq.into(), link.hash.into()])
}

pub(crate) fn hash_at(seq: u64) -> Statement {
    Statement::new("SELECT hash FROM audit WHERE seq = $1", [seq.into()])
}

/// The head of the retention that removed everything up to this record, if one did.
pub(crate) fn pruned_through(seq: u64) -> Statement {
    Statement::new("SELECT line FROM audit_heads WHERE kind = 'pruned' AND seq = $1", [seq.into()])
}

/// The records after this one, at most so many: where they stand and what they say.
pub(crate) fn texts_after(seq: u64, most: usize) -> Statement {
    let sql = format!("SELECT seq, hash, event FROM audit WHERE seq > $1 ORDER BY seq LIMIT {most}");
    Statement::new(sql, [seq.into()])
}

pub(crate) fn remove_through(seq: u64) -> Statement {
    Statement::new("DELETE FROM audit WHERE seq <= $1", [seq.into()])
}

fn forget_heads_after(seq: u64) -> Statement {
    Statement::new("DELETE FROM audit_heads WHERE seq > $1", [seq.into()])
}

pub(crate) fn insert_head(head: &Head) -> Statement {
    Statement::new(
        "INSERT INTO audit_heads (seq, kind, line) VALUES ($1, $2, $3) ON CONFLICT (seq, kind) DO NOTHING",
        [head.seq.into(), head.kind.as_str().into(), (&head.line()).into()],
    )
}

pub(crate) const HEADS: &str = "SELECT line FROM audit_heads ORDER BY seq";
const NEWEST_HEAD: &str = "SELECT line FROM audit_heads ORDER BY seq DESC LIMIT 1";
const NEWEST_PRUNED: &str = "SELECT line FROM audit_heads WHERE kind = 'pruned' ORDER BY seq DESC LIMIT 1";

pub(crate) fn read_link(mut row: Row) -> Result<Link, StoreError> {
    Ok(Link { seq: row.sequence()?, hash: row.digest()? })
}

pub(crate) fn read_head(mut row: Row) -> Result<Head, StoreError> {
    let line = row.text()?;
    Head::parse(&line).ok_or_else(|| StoreError::Corrupt("a signed head cannot be read".to_owned()))
}

/// What the database says about its chain, as far as the check at the start needs it.
#[derive(Debug)]
pub(crate) struct ChainState {
    pub(crate) tip: Link,
    /// First record and last, if there is one.
    bounds: Option<(u64, Link)>,
    /// The hashes at the sequence numbers of [`Newest::heads`], in that order.
    at_heads: Vec<Option<Digest>>,
    /// The head in the database of the last retention.
    pruned: Option<Head>,
    /// The newest head in the database.
    pub(crate) head: Option<Head>,
}

/// The statements whose answers make a [`ChainState`].
pub(crate) fn survey(newest: &Newest) -> Vec<Statement> {
    const LAST: &str = "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1";
    let fixed = [TIP, FIRST, LAST, NEWEST_HEAD, NEWEST_PRUNED].map(|sql| Statement::new(sql, []));
    fixed.into_iter().chain(newest.heads.iter().map(|head| hash_at(head.seq))).collect()
}

impl ChainState {
    pub(crate) fn read(answers: Vec<Vec<Row>>) -> Result<Self, StoreError> {
        let mut answers = answers.into_iter().map(|rows| rows.into_iter().next());
        let mut next = || answers.next().flatten();
        let tip = read_link(next().ok_or_else(|| StoreError::Corrupt("the audit tip is gone".to_owned()))?)?;
        let first = next().map(|mut row| row.sequence()).transpose()?;
        let last = next().map(read_link).transpose()?;
        let head = next().map(read_head).transpose()?;
        let pruned = next().map(read_head).transpose()?;
        let at_heads = answers.map(|row| row.map(|mut row| row.digest()).transpose()).collect::<Result<_, _>>()?;
        Ok(Self { tip, bounds: first.zip(last), at_heads, pruned, head })
    }
}

/// Who looks at a chain, and what they go by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judge<'a> {
    pub(crate) evidence: &'a Evidence,
    pub(crate) newest: &'a Newest,
    /// Whether other replicas write to it, whose keys are not known here.
    pub(crate) is_shared: bool,
}

impl Judge<'_> {
    /// Where retention has cut the chain, as signed heads say. What a replica with another key has removed is gone for all
    /// of them.
    fn starts(&self, found: &ChainState) -> Vec<Link> {
        let kept = found.pruned.iter().filter(|head| counts(head, self.evidence, self.is_shared));
        let on_file = self.newest.pruned.iter().filter(|head| self.evidence.is_ours(head));
        kept.chain(on_file).map(Head::link).collect()
    }

    /// Whether the database continues where the evidence says it should.
    fn check(&self, found: &ChainState) -> Result<(), Breach> {
        let ChainState { tip, bounds, at_heads, .. } = found;
        let breach = |seq, fault| Err(Breach { seq, fault });
        if let Some((_, last)) = bounds
            && last != tip
        {
            return breach(last.seq.min(tip.seq) + 1, Fault::Cut { reached: last.seq.max(tip.seq) });
        }
        if self.newest.heads.is_empty() && tip.seq > 0 && !self.is_shared {
            return breach(tip.seq, Fault::NoHeads);
        }
        for (head, hash) in self.newest.heads.iter().zip(at_heads) {
            if head.seq > tip.seq {
                return breach(tip.seq + 1, Fault::Cut { reached: head.seq });
            }
            let hash = if head.seq == tip.seq { Some(tip.hash) } else { *hash };
            let removed = head.seq == 0 || bounds.is_none_or(|(first, _)| head.seq < first);
            match hash {
                Some(hash) if hash == head.hash => {}
                Some(_) => return breach(head.seq, Fault::Rewritten { head: head.seq }),
                None if removed => {}
                None => return breach(head.seq, Fault::Missing),
            }
        }
        self.check_start(found)
    }

    /// Whether the records begin where the chain does, or where retention has cut it: nobody else may remove any.
    fn check_start(&self, found: &ChainState) -> Result<(), Breach> {
        let before = found.bounds.map_or(found.tip.seq, |(first, _)| first.saturating_sub(1));
        let agrees = |start: Link| start.seq == before && (found.bounds.is_some() || start.hash == found.tip.hash);
        if before == 0 {
            return Ok(());
        }
        let starts = self.starts(found);
        if starts.iter().copied().any(agrees) {
            return Ok(());
        }
        let start = starts.iter().map(|start| start.seq).filter(|seq| *seq < before).max().unwrap_or_default();
        let fault = if found.bounds.is_some() { Fault::Missing } else { Fault::Cut { reached: before } };
        Err(Breach { seq: start + 1, fault })
    }

    /// Where the records end that are there, whatever the tip says.
    fn end(&self, found: &ChainState) -> Link {
        match found.bounds {
            Some((_, last)) => last,
            None if self.check_start(found).is_ok() => found.tip,
            // All were removed, by nobody who may: what comes next follows what retention left.
            None => {
                let kept = found.pruned.iter().filter(|head| counts(head, self.evidence, self.is_shared));
                kept.map(Head::link).next().unwrap_or(Link::GENESIS)
            }
        }
    }

    /// What has to be written before the first append: nothing, or the head of a restore (see [`restore`]).
    pub(crate) fn settle(&self, found: &ChainState, mode: Mode) -> Result<Option<Head>, StoreError> {
        match (self.check(found), mode) {
            // Also where the newest heads agree: older ones may not, after somebody has written on where a copy ended.
            (_, Mode::Restore { now }) => {
                Ok(Some(Head::sign(HeadKind::Restored, self.end(found), now, &self.evidence.key)))
            }
            (Ok(()), _) => Ok(None),
            (Err(breach), _) => Err(StoreError::ChainBroken(breach)),
        }
    }
}

/// Whether a head in the database counts: signed by a key of ours, or of some replica.
fn counts(head: &Head, evidence: &Evidence, is_shared: bool) -> bool {
    if is_shared { head.is_genuine() } else { evidence.is_ours(head) }
}

/// Whether the record where the chain ends is there: `row` is the answer to [`TIP`]. What is returned is still to be asked.
pub(crate) fn read_end(mut row: Row) -> Result<(Link, bool), StoreError> {
    let tip = Link { seq: row.sequence()?, hash: row.digest()? };
    let hash = row.optional_digest()?;
    if hash.is_some_and(|hash| hash != tip.hash) {
        return Err(StoreError::ChainBroken(Breach { seq: tip.seq, fault: Fault::Rewritten { head: tip.seq } }));
    }
    Ok((tip, hash.is_some() || tip.seq == 0))
}

/// Whether a chain whose last record is not there was emptied by retention, which signed a head for it: `kept` are the
/// answers to [`pruned_through`].
pub(crate) fn may_be_empty(tip: Link, kept: Vec<Row>, evidence: &Evidence, is_shared: bool) -> Result<(), StoreError> {
    let heads = kept.into_iter().map(read_head).collect::<Result<Vec<_>, _>>()?;
    if heads.iter().any(|head| head.hash == tip.hash && counts(head, evidence, is_shared)) {
        return Ok(());
    }
    Err(StoreError::ChainBroken(Breach { seq: tip.seq, fault: Fault::Missing }))
}

/// Puts a restore on record in the database.
pub(crate) fn restore(head: &Head) -> Vec<Statement> {
    vec![forget_heads_after(head.seq), insert_head(head), set_tip(head.link())]
}
