//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use switchboard_bench::message::Era;
use switchboard_bench::{Error, Result};

use crate::gateways::Given;

/// Compares MCP gateways with a forwarder that does nothing, in one interleaved run on loopback.
#[derive(Parser)]
#[command(name = "compare", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) comparison: Comparison,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Memory of idle sessions
    Sessions(IdleSessions),
}

/// Which gateway plays the part of Switchboard.
#[derive(Args)]
pub(crate) struct Subjects {
    /// The switchboard binary [default: the one next to this program, if it was built]
    #[arg(long)]
    pub(crate) switchboard: Option<PathBuf>,
    /// A gateway that already runs, `NAME=URL,PID[,TOOL]` (repeat); the name `switchboard` takes that part
    #[arg(long)]
    pub(crate) gateway: Vec<Given>,
    /// Address of the upstream, for gateways that already run
    #[arg(long, default_value = "127.0.0.1:0")]
    pub(crate) upstream_listen: String,
}

#[derive(Args)]
pub(crate) struct Comparison {
    #[command(flatten)]
    pub(crate) subjects: Subjects,
    /// Calls in flight, one series of rounds for each
    #[arg(long, value_delimiter = ',', default_value = "1,16,64")]
    pub(crate) callers: Vec<u16>,
    /// Rounds; medians are taken over them
    #[arg(long, default_value_t = 3)]
    pub(crate) reps: u16,
    /// Measured seconds of each run in a round
    #[arg(long, default_value_t = 5.0)]
    pub(crate) duration: f64,
    /// Seconds under load before each
    #[arg(long, default_value_t = 1.0)]
    pub(crate) warmup: f64,
    /// Protocol era of the callers
    #[arg(long, value_enum, default_value_t = Era::Legacy)]
    pub(crate) era: Era,
    /// Eras of the upstream [default: the callers' era alone]
    #[arg(long, value_enum)]
    pub(crate) upstream_era: Option<UpstreamEra>,
    /// The upstream answers with event streams instead of JSON bodies
    #[arg(long)]
    pub(crate) sse: bool,
    /// How gateways reach the upstream; with stdio only the bare server is compared, no forwarder
    #[arg(long, value_enum, default_value_t = Upstream::Http)]
    pub(crate) upstream: Upstream,
    /// Bytes of text to echo
    #[arg(long, default_value_t = 16)]
    pub(crate) payload_bytes: usize,
    /// Filler tools on the upstream
    #[arg(long, default_value_t = 0)]
    pub(crate) tools: usize,
    /// Leave out gateways found on PATH
    #[arg(long)]
    pub(crate) only_own: bool,
    /// Append every single run to this file, one JSON object per line
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Fail (status 1) when Switchboard misses a target
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) targets: Targets,
}

/// Limits on the ratios of Switchboard to the forwarder.
#[derive(Args, Clone, Debug)]
pub(crate) struct Targets {
    /// Least throughput ratio with more than one caller
    #[arg(long, default_value_t = 0.7)]
    pub(crate) min_throughput: f64,
    /// Greatest ratio of CPU per call
    #[arg(long, default_value_t = 2.0)]
    pub(crate) max_cpu: f64,
    /// Greatest ratio of median latency with one caller
    #[arg(long, default_value_t = 1.5)]
    pub(crate) max_latency: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Upstream {
    Http,
    Stdio,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UpstreamEra {
    Legacy,
    Modern,
    Both,
}

impl UpstreamEra {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
            Self::Both => "both",
        }
    }
}

impl From<Era> for UpstreamEra {
    fn from(era: Era) -> Self {
        match era {
            Era::Legacy => Self::Legacy,
            Era::Modern => Self::Modern,
        }
    }
}

impl Comparison {
    /// Refuses what cannot be measured.
    pub(crate) fn validate(&self) -> Result<()> {
        let usage = |text: &str| Err(Error::Usage(text.to_owned()));
        if self.reps == 0 || self.callers.is_empty() || self.callers.contains(&0) {
            return usage("--reps and --callers must be at least 1");
        }
        let seconds_ok = |value: f64| (0.0..=3600.0).contains(&value);
        if !seconds_ok(self.duration) || self.duration <= 0.0 || !seconds_ok(self.warmup) {
            return usage("--duration and --warmup are seconds, at most an hour");
        }
        let eras = self.upstream_era();
        if eras != UpstreamEra::Both && eras != UpstreamEra::from(self.era) {
            return usage("the direct runs need an upstream that knows the callers' era: --upstream-era both");
        }
        if self.check && self.upstream == Upstream::Stdio {
            return usage("the targets are ratios to the forwarder, which a stdio upstream does not have");
        }
        Ok(())
    }

    pub(crate) fn upstream_era(&self) -> UpstreamEra {
        self.upstream_era.unwrap_or_else(|| UpstreamEra::from(self.era))
    }

    /// Twice the expected time, and two minutes for starting and for slow ends.
    pub(crate) fn limit(&self) -> Duration {
        let gateways_at_most = 5 + self.subjects.gateway.len();
        let runs = usize::from(self.reps) * self.callers.len() * gateways_at_most;
        let seconds = runs as f64 * (self.duration + self.warmup + 1.0) * 2.0;
        Duration::from_secs(120) + Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }
}

#[derive(Args)]
pub(crate) struct IdleSessions {
    #[command(flatten)]
    pub(crate) subjects: Subjects,
    /// Sessions to open
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) count: u32,
    /// Hold a GET stream open in each session (one connection each)
    #[arg(long)]
    pub(crate) streams: bool,
    /// Seconds between the last session and the reading
    #[arg(long, default_value_t = 1.0)]
    pub(crate) settle: f64,
    /// Fail (status 1) when the resident memory with all sessions open is above --max-mib
    #[arg(long)]
    pub(crate) check: bool,
    /// The greatest resident memory with all sessions open
    #[arg(long, default_value_t = 30.0)]
    pub(crate) max_mib: f64,
}

impl IdleSessions {
    pub(crate) fn limit(&self) -> Duration {
        let per_session = Duration::from_millis(50);
        Duration::from_secs(90) + per_session * self.count + self.settle()
    }

    pub(crate) fn settle(&self) -> Duration {
        Duration::try_from_secs_f64(self.settle).unwrap_or_default().min(Duration::from_secs(60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Options::command().debug_assert();
    }

    #[test]
    fn what_is_refused() {
        let table: [(&[&str], bool); 8] = [
            (&[], true),
            (&["--era", "modern"], true),
            (&["--era", "modern", "--upstream-era", "both"], true),
            (&["--era", "modern", "--upstream-era", "legacy"], false),
            (&["--upstream", "stdio"], true),
            (&["--upstream", "stdio", "--check"], false),
            (&["--callers", "1,0"], false),
            (&["--duration", "-1"], false),
        ];
        for (arguments, accepted) in table {
            let words = ["compare"].iter().chain(arguments);
            let valid = Options::try_parse_from(words).is_ok_and(|options| options.comparison.validate().is_ok());
            assert_eq!(valid, accepted, "{arguments:?}");
        }
    }
}
