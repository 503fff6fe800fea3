//! How much work something is, whatever else the machine does meanwhile.

use std::time::Duration;

/// What the processor has worked for this thread so far.
#[cfg(unix)]
#[must_use]
pub fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Where the processor tells nothing of threads: the time that went by.
#[cfg(not(unix))]
#[must_use]
pub fn worked() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;

    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGAN.elapsed()
}
