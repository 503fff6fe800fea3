//! `switchboard stdio`: the kernel for the one client that started us. Standard output carries the protocol alone.

use std::sync::Arc;
use std::time::Duration;

use switchboard_kernel::Kernel;
use switchboard_peer::duplex::{self, Options, Role};
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::arguments::Common;
use crate::control::Control;
use crate::failure::Failure;
use crate::identity::keeper::Keeper;
use crate::serve::goodbye;
use crate::serve::reload::Reload;
use crate::signals::Signals;
use crate::{memory, setup, specs, storage, workshop};

/// How long answers that are ready may take to reach the client at the end.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

pub(crate) async fn run(common: &Common) -> Outcome {
    let mut signals = Signals::take()?;
    let sources = setup::sources(common)?;
    let loaded = switchboard_config::load(&sources)?;
    for problem in setup::problems(&loaded) {
        tracing::warn!("{problem}");
    }
    if setup::usable(&loaded).next().is_none() && !memory::wanted(&loaded) {
        tracing::warn!("{}", setup::NO_SERVERS);
    }
    let settings = loaded.config.settings.clone();
    let store = storage::open_for_kernel(&loaded).await?;
    let following = CancellationToken::new();
    let keeper = Keeper::start(store.clone(), &loaded, following.clone()).await?;
    let mut kernel_options = specs::kernel_options(&loaded, Some(store.clone()))?;
    kernel_options.credentials = Some(keeper.clone());
    kernel_options.servers = workshop::offers(&settings, &loaded.data_dir);
    kernel_options.tools.judge = specs::judge(&settings)?;
    let kernel = Kernel::new(kernel_options);
    let mut options = Options::new(Role::Server);
    options.limits = specs::message_limits(&settings);
    options.concurrent_requests = settings.limits.session_requests;
    let _control = Control::open(kernel.clone(), &loaded.data_dir);
    memory::tell_if_left_out(&loaded);
    let memory = memory::start(&loaded)?;
    let built_in = memory.iter().map(|memory| memory.spec.clone()).collect();
    let registered = workshop::kept(&loaded.data_dir);
    let reload = Reload::start(kernel.clone(), keeper, sources, loaded, built_in);
    kernel.restore(registered);
    let started = duplex::start(tokio::io::stdin(), tokio::io::stdout(), options, Arc::new(kernel.clone()));
    let signalled = tokio::select! {
        () = started.finished.cancelled() => false,
        () = signals.next() => true,
    };
    reload.stop();
    let ending = async {
        if signalled {
            // What runs is finished first, within bounds; what outlasts them is answered with an error.
            kernel.drain();
            let grace = settings.limits.shutdown_grace;
            if tokio::time::timeout(grace, kernel.quiet(Duration::MAX)).await.is_err() {
                kernel.shut_down(goodbye(&settings)).await;
            }
            started.connection.finish();
            if tokio::time::timeout(LAST_ANSWERS, started.finished.cancelled()).await.is_err() {
                started.connection.close();
            }
        }
        // An answer that was waited for is written before anything else ends.
        let _ = tokio::time::timeout(LAST_ANSWERS, started.connection.written()).await;
        kernel.shut_down(goodbye(&settings)).await;
    };
    let ended = signals.unless_again(ending).await;
    memory::close(memory.as_ref()).await;
    following.cancel();
    let _ = store.close().await;
    if ended { Ok(()) } else { Err(Failure::said()) }
}
