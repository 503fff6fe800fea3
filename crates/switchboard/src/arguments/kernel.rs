//! The part of the command line about kernels that run.

use clap::Subcommand;

/// What is to become of the kernel that clients share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub(crate) enum KernelCommand {
    /// Show the kernels that run, and which changed settings they do not have yet
    #[command(after_help = "Example:\n  switchboard kernel status")]
    Status,
    /// End the kernel that clients share, and let them go on at another one
    #[command(after_help = "Example:\n  switchboard kernel restart")]
    Restart,
    /// End the kernel that clients share, where no client is connected that would start another
    #[command(after_help = "Example:\n  switchboard kernel stop")]
    Stop,
    /// Be the kernel that clients of `stdio` share; they start it by themselves
    #[command(hide = true)]
    Run,
}
