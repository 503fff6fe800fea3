//! Putting Switchboard into a client's configuration, and taking it out again. Pure: the old text in, the new text out; what else
//! stands in the file stays as it was written, comments too.

mod members;

use std::path::PathBuf;

use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, value};

use crate::expand::Environment;
use crate::import::{Client, candidates};
use crate::places::{Platform, absolute, home};

/// The name of the entry.
const NAME: &str = "switchboard";

/// A client whose configuration can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClientProgram {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
    /// opencode.
    OpenCode,
}

/// Why a file was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// It is not what such a file should be.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// A part of it is something else than expected.
    #[error("`{0}` in it is no table of servers")]
    Shape(&'static str),
}

impl ClientProgram {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
        Self::Gemini,
        Self::Windsurf,
        Self::Zed,
        Self::OpenCode,
    ];

    /// A short word for command lines.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
            Self::OpenCode => "opencode",
        }
    }

    /// Its name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
            Self::OpenCode => "opencode",
        }
    }

    /// The file in which it keeps the user's servers; `None` without a home folder.
    #[must_use]
    pub fn file(self, environment: &Environment, platform: Platform) -> Option<PathBuf> {
        let home = home(environment)?;
        let config = || absolute(environment, "XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        // The first place from which servers are imported is the one where they are written.
        let imported = |client: Client| {
            let mut places = candidates(environment, None, platform).into_iter();
            places.find(|place| place.client == client).map(|place| place.path)
        };
        match self {
            Self::ClaudeDesktop => imported(Client::ClaudeDesktop),
            Self::ClaudeCode => imported(Client::ClaudeCode),
            Self::Cursor => imported(Client::Cursor),
            Self::VsCode => imported(Client::VsCode),
            Self::Codex => imported(Client::Codex),
            Self::Gemini => Some(home.join(".gemini").join("settings.json")),
            Self::Windsurf => Some(home.join(".codeium").join("windsurf").join("mcp_config.json")),
            Self::Zed if platform == Platform::Windows => {
                let roaming = home.join("AppData").join("Roaming");
                let settings = environment.filled("APPDATA").map_or(roaming, PathBuf::from);
                Some(settings.join("Zed").join("settings.json"))
            }
            Self::Zed => Some(config().join("zed").join("settings.json")),
            Self::OpenCode => Some(config().join("opencode").join("opencode.json")),
        }
    }

    /// The member of the file that holds the servers.
    const fn section(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            Self::Codex => "mcp_servers",
            Self::Zed => "context_servers",
            Self::OpenCode => "mcp",
            _ => "mcpServers",
        }
    }

    fn entry(self, command: &str) -> Value {
        match self {
            Self::ClaudeCode | Self::VsCode => json!({"type": "stdio", "command": command, "args": ["stdio"]}),
            Self::Zed => json!({"source": "custom", "command": command, "args": ["stdio"]}),
            Self::OpenCode => json!({"type": "local", "command": [command, "stdio"], "enabled": true}),
            _ => json!({"command": command, "args": ["stdio"]}),
        }
    }

    /// A file of its with that entry alone.
    pub(crate) fn fresh(self, command: &str) -> String {
        // What cannot be read is the text of others.
        self.connected("", command).unwrap_or_default()
    }

    /// The text of its file with an entry that runs `switchboard stdio`; `command` is the path of the program. One that is there
    /// already is written anew.
    ///
    /// ```
    /// use switchboard_config::ClientProgram;
    /// let text = ClientProgram::Cursor.connected("{\n  // mine\n  \"mcpServers\": {}\n}\n", "switchboard").unwrap();
    /// assert!(text.contains("// mine") && text.contains("\"switchboard\": {"));
    /// ```
    ///
    /// # Errors
    /// The text is none that such a file has.
    pub fn connected(self, text: &str, command: &str) -> Result<String, ConnectError> {
        if self != Self::Codex {
            return members::with(text, self.section(), NAME, &self.entry(command));
        }
        let mut document = read_toml(text)?;
        let servers = document.entry(self.section()).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let servers = servers.as_table_mut().ok_or(ConnectError::Shape("mcp_servers"))?;
        let mut entry = Table::new();
        entry.insert("command", value(command));
        entry.insert("args", value(toml_edit::Array::from_iter(["stdio"])));
        servers.insert(NAME, Item::Table(entry));
        Ok(document.to_string())
    }

    /// The text of its file without that entry; `None` where there is none.
    ///
    /// # Errors
    /// The text is none that such a file has.
    pub fn disconnected(self, text: &str) -> Result<Option<String>, ConnectError> {
        if self != Self::Codex {
            return members::without(text, self.section(), NAME);
        }
        let mut document = read_toml(text)?;
        let servers = document.get_mut(self.section()).and_then(Item::as_table_mut);
        let gone = servers.and_then(|servers| servers.remove(NAME));
        Ok(gone.map(|_| document.to_string()))
    }
}

impl std::str::FromStr for ClientProgram {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|client| client.as_str() == word);
        found.ok_or_else(|| format!("{word:?} is none of {}", Self::ALL.map(Self::as_str).join(", ")))
    }
}

fn read_toml(text: &str) -> Result<DocumentMut, ConnectError> {
    text.parse().map_err(|error: toml_edit::TomlError| ConnectError::Unreadable(error.message().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_can_be_connected_and_disconnected() {
        for client in ClientProgram::ALL {
            let fresh = client.connected("", "/bin/switchboard").unwrap();
            assert!(fresh.contains("/bin/switchboard") && fresh.contains("stdio"), "{client:?}: {fresh}");
            let again = client.connected(&fresh, "/opt/switchboard").unwrap();
            assert!(again.contains("/opt/switchboard") && !again.contains("/bin/"), "{client:?}: {again}");
            let gone = client.disconnected(&again).unwrap().unwrap();
            assert!(!gone.contains("switchboard"), "{client:?}: {gone}");
            assert_eq!(client.disconnected(&gone).unwrap(), None);
            assert_eq!(client.as_str().parse(), Ok(client));
        }
    }

    #[test]
    fn what_else_is_in_the_file_stays() {
        let text = "{\n  // mine\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}, // one\n  },\n}\n";
        let with = ClientProgram::Gemini.connected(text, "sb").unwrap();
        for kept in ["// mine", "\"theme\": \"dark\"", "\"a\": {\"command\": \"x\"}, // one"] {
            assert!(with.contains(kept), "{with}");
        }
        let plain: Value = serde_json::from_str(&crate::import::jsonc::plain(&with)).unwrap();
        assert_eq!(plain["mcpServers"]["switchboard"]["command"], "sb");
        assert_eq!(plain["mcpServers"]["a"]["command"], "x");
        assert_eq!(ClientProgram::Gemini.disconnected(&with).unwrap().as_deref(), Some(text));
        for text in [
            "{\"mcpServers\": {\"switchboard\": {} /* c */, \"b\": {}}}",
            "{\"mcpServers\": {\"switchboard\": {} // mine\n , \"b\": {}}}",
            "{\"mcpServers\": {\"b\": {}, // keep\n \"switchboard\": {}}}",
            "{\"mcpServers\": {\"switchboard\": {}, }}",
        ] {
            let gone = ClientProgram::Cursor.disconnected(text).unwrap().unwrap();
            let plain: Value = serde_json::from_str(&crate::import::jsonc::plain(&gone)).unwrap();
            assert_eq!(plain["mcpServers"].get("switchboard"), None, "{gone}");
            for comment in ["/* c */", "// mine", "// keep"] {
                assert_eq!(gone.contains(comment), text.contains(comment), "{gone}");
            }
        }
        let codex = "# mine\nmodel = \"o\"\n\n[mcp_servers.a]\ncommand = \"x\"\n";
        let with = ClientProgram::Codex.connected(codex, "sb").unwrap();
        assert!(with.starts_with(codex) && with.contains("[mcp_servers.switchboard]\ncommand = \"sb\""), "{with}");
        for (client, broken) in [
            (ClientProgram::Cursor, "{"),
            (ClientProgram::Cursor, "[]"),
            (ClientProgram::Cursor, "{\"mcpServers\": []}"),
            (ClientProgram::Codex, "mcp_servers = 1"),
            (ClientProgram::Codex, "[x"),
        ] {
            assert!(client.connected(broken, "sb").is_err(), "{broken}");
        }
    }
}
