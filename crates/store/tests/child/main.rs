//! A process that writes to a store until it is killed. The durability tests start it; nobody else does.
//!
//! `store-child append FILE` prints a line for every write that was acknowledged. With `STORE_CRASH=BOUNDARY:N` in the
//! environment it kills itself the Nth time it reaches that boundary. `store-child fill FILE BALLAST` writes until the
//! disk is full, removes the ballast, and writes on.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use serde_json::{Value, json};
use switchboard_store::{
    AccessEntry, Actor, AuditEvent, Boundary, HeadPolicy, Location, Options, Permission, Store, StoreError, Target,
};

type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// Callers that write at the same time.
const CALLERS: i64 = 4;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match words[..] {
        ["append", file] => runtime.block_on(append(file)),
        ["fill", file, ballast] => runtime.block_on(fill(file, Path::new(ballast))),
        _ => Err("say append FILE or fill FILE BALLAST".into()),
    }
}

async fn append(file: &str) -> Outcome {
    let location: Location = file.parse()?;
    let mut options = Options { heads: HeadPolicy { records: 7, ..HeadPolicy::default() }, ..Options::default() };
    if let Ok(plan) = std::env::var("STORE_CRASH") {
        options.watcher = Some(crash_at(&plan)?);
    }
    let store = Store::open(&location, options).await?;
    say("open")?;
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..CALLERS {
        let store = store.clone();
        callers.spawn(async move {
            for round in 0.. {
                let number = round * CALLERS + caller;
                for link in store.audit().append(&[event(number)]).await? {
                    say(&format!("audit {} {number}", link.seq))?;
                }
                if number % 5 == 0 {
                    let principal = format!("{}-{number}", std::process::id());
                    store.grants().put_access(&grant(&principal)).await?;
                    say(&format!("grant {principal}"))?;
                }
            }
            Ok(())
        });
    }
    callers.join_next().await.unwrap_or(Ok(Ok(())))?
}

async fn fill(file: &str, ballast: &Path) -> Outcome {
    let store = Store::open(&file.parse()?, Options::default()).await?;
    let mut acknowledged = 0;
    let full = loop {
        match store.audit().append(&[event(acknowledged)]).await {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    if !matches!(full, StoreError::Full(_)) {
        return Err(format!("expected a full disk, got {full:?}").into());
    }
    // Still full: refused again, and reads go on.
    if store.audit().append(&[event(0)]).await.is_ok() {
        return Err("a full disk took another event".into());
    }
    if i64::try_from(store.audit().end().await?.seq)? != acknowledged {
        return Err("an event was kept that was not acknowledged".into());
    }
    std::fs::remove_file(ballast)?;
    store.audit().append(&[event(acknowledged)]).await?;
    let report = store.audit().verify(&[]).await?;
    if !report.is_whole() || i64::try_from(report.records)? != acknowledged + 1 {
        return Err(format!("after the disk was full: {report:?}").into());
    }
    say(&format!("recovered after {acknowledged}"))?;
    Ok(())
}

fn crash_at(plan: &str) -> Result<switchboard_store::Watcher, Box<dyn std::error::Error + Send + Sync>> {
    let (name, count) = plan.split_once(':').ok_or("STORE_CRASH is BOUNDARY:N")?;
    let wanted = match name {
        "before_commit" => Boundary::BeforeCommit,
        "after_commit" => Boundary::AfterCommit,
        "after_heads" => Boundary::AfterHeads,
        "after_acknowledge" => Boundary::AfterAcknowledge,
        _ => return Err("no such boundary".into()),
    };
    let left = AtomicU64::new(count.parse()?);
    Ok(Arc::new(move |boundary| {
        if boundary == wanted && left.fetch_sub(1, Ordering::Relaxed) == 1 {
            // Not an exit: no destructor, no flush, like a power switch for this process.
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    }))
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn event(number: i64) -> AuditEvent {
    let Value::Object(details) = json!({ "number": number, "padding": "x".repeat(200) }) else { unreachable!() };
    AuditEvent {
        timestamp: Timestamp::from_second(1_780_000_000 + number).unwrap_or(Timestamp::MAX),
        trace_id: Some(number.to_string().into()),
        event_type: "TOOL_EXECUTED".into(),
        actor: Actor { kind: "agent".into(), id: "agent".into() },
        target: Target::default(),
        result: "SUCCESS".into(),
        details: details.into_iter().collect(),
    }
}

fn grant(principal: &str) -> AccessEntry {
    AccessEntry {
        principal: principal.to_owned(),
        server: "files".to_owned(),
        tool: None,
        permission: Permission::Allow,
        granted_by: "operator".to_owned(),
        granted_at: Timestamp::UNIX_EPOCH,
        expires_at: None,
        justification: None,
        scopes: None,
    }
}
