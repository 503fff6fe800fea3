//! The entry that puts Switchboard into a client's configuration.

use serde_json::json;

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
    let plain = json!({"command": command, "args": ["stdio"]});
    let typed = json!({"type": "stdio", "command": command, "args": ["stdio"]});
    let document = |section: &str, entry| format!("{:#}\n", json!({section: {"switchboard": entry}}));
    let (file, text) = match client {
        Client::ClaudeDesktop => ("claude_desktop_config.json", document("mcpServers", plain)),
        Client::ClaudeCode => (".mcp.json", document("mcpServers", typed)),
        Client::Cursor => ("~/.cursor/mcp.json", document("mcpServers", plain)),
        Client::VsCode => (".vscode/mcp.json", document("servers", typed)),
        Client::Codex => {
            let command = crate::edit::string(command);
            ("~/.codex/config.toml", format!("[mcp_servers.switchboard]\ncommand = {command}\nargs = [\"stdio\"]\n"))
        }
    };
    ClientEntry { file, text }
}
