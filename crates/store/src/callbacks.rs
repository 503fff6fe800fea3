//! Callbacks: questions of servers that wait for somebody, and what was answered (MGP 13.4).
//!
//! One who asks and one who answers may be different processes. The first answer stands.

use jiff::Timestamp;
use serde_json::value::RawValue;

use crate::grants::words;
use crate::sql::{Row, Statement, Value};
use crate::store::Tables;
use crate::{Answer, Callbacks, StoreError};

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallbackState {
    /// Nobody has answered.
    Open,
    /// Somebody has.
    Answered,
    /// Nobody need answer any more.
    Closed,
}

words!(CallbackState { Open = "open", Answered = "answered", Closed = "closed" });

/// One question.
#[derive(Debug, Clone)]
pub struct StoredCallback {
    /// What names it.
    pub id: String,
    /// Whose call it is about.
    pub principal: String,
    /// Which server asks.
    pub server: String,
    /// What is asked: `confirmation`, `input`, `selection`, `llm_completion`.
    pub kind: String,
    /// What a person is shown: `message`, `options`.
    pub shown: Box<RawValue>,
    /// Where it stands.
    pub state: CallbackState,
    /// The answer.
    pub answer: Option<Box<RawValue>>,
    /// Who gave it.
    pub answered_by: Option<String>,
    /// When it was asked.
    pub created_at: Timestamp,
    /// Until when it can be answered.
    pub expires_at: Timestamp,
}

const COLUMNS: &str = "id, principal, server, kind, shown, state, answer, answered_by, created_at, expires_at";

impl Callbacks for Tables {
    fn open<'a>(&'a self, callback: &'a StoredCallback) -> Answer<'a, ()> {
        let open = Statement::new(
            format!("INSERT INTO callbacks ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, 'open', NULL, NULL, $6, $7)"),
            [
                Value::from(&callback.id),
                Value::from(&callback.principal),
                Value::from(&callback.server),
                Value::from(&callback.kind),
                (&*callback.shown).into(),
                callback.created_at.into(),
                callback.expires_at.into(),
            ],
        );
        Box::pin(async move { self.engine.write(vec![open]).await.map(drop) })
    }

    fn get<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredCallback>> {
        let get = Statement::new(format!("SELECT {COLUMNS} FROM callbacks WHERE id = $1"), [id.into()]);
        Box::pin(async move { self.engine.read(get).await?.into_iter().next().map(read).transpose() })
    }

    fn pending(&self, now: Timestamp, limit: usize) -> Answer<'_, Vec<StoredCallback>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let pending = Statement::new(
            format!(
                "SELECT {COLUMNS} FROM callbacks WHERE state = 'open' AND expires_at > $1 \
                 ORDER BY created_at, id LIMIT $2"
            ),
            [now.into(), limit.into()],
        );
        Box::pin(async move { self.engine.read(pending).await?.into_iter().map(read).collect() })
    }

    fn answer<'a>(
        &'a self,
        id: &'a str,
        answer: &'a RawValue,
        by: &'a str,
        now: Timestamp,
    ) -> Answer<'a, Option<StoredCallback>> {
        let answered = Statement::new(
            format!(
                "UPDATE callbacks SET state = 'answered', answer = $1, answered_by = $2 \
                 WHERE id = $3 AND state = 'open' AND expires_at > $4 RETURNING {COLUMNS}"
            ),
            [answer.into(), by.into(), id.into(), now.into()],
        );
        Box::pin(async move {
            let answers = self.engine.write(vec![answered]).await?;
            answers.into_iter().next().and_then(|rows| rows.into_iter().next()).map(read).transpose()
        })
    }

    fn close<'a>(&'a self, id: &'a str) -> Answer<'a, ()> {
        let close =
            Statement::new("UPDATE callbacks SET state = 'closed' WHERE id = $1 AND state = 'open'", [id.into()]);
        Box::pin(async move { self.engine.write(vec![close]).await.map(drop) })
    }

    fn expire(&self, before: Timestamp) -> Answer<'_, usize> {
        let expire = Statement::new("DELETE FROM callbacks WHERE expires_at <= $1 RETURNING id", [before.into()]);
        Box::pin(async move {
            let answers = self.engine.write(vec![expire]).await?;
            Ok(answers.into_iter().next().map_or(0, |rows| rows.len()))
        })
    }
}

fn read(mut row: Row) -> Result<StoredCallback, StoreError> {
    let corrupt = || StoreError::Corrupt("a callback shows nothing".to_owned());
    Ok(StoredCallback {
        id: row.text()?,
        principal: row.text()?,
        server: row.text()?,
        kind: row.text()?,
        shown: row.json()?.ok_or_else(corrupt)?,
        state: row.word(CallbackState::from_word)?,
        answer: row.json()?,
        answered_by: row.optional_text()?,
        created_at: row.time()?,
        expires_at: row.time()?,
    })
}
