//! `switchboard stdio`: the kernel for the one client that started us. Standard output carries the protocol alone.
//!
//! Clients with the same configuration share a kernel ([`crate::attach`]); this is also the kernel that they share.

use std::sync::Arc;
use std::time::Duration;

use switchboard_config::{Loaded, Settings, Sources};
use switchboard_identity::UpstreamCredentials;
use switchboard_kernel::Kernel;
use switchboard_peer::duplex::{self, DuplexOptions, Role};
use switchboard_store::Store;
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::arguments::{Common, Stdio};
use crate::attach::socket::{ClientSocket, Tenure};
use crate::control::{Control, KernelKind, Post};
use crate::failure::Failure;
use crate::serve::goodbye;
use crate::serve::reload::Reload;
use crate::signals::Signals;
use crate::{attach, known, memory, screen, server_builder, setup, specs, storage};

/// How long answers that are ready may take to reach the client at the end.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

pub(crate) async fn run(common: &Common, options: &Stdio) -> Outcome {
    if screen::can_ask() {
        screen::note(
            "this waits for the messages of a client, which starts it by itself: `switchboard connect CLIENT` tells it so; \
             Ctrl-C ends it",
        );
    }
    let signals = Signals::take()?;
    let sources = setup::sources(common)?;
    let loaded = switchboard_config::load(&sources)?;
    let profile = setup::profile(&loaded, options.profile.as_deref())?;
    if !attach::alone(options.own) {
        match attach::running_or_started(common, &sources, &loaded, profile.as_deref(), None).await {
            Ok(attached) => {
                tell(&loaded);
                let grace = loaded.config.settings.limits.shutdown_grace;
                let (sources, loaded, profile) = (&sources, &loaded, profile.as_deref());
                let again = |leaving| async move {
                    // The files may say something else by now, and the next kernel has what they say.
                    let now = read_again(sources).await.unwrap_or_else(|| loaded.clone());
                    attach::running_or_started(common, sources, &now, profile, leaving).await
                };
                return attach::relay(attached, signals, grace, again).await;
            }
            Err(failure) => {
                let why = failure.message().unwrap_or_default();
                tracing::warn!("{why}; this client has servers of its own");
            }
        }
    }
    own(signals, sources, loaded, profile).await
}

/// The configuration as it is now, if it can be read.
async fn read_again(sources: &Sources) -> Option<Loaded> {
    let sources = sources.clone();
    tokio::task::spawn_blocking(move || switchboard_config::load(&sources).ok()).await.ok()?
}

/// What a person should know who starts a client.
fn tell(loaded: &Loaded) {
    for problem in setup::problems(loaded) {
        tracing::warn!("{problem}");
    }
    if setup::usable(loaded).next().is_none() && !memory::wanted(loaded) {
        tracing::warn!("{}", setup::NO_SERVERS);
    }
    memory::tell_if_left_out(loaded);
}

/// A kernel in this process.
struct Hosted {
    kernel: Kernel,
    settings: Settings,
    /// How clients over a stream are served.
    options: DuplexOptions,
    store: Store,
    memory: memory::MemorySwitch,
    reload: Reload,
    following: CancellationToken,
    _control: Option<Control>,
}

impl Hosted {
    async fn start(sources: Sources, loaded: Loaded, post: Post) -> Result<Self, Failure> {
        tell(&loaded);
        let settings = loaded.config.settings.clone();
        let store = storage::open_for_kernel(&loaded).await?;
        let following = CancellationToken::new();
        let credentials = UpstreamCredentials::start(store.clone(), &loaded, following.clone()).await?;
        let mut kernel_options = specs::kernel_options(&loaded, Some(store.clone()))?;
        kernel_options.credentials = Some(credentials.clone());
        kernel_options.servers = server_builder::offers(&settings, &loaded.data_dir);
        kernel_options.tools.judge = specs::judge(&settings)?;
        let kernel = Kernel::new(kernel_options);
        let options = stream_options(&settings);
        let memory = memory::MemorySwitch::default();
        let built_in = memory.spec(&loaded)?;
        let registered = server_builder::kept(&loaded.data_dir);
        let (config, data_dir) = (loaded.config.clone(), loaded.data_dir.clone());
        let reload = Reload::start(kernel.clone(), credentials, sources, loaded, (memory.clone(), built_in));
        let control = Control::open(kernel.clone(), reload.reread(), post, &data_dir);
        kernel.restore(registered);
        known::tell_when_known(kernel.clone(), store.clone(), config);
        Ok(Self { kernel, settings, options, store, memory, reload, following, _control: control })
    }

    /// What runs is finished first, within bounds; what outlasts them is answered with an error.
    async fn drain(&self) {
        self.kernel.drain();
        let grace = self.settings.limits.shutdown_grace;
        if tokio::time::timeout(grace, self.kernel.quiet(Duration::MAX)).await.is_err() {
            self.kernel.shut_down(goodbye(&self.settings)).await;
        }
    }

    /// Ends what is left. `ended` is whether nobody was impatient.
    async fn close(self, ended: bool) -> Outcome {
        self.memory.close().await;
        self.following.cancel();
        let _ = self.store.close().await;
        if ended { Ok(()) } else { Err(Failure::said()) }
    }
}

/// How a client is served over a stream.
pub(crate) fn stream_options(settings: &Settings) -> DuplexOptions {
    let mut options = DuplexOptions::new(Role::Server);
    options.limits = specs::message_limits(settings);
    options.concurrent_requests = settings.limits.session_requests;
    options
}

async fn own(mut signals: Signals, sources: Sources, loaded: Loaded, profile: Option<Arc<str>>) -> Outcome {
    let hosted = Hosted::start(sources, loaded, Post::of(KernelKind::Own, None)).await?;
    let kernel = &hosted.kernel;
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    let started =
        duplex::start(input, output, DuplexOptions { profile, ..hosted.options.clone() }, Arc::new(kernel.clone()));
    let signalled = tokio::select! {
        () = started.finished.cancelled() => false,
        // Nobody hears the answers any more: what waits for a person is not made, what runs is cancelled.
        () = attach::nobody_reads() => {
            started.connection.close();
            false
        }
        () = signals.next() => true,
    };
    hosted.reload.stop();
    let ending = async {
        if signalled {
            hosted.drain().await;
            started.connection.finish();
            if tokio::time::timeout(LAST_ANSWERS, started.finished.cancelled()).await.is_err() {
                started.connection.close();
            }
        }
        // An answer that was waited for is written before anything else ends.
        let _ = tokio::time::timeout(LAST_ANSWERS, started.connection.written()).await;
        kernel.shut_down(goodbye(&hosted.settings)).await;
    };
    let ended = signals.unless_again(ending).await;
    hosted.close(ended).await
}

/// The kernel that clients share. It ends a while after the last of them.
pub(crate) async fn share(common: &Common) -> Outcome {
    let mut signals = Signals::take()?;
    // It outlives the client that started it, and the terminal of that.
    let _ = rustix::process::setsid();
    let sources = setup::sources(common)?;
    let loaded = switchboard_config::load(&sources)?;
    let data_dir = loaded.data_dir.clone();
    let post = Post::of(KernelKind::Shared, None);
    let (end, tenure) = (post.end.clone(), (Tenure::Shared, post.clients.clone()));
    let hosted = Hosted::start(sources.clone(), loaded, post).await?;
    let joined = (sources, hosted.reload.reread());
    let socket = ClientSocket::open(hosted.kernel.clone(), joined, hosted.options.clone(), &data_dir, tenure)?;
    tracing::info!("a kernel for the clients of {} is there", data_dir.display());
    let _log = tokio::spawn(attach::look_after_log(data_dir.clone()));
    tokio::select! {
        () = socket.deserted(hosted.settings.limits.linger) => tracing::info!("the last client has left"),
        () = socket.retired() => tracing::info!("another kernel takes over its clients"),
        () = end.cancelled() => {}
        () = signals.next() => {}
    }
    // Nobody comes any more: who looks for a kernel now starts another.
    socket.refuse();
    hosted.reload.stop();
    let ending = async {
        hosted.drain().await;
        socket.close();
        socket.left().await;
        hosted.kernel.shut_down(goodbye(&hosted.settings)).await;
    };
    let ended = signals.unless_again(ending).await;
    hosted.close(ended).await
}
