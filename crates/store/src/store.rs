//! The store as its users see it: open by path or URL, take the nouns, close.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;

use crate::sql::{Engine, Statement};
use crate::sqlite::Sqlite;
use crate::{Approvals, AuditLog, Callbacks, Credentials, Grants, Operations, Options, Pins, StoreError, Tokens};

/// Where a store is.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// A SQLite database in this file.
    File(PathBuf),
    /// A PostgreSQL database. The URL may hold a password, so it is never shown.
    Postgres(String),
}

impl FromStr for Location {
    type Err = StoreError;

    /// `postgres://…` and `postgresql://…` are PostgreSQL, `sqlite:PATH` and anything without a scheme is a file.
    fn from_str(address: &str) -> Result<Self, StoreError> {
        if address.starts_with("postgres://") || address.starts_with("postgresql://") {
            return Ok(Self::Postgres(address.to_owned()));
        }
        let path = address.strip_prefix("sqlite:").unwrap_or(address);
        let path = path.strip_prefix("//").unwrap_or(path);
        match address.split_once("://") {
            Some((scheme, _)) if scheme != "sqlite" => {
                Err(StoreError::Address(format!("{scheme} is no engine; use a path or postgres://")))
            }
            _ if path.is_empty() => Err(StoreError::Address("the path is empty".to_owned())),
            _ => Ok(Self::File(PathBuf::from(path))),
        }
    }
}

impl std::fmt::Debug for Location {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(formatter, "File({})", path.display()),
            Self::Postgres(_) => formatter.write_str("Postgres(…)"),
        }
    }
}

/// The nouns over an engine.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) engine: Arc<dyn Engine>,
}

/// An open store. Cheap to clone; all clones are the same store.
#[derive(Debug, Clone)]
pub struct Store {
    tables: Arc<Tables>,
}

impl Store {
    /// Opens a store, making and migrating it if needed.
    ///
    /// Refused: files that others may write, a schema of a later version, and an audit chain that does not continue
    /// where its signed heads say it should.
    pub async fn open(location: &Location, options: Options) -> Result<Self, StoreError> {
        let engine: Arc<dyn Engine> = match location {
            Location::File(path) => Arc::new(Sqlite::open(path.clone(), options).await?),
            #[cfg(feature = "postgres")]
            Location::Postgres(url) => Arc::new(crate::postgres::Postgres::open(url, options).await?),
            #[cfg(not(feature = "postgres"))]
            Location::Postgres(_) => {
                return Err(StoreError::Address("this build has no PostgreSQL".to_owned()));
            }
        };
        Ok(Self { tables: Arc::new(Tables { engine }) })
    }

    /// The audit log.
    pub fn audit(&self) -> &dyn AuditLog {
        &*self.tables
    }

    /// Permissions and access entries.
    pub fn grants(&self) -> &dyn Grants {
        &*self.tables
    }

    /// Accepted tool definitions.
    pub fn pins(&self) -> &dyn Pins {
        &*self.tables
    }

    /// Calls that wait for a human.
    pub fn approvals(&self) -> &dyn Approvals {
        &*self.tables
    }

    /// Bearer tokens.
    pub fn tokens(&self) -> &dyn Tokens {
        &*self.tables
    }

    /// Credentials for other people's servers.
    pub fn credentials(&self) -> &dyn Credentials {
        &*self.tables
    }

    /// Operations that clients can go on with.
    pub fn operations(&self) -> &dyn Operations {
        &*self.tables
    }

    /// Questions of servers that wait for somebody.
    pub fn callbacks(&self) -> &dyn Callbacks {
        &*self.tables
    }

    /// A path beside the evidence of the audit log, for a file of whoever uses this store.
    #[must_use]
    pub fn beside(&self, ending: &str) -> PathBuf {
        self.tables.engine.evidence().beside(ending)
    }

    /// The public key with which this store signs heads, for those who keep heads elsewhere.
    pub fn audit_key(&self) -> &str {
        self.tables.engine.evidence().key.public()
    }

    /// Remembers the latest time ever seen and returns it: after a clock went back, what was expired stays expired for
    /// whoever evaluates at the returned time.
    pub async fn latest_time(&self, now: Timestamp) -> Result<Timestamp, StoreError> {
        let observe = Statement::new(
            "INSERT INTO counters (name, number) VALUES ('latest_time', $1) ON CONFLICT (name) DO UPDATE SET \
             number = CASE WHEN excluded.number > counters.number THEN excluded.number ELSE counters.number END \
             RETURNING number",
            [now.into()],
        );
        let rows = self.tables.engine.write(vec![observe]).await?;
        rows.into_iter().flatten().next().map_or(Ok(now), |mut row| row.time())
    }

    /// The latest time that was ever remembered. Writes nothing.
    pub async fn remembered_time(&self) -> Result<Option<Timestamp>, StoreError> {
        let ask = Statement::new("SELECT number FROM counters WHERE name = 'latest_time'", []);
        let rows = self.tables.engine.read(ask).await?;
        rows.into_iter().next().map(|mut row| row.time()).transpose()
    }

    /// Whether the store takes writes: it is open for writing, and was not closed.
    #[must_use]
    pub fn takes_writes(&self) -> bool {
        self.tables.engine.queue().is_some_and(|queue| queue.is_open())
    }

    /// Finishes the writes that wait and closes the store. Later writes are refused.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.tables.engine.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_their_engine() {
        let file = |path: &str| Some(Location::File(path.into()));
        let cases = [
            ("data/store.db", file("data/store.db")),
            ("/var/lib/store.db", file("/var/lib/store.db")),
            ("sqlite:store.db", file("store.db")),
            ("sqlite:///var/store.db", file("/var/store.db")),
            ("postgres://me@db/x", Some(Location::Postgres("postgres://me@db/x".to_owned()))),
            ("postgresql:///x", Some(Location::Postgres("postgresql:///x".to_owned()))),
            ("mysql://db/x", None),
            ("sqlite:", None),
            ("", None),
        ];
        for (address, expected) in cases {
            assert_eq!(address.parse::<Location>().ok(), expected, "{address}");
        }
    }

    #[test]
    fn a_password_in_the_url_is_not_shown() {
        let location: Location = "postgres://me:secret@db/x".parse().unwrap();
        assert!(!format!("{location:?}").contains("secret"));
    }
}
