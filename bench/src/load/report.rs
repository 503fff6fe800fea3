//! The figures of one run.

use std::time::Duration;

use serde::Serialize;

use super::{Plan, Tally};
use crate::procfs::Memory;

/// What one run measured. Serialises to the JSON line that `mcp-loadgen --json` prints.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The plan's label.
    pub label: String,
    /// Calls in flight.
    pub callers: usize,
    /// The method called.
    pub method: String,
    /// The protocol revision spoken.
    pub protocol: String,
    /// Bytes of echoed text per call.
    pub payload_bytes: usize,
    /// Calls per second asked for, if it was an open loop.
    pub rate: Option<f64>,
    /// Checked answers within the measured time.
    pub completed: u64,
    /// Failed calls, and callers that could not be set up.
    pub errors: u64,
    /// The first failure, in words.
    pub first_error: Option<String>,
    /// Measured seconds.
    pub seconds: f64,
    /// Checked answers per second.
    pub calls_per_second: f64,
    /// Median latency.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// Slowest call.
    pub max_ms: f64,
    /// Slowest connection and handshake.
    pub setup_max_ms: f64,
    /// CPU of the measured processes per call.
    pub cpu_us_per_call: f64,
    /// CPU of the upstream per call.
    pub upstream_cpu_us_per_call: f64,
    /// CPU of the generator per call.
    pub loadgen_cpu_us_per_call: f64,
    /// Resident memory of the measured processes, at the end.
    pub rss_mib: f64,
    /// Proportional memory of the measured processes, at the end.
    pub pss_mib: f64,
}

impl Report {
    /// `cpu_seconds` are those of the measured processes, the upstream and the generator.
    pub(super) fn new(
        plan: &Plan,
        completed: u64,
        elapsed: Duration,
        cpu_seconds: [f64; 3],
        memory: Memory,
        slowest_setup: Duration,
        tallies: Vec<Tally>,
    ) -> Self {
        let errors = tallies.iter().map(|tally| tally.errors).sum();
        let first_error = tallies.iter().find_map(|tally| tally.first_error.clone());
        let mut latencies: Vec<u32> = tallies.into_iter().flat_map(|tally| tally.latencies_us).collect();
        latencies.sort_unstable();
        let per_call = |seconds: f64| if completed > 0 { seconds * 1e6 / completed as f64 } else { 0.0 };
        let milliseconds = |part: f64| f64::from(percentile(&latencies, part)) / 1e3;
        Self {
            label: plan.label.clone(),
            callers: plan.callers,
            method: plan.call.method.clone(),
            protocol: plan.call.version.clone(),
            payload_bytes: plan.call.payload.len(),
            rate: plan.rate,
            completed,
            errors,
            first_error,
            seconds: round(elapsed.as_secs_f64(), 3),
            calls_per_second: round(completed as f64 / elapsed.as_secs_f64(), 1),
            p50_ms: milliseconds(0.50),
            p95_ms: milliseconds(0.95),
            p99_ms: milliseconds(0.99),
            max_ms: milliseconds(1.0),
            setup_max_ms: round(slowest_setup.as_secs_f64() * 1e3, 1),
            cpu_us_per_call: round(per_call(cpu_seconds[0]), 1),
            upstream_cpu_us_per_call: round(per_call(cpu_seconds[1]), 1),
            loadgen_cpu_us_per_call: round(per_call(cpu_seconds[2]), 1),
            rss_mib: round(memory.rss_mib, 1),
            pss_mib: round(memory.pss_mib, 1),
        }
    }
}

fn round(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (value * scale).round() / scale
}

/// The smallest value that at least `part` of the sorted values do not exceed; 0 for none.
pub fn percentile(sorted: &[u32], part: f64) -> u32 {
    let rank = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_by_nearest_rank() {
        let hundred: Vec<u32> = (1..=100).collect();
        let table: [(&[u32], f64, u32); 7] = [
            (&[], 0.5, 0),
            (&[7], 0.0, 7),
            (&[7], 1.0, 7),
            (&[1, 2], 0.5, 1),
            (&[1, 2, 3], 0.5, 2),
            (&hundred, 0.99, 99),
            (&hundred, 1.0, 100),
        ];
        for (values, part, expected) in table {
            assert_eq!(percentile(values, part), expected, "{part} of {values:?}");
        }
    }
}
