//! What was agreed to for more than one call: shown in plain words, and taken back.

use jiff::Timestamp;
use serde_json::{Value, json};
use switchboard_store::{Approval, Reuse};

use super::{MAX_SHOWN_CALLS, SHORTEST};
use crate::Outcome;
use crate::arguments::Common;
use crate::commands::operator_session::{OperatorSession, cell, until};
use crate::failure::Failure;
use crate::screen;

/// How what is remembered of a host begins, in the place of a tool's name. No tool has a blank in front.
const HOST: &str = " host ";
/// Letters of an id that are shown to people.
const SHORT: usize = 12;

async fn standing(desk: &OperatorSession) -> Result<Vec<Approval>, Failure> {
    Ok(desk.office.store().approvals().standing(Timestamp::now(), MAX_SHOWN_CALLS).await?)
}

/// What holds, in one sentence.
fn told(approval: &Approval) -> String {
    let held = &approval.held;
    let (server, principal) = (cell(&held.server), cell(&held.principal));
    let what = match held.tool.strip_prefix(HOST) {
        Some(host) => format!("server {server} may reach the host {} for {principal}", cell(host)),
        None => {
            let session = if approval.reuse == Reuse::Session { " in one session" } else { "" };
            format!("{principal} may call {} of server {server} with the same arguments{session}", cell(&held.tool))
        }
    };
    let by = approval.decided_by.as_deref().map_or_else(String::new, |by| format!("; said by {}", cell(by)));
    format!("{what}, {}{by}", until(Some(approval.held.expires_at)))
}

fn in_json(approval: &Approval) -> Value {
    let held = &approval.held;
    let host = held.tool.strip_prefix(HOST);
    json!({
        "id": held.id,
        "kind": if host.is_some() { "host" } else { "call" },
        "agent_id": held.principal,
        "server_id": held.server,
        "tool_name": if host.is_some() { None } else { Some(&held.tool) },
        "host": host,
        "reuse": approval.reuse.as_str(),
        "decided_by": approval.decided_by,
        "decided_at": approval.decided_at.map(|at| at.to_string()),
        "expires_at": held.expires_at.to_string(),
        "uses": approval.uses,
    })
}

pub(super) async fn list(common: &Common, desk: &OperatorSession) -> Outcome {
    let standing = standing(desk).await?;
    if common.json {
        screen::json(&json!({"remembered": standing.iter().map(in_json).collect::<Vec<_>>()}));
        return Ok(());
    }
    if standing.is_empty() {
        screen::out("nothing was agreed to for more than one call");
        return Ok(());
    }
    for approval in &standing {
        let id: String = approval.held.id.chars().take(SHORT).collect();
        screen::out(format_args!("{}  {}", cell(&id), told(approval)));
    }
    screen::out("take one back with `switchboard approvals forget ID`");
    Ok(())
}

/// Tells that there is something to see, where there is.
pub(super) async fn tell_count(desk: &OperatorSession) -> Outcome {
    match standing(desk).await?.len() {
        0 => {}
        1 => screen::out("1 earlier answer is remembered; `switchboard approvals remembered` shows it"),
        count => screen::out(format_args!(
            "{count} earlier answers are remembered; `switchboard approvals remembered` shows them"
        )),
    }
    Ok(())
}

pub(super) async fn forget(common: &Common, desk: &OperatorSession, ids: &[String]) -> Outcome {
    let standing = standing(desk).await?;
    let mut chosen = Vec::new();
    for id in ids {
        let fits = |approval: &&Approval| {
            approval.held.id == *id || id.len() >= SHORTEST && approval.held.id.starts_with(id.as_str())
        };
        match standing.iter().filter(fits).collect::<Vec<_>>()[..] {
            [one] => chosen.push(one),
            [] => {
                return Err(Failure::failed(format!(
                    "nothing called {} is remembered; see `switchboard approvals remembered`",
                    cell(id)
                )));
            }
            _ => return Err(Failure::failed(format!("several answers begin with {}: write more of it", cell(id)))),
        }
    }
    let mut forgotten = Vec::new();
    for approval in chosen {
        if desk.office.withdraw_answer(&approval.held.id).await?.is_some() {
            if !common.json {
                screen::out(format_args!("taken back: {}", told(approval)));
            }
            forgotten.push(in_json(approval));
        }
    }
    if common.json {
        screen::json(&json!({"forgotten": forgotten}));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use switchboard_store::{ApprovalState, Digest, HeldCall};

    use super::*;

    fn approval(tool: &str, reuse: Reuse) -> Approval {
        Approval {
            held: HeldCall {
                id: "0123456789abcdef".to_owned(),
                principal: "ann".to_owned(),
                session: None,
                server: "web".to_owned(),
                tool: tool.to_owned(),
                arguments: Digest::of(b"x"),
                shown: None,
                reason: "host".to_owned(),
                token: None,
                created_at: Timestamp::UNIX_EPOCH,
                expires_at: Timestamp::from_second(300).unwrap(),
            },
            state: ApprovalState::Approved,
            reuse,
            decided_by: Some("whoever agreed to the call".to_owned()),
            decided_at: None,
            decision_reason: None,
            uses: 0,
            used_at: None,
        }
    }

    #[test]
    fn a_remembered_host_is_told_in_plain_words() {
        let host = approval(" host localhost", Reuse::Always);
        assert_eq!(
            told(&host),
            "server web may reach the host localhost for ann, until 1970-01-01 00:05Z; said by whoever agreed to the call"
        );
        assert_eq!(
            (in_json(&host)["kind"].clone(), in_json(&host)["host"].clone()),
            (json!("host"), json!("localhost"))
        );
        let call = approval("navigate", Reuse::Session);
        assert!(told(&call).starts_with("ann may call navigate of server web with the same arguments in one session"));
        assert_eq!(in_json(&call)["tool_name"], "navigate");
    }
}
