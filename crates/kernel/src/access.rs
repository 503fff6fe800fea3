//! What is stored of access, read without a kernel: for commands.

use jiff::Timestamp;
use switchboard_policy::access::Access;
use switchboard_protocol::mgp::DefaultPolicy;
use switchboard_store::{AccessEntry, Store, StoreError};

use crate::gate::access_table;

/// Whether a principal may use a tool, and by which entry. `default` is what holds without one.
///
/// # Errors
/// The store cannot be read.
pub async fn stored_access(
    store: &Store,
    principal: &str,
    server: &str,
    tool: &str,
    default: DefaultPolicy,
) -> Result<(Access, Option<AccessEntry>), StoreError> {
    let mut entries = store.grants().load().await?.access;
    let now = store.latest_time(Timestamp::now()).await?;
    let access = access_table(&entries).decide(principal, server, Some(tool), default, now);
    let entry = access.rule.filter(|rule| *rule < entries.len()).map(|rule| entries.swap_remove(rule));
    Ok((access, entry))
}
