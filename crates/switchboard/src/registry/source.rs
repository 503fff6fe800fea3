//! A copy of a registry that the kernel searches: read as a whole, now and then, so that the registry does not learn what
//! anybody looks for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard_kernel::{KnownServer, ServerSource};
use switchboard_peer::BoxFuture;
use tokio::sync::Mutex;

use super::document::Document;
use super::reader::Reader;

/// How long a copy is good, and how long a failure is.
const FRESH: Duration = Duration::from_hours(1);
const RETRY_PAUSE: Duration = Duration::from_secs(60);
/// Characters of a description that are kept.
const MAX_DESCRIPTION_CHARS: usize = 500;

/// A registry of the configuration.
pub(crate) struct Registry {
    reader: Reader,
    copy: Mutex<Option<(Instant, Copied)>>,
}

type Copied = Result<Arc<Vec<KnownServer>>, String>;

impl Registry {
    pub(crate) fn new(reader: Reader) -> Self {
        Self { reader, copy: Mutex::default() }
    }

    async fn read(&self) -> Copied {
        let listed = self.reader.list().await.map_err(|error| error.to_string())?;
        if listed.cut {
            tracing::warn!(
                registry = self.reader.address(),
                read = listed.servers.len(),
                "the registry has more servers"
            );
        }
        let deleted = |server: &&Document| server.status.as_deref() == Some("deleted");
        let known = |server: &Document| KnownServer {
            name: crate::screen::brief(&server.name, MAX_DESCRIPTION_CHARS),
            description: crate::screen::brief(&described(server), MAX_DESCRIPTION_CHARS),
            address: self.reader.page_of(&server.name),
            auth_flow: server.auth_flow(),
        };
        Ok(Arc::new(listed.servers.iter().filter(|server| !deleted(server)).map(known).collect()))
    }
}

/// What a server is for, in its author's words.
pub(crate) fn described(server: &Document) -> String {
    match &server.title {
        Some(title) if !server.description.contains(title.as_str()) => format!("{title}: {}", server.description),
        _ => server.description.clone(),
    }
}

impl ServerSource for Registry {
    fn address(&self) -> &str {
        self.reader.address()
    }

    fn servers(&self) -> BoxFuture<'_, Result<Arc<Vec<KnownServer>>, String>> {
        Box::pin(async move {
            let mut copy = self.copy.lock().await;
            if let Some((read, copied)) = copy.as_ref() {
                let good = if copied.is_ok() { FRESH } else { RETRY_PAUSE };
                if read.elapsed() < good {
                    return copied.clone();
                }
            }
            let copied = self.read().await;
            // An old copy is better than none.
            let kept = match (&copied, copy.take()) {
                (Err(_), Some((_, Ok(old)))) => Ok(old),
                _ => copied,
            };
            *copy = Some((Instant::now(), kept.clone()));
            kept
        })
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("address", &self.reader.address()).finish_non_exhaustive()
    }
}
