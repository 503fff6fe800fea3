//! Logins at servers, and tokens for clients.

use clap::{Args, Subcommand};

use crate::commands::operator_session::When;

/// `login`
#[derive(Debug, Args)]
pub(crate) struct Login {
    /// The server's name
    pub(crate) server: String,
    /// Whose login it is; by default that of everybody who has none of their own
    #[arg(long, value_name = "PRINCIPAL")]
    pub(crate) principal: Option<String>,
    /// Only print the address of the page
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// A client id that was registered beforehand, for authorization servers that register nobody by themselves
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// The variable of the environment with the password of that client
    #[arg(long, value_name = "NAME", requires = "client_id")]
    pub(crate) client_secret_env: Option<String>,
    /// The port for the answer, where the authorization server was told one (http://127.0.0.1:PORT/callback)
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
}

/// `logout`
#[derive(Debug, Args)]
pub(crate) struct Logout {
    /// The server's name
    pub(crate) server: String,
    /// Only the login of this principal; by default all
    #[arg(long, value_name = "PRINCIPAL")]
    pub(crate) principal: Option<String>,
}

/// `token`
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token and show it, once
    #[command(after_help = "\
Scopes take away: without any, the token is good for all that its principal may do, but not for deciding for others.
  admin        may grant and revoke for others; approvals are answered on this
               machine only
  server:ID    only this server
  tool:NAME    only this tool, under the name that clients see; a * at the end
               stands for any rest

Examples:
  switchboard token create laptop
  switchboard token create ci --principal build-bot \\
      --scope server:git --scope 'tool:time__*' --for 90d")]
    Create(TokenCreate),
    /// Show all tokens, without their secrets
    #[command(after_help = "Example:\n  switchboard token list")]
    List,
    /// Revoke a token
    #[command(after_help = "Example:\n  switchboard token revoke laptop")]
    Revoke {
        /// Its name
        name: String,
    },
}

/// `token create`
#[derive(Debug, Args)]
pub(crate) struct TokenCreate {
    /// A name to know it by
    pub(crate) name: String,
    /// Whom it stands for; by default its name
    #[arg(long, value_name = "PRINCIPAL")]
    pub(crate) principal: Option<String>,
    /// What it is limited to: admin, server:ID, tool:NAME
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Vec<String>,
    /// Until when it is good: 30d, 12h, 45m, 2026-12-01, 2026-12-01T00:00:00Z, never
    #[arg(long = "for", alias = "expires", value_name = "TIME", default_value = "30d")]
    pub(crate) expires: When,
}
