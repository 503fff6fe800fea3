//! Sharing one kernel: a client of `stdio` is joined to one that already serves the same configuration, or to one that is started
//! for all of them and ends a while after the last has left.
//!
//! A kernel takes clients at a socket in the data folder that only its owner can open ([`socket`]). Both sides compute a digest of
//! the configuration as it holds for them; only where these are the same does one kernel stand for the other.

mod gone;
mod relay;
pub(crate) mod socket;

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use switchboard_config::{Endpoint, Loaded, Origin, Sources, load};
use switchboard_transport::child;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, timeout};

use crate::arguments::Common;
use crate::control;
use crate::failure::Failure;
use crate::waiting::Waiting;
use crate::{setup, specs};

pub(crate) use gone::nobody_reads;
pub(crate) use relay::relay;

/// How long a kernel may take to say whether it takes a client. What is longer is a kernel that hangs.
const HELLO: Duration = Duration::from_secs(5);
/// How long a kernel that is started may take until it takes clients.
const START: Duration = Duration::from_secs(10);
/// How often it is looked whether it does.
const READY_POLL_INTERVAL: Duration = Duration::from_millis(25);
/// How long a shared kernel may take to end for another one, beyond what its calls and servers may take.
const RETIRING: Duration = Duration::from_secs(10);
/// The file in the data folder that whoever starts a kernel has locked.
const START_LOCK: &str = "start.lock";
/// The longest first line.
const MAX_HELLO_BYTES: u64 = 4_096;
/// Programs that are named in it, and characters of each.
const MAX_PROGRAMS: usize = 32;
const MAX_PROGRAM_CHARS: usize = 64;
/// A log that is longer is put aside, and begins anew.
const MAX_LOG_BYTES: u64 = 8 << 20;
/// How often its length is looked at.
const LOG_LOOK: Duration = Duration::from_secs(30);
/// What the first line says.
const VERSION: u64 = 2;

/// A connection to a kernel that took us as a client.
pub(crate) struct Attached {
    /// The number of the kernel's process.
    pub(crate) process: u32,
    /// It has other variables than we have, or lacks programs that we would find.
    pub(crate) differs: bool,
    pub(crate) reader: BufReader<OwnedReadHalf>,
    pub(crate) writer: OwnedWriteHalf,
}

/// Joins a kernel that runs; `None` where there is none for this configuration.
pub(crate) async fn running(sources: &Sources, loaded: &Loaded, profile: Option<&str>) -> Option<Attached> {
    let _waiting = Waiting::begin("asking a kernel that runs");
    Search::new(Wish::of(sources, loaded, profile)).look(&loaded.data_dir).await
}

/// The same for who only looks: where there is none for all that holds here, one that serves the same files where other variables or
/// another `PATH` hold.
pub(crate) async fn running_somewhere(sources: &Sources, loaded: &Loaded, profile: Option<&str>) -> Option<Attached> {
    let _waiting = Waiting::begin("asking a kernel that runs");
    let mut search = Search::new(Wish::of(sources, loaded, profile));
    if let Some(attached) = search.look(&loaded.data_dir).await {
        return Some(attached);
    }
    search.wish.takes_other = true;
    search.look(&loaded.data_dir).await
}

/// What is wanted of a kernel.
struct Wish<'p> {
    /// What the configuration comes to here.
    digest: String,
    /// The files that it is read from.
    files: String,
    /// Programs that are found here, and that a kernel has to find.
    programs: Vec<String>,
    profile: Option<&'p str>,
    /// Whether a kernel will do that serves the same files otherwise.
    takes_other: bool,
}

impl<'p> Wish<'p> {
    fn of(sources: &Sources, loaded: &Loaded, profile: Option<&'p str>) -> Self {
        Self {
            digest: digest(sources, loaded),
            files: digest_of_files(sources, loaded),
            programs: programs(loaded),
            profile,
            takes_other: false,
        }
    }
}

/// The search of one client for a kernel. One that does not answer is asked once: it would cost every further look as much.
struct Search<'p> {
    wish: Wish<'p>,
    /// Processes that did not answer in time, or that end.
    passed_over: HashSet<u32>,
}

impl<'p> Search<'p> {
    fn new(wish: Wish<'p>) -> Self {
        Self { wish, passed_over: HashSet::new() }
    }

    async fn look(&mut self, data_dir: &Path) -> Option<Attached> {
        for (process, path) in doors(data_dir) {
            if self.passed_over.contains(&process) {
                continue;
            }
            match timeout(HELLO, join(process, &path, &self.wish)).await {
                Ok(Ok(Some(attached))) => return Some(attached),
                // One that is just being opened refuses for a moment, too.
                Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused && !is_alive(process) => {
                    let _ = std::fs::remove_file(&path);
                }
                Ok(_) => {}
                Err(_) => {
                    self.passed_over.insert(process);
                    tracing::warn!(
                        "the kernel of process {process} does not answer within {} s; it is left alone, and another one is \
                         used or started. `kill {process}` ends it",
                        HELLO.as_secs()
                    );
                }
            }
        }
        None
    }
}

/// Joins a kernel that runs, or starts one. `leaving` is the process of one that ends, and that nobody goes back to.
///
/// # Errors
/// None could be started, or it did not take us.
pub(crate) async fn running_or_started(
    common: &Common,
    sources: &Sources,
    loaded: &Loaded,
    profile: Option<&str>,
    leaving: Option<u32>,
) -> Result<Attached, Failure> {
    let mut search = Search::new(Wish::of(sources, loaded, profile));
    search.passed_over.extend(leaving);
    if let Some(attached) = search.look(&loaded.data_dir).await {
        return Ok(attached);
    }
    let failed = |error: io::Error| Failure::failed(format!("a shared kernel cannot be started: {error}"));
    let _lock = start_lock(&loaded.data_dir).await.map_err(failed)?;
    if let Some(attached) = search.look(&loaded.data_dir).await {
        return Ok(attached);
    }
    let log = log_file(&loaded.data_dir).map_err(failed)?;
    let mut command = tokio::process::Command::new(std::env::current_exe()?);
    // Where the folder of this client does not matter, no file that comes there later may matter to others.
    let folder = if folder_of(sources, loaded).is_some() { &sources.folder } else { &loaded.data_dir };
    command.args(["kernel", "run"]).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::from(log));
    if let Some(file) = &common.config {
        command.arg("--config").arg(sources.folder.join(file));
    }
    let mut child = command.spawn().map_err(failed)?;
    let deadline = Instant::now() + START;
    loop {
        if let Some(attached) = search.look(&loaded.data_dir).await {
            return Ok(attached);
        }
        if let Some(status) = child.try_wait().map_err(failed)? {
            let place = loaded.data_dir.join("kernel.log");
            return Err(Failure::failed(format!("the shared kernel ended ({status}); see {}", place.display())));
        }
        if Instant::now() > deadline {
            return Err(Failure::failed(format!("the shared kernel takes no clients after {} s", START.as_secs())));
        }
        tokio::time::sleep(READY_POLL_INTERVAL).await;
    }
}

/// Of those that start kernels together one starts, and the others find what it started.
async fn start_lock(data_dir: &Path) -> io::Result<File> {
    // It is made with the folder of the sockets, which nobody else can enter.
    control::folder(data_dir)?;
    let file = File::options().create(true).truncate(false).write(true).open(data_dir.join(START_LOCK))?;
    tokio::task::spawn_blocking(move || file.lock().map(|()| file)).await.map_err(io::Error::other)?
}

/// What a kernel that starts beside others of its data folder found.
#[derive(Debug, Default)]
pub(crate) struct Succession {
    /// Shared kernels of the same configuration that ended for this one.
    pub(crate) ended: Vec<u32>,
    /// Kernels of the same configuration that stay: their servers run twice.
    pub(crate) staying: Vec<u32>,
    /// While it is there, nobody else starts a kernel: clients of those that ended wait for this one.
    _lock: Option<File>,
}

/// Takes the place of the kernel that clients of `stdio` share, so that there is one set of servers. It finishes what runs and
/// ends; its clients look for another kernel, and find this one as soon as it takes clients.
pub(crate) async fn succeed(sources: &Sources, loaded: &Loaded) -> Succession {
    let (wish, limits) = (Wish::of(sources, loaded, None), &loaded.config.settings.limits);
    let patience = limits.shutdown_grace + limits.stop_timeout + RETIRING;
    let lock = match timeout(START, start_lock(&loaded.data_dir)).await {
        Ok(Ok(lock)) => Some(lock),
        Ok(Err(_)) | Err(_) => None,
    };
    let mut succession = Succession { _lock: lock, ..Succession::default() };
    for (process, path) in doors(&loaded.data_dir) {
        let Ok(Ok(retiring)) = timeout(HELLO, retire(&path, &wish)).await else { continue };
        match retiring {
            Retiring::Other => {}
            Retiring::Stays => succession.staying.push(process),
            Retiring::Ends(connection) => {
                let _waiting = Waiting::begin("waiting for the shared kernel to finish what runs");
                // It is closed when the process is gone, and its servers with it.
                if timeout(patience, closed(connection)).await.is_ok() {
                    succession.ended.push(process);
                } else {
                    succession.staying.push(process);
                }
            }
        }
    }
    succession
}

/// What a kernel answers that is asked to end for another one.
enum Retiring {
    /// It serves another configuration.
    Other,
    /// It serves the same, and is nobody's to end.
    Stays,
    Ends(Box<BufReader<OwnedReadHalf>>),
}

async fn retire(path: &Path, wish: &Wish<'_>) -> io::Result<Retiring> {
    let (answer, reader, _writer) = greet(path, "retire", wish).await?;
    let is = |key: &str| answer.get(key) == Some(&Value::Bool(true));
    Ok(match (is("retiring"), is("attached") || answer.get("retiring").is_some()) {
        (true, _) => Retiring::Ends(Box::new(reader)),
        (false, true) => Retiring::Stays,
        (false, false) => Retiring::Other,
    })
}

async fn closed(mut connection: Box<BufReader<OwnedReadHalf>>) {
    while connection.read_u8().await.is_ok() {}
}

/// The log of the shared kernel, and the part of it that came before.
const LOG: &str = "kernel.log";
const EARLIER_LOG: &str = "kernel.log.1";

fn log_file(data_dir: &Path) -> io::Result<File> {
    rotate_log(data_dir, MAX_LOG_BYTES)?;
    let mut options = File::options();
    // What is appended goes to the end wherever that is, so that the file can be cut while a kernel writes.
    options.create(true).append(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(data_dir.join(LOG))
}

/// Puts a log that has grown too long aside, in the place of the one that was put aside before. The kernel goes on writing to the
/// same file, which is empty then.
fn rotate_log(data_dir: &Path, longest: u64) -> io::Result<()> {
    let path = data_dir.join(LOG);
    if !std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() > longest) {
        return Ok(());
    }
    std::fs::copy(&path, data_dir.join(EARLIER_LOG))?;
    File::options().write(true).open(&path)?.set_len(0)
}

/// Looks after the log of the shared kernel while this process runs.
pub(crate) async fn look_after_log(data_dir: PathBuf) {
    let mut tick = tokio::time::interval(LOG_LOOK);
    loop {
        tick.tick().await;
        let folder = data_dir.clone();
        let rotated = tokio::task::spawn_blocking(move || rotate_log(&folder, MAX_LOG_BYTES)).await;
        if let Ok(Err(error)) = rotated {
            tracing::debug!(%error, "the log could not be put aside");
        }
    }
}

/// The sockets at which kernels take clients, with the numbers of their processes.
fn doors(data_dir: &Path) -> Vec<(u32, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(data_dir.join(control::FOLDER)) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let named = paths.filter_map(|path| {
        let process = path.file_stem()?.to_str()?.parse().ok()?;
        (path.extension()? == socket::ENDING).then_some((process, path))
    });
    let mut found: Vec<_> = named.collect();
    found.sort();
    found
}

async fn join(process: u32, path: &Path, wish: &Wish<'_>) -> io::Result<Option<Attached>> {
    let (answer, reader, writer) = greet(path, "attach", wish).await?;
    let is = |key: &str| answer.get(key) == Some(&Value::Bool(true));
    Ok(is("attached").then_some(Attached { process, differs: is("differs"), reader, writer }))
}

/// Says to a kernel what is wanted of it, and hears what it says to that.
async fn greet(
    path: &Path,
    wanted: &str,
    wish: &Wish<'_>,
) -> io::Result<(Value, BufReader<OwnedReadHalf>, OwnedWriteHalf)> {
    let (reader, mut writer) = UnixStream::connect(path).await?.into_split();
    let mut reader = BufReader::new(reader);
    let hello = json!({
        "switchboard": wanted, "version": VERSION, "configuration": wish.digest, "profile": wish.profile,
        "files": wish.files, "programs": wish.programs, "takes_other": wish.takes_other,
    });
    writer.write_all(format!("{hello}\n").as_bytes()).await?;
    let answer = first_line(&mut reader).await?;
    Ok((answer, reader, writer))
}

/// The first line of a connection, as JSON.
async fn first_line(reader: &mut BufReader<OwnedReadHalf>) -> io::Result<Value> {
    let mut line = String::new();
    reader.take(MAX_HELLO_BYTES).read_line(&mut line).await?;
    serde_json::from_str(&line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// What a configuration comes to in this process: the same for two of them means that one kernel can stand for both.
fn digest(sources: &Sources, loaded: &Loaded) -> String {
    let mut hash = Sha256::new();
    let mut word = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    word(env!("CARGO_PKG_VERSION"));
    word(&folder_of(sources, loaded).map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default());
    for spec in specs::specs(&loaded.config, &loaded.data_dir) {
        word(&spec.id);
        word(&spec.fingerprint);
    }
    // The fingerprint of a server leaves out what is said of its use.
    for server in &loaded.config.servers {
        word(&switchboard_config::fingerprint(server));
    }
    let settings = &loaded.config.settings;
    word(&format!("{settings:?}"));
    let named = loaded.config.servers.iter().flat_map(|server| &server.entry.pass_env).chain(&settings.pass_env);
    for name in named {
        word(name);
        word(&std::env::var_os(name).map_or_else(String::new, |value| format!("={}", value.to_string_lossy())));
    }
    hex(&hash.finalize())
}

/// Which files a configuration is read from, and what they say: the same for two processes that differ only in their variables.
fn digest_of_files(sources: &Sources, loaded: &Loaded) -> String {
    let mut hash = Sha256::new();
    let mut word = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    word(env!("CARGO_PKG_VERSION").as_bytes());
    word(folder_of(sources, loaded).map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default().as_bytes());
    for file in &loaded.files {
        word(file.path.to_string_lossy().as_bytes());
        word(&std::fs::read(&file.path).unwrap_or_default());
    }
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The programs of servers that are named without their folder, and that are found here.
fn programs(loaded: &Loaded) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for server in setup::usable(loaded) {
        let Ok(Endpoint::Stdio(stdio)) = server.endpoint() else { continue };
        let program = &stdio.program;
        let is_path = program.contains(std::path::MAIN_SEPARATOR) || stdio.env.contains_key("PATH");
        let is_plain = program.len() <= MAX_PROGRAM_CHARS && !found.contains(program);
        if !is_path && is_plain && found.len() < MAX_PROGRAMS && child::place_of(program).is_some() {
            found.push(program.clone());
        }
    }
    found
}

/// The folder of a client, where what it is served depends on it: there is a project file, trusted or not, or the file was named, whose
/// servers run in that folder.
fn folder_of<'s>(sources: &'s Sources, loaded: &Loaded) -> Option<&'s Path> {
    let named = loaded.files.iter().any(|file| matches!(file.origin, Origin::Explicit | Origin::Environment));
    (named || sources.folder.join("mgp.toml").symlink_metadata().is_ok()).then_some(&sources.folder)
}

/// Whether there is a process of this number.
pub(crate) fn is_alive(process: u32) -> bool {
    let number = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    number.is_some_and(|number| rustix::process::test_kill_process(number).is_ok())
}

/// The same, as it holds now for who was started with these sources.
async fn digests_now(sources: &Sources) -> Option<(String, String)> {
    let sources = sources.clone();
    let both = |loaded: &Loaded, sources: &Sources| (digest(sources, loaded), digest_of_files(sources, loaded));
    let reading = tokio::task::spawn_blocking(move || load(&sources).ok().map(|loaded| both(&loaded, &sources)));
    timeout(HELLO, reading).await.ok()?.ok()?
}

/// Whether clients of `stdio` want a kernel of their own.
pub(crate) fn alone(own: bool) -> bool {
    own || std::env::var_os(setup::OWN_KERNEL).is_some_and(|value| !value.is_empty() && value != "0")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_log_that_grows_is_put_aside_while_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = log_file(folder.path()).unwrap();
        writeln!(log, "first").unwrap();
        rotate_log(folder.path(), 100).unwrap();
        assert!(!folder.path().join(EARLIER_LOG).exists(), "it is short");
        rotate_log(folder.path(), 3).unwrap();
        writeln!(log, "second").unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!((read(EARLIER_LOG).as_str(), read(LOG).as_str()), ("first\n", "second\n"));
    }

    #[tokio::test]
    async fn a_kernel_that_hangs_is_asked_once() {
        let folder = tempfile::tempdir().unwrap();
        let sockets = control::folder(folder.path()).unwrap();
        // It takes the connection and never answers.
        let _listener = tokio::net::UnixListener::bind(sockets.join(format!("1.{}", socket::ENDING))).unwrap();
        let wish = Wish {
            digest: String::new(),
            files: String::new(),
            programs: Vec::new(),
            profile: None,
            takes_other: false,
        };
        let mut search = Search::new(wish);
        let began = Instant::now();
        for _ in 0..20 {
            assert!(search.look(folder.path()).await.is_none());
        }
        assert!(began.elapsed() < HELLO * 2, "{:?}", began.elapsed());
        assert!(HELLO + START <= Duration::from_secs(15), "what a client waits for at most");
    }
}
