//! Which release of a package a server's command runs: what `follow` goes by.
//!
//! Many servers say the same version of themselves for ever. The package knows better: its version stands in the command
//! (`pkg@1.2.3`, `pkg==1.2.3`), or in the `package.json` of what npm installed and the command runs. Where neither is certain
//! nothing is said, and the server's own word counts. Nothing here decides; a wrong answer can only make `follow` ask or
//! pass one definition that screening has nothing against.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use sha2::{Digest as _, Sha512};
use switchboard_transport::child::{self, CommandSpec};

/// Time for looking at a disk, which may be one of the network.
const LOOK_TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes of a `package.json` that are read.
const MAX_MANIFEST: u64 = 1 << 20;
/// Folders of `PATH` that are looked into.
const MAX_FOLDERS: usize = 64;
/// The program whose packages lie in the cache of npm.
const NPX: &str = "npx";
/// Programs that show what a server elsewhere says: their release says nothing of its definitions.
const BRIDGES: [&str; 5] = ["mcp-remote", "mcp-proxy", "supergateway", "mcp-remote-proxy", "@smithery/cli"];

/// The version of the package that a command runs, where it can be had for certain.
pub(crate) async fn version_of(command: &CommandSpec) -> Option<String> {
    if let Some(version) = named(command) {
        return Some(version);
    }
    let command = command.clone();
    let looking = tokio::task::spawn_blocking(move || installed(&command));
    tokio::time::timeout(LOOK_TIMEOUT, looking).await.ok()?.ok()?
}

/// Whether a command only passes on what a server elsewhere says.
pub(crate) fn is_bridge(command: &CommandSpec) -> bool {
    let words = std::iter::once(child::program_name(&command.program)).chain(command.args.iter().map(String::as_str));
    words.take(8).any(|word| BRIDGES.contains(&base_of_package(word)))
}

/// The version that stands in the command.
fn named(command: &CommandSpec) -> Option<String> {
    let package = child::fetches(&command.program).then(|| child::fetched_package(&command.args))??;
    let version = match package.split_once("==") {
        Some((_, version)) => version,
        None => package.rsplit_once('@').filter(|(name, _)| !name.is_empty())?.1,
    };
    let is_exact = version.starts_with(|c: char| c.is_ascii_digit())
        && version.contains('.')
        && version.chars().all(|c| c.is_ascii_alphanumeric() || ".+-".contains(c));
    is_exact.then(|| version.to_owned())
}

fn installed(command: &CommandSpec) -> Option<String> {
    let variable = |name: &str| {
        let own = command.env.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        own.or_else(|| std::env::var(name).ok()).filter(|value| !value.is_empty())
    };
    let program = child::program_name(&command.program);
    if program == NPX {
        let spec = child::fetched_package(&command.args)?;
        let home = || variable("HOME").or_else(|| variable("USERPROFILE")).map(|home| Path::new(&home).join(".npm"));
        let cache = variable("npm_config_cache").map(PathBuf::from).or_else(home)?;
        let folder = cache.join("_npx").join(npx_folder(spec)).join("node_modules").join(name_of(spec));
        return version_in(&folder);
    }
    if program == "node" {
        // Options of node may stand before the script.
        let script = command.args.iter().find(|arg| !arg.starts_with('-')).map(Path::new)?;
        return version_around(&placed(script, command));
    }
    if command.program.contains(['/', '\\']) {
        return version_around(&placed(Path::new(&command.program), command));
    }
    let own = command.env.iter().find(|(key, _)| key == "PATH").map(|(_, path)| path.into());
    let folders = own.unwrap_or_else(child::search_path);
    for folder in std::env::split_paths(&folders).take(MAX_FOLDERS) {
        let file = folder.join(&command.program);
        if std::fs::metadata(&file).is_ok_and(|found| found.is_file()) {
            return version_around(&file);
        }
    }
    None
}

fn placed(path: &Path, command: &CommandSpec) -> PathBuf {
    command.cwd.as_deref().map_or_else(|| path.to_owned(), |folder| folder.join(path))
}

/// The version of the package that a file belongs to, if npm put it there.
fn version_around(file: &Path) -> Option<String> {
    let file = std::fs::canonicalize(file).ok()?;
    let is_modules = |folder: &Path| folder.file_name().is_some_and(|name| name == "node_modules");
    let is_scope = |folder: &Path| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with('@'));
    let is_package = |folder: &&Path| match folder.parent() {
        Some(parent) if is_modules(parent) => !is_scope(folder),
        Some(parent) => is_scope(parent) && parent.parent().is_some_and(is_modules),
        None => false,
    };
    version_in(file.ancestors().find(is_package)?)
}

fn version_in(folder: &Path) -> Option<String> {
    let path = folder.join("package.json");
    // Opening a pipe would wait for its other end.
    std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
    let mut text = Vec::new();
    std::fs::File::open(path).ok()?.take(MAX_MANIFEST).read_to_end(&mut text).ok()?;
    let manifest: Value = serde_json::from_slice(&text).ok()?;
    manifest.get("version")?.as_str().map(str::to_owned)
}

/// The folder in which npx keeps what it installed for this word.
fn npx_folder(spec: &str) -> String {
    Sha512::digest(spec.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The name in `@scope/name@1.2.3`.
fn name_of(spec: &str) -> &str {
    spec.rsplit_once('@').map_or(spec, |(name, _)| if name.is_empty() { spec } else { name })
}

fn base_of_package(word: &str) -> &str {
    let name = word.split("==").next().unwrap_or_default();
    name_of(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(words: &[&str]) -> CommandSpec {
        let args = words[1..].iter().map(|&word| word.to_owned()).collect();
        CommandSpec {
            program: words[0].to_owned(),
            args,
            env: Vec::new(),
            pass_env: Vec::new(),
            cwd: None,
            makes_cwd: false,
            profile: None,
        }
    }

    #[test]
    fn versions_in_commands() {
        for (words, version) in [
            (&["npx", "-y", "@scope/pkg@1.2.3", "/srv"][..], Some("1.2.3")),
            (&["npx", "-y", "pkg@2026.8.31"], Some("2026.8.31")),
            (&["npx", "-y", "@scope/pkg"], None),
            (&["npx", "-y", "pkg@latest"], None),
            (&["npx", "-y", "pkg@^1.2.0"], None),
            (&["npx", "-y", "--package", "pkg@3.1.0", "cmd"], Some("3.1.0")),
            (&["uvx", "mcp-server-git==2.1.0"], Some("2.1.0")),
            (&["uvx", "pkg[cli]@1.0.0", "--at", "me@9.9.9"], Some("1.0.0")),
            (&["uvx", "--from", "pkg==1.0rc1.2", "cmd"], Some("1.0rc1.2")),
            (&["uv", "tool", "run", "pkg@1.1.1"], Some("1.1.1")),
            (&["node", "pkg@1.2.3"], None),
            (&["npx", "-y", "pkg", "user@1.2.3"], None),
        ] {
            assert_eq!(named(&command(words)).as_deref(), version, "{words:?}");
        }
        assert_eq!(npx_folder("@modelcontextprotocol/server-filesystem"), "a3241bba59c344f5", "as npm names it");
    }

    #[test]
    fn bridges_are_known() {
        for (words, bridges) in [
            (&["npx", "-y", "mcp-remote@0.1.9", "https://x.test/sse"][..], true),
            (&["uvx", "mcp-proxy", "http://x.test"], true),
            (&["npx", "-y", "@smithery/cli@latest", "run", "x"], true),
            (&["npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv"], false),
        ] {
            assert_eq!(is_bridge(&command(words)), bridges, "{words:?}");
        }
    }

    #[tokio::test]
    async fn versions_of_what_npm_installed() {
        let folder = tempfile::tempdir().unwrap();
        let modules = folder.path().join("node_modules");
        let write = |path: PathBuf, text: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(modules.join("@scope/pkg/package.json"), r#"{"name": "@scope/pkg", "version": "4.5.6"}"#);
        write(modules.join("@scope/pkg/dist/package.json"), r#"{"type": "module"}"#);
        write(modules.join("@scope/pkg/dist/index.js"), "");
        let script = modules.join("@scope/pkg/dist/index.js").display().to_string();
        assert_eq!(version_of(&command(&["node", "--no-warnings", &script])).await.as_deref(), Some("4.5.6"));
        #[cfg(unix)]
        {
            std::fs::create_dir_all(modules.join(".bin")).unwrap();
            std::os::unix::fs::symlink("../@scope/pkg/dist/index.js", modules.join(".bin/pkg")).unwrap();
            let link = modules.join(".bin/pkg").display().to_string();
            assert_eq!(version_of(&command(&[&link])).await.as_deref(), Some("4.5.6"));
        }
        let cached = folder.path().join("_npx").join(npx_folder("pkg")).join("node_modules/pkg/package.json");
        write(cached, r#"{"version": "7.0.1"}"#);
        let npx = CommandSpec {
            env: vec![("npm_config_cache".to_owned(), folder.path().display().to_string())],
            ..command(&["npx", "-y", "pkg", "x"])
        };
        assert_eq!(version_of(&npx).await.as_deref(), Some("7.0.1"));
        assert_eq!(version_of(&command(&["/nowhere/at/all"])).await, None);
    }
}
