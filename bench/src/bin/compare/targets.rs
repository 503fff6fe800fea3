//! The targets, and whether Switchboard meets them.

use crate::figures::Summary;
use crate::gateways::SWITCHBOARD;
use crate::options::Targets;

/// One target for one number of callers.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) text: String,
    pub(crate) met: bool,
}

/// Judges every line of Switchboard. Failed calls miss the target whatever the speed; no line at all gives no verdict.
pub(crate) fn judge(summaries: &[Summary], targets: &Targets) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let mut add = |callers: usize, what: &str, value: f64, sign: &str, limit: f64, met: bool| {
        verdicts.push(Verdict { text: format!("{callers:>4} callers: {what} {value:.2} ({sign} {limit})"), met });
    };
    for line in summaries.iter().filter(|line| line.name == SWITCHBOARD) {
        let (callers, ratios) = (line.callers, line.ratios);
        if callers > 1 {
            let met = ratios.throughput >= targets.min_throughput;
            add(callers, "throughput ratio", ratios.throughput, "at least", targets.min_throughput, met);
        } else {
            let met = ratios.latency <= targets.max_latency;
            add(callers, "median latency ratio", ratios.latency, "at most", targets.max_latency, met);
        }
        add(callers, "CPU ratio", ratios.cpu, "at most", targets.max_cpu, ratios.cpu <= targets.max_cpu);
        if line.errors > 0 {
            add(callers, "failed calls", line.errors as f64, "at most", 0.0, false);
        }
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Ratios;

    #[test]
    fn what_meets_the_targets() {
        let targets = Targets { min_throughput: 0.85, max_cpu: 1.5, max_latency: 1.3 };
        let table = [
            (1, 0.1, 1.5, 1.3, 0, true),
            (1, 1.0, 1.5, 1.31, 0, false),
            (16, 0.85, 1.5, 9.0, 0, true),
            (16, 0.84, 1.5, 1.0, 0, false),
            (64, 0.9, 1.51, 1.0, 0, false),
            (64, 0.9, f64::NAN, 1.0, 0, false),
            (64, 0.9, 1.0, 1.0, 1, false),
        ];
        for (callers, throughput, cpu, latency, errors, expected) in table {
            let line = Summary {
                name: SWITCHBOARD.to_owned(),
                callers,
                calls_per_second: 0.0,
                p50_ms: 0.0,
                p95_ms: 0.0,
                p99_ms: 0.0,
                cpu_us: 0.0,
                rss_mib: 0.0,
                errors,
                first_error: None,
                ratios: Ratios { throughput, cpu, latency },
            };
            let met = judge(&[line], &targets).iter().all(|verdict| verdict.met);
            assert_eq!(met, expected, "{callers} callers, {throughput}, {cpu}, {latency}, {errors}");
        }
        assert!(judge(&[], &targets).is_empty());
    }
}
