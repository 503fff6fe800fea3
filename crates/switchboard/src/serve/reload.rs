//! Taking over changes of the configuration while the kernel runs.
//!
//! The files are looked at when the system reports a change near them, and every few seconds in any case, because
//! such reports can be lost and cannot be had for a folder that is not there yet. A file that cannot be used changes
//! nothing; a server that became faulty stays as it was.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use notify::Watcher as _;
use parking_lot::Mutex;
use switchboard_config::{Config, ErrorKind, Loaded, Settings, Sources, changes, load};
use switchboard_identity::UpstreamCredentials;
use switchboard_kernel::{Kernel, ServerSpec};
use switchboard_peer::client::Target;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::settings;
use crate::memory::MemorySwitch;
use crate::{setup, specs};

/// How often the files are looked at without a report.
const FILE_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How long the files must stay the same before they are read: editors write in several steps.
const QUIET: Duration = Duration::from_millis(100);
/// Commands that may wait for the files to be read.
const MAX_ASKING: usize = 16;
/// How many times that is waited for; a file that changes all the time is read nevertheless.
const MAX_SETTLING_PAUSES: u32 = 20;

/// How often a changed configuration was taken over, and how often not.
#[derive(Debug, Default)]
pub(crate) struct Reloads {
    pub(crate) taken: AtomicU64,
    pub(crate) refused: AtomicU64,
    /// Settings that differ from those that the kernel was started with, and take effect when it is started again.
    next_start: Mutex<Vec<&'static str>>,
}

/// A running watch over the configuration.
#[derive(Debug)]
pub(crate) struct Reload {
    stop: CancellationToken,
    counts: Arc<Reloads>,
    asked: mpsc::Sender<Asked>,
}

/// Somebody waits for the configuration to be read.
#[derive(Debug)]
struct Asked {
    /// It was written as a whole; otherwise whether it changed at all has to be seen first.
    written: bool,
    /// Dropped when it was read.
    _done: oneshot::Sender<()>,
}

/// Whoever wants the configuration to be read again without waiting for a report.
#[derive(Debug, Clone)]
pub(crate) struct Reread {
    asked: mpsc::Sender<Asked>,
    counts: Arc<Reloads>,
}

impl Reread {
    /// Comes back when the configuration was read, and counts if it can be used.
    pub(crate) async fn now(&self) {
        self.ask(true).await;
    }

    /// The same where it has changed since it was read last; at once where it has not.
    pub(crate) async fn if_changed(&self) {
        self.ask(false).await;
    }

    /// The settings that take effect when the kernel is started again.
    pub(crate) fn next_start(&self) -> Vec<&'static str> {
        self.counts.next_start.lock().clone()
    }

    async fn ask(&self, written: bool) {
        let (done, read) = oneshot::channel();
        if self.asked.send(Asked { written, _done: done }).await.is_ok() {
            let _ = read.await;
        }
    }
}

impl Reload {
    /// Gives the configuration to the kernel, and every later one as well.
    /// The memory is a server that no file names; one of a file takes the place of one of the same id.
    pub(crate) fn start(
        kernel: Kernel,
        credentials: Arc<UpstreamCredentials>,
        sources: Sources,
        loaded: Loaded,
        (memory, built_in): (MemorySwitch, Option<ServerSpec>),
    ) -> Self {
        let (asked, mut asking) = mpsc::channel(MAX_ASKING);
        let reload = Self { stop: CancellationToken::new(), counts: Arc::default(), asked };
        let mut watched = Watched {
            kernel,
            credentials,
            sources,
            data_dir: loaded.data_dir.clone(),
            files: loaded.watch.iter().cloned().chain([loaded.data_dir.join("trust.json")]).collect(),
            begun: loaded.config.settings.clone(),
            config: Config::default(),
            applied: Vec::new(),
            memory,
            built_in,
            counts: reload.counts.clone(),
        };
        // Before the first use, so that no change in between is missed.
        let stamps = watched.stamps();
        watched.apply(loaded.config);
        let stop = reload.stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = watched.watch(stamps, &mut asking) => {}
            }
        });
        reload
    }

    /// Ends the watch.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// The way to ask for it.
    pub(crate) fn reread(&self) -> Reread {
        Reread { asked: self.asked.clone(), counts: self.counts.clone() }
    }

    /// What happened so far.
    pub(crate) fn counts(&self) -> Arc<Reloads> {
        self.counts.clone()
    }
}

/// What tells one version of a file from another.
type Stamp = Option<(Option<SystemTime>, u64, u64)>;

struct Watched {
    kernel: Kernel,
    credentials: Arc<UpstreamCredentials>,
    sources: Sources,
    /// Where our own state is; it stays there until the next start.
    data_dir: PathBuf,
    files: Vec<PathBuf>,
    /// What the kernel was started with.
    begun: Settings,
    config: Config,
    applied: Vec<ServerSpec>,
    memory: MemorySwitch,
    built_in: Option<ServerSpec>,
    counts: Arc<Reloads>,
}

impl Watched {
    async fn watch(&mut self, mut known: Vec<Stamp>, asking: &mut mpsc::Receiver<Asked>) {
        let changed = Arc::new(Notify::new());
        // In the data folder something is written with every call: there, looking now and then is enough.
        let watched: Vec<PathBuf> =
            self.files.iter().filter(|file| !file.starts_with(&self.data_dir)).cloned().collect();
        let _reports = reports(&watched, &changed);
        // Until when reports are left alone. Who asks is answered at once all the same.
        let mut quiet_until = Instant::now();
        loop {
            let reported = async {
                tokio::time::sleep_until(quiet_until).await;
                changed.notified().await;
            };
            // Dropped at the end of the turn, when what there was to read was read.
            let asked = tokio::select! {
                () = reported => None,
                () = tokio::time::sleep(FILE_POLL_INTERVAL) => None,
                Some(asked) = asking.recv() => Some(asked),
            };
            let mut now = self.stamps();
            if asked.as_ref().is_some_and(|asked| asked.written) {
                known = now;
                self.read_again().await;
                continue;
            }
            if now == known {
                // Something else near the files changed, or they were read; much of that must not keep us busy.
                if asked.is_none() {
                    quiet_until = Instant::now() + QUIET;
                }
                continue;
            }
            for _ in 0..MAX_SETTLING_PAUSES {
                tokio::time::sleep(QUIET).await;
                let later = self.stamps();
                if later == now {
                    break;
                }
                now = later;
            }
            known = now;
            self.read_again().await;
        }
    }

    async fn read_again(&mut self) {
        let sources = self.sources.clone();
        let Ok(outcome) = tokio::task::spawn_blocking(move || load(&sources)).await else { return };
        let broken = match outcome {
            Err(error) => error,
            Ok(loaded) => match loaded.files.iter().find_map(|file| file.error.clone()) {
                Some(error) => error,
                None => return self.take(loaded),
            },
        };
        self.counts.refused.fetch_add(1, Ordering::Relaxed);
        tracing::error!("the changed configuration cannot be used, the servers stay as they are:\n{broken}");
    }

    fn take(&mut self, loaded: Loaded) {
        let difference = changes(&self.config, &loaded.config);
        if difference.is_empty() {
            return;
        }
        // An editor that empties a file before it writes it, or a full disk: nobody has said that all of these go.
        if !difference.removed.is_empty()
            && let Some(file) = self.files.iter().find(|file| is_blank(file))
        {
            self.counts.refused.fetch_add(1, Ordering::Relaxed);
            let file = file.display();
            tracing::error!(%file, "this configuration file is empty; the servers stay as they are. A comment in it says none");
            return;
        }
        // State stays where it is until the next start, and is ours there.
        let loaded = Loaded { data_dir: self.data_dir.clone(), ..loaded };
        let options = match specs::kernel_options(&loaded, None) {
            Ok(options) => options,
            Err(failure) => {
                self.counts.refused.fetch_add(1, Ordering::Relaxed);
                let why = failure.message().unwrap_or_default();
                tracing::error!("the changed configuration cannot be used, everything stays as it is: {why}");
                return;
            }
        };
        for problem in setup::problems(&loaded) {
            tracing::warn!("{problem}");
        }
        let changed = settings::changed(&self.config.settings, &loaded.config.settings);
        if !changed.next_start.is_empty() {
            let keys = changed.next_start.join(", ");
            tracing::warn!(keys, "these changed settings take effect at the next start; start again to use them");
        }
        if !changed.now.is_empty() {
            self.kernel.judge_by(options.gate);
            if changed.now.contains(&settings::TOOL_CONTEXT) {
                self.kernel.list_by(options.tools);
            }
            tracing::info!(keys = changed.now.join(", "), "these changed settings hold from now on");
        }
        *self.counts.next_start.lock() = settings::changed(&self.begun, &loaded.config.settings).next_start;
        match self.memory.spec(&loaded) {
            Ok(spec) => self.built_in = spec,
            Err(failure) => {
                let why = failure.message().unwrap_or_default().to_owned();
                tracing::error!(why, "the memory is not among the servers");
            }
        }
        self.counts.taken.fetch_add(1, Ordering::Relaxed);
        let list = |ids: &[String]| if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
        tracing::info!(
            added = list(&difference.added),
            changed = list(&difference.changed),
            removed = list(&difference.removed),
            "the configuration was read again"
        );
        self.apply(loaded.config);
    }

    fn apply(&mut self, config: Config) {
        let mut next = Vec::new();
        let surroundings = specs::Surroundings { settings: &config.settings, data_dir: &self.data_dir };
        for server in &config.servers {
            if let Some(spec) = specs::spec(server, &surroundings) {
                next.push(spec);
                continue;
            }
            let withdrawn = server.problem().is_none_or(|error| matches!(error.kind(), ErrorKind::Untrusted));
            let before = self.applied.iter().find(|spec| &*spec.id == server.id());
            let before = before.filter(|spec| !matches!(spec.target, Target::Nowhere(_)));
            match before.filter(|_| !withdrawn && server.enabled()) {
                Some(spec) => {
                    tracing::warn!(server = server.id(), "its new entry cannot be used; it stays as it was");
                    next.push(spec.clone());
                }
                // It is not there, and clients are told so.
                None => next.extend(specs::unusable(server, &surroundings)),
            }
        }
        self.credentials.configure(&config);
        let added: Vec<ServerSpec> =
            self.built_in.iter().filter(|spec| next.iter().all(|named| named.id != spec.id)).cloned().collect();
        next.extend(added);
        self.kernel.apply(next.clone());
        self.applied = next;
        self.config = config;
    }

    fn stamps(&self) -> Vec<Stamp> {
        self.files.iter().map(|file| stamp(file)).collect()
    }
}

/// Whether a file is there and holds nothing at all.
fn is_blank(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.trim().is_empty())
}

fn stamp(file: &Path) -> Stamp {
    let metadata = std::fs::metadata(file).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&metadata);
    #[cfg(not(unix))]
    let number = 0;
    Some((metadata.modified().ok(), metadata.len(), number))
}

/// Asks the system for reports about the folders of the files; they end when the result is dropped.
fn reports(files: &[PathBuf], changed: &Arc<Notify>) -> Option<notify::RecommendedWatcher> {
    let wake = changed.clone();
    let watcher = notify::recommended_watcher(move |_: notify::Result<notify::Event>| wake.notify_one());
    let mut watcher = match watcher {
        Ok(watcher) => watcher,
        Err(error) => {
            tracing::debug!(%error, "no reports of changed files; looking now and then instead");
            return None;
        }
    };
    let mut folders: Vec<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    folders.sort_unstable();
    folders.dedup();
    for folder in folders {
        if let Err(error) = watcher.watch(folder, notify::RecursiveMode::NonRecursive) {
            tracing::debug!(folder = %folder.display(), %error, "no reports of changes here");
        }
    }
    Some(watcher)
}
