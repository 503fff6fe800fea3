//! Servers of other people that are killed, stopped in the middle and drained, while one beside them is used.
//!
//! It looks from outside: at the list of processes, at what the command line says, and at answers over HTTP. What is
//! right stands in `docs/lifecycle.md`.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::servers::Server;
use crate::process::{self, Background};
use crate::tally::{Tally, brief, say, seconds};

/// What `--only` finds it by.
pub(super) const NAME: &str = "hardship";

const START_LIMIT: Duration = Duration::from_secs(60);
/// Nothing here takes so long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(25);
/// A process that was up and is lost is started again at once.
const AT_ONCE: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(20);
/// Short times, so that the whole takes less than a minute.
const SETTINGS: &str = "[limits]\nhealth_timeout_ms = 700\n\n";
const OF_EACH: &str = "health_every_ms = 500\ncall_timeout_ms = 2500\nstop_timeout_ms = 1000\n";

/// A server that something is done to, and a call that shows whether it works.
struct Victim {
    id: &'static str,
    /// What its command line has in it.
    mark: &'static str,
    tool: &'static str,
    arguments: Value,
    contains: &'static str,
}

/// The one that is left in peace.
const WITNESS: &str = "thinking";

fn victims(place: &Path) -> [Victim; 3] {
    let file = place.join("files/hello.txt").display().to_string();
    let time = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let victim = |id, mark, tool, arguments, contains| Victim { id, mark, tool, arguments, contains };
    [
        victim("everything", "server-everything", "echo", json!({"message": "interop"}), "Echo: interop"),
        victim("filesystem", "server-filesystem", "read_text_file", json!({"path": file}), "hello from the filesystem"),
        victim("time", "mcp-server-time", "convert_time", time, "T21:00:00"),
    ]
}

/// Runs all of it and counts.
pub(super) fn run(kernel: &Path, servers: Vec<Server>, place: &Path) -> Result<Tally> {
    let started = Instant::now();
    let victims = victims(place);
    let wanted = |server: &Server| server.id == WITNESS || victims.iter().any(|victim| victim.id == server.id);
    let config = place.join("mgp.toml");
    let mut text = format!("data_dir = \"data\"\n{SETTINGS}");
    for server in servers.into_iter().filter(wanted) {
        text.push_str(server.config().trim_end());
        text.push_str(&format!("\n{OF_EACH}\n"));
    }
    std::fs::write(&config, text).with_context(|| format!("writing {}", config.display()))?;
    let mut command = Command::new(kernel);
    command.arg("serve").arg("--config").arg(&config).args(["--listen", "127.0.0.1:0", "--no-auth"]);
    let served = Background::serve(&mut command, &place.join("kernel.log"), START_LIMIT)?;
    let scene = Scene { kernel: kernel.to_owned(), config, url: served.url.clone(), root: served.pid() };
    let over = AtomicBool::new(false);
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let witness = scope.spawn(|| scene.watch(&over));
        let suffering: Vec<_> = victims.iter().map(|victim| (victim, scope.spawn(|| scene.suffer(victim)))).collect();
        for (victim, thread) in suffering {
            count(&mut tally, victim.id, thread.join().unwrap_or_else(|_| bail!("panicked")));
        }
        over.store(true, Ordering::Relaxed);
        count(&mut tally, WITNESS, witness.join().unwrap_or_else(|_| bail!("panicked")).map(|said| vec![said]));
    });
    say(&format!("        {NAME} took {}", seconds(started.elapsed())));
    Ok(tally)
}

fn count(tally: &mut Tally, id: &str, outcome: Result<Vec<String>>) {
    match outcome {
        Ok(said) => {
            said.iter().for_each(|_| tally.pass());
            say(&format!("ok      {NAME} {id}: {}", said.join("; ")));
        }
        Err(error) => {
            let what = format!("{NAME} {id}: {}", brief(&format!("{error:#}"), 400));
            say(&format!("FAILED  {what}"));
            tally.fail(what);
        }
    }
}

struct Scene {
    kernel: PathBuf,
    config: PathBuf,
    url: String,
    /// The kernel's process.
    root: u32,
}

impl Scene {
    /// Everything that is done to one server; what was seen.
    fn suffer(&self, victim: &Victim) -> Result<Vec<String>> {
        self.until(|| self.works(victim).is_ok()).context("it never worked")?;
        Ok(vec![
            self.kill(victim).context("killed")?,
            self.stop_idle(victim).context("stopped while nobody called")?,
            self.stop_busy(victim).context("stopped with a call")?,
            self.drain(victim).context("drained")?,
        ])
    }

    fn kill(&self, victim: &Victim) -> Result<String> {
        let pid = self.pid(victim)?;
        signal("KILL", pid)?;
        let killed = Instant::now();
        self.until(|| self.pid(victim).is_ok_and(|now| now != pid))?;
        let started = killed.elapsed();
        ensure!(started < AT_ONCE, "started again after {started:?}");
        // The call waits for the start, however long the server's own takes.
        self.works(victim).context("the first call after it")?;
        Ok(format!("killed: started again after {}, back after {}", seconds(started), seconds(killed.elapsed())))
    }

    fn stop_idle(&self, victim: &Victim) -> Result<String> {
        let pid = self.pid(victim)?;
        signal("STOP", pid)?;
        let stopped = Instant::now();
        self.until(|| self.pid(victim).is_ok_and(|now| now != pid)).context("health checks did not find out")?;
        let found = stopped.elapsed();
        self.until(|| self.works(victim).is_ok()).context("it did not come back")?;
        Ok(format!("stopped: found out after {}", seconds(found)))
    }

    fn stop_busy(&self, victim: &Victim) -> Result<String> {
        let pid = self.pid(victim)?;
        signal("STOP", pid)?;
        let called = Instant::now();
        let answer = self.call(victim.id, victim.tool, &victim.arguments)?;
        let waited = called.elapsed();
        let code = answer["error"]["code"].as_i64();
        ensure!(code == Some(3003), "no refusal for its time: {answer}");
        ensure!(waited < Duration::from_secs(8), "refused after {waited:?}");
        self.until(|| self.works(victim).is_ok()).context("it did not come back")?;
        Ok(format!("stopped with a call: 3003 after {}", seconds(waited)))
    }

    fn drain(&self, victim: &Victim) -> Result<String> {
        let mut refused = "";
        std::thread::scope(|scope| -> Result<()> {
            // Only one of them has a tool that takes its time.
            let long = (victim.id == "everything").then(|| {
                let arguments = json!({"duration": 2, "steps": 2});
                scope.spawn(move || self.call(victim.id, "trigger-long-running-operation", &arguments))
            });
            if let Some(long) = long {
                self.until(|| self.said_of(victim).is_ok_and(|said| said["pending"] == 1)).context("the call runs")?;
                let order = scope.spawn(|| self.order("drain", victim));
                self.until(|| self.said_of(victim).is_ok_and(|said| said["state"] == "draining"))
                    .context("it drains")?;
                let answer = self.call(victim.id, victim.tool, &victim.arguments)?;
                ensure!(answer["error"]["code"] == 2001, "not refused with 2001: {answer}");
                // It stays down until it is started again, so no time is given after which it would be back.
                let told = &answer["error"]["data"];
                ensure!(told["retryAfterMs"].is_null() && told["suggestion"].is_string(), "a time: {answer}");
                refused = "2001 while it drained, ";
                let answer = long.join().unwrap_or_else(|_| bail!("panicked"))?;
                ensure!(answer["result"]["content"].is_array(), "what ran was not finished: {answer}");
                order.join().unwrap_or_else(|_| bail!("panicked"))
            } else {
                self.order("drain", victim)
            }
        })?;
        let answer = self.call(victim.id, victim.tool, &victim.arguments)?;
        ensure!(answer["error"]["code"] == 2000, "not refused with 2000: {answer}");
        ensure!(self.pid(victim).is_err(), "a process is left");
        self.order("start", victim)?;
        self.works(victim).context("after the start")?;
        Ok(format!("drained: {refused}2000 after that"))
    }

    /// Uses the one beside them all the time; every call must work.
    fn watch(&self, over: &AtomicBool) -> Result<String> {
        let thought = json!({"thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
        let mut times = Vec::new();
        while !over.load(Ordering::Relaxed) {
            let began = Instant::now();
            let answer = self.call(WITNESS, "sequentialthinking", &thought)?;
            ensure!(answer["result"]["isError"] != true && answer["error"].is_null(), "{answer}");
            times.push(began.elapsed());
            std::thread::sleep(POLL);
        }
        // The first one waited for the start.
        times.remove(0);
        times.sort();
        let slowest = times.last().copied().context("no calls")?;
        ensure!(slowest < Duration::from_secs(2), "a call took {slowest:?}");
        Ok(format!("{} calls meanwhile, the slowest in {slowest:.0?}", times.len()))
    }

    fn works(&self, victim: &Victim) -> Result<()> {
        let answer = self.call(victim.id, victim.tool, &victim.arguments)?;
        ensure!(answer["result"].to_string().contains(victim.contains), "{answer}");
        Ok(())
    }

    /// What the kernel says of a server.
    fn said_of(&self, victim: &Victim) -> Result<Value> {
        let mut command = Command::new(&self.kernel);
        command.args(["servers", "--watch", "--count", "1", "--json", "--config"]).arg(&self.config);
        let output = process::quiet(&mut command, PATIENCE)?;
        let said: Value = serde_json::from_str(&output.stdout).with_context(|| output.stderr.clone())?;
        let servers = said["kernels"][0]["servers"].as_array().context("no servers")?;
        servers.iter().find(|server| server["id"] == victim.id).cloned().context("not listed")
    }

    fn order(&self, order: &str, victim: &Victim) -> Result<()> {
        let mut command = Command::new(&self.kernel);
        command.args(["servers", order, victim.id, "--config"]).arg(&self.config);
        let output = process::quiet(&mut command, PATIENCE)?;
        ensure!(output.success, "servers {order}: {}", output.stderr.trim());
        Ok(())
    }

    /// The answer to a call, made in the modern way.
    fn call(&self, server: &str, tool: &str, arguments: &Value) -> Result<Value> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "interop", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let name = format!("{server}__{tool}");
        let params = json!({"name": name, "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let address = self.url.trim_start_matches("http://").trim_end_matches("/mcp");
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: {name}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        // The answer is the last message, whether it comes alone or at the end of a stream.
        let mut messages = text.lines().map(|line| line.trim_start_matches("data:").trim_start());
        let last = messages.rfind(|line| line.starts_with('{')).with_context(|| format!("no answer: {text}"))?;
        serde_json::from_str(last).with_context(|| last.to_owned())
    }

    /// The process of a server: the youngest descendant of the kernel that was started as that.
    fn pid(&self, victim: &Victim) -> Result<u32> {
        let mut found = None;
        let mut family = vec![self.root];
        while let Some(parent) = family.pop() {
            for child in children(parent) {
                family.push(child);
                let command = std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
                let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
                let own = words.first().is_some_and(|word| word.ends_with("/switchboard"));
                if !own && words.iter().any(|word| word.contains(victim.mark)) {
                    found = found.max(Some(child));
                }
            }
        }
        found.with_context(|| format!("{} has no process", victim.id))
    }

    fn until(&self, mut is_so: impl FnMut() -> bool) -> Result<()> {
        let began = Instant::now();
        while !is_so() {
            ensure!(began.elapsed() < PATIENCE, "not within {}", seconds(PATIENCE));
            std::thread::sleep(POLL);
        }
        Ok(())
    }
}

/// The children of a process, of all its threads.
fn children(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.map(|thread| std::fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()).collect()
}

fn signal(name: &str, pid: u32) -> Result<()> {
    let output = process::quiet(Command::new("kill").args(["-s", name, &pid.to_string()]), PATIENCE)?;
    ensure!(output.success, "kill: {}", output.stderr.trim());
    Ok(())
}
