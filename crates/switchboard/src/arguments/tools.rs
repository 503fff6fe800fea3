//! Looking at tools, finding and calling them.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// `tools`
#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// Only those of one server
    #[arg(long, value_name = "ID")]
    pub(crate) server: Option<String>,
    /// Only those of this profile: `[profiles.NAME]` of the configuration
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Only names, one on each line
    #[arg(long)]
    pub(crate) names: bool,
    /// What to do instead of listing them
    #[command(subcommand)]
    pub(crate) command: Option<ToolsCommand>,
}

impl Tools {
    /// Whether something is said of tools in the file of their server.
    pub(crate) const fn changes(&self) -> bool {
        matches!(
            self.command,
            Some(
                ToolsCommand::Disable(_)
                    | ToolsCommand::Enable(_)
                    | ToolsCommand::Confirm(_)
                    | ToolsCommand::Validator(_)
            )
        )
    }
}

/// `manifest`
#[derive(Debug, Args)]
pub(crate) struct Manifest {
    /// Of this server alone
    #[arg(value_name = "SERVER")]
    pub(crate) server: Option<String>,
    /// Only this tool; can be said more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Vec<String>,
    /// Ask no kernel that runs
    #[arg(long)]
    pub(crate) own: bool,
}

/// What `tools` does beside listing.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// Find the tools that fit a request, with scores and reasons
    #[command(after_help = "Example:\n  switchboard tools search 'what changed in this repository'")]
    Search(ToolsSearch),
    /// Switch tools off: nobody sees or calls them
    ///
    /// Example: switchboard tools disable github__delete_repo
    Disable(ToolsSwitch),
    /// Switch tools on again
    ///
    /// Example: switchboard tools enable github__delete_repo
    Enable(ToolsSwitch),
    /// Say when a person is asked before a tool is called
    #[command(after_help = "\
With `never` nobody is asked about a tool because it is dangerous. Asked about are still commands, code and queries that are not
understood, and what the profile of a client asks about. It counts from the next call on.

Examples:
  switchboard tools confirm files__write_file never
  switchboard tools confirm 'excel__*' git__git_add never
  switchboard tools confirm files__write_file default")]
    Confirm(ToolsConfirm),
    /// Say whether what a tool is called with is checked
    #[command(after_help = "\
With `none` nothing that a tool is called with is refused as hostile: a person is asked before each call instead, unless the file
says otherwise (`confirm`, `risk`). Limits of grants and the look at Switchboard's own files stay. It counts from the next call on.

Examples:
  switchboard tools validator shell__run_command none
  switchboard tools validator shell__run_command default")]
    Validator(ToolsValidator),
}

/// `tools validator`
#[derive(Debug, Args)]
pub(crate) struct ToolsValidator {
    /// The tools, under the names that `switchboard tools` shows, or as their server calls them with --server; `*` stands for anything
    /// in the names of tools that were seen
    #[arg(required = true, value_name = "TOOL")]
    pub(crate) tool: Vec<String>,
    /// What is checked
    #[arg(value_enum, value_name = "WHAT")]
    pub(crate) what: ValidatorChoice,
    /// The server that has it
    #[arg(long, value_name = "ID")]
    pub(crate) server: Option<String>,
}

/// What is checked of the arguments of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValidatorChoice {
    /// Nothing: a person is asked about the tool as a whole
    None,
    /// What its definition asks for
    Default,
}

/// `tools confirm`
#[derive(Debug, Args)]
pub(crate) struct ToolsConfirm {
    /// The tools, under the names that `switchboard tools` shows, or as their server calls them with --server; `*` stands for anything
    /// in the names of tools that were seen
    #[arg(required = true, value_name = "TOOL")]
    pub(crate) tool: Vec<String>,
    /// When a person is asked
    #[arg(value_enum, value_name = "WHEN")]
    pub(crate) when: ConfirmWhen,
    /// The server that has it
    #[arg(long, value_name = "ID")]
    pub(crate) server: Option<String>,
}

/// When a person is asked before a tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConfirmWhen {
    /// Not because of the tool; arguments that are not understood are asked about all the same
    Never,
    /// Before each call
    Always,
    /// As its risk and its server have it
    Default,
}

impl ConfirmWhen {
    /// The value of `confirm` in the file; nothing where it is left out.
    pub(crate) const fn written(self) -> Option<bool> {
        match self {
            Self::Never => Some(false),
            Self::Always => Some(true),
            Self::Default => None,
        }
    }
}

/// `tools disable`, `tools enable`
#[derive(Debug, Args)]
pub(crate) struct ToolsSwitch {
    /// The tools, under the names that `switchboard tools` shows, or as their server calls them with --server
    #[arg(required = true, value_name = "TOOL")]
    pub(crate) tool: Vec<String>,
    /// The server that has them
    #[arg(long, value_name = "ID")]
    pub(crate) server: Option<String>,
}

/// `tools search`
#[derive(Debug, Args)]
pub(crate) struct ToolsSearch {
    /// What the tool must do, in any words
    #[arg(value_name = "QUERY", required_unless_present = "queries", conflicts_with = "queries")]
    pub(crate) query: Vec<String>,
    /// Search these tools and not those of the configured servers: JSON lines {id, server, name, description, inputSchema}
    #[arg(long, value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,
    /// Many queries at once: JSON lines {id, query}. Prints {id, ranked} for each
    #[arg(long, value_name = "FILE", requires = "catalog")]
    pub(crate) queries: Option<PathBuf>,
    /// How many tools at most
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    pub(crate) top: usize,
    /// By what they are found
    #[arg(long, value_enum, default_value_t = SearchStrategy::Hybrid)]
    pub(crate) strategy: SearchStrategy,
    /// Order the best anew with a transformer from this folder (model.safetensors, vocab.txt, config.json)
    #[arg(long, value_name = "FOLDER")]
    pub(crate) model: Option<PathBuf>,
    /// Only tools of this category (may be repeated)
    #[arg(long, value_name = "NAME")]
    pub(crate) category: Vec<String>,
}

/// By what tools are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchStrategy {
    /// Words and meaning together
    Hybrid,
    /// Words only
    Keyword,
    /// Meaning only
    Semantic,
    /// Everything in the categories
    Category,
}

/// `call`
#[derive(Debug, Args)]
pub(crate) struct Call {
    /// The tool, under the name that `switchboard tools` shows
    pub(crate) tool: String,
    /// One JSON object, or key=value words
    pub(crate) arguments: Vec<String>,
    /// Show the progress that the server reports, on standard error
    #[arg(long)]
    pub(crate) progress: bool,
    /// Call it as a client within this profile: `[profiles.NAME]` of the configuration
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
}
