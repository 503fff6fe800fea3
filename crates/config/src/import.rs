//! Servers from the configuration files of other clients.
//!
//! Reading is pure: text in, entries and notes out. What does not translate is said, never silently dropped.

mod codex;
mod denied;
mod env_file;
mod json;
pub(crate) mod jsonc;
mod places;
mod plan;
mod references;
mod relative;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::entry::ServerEntry;
use crate::expand::references as variables;
use crate::secret::{looks_like_credential, names_secret};

pub use denied::switch_denied_off;
pub use env_file::take_env_files;
pub use places::{Candidate, candidates, claude_settings};
pub(crate) use plan::is_switchboard;
pub use plan::{Plan, PlanItem, WITHOUT_ROOTS, has_no_roots_here, plan};
pub use relative::relative_paths;

/// A client whose files can be read, and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// Claude Desktop, `claude_desktop_config.json`.
    ClaudeDesktop,
    /// Claude Code, `.mcp.json` and `~/.claude.json`.
    ClaudeCode,
    /// Cursor, `.cursor/mcp.json`.
    Cursor,
    /// Visual Studio Code, `mcp.json` and `settings.json`.
    VsCode,
    /// Codex, `config.toml`.
    Codex,
    /// Gemini CLI, `settings.json`.
    Gemini,
    /// Windsurf, `mcp_config.json`.
    Windsurf,
    /// Zed, `settings.json`.
    Zed,
    /// opencode, `opencode.json`.
    OpenCode,
}

impl Client {
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

    /// A short word for command lines and ids.
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
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
            Self::OpenCode => "opencode",
        })
    }
}

impl std::str::FromStr for Client {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let words = Self::ALL.map(Self::as_str);
        let found = Self::ALL.into_iter().find(|client| client.as_str() == word);
        found.ok_or_else(|| format!("{word:?} is none of {}", words.join(", ")))
    }
}

/// One server of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The client.
    pub client: Client,
    /// The file it came from.
    pub file: PathBuf,
    /// Its name there.
    pub name: String,
    /// As an entry of ours; its id is made of the name and may still clash with another.
    pub entry: ServerEntry,
    /// The project to which alone it belongs, where one file has those of several.
    pub project: Option<PathBuf>,
    /// What its client says of it that an entry of ours cannot say: what it keeps from being used, or a folder or a value that
    /// only the client knows.
    pub untranslated: Option<String>,
    /// The file of variables that its entry names, until [`take_env_files`] has taken them over. It may hold references.
    pub env_file: Option<String>,
    /// What a person should know about the translation.
    pub notes: Vec<String>,
}

/// What a client's file held.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientFile {
    /// The servers, in the order of the file.
    pub servers: Vec<Imported>,
    /// What could not be taken over at all.
    pub warnings: Vec<String>,
}

/// A client's file that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}:{column}: {message}", .file.display())]
pub struct ImportError {
    /// The file.
    pub file: PathBuf,
    /// Line from 1.
    pub line: usize,
    /// Column from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Reads the servers of a client's file, which is a project's where its place says so.
///
/// ```
/// use std::path::Path;
/// use switchboard_config::{Client, read_client_file};
///
/// let text = r#"{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}"#;
/// let found = read_client_file(Client::Cursor, Path::new("/home/me/.cursor/mcp.json"), text).unwrap();
/// assert_eq!(found.servers[0].entry.command.as_deref(), Some("uvx"));
/// ```
///
/// # Errors
/// When the text is not JSON (with comments) or TOML, or the servers are not an object.
pub fn read_client_file(client: Client, file: &Path, text: &str) -> Result<ClientFile, ImportError> {
    read_in(client, file, places::project_of(client, file), text)
}

/// The same for the file of the user, whose servers run in whichever folder the client was started in.
///
/// # Errors
/// As [`read_client_file`].
pub fn read_user_file(client: Client, file: &Path, text: &str) -> Result<ClientFile, ImportError> {
    read_in(client, file, None, text)
}

fn read_in(client: Client, file: &Path, project: Option<&Path>, text: &str) -> Result<ClientFile, ImportError> {
    let mut found = match client {
        Client::Codex => codex::read(file, text)?,
        _ => json::read(client, file, project, text)?,
    };
    for server in &mut found.servers {
        let note = relative::settle(client, project, &mut server.entry);
        server.notes.extend(note.clone());
        // What means another folder, or a text in the place of a value, is another server here.
        let is_kept =
            |note: &&String| note.ends_with(references::KEPT_AS_TEXT) || note.starts_with(references::ASKED_BY_CLIENT);
        let kept = server.notes.iter().find(is_kept).cloned();
        let meant = note.filter(|_| project.is_none()).or(kept);
        server.untranslated = server.untranslated.take().or(meant);
        server.notes.extend(plain_secrets(&server.entry));
    }
    Ok(found)
}

/// Notes about secrets that stand in the file as they are.
fn plain_secrets(entry: &ServerEntry) -> Vec<String> {
    let mut notes = Vec::new();
    for (section, map) in [("env", &entry.env), ("headers", &entry.headers)] {
        for (name, value) in map {
            let value = value.reveal();
            let secret = names_secret(name) || looks_like_credential(value);
            if secret && !value.is_empty() && variables(value).is_empty() {
                notes.push(format!(
                    "`{section}.{name}` holds a secret in plain text; a reference such as `${{NAME}}` is safer"
                ));
            }
        }
    }
    if entry.safe_line() != entry.exact_line() && entry.url.is_none() {
        notes
            .push("`args` seem to hold a secret, which every user of the machine can see; pass it in `env`".to_owned());
    }
    if let Some(token) = &entry.token
        && variables(token.reveal()).is_empty()
    {
        notes.push("`token` is in plain text; a reference such as `${NAME}` is safer".to_owned());
    }
    notes
}
