//! `switchboard revoke`: takes grants and denials back. When it ends, no later call passes by them.

use jiff::Timestamp;
use serde_json::json;
use switchboard_store::{AccessEntry, AccessSelector, Permission, ServerPermission};

use super::operator_session::{OperatorSession, cell};
use super::{access, grant};
use crate::Outcome;
use crate::arguments::{Common, Revoke};
use crate::failure::Failure;
use crate::screen;
use crate::waiting::Waiting;

/// The word for every permission of a server.
const ALL: &str = "all";
const NOTHING: &str = "there was nothing to revoke; `switchboard access` shows what there is";

pub(crate) async fn run(common: &Common, options: &Revoke) -> Outcome {
    let permission = options.permission.as_deref().filter(|word| *word != ALL).map(grant::named).transpose()?;
    let waiting = Waiting::begin("taking back what was granted");
    let desk = OperatorSession::open_patiently(common).await?;
    let options = &Revoke { server: options.server.as_deref().map(|server| desk.id_of(server)), ..options.clone() };
    let outcome = match (&options.permission, &options.server) {
        (Some(_), Some(server)) => {
            permissions(&desk, server, permission.as_deref()).await.map(|gone| (Vec::new(), gone))
        }
        _ => entries(&desk, options).await.map(|gone| (gone, Vec::new())),
    };
    desk.close().await;
    drop(waiting);
    let (entries, permissions) = outcome?;
    if common.json && entries.is_empty() && permissions.is_empty() {
        return Err(Failure::failed(NOTHING));
    }
    show(common, &entries, &permissions);
    if entries.is_empty() && permissions.is_empty() { Err(Failure::said()) } else { Ok(()) }
}

async fn entries(desk: &OperatorSession, options: &Revoke) -> Result<Vec<AccessEntry>, Failure> {
    let tool = match (&options.server, &options.tool) {
        (Some(server), Some(tool)) => Some(desk.tool(server, tool).await?),
        (_, tool) => tool.clone(),
    };
    let selector = AccessSelector {
        principal: options.agent.clone(),
        server: options.server.clone(),
        // Without its server grant a principal shall not keep what was granted beneath it.
        entry_type: None,
        tool,
        permission: None,
    };
    desk.office.revoke_access(&selector).await.map_err(Failure::from)
}

async fn permissions(
    desk: &OperatorSession,
    server: &str,
    permission: Option<&str>,
) -> Result<Vec<ServerPermission>, Failure> {
    desk.office.revoke_permission(server, permission).await.map_err(Failure::from)
}

fn show(common: &Common, entries: &[AccessEntry], permissions: &[ServerPermission]) {
    let now = Timestamp::now();
    if common.json {
        let entries: Vec<_> = entries.iter().map(|entry| access::entry_json(entry, now)).collect();
        let permissions: Vec<_> = permissions.iter().map(|entry| access::permission_json(entry, now)).collect();
        screen::json(
            &json!({"revoked": entries.len() + permissions.len(), "entries": entries, "permissions": permissions}),
        );
        return;
    }
    for entry in entries {
        let what = match &entry.tool {
            Some(tool) => format!("the tool {} of {}", cell(tool), cell(&entry.server)),
            None => cell(&entry.server),
        };
        let word = if entry.permission == Permission::Deny { "denial" } else { "grant" };
        screen::out(format_args!("revoked the {word} of {what} for {}", cell(&entry.principal)));
    }
    if entries.iter().any(|entry| entry.permission == Permission::Deny) {
        screen::note("a denial is gone: see with `switchboard access` what holds now");
    }
    for entry in permissions {
        screen::out(format_args!(
            "revoked {} of {} ({})",
            entry.permission,
            cell(&entry.server),
            entry.decision.as_str()
        ));
    }
    if entries.is_empty() && permissions.is_empty() {
        screen::note(NOTHING);
    }
}
