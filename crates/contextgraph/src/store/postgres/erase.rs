//! Earlier forms of memories, and erasing in PostgreSQL: rows go with everything that names them, then the tables are vacuumed.
//! What the pages and the log of the server hold until they are used again is the server's.

use super::batch::Columns;
use super::session::{Failure, Line, Session, id_at, text_at};
use crate::Id;
use crate::error::Outcome;
use crate::store::{MAX_QUERIES, MAX_REVISIONS, MemoryRevision, QUERY, Version, broken};

/// Writes earlier forms, drops the records of queries that are too many, and erases.
pub(super) async fn write(line: &mut Line, space: &str, version: Version, columns: &Columns) -> Result<(), Failure> {
    let revisions = &columns.revisions;
    if !revisions.ids.is_empty() {
        line.run(
            "INSERT INTO memory_revisions SELECT $1, * FROM UNNEST($2::bytea[], $3::bigint[], $4::bigint[], $5::text[],
             $6::bytea[], $7::bytea[]) ON CONFLICT (space, id, revision) DO UPDATE SET at = excluded.at,
             known = excluded.known, content = excluded.content, rationale = excluded.rationale",
            &[
                &space,
                &revisions.ids,
                &revisions.numbers,
                &revisions.at,
                &revisions.known,
                &revisions.content,
                &revisions.rationale,
            ],
        )
        .await?;
        line.run(
            "DELETE FROM memory_revisions USING UNNEST($2::bytea[], $3::bigint[]) AS new (id, revision)
             WHERE memory_revisions.space = $1 AND memory_revisions.id = new.id
             AND memory_revisions.revision <= new.revision - $4",
            &[&space, &revisions.ids, &revisions.numbers, &(MAX_REVISIONS as i64)],
        )
        .await?;
    }
    if columns.queries {
        line.run(
            "DELETE FROM memory_records WHERE space = $1 AND kind = $2 AND seq <= (SELECT seq FROM memory_records
             WHERE space = $1 AND kind = $2 ORDER BY seq DESC LIMIT 1 OFFSET $3)",
            &[&space, &QUERY, &(MAX_QUERIES as i64)],
        )
        .await?;
    }
    let (ids, patterns) = &columns.erased;
    if ids.is_empty() {
        return Ok(());
    }
    for sql in [
        "DELETE FROM memory_nodes WHERE space = $1 AND id = ANY($2)",
        "DELETE FROM memory_bodies WHERE space = $1 AND id = ANY($2)",
        "DELETE FROM memory_revisions WHERE space = $1 AND id = ANY($2)",
        "DELETE FROM memory_edges WHERE space = $1 AND (source = ANY($2) OR target = ANY($2))",
    ] {
        line.run(sql, &[&space, ids]).await?;
    }
    for sql in [
        "DELETE FROM memory_records WHERE space = $1 AND data LIKE ANY($2)",
        "DELETE FROM memory_answers WHERE space = $1 AND answer LIKE ANY($2)",
    ] {
        line.run(sql, &[&space, patterns]).await?;
    }
    line.run("DELETE FROM memory_records WHERE space = $1 AND kind = $2", &[&space, &QUERY]).await?;
    line.run(
        "INSERT INTO memory_erased SELECT $1, id, $3 FROM UNNEST($2::bytea[]) AS gone (id)
         ON CONFLICT (space, id) DO UPDATE SET version = excluded.version",
        &[&space, ids, &version],
    )
    .await?;
    line.run("INSERT INTO memory_remains VALUES ($1)", &[&version]).await
}

/// The memories that were erased since a version.
pub(super) async fn read(line: &mut Line, space: &str, since: Version) -> Outcome<Vec<Id>> {
    let rows = line.rows("SELECT id FROM memory_erased WHERE space = $1 AND version > $2", &[&space, &since]).await?;
    rows.iter().map(|row| id_at(row, 0)).collect()
}

impl Session {
    pub(super) async fn history(&mut self, id: Id) -> Outcome<Vec<MemoryRevision>> {
        let (space, id) = (self.space.clone(), id.to_bytes());
        let sql = "SELECT at, known, content, rationale FROM memory_revisions WHERE space = $1 AND id = $2
                   ORDER BY revision DESC LIMIT $3";
        let rows = self.rows(sql, &[&space, &id.as_slice(), &(MAX_REVISIONS as i64)]).await?;
        rows.iter()
            .map(|row| {
                Ok(MemoryRevision {
                    at: row.get::<_, i64>(0).cast_unsigned(),
                    memory: serde_json::from_str(row.get(1)).map_err(|_| broken("an earlier form of a memory"))?,
                    content: text_at(row.get(2))?,
                    rationale: row.get::<_, Option<Vec<u8>>>(3).map(text_at).transpose()?,
                })
            })
            .collect()
    }

    pub(super) async fn has_remains(&mut self) -> Outcome<bool> {
        let rows = self.rows("SELECT EXISTS (SELECT 1 FROM memory_remains)", &[]).await?;
        Ok(rows.first().is_some_and(|row| row.get(0)))
    }

    pub(super) async fn scrub(&mut self) -> Outcome<bool> {
        if self.change.is_some() {
            return Ok(false);
        }
        if !self.has_remains().await? {
            return Ok(true);
        }
        let line = self.line().await?;
        // Not one batch: a vacuum must not be part of a transaction.
        for sql in [
            "VACUUM memory_nodes",
            "VACUUM memory_bodies",
            "VACUUM memory_revisions",
            "VACUUM memory_records",
            "VACUUM memory_answers",
            "VACUUM memory_edges",
            "DELETE FROM memory_remains",
        ] {
            line.plain(sql).await?;
        }
        self.line = Some(line);
        Ok(true)
    }
}
