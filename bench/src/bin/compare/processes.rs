//! Starting the measured processes, learning where they listen, and ending them.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use switchboard_bench::endpoint::Endpoint;
use switchboard_bench::{Error, Result};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::oneshot;

use crate::START_LIMIT;

const KEPT_OUTPUT: usize = 8 << 10;
const SHOWN_LINES: usize = 12;
const STOP_LIMIT: Duration = Duration::from_secs(3);

/// The end of what a process printed, for error messages.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<VecDeque<u8>>>);

impl Output {
    fn lock(&self) -> MutexGuard<'_, VecDeque<u8>> {
        // No code that can panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.lock();
        kept.extend(bytes);
        let excess = kept.len().saturating_sub(KEPT_OUTPUT);
        kept.drain(..excess);
    }

    fn text(&self) -> String {
        let mut kept = self.lock();
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }

    fn last_lines(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n    ")
    }
}

/// A started process, in a process group of its own. Dropping it kills the group.
pub(crate) struct Running {
    pub(crate) name: String,
    pub(crate) pid: u32,
    child: Child,
    output: Output,
    address: Option<oneshot::Receiver<Endpoint>>,
    // The bench servers end when this pipe closes, so they do not outlive a killed comparison.
    _stdin: Option<ChildStdin>,
}

impl Running {
    /// Starts a program with a home directory of its own, so that no configuration of the user leaks in.
    pub(crate) fn start(name: &str, program: &Path, arguments: &[&str], home: &Path) -> Result<Self> {
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(home)
            .env("HOME", home)
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(Error::io(format!("starting {}", program.display())))?;
        let pid = child.id().ok_or_else(|| Error::Process {
            name: name.to_owned(),
            reason: "ended before it could be watched".to_owned(),
        })?;
        let (output, (found, address)) = (Output::default(), oneshot::channel());
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(capture(stdout, output.clone(), Some(found)));
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(capture(stderr, output.clone(), None));
        }
        let stdin = child.stdin.take();
        Ok(Self { name: name.to_owned(), pid, child, output, address: Some(address), _stdin: stdin })
    }

    /// Waits until the process prints its address on stdout.
    pub(crate) async fn address(&mut self) -> Result<Endpoint> {
        let Some(address) = self.address.take() else {
            return Err(self.failure("its address was already taken"));
        };
        match tokio::time::timeout(START_LIMIT, address).await {
            Ok(Ok(endpoint)) => Ok(endpoint),
            Ok(Err(_)) => Err(self.failure("closed its output without printing an address")),
            Err(_) => Err(self.failure("printed no http://127.0.0.1:PORT/mcp in time")),
        }
    }

    /// An error about this process, with the end of its output.
    pub(crate) fn failure(&self, what: &str) -> Error {
        let reason = format!("{what}; it last printed:\n    {}", self.output.last_lines());
        Error::Process { name: self.name.clone(), reason }
    }

    /// Asks the process to end and kills it if it does not.
    pub(crate) async fn stop(mut self) {
        self.signal(Signal::TERM);
        // Past the limit the drop below kills the whole group.
        let _ = tokio::time::timeout(STOP_LIMIT, self.child.wait()).await;
    }

    fn signal(&self, signal: Signal) {
        // A child that was waited for has no id any more, and its number may belong to somebody else.
        let alive = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(group) = alive {
            // It may have ended in between; then there is nothing to signal.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

async fn capture(mut from: impl AsyncRead + Unpin, output: Output, mut found: Option<oneshot::Sender<Endpoint>>) {
    let mut chunk = [0; 4096];
    while let Ok(read) = from.read(&mut chunk).await
        && read > 0
    {
        output.push(&chunk[..read]);
        if found.is_some()
            && let Some(endpoint) = printed_address(&output.text())
            && let Some(found) = found.take()
        {
            // Nobody waits for it if the start was given up.
            let _ = found.send(endpoint);
        }
    }
}

/// The first complete `http://127.0.0.1:PORT/mcp` in a text.
fn printed_address(text: &str) -> Option<Endpoint> {
    const START: &str = "http://127.0.0.1:";
    const END: &str = "/mcp";
    text.match_indices(START).find_map(|(at, _)| {
        let port = &text[at + START.len()..];
        let digits = port.bytes().take_while(u8::is_ascii_digit).count();
        let ends_here = digits > 0 && port[digits..].starts_with(END);
        ends_here.then(|| text[at..at + START.len() + digits + END.len()].parse().ok())?
    })
}

/// The program of this name next to the running one.
pub(crate) fn sibling(name: &str) -> Result<PathBuf> {
    let own = std::env::current_exe().map_err(Error::io("finding the bench binaries"))?;
    let path = own.with_file_name(name);
    if path.is_file() {
        return Ok(path);
    }
    let hint = "build all of them with: cargo build --release -p switchboard-bench";
    Err(Error::Usage(format!("{} is missing; {hint}", path.display())))
}

/// The program of this name on PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|candidate| candidate.is_file())
}

/// Ports that were free a moment ago, for programs that cannot listen on port 0 and report it.
pub(crate) fn free_ports<const N: usize>() -> Result<[u16; N]> {
    let mut held = Vec::with_capacity(N);
    let mut ports = [0; N];
    for port in &mut ports {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(Error::io("looking for a free port"))?;
        *port = listener.local_addr().map_err(Error::io("looking for a free port"))?.port();
        // Held until all are known, so that they differ.
        held.push(listener);
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_output() {
        let table = [
            ("listening on http://127.0.0.1:9100/mcp\n", Some("http://127.0.0.1:9100/mcp")),
            ("metrics http://127.0.0.1:1/metrics, MCP http://127.0.0.1:2/mcp.", Some("http://127.0.0.1:2/mcp")),
            ("http://127.0.0.1:91", None),
            ("http://127.0.0.1:/mcp", None),
            ("http://10.0.0.1:80/mcp", None),
        ];
        for (text, expected) in table {
            assert_eq!(printed_address(text).map(|endpoint| endpoint.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn output_keeps_its_end() {
        let output = Output::default();
        for number in 0..5000 {
            output.push(format!("line {number}\n").as_bytes());
        }
        assert!(output.lock().len() <= KEPT_OUTPUT);
        assert!(output.last_lines().ends_with("line 4999"));
    }
}
