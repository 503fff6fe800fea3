//! The part of the command line about registries.

use clap::{Args, Subcommand};

use super::pair;

/// What to do with a registry.
#[derive(Debug, Subcommand)]
pub(crate) enum RegistryCommand {
    /// Find servers by what they must do; the registry does not learn your words
    #[command(after_help = "Example:\n  switchboard registry search 'draw charts from a table'")]
    Search(RegistrySearch),
    /// Show one server of a registry, or a server.json, and what would be run
    #[command(after_help = "Example:\n  switchboard registry show com.example/charts")]
    Show(RegistryServer),
    /// Add one server of a registry, or a server.json, to the configuration
    #[command(after_help = "Example:\n  switchboard registry add com.example/charts")]
    Add(RegistryAdd),
    /// List the servers that were registered while kernels ran
    #[command(after_help = "Example:\n  switchboard registry registered")]
    Registered,
    /// End a registered server, or the one of a tool that an agent wrote, and forget it
    #[command(after_help = "Example:\n  switchboard registry deregister charts")]
    Deregister {
        /// The server
        #[arg(value_name = "NAME")]
        server: String,
    },
}

/// `registry search`
#[derive(Debug, Args)]
pub(crate) struct RegistrySearch {
    /// What the server must do, in any words
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// The registry, instead of those of the configuration
    #[arg(long, value_name = "URL")]
    pub(crate) registry: Option<String>,
    /// The bearer token for that registry, where it wants one
    #[arg(long, env = "SWITCHBOARD_REGISTRY_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// How many servers at most
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    pub(crate) top: usize,
}

/// One server of a registry.
#[derive(Debug, Args)]
pub(crate) struct RegistryServer {
    /// The server's name in the registry, or the path of a server.json
    #[arg(value_name = "NAME|FILE")]
    pub(crate) server: String,
    /// The registry, instead of those of the configuration
    #[arg(long, value_name = "URL")]
    pub(crate) registry: Option<String>,
    /// The bearer token for that registry, where it wants one
    #[arg(long, env = "SWITCHBOARD_REGISTRY_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// This version and not the latest
    #[arg(long)]
    pub(crate) version: Option<String>,
    /// What to use of it: npm, pypi, oci, nuget or remote
    #[arg(long, value_name = "KIND")]
    pub(crate) from: Option<String>,
    /// A value that the server leaves open
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
}

/// `registry add`
#[derive(Debug, Args)]
pub(crate) struct RegistryAdd {
    #[command(flatten)]
    pub(crate) server: RegistryServer,
    /// Its name here; by default the last part of its own
    #[arg(long = "as", value_name = "ID")]
    pub(crate) id: Option<String>,
    /// How far to trust it: sandboxed, experimental, standard or trusted
    #[arg(long, value_name = "LEVEL")]
    pub(crate) trust: Option<String>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Only show what would be added
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
}
