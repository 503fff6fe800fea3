//! Operations: calls that a client can go on with after a lost connection or a restart (proposal 8).
//!
//! What was asked is known by its hash only; what came of it is kept until it expires.

use std::fmt;

use jiff::Timestamp;
use serde_json::value::RawValue;

use crate::grants::words;
use crate::sql::{Row, Statement, Value};
use crate::store::Tables;
use crate::{Answer, Digest, Operations, StoreError};

/// Where an operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationState {
    /// It was begun. Whether it still runs is known to who runs it.
    Running,
    /// It brought a result.
    Done,
    /// It brought none.
    Failed,
}

words!(OperationState { Running = "running", Done = "done", Failed = "failed" });

/// One operation.
#[derive(Clone)]
pub struct Operation {
    /// What names it.
    pub id: String,
    /// Whose it is.
    pub principal: String,
    /// The server that was called.
    pub server: String,
    /// The tool, by the server's own name.
    pub tool: String,
    /// The hash of the arguments.
    pub arguments: Digest,
    /// What its checkpoint tokens are signed with.
    pub key: Vec<u8>,
    /// Where it stands.
    pub state: OperationState,
    /// What it brought, where that is kept.
    pub result: Option<Box<RawValue>>,
    /// When it was begun.
    pub created_at: Timestamp,
    /// Until when one can go on with it.
    pub expires_at: Timestamp,
}

impl fmt::Debug for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Operation")
            .field("id", &self.id)
            .field("principal", &self.principal)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

const COLUMNS: &str = "id, principal, server, tool, arguments, key, state, result, created_at, expires_at";

impl Operations for Tables {
    fn begin<'a>(&'a self, operation: &'a Operation) -> Answer<'a, ()> {
        let begin = Statement::new(
            format!(
                "INSERT INTO operations ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
                 ON CONFLICT (id) DO UPDATE SET principal = excluded.principal, server = excluded.server, \
                 tool = excluded.tool, arguments = excluded.arguments, key = excluded.key, state = excluded.state, \
                 result = excluded.result, expires_at = excluded.expires_at"
            ),
            [
                Value::from(&operation.id),
                Value::from(&operation.principal),
                Value::from(&operation.server),
                Value::from(&operation.tool),
                operation.arguments.into(),
                Value::Bytes(operation.key.clone()),
                operation.state.as_str().into(),
                operation.result.as_deref().into(),
                operation.created_at.into(),
                operation.expires_at.into(),
            ],
        );
        Box::pin(async move { self.engine.write(vec![begin]).await.map(drop) })
    }

    fn finish<'a>(
        &'a self,
        id: &'a str,
        state: OperationState,
        result: Option<&'a RawValue>,
        expires_at: Timestamp,
    ) -> Answer<'a, ()> {
        let finish = Statement::new(
            "UPDATE operations SET state = $1, result = $2, expires_at = $3 WHERE id = $4",
            [state.as_str().into(), result.into(), expires_at.into(), id.into()],
        );
        Box::pin(async move { self.engine.write(vec![finish]).await.map(drop) })
    }

    fn get<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Operation>> {
        let get = Statement::new(format!("SELECT {COLUMNS} FROM operations WHERE id = $1"), [id.into()]);
        Box::pin(async move { self.engine.read(get).await?.into_iter().next().map(read).transpose() })
    }

    fn expire(&self, now: Timestamp) -> Answer<'_, usize> {
        let expire = Statement::new("DELETE FROM operations WHERE expires_at <= $1 RETURNING id", [now.into()]);
        Box::pin(async move {
            let answers = self.engine.write(vec![expire]).await?;
            Ok(answers.into_iter().next().map_or(0, |rows| rows.len()))
        })
    }
}

fn read(mut row: Row) -> Result<Operation, StoreError> {
    Ok(Operation {
        id: row.text()?,
        principal: row.text()?,
        server: row.text()?,
        tool: row.text()?,
        arguments: row.digest()?,
        key: row.bytes()?,
        state: row.word(OperationState::from_word)?,
        result: row.json()?,
        created_at: row.time()?,
        expires_at: row.time()?,
    })
}
