//! Bearer tokens: who they stand for, for how long, and only their hash.

use std::fmt;

use jiff::Timestamp;
use serde_json::value::RawValue;

use crate::sql::{Row, Statement, Value};
use crate::store::Tables;
use crate::{Answer, Digest, StoreError, Tokens};

/// A token to be recorded.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// SHA-256 of the secret. The secret itself is shown once to its owner and kept nowhere.
    pub hash: Digest,
    /// A name for people, unique among tokens that are not revoked.
    pub name: String,
    /// Whom it stands for.
    pub principal: String,
    /// What it is good for, as it was given; `None` for everything that the principal may.
    pub scopes: Option<Box<RawValue>>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when it is good.
    pub expires_at: Option<Timestamp>,
}

/// A token that is on record.
#[derive(Clone)]
pub struct Token {
    /// SHA-256 of the secret.
    pub hash: Digest,
    /// A name for people.
    pub name: String,
    /// Whom it stands for.
    pub principal: String,
    /// What it is good for.
    pub scopes: Option<Box<RawValue>>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when it is good.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, roughly.
    pub last_used_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl Token {
    /// Whether the token is good at this time: neither revoked nor expired. It is expired at the very instant.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Token")
            .field("name", &self.name)
            .field("principal", &self.principal)
            .finish_non_exhaustive()
    }
}

const COLUMNS: &str = "hash, name, principal, scopes, created_at, expires_at, last_used_at, revoked_at";

impl Tokens for Tables {
    fn issue<'a>(&'a self, token: &'a NewToken) -> Answer<'a, Token> {
        let issue = Statement::new(
            format!("INSERT INTO tokens ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, NULL, NULL) RETURNING {COLUMNS}"),
            [
                token.hash.into(),
                Value::from(&token.name),
                Value::from(&token.principal),
                token.scopes.as_deref().into(),
                token.created_at.into(),
                token.expires_at.into(),
            ],
        );
        Box::pin(async move {
            let answers = self.engine.write(vec![issue, bump()]).await?;
            let row = answers.into_iter().next().and_then(|rows| rows.into_iter().next());
            read(row.ok_or_else(|| StoreError::Corrupt("a token was not kept".to_owned()))?)
        })
    }

    fn find(&self, hash: Digest) -> Answer<'_, Option<Token>> {
        let find = Statement::new(format!("SELECT {COLUMNS} FROM tokens WHERE hash = $1"), [hash.into()]);
        Box::pin(async move { self.engine.read(find).await?.into_iter().next().map(read).transpose() })
    }

    fn list(&self) -> Answer<'_, Vec<Token>> {
        let list = Statement::new(format!("SELECT {COLUMNS} FROM tokens ORDER BY created_at, name"), []);
        Box::pin(async move { self.engine.read(list).await?.into_iter().map(read).collect() })
    }

    fn touch(&self, hash: Digest, now: Timestamp) -> Answer<'_, ()> {
        let touch = Statement::new("UPDATE tokens SET last_used_at = $1 WHERE hash = $2", [now.into(), hash.into()]);
        Box::pin(async move { self.engine.write(vec![touch]).await.map(drop) })
    }

    fn revoke<'a>(&'a self, name: &'a str, now: Timestamp) -> Answer<'a, Option<Token>> {
        let revoke = Statement::new(
            format!("UPDATE tokens SET revoked_at = $1 WHERE name = $2 AND revoked_at IS NULL RETURNING {COLUMNS}"),
            [now.into(), name.into()],
        );
        Box::pin(async move {
            let answers = self.engine.write(vec![revoke, bump()]).await?;
            answers.into_iter().next().and_then(|rows| rows.into_iter().next()).map(read).transpose()
        })
    }

    fn revision(&self) -> Answer<'_, u64> {
        let revision = Statement::new("SELECT number FROM counters WHERE name = 'tokens'", []);
        Box::pin(async move {
            let rows = self.engine.read(revision).await?;
            rows.into_iter().next().map_or(Ok(0), |mut row| row.sequence())
        })
    }
}

/// In the transaction of the change, so that nobody sees one without the other.
fn bump() -> Statement {
    Statement::new(
        "INSERT INTO counters (name, number) VALUES ('tokens', 1) \
         ON CONFLICT (name) DO UPDATE SET number = counters.number + 1",
        [],
    )
}

fn read(mut row: Row) -> Result<Token, StoreError> {
    Ok(Token {
        hash: row.digest()?,
        name: row.text()?,
        principal: row.text()?,
        scopes: row.json()?,
        created_at: row.time()?,
        expires_at: row.optional_time()?,
        last_used_at: row.optional_time()?,
        revoked_at: row.optional_time()?,
    })
}
