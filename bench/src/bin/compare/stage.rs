//! Sets the stage: starts everything that is measured and makes sure that each subject answers one call.

use std::fs;
use std::time::{Duration, Instant};

use switchboard_bench::connection::{Connection, Routing, Target};
use switchboard_bench::endpoint::Endpoint;
use switchboard_bench::error::within;
use switchboard_bench::load::{Sessions, Via};
use switchboard_bench::message::{Call, Era};
use switchboard_bench::procfs::Processes;
use switchboard_bench::{Error, Result};
use tempfile::TempDir;

use crate::START_LIMIT;
use crate::gateways::{self, Behind, SWITCHBOARD};
use crate::options::{Comparison, Upstream};
use crate::processes::{Running, sibling};

const ATTEMPT_LIMIT: Duration = Duration::from_secs(3);
const ATTEMPT_PAUSE: Duration = Duration::from_millis(100);
const UPSTREAM_PROGRAM: &str = "echo-upstream";

/// The line of the table that others are compared with.
pub(crate) const FORWARDER: &str = "null-proxy";
/// The line without any gateway.
pub(crate) const DIRECT: &str = "direct";

/// One line of the table.
pub(crate) struct Subject {
    pub(crate) name: String,
    pub(crate) via: Via,
    pub(crate) tool: String,
    pub(crate) processes: Processes,
}

/// Everything that runs. Dropping it ends all of it.
pub(crate) struct Stage {
    pub(crate) subjects: Vec<Subject>,
    pub(crate) notes: Vec<String>,
    running: Vec<Running>,
    home: TempDir,
}

impl Stage {
    pub(crate) async fn set(options: &Comparison) -> Result<Self> {
        let home = TempDir::with_prefix("switchboard-bench-").map_err(Error::io("making a temporary directory"))?;
        let mut stage = Self { subjects: Vec::new(), notes: Vec::new(), running: Vec::new(), home };
        match options.upstream {
            Upstream::Http => stage.start_behind_http(options).await?,
            Upstream::Stdio => stage.start_behind_stdio(options).await?,
        }
        for given in &options.subjects.gateway {
            if stage.subjects.iter().any(|subject| subject.name == given.name) {
                return Err(Error::Usage(format!("--gateway {}: the name is taken", given.name)));
            }
            stage.add(&given.name, &given.endpoint, given.pid, &given.tool);
        }
        stage.keep_those_that_answer(options.era).await?;
        Ok(stage)
    }

    /// Ends all processes, politely first.
    pub(crate) async fn clear(self) {
        for running in self.running {
            running.stop().await;
        }
    }

    async fn start_behind_http(&mut self, options: &Comparison) -> Result<()> {
        let mut arguments = vec!["--listen", &options.subjects.upstream_listen, "--until-stdin-closes"];
        let tools = options.tools.to_string();
        arguments.extend(["--era", options.upstream_era().name(), "--tools", &tools]);
        if options.sse {
            arguments.push("--sse");
        }
        let upstream = self.start_own(DIRECT, UPSTREAM_PROGRAM, &arguments).await?;
        let forward = ["--upstream", &upstream.authority, "--until-stdin-closes"];
        self.start_own(FORWARDER, "null-proxy", &forward).await?;
        let parse = ["--upstream", &upstream.authority, "--until-stdin-closes", "--parse"];
        self.start_own("null-proxy --parse", "null-proxy", &parse).await?;
        self.start_switchboard(options, &Behind::Http(&upstream)).await?;
        if !options.only_own
            && let Some((running, endpoint)) =
                gateways::start_agentgateway(&upstream, &self.directory("agentgateway")?)?
        {
            self.add("agentgateway", &endpoint, running.pid, "echo");
            self.running.push(running);
        }
        Ok(())
    }

    async fn start_behind_stdio(&mut self, options: &Comparison) -> Result<()> {
        let program = sibling(UPSTREAM_PROGRAM)?;
        let era = options.upstream_era().name();
        let words = [&program.to_string_lossy(), "--stdio", "--era", era];
        let via = Via::Stdio { command: words.map(str::to_owned).to_vec() };
        let (name, tool) = (DIRECT.to_owned(), "echo".to_owned());
        self.subjects.push(Subject { name, via, tool, processes: Processes::default() });
        self.start_switchboard(options, &Behind::Stdio(&program)).await
    }

    async fn start_switchboard(&mut self, options: &Comparison, behind: &Behind<'_>) -> Result<()> {
        let Some(binary) = gateways::switchboard_binary(&options.subjects)? else {
            if !options.subjects.gateway.iter().any(|given| given.name == SWITCHBOARD) {
                self.notes.push("switchboard is not built; its line is missing (see --switchboard)".to_owned());
            }
            return Ok(());
        };
        let home = self.directory(SWITCHBOARD)?;
        let era = options.upstream_era().name();
        let (running, endpoint) = gateways::start_switchboard(&binary, behind, era, &home).await?;
        self.add(SWITCHBOARD, &endpoint, running.pid, "echo");
        self.running.push(running);
        Ok(())
    }

    async fn start_own(&mut self, name: &str, program: &str, arguments: &[&str]) -> Result<Endpoint> {
        let mut running = Running::start(name, &sibling(program)?, arguments, self.home.path())?;
        let endpoint = running.address().await?;
        self.add(name, &endpoint, running.pid, "echo");
        self.running.push(running);
        Ok(endpoint)
    }

    fn add(&mut self, name: &str, endpoint: &Endpoint, pid: u32, tool: &str) {
        let mut processes = Processes::tree(pid);
        if name != DIRECT {
            processes.without_programs.push(UPSTREAM_PROGRAM.to_owned());
        }
        let target = Target { endpoint: endpoint.clone(), headers: Vec::new() };
        let via = Via::Http { target, sessions: Sessions::Own };
        self.subjects.push(Subject { name: name.to_owned(), via, tool: tool.to_owned(), processes });
    }

    fn directory(&self, name: &str) -> Result<std::path::PathBuf> {
        let path = self.home.path().join(name);
        fs::create_dir(&path).map_err(Error::io("making a home for a gateway"))?;
        Ok(path)
    }

    /// A gateway that cannot answer is left out with a note; one of the lines every run needs is an error.
    async fn keep_those_that_answer(&mut self, era: Era) -> Result<()> {
        let mut kept = Vec::new();
        for subject in std::mem::take(&mut self.subjects) {
            let Via::Http { target, .. } = &subject.via else {
                kept.push(subject);
                continue;
            };
            match answers(target, &Call::echo(&subject.tool, 16, era.version())).await {
                Ok(()) => kept.push(subject),
                Err(error) => {
                    let running = self.running.iter().find(|running| running.name == subject.name);
                    let what = format!("does not answer ({})", error.chain());
                    let failure = running.map_or_else(
                        || Error::Process { name: subject.name.clone(), reason: what.clone() },
                        |running| running.failure(&what),
                    );
                    if [DIRECT, FORWARDER, SWITCHBOARD].contains(&subject.name.as_str()) {
                        return Err(failure);
                    }
                    self.notes.push(format!("left out: {}", failure.chain()));
                }
            }
        }
        self.subjects = kept;
        Ok(())
    }
}

/// Tries one session and one call until they succeed or the time to start is over.
pub(crate) async fn answers(target: &Target, call: &Call) -> Result<()> {
    let begun = Instant::now();
    loop {
        let attempt = within("the first call", ATTEMPT_LIMIT, async {
            let mut connection = Connection::open(target).await?;
            let session = connection.start_session(&call.version).await?;
            let routing = Routing { method: &call.method, name: call.name() };
            let answer = connection.call(&session, routing, call.body(1), 1).await?;
            if session.id.is_some() {
                // Ending sessions is optional for a server.
                let _ = connection.end_session(&session).await;
            }
            call.check(&answer, 1)
        });
        match attempt.await {
            Ok(()) => return Ok(()),
            Err(error) if begun.elapsed() > START_LIMIT => return Err(error),
            Err(_) => tokio::time::sleep(ATTEMPT_PAUSE).await,
        }
    }
}
