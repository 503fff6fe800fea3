//! Medians over rounds, and ratios to the baseline of the same round.

use switchboard_bench::load::Report;

use crate::rounds::Run;
use crate::stage::{DIRECT, FORWARDER};

/// Ratios to the baseline: medians of the ratios within each round, not ratios of medians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratios {
    pub(crate) throughput: f64,
    pub(crate) cpu: f64,
    pub(crate) latency: f64,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) name: String,
    pub(crate) callers: usize,
    pub(crate) calls_per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) cpu_us: f64,
    pub(crate) rss_mib: f64,
    pub(crate) errors: u64,
    pub(crate) first_error: Option<String>,
    pub(crate) ratios: Ratios,
}

/// The summaries, by callers and then in the order of the subjects.
pub(crate) fn summarise(runs: &[Run]) -> Vec<Summary> {
    let mut keys: Vec<(usize, usize)> = runs.iter().map(|run| (run.report.callers, run.line)).collect();
    keys.sort_unstable();
    keys.dedup();
    let baseline = if runs.iter().any(|run| run.report.label == FORWARDER) { FORWARDER } else { DIRECT };
    keys.into_iter().map(|(callers, line)| summary(runs, callers, line, baseline)).collect()
}

fn summary(runs: &[Run], callers: usize, line: usize, baseline: &str) -> Summary {
    let own: Vec<&Run> = runs.iter().filter(|run| run.report.callers == callers && run.line == line).collect();
    let of = |pick: fn(&Report) -> f64| median(own.iter().map(|run| pick(&run.report)).collect());
    let ratio = |pick: fn(&Report) -> f64| {
        let in_round = |run: &&Run| {
            let same = |other: &&Run| {
                other.round == run.round && other.report.callers == callers && other.report.label == baseline
            };
            let base = pick(&runs.iter().find(same)?.report);
            (base > 0.0).then(|| pick(&run.report) / base)
        };
        median(own.iter().filter_map(in_round).collect())
    };
    Summary {
        name: own.first().map(|run| run.report.label.clone()).unwrap_or_default(),
        callers,
        calls_per_second: of(|report| report.calls_per_second),
        p50_ms: of(|report| report.p50_ms),
        p95_ms: of(|report| report.p95_ms),
        p99_ms: of(|report| report.p99_ms),
        cpu_us: of(|report| report.cpu_us_per_call),
        rss_mib: of(|report| report.rss_mib),
        errors: own.iter().map(|run| run.report.errors).sum(),
        first_error: own.iter().find_map(|run| run.report.first_error.clone()),
        ratios: Ratios {
            throughput: ratio(|report| report.calls_per_second),
            cpu: ratio(|report| report.cpu_us_per_call),
            latency: ratio(|report| report.p50_ms),
        },
    }
}

/// The median; not a number for no values, so that a missing figure never meets a target.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(round: usize, line: usize, label: &str, calls_per_second: f64) -> Run {
        let label = label.to_owned();
        let report = Report { label, callers: 16, calls_per_second, p50_ms: 1.0, ..Report::default() };
        Run { round, line, load_average: 0.0, report }
    }

    #[test]
    fn medians() {
        assert!(median(vec![]).is_nan());
        assert_eq!(median(vec![3.0]), 3.0);
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn ratios_pair_the_runs_of_one_round() {
        // The machine halves its speed after the first round; a ratio of medians would not notice the gateway's 0.9.
        let runs = [
            run(0, 0, FORWARDER, 1000.0),
            run(0, 1, "gateway", 900.0),
            run(1, 1, "gateway", 450.0),
            run(1, 0, FORWARDER, 500.0),
            run(2, 0, FORWARDER, 400.0),
            run(2, 1, "gateway", 380.0),
        ];
        let summaries = summarise(&runs);
        assert_eq!(summaries.len(), 2);
        assert_eq!((summaries[1].name.as_str(), summaries[1].calls_per_second), ("gateway", 450.0));
        assert!((summaries[1].ratios.throughput - 0.9).abs() < 1e-9);
        assert!(summaries[1].ratios.cpu.is_nan(), "no CPU was seen, so there is no ratio");
    }
}
