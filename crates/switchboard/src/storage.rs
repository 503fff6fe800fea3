//! The one store of a data folder: where it is, and how a person is told that it cannot be opened.
//!
//! Several processes may have the same store open, a `serve` and the commands that an operator runs beside it. What is
//! kept in it is not known here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use switchboard_config::Loaded;
use switchboard_store::{Actor, AuditEvent, Details, Location, Mode, Options, Store, StoreError, Target};

use crate::failure::{Failure, chain};
use crate::screen;

/// How long a kernel looks for damage before it starts; the rest of a large database is looked through behind that.
const CHECK: Duration = Duration::from_millis(400);
/// How long a command waits for a database that a kernel writes to all the time: SQLite has no queue for writers of other
/// processes, and on a slow disk one of them may come late again and again.
pub(crate) const COMMAND_BUSY: Duration = Duration::from_secs(20);
/// The name of the embedded database in the data folder.
const FILE: &str = "switchboard.db";
/// How often a store that is away is tried to be opened.
const OPEN_RETRY_PAUSE: Duration = Duration::from_millis(250);
/// What is written to an audit log that begins where another one was.
pub(crate) const LOG_BEGUN_ANEW: &str = "dev.switchboard.log_begun_anew";

/// Opens the store that the configuration names, else the one in the data folder. It is made if it is missing: the
/// folder for its owner alone (0700), the files likewise (0600).
pub(crate) async fn open_store(loaded: &Loaded) -> Result<Store, Failure> {
    open(loaded, Options { busy: COMMAND_BUSY, ..Options::default() }).await
}

/// The same for a command that must not fail because the database is restarted just now: it is waited for as long as one that is
/// busy, and said so.
pub(crate) async fn open_store_patiently(loaded: &Loaded) -> Result<Store, Failure> {
    let options = || Options { busy: COMMAND_BUSY, ..Options::default() };
    let first = match try_open(loaded, options()).await? {
        Err(error) if matches!(error.1, StoreError::Unavailable(_) | StoreError::Timeout) => error,
        opened => return opened.map_err(|(location, error)| refused(&location, &error)),
    };
    screen::note(format_args!("the store does not answer; it is waited for, at most {} s", COMMAND_BUSY.as_secs()));
    let again = async {
        loop {
            tokio::time::sleep(OPEN_RETRY_PAUSE).await;
            match try_open(loaded, options()).await? {
                Err((_, StoreError::Unavailable(_) | StoreError::Timeout)) => {}
                opened => return opened.map_err(|(location, error)| refused(&location, &error)),
            }
        }
    };
    let opened = tokio::time::timeout(COMMAND_BUSY, again).await;
    opened.unwrap_or_else(|_| Err(refused(&first.0, &first.1)))
}

/// The same for a kernel, which lives long: a database with damaged pages is refused.
pub(crate) async fn open_for_kernel(loaded: &Loaded) -> Result<Store, Failure> {
    open(loaded, Options { check: Some(CHECK), ..Options::default() }).await
}

/// The same for an operator who says that the audit log is to go on as it is, whatever its signed heads say.
pub(crate) async fn open_to_restore(loaded: &Loaded, now: Timestamp) -> Result<Store, Failure> {
    open(loaded, Options { mode: Mode::Restore { now }, ..Options::default() }).await
}

/// Opens the store for reading alone, also over an audit log that somebody changed. Heads signed with `keys` count
/// like our own. One that was never made is an error.
pub(crate) async fn open_to_read(loaded: &Loaded, keys: Vec<String>) -> Result<Store, Failure> {
    if !exists(loaded) {
        let address = loaded.config.settings.store.as_ref().map(switchboard_config::Secret::reveal);
        let key = locate(address, &loaded.data_dir).ok().and_then(|location| left_over_key(&location));
        let lost = key.map_or_else(String::new, |key| {
            format!("; but {} is the key of an audit log that was there once", key.display())
        });
        return Err(Failure::failed(format!(
            "nothing was recorded so far: there is no store in {}{lost}",
            loaded.data_dir.display()
        )));
    }
    open(loaded, Options { mode: Mode::ReadOnly, trusted_keys: keys, ..Options::default() }).await
}

async fn open(loaded: &Loaded, options: Options) -> Result<Store, Failure> {
    try_open(loaded, options).await?.map_err(|(location, error)| refused(&location, &error))
}

/// The same, where the caller decides what it means that it cannot be opened.
async fn try_open(loaded: &Loaded, mut options: Options) -> Result<Result<Store, (Location, StoreError)>, Failure> {
    let address = loaded.config.settings.store.as_ref().map(switchboard_config::Secret::reveal);
    let location = locate(address, &loaded.data_dir)?;
    if matches!(location, Location::Postgres(_)) {
        // The signed heads are worth something because they are not where the chain is.
        options.audit_directory = Some(loaded.data_dir.clone());
    }
    let writes = options.mode != Mode::ReadOnly;
    let left_over = writes.then(|| left_over_key(&location)).flatten();
    let store = match Store::open(&location, options).await {
        Ok(store) => store,
        Err(error) => return Ok(Err((location, error))),
    };
    if let Some(key) = left_over {
        tell_of_new_log(&store, &key).await;
    }
    Ok(Ok(store))
}

/// The key of an audit log that is not there any more: beside a database that is to be made there should be none.
fn left_over_key(location: &Location) -> Option<PathBuf> {
    let Location::File(path) = location else { return None };
    let key = path.with_extension("audit-key");
    (!path.exists() && key.exists()).then_some(key)
}

/// Says that a log begins anew, to whoever starts this and in the log itself, where `audit verify` finds it.
async fn tell_of_new_log(store: &Store, key: &Path) {
    tracing::warn!(
        key = %key.display(),
        "the key of an earlier audit log is here, and the log is not: it was moved or removed. A new one begins"
    );
    let event = AuditEvent {
        timestamp: Timestamp::now(),
        trace_id: None,
        event_type: LOG_BEGUN_ANEW.into(),
        actor: Actor { kind: "kernel".into(), id: "switchboard".into() },
        target: Target::default(),
        result: "SUCCESS".into(),
        details: Details::default(),
    };
    if let Err(error) = store.audit().append(&[event]).await {
        tracing::warn!(%error, "that a new log begins could not be written to it");
    }
}

/// The file that the store is, where it is one.
pub(crate) fn file(loaded: &Loaded) -> Option<PathBuf> {
    let address = loaded.config.settings.store.as_ref().map(switchboard_config::Secret::reveal);
    match locate(address, &loaded.data_dir) {
        Ok(Location::File(path)) => Some(path),
        _ => None,
    }
}

/// Whether there is a store to open. One on a database server is taken to be there.
pub(crate) fn exists(loaded: &Loaded) -> bool {
    let address = loaded.config.settings.store.as_ref().map(switchboard_config::Secret::reveal);
    match locate(address, &loaded.data_dir) {
        Ok(Location::File(path)) => path.exists(),
        Ok(Location::Postgres(_)) | Err(_) => true,
    }
}

/// Where the store is. A relative path starts in the data folder.
fn locate(address: Option<&str>, data_dir: &Path) -> Result<Location, Failure> {
    let Some(address) = address else { return Ok(Location::File(data_dir.join(FILE))) };
    match address.parse() {
        Ok(Location::File(path)) => Ok(Location::File(data_dir.join(path))),
        Ok(location) => Ok(location),
        Err(error) => Err(Failure::usage(format!("`store`: {}", chain(&error)))),
    }
}

fn refused(location: &Location, error: &StoreError) -> Failure {
    let place = match location {
        Location::File(path) => path.display().to_string(),
        // The address may hold a password.
        Location::Postgres(_) => "the PostgreSQL database of `store`".to_owned(),
    };
    let next = match error {
        StoreError::Busy(_) => "; another process holds it, try again",
        StoreError::ChainBroken(_) => {
            "; nothing is written to it any more. Put the right database back, or find out who changed it; where an older copy is \
             to be continued, `switchboard restore` says so"
        }
        StoreError::Corrupt(_) => "; see `switchboard restore --help` for what to do with an older copy",
        StoreError::ReadOnly => "; this user may not write there",
        StoreError::Full(_) => "; make room on the disk",
        StoreError::Unavailable(_) => "; is the database running, and may this machine reach it?",
        _ => "",
    };
    Failure::failed(format!("{place} cannot be opened: {}{next}", chain(error)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use switchboard_config::{Environment, Sources, load};

    use super::*;

    fn loaded(folder: &Path, text: &str) -> Loaded {
        let file = folder.join("mgp.toml");
        std::fs::write(&file, format!("data_dir = 'data'\n{text}")).unwrap();
        load(&Sources { explicit: Some(file), folder: folder.to_owned(), environment: Environment::default() }).unwrap()
    }

    #[test]
    fn the_store_is_where_the_configuration_says() {
        let data = Path::new("/data");
        let file = |path: &str| Some(Location::File(path.into()));
        for (address, expected) in [
            (None, file("/data/switchboard.db")),
            (Some("other.db"), file("/data/other.db")),
            (Some("sqlite:other.db"), file("/data/other.db")),
            (Some("/srv/other.db"), file("/srv/other.db")),
            (Some("postgres://db/x"), Some(Location::Postgres("postgres://db/x".to_owned()))),
            (Some("mysql://db/x"), None),
        ] {
            assert_eq!(locate(address, data).ok(), expected, "{address:?}");
        }
    }

    #[tokio::test]
    async fn folder_and_files_are_for_their_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let loaded = loaded(folder.path(), "");
        let store = open_store(&loaded).await.unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&loaded.data_dir), 0o700);
        assert_eq!(mode(&loaded.data_dir.join(FILE)), 0o600);
        store.close().await.unwrap();
        std::fs::set_permissions(loaded.data_dir.join(FILE), std::fs::Permissions::from_mode(0o644)).unwrap();
        let failure = open_store(&loaded).await.unwrap_err();
        assert!(failure.message().unwrap().contains("chmod 600"), "{failure:?}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn several_have_it_open_at_the_same_time() {
        let folder = tempfile::tempdir().unwrap();
        let loaded = loaded(folder.path(), "");
        let serving = open_store(&loaded).await.unwrap();
        let writing = {
            let serving = serving.clone();
            tokio::spawn(async move {
                for number in 0..40 {
                    serving.latest_time(Timestamp::from_second(number).unwrap()).await.unwrap();
                }
            })
        };
        for number in 0..10 {
            let beside = open_store(&loaded).await.unwrap();
            beside.latest_time(Timestamp::from_second(number).unwrap()).await.unwrap();
            beside.close().await.unwrap();
        }
        writing.await.unwrap();
        assert_eq!(serving.latest_time(Timestamp::UNIX_EPOCH).await.unwrap().as_second(), 39);
    }

    #[tokio::test]
    async fn a_password_in_the_address_is_not_told() {
        let folder = tempfile::tempdir().unwrap();
        let failure = open_store(&loaded(folder.path(), "store = 'postgres://me:hidden@127.0.0.1:1/x'")).await;
        let message = failure.unwrap_err().message().unwrap().to_owned();
        assert!(!message.contains("hidden") && message.contains("PostgreSQL"), "{message}");
    }
}
