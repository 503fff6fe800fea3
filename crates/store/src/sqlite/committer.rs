//! The writer: one transaction per group, the chain continued inside it, the evidence written after it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use rusqlite::Connection;

use super::connection::{is_local, run, translate};
use super::insert::Insert;
use crate::audit::evidence::{Evidence, Ledger, Progress};
use crate::audit::once::Once;
use crate::audit::{Head, HeadKind, Link, Prepared, tables};
use crate::sql::queue::{Committer, Done, Work};
use crate::sql::{Row, Statement};
use crate::{Boundary, Options, StoreError, private};

/// Owns the connection that writes.
#[derive(Debug)]
pub(super) struct Writer {
    connection: Connection,
    file: DatabaseFile,
    ledger: Ledger,
    evidence: Arc<Evidence>,
    options: Options,
    insert: Insert,
}

/// The file of the database, as it was when it was opened. SQLite goes on writing to a file that nobody can find any
/// more; what is written there is gone with the process.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
    /// What is damaged in it, once that was found.
    damage: Arc<OnceLock<String>>,
}

impl DatabaseFile {
    pub(super) fn of(path: &Path, damage: Arc<OnceLock<String>>) -> Result<Self, StoreError> {
        let found = fs::metadata(path).map_err(private::failed("find", path))?;
        Ok(Self { path: path.to_owned(), identity: (found.dev(), found.ino()), damage })
    }

    fn check(&self) -> Result<(), StoreError> {
        if let Some(damage) = self.damage.get() {
            return Err(StoreError::Corrupt(damage.clone()));
        }
        let found = fs::metadata(&self.path).map(|found| (found.dev(), found.ino()));
        if found.is_ok_and(|found| found == self.identity) { Ok(()) } else { Err(StoreError::Gone(self.path.clone())) }
    }
}

impl Writer {
    pub(super) fn new(
        (connection, file): (Connection, DatabaseFile),
        ledger: Ledger,
        evidence: Arc<Evidence>,
        options: Options,
    ) -> Self {
        Self { connection, file, ledger, evidence, options, insert: Insert::new() }
    }

    /// Does one piece of work, or several appends.
    fn write(&self, works: &[Work], progress: &mut Progress) -> Result<Vec<Done>, StoreError> {
        match works {
            [Work::Execute(statements)] => Ok(vec![Done::Executed(self.execute(statements)?)]),
            [Work::Seal(now)] => {
                let end = self.end(progress)?;
                Ok(vec![self.sign(HeadKind::Grown, end, *now, progress)?])
            }
            [Work::Prune { through, now }] => {
                // Before its record may go: nobody else may remove that.
                progress.end = Some(self.end(progress)?);
                let hash = self.one(&tables::hash_at(*through))?.digest()?;
                self.run(&tables::remove_through(*through))?;
                Ok(vec![self.sign(HeadKind::Pruned, Link { seq: *through, hash }, *now, progress)?])
            }
            [Work::AppendOnce { events, after }] => {
                let mut once = Once::new(events, *after);
                while let Some(page) = once.page() {
                    if !once.look(self.run(&page)?)? {
                        break;
                    }
                }
                let missing = once.missing();
                let added = if missing.is_empty() { Vec::new() } else { self.add(&missing, progress)? };
                Ok(vec![Done::Appended(once.finish(added)?)])
            }
            appends => self.append(appends, progress),
        }
    }

    fn add(&self, events: &[&Prepared], progress: &mut Progress) -> Result<Vec<Link>, StoreError> {
        let end = self.end(progress)?;
        let links = self.insert.run(&self.connection, events, end)?;
        progress.appended(links.last().copied().unwrap_or(end), events.iter().map(|event| event.time()));
        Ok(links)
    }

    /// Adds the events of all callers together, and tells each of its own.
    fn append(&self, appends: &[Work], progress: &mut Progress) -> Result<Vec<Done>, StoreError> {
        let events: Vec<&Prepared> = appends.iter().flat_map(Work::events).collect();
        let mut links = self.add(&events, progress)?.into_iter();
        let own = |append: &Work| Done::Appended(links.by_ref().take(append.events().len()).collect());
        Ok(appends.iter().map(own).collect())
    }

    /// Several statements are all or nothing, without taking the rest of the group with them.
    fn execute(&self, statements: &[Statement]) -> Result<Vec<Vec<Row>>, StoreError> {
        self.connection.execute_batch("SAVEPOINT work").map_err(translate)?;
        let answers: Result<Vec<_>, _> = statements.iter().map(|statement| self.run(statement)).collect();
        let end = if answers.is_ok() { "RELEASE work" } else { "ROLLBACK TO work; RELEASE work" };
        match self.connection.execute_batch(end).map_err(translate) {
            // The error that began it says more than the failed way back.
            Err(error) if answers.is_ok() => Err(error),
            _ => answers,
        }
    }

    fn sign(&self, kind: HeadKind, link: Link, now: Timestamp, progress: &mut Progress) -> Result<Done, StoreError> {
        let head = Head::sign(kind, link, now, &self.evidence.key);
        self.run(&tables::insert_head(&head))?;
        progress.head = Some(head.clone());
        Ok(Done::Signed(head))
    }

    /// The end of the chain: from the database, because another process may have appended.
    fn end(&self, progress: &Progress) -> Result<Link, StoreError> {
        match progress.end {
            Some(end) => Ok(end),
            None => {
                let (tip, is_there) = tables::read_end(self.one(&Statement::new(tables::TIP, []))?)?;
                if !is_there {
                    let kept = self.run(&tables::pruned_through(tip.seq))?;
                    tables::may_be_empty(tip, kept, &self.evidence, false)?;
                }
                if let Some(seq) = self.ledger.follows(tip)? {
                    let hash = self.run(&tables::hash_at(seq))?.into_iter().next().map(|mut row| row.digest());
                    self.ledger.agrees(hash.transpose()?)?;
                }
                Ok(tip)
            }
        }
    }

    fn run(&self, statement: &Statement) -> Result<Vec<Row>, StoreError> {
        run(&self.connection, statement).map_err(translate)
    }

    fn one(&self, statement: &Statement) -> Result<Row, StoreError> {
        let row = self.run(statement)?.into_iter().next();
        row.ok_or_else(|| StoreError::Corrupt("a row of the audit log is gone".to_owned()))
    }
}

impl Committer for Writer {
    fn commit(&mut self, group: &[Work]) -> Result<Vec<Result<Done, StoreError>>, StoreError> {
        self.file.check()?;
        let mut progress = Progress::default();
        let results = in_transaction(&self.connection, |_| {
            let mut results = Vec::with_capacity(group.len());
            let are_appends = |one: &Work, other: &Work| matches!((one, other), (Work::Append(_), Work::Append(_)));
            for works in group.chunk_by(are_appends) {
                match self.write(works, &mut progress) {
                    Ok(done) => results.extend(done.into_iter().map(Ok)),
                    Err(error) if is_local(&error) && matches!(works, [Work::Execute(_)]) => results.push(Err(error)),
                    // An append that failed half way has left rows behind: the group cannot stand.
                    Err(error) => return Err(error),
                }
            }
            if let (Some(end), Some(time)) = (progress.end, progress.time) {
                self.run(&tables::set_tip(end))?;
                if progress.head.is_none()
                    && let Some(head) = self.ledger.due(end, time, &self.evidence)
                {
                    self.run(&tables::insert_head(&head))?;
                    progress.head = Some(head);
                }
            }
            self.options.pass(Boundary::BeforeCommit)?;
            Ok(results)
        })?;
        let passed = self.options.pass(Boundary::AfterCommit);
        self.ledger.follow(progress, &self.evidence);
        self.options.reached(Boundary::AfterHeads);
        passed.map(|()| results)
    }
}

/// Runs in one immediate transaction, and leaves none open whatever happens.
pub(super) fn in_transaction<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    connection.execute_batch("BEGIN IMMEDIATE").map_err(translate)?;
    let result = work(connection).and_then(|done| {
        connection.execute_batch("COMMIT").map_err(translate)?;
        Ok(done)
    });
    // Some errors, a full disk among them, have ended the transaction already.
    if result.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    result
}
