//! The wish to end: the first signal asks, the second one does not wait.

use std::future::Future;
use std::io;

/// Signals that mean the end.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    kinds: [tokio::signal::unix::Signal; 3],
}

impl Signals {
    /// Takes the signals over from here on.
    pub(crate) fn take() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let kinds =
                [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?];
            Ok(Self { kinds })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        {
            let [interrupt, terminate, hangup] = &mut self.kinds;
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {}
            }
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Does the work of ending, unless another signal says that it takes too long. Answers whether it was done.
    pub(crate) async fn unless_again(&mut self, ending: impl Future<Output = ()>) -> bool {
        tokio::select! {
            () = ending => true,
            () = self.next() => {
                tracing::warn!("ending at once");
                false
            }
        }
    }
}
