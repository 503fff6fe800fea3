//! kill -9 at any moment: no effect without an intent before it, one outcome for each intent, one chain.

use std::collections::{HashMap, HashSet};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_kernel::{GateOptions, Kernel, KernelOptions, ServerPolicy};
use switchboard_peer::{BoxFuture, Context, Handler, Identity, Method, Reply};
use switchboard_protocol::Era;
use switchboard_store::{AuditEvent, AuditFilter, Boundary, Location, Options, Store, StoreError};
use switchboard_wire::{ErrorObject, Notification, Request};

use super::world::{Client, House, Script, open_house, raw, spec, tool, writing};

/// The directory that the child works in. Only a child has it.
const CHILD: &str = "SWITCHBOARD_TEST_CRASH_CHILD";
const KILLS: usize = 20;
const INTENT: &str = "dev.switchboard.tool_intent";

/// A server whose tools write a line into a file, and does not answer before the line is on the disk.
struct Ledger(std::path::PathBuf);

impl Handler for Ledger {
    fn request(&self, _context: Context, request: Request) -> BoxFuture<'_, Reply> {
        let params: Value = request.params.as_ref().map_or(Value::Null, |params| params.view().unwrap());
        let reply = match &*request.method {
            "initialize" => Ok(json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "ledger", "version": "1"},
            })),
            "tools/list" => Ok(json!({"tools": [tool("work"), writing("enter")]})),
            "tools/call" => {
                let mut file = OpenOptions::new().append(true).create(true).open(&self.0).unwrap();
                // In one piece: several calls write at the same time.
                let line = format!("{}\n", params["_meta"]["trace_id"].as_str().unwrap());
                file.write_all(line.as_bytes()).unwrap();
                file.sync_all().unwrap();
                Ok(json!({"content": []}))
            }
            _ => Err(ErrorObject::new(-32601, "Method not found")),
        };
        Box::pin(std::future::ready(reply.map(|value| raw(&value)).into()))
    }

    fn notification(&self, _context: Context, _notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

async fn kernel_on(store: &Store, server: Arc<dyn Handler>) -> Kernel {
    let mut gate = GateOptions { store: Some(store.clone()), ..GateOptions::default() };
    open_house(&mut gate);
    let kernel = Kernel::new(KernelOptions { gate, ..KernelOptions::default() });
    kernel.apply(vec![spec("ledger", server, ServerPolicy::default())]);
    kernel.settled(Duration::from_secs(5)).await;
    kernel
}

/// A store that takes nothing half of the time, and now and then takes something and does not say so.
async fn flaky(directory: &Path) -> Store {
    let began = Instant::now();
    let faults = move |boundary| {
        let failing = match began.elapsed().as_millis() / 20 % 4 {
            1 => Some(Boundary::BeforeCommit),
            3 => Some(Boundary::AfterCommit),
            _ => None,
        };
        if failing == Some(boundary) { Err(StoreError::Undetermined) } else { Ok(()) }
    };
    let options = Options { faults: Some(Arc::new(faults)), ..Options::default() };
    Store::open(&Location::File(directory.join("store.db")), options).await.unwrap()
}

/// What runs in the child: calls without end, until it is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by the test below, to be killed"]
async fn child() {
    let Some(directory) = std::env::var_os(CHILD) else { return };
    let directory = Path::new(&directory);
    let store = flaky(directory).await;
    let kernel = kernel_on(&store, Arc::new(Ledger(directory.join("ledger")))).await;
    let callers = (0..6).map(|caller| {
        let kernel = kernel.clone();
        async move {
            let identity = Identity::new("ann", Method::Token);
            let client = Client::new(&kernel, identity.into(), Era::Legacy, json!({})).await;
            // Not for ever, should nobody come to kill it.
            for call in 0..100_000 {
                let trace = format!("{}-{caller}-{call}", std::process::id());
                let name = if call % 2 == 0 { "enter" } else { "work" };
                let params = json!({"name": name, "arguments": {}, "_meta": {"trace_id": trace}});
                if client.request("tools/call", params).await.is_ok() {
                    let mut acknowledged =
                        OpenOptions::new().append(true).create(true).open(directory.join("acknowledged")).unwrap();
                    acknowledged.write_all(format!("{trace}\n").as_bytes()).unwrap();
                }
            }
        }
    });
    futures_util::future::join_all(callers).await;
}

fn lines(ledger: &Path) -> Vec<String> {
    std::fs::read_to_string(ledger).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Starts a child and kills it some time after its first effect.
fn run_and_kill(directory: &Path, after: Duration) {
    let before = lines(&directory.join("ledger")).len();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "gate::crash::child", "--ignored", "--nocapture"])
        .env(CHILD, directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while lines(&directory.join("ledger")).len() == before {
        assert!(began.elapsed() < Duration::from_secs(20), "the child does nothing");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(after);
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(status.code().is_none(), "it was killed and did not end: {status}");
}

async fn log(store: &Store) -> Vec<AuditEvent> {
    let mut events = Vec::new();
    let mut export = store.audit().export(AuditFilter::default()).await.unwrap();
    while let Some(page) = export.next().await.unwrap() {
        events.extend(page.iter().map(|record| record.parse().unwrap()));
    }
    events
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_at_any_moment_leaves_a_whole_record() {
    // Beside the ones that are killed, one kernel on the same store lives, and has a call open all the time.
    let script = Script::new(Era::Legacy, vec![writing("hang")]);
    let house = House::with(&[], ServerPolicy::default, open_house).await;
    let mut living = spec("living", script.clone(), ServerPolicy::default());
    living.call_timeout = Duration::from_secs(300);
    house.kernel.apply(vec![living]);
    house.kernel.settled(Duration::from_secs(5)).await;
    let directory = house.directory.path().to_owned();
    let ann = Arc::new(house.client(Era::Legacy, "ann").await);
    let context = ann.context();
    let cancel = context.cancel.clone();
    let caller = ann.clone();
    let living = tokio::spawn(async move {
        let params = raw(&json!({"name": "hang", "arguments": {}, "_meta": {"trace_id": "the-living"}}));
        caller.send(context, "tools/call", &params).await
    });
    script.arrived.notified().await;
    for kill in 0..KILLS {
        // Spread over the beginning of calls, and over the pause between two notes of what is open.
        let after = Duration::from_millis(u64::try_from(kill * 37 % 190).unwrap());
        let directory = directory.clone();
        tokio::task::spawn_blocking(move || run_and_kill(&directory, after)).await.unwrap();
    }
    let idle = Script::new(Era::Legacy, vec![]);
    let last = kernel_on(&house.store, idle).await;
    let open_calls = |events: &[AuditEvent]| {
        let mut calls: HashMap<String, (usize, usize)> = HashMap::new();
        for event in events {
            let Some(call) = event.details.get("call").and_then(Value::as_str) else { continue };
            let (intents, outcomes) = calls.entry(call.to_owned()).or_default();
            *(if event.event_type == INTENT { intents } else { outcomes }) += 1;
        }
        // An intent that was not in the store before its outcome may be left out.
        calls.into_iter().filter(|(_, (intents, outcomes))| *intents > 1 || *outcomes != 1).collect::<Vec<_>>()
    };
    let effects = lines(&directory.join("ledger"));
    assert!(effects.len() >= KILLS);
    // What was said to change something has its intent, and of the rest there is a word.
    let unrecorded = |events: &[AuditEvent]| {
        let told: HashSet<&str> = events
            .iter()
            .filter(|event| event.event_type == INTENT || event.target.tool_name.as_deref() == Some("work"))
            .filter_map(|event| event.trace_id.as_deref())
            .collect();
        effects.iter().filter(|effect| !told.contains(effect.as_str())).cloned().collect::<Vec<_>>()
    };
    let began = Instant::now();
    let mut events = log(&house.store).await;
    // The journals of those that died are read while this one is at work already.
    while (open_calls(&events).len() != 1 || !unrecorded(&events).is_empty())
        && began.elapsed() < Duration::from_secs(60)
    {
        tokio::time::sleep(Duration::from_millis(50)).await;
        events = log(&house.store).await;
    }
    eprintln!("{} events, whole after {:?}", events.len(), began.elapsed());
    assert!(house.store.audit().verify(&[]).await.unwrap().is_whole());
    let unknown = events.iter().filter(|event| event.event_type == "dev.switchboard.unknown_outcome").count();
    assert!(unknown > 0, "twenty kills with six callers leave something open");
    let of_the_living: Vec<_> = events.iter().filter(|event| event.trace_id.as_deref() == Some("the-living")).collect();
    assert_eq!(of_the_living.len(), 1, "its intent and no outcome: {of_the_living:?}");
    let open = open_calls(&events);
    assert_eq!(open.len(), 1, "each intent has one outcome, but for the living one: {open:?}");
    assert_eq!(unrecorded(&events), Vec::<String>::new(), "done and not on record");
    assert_eq!(effects.iter().collect::<HashSet<_>>().len(), effects.len(), "nothing was done twice");
    let mut succeeded: HashMap<&str, usize> = HashMap::new();
    for event in events.iter().filter(|event| event.event_type == "TOOL_EXECUTED" && event.result == "SUCCESS") {
        *succeeded.entry(event.trace_id.as_deref().unwrap_or_default()).or_default() += 1;
    }
    let acknowledged = lines(&directory.join("acknowledged"));
    assert!(!acknowledged.is_empty());
    let lost: Vec<_> = acknowledged.iter().filter(|trace| succeeded.get(trace.as_str()) != Some(&1)).collect();
    assert_eq!(lost, Vec::<&String>::new(), "acknowledged and not on record once, of {}", acknowledged.len());
    cancel.cancel();
    assert!(living.await.unwrap().is_err());
    assert!(open_calls(&log(&house.store).await).is_empty());
    last.shut_down(Duration::from_secs(5)).await;
}
