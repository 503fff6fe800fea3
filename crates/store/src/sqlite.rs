//! The embedded engine: SQLite in WAL mode, full sync, one writer thread, a few connections for reading.

mod committer;
mod connection;
mod insert;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::audit::evidence::{Evidence, Ledger};
use crate::audit::tables::{self, ChainState, Judge};
use crate::sql::queue::Queue;
use crate::sql::{Engine, Row, SCHEMA, Statement};
use crate::{Answer, Mode, Options, StoreError, private};
use committer::{DatabaseFile, Writer};
use connection::{migrate, run, translate};

const MIGRATIONS: [&str; SCHEMA as usize] = [
    include_str!("../migrations/sqlite-1.sql"),
    include_str!("../migrations/sqlite-2.sql"),
    include_str!("../migrations/3.sql"),
    include_str!("../migrations/sqlite-4.sql"),
    include_str!("../migrations/sqlite-5.sql"),
];

/// An open SQLite database.
#[derive(Debug)]
pub(crate) struct Sqlite {
    path: PathBuf,
    options: Options,
    evidence: Arc<Evidence>,
    /// `None` when opened for reading only.
    queue: Option<Queue>,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Sqlite {
    pub(crate) async fn open(path: PathBuf, options: Options) -> Result<Self, StoreError> {
        tokio::task::spawn_blocking(move || Self::open_now(path, options)).await.map_err(|_| StoreError::Closed)?
    }

    fn open_now(path: PathBuf, options: Options) -> Result<Self, StoreError> {
        let directory = path.parent().unwrap_or_else(|| Path::new("."));
        let stem = path.file_stem().map_or_else(|| "store".to_owned(), |stem| stem.to_string_lossy().into_owned());
        if options.mode == Mode::ReadOnly {
            private::file(&path)?;
        } else {
            private::directory(directory)?;
            if private::file_or_new(&path)? {
                private::sync_directory(directory)?;
            }
        }
        let audit_directory = options.audit_directory.clone().unwrap_or_else(|| directory.to_owned());
        let evidence = Arc::new(Evidence::open(&audit_directory, &stem, &options)?);
        let queue = if options.mode == Mode::ReadOnly {
            let connection = connection::open(&path, &options, true)?;
            migrate(&connection, &MIGRATIONS, false)?;
            None
        } else {
            let connection = connection::open(&path, &options, false)?;
            migrate(&connection, &MIGRATIONS, true)?;
            let damage = look_for_damage(&connection, &path, &options)?;
            let ledger = settle(&connection, &evidence, options.mode)?;
            let file = DatabaseFile::of(&path, damage)?;
            let writer = Writer::new((connection, file), ledger, evidence.clone(), options.clone());
            Some(Queue::start(writer, &options)?)
        };
        let permits = Arc::new(Semaphore::new(options.readers.max(1)));
        Ok(Self { path, options, evidence, queue, idle: Arc::default(), permits })
    }
}

impl Engine for Sqlite {
    fn read(&self, statement: Statement) -> Answer<'_, Vec<Row>> {
        Box::pin(async move {
            let permit = tokio::time::timeout(self.options.read_deadline, self.permits.clone().acquire_owned());
            let permit = permit.await.map_err(|_| StoreError::Timeout)?.map_err(|_| StoreError::Closed)?;
            let connection = self.idle.lock().pop();
            let (path, options, idle) = (self.path.clone(), self.options.clone(), self.idle.clone());
            let (interrupt, mut interrupted) = tokio::sync::oneshot::channel();
            let reading = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                let connection = match connection {
                    Some(connection) => connection,
                    None => connection::open(&path, &options, true)?,
                };
                let _ = interrupt.send(connection.get_interrupt_handle());
                let rows = run(&connection, &statement).map_err(translate);
                idle.lock().push(connection);
                rows
            });
            match tokio::time::timeout(self.options.read_deadline, reading).await {
                Ok(Ok(rows)) => rows,
                Ok(Err(_)) => Err(StoreError::Closed),
                Err(_) => {
                    // The thread must come free again: the reader behind this one needs its permit.
                    if let Ok(handle) = interrupted.try_recv() {
                        handle.interrupt();
                    }
                    Err(StoreError::Timeout)
                }
            }
        })
    }

    fn queue(&self) -> Option<&Queue> {
        self.queue.as_ref()
    }

    fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn close(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            self.permits.close();
            match &self.queue {
                Some(queue) => queue.close().await,
                None => Ok(()),
            }
        })
    }
}

/// Looks for damaged pages, for as long as the opening may take; behind it for the rest. Where damage is found later is
/// known to the writer from then on.
fn look_for_damage(
    connection: &Connection,
    path: &Path,
    options: &Options,
) -> Result<Arc<OnceLock<String>>, StoreError> {
    let damage = Arc::new(OnceLock::new());
    if options.check.is_none() || connection::check(connection, options.check)? {
        return Ok(damage);
    }
    let (path, options, found) = (path.to_owned(), options.clone(), damage.clone());
    let looking = move || {
        let looked =
            connection::open(&path, &options, true).and_then(|connection| connection::check(&connection, None));
        if let Err(StoreError::Corrupt(what)) = looked {
            tracing::error!(what, "the database is damaged: nothing is written to it any more");
            let _ = found.set(what);
        }
    };
    let started = std::thread::Builder::new().name("store-check".to_owned()).spawn(looking);
    started.map(|_| damage).map_err(|error| StoreError::Engine(Arc::new(error)))
}

/// How often a chain that looks broken is looked at again: another process may be at its first records, and the files
/// beside the database follow a commit a moment later.
const LOOKS: u32 = 4;
const OPEN_RETRY_PAUSE: Duration = Duration::from_millis(25);

/// Checks the chain against its evidence, puts a restore on record, and opens the evidence for writing.
fn settle(connection: &Connection, evidence: &Evidence, mode: Mode) -> Result<Ledger, StoreError> {
    let run_all = |statements: &[Statement]| -> Result<Vec<_>, StoreError> {
        statements.iter().map(|statement| run(connection, statement).map_err(translate)).collect()
    };
    let look = || {
        // The evidence first: it never runs ahead of the database.
        let newest = evidence.newest(mode)?;
        // One transaction, so that what another process appends meanwhile is not seen by half.
        let survey = committer::in_transaction(connection, |_| run_all(&tables::survey(&newest)))?;
        let found = ChainState::read(survey)?;
        let judge = Judge { evidence, newest: &newest, is_shared: false };
        let restored = judge.settle(&found, mode)?;
        Ok((found, restored))
    };
    let mut looked = look();
    for _ in 1..LOOKS {
        if !matches!(looked, Err(StoreError::ChainBroken(_))) {
            break;
        }
        std::thread::sleep(OPEN_RETRY_PAUSE);
        looked = look();
    }
    let (found, restored) = looked?;
    let mut ledger = Ledger::open(evidence)?;
    match restored {
        Some(head) => {
            committer::in_transaction(connection, |_| run_all(&tables::restore(&head)))?;
            ledger.record(head.link(), head.time, Some(head), evidence);
        }
        None => ledger.begin(found.tip, found.head, evidence)?,
    }
    Ok(ledger)
}
