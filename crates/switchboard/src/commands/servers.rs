//! `switchboard servers`: how each configured server is.

mod live;

use serde_json::{Value, json};
use switchboard_config::{Endpoint, ErrorKind, Server};
use switchboard_kernel::{Phase, ServerStatus};
use switchboard_protocol::Era;

use crate::Outcome;
use crate::arguments::{Common, Servers};
use crate::commands::login::has_own_credentials;
use crate::local::Local;
use crate::screen::{self, Tone};
use crate::setup;

/// Characters of a problem in the table; `doctor` and `--json` have all of it.
const BRIEF: usize = 160;

/// Shows, or orders, what kernels that run do.
pub(crate) async fn live(common: &Common, options: &Servers) -> Outcome {
    match &options.order {
        Some(order) => live::order(common, order, order.server()).await,
        None => live::watch(common, options).await,
    }
}

pub(crate) async fn run(common: &Common) -> Outcome {
    let local = Local::start(common).await?;
    local.settle().await;
    let status = local.kernel.status();
    local.end().await;
    let lines: Vec<Line> = local.loaded.config.servers.iter().map(|server| Line::of(server, &status)).collect();
    if common.json {
        screen::json(&json!({"servers": lines.iter().map(Line::json).collect::<Vec<_>>()}));
    } else if lines.is_empty() {
        screen::out(setup::NO_SERVERS);
    } else {
        let head = ["SERVER", "STATE", "SPEAKS", "TOOLS", "PROMPTS", "RESOURCES", "PROBLEM"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(lines.iter().map(Line::row));
        screen::out(screen::table(&rows).trim_end());
    }
    Ok(())
}

/// The word for where a server is in its life, and why.
pub(crate) fn state(phase: &Phase) -> (&'static str, Option<&str>) {
    match phase {
        Phase::Starting => ("starting", None),
        Phase::Ready => ("ready", None),
        Phase::Restarting(why) => ("restarting", Some(why)),
        Phase::Failed(why) => ("failed", Some(why)),
        Phase::Refused(why) => ("refused", Some(why)),
        Phase::Draining => ("draining", None),
        Phase::Asleep => ("asleep", None),
        Phase::Stopped => ("stopped", None),
    }
}

/// What a server that runs waits for before it can be used.
fn waits_for(status: &ServerStatus) -> Option<String> {
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
    let held = (status.held.len(), &status.id);
    (held.0 > 0).then(|| {
        format!("{} of its definitions held back; see and accept: `switchboard pins accept {}`", held.0, held.1)
    })
}

/// What is held or marked, by the name that it is pinned under.
fn told(definitions: &[(String, String)]) -> Vec<Value> {
    definitions.iter().map(|(name, why)| json!({"name": name, "why": why})).collect()
}

/// Whether a person could help by logging in: the server wants credentials, and the configuration has none.
fn needs_login(server: &Server, why: &str) -> bool {
    let can = matches!(server.endpoint(), Ok(Endpoint::Http(http)) if !http.legacy_sse && !has_own_credentials(http));
    can && why.contains("refused the credentials (HTTP 401)")
}

/// What is shown of one server.
pub(crate) struct Line {
    pub(crate) id: String,
    pub(crate) state: &'static str,
    pub(crate) problem: Option<String>,
    /// Whether the problem is one that waits for the operator, and nothing is broken.
    pub(crate) waits: bool,
    target: String,
    file: String,
    status: Option<ServerStatus>,
}

impl Line {
    pub(crate) fn of(server: &Server, status: &[ServerStatus]) -> Self {
        let status = status.iter().find(|status| &*status.id == server.id()).cloned();
        let (state, problem) = match (&status, server.problem()) {
            (Some(status), _) => {
                let (word, why) = state(&status.phase);
                let unfit = status.hidden.iter().filter(|hidden| hidden.unfit).count();
                let unfit = (unfit > 0)
                    .then(|| format!("{unfit} of its definitions not shown, because clients would refuse the list"));
                let others = status.problems.iter().cloned().chain(waits_for(status)).chain(unfit);
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
            state,
            waits,
            problem: problem.map(|problem| screen::plain_line(&problem)),
            target: server.entry.safe_line(),
            file: format!("{}:{}", server.file.display(), server.line),
            status,
        }
    }

    /// Whether it works, or is not meant to.
    pub(crate) fn is_fine(&self) -> bool {
        matches!(self.state, "ready" | "disabled") && self.problem.is_none()
    }

    /// The era and revision that are spoken with it.
    pub(crate) fn speaks(&self) -> Option<String> {
        let revision = self.status.as_ref()?.revision?;
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
        let tone = match self.state {
            "ready" if self.problem.is_none() => Tone::Good,
            "ready" | "disabled" | "starting" | "untrusted" | "needs login" => Tone::Doubtful,
            _ => Tone::Bad,
        };
        let [tools, prompts, resources, templates] = self.counts();
        let resources = if templates == 0 { resources.to_string() } else { format!("{resources}+{templates}") };
        vec![
            self.id.clone(),
            screen::toned(self.state, tone),
            self.speaks().unwrap_or_else(|| "-".to_owned()),
            tools.to_string(),
            prompts.to_string(),
            resources,
            screen::brief(self.problem.as_deref().unwrap_or_default(), BRIEF),
        ]
    }

    pub(crate) fn json(&self) -> Value {
        let [tools, prompts, resources, templates] = self.counts();
        let revision = self.status.as_ref().and_then(|status| status.revision);
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
            "trust_level": self.status.as_ref().map(|status| status.trust.as_str()),
            "permissions_missing": self.status.as_ref().map(|status| &status.permissions_missing),
            "tools_lacking_permissions": self.status.as_ref().map(|status| {
                let lacking = status.tools_lacking.iter().map(|(tool, missing)| (tool.clone(), json!(missing)));
                lacking.collect::<serde_json::Map<_, _>>()
            }),
            "id": self.id,
            "state": self.state,
            "revision": revision.map(|revision| revision.as_str()),
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
