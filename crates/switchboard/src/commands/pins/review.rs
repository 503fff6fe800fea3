//! `pins review`, `pins accept` and `pins refuse`: what is held back of a server, as one thing to decide.
//!
//! An upgrade changes many definitions at once, and a person who is asked thirty times reads none of them. So all that is
//! held of a server is shown together, difference by difference with the reason, and answered with one word.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::SERVERS_LIST;
use switchboard_store::{Pin, PinState, PinVersion, VersionState};
use switchboard_validators::definition::{self, Change, ChangeKind};
use switchboard_wire::{Limits, Raw};

use super::{diff, pin_json, screened};
use crate::Outcome;
use crate::arguments::{Common, PinsAccept, PinsReview};
use crate::commands::operator_session::{OperatorSession, cell, minute, visible};
use crate::control::Running;
use crate::failure::Failure;
use crate::local::raw;
use crate::screen::{self, Tone};
use crate::waiting::Waiting;

/// A definition that waits for a person, with the accepted one that is nearest to it.
pub(super) struct HeldDefinition {
    pub(super) pin: Pin,
    nearest: Option<PinVersion>,
    changes: Vec<Change>,
}

impl HeldDefinition {
    fn of(pin: Pin, versions: &[PinVersion]) -> Self {
        let shown = readable(pin.shown.get());
        let own = |version: &&PinVersion| version.server == pin.server && version.tool == pin.tool;
        let accepted = versions.iter().filter(own).filter(|version| version.state == VersionState::Accepted);
        let compared = accepted.map(|version| {
            let changes = match (readable(version.definition.get()), &shown) {
                (Some(old), Some(new)) => definition::changes(&old, new),
                _ => Vec::new(),
            };
            (changes, version.clone())
        });
        let asks = |changes: &[Change]| changes.iter().filter(|change| change.kind.asks()).count();
        let (changes, nearest) = compared
            .min_by_key(|(changes, _)| asks(changes))
            .map_or((Vec::new(), None), |(changes, nearest)| (changes, Some(nearest)));
        Self { pin, nearest, changes }
    }

    /// Why a person is asked.
    fn why(&self) -> String {
        let mut kinds: Vec<ChangeKind> = self.changes.iter().map(|change| change.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        if kinds.iter().any(|kind| kind.asks()) {
            kinds.retain(|kind| kind.asks());
        }
        let mut why: Vec<String> = kinds.iter().map(|kind| kind.sentence().to_owned()).collect();
        if self.nearest.is_none() {
            why.push("nobody accepted it so far".to_owned());
        }
        why.join(", ")
    }

    fn print(&self) {
        screen::out(format_args!("  {}: {}", screen::toned(&cell(&self.pin.tool), Tone::Bad), self.why()));
        if self.nearest.is_none() {
            diff::readable(self.pin.shown.get()).iter().for_each(|line| screen::out(format_args!("      {line}")));
        }
        for change in &self.changes {
            print_change(change);
        }
        if let Some(finding) = screened(&self.pin) {
            screen::out(screen::toned(&format!("    screening: {}", cell(&finding)), Tone::Bad));
        }
    }

    fn json(&self) -> Value {
        let mut shown = pin_json(&self.pin, false);
        shown["server_version"] = json!(self.pin.server_version);
        shown["accepted_version"] = json!(self.nearest.as_ref().and_then(|nearest| nearest.server_version.clone()));
        shown["why"] = json!(self.why());
        shown["screening"] = json!(screened(&self.pin));
        let change = |change: &Change| {
            json!({
                "place": change.place, "kind": change.kind.as_str(), "asks": change.kind.asks(),
                "before": change.before, "after": change.after,
            })
        };
        shown["changes"] = self.changes.iter().map(change).collect();
        shown
    }
}

fn readable(definition: &str) -> Option<Raw> {
    let limits = Limits { bytes: usize::MAX, depth: 1_024, keys: usize::MAX, ..Limits::default() };
    Raw::parse(definition.to_owned(), &limits).ok()
}

fn print_change(change: &Change) {
    let passes = if change.kind.asks() { "" } else { " (would pass by itself)" };
    let place = if change.place.is_empty() { "the whole".to_owned() } else { cell(&change.place) };
    screen::out(format_args!("    {place}: {}{passes}", change.kind.sentence()));
    let lines = |text: &Option<String>| text.as_deref().map(sentences).unwrap_or_default();
    for (sign, line) in diff::lines(&lines(&change.before), &lines(&change.after)) {
        let tone = match sign {
            '+' => Tone::Good,
            '-' => Tone::Bad,
            _ => continue,
        };
        screen::out(screen::toned(&format!("      {sign} {line}"), tone));
    }
}

/// A text as lines of one sentence each, with what cannot be seen written out.
fn sentences(text: &str) -> Vec<String> {
    if text.starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str::<Value>(text)
        && let Ok(pretty) = serde_json::to_string_pretty(&value)
    {
        return visible(&pretty).split('\n').map(str::to_owned).collect();
    }
    let text = visible(text);
    let lines = text.split('\n').flat_map(|line| line.split_inclusive(". "));
    lines.map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// What waits for a person, by server. What a person has refused waits no longer.
pub(super) async fn waiting(
    desk: &OperatorSession,
    server: Option<&str>,
) -> Result<BTreeMap<String, Vec<HeldDefinition>>, Failure> {
    let store = desk.office.store().pins();
    let versions = store.versions(server).await?;
    let refused = |pin: &Pin| {
        let is_this = |version: &PinVersion| {
            version.server == pin.server && version.tool == pin.tool && version.hash == pin.shown_hash
        };
        versions.iter().any(|version| is_this(version) && version.state == VersionState::Refused)
    };
    let mut waiting: BTreeMap<String, Vec<HeldDefinition>> = BTreeMap::new();
    for pin in store.list(server).await? {
        if pin.state == PinState::Quarantined && !refused(&pin) {
            waiting.entry(pin.server.clone()).or_default().push(HeldDefinition::of(pin, &versions));
        }
    }
    Ok(waiting)
}

fn print_server(server: &str, held: &[HeldDefinition]) {
    let count = match held.len() {
        1 => "1 definition is held back".to_owned(),
        several => format!("{several} definitions are held back"),
    };
    let shown = held.iter().find_map(|held| held.pin.server_version.as_deref());
    let before = held.iter().find_map(|held| held.nearest.as_ref()?.server_version.as_deref());
    let versions = match (before, shown) {
        (Some(before), Some(shown)) if before != shown => format!(", version {} -> {}", cell(before), cell(shown)),
        (_, Some(shown)) => format!(", version {}", cell(shown)),
        _ => String::new(),
    };
    let since = held.iter().map(|held| held.pin.changed_at).max();
    let since = since.map_or_else(String::new, |at| format!(", since {}", minute(at)));
    screen::out(format_args!("{}: {count}{versions}{since}", cell(server)));
    held.iter().for_each(HeldDefinition::print);
}

/// `pins review`
pub(super) async fn review(common: &Common, desk: &OperatorSession, options: &PinsReview) -> Outcome {
    let waiting = waiting(desk, options.server.as_deref()).await?;
    if common.json {
        let server = |(id, held): (&String, &Vec<HeldDefinition>)| json!({"server_id": id, "held": held.iter().map(HeldDefinition::json).collect::<Vec<_>>()});
        screen::json(&json!({"servers": waiting.iter().map(server).collect::<Vec<_>>()}));
        return Ok(());
    }
    if waiting.is_empty() {
        let of = options.server.as_deref().map_or_else(String::new, |server| format!(" of server {}", cell(server)));
        screen::out(format_args!("nothing{of} is held back"));
        return Ok(());
    }
    for (server, held) in &waiting {
        print_server(server, held);
        if !screen::can_ask() {
            screen::out(format_args!(
                "accept all with `switchboard pins accept {0} --yes`, refuse with `switchboard pins refuse {0} --yes`\n",
                cell(server)
            ));
            continue;
        }
        screen::forget_typed();
        match ask("Accept? [a]ll, [o]ne by one, [r]efuse all, [s]kip, [q]uit: ", &["a", "o", "r", "s", "q"]).as_str() {
            "a" => decide(common, desk, held.iter(), true).await?,
            "r" => decide(common, desk, held.iter(), false).await?,
            "o" => {
                for one in held {
                    one.print();
                    match ask("Accept this one? [y]es, [r]efuse, [s]kip: ", &["y", "r", "s"]).as_str() {
                        "y" => decide(common, desk, std::iter::once(one), true).await?,
                        "r" => decide(common, desk, std::iter::once(one), false).await?,
                        _ => {}
                    }
                }
            }
            "q" => return Ok(()),
            _ => {}
        }
    }
    Ok(())
}

/// Asks until there is one of the answers. The end of the input is the last one.
fn ask(question: &str, answers: &[&str]) -> String {
    let last = answers.last().copied().unwrap_or_default().to_owned();
    let mut input = io::stdin().lock();
    loop {
        let _ = write!(io::stderr(), "{question}").and_then(|()| io::stderr().flush());
        let mut line = String::new();
        match input.read_line(&mut line) {
            Ok(0) | Err(_) => return last,
            Ok(_) => {}
        }
        let answer = line.trim().to_lowercase();
        if let Some(answer) = answers.iter().find(|known| !answer.is_empty() && answer.starts_with(**known)) {
            return (*answer).to_owned();
        }
    }
}

/// `pins accept` and `pins refuse`: one question for all.
pub(super) async fn answer(common: &Common, desk: &OperatorSession, options: &PinsAccept, accepts: bool) -> Outcome {
    let mut held = Vec::new();
    if options.tools.is_empty() {
        held.extend(waiting(desk, Some(&options.server)).await?.into_values().flatten());
        if held.is_empty() {
            return Err(Failure::failed(format!("nothing of server {} is held back", cell(&options.server))));
        }
    }
    let versions = desk.office.store().pins().versions(Some(&options.server)).await?;
    for tool in &options.tools {
        let pin = super::find(desk, &options.server, tool).await?;
        // What was accepted at first sight and is marked can be accepted by a person: that takes the mark away.
        if pin.state == PinState::Accepted && (!accepts || pin.accepted_by.is_some() || screened(&pin).is_none()) {
            screen::note(format_args!("{} of {} is accepted already", cell(&pin.tool), cell(&pin.server)));
            continue;
        }
        held.push(HeldDefinition::of(pin, &versions));
    }
    if held.is_empty() {
        return Ok(());
    }
    if !common.json {
        print_server(&options.server, &held);
    }
    let (verb, count) = (if accepts { "Accept" } else { "Refuse" }, held.len());
    let question = if count == 1 { format!("{verb} this definition?") } else { format!("{verb} all {count}?") };
    if !options.yes && !screen::can_ask() {
        let done = if accepts { "accepted" } else { "refused" };
        return Err(Failure::usage(format!(
            "nothing was {done}: there is no terminal to ask on; look at it, then say --yes"
        )));
    }
    if options.yes || screen::confirmed(&question) { decide(common, desk, held.iter(), accepts).await } else { Ok(()) }
}

async fn decide<'a>(
    common: &Common,
    desk: &OperatorSession,
    held: impl Iterator<Item = &'a HeldDefinition>,
    accepts: bool,
) -> Outcome {
    let (mut done, mut changed) = (Vec::new(), Vec::new());
    for HeldDefinition { pin, .. } in held {
        // The one that was just shown and no other: a server may show another one by now.
        if accepts {
            match desk.office.accept_definition(&pin.server, &pin.tool, pin.shown_hash).await? {
                Some(now) if now.state != PinState::Quarantined => done.push((&pin.server, &pin.tool)),
                _ => changed.push(&pin.tool),
            }
        } else if desk.office.refuse_definition(&pin.server, &pin.tool, pin.shown_hash).await? {
            done.push((&pin.server, &pin.tool));
        } else {
            changed.push(&pin.tool);
        }
    }
    for tool in &changed {
        screen::note(format_args!("{} has changed again in the meantime: look once more", cell(tool)));
    }
    let word = if accepts { "accepted" } else { "refused" };
    let is_over = !accepts || taken_over(desk, &done).await;
    let done: Vec<&String> = done.iter().map(|(_, tool)| *tool).collect();
    if common.json {
        screen::json(&json!({ word: done }));
    } else if !done.is_empty() {
        let names: Vec<_> = done.iter().map(|tool| cell(tool)).collect();
        let then = match (accepts, is_over) {
            (false, _) => "they stay held back",
            (true, true) => "they can be used",
            (true, false) => "a running Switchboard takes it over within seconds",
        };
        screen::out(format_args!("{word}: {}; {then}", names.join(", ")));
    }
    if changed.is_empty() { Ok(()) } else { Err(Failure::said()) }
}

/// How long kernels that run may take to show what was accepted.
const TAKING_OVER: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Waits until no kernel that runs holds these definitions back any more; `false` where that takes too long.
async fn taken_over(desk: &OperatorSession, accepted: &[(&String, &String)]) -> bool {
    let kernels = Running::all(&desk.loaded.data_dir).await;
    for kernel in &kernels {
        kernel.look_again().await;
    }
    let _waiting = Waiting::begin("waiting until the kernel that runs has taken this over");
    let waited = async {
        for kernel in &kernels {
            while let Ok(Ok(answer)) = kernel.ask(SERVERS_LIST, raw(&json!({}))).await {
                let answer: Value = answer.view().unwrap_or_default();
                if !holds_any(&answer, accepted) {
                    break;
                }
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    };
    tokio::time::timeout(TAKING_OVER, waited).await.is_ok()
}

/// Whether a kernel holds one of these back.
fn holds_any(answer: &Value, accepted: &[(&String, &String)]) -> bool {
    let servers = answer["servers"].as_array().into_iter().flatten();
    let held = servers.flat_map(|server| {
        let names = server["held"].as_array().into_iter().flatten();
        names.map(move |held| (server["id"].as_str(), held[0].as_str()))
    });
    let mut held = held.into_iter();
    held.any(|(id, name)| {
        accepted.iter().any(|(server, tool)| id == Some(server.as_str()) && name == Some(tool.as_str()))
    })
}
