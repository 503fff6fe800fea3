//! Logs, on standard error only: standard output belongs to the protocol and to results.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::arguments::Common;
use crate::failure::Failure;

/// Starts logging at the level that was asked for, or else at `usual`.
pub(crate) fn start(common: &Common, usual: &str) -> Result<(), Failure> {
    let wanted = common.log.as_deref().filter(|level| !level.trim().is_empty()).unwrap_or(usual);
    let filter = EnvFilter::try_new(wanted).map_err(|error| {
        Failure::usage(format!(
            "the log level {wanted:?} cannot be read ({error}); write error, warn, info, debug or trace"
        ))
    })?;
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .finish();
    // Only a second start in one process could fail, and there is none.
    let _ = tracing::subscriber::set_global_default(logs);
    Ok(())
}
