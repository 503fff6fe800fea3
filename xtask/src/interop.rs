//! Every client through the kernel to every server, and the same without the kernel.
//!
//! This file decides which pairs run; `servers` knows how each server starts and which answers
//! are right, `clients` knows how each client is run, `page` serves the page for the fetch server,
//! `found` lets them find tools, `agents` are Claude Code and Codex with a model of ours, `hardship` kills, stops and drains servers while others are used.

mod agents;
mod clients;
mod found;
mod hardship;
mod page;
mod servers;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use self::clients::{CLIENTS, Client, Era, Target};
use self::page::Page;
use self::servers::{Server, Step};
use crate::layout::Layout;
use crate::peers::{self, Peers};
use crate::process::Background;
use crate::tally::{Tally, brief, say, seconds};

/// Every client compares its whole list with the servers': nothing is left to be found, and slow starts on a busy machine are
/// waited for.
const SETTINGS: &str = "data_dir = \"data\"\n[limits]\nlist_wait_ms = 25000\n[tool_context]\nlevel = \"all\"\n";

const START_LIMIT: Duration = Duration::from_secs(60);
/// Each job is a client and up to nine servers, mostly waiting for each other.
const WORKERS: usize = 3;
/// Clients that also meet each server as the only one behind the kernel: one of each era.
const SINGLE_CLIENTS: &[&str] = &["ts1", "python-mcp"];

/// What to run.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Clients and servers face to face, to tell our own mistakes from those of the peers.
    pub(crate) direct: bool,
    /// Print every answer.
    pub(crate) verbose: bool,
    /// Only jobs whose name contains this word.
    pub(crate) only: Option<String>,
}

/// One client run: a connection, the steps, and what the answers must contain.
struct Job<'a> {
    name: String,
    client: &'a Client,
    target: Target,
    steps: Vec<Step>,
    /// The era the connection must use, where the far end offers both.
    era: Option<Era>,
}

/// Runs the matrix and counts every answer.
pub(crate) fn run(layout: &Layout, options: &Options) -> Result<Tally> {
    let peers = peers::install(layout)?;
    let place = layout.scratch(if options.direct { "interop-direct" } else { "interop" })?;
    let place = place.canonicalize().with_context(|| format!("resolving {}", place.display()))?;
    let page = Page::serve()?;
    let bench = Bench { layout, peers: &peers, page: &page, place: &place };
    // Servers that several jobs share live as long as the run.
    let mut shared = Vec::new();
    let jobs = if options.direct { bench.direct_jobs(&mut shared)? } else { bench.kernel_jobs(&mut shared)? };
    let wanted = |job: &Job<'_>| options.only.as_deref().is_none_or(|word| job.name.contains(word));
    let jobs: Vec<Job<'_>> = jobs.into_iter().filter(wanted).collect();
    let apart = |name: &str| !options.direct && options.only.as_deref().is_none_or(|word| name.contains(word));
    let hard = apart(hardship::NAME);
    // Only where asked for: they are large programs of others that change from week to week.
    let with_agents = !options.direct && options.only.as_deref().is_some_and(|word| agents::NAME.contains(word));
    if jobs.is_empty() && !hard && !with_agents {
        bail!("no job is called so");
    }
    let mut tally = bench.run_all(&jobs, options.verbose);
    drop(shared);
    if with_agents {
        tally.add(agents::run(layout, &peers, &bench.servers(agents::NAME)?, &place.join(agents::NAME))?);
    }
    if hard {
        // Alone, because it looks at times.
        tally.add(hardship::run(&layout.kernel()?, bench.servers("hardship")?, &place.join("hardship"))?);
    }
    Ok(tally)
}

/// Everything a job needs to be set up.
struct Bench<'a> {
    layout: &'a Layout,
    peers: &'a Peers,
    page: &'a Page,
    place: &'a Path,
}

impl<'a> Bench<'a> {
    fn servers(&self, job: &str) -> Result<Vec<Server>> {
        servers::prepare(self.layout, self.peers, self.page, &self.place.join(job))
    }

    /// Every client with every server over stdio, and with one server of each era over HTTP.
    fn direct_jobs(&self, shared: &mut Vec<Background>) -> Result<Vec<Job<'a>>> {
        let mut jobs = Vec::new();
        for client in CLIENTS {
            for server in self.servers(&format!("direct-{}", client.name))? {
                let steps = server.steps("", client.answers);
                let name = format!("{} {} stdio", client.name, server.id);
                let target = Target::stdio(&server.command, &server.args, &server.env);
                jobs.push(Job { name, client, target, steps, era: None });
            }
        }
        let rmcp = self.layout.rmcp_peer()?;
        let mut command = Command::new(rmcp);
        command.args(["server", "--listen", "127.0.0.1:0"]);
        let served = Background::serve(&mut command, &self.place.join("rmcp.log"), START_LIMIT)?;
        let servers = self.servers("direct-http")?;
        let rmcp = servers.iter().find(|server| server.id == "rmcp").context("no rmcp server in the table")?;
        for client in CLIENTS {
            let name = format!("{} rmcp http", client.name);
            let steps = rmcp.steps("", client.answers);
            jobs.push(Job { name, client, target: Target::http(&served.url), steps, era: Some(client.era) });
        }
        shared.push(served);
        Ok(jobs)
    }

    /// All servers behind one kernel for every client, over HTTP and over stdio; and each server
    /// as the only one, where the kernel must be transparent.
    fn kernel_jobs(&self, shared: &mut Vec<Background>) -> Result<Vec<Job<'a>>> {
        let kernel = self.layout.kernel()?;
        let mut jobs = Vec::new();
        let servers = self.servers("http-all")?;
        let config = self.config("http-all", SETTINGS, &servers)?;
        let mut command = Command::new(&kernel);
        command.arg("serve").arg("--config").arg(&config).args(["--listen", "127.0.0.1:0", "--no-auth"]);
        let served = Background::serve(&mut command, &self.place.join("http-all/kernel.log"), START_LIMIT)?;
        for client in CLIENTS {
            let name = format!("{} all http", client.name);
            let target = Target::http(&served.url);
            jobs.push(Job { name, client, target, steps: all_steps(&servers, client), era: Some(client.era) });
        }
        shared.push(served);
        for client in CLIENTS.iter().filter(|client| client.one_connection) {
            let folder = format!("stdio-all-{}", client.name);
            let servers = self.servers(&folder)?;
            let config = self.config(&folder, SETTINGS, &servers)?;
            let name = format!("{} all stdio", client.name);
            let target = kernel_stdio(&kernel, &config);
            jobs.push(Job { name, client, target, steps: all_steps(&servers, client), era: Some(client.era) });
        }
        for client in CLIENTS.iter().filter(|client| SINGLE_CLIENTS.contains(&client.name) || !client.one_connection) {
            let prepared = self.servers(&format!("single-{}", client.name))?;
            // A client that connects anew for each step is kept to one server.
            let count = if client.one_connection { prepared.len() } else { 1 };
            for server in prepared.into_iter().take(count) {
                let folder = format!("single-{}/{}", client.name, server.id);
                let steps = server.steps("", client.answers);
                let name = format!("{} {} alone", client.name, server.id);
                let config = self.config(&folder, SETTINGS, &[server])?;
                let target = kernel_stdio(&kernel, &config);
                jobs.push(Job { name, client, target, steps, era: Some(client.era) });
            }
        }
        // One server whose definitions clients refuse must not cost them those of another.
        for client in CLIENTS.iter().filter(|client| client.one_connection) {
            let folder = format!("odd-{}", client.name);
            let beside = self.servers(&folder)?.into_iter().filter(|server| server.id == "time");
            let servers: Vec<Server> = std::iter::once(servers::odd(self.layout, self.peers)).chain(beside).collect();
            let config = self.config(&folder, SETTINGS, &servers)?;
            let name = format!("{} odd", client.name);
            let target = kernel_stdio(&kernel, &config);
            jobs.push(Job { name, client, target, steps: all_steps(&servers, client), era: Some(client.era) });
        }
        for client in CLIENTS.iter().filter(|client| found::CLIENTS.contains(&client.name)) {
            let folder = format!("{}-{}", found::NAME, client.name);
            let servers = found::fifteen(&self.servers(&folder)?);
            let config = self.config(&folder, found::SETTINGS, &servers)?;
            let name = format!("{} {} among fifteen", client.name, found::NAME);
            let target = kernel_stdio(&kernel, &config);
            jobs.push(Job { name, client, target, steps: found::steps(&servers), era: Some(client.era) });
        }
        Ok(jobs)
    }

    fn config(&self, folder: &str, settings: &str, servers: &[Server]) -> Result<PathBuf> {
        let path = self.place.join(folder).join("mgp.toml");
        // What another run, or the user of this machine, has accepted or held back must not count here.
        let text: String = std::iter::once(settings.to_owned()).chain(servers.iter().map(Server::config)).collect();
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    }

    fn run_all(&self, jobs: &[Job<'_>], verbose: bool) -> Tally {
        // The clients of one kernel share its servers. One that asks without naming the call serves them in turns once it
        // has asked something; before that, two first questions at the same moment could be either's. So one goes first.
        let first = jobs.iter().position(|job| matches!(job.target, Target::Http { .. })).unwrap_or_default();
        let (before, after) = jobs.split_at(first);
        let Some((alone, after)) = after.split_first() else { return Tally::default() };
        let mut tally = self.run_one(alone, verbose);
        tally.add(self.run_at_once(&before.iter().chain(after).collect::<Vec<_>>(), verbose));
        tally
    }

    fn run_at_once(&self, jobs: &[&Job<'_>], verbose: bool) -> Tally {
        let next = AtomicUsize::new(0);
        let tally = Mutex::new(Tally::default());
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let counted = self.run_one(job, verbose);
                        // A poisoned lock only means that another worker panicked; its panic ends the run.
                        tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner).add(counted);
                    }
                });
            }
        });
        tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn run_one(&self, job: &Job<'_>, verbose: bool) -> Tally {
        let started = Instant::now();
        let mut tally = Tally::default();
        let mut protocol = String::from("?");
        match job.client.run(self.layout, self.peers, self.place, &job.target, &job.steps) {
            Err(error) => tally.fail(format!("{}: {error:#}", job.name)),
            Ok(report) => {
                protocol = report.protocol;
                match job.era {
                    Some(era) if !era.matches(&protocol) => {
                        tally.fail(format!("{}: speaks {protocol}, expected {era:?}", job.name));
                    }
                    _ => tally.pass(),
                }
                for step in &job.steps {
                    let answer = report.answers.get(&step.id);
                    match step.judge(answer) {
                        Ok(text) if verbose => {
                            tally.pass();
                            say(&format!("        {} {}: {}", job.name, step.id, brief(&text, 200)));
                        }
                        Ok(_) => tally.pass(),
                        Err(reason) => tally.fail(format!("{} {}: {}", job.name, step.id, brief(&reason, 400))),
                    }
                }
            }
        }
        let word = if tally.failed == 0 { "ok" } else { "FAILED" };
        let time = seconds(started.elapsed());
        let mut lines = format!(
            "{word:7} {:36} {:11} {:>2} of {:>2} ({time})",
            job.name,
            protocol,
            tally.passed,
            tally.passed + tally.failed
        );
        for failure in &tally.failures {
            lines.push_str("\n        ");
            lines.push_str(failure);
        }
        say(&lines);
        tally
    }
}

/// The steps of all servers under the names the kernel gives them when there are several.
fn all_steps(servers: &[Server], client: &Client) -> Vec<Step> {
    servers.iter().flat_map(|server| server.steps(&format!("{}__", server.id), client.answers)).collect()
}

fn kernel_stdio(kernel: &Path, config: &Path) -> Target {
    let args = ["stdio".to_owned(), "--own".to_owned(), "--config".to_owned(), config.display().to_string()];
    Target::stdio(&kernel.display().to_string(), &args, &[])
}
