//! The steps of the gate that need no person, in their one order. Each is decided elsewhere, and has here the name that it has
//! in audit and metrics. `steps.rs` has the steps around them; what waits or goes on is taken through these alone.

pub(crate) mod schema;

use crate::{arguments, authority, rights, scopes};
use switchboard_peer::Reply;
use switchboard_protocol::fault::Fault;
use switchboard_validators::arguments::Violation;

use crate::Gate;
use crate::attempt::{Attempt, Stop};

impl Gate<'_> {
    /// The same for a call that was made before and goes on or waits: the answer to its client, where it is refused now.
    ///
    /// # Errors
    /// It is refused, and the client hears of an error.
    pub async fn check_rights(&self, attempt: &Attempt<'_>) -> Result<Option<Reply>, Fault> {
        match judge(self, attempt).await {
            Ok(_) => Ok(None),
            Err(Stop::Answer(reply)) => Ok(Some(*reply)),
            Err(Stop::Fault(fault)) => Err(fault),
        }
    }
}

/// The steps that need no person: who calls what, with what. What is not understood of it is given back.
pub(crate) async fn judge(gate: &Gate<'_>, attempt: &Attempt<'_>) -> Result<Option<Box<Violation>>, Stop> {
    let tables = gate.tables().await?;
    // access
    let access = rights::check_access(gate, attempt, &tables).await?;
    // permissions
    let mut limits = rights::check_permissions_of(gate, attempt, &tables).await?;
    limits.extend(tables.limits(&access).cloned());
    // delegation
    if let Some(delegation) = attempt.metadata.delegation().map_err(Fault::from)? {
        limits.extend(Box::pin(authority::check_delegation(gate, attempt, &delegation, &tables)).await?);
    }
    // scopes
    scopes::check_scopes(gate, attempt).await?;
    // schema
    schema::check_schema(gate, attempt).await?;
    // validators
    arguments::check_arguments(gate, attempt, &limits).await
}
