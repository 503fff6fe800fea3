//! What an import would do to a configuration, shown before it is done.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use url::Url;

use super::{Client, Imported};
use crate::disclosure::approval;
use crate::edit::{EditError, add_server};
use crate::entry::{ServerEntry, Sharing};
use crate::error::ConfigError;
use crate::expand::Environment;
use crate::ids;
use crate::parse::Config;
use crate::secret::printable;

/// The id of the built-in memory.
pub(crate) const MEMORY_ID: &str = "memory";
/// The id that another server of that name gets.
const FOREIGN_MEMORY: &str = "memory-server";

/// An import that has not happened yet. Its `Display` tells a person what would be added, what not, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Each server found, in order.
    pub items: Vec<PlanItem>,
    after: String,
}

/// One server of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanItem {
    /// The client it came from.
    pub client: Client,
    /// The file it came from.
    pub file: PathBuf,
    /// Its name there.
    pub name: String,
    /// The entry to add, or why there is none.
    pub action: Result<ServerEntry, String>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// Why the way to Switchboard is not taken over.
const ITSELF: &str = "it is switchboard itself";

impl PlanItem {
    /// Whether it is the way to Switchboard, by which its client is connected already.
    pub fn is_switchboard(&self) -> bool {
        self.action.as_ref().is_err_and(|why| why == ITSELF)
    }
}

impl Plan {
    /// The entries that would be added.
    pub fn additions(&self) -> impl Iterator<Item = &ServerEntry> {
        self.items.iter().filter_map(|item| item.action.as_ref().ok())
    }

    /// The configuration with them.
    pub fn apply(&self) -> &str {
        &self.after
    }
}

/// Plans to add servers to a configuration text.
///
/// ```
/// use std::path::Path;
/// use switchboard_config::{Client, plan, read_client_file};
///
/// let text = r#"{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}"#;
/// let found = read_client_file(Client::Cursor, Path::new("mcp.json"), text).unwrap();
/// let plan = plan(Path::new("mgp.toml"), "", &found.servers).unwrap();
/// assert_eq!(plan.to_string(), "1 server to add:\n  + time: uvx mcp-server-time (Cursor, mcp.json)\n");
/// assert_eq!(plan.apply(), "[[servers]]\nid = \"time\"\ncommand = \"uvx\"\nargs = [\"mcp-server-time\"]\n");
/// ```
///
/// # Errors
/// When the existing text is not a valid configuration.
pub fn plan(file: &Path, existing: &str, imported: &[Imported]) -> Result<Plan, ConfigError> {
    let config = Config::parse(file, existing, &Environment::default())?;
    let mut known: Vec<ServerEntry> = config.servers.iter().map(|server| server.entry.clone()).collect();
    let mut after = existing.to_owned();
    let mut items = Vec::new();
    for found in imported {
        let mut notes = found.notes.clone();
        let action = if is_switchboard(&found.entry, config.settings.listen) {
            Err(ITSELF.to_owned())
        } else if let Some(same) = known.iter().find(|entry| entry.stands_for(&found.entry)) {
            let wider = !same.restricts_tools_like(&found.entry);
            let restriction = same
                .restriction_remedy(&found.entry)
                .filter(|_| wider)
                .map(|remedy| format!(", with tools that {} keeps from being used; {remedy}", found.client));
            Err(format!("the same server is there as \"{}\"{}", same.id, restriction.unwrap_or_default()))
        } else {
            add(file, &mut after, found)
        };
        if let Ok(entry) = &action {
            if entry.id != found.name {
                let built_in = if found.entry.id.eq_ignore_ascii_case(MEMORY_ID) {
                    "; \"memory\" is the built-in memory"
                } else {
                    ""
                };
                notes.insert(0, format!("its name \"{}\" became the id \"{}\"{built_in}", found.name, entry.id));
            }
            if has_no_roots_here(entry) {
                notes.push(format!("{WITHOUT_ROOTS} (docs/eras.md, Roots)"));
            }
            if let Some(option) = writes_where_it_runs(entry) {
                notes.push(format!(
                    "it writes files into the folder that it runs in, which is one of Switchboard's own here and not the \
                     project that {} has open; set `cwd`, or {option} in its `args`, where the client's own tools are to find \
                     them",
                    found.client
                ));
            }
            known.push(entry.clone());
        }
        items.push(PlanItem {
            client: found.client,
            file: found.file.clone(),
            name: found.name.clone(),
            action,
            notes,
        });
    }
    Ok(Plan { items, after })
}

/// What is to be said of a server that takes its folders from the roots of a client, where several clients share it.
pub const WITHOUT_ROOTS: &str = "clients share it, so it serves the folders of its own command and not the one that each client has \
    open (its roots); add folders to its `args`, or say `sharing = \"session\"` for a process for each client that gets them";

/// Packages of servers that take the roots of a client in the place of the folders on their command line.
const ROOTED_PACKAGES: &[&str] = &["@modelcontextprotocol/server-filesystem", "mcp-server-filesystem"];

/// Packages of servers that write what they make into the folder that they run in, and the option that names another.
const WRITING_PACKAGES: &[(&str, &str)] = &[("@playwright/mcp", "--output-dir")];

/// The option by which a server is told where to write, where it would do so in a folder that nobody named.
fn writes_where_it_runs(entry: &ServerEntry) -> Option<&'static str> {
    let words = || entry.command.iter().chain(&entry.args).map(String::as_str);
    let is_package = |package: &str| {
        let rest = |word: &str| word.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('@'));
        words().any(rest)
    };
    let (_, option) = WRITING_PACKAGES.iter().find(|(package, _)| is_package(package))?;
    let is_told = entry.cwd.is_some() || words().any(|word| word.split('=').next() == Some(option));
    (entry.command.is_some() && !is_told).then_some(option)
}

/// Whether a server takes its folders from the roots of its client, and gets none here because clients share it.
#[must_use]
pub fn has_no_roots_here(entry: &ServerEntry) -> bool {
    let is_package = |word: &str| {
        ROOTED_PACKAGES.iter().any(|package| {
            let rest = word.strip_prefix(package);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('@'))
        })
    };
    let shared = entry.sharing.unwrap_or(Sharing::Shared) == Sharing::Shared;
    let mut words = entry.command.iter().chain(&entry.args).map(String::as_str);
    shared && entry.command.is_some() && words.any(is_package)
}

/// Adds an entry under its id, or under the first free one made of it.
fn add(file: &Path, text: &mut String, found: &Imported) -> Result<ServerEntry, String> {
    const ATTEMPTS: usize = 100;
    // The built-in memory has this name, and would give way to it without a word.
    let base = if ids::folded(&found.entry.id) == ids::folded(MEMORY_ID) { FOREIGN_MEMORY } else { &found.entry.id };
    for attempt in 0..ATTEMPTS {
        let suffix = match attempt {
            0 => String::new(),
            1 => format!("-{}", found.client.as_str()),
            n => format!("-{}-{n}", found.client.as_str()),
        };
        // Ids are ASCII, so cutting by bytes is safe.
        let id = format!("{}{suffix}", &base[..base.len().min(64 - suffix.len())]);
        let entry = ServerEntry { id, ..found.entry.clone() };
        match add_server(file, text, &entry) {
            Ok(after) => {
                *text = after;
                return Ok(entry);
            }
            Err(EditError::Taken(_)) => {}
            Err(EditError::Config(error)) => return Err(error.kind().to_string()),
            Err(error) => return Err(error.to_string()),
        }
    }
    Err("no free id was found".to_owned())
}

/// Whether an entry is the way to Switchboard, which must not become a server behind itself.
pub(crate) fn is_switchboard(entry: &ServerEntry, listen: SocketAddr) -> bool {
    if let Some(command) = &entry.command {
        let name = command.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
        return name.strip_suffix(".exe").unwrap_or(&name) == "switchboard";
    }
    let Some(url) = entry.url.as_deref().and_then(|url| Url::parse(url).ok()) else { return false };
    let local = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback() || listen.ip() == address,
        Some(url::Host::Ipv6(address)) => address.is_loopback() || listen.ip() == address,
        None => false,
    };
    local && url.port_or_known_default() == Some(listen.port()) && matches!(url.path(), "/mcp" | "/sse")
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize| format!("{n} server{}", if n == 1 { "" } else { "s" });
        let source = |item: &PlanItem| format!("({}, {})", item.client, printable(&item.file.display().to_string()));
        let added = self.additions().count();
        let skipped = self.items.len() - added;
        match added {
            0 => writeln!(f, "nothing to add")?,
            n => writeln!(f, "{} to add:", count(n))?,
        }
        for item in &self.items {
            if let Ok(entry) = &item.action {
                let mut lines = approval(entry, entry.enabled == Some(false)).into_iter();
                writeln!(f, "  + {}: {} {}", entry.id, lines.next().unwrap_or_default(), source(item))?;
                for line in lines {
                    writeln!(f, "      {line}")?;
                }
                for note in &item.notes {
                    writeln!(f, "      note: {}", printable(note))?;
                }
            }
        }
        if skipped > 0 {
            writeln!(f, "{} not taken over:", count(skipped))?;
        }
        for item in &self.items {
            if let Err(reason) = &item.action {
                writeln!(f, "  - {}: {} {}", printable(&item.name), printable(reason), source(item))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_file_server_is_known_to_get_no_roots() {
        let entry = |args: &[&str], sharing| ServerEntry {
            id: "files".to_owned(),
            command: Some("npx".to_owned()),
            args: args.iter().map(|word| (*word).to_owned()).collect(),
            sharing,
            ..ServerEntry::default()
        };
        for (args, sharing, expected) in [
            (&["-y", "@modelcontextprotocol/server-filesystem", "/srv"][..], None, true),
            (&["-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "/srv"], None, true),
            (&["-y", "@modelcontextprotocol/server-filesystem", "/srv"], Some(Sharing::Session), false),
            (&["-y", "@modelcontextprotocol/server-filesystem-other"], None, false),
            (&["-y", "@modelcontextprotocol/server-memory"], None, false),
        ] {
            assert_eq!(has_no_roots_here(&entry(args, sharing)), expected, "{args:?}");
        }
        let text = r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv"]}}}"#;
        let found = super::super::read_client_file(Client::Cursor, Path::new("mcp.json"), text).unwrap();
        let plan = plan(Path::new("mgp.toml"), "", &found.servers).unwrap();
        assert!(
            plan.to_string().contains("note: clients share it, so it serves the folders of its own command"),
            "{plan}"
        );
    }

    #[test]
    fn a_server_that_writes_where_it_runs_is_told_of() {
        let entry = |args: &[&str], cwd: Option<&str>| ServerEntry {
            command: Some("npx".to_owned()),
            args: args.iter().map(|word| (*word).to_owned()).collect(),
            cwd: cwd.map(str::to_owned),
            ..ServerEntry::default()
        };
        for (args, cwd, expected) in [
            (&["@playwright/mcp@latest", "--headless"][..], None, Some("--output-dir")),
            (&["-y", "@playwright/mcp"], None, Some("--output-dir")),
            (&["-y", "@playwright/mcp"], Some("/srv/app"), None),
            (&["-y", "@playwright/mcp", "--output-dir=/tmp/x"], None, None),
            (&["-y", "@playwright/mcp", "--output-dir", "/tmp/x"], None, None),
            (&["-y", "@playwright/test"], None, None),
        ] {
            assert_eq!(writes_where_it_runs(&entry(args, cwd)), expected, "{args:?}");
        }
    }
}
