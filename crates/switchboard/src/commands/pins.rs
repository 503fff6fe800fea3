//! `switchboard pins`: what was accepted of each tool, prompt, resource and template, what its server shows instead,
//! and a person's word on it.

pub(crate) mod diff;
mod review;

use serde_json::{Value, json};
use switchboard_kernel::screen_definition;
use switchboard_store::{Pin, PinState};
use switchboard_wire::{Limits, Raw};

use super::operator_session::{OperatorSession, cell, minute};
use crate::Outcome;
use crate::arguments::{Common, PinsCommand};
use crate::failure::Failure;
use crate::screen::{self, Tone};
use crate::setup;

pub(crate) async fn run(common: &Common, command: Option<&PinsCommand>) -> Outcome {
    let desk = OperatorSession::open(common).await?;
    // By its alias as well as by its id; one that is in no file any more has its id alone.
    let id = |name: &str| setup::server_named(&desk.loaded.config, name).map_or(name, |server| server.id()).to_owned();
    let outcome = match command {
        None => list(common, &desk, None).await,
        Some(PinsCommand::List { server }) => list(common, &desk, server.as_deref().map(id).as_deref()).await,
        Some(PinsCommand::Show { server, tool }) => show(common, &desk, &id(server), tool).await,
        Some(PinsCommand::Review(options)) => review::review(common, &desk, options).await,
        Some(PinsCommand::Accept(options)) => review::answer(common, &desk, options, true).await,
        Some(PinsCommand::Refuse(options)) => review::answer(common, &desk, options, false).await,
        Some(PinsCommand::Forget { server, tool }) => forget(common, &desk, &id(server), tool.as_deref()).await,
    };
    desk.close().await;
    outcome
}

/// What waits for a person.
pub(crate) async fn quarantined(desk: &OperatorSession) -> Result<Vec<Pin>, Failure> {
    let waiting = review::waiting(desk, None).await?;
    Ok(waiting.into_values().flatten().map(|held| held.pin).collect())
}

async fn list(common: &Common, desk: &OperatorSession, server: Option<&str>) -> Outcome {
    let pins = desk.office.store().pins().list(server).await?;
    if common.json {
        screen::json(&json!({"pins": pins.iter().map(|pin| pin_json(pin, false)).collect::<Vec<_>>()}));
        return Ok(());
    }
    if pins.is_empty() {
        screen::out("no definition was seen so far: they are remembered when a server first shows them");
        return Ok(());
    }
    let mut rows = vec![["SERVER", "DEFINITION", "STATE", "CHANGED", "ACCEPTED BY"].map(str::to_owned).to_vec()];
    rows.extend(pins.iter().map(|pin| {
        let tone = if pin.state == PinState::Quarantined { Tone::Bad } else { Tone::Good };
        let by = match (&pin.accepted, &pin.accepted_by) {
            (None, _) => "nobody".to_owned(),
            (Some(_), None) => "first use".to_owned(),
            (Some(_), Some(by)) => cell(by),
        };
        vec![cell(&pin.server), cell(&pin.tool), screen::toned(pin.state.as_str(), tone), minute(pin.changed_at), by]
    }));
    screen::out(screen::table(&rows).trim_end());
    if let Some(held) = pins.iter().find(|pin| pin.state == PinState::Quarantined) {
        let next = format!("`switchboard pins review {}`", cell(&held.server));
        screen::out(format_args!("\nWhat is quarantined is neither listed nor called; see why and answer with {next}"));
    }
    Ok(())
}

async fn find(desk: &OperatorSession, server: &str, tool: &str) -> Result<Pin, Failure> {
    let pins = desk.office.store().pins().list(Some(server)).await?;
    if pins.is_empty() {
        return Err(Failure::failed(format!("no definition of a server {} was seen so far", cell(server))));
    }
    // A prompt or a resource has its kind in front, which no tool has.
    let is_meant = |pin: &Pin| pin.tool == tool || setup::is_exposed(&desk.loaded.config, server, &pin.tool, tool);
    pins.into_iter().find(is_meant).ok_or_else(|| {
        Failure::failed(format!(
            "server {} has shown no definition {}; see `switchboard pins list`",
            cell(server),
            cell(tool)
        ))
    })
}

async fn show(common: &Common, desk: &OperatorSession, server: &str, tool: &str) -> Outcome {
    let pin = find(desk, server, tool).await?;
    if common.json {
        screen::json(&pin_json(&pin, true));
    } else {
        print(&pin);
    }
    Ok(())
}

/// Puts a definition before a person: the difference, line by line, and what screening says.
pub(crate) fn print(pin: &Pin) {
    screen::out(format_args!("{} of {}: {}", cell(&pin.tool), cell(&pin.server), pin.state.as_str()));
    screen::out(format_args!("first seen {}, last changed {}", minute(pin.first_seen), minute(pin.changed_at)));
    match &pin.accepted {
        Some((hash, accepted)) if *hash != pin.shown_hash => {
            screen::out("- what was accepted, + what the server shows now:");
            for (sign, line) in diff::lines(&diff::readable(accepted.get()), &diff::readable(pin.shown.get())) {
                let tone = match sign {
                    '+' => Some(Tone::Good),
                    '-' => Some(Tone::Bad),
                    _ => None,
                };
                let line = format!("{sign} {line}");
                screen::out(tone.map_or_else(|| line.clone(), |tone| screen::toned(&line, tone)));
            }
        }
        accepted => {
            screen::out(if accepted.is_some() {
                "what was accepted, and is shown:"
            } else {
                "nobody accepted it so far:"
            });
            diff::readable(pin.shown.get()).iter().for_each(|line| screen::out(format_args!("  {line}")));
        }
    }
    match screened(pin) {
        Some(finding) => screen::out(screen::toned(&format!("screening: {}", cell(&finding)), Tone::Bad)),
        None => screen::out("screening: nothing was found"),
    }
}

/// What speaks against showing the definition to a model, as the kernel judges it.
pub(crate) fn screened(pin: &Pin) -> Option<String> {
    let raw = match Raw::parse(pin.shown.get().to_owned(), &Limits::default()) {
        Ok(raw) => raw,
        Err(error) => return Some(error.to_string()),
    };
    let screening = screen_definition(&pin.tool, &raw);
    let word = if screening.is_held() { "certain" } else { "mark" };
    screening.finding().map(|finding| format!("{word}: {}", finding.message))
}

async fn forget(common: &Common, desk: &OperatorSession, server: &str, tool: Option<&str>) -> Outcome {
    let count = desk.office.forget_definitions(server, tool).await?;
    if common.json {
        screen::json(&json!({"forgotten": count}));
    } else if count > 0 {
        screen::out(format_args!(
            "forgotten: {count}; what {} shows next is accepted unseen, unless screening objects",
            cell(server)
        ));
    } else {
        screen::note("there was nothing to forget; see `switchboard pins list`");
    }
    if count == 0 { Err(Failure::said()) } else { Ok(()) }
}

pub(crate) fn pin_json(pin: &Pin, whole: bool) -> Value {
    let mut shown = json!({
        "server_id": pin.server,
        "tool_name": pin.tool,
        "state": pin.state.as_str(),
        "accepted_sha256": pin.accepted.as_ref().map(|(hash, _)| hash.to_string()),
        "shown_sha256": pin.shown_hash.to_string(),
        "first_seen": pin.first_seen.to_string(),
        "changed_at": pin.changed_at.to_string(),
        "accepted_by": pin.accepted_by,
        "accepted_at": pin.accepted_at.map(|at| at.to_string()),
    });
    if whole {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
        shown["accepted"] = pin.accepted.as_ref().map_or(Value::Null, |(_, accepted)| read(accepted.get()));
        shown["shown"] = read(pin.shown.get());
        shown["screening"] = json!(screened(pin));
    }
    shown
}
