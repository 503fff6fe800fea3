//! Connections for others who keep tables of their own in the same database: dialled and encrypted like ours.
//!
//! What their tables are is not known here.

use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::connection::translate;
use super::tls;
use crate::StoreError;

/// How a PostgreSQL database is reached. Shows nothing of its URL, which may hold a password.
#[derive(Clone)]
pub struct PostgresDialer {
    config: Config,
    encryption: MakeRustlsConnect,
    patience: Duration,
}

impl std::fmt::Debug for PostgresDialer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("PostgresDialer(…)")
    }
}

impl PostgresDialer {
    /// Reads a URL. Each connection is made within `patience` and begins with `settings` (`-c name=value …`).
    ///
    /// # Errors
    /// The URL cannot be read, or names certificates that cannot.
    pub fn read(url: &str, settings: &str, patience: Duration) -> Result<Self, StoreError> {
        let (mut config, encryption) = tls::read(url)?;
        config.application_name("switchboard").connect_timeout(patience).options(settings);
        Ok(Self { config, encryption, patience })
    }

    /// A new connection. Its other half lives on the runtime of the caller and ends with it.
    ///
    /// # Errors
    /// The server cannot be reached, refuses, or is not who it should be.
    pub async fn dial(&self) -> Result<Client, StoreError> {
        let connecting = tokio::time::timeout(self.patience, self.config.connect(self.encryption.clone()));
        let connected = connecting.await.map_err(|error| StoreError::Unavailable(Arc::new(error)))?;
        let (client, connection) = connected.map_err(|error| match tls::advice(&error) {
            Some(advice) => StoreError::Address(advice),
            None => StoreError::Unavailable(Arc::new(error)),
        })?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the database ended");
            }
        });
        Ok(client)
    }

    /// What an error of such a connection means.
    pub fn explain(error: tokio_postgres::Error) -> StoreError {
        translate(error)
    }
}
