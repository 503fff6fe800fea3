//! The clients of the matrix: how each is run and how its report is read.
//!
//! A client gets a job as JSON and prints one JSON line. The Inspector is a command that does one
//! thing per run, so its steps are runs.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

use super::servers::{Answer, Step};
use crate::layout::Layout;
use crate::peers::Peers;
use crate::process;
use crate::tally::tail;

const JOB_LIMIT: Duration = Duration::from_secs(180);
/// What the official SDKs wait for an answer by default. A list may wait for servers that are starting.
const STEP_LIMIT: Duration = Duration::from_secs(60);

/// How a client talks to a server that offers both eras.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    Legacy,
    Modern,
    /// The client does not say.
    Unknown,
}

impl Era {
    pub(super) fn matches(self, protocol: &str) -> bool {
        match self {
            Self::Legacy => protocol == "2025-11-25" || protocol == "initialize",
            Self::Modern => protocol == "2026-07-28",
            Self::Unknown => true,
        }
    }
}

/// One client of the matrix.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) name: &'static str,
    program: Program,
    pub(super) era: Era,
    /// Whether it answers sampling, elicitation and roots.
    pub(super) answers: bool,
    /// Whether one connection serves all steps.
    pub(super) one_connection: bool,
}

#[derive(Debug)]
enum Program {
    Node { script: &'static str, mode: &'static str },
    Python { script: &'static str, mode: &'static str },
    Rmcp { mode: &'static str },
    Inspector,
}

const fn client(name: &'static str, program: Program, era: Era) -> Client {
    Client { name, program, era, answers: true, one_connection: true }
}

pub(super) const CLIENTS: &[Client] = &[
    client("ts1", Program::Node { script: "ts1.mjs", mode: "legacy" }, Era::Legacy),
    client("ts2-legacy", Program::Node { script: "ts2.mjs", mode: "legacy" }, Era::Legacy),
    client("ts2-auto", Program::Node { script: "ts2.mjs", mode: "auto" }, Era::Modern),
    client("python-mcp", Program::Python { script: "py_mcp.py", mode: "auto" }, Era::Modern),
    client("python-mcp-legacy", Program::Python { script: "py_mcp.py", mode: "legacy" }, Era::Legacy),
    client("fastmcp", Program::Python { script: "py_fastmcp.py", mode: "auto" }, Era::Modern),
    client("rmcp", Program::Rmcp { mode: "auto" }, Era::Modern),
    client("rmcp-legacy", Program::Rmcp { mode: "legacy" }, Era::Legacy),
    Client { name: "inspector", program: Program::Inspector, era: Era::Unknown, answers: false, one_connection: false },
];

/// Where a client connects to.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Http { url: String },
    Stdio { command: String, args: Vec<String>, env: Vec<(String, String)> },
}

impl Target {
    pub(super) fn http(url: &str) -> Self {
        Self::Http { url: url.to_owned() }
    }

    pub(super) fn stdio(command: &str, args: &[String], env: &[(String, String)]) -> Self {
        Self::Stdio { command: command.to_owned(), args: args.to_vec(), env: env.to_vec() }
    }

    fn json(&self) -> Value {
        match self {
            Self::Http { url } => json!({"kind": "http", "url": url}),
            Self::Stdio { command, args, env } => {
                let env: serde_json::Map<String, Value> =
                    env.iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect();
                json!({"kind": "stdio", "command": command, "args": args, "env": env})
            }
        }
    }
}

/// What a client reported about one job.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) protocol: String,
    pub(super) answers: BTreeMap<String, Answer>,
}

impl Client {
    pub(super) fn run(
        &self,
        layout: &Layout,
        peers: &Peers,
        place: &Path,
        target: &Target,
        steps: &[Step],
    ) -> Result<Report> {
        let scripts = layout.root.join("interop/clients");
        let (mut command, mode) = match &self.program {
            Program::Node { script, mode } => {
                let mut command = Command::new(peers.node());
                command.arg(scripts.join(script)).env("INTEROP_NODE_MODULES", peers.node_modules());
                (command, mode)
            }
            Program::Python { script, mode } => {
                let mut command = Command::new(peers.python2("python"));
                // No compiled files beside the scripts, which are part of the project.
                command.arg("-B").arg(scripts.join(script));
                (command, mode)
            }
            Program::Rmcp { mode } => {
                let mut command = Command::new(layout.rmcp_peer()?);
                command.arg("client");
                (command, mode)
            }
            Program::Inspector => return inspect(peers, place, target, steps),
        };
        let requests: Vec<&Value> = steps.iter().map(|step| &step.request).collect();
        let job = json!({"mode": mode, "transport": target.json(), "steps": requests,
            "step_ms": STEP_LIMIT.as_secs() * 1_000});
        command.arg(job.to_string()).env("NO_PROXY", "127.0.0.1");
        let output = process::quiet(&mut command, JOB_LIMIT)?;
        let line = output.stdout.lines().rev().find(|line| line.starts_with('{'));
        let line = line.with_context(|| format!("the client printed no report: {}", tail(&output.stderr, 600)))?;
        read_report(line).map_err(|error| anyhow!("{error:#}; standard error: {}", tail(&output.stderr, 600)))
    }
}

fn read_report(line: &str) -> Result<Report> {
    let report: Value = serde_json::from_str(line).context("the report is not JSON")?;
    if let Some(error) = report["error"].as_str() {
        bail!("{}", tail(error, 600));
    }
    let mut answers = BTreeMap::new();
    for result in report["results"].as_array().into_iter().flatten() {
        let error = match result["ok"] == true {
            true => None,
            false => Some(result["error"].as_str().unwrap_or("failed without a reason").to_owned()),
        };
        let id = result["id"].as_str().unwrap_or_default().to_owned();
        answers.insert(id, Answer { value: result["value"].clone(), error });
    }
    Ok(Report { protocol: report["protocol"].as_str().unwrap_or("?").to_owned(), answers })
}

fn inspect(peers: &Peers, place: &Path, target: &Target, steps: &[Step]) -> Result<Report> {
    let mut answers = BTreeMap::new();
    // Every list is the same, and each run costs a second.
    let mut lists: BTreeMap<String, Answer> = BTreeMap::new();
    let config = place.join(format!("inspector-{:?}.json", std::thread::current().id()).replace(['(', ')'], ""));
    let server = match target {
        Target::Http { url } => json!({"type": "streamable-http", "url": url}),
        Target::Stdio { .. } => target.json(),
    };
    std::fs::write(&config, json!({"mcpServers": {"target": server}}).to_string())
        .with_context(|| format!("writing {}", config.display()))?;
    for step in steps {
        let op = step.request["op"].as_str().unwrap_or_default().to_owned();
        let mut request = step.request.clone();
        if op == "read" {
            let listed = lists.get("list_resources").map(|answer| &answer.value["resources"]);
            request["uri"] = Value::from(same_resource(listed, request["uri"].as_str().unwrap_or_default()));
        }
        let answer = match lists.get(&op) {
            Some(answer) => answer.clone(),
            None => inspect_step(peers, place, &config, &request)?,
        };
        if op.starts_with("list_") {
            lists.insert(op, answer.clone());
        }
        answers.insert(step.id.clone(), answer);
    }
    Ok(Report { protocol: "?".to_owned(), answers })
}

/// Behind several servers a resource may carry another address that still contains its own.
fn same_resource(listed: Option<&Value>, wanted: &str) -> String {
    let uris =
        || listed.and_then(Value::as_array).into_iter().flatten().filter_map(|resource| resource["uri"].as_str());
    uris().find(|uri| *uri == wanted).or_else(|| uris().find(|uri| uri.contains(wanted))).unwrap_or(wanted).to_owned()
}

fn inspect_step(peers: &Peers, place: &Path, config: &Path, request: &Value) -> Result<Answer> {
    let mut command = Command::new(peers.node());
    command.arg(peers.inspector()).args(["--cli", "--server", "target", "--config"]).arg(config);
    // It keeps a catalogue in the home folder, which is not the business of a test.
    command.env("HOME", place).env("NO_PROXY", "127.0.0.1");
    let pairs = |command: &mut Command, flag: &str| {
        for (name, value) in request["arguments"].as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            command.arg(flag).arg(format!("{name}={value}"));
        }
    };
    let name = request["name"].as_str().unwrap_or_default();
    match request["op"].as_str().unwrap_or_default() {
        "list_tools" => command.args(["--method", "tools/list"]),
        "list_resources" => command.args(["--method", "resources/list"]),
        "list_prompts" => command.args(["--method", "prompts/list"]),
        "call" => {
            command.args(["--method", "tools/call", "--tool-name", name]);
            pairs(&mut command, "--tool-arg");
            &mut command
        }
        "read" => command.args(["--method", "resources/read", "--uri", request["uri"].as_str().unwrap_or_default()]),
        "prompt" => {
            command.args(["--method", "prompts/get", "--prompt-name", name]);
            pairs(&mut command, "--prompt-args");
            &mut command
        }
        other => bail!("unknown operation {other}"),
    };
    let output = process::quiet(&mut command, STEP_LIMIT)?;
    let value: Value = serde_json::from_str(&output.stdout).unwrap_or(Value::Null);
    let error = (!output.success || value.is_null()).then(|| {
        let status = if output.success { "no JSON" } else { "failed" };
        // Its remarks about itself are no answer.
        let said =
            output.stderr.lines().filter(|line| !line.starts_with("[mcp-inspector]")).collect::<Vec<_>>().join(" ");
        format!("{status}: {} {}", output.stdout.trim(), tail(&said, 300))
    });
    Ok(Answer { value, error })
}
