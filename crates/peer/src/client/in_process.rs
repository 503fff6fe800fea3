//! Servers inside this process: a handler at the far end of a pair of pipes in memory.
//!
//! The handshake and everything after it are those of a process, so whoever routes calls sees no difference. In whose name
//! the connection is, is said here and not in messages: nobody can claim to be somebody else.

use std::sync::Arc;
use std::time::Duration;

use super::stdio::{self, Opening};
use super::{ConnectError, ConnectOptions, Connected, Disorder, Stopper};
use crate::duplex::{self, Role, Started};
use crate::{BoxFuture, Handler};

/// Bytes that may be on their way in each direction.
const PIPE: usize = 256 << 10;
/// How long the server's end may take to finish what runs.
const LINGER: Duration = Duration::from_secs(5);

pub(super) async fn connect(
    server: Arc<dyn Handler>,
    options: ConnectOptions,
    handler: Arc<dyn Handler>,
) -> Result<Connected, ConnectError> {
    let opening = Opening::first(&options);
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let (reader, writer) = tokio::io::split(theirs);
    let mut settings = duplex::DuplexOptions::new(Role::Server);
    settings.limits = options.limits.clone();
    if let Some(principal) = &options.principal {
        settings.principal = principal.clone();
    }
    let far = duplex::start(reader, writer, settings, server);
    let (reader, writer) = tokio::io::split(ours);
    let wire = stdio::start(reader, writer, &options, handler);
    let pair = Pair { near: wire, far };
    // Dropping the pair, on the way out or when this is given up, ends both ends.
    let (revision, profile) = stdio::agree(&pair.near, &options, opening).await?;
    let pair = Arc::new(pair);
    Ok(stdio::connected(&pair.near, &options, revision, profile, pair.clone(), None))
}

struct Pair {
    near: Started,
    far: Started,
}

impl Pair {
    fn close(&self) {
        self.near.connection.close();
        self.far.connection.close();
    }
}

impl Stopper for Pair {
    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.close();
            let _ = tokio::time::timeout(LINGER, self.far.finished.cancelled()).await;
        })
    }

    fn disorder(&self) -> Disorder {
        self.near.connection.stats().into()
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.close();
    }
}
