//! [`AuditLog`] over an engine: pages, counts, export, verification.

use jiff::Timestamp;

use super::record::AuditRecord;
use super::verify::Verifier;
use super::{Appended, AuditEvent, AuditFilter, Group, Head, Prepared, Report, tables};
use crate::sql::Statement;
use crate::store::Tables;
use crate::{Answer, AuditLog, StoreError};

/// Records in one page. Long reads are cut into pages so that they never hold the database's log back.
const PAGE: usize = 1000;

/// Records that retention removes in one commit.
const PRUNE: u64 = 20_000;

/// The most that one query returns.
const MAX_QUERY_ROWS: usize = 10_000;

impl AuditLog for Tables {
    fn append<'a>(&'a self, events: &'a [AuditEvent]) -> Answer<'a, Vec<Appended>> {
        Box::pin(async move {
            let prepared = events.iter().map(|event| self.prepare(event)).collect::<Result<_, _>>()?;
            self.append_prepared(prepared).await
        })
    }

    fn longest_event(&self) -> usize {
        self.engine.options().event_bytes
    }

    fn prepare(&self, event: &AuditEvent) -> Result<Prepared, StoreError> {
        Prepared::new(event, self.longest_event())
    }

    fn append_prepared(&self, events: Vec<Prepared>) -> Answer<'_, Vec<Appended>> {
        Box::pin(async move {
            if events.is_empty() {
                return Ok(Vec::new());
            }
            self.check_size(&events)?;
            let links = self.engine.append(events).await?;
            Ok(links.into_iter().map(Appended::from).collect())
        })
    }

    fn append_once(&self, events: Vec<Prepared>, after: u64) -> Answer<'_, Vec<Appended>> {
        Box::pin(async move {
            if events.is_empty() {
                return Ok(Vec::new());
            }
            self.check_size(&events)?;
            let links = self.engine.append_once(events, after).await?;
            Ok(links.into_iter().map(Appended::from).collect())
        })
    }

    fn query<'a>(&'a self, filter: &'a AuditFilter, limit: usize) -> Answer<'a, Vec<AuditRecord>> {
        Box::pin(async move {
            let rows = self.engine.read(filter.select(limit.min(MAX_QUERY_ROWS))).await?;
            rows.into_iter().map(AuditRecord::read).collect()
        })
    }

    fn count<'a>(&'a self, filter: &'a AuditFilter, group: Group) -> Answer<'a, Vec<(String, u64)>> {
        Box::pin(async move {
            let rows = self.engine.read(filter.count(group)).await?;
            rows.into_iter().map(|mut row| Ok((row.text()?, row.sequence()?))).collect()
        })
    }

    fn tail(&self, limit: usize) -> Answer<'_, Vec<AuditRecord>> {
        Box::pin(async move {
            let filter = AuditFilter { newest_first: true, ..AuditFilter::default() };
            let mut records = self.query(&filter, limit).await?;
            records.reverse();
            Ok(records)
        })
    }

    fn export(&self, filter: AuditFilter) -> Answer<'_, AuditExport<'_>> {
        Box::pin(async move {
            let end = self.end().await?.seq;
            let through = Some(filter.through.map_or(end, |through| through.min(end)));
            Ok(AuditExport {
                tables: self,
                filter: AuditFilter { through, newest_first: false, ..filter },
                done: false,
            })
        })
    }

    fn end(&self) -> Answer<'_, Appended> {
        Box::pin(async move {
            let rows = self.engine.read(Statement::new(tables::TIP, [])).await?;
            let row = rows.into_iter().next().ok_or_else(|| StoreError::Corrupt("the audit tip is gone".to_owned()))?;
            tables::read_link(row).map(Appended::from)
        })
    }

    fn verify<'a>(&'a self, elsewhere: &'a [Head]) -> Answer<'a, Report> {
        Box::pin(async move {
            let evidence = self.engine.evidence();
            // The evidence first: the database may only be ahead of it.
            let gathered = match evidence.gather() {
                Ok(gathered) => gathered,
                Err(StoreError::ChainBroken(breach)) => return Ok(Report::broken(breach)),
                Err(error) => return Err(error),
            };
            let kept = self.engine.read(Statement::new(tables::HEADS, [])).await?;
            let mut kept = kept.into_iter().map(tables::read_head).collect::<Result<Vec<_>, _>>()?;
            kept.extend_from_slice(elsewhere);
            let mut verifier = Verifier::new(gathered, &kept, &evidence.trusted);
            let mut export = self.export(AuditFilter::default()).await?;
            'pages: while let Some(page) = export.next().await? {
                for record in &page {
                    if !verifier.record(record) {
                        break 'pages;
                    }
                }
            }
            Ok(verifier.finish())
        })
    }

    fn seal(&self, now: Timestamp) -> Answer<'_, Head> {
        self.engine.seal(now)
    }

    fn prune(&self, until: Timestamp, now: Timestamp) -> Answer<'_, Option<Head>> {
        Box::pin(async move {
            // By sequence, so that the rest stays one chain: up to the record before the first that is young enough.
            let young = Statement::new("SELECT MIN(seq) FROM audit WHERE time >= $1", [until.into()]);
            let mut rows = self.engine.read(young).await?;
            let young = rows.first_mut().map(crate::sql::Row::optional_integer).transpose()?.flatten();
            let through = match young {
                Some(seq) => u64::try_from(seq - 1).unwrap_or_default(),
                None => self.end().await?.seq,
            };
            let mut rows = self.engine.read(Statement::new(tables::FIRST, [])).await?;
            let Some(mut first) = rows.first_mut().map(crate::sql::Row::sequence).transpose()? else { return Ok(None) };
            let mut head = None;
            while first <= through {
                // In steps, so that no commit of others waits for long.
                let step = through.min(first.saturating_add(PRUNE - 1));
                head = Some(self.engine.prune(step, now).await?);
                first = step + 1;
            }
            Ok(head)
        })
    }
}

impl Tables {
    /// Events that are appended together are one commit.
    fn check_size(&self, events: &[Prepared]) -> Result<(), StoreError> {
        let (size, limit) = (events.len(), self.engine.options().group);
        if size > limit {
            return Err(StoreError::TooLarge { what: "one append", size, limit });
        }
        Ok(())
    }
}

/// An export under way. It sees the log as it ended when the export began.
#[derive(Debug)]
pub struct AuditExport<'a> {
    tables: &'a Tables,
    filter: AuditFilter,
    done: bool,
}

impl AuditExport<'_> {
    /// The next page, `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<AuditRecord>>, StoreError> {
        if self.done {
            return Ok(None);
        }
        let page = self.tables.query(&self.filter, PAGE).await?;
        self.done = page.len() < PAGE;
        let Some(last) = page.last() else { return Ok(None) };
        self.filter.after = Some(last.seq);
        Ok(Some(page))
    }
}
