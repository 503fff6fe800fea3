//! The writer: one transaction per group, on a connection and a thread of its own.
//!
//! When the connection breaks during a commit, nobody knows whether the group stands. The writer asks the server about
//! that very transaction and tries again only if it was rolled back.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::connection::{parameters, rows, translate};
use crate::audit::evidence::{Evidence, Ledger, Progress};
use crate::audit::once::Once;
use crate::audit::{Columns, Head, HeadKind, Link, Prepared, tables};
use crate::sql::queue::{Committer, Done, Work};
use crate::sql::{Row, Statement, Value};
use crate::{Boundary, Options, StoreError};

const INSERT: &str = "INSERT INTO audit \
    (seq, time, event, previous, hash, event_type, actor, server, tool, trace, result) \
    SELECT * FROM UNNEST($1::bigint[], $2::bigint[], $3::text[], $4::bytea[], $5::bytea[], $6::text[], $7::text[], \
    $8::text[], $9::text[], $10::text[], $11::text[])";

/// Statements that stay prepared. The nouns have some thirty.
const STATEMENTS: usize = 100;

/// How long to wait between two questions about a transaction that is still under way.
const ASK_AGAIN: Duration = Duration::from_millis(50);

/// Owns the connection that writes.
pub(super) struct Writer {
    runtime: Runtime,
    session: Session,
}

struct Session {
    config: Config,
    encryption: MakeRustlsConnect,
    client: Option<Connection>,
    ledger: Ledger,
    evidence: Arc<Evidence>,
    options: Options,
}

/// A connection with the statements that it has prepared.
struct Connection {
    client: Client,
    prepared: Mutex<HashMap<String, tokio_postgres::Statement>>,
}

impl Connection {
    async fn prepare(&self, sql: &str) -> Result<tokio_postgres::Statement, StoreError> {
        if let Some(statement) = self.prepared.lock().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await.map_err(translate)?;
        let mut prepared = self.prepared.lock();
        if prepared.len() >= STATEMENTS {
            prepared.clear();
        }
        prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// Why a group failed.
enum Failure {
    /// Nothing was written.
    Nothing(StoreError),
    /// The commit of this transaction was under way.
    InDoubt { transaction: i64 },
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Nothing(error)
    }
}

type Results = Vec<Result<Done, StoreError>>;

impl Writer {
    pub(super) fn new(
        (config, encryption): (Config, MakeRustlsConnect),
        ledger: Ledger,
        evidence: Arc<Evidence>,
        options: Options,
    ) -> Result<Self, StoreError> {
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(|error| StoreError::Engine(Arc::new(error)))?;
        Ok(Self { runtime, session: Session { config, encryption, client: None, ledger, evidence, options } })
    }
}

impl Committer for Writer {
    fn commit(&mut self, group: &[Work]) -> Result<Results, StoreError> {
        self.runtime.block_on(self.session.commit(group))
    }
}

impl Session {
    async fn commit(&mut self, group: &[Work]) -> Result<Results, StoreError> {
        let mut results = Vec::new();
        let mut progress = Progress::default();
        // One more try, and only when the first is known to have left nothing.
        for last_try in [false, true] {
            results.clear();
            progress = Progress::default();
            let Err(failure) = self.attempt(group, &mut results, &mut progress).await else { break };
            match failure {
                // The connection was gone before the commit: the server has rolled back.
                Failure::Nothing(StoreError::Unavailable(_)) if !last_try => self.client = None,
                Failure::Nothing(error) => return Err(error),
                Failure::InDoubt { transaction } => match self.fate(transaction).await {
                    Some(true) => break,
                    Some(false) if !last_try => {}
                    Some(false) => return Err(StoreError::Timeout),
                    None => return Err(StoreError::Undetermined),
                },
            }
        }
        let passed = self.options.pass(Boundary::AfterCommit);
        self.ledger.follow(progress, &self.evidence);
        self.options.reached(Boundary::AfterHeads);
        passed.map(|()| results)
    }

    async fn attempt(&mut self, group: &[Work], results: &mut Results, progress: &mut Progress) -> Result<(), Failure> {
        let client = self.connected().await?;
        let deadline = self.options.write_deadline;
        let mut committing = None;
        let writing = self.write_group(&client, group, results, progress, &mut committing);
        let written = tokio::time::timeout(deadline, writing).await;
        let outcome = match written {
            Ok(outcome) => outcome,
            Err(_) => Err(StoreError::Timeout),
        };
        match outcome {
            Ok(()) => {
                self.client = Some(client);
                Ok(())
            }
            Err(error) => {
                // A refused statement leaves the connection good; anything else gets a new one.
                let lost =
                    client.client.is_closed() || matches!(error, StoreError::Timeout | StoreError::Unavailable(_));
                match committing {
                    Some(transaction) if lost => Err(Failure::InDoubt { transaction }),
                    _ if lost => Err(Failure::Nothing(error)),
                    _ => {
                        if client.client.batch_execute("ROLLBACK").await.is_ok() {
                            self.client = Some(client);
                        }
                        Err(Failure::Nothing(error))
                    }
                }
            }
        }
    }

    /// Writes and commits. `committing` names the transaction from the moment on when its commit is sent.
    async fn write_group(
        &self,
        client: &Connection,
        group: &[Work],
        results: &mut Results,
        progress: &mut Progress,
        committing: &mut Option<i64>,
    ) -> Result<(), StoreError> {
        client.client.batch_execute("BEGIN").await.map_err(translate)?;
        let transaction = one(client, &Statement::new("SELECT txid_current()", [])).await?.integer()?;
        for work in group {
            match self.write(client, work, progress).await {
                Err(StoreError::Conflict(what)) if matches!(work, Work::Execute(_)) => {
                    results.push(Err(StoreError::Conflict(what)));
                }
                result => results.push(Ok(result?)),
            }
        }
        if let (Some(end), Some(time)) = (progress.end, progress.time) {
            run(client, &tables::set_tip(end)).await?;
            if progress.head.is_none()
                && let Some(head) = self.ledger.due(end, time, &self.evidence)
            {
                run(client, &tables::insert_head(&head)).await?;
                progress.head = Some(head);
            }
        }
        self.options.pass(Boundary::BeforeCommit)?;
        *committing = Some(transaction);
        client.client.batch_execute("COMMIT").await.map_err(translate)
    }

    async fn write(&self, client: &Connection, work: &Work, progress: &mut Progress) -> Result<Done, StoreError> {
        match work {
            Work::Append(events) => {
                let end = self.lock_end(client, progress).await?;
                let events: Vec<&Prepared> = events.iter().collect();
                append(client, &events, end, progress).await.map(Done::Appended)
            }
            Work::AppendOnce { events, after } => {
                // Under the lock: a commit whose fate nobody knew is over by now.
                let end = self.lock_end(client, progress).await?;
                let mut once = Once::new(events, *after);
                while let Some(page) = once.page() {
                    if !once.look(run(client, &page).await?)? {
                        break;
                    }
                }
                let missing = once.missing();
                let added =
                    if missing.is_empty() { Vec::new() } else { append(client, &missing, end, progress).await? };
                once.finish(added).map(Done::Appended)
            }
            Work::Execute(statements) => execute(client, statements).await.map(Done::Executed),
            Work::Seal(now) => {
                let end = self.lock_end(client, progress).await?;
                self.sign(client, HeadKind::Grown, end, *now, progress).await
            }
            Work::Prune { through, now } => {
                progress.end = Some(self.lock_end(client, progress).await?);
                let hash = one(client, &tables::hash_at(*through)).await?.digest()?;
                run(client, &tables::remove_through(*through)).await?;
                self.sign(client, HeadKind::Pruned, Link { seq: *through, hash }, *now, progress).await
            }
        }
    }

    async fn sign(
        &self,
        client: &Connection,
        kind: HeadKind,
        link: Link,
        now: Timestamp,
        progress: &mut Progress,
    ) -> Result<Done, StoreError> {
        let head = Head::sign(kind, link, now, &self.evidence.key);
        run(client, &tables::insert_head(&head)).await?;
        progress.head = Some(head.clone());
        Ok(Done::Signed(head))
    }

    /// The end of the chain, locked until the group is committed.
    async fn lock_end(&self, client: &Connection, progress: &Progress) -> Result<Link, StoreError> {
        if let Some(end) = progress.end {
            return Ok(end);
        }
        let lock = Statement::new(format!("{} FOR UPDATE", tables::TIP), []);
        self.continued(client, &lock).await
    }

    /// The end of the chain, if it goes on from where this writer left it. A standby that took over may be behind, and
    /// what is written to it would be lost to everybody who has the other one.
    async fn continued(&self, client: &Connection, read: &Statement) -> Result<Link, StoreError> {
        let (tip, is_there) = tables::read_end(one(client, read).await?)?;
        // Whoever waited for the lock has seen the records as they were before: they are looked at again.
        if !is_there && run(client, &tables::hash_at(tip.seq)).await?.is_empty() {
            let kept = run(client, &tables::pruned_through(tip.seq)).await?;
            tables::may_be_empty(tip, kept, &self.evidence, true)?;
        }
        if let Some(seq) = self.ledger.follows(tip)? {
            let hash = run(client, &tables::hash_at(seq)).await?.into_iter().next().map(|mut row| row.digest());
            self.ledger.agrees(hash.transpose()?)?;
        }
        Ok(tip)
    }

    /// The connection, taken out; a new one if there is none or it is closed.
    async fn connected(&mut self) -> Result<Connection, StoreError> {
        if let Some(client) = self.client.take().filter(|client| !client.client.is_closed()) {
            return Ok(client);
        }
        let connecting = tokio::time::timeout(self.options.busy, self.config.connect(self.encryption.clone()));
        let (client, connection) = connecting
            .await
            .map_err(|error| StoreError::Unavailable(Arc::new(error)))?
            .map_err(|error| StoreError::Unavailable(Arc::new(error)))?;
        // Lives on the writer's own runtime and ends with the connection.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "the writer's connection ended");
            }
        });
        let connection = Connection { client, prepared: Mutex::default() };
        // Behind a new connection may be another database: nothing is written to one that fell back.
        let tip = Statement::new(tables::TIP, []);
        let looking = tokio::time::timeout(self.options.busy, self.continued(&connection, &tip));
        looking.await.map_err(|error| StoreError::Unavailable(Arc::new(error)))??;
        Ok(connection)
    }

    /// Whether a transaction was committed. `None` if the server cannot tell in time.
    async fn fate(&mut self, transaction: i64) -> Option<bool> {
        let deadline = self.options.write_deadline;
        let asking = async {
            loop {
                match self.connected().await {
                    Ok(client) => {
                        let ask = Statement::new("SELECT txid_status($1)", [Value::Integer(transaction)]);
                        let status = match one(&client, &ask).await {
                            Ok(mut row) => row.optional_text().ok()?,
                            // Such as a server that never had this transaction.
                            Err(error) if !error.is_transient() => return None,
                            Err(_) => None,
                        };
                        self.client = Some(client);
                        match status.as_deref() {
                            Some("committed") => return Some(true),
                            Some("aborted") => return Some(false),
                            _ => {}
                        }
                    }
                    // Another database answers, which knows nothing of this transaction.
                    Err(StoreError::ChainBroken(_)) => return None,
                    Err(_) => {}
                }
                tokio::time::sleep(ASK_AGAIN).await;
            }
        };
        tokio::time::timeout(deadline, asking).await.ok().flatten()
    }
}

async fn append(
    client: &Connection,
    events: &[&Prepared],
    mut end: Link,
    progress: &mut Progress,
) -> Result<Vec<Link>, StoreError> {
    let before = end.hash;
    let mut links = Vec::with_capacity(events.len());
    for event in events {
        end = end.next(event.time(), event.text());
        links.push(end);
    }
    let seq: Vec<i64> = links.iter().map(|link| i64::try_from(link.seq).unwrap_or(i64::MAX)).collect();
    let hash: Vec<&[u8]> = links.iter().map(|link| link.hash.as_bytes().as_slice()).collect();
    let previous: Vec<&[u8]> =
        std::iter::once(before.as_bytes().as_slice()).chain(hash.iter().copied()).take(links.len()).collect();
    let time: Vec<i64> = events.iter().map(|event| event.time()).collect();
    let event: Vec<&str> = events.iter().map(|event| event.text()).collect();
    let columns: Vec<Columns<'_>> = events.iter().map(|event| event.columns()).collect();
    let column = |of: for<'c> fn(&'c Columns<'_>) -> Option<&'c str>| columns.iter().map(of).collect::<Vec<_>>();
    let event_type = column(|columns| Some(&columns.event_type));
    let actor = column(|columns| Some(&columns.actor));
    let server = column(|columns| columns.server.as_deref());
    let tool = column(|columns| columns.tool.as_deref());
    let trace = column(|columns| columns.trace.as_deref());
    let result = column(|columns| Some(&columns.result));
    let insert = client.prepare(INSERT).await?;
    client
        .client
        .execute(
            &insert,
            &[&seq, &time, &event, &previous, &hash, &event_type, &actor, &server, &tool, &trace, &result],
        )
        .await
        .map_err(translate)?;
    progress.appended(end, time.into_iter());
    Ok(links)
}

/// Several statements are all or nothing, without taking the rest of the group with them.
async fn execute(client: &Connection, statements: &[Statement]) -> Result<Vec<Vec<Row>>, StoreError> {
    client.client.batch_execute("SAVEPOINT work").await.map_err(translate)?;
    let mut answers = Vec::with_capacity(statements.len());
    for statement in statements {
        match run(client, statement).await {
            Ok(answer) => answers.push(answer),
            Err(error) => {
                // If the way back fails the connection is gone, and the first error says why.
                let _ = client.client.batch_execute("ROLLBACK TO work").await;
                return Err(error);
            }
        }
    }
    client.client.batch_execute("RELEASE work").await.map_err(translate)?;
    Ok(answers)
}

async fn run(client: &Connection, statement: &Statement) -> Result<Vec<Row>, StoreError> {
    let prepared = client.prepare(&statement.sql).await?;
    rows(&client.client.query(&prepared, &parameters(statement)).await.map_err(translate)?)
}

async fn one(client: &Connection, statement: &Statement) -> Result<Row, StoreError> {
    let row = run(client, statement).await?.into_iter().next();
    row.ok_or_else(|| StoreError::Corrupt("a row of the audit log is gone".to_owned()))
}
