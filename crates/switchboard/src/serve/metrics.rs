//! The numbers behind `/metrics`, in the text format of OpenMetrics.
//!
//! Numbers are taken at the moment somebody asks, from what the kernel counts anyway, because who asks decides which
//! servers are among them. Nothing here counts by itself.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use switchboard_kernel::{EventCounts, Phase, ServerStatus};

/// What answers with this text say of themselves.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// All names begin with it.
const PREFIX: &str = "switchboard";
/// The first and the last bound of the histograms that is told, as powers of two of a microsecond: 128 us and 67 s. The
/// kernel counts what takes longer than two minutes as two minutes, so that no later bound would be true.
const BOUNDS: std::ops::RangeInclusive<u32> = 7..=26;

/// One number of the whole process.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessNumber {
    /// Its name, without prefix and suffix.
    pub(super) name: &'static str,
    /// What it is.
    pub(super) help: &'static str,
    /// Counter or gauge.
    pub(super) kind: MetricType,
    /// Its value now.
    pub(super) value: u64,
}

/// The text for one asker: numbers of the process, where it may see them, and of the servers that it may use.
pub(super) fn exposition(process: Option<ProcessNumbers>, servers: Vec<ServerStatus>) -> String {
    let mut registry = Registry::with_prefix(PREFIX);
    if let Some(process) = process {
        registry.register_collector(Box::new(process));
    }
    registry.register_collector(Box::new(Servers(servers)));
    let mut out = String::new();
    // Writing into memory does not fail.
    let _ = text::encode(&mut out, &registry);
    out
}

/// The numbers of the whole process.
#[derive(Debug)]
pub(super) struct ProcessNumbers {
    pub(super) plain: Vec<ProcessNumber>,
    pub(super) events: EventCounts,
}

impl Collector for ProcessNumbers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let events = &self.events;
        let about = "Events on record by how they ended";
        let mut metric = encoder.encode_descriptor("events", about, None, MetricType::Counter)?;
        for (result, count) in &events.by_result {
            let labels = [("result", result.to_ascii_lowercase())];
            metric.encode_family(&labels)?.encode_counter::<NoLabelSet, _, u64>(count, None)?;
        }
        let about = "Refusals by the step of the gate that refused";
        let mut metric = encoder.encode_descriptor("refusals", about, None, MetricType::Counter)?;
        for (step, count) in &events.refused_by_step {
            let labels = [("step", step.clone())];
            metric.encode_family(&labels)?.encode_counter::<NoLabelSet, _, u64>(count, None)?;
        }
        let about = "Events that wait to be written to the store";
        encoder
            .encode_descriptor("events_waiting", about, None, MetricType::Gauge)?
            .encode_gauge(&number(events.waiting))?;
        for number in &self.plain {
            let mut metric = encoder.encode_descriptor(number.name, number.help, None, number.kind)?;
            match number.kind {
                MetricType::Counter => metric.encode_counter::<NoLabelSet, _, u64>(&number.value, None)?,
                _ => metric.encode_gauge(&number.value)?,
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Servers(Vec<ServerStatus>);

/// One number about a server.
type Measure = fn(&ServerStatus) -> u64;

const COUNTERS: [(&str, &str, Measure); 4] = [
    ("server_restarts", "Starts of a server after its first", |server| server.restarts),
    ("server_requests", "Requests sent to a server", |server| server.activity.calls),
    ("server_failures", "Requests that a server did not answer", |server| server.activity.failures),
    ("server_dropped_notifications", "Notifications of a server that were too many", |server| {
        server.activity.dropped_notifications
    }),
];

const GAUGES: [(&str, &str, Measure); 5] = [
    ("server_tools", "Tools of a server", |server| number(server.counts[0])),
    ("server_held", "Definitions of a server that wait for a person", |server| number(server.held.len())),
    ("server_marked", "Definitions of a server that are shown with a mark", |server| number(server.marked.len())),
    ("server_running", "Requests that run at a server", |server| number(server.pending)),
    ("server_breaker_open", "Whether calls to a server are stopped for a while", |server| {
        u64::from(server.breaker != "closed")
    }),
];

impl Collector for Servers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let about = "Whether a server is connected";
        let mut metric = encoder.encode_descriptor("server_up", about, None, MetricType::Gauge)?;
        for server in &self.0 {
            let labels = [("server", id(server)), ("state", server.phase.word().to_owned())];
            metric.encode_family(&labels)?.encode_gauge(&u64::from(server.phase == Phase::Ready))?;
        }
        for (name, help, value) in COUNTERS {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for server in &self.0 {
                let labels = [("server", id(server))];
                metric.encode_family(&labels)?.encode_counter::<NoLabelSet, _, u64>(&value(server), None)?;
            }
        }
        for (name, help, value) in GAUGES {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for server in &self.0 {
                let labels = [("server", id(server))];
                metric.encode_family(&labels)?.encode_gauge(&value(server))?;
            }
        }
        let (about, unit) = ("Time until a server answered", Unit::Seconds);
        let mut metric =
            encoder.encode_descriptor("server_request_duration", about, Some(&unit), MetricType::Histogram)?;
        for server in &self.0 {
            let labels = [("server", id(server))];
            let latency = &server.activity.latency;
            let buckets = latency.buckets(BOUNDS);
            let total = latency.total().as_secs_f64();
            metric.encode_family(&labels)?.encode_histogram::<NoLabelSet>(total, latency.count(), &buckets, None)?;
        }
        Ok(())
    }
}

fn id(server: &ServerStatus) -> String {
    server.id.to_string()
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_process_are_written_as_the_format_wants_them() {
        let process = vec![
            ProcessNumber { name: "requests", help: "Requests of clients", kind: MetricType::Counter, value: 3 },
            ProcessNumber { name: "sessions", help: "Sessions that are open", kind: MetricType::Gauge, value: 2 },
        ];
        let numbers = ProcessNumbers { plain: process, events: EventCounts::default() };
        let text = exposition(Some(numbers), Vec::new());
        assert!(text.contains("# TYPE switchboard_requests counter\nswitchboard_requests_total 3\n"), "{text}");
        assert!(text.contains("# HELP switchboard_sessions Sessions that are open\n"), "{text}");
        assert!(text.contains("\nswitchboard_sessions 2\n"), "{text}");
        assert!(text.ends_with("# EOF\n"), "{text}");
    }
}
