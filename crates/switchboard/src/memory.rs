//! The memory as one of the kernel's servers, inside of this process: whether it is wanted, and what the kernel is told of it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use switchboard_config::Loaded;
use switchboard_contextgraph::{MemoryServer, Options, SqliteStores};
use switchboard_kernel::{Restart, ServerPolicy, ServerSpec, Sharing, Upkeep};
use switchboard_peer::client::{EraChoice, Target};
use switchboard_protocol::mgp::TrustLevel;

use crate::failure::{Failure, chain};

/// Its id among the servers.
pub(crate) const ID: &str = "memory";
/// The name of its database in the data folder.
const FILE: &str = "memory.db";

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

/// How a memory over the data folder behaves.
pub(crate) fn options(loaded: &Loaded, file: Option<&Path>) -> Result<Options, Failure> {
    let path = file.map_or_else(|| loaded.data_dir.join(FILE), Path::to_owned);
    let stores = SqliteStores::open(&path).map_err(|problem| Failure::failed(problem.to_string()))?;
    let said = &loaded.config.settings.memory;
    Ok(Options { default_space: said.space.clone(), dreams: said.dreams, ..Options::new(Arc::new(stores)) })
}

/// The memory as a server of the kernel, where it is wanted.
pub(crate) fn start(loaded: &Loaded) -> Result<Option<BuiltIn>, Failure> {
    if !wanted(loaded) {
        return Ok(None);
    }
    let failed =
        |error: &dyn std::error::Error| Failure::failed(format!("the memory cannot be started: {}", chain(error)));
    let server = MemoryServer::new(options(loaded, None)?).map_err(|error| failed(&error))?;
    let handler = server.server().map_err(|error| failed(&error))?.into_handler();
    server.look_after();
    let limits = &loaded.config.settings.limits;
    let spec = ServerSpec {
        upkeep: Upkeep::default(),
        id: ID.into(),
        target: Target::InProcess(handler),
        era: EraChoice::Modern,
        sharing: Sharing::Shared,
        start_timeout: limits.start_timeout,
        call_timeout: limits.call_timeout.max(Duration::from_secs(60)),
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

/// Ends the memory, with everything written.
pub(crate) async fn close(memory: Option<&BuiltIn>) {
    if let Some(memory) = memory {
        memory.server.close().await;
    }
}
