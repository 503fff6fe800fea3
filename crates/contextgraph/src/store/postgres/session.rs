//! The connection of one space, and the change that is going on on it.
//!
//! A connection that was lost outside of a change is replaced, and what was asked is asked again. Inside of a change nothing
//! is asked again: the change is over. When the connection is lost during a commit, the server is asked what became of it.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::{StreamExt as _, pin_mut};
use switchboard_store::{PostgresDialer, StoreError};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, RowStream, Statement};

use super::batch::Columns;
use super::{failed, refused};
use crate::error::{Outcome, Problem};
use crate::graph::edges::{Edge, EdgeKind};
use crate::store::{
    ANSWERS_MS, Answered, Light, Record, RecordBody, RecordChanges, Version, broken, row_from_bytes, words_from_bytes,
};
use crate::{Code, Id};

/// How often the server is asked what became of a change, and how long to wait in between.
const QUESTIONS: usize = 40;
const ASK_AGAIN: Duration = Duration::from_millis(250);

pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The connection of one space.
pub(super) struct Session {
    dialer: PostgresDialer,
    pub(super) space: String,
    pub(super) line: Option<Line>,
    /// The transaction of the change that is going on, and the version it found.
    pub(super) change: Option<(i64, Version)>,
}

/// A connection with the statements that it has prepared. There are some twenty.
pub(super) struct Line {
    client: Client,
    prepared: HashMap<&'static str, Statement>,
}

/// Why a statement did not come to an answer.
pub(super) enum Failure {
    /// The connection is gone.
    Lost(Problem),
    /// The server refused.
    Refused(Problem),
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let (Failure::Lost(problem) | Failure::Refused(problem)) = failure;
        problem
    }
}

impl Line {
    fn failure(&self, error: tokio_postgres::Error) -> Failure {
        let error = PostgresDialer::explain(error);
        let lost = self.client.is_closed() || matches!(error, StoreError::Unavailable(_));
        let problem = failed(&error);
        if lost { Failure::Lost(problem) } else { Failure::Refused(problem) }
    }

    pub(super) async fn plain(&self, sql: &str) -> Result<(), Failure> {
        self.client.batch_execute(sql).await.map_err(|error| self.failure(error))
    }

    async fn prepare(&mut self, sql: &'static str) -> Result<Statement, Failure> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await.map_err(|error| self.failure(error))?;
        self.prepared.insert(sql, statement.clone());
        Ok(statement)
    }

    pub(super) async fn rows(&mut self, sql: &'static str, values: Values<'_>) -> Result<Vec<Row>, Failure> {
        let statement = self.prepare(sql).await?;
        self.client.query(&statement, values).await.map_err(|error| self.failure(error))
    }

    pub(super) async fn run(&mut self, sql: &'static str, values: Values<'_>) -> Result<(), Failure> {
        let statement = self.prepare(sql).await?;
        self.client.execute(&statement, values).await.map(drop).map_err(|error| self.failure(error))
    }

    /// Rows as they come, for what may be many.
    async fn stream(&mut self, sql: &'static str, values: Values<'_>) -> Result<RowStream, Failure> {
        let statement = self.prepare(sql).await?;
        let values = values.iter().copied();
        self.client.query_raw(&statement, values).await.map_err(|error| self.failure(error))
    }
}

impl Session {
    pub(super) const fn new(dialer: PostgresDialer, space: String) -> Self {
        Self { dialer, space, line: None, change: None }
    }

    /// The connection, taken out: what is not put back was given up in the middle of something.
    pub(super) async fn line(&mut self) -> Outcome<Line> {
        if let Some(line) = self.line.take().filter(|line| !line.client.is_closed()) {
            return Ok(line);
        }
        if self.change.take().is_some() {
            return Err(Problem::new(
                Code::Storage,
                "STORE_UNAVAILABLE",
                "the database went away: nothing was written",
            ));
        }
        let client = self.dialer.dial().await.map_err(|error| failed(&error))?;
        Ok(Line { client, prepared: HashMap::new() })
    }

    /// Reads rows, once more on a new connection if the first was lost and no change is going on.
    pub(super) async fn rows(&mut self, sql: &'static str, values: Values<'_>) -> Outcome<Vec<Row>> {
        loop {
            let again = self.line.is_some() && self.change.is_none();
            let mut line = self.line().await?;
            match line.rows(sql, values).await {
                Ok(rows) => {
                    self.line = Some(line);
                    return Ok(rows);
                }
                Err(Failure::Lost(_)) if again => {}
                Err(Failure::Lost(problem)) => return Err(problem),
                Err(Failure::Refused(problem)) => {
                    self.line = Some(line);
                    return Err(problem);
                }
            }
        }
    }

    async fn version(&mut self) -> Outcome<Version> {
        if let Some((_, version)) = self.change {
            return Ok(version);
        }
        let space = self.space.clone();
        let rows = self.rows("SELECT version FROM memory_spaces WHERE name = $1", &[&space]).await?;
        Ok(rows.first().map_or(0, |row| row.get(0)))
    }

    pub(super) async fn changes(&mut self, since: Version) -> Outcome<Option<RecordChanges>> {
        let version = self.version().await?;
        if version <= since {
            return Ok(None);
        }
        let mut line = self.line().await?;
        // One view of everything, unless a change was begun: then nobody else writes.
        let alone = self.change.is_none();
        if alone {
            line.plain("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        }
        let changes = read_changes(&mut line, &self.space, since).await?;
        if alone {
            line.plain("COMMIT").await?;
        }
        self.line = Some(line);
        Ok(Some(changes))
    }

    pub(super) async fn begin(&mut self) -> Outcome<()> {
        self.roll_back().await?;
        loop {
            let again = self.line.is_some();
            let mut line = self.line().await?;
            match lock(&mut line, &self.space).await {
                Ok(change) => {
                    (self.line, self.change) = (Some(line), Some(change));
                    return Ok(());
                }
                Err(Failure::Lost(_)) if again => {}
                Err(Failure::Lost(problem)) => return Err(problem),
                Err(Failure::Refused(problem)) => {
                    if line.plain("ROLLBACK").await.is_ok() {
                        self.line = Some(line);
                    }
                    return Err(problem);
                }
            }
        }
    }

    pub(super) async fn roll_back(&mut self) -> Outcome<()> {
        if self.change.is_none() {
            return Ok(());
        }
        let Ok(line) = self.line().await else { return Ok(()) };
        self.change = None;
        // A connection that is gone has rolled back by itself.
        if line.plain("ROLLBACK").await.is_ok() {
            self.line = Some(line);
        }
        Ok(())
    }

    pub(super) async fn commit(&mut self, columns: Columns) -> Outcome<Version> {
        let mut line = self.line().await?;
        let Some((transaction, found)) = self.change.take() else {
            return Err(Problem::new(Code::Internal, "NO_CHANGE", "a change was ended that was not begun"));
        };
        let version = found + 1;
        if let Err(failure) = write(&mut line, &self.space, version, &columns).await {
            if matches!(failure, Failure::Refused(_)) && line.plain("ROLLBACK").await.is_ok() {
                self.line = Some(line);
            }
            return Err(failure.into());
        }
        match line.plain("COMMIT").await {
            Ok(()) => {
                self.line = Some(line);
                Ok(version)
            }
            Err(Failure::Refused(problem)) => Err(problem),
            Err(Failure::Lost(problem)) => match self.fate(transaction).await {
                Some(true) => Ok(version),
                Some(false) => Err(problem),
                None => {
                    let message = "the database went away while it was written; nobody knows whether it was: look before trying again";
                    Err(Problem::new(Code::Storage, "OUTCOME_UNKNOWN", message))
                }
            },
        }
    }

    /// Whether a transaction was committed. `None` if the server cannot tell in time.
    async fn fate(&mut self, transaction: i64) -> Option<bool> {
        for _ in 0..QUESTIONS {
            if let Ok(rows) = self.rows("SELECT txid_status($1)", &[&transaction]).await {
                match rows.first().and_then(|row| row.get::<_, Option<String>>(0)).as_deref() {
                    Some("committed") => return Some(true),
                    Some("aborted") => return Some(false),
                    _ => {}
                }
            }
            tokio::time::sleep(ASK_AGAIN).await;
        }
        None
    }

    pub(super) async fn bodies(&mut self, ids: &[Vec<u8>]) -> Outcome<Vec<RecordBody>> {
        let space = self.space.clone();
        let sql = "SELECT id, content, rationale, fingerprint FROM memory_bodies WHERE space = $1 AND id = ANY($2)";
        let rows = self.rows(sql, &[&space, &ids]).await?;
        rows.iter()
            .map(|row| {
                Ok(RecordBody {
                    id: id_at(row, 0)?,
                    content: text_at(row.get(1))?,
                    rationale: row.get::<_, Option<Vec<u8>>>(2).map(text_at).transpose()?,
                    fingerprint: row.get(3),
                })
            })
            .collect()
    }

    pub(super) async fn records(&mut self, kind: Option<&str>, most: i64) -> Outcome<Vec<Record>> {
        let space = self.space.clone();
        let sql = "SELECT id, at, kind, data FROM memory_records WHERE space = $1 AND (kind = $2 OR ($2::text IS NULL AND kind <> 'query'))
                   ORDER BY seq DESC LIMIT $3";
        self.rows(sql, &[&space, &kind, &most]).await?.iter().map(record).collect()
    }

    pub(super) async fn record(&mut self, id: Id) -> Outcome<Option<Record>> {
        let (space, id) = (self.space.clone(), id.to_bytes());
        let sql = "SELECT id, at, kind, data FROM memory_records WHERE space = $1 AND id = $2 ORDER BY seq LIMIT 1";
        self.rows(sql, &[&space, &id.as_slice()]).await?.first().map(record).transpose()
    }

    pub(super) async fn outcome(&mut self, key: &[u8]) -> Outcome<Option<Answered>> {
        let space = self.space.clone();
        let sql = "SELECT key, call, answer, at FROM memory_answers WHERE space = $1 AND key = $2";
        let rows = self.rows(sql, &[&space, &key]).await?;
        rows.first()
            .map(|row| {
                Ok(Answered {
                    key: text_at(row.get(0))?,
                    call: row.get(1),
                    answer: row.get(2),
                    at: row.get::<_, i64>(3).cast_unsigned(),
                })
            })
            .transpose()
    }

    pub(super) async fn size(&mut self) -> Outcome<u64> {
        let sql = "SELECT SUM(pg_total_relation_size(name::regclass))::bigint FROM UNNEST(ARRAY['memory_nodes',
                   'memory_bodies', 'memory_edges', 'memory_state', 'memory_records', 'memory_answers']) AS name";
        let rows = self.rows(sql, &[]).await?;
        Ok(rows.first().map_or(0, |row| row.get::<_, i64>(0)).cast_unsigned())
    }
}

/// Begins a transaction and takes the row of the space. The transaction and the version.
async fn lock(line: &mut Line, space: &str) -> Result<(i64, Version), Failure> {
    line.plain("BEGIN").await?;
    let take = "SELECT txid_current(), version FROM memory_spaces WHERE name = $1 FOR UPDATE";
    let mut rows = line.rows(take, &[&space]).await?;
    if rows.is_empty() {
        // Whoever else makes it at the same time is waited for.
        line.run("INSERT INTO memory_spaces VALUES ($1, 0) ON CONFLICT (name) DO NOTHING", &[&space]).await?;
        rows = line.rows(take, &[&space]).await?;
    }
    let row = rows.first().ok_or_else(|| Failure::Refused(broken("a space")))?;
    Ok((row.get(0), row.get(1)))
}

async fn write(line: &mut Line, space: &str, version: Version, columns: &Columns) -> Result<(), Failure> {
    line.run("UPDATE memory_spaces SET version = $2 WHERE name = $1", &[&space, &version]).await?;
    let nodes = &columns.nodes;
    if !nodes.ids.is_empty() {
        line.run(
            "INSERT INTO memory_nodes (space, id, version, known, meaning, words)
             SELECT $1, id, $2, known, meaning, words
             FROM UNNEST($3::bytea[], $4::text[], $5::bytea[], $6::bytea[]) WITH ORDINALITY
                 AS new (id, known, meaning, words, place) ORDER BY place
             ON CONFLICT (space, id) DO UPDATE SET version = excluded.version, known = excluded.known,
             meaning = excluded.meaning, words = excluded.words",
            &[&space, &version, &nodes.ids, &nodes.known, &nodes.meaning, &nodes.words],
        )
        .await?;
    }
    if !columns.known.0.is_empty() {
        line.run(
            "UPDATE memory_nodes SET version = $2, known = new.known FROM UNNEST($3::bytea[], $4::text[]) AS new (id, known)
             WHERE memory_nodes.space = $1 AND memory_nodes.id = new.id",
            &[&space, &version, &columns.known.0, &columns.known.1],
        )
        .await?;
    }
    let bodies = &columns.bodies;
    if !bodies.ids.is_empty() {
        line.run(
            "INSERT INTO memory_bodies SELECT $1, * FROM UNNEST($2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[])
             ON CONFLICT (space, id) DO UPDATE SET
             content = excluded.content, rationale = excluded.rationale, fingerprint = excluded.fingerprint",
            &[&space, &bodies.ids, &bodies.content, &bodies.rationale, &bodies.fingerprints],
        )
        .await?;
    }
    write_edges(line, space, version, columns).await?;
    if !columns.state.0.is_empty() {
        line.run(
            "INSERT INTO memory_state SELECT $1, key, $2, value FROM UNNEST($3::text[], $4::text[]) AS new (key, value)
             ON CONFLICT (space, key) DO UPDATE SET version = excluded.version, value = excluded.value",
            &[&space, &version, &columns.state.0, &columns.state.1],
        )
        .await?;
    }
    let records = &columns.records;
    if !records.ids.is_empty() {
        line.run(
            "INSERT INTO memory_records (space, id, at, kind, data) SELECT $1, id, at, kind, data
             FROM UNNEST($2::bytea[], $3::bigint[], $4::text[], $5::text[]) WITH ORDINALITY
                 AS new (id, at, kind, data, place) ORDER BY place",
            &[&space, &records.ids, &records.at, &records.kinds, &records.data],
        )
        .await?;
    }
    super::erase::write(line, space, version, columns).await?;
    if let Some(answered) = &columns.answered {
        let (at, key) = (answered.at.cast_signed(), answered.key.as_bytes());
        let expired = answered.at.saturating_sub(ANSWERS_MS).cast_signed();
        line.run("DELETE FROM memory_answers WHERE space = $1 AND at < $2", &[&space, &expired]).await?;
        line.run(
            "INSERT INTO memory_answers VALUES ($1, $2, $3, $4, $5) ON CONFLICT (space, key) DO UPDATE SET
             call = excluded.call, answer = excluded.answer, at = excluded.at",
            &[&space, &key, &answered.call, &answered.answer, &at],
        )
        .await?;
    }
    Ok(())
}

async fn write_edges(line: &mut Line, space: &str, version: Version, columns: &Columns) -> Result<(), Failure> {
    let edges = &columns.edges;
    if !edges.sources.is_empty() {
        line.run(
            "INSERT INTO memory_edges SELECT $1, source, target, kind, $2, FALSE, weight, confidence, created, updated, path
             FROM UNNEST($3::bytea[], $4::bytea[], $5::text[], $6::real[], $7::real[], $8::bigint[], $9::bigint[], $10::text[])
                 AS new (source, target, kind, weight, confidence, created, updated, path)
             ON CONFLICT (space, source, target, kind) DO UPDATE SET version = excluded.version, gone = FALSE,
             weight = excluded.weight, confidence = excluded.confidence, updated_at = excluded.updated_at,
             path = excluded.path",
            &[
                &space,
                &version,
                &edges.sources,
                &edges.targets,
                &edges.kinds,
                &edges.weights,
                &edges.confidences,
                &edges.created,
                &edges.updated,
                &edges.paths,
            ],
        )
        .await?;
    }
    let (sources, targets, kinds) = &columns.gone;
    if !sources.is_empty() {
        line.run(
            "UPDATE memory_edges SET version = $2, gone = TRUE
             FROM UNNEST($3::bytea[], $4::bytea[], $5::text[]) AS old (source, target, kind)
             WHERE memory_edges.space = $1 AND memory_edges.source = old.source AND memory_edges.target = old.target
             AND memory_edges.kind = old.kind",
            &[&space, &version, sources, targets, kinds],
        )
        .await?;
    }
    Ok(())
}

async fn read_changes(line: &mut Line, space: &str, since: Version) -> Outcome<RecordChanges> {
    let rows = line.rows("SELECT version FROM memory_spaces WHERE name = $1", &[&space]).await?;
    let version = rows.first().map_or(0, |row| row.get(0));
    let mut changes = RecordChanges { version, ..RecordChanges::default() };
    let sql = "SELECT known, meaning, words FROM memory_nodes WHERE space = $1 AND version > $2 ORDER BY seq";
    let nodes = line.stream(sql, &[&space, &since]).await?;
    pin_mut!(nodes);
    while let Some(row) = nodes.next().await {
        let row = row.map_err(refused)?;
        let memory = serde_json::from_str(row.get(0)).map_err(|_| broken("a memory"))?;
        let words = words_from_bytes(row.get(2));
        changes.memories.push(Light { memory, row: row_from_bytes(row.get(1))?, words });
    }
    let sql = "SELECT source, target, kind, gone, weight, confidence, created_at, updated_at, path FROM memory_edges
               WHERE space = $1 AND version > $2 ORDER BY source, target, kind";
    let edges = line.stream(sql, &[&space, &since]).await?;
    pin_mut!(edges);
    while let Some(row) = edges.next().await {
        let row = row.map_err(refused)?;
        let (source, target) = (id_at(&row, 0)?, id_at(&row, 1)?);
        let kind = EdgeKind::from_word(row.get(2)).ok_or_else(|| broken("an edge"))?;
        if row.get(3) {
            changes.gone.push((source, target, kind));
            continue;
        }
        changes.edges.push(Edge {
            source,
            target,
            kind,
            weight: row.get(4),
            confidence: row.get(5),
            created_at: row.get::<_, i64>(6).cast_unsigned(),
            updated_at: row.get::<_, i64>(7).cast_unsigned(),
            path: serde_json::from_str(row.get(8)).map_err(|_| broken("a path"))?,
        });
    }
    changes.erased = super::erase::read(line, space, since).await?;
    let sql = "SELECT key, value FROM memory_state WHERE space = $1 AND version > $2";
    let state = line.rows(sql, &[&space, &since]).await?;
    changes.state = state.iter().map(|row| (row.get(0), row.get(1))).collect();
    Ok(changes)
}

pub(super) fn id_at(row: &Row, column: usize) -> Outcome<Id> {
    Id::from_bytes(row.get(column)).ok_or_else(|| broken("an id"))
}

pub(super) fn text_at(bytes: Vec<u8>) -> Outcome<String> {
    String::from_utf8(bytes).map_err(|_| broken("a text"))
}

fn record(row: &Row) -> Outcome<Record> {
    Ok(Record { id: id_at(row, 0)?, at: row.get::<_, i64>(1).cast_unsigned(), kind: row.get(2), data: row.get(3) })
}
