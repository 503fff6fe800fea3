//! The tables in SQLite, and how a database of an earlier version gets them: in one change, before anybody uses it.

use std::path::Path;

use rusqlite::{Connection, params};

use super::failed;
use crate::Code;
use crate::error::{Outcome, Problem};
use crate::fingerprint::Packed;
use crate::graph::Memory;
use crate::store::known;

const SCHEMA: &str = "
CREATE TABLE spaces (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
CREATE TABLE memories (
    seq INTEGER PRIMARY KEY,
    space TEXT NOT NULL,
    id BLOB NOT NULL,
    version INTEGER NOT NULL,
    known TEXT NOT NULL,
    meaning BLOB NOT NULL,
    words BLOB NOT NULL,
    UNIQUE (space, id)
) STRICT;
CREATE INDEX memories_version ON memories (space, version);
CREATE TABLE bodies (
    space TEXT NOT NULL,
    id BLOB NOT NULL,
    content TEXT NOT NULL,
    rationale TEXT,
    fingerprint BLOB NOT NULL,
    UNIQUE (space, id)
) STRICT;
CREATE TABLE edges (
    space TEXT NOT NULL,
    source BLOB NOT NULL,
    target BLOB NOT NULL,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    gone INTEGER NOT NULL,
    weight REAL NOT NULL,
    confidence REAL NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    path TEXT NOT NULL,
    PRIMARY KEY (space, source, target, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX edges_version ON edges (space, version);
CREATE TABLE state (
    space TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    space TEXT NOT NULL,
    id BLOB NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL
) STRICT;
CREATE INDEX records_kind ON records (space, kind, seq);
CREATE INDEX records_id ON records (space, id);
CREATE TABLE answers (
    space TEXT NOT NULL,
    key TEXT NOT NULL,
    call TEXT NOT NULL,
    answer TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;
";
/// What came with the second form: earlier forms of memories, and which memories were erased.
const SECOND: &str = "
CREATE TABLE revisions (
    space TEXT NOT NULL,
    id BLOB NOT NULL,
    revision INTEGER NOT NULL,
    at INTEGER NOT NULL,
    known TEXT NOT NULL,
    content TEXT NOT NULL,
    rationale TEXT,
    PRIMARY KEY (space, id, revision)
) STRICT, WITHOUT ROWID;
CREATE TABLE erased (space TEXT NOT NULL, id BLOB NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (space, id))
    STRICT, WITHOUT ROWID;
CREATE INDEX erased_version ON erased (space, version);
CREATE TABLE remains (since INTEGER NOT NULL) STRICT;
";
/// What came with the third form: what is known of a memory as bytes. The vectors of bodies are rewritten with it.
const THIRD: &str = "
CREATE TABLE memories_of_third_form (
    seq INTEGER PRIMARY KEY,
    space TEXT NOT NULL,
    id BLOB NOT NULL,
    version INTEGER NOT NULL,
    known BLOB NOT NULL,
    meaning BLOB NOT NULL,
    words BLOB NOT NULL,
    UNIQUE (space, id)
) STRICT;
";
const THIRD_IN_PLACE: &str = "
DROP TABLE memories;
ALTER TABLE memories_of_third_form RENAME TO memories;
CREATE INDEX memories_version ON memories (space, version);
";
const SCHEMA_VERSION: i64 = 3;
/// Two or more memories with their vectors fit into a page; with pages of half the size most of one would be empty.
pub(super) const PAGE_BYTES: i64 = 8_192;
/// Rows that are rewritten at a time.
const REWRITTEN: i64 = 500;

/// Makes the tables, or brings those of an earlier version to the form of this one.
pub(super) fn prepare(connection: &Connection, path: &Path) -> Outcome<()> {
    match version(connection)? {
        SCHEMA_VERSION => return Ok(()),
        0..SCHEMA_VERSION => {}
        newer => {
            let message = format!("{} has the form {newer}, this program knows {SCHEMA_VERSION}", path.display());
            return Err(Problem::new(Code::Storage, "STORE_UNUSABLE", message));
        }
    }
    connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
    // Again, now that no other process can be at it.
    let before = version(connection)?;
    match upgrade(connection, before).and_then(|()| connection.execute_batch("COMMIT").map_err(failed)) {
        Ok(()) if (1..SCHEMA_VERSION).contains(&before) => {
            tracing::info!(path = %path.display(), before, now = SCHEMA_VERSION, "the memory was brought to a new form");
            shrink(connection);
            Ok(())
        }
        Ok(()) => Ok(()),
        Err(problem) => {
            if let Err(error) = connection.execute_batch("ROLLBACK") {
                tracing::debug!(%error, "nothing to roll back");
            }
            Err(problem)
        }
    }
}

fn version(connection: &Connection) -> Outcome<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)
}

fn upgrade(connection: &Connection, before: i64) -> Outcome<()> {
    let run = |sql: &str| connection.execute_batch(sql).map_err(failed);
    if before >= SCHEMA_VERSION {
        return Ok(());
    }
    if before == 0 {
        run(SCHEMA)?;
    }
    if before < 2 {
        run(SECOND)?;
    }
    run(THIRD)?;
    rewrite_known(connection)?;
    run(THIRD_IN_PLACE)?;
    rewrite_vectors(connection)?;
    connection.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(failed)
}

/// What was JSON becomes bytes. What cannot be read stays as it is: whoever reads that space is told.
fn rewrite_known(connection: &Connection) -> Outcome<()> {
    let mut read = connection
        .prepare("SELECT seq, space, id, version, known, meaning, words FROM memories ORDER BY seq")
        .map_err(failed)?;
    let mut write =
        connection.prepare("INSERT INTO memories_of_third_form VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)").map_err(failed)?;
    let mut rows = read.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let value = |column: usize| row.get_ref(column).map_err(failed);
        let json = row.get_ref(4).and_then(|value| Ok(value.as_str()?)).map_err(failed)?;
        let known = match serde_json::from_str::<Memory>(json) {
            Ok(memory) => known::to_bytes(&memory),
            Err(_) => json.as_bytes().to_vec(),
        };
        let (seq, version): (i64, i64) = (row.get(0).map_err(failed)?, row.get(3).map_err(failed)?);
        let space = value(1)?.as_str().map_err(|error| failed(error.into()))?;
        let blob = |column: usize| row.get_ref(column).and_then(|value| Ok(value.as_blob()?)).map_err(failed);
        write.execute(params![seq, space, blob(2)?, version, known, blob(5)?, blob(6)?]).map_err(failed)?;
    }
    Ok(())
}

/// Vectors of the first form are written in the form of this version.
fn rewrite_vectors(connection: &Connection) -> Outcome<()> {
    let mut read = connection
        .prepare("SELECT rowid, fingerprint FROM bodies WHERE rowid > ?1 ORDER BY rowid LIMIT ?2")
        .map_err(failed)?;
    let mut write = connection.prepare("UPDATE bodies SET fingerprint = ?2 WHERE rowid = ?1").map_err(failed)?;
    let mut last = i64::MIN;
    loop {
        let some: Vec<(i64, Vec<u8>)> = read
            .query_map(params![last, REWRITTEN], |row| Ok((row.get(0)?, row.get(1)?)))
            .and_then(Iterator::collect)
            .map_err(failed)?;
        let Some((row, _)) = some.last() else { return Ok(()) };
        last = *row;
        for (row, bytes) in some {
            if let Some(packed) = Packed::from_bytes(&bytes) {
                write.execute(params![row, packed.to_bytes()]).map_err(failed)?;
            }
        }
    }
}

/// Gives back the room that the earlier form took. Where another process has the database open this has to wait for the next erasing;
/// nothing depends on it.
fn shrink(connection: &Connection) {
    let mode =
        |wanted: &str| connection.pragma_update_and_check(None, "journal_mode", wanted, |row| row.get::<_, String>(0));
    // The size of pages changes only without a log.
    let done = mode("delete").and_then(|_| connection.execute_batch("VACUUM")).and_then(|()| mode("wal").map(drop));
    if let Err(error) = done {
        tracing::info!(%error, "the memory could not be made smaller now");
        if let Err(error) = mode("wal") {
            tracing::warn!(%error, "the log of the memory could not be turned on");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Id;
    use crate::embedders::lexical::Unknown;
    use crate::embedders::{Embedders, Modality, StaticTable};
    use crate::fingerprint::encode::tests::first_form;
    use crate::graph::Provenance;
    use crate::store::Stores as _;
    use crate::store::sqlite::SqliteStores;

    fn memory(number: u128) -> Memory {
        Memory {
            id: Id(number),
            created_at: 1_780_000_000_000 + number as u64,
            updated_at: 1_780_000_000_000,
            last_access: 0,
            access_count: 2,
            importance: 0.5,
            modality: Modality::Text,
            tags: vec!["home".to_owned()],
            hash: "ab".repeat(32),
            bytes: 40,
            purpose: [0.25; 13],
            theta: 0.1,
            delta_s: [1.0 / 3.0; 13],
            delta_c: 0.3,
            cluster: Id(number),
            agent: "tester".to_owned(),
            merged_into: None,
            removed_at: None,
            provenance: Provenance { count: 2, ..Provenance::default() },
        }
    }

    fn text(number: u128) -> String {
        format!("Note {number}: the telescope arrived in spring because the harbour was closed")
    }

    /// A database as the second version wrote it.
    fn second(path: &Path, count: u128) {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = wal").unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        connection.execute_batch(SECOND).unwrap();
        connection.execute_batch("INSERT INTO spaces VALUES ('s', 7); PRAGMA user_version = 2; BEGIN").unwrap();
        let embedders = Embedders::new(std::sync::Arc::new(StaticTable));
        for number in 1..=count {
            let content = embedders.content(&text(number), Modality::Text, &Unknown).unwrap();
            let (id, known) = (Id(number).to_bytes(), serde_json::to_string(&memory(number)).unwrap());
            connection
                .execute(
                    "INSERT INTO memories VALUES (NULL, 's', ?1, 7, ?2, ?3, ?4)",
                    params![id, known, vec![1u8; 256], vec![1u8, 0, 0, 0, 128, 63]],
                )
                .unwrap();
            connection
                .execute(
                    "INSERT INTO bodies VALUES ('s', ?1, ?2, NULL, ?3)",
                    params![id, text(number), first_form(&content)],
                )
                .unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
    }

    #[test]
    fn a_database_of_the_second_form_is_read_and_becomes_small() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let count = 200;
        second(&path, count);
        let before = std::fs::metadata(&path).unwrap().len();
        let stores = SqliteStores::open(&path).unwrap();
        let mut storage = stores.open("s").unwrap();
        let changes = storage.changes(0).unwrap().unwrap();
        let known: Vec<Memory> = changes.memories.iter().map(|light| light.memory.clone()).collect();
        assert_eq!(known, (1..=count).map(memory).collect::<Vec<_>>());
        assert_eq!(changes.memories[0].words.indices, [1]);
        let embedders = Embedders::new(std::sync::Arc::new(StaticTable));
        for body in storage.bodies(&[Id(1), Id(count)]).unwrap() {
            let exact = Packed::of(&embedders.content(&body.content, Modality::Text, &Unknown).unwrap());
            let kept = Packed::from_bytes(&body.fingerprint).unwrap();
            let near = exact.likenesses(&kept, (1.0, 1.0, 1.0), 1.0, false);
            assert!(near.iter().all(|value| *value > 0.98), "{near:?}");
        }
        let after = storage.size().unwrap();
        assert!(after * 2 < before, "{after} for {before}");
        drop(storage);
        assert_eq!(
            SqliteStores::open(&path).unwrap().open("s").unwrap().changes(0).unwrap().unwrap().memories.len(),
            200
        );
    }

    #[test]
    fn a_database_of_a_later_form_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        SqliteStores::open(&path).unwrap();
        Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
        assert_eq!(SqliteStores::open(&path).unwrap_err().kind, "STORE_UNUSABLE");
    }
}
