//! The interleaving: in each round every subject runs once for each number of callers, so that all of them see the
//! same noise of the machine. The order turns by one each round, so that nobody always follows the same neighbour.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::time::Duration;

use serde::Serialize;
use switchboard_bench::load::{self, Plan, Report};
use switchboard_bench::message::Call;
use switchboard_bench::procfs::Processes;
use switchboard_bench::{Error, Result};

use crate::options::Comparison;
use crate::stage::Subject;

const CALL_LIMIT: Duration = Duration::from_secs(10);

/// One run of one subject.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Run {
    pub(crate) round: usize,
    /// The place of the subject in the table.
    pub(crate) line: usize,
    pub(crate) load_average: f64,
    #[serde(flatten)]
    pub(crate) report: Report,
}

/// Runs all rounds.
pub(crate) async fn run(options: &Comparison, subjects: &[Subject]) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for round in 0..usize::from(options.reps) {
        for callers in &options.callers {
            for turn in 0..subjects.len() {
                let line = (turn + round) % subjects.len();
                let report = load::run(plan(options, &subjects[line], usize::from(*callers))).await?;
                let run = Run { round, line, load_average: load_average(), report };
                record(options, &run)?;
                runs.push(run);
            }
        }
    }
    Ok(runs)
}

fn plan(options: &Comparison, subject: &Subject, callers: usize) -> Plan {
    let seconds = |value: f64| Duration::try_from_secs_f64(value).unwrap_or_default();
    Plan {
        label: subject.name.clone(),
        via: subject.via.clone(),
        call: Call::echo(&subject.tool, options.payload_bytes, options.era.version()),
        callers,
        duration: seconds(options.duration),
        warmup: seconds(options.warmup),
        rate: None,
        call_limit: CALL_LIMIT,
        setup_limit: CALL_LIMIT,
        measured: subject.processes.clone(),
        upstream: Processes::default(),
    }
}

fn record(options: &Comparison, run: &Run) -> Result<()> {
    let Some(path) = &options.out else { return Ok(()) };
    let doing = || format!("writing {}", path.display());
    let mut line = serde_json::to_vec(run)?;
    line.push(b'\n');
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(Error::io(doing()))?;
    file.write_all(&line).map_err(Error::io(doing()))
}

fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|value| value.parse().ok()).unwrap_or(0.0)
}
