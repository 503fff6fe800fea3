//! Earlier forms of memories, and erasing: rows go with everything that names them, then the files are rewritten so that no page
//! holds what was in them.

use rusqlite::{Connection, params};

use super::{Sqlite, failed, id_at};
use crate::Id;
use crate::error::Outcome;
use crate::store::{Batch, MAX_QUERIES, MAX_REVISIONS, MemoryRevision, QUERY, Version, broken};

impl Sqlite {
    /// Writes earlier forms, and drops the records of queries that are too many.
    pub(super) fn write_history(&self, batch: &Batch) -> Outcome<()> {
        for revision in &batch.revisions {
            let known = serde_json::to_string(&revision.memory).map_err(crate::error::Problem::storage)?;
            let id = revision.memory.id.to_bytes();
            let number = revision.memory.provenance.revision.cast_signed();
            run(
                &self.connection,
                "INSERT OR REPLACE INTO revisions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![self.space, id, number, revision.at.cast_signed(), known, revision.content, revision.rationale],
            )?;
            run(
                &self.connection,
                "DELETE FROM revisions WHERE space = ?1 AND id = ?2 AND revision <= ?3",
                params![self.space, id, number - MAX_REVISIONS as i64],
            )?;
        }
        if batch.records.iter().any(|record| record.kind == QUERY) {
            run(
                &self.connection,
                "DELETE FROM records WHERE space = ?1 AND kind = ?2 AND seq <= (SELECT seq FROM records
                 WHERE space = ?1 AND kind = ?2 ORDER BY seq DESC LIMIT 1 OFFSET ?3)",
                params![self.space, QUERY, MAX_QUERIES as i64],
            )?;
        }
        Ok(())
    }

    pub(super) fn read_history(&self, id: Id) -> Outcome<Vec<MemoryRevision>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT at, known, content, rationale FROM revisions WHERE space = ?1 AND id = ?2
                 ORDER BY revision DESC LIMIT ?3",
            )
            .map_err(failed)?;
        let mut rows = statement.query(params![self.space, id.to_bytes(), MAX_REVISIONS as i64]).map_err(failed)?;
        let mut out = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let known: String = row.get(1).map_err(failed)?;
            out.push(MemoryRevision {
                at: row.get::<_, i64>(0).map_err(failed)?.cast_unsigned(),
                memory: serde_json::from_str(&known).map_err(|_| broken("an earlier form of a memory"))?,
                content: row.get(2).map_err(failed)?,
                rationale: row.get(3).map_err(failed)?,
            });
        }
        Ok(out)
    }

    pub(super) fn read_erased(&self, since: Version) -> Outcome<Vec<Id>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM erased WHERE space = ?1 AND version > ?2")
            .map_err(failed)?;
        let rows = statement.query_map(params![self.space, since], |row| id_at(row, 0)).map_err(failed)?;
        rows.collect::<Result<_, _>>().map_err(failed)
    }

    /// Deletes everything of memories and everything that names them. What queries were asked goes too: their words may be
    /// those of what is erased.
    pub(super) fn erase(&self, ids: &[Id], version: Version) -> Outcome<()> {
        if ids.is_empty() {
            return Ok(());
        }
        let space = &self.space;
        for id in ids {
            let (bytes, text) = (id.to_bytes(), format!("%{id}%"));
            for sql in [
                "DELETE FROM memories WHERE space = ?1 AND id = ?2",
                "DELETE FROM bodies WHERE space = ?1 AND id = ?2",
                "DELETE FROM revisions WHERE space = ?1 AND id = ?2",
                "DELETE FROM edges WHERE space = ?1 AND (source = ?2 OR target = ?2)",
            ] {
                run(&self.connection, sql, params![space, bytes])?;
            }
            for sql in [
                "DELETE FROM records WHERE space = ?1 AND data LIKE ?2",
                "DELETE FROM answers WHERE space = ?1 AND answer LIKE ?2",
            ] {
                run(&self.connection, sql, params![space, text])?;
            }
            run(&self.connection, "INSERT OR REPLACE INTO erased VALUES (?1, ?2, ?3)", params![space, bytes, version])?;
        }
        run(&self.connection, "DELETE FROM records WHERE space = ?1 AND kind = ?2", params![space, QUERY])?;
        run(&self.connection, "INSERT INTO remains VALUES (?1)", params![version])?;
        Ok(())
    }

    pub(super) fn remains(&self) -> Outcome<bool> {
        let mut statement = self.connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM remains)").map_err(failed)?;
        statement.query_row([], |row| row.get(0)).map_err(failed)
    }

    /// Rewrites the database, and empties the write-ahead log. Pages that were freed before may hold what was in them,
    /// and so does the log until it is emptied.
    pub(super) fn overwrite_remains(&self) -> Outcome<bool> {
        if !self.connection.is_autocommit() || !self.remains()? {
            return Ok(self.connection.is_autocommit());
        }
        // A page that is copied keeps what lay behind its cells; a page that is written anew does not.
        if let Err(error) = self.connection.execute_batch("VACUUM") {
            return if is_busy(&error) { Ok(false) } else { Err(failed(error)) };
        }
        if !self.empty_log()? {
            return Ok(false);
        }
        self.connection.execute_batch("DELETE FROM remains").map_err(failed)?;
        self.empty_log()
    }

    /// Moves the write-ahead log into the database and makes it empty. `false` if somebody still reads from it.
    fn empty_log(&self) -> Outcome<bool> {
        let emptied = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        match emptied {
            Ok(busy) => Ok(busy == 0),
            Err(error) if is_busy(&error) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked))
}

fn run(connection: &Connection, sql: &str, values: &[&dyn rusqlite::ToSql]) -> Outcome<usize> {
    connection.prepare_cached(sql).and_then(|mut statement| statement.execute(values)).map_err(failed)
}
