//! The command line of `memory`.

use std::net::SocketAddr;

use clap::{Args, Subcommand, ValueEnum};

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
    /// Which tools to list: all, or the eight of every day, by which the others are found
    #[arg(long, value_enum, default_value_t = MemoryTools::All)]
    pub(crate) tools: MemoryTools,
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

/// Which tools a memory lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MemoryTools {
    All,
    Everyday,
}

/// What can be done with a memory besides serving it.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// List memories, the newest first
    #[command(after_help = "Example:\n  switchboard memory list --tag home --after 2026-03 --limit 5")]
    List(MemoryList),
    /// Show one memory, with its versions
    #[command(after_help = "Example:\n  switchboard memory show 0198c6f2-7d5e-7a61-9c3e-1f2a3b4c5d6e")]
    Show {
        /// The id, or enough of its beginning or end
        id: String,
    },
    /// Find memories by meaning and words
    #[command(after_help = "Example:\n  switchboard memory search where is the spare key --limit 3")]
    Search(MemorySearch),
    /// Correct a memory; the version before is kept
    #[command(after_help = "Example:\n  switchboard memory edit 9c3e1f2a --content 'The key is under the red pot'\n  \
                            echo 'A long text' | switchboard memory edit 9c3e1f2a --content -")]
    Edit(MemoryEdit),
    /// Take memories out so that they are not found; they can be restored
    #[command(
        after_help = "Example:\n  switchboard memory forget 9c3e1f2a\n  switchboard memory forget 9c3e1f2a --restore"
    )]
    Forget {
        /// The ids, or enough of their beginning or end
        #[arg(required = true)]
        ids: Vec<String>,
        /// Bring them back
        #[arg(long)]
        restore: bool,
    },
    /// Remove memories for good, from the files too. This cannot be undone
    #[command(after_help = "Example:\n  switchboard memory erase 9c3e1f2a --yes")]
    Erase {
        /// The ids, or enough of their beginning or end
        #[arg(required = true)]
        ids: Vec<String>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Print how many memories there are, and of what
    #[command(after_help = "Example:\n  switchboard memory stats --json")]
    Stats,
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
    #[command(after_help = "Example:\n  switchboard memory undo 0198c6f2-7d5e-7a61-9c3e-1f2a3b4c5d6e")]
    Undo {
        /// The id
        id: String,
    },
}

/// Which memories are meant.
#[derive(Debug, Default, Args)]
pub(crate) struct MemoryFilter {
    /// Only with this tag; several times for several
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Only stored then or later: 2026-03-01, 2026-03
    #[arg(long, value_name = "TIME")]
    pub(crate) after: Option<String>,
    /// Only stored before then
    #[arg(long, value_name = "TIME")]
    pub(crate) before: Option<String>,
    /// Only stored by this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Only at least so important, from 0 to 1
    #[arg(long, value_name = "NUMBER")]
    pub(crate) min_importance: Option<f64>,
    /// Only what held then: 2026-03, 2026-03-01
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// How many, at most
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    pub(crate) limit: usize,
}

/// `memory list`
#[derive(Debug, Args)]
pub(crate) struct MemoryList {
    #[command(flatten)]
    pub(crate) filter: MemoryFilter,
    /// Go on where the page before ended
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
    /// The oldest first
    #[arg(long)]
    pub(crate) oldest: bool,
    /// Those that were forgotten
    #[arg(long)]
    pub(crate) forgotten: bool,
}

/// `memory search`
#[derive(Debug, Args)]
pub(crate) struct MemorySearch {
    /// What to look for, in plain words
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: MemoryFilter,
}

/// `memory edit`
#[derive(Debug, Args)]
pub(crate) struct MemoryEdit {
    /// The id, or enough of its beginning or end
    pub(crate) id: String,
    /// The new text; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    pub(crate) content: Option<String>,
    /// A tag; all that are given replace those it has. An empty one leaves none
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// How important it is, from 0 to 1
    #[arg(long, value_name = "NUMBER")]
    pub(crate) importance: Option<f64>,
    /// Since when it holds: 2026-03-01
    #[arg(long, value_name = "TIME")]
    pub(crate) valid_from: Option<String>,
    /// Until when it held
    #[arg(long, value_name = "TIME")]
    pub(crate) valid_to: Option<String>,
    /// The version that is changed; if it is another by now, nothing is
    #[arg(long, value_name = "NUMBER")]
    pub(crate) version: Option<u64>,
}
