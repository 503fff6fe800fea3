//! Carries messages between standard input and output and a kernel.
//!
//! A client outlives its kernel: where that goes away, what was open is answered with an error, and the session of the client is begun
//! again at another one. A kernel that ends in good order refuses new calls while those that run go on: these are still heard out,
//! and what was refused goes to the other kernel.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::json;
use switchboard_kernel::SAID_BY;
use switchboard_wire::{Edit, Limits, Raw};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Attached;
use super::gone::nobody_reads;
use crate::Outcome;
use crate::failure::Failure;
use crate::signals::Signals;

/// How long the last words to the client may take.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How often it is looked whether everything was answered.
const DRAIN_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Of longer lines nobody knows whether they ask or answer.
const MAX_LINE_BYTES: usize = 64 << 20;
/// Parts of a session that are said again at another kernel.
const MAX_SESSION: usize = 256;
/// Kernels that may go away in this time before the client is given up.
const MAX_LOST: usize = 3;
const WINDOW: Duration = Duration::from_secs(60);
/// Longer requests are not kept to be made again.
const MAX_KEPT_BYTES: usize = 256 << 10;
/// What is kept of all of them.
const MAX_KEPT: usize = 8 << 20;
/// What is told of calls whose kernel went away.
const LOST: &str = "the kernel that the client shared has ended; whether the call was carried out is unknown";
/// Lines of the kernel that may hold a word for standard error.
const MAX_NOTICE_BYTES: usize = 8 << 10;

/// What is known of the client's side: what it asked and was not answered yet, and what its session began with.
#[derive(Default)]
struct State(Mutex<Said>);

#[derive(Default)]
struct Said {
    /// What was asked and not answered, by its id: the line, where it is short enough to be kept.
    open: HashMap<String, Option<Arc<[u8]>>>,
    /// What is kept of them, in bytes.
    kept: usize,
    /// Requests of the kernel that the client has not answered.
    asked_back: HashSet<String>,
    /// What a session consists of, in the order in which it was said: the handshake, the level of the log, what is watched.
    session: Vec<(String, Vec<u8>)>,
    /// Requests of ours, whose answers are for nobody.
    ours: HashSet<String>,
}

/// What is to be done with a line of a kernel.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Pass,
    /// It is for nobody.
    Drop,
    /// The kernel ends, and did not take this request.
    Refused(Arc<[u8]>),
}

impl Said {
    /// A request is open no more.
    fn close(&mut self, id: &str) -> Option<Arc<[u8]>> {
        let line = self.open.remove(id)??;
        self.kept -= line.len();
        Some(line)
    }
}

impl State {
    /// Notes what a line of the client asks, or takes back.
    fn asked(&self, line: &[u8]) {
        let Some(raw) = read(line) else { return };
        let Some(method) = raw.member("method").and_then(|method| method.as_text()) else {
            raw.member("id").map(|id| self.0.lock().asked_back.remove(id.as_str()));
            return;
        };
        let mut said = self.0.lock();
        match raw.member("id") {
            Some(id) => {
                let fits = line.len() <= MAX_KEPT_BYTES && said.kept + line.len() <= MAX_KEPT;
                let kept: Option<Arc<[u8]>> = fits.then(|| line.into());
                said.kept += kept.as_ref().map_or(0, |line| line.len());
                said.close(id.as_str());
                said.open.insert(id.as_str().to_owned(), kept);
            }
            None if method == "notifications/cancelled" => {
                let id = raw.at(&["params", "requestId"]);
                id.map(|id| said.close(id.as_str()));
            }
            None => {}
        }
        let uri = raw.at(&["params", "uri"]).map(|uri| uri.as_str().to_owned()).unwrap_or_default();
        let part = match method.as_str() {
            "initialize" | "notifications/initialized" | "logging/setLevel" => method,
            "resources/subscribe" => uri,
            "resources/unsubscribe" => {
                said.session.retain(|(part, _)| *part != uri);
                return;
            }
            _ => return,
        };
        said.session.retain(|(known, _)| *known != part);
        if said.session.len() < MAX_SESSION {
            said.session.push((part, line.to_vec()));
        }
    }

    /// Notes what a line of the kernel answers, and tells on standard error what it says of itself.
    fn answered(&self, line: &[u8]) -> Line {
        let Some(raw) = read(line) else { return Line::Pass };
        match (raw.member("id"), raw.member("method")) {
            (Some(id), None) => {
                let mut said = self.0.lock();
                let request = said.close(id.as_str());
                return match request {
                    _ if said.ours.remove(id.as_str()) => Line::Drop,
                    Some(request) if line.len() <= MAX_NOTICE_BYTES && is_refused_at_the_end(&raw) => {
                        Line::Refused(request)
                    }
                    _ => Line::Pass,
                };
            }
            (Some(id), Some(_)) => drop(self.0.lock().asked_back.insert(id.as_str().to_owned())),
            (None, Some(_)) => {
                // The kernel itself takes a question back.
                if let Some(id) = raw.at(&["params", "requestId"]) {
                    self.0.lock().asked_back.remove(id.as_str());
                }
            }
            _ => {}
        }
        let text = |path: &[&str]| raw.at(path).and_then(|value| value.as_text());
        if line.len() <= MAX_NOTICE_BYTES
            && text(&["method"]).as_deref() == Some("notifications/message")
            && text(&["params", "_meta", SAID_BY]).as_deref() == Some("switchboard")
        {
            tracing::warn!("{}", text(&["params", "data"]).unwrap_or_default());
        }
        Line::Pass
    }

    /// Whether a line of the client belongs to what is still open here: the answer to a question, or the end of a request.
    fn is_meant(&self, line: &[u8]) -> bool {
        let Some(raw) = read(line) else { return false };
        let said = self.0.lock();
        match (raw.member("id"), raw.member("method").and_then(|method| method.as_text())) {
            (Some(id), None) => said.asked_back.contains(id.as_str()),
            (None, Some(method)) if method == "notifications/cancelled" => {
                raw.at(&["params", "requestId"]).is_some_and(|id| said.open.contains_key(id.as_str()))
            }
            _ => false,
        }
    }

    /// What is open at a kernel that ends, apart from the session, which goes on at another.
    fn left_behind(&self) -> Self {
        let mut said = self.0.lock();
        let open = std::mem::take(&mut said.open);
        let kept = std::mem::take(&mut said.kept);
        let ours = std::mem::take(&mut said.ours);
        let asked_back = std::mem::take(&mut said.asked_back);
        Self(Mutex::new(Said { open, kept, asked_back, session: Vec::new(), ours }))
    }

    fn is_answered(&self) -> bool {
        self.0.lock().open.is_empty()
    }

    /// What tells the client that nobody waits for its answers to a kernel that has gone.
    fn withdrawals(&self) -> String {
        let line = |id: String| {
            let params = format!("{{\"requestId\":{id},\"reason\":\"the kernel that asked has ended\"}}");
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{params}}}\n")
        };
        std::mem::take(&mut self.0.lock().asked_back).into_iter().map(line).collect()
    }

    /// Error answers to what is still open, which is open no more.
    fn refusals(&self, why: &str) -> String {
        let line = |id: String| {
            let error = json!({"code": -32000, "message": why});
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n")
        };
        let mut said = self.0.lock();
        said.kept = 0;
        std::mem::take(&mut said.open).into_keys().map(line).collect()
    }

    /// The session of the client, to be begun again at another kernel. Its requests have ids of ours.
    fn greeting_again(&self) -> Vec<u8> {
        let mut said = self.0.lock();
        let Said { session, ours, .. } = &mut *said;
        let mut out = Vec::new();
        for (number, (_, line)) in session.iter().enumerate() {
            let Some(raw) = read(line) else { continue };
            let line = match (raw.member("id"), Edit::of(&raw)) {
                (Some(_), Ok(edit)) => {
                    let id = Raw::string(&format!("switchboard-again-{number}"));
                    ours.insert(id.as_str().to_owned());
                    edit.set("id", id).finish()
                }
                _ => raw,
            };
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
        out
    }

    /// That every list may be another one now, to a client that was in a session.
    fn changes(&self) -> String {
        if !self.0.lock().session.iter().any(|(part, _)| part == "notifications/initialized") {
            return String::new();
        }
        let line = |list: &str| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{list}/list_changed\"}}\n");
        ["tools", "prompts", "resources"].map(line).concat()
    }
}

/// Whether an answer says that the kernel itself ends; a server that ends is named.
fn is_refused_at_the_end(answer: &Raw) -> bool {
    let kind = answer.at(&["error", "data", "kind"]).and_then(|kind| kind.as_text());
    kind.as_deref() == Some("server_draining") && answer.at(&["error", "data", "origin"]).is_none()
}

/// Reads the next line; a part of it where it is longer than any message may be. `None` at the end.
async fn next_line(reader: &mut (impl AsyncBufRead + Unpin)) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let bytes = reader.fill_buf().await.ok()?;
        if bytes.is_empty() {
            return (!line.is_empty()).then_some(line);
        }
        let end = bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let count = end.unwrap_or(bytes.len());
        line.extend_from_slice(&bytes[..count]);
        reader.consume(count);
        if end.is_some() || line.len() >= MAX_LINE_BYTES {
            return Some(line);
        }
    }
}

fn read(line: &[u8]) -> Option<Raw> {
    let limits = Limits { bytes: MAX_LINE_BYTES, ..Limits::default() };
    Raw::parse(std::str::from_utf8(line).ok()?.trim().to_owned(), &limits).ok()
}

/// The lines of the client, until it says no more. One waits at most: what a kernel does not take, the client has to hold.
/// What a kernel refused can be put there again, while the client has not ended.
fn lines_of_client() -> (mpsc::Receiver<Vec<u8>>, mpsc::WeakSender<Vec<u8>>) {
    let (sender, receiver) = mpsc::channel(1);
    let again = sender.downgrade();
    tokio::spawn(async move {
        let mut input = BufReader::new(tokio::io::stdin());
        while let Some(line) = next_line(&mut input).await {
            if sender.send(line).await.is_err() {
                return;
            }
        }
    });
    (receiver, again)
}

/// The kernel that the client came from, while what is open there is heard out.
struct Before {
    writer: OwnedWriteHalf,
    state: Arc<State>,
    hearing: JoinHandle<()>,
}

/// From the client to the kernel: `true` when the client says no more, `false` where the kernel takes no more. A line that it did not
/// take stays in `left`.
async fn up(
    writer: &mut OwnedWriteHalf,
    lines: &mut mpsc::Receiver<Vec<u8>>,
    left: &mut Option<Vec<u8>>,
    state: &State,
    before: &mut Option<Before>,
) -> bool {
    loop {
        if left.is_none() {
            *left = lines.recv().await;
        }
        let Some(line) = left.as_deref() else {
            let _ = writer.shutdown().await;
            return true;
        };
        if let Some(before) = before.as_mut().filter(|before| before.state.is_meant(line)) {
            // Where that one has ended meanwhile, nobody waits for it any more.
            let _ = before.writer.write_all(line).await;
            before.state.asked(line);
            *left = None;
            continue;
        }
        // It stays there until it is written: whoever goes on at another kernel begins with it.
        if writer.write_all(line).await.is_err() {
            return false;
        }
        state.asked(line);
        *left = None;
    }
}

/// How hearing a kernel came to an end.
enum Heard {
    /// It closed.
    All,
    /// It ends, and did not take this request.
    Refused(Arc<[u8]>),
    /// The client takes no more.
    NoClient,
}

/// From the kernel to the client, until the kernel closes or refuses a request because it ends.
async fn down(reader: &mut BufReader<OwnedReadHalf>, state: &State, output: &Output) -> Heard {
    while let Some(line) = next_line(reader).await {
        match state.answered(&line) {
            Line::Drop => {}
            Line::Refused(request) => return Heard::Refused(request),
            Line::Pass => {
                if output.write(&line).await.is_err() {
                    return Heard::NoClient;
                }
            }
        }
    }
    Heard::All
}

/// Hears out a kernel that ends. What it refuses is put to the client's lines again, and goes to the next kernel.
async fn hear_out(
    mut reader: BufReader<OwnedReadHalf>,
    state: Arc<State>,
    output: Output,
    lines: mpsc::WeakSender<Vec<u8>>,
    refused: Arc<[u8]>,
) {
    let mut refused = Some(refused);
    loop {
        if let Some(request) = refused.take() {
            match lines.upgrade() {
                Some(lines) => drop(lines.send(request.to_vec()).await),
                None => state.asked(&request),
            }
        }
        match down(&mut reader, &state, &output).await {
            Heard::Refused(request) => refused = Some(request),
            Heard::All => break output.say(&(state.withdrawals() + &state.refusals(LOST))).await,
            Heard::NoClient => break,
        }
    }
}

/// Standard output, a whole line at a time, whoever writes.
#[derive(Clone)]
struct Output(Arc<tokio::sync::Mutex<tokio::io::Stdout>>);

impl Output {
    fn new() -> Self {
        Self(Arc::new(tokio::sync::Mutex::new(tokio::io::stdout())))
    }

    async fn write(&self, line: &[u8]) -> std::io::Result<()> {
        let mut output = self.0.lock().await;
        output.write_all(line).await?;
        output.flush().await
    }

    /// The last words to the client.
    async fn say(&self, text: &str) {
        let _ = tokio::time::timeout(LAST_WORDS, self.write(text.as_bytes())).await;
    }
}

/// How the carrying came to an end.
enum Ended {
    /// The client is gone, or has said and heard all.
    Client,
    /// The kernel went away.
    Kernel,
    /// The kernel ends, and did not take this request.
    Leaving(Arc<[u8]>),
    Signal,
}

/// Carries both ways until one side ends.
async fn carry(
    attached: &mut Attached,
    lines: &mut mpsc::Receiver<Vec<u8>>,
    left: &mut Option<Vec<u8>>,
    state: &State,
    before: &mut Option<Before>,
    output: &Output,
    signals: &mut Signals,
) -> Ended {
    let (mut said_all, mut taken) = (false, true);
    let (reader, writer) = (&mut attached.reader, &mut attached.writer);
    let up = up(writer, lines, left, state, before);
    let down = down(reader, state, output);
    let nobody_reads = nobody_reads();
    tokio::pin!(up, down, nobody_reads);
    loop {
        tokio::select! {
            done = &mut up, if !said_all && taken => (said_all, taken) = (done, done),
            heard = &mut down => {
                return match heard {
                    Heard::Refused(request) => Ended::Leaving(request),
                    Heard::All if !said_all || !state.is_answered() => Ended::Kernel,
                    Heard::All | Heard::NoClient => Ended::Client,
                };
            }
            // The kernel is told by the end of this process: what waits for a person is not made any more.
            () = &mut nobody_reads => return Ended::Client,
            () = signals.next() => return Ended::Signal,
        }
    }
}

/// Carries everything until one side ends. A kernel that goes away is replaced by another one, which `again` gives; that is told the
/// process of one that still runs and takes no calls any more. A signal ends it after what is open was answered, within `grace`;
/// another one at once.
pub(crate) async fn relay<F>(
    mut attached: Attached,
    mut signals: Signals,
    grace: Duration,
    again: impl Fn(Option<u32>) -> F,
) -> Outcome
where
    F: Future<Output = Result<Attached, Failure>>,
{
    let (state, output) = (State::default(), Output::new());
    let ((mut lines, again_lines), mut left) = (lines_of_client(), None);
    let mut lost_at: Vec<Instant> = Vec::new();
    let mut before: Option<Before> = None;
    loop {
        let ended = carry(&mut attached, &mut lines, &mut left, &state, &mut before, &output, &mut signals).await;
        let leaving = match ended {
            Ended::Client => {
                hear_the_rest(before, grace).await;
                return Ok(());
            }
            Ended::Signal => break,
            Ended::Kernel => None,
            Ended::Leaving(request) => Some(request),
        };
        if leaving.is_none() {
            output.say(&(state.withdrawals() + &state.refusals(LOST))).await;
            if lines.is_closed() && lines.is_empty() {
                hear_the_rest(before, grace).await;
                return Ok(());
            }
        }
        lost_at.retain(|at| at.elapsed() < WINDOW);
        lost_at.push(Instant::now());
        if lost_at.len() > MAX_LOST {
            return Err(lost(attached.process));
        }
        let process = attached.process;
        let next = tokio::select! {
            again = again(leaving.as_ref().map(|_| process)) => again.map_err(|_| lost(process))?,
            () = signals.next() => return Ok(()),
        };
        let Attached { reader, writer, .. } = std::mem::replace(&mut attached, next);
        tracing::warn!(
            "the kernel of process {process} has ended; the client goes on at that of process {}",
            attached.process
        );
        if let Some(request) = leaving {
            let old = Arc::new(state.left_behind());
            let hearing = hear_out(reader, old.clone(), output.clone(), again_lines.clone(), request);
            before = Some(Before { writer, state: old, hearing: tokio::spawn(hearing) });
        }
        if attached.writer.write_all(&state.greeting_again()).await.is_err() {
            continue;
        }
        output.say(&state.changes()).await;
    }
    let deadline = Instant::now() + grace;
    let Attached { reader, .. } = &mut attached;
    let answered = async {
        while !state.is_answered() && Instant::now() < deadline {
            tokio::time::sleep(DRAIN_POLL_INTERVAL).await;
        }
        hear_the_rest(before, deadline.duration_since(Instant::now())).await;
    };
    tokio::select! {
        () = answered => {}
        _ = down(reader, &state, &output) => {}
        () = signals.next() => return Ok(()),
    }
    output.say(&state.refusals("the client was told to end; whether the call was carried out is unknown")).await;
    Ok(())
}

/// Waits for the last answers of the kernel before.
async fn hear_the_rest(before: Option<Before>, patience: Duration) {
    if let Some(Before { hearing, writer, .. }) = before {
        let _ = tokio::time::timeout(patience, hearing).await;
        drop(writer);
    }
}

fn lost(process: u32) -> Failure {
    Failure::failed(format!(
        "the kernel of process {process}, which other clients share, has ended; start the client again"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_known_and_refused_once() {
        let state = State::default();
        for line in ["{\"id\":1,\"method\":\"a\"}\n", "{\"id\":\"x\",\"method\":\"b\"}\n", "{\"method\":\"n\"}\n"] {
            state.asked(line.as_bytes());
        }
        assert_eq!(state.answered(b"{\"id\":1,\"result\":{}}\n"), Line::Pass);
        let refusals = state.refusals("no");
        assert!(refusals.lines().count() == 1 && refusals.contains("\"id\":\"x\""), "{refusals}");
        assert!(state.is_answered());
        state.asked(b"{\"id\":2,\"method\":\"a\"}\n");
        state.asked(b"{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}\n");
        assert!(state.is_answered());
    }

    #[test]
    fn a_session_is_begun_again_with_what_it_consists_of() {
        let state = State::default();
        for line in [
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"x":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"a:1"}}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"resources/subscribe","params":{"uri":"a:2"}}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"resources/unsubscribe","params":{"uri":"a:1"}}"#,
            r#"{"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":"error"}}"#,
        ] {
            state.asked(line.as_bytes());
        }
        let again = String::from_utf8(state.greeting_again()).unwrap();
        let methods: Vec<&str> =
            again.lines().filter_map(|line| line.split("method\":\"").nth(1)?.split('"').next()).collect();
        assert_eq!(methods, ["initialize", "notifications/initialized", "resources/subscribe", "logging/setLevel"]);
        assert!(again.contains("a:2") && again.contains("error") && !again.contains("a:1"), "{again}");
        let for_nobody = br#"{"jsonrpc":"2.0","id":"switchboard-again-0","result":{}}"#;
        assert_eq!(state.answered(for_nobody), Line::Drop);
        assert_eq!(state.answered(br#"{"jsonrpc":"2.0","id":9,"result":{}}"#), Line::Pass);
        assert_eq!(state.changes().lines().count(), 3);
    }

    #[test]
    fn what_a_kernel_refuses_at_its_end_is_asked_again() {
        let state = State::default();
        let call = br#"{"id":7,"method":"tools/call"}"#;
        let refused = |origin: &str| {
            format!(
                r#"{{"id":7,"error":{{"code":-32000,"message":"no","data":{{"kind":"server_draining"{origin}}}}}}}"#
            )
        };
        state.asked(call);
        assert_eq!(state.answered(refused("").as_bytes()), Line::Refused(call.as_slice().into()));
        assert!(state.is_answered());
        state.asked(call);
        let of_a_server = refused(r#","origin":{"server_id":"a"}"#);
        assert_eq!(state.answered(of_a_server.as_bytes()), Line::Pass, "one server ends, not the kernel");
        // What is open at the kernel before, and what that one asked, still goes there.
        state.asked(br#"{"id":8,"method":"tools/call"}"#);
        state.answered(br#"{"id":3,"method":"elicitation/create"}"#);
        let before = state.left_behind();
        assert!(state.is_answered() && !before.is_answered());
        assert!(before.is_meant(br#"{"id":3,"result":{}}"#) && !before.is_meant(br#"{"id":4,"result":{}}"#));
        assert!(before.is_meant(br#"{"method":"notifications/cancelled","params":{"requestId":8}}"#));
        assert!(!before.is_meant(br#"{"id":9,"method":"tools/call"}"#));
        // Where it goes away, its client need not answer any more; nor where the kernel takes a question back itself.
        before.answered(br#"{"id":4,"method":"elicitation/create"}"#);
        before.answered(br#"{"method":"notifications/cancelled","params":{"requestId":4}}"#);
        let withdrawn = before.withdrawals();
        assert!(withdrawn.contains("\"requestId\":3,") && withdrawn.lines().count() == 1, "{withdrawn}");
        assert!(before.withdrawals().is_empty());
    }
}
