//! What idle sessions cost: resident memory of the gateway before, with, and after N legacy sessions.

use std::fs;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use switchboard_bench::connection::{Connection, Session, Target};
use switchboard_bench::error::within;
use switchboard_bench::message::{Call, LEGACY};
use switchboard_bench::procfs::Processes;
use switchboard_bench::{Error, Result};
use tempfile::TempDir;

use crate::gateways::{self, Behind};
use crate::options::IdleSessions;
use crate::processes::{Running, sibling};
use crate::stage::answers;

const STEP_LIMIT: Duration = Duration::from_secs(10);

/// The sessions held open, and the streams in them.
struct Held {
    sessions: Vec<Session>,
    streams: Vec<(Connection, Incoming)>,
}

/// True when the limit is kept or was not asked for.
pub(crate) async fn run(options: &IdleSessions) -> Result<bool> {
    allow_connections(u64::from(options.count) * 2 + 256);
    let home = TempDir::with_prefix("switchboard-bench-").map_err(Error::io("making a temporary directory"))?;
    let listen = &options.subjects.upstream_listen;
    let arguments = ["--listen", listen, "--until-stdin-closes", "--era", "legacy"];
    let mut upstream = Running::start("echo-upstream", &sibling("echo-upstream")?, &arguments, home.path())?;
    let upstream_endpoint = upstream.address().await?;

    let mut gateway = None;
    let (name, endpoint, pid, tool) = if let Some(given) = options.subjects.gateway.first() {
        (given.name.clone(), given.endpoint.clone(), given.pid, given.tool.clone())
    } else {
        let Some(binary) = gateways::switchboard_binary(&options.subjects)? else {
            return Err(Error::Usage("switchboard is not built; name it with --switchboard".to_owned()));
        };
        let own_home = home.path().join("switchboard");
        fs::create_dir(&own_home).map_err(Error::io("making a home for the gateway"))?;
        let behind = Behind::Http(&upstream_endpoint);
        let (running, endpoint) = gateways::start_switchboard(&binary, &behind, "legacy", &own_home).await?;
        let found = (running.name.clone(), endpoint, running.pid, "echo".to_owned());
        gateway = Some(running);
        found
    };
    let target = Target { endpoint, headers: Vec::new() };
    answers(&target, &Call::echo(&tool, 16, LEGACY)).await?;

    let measured = measure(options, &name, &target, &Processes::tree(pid)).await;
    if let Some(gateway) = gateway {
        gateway.stop().await;
    }
    upstream.stop().await;
    measured
}

async fn measure(options: &IdleSessions, name: &str, target: &Target, processes: &Processes) -> Result<bool> {
    let count = options.count;
    tokio::time::sleep(options.settle()).await;
    let before = processes.memory().rss_mib;
    let begun = Instant::now();
    let mut connection = Connection::open(target).await?;
    let held = open(options, target, &mut connection).await?;
    let took = begun.elapsed();
    tokio::time::sleep(options.settle()).await;
    let with = processes.memory().rss_mib;
    close(&mut connection, held).await?;
    tokio::time::sleep(options.settle()).await;
    let after = processes.memory().rss_mib;

    let kind = if options.streams { "sessions with a GET stream" } else { "sessions" };
    println!("{name}: {count} idle {kind}, opened in {:.2} s", took.as_secs_f64());
    println!("RSS before      {before:>8.1} MiB");
    println!("RSS with them   {with:>8.1} MiB");
    println!("RSS after       {after:>8.1} MiB (all ended)");
    println!("per session     {:>8.2} KiB", (with - before) * 1024.0 / f64::from(count));
    let met = with <= options.max_mib;
    if options.check {
        let verdict = if met { "met" } else { "MISSED" };
        println!("target  {verdict:<6} {with:.1} MiB with {count} sessions (at most {})", options.max_mib);
    }
    Ok(met || !options.check)
}

async fn open(options: &IdleSessions, target: &Target, connection: &mut Connection) -> Result<Held> {
    let mut held = Held { sessions: Vec::new(), streams: Vec::new() };
    for number in 1..=options.count {
        let session = within("opening a session", STEP_LIMIT, connection.start_session(LEGACY)).await?;
        if session.id.is_none() {
            return Err(Error::Answer(format!("session {number} came without an id")));
        }
        if options.streams {
            let mut own = Connection::open(target).await?;
            let stream = within("opening a stream", STEP_LIMIT, own.open_stream(&session)).await?;
            held.streams.push((own, stream));
        }
        held.sessions.push(session);
    }
    Ok(held)
}

async fn close(connection: &mut Connection, held: Held) -> Result<()> {
    drop(held.streams);
    for session in &held.sessions {
        within("ending a session", STEP_LIMIT, connection.end_session(session)).await?;
    }
    Ok(())
}

/// Raises the soft limit of open files as far as the hard one allows; the gateway inherits it.
fn allow_connections(wanted: u64) {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return;
    }
    let current = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    // If it cannot be raised, opening the sessions says where it ended.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum: limit.maximum });
}
