//! Memories in PostgreSQL: for machines that share a memory. One connection for each space, all on one database.
//!
//! Whoever changes a space holds its row of `memory_spaces` until the change ends; others wait for it, and not for other
//! spaces. The rest of this crate waits for its store without a runtime, so this one has a runtime of its own and hands
//! everything over to it, with a deadline.

mod batch;
mod erase;
mod session;

use std::future::Future;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use switchboard_store::{PostgresDialer, StoreError};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Mutex;

use super::{Answered, Batch, MemoryRevision, Record, RecordBody, RecordChanges, Storage, Stores, Version};
use crate::error::{Outcome, Problem};
use crate::{Code, Id};
use batch::Columns;
use session::Session;

/// How long to wait for a connection, and for another process that changes the same space.
const BUSY: Duration = Duration::from_secs(5);
/// How long one thing may take, all statements together: reading a whole space takes longest.
const DEADLINE: Duration = Duration::from_secs(60);
/// By how much whoever waits is more patient than the work itself, which is to tell what was wrong.
const GRACE: Duration = Duration::from_secs(5);
/// A change that goes on for longer without a statement is given up by the server, so that others get their turn.
const LONGEST_CHANGE: Duration = Duration::from_secs(600);
/// Any number, as long as every process uses the same one: the advisory lock around making the tables.
const SCHEMA_LOCK: i64 = 0x5357_434d;
const SCHEMA: &str = include_str!("postgres/schema.sql");
const SECOND: &str = include_str!("postgres/second.sql");
const SCHEMA_VERSION: i64 = 2;

/// Memories in one PostgreSQL database.
#[derive(Debug, Clone)]
pub struct PostgresStores {
    desk: Arc<Desk>,
}

impl PostgresStores {
    /// The database of a URL, `postgres://…`. Tables are made if they are missing; their names begin with `memory_`.
    ///
    /// # Errors
    /// The database cannot be reached, or its tables are of a later version.
    pub fn open(url: &str) -> Outcome<Self> {
        let settings = format!(
            "-c statement_timeout={} -c lock_timeout={} -c idle_in_transaction_session_timeout={} \
             -c synchronous_commit=on",
            DEADLINE.as_millis(),
            BUSY.as_millis(),
            LONGEST_CHANGE.as_millis()
        );
        let dialer = PostgresDialer::read(url, &settings, BUSY).map_err(|error| failed(&error))?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("memory-store")
            .enable_all()
            .build()
            .map_err(Problem::storage)?;
        let desk = Arc::new(Desk { runtime: Some(runtime), dialer });
        let dialer = desk.dialer.clone();
        desk.wait(async move { make_tables(&dialer).await })?;
        Ok(Self { desk })
    }
}

impl Stores for PostgresStores {
    fn open(&self, space: &str) -> Outcome<Box<dyn Storage>> {
        let session = Session::new(self.desk.dialer.clone(), space.to_owned());
        Ok(Box::new(Postgres { desk: self.desk.clone(), session: Arc::new(Mutex::new(session)) }))
    }

    fn spaces(&self) -> Outcome<Vec<String>> {
        let dialer = self.desk.dialer.clone();
        self.desk.wait(async move {
            let client = dialer.dial().await.map_err(|error| failed(&error))?;
            let rows = client.query("SELECT name FROM memory_spaces ORDER BY name", &[]).await.map_err(refused)?;
            Ok(rows.iter().map(|row| row.get(0)).collect())
        })
    }
}

/// Where work is handed over.
struct Desk {
    /// Taken when it ends.
    runtime: Option<Runtime>,
    dialer: PostgresDialer,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Desk")
    }
}

impl Desk {
    /// Waits for work that is done on the other side. Whoever calls may be on a runtime or not.
    fn wait<T: Send + 'static>(&self, work: impl Future<Output = Outcome<T>> + Send + 'static) -> Outcome<T> {
        let late =
            || Problem::new(Code::Storage, "STORE_UNAVAILABLE", "the database did not answer in time: try again");
        let runtime = self.runtime.as_ref().ok_or_else(|| Problem::storage("it is closed"))?;
        let (done, outcome) = mpsc::sync_channel(1);
        runtime.spawn(async move {
            let result = tokio::time::timeout(DEADLINE, work).await;
            // Nobody waits any more if this fails.
            let _ = done.send(result.unwrap_or_else(|_| Err(late())));
        });
        outcome.recv_timeout(DEADLINE + GRACE).unwrap_or_else(|_| Err(late()))
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // Without waiting: this may happen on another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Makes the tables, or checks that they are of this version.
async fn make_tables(dialer: &PostgresDialer) -> Outcome<()> {
    let mut client = dialer.dial().await.map_err(|error| failed(&error))?;
    let change = client.transaction().await.map_err(refused)?;
    change.execute("SELECT pg_advisory_xact_lock($1)", &[&SCHEMA_LOCK]).await.map_err(refused)?;
    let there = change.query_one("SELECT to_regclass('memory_schema') IS NOT NULL", &[]).await.map_err(refused)?;
    if there.get(0) {
        let row = change.query_one("SELECT COALESCE(MAX(version), 0) FROM memory_schema", &[]).await;
        let found: i64 = row.map_err(refused)?.get(0);
        if found == SCHEMA_VERSION {
            return Ok(());
        }
        if found == 1 {
            change.batch_execute(SECOND).await.map_err(refused)?;
            change.execute("INSERT INTO memory_schema VALUES ($1)", &[&SCHEMA_VERSION]).await.map_err(refused)?;
            return change.commit().await.map_err(refused);
        }
        let message = format!("the memories there have the form {found}, this program knows {SCHEMA_VERSION}");
        return Err(Problem::new(Code::Storage, "STORE_UNUSABLE", message));
    }
    change.batch_execute(SCHEMA).await.map_err(refused)?;
    change.batch_execute(SECOND).await.map_err(refused)?;
    change.execute("INSERT INTO memory_schema VALUES ($1)", &[&SCHEMA_VERSION]).await.map_err(refused)?;
    change.commit().await.map_err(refused)
}

/// A problem with its causes: the first line of a database's error says nothing.
fn failed(error: &StoreError) -> Problem {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    match error {
        StoreError::Unavailable(_) | StoreError::Timeout | StoreError::Busy(_) => {
            let message = format!("the database of the memory cannot be used now ({text}): try again later");
            Problem::new(Code::Storage, "STORE_UNAVAILABLE", message)
        }
        _ => Problem::storage(text),
    }
}

fn refused(error: tokio_postgres::Error) -> Problem {
    failed(&PostgresDialer::explain(error))
}

/// The store of one space.
struct Postgres {
    desk: Arc<Desk>,
    session: Arc<Mutex<Session>>,
}

/// Hands one thing over to the session and waits for it.
macro_rules! hand_over {
    ($self:ident, $session:ident => $work:expr) => {{
        let held = $self.session.clone();
        $self.desk.wait(async move {
            let mut guard = held.lock().await;
            let $session = &mut *guard;
            $work.await
        })
    }};
}

impl Storage for Postgres {
    fn changes(&mut self, since: Version) -> Outcome<Option<RecordChanges>> {
        hand_over!(self, session => session.changes(since))
    }

    fn begin(&mut self) -> Outcome<()> {
        hand_over!(self, session => session.begin())
    }

    fn commit(&mut self, batch: &Batch) -> Outcome<Version> {
        let columns = match Columns::of(batch) {
            Ok(columns) => columns,
            Err(problem) => {
                self.roll_back();
                return Err(problem);
            }
        };
        hand_over!(self, session => session.commit(columns))
    }

    fn roll_back(&mut self) {
        if let Err(problem) = hand_over!(self, session => session.roll_back()) {
            tracing::warn!(error = %problem, "a change of the memory could not be rolled back");
        }
    }

    fn bodies(&mut self, ids: &[Id]) -> Outcome<Vec<RecordBody>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<Vec<u8>> = ids.iter().map(|id| id.to_bytes().to_vec()).collect();
        hand_over!(self, session => session.bodies(&ids))
    }

    fn records(&mut self, kind: Option<&str>, most: usize) -> Outcome<Vec<Record>> {
        let kind = kind.map(ToOwned::to_owned);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        hand_over!(self, session => session.records(kind.as_deref(), most))
    }

    fn record(&mut self, id: Id) -> Outcome<Option<Record>> {
        hand_over!(self, session => session.record(id))
    }

    fn history(&mut self, id: Id) -> Outcome<Vec<MemoryRevision>> {
        hand_over!(self, session => session.history(id))
    }

    fn scrub(&mut self) -> Outcome<bool> {
        hand_over!(self, session => session.scrub())
    }

    fn has_remains(&mut self) -> Outcome<bool> {
        hand_over!(self, session => session.has_remains())
    }

    fn outcome(&mut self, key: &str) -> Outcome<Option<Answered>> {
        let key = key.as_bytes().to_vec();
        hand_over!(self, session => session.outcome(&key))
    }

    fn size(&mut self) -> Outcome<u64> {
        hand_over!(self, session => session.size())
    }

    fn engine(&self) -> &'static str {
        "postgres"
    }
}
