//! Servers that listen on a Unix socket: the lines of stdio, without a process of ours.

use std::sync::Arc;

use tokio::net::UnixStream;

use super::stdio::{self, ConnectionStopper, Opening};
use super::{ConnectError, ConnectOptions, Connected};
use crate::Handler;

/// Connects to the socket at `path`, which may be written as an address is, with slashes in front.
pub(super) async fn connect(
    path: String,
    options: ConnectOptions,
    handler: Arc<dyn Handler>,
) -> Result<Connected, ConnectError> {
    let path = match path.strip_prefix("//") {
        Some(rest) => rest.to_owned(),
        None => path,
    };
    let first = Opening::first(&options);
    let outcome = attempt(&path, &options, handler.clone(), first).await;
    match outcome.as_ref().err().and_then(|error| first.instead(error, &options)) {
        Some(other) => attempt(&path, &options, handler, other).await,
        None => outcome,
    }
}

async fn attempt(
    path: &str,
    options: &ConnectOptions,
    handler: Arc<dyn Handler>,
    opening: Opening,
) -> Result<Connected, ConnectError> {
    let stream = UnixStream::connect(path).await;
    let stream =
        stream.map_err(|error| ConnectError::Nowhere(format!("nothing answers at the socket {path}: {error}")))?;
    let (reader, writer) = stream.into_split();
    let wire = stdio::start(reader, writer, options, handler);
    // Dropped on the way out, it ends the connection.
    let line = Arc::new(ConnectionStopper(wire.connection.clone()));
    let (revision, profile) = stdio::agree(&wire, options, opening).await?;
    Ok(stdio::connected(&wire, options, revision, profile, line, None))
}
