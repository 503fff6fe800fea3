//! The operator's part of the command line: grants, approvals, the audit log, pins.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::commands::operator_session::When;

/// Whom or what a grant is about.
#[derive(Debug, Clone, Args)]
pub(crate) struct Grant {
    /// The principal that may use the server or tool
    #[arg(
        long = "principal",
        alias = "agent",
        value_name = "PRINCIPAL",
        required_unless_present = "permission",
        conflicts_with = "permission"
    )]
    pub(crate) agent: Option<String>,
    /// The server
    #[arg(long, value_name = "ID")]
    pub(crate) server: String,
    /// Only this tool, under the name that the server itself gives it
    #[arg(long, value_name = "NAME", conflicts_with = "permission")]
    pub(crate) tool: Option<String>,
    /// What the server may do: filesystem.read, shell.execute, network.outbound, ..., or com.example.name
    #[arg(long, value_name = "NAME")]
    pub(crate) permission: Option<String>,
    /// Only in these places, such as /srv/project/**
    #[arg(long, value_name = "GLOB")]
    pub(crate) path: Vec<String>,
    /// Only these programs; one with blanks is the beginning of a command
    #[arg(long, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Only these hosts; *.example.com stands for every name below
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Vec<String>,
    /// Only these ports
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Vec<u16>,
    /// Only code in these languages
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) language: Vec<String>,
    /// All limits as one JSON object, for those that have no option, such as deny_paths
    #[arg(long, value_name = "JSON", conflicts_with_all = ["path", "command", "host", "port", "language"])]
    pub(crate) scope: Option<String>,
    /// Forbid instead
    #[arg(long)]
    pub(crate) deny: bool,
    /// Until when: 30d, 12h, 2026-12-01T00:00:00Z, never. By default 30d, and never for a denial
    #[arg(long = "for", alias = "expires", value_name = "TIME")]
    pub(crate) expires: Option<When>,
    /// Why, for the audit log and those who read it later
    #[arg(long = "reason", alias = "why", value_name = "TEXT")]
    pub(crate) why: Option<String>,
}

/// `revoke`
#[derive(Debug, Clone, Args)]
pub(crate) struct Revoke {
    /// The principal
    #[arg(
        long = "principal",
        alias = "agent",
        value_name = "PRINCIPAL",
        required_unless_present = "permission",
        conflicts_with = "permission"
    )]
    pub(crate) agent: Option<String>,
    /// The server; without it everything of the principal
    #[arg(long, value_name = "ID", required_unless_present = "agent")]
    pub(crate) server: Option<String>,
    /// Only the grants of this tool
    #[arg(long, value_name = "NAME", requires = "server", conflicts_with = "permission")]
    pub(crate) tool: Option<String>,
    /// A permission of the server; `all` for all of them
    #[arg(long, value_name = "NAME", requires = "server")]
    pub(crate) permission: Option<String>,
}

/// `access`
#[derive(Debug, Args)]
pub(crate) struct AccessOptions {
    /// Only of this principal
    #[arg(long = "principal", alias = "agent", value_name = "PRINCIPAL")]
    pub(crate) agent: Option<String>,
    /// Only at this server
    #[arg(long, value_name = "ID")]
    pub(crate) server: Option<String>,
    /// Whether that principal may use this tool of that server, and why
    #[arg(long, value_name = "NAME", requires = "agent", requires = "server")]
    pub(crate) tool: Option<String>,
    /// Only what nobody has used for 30 days
    #[arg(long, conflicts_with = "tool")]
    pub(crate) unused: bool,
}

/// `approvals`
#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Show what waits for a decision
    #[command(after_help = "Example:\n  switchboard approvals list")]
    List,
    /// Show what comes, and ask about each
    #[command(after_help = "Example:\n  switchboard approvals watch")]
    Watch,
    /// Say yes
    #[command(after_help = "\
Each yes, also for the session and for always, is for the arguments that were shown. To be asked less about a tool,
whatever it is called with: `switchboard tools confirm TOOL never`.

Example:
  switchboard approvals approve 3f2a91c4 --session")]
    Approve(Approve),
    /// Say no
    #[command(after_help = "\
Example:
  switchboard approvals deny 3f2a91c4 --reason 'not on a Friday'")]
    Deny(Deny),
    /// Show what was agreed to for more than one call: tools with their arguments, and hosts that a server may reach
    #[command(after_help = "Example:\n  switchboard approvals remembered")]
    Remembered,
    /// Take back what was agreed to for more than one call: who asks again is asked about again
    #[command(after_help = "Example:\n  switchboard approvals forget 3f2a91c4")]
    Forget {
        /// What `switchboard approvals remembered` shows, or the beginning of it
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

/// `callbacks`
#[derive(Debug, Subcommand)]
pub(crate) enum CallbacksCommand {
    /// Show the questions that are open
    #[command(after_help = "Example:\n  switchboard callbacks list")]
    List,
    /// Answer one
    #[command(after_help = "\
Example:
  switchboard callbacks answer 3f2a91c4 confirm")]
    Answer {
        /// What `switchboard callbacks` shows, or the beginning of it
        id: String,
        /// The answer
        answer: String,
    },
}

/// `approvals approve`
#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// What `switchboard approvals list` shows, or the beginning of it
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) ids: Vec<String>,
    /// Every held call that waits now. Permissions and definitions have to be named
    #[arg(long)]
    pub(crate) all: bool,
    /// The same call with the same arguments in the same session as well
    #[arg(long, conflicts_with = "always")]
    pub(crate) session: bool,
    /// The same call with the same arguments of the same principal as well
    #[arg(long)]
    pub(crate) always: bool,
    /// How long the yes is good: by default 5m, with --session 12h, with --always and for permissions 30d
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) lasting: Option<When>,
}

/// `approvals deny`
#[derive(Debug, Args)]
pub(crate) struct Deny {
    /// What `switchboard approvals list` shows, or the beginning of it
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) ids: Vec<String>,
    /// Every held call that waits now
    #[arg(long)]
    pub(crate) all: bool,
    /// Why: whoever called reads it
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// `audit`
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show the newest events
    #[command(after_help = "Example:\n  switchboard audit tail -f")]
    Tail(Tail),
    /// Search
    #[command(after_help = "\
Example:
  switchboard audit query --principal ann --result BLOCKED --since 7d")]
    Query(Query),
    /// Check the whole log and name the first record that was touched
    #[command(after_help = "\
Reads only. Ends with code 1 when a record is missing, changed or out of place. Against whoever puts back an older copy
of the whole folder only heads help that were kept elsewhere: `switchboard audit seal` prints them.

Example:
  switchboard audit verify --head heads.jsonl")]
    Verify(Verify),
    /// Write events to a file or to standard output
    #[command(after_help = "\
Example:
  switchboard audit export --format csv --since 30d --output audit.csv")]
    Export(Export),
    /// Sign where the log ends now, to be kept on another machine
    #[command(after_help = "Example:\n  switchboard audit seal >> heads.jsonl")]
    Seal,
    /// Remove old events for good
    #[command(after_help = "\
The rest stays a chain that can be verified. `audit_keep_days` in the section [gate] does the same every day.

Example:
  switchboard audit prune --before 365d")]
    Prune(Prune),
    /// Count events
    #[command(after_help = "Example:\n  switchboard audit stats --by principal --since 7d")]
    Stats(Stats),
    /// Let a client query the log: a server on standard input and output
    #[command(after_help = "\
Its tools are query_audit_log, get_audit_stats and export_audit. It reads and never writes.

Example:
  switchboard add audit -- switchboard audit serve")]
    Serve,
}

/// Which events are meant.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Chosen {
    /// Of this type, such as TOOL_EXECUTED; several times for any of them
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// Of this principal
    #[arg(long = "principal", alias = "agent", value_name = "PRINCIPAL")]
    pub(crate) agent: Option<String>,
    /// About this server
    #[arg(long, value_name = "ID")]
    pub(crate) server: Option<String>,
    /// About this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// That ended so: SUCCESS, FAILURE, BLOCKED, PENDING
    #[arg(long, value_name = "RESULT")]
    pub(crate) result: Option<String>,
    /// Not before: 2h, 7d, 2026-12-01T00:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<When>,
    /// Before
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<When>,
    /// Of this trace
    #[arg(long, value_name = "ID")]
    pub(crate) trace: Option<String>,
}

/// `audit tail`
#[derive(Debug, Args)]
pub(crate) struct Tail {
    /// Go on with what comes
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// How many
    #[arg(long = "lines", short = 'n', value_name = "COUNT", default_value_t = 20)]
    pub(crate) lines: usize,
    /// Also those that only say that a server came up or ended; with --json they are always there
    #[arg(long, short)]
    pub(crate) all: bool,
}

/// `audit query`
#[derive(Debug, Args)]
pub(crate) struct Query {
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// The newest of them, at most so many
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) limit: u32,
}

/// `audit verify`
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Files with heads that `switchboard audit seal` printed
    #[arg(long, value_name = "FILE")]
    pub(crate) head: Vec<PathBuf>,
}

/// `audit export`
#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// In which form
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub(crate) format: Format,
    /// To this file, for its owner alone; it must not be there yet
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// With the hashes of the chain (jsonl only): each line is a record that can be checked without this program
    #[arg(long)]
    pub(crate) chain: bool,
}

/// A form of export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One array
    Json,
    /// A table
    Csv,
    /// An event on each line
    Jsonl,
}

/// `audit prune`
#[derive(Debug, Args)]
pub(crate) struct Prune {
    /// Everything before: 365d, 2026-01-01
    #[arg(long, value_name = "TIME")]
    pub(crate) before: When,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// `audit stats`
#[derive(Debug, Args)]
pub(crate) struct Stats {
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// By what
    #[arg(long, value_enum, default_value_t = By::EventType)]
    pub(crate) by: By,
}

/// By what events are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Type
    #[value(name = "event_type", alias = "type")]
    EventType,
    /// Principal
    #[value(name = "principal", aliases = ["agent", "agent_id"])]
    Agent,
    /// Server
    #[value(name = "server", alias = "server_id")]
    Server,
    /// How they ended
    Result,
    /// Hour
    Hour,
}

/// `pins`
#[derive(Debug, Subcommand)]
pub(crate) enum PinsCommand {
    /// Show what is known of the definitions of tools, prompts, resources and templates
    #[command(after_help = "Example:\n  switchboard pins list git")]
    List {
        /// Only of this server
        server: Option<String>,
    },
    /// Show what changed in a definition, and what screening says of it
    #[command(after_help = "Example:\n  switchboard pins show git git_status")]
    Show {
        /// The server
        server: String,
        /// The tool, prompt:NAME, resource:URI, template:URI, or (instructions) for the server's instructions
        tool: String,
    },
    /// Show what is held back, server by server, with each difference and its reason, and answer
    #[command(after_help = "\
All that is held of a server is one question: accept or refuse all, or go through it one by one. Without a terminal it is only shown.

Examples:
  switchboard pins review
  switchboard pins review chrome
  switchboard pins review chrome --json")]
    Review(PinsReview),
    /// Accept definitions that are held back, as they are shown
    #[command(after_help = "\
Several definitions of one tool stay accepted side by side: one that was accepted before is not asked about when it comes back.

Examples:
  switchboard pins accept git
  switchboard pins accept git git_status
  switchboard pins accept git --yes")]
    Accept(PinsAccept),
    /// Refuse definitions that are held back: they stay so, and nobody is asked about them again
    #[command(after_help = "Example:\n  switchboard pins refuse git git_status")]
    Refuse(PinsAccept),
    /// Forget definitions: what the server shows next is taken as at first sight
    #[command(after_help = "Example:\n  switchboard pins forget git")]
    Forget {
        /// The server
        server: String,
        /// Only this tool (or prompt:NAME, resource:URI, template:URI)
        tool: Option<String>,
    },
}

/// `pins review`
#[derive(Debug, Args)]
pub(crate) struct PinsReview {
    /// Only of this server
    pub(crate) server: Option<String>,
}

/// `pins accept` and `pins refuse`
#[derive(Debug, Args)]
pub(crate) struct PinsAccept {
    /// The server
    pub(crate) server: String,
    /// The tools (or prompt:NAME, resource:URI, template:URI); without any, all that are held back
    pub(crate) tools: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Accepts the audit log as it is.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}
