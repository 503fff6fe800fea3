//! Sharing one kernel: a client of `stdio` is joined to one that already serves the same configuration, or to one that is started
//! for all of them and ends a while after the last has left.
//!
//! A kernel takes clients at a socket in the data folder that only its owner can open ([`socket`]). Both sides compute a digest of
//! the configuration as it holds for them; only where these are the same does one kernel stand for the other.

mod relay;
pub(crate) mod socket;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use switchboard_config::{Loaded, Origin, Sources, load};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, timeout};

use crate::arguments::Common;
use crate::control;
use crate::failure::Failure;
use crate::{setup, specs};

pub(crate) use relay::relay;

/// How long a kernel may take to say whether it takes a client.
const HELLO: Duration = Duration::from_secs(5);
/// How long a kernel that is started may take until it takes clients.
const START: Duration = Duration::from_secs(15);
/// How often it is looked whether it does.
const LOOK: Duration = Duration::from_millis(25);
/// The longest first line.
const MAX_HELLO_BYTES: u64 = 4_096;
/// A log that is longer begins anew.
const MAX_LOG_BYTES: u64 = 8 << 20;
/// What the first line says.
const VERSION: u64 = 2;

/// A connection to a kernel that took us as a client.
pub(crate) struct Attached {
    /// The number of the kernel's process.
    pub(crate) process: u32,
    pub(crate) reader: BufReader<OwnedReadHalf>,
    pub(crate) writer: OwnedWriteHalf,
}

/// Joins a kernel that runs; `None` where there is none for this configuration.
pub(crate) async fn running(sources: &Sources, loaded: &Loaded, profile: Option<&str>) -> Option<Attached> {
    let digest = digest(sources, loaded);
    for (process, path) in doors(&loaded.data_dir) {
        match timeout(HELLO, join(process, &path, &digest, profile)).await {
            Ok(Ok(Some(attached))) => return Some(attached),
            // One that is just being opened refuses for a moment, too.
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused && !is_alive(process) => {
                let _ = std::fs::remove_file(&path);
            }
            _ => {}
        }
    }
    None
}

/// Joins a kernel that runs, or starts one.
///
/// # Errors
/// None could be started, or it did not take us.
pub(crate) async fn running_or_started(
    common: &Common,
    sources: &Sources,
    loaded: &Loaded,
    profile: Option<&str>,
) -> Result<Attached, Failure> {
    if let Some(attached) = running(sources, loaded, profile).await {
        return Ok(attached);
    }
    let failed = |error: io::Error| Failure::failed(format!("a shared kernel cannot be started: {error}"));
    let folder = control::folder(&loaded.data_dir).map_err(failed)?;
    // Of clients that start together one starts the kernel, and the others find it.
    let lock = std::fs::OpenOptions::new().create(true).truncate(false).write(true).open(folder.join("start.lock"));
    let lock = lock.map_err(failed)?;
    let lock = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock)).await;
    let _lock = lock.map_err(|error| Failure::failed(error.to_string()))?.map_err(failed)?;
    if let Some(attached) = running(sources, loaded, profile).await {
        return Ok(attached);
    }
    let log = log_file(&loaded.data_dir).map_err(failed)?;
    let mut command = tokio::process::Command::new(std::env::current_exe()?);
    // Where the folder of this client does not matter, no file that comes there later may matter to others.
    let folder = if folder_of(sources, loaded).is_some() { &sources.folder } else { &loaded.data_dir };
    command.arg("kernel").current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::from(log));
    if let Some(file) = &common.config {
        command.arg("--config").arg(sources.folder.join(file));
    }
    let mut child = command.spawn().map_err(failed)?;
    let deadline = Instant::now() + START;
    loop {
        if let Some(attached) = running(sources, loaded, profile).await {
            return Ok(attached);
        }
        if let Some(status) = child.try_wait().map_err(failed)? {
            let place = loaded.data_dir.join("kernel.log");
            return Err(Failure::failed(format!("the shared kernel ended ({status}); see {}", place.display())));
        }
        if Instant::now() > deadline {
            return Err(Failure::failed(format!("the shared kernel takes no clients after {} s", START.as_secs())));
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn log_file(data_dir: &Path) -> io::Result<std::fs::File> {
    let path = data_dir.join("kernel.log");
    let is_long = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() > MAX_LOG_BYTES);
    let mut options = std::fs::OpenOptions::new();
    options.create(true).write(true).append(!is_long).truncate(is_long);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
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

async fn join(process: u32, path: &Path, digest: &str, profile: Option<&str>) -> io::Result<Option<Attached>> {
    let (reader, mut writer) = UnixStream::connect(path).await?.into_split();
    let mut reader = BufReader::new(reader);
    let hello = json!({"switchboard": "attach", "version": VERSION, "configuration": digest, "profile": profile});
    writer.write_all(format!("{hello}\n").as_bytes()).await?;
    let answer = first_line(&mut reader).await?;
    let taken = answer.get("attached") == Some(&Value::Bool(true));
    Ok(taken.then_some(Attached { process, reader, writer }))
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
    let settings = &loaded.config.settings;
    word(&format!("{settings:?}"));
    let named = loaded.config.servers.iter().flat_map(|server| &server.entry.pass_env).chain(&settings.pass_env);
    for name in named {
        word(name);
        word(&std::env::var_os(name).map_or_else(String::new, |value| format!("={}", value.to_string_lossy())));
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The folder of a client, where what it is served depends on it: there is a project file, trusted or not, or the file was named, whose
/// servers run in that folder.
fn folder_of<'s>(sources: &'s Sources, loaded: &Loaded) -> Option<&'s Path> {
    let named = loaded.files.iter().any(|file| matches!(file.origin, Origin::Explicit | Origin::Environment));
    (named || sources.folder.join("mgp.toml").symlink_metadata().is_ok()).then_some(&sources.folder)
}

fn is_alive(process: u32) -> bool {
    let number = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    number.is_some_and(|number| rustix::process::test_kill_process(number).is_ok())
}

/// The same, as it holds now for who was started with these sources.
async fn digest_now(sources: &Sources) -> Option<String> {
    let sources = sources.clone();
    let reading = tokio::task::spawn_blocking(move || load(&sources).ok().map(|loaded| digest(&sources, &loaded)));
    timeout(HELLO, reading).await.ok()?.ok()?
}

/// Whether clients of `stdio` want a kernel of their own.
pub(crate) fn alone(own: bool) -> bool {
    own || std::env::var_os(setup::OWN_KERNEL).is_some_and(|value| !value.is_empty() && value != "0")
}
