//! Where clients keep their files. A list of paths to try; nothing here looks at the disk.

use std::path::{Path, PathBuf};

use super::Client;
use crate::expand::Environment;
use crate::places::{Platform, absolute, home};

/// A file that may exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The client.
    pub client: Client,
    /// The path.
    pub path: PathBuf,
    /// Whether it belongs to the project folder instead of the user: its commands came with the project.
    pub project: bool,
}

/// The files in which clients keep servers, for the user and for the project in `folder`, on a platform.
pub fn candidates(environment: &Environment, folder: Option<&Path>, platform: Platform) -> Vec<Candidate> {
    let mut list = Vec::new();
    let mut user = |client, path| list.push(Candidate { client, path, project: false });
    if let Some(home) = home(environment) {
        let settings = match platform {
            Platform::Linux => absolute(environment, "XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
            Platform::MacOs => home.join("Library").join("Application Support"),
            Platform::Windows => {
                environment.filled("APPDATA").map_or_else(|| home.join("AppData").join("Roaming"), PathBuf::from)
            }
        };
        user(Client::ClaudeDesktop, settings.join("Claude").join("claude_desktop_config.json"));
        let claude = environment.filled("CLAUDE_CONFIG_DIR").map_or_else(|| home.clone(), PathBuf::from);
        user(Client::ClaudeCode, claude.join(".claude.json"));
        user(Client::Cursor, home.join(".cursor").join("mcp.json"));
        for product in ["Code", "Code - Insiders"] {
            let folder = settings.join(product).join("User");
            user(Client::VsCode, folder.join("mcp.json"));
            user(Client::VsCode, folder.join("settings.json"));
        }
        let codex = environment.filled("CODEX_HOME").map_or_else(|| home.join(".codex"), PathBuf::from);
        user(Client::Codex, codex.join("config.toml"));
        user(Client::Gemini, home.join(".gemini").join("settings.json"));
        user(Client::Windsurf, home.join(".codeium").join("windsurf").join("mcp_config.json"));
        let config = absolute(environment, "XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let zed = if platform == Platform::Windows { settings.join("Zed") } else { config.join("zed") };
        user(Client::Zed, zed.join("settings.json"));
        user(Client::OpenCode, config.join("opencode").join("opencode.json"));
        user(Client::OpenCode, config.join("opencode").join("opencode.jsonc"));
    }
    if let Some(folder) = folder {
        let mut project = |client, path| list.push(Candidate { client, path, project: true });
        project(Client::ClaudeCode, folder.join(".mcp.json"));
        project(Client::Cursor, folder.join(".cursor").join("mcp.json"));
        project(Client::VsCode, folder.join(".vscode").join("mcp.json"));
        project(Client::VsCode, folder.join(".vscode").join("settings.json"));
        project(Client::Codex, folder.join(".codex").join("config.toml"));
    }
    // In the home folder, `.cursor/mcp.json` is the user's and the project's at once.
    let mut seen = std::collections::HashSet::new();
    list.retain(|candidate| seen.insert(candidate.path.clone()));
    list
}

/// The file in which the user of Claude Code says what it may not use.
pub fn claude_settings(environment: &Environment) -> Option<PathBuf> {
    let folder = environment.filled("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let folder = folder.or_else(|| home(environment).map(|home| home.join(".claude")))?;
    Some(folder.join("settings.json"))
}

/// The folder of the project that a file stands in, by the file's own place.
pub(super) fn project_of(client: Client, file: &Path) -> Option<&Path> {
    let parent = file.parent()?;
    let folder = parent.file_name()?;
    match client {
        Client::ClaudeCode if file.file_name()? == ".mcp.json" => Some(parent),
        Client::Cursor if folder == ".cursor" => parent.parent(),
        Client::VsCode if folder == ".vscode" => parent.parent(),
        Client::Codex if folder == ".codex" => parent.parent(),
        _ => None,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let environment: Environment = [("HOME", "/h")].into_iter().collect();
        let paths = |platform, folder| -> Vec<String> {
            let list = candidates(&environment, folder, platform);
            list.iter().map(|candidate| format!("{} {}", candidate.client.as_str(), candidate.path.display())).collect()
        };
        assert_eq!(
            paths(Platform::Linux, Some(Path::new("/p"))),
            [
                "claude-desktop /h/.config/Claude/claude_desktop_config.json",
                "claude-code /h/.claude.json",
                "cursor /h/.cursor/mcp.json",
                "vscode /h/.config/Code/User/mcp.json",
                "vscode /h/.config/Code/User/settings.json",
                "vscode /h/.config/Code - Insiders/User/mcp.json",
                "vscode /h/.config/Code - Insiders/User/settings.json",
                "codex /h/.codex/config.toml",
                "gemini /h/.gemini/settings.json",
                "windsurf /h/.codeium/windsurf/mcp_config.json",
                "zed /h/.config/zed/settings.json",
                "opencode /h/.config/opencode/opencode.json",
                "opencode /h/.config/opencode/opencode.jsonc",
                "claude-code /p/.mcp.json",
                "cursor /p/.cursor/mcp.json",
                "vscode /p/.vscode/mcp.json",
                "vscode /p/.vscode/settings.json",
                "codex /p/.codex/config.toml",
            ]
        );
        assert_eq!(
            paths(Platform::MacOs, None)[0],
            "claude-desktop /h/Library/Application Support/Claude/claude_desktop_config.json"
        );
        assert_eq!(
            paths(Platform::Windows, None)[0],
            "claude-desktop /h/AppData/Roaming/Claude/claude_desktop_config.json"
        );
        assert_eq!(
            paths(Platform::Linux, Some(Path::new("/h"))).iter().filter(|path| path.contains(".cursor")).count(),
            1
        );
    }
}
