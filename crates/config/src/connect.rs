//! Putting Switchboard into a client's configuration, and taking it out again. Pure: the old text in, the new text out; what else
//! stands in the file stays as it was written, comments too.

mod members;
mod replace;
mod tables;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, value};

use crate::entry::ServerEntry;
use crate::expand::Environment;
use crate::import::{Client, candidates, read_user_file};
use crate::places::Platform;

pub use replace::{Known as KnownServer, Replaced, Taken};

/// The name of the entry.
const NAME: &str = "switchboard";

/// Why a file was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectEditError {
    /// It is not what such a file should be.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// What has the name of the entry is none of Switchboard.
    #[error("its entry `{NAME}` runs something else; rename it first")]
    Foreign,
    /// A part of it is something else than expected.
    #[error("`{0}` in it is no table of servers")]
    Shape(&'static str),
}

impl Client {
    /// The files in which it may keep the user's servers, the usual one first; none without a home folder. They are the places
    /// from which servers are imported.
    #[must_use]
    pub fn files(self, environment: &Environment, platform: Platform) -> Vec<PathBuf> {
        let places = candidates(environment, None, platform).into_iter();
        places.filter(|place| place.client == self).map(|place| place.path).collect()
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
    pub fn connected(self, text: &str, command: &str, profile: Option<&str>) -> Result<String, ConnectEditError> {
        if self.has_foreign_entry(text) {
            return Err(ConnectEditError::Foreign);
        }
        let args: Vec<&str> =
            std::iter::once("stdio").chain(profile.into_iter().flat_map(|name| ["--profile", name])).collect();
        if self != Self::Codex {
            let with = members::with(text, self.section(), NAME, &self.entry(command, &args))?;
            return Ok(with_line_ends_of(text, &with));
        }
        let mut document = read_toml(text)?;
        let servers = document.entry(self.section()).or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        });
        let servers = servers.as_table_mut().ok_or(ConnectEditError::Shape("mcp_servers"))?;
        let mut entry = Table::new();
        entry.insert("command", value(command));
        entry.insert("args", value(toml_edit::Array::from_iter(args)));
        servers.insert(NAME, Item::Table(entry));
        Ok(with_line_ends_of(text, &document.to_string()))
    }

    /// Whether what has the name of the entry runs or reaches another program. What cannot be read as a server is none.
    fn has_foreign_entry(self, text: &str) -> bool {
        let Ok(found) = read_user_file(self, Path::new(""), text) else { return false };
        let named = found.servers.iter().filter(|server| server.name == NAME && server.project.is_none());
        named.into_iter().any(|server| !is_own(&server.entry))
    }

    /// The entries of the user under other names that start Switchboard, as `connect` writes it, with their profiles. `is_self` says
    /// whether a command is this very program, whatever it is called. A file that cannot be read has none.
    pub fn other_entries(self, text: &str, is_self: impl Fn(&str) -> bool) -> Vec<(String, Option<String>)> {
        let Ok(found) = read_user_file(self, Path::new(""), text) else { return Vec::new() };
        let others = found.servers.into_iter().filter(|server| server.name != NAME && server.project.is_none());
        others.filter_map(|server| Some((server.name, profile_served(&server.entry, &is_self)?))).collect()
    }

    /// The text of its file without these entries; without one that stands in another part of it there is no change.
    ///
    /// # Errors
    /// The text is none that such a file has.
    pub fn without<'a>(self, text: &str, names: impl IntoIterator<Item = &'a str>) -> Result<String, ConnectEditError> {
        names
            .into_iter()
            .try_fold(text.to_owned(), |text, name| Ok(self.without_entry(&text, name)?.map_or(text, |(rest, _)| rest)))
    }

    /// The text of its file without the entry of Switchboard; `None` where there is none.
    ///
    /// # Errors
    /// The text is none that such a file has.
    pub fn disconnected(self, text: &str) -> Result<Option<String>, ConnectEditError> {
        if self.has_foreign_entry(text) {
            return Ok(None);
        }
        if self != Self::Codex {
            return members::without(text, self.section(), NAME);
        }
        Ok(tables::without(text, self.section(), NAME)?.map(|(rest, _)| rest))
    }
}

/// Whether an entry is one that `connect` or a person wrote for Switchboard: it runs a program of that name, or reaches an
/// address of this machine.
fn is_own(entry: &ServerEntry) -> bool {
    if let Some(command) = &entry.command {
        // Whatever the program is called, it is told what `connect` writes.
        let args: Vec<&str> = entry.args.iter().map(String::as_str).collect();
        if matches!(args[..], ["stdio"] | ["stdio", "--profile", _]) {
            return true;
        }
        let name = command.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
        return name.trim_end_matches(".exe").starts_with(NAME);
    }
    let host = |url: &str| url::Url::parse(url).ok()?.host_str().map(str::to_owned);
    entry.url.as_deref().and_then(host).is_some_and(|host| matches!(&*host, "localhost" | "127.0.0.1" | "[::1]"))
}

/// The profile that an entry has Switchboard serve, if it starts Switchboard: a program of that name, or this very one, that is told
/// what `connect` writes. Other programs are told `stdio` as well.
fn profile_served(entry: &ServerEntry, is_self: impl Fn(&str) -> bool) -> Option<Option<String>> {
    let command = entry.command.as_deref()?;
    let args: Vec<&str> = entry.args.iter().map(String::as_str).collect();
    let profile = match args[..] {
        ["stdio"] => None,
        ["stdio", "--profile", profile] => Some(profile.to_owned()),
        _ => return None,
    };
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    (name.trim_end_matches(".exe") == NAME || is_self(command)).then_some(profile)
}

/// A text with the line ends that another has.
fn with_line_ends_of(before: &str, after: &str) -> String {
    if before.contains("\r\n") { after.replace("\r\n", "\n").replace('\n', "\r\n") } else { after.to_owned() }
}

fn read_toml(text: &str) -> Result<DocumentMut, ConnectEditError> {
    text.parse().map_err(|error: toml_edit::TomlError| ConnectEditError::Unreadable(error.message().to_owned()))
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
    fn an_entry_of_somebody_else_is_left_alone() {
        let texts = [
            (Client::Cursor, r#"{"mcpServers": {"switchboard": {"command": "/usr/bin/phone-exchange"}}}"#),
            (Client::Cursor, r#"{"mcpServers": {"switchboard": {"url": "https://switchboard.example/mcp"}}}"#),
            (Client::Codex, "[mcp_servers.switchboard]\ncommand = \"exchange\"\n"),
        ];
        for (client, text) in texts {
            assert_eq!(client.connected(text, "/bin/switchboard", None), Err(ConnectEditError::Foreign), "{text}");
            assert_eq!(client.disconnected(text), Ok(None), "{text}");
        }
        for own in ["/opt/x/switchboard", "switchboard.exe", "switchboard-0.1"] {
            let text = format!(r#"{{"mcpServers": {{"switchboard": {{"command": "{own}"}}}}}}"#);
            assert!(Client::Cursor.connected(&text, "/bin/switchboard", None).is_ok(), "{own}");
            assert!(Client::Cursor.disconnected(&text).unwrap().is_some(), "{own}");
        }
    }

    #[test]
    fn entries_under_other_names_are_known_by_what_they_start() {
        let entry = |client: Client, name: &str, command: &str, profile| {
            client
                .connected("", command, profile)
                .unwrap()
                .replace("\"switchboard\"", &format!("\"{name}\""))
                .replace("mcp_servers.switchboard", &format!("mcp_servers.{name}"))
        };
        for client in Client::ALL {
            for (command, profile, expected) in [
                ("/opt/switchboard", None, true),
                ("/opt/switchboard", Some("work"), true),
                ("/opt/sb", None, true),
                ("/opt/exchange", None, false),
            ] {
                let text = entry(client, "gateway", command, profile);
                let found = client.other_entries(&text, |command| command == "/opt/sb");
                let profile = profile.map(str::to_owned);
                let wanted = if expected { vec![("gateway".to_owned(), profile)] } else { Vec::new() };
                assert_eq!(found, wanted, "{client:?} {text}");
                let without = client.without(&text, found.iter().map(|(name, _)| name.as_str())).unwrap();
                assert_eq!(without.contains("gateway"), !expected, "{client:?}: {without}");
            }
            let own = client.connected("", "/opt/switchboard", None).unwrap();
            assert_eq!(client.other_entries(&own, |_| true), [], "{client:?}");
        }
        let serves = r#"{"mcpServers": {"s": {"command": "/opt/switchboard", "args": ["serve"]}}}"#;
        assert_eq!(Client::Cursor.other_entries(serves, |_| true), []);
    }

    #[test]
    fn line_ends_and_tabs_stay_as_they_are() {
        let crlf = "{\r\n  // mine\r\n  \"mcpServers\": {\r\n    \"a\": {\"command\": \"x\"}\r\n  }\r\n}\r\n";
        let with = Client::Cursor.connected(crlf, "sb", None).unwrap();
        assert!(!with.replace("\r\n", "").contains('\n'), "{with:?}");
        let codex = "# mine\r\nmodel = \"o\"\r\n";
        let with = Client::Codex.connected(codex, "sb", None).unwrap();
        assert!(with.starts_with(codex) && !with.replace("\r\n", "").contains('\n'), "{with:?}");
        let tabs = "{\n\t\"servers\": {\n\t\t\"a\": {\"command\": \"x\"}\n\t}\n}\n";
        let with = Client::VsCode.connected(tabs, "sb", None).unwrap();
        assert!(with.contains("\n\t\t\"switchboard\": {\n\t\t\t\""), "{with:?}");
        assert!(with.lines().all(|line| !line.starts_with(' ') && !line.contains("\t ")), "{with:?}");
    }

    #[test]
    fn a_section_that_is_there_twice_is_refused() {
        let text = r#"{"mcpServers": {"a": {"command": "x"}}, "mcpServers": {"b": {"command": "y"}}}"#;
        let refused = Client::Cursor.connected(text, "sb", None).unwrap_err().to_string();
        assert!(refused.contains("`mcpServers` is there twice"), "{refused}");
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
