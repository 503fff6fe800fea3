//! A home folder for one test, and the ways to run the binary in it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Nothing here takes this long unless it hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A home folder with a project folder in it, which is the current one.
pub(crate) struct Home {
    folder: TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The answer of a command that must have succeeded.
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// What a command said that must have failed with this code.
    pub(crate) fn err(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        self.stderr
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("project")).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn user_file(&self) -> PathBuf {
        self.path(".config/mgp/servers.toml")
    }

    /// Writes the user's configuration.
    pub(crate) fn configure(&self, text: &str) {
        self.write(".config/mgp/servers.toml", text);
    }

    /// Writes a file that nobody else can change, in one step.
    pub(crate) fn write(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let half = path.with_extension("half");
        std::fs::write(&half, text).unwrap();
        std::fs::set_permissions(&half, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::rename(half, path).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard"));
        command.args(args).current_dir(self.path("project")).env_clear();
        command.env("HOME", self.folder.path()).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // A kernel that clients share would outlive the test.
        command.env("SWITCHBOARD_OWN_KERNEL", "1");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let mut child = self.command(args).spawn().unwrap();
        let (stdout, stderr) = (all_of(child.stdout.take()), all_of(child.stderr.take()));
        let status = wait(&mut child);
        Ran {
            code: status.code(),
            stdout: stdout.recv_timeout(LIMIT).unwrap(),
            stderr: stderr.recv_timeout(LIMIT).unwrap(),
        }
    }

    /// Runs `stdio` and shakes hands.
    pub(crate) fn connect(&self) -> Peer {
        let mut peer = Peer::start(self.command(&["stdio"]));
        peer.initialize();
        peer
    }
}

/// The program of the faulty server.
pub(crate) fn faulty_server() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_switchboard")).with_file_name("examples").join("faulty-server");
    assert!(program.is_file(), "{} is not built: cargo build --example faulty-server", program.display());
    program
}

/// The `[[servers]]` entry of a faulty server.
pub(crate) fn server(id: &str, flags: &[&str]) -> String {
    let program = faulty_server();
    format!("[[servers]]\nid = {id:?}\ncommand = {program:?}\nargs = {flags:?}\n")
}

/// Waits for the end of a process, and kills one that does not end.
pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    match until(|| child.try_wait().unwrap()) {
        Some(status) => status,
        None => {
            let _ = child.kill();
            panic!("the process did not end in time");
        }
    }
}

/// Looks until there is something to see.
pub(crate) fn until<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if began.elapsed() > LIMIT {
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn all_of(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.unwrap().read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// The lines of a pipe as they come.
pub(crate) fn lines_of(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(pipe.unwrap()).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A client on the streams of a process.
pub(crate) struct Peer {
    pub(crate) child: Child,
    lines: Receiver<String>,
    errors: Receiver<String>,
    next: u64,
    /// Answers that came while another one was waited for.
    early: Vec<Value>,
}

impl Peer {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let (lines, errors) = (lines_of(child.stdout.take()), all_of(child.stderr.take()));
        Self { child, lines, errors, next: 1, early: Vec::new() }
    }

    pub(crate) fn initialize(&mut self) {
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        let answer = self.ask("initialize", &hello);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// The same of a text that no value stands for.
    pub(crate) fn send_line(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        stdin.flush().unwrap();
    }

    /// Asks and waits for the answer; whatever else comes must be a message too.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.answer_to(id)
    }

    /// The next line, whatever it is.
    pub(crate) fn next_line(&mut self) -> String {
        self.lines.recv_timeout(LIMIT).expect("a line")
    }

    /// Waits for the answer to a request that was sent.
    pub(crate) fn answer_to(&mut self, id: u64) -> Value {
        if let Some(at) = self.early.iter().position(|message| message["id"] == id) {
            return self.early.remove(at);
        }
        loop {
            let line = self.lines.recv_timeout(LIMIT).expect("an answer");
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
            assert_eq!(message["jsonrpc"], "2.0");
            if message.get("method").is_some() {
                continue;
            }
            if message["id"] == id {
                return message;
            }
            self.early.push(message);
        }
    }

    /// The text of a tool's answer, or the message of its error.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<String, String> {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        match answer["result"]["content"][0]["text"].as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()),
        }
    }

    pub(crate) fn tools(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", &json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Closes the input and waits for the end; gives back the exit code and what was logged.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        drop(self.child.stdin.take());
        let status = wait(&mut self.child);
        assert_eq!(self.lines.recv_timeout(LIMIT).ok(), None, "nothing may follow the last answer");
        (status.code(), self.errors.recv_timeout(LIMIT).unwrap())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a process is there and not just waiting to be collected.
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !(stat.is_empty() || stat.contains(") Z ") || stat.contains(") X "))
}
