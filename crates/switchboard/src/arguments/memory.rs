//! The command line of `memory`.

use std::net::SocketAddr;

use clap::{Args, Subcommand};

/// `memory`
#[derive(Debug, Args)]
pub(crate) struct Memory {
    /// Serve over HTTP on this address instead of standard input and output
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// Where memories are kept, a file or postgres://…, instead of where the configuration says
    #[arg(long, value_name = "FILE|URL", global = true, alias = "file")]
    pub(crate) store: Option<String>,
    /// The space that is used where a call names none
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) space: Option<String>,
    /// Give each principal a space of its own; those that `[memory]` names as shared, or whose name begins with `shared`,
    /// are open to several
    #[arg(long)]
    pub(crate) per_principal: bool,
    /// Do not dream without being told to
    #[arg(long)]
    pub(crate) no_dreams: bool,
    /// Ask for no token over HTTP. Every program and every user of this machine can then use the memory
    #[arg(long, requires = "listen")]
    pub(crate) no_auth: bool,
    /// Allow an address that other machines can reach
    #[arg(long, requires = "listen")]
    pub(crate) allow_remote: bool,
    /// What to do instead of serving
    #[command(subcommand)]
    pub(crate) command: Option<MemoryCommand>,
}

/// What can be done with a memory besides serving it.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Print everything of a space as JSON lines
    #[command(after_help = "Example:\n  switchboard memory export > memories.jsonl")]
    Export,
    /// Take in lines of an export, or lines with a `content`, from standard input
    #[command(after_help = "Example:\n  switchboard memory import < memories.jsonl")]
    Import,
    /// Print the names of all spaces
    #[command(after_help = "Example:\n  switchboard memory spaces")]
    Spaces,
    /// Let parts of a space's state begin anew that cannot be read. Memories stay
    #[command(after_help = "Example:\n  switchboard memory renew")]
    Renew,
    /// Take back what was done, by the id that its answer gave as `undo`
    #[command(after_help = "Example:\n  switchboard memory undo 3f2a91c4")]
    Undo {
        /// The id
        id: String,
    },
}
