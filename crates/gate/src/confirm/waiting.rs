//! An attempt that waits for a person is judged again whenever rights change: it is refused as it would be if it were made now.

use crate::{rights, scopes};
use switchboard_peer::Reply;
use switchboard_protocol::fault::Fault;

use super::recheck::{judge_anew, token_ended};
use crate::{Attempt, Gate};

/// Waits until an attempt that waits for a person may not be made any more: the client's answer then.
///
/// # Errors
/// The same, where it is an error.
pub(super) async fn until_refused(gate: &Gate<'_>, attempt: &Attempt<'_>) -> Result<Reply, Fault> {
    let ended = &attempt.context.session.identity.ended;
    let mut changes = gate.rights.watched();
    gate.around.watch_rights();
    let mut judged = None;
    loop {
        if ended.is_cancelled() {
            return Ok(token_ended(gate, attempt).await);
        }
        let count = *changes.borrow_and_update();
        // Arguments are judged again where something has changed. That time passes is seen by access alone.
        let judge = judged.replace(count) != Some(count) || !has_access_still(gate, attempt);
        if judge && let Some(refusal) = Box::pin(judge_anew(gate, attempt)).await? {
            return Ok(refusal);
        }
        tokio::select! {
            _ = changes.changed() => {}
            () = ended.cancelled() => {}
        }
    }
}

/// Whether an attempt has access, permissions and good tokens, by what is known now.
fn has_access_still(gate: &Gate<'_>, attempt: &Attempt<'_>) -> bool {
    let tables = gate.granted.latest();
    let Some(server) = gate.server(attempt.server.id()) else { return false };
    let principal = &attempt.context.session.principal;
    gate.access(&tables, &attempt.context.session, &server, attempt.called()).allow
        && rights::has_permissions(gate, &tables, &server, Some(attempt.policy)).is_ok()
        && scopes::hold_to_scopes(gate, principal, &attempt.tokens(gate), attempt.wanted()).is_ok()
}
