//! Connections, migrations, and the translation of values and errors.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};

use crate::sql::{Row, Statement, Value};
use crate::{Options, StoreError};

/// Bytes of a page, in a database that is new: an older one keeps its own. Groups of records fill many pages, and each
/// costs three system calls until it is where it stays; pages that are larger still would cost a single record more.
const PAGE_BYTES: i64 = 8192;

/// Bytes of the log after which SQLite copies them into the database, so that a burst is not slowed down.
const CHECKPOINT_BYTES: i64 = 16 * 1024 * 1024;

/// Memory for pages of the writer, at most. Trace ids are random, so their index is touched all over.
const CACHE_KIBIBYTES: i64 = 16 * 1024;

pub(super) fn open(path: &Path, options: &Options, read_only: bool) -> Result<Connection, StoreError> {
    let connection = if read_only { open_to_read(path)? } else { open_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE)? };
    let prepare = || {
        connection.busy_timeout(options.busy)?;
        connection.set_prepared_statement_cache_capacity(64);
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        if read_only {
            return connection.pragma_update(None, "query_only", true);
        }
        connection.pragma_update(None, "page_size", PAGE_BYTES)?;
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0))?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "cache_size", -CACHE_KIBIBYTES)?;
        let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_BYTES / page.max(1))
    };
    prepare().map_err(translate)?;
    Ok(connection)
}

fn open_with(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(translate)
}

/// Opens for reading, also where nothing may be written, such as in an auditor's copy.
///
/// A reader needs to write the shared memory of the log (`query_only` is what keeps it from the tables), or to find it
/// there. Where the log is empty, which it is once the database was closed in good order, the database alone is read.
fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    let readable = |connection: Connection| {
        let found = connection.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
        found.map(|_| connection).map_err(translate)
    };
    let opened = open_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(readable);
    let Err(error) = opened else { return opened };
    if !matches!(error, StoreError::Unavailable(_) | StoreError::ReadOnly) {
        return Err(error);
    }
    if let Ok(connection) = open_with(path, OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(readable) {
        return Ok(connection);
    }
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if std::fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        return Err(error);
    }
    open_with(&immutable(path), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI).and_then(readable)
}

/// The name by which SQLite opens a file that nobody changes: it looks for no log, and takes no locks.
fn immutable(path: &Path) -> PathBuf {
    let mut uri = OsString::from("file:");
    for part in path.as_os_str().as_encoded_bytes() {
        match part {
            b'%' | b'?' | b'#' => uri.push(format!("%{part:02x}")),
            other => uri.push(OsStr::from_bytes(&[*other])),
        }
    }
    uri.push("?immutable=1");
    uri.into()
}

/// Looks for damaged pages, at most for this long; whether all was looked at.
///
/// # Errors
/// There are some.
pub(super) fn check(connection: &Connection, limit: Option<Duration>) -> Result<bool, StoreError> {
    let (done, waiting) = mpsc::channel::<()>();
    let handle = connection.get_interrupt_handle();
    let timer = limit.map(|limit| {
        std::thread::spawn(move || {
            if waiting.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                handle.interrupt();
            }
        })
    });
    let found = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    drop(done);
    if let Some(timer) = timer {
        // Before anything else is asked of the connection: a late interrupt must not hit it.
        let _ = timer.join();
    }
    match found.map_err(translate) {
        Ok(found) if found == "ok" => Ok(true),
        Ok(found) => Err(StoreError::Corrupt(found)),
        Err(StoreError::Timeout) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Brings the schema up to date, or checks that it is.
pub(super) fn migrate(connection: &Connection, migrations: &[&str], may_write: bool) -> Result<(), StoreError> {
    let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    let version = || connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).map_err(translate);
    let check = |found: i64| if found > known { Err(StoreError::NewerSchema { found, known }) } else { Ok(found) };
    let found = check(version()?)?;
    if found == known {
        return Ok(());
    }
    if !may_write {
        return Err(StoreError::OlderSchema { found, known });
    }
    super::committer::in_transaction(connection, |connection| {
        // Again, now that no other process can be at it.
        let found = check(version()?)?;
        for migration in migrations.iter().skip(usize::try_from(found).unwrap_or_default()) {
            connection.execute_batch(migration).map_err(translate)?;
        }
        connection.pragma_update(None, "user_version", known).map_err(translate)
    })
}

/// Runs one statement and collects its rows.
pub(super) fn run(connection: &Connection, statement: &Statement) -> rusqlite::Result<Vec<Row>> {
    let mut prepared = connection.prepare_cached(&numbered(&statement.sql))?;
    let columns = prepared.column_count();
    let mut rows = prepared.query(rusqlite::params_from_iter(&statement.values))?;
    let mut answer = Vec::new();
    while let Some(row) = rows.next()? {
        let values = (0..columns).map(|column| row.get_ref(column).map(value)).collect::<Result<_, _>>()?;
        answer.push(Row::new(values));
    }
    Ok(answer)
}

/// SQLite numbers `?1`, where the shared statements say `$1`; none of them has a dollar anywhere else.
fn numbered(sql: &str) -> String {
    sql.replace('$', "?")
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        // No column is real: whoever reads one finds text where a number should be.
        ValueRef::Real(number) => Value::Text(number.to_string()),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// Tells errors apart by what can be done about them.
pub(super) fn translate(error: rusqlite::Error) -> StoreError {
    let code = error.sqlite_error_code();
    match code {
        Some(ErrorCode::DiskFull) => StoreError::Full(Arc::new(error)),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy(Arc::new(error)),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt(error.to_string()),
        Some(ErrorCode::ConstraintViolation) => StoreError::Conflict(error.to_string()),
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly,
        Some(ErrorCode::OperationInterrupted) => StoreError::Timeout,
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => StoreError::Unavailable(Arc::new(error)),
        _ => StoreError::Engine(Arc::new(error)),
    }
}

/// Whether an error concerns the statement alone, so that the rest of the group may go on.
pub(super) const fn is_local(error: &StoreError) -> bool {
    matches!(error, StoreError::Conflict(_) | StoreError::Engine(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_any_name_is_opened_without_being_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a?b#c%20 d.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE t (x); INSERT INTO t VALUES (7)").unwrap();
        drop(connection);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let connection = open_with(&immutable(&path), flags).unwrap();
        assert_eq!(connection.query_row("SELECT x FROM t", [], |row| row.get::<_, i64>(0)).unwrap(), 7);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no log, no shared memory");
    }
}
