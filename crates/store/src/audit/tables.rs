//! The statements of the audit tables, shared by both engines, and the check that is made before the first append.

use super::evidence::Evidence;
use super::verify::{Breach, Fault};
use super::{Head, HeadKind, Link};
use crate::sql::{Row, Statement};
use crate::{Digest, Mode, StoreError};

/// The present end of the chain.
pub(crate) const TIP: &str = "SELECT seq, hash FROM audit_tip WHERE id = 1";

/// The first record that is there.
pub(crate) const FIRST: &str = "SELECT seq FROM audit ORDER BY seq LIMIT 1";

pub(crate) fn set_tip(link: Link) -> Statement {
    Statement::new("UPDATE audit_tip SET seq = $1, hash = $2 WHERE id = 1", [link.seq.into(), link.hash.into()])
}

pub(crate) fn hash_at(seq: u64) -> Statement {
    Statement::new("SELECT hash FROM audit WHERE seq = $1", [seq.into()])
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
    /// The hashes at the sequence numbers of [`Evidence::newest`], in that order.
    at_heads: Vec<Option<Digest>>,
    /// The newest head in the database.
    pub(crate) head: Option<Head>,
}

/// The statements whose answers make a [`ChainState`].
pub(crate) fn survey(newest: &[Head]) -> Vec<Statement> {
    const LAST: &str = "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1";
    let fixed = [TIP, FIRST, LAST, NEWEST_HEAD].map(|sql| Statement::new(sql, []));
    fixed.into_iter().chain(newest.iter().map(|head| hash_at(head.seq))).collect()
}

impl ChainState {
    pub(crate) fn read(answers: Vec<Vec<Row>>) -> Result<Self, StoreError> {
        let mut answers = answers.into_iter().map(|rows| rows.into_iter().next());
        let mut next = || answers.next().flatten();
        let tip = read_link(next().ok_or_else(|| StoreError::Corrupt("the audit tip is gone".to_owned()))?)?;
        let first = next().map(|mut row| row.sequence()).transpose()?;
        let last = next().map(read_link).transpose()?;
        let head = next().map(read_head).transpose()?;
        let at_heads = answers.map(|row| row.map(|mut row| row.digest()).transpose()).collect::<Result<_, _>>()?;
        Ok(Self { tip, bounds: first.zip(last), at_heads, head })
    }
}

/// Whether the database continues where the evidence says it should.
pub(crate) fn check(found: &ChainState, newest: &[Head], may_join: bool) -> Result<(), Breach> {
    let ChainState { tip, bounds, at_heads, .. } = found;
    let breach = |seq, fault| Err(Breach { seq, fault });
    if let Some((_, last)) = bounds
        && last != tip
    {
        return breach(last.seq.min(tip.seq) + 1, Fault::Cut { reached: last.seq.max(tip.seq) });
    }
    if newest.is_empty() && tip.seq > 0 && !may_join {
        return breach(tip.seq, Fault::NoHeads);
    }
    for (head, hash) in newest.iter().zip(at_heads) {
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
    Ok(())
}

/// What has to be written before the first append: nothing, or the head of a restore (see [`restore`]).
pub(crate) fn settle(
    found: &ChainState,
    newest: &[Head],
    may_join: bool,
    mode: Mode,
    evidence: &Evidence,
) -> Result<Option<Head>, StoreError> {
    match (check(found, newest, may_join), mode) {
        // Also where the newest heads agree: older ones may not, after somebody has written on where a copy ended.
        (_, Mode::Restore { now }) => {
            // The records that are there are the log now, whatever the tip says.
            let end = found.bounds.map_or(found.tip, |(_, last)| last);
            Ok(Some(Head::sign(HeadKind::Restored, end, now, &evidence.key)))
        }
        (Ok(()), _) => Ok(None),
        (Err(breach), _) => Err(StoreError::ChainBroken(breach)),
    }
}

/// Puts a restore on record in the database.
pub(crate) fn restore(head: &Head) -> Vec<Statement> {
    vec![forget_heads_after(head.seq), insert_head(head), set_tip(head.link())]
}
