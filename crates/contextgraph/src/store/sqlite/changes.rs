//! Reading what is new of a space; when it is opened, everything. Memories and edges are then read side by side, as each takes as long as
//! the other.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Sqlite, SqliteStores, failed, id_at};
use crate::Id;
use crate::error::Outcome;
use crate::graph::edges::{Edge, EdgeKind};
use crate::store::{Light, RecordChanges, Version, broken, known, row_from_bytes, words_from_bytes};

/// Memories of a space from which on edges are read beside them.
const MANY: i64 = 2_000;

/// Edges, and edges that are gone.
type EdgeChanges = (Vec<Edge>, Vec<(Id, Id, EdgeKind)>);

impl Sqlite {
    /// What is newer than a version, in the transaction that is going on. `alone`: it was begun for this.
    pub(super) fn read_changes(&self, since: Version, alone: bool) -> Outcome<RecordChanges> {
        let version = version_of(&self.connection, &self.space)?;
        let mut changes = RecordChanges { version, ..RecordChanges::default() };
        let beside = since == 0 && alone && self.has_many()?;
        let edges = if beside {
            let (path, space) = (self.path.as_path(), self.space.as_str());
            let (memories, edges) = std::thread::scope(|scope| {
                let edges = scope.spawn(move || edges_beside(path, space, version));
                let memories = self.read_memories(since);
                (memories, edges.join().ok().and_then(Result::ok).flatten())
            });
            changes.memories = memories?;
            edges
        } else {
            changes.memories = self.read_memories(since)?;
            None
        };
        (changes.edges, changes.gone) = match edges {
            Some(edges) => edges,
            None => read_edges(&self.connection, &self.space, since)?,
        };
        changes.erased = self.read_erased(since)?;
        let sql = "SELECT key, value FROM state WHERE space = ?1 AND version > ?2";
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let rows =
            statement.query_map(params![self.space, since], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
        changes.state = rows.collect::<Result<_, _>>().map_err(failed)?;
        Ok(changes)
    }

    fn has_many(&self) -> Outcome<bool> {
        let sql = "SELECT 1 FROM memories WHERE space = ?1 LIMIT 1 OFFSET ?2";
        let found = self.connection.query_row(sql, params![self.space, MANY], |_| Ok(())).optional();
        found.map(|found| found.is_some()).map_err(failed)
    }

    fn read_memories(&self, since: Version) -> Outcome<Vec<Light>> {
        // In the order of versions, which has an index; those that were changed since stand where they were first stored.
        let sql = "SELECT known, meaning, words, seq FROM memories WHERE space = ?1 AND version > ?2";
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let mut rows = statement.query(params![self.space, since]).map_err(failed)?;
        let all = if since == 0 { self.count()? } else { 0 };
        let (mut places, mut found) = (Vec::with_capacity(all), Vec::with_capacity(all));
        while let Some(row) = rows.next().map_err(failed)? {
            let blob = |column: usize| row.get_ref(column).and_then(|value| Ok(value.as_blob()?)).map_err(failed);
            let memory = known::from_bytes(blob(0)?).ok_or_else(|| broken("a memory"))?;
            let (meaning, words) = (row_from_bytes(blob(1)?)?, words_from_bytes(blob(2)?));
            places.push(row.get::<_, i64>(3).map_err(failed)?);
            found.push(Light { memory, row: meaning, words });
        }
        // Most often they stand in order, and each is large to move.
        if !places.is_sorted() {
            let mut placed: Vec<(i64, Light)> = places.into_iter().zip(found).collect();
            placed.sort_by_key(|(place, _)| *place);
            found = placed.into_iter().map(|(_, light)| light).collect();
        }
        Ok(found)
    }

    /// How many memories the space has, at most as many as are worth making room for at once.
    fn count(&self) -> Outcome<usize> {
        const MAX_COUNTED: i64 = 1 << 20;
        let sql = "SELECT count(*) FROM (SELECT 1 FROM memories WHERE space = ?1 LIMIT ?2)";
        let count: i64 =
            self.connection.query_row(sql, params![self.space, MAX_COUNTED], |row| row.get(0)).map_err(failed)?;
        Ok(usize::try_from(count).unwrap_or(0))
    }
}

fn version_of(connection: &Connection, space: &str) -> Outcome<Version> {
    let mut statement = connection.prepare_cached("SELECT version FROM spaces WHERE name = ?1").map_err(failed)?;
    let version = statement.query_row([space], |row| row.get(0)).optional().map_err(failed)?;
    Ok(version.unwrap_or(0))
}

/// All edges, over a connection of their own. `None` if somebody wrote meanwhile: then they are of another version.
fn edges_beside(path: &Path, space: &str, version: Version) -> Outcome<Option<EdgeChanges>> {
    let connection = SqliteStores::connect_to(path)?;
    connection.execute_batch("BEGIN").map_err(failed)?;
    if version_of(&connection, space)? != version {
        return Ok(None);
    }
    read_edges(&connection, space, 0).map(Some)
}

fn read_edges(connection: &Connection, space: &str, since: Version) -> Outcome<EdgeChanges> {
    // Everything is read in the order of the table, what is new by its index.
    let sql = if since == 0 {
        "SELECT source, target, kind, gone, weight, confidence, created_at, updated_at, path FROM edges
         WHERE space = ?1 AND +version > ?2 ORDER BY source, target, kind"
    } else {
        "SELECT source, target, kind, gone, weight, confidence, created_at, updated_at, path FROM edges
         WHERE space = ?1 AND version > ?2 ORDER BY source, target, kind"
    };
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let mut rows = statement.query(params![space, since]).map_err(failed)?;
    let (mut edges, mut gone) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next().map_err(failed)? {
        let (source, target) = (id_at(row, 0).map_err(failed)?, id_at(row, 1).map_err(failed)?);
        let text = |column: usize| row.get_ref(column).and_then(|value| Ok(value.as_str()?)).map_err(failed);
        let kind = EdgeKind::from_word(text(2)?).ok_or_else(|| broken("an edge"))?;
        if row.get::<_, i64>(3).map_err(failed)? != 0 {
            gone.push((source, target, kind));
            continue;
        }
        let number = |column: usize| row.get::<_, f64>(column).map(|value| value as f32).map_err(failed);
        let time = |column: usize| row.get::<_, i64>(column).map(i64::cast_unsigned).map_err(failed);
        let path = match text(8)? {
            "[]" => Vec::new(),
            path => serde_json::from_str(path).map_err(|_| broken("a path"))?,
        };
        edges.push(Edge {
            source,
            target,
            kind,
            weight: number(4)?,
            confidence: number(5)?,
            created_at: time(6)?,
            updated_at: time(7)?,
            path,
        });
    }
    Ok((edges, gone))
}
