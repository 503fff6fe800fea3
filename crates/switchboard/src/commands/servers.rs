//! `switchboard servers`: how each configured server is.

mod live;
mod switch;

use serde_json::{Value, json};
use switchboard_config::{Config, Endpoint, ErrorKind, Server};
use switchboard_kernel::ClientList;
use switchboard_protocol::{Era, Revision};
use switchboard_wire::Raw;

use crate::Outcome;
use crate::arguments::{Common, Order, Servers};
use crate::commands::login::has_own_credentials;
use crate::listing;
use crate::memory;
use crate::screen::{self, Tone};
use crate::setup;
use crate::sight::{ServerReport, Sight};
use crate::specs;

/// Characters of a problem in the table; `doctor` and `--json` have all of it.
const BRIEF: usize = 160;

/// Shows, or orders, what kernels that run do.
pub(crate) async fn live(common: &Common, options: &Servers) -> Outcome {
    match &options.order {
        Some(order @ (Order::Start(server) | Order::Stop(server) | Order::Drain(server) | Order::Restart(server))) => {
            live::order(common, order, server).await
        }
        Some(Order::Disable(which)) => switch::run(common, &which.server, false).await,
        Some(Order::Enable(which)) => switch::run(common, &which.server, true).await,
        None => live::watch(common, options).await,
    }
}

pub(crate) async fn run(common: &Common) -> Outcome {
    let sight = Sight::open(common).await?;
    let seen = sight.settled().await;
    let (tools, later) = (sight.tools().await, sight.later().await);
    sight.end().await;
    let seen = seen?;
    let lists = tools.map(|tools| lists(&sight.loaded.config, &seen, &tools)).unwrap_or_default();
    if let Some(difference) = sight.difference() {
        screen::note(format_args!("note: {difference}"));
    }
    if let Some(later) = &later {
        screen::note(format_args!("note: {later}"));
    }
    let configured = &sight.loaded.config.servers;
    let mut lines: Vec<Line> = configured.iter().map(|server| Line::of(server, &seen)).collect();
    let others = seen.iter().filter(|one| !configured.iter().any(|server| server.id() == one.id));
    lines.extend(others.map(Line::of_other));
    if common.json {
        let servers: Vec<_> = lines.iter().map(Line::json).collect();
        screen::json(&json!({
            "servers": servers, "clients": listing::json(&lists), "process": sight.process(), "note": sight.difference(),
        }));
        return Ok(());
    }
    if !lines.is_empty() {
        let head = ["SERVER", "STATE", "SPEAKS", "TOOLS", "PROMPTS", "RESOURCES", "PROBLEM"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(lines.iter().map(Line::row));
        screen::out(screen::table(&rows).trim_end());
    }
    if configured.is_empty() {
        screen::out(setup::NO_SERVERS);
    } else if let Some(line) = listing::line(&lists) {
        screen::out(format_args!("Clients are listed {line}"));
    }
    Ok(())
}

/// What a server that runs waits for before it can be used.
fn waits_for(status: &ServerReport) -> Option<String> {
    if !status.permissions_missing.is_empty() {
        let missing = status.permissions_missing.join(", ");
        return Some(format!("cannot be used without the permission {missing}; decide with `switchboard approvals`"));
    }
    if let Some((tool, missing)) = status.tools_lacking.first() {
        let more = match status.tools_lacking.len() {
            1 => String::new(),
            several => format!(" and {} more tools", several - 1),
        };
        let missing = missing.join(", ");
        return Some(format!(
            "its tool `{tool}`{more} cannot be used without the permission {missing}; decide with `switchboard approvals`"
        ));
    }
    held_back(&status.id, &status.held)
}

/// What is said of definitions that are held back: those that nobody has seen before and those that were accepted and are others now are
/// two stories.
fn held_back(id: &str, held: &[(String, String)]) -> Option<String> {
    // The kernel's reasons for one that was accepted before, and for one that came beside those that were.
    let is_change = |why: &str| {
        why.contains("is not the one that was accepted") || why.contains("was not there when its server was")
    };
    let changed = held.iter().filter(|(_, why)| is_change(why)).count();
    let definitions =
        |count: usize| if count == 1 { "1 definition".to_owned() } else { format!("{count} definitions") };
    let told = match (held.len() - changed, changed) {
        (0, 0) => return None,
        (first, 0) => format!("{} suspicious at first sight", definitions(first)),
        (0, changed) => format!("{} changed since they were accepted", definitions(changed)),
        (first, changed) => {
            format!("{} suspicious at first sight and {changed} changed since they were accepted", definitions(first))
        }
    };
    Some(format!("{told}, held back; see and accept: `switchboard pins accept {id}`"))
}

/// What is held or marked, by the name that it is pinned under.
fn told(definitions: &[(String, String)]) -> Vec<Value> {
    definitions.iter().map(|(name, why)| json!({"name": name, "why": why})).collect()
}

/// Whether a fault is one of the file, wherever it is read: a variable may be set where the kernel was started.
const fn is_of_the_file(kind: &ErrorKind) -> bool {
    !matches!(kind, ErrorKind::MissingVariable { .. } | ErrorKind::Untrusted | ErrorKind::BadValue { .. })
}

/// Whether a person could help by logging in: the server wants credentials, and the configuration has none.
fn needs_login(server: &Server, why: &str) -> bool {
    let can = matches!(server.endpoint(), Ok(Endpoint::Http(http)) if !http.legacy_sse && !has_own_credentials(http));
    can && why.contains("refused the credentials (HTTP 401)")
}

/// What is shown of one server.
pub(crate) struct Line {
    pub(crate) id: String,
    pub(crate) state: String,
    pub(crate) problem: Option<String>,
    /// Whether the problem is one that waits for the operator, and nothing is broken.
    pub(crate) waits: bool,
    target: String,
    file: String,
    status: Option<ServerReport>,
}

impl Line {
    pub(crate) fn of(server: &Server, seen: &[ServerReport]) -> Self {
        let status = seen.iter().find(|status| status.id == server.id()).cloned();
        // Of one that cannot be started as it is declared the kernel only repeats why.
        let told = status.as_ref().filter(|status| status.phase != "failed" || server.problem().is_none());
        let (state, problem) = match (told, server.problem()) {
            (Some(status), _) => {
                let (word, why) = (status.phase.as_str(), status.why.as_deref());
                let unfit = status.hidden.iter().filter(|hidden| hidden.unfit).count();
                let unfit = (unfit > 0)
                    .then(|| format!("{unfit} of its definitions not shown, because clients would refuse the list"));
                // A kernel keeps what it had; whether that is meant is for the operator to see.
                let faulty = server.problem().filter(|error| is_of_the_file(error.kind()));
                let faulty =
                    faulty.map(|error| format!("its entry is faulty and was not taken over: {}", error.kind()));
                let others = status.problems.iter().cloned().chain(faulty).chain(waits_for(status)).chain(unfit);
                let others: Vec<String> = others.collect();
                (word, why.map(str::to_owned).or_else(|| (!others.is_empty()).then(|| others.join("; "))))
            }
            (None, _) if !server.enabled() => ("disabled", None),
            (None, Some(error)) => {
                let word = if matches!(error.kind(), ErrorKind::Untrusted) { "untrusted" } else { "faulty" };
                (word, Some(format!("{}; {}", error.kind(), error.help())))
            }
            (None, None) => ("unknown", None),
        };
        let (state, problem) = match problem {
            Some(why) if needs_login(server, &why) => {
                ("needs login", Some(format!("{why}; run `switchboard login {}`", server.id())))
            }
            other => (state, other),
        };
        let waits = status.as_ref().and_then(waits_for).is_some_and(|why| problem.as_ref() == Some(&why));
        Self {
            id: server.id().to_owned(),
            state: state.to_owned(),
            waits,
            problem: problem.map(|problem| screen::plain_line(&problem)),
            target: server.entry.safe_line(),
            file: format!("{}:{}", server.file.display(), server.line),
            status,
        }
    }

    /// One that no file declares: the memory, or one that was registered.
    fn of_other(seen: &ServerReport) -> Self {
        let target = if seen.id == memory::ID { "built in" } else { "registered" };
        Self {
            id: screen::plain_line(&seen.id),
            state: seen.phase.clone(),
            problem: seen.why.clone().or_else(|| waits_for(seen)).map(|problem| screen::plain_line(&problem)),
            waits: waits_for(seen).is_some(),
            target: target.to_owned(),
            file: target.to_owned(),
            status: Some(seen.clone()),
        }
    }

    /// Whether it works, or is not meant to.
    pub(crate) fn is_fine(&self) -> bool {
        matches!(&*self.state, "ready" | "disabled" | "asleep") && self.problem.is_none()
    }

    /// The era and revision that are spoken with it.
    pub(crate) fn speaks(&self) -> Option<String> {
        let revision: Revision = Revision::parse(self.status.as_ref()?.revision.as_ref()?)?;
        let era = match revision.era() {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        };
        Some(format!("{era} {}", revision.as_str()))
    }

    pub(crate) fn counts(&self) -> [usize; 4] {
        self.status.as_ref().map_or([0; 4], |status| status.counts)
    }

    fn row(&self) -> Vec<String> {
        let tone = match &*self.state {
            "ready" if self.problem.is_none() => Tone::Good,
            "ready" | "disabled" | "asleep" | "starting" | "untrusted" | "needs login" => Tone::Doubtful,
            _ => Tone::Bad,
        };
        let [tools, prompts, resources, templates] = self.counts();
        let resources = if templates == 0 { resources.to_string() } else { format!("{resources}+{templates}") };
        vec![
            self.id.clone(),
            screen::toned(&self.state, tone),
            self.speaks().unwrap_or_else(|| "-".to_owned()),
            tools.to_string(),
            prompts.to_string(),
            resources,
            screen::brief(self.problem.as_deref().unwrap_or_default(), BRIEF),
        ]
    }

    pub(crate) fn json(&self) -> Value {
        let [tools, prompts, resources, templates] = self.counts();
        let revision = self.status.as_ref().and_then(|status| status.revision.as_deref());
        let hidden: Vec<Value> = self
            .status
            .iter()
            .flat_map(|status| &status.hidden)
            .map(|hidden| json!({"name": hidden.name, "why": hidden.why}))
            .collect();
        let mended: Vec<Value> = self
            .status
            .iter()
            .flat_map(|status| &status.mended)
            .map(|mended| json!({"name": mended.name, "what": mended.what, "legacy_only": mended.legacy_only}))
            .collect();
        json!({
            "trust_level": self.status.as_ref().map(|status| &status.trust_level),
            "permissions_missing": self.status.as_ref().map(|status| &status.permissions_missing),
            "tools_lacking_permissions": self.status.as_ref().map(|status| {
                let lacking = status.tools_lacking.iter().map(|(tool, missing)| (tool.clone(), json!(missing)));
                lacking.collect::<serde_json::Map<_, _>>()
            }),
            "id": self.id,
            "state": self.state,
            "revision": revision,
            "tools": tools,
            "prompts": prompts,
            "resources": resources,
            "templates": templates,
            "hidden": hidden,
            "mended": mended,
            "held": self.status.as_ref().map(|status| told(&status.held)),
            "marked": self.status.as_ref().map(|status| told(&status.marked)),
            "problem": self.problem,
            "target": self.target,
            "declared": self.file,
        })
    }
}

/// What the known clients are listed of the tools of these servers.
pub(crate) fn lists(config: &Config, seen: &[ServerReport], tools: &[Raw]) -> Vec<ClientList> {
    let memory_is_own = config.servers.iter().any(|server| server.id() == memory::ID);
    let ids: Vec<&str> = seen.iter().map(|server| server.id.as_str()).collect();
    listing::of(&specs::tool_context(&config.settings.tools), memory_is_own, &ids, tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_sight_and_change_are_told_apart() {
        let held = |whys: &[&str]| -> Vec<(String, String)> {
            whys.iter().map(|why| ("tool".to_owned(), (*why).to_owned())).collect()
        };
        let (seen, changed) = ("its definition is suspicious: x", "its definition is not the one that was accepted: y");
        for (whys, expected) in [
            (&[][..], None),
            (&[seen], Some("1 definition suspicious at first sight, held back")),
            (&[changed, changed], Some("2 definitions changed since they were accepted, held back")),
            (
                &[seen, seen, changed],
                Some("2 definitions suspicious at first sight and 1 changed since they were accepted, held back"),
            ),
        ] {
            let told = held_back("git", &held(whys));
            let told = told.as_deref().map(|told| told.split(';').next().unwrap_or_default());
            assert_eq!(told, expected);
        }
    }
}
