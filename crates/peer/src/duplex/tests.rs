//! Behaviour of a connection, seen from its far side.

use std::sync::atomic::AtomicUsize;

use parking_lot::Mutex;
use switchboard_wire::ErrorObject;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::sync::{Notify, mpsc};

use super::*;

/// Answers `echo` with its parameters, `wait` when it is let go, and remembers what it was told.
#[derive(Default)]
struct Recorder {
    notifications: Mutex<Vec<String>>,
    told: Notify,
    go: Notify,
    cancelled: AtomicUsize,
    name: &'static str,
}

impl Handler for Recorder {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            match &*request.method {
                "echo" => Ok(request.params.unwrap_or_else(Raw::empty_object)).into(),
                "panics" => panic!("a fault in a handler"),
                "who" => Ok(Raw::string(self.name)).into(),
                "initialize" => Ok(raw(r#"{"protocolVersion":"2025-03-26"}"#)).into(),
                "era" => Ok(Raw::string(context.caller.revision.as_str())).into(),
                "wait" => {
                    let guard = Dropped(&self.cancelled);
                    self.go.notified().await;
                    std::mem::forget(guard);
                    Ok(Raw::empty_object()).into()
                }
                "subscriptions/listen" | "obedient" => {
                    context.cancel.cancelled().await;
                    Ok(Raw::empty_object()).into()
                }
                _ => Err(ErrorObject::new(-32601, "no")).into(),
            }
        })
    }

    fn notification(&self, _context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        assert_ne!(&*notification.method, "panics", "a fault in a handler");
        let params = notification.params.map(|raw| raw.as_str().to_owned()).unwrap_or_default();
        self.notifications.lock().push(format!("{} {params}", notification.method));
        self.told.notify_one();
        Box::pin(std::future::ready(()))
    }
}

struct Dropped<'a>(&'a AtomicUsize);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned(), &Limits::default()).unwrap()
}

/// The far side, by hand. Ids of requests to it cannot be known before: here they are 1, 2 and so on, in their order.
struct Far {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    ids: Vec<u64>,
}

/// The members that hold ids of ours.
const NAMES_OF_IDS: [&str; 4] = ["id", "progressToken", "request_id", "requestId"];

impl Far {
    async fn say(&mut self, line: &str) {
        let mut line = line.to_owned();
        let is_request = line.contains("\"method\"");
        for name in NAMES_OF_IDS.into_iter().filter(|name| *name != "id" || !is_request) {
            line = renumbered(&line, name, |number| {
                usize::try_from(number).ok()?.checked_sub(1).and_then(|at| self.ids.get(at).copied())
            });
        }
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> String {
        let line = tokio::time::timeout(Duration::from_secs(5), self.lines.next_line()).await;
        let mut line = line.expect("in time").unwrap().expect("a line");
        if line.contains("\"method\"") {
            let ids = &mut self.ids;
            renumbered(&line, "id", |id| {
                ids.push(id);
                None
            });
        }
        for name in NAMES_OF_IDS {
            line = renumbered(&line, name, |id| {
                self.ids.iter().position(|known| *known == id).and_then(|at| u64::try_from(at + 1).ok())
            });
        }
        line
    }
}

/// The line with other numbers as the values of this member, where `number` knows one.
fn renumbered(line: &str, member: &str, mut number: impl FnMut(u64) -> Option<u64>) -> String {
    let key = format!("\"{member}\":");
    let mut parts = line.split(&key);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let other = part[..digits].parse().ok().and_then(&mut number);
        out.push_str(&key);
        out.push_str(&other.map_or_else(|| part[..digits].to_owned(), |other| other.to_string()));
        out.push_str(&part[digits..]);
    }
    out
}

fn open(role: Role) -> (Started, Arc<Recorder>, Far) {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(near);
    let handler = Arc::new(Recorder::default());
    let started = start(reader, writer, DuplexOptions::new(role), handler.clone());
    let (reader, writer) = tokio::io::split(far);
    (started, handler, Far { lines: BufReader::new(reader).lines(), writer, ids: Vec::new() })
}

#[tokio::test]
async fn ids_come_back_byte_for_byte() {
    let (_started, _handler, mut far) = open(Role::Server);
    for id in ["1", "\"1\"", "-5", "9007199254740993", r#""\u00e9\/x""#, "0"] {
        far.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"echo","params":{{"n":1.10}}}}"#)).await;
        assert_eq!(far.hear().await, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"n":1.10}}}}"#));
    }
}

#[tokio::test]
async fn an_id_used_twice_at_once_gets_two_answers() {
    let (_started, handler, mut far) = open(Role::Server);
    far.say(r#"{"jsonrpc":"2.0","id":1,"method":"wait"}"#).await;
    far.say(r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":1}}"#).await;
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#);
    handler.go.notify_one();
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
}

#[tokio::test]
async fn what_is_no_message_is_answered_and_the_next_line_is_read() {
    let (started, _handler, mut far) = open(Role::Server);
    far.say("hello\r").await;
    assert!(far.hear().await.starts_with(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700"#));
    far.say(r#"{"jsonrpc":"1.0","id":7,"method":"echo"}"#).await;
    assert!(far.hear().await.starts_with(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600"#));
    far.say(r#"[{"jsonrpc":"2.0","id":8,"method":"echo"}]"#).await;
    assert!(far.hear().await.contains("-32600"));
    far.say(r#"{"jsonrpc":"2.0","id":9,"method":"echo"}"#).await;
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    assert_eq!(started.connection.stats().refused_lines.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn a_server_that_logs_on_stdout_is_not_answered() {
    let (started, _handler, mut far) = open(Role::Client);
    far.say("Server listening...").await;
    let remote = started.connection.clone();
    let call = tokio::spawn(async move { remote.request(Call::new("x", None)).await });
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#);
    far.say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    assert!(call.await.unwrap().unwrap().outcome.is_ok());
}

#[tokio::test]
async fn batches_are_for_one_revision_only() {
    let (_started, _handler, mut far) = open(Role::Server);
    far.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#).await;
    far.hear().await;
    far.say(r#"[{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","method":"note"},{"id":2}]"#).await;
    let answer = far.hear().await;
    assert!(answer.starts_with('[') && answer.contains(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), "{answer}");
    assert!(answer.contains(r#""id":2,"error""#), "{answer}");
}

#[tokio::test]
async fn each_modern_request_brings_its_own_revision() {
    let (_started, _handler, mut far) = open(Role::Server);
    far.say(r#"{"jsonrpc":"2.0","id":1,"method":"era","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#).await;
    assert!(far.hear().await.contains("2026-07-28"));
    far.say(r#"{"jsonrpc":"2.0","id":2,"method":"era"}"#).await;
    assert!(far.hear().await.contains("2025-11-25"));
}

#[tokio::test]
async fn first_answer_wins_and_the_rest_is_counted() {
    let (started, _handler, mut far) = open(Role::Client);
    let remote = started.connection.clone();
    let call = tokio::spawn(async move { remote.request(Call::new("x", None)).await });
    far.hear().await;
    far.say(r#"{"jsonrpc":"2.0","id":77,"result":{"of":"nobody"}}"#).await;
    far.say(r#"{"jsonrpc":"2.0","id":"1","result":{"of":"a string"}}"#).await;
    far.say(r#"{"jsonrpc":"2.0","id":1,"result":{"first":true},"x":1}"#).await;
    far.say(r#"{"jsonrpc":"2.0","id":1,"result":{"second":true}}"#).await;
    let reply = call.await.unwrap().unwrap();
    assert_eq!(reply.outcome.unwrap().as_str(), r#"{"first":true}"#);
    assert_eq!(reply.extra.get("x").map(Raw::as_str), Some("1"));
    // A further exchange shows that everything before it was read.
    let remote = started.connection.clone();
    let call = tokio::spawn(async move { remote.request(Call::new("y", None)).await });
    far.hear().await;
    far.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#).await;
    call.await.unwrap().unwrap();
    assert_eq!(started.connection.stats().stray_answers.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn a_call_times_out_and_the_far_side_is_told() {
    let (started, _handler, mut far) = open(Role::Client);
    let error = started.connection.request(Call::new("x", None).within(Duration::from_secs(2))).await.unwrap_err();
    assert!(matches!(error, CallError::Timeout(_)), "{error:?}");
    far.hear().await;
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    assert_eq!(started.connection.open_calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn progress_keeps_a_call_alive_but_not_for_ever() {
    let (started, handler, mut far) = open(Role::Client);
    let mut call = Call::new("x", Some(raw(r#"{"_meta":{"progressToken":"mine"}}"#))).within(Duration::from_secs(2));
    call.max_timeout = Duration::from_secs(7);
    let remote = started.connection.clone();
    let began = tokio::time::Instant::now();
    let call = tokio::spawn(async move { remote.request(call).await });
    assert!(far.hear().await.contains(r#""progressToken":1"#));
    let ticker = async {
        loop {
            tokio::time::sleep(Duration::from_millis(1500)).await;
            far.say(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#)
                .await;
        }
    };
    tokio::select! {
        outcome = call => assert!(matches!(outcome.unwrap(), Err(CallError::Timeout(_)))),
        () = ticker => {}
    }
    assert_eq!(began.elapsed().as_secs(), 7);
    let seen = handler.notifications.lock().clone();
    assert_eq!(seen[0], r#"notifications/progress {"progressToken":"mine","progress":1}"#);
}

#[tokio::test]
async fn two_callers_with_one_progress_token_do_not_meet() {
    let (started, _handler, mut far) = open(Role::Client);
    let (sender, mut heard) = mpsc::unbounded_channel();
    for owner in 1..=2 {
        let mut call = Call::new("x", Some(raw(r#"{"_meta":{"progressToken":"same"}}"#)));
        call.owner = owner;
        call.related = Some(Arc::new(Named(owner, sender.clone())));
        let remote = started.connection.clone();
        tokio::spawn(async move { remote.request(call).await });
        far.hear().await;
    }
    far.say(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2}}"#).await;
    far.say(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"same"}}"#).await;
    far.say(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}"#).await;
    assert_eq!(heard.recv().await.unwrap(), (2, r#"{"progressToken":"same"}"#.to_owned()));
    assert_eq!(heard.recv().await.unwrap(), (1, r#"{"progressToken":"same"}"#.to_owned()));
    assert_eq!(started.connection.stats().foreign_progress.load(Ordering::Relaxed), 1);
}

/// Reports under a number what it was told, and answers requests with that number.
struct Named(u64, mpsc::UnboundedSender<(u64, String)>);

impl Handler for Named {
    fn request(&self, _context: Context, _request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(std::future::ready(Ok(Raw::number(self.0)).into()))
    }

    fn notification(&self, _context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        let params = notification.params.map(|raw| raw.as_str().to_owned()).unwrap_or_default();
        let _ = self.1.send((self.0, params));
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn a_request_goes_to_the_only_owner_and_to_nobody_in_doubt() {
    let (started, _handler, mut far) = open(Role::Client);
    let (sender, _heard) = mpsc::unbounded_channel();
    let ask = |owner| {
        let mut call = Call::new("x", None);
        call.owner = owner;
        call.related = Some(Arc::new(Named(owner, sender.clone())));
        let remote = started.connection.clone();
        tokio::spawn(async move { remote.request(call).await })
    };
    // The connection's own calls have no say in whose request it is.
    let remote = started.connection.clone();
    tokio::spawn(async move { remote.request(Call::new("listen", None)).await });
    far.hear().await;
    ask(7);
    far.hear().await;
    far.say(r#"{"jsonrpc":"2.0","id":"q1","method":"who"}"#).await;
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","id":"q1","result":7}"#);
    ask(8);
    far.hear().await;
    far.say(r#"{"jsonrpc":"2.0","id":"q2","method":"who"}"#).await;
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","id":"q2","result":""}"#);
}

#[tokio::test]
async fn cancelling_ends_the_work_and_gives_no_answer() {
    let (_started, handler, mut far) = open(Role::Server);
    far.say(r#"{"jsonrpc":"2.0","id":"a","method":"wait"}"#).await;
    far.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#).await;
    far.say(r#"{"jsonrpc":"2.0","id":"b","method":"echo"}"#).await;
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","id":"b","result":{}}"#);
    while handler.cancelled.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_caller_that_gives_up_tells_the_far_side() {
    let (started, _handler, mut far) = open(Role::Client);
    let cancel = CancellationToken::new();
    let mut call = Call::new("x", None);
    call.cancel = cancel.clone();
    let remote = started.connection.clone();
    let call = tokio::spawn(async move { remote.request(call).await });
    far.hear().await;
    cancel.cancel();
    assert!(matches!(call.await.unwrap(), Err(CallError::Cancelled)));
    assert!(far.hear().await.contains("notifications/cancelled"));
}

#[tokio::test]
async fn open_calls_fail_when_the_far_side_goes() {
    let (started, _handler, mut far) = open(Role::Client);
    let remote = started.connection.clone();
    let call = tokio::spawn(async move { remote.request(Call::new("x", None)).await });
    far.hear().await;
    far.writer.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"res").await.unwrap();
    drop(far);
    assert!(matches!(call.await.unwrap(), Err(CallError::Closed)));
    started.finished.cancelled().await;
    assert!(matches!(started.connection.request(Call::new("x", None)).await, Err(CallError::NotSent(_))));
}

#[tokio::test]
async fn a_client_that_closes_its_end_still_gets_its_answers() {
    let (started, handler, mut far) = open(Role::Server);
    far.say(r#"{"jsonrpc":"2.0","id":1,"method":"wait"}"#).await;
    far.writer.shutdown().await.unwrap();
    handler.go.notify_one();
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    started.finished.cancelled().await;
}

#[tokio::test]
async fn a_reader_that_does_not_read_costs_a_bounded_queue() {
    let (near, _far) = tokio::io::duplex(64);
    let (reader, writer) = tokio::io::split(near);
    let options = DuplexOptions { queue: 8, ..DuplexOptions::new(Role::Server) };
    let started = start(reader, writer, options, Arc::new(Recorder::default()));
    let note = Notification::new("note", Some(raw(r#"{"text":"0123456789012345678901234567890123456789"}"#)));
    let mut outcomes = Vec::new();
    for _ in 0..100 {
        outcomes.push(started.connection.notify(note.clone()));
        tokio::task::yield_now().await;
    }
    assert_eq!(outcomes.last(), Some(&Err(SendError::Full)));
    assert!(started.connection.stats().dropped_notifications.load(Ordering::Relaxed) > 80);
}

#[tokio::test]
async fn an_answer_behind_a_full_queue_waits_for_the_reader() {
    let (ours, theirs) = tokio::io::duplex(64);
    let (reader, writer) = tokio::io::split(ours);
    let options = DuplexOptions { queue: 4, ..DuplexOptions::new(Role::Server) };
    let started = start(reader, writer, options, Arc::new(Recorder::default()));
    let (reader, mut writer) = tokio::io::split(theirs);
    while started.connection.notify(Notification::new("flood", None)).is_ok() {
        tokio::task::yield_now().await;
    }
    writer.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"echo\"}\n").await.unwrap();
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    let mut lines = BufReader::new(reader).lines();
    loop {
        let line = tokio::time::timeout(Duration::from_secs(5), lines.next_line()).await.expect("in time");
        let line = line.unwrap().expect("the connection holds");
        if line.contains("\"id\":7") {
            break;
        }
        assert!(line.contains("flood"), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_far_side_that_never_reads_its_answer_is_given_up() {
    let (ours, theirs) = tokio::io::duplex(64);
    let (reader, writer) = tokio::io::split(ours);
    let options = DuplexOptions { queue: 4, ..DuplexOptions::new(Role::Server) };
    let started = start(reader, writer, options, Arc::new(Recorder::default()));
    let (_reader, mut writer) = tokio::io::split(theirs);
    while started.connection.notify(Notification::new("flood", None)).is_ok() {
        tokio::task::yield_now().await;
    }
    writer.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"echo\"}\n").await.unwrap();
    tokio::time::timeout(Duration::from_secs(120), started.finished.cancelled()).await.expect("it ends");
}

#[tokio::test]
async fn an_answer_that_is_too_long_ends_its_call_at_once() {
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(near);
    let options =
        DuplexOptions { limits: Limits { bytes: 1000, ..Limits::default() }, ..DuplexOptions::new(Role::Client) };
    let started = start(reader, writer, options, Arc::new(Recorder::default()));
    let (reader, writer) = tokio::io::split(far);
    let mut far = Far { lines: BufReader::new(reader).lines(), writer, ids: Vec::new() };
    let remote = started.connection.clone();
    let call = tokio::spawn(async move { remote.request(Call::new("x", None)).await });
    far.hear().await;
    far.say(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"text":"{}"}}}}"#, "x".repeat(5000))).await;
    assert!(matches!(call.await.unwrap(), Err(CallError::BadAnswer(_))));
    let remote = started.connection.clone();
    let call = tokio::spawn(async move { remote.request(Call::new("y", None)).await });
    far.hear().await;
    far.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#).await;
    assert!(call.await.unwrap().is_ok());
}

#[tokio::test]
async fn a_handler_that_answers_its_own_cancellation_is_not_heard() {
    let (_started, _handler, mut far) = open(Role::Server);
    far.say(r#"{"jsonrpc":"2.0","id":"a","method":"obedient"}"#).await;
    far.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#).await;
    far.say(r#"{"jsonrpc":"2.0","id":"b","method":"echo"}"#).await;
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","id":"b","result":{}}"#);
}

#[tokio::test(start_paused = true)]
async fn an_open_stream_does_not_hold_up_the_end() {
    let (started, _handler, mut far) = open(Role::Server);
    far.say(r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}"#).await;
    far.say(r#"{"jsonrpc":"2.0","id":2,"method":"echo"}"#).await;
    far.hear().await;
    let began = tokio::time::Instant::now();
    far.writer.shutdown().await.unwrap();
    started.finished.cancelled().await;
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn a_fault_in_a_handler_is_an_answer() {
    let (_started, _, mut far) = open(Role::Server);
    far.say(r#"{"jsonrpc":"2.0","id":1,"method":"panics"}"#).await;
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}"#);
    far.say(r#"{"jsonrpc":"2.0","id":2,"method":"echo"}"#).await;
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
}

#[tokio::test]
async fn a_fault_in_the_reader_ends_the_connection() {
    let (started, _, mut far) = open(Role::Server);
    far.say(r#"{"jsonrpc":"2.0","method":"panics"}"#).await;
    started.connection.closed().cancelled().await;
    started.finished.cancelled().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_while_its_far_side_waits_for_us() {
    let (started, _, mut far) = open(Role::Client);
    let person = Arc::new(Recorder::default());
    let mut call = Call::new("ask", None).within(Duration::from_secs(10));
    call.related = Some(person.clone());
    let connection = started.connection.clone();
    let call = tokio::spawn(async move { connection.request(call).await });
    far.hear().await;
    far.say(r#"{"jsonrpc":"2.0","id":"q","method":"wait"}"#).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    person.go.notify_one();
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","id":"q","result":{}}"#);
    assert!(!call.is_finished());
    // With the answer the far side has its time again, and no more.
    let began = tokio::time::Instant::now();
    assert!(matches!(call.await.unwrap(), Err(CallError::Timeout(_))));
    assert!(began.elapsed() <= Duration::from_secs(11), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_modern_server_that_asks_gets_no_answer() {
    let (started, _, mut far) = open(Role::Client);
    let modern = Caller { revision: switchboard_protocol::Revision::LATEST, ..Caller::unknown() };
    started.session.introduce(modern);
    far.say(r#"{"jsonrpc":"2.0","id":1,"method":"who"}"#).await;
    started.connection.notify(Notification::new("after", None)).unwrap();
    assert_eq!(far.hear().await, r#"{"jsonrpc":"2.0","method":"after"}"#);
    assert!(tokio::time::timeout(Duration::from_millis(50), far.hear()).await.is_err());
}

#[tokio::test]
async fn what_names_a_call_reaches_that_call_and_no_other() {
    let (started, everybody, mut far) = open(Role::Client);
    let people: Vec<_> = (0..2).map(|_| Arc::new(Recorder::default())).collect();
    for (owner, person) in people.iter().enumerate() {
        let mut call = Call::new("work", None);
        call.owner = owner as u64;
        call.related = Some(person.clone());
        let connection = started.connection.clone();
        tokio::spawn(async move { connection.request(call).await });
        assert!(far.hear().await.contains(&format!("\"id\":{}", owner + 1)));
    }
    for id in ["2", "1", "77", "\"1\""] {
        far.say(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/mgp.stream.chunk","params":{{"request_id":{id}}}}}"#
        ))
        .await;
    }
    // Handled in order: when this one has come, so have the others.
    far.say(r#"{"jsonrpc":"2.0","method":"last"}"#).await;
    everybody.told.notified().await;
    let heard = |recorder: &Recorder| recorder.notifications.lock().clone();
    for (person, id) in people.iter().zip(&far.ids) {
        assert_eq!(heard(person), [format!(r#"notifications/mgp.stream.chunk {{"request_id":{id}}}"#)]);
    }
    assert_eq!(heard(&everybody), ["last "]);
    assert_eq!(started.connection.stats().foreign_progress.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_as_long_as_its_question_may_be_answered() {
    let (started, _, mut far) = open(Role::Client);
    let mut call = Call::new("ask", None).within(Duration::from_secs(10));
    call.related = Some(Arc::new(Recorder::default()));
    let began = tokio::time::Instant::now();
    let connection = started.connection.clone();
    let call = tokio::spawn(async move { connection.request(call).await });
    far.hear().await;
    far.say(
        r#"{"jsonrpc":"2.0","method":"notifications/mgp.callback.request","params":{"request_id":1,"timeout_ms":60000}}"#,
    )
    .await;
    assert!(matches!(call.await.unwrap(), Err(CallError::Timeout(_))));
    assert!(began.elapsed() >= Duration::from_secs(70), "{:?}", began.elapsed());
}

#[tokio::test]
async fn progress_of_a_call_that_has_ended_is_no_disorder() {
    let (started, handler, mut far) = open(Role::Client);
    let mut call = Call::new("x", Some(raw(r#"{"_meta":{"progressToken":"t"}}"#)));
    call.cancel = CancellationToken::new();
    let cancel = call.cancel.clone();
    let connection = started.connection.clone();
    let calling = tokio::spawn(async move { connection.request(call).await });
    assert!(far.hear().await.contains("\"id\":1"));
    cancel.cancel();
    calling.await.unwrap().unwrap_err();
    for named in [r#""progressToken":1"#, r#""progressToken":99"#] {
        far.say(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{{named},"progress":1}}}}"#))
            .await;
    }
    far.say(r#"{"jsonrpc":"2.0","method":"notifications/mgp.stream.progress","params":{"request_id":1,"progress":1}}"#)
        .await;
    // Handled in order: when this one has come, so have the others.
    far.say(r#"{"jsonrpc":"2.0","method":"last"}"#).await;
    handler.told.notified().await;
    assert_eq!(started.connection.stats().foreign_progress.load(Ordering::Relaxed), 1, "only that of 99");
}
