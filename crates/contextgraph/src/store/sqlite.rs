//! Memories in SQLite: write-ahead log, full sync. One connection for each space, all on one file.

mod changes;
mod erase;
mod schema;

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};

use super::{
    ANSWERS_MS, Answered, Batch, MemoryRevision, Record, RecordBody, RecordChanges, Storage, Stores, Version, known,
    words_to_bytes,
};
use crate::error::{Outcome, Problem};
use crate::{Code, Id};

/// How long to wait for another process that writes.
const BUSY: Duration = Duration::from_secs(5);

/// Memories in one SQLite file.
#[derive(Debug, Clone)]
pub struct SqliteStores {
    path: PathBuf,
}

impl SqliteStores {
    /// The file at `path`, made if it is missing, for its owner alone.
    ///
    /// # Errors
    /// It cannot be made, or is no store of this version.
    pub fn open(path: &Path) -> Outcome<Self> {
        let unusable = |error: std::io::Error| {
            Problem::new(Code::Storage, "STORE_UNUSABLE", format!("{} cannot be used: {error}", path.display()))
        };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unusable)?;
        }
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unusable(error)),
        }
        let stores = Self { path: path.to_owned() };
        let connection = stores.connect()?;
        schema::prepare(&connection, path)?;
        Ok(stores)
    }

    fn connect(&self) -> Outcome<Connection> {
        Self::connect_to(&self.path)
    }

    fn connect_to(path: &Path) -> Outcome<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(32);
        connection.pragma_update(None, "trusted_schema", false).map_err(failed)?;
        // Of a database that is there already only a rewrite changes it.
        connection.pragma_update(None, "page_size", schema::PAGE_BYTES).map_err(failed)?;
        connection
            .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0))
            .map_err(failed)?;
        connection.pragma_update(None, "synchronous", "full").map_err(failed)?;
        // What is deleted or replaced is overwritten at once; the rest is for erasing.
        connection.pragma_update(None, "secure_delete", true).map_err(failed)?;
        Ok(connection)
    }
}

impl Stores for SqliteStores {
    fn open(&self, space: &str) -> Outcome<Box<dyn Storage>> {
        Ok(Box::new(Sqlite { connection: self.connect()?, path: self.path.clone(), space: space.to_owned() }))
    }

    fn spaces(&self) -> Outcome<Vec<String>> {
        let connection = self.connect()?;
        let mut statement = connection.prepare("SELECT name FROM spaces ORDER BY name").map_err(failed)?;
        let names = statement.query_map([], |row| row.get(0)).map_err(failed)?;
        names.collect::<Result<_, _>>().map_err(failed)
    }
}

fn failed(error: rusqlite::Error) -> Problem {
    Problem::storage(error)
}

struct Sqlite {
    connection: Connection,
    path: PathBuf,
    space: String,
}

fn id_at(row: &Row<'_>, column: usize) -> rusqlite::Result<Id> {
    let bytes: [u8; 16] = row.get(column)?;
    Ok(Id(u128::from_be_bytes(bytes)))
}

impl Sqlite {
    fn version(&self) -> Outcome<Version> {
        let mut statement =
            self.connection.prepare_cached("SELECT version FROM spaces WHERE name = ?1").map_err(failed)?;
        let version = statement.query_row([&self.space], |row| row.get(0)).optional().map_err(failed)?;
        Ok(version.unwrap_or(0))
    }

    fn write(&self, batch: &Batch) -> Outcome<Version> {
        let version = self.version()? + 1;
        let space = &self.space;
        let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
            self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(values)).map_err(failed)
        };
        run(
            "INSERT INTO spaces VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET version = excluded.version",
            &[space, &version],
        )?;
        for (memory, finding) in &batch.memories {
            let known = known::to_bytes(memory);
            let id = memory.id.to_bytes();
            match finding {
                Some((row, words)) => {
                    let row: Vec<u8> = row.iter().map(|step| step.cast_unsigned()).collect();
                    run(
                        "INSERT INTO memories (space, id, version, known, meaning, words) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                         ON CONFLICT (space, id) DO UPDATE SET version = excluded.version, known = excluded.known,
                         meaning = excluded.meaning, words = excluded.words",
                        &[space, &id, &version, &known, &row, &words_to_bytes(words)],
                    )?;
                }
                None => {
                    run(
                        "UPDATE memories SET version = ?3, known = ?4 WHERE space = ?1 AND id = ?2",
                        &[space, &id, &version, &known],
                    )?;
                }
            }
        }
        for body in &batch.bodies {
            run(
                "INSERT INTO bodies VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (space, id) DO UPDATE SET
                 content = excluded.content, rationale = excluded.rationale, fingerprint = excluded.fingerprint",
                &[space, &body.id.to_bytes(), &body.content, &body.rationale, &body.fingerprint],
            )?;
        }
        for edge in &batch.edges {
            let path = serde_json::to_string(&edge.path).map_err(Problem::storage)?;
            run(
                "INSERT INTO edges VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7, ?8, ?9, ?10)
                 ON CONFLICT (space, source, target, kind) DO UPDATE SET version = excluded.version, gone = 0,
                 weight = excluded.weight, confidence = excluded.confidence, updated_at = excluded.updated_at,
                 path = excluded.path",
                &[
                    space,
                    &edge.source.to_bytes(),
                    &edge.target.to_bytes(),
                    &edge.kind.word(),
                    &version,
                    &f64::from(edge.weight),
                    &f64::from(edge.confidence),
                    &(edge.created_at as i64),
                    &(edge.updated_at as i64),
                    &path,
                ],
            )?;
        }
        for (source, target, kind) in &batch.gone {
            run(
                "UPDATE edges SET version = ?5, gone = 1 WHERE space = ?1 AND source = ?2 AND target = ?3 AND kind = ?4",
                &[space, &source.to_bytes(), &target.to_bytes(), &kind.word(), &version],
            )?;
        }
        for (key, value) in &batch.state {
            run(
                "INSERT INTO state VALUES (?1, ?2, ?3, ?4) ON CONFLICT (space, key) DO UPDATE SET
                 version = excluded.version, value = excluded.value",
                &[space, key, &version, value],
            )?;
        }
        for record in &batch.records {
            run(
                "INSERT INTO records (space, id, at, kind, data) VALUES (?1, ?2, ?3, ?4, ?5)",
                &[space, &record.id.to_bytes(), &(record.at as i64), &record.kind, &record.data],
            )?;
        }
        self.write_history(batch)?;
        self.erase(&batch.erased, version)?;
        if let Some(answered) = &batch.outcome {
            let expired = answered.at.saturating_sub(ANSWERS_MS) as i64;
            run("DELETE FROM answers WHERE space = ?1 AND at < ?2", &[space, &expired])?;
            run(
                "INSERT OR REPLACE INTO answers VALUES (?1, ?2, ?3, ?4, ?5)",
                &[space, &answered.key, &answered.call, &answered.answer, &(answered.at as i64)],
            )?;
        }
        Ok(version)
    }
}

impl Storage for Sqlite {
    fn changes(&mut self, since: Version) -> Outcome<Option<RecordChanges>> {
        if self.version()? <= since {
            return Ok(None);
        }
        // One view of everything, unless a change was begun, which is one already.
        let alone = self.connection.is_autocommit();
        if alone {
            self.connection.execute_batch("BEGIN").map_err(failed)?;
        }
        let changes = self.read_changes(since, alone);
        if alone {
            self.connection.execute_batch("COMMIT").map_err(failed)?;
        }
        changes.map(Some)
    }

    fn begin(&mut self) -> Outcome<()> {
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)
    }

    fn commit(&mut self, batch: &Batch) -> Outcome<Version> {
        match self.write(batch).and_then(|version| {
            self.connection.execute_batch("COMMIT").map_err(failed)?;
            Ok(version)
        }) {
            Ok(version) => Ok(version),
            Err(problem) => {
                self.roll_back();
                Err(problem)
            }
        }
    }

    fn roll_back(&mut self) {
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            tracing::warn!(%error, "a change of the memory could not be rolled back");
        }
    }

    fn bodies(&mut self, ids: &[Id]) -> Outcome<Vec<RecordBody>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id, content, rationale, fingerprint FROM bodies WHERE space = ?1 AND id = ?2")
            .map_err(failed)?;
        let mut out = Vec::with_capacity(ids.len());
        for id in ids {
            let body = statement
                .query_row(params![self.space, id.to_bytes()], |row| {
                    Ok(RecordBody {
                        id: id_at(row, 0)?,
                        content: row.get(1)?,
                        rationale: row.get(2)?,
                        fingerprint: row.get(3)?,
                    })
                })
                .optional()
                .map_err(failed)?;
            out.extend(body);
        }
        Ok(out)
    }

    fn records(&mut self, kind: Option<&str>, most: usize) -> Outcome<Vec<Record>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT id, at, kind, data FROM records WHERE space = ?1 AND (kind = ?2 OR (?2 IS NULL AND kind <> 'query'))
                 ORDER BY seq DESC LIMIT ?3",
            )
            .map_err(failed)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![self.space, kind, most], record).map_err(failed)?;
        rows.collect::<Result<_, _>>().map_err(failed)
    }

    fn record(&mut self, id: Id) -> Outcome<Option<Record>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id, at, kind, data FROM records WHERE space = ?1 AND id = ?2 ORDER BY seq LIMIT 1")
            .map_err(failed)?;
        statement.query_row(params![self.space, id.to_bytes()], record).optional().map_err(failed)
    }

    fn history(&mut self, id: Id) -> Outcome<Vec<MemoryRevision>> {
        self.read_history(id)
    }

    fn scrub(&mut self) -> Outcome<bool> {
        self.overwrite_remains()
    }

    fn has_remains(&mut self) -> Outcome<bool> {
        self.remains()
    }

    fn outcome(&mut self, key: &str) -> Outcome<Option<Answered>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT key, call, answer, at FROM answers WHERE space = ?1 AND key = ?2")
            .map_err(failed)?;
        let read = |row: &Row<'_>| {
            Ok(Answered {
                key: row.get(0)?,
                call: row.get(1)?,
                answer: row.get(2)?,
                at: row.get::<_, i64>(3)?.cast_unsigned(),
            })
        };
        statement.query_row(params![self.space, key], read).optional().map_err(failed)
    }

    fn size(&mut self) -> Outcome<u64> {
        let mut total = 0;
        for end in ["", "-wal"] {
            let mut name = self.path.clone().into_os_string();
            name.push(end);
            total += std::fs::metadata(name).map_or(0, |file| file.len());
        }
        Ok(total)
    }

    fn engine(&self) -> &'static str {
        "sqlite"
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let at: i64 = row.get(1)?;
    Ok(Record { id: id_at(row, 0)?, at: at.cast_unsigned(), kind: row.get(2)?, data: row.get(3)? })
}
