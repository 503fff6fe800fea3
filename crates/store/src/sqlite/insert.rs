//! Adding records to the chain, many rows by one statement: SQLite opens the indexes once for all of them, and finds the
//! place of a row next to that of the row before.
//!
//! Which group they are in, and whether it is committed, is not known here.

use rusqlite::{CachedStatement, Connection};

use super::connection::translate;
use crate::StoreError;
use crate::audit::{Link, Prepared};

/// Rows of one statement. More gain little, and all of them wait in the memory of the statement.
const ROWS: usize = 16;

const COLUMNS: &str = "time, event, previous, hash, event_type, actor, server, tool, trace, result";

/// The statements that add records.
///
/// A row that fails takes the whole group with it, so `OR FAIL` does: for the default SQLite would copy every page
/// before it changes it, to be able to undo a statement alone.
#[derive(Debug)]
pub(super) struct Insert {
    one: String,
    /// Without the sequence number: SQLite counts on from the last row. Rows that say their number would be copied.
    many: String,
}

impl Insert {
    pub(super) fn new() -> Self {
        let values = vec!["?"; COLUMNS.split(',').count()].join(", ");
        let rows = vec![format!("({values})"); ROWS].join(", ");
        Self {
            one: format!("INSERT OR FAIL INTO audit ({COLUMNS}, seq) VALUES ({values}, ?)"),
            many: format!("INSERT OR FAIL INTO audit ({COLUMNS}) VALUES {rows}"),
        }
    }

    /// Adds records after `end`, and returns their links.
    pub(super) fn run(
        &self,
        connection: &Connection,
        events: &[&Prepared],
        end: Link,
    ) -> Result<Vec<Link>, StoreError> {
        let mut links = Vec::with_capacity(events.len());
        // The first row says its number, because the one before it may be gone.
        let (first, more) = events.split_at(events.len().min(1));
        let (blocks, rest) = more.as_chunks::<ROWS>();
        let end = self.add_each(connection, first, end, &mut links)?;
        let end = self.add_blocks(connection, blocks, end, &mut links)?;
        self.add_each(connection, rest, end, &mut links)?;
        Ok(links)
    }

    fn add_each(
        &self,
        connection: &Connection,
        events: &[&Prepared],
        mut end: Link,
        links: &mut Vec<Link>,
    ) -> Result<Link, StoreError> {
        if events.is_empty() {
            return Ok(end);
        }
        let mut statement = connection.prepare_cached(&self.one).map_err(translate)?;
        for event in events {
            let next = end.next(event.time(), event.text());
            let mut values = Values { statement: &mut statement, place: 0 };
            values.record(event, end, next).and_then(|()| values.bind(number(next))).map_err(translate)?;
            statement.raw_execute().map_err(translate)?;
            links.push(next);
            end = next;
        }
        Ok(end)
    }

    fn add_blocks(
        &self,
        connection: &Connection,
        blocks: &[[&Prepared; ROWS]],
        mut end: Link,
        links: &mut Vec<Link>,
    ) -> Result<Link, StoreError> {
        if blocks.is_empty() {
            return Ok(end);
        }
        let mut statement = connection.prepare_cached(&self.many).map_err(translate)?;
        for block in blocks {
            let mut values = Values { statement: &mut statement, place: 0 };
            for event in block {
                let next = end.next(event.time(), event.text());
                values.record(event, end, next).map_err(translate)?;
                links.push(next);
                end = next;
            }
            statement.raw_execute().map_err(translate)?;
            if connection.last_insert_rowid() != number(end) {
                return Err(StoreError::Corrupt("the audit log has records after its end".to_owned()));
            }
            // A group is milliseconds of work. Whoever makes calls must not wait for the end of a slice of time.
            std::thread::yield_now();
        }
        Ok(end)
    }
}

fn number(link: Link) -> i64 {
    // A chain of 2^63 records is out of reach.
    i64::try_from(link.seq).unwrap_or(i64::MAX)
}

/// Binds one value after the other.
struct Values<'s, 'c> {
    statement: &'s mut CachedStatement<'c>,
    /// The parameter that was bound last; the first is 1.
    place: usize,
}

impl Values<'_, '_> {
    /// Binds a record, in the order of [`COLUMNS`].
    fn record(&mut self, event: &Prepared, before: Link, link: Link) -> rusqlite::Result<()> {
        let columns = event.columns();
        self.bind(event.time())?;
        self.bind(event.text())?;
        self.bind(before.hash.as_bytes())?;
        self.bind(link.hash.as_bytes())?;
        self.bind(columns.event_type)?;
        self.bind(columns.actor)?;
        self.bind(columns.server)?;
        self.bind(columns.tool)?;
        self.bind(columns.trace)?;
        self.bind(columns.result)
    }

    fn bind(&mut self, value: impl rusqlite::ToSql) -> rusqlite::Result<()> {
        self.place += 1;
        self.statement.raw_bind_parameter(self.place, value)
    }
}
