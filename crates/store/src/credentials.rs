//! Credentials for other people's servers: per server and principal, sealed before they come here.

use std::fmt;

use jiff::Timestamp;

use crate::sql::{Row, Statement, Value};
use crate::store::Tables;
use crate::{Answer, Credentials, StoreError};

/// Bytes of one sealed credential at most.
const MAX_CREDENTIAL_BYTES: usize = 256 * 1024;

/// One credential.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    /// The server it is for.
    pub server: String,
    /// Whose it is.
    pub principal: String,
    /// What it is, among those of one principal for one server.
    pub slot: String,
    /// The secret, sealed. This crate has no key to it.
    pub sealed: Vec<u8>,
    /// When it was kept.
    pub updated_at: Timestamp,
}

impl fmt::Debug for Credential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Credential")
            .field("server", &self.server)
            .field("principal", &self.principal)
            .finish_non_exhaustive()
    }
}

const COLUMNS: &str = "server, principal, slot, sealed, updated_at";

impl Credentials for Tables {
    fn put<'a>(&'a self, credential: &'a Credential) -> Answer<'a, ()> {
        let Credential { server, principal, slot, sealed, updated_at } = credential;
        let put = Statement::new(
            format!(
                "INSERT INTO credentials ({COLUMNS}) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (server, principal, slot) \
                 DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at"
            ),
            [server.into(), principal.into(), slot.into(), Value::Bytes(sealed.clone()), (*updated_at).into()],
        );
        Box::pin(async move {
            if sealed.len() > MAX_CREDENTIAL_BYTES {
                return Err(StoreError::TooLarge {
                    what: "a credential",
                    size: sealed.len(),
                    limit: MAX_CREDENTIAL_BYTES,
                });
            }
            self.engine.write(vec![put, bump()]).await.map(drop)
        })
    }

    fn revision(&self) -> Answer<'_, u64> {
        let revision = Statement::new("SELECT number FROM counters WHERE name = 'credentials'", []);
        Box::pin(async move {
            let rows = self.engine.read(revision).await?;
            rows.into_iter().next().map_or(Ok(0), |mut row| row.sequence())
        })
    }

    fn of<'a>(&'a self, server: &'a str, principal: &'a str) -> Answer<'a, Vec<Credential>> {
        let sql = format!("SELECT {COLUMNS} FROM credentials WHERE server = $1 AND principal = $2 ORDER BY slot");
        let statement = Statement::new(sql, [server.into(), principal.into()]);
        Box::pin(async move { self.engine.read(statement).await?.into_iter().map(read).collect() })
    }

    fn list(&self) -> Answer<'_, Vec<Credential>> {
        let sql = format!("SELECT {COLUMNS} FROM credentials ORDER BY server, principal, slot");
        let statement = Statement::new(sql, []);
        Box::pin(async move { self.engine.read(statement).await?.into_iter().map(read).collect() })
    }

    fn remove<'a>(&'a self, server: &'a str, principal: &'a str, slot: &'a str) -> Answer<'a, bool> {
        let sql = "DELETE FROM credentials WHERE server = $1 AND principal = $2 AND slot = $3 RETURNING slot";
        let statement = Statement::new(sql, [server.into(), principal.into(), slot.into()]);
        Box::pin(
            async move { Ok(self.engine.write(vec![statement, bump()]).await?.iter().any(|rows| !rows.is_empty())) },
        )
    }

    fn forget<'a>(&'a self, server: &'a str, principal: Option<&'a str>) -> Answer<'a, usize> {
        let condition = if principal.is_some() { " AND principal = $2" } else { "" };
        let sql = format!("DELETE FROM credentials WHERE server = $1{condition} RETURNING slot");
        let forget = Statement::new(sql, [server].into_iter().chain(principal).map(Value::from));
        Box::pin(async move { Ok(self.engine.write(vec![forget, bump()]).await?.iter().map(Vec::len).sum()) })
    }
}

/// In the transaction of the change, so that nobody sees one without the other.
fn bump() -> Statement {
    Statement::new(
        "INSERT INTO counters (name, number) VALUES ('credentials', 1) \
         ON CONFLICT (name) DO UPDATE SET number = counters.number + 1",
        [],
    )
}

fn read(mut row: Row) -> Result<Credential, StoreError> {
    Ok(Credential {
        server: row.text()?,
        principal: row.text()?,
        slot: row.text()?,
        sealed: row.bytes()?,
        updated_at: row.time()?,
    })
}
