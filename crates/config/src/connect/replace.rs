//! Taking a client's own servers out of its file where Switchboard has them, and putting them back. Pure.
//!
//! An entry is taken out for what it runs or reaches, never for its name. Entries of projects are not touched: they belong to
//! whoever works in that folder.

use std::net::SocketAddr;
use std::path::Path;

use super::{ConnectEditError, NAME, is_own, members, tables, with_line_ends_of};
use crate::entry::ServerEntry;
use crate::import::{Client, Imported, is_switchboard, read_user_file};

/// An entry that was taken out of a client's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Its name.
    pub name: String,
    /// What stood in the file, to the letter. It may hold secrets.
    pub text: String,
}

/// A client's file without the servers that Switchboard has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The file.
    pub text: String,
    /// What was taken out.
    pub taken: Vec<Taken>,
    /// The ids that these have in the configuration.
    pub served: Vec<String>,
    /// What stays, and why.
    pub staying: Vec<(String, String)>,
}

/// A configured server, and why a client that is connected would not be served it, if so.
pub type Known<'a> = (&'a ServerEntry, Option<String>);

impl Client {
    /// The user's file of this client without those servers that stand in the configuration as well. `listen` is the
    /// address of Switchboard itself; `complete` takes over what entries have in other files, as an import does.
    ///
    /// # Errors
    /// The text is none that such a file has.
    pub fn replaced(
        self,
        file: &Path,
        text: &str,
        known: &[Known<'_>],
        listen: SocketAddr,
        complete: &dyn Fn(&mut [Imported]),
    ) -> Result<Replaced, ConnectEditError> {
        let unreadable = |error: crate::ImportError| ConnectEditError::Unreadable(error.message);
        let mut found = read_user_file(self, file, text).map_err(unreadable)?;
        complete(&mut found.servers);
        let mut out = Replaced { text: text.to_owned(), taken: Vec::new(), served: Vec::new(), staying: Vec::new() };
        for server in found.servers {
            let name = &server.name;
            let same: Vec<_> = known.iter().filter(|(entry, _)| entry.stands_for(&server.entry)).collect();
            let why = match (&server.project, same.iter().find(|(_, why)| why.is_none()).or_else(|| same.first())) {
                (Some(project), _) => Some(format!("it belongs to the project {}", project.display())),
                (None, _) if name == NAME && is_own(&server.entry) => continue,
                (None, Some(_)) if server.untranslated.is_some() => server.untranslated.clone(),
                (None, Some(_)) if server.env_file.is_some() => Some("its `envFile` was not taken over".to_owned()),
                (None, _) if is_switchboard(&server.entry, listen) => Some("it is switchboard itself".to_owned()),
                (None, Some((_, Some(why)))) => Some(why.clone()),
                (None, Some(_))
                    if !same.iter().any(|(own, why)| why.is_none() && own.restricts_tools_like(&server.entry)) =>
                {
                    let remedy = same.iter().find_map(|(own, _)| own.restriction_remedy(&server.entry));
                    let remedy = remedy.unwrap_or_default();
                    Some(format!("it keeps tools from being used that Switchboard does not; {remedy}"))
                }
                (None, Some(_)) => None,
                (None, None) if known.iter().any(|(entry, _)| entry.is_nearly(&server.entry)) => {
                    Some("Switchboard has it with other variables or another folder".to_owned())
                }
                (None, None) => Some("Switchboard does not have it".to_owned()),
            };
            if let Some(why) = why {
                out.staying.push((server.name, why));
                continue;
            }
            match self.without_entry(&out.text, name)? {
                Some((rest, text)) => {
                    out.text = rest;
                    out.taken.push(Taken { name: server.name, text });
                    out.served.extend(same.iter().filter(|(_, why)| why.is_none()).map(|(entry, _)| entry.id.clone()));
                }
                None => out.staying.push((server.name, "it stands in another part of the file".to_owned())),
            }
        }
        Ok(out)
    }

    /// The file with entries put back that were taken out, and the names of those whose place is taken meanwhile.
    ///
    /// # Errors
    /// The text is none that such a file has.
    pub fn restored(self, text: &str, taken: &[Taken]) -> Result<(String, Vec<String>), ConnectEditError> {
        let (before, mut text, mut left) = (text, text.to_owned(), Vec::new());
        // In JSON each comes first in its section, so that in the end they stand in their old order.
        let in_order: Vec<&Taken> =
            if self == Self::Codex { taken.iter().collect() } else { taken.iter().rev().collect() };
        for entry in in_order {
            let with = match self {
                Self::Codex => tables::with_text(&text, self.section(), &entry.name, &entry.text)?,
                _ => members::with_text(&text, self.section(), &entry.name, &entry.text)?,
            };
            match with {
                Some(with) => text = with,
                None => left.push(entry.name.clone()),
            }
        }
        Ok((with_line_ends_of(before, &text), left))
    }

    /// The file without one entry, and what stood there.
    pub(super) fn without_entry(self, text: &str, name: &str) -> Result<Option<(String, String)>, ConnectEditError> {
        if self == Self::Codex {
            return tables::without(text, self.section(), name);
        }
        let Some(entry) = members::text_of(text, self.section(), name)? else { return Ok(None) };
        Ok(members::without(text, self.section(), name)?.map(|rest| (rest, entry)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::import::jsonc;

    const LISTEN: &str = "127.0.0.1:7400";

    fn time(client: Client) -> &'static str {
        match client {
            Client::Codex => {
                "# mine\nmodel = \"o\"\n\n# the time\n[mcp_servers.time]\ncommand = \"uvx\"\nargs = [\"mcp-server-time\"] # utc\n\n[mcp_servers.time.env]\nTZ = \"UTC\"\n\n# others\n[mcp_servers.other]\ncommand = \"x\"\n"
            }
            Client::OpenCode => {
                "{\n  // mine\n  \"mcp\": {\n    \"time\": {\"type\": \"local\", \"command\": [\"uvx\", \"mcp-server-time\"], // utc\n      \"environment\": {\"TZ\": \"UTC\"}},\n    \"other\": {\"type\": \"local\", \"command\": [\"x\"]}\n  }\n}\n"
            }
            Client::Zed => {
                "{\n  // mine\n  \"context_servers\": {\n    \"time\": {\"source\": \"custom\", \"command\": \"uvx\", \"args\": [\"mcp-server-time\"], // utc\n      \"env\": {\"TZ\": \"UTC\"}},\n    \"other\": {\"command\": \"x\"}\n  }\n}\n"
            }
            Client::VsCode => {
                "{\n  // mine\n  \"servers\": {\n    \"time\": {\"type\": \"stdio\", \"command\": \"uvx\", \"args\": [\"mcp-server-time\"], // utc\n      \"env\": {\"TZ\": \"UTC\"}},\n    \"other\": {\"command\": \"x\"}\n  }\n}\n"
            }
            _ => {
                "{\n  // mine\n  \"mcpServers\": {\n    \"time\": {\"command\": \"uvx\", \"args\": [\"mcp-server-time\"], // utc\n      \"env\": {\"TZ\": \"UTC\"}},\n    \"other\": {\"command\": \"x\"}\n  }\n}\n"
            }
        }
    }

    fn configured() -> ServerEntry {
        let entry = ServerEntry::stdio("clock", "uvx", vec!["mcp-server-time".to_owned()]);
        ServerEntry { env: [("TZ".to_owned(), crate::Secret::new("UTC"))].into(), ..entry }
    }

    fn replaced(client: Client, text: &str, known: &[Known<'_>]) -> Replaced {
        client.replaced(Path::new("/h/f"), text, known, LISTEN.parse().unwrap(), &|_| {}).unwrap()
    }

    fn meaning(client: Client, text: &str) -> Vec<(String, ServerEntry)> {
        let found = read_user_file(client, Path::new("/h/f"), text).unwrap();
        let mut servers: Vec<_> = found.servers.into_iter().map(|server| (server.name, server.entry)).collect();
        servers.sort_by(|one, other| one.0.cmp(&other.0));
        servers
    }

    #[test]
    fn every_client_gives_up_what_switchboard_has_and_gets_it_back() {
        let configured = configured();
        for client in Client::ALL {
            let text = time(client);
            let connected = client.connected(text, "/bin/switchboard", None).unwrap();
            let out = replaced(client, &connected, &[(&configured, None)]);
            assert_eq!(out.taken.len(), 1, "{client}: {out:?}");
            assert_eq!(out.taken[0].name, "time");
            assert_eq!(out.staying, [("other".to_owned(), "Switchboard does not have it".to_owned())], "{client}");
            assert!(!out.text.contains("mcp-server-time") && out.text.contains("mine"), "{client}: {}", out.text);
            assert_eq!(client == Client::Codex, out.text.contains("# the time\n"), "{client}: {}", out.text);
            let names: Vec<_> = meaning(client, &out.text).into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, ["other", "switchboard"], "{client}: {}", out.text);

            let gone = client.disconnected(&out.text).unwrap().unwrap();
            let (back, left) = client.restored(&gone, &out.taken).unwrap();
            assert!(left.is_empty() && back.contains(" utc"), "{client}: {back}");
            assert_eq!(client == Client::Codex, back.contains("# the time\n"), "{client}: {back}");
            assert_eq!(meaning(client, &back), meaning(client, text), "{client}: {back}");
            let (same, left) = client.restored(&back, &out.taken).unwrap();
            assert_eq!((same, left), (back, vec!["time".to_owned()]), "what is there again is left alone");
            // All of it can go, and an empty file can get it back.
            let (fresh, _) = client.restored("", &out.taken).unwrap();
            assert_eq!(meaning(client, &fresh).len(), 1, "{client}: {fresh}");
        }
    }

    #[test]
    fn only_the_same_target_goes_and_the_rest_is_told_why() {
        let text = r#"{"mcpServers": {
            "clock": {"command": "uvx", "args": ["another"]},
            "time": {"command": "uvx", "args": ["mcp-server-time"], "env": {"TZ": "UTC"}},
            "zone": {"command": "uvx", "args": ["mcp-server-time"], "env": {"TZ": "Asia/Tokyo"}},
            "me": {"command": "/x/switchboard", "args": ["stdio"]},
            "off": {"command": "o"}
        }, "projects": {"/p": {"mcpServers": {"theirs": {"command": "uvx", "args": ["mcp-server-time"], "cwd": "/x"}}}}}"#;
        let (configured, off) = (configured(), ServerEntry::stdio("off", "o", Vec::new()));
        let known = [(&configured, None), (&off, Some("it is switched off there".to_owned()))];
        let out = replaced(Client::ClaudeCode, text, &known);
        let taken: Vec<_> = out.taken.iter().map(|taken| taken.name.as_str()).collect();
        assert_eq!(taken, ["time"]);
        let staying: Vec<_> = out.staying.iter().map(|(name, why)| (name.as_str(), why.as_str())).collect();
        assert_eq!(
            staying,
            [
                ("clock", "Switchboard does not have it"),
                ("zone", "Switchboard has it with other variables or another folder"),
                ("me", "it is switchboard itself"),
                ("off", "it is switched off there"),
                ("theirs", "it belongs to the project /p"),
            ]
        );
        let value: Value = serde_json::from_str(&jsonc::plain(&out.text)).unwrap();
        assert!(value["projects"]["/p"]["mcpServers"]["theirs"].is_object(), "{}", out.text);
        // A value that was made a reference after the import is the same server.
        let moved = ServerEntry { env: [("TZ".to_owned(), crate::Secret::new("${TZ}"))].into(), ..configured };
        let names: Vec<_> =
            replaced(Client::ClaudeCode, text, &[(&moved, None)]).taken.into_iter().map(|taken| taken.name).collect();
        assert_eq!(names, ["time", "zone"]);
    }

    #[test]
    fn a_server_whose_tools_are_restricted_goes_only_where_switchboard_restricts_them_too() {
        let codex = "[mcp_servers.a]\ncommand = \"x\"\ndisabled_tools = [\"write\"]\n";
        let only = "[mcp_servers.a]\ncommand = \"x\"\nenabled_tools = [\"read\"]\n";
        let gemini = r#"{"mcpServers": {"a": {"command": "x", "excludeTools": ["write"]}}}"#;
        let opencode = r#"{"mcp": {"a": {"type": "local", "command": ["x"]}}, "tools": {"a_w*": false}}"#;
        let open = ServerEntry::stdio("a", "x", Vec::new());
        let mut off = open.clone();
        off.switch_off("write");
        let reads = ServerEntry { only_tools: Some(vec!["read".to_owned()]), ..open.clone() };
        for (client, text, known, goes) in [
            (Client::Codex, codex, &open, false),
            (Client::Codex, codex, &off, true),
            (Client::Codex, codex, &reads, true),
            (Client::Codex, only, &off, false),
            (Client::Codex, only, &reads, true),
            (Client::Gemini, gemini, &open, false),
            (Client::Gemini, gemini, &off, true),
            (Client::OpenCode, opencode, &off, false),
        ] {
            let out = replaced(client, text, &[(known, None)]);
            assert_eq!(out.taken.len(), usize::from(goes), "{client}: {out:?}");
            assert_eq!(out.staying.len(), usize::from(!goes), "{client}: {out:?}");
        }
        let out = replaced(Client::Codex, codex, &[(&open, None)]);
        assert!(out.staying[0].1.ends_with("`switchboard tools disable --server a write`"), "{out:?}");
        let out = replaced(Client::Codex, only, &[(&open, None)]);
        assert!(out.staying[0].1.ends_with("write `only_tools = [\"read\"]` into the entry of \"a\""), "{out:?}");
        // Of two entries that run the same, the one that restricts is enough.
        assert_eq!(replaced(Client::Codex, codex, &[(&open, None), (&off, None)]).taken.len(), 1);
    }

    #[test]
    fn a_comment_stays_where_the_only_server_was() {
        let text = "model = \"o\"\n\n# files\n[mcp_servers.a]\ncommand = \"x\"\n\n# looks\n[tui]\nx = 1\n";
        let entry = ServerEntry::stdio("a", "x", Vec::new());
        let connected = Client::Codex.connected(text, "/bin/switchboard", None).unwrap();
        let out = replaced(Client::Codex, &connected, &[(&entry, None)]);
        let gone = Client::Codex.disconnected(&out.text).unwrap().unwrap();
        let (back, _) = Client::Codex.restored(&gone, &out.taken).unwrap();
        assert!(back.contains("# files") && back.contains("# looks\n[tui]"), "{back}");
    }

    #[test]
    fn a_server_whose_file_of_variables_is_not_here_stays() {
        let text = r#"{"servers": {"api": {"command": "npx", "args": ["api"], "envFile": "/s.env"}}}"#;
        let bare = ServerEntry::stdio("api", "npx", vec!["api".to_owned()]);
        let whole = ServerEntry { env: [("KEY".to_owned(), crate::Secret::new("k"))].into(), ..bare.clone() };
        let take = |known: &ServerEntry, file: Result<&str, &str>| {
            let complete = |servers: &mut [Imported]| {
                let read = |_: &Path| file.map(str::to_owned).map_err(str::to_owned);
                crate::take_env_files(servers, &crate::Environment::default(), &read);
            };
            let known = [(known, None)];
            let path = Path::new("/h/mcp.json");
            let out = Client::VsCode.replaced(path, text, &known, LISTEN.parse().unwrap(), &complete).unwrap();
            (out.taken.len(), out.staying.into_iter().map(|(_, why)| why).collect::<String>())
        };
        assert_eq!(take(&whole, Ok("KEY=k\n")), (1, String::new()));
        for (known, file, why) in [
            (&bare, Ok("KEY=k\n"), "with other variables"),
            (&whole, Ok("KEY=other\n"), "with other variables"),
            (&whole, Err("not found"), "its `envFile` /s.env could not be taken over (not found)"),
            (&bare, Err("not found"), "its `envFile` /s.env could not be taken over (not found)"),
        ] {
            let (taken, said) = take(known, file);
            assert!(taken == 0 && said.contains(why), "{said}");
        }
        let nobody = replaced(Client::VsCode, text, &[(&bare, None)]);
        assert!(nobody.taken.is_empty() && nobody.staying[0].1.contains("envFile"), "{nobody:?}");
    }

    #[test]
    fn tables_of_every_spelling_go_and_come_back() {
        let entry = ServerEntry::stdio("a", "x", Vec::new());
        for text in [
            "[mcp_servers.a]\ncommand = \"x\"\n",
            "mcp_servers = { a = { command = \"x\" }, b = { command = \"y\" } }\n",
            "[mcp_servers]\na = { command = \"x\" }\n",
            "[mcp_servers]\na.command = \"x\"\n[tui]\nx = 1\n",
            "[mcp_servers.\"a\"] # mine\ncommand = \"x\"\n[tui]\nnote = \"\"\"\n[mcp_servers.a]\n\"\"\"\n",
            "[mcp_servers.a]\ncommand = \"x\"\n[tui]\nx = 1\n[[list]]\ny = 1\n[mcp_servers.a.env]\n",
        ] {
            let out = replaced(Client::Codex, text, &[(&entry, None)]);
            assert_eq!(out.taken.len(), 1, "{text}");
            assert_eq!(meaning(Client::Codex, &out.text).iter().filter(|(name, _)| name == "a").count(), 0, "{out:?}");
            assert_eq!(out.text.contains("x = 1"), text.contains("x = 1"), "{out:?}");
            assert_eq!(out.text.contains("note"), text.contains("note"), "{out:?}");
            let (back, _) = Client::Codex.restored(&out.text, &out.taken).unwrap();
            assert_eq!(meaning(Client::Codex, &back), meaning(Client::Codex, text), "{back}");
        }
    }
}
