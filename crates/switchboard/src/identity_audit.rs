//! Changes of identities on the audit log: who may come in, and in whose name servers are used. Secrets are never part
//! of it.

use serde_json::Value;
use switchboard_kernel::OperatorActions;
use switchboard_store::Store;

use crate::commands::operator_session;
use crate::failure::{Failure, chain};

/// A token was made that lets a client in.
pub(crate) const TOKEN_ISSUED: &str = "dev.switchboard.token_issued";
/// Such a token was taken back.
pub(crate) const TOKEN_REVOKED: &str = "dev.switchboard.token_revoked";
/// A person let Switchboard use a server in their name.
pub(crate) const LOGIN: &str = "dev.switchboard.login";
/// That was taken back.
pub(crate) const LOGOUT: &str = "dev.switchboard.logout";

/// An operator accepted the audit log as it is, after its database was put back to an earlier moment.
pub(crate) const LOG_RESTORED: &str = "dev.switchboard.log_restored";

/// Writes down what the operator did. When this returns, it is durable.
pub(crate) async fn write(
    store: &Store,
    event_type: &str,
    server: Option<&str>,
    details: &[(&str, Value)],
) -> Result<(), Failure> {
    let office = OperatorActions::of_operator(store.clone(), &operator_session::operator());
    let written = office.note(event_type, server, details).await;
    written.map_err(|error| Failure::failed(format!("the audit log takes nothing: {}", chain(&error))))
}
