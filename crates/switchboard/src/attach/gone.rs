//! Whether the program at the other end of a stream is gone for good.
//!
//! An end of input says only that a client has said its last word: it may still read the answers. Who has closed what it reads
//! from is gone, also where the process of `switchboard stdio` itself goes on.

use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How often it is looked whether a client is gone for good.
const GONE_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Waits until the other end has closed both ways. One that has only said its last word still reads.
pub(crate) async fn gone(stream: &OwnedFd) {
    has(stream, PollFlags::HUP).await;
}

/// Waits until nobody can read standard output any more: the other end of the pipe, socket or terminal is closed. A file has no
/// other end.
pub(crate) async fn nobody_reads() {
    match std::io::stdout().as_fd().try_clone_to_owned() {
        Ok(output) => has(&output, PollFlags::HUP | PollFlags::ERR).await,
        Err(_) => std::future::pending().await,
    }
}

async fn has(stream: &OwnedFd, flags: PollFlags) {
    loop {
        tokio::time::sleep(GONE_POLL_INTERVAL).await;
        let mut polled = [PollFd::new(stream, PollFlags::empty())];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if poll(&mut polled, Some(&now)).is_ok() && polled[0].revents().intersects(flags) {
            return;
        }
    }
}
