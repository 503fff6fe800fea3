//! Agents that people work with, in front of a kernel: Claude Code and Codex, with a model of ours in the place of their services.
//!
//! Each gets a home folder in which `switchboard connect` wrote its entry, and one task. The model (`interop/agents/model.mjs`) calls one
//! tool and says what it answered; what is right is that the answer of the server behind the kernel comes out at the other end.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::servers::Server;
use crate::layout::Layout;
use crate::peers::Peers;
use crate::process::{self, Background};
use crate::tally::{Tally, brief, say, seconds, tail};

/// What `--only` finds them by.
pub(super) const NAME: &str = "agents";

const START_LIMIT: Duration = Duration::from_secs(60);
const TASK_LIMIT: Duration = Duration::from_secs(120);
/// The kernel that an agent shares must not outlive the run by much.
const SETTINGS: &str = "[limits]\nlinger_ms = 300\nlist_wait_ms = 25000\n[memory]\nenabled = true\n\n";
/// What is called, as its server calls it.
const TOOL: &str = "convert_time";
const RIGHT: &str = "T21:00:00";
const TASK: &str = "What is noon in UTC in Tokyo?";

/// An agent, by the name that `connect` has for it.
struct Agent {
    name: &'static str,
    program: &'static str,
    /// How it is given a task and the address of the model.
    command: fn(&mut Command, url: &str),
}

const AGENTS: &[Agent] = &[
    Agent { name: "claude-code", program: "claude", command: claude },
    Agent { name: "codex", program: "codex", command: codex },
];

fn claude(command: &mut Command, url: &str) {
    command.args(["-p", TASK, "--allowedTools", "mcp__switchboard"]);
    command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "none");
    // It speaks to nobody but the model.
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
}

fn codex(command: &mut Command, url: &str) {
    let provider = format!("{{name='model',base_url='{url}/v1',wire_api='responses',env_key='OPENAI_API_KEY'}}");
    command.args(["exec", "-c", "model=any", "-c", "model_provider=ours", "-c"]);
    command.arg(format!("model_providers.ours={provider}"));
    // Nobody is there to be asked, and the one tool that is called only reads.
    command.args(["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", TASK]);
    command.env("OPENAI_API_KEY", "none");
}

/// Gives each of them the task, and counts.
pub(super) fn run(layout: &Layout, peers: &Peers, servers: &[Server], place: &Path) -> Result<Tally> {
    let mut tally = Tally::default();
    for agent in AGENTS {
        let started = Instant::now();
        match agent.run(layout, peers, servers, &place.join(agent.name)) {
            Ok(listed) => {
                tally.pass();
                say(&format!("ok      {NAME} {}: {listed} ({})", agent.name, seconds(started.elapsed())));
            }
            Err(error) => {
                let what = format!("{NAME} {}: {}", agent.name, brief(&format!("{error:#}"), 600));
                say(&format!("FAILED  {what}"));
                tally.fail(what);
            }
        }
    }
    Ok(tally)
}

impl Agent {
    fn run(&self, layout: &Layout, peers: &Peers, servers: &[Server], home: &Path) -> Result<String> {
        let (kernel, folder) = (layout.kernel()?, home.join("project"));
        let file = home.join(".config/mgp/servers.toml");
        for folder in [&folder, &home.join(".config/mgp")] {
            std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        }
        let text: String = std::iter::once(SETTINGS.to_owned()).chain(servers.iter().map(Server::config)).collect();
        std::fs::write(&file, text).with_context(|| format!("writing {}", file.display()))?;
        let mut connect = Command::new(kernel);
        at_home(&mut connect, home, &folder).args(["connect", self.name]);
        let connected = process::quiet(&mut connect, START_LIMIT)?;
        ensure!(connected.success, "connect: {}", connected.stderr.trim());

        let mut model = Command::new(peers.node());
        model.arg(layout.root.join("interop/agents/model.mjs")).env("MODEL_TOOL", TOOL);
        let arguments = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
        model.env("MODEL_ARGUMENTS", arguments.to_string());
        let model = Background::serve(&mut model, &home.join("model.log"), START_LIMIT)?;

        let mut command = Command::new(peers.agent(self.program));
        (self.command)(at_home(&mut command, home, &folder), &model.url);
        let said = process::quiet(&mut command, TASK_LIMIT)?;
        let all = || format!("{}\n{}\n{}", tail(&said.stdout, 300), tail(&said.stderr, 300), log_of(home));
        ensure!(said.success, "it failed:\n{}", all());
        ensure!(said.stdout.contains("The tool said:") && said.stdout.contains(RIGHT), "another answer:\n{}", all());
        Ok(format!("{TOOL} called through the entry that `connect` wrote"))
    }
}

fn at_home<'c>(command: &'c mut Command, home: &Path, folder: &Path) -> &'c mut Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", home).current_dir(folder)
}

/// What the shared kernel logged, where one was started.
fn log_of(home: &Path) -> String {
    let log: PathBuf = home.join(".local/share/switchboard/kernel.log");
    tail(&std::fs::read_to_string(log).unwrap_or_default(), 300)
}
