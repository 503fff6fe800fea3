//! The printed table.

use std::fmt::Write;

use crate::figures::Summary;
use crate::options::{Comparison, Upstream};
use crate::targets::Verdict;

/// One line that says what is measured.
pub(crate) fn heading(options: &Comparison) -> String {
    let answers = match (options.upstream, options.sse) {
        (Upstream::Stdio, _) => "stdio upstream",
        (Upstream::Http, true) => "event-stream answers",
        (Upstream::Http, false) => "JSON answers",
    };
    format!(
        "{} rounds of {} s, {:?} callers on {}, {answers}, {} upstream, {} bytes echoed",
        options.reps,
        options.duration,
        options.era,
        options.era.version(),
        options.upstream_era().name(),
        options.payload_bytes
    )
}

/// The summaries as text, one block per number of callers.
pub(crate) fn render(summaries: &[Summary]) -> String {
    let mut text = String::new();
    let mut callers = 0;
    for line in summaries {
        if line.callers != callers {
            callers = line.callers;
            // Writing to a String cannot fail, here and below.
            let _ = write!(
                text,
                "\n{:<20} {:>9} {:>8} {:>8} {:>8} {:>9} {:>8}   {:>7} {:>6} {:>6} {:>7}\n",
                format!("callers: {callers}"),
                "calls/s",
                "p50 ms",
                "p95 ms",
                "p99 ms",
                "CPU us",
                "RSS MiB",
                "x calls",
                "x CPU",
                "x p50",
                "errors"
            );
        }
        let ratios = line.ratios;
        let _ = writeln!(
            text,
            "{:<20} {:>9.0} {:>8.3} {:>8.3} {:>8.3} {:>9.1} {:>8.1}   {:>7.3} {:>6.2} {:>6.2} {:>7}",
            line.name,
            line.calls_per_second,
            line.p50_ms,
            line.p95_ms,
            line.p99_ms,
            line.cpu_us,
            line.rss_mib,
            ratios.throughput,
            ratios.cpu,
            ratios.latency,
            line.errors
        );
    }
    for line in summaries {
        if let Some(error) = &line.first_error {
            let _ = writeln!(text, "first error of {} with {} callers: {error}", line.name, line.callers);
        }
    }
    text
}

/// The verdicts as text.
pub(crate) fn verdicts(verdicts: &[Verdict]) -> String {
    if verdicts.is_empty() {
        return "target  MISSED: there is no line for switchboard".to_owned();
    }
    let line =
        |verdict: &Verdict| format!("target  {:<6} {}", if verdict.met { "met" } else { "MISSED" }, verdict.text);
    verdicts.iter().map(line).collect::<Vec<_>>().join("\n")
}
