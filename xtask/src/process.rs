//! Running other programs: with a deadline, with what they said, and without leaving any behind.
//!
//! It decides nothing about the outcome; callers read the text and the exit code.

use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

const POLL: Duration = Duration::from_millis(20);

/// What a finished program said.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) success: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program whose output goes to the terminal; an error when it fails.
pub(crate) fn visible(command: &mut Command, limit: Duration) -> Result<()> {
    let shown = shown(command);
    let mut child = command.stdin(Stdio::null()).spawn().with_context(|| format!("starting {shown}"))?;
    match wait(&mut child, limit)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => bail!("{shown}: {status}"),
        None => {
            end(&mut child);
            bail!("{shown}: not finished in {} s", limit.as_secs())
        }
    }
}

/// Runs a program quietly and returns its output; an error only when it cannot start or overstays.
pub(crate) fn quiet(command: &mut Command, limit: Duration) -> Result<Output> {
    let shown = shown(command);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().with_context(|| format!("starting {shown}"))?;
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let finished = wait(&mut child, limit)?;
    // Whatever the program left running in its group must not keep the pipes open.
    end(&mut child);
    let stdout = stdout.recv_timeout(Duration::from_secs(5)).unwrap_or_default();
    let stderr = stderr.recv_timeout(Duration::from_secs(5)).unwrap_or_default();
    match finished {
        Some(status) => Ok(Output { success: status.success(), stdout, stderr }),
        None => bail!("{shown}: not finished in {} s\n{stdout}\n{stderr}", limit.as_secs()),
    }
}

/// A server that runs in the background until this value is dropped.
#[derive(Debug)]
pub(crate) struct Background {
    child: Child,
    /// The address it printed.
    pub(crate) url: String,
}

impl Background {
    /// Starts a server and waits until it prints its `http://` address on standard output.
    pub(crate) fn serve(command: &mut Command, log: &Path, limit: Duration) -> Result<Self> {
        let shown = shown(command);
        let stderr = std::fs::File::create(log).with_context(|| format!("creating {}", log.display()))?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr).process_group(0);
        let mut child = command.spawn().with_context(|| format!("starting {shown}"))?;
        let Some(stdout) = child.stdout.take() else { bail!("{shown}: no standard output") };
        let (sender, receiver) = mpsc::sync_channel(1);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Some(url) = address(&line) {
                    // Later lines are read and dropped so that the server never blocks on a full pipe.
                    let _ = sender.try_send(url);
                }
            }
        });
        match receiver.recv_timeout(limit) {
            Ok(url) => Ok(Self { child, url }),
            Err(reason) => {
                end(&mut child);
                let what = match reason {
                    mpsc::RecvTimeoutError::Timeout => format!("printed no address in {} s", limit.as_secs()),
                    mpsc::RecvTimeoutError::Disconnected => "ended without printing an address".to_owned(),
                };
                let said = std::fs::read_to_string(log).unwrap_or_default();
                bail!("{shown}: {what}\n{}", said.trim_end())
            }
        }
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether the server is still there.
    pub(crate) fn alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = signal_group(&self.child, "TERM");
        let _ = wait(&mut self.child, Duration::from_secs(5));
        // Whatever outlived its leader goes as well.
        end(&mut self.child);
    }
}

fn address(line: &str) -> Option<String> {
    let from = line.find("http://")?;
    let rest = &line[from..];
    let end = rest.find(|letter: char| letter.is_whitespace() || "\"'`),".contains(letter)).unwrap_or(rest.len());
    Some(rest[..end].to_owned())
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A broken pipe leaves what was read so far, which is all there is.
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > limit {
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

/// Kills the group of a program we started, then the program, then takes its exit code.
pub(crate) fn end(child: &mut Child) {
    let _ = signal_group(child, "KILL");
    let _ = child.kill();
    let _ = child.wait();
}

fn signal_group(child: &Child, signal: &str) -> Result<()> {
    let group = format!("-{}", child.id());
    let mut kill = Command::new("kill");
    kill.args(["-s", signal, "--", &group]).stdout(Stdio::null()).stderr(Stdio::null());
    kill.status().context("running kill")?;
    Ok(())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let text = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    crate::tally::brief(&text, 160)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_end_at_the_first_foreign_letter() {
        assert_eq!(address("listening on http://127.0.0.1:1/mcp").as_deref(), Some("http://127.0.0.1:1/mcp"));
        assert_eq!(address("(http://127.0.0.1:1/mcp), ready").as_deref(), Some("http://127.0.0.1:1/mcp"));
        assert_eq!(address("ready"), None);
    }

    #[test]
    fn a_server_that_ends_at_once_is_reported_at_once() -> Result<()> {
        let log = std::env::temp_dir().join(format!("xtask-process-{}.log", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", "echo no luck >&2"]);
        let outcome = Background::serve(&mut command, &log, Duration::from_secs(60));
        std::fs::remove_file(&log)?;
        let message = outcome.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains("ended without printing an address") && message.contains("no luck"), "{message}");
        Ok(())
    }

    #[test]
    fn a_server_is_ended_with_its_children_when_dropped() -> Result<()> {
        let log = std::env::temp_dir().join(format!("xtask-process-drop-{}.log", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & echo http://127.0.0.1:1/$!; wait"]);
        let server = Background::serve(&mut command, &log, Duration::from_secs(60))?;
        let child = server.url.rsplit('/').next().unwrap_or_default().to_owned();
        drop(server);
        std::fs::remove_file(&log)?;
        // Gone, or dead and not yet collected by the process that adopted it.
        let gone = |state: &str| state.is_empty() || state.contains(") Z ") || state.contains(") X ");
        let state = || std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        // A signal that was sent is not yet a process that ended.
        let deadline = Instant::now() + Duration::from_secs(10);
        while !gone(&state()) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(10));
        }
        assert!(gone(&state()), "{}", state());
        Ok(())
    }

    #[test]
    fn quiet_keeps_both_outputs_and_the_exit_code() -> Result<()> {
        let output = quiet(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]), Duration::from_secs(10))?;
        assert!(!output.success);
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("out\n", "err\n"));
        Ok(())
    }

    #[test]
    fn quiet_ends_a_program_that_overstays_together_with_its_children() {
        let started = Instant::now();
        let outcome = quiet(Command::new("sh").args(["-c", "sleep 60 & sleep 60"]), Duration::from_millis(200));
        assert!(outcome.is_err_and(|error| error.to_string().contains("not finished")));
        assert!(started.elapsed() < Duration::from_secs(20));
    }
}
