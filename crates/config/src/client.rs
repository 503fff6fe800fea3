//! The entry that puts Switchboard into a client's configuration.

use crate::connect::ClientProgram;
use crate::import::Client;

/// Where an entry goes and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientEntry {
    /// The file, as people write it.
    pub file: &'static str,
    /// The text to paste: a whole JSON document, or a TOML table.
    pub text: String,
}

/// The one entry a client needs, which runs `switchboard stdio`. `command` is the path of the program.
///
/// ```
/// use switchboard_config::{Client, client_entry};
///
/// let entry = client_entry(Client::Codex, "/usr/local/bin/switchboard");
/// assert_eq!(entry.text, "[mcp_servers.switchboard]\ncommand = \"/usr/local/bin/switchboard\"\nargs = [\"stdio\"]\n");
/// ```
pub fn client_entry(client: Client, command: &str) -> ClientEntry {
    let (file, program) = match client {
        Client::ClaudeDesktop => ("claude_desktop_config.json", ClientProgram::ClaudeDesktop),
        Client::ClaudeCode => (".mcp.json", ClientProgram::ClaudeCode),
        Client::Cursor => ("~/.cursor/mcp.json", ClientProgram::Cursor),
        Client::VsCode => (".vscode/mcp.json", ClientProgram::VsCode),
        Client::Codex => ("~/.codex/config.toml", ClientProgram::Codex),
    };
    ClientEntry { file, text: program.fresh(command) }
}
