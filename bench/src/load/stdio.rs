//! Callers that share one child process over its stdin and stdout.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;

use super::{Caller, Plan, Ready, Tally};
use crate::error::{Error, Result, within};
use crate::message::{self, Era};

const LARGEST_LINE: u64 = 64 << 20;
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// The calls in flight, at most one per caller.
#[derive(Clone, Default)]
struct Waiting {
    calls: Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>,
    closed: Arc<AtomicBool>,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<Value>>> {
        // No code that can panic runs under the lock.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The running child.
pub(super) struct Server {
    child: Child,
    pid: u32,
}

impl Server {
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    pub(super) async fn stop(mut self) -> Result<()> {
        within("stopping the stdio server", STOP_LIMIT, async {
            self.child.kill().await.map_err(Error::io("stopping the stdio server"))
        })
        .await
    }
}

/// One of the callers on the shared pipe.
#[derive(Clone)]
pub(super) struct StdioCaller {
    input: Arc<tokio::sync::Mutex<ChildStdin>>,
    waiting: Waiting,
}

/// Starts the child and makes the handshake.
pub(super) async fn set_up(plan: &Arc<Plan>, command: &[String]) -> Result<(Server, Ready<StdioCaller>)> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Error::Usage("the stdio command is empty".to_owned()));
    };
    let begun = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(Error::io(format!("starting {program}")))?;
    let gone = || Error::Process { name: program.clone(), reason: "ended at once".to_owned() };
    let (input, output) = (child.stdin.take().ok_or_else(gone)?, child.stdout.take().ok_or_else(gone)?);
    let pid = child.id().ok_or_else(gone)?;

    let caller = StdioCaller { input: Arc::new(tokio::sync::Mutex::new(input)), waiting: Waiting::default() };
    tokio::spawn(deliver(output, caller.waiting.clone()));
    if plan.call.era() == Era::Legacy {
        within("the handshake", plan.setup_limit, async {
            let mut caller = caller.clone();
            let answer = caller.exchange(message::initialize(&plan.call.version), 0).await?;
            if let Some(error) = answer.get("error") {
                return Err(Error::Answer(format!("initialize: {error}")));
            }
            caller.write(message::INITIALIZED).await
        })
        .await?;
    }
    let callers = vec![caller; plan.callers];
    Ok((Server { child, pid }, Ready { callers, slowest_setup: begun.elapsed(), failed: Tally::default() }))
}

/// Hands each answer to its caller; ends with the pipe.
async fn deliver(output: ChildStdout, waiting: Waiting) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut output).take(LARGEST_LINE).read_until(b'\n', &mut line).await {
            Ok(read) if read > 0 && line.ends_with(b"\n") => {}
            _ => break,
        }
        let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
        if message.get("method").is_some() {
            continue;
        }
        if let Some(id) = message.get("id").and_then(Value::as_u64) {
            let caller = waiting.lock().remove(&id);
            // A caller that gave up has dropped its receiver.
            caller.map(|caller| caller.send(message));
        }
    }
    waiting.closed.store(true, Ordering::Relaxed);
    waiting.lock().clear();
}

impl StdioCaller {
    async fn write(&self, line: &str) -> Result<()> {
        let line = format!("{line}\n");
        self.input.lock().await.write_all(line.as_bytes()).await.map_err(Error::io("writing to the stdio server"))
    }
}

/// Takes the entry of a call away when the call is abandoned.
struct Entry<'a> {
    waiting: &'a Waiting,
    id: u64,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.waiting.lock().remove(&self.id);
    }
}

impl Caller for StdioCaller {
    async fn exchange(&mut self, body: String, id: u64) -> Result<Value> {
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().insert(id, sender);
        let _entry = Entry { waiting: &self.waiting, id };
        self.write(&body).await?;
        receiver.await.map_err(|_| output_closed())
    }

    async fn recover(&mut self) -> Result<()> {
        // After a time-out the pipe still works: the late answer finds no caller and is dropped.
        if self.waiting.closed.load(Ordering::Relaxed) { Err(output_closed()) } else { Ok(()) }
    }

    async fn finish(self) -> Result<()> {
        Ok(())
    }
}

fn output_closed() -> Error {
    Error::Process { name: "stdio server".to_owned(), reason: "closed its output".to_owned() }
}
