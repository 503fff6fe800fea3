//! `switchboard doctor`: looks at everything that can be wrong and says what to do about it.

use std::path::Path;

use serde_json::{Value, json};
use switchboard_config::{Endpoint, Loaded, Origin, TrustLevel, load, read_checked};
use switchboard_kernel::INSTRUCTIONS;
use switchboard_peer::client::Target;
use switchboard_transport::{child, confine};

use crate::Outcome;
use crate::arguments::Common;
use crate::commands::servers::{self, Line};
use crate::failure::{Failure, chain};
use crate::known::KnownTools;
use crate::listing;
use crate::local::Local;
use crate::memory;
use crate::screen::{self, Tone};
use crate::setup;
use crate::sight::Sight;
use crate::specs;
use crate::storage;
use crate::waiting::Waiting;

pub(crate) async fn run(common: &Common) -> Outcome {
    let mut report = Report { live: !common.json, checks: Vec::new() };
    let _waiting = Waiting::begin("looking at files, servers and what this machine can do");
    match load(&setup::sources(common)?) {
        Err(error) => report.problem("configuration", &error.to_string(), None),
        Ok(loaded) => {
            files(&loaded, &mut report);
            data(&loaded, &mut report);
            store(&loaded, &mut report).await;
            address(&loaded, &mut report).await;
            isolation(&mut report).await;
            if specs::understood(&loaded.config.settings).is_ok() {
                servers(common, &loaded, &mut report).await;
                misnamed(&loaded, &mut report).await;
            }
        }
    }
    report.print(common);
    if report.problems() > 0 { Err(Failure::said()) } else { Ok(()) }
}

fn files(loaded: &Loaded, report: &mut Report) {
    for file in &loaded.files {
        let name = format!("{} ({})", file.path.display(), file.origin);
        match &file.error {
            None => report.fine(&name, "can be read"),
            Some(error) => report.problem(&name, &error.to_string(), None),
        }
    }
    if loaded.files.is_empty() {
        report.note("configuration", "no file was found", Some(setup::NO_SERVERS.to_owned()));
    }
    for warning in &loaded.warnings {
        report.note("configuration", warning, None);
    }
    if let Some(warning) = setup::without_effect(&loaded.config) {
        report.note("configuration", &warning, None);
    }
    if let Some(warning) = memory::stood_in_for(loaded) {
        report.note("memory", &warning, None);
    }
    for error in &loaded.config.rejected {
        report.problem("configuration", &error.to_string(), None);
    }
    if let Err(failure) = specs::understood(&loaded.config.settings) {
        report.problem("configuration", failure.message().unwrap_or_default(), None);
    }
}

/// The folder with tokens and approvals.
fn data(loaded: &Loaded, report: &mut Report) {
    let folder = &loaded.data_dir;
    let name = folder.display().to_string();
    if !folder.exists() {
        report.fine(&name, "will be made at the first start");
        return;
    }
    if let Some(mode) = open_to_others(folder) {
        report.problem(
            &name,
            &format!("others may write to it (mode {mode:o})"),
            Some(format!("run `chmod go-w {name}`")),
        );
    } else {
        report.fine(&name, "is yours alone to change");
    }
    let trust = folder.join("trust.json");
    if trust.exists()
        && let Err(error) = read_checked(&trust)
    {
        report.problem("approvals", &error.to_string(), None);
    }
}

/// Whether the store can be opened, and whether anybody has a token. Looking makes no store.
async fn store(loaded: &Loaded, report: &mut Report) {
    if !storage::exists(loaded) {
        return;
    }
    let store = match storage::open_store(loaded).await {
        Ok(store) => store,
        Err(failure) => return report.problem("store", failure.message().unwrap_or_default(), None),
    };
    match store.tokens().list().await {
        Ok(tokens) => {
            let now = jiff::Timestamp::now();
            let now = store.remembered_time().await.ok().flatten().map_or(now, |latest| latest.max(now));
            let good = tokens.iter().filter(|token| token.is_valid(now)).count();
            report.fine("store", &format!("can be opened; {good} of {} tokens are good", tokens.len()));
        }
        Err(error) => report.problem("store", &chain(&error), None),
    }
    let _ = store.close().await;
}

/// Names of the configuration that are of no tool, as far as the servers have shown theirs.
async fn misnamed(loaded: &Loaded, report: &mut Report) {
    if !storage::exists(loaded) {
        return;
    }
    let Ok(store) = storage::open_store(loaded).await else { return };
    if let Ok(known) = KnownTools::read(&store).await {
        for text in known.misnamed(&loaded.config) {
            report.note("names of tools", &text, Some("`switchboard tools --names` lists those there are".to_owned()));
        }
    }
    let _ = store.close().await;
}

#[cfg(unix)]
fn open_to_others(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(folder).ok()?.permissions().mode() & 0o777;
    (mode & 0o022 != 0).then_some(mode)
}

#[cfg(not(unix))]
fn open_to_others(_: &Path) -> Option<u32> {
    None
}

async fn address(loaded: &Loaded, report: &mut Report) {
    let address = loaded.config.settings.listen;
    let name = format!("address {address}");
    if !address.ip().is_loopback() {
        report.note(&name, "can be reached from other machines; `serve` wants --allow-remote for it", None);
    }
    match tokio::net::TcpListener::bind(address).await {
        Ok(_) => report.fine(&name, "is free"),
        // That may well be the kernel itself, at work.
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => report.note(
            &name,
            "is in use",
            Some("fine if Switchboard runs there already; else choose another with `listen` or --listen".to_owned()),
        ),
        Err(error) => {
            report.problem(
                &name,
                &error.to_string(),
                Some("choose another with `listen` in the configuration".to_owned()),
            );
        }
    }
}

/// What this machine can hold servers to.
async fn isolation(report: &mut Report) {
    let found = match confine::ability().await {
        Ok(found) => found,
        Err(refusal) => return report.note("isolation", &refusal.to_string(), None),
    };
    let missing: Vec<String> = found
        .abilities
        .iter()
        .filter_map(|one| Some(format!("{} (for {}): {}", one.name, one.used_for, one.missing.as_ref()?)))
        .collect();
    let next = Some("see docs/isolation.md for what each is good for, and what can stand in".to_owned());
    match (found.can_confine(), missing.is_empty()) {
        (_, true) if found.can_confine() => report.fine("isolation", "servers of every trust level can be confined"),
        (true, _) => report.note("isolation", &format!("is only there in part; missing: {}", missing.join("; ")), next),
        (false, true) => report.note("isolation", "this system has no means to confine servers", None),
        (false, false) => report.note("isolation", &format!("is not there; missing: {}", missing.join("; ")), next),
    }
}

async fn servers(common: &Common, loaded: &Loaded, report: &mut Report) {
    if loaded.config.servers.is_empty() && !loaded.files.is_empty() {
        report.note("servers", setup::NO_SERVERS, None);
    }
    let sight = match Sight::open(common).await {
        Ok(sight) => sight,
        Err(failure) => {
            report.problem("store", failure.message().unwrap_or("cannot be opened"), None);
            return;
        }
    };
    let seen = sight.settled().await;
    let (tools, later) = (sight.tools().await, sight.later().await);
    sight.end().await;
    let status = match seen {
        Ok(seen) => seen,
        Err(failure) => {
            report.problem("kernel", failure.message().unwrap_or("does not answer"), None);
            return;
        }
    };
    if let Some(process) = sight.process() {
        report.fine("kernel", &format!("runs as process {process}; its servers are looked at"));
    }
    if let Some(difference) = sight.difference() {
        report.note("kernel", &difference, None);
    }
    if let (Ok(tools), false) = (tools, loaded.config.servers.is_empty()) {
        let lists = servers::lists(&loaded.config, &status, &tools);
        listing::line(&lists).iter().for_each(|line| report.fine("lists of clients", line));
    }
    if let Some(later) = &later {
        report.note("kernel", later, None);
    }
    let differs = sight.difference().is_some();
    let starts = if sight.process().is_some() { "runs" } else { "starts" };
    let all = specs::specs(&loaded.config, &loaded.data_dir);
    for server in &loaded.config.servers {
        let line = Line::of(server, &status);
        let name = format!("server \"{}\"", line.id);
        let target = server.entry.safe_line();
        match (&*line.state, server.problem()) {
            ("disabled", _) => report.note(&name, "is switched off", None),
            // At a kernel where other variables hold it may be ready.
            ("faulty" | "untrusted", Some(error)) => report.problem(&name, &error.to_string(), None),
            // Where the kernel has the variables that are missing here, the entry is not faulty there.
            ("ready" | "asleep", Some(error)) if !differs && sight.process().is_some() => {
                let next =
                    "what runs is the entry as it was before; with the next start of the kernel the server is gone";
                report.problem(&name, &error.to_string(), Some(next.to_owned()));
            }
            ("ready" | "asleep", _) => {
                let speaks = line.speaks().unwrap_or_default();
                report.fine(&name, &format!("{starts}, speaks {speaks}, offers {}", offered(line.counts())));
                if let Some(problem) = &line.problem {
                    let next = (!line.waits).then(|| "tell its author, or look at its log output".to_owned());
                    report.problem(&name, problem, next);
                }
            }
            (state, _) => {
                let why = line.problem.clone().unwrap_or_else(|| "it did not say why".to_owned());
                let spec = all.iter().find(|spec| *spec.id == *server.id()).filter(|_| !differs);
                let remedy = match spec {
                    Some(spec) => remedy(loaded, server, spec, &why, common.json).await,
                    None => None,
                };
                let unset = unset(&server.entry.pass_env, child::names()).filter(|_| !differs);
                let next = match remedy {
                    // A kernel has the variables of the client that started it, whatever its files say now.
                    Some(remedy) if sight.process().is_some() => format!("{remedy}. Then {AT_CLIENTS}"),
                    Some(remedy) => remedy,
                    // A server that hangs has started: no variable that is missing makes it wait.
                    None if differs && !why.contains(SILENT) => AT_CLIENTS.to_owned(),
                    None => next(server, &why, unset.is_some()),
                };
                let next = match unset {
                    Some(unset) => format!("{unset}. Else {next}"),
                    None => next,
                };
                report.problem(&name, &format!("{state}: {why}\n  it is declared as: {target}"), Some(next));
            }
        }
        if let Some((detail, next)) = setup::relative_paths(server, &loaded.data_dir) {
            report.note(&name, &detail, Some(next));
        }
        for hidden in status.iter().filter(|status| status.id == server.id()).flat_map(|status| &status.hidden) {
            // A line break in a name could pass for a line of this report.
            let (hidden, why) = (screen::plain_line(&hidden.name), screen::plain_line(&hidden.why));
            report.note(&name, &format!("`{hidden}` is not shown to clients: {why}"), None);
        }
        for status in status.iter().filter(|status| status.id == server.id()) {
            // Of what is in no list, only this tells that it is held.
            for (held, why) in status.held.iter().filter(|(held, _)| held == INSTRUCTIONS) {
                let (held, why) = (screen::plain_line(held), screen::plain_line(why));
                report.note(&name, &format!("`{held}` is not shown to clients: {why}"), None);
            }
            for (marked, found) in &status.marked {
                let (marked, found) = (screen::plain_line(marked), screen::plain_line(found));
                report.note(&name, &format!("`{marked}` is shown with a mark: {found}"), None);
            }
        }
        for mended in status.iter().filter(|status| status.id == server.id()).flat_map(|status| &status.mended) {
            let shown = screen::plain_line(&mended.name);
            if !mended.what.is_empty() {
                let what = screen::plain_line(&mended.what.join(", "));
                report.note(&name, &format!("`{shown}` is shown with mended members, tell its author: {what}"), None);
            }
            if !mended.legacy_only.is_empty() {
                let what = screen::plain_line(&mended.legacy_only.join(", "));
                report.note(&name, &format!("`{shown}` is shown to legacy clients in another form: {what}"), None);
            }
        }
    }
}

/// What reaches a kernel that runs, beside its files.
const AT_CLIENTS: &str =
    "set what it lacks where your clients are started (`env` of their entry for Switchboard), and start them again";

/// Tries whether a server that does not come up lacks a variable that it did not get. Says what to do then.
async fn remedy(
    loaded: &Loaded,
    server: &switchboard_config::Server,
    spec: &switchboard_kernel::ServerSpec,
    why: &str,
    quiet: bool,
) -> Option<String> {
    let Target::Command(command) = &spec.target else { return None };
    let wanted = child::wanted(command, why, child::names());
    let (secret, plain): (Vec<String>, Vec<String>) = wanted.into_iter().partition(|name| child::may_be_secret(name));
    let place = format!("{}:{}", server.file.display(), server.line);
    let listed = |names: &[String]| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let advice = || {
        let names = secret.join(", ");
        format!(
            "it may need {names}, which your shell has and it does not get; if you want it to have that, add \
             `pass_env = [{}]` to {place}",
            listed(&secret)
        )
    };
    let advised = (!secret.is_empty()).then(advice);
    // Nobody but the user gives a secret away, and what a project brings or what is not trusted gets nothing on trial.
    let is_own = server.origin != Origin::Project && server.trust_level() >= TrustLevel::Standard;
    let asks = || {
        let question = format!("Try \"{}\" with {}? It gets the value.", server.id(), secret.join(", "));
        !secret.is_empty() && !quiet && screen::can_ask() && screen::confirmed(&question)
    };
    let tried = if is_own && asks() { [plain, secret.clone()].concat() } else { plain };
    if !is_own || tried.is_empty() {
        return advised;
    }
    screen::note(format_args!("trying \"{}\" with {}", server.id(), tried.join(", ")));
    let mut command = command.clone();
    command.pass_env.extend(tried.iter().cloned());
    let spec = switchboard_kernel::ServerSpec { target: Target::Command(command), ..spec.clone() };
    let local = Local::only(loaded.clone(), spec).await.ok()?;
    local.settle().await;
    let seen = local.seen();
    local.end().await;
    if Line::of(server, &seen).state == "ready" {
        return Some(format!("it starts with {}: add `pass_env = [{}]` to {place}", tried.join(", "), listed(&tried)));
    }
    // With the secrets it did not start either.
    advised.filter(|_| !secret.iter().all(|name| tried.contains(name)))
}

/// What programs say whose package was installed in part.
const HALF_PACKAGES: &[&str] =
    &["Cannot find package", "Cannot find module", "ERR_MODULE_NOT_FOUND", "ModuleNotFoundError"];

/// What is said of a server that was started and did not answer in time.
const SILENT: &str = "did not answer";

/// What to do about names in `pass_env` of which there is no variable.
fn unset(pass_env: &[String], there: impl Iterator<Item = String>) -> Option<String> {
    let there: Vec<String> = there.collect();
    let unset: Vec<String> =
        pass_env.iter().filter(|name| !there.contains(name)).map(|name| format!("`{name}`")).collect();
    (!unset.is_empty()).then(|| {
        format!(
            "{} stands in its `pass_env` and is not set here: if it needs that, set it where Switchboard is started",
            unset.join(", ")
        )
    })
}

/// What to do about a server that does not come up.
fn next(server: &switchboard_config::Server, why: &str, is_unset: bool) -> String {
    let place = format!("{}:{}", server.file.display(), server.line);
    let fetched = matches!(server.endpoint(), Ok(Endpoint::Stdio(stdio)) if child::fetches(&stdio.program));
    if fetched && HALF_PACKAGES.iter().any(|said| why.contains(said)) {
        return "parts of its package are missing: an installation was broken off. Remove the package runner's cache (for npx the \
                folder `_npx` in what `npm config get cache` prints, for uvx by `uv cache clean`) and start it again"
            .to_owned();
    }
    if fetched && why.contains(SILENT) {
        return format!(
            "if its package is still being fetched, run that command by hand once and wait until it is there; \
             `start_timeout_ms` in {place} gives it longer"
        );
    }
    match server.endpoint() {
        Ok(Endpoint::Stdio(_)) if why.contains(SILENT) => format!(
            "run that command by hand and see whether it waits for something; `start_timeout_ms` in {place} gives it longer"
        ),
        Ok(Endpoint::Stdio(_)) if is_unset => {
            format!("run that command by hand to see what it says, then change {place}")
        }
        Ok(Endpoint::Stdio(_)) => format!(
            "run that command by hand to see what it says, then change {place}; if it works by hand, it may need a \
             variable of your shell: servers get few of them, `pass_env` names others"
        ),
        Ok(Endpoint::Http(_)) => format!("check address and token in {place}, and that the server is up"),
        Ok(Endpoint::Address(_)) => format!("check the address in {place}, and that the server is up"),
        Err(_) => format!("change {place}"),
    }
}

/// What was found.
struct Report {
    /// Whether each is told as it is found.
    live: bool,
    checks: Vec<Check>,
}

struct Check {
    what: String,
    state: &'static str,
    detail: String,
    next: Option<String>,
}

impl Check {
    fn tell(&self) {
        let tone = match self.state {
            "ok" => Tone::Good,
            "note" => Tone::Doubtful,
            _ => Tone::Bad,
        };
        let word = screen::toned(&format!("{:7}", self.state), tone);
        screen::out(format_args!("{word} {}: {}", self.what, self.detail));
        if let Some(next) = &self.next {
            screen::out(format_args!("        next: {next}"));
        }
    }
}

impl Report {
    fn fine(&mut self, what: &str, detail: &str) {
        self.add("ok", what, detail, None);
    }

    fn note(&mut self, what: &str, detail: &str, next: Option<String>) {
        self.add("note", what, detail, next);
    }

    fn problem(&mut self, what: &str, detail: &str, next: Option<String>) {
        self.add("problem", what, detail, next);
    }

    fn add(&mut self, state: &'static str, what: &str, detail: &str, next: Option<String>) {
        let check = Check { what: what.to_owned(), state, detail: screen::plain(detail), next };
        if self.live {
            check.tell();
        }
        self.checks.push(check);
    }

    fn problems(&self) -> usize {
        self.checks.iter().filter(|check| check.state == "problem").count()
    }

    fn print(&self, common: &Common) {
        if common.json {
            let checks: Vec<Value> = self
                .checks
                .iter()
                .map(|check| json!({"what": check.what, "state": check.state, "detail": check.detail, "next": check.next}))
                .collect();
            screen::json(&json!({"checks": checks, "problems": self.problems()}));
            return;
        }
        match self.problems() {
            0 => screen::out("no problem was found"),
            1 => screen::out("1 problem was found"),
            count => screen::out(format_args!("{count} problems were found")),
        }
    }
}

/// How much a server offers, in words, without what it has none of.
fn offered(counts: [usize; 4]) -> String {
    let kinds = ["tool", "prompt", "resource", "template"];
    let word = |(count, kind): (usize, &str)| {
        (count > 0).then(|| format!("{count} {kind}{}", if count == 1 { "" } else { "s" }))
    };
    let words: Vec<String> = counts.into_iter().zip(kinds).filter_map(word).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_has_none_of_is_not_counted() {
        assert_eq!(offered([1, 0, 7, 2]), "1 tool, 7 resources, 2 templates");
        assert_eq!(offered([0; 4]), "nothing");
    }

    #[test]
    fn a_name_in_pass_env_without_a_variable_is_told() {
        let there = || ["HOME", "ACME_REGION"].map(str::to_owned).into_iter();
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(unset(&[], there()), None);
        assert_eq!(unset(&named(&["ACME_REGION"]), there()), None);
        let told = unset(&named(&["ACME_REGION", "ACME_KEY"]), there()).unwrap();
        assert!(told.starts_with("`ACME_KEY` stands in its `pass_env` and is not set here"), "{told}");
    }

    #[test]
    fn variables_are_proposed_where_one_may_be_missing() {
        let text = "[[servers]]\nid = 'a'\ncommand = '/srv/a'\n";
        let environment = switchboard_config::Environment::default();
        let config = switchboard_config::Config::parse(Path::new("mgp.toml"), text, &environment).unwrap();
        let told = |why, is_unset| next(&config.servers[0], why, is_unset);
        assert!(told("it ended with code 1", false).contains("`pass_env` names others"));
        assert!(!told("it ended with code 1", true).contains("pass_env"), "which one is told already");
        let hangs = told("it did not answer `connect` within 30s", false);
        assert!(!hangs.contains("variable") && hangs.contains("start_timeout_ms"), "{hangs}");
    }
}
