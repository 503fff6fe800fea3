//! One load: C callers that ask, check the answer, and ask again, for a fixed time.
//!
//! Closed loop by default. With a rate it is an open loop whose latency counts from the time a call was due, so that a
//! server that stalls is charged for every call it held up. Knows nothing about which gateway it measures.

mod http;
mod report;
mod stdio;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::JoinSet;

pub use report::{Report, percentile};

use crate::connection::Target;
use crate::error::{Error, Result, within};
use crate::message::Call;
use crate::procfs::{self, Processes};

/// How callers share MCP sessions of the legacy era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sessions {
    /// One session per caller.
    Own,
    /// One session for all callers, each on its own connection.
    Shared,
    /// The handshake is made but its session id is not sent.
    Ignored,
}

/// What carries the calls.
#[derive(Clone, Debug)]
pub enum Via {
    /// Streamable HTTP, one keep-alive connection per caller.
    Http {
        /// The endpoint and its headers.
        target: Target,
        /// How sessions are shared.
        sessions: Sessions,
    },
    /// A child process that speaks MCP on its stdin and stdout; callers share it.
    Stdio {
        /// Program and arguments.
        command: Vec<String>,
    },
}

/// Everything that defines one run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// A name for the report.
    pub label: String,
    /// The transport.
    pub via: Via,
    /// The request of every caller.
    pub call: Call,
    /// Calls in flight at any time.
    pub callers: usize,
    /// Measured time.
    pub duration: Duration,
    /// Time under load before it.
    pub warmup: Duration,
    /// Calls per second of an open loop.
    pub rate: Option<f64>,
    /// Deadline of one call.
    pub call_limit: Duration,
    /// Deadline of connecting and the handshake.
    pub setup_limit: Duration,
    /// Whose CPU and memory is reported (with stdio: the child, in any case).
    pub measured: Processes,
    /// The upstream behind it, reported apart.
    pub upstream: Processes,
}

/// Flags and counters that all callers of a run see.
#[derive(Debug, Default)]
struct Control {
    measuring: AtomicBool,
    stop: AtomicBool,
    last_id: AtomicU64,
    completed: AtomicU64,
}

/// What one caller saw.
#[derive(Debug, Default)]
struct Tally {
    latencies_us: Vec<u32>,
    errors: u64,
    first_error: Option<String>,
}

impl Tally {
    fn fail(&mut self, measuring: bool, error: &Error) {
        if measuring {
            self.errors += 1;
        }
        self.first_error.get_or_insert_with(|| error.chain());
    }
}

/// The two transports, as seen by the loop.
trait Caller: Send {
    /// Sends the request and returns the answer with its id.
    fn exchange(&mut self, body: String, id: u64) -> impl Future<Output = Result<Value>> + Send;
    /// Makes the caller usable after a failed exchange, or says that it is not.
    fn recover(&mut self) -> impl Future<Output = Result<()>> + Send;
    /// Gives back what the server holds for this caller, so that one run does not weigh on the next.
    fn finish(self) -> impl Future<Output = Result<()>> + Send;
}

/// Callers that are ready to start, and what getting there took.
struct Ready<C> {
    callers: Vec<C>,
    slowest_setup: Duration,
    failed: Tally,
}

/// Runs the plan. Ends by itself: every wait inside has a deadline.
pub async fn run(plan: Plan) -> Result<Report> {
    let plan = Arc::new(plan);
    match &plan.via {
        Via::Http { target, sessions } => {
            let ready = http::set_up(&plan, target, *sessions).await?;
            measure(&plan, ready, plan.measured.clone()).await
        }
        Via::Stdio { command } => {
            let (server, ready) = stdio::set_up(&plan, command).await?;
            let report = measure(&plan, ready, Processes::tree(server.pid())).await;
            server.stop().await?;
            report
        }
    }
}

async fn measure<C: Caller + 'static>(plan: &Arc<Plan>, ready: Ready<C>, measured: Processes) -> Result<Report> {
    let control = Arc::new(Control::default());
    let mut running = JoinSet::new();
    for (index, caller) in ready.callers.into_iter().enumerate() {
        running.spawn(drive(Arc::clone(plan), Arc::clone(&control), caller, index));
    }
    tokio::time::sleep(plan.warmup).await;

    let cpu = || [measured.cpu_seconds(), plan.upstream.cpu_seconds(), procfs::own_cpu_seconds()];
    let before = cpu();
    let started = Instant::now();
    control.measuring.store(true, Ordering::Relaxed);
    tokio::time::sleep(plan.duration).await;
    let completed = control.completed.load(Ordering::Relaxed);
    let elapsed = started.elapsed();
    let after = cpu();
    let memory = measured.memory();
    control.stop.store(true, Ordering::Relaxed);

    let mut tallies = vec![ready.failed];
    let limit = plan.call_limit + plan.setup_limit;
    within("ending the callers", limit, async {
        while let Some(joined) = running.join_next().await {
            tallies.push(joined.map_err(|error| Error::Answer(format!("a caller stopped: {error}")))?);
        }
        Ok(())
    })
    .await?;
    let cpu_seconds = [after[0] - before[0], after[1] - before[1], after[2] - before[2]];
    Ok(Report::new(plan, completed, elapsed, cpu_seconds, memory, ready.slowest_setup, tallies))
}

/// The loop of one caller.
async fn drive(plan: Arc<Plan>, control: Arc<Control>, mut caller: impl Caller, index: usize) -> Tally {
    let mut tally = Tally::default();
    let gap = plan.rate.map(|rate| Duration::from_secs_f64(plan.callers as f64 / rate));
    let share = index as f64 / plan.callers as f64;
    let mut due = Instant::now() + gap.map_or(Duration::ZERO, |gap| gap.mul_f64(share));
    while !control.stop.load(Ordering::Relaxed) {
        let started = if let Some(gap) = gap {
            tokio::time::sleep_until(due.into()).await;
            let started = due;
            due += gap;
            started
        } else {
            Instant::now()
        };
        let id = control.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let measuring = control.measuring.load(Ordering::Relaxed);
        let exchanged = within("a call", plan.call_limit, caller.exchange(plan.call.body(id), id)).await;
        match exchanged.and_then(|answer| plan.call.check(&answer, id)) {
            Ok(()) if measuring => {
                control.completed.fetch_add(1, Ordering::Relaxed);
                tally.latencies_us.push(u32::try_from(started.elapsed().as_micros()).unwrap_or(u32::MAX));
            }
            Ok(()) => {}
            Err(error) => {
                tally.fail(measuring, &error);
                if matches!(error, Error::Answer(_)) {
                    continue;
                }
                if let Err(error) = within("recovering", plan.setup_limit, caller.recover()).await {
                    tally.fail(measuring, &error);
                    break;
                }
            }
        }
    }
    // A server may refuse to end sessions (405); that is not an error of the run.
    let _ = within("ending a session", plan.call_limit, caller.finish()).await;
    tally
}
