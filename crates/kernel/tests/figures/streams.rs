//! Many streams at once, readers that do not read, and how long a piece takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_kernel::{GateOptions, Kernel, KernelOptions, ServerPolicy};
use switchboard_peer::{
    BoxFuture, Call, CallError, Caller, Context, Handler, Identity, Method, Remote, Reply, SendError, Session,
};
use switchboard_protocol::{Era, Revision};
use switchboard_wire::{Id, Notification, Request};
use tokio_util::sync::CancellationToken;

use crate::gate::world::{open_house, raw, spec, until};
use crate::world::{Streamer, says};

/// A reader that counts what it is told, or takes nothing.
#[derive(Default)]
struct Reader {
    stalled: bool,
    told: AtomicUsize,
    delays: Mutex<Vec<u64>>,
    clock: Option<std::time::Instant>,
    refused: AtomicU64,
    /// Bytes that it has before it.
    backlog: AtomicUsize,
}

impl Remote for Reader {
    fn request(&self, _call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        Box::pin(async { Err(CallError::NotAllowed) })
    }

    fn notify(&self, notification: Notification) -> Result<(), SendError> {
        if self.stalled {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(SendError::Full);
        }
        self.told.fetch_add(1, Ordering::Relaxed);
        if let Some(clock) = self.clock {
            let now = clock.elapsed().as_nanos() as u64;
            let said: Value = notification.params.expect("params").view().expect("JSON");
            let sent = said["content"]["text"].as_str().and_then(|text| text.parse::<u64>().ok()).expect("a time");
            self.delays.lock().push(now.saturating_sub(sent));
        }
        Ok(())
    }

    fn backlog(&self) -> usize {
        self.backlog.load(Ordering::Relaxed)
    }
}

struct House {
    kernel: Kernel,
    servers: Vec<Arc<Streamer>>,
}

impl House {
    async fn new(count: usize) -> Self {
        let servers: Vec<_> = (0..count).map(|_| Streamer::new(Era::Legacy, true)).collect();
        let mut gate = GateOptions::default();
        open_house(&mut gate);
        let kernel = Kernel::new(KernelOptions { gate, ..KernelOptions::default() });
        let specs = servers.iter().enumerate().map(|(number, server)| {
            let mut spec = spec(&format!("s{number}"), server.clone(), ServerPolicy::default());
            spec.call_timeout = Duration::from_secs(600);
            spec
        });
        kernel.apply(specs.collect());
        kernel.settled(Duration::from_secs(10)).await;
        Self { kernel, servers }
    }

    fn tool(&self, number: usize, name: &str) -> String {
        if self.servers.len() == 1 { name.to_owned() } else { format!("s{}__{name}", number % self.servers.len()) }
    }

    fn call(&self, id: usize, reader: &Arc<Reader>, params: &Value) -> tokio::task::JoinHandle<Result<(), String>> {
        let caller = Caller {
            revision: Revision::LATEST_LEGACY,
            info: None,
            capabilities: raw(&says(Era::Legacy, &["streaming"])),
        };
        let identity = Identity::new("ann", Method::Token).into();
        let session = Session::new(format!("session-{id}").into(), identity, true, caller, reader.clone());
        let context = Context {
            caller: session.caller(),
            session,
            remote: reader.clone(),
            cancel: CancellationToken::new(),
            headers: None,
            open_owners: None,
        };
        let request = Request::new(Id::number(id as u64), "tools/call", Some(raw(params)));
        let kernel = self.kernel.clone();
        tokio::spawn(async move {
            let outcome = kernel.request(context, request).await.outcome;
            outcome.map(|_| ()).map_err(|error| format!("{error:?}"))
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_streams_at_once() {
    const STREAMS: usize = 10_000;
    let house = House::new(16).await;
    let reader = Arc::new(Reader::default());
    let calls: Vec<_> = (0..STREAMS)
        .map(|number| {
            let arguments = json!({"count": 2, "size": 64, "hold": true});
            let params = json!({"name": house.tool(number, "burst"), "arguments": arguments, "_mgp": {"stream": true}});
            house.call(number, &reader, &params)
        })
        .collect();
    let running = || house.servers.iter().map(|server| server.running.load(Ordering::SeqCst)).sum::<usize>();
    for _ in 0..10_000 {
        if running() == STREAMS && reader.told.load(Ordering::Relaxed) == 2 * STREAMS {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(reader.told.load(Ordering::Relaxed), 2 * STREAMS, "each has its pieces");
    let (open, kept) = house.kernel.streaming();
    assert_eq!(open, STREAMS);
    assert!(kept <= 64 << 20, "{kept} bytes are kept");
    for server in &house.servers {
        server.step.add_permits(STREAMS);
    }
    for call in calls {
        call.await.expect("no panic").expect("an answer");
    }
    assert_eq!(house.kernel.streaming(), (0, 0), "nothing is left of them");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_readers_that_do_not_read_cost_no_more_than_is_allowed() {
    const READERS: usize = 1_000;
    // Of each stream the first 128 KiB are on their way to the reader. What comes after is kept, as far as there is room.
    const PIECES: usize = 28;
    let house = House::new(4).await;
    let readers: Vec<_> = (0..READERS).map(|_| Arc::new(Reader { stalled: true, ..Reader::default() })).collect();
    let calls: Vec<_> = readers
        .iter()
        .enumerate()
        .map(|(number, reader)| {
            let arguments = json!({"count": PIECES, "size": 8192, "hold": true});
            let params = json!({"name": house.tool(number, "burst"), "arguments": arguments, "_mgp": {"stream": true}});
            house.call(number, reader, &params)
        })
        .collect();
    // More than twice the megabytes that may be kept, which nobody reads.
    let running = || house.servers.iter().map(|server| server.running.load(Ordering::SeqCst)).sum::<usize>();
    let (mut most, mut done) = (0, false);
    for _ in 0..15_000 {
        most = most.max(house.kernel.streaming().1);
        done = running() == READERS;
        if done {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(done, "producers are never held up by readers: {}", running());
    let slack = (READERS * 16) << 10;
    assert!(most <= (64 << 20) + slack, "{most} bytes were kept");
    assert!(most > 32 << 20, "they were kept as far as there was room: {most}");
    // Others are served meanwhile.
    let reader = Arc::new(Reader::default());
    let params = json!({"name": house.tool(0, "think"), "arguments": {}, "_mgp": {"stream": true}});
    house.call(READERS, &reader, &params).await.expect("no panic").expect("an answer");
    assert_eq!(reader.told.load(Ordering::Relaxed), 2);
    for server in &house.servers {
        server.step.add_permits(READERS);
    }
    for call in calls {
        call.await.expect("no panic").expect("the answer comes whatever became of the pieces");
    }
    until("nothing is left of them", || house.kernel.streaming() == (0, 0)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_piece_is_passed_on_within_a_millisecond() {
    let house = House::new(1).await;
    let reader = Arc::new(Reader { clock: Some(house.servers[0].began), ..Reader::default() });
    let params = json!({"name": house.tool(0, "stamps"), "arguments": {"count": 300}, "_mgp": {"stream": true}});
    house.call(1, &reader, &params).await.expect("no panic").expect("an answer");
    until("all pieces", || reader.told.load(Ordering::Relaxed) == 300).await;
    let mut delays = reader.delays.lock().clone();
    delays.sort_unstable();
    // The quickest tenth: what others do on this machine is not what is measured.
    let quick = delays[delays.len() / 10];
    assert!(quick < 1_000_000, "{quick} ns");
}

#[tokio::test]
async fn who_has_much_before_it_gets_the_rest_when_it_has_read() {
    let house = House::new(1).await;
    let reader = Arc::new(Reader { backlog: AtomicUsize::new(1 << 20), ..Reader::default() });
    let params =
        json!({"name": "burst", "arguments": {"count": 5, "size": 10, "hold": true}, "_mgp": {"stream": true}});
    let call = house.call(1, &reader, &params);
    until("the pieces", || house.servers[0].running.load(Ordering::SeqCst) == 1).await;
    until("they are kept", || house.kernel.streaming().1 > 0).await;
    assert_eq!(reader.told.load(Ordering::Relaxed), 0);
    reader.backlog.store(0, Ordering::Relaxed);
    // Without another piece that would push them.
    until("they come", || reader.told.load(Ordering::Relaxed) == 5).await;
    house.servers[0].step.add_permits(1);
    call.await.expect("no panic").expect("an answer");
}
