//! What the first hour feels like: twelve servers behind a kernel that clients share.
//!
//! Measures, in a home folder of its own, the time from the start of a client to its first list (cold, and with the kernel running),
//! the time of `switchboard call` as a person types it, and how many processes three clients have. `--check` makes a missed target
//! an error. The kernel and `echo-upstream` are looked for beside this program.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command whose product is its printed figures")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use serde_json::{Value, json};

type Error = Box<dyn std::error::Error>;

/// The time to the first list, with the kernel running.
const LIST_TARGET: Duration = Duration::from_secs(1);
/// A call from the command line, with the kernel running.
const CALL_TARGET: Duration = Duration::from_millis(60);
const SERVERS: usize = 12;
const CLIENTS: usize = 3;
/// How often it is looked whether what was started has ended.
const POLL: Duration = Duration::from_millis(50);
/// Nothing takes so long unless it hangs.
const MAX_WAIT: Duration = Duration::from_secs(30);

#[derive(Debug, Parser)]
#[command(about = "Times of clients and commands at twelve servers")]
struct Options {
    /// End with status 1 where a target is missed.
    #[arg(long)]
    check: bool,
    /// So many times the targets of time are allowed: a debug build beside other work is slower than what is promised of a release.
    #[arg(long, default_value_t = 1)]
    slack: u32,
    /// Tools of each server.
    #[arg(long, default_value_t = 12)]
    tools: usize,
    /// How often each time is taken; the median counts.
    #[arg(long, default_value_t = 11)]
    reps: usize,
}

/// A client of `switchboard stdio`.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(kernel: &Path, home: &Path) -> Result<Self, Error> {
        let mut child = at_home(kernel, home)
            .arg("stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".into());
        };
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    fn ask(&mut self, id: u64, method: &str, params: &Value) -> Result<Value, Error> {
        writeln!(self.input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line)? == 0 {
                return Err("the client's kernel has gone".into());
            }
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == id && message.get("method").is_none() {
                return Ok(message);
            }
        }
    }

    /// The number of tools in its first list.
    fn first_list(&mut self) -> Result<usize, Error> {
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
        self.ask(1, "initialize", &hello)?;
        writeln!(self.input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        let list = self.ask(2, "tools/list", &json!({}))?;
        list["result"]["tools"].as_array().map(Vec::len).ok_or_else(|| format!("no list: {list}").into())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn at_home(kernel: &Path, home: &Path) -> Command {
    let mut command = Command::new(kernel);
    command.env_clear().env("HOME", home).env("PATH", std::env::var_os("PATH").unwrap_or_default()).current_dir(home);
    command
}

/// Processes of servers that were started for this home.
fn servers_of(home: &Path) -> usize {
    let wanted = format!("HOME={}", home.display());
    let is_one = |folder: PathBuf| {
        let read = |file: &str| std::fs::read(folder.join(file)).unwrap_or_default();
        let first = read("cmdline").split(|byte| *byte == 0).next().map(<[u8]>::to_vec).unwrap_or_default();
        first.ends_with(b"/echo-upstream")
            && read("environ").split(|byte| *byte == 0).any(|word| word == wanted.as_bytes())
    };
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    processes.flatten().filter(|entry| is_one(entry.path())).count()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn run(options: &Options) -> Result<bool, Error> {
    let folder = std::env::current_exe()?.parent().map(Path::to_owned).unwrap_or_default();
    let (kernel, upstream) = (folder.join("switchboard"), folder.join("echo-upstream"));
    let scratch = tempfile::tempdir()?;
    let home = scratch.path();
    let file = home.join(".config/mgp/servers.toml");
    std::fs::create_dir_all(home.join(".config/mgp"))?;
    let mut text = "[limits]\nlinger_ms = 1000\n[memory]\nenabled = true\n".to_owned();
    for number in 0..SERVERS {
        let args = format!("args = [\"--stdio\", \"--tools\", \"{}\"]\n", options.tools);
        text.push_str(&format!(
            "[[servers]]\nid = \"s{number}\"\ncommand = {:?}\n{args}",
            upstream.display().to_string()
        ));
    }
    std::fs::write(&file, text)?;

    let began = Instant::now();
    let mut first = Client::start(&kernel, home)?;
    let tools = first.first_list()?;
    println!("first client, first list: {} ms ({tools} tools)", began.elapsed().as_millis());
    let mut lists = Vec::new();
    for _ in 0..options.reps {
        let began = Instant::now();
        let mut client = Client::start(&kernel, home)?;
        client.first_list()?;
        lists.push(began.elapsed());
    }
    let mut clients = vec![first];
    for _ in 1..CLIENTS {
        let mut client = Client::start(&kernel, home)?;
        client.first_list()?;
        clients.push(client);
    }
    let processes = servers_of(home);
    let mut calls = Vec::new();
    for _ in 0..options.reps {
        let mut call = at_home(&kernel, home);
        let began = Instant::now();
        let output = call.args(["call", "s7__echo", "message=hello"]).output()?;
        calls.push(began.elapsed());
        if !output.status.success() {
            return Err(format!("call failed: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
    }
    drop(clients);
    // The kernel ends after its clients, and nothing of it is left behind.
    let began = Instant::now();
    while servers_of(home) > 0 && began.elapsed() < MAX_WAIT {
        thread::sleep(POLL);
    }

    let mut met = true;
    let mut told = |what: &str, found: String, target: String, is_met: bool| {
        met &= is_met;
        println!("{what}: {found} (target {target}{})", if is_met { "" } else { ", MISSED" });
    };
    for (what, time, target) in
        [("another client, first list", median(lists), LIST_TARGET), ("call", median(calls), CALL_TARGET)]
    {
        let target = target.saturating_mul(options.slack);
        told(what, format!("{} ms", time.as_millis()), format!("{} ms", target.as_millis()), time < target);
    }
    let clients = format!("processes of servers for {CLIENTS} clients");
    told(&clients, processes.to_string(), SERVERS.to_string(), processes == SERVERS);
    Ok(met || !options.check)
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
