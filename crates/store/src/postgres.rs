//! The engine for teams: PostgreSQL, several replicas on one chain.
//!
//! Reads go through a pool. Writes go in groups through one connection of their own, like those of SQLite, and the row
//! `audit_tip` is locked while a group continues the chain, so that replicas take turns.

mod committer;
mod connection;
mod dialer;
mod tls;

pub use dialer::PostgresDialer;

use std::sync::Arc;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};

use crate::audit::evidence::{Evidence, Ledger};
use crate::audit::tables::{self, ChainState, Judge};
use crate::sql::queue::Queue;
use crate::sql::{Engine, Row, SCHEMA, Statement};
use crate::{Answer, Mode, Options, StoreError};
use committer::Writer;
use connection::{migrate, parameters, rows, translate};

const MIGRATIONS: [&str; SCHEMA as usize] = [
    include_str!("../migrations/postgres-1.sql"),
    include_str!("../migrations/postgres-2.sql"),
    include_str!("../migrations/3.sql"),
    include_str!("../migrations/postgres-4.sql"),
    include_str!("../migrations/postgres-5.sql"),
];

/// An open PostgreSQL database.
#[derive(Debug)]
pub(crate) struct Postgres {
    options: Options,
    evidence: Arc<Evidence>,
    queue: Option<Queue>,
    pool: Pool,
}

impl Postgres {
    pub(crate) async fn open(url: &str, options: Options) -> Result<Self, StoreError> {
        let directory = options.audit_directory.clone().ok_or_else(|| {
            StoreError::Address("a store on PostgreSQL needs a directory for its audit key and heads".to_owned())
        })?;
        let (mut config, encryption) = tls::read(url)?;
        let deadlines = format!(
            "-c statement_timeout={} -c lock_timeout={} -c synchronous_commit=on",
            options.write_deadline.as_millis(),
            options.busy.as_millis()
        );
        config.application_name("switchboard").connect_timeout(options.busy).options(deadlines);
        let evidence = Arc::new(Evidence::open(&directory, "switchboard", &options)?);
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Verified };
        let manager = Manager::from_config(config.clone(), encryption.clone(), recycling);
        let pool = Pool::builder(manager)
            .max_size(options.readers.max(1))
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(options.read_deadline))
            .create_timeout(Some(options.busy))
            .recycle_timeout(Some(options.busy))
            .build()
            .map_err(|error| StoreError::Engine(Arc::new(error)))?;
        let may_write = options.mode != Mode::ReadOnly;
        let mut client = pool.get().await.map_err(|error| match tls::advice(&error) {
            Some(advice) => StoreError::Address(advice),
            None => StoreError::Unavailable(Arc::new(error)),
        })?;
        migrate(&mut client, &MIGRATIONS, may_write).await?;
        let queue = if may_write {
            let ledger = settle(&mut client, &evidence, options.mode).await?;
            let writer = Writer::new((config, encryption), ledger, evidence.clone(), options.clone())?;
            Some(Queue::start(writer, &options)?)
        } else {
            None
        };
        drop(client);
        Ok(Self { options, evidence, queue, pool })
    }

    async fn query(&self, statement: &Statement) -> Result<Vec<Row>, StoreError> {
        let client = self.pool.get().await.map_err(|error| StoreError::Unavailable(Arc::new(error)))?;
        let prepared = client.prepare_cached(&statement.sql).await.map_err(translate)?;
        rows(&client.query(&prepared, &parameters(statement)).await.map_err(translate)?)
    }
}

impl Engine for Postgres {
    fn read(&self, statement: Statement) -> Answer<'_, Vec<Row>> {
        Box::pin(async move {
            let reading = tokio::time::timeout(self.options.read_deadline, self.query(&statement));
            reading.await.map_err(|_| StoreError::Timeout)?
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
            self.pool.close();
            match &self.queue {
                Some(queue) => queue.close().await,
                None => Ok(()),
            }
        })
    }
}

/// Checks the chain against its evidence, puts a restore on record, and opens the evidence for writing.
async fn settle(client: &mut deadpool_postgres::Client, evidence: &Evidence, mode: Mode) -> Result<Ledger, StoreError> {
    let newest = evidence.newest(mode)?;
    let transaction = client.transaction().await.map_err(translate)?;
    // Under the lock, so that what another replica appends meanwhile is not taken for a breach.
    transaction.batch_execute("SELECT seq FROM audit_tip WHERE id = 1 FOR UPDATE").await.map_err(translate)?;
    let mut answers = Vec::new();
    for statement in tables::survey(&newest) {
        let found = transaction.query(&*statement.sql, &parameters(&statement)).await.map_err(translate)?;
        answers.push(rows(&found)?);
    }
    let found = ChainState::read(answers)?;
    // A replica with a new directory joins the chain where it stands.
    let judge = Judge { evidence, newest: &newest, is_shared: true };
    let restored = judge.settle(&found, mode)?;
    let mut ledger = Ledger::open(evidence)?;
    if let Some(head) = &restored {
        for statement in tables::restore(head) {
            transaction.execute(&*statement.sql, &parameters(&statement)).await.map_err(translate)?;
        }
    }
    transaction.commit().await.map_err(translate)?;
    match restored {
        Some(head) => ledger.record(head.link(), head.time, Some(head), evidence),
        // A head of another replica says nothing on file here: only its own key counts.
        None => ledger.begin(found.tip, found.head.filter(|head| head.key == evidence.key.public()), evidence)?,
    }
    Ok(ledger)
}
