//! A memory on standard streams: `memory-stdio FILE`.

use std::path::Path;
use std::sync::Arc;

use switchboard_contextgraph::{MemoryOptions, MemoryServer, SqliteStores};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("usage: memory-stdio FILE")?;
    let memory = MemoryServer::new(MemoryOptions::new(Arc::new(SqliteStores::open(Path::new(&file))?)))?;
    memory.look_after();
    memory.server()?.run_stdio().await?;
    memory.close().await;
    Ok(())
}
