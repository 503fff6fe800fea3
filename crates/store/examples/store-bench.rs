//! How many audit events per second are durable, and what one caller waits for.
//!
//! `cargo run --release -p switchboard-store --example store-bench [DIRECTORY]`. Put the directory on the disk that is
//! meant: on a memory file system the figures say nothing about syncing.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use switchboard_store::{Actor, AuditEvent, Details, Location, Options, Store, StoreError, Target};

type Outcome = Result<(), Box<dyn std::error::Error>>;

const TIME: Duration = Duration::from_secs(5);

#[expect(clippy::print_stdout, reason = "the figures are what this program is for")]
fn main() -> Outcome {
    let base = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for (callers, events) in [(1, 1), (16, 1), (64, 1), (256, 1), (1024, 1), (64, 16)] {
        let directory = tempfile::Builder::new().prefix("store-bench").tempdir_in(&base)?;
        let location = Location::File(directory.path().join("store.db"));
        let (count, mut waits) = runtime.block_on(run(&location, callers, events))?;
        waits.sort_unstable();
        let at = |part: usize| waits.get(waits.len() * part / 100).copied().unwrap_or_default();
        println!(
            "{callers:5} callers x {events:2} events: {:8.0} events/s, median {:?}, p99 {:?}",
            count as f64 / TIME.as_secs_f64(),
            at(50),
            at(99),
        );
        if callers == 1024 {
            let start = Instant::now();
            let store = runtime.block_on(Store::open(&location, Options::default()))?;
            println!("      open: {:?}", start.elapsed());
            let start = Instant::now();
            let report = runtime.block_on(store.audit().verify(&[]))?;
            let rate = report.records as f64 / start.elapsed().as_secs_f64();
            println!("      verify: {} records, {rate:.0} records/s, whole: {}", report.records, report.is_whole());
        }
    }
    Ok(())
}

/// Appends for a while, and returns how many events were acknowledged and how long each call took.
async fn run(location: &Location, callers: u64, events: u64) -> Result<(u64, Vec<Duration>), StoreError> {
    let store = Store::open(location, Options::default()).await?;
    let start = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for caller in 0..callers {
        let store = store.clone();
        tasks.spawn(async move {
            let mut waits = Vec::new();
            while start.elapsed() < TIME {
                let first = (caller << 32) | (waits.len() as u64 * events);
                let batch: Vec<_> = (first..first + events).map(event).collect();
                let asked = Instant::now();
                store.audit().append(&batch).await?;
                waits.push(asked.elapsed());
            }
            Ok::<_, StoreError>(waits)
        });
    }
    let mut all = Vec::new();
    for waits in tasks.join_all().await {
        all.extend(waits?);
    }
    store.close().await?;
    Ok((all.len() as u64 * events, all))
}

/// An event of about 400 bytes with a trace id that is spread like a random one.
fn event(number: u64) -> AuditEvent {
    let mut details = Details::default();
    details.insert("risk_level", "dangerous");
    details.insert("duration_ms", number % 1000);
    details.insert("arguments_hash", "b94d27b9934d3e08a52e52d7da7dabfac484efe3");
    let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    AuditEvent {
        timestamp: Timestamp::from_microsecond(1_780_000_000_000_000 + (number & 0xffff_ffff) as i64)
            .unwrap_or(Timestamp::UNIX_EPOCH),
        trace_id: Some(format!("{spread:016x}{:016x}", !spread).into()),
        event_type: "TOOL_EXECUTED".into(),
        actor: Actor { kind: "agent".into(), id: format!("agent.{}", number % 20).into() },
        target: Target {
            server_id: Some(format!("server.{}", number % 30).into()),
            tool_name: Some("execute_command".into()),
        },
        result: "SUCCESS".into(),
        details,
    }
}
