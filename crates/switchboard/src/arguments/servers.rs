//! The part of the command line about servers that run.

use std::time::Duration;

use clap::{Args, Subcommand};

/// What is to be shown or done.
#[derive(Debug, Args)]
pub(crate) struct Servers {
    /// Show the servers of kernels that run, from moment to moment
    #[arg(long)]
    pub(crate) watch: bool,
    /// How often to look, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds, requires = "watch")]
    pub(crate) every: Duration,
    /// End after so many looks
    #[arg(long, value_name = "N", requires = "watch")]
    pub(crate) count: Option<u64>,
    /// What to do with a server of a kernel that runs
    #[command(subcommand)]
    pub(crate) order: Option<Order>,
}

/// What is to become of a server.
#[derive(Debug, Subcommand)]
pub(crate) enum Order {
    /// Start a server that is down
    #[command(after_help = "Example:\n  switchboard servers start git")]
    Start(ServerOrder),
    /// End a server at once; it stays down until somebody starts it
    #[command(after_help = "Example:\n  switchboard servers stop git")]
    Stop(ServerOrder),
    /// End a server after the calls that run; it stays down until somebody starts it
    #[command(after_help = "Example:\n  switchboard servers drain git")]
    Drain(ServerOrder),
    /// End a server after the calls that run, and start it again
    #[command(after_help = "Example:\n  switchboard servers restart git")]
    Restart(ServerOrder),
    /// Switch a server off in its file: it stays there, and is not started any more
    #[command(after_help = "Example:\n  switchboard servers disable github")]
    Disable(ServerSwitch),
    /// Switch a server on again in its file
    #[command(after_help = "Example:\n  switchboard servers enable github")]
    Enable(ServerSwitch),
}

/// Which server is switched off or on.
#[derive(Debug, Args)]
pub(crate) struct ServerSwitch {
    /// The server
    #[arg(value_name = "NAME")]
    pub(crate) server: String,
}

/// Which server.
#[derive(Debug, Args)]
pub(crate) struct ServerOrder {
    /// The server
    #[arg(value_name = "NAME")]
    pub(crate) server: String,
    /// How long calls that run may take, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
}

impl Order {
    /// The word that the kernel knows.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Start(_) => "start",
            Self::Stop(_) => "stop",
            Self::Drain(_) => "drain",
            Self::Restart(_) => "restart",
            Self::Disable(_) => "disable",
            Self::Enable(_) => "enable",
        }
    }

    /// The state it leads to.
    pub(crate) const fn goal(&self) -> &'static str {
        match self {
            Self::Start(_) | Self::Restart(_) | Self::Enable(_) => "connected",
            Self::Stop(_) | Self::Drain(_) | Self::Disable(_) => "disconnected",
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "write a number of seconds, such as 2 or 0.5".to_owned())?;
    let time = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    if time < Duration::from_millis(10) || time > Duration::from_hours(24) {
        return Err("write a number of seconds between 0.01 and a day".to_owned());
    }
    Ok(time)
}
