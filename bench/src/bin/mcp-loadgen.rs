//! Closed- or open-loop load on one MCP endpoint; prints one report.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command whose product is its printed report")]

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use switchboard_bench::connection::Target;
use switchboard_bench::endpoint::Endpoint;
use switchboard_bench::load::{self, Plan, Report, Sessions, Via};
use switchboard_bench::message::Call;
use switchboard_bench::procfs::Processes;
use switchboard_bench::{Error, Result};

/// Load generator for MCP endpoints: performs the handshake, calls one tool from C callers, checks every answer.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// The endpoint, http://HOST:PORT/PATH
    #[arg(long, conflicts_with = "stdio", required_unless_present = "stdio")]
    url: Option<Endpoint>,
    /// A server (or stdio-facing gateway) to start, 'COMMAND ARGS', split at spaces
    #[arg(long)]
    stdio: Option<String>,
    /// Calls in flight, each on its own connection
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    callers: u16,
    /// Measured seconds
    #[arg(long, default_value_t = 10.0)]
    duration: f64,
    /// Seconds under load before that
    #[arg(long, default_value_t = 2.0)]
    warmup: f64,
    /// The tool of tools/call; it must return its `message`
    #[arg(long, default_value = "echo")]
    tool: String,
    /// tools/call, or a list method
    #[arg(long, default_value = "tools/call")]
    method: String,
    /// Bytes of text to echo
    #[arg(long, default_value_t = 16)]
    payload_bytes: usize,
    /// Revision to speak; 2026-07-28 is the one without sessions
    #[arg(long, default_value = "2025-11-25")]
    protocol: String,
    /// An extra header 'NAME: VALUE' (repeat)
    #[arg(long, value_parser = header)]
    header: Vec<(String, String)>,
    /// One session for all callers
    #[arg(long, conflicts_with = "stateless")]
    shared_session: bool,
    /// Do not send the session id
    #[arg(long)]
    stateless: bool,
    /// Calls per second of an open loop, whose latency counts from the due time
    #[arg(long)]
    rate: Option<f64>,
    /// Seconds one call may take
    #[arg(long, default_value_t = 30.0)]
    timeout: f64,
    /// Worker threads of the generator
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// The gateway's processes (their children count)
    #[arg(long, value_delimiter = ',')]
    pid: Vec<u32>,
    /// Process trees not to count
    #[arg(long, value_delimiter = ',')]
    skip_pid: Vec<u32>,
    /// The upstream's processes, reported apart
    #[arg(long, value_delimiter = ',')]
    upstream_pid: Vec<u32>,
    /// A name for the report
    #[arg(long)]
    label: Option<String>,
    /// One line of JSON instead of indented JSON
    #[arg(long)]
    json: bool,
}

fn header(text: &str) -> std::result::Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("expected 'NAME: VALUE'")?;
    Ok((name.trim().to_lowercase(), value.trim().to_owned()))
}

fn main() -> ExitCode {
    let options = Options::parse();
    let json = options.json;
    match measure(options) {
        Ok(report) => {
            let text = if json { serde_json::to_string(&report) } else { serde_json::to_string_pretty(&report) };
            println!("{}", text.unwrap_or_default());
            if report.completed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("mcp-loadgen: {}", error.chain());
            ExitCode::FAILURE
        }
    }
}

fn measure(options: Options) -> Result<Report> {
    let threads = options.threads.max(1);
    let plan = options.plan()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    runtime.map_err(Error::io("starting the runtime"))?.block_on(load::run(plan))
}

impl Options {
    fn plan(self) -> Result<Plan> {
        let seconds = |value: f64| {
            Duration::try_from_secs_f64(value).map_err(|_| Error::Usage(format!("{value} is not a time in seconds")))
        };
        let sessions = match (self.shared_session, self.stateless) {
            (true, _) => Sessions::Shared,
            (_, true) => Sessions::Ignored,
            _ => Sessions::Own,
        };
        let mut call = Call::echo(&self.tool, self.payload_bytes, &self.protocol);
        call.method = self.method;
        let (name, via) = match (self.url, self.stdio) {
            (Some(endpoint), _) => {
                (endpoint.to_string(), Via::Http { target: Target { endpoint, headers: self.header }, sessions })
            }
            (None, command) => {
                let command = command.unwrap_or_default();
                let words = command.split_whitespace().map(str::to_owned).collect();
                (command, Via::Stdio { command: words })
            }
        };
        Ok(Plan {
            label: self.label.unwrap_or(name),
            via,
            call,
            callers: usize::from(self.callers),
            duration: seconds(self.duration)?,
            warmup: seconds(self.warmup)?,
            rate: self.rate.filter(|rate| *rate > 0.0),
            call_limit: seconds(self.timeout)?,
            setup_limit: Duration::from_secs(120),
            measured: Processes { roots: self.pid, without: self.skip_pid, ..Processes::default() },
            upstream: Processes { roots: self.upstream_pid, ..Processes::default() },
        })
    }
}
