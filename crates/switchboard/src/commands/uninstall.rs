//! `switchboard uninstall`: takes Switchboard out of all clients, and says what remains of it on this machine.
//!
//! What remains may hold secrets and somebody's work, so that it is named first and removed only when that was asked for. Only files
//! that Switchboard itself makes are removed, under the names that it gives them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_config::{Client, Loaded, Platform, backups_of, user_config_file};

use crate::Outcome;
use crate::arguments::{Common, Uninstall};
use crate::attach::is_alive;
use crate::commands::connect::{self, Undone};
use crate::control::{KernelKind, Running};
use crate::failure::Failure;
use crate::waiting::Waiting;
use crate::{screen, setup, storage};

/// Our own files in the data folder that have one name.
const OWN_FILES: [&str; 9] = [
    "credentials.key",
    "tokens.migrated",
    "switchboard.audit-heads",
    "switchboard.audit-key",
    "switchboard.audit-tip",
    "trust.json",
    "registered.json",
    "start.lock",
    "tokens.json",
];
/// Our databases; beside them lies what SQLite writes.
const DATABASES: [&str; 2] = ["switchboard.db", "memory.db"];
/// Our own folders there. Servers work in `work`, and what they left there may be somebody's.
const OWN_FOLDERS: [&str; 4] = ["run", "replaced", "work", "sandboxes"];
/// What the files of the store are, in words.
const STORE: &str = "the store: grants, tokens, logins and the audit log";
/// Files and folders that are counted at most.
const MAX_COUNTED: usize = 100_000;
/// How long a kernel without clients may take to end.
const END: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Something of Switchboard that is on this machine.
struct Remains {
    path: PathBuf,
    what: &'static str,
    bytes: u64,
}

pub(crate) async fn run(common: &Common, options: &Uninstall) -> Outcome {
    let loaded = setup::read(common)?;
    let environment = setup::sources(common)?.environment;
    let (mut undone, mut failed, mut files) = (Vec::new(), Vec::new(), Vec::new());
    for client in Client::ALL {
        let places = client.files(&environment, Platform::current());
        let file = places.iter().find(|file| file.is_file()).or_else(|| places.first()).cloned();
        files.extend(places);
        let Some(file) = file else { continue };
        match connect::take_out(common, client, &file, options.dry_run) {
            Ok(Some(one)) => undone.push((client, one)),
            Ok(None) => {}
            Err(failure) => failed.push(failure.message().unwrap_or_default().to_owned()),
        }
    }
    if !common.json {
        undone.iter().for_each(|(client, one)| tell(*client, one, options.dry_run));
        if undone.is_empty() && failed.is_empty() {
            screen::out("no client has an entry of Switchboard");
        }
    }
    failed.iter().for_each(screen::note);
    let running = still_running(&loaded, options).await;
    // A file that was named by hand is somebody's own, and so is the user's where another one is used.
    let named = common.config.clone().or_else(|| environment.get("MGP_CONFIG_PATH").map(PathBuf::from));
    let config = user_config_file(&environment).filter(|_| named.is_none());
    let remains = remains(&loaded, config.as_deref(), &files);
    let elsewhere = elsewhere(&loaded, named.as_deref());
    if !common.json {
        list(common, &remains, &elsewhere, options);
    }
    let removed = options.data && !options.dry_run && {
        may_remove(options, &failed, &running, &remains)?;
        remove(&remains, &loaded.data_dir)?;
        true
    };
    if common.json {
        screen::json(&told(&undone, &failed, &running, &remains, &elsewhere, removed));
    } else if removed {
        screen::out(format_args!("all of this was removed; the program itself is {}", program()));
    } else {
        running.iter().for_each(|process| {
            screen::note(format_args!(
                "a kernel still runs (process {process}): end the clients or `serve` that use it"
            ));
        });
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::said()) }
}

fn tell(client: Client, undone: &Undone, dry_run: bool) {
    if dry_run {
        screen::out(format_args!("would take Switchboard out of {} ({})", undone.file.display(), client.as_str()));
        if !undone.back.is_empty() {
            screen::out(format_args!("would put back: {}", screen::plain_line(&undone.back.join(", "))));
        }
    } else {
        undone.tell();
    }
}

/// The kernels that run. One that clients share and that has none is ended first.
async fn still_running(loaded: &Loaded, options: &Uninstall) -> Vec<u32> {
    let mut running = Vec::new();
    for kernel in Running::all(&loaded.data_dir).await {
        let state = kernel.state().await;
        let is_idle = state.is_some_and(|state| state.kind == KernelKind::Shared && state.clients == 0);
        if options.data && !options.dry_run && is_idle && matches!(kernel.end().await, Ok(true)) {
            let _waiting = Waiting::begin(format!("waiting until process {} has ended", kernel.process));
            let ended = async {
                while is_alive(kernel.process) {
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
            };
            if tokio::time::timeout(END, ended).await.is_ok() {
                continue;
            }
        }
        running.push(kernel.process);
    }
    running
}

/// What of Switchboard is on this machine under the names that it gives its files.
fn remains(loaded: &Loaded, config: Option<&Path>, client_files: &[PathBuf]) -> Vec<Remains> {
    let mut found = Vec::new();
    let mut note = |path: PathBuf, what| {
        if let Ok(metadata) = path.symlink_metadata() {
            let bytes = if metadata.is_dir() { size_of(&path) } else { metadata.len() };
            found.push(Remains { path, what, bytes });
        }
    };
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(&loaded.data_dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let kind = |path: &Path| {
        let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        what_is(path.file_name()?.to_str()?, is_folder).map(|what| (what, is_folder))
    };
    // A folder that holds what is not ours is somebody's, and what is called `work` there may be theirs as well.
    let is_ours = entries.iter().all(|path| kind(path).is_some());
    for path in entries {
        if let Some((what, is_folder)) = kind(&path)
            && (is_ours || !is_folder)
        {
            note(path, what);
        }
    }
    if let Some(file) = config {
        note(file.to_owned(), "the configuration");
        backups_of(file).into_iter().for_each(|path| note(path, "the configuration as it was"));
    }
    for file in client_files {
        backups_of(file).into_iter().for_each(|path| note(path, "a client's file as it was; it may hold secrets"));
    }
    found
}

/// What something in the data folder is; `None` for what is not ours.
fn what_is(name: &str, is_folder: bool) -> Option<&'static str> {
    if is_folder {
        return OWN_FOLDERS.contains(&name).then_some(match name {
            "work" => "what servers left in their working folders",
            "replaced" => "entries that `connect --replace` took out of clients' files",
            _ => "files of kernels and servers that run",
        });
    }
    let database = DATABASES.iter().find_map(|own| Some((*own, name.strip_prefix(own)?)));
    if let Some((database, rest)) = database {
        let is_own = matches!(rest, "" | "-wal" | "-shm" | "-journal");
        return is_own.then_some(if database == "memory.db" { "memories" } else { STORE });
    }
    if let Some(rest) = name.strip_prefix("switchboard.kernel-") {
        let (id, journal) = rest.split_once(".journal-").unwrap_or((rest, "0"));
        let is_hex = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        return (is_hex(id) && journal.bytes().all(|byte| byte.is_ascii_digit())).then_some(STORE);
    }
    if let Some(rest) = name.strip_prefix("kernel.log") {
        let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
        return (rest.is_empty() || rest.strip_prefix('.').is_some_and(is_number)).then_some("a log");
    }
    OWN_FILES.contains(&name).then_some(match name {
        "switchboard.audit-heads" | "switchboard.audit-key" | "switchboard.audit-tip" | "credentials.key" => STORE,
        _ => "approvals and registrations",
    })
}

/// How much is in a folder. Links are not followed.
fn size_of(folder: &Path) -> u64 {
    let (mut bytes, mut counted, mut open) = (0_u64, 0, vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            counted += 1;
            if counted > MAX_COUNTED {
                return bytes;
            }
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => open.push(entry.path()),
                Ok(metadata) => bytes = bytes.saturating_add(metadata.len()),
                Err(_) => {}
            }
        }
    }
    bytes
}

/// What is kept elsewhere, by the operator's own choice, and stays there.
fn elsewhere(loaded: &Loaded, named: Option<&Path>) -> Vec<String> {
    let settings = &loaded.config.settings;
    let store = match storage::file(loaded) {
        Some(file) if file.starts_with(&loaded.data_dir) => None,
        Some(file) => Some(format!("the store {} and the files beside it that begin with its name", file.display())),
        None => Some("the tables in the database of `store`".to_owned()),
    };
    let memory = settings.memory.store.is_some().then(|| "the memories in `store` of [memory]".to_owned());
    let config = named.map(|file| format!("the configuration {}", file.display()));
    let folders: Vec<String> = OWN_FOLDERS
        .iter()
        .map(|name| loaded.data_dir.join(name))
        .filter(|folder| folder.is_dir())
        .map(|folder| folder.display().to_string())
        .collect();
    let foreign = std::fs::read_dir(&loaded.data_dir).into_iter().flatten().flatten().any(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        entry.file_name().to_str().is_none_or(|name| what_is(name, is_folder).is_none())
    });
    let shared = (foreign && !folders.is_empty()).then(|| {
        format!(
            "the folders {}: beside them stands what is not of Switchboard, so what is in them may not be either",
            folders.join(", ")
        )
    });
    store.into_iter().chain(memory).chain(config).chain(shared).collect()
}

fn list(common: &Common, remains: &[Remains], elsewhere: &[String], options: &Uninstall) {
    if remains.is_empty() && elsewhere.is_empty() {
        screen::out(format_args!("nothing else remains; the program itself is {}", program()));
        return;
    }
    let mut rows = vec![["WHAT", "SIZE", "WHERE"].map(str::to_owned).to_vec()];
    let row =
        |one: &Remains| vec![one.what.to_owned(), size(one.bytes), screen::plain_line(&one.path.display().to_string())];
    rows.extend(remains.iter().map(row));
    screen::out("what remains:");
    screen::out(screen::table(&rows).trim_end());
    elsewhere.iter().for_each(|what| screen::out(format_args!("not removed by this: {}", screen::plain_line(what))));
    if !options.data {
        screen::out(format_args!(
            "`{}` removes it; the program itself is {}",
            common.again("uninstall --data"),
            program()
        ));
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} B"),
        10_000..=9_999_999 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

fn program() -> String {
    std::env::current_exe().map_or_else(|_| "where it was installed".to_owned(), |path| path.display().to_string())
}

/// Whether what remains can be removed now, and somebody wants it.
fn may_remove(options: &Uninstall, failed: &[String], running: &[u32], remains: &[Remains]) -> Outcome {
    if !failed.is_empty() {
        return Err(Failure::failed(
            "nothing was removed: what was taken out of a client's file could not be put back yet",
        ));
    }
    if !running.is_empty() {
        let processes = running.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        return Err(Failure::failed(format!(
            "nothing was removed: a kernel still runs (process {processes}). End the clients and `serve`, then run this again"
        )));
    }
    if options.yes || remains.is_empty() {
        return Ok(());
    }
    if !screen::can_ask() {
        return Err(Failure::usage("nothing was removed: there is nobody to ask; say --yes"));
    }
    if screen::confirmed("Remove all of this? It cannot be brought back.") {
        Ok(())
    } else {
        Err(Failure::failed("nothing was removed"))
    }
}

fn remove(remains: &[Remains], data_dir: &Path) -> Outcome {
    for Remains { path, .. } in remains {
        let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        let removed = if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::failed(format!("{} could not be removed: {error}", path.display())));
            }
            _ => {}
        }
    }
    // A folder in which something else stands stays.
    let folders = remains.iter().filter(|one| one.what == "the configuration").filter_map(|one| one.path.parent());
    for folder in folders.chain([data_dir]) {
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}

fn told(
    undone: &[(Client, Undone)],
    failed: &[String],
    running: &[u32],
    remains: &[Remains],
    elsewhere: &[String],
    removed: bool,
) -> Value {
    let clients = undone.iter().map(|(client, one)| {
        json!({"client": client.as_str(), "file": one.file, "backup": one.backup, "restored": one.back, "left": one.left})
    });
    let remains = remains.iter().map(|one| json!({"path": one.path, "what": one.what, "bytes": one.bytes}));
    json!({
        "clients": clients.collect::<Vec<_>>(),
        "failed": failed,
        "kernels": running,
        "remains": remains.collect::<Vec<_>>(),
        "elsewhere": elsewhere,
        "removed": removed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ours_is_known() {
        for (name, is_folder, known) in [
            ("switchboard.db", false, true),
            ("switchboard.db-wal", false, true),
            ("switchboard.audit-key", false, true),
            ("switchboard.kernel-01ab55977601c01b.journal-0", false, true),
            ("switchboard.kernel-mine", false, false),
            ("switchboard.db.my-own-copy", false, false),
            ("memory.db (my copy)", false, false),
            ("trust.json.mine", false, false),
            ("kernel.log-analysis.txt", false, false),
            ("tokens.json.txt", false, false),
            ("switchboard.db2", false, false),
            ("switchboard.dbs", false, false),
            ("memory.db", false, true),
            ("kernel.log.1", false, true),
            ("kernel.logbook", false, false),
            ("work", true, true),
            ("work", false, false),
            ("projects", true, false),
            ("switchboard.db", true, false),
            ("thesis.txt", false, false),
        ] {
            assert_eq!(what_is(name, is_folder).is_some(), known, "{name}");
        }
    }
}
