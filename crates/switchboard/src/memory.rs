//! The memory as one of the kernel's servers, inside of this process: whether it is wanted, where it keeps what, and what
//! the kernel is told of it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_config::{Loaded, MemorySharing, Secret};
use switchboard_contextgraph::store::Stores;
use switchboard_contextgraph::{MemoryOptions, MemoryServer, PostgresStores, Principals, SqliteStores};
use switchboard_kernel::{OWNER, Restart, ServerPolicy, ServerSpec, Sharing, Upkeep};
use switchboard_peer::client::{EraChoice, Target};
use switchboard_protocol::mgp::TrustLevel;
use switchboard_store::Location;

use crate::failure::{Failure, chain};

/// Its id among the servers.
pub(crate) const ID: &str = "memory";
/// The name of its database in the data folder.
const FILE: &str = "memory.db";

/// What a call of it may take however short the configuration has it for servers.
const LEAST_CALL_TIMEOUT: Duration = Duration::from_secs(55);

/// A memory that runs in this process.
#[derive(Debug)]
pub(crate) struct BuiltIn {
    server: MemoryServer,
    /// What the kernel is told of it.
    pub(crate) spec: ServerSpec,
}

/// Whether the memory is one of the servers: if the configuration says so, or if there is no configuration at all.
pub(crate) fn wanted(loaded: &Loaded) -> bool {
    let named = loaded.config.servers.iter().any(|server| server.id() == ID);
    !named && loaded.config.settings.memory.enabled.unwrap_or(loaded.files.is_empty())
}

/// That a configured server has the name of the memory, which therefore is not served although the file wants it.
pub(crate) fn stood_in_for(loaded: &Loaded) -> Option<String> {
    let server = loaded.config.servers.iter().find(|server| server.id() == ID)?;
    (loaded.config.settings.memory.enabled == Some(true)).then(|| {
        format!(
            "the built-in memory is not served: {}:{} has a server with the id \"{ID}\"; give it another id, or say \
             `enabled = false` under `[memory]`",
            server.file.display(),
            server.line
        )
    })
}

/// Says that a memory which was used before is not among the servers now, where nobody decided that.
pub(crate) fn tell_if_left_out(loaded: &Loaded) {
    let undecided = loaded.config.settings.memory.enabled.is_none();
    if undecided && !wanted(loaded) && loaded.data_dir.join(FILE).exists() {
        tracing::warn!(
            "the built-in memory is not among the servers, because there is a configuration: `enabled = true` under \
             `[memory]` adds it, `enabled = false` ends this message"
        );
    }
}

/// Where memories are kept: where `said` says, else where `[memory]` does, else in the database of everything if that is on
/// a server, else in the data folder. A relative path starts there too.
fn locate(loaded: &Loaded, said: Option<&str>) -> Result<Location, Failure> {
    let settings = &loaded.config.settings;
    let in_folder = Location::File(loaded.data_dir.join(FILE));
    let unreadable = |error: &dyn std::error::Error| Failure::usage(format!("the memory's `store`: {}", chain(error)));
    let Some(address) = said.or_else(|| settings.memory.store.as_ref().map(Secret::reveal)) else {
        let beside = settings.store.as_ref().and_then(|address| address.reveal().parse().ok());
        return Ok(beside.filter(|beside| matches!(beside, Location::Postgres(_))).unwrap_or(in_folder));
    };
    match address.parse().map_err(|error: switchboard_store::StoreError| unreadable(&error))? {
        // What is said on the command line is said from where the person is.
        Location::File(path) if said.is_none() => Ok(Location::File(loaded.data_dir.join(path))),
        location => Ok(location),
    }
}

/// How a memory behaves that keeps what it is told at `store`, or where the configuration says.
pub(crate) fn options(loaded: &Loaded, store: Option<&str>) -> Result<MemoryOptions, Failure> {
    let stores: Arc<dyn Stores> = match locate(loaded, store)? {
        Location::File(path) => {
            Arc::new(SqliteStores::open(&path).map_err(|problem| Failure::failed(problem.to_string()))?)
        }
        Location::Postgres(url) => {
            let stores = PostgresStores::open(&url);
            let stores = stores.map_err(|problem| {
                Failure::failed(format!("the PostgreSQL database of the memory cannot be opened: {problem}"))
            })?;
            tell_of_left_behind(&loaded.data_dir, &stores);
            Arc::new(stores)
        }
    };
    let said = &loaded.config.settings.memory;
    Ok(MemoryOptions { default_space: said.space.clone(), dreams: said.dreams, ..MemoryOptions::new(stores) })
}

/// Memories that were kept in the data folder do not move by themselves.
fn tell_of_left_behind(folder: &Path, stores: &PostgresStores) {
    let old = folder.join(FILE);
    if old.exists() && stores.spaces().is_ok_and(|spaces| spaces.is_empty()) {
        tracing::warn!(
            old = %old.display(),
            "the memory is in PostgreSQL now and empty; take the old one along with `switchboard memory --store {} export` \
             and `switchboard memory import`",
            old.display()
        );
    }
}

/// That each principal has memories of its own, and which it shares.
pub(crate) fn principals(loaded: &Loaded) -> switchboard_contextgraph::SpaceSharing {
    let shared = loaded.config.settings.memory.shared.clone();
    switchboard_contextgraph::SpaceSharing::PerPrincipal(Principals { owner: Some(OWNER.to_owned()), shared })
}

/// The memory as a server of the kernel, where it is wanted.
pub(crate) fn start(loaded: &Loaded) -> Result<Option<BuiltIn>, Failure> {
    if !wanted(loaded) {
        return Ok(None);
    }
    let failed =
        |error: &dyn std::error::Error| Failure::failed(format!("the memory cannot be started: {}", chain(error)));
    let mut options = options(loaded, None)?;
    let mut sharing = Sharing::Shared;
    if loaded.config.settings.memory.sharing == MemorySharing::Principal {
        // Whoever has a connection of its own is who the memory takes it for.
        sharing = Sharing::PerPrincipal;
        options.sharing = principals(loaded);
    }
    let server = MemoryServer::new(options).map_err(|error| failed(&error))?;
    let handler = server.server().map_err(|error| failed(&error))?.into_handler();
    server.look_after();
    let limits = &loaded.config.settings.limits;
    let spec = ServerSpec {
        upkeep: Upkeep::default(),
        id: ID.into(),
        target: Target::InProcess(handler),
        era: EraChoice::Modern,
        sharing,
        start_timeout: limits.start_timeout,
        call_timeout: limits.call_timeout.max(LEAST_CALL_TIMEOUT),
        restart: Restart::Always,
        fingerprint: "the built-in memory".to_owned(),
        isolation: None,
        policy: Arc::new(ServerPolicy {
            trust: TrustLevel::Core,
            permissions_granted: vec![("memory.read".to_owned(), None), ("memory.write".to_owned(), None)],
            ..ServerPolicy::default()
        }),
    };
    Ok(Some(BuiltIn { server, spec }))
}

/// The memory of a kernel: started when it is first wanted, and there until the kernel ends, wanted or not. What a call was told while
/// it was switched off is not lost, and switching it on again opens nothing twice.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemorySwitch(Arc<Mutex<Option<Arc<BuiltIn>>>>);

impl MemorySwitch {
    /// What the kernel is told of it, where this configuration wants it.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn spec(&self, loaded: &Loaded) -> Result<Option<ServerSpec>, Failure> {
        if !wanted(loaded) {
            return Ok(None);
        }
        let mut started = self.0.lock();
        if started.is_none() {
            *started = start(loaded)?.map(Arc::new);
        }
        Ok(started.as_ref().map(|memory| memory.spec.clone()))
    }

    /// Ends the memory, with everything written.
    pub(crate) async fn close(&self) {
        let started = self.0.lock().take();
        close(started.as_deref()).await;
    }
}

/// Ends the memory, with everything written.
pub(crate) async fn close(memory: Option<&BuiltIn>) {
    if let Some(memory) = memory {
        memory.server.close().await;
    }
}

#[cfg(test)]
mod tests {
    use switchboard_config::{Environment, Sources, load};

    use super::*;

    #[test]
    fn memories_are_where_they_are_said_to_be() {
        let postgres = |url: &str| Location::Postgres(url.to_owned());
        for (text, said, expected) in [
            ("", None, None),
            ("store = 'other.db'", None, None),
            ("store = 'postgres://db/x'", None, Some(postgres("postgres://db/x"))),
            ("store = 'postgres://db/x'\n[memory]\nstore = 'mine.db'", None, Some(Location::File("mine.db".into()))),
            ("[memory]\nstore = 'postgres://db/y'", None, Some(postgres("postgres://db/y"))),
            ("[memory]\nstore = 'postgres://db/y'", Some("/srv/m.db"), Some(Location::File("/srv/m.db".into()))),
            ("", Some("postgres://db/z"), Some(postgres("postgres://db/z"))),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("mgp.toml");
            std::fs::write(&file, format!("data_dir = 'data'\n{text}")).unwrap();
            let environment = Environment::default();
            let sources = Sources { explicit: Some(file), folder: folder.path().to_owned(), environment };
            let loaded = load(&sources).unwrap();
            let expected = match expected {
                None => Location::File(loaded.data_dir.join(FILE)),
                Some(Location::File(path)) => Location::File(loaded.data_dir.join(path)),
                Some(other) => other,
            };
            assert_eq!(locate(&loaded, said).unwrap(), expected, "{text} {said:?}");
            assert!(locate(&loaded, Some("mysql://db/x")).is_err());
        }
    }
}
