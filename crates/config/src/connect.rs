//! Putting Switchboard into a client's configuration, and taking it out again. Pure: the old text in, the new text out; what else
//! stands in the file stays as it was written, comments too.

mod members;
mod replace;
mod tables;

use std::path::PathBuf;

use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, value};

use crate::expand::Environment;
use crate::import::{Client, candidates};
use crate::places::Platform;

pub use replace::{Known as KnownServer, Replaced, Taken};

/// The name of the entry.
const NAME: &str = "switchboard";

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

impl Client {
    /// The file in which it keeps the user's servers; `None` without a home folder. Of the places from which servers are
    /// imported it is the first.
    #[must_use]
    pub fn file(self, environment: &Environment, platform: Platform) -> Option<PathBuf> {
        let mut places = candidates(environment, None, platform).into_iter();
        places.find(|place| place.client == self).map(|place| place.path)
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

    fn entry(self, command: &str, args: &[&str]) -> Value {
        match self {
            Self::ClaudeCode | Self::VsCode => json!({"type": "stdio", "command": command, "args": args}),
            Self::Zed => json!({"source": "custom", "command": command, "args": args}),
            Self::OpenCode => {
                let command: Vec<&str> = std::iter::once(command).chain(args.iter().copied()).collect();
                json!({"type": "local", "command": command, "enabled": true})
            }
            _ => json!({"command": command, "args": args}),
        }
    }

    /// A file of its with that entry alone.
    pub(crate) fn fresh(self, command: &str) -> String {
        // What cannot be read is the text of others.
        self.connected("", command, None).unwrap_or_default()
    }

    /// The text of its file with an entry that runs `switchboard stdio`, within a profile if one is named; `command` is the path
    /// of the program. One that is there already is written anew.
    ///
    /// ```
    /// use switchboard_config::Client;
    /// let text = Client::Cursor.connected("{\n  // mine\n  \"mcpServers\": {}\n}\n", "switchboard", None).unwrap();
    /// assert!(text.contains("// mine") && text.contains("\"switchboard\": {"));
    /// ```
    ///
    /// # Errors
    /// The text is none that such a file has.
    pub fn connected(self, text: &str, command: &str, profile: Option<&str>) -> Result<String, ConnectError> {
        let args: Vec<&str> =
            std::iter::once("stdio").chain(profile.into_iter().flat_map(|name| ["--profile", name])).collect();
        if self != Self::Codex {
            return members::with(text, self.section(), NAME, &self.entry(command, &args));
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
        entry.insert("args", value(toml_edit::Array::from_iter(args)));
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
        Ok(tables::without(text, self.section(), NAME)?.map(|(rest, _)| rest))
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
        for client in Client::ALL {
            let fresh = client.connected("", "/bin/switchboard", Some("work")).unwrap();
            assert!(fresh.contains("\"--profile\"") && fresh.contains("\"work\""), "{client:?}: {fresh}");
            assert!(fresh.contains("/bin/switchboard") && fresh.contains("stdio"), "{client:?}: {fresh}");
            let again = client.connected(&fresh, "/opt/switchboard", None).unwrap();
            assert!(!again.contains("--profile"), "{client:?}: {again}");
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
        let with = Client::Gemini.connected(text, "sb", None).unwrap();
        for kept in ["// mine", "\"theme\": \"dark\"", "\"a\": {\"command\": \"x\"}, // one"] {
            assert!(with.contains(kept), "{with}");
        }
        let plain: Value = serde_json::from_str(&crate::import::jsonc::plain(&with)).unwrap();
        assert_eq!(plain["mcpServers"]["switchboard"]["command"], "sb");
        assert_eq!(plain["mcpServers"]["a"]["command"], "x");
        assert_eq!(Client::Gemini.disconnected(&with).unwrap().as_deref(), Some(text));
        for text in [
            "{\"mcpServers\": {\"switchboard\": {} /* c */, \"b\": {}}}",
            "{\"mcpServers\": {\"switchboard\": {} // mine\n , \"b\": {}}}",
            "{\"mcpServers\": {\"b\": {}, // keep\n \"switchboard\": {}}}",
            "{\"mcpServers\": {\"switchboard\": {}, }}",
        ] {
            let gone = Client::Cursor.disconnected(text).unwrap().unwrap();
            let plain: Value = serde_json::from_str(&crate::import::jsonc::plain(&gone)).unwrap();
            assert_eq!(plain["mcpServers"].get("switchboard"), None, "{gone}");
            for comment in ["/* c */", "// mine", "// keep"] {
                assert_eq!(gone.contains(comment), text.contains(comment), "{gone}");
            }
        }
        let codex = "# mine\nmodel = \"o\"\n\n[mcp_servers.a]\ncommand = \"x\"\n";
        let with = Client::Codex.connected(codex, "sb", None).unwrap();
        assert!(with.starts_with(codex) && with.contains("[mcp_servers.switchboard]\ncommand = \"sb\""), "{with}");
        for (client, broken) in [
            (Client::Cursor, "{"),
            (Client::Cursor, "[]"),
            (Client::Cursor, "{\"mcpServers\": []}"),
            (Client::Codex, "mcp_servers = 1"),
            (Client::Codex, "[x"),
        ] {
            assert!(client.connected(broken, "sb", None).is_err(), "{broken}");
        }
    }
}
