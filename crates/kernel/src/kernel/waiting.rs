//! Waiting for servers that are just starting: for as many as somebody needs, and no longer.

use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};

use super::{Kernel, View};

/// How long a client that says hello waits for servers that are just starting, counted from their start, where there are
/// several: what it is told of them does not depend on a single one.
const HELLO_WAIT: Duration = Duration::from_secs(1);

/// Waits until `is_known` holds, while servers are starting: the others do not wait for one that hangs.
pub(super) async fn until_known(kernel: &Kernel, is_known: impl Fn(&View) -> bool + Send) {
    let (view, limit) = (kernel.view(), kernel.options().list_wait);
    let starting = view.servers.iter().filter(|server| !server.phase().is_settled());
    let mut starting: FuturesUnordered<_> = starting.map(|server| server.settled_within(limit)).collect();
    while !is_known(&kernel.view()) && starting.next().await.is_some() {}
}

/// How long the answer to `initialize` and `server/discover` may wait for servers.
pub(crate) fn hello_wait(kernel: &Kernel) -> Duration {
    let longest = kernel.options().list_wait;
    if kernel.view().servers.len() > 1 { longest.min(HELLO_WAIT) } else { longest }
}
