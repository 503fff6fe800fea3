//! `switchboard approvals`: the operator decides about held calls, permissions that servers ask for, and definitions
//! that changed. The calls are held by kernels in other processes; the store is where both meet.

mod item;
mod remembered;
mod watch;

use std::io::IsTerminal as _;

use jiff::Timestamp;
use serde_json::json;
use switchboard_kernel::OperatorActions;
use switchboard_store::{PermissionDecision, Reuse, Verdict};

use super::operator_session::{OperatorSession, When, cell, until};
use super::{grant, pins};
use crate::Outcome;
use crate::arguments::{ApprovalsCommand, Approve, Common, Deny};
use crate::failure::Failure;
use crate::screen;
use item::Item;

/// Held calls that are shown at once, at most. No more can be held.
const MAX_SHOWN_CALLS: usize = 1_024;
/// The fewest letters by which a held call is named.
const SHORTEST: usize = 4;

/// What a person says to one item.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answer {
    Yes(Reuse, Option<When>),
    No(Option<String>),
}

pub(crate) async fn run(common: &Common, command: Option<&ApprovalsCommand>) -> Outcome {
    let desk = OperatorSession::open(common).await?;
    let live = std::io::stdout().is_terminal() && screen::can_ask() && !common.json;
    let outcome = match command {
        None if live => watch::run(common, &desk).await,
        None | Some(ApprovalsCommand::List) => list(common, &desk).await,
        Some(ApprovalsCommand::Watch) => watch::run(common, &desk).await,
        Some(ApprovalsCommand::Approve(options)) => approve(common, &desk, options).await,
        Some(ApprovalsCommand::Deny(options)) => deny(common, &desk, options).await,
        Some(ApprovalsCommand::Remembered) => remembered::list(common, &desk).await,
        Some(ApprovalsCommand::Forget { ids }) => remembered::forget(common, &desk, ids).await,
    };
    desk.close().await;
    outcome
}

/// Everything that waits for a decision: held calls first, the newest before all.
async fn waiting(desk: &OperatorSession) -> Result<Vec<Item>, Failure> {
    let store = desk.office.store();
    let now = Timestamp::now();
    let mut calls = store.approvals().pending(now, MAX_SHOWN_CALLS).await?;
    calls.reverse();
    let mut permissions = store.grants().load().await?.permissions;
    permissions.retain(|permission| permission.decision == PermissionDecision::Deferred);
    permissions.sort_by(|a, b| (&a.server, &a.permission).cmp(&(&b.server, &b.permission)));
    let definitions = pins::quarantined(desk).await?;
    let items = calls.into_iter().map(|call| Item::Call(Box::new(call)));
    let items = items.chain(permissions.into_iter().map(Item::Permission));
    Ok(items.chain(definitions.into_iter().map(|pin| Item::Definition(Box::new(pin)))).collect())
}

async fn list(common: &Common, desk: &OperatorSession) -> Outcome {
    let items = waiting(desk).await?;
    if common.json {
        screen::json(&json!({"waiting": items.iter().map(Item::json).collect::<Vec<_>>()}));
    } else if items.is_empty() {
        screen::out("nothing waits for a decision");
        remembered::tell_count(desk).await?;
    } else {
        for item in &items {
            screen::out(item.text(Timestamp::now()));
            screen::out("");
        }
        screen::out("answer with `switchboard approvals approve ID` or `switchboard approvals deny ID`");
    }
    Ok(())
}

async fn approve(common: &Common, desk: &OperatorSession, options: &Approve) -> Outcome {
    let reuse = match (options.session, options.always) {
        (true, _) => Reuse::Session,
        (_, true) => Reuse::Always,
        _ => Reuse::Once,
    };
    let chosen = choose(waiting(desk).await?, &options.ids, options.all)?;
    answer_all(common, desk, &chosen, &Answer::Yes(reuse, options.lasting)).await
}

async fn deny(common: &Common, desk: &OperatorSession, options: &Deny) -> Outcome {
    let chosen = choose(waiting(desk).await?, &options.ids, options.all)?;
    answer_all(common, desk, &chosen, &Answer::No(options.reason.clone())).await
}

/// The items that are meant. A name that fits none or several is an error before anything is decided.
fn choose(items: Vec<Item>, ids: &[String], all: bool) -> Result<Vec<Item>, Failure> {
    if all {
        let calls: Vec<_> = items.into_iter().filter(|item| matches!(item, Item::Call(_))).collect();
        return if calls.is_empty() { Err(Failure::failed("no call waits for a decision")) } else { Ok(calls) };
    }
    let mut wanted = vec![false; items.len()];
    for id in ids {
        let exact = items.iter().position(|item| item.id() == *id);
        let beginning = |item: &Item| id.len() >= SHORTEST && item.id().starts_with(id.as_str());
        let fitting: Vec<usize> = (0..items.len()).filter(|at| beginning(&items[*at])).collect();
        match (exact, fitting.as_slice()) {
            (Some(at), _) | (None, &[at]) => wanted[at] = true,
            (None, []) => {
                return Err(Failure::failed(format!(
                    "nothing called {} waits for a decision: it may be answered, expired or changed; see `switchboard \
                     approvals list`",
                    cell(id)
                )));
            }
            (None, several) => {
                return Err(Failure::failed(format!(
                    "{} items begin with {}: write more of it",
                    several.len(),
                    cell(id)
                )));
            }
        }
    }
    Ok(items.into_iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(item, _)| item).collect())
}

async fn answer_all(common: &Common, desk: &OperatorSession, items: &[Item], answer: &Answer) -> Outcome {
    let mut failed = Vec::new();
    let mut done = Vec::new();
    for item in items {
        match decide(desk, item, answer).await {
            Ok(said) => {
                if !common.json {
                    screen::out(format_args!("{}: {said}", cell(&item.short())));
                }
                done.push(json!({"id": item.id(), "decision": said}));
            }
            Err(failure) => {
                let why = failure.message().unwrap_or_default().to_owned();
                screen::note(format_args!("{}: {why}", cell(&item.short())));
                failed.push(json!({"id": item.id(), "error": why}));
            }
        }
    }
    if common.json {
        screen::json(&json!({"decided": done, "failed": failed}));
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::said()) }
}

/// Decides about one item, and says what was decided.
async fn decide(desk: &OperatorSession, item: &Item, answer: &Answer) -> Result<String, Failure> {
    let (office, now) = (&desk.office, Timestamp::now());
    match (item, answer) {
        (Item::Call(call), answer) => {
            let (verdict, reason, end) = match answer {
                Answer::Yes(Reuse::Session, _) if call.held.session.is_none() => {
                    return Err(Failure::failed("its client keeps no session: say yes once, or --always"));
                }
                Answer::Yes(reuse, lasting) => {
                    let usual = now.checked_add(OperatorActions::life(*reuse)).map_err(Failure::failed)?;
                    let end = lasting.map_or(Ok(Some(usual)), |when| when.end(now))?;
                    (Verdict::Approve(*reuse), None, end.unwrap_or(Timestamp::MAX))
                }
                Answer::No(reason) => (Verdict::Deny, reason.clone(), call.held.expires_at),
            };
            let ids = [call.held.id.clone()];
            let decided = office.answer(&ids, verdict, reason, end).await?;
            match (decided.is_empty(), verdict) {
                (true, _) => Err(Failure::failed("it does not wait any more")),
                (_, Verdict::Deny) => Ok("denied".to_owned()),
                (_, Verdict::Approve(reuse)) => {
                    let end = Some(end).filter(|end| *end != Timestamp::MAX);
                    let caller =
                        item.caller(now).map_or_else(String::new, |caller| format!("; {}", caller.after_a_yes()));
                    Ok(format!("approved {}, {}{caller}", words(reuse), until(end)))
                }
            }
        }
        (Item::Permission(asked), answer) => {
            let (decision, end) = match answer {
                Answer::Yes(_, lasting) => {
                    desk.warn_of_policy();
                    (PermissionDecision::Approved, lasting.unwrap_or(When::Span(grant::DEFAULT_GRANT_TIME)).end(now)?)
                }
                Answer::No(_) => (PermissionDecision::Denied, None),
            };
            let reason = if let Answer::No(reason) = answer { reason.clone() } else { None };
            office.decide_permission(&asked.server, &asked.permission, decision, None, end, reason).await?;
            Ok(format!("{}, {}", decision.as_str(), until(end)))
        }
        (Item::Definition(pin), Answer::Yes(..)) => {
            let accepted = office.accept_definition(&pin.server, &pin.tool, pin.shown_hash).await;
            match accepted? {
                Some(_) => Ok("accepted".to_owned()),
                None => Err(Failure::failed("the definition has changed again")),
            }
        }
        (Item::Definition(pin), Answer::No(_)) => {
            office.refuse_definition(&pin.server, &pin.tool, pin.shown_hash).await?;
            Ok("refused; it stays held back".to_owned())
        }
    }
}

const fn words(reuse: Reuse) -> &'static str {
    match reuse {
        Reuse::Once => "once",
        Reuse::Session => "for this session",
        Reuse::Always => "for these arguments",
    }
}

#[cfg(test)]
mod tests {
    use switchboard_store::ServerPermission;

    use super::*;

    fn asked(server: &str) -> Item {
        Item::Permission(ServerPermission {
            server: server.to_owned(),
            permission: "camera".to_owned(),
            decision: PermissionDecision::Deferred,
            granted_by: "switchboard".to_owned(),
            granted_at: Timestamp::UNIX_EPOCH,
            expires_at: None,
            justification: None,
            scopes: None,
        })
    }

    #[test]
    fn a_name_must_fit_exactly_one() {
        for (id, expected) in [
            ("permission:a/camera", Some("permission:a/camera")),
            ("permission:ab", Some("permission:ab/camera")),
            ("permission:a", None),
            ("per", None),
            ("other", None),
        ] {
            let items = vec![asked("a"), asked("ab")];
            let chosen = choose(items, &[id.to_owned()], false).ok().map(|chosen| chosen[0].id());
            assert_eq!(chosen.as_deref(), expected, "{id}");
        }
        assert!(choose(vec![asked("a")], &[], true).is_err(), "permissions have to be named");
    }
}
