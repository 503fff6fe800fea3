//! Relative paths in a server's command: what they meant to its client, and what they mean here.
//!
//! A client starts servers in the folder in which it was started itself. Here a server of the user's file has a folder of its
//! own, whichever client uses it, so `./data.db` is another file, without any error to tell of it.

use std::path::{Path, PathBuf};

use super::Client;
use crate::entry::ServerEntry;
use crate::expand::{escaped, is_variable_name};
use crate::secret::printable;

/// Paths that are named in a note at most.
const MAX_NAMED: usize = 4;
/// Endings by which a word without any folder is a file.
const FILE_ENDINGS: [&str; 14] = [
    ".js", ".mjs", ".cjs", ".ts", ".py", ".sh", ".rb", ".php", ".jar", ".db", ".sqlite", ".sqlite3", ".duckdb", ".env",
];
/// Programs whose first words name packages or images.
const RUNNERS: [&str; 7] = ["npx", "bunx", "uvx", "pipx", "docker", "podman", "pnpm"];
/// Options that name the folder in which the rest is looked for.
const FOLDER_OPTIONS: [&str; 6] = ["--directory", "--project", "--cwd", "--prefix", "--dir", "-C"];

/// The relative paths in the command of a server that names no working folder, as it would be run.
#[must_use]
pub fn relative_paths(entry: &ServerEntry) -> Vec<String> {
    let Some(command) = entry.command.as_deref().filter(|_| entry.cwd.is_none()) else { return Vec::new() };
    let program = command.rsplit(['/', '\\']).next().unwrap_or_default();
    let elsewhere = RUNNERS.contains(&program) || entry.args.iter().any(|arg| names_folder(arg));
    let own = (command.contains(['/', '\\']) && !is_anchored(command)).then(|| command.to_owned());
    let words = entry.args.iter().map(|arg| value_of(arg));
    let is_path = |word: &&str| begins_here(word) || !elsewhere && is_bare_file(word);
    own.into_iter().chain(words.filter(is_path).map(str::to_owned)).collect()
}

/// Gives a server of a project the folder that its relative paths meant; of others it is said that they mean another.
pub(super) fn settle(client: Client, project: Option<&Path>, entry: &mut ServerEntry) -> Option<String> {
    let own = entry.cwd.as_deref().filter(|cwd| !is_anchored(cwd)).map(PathBuf::from);
    if let Some(own) = own {
        let shown = printable(&own.display().to_string());
        let Some(project) = project else {
            return Some(format!(
                "`cwd` is the relative path `{shown}`: {client} takes it from the folder it was started in, and here it is \
                 taken from the folder of the configuration; write the whole path"
            ));
        };
        entry.cwd = Some(escaped(&project.join(own).display().to_string()));
        return Some(format!("`cwd` was `{shown}` in the project; the whole path was written"));
    }
    let paths = relative_paths(entry);
    let (first, more) = (paths.first()?, paths.len() - 1);
    let named: Vec<String> = paths.iter().take(MAX_NAMED).map(|path| format!("`{}`", printable(path))).collect();
    let is = if more == 0 { "is a relative path" } else { "are relative paths" };
    let rest = if paths.len() > MAX_NAMED { " and others" } else { "" };
    let named = format!("{}{rest} {is}", named.join(", "));
    match project {
        Some(project) => {
            let folder = project.display().to_string();
            entry.cwd = Some(escaped(&folder));
            Some(format!("{named}; `cwd` was set to the folder of the project, {}", printable(&folder)))
        }
        None => Some(format!(
            "{named}: {client} takes it from the folder it was started in, and here it is taken from a folder of the \
             server's own; write the whole path instead of `{}`, or set `cwd`",
            printable(first)
        )),
    }
}

/// What an argument says, without the name in front of it.
fn value_of(arg: &str) -> &str {
    match arg.split_once('=') {
        Some((name, value)) if name.starts_with('-') || is_variable_name(name) => value,
        _ => arg,
    }
}

fn begins_here(word: &str) -> bool {
    matches!(word, "." | "..") || ["./", "../", ".\\", "..\\"].iter().any(|here| word.starts_with(here))
}

fn is_bare_file(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/\\".contains(c);
    let is_word = word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && word.chars().all(plain);
    is_word && FILE_ENDINGS.iter().any(|ending| word.to_ascii_lowercase().ends_with(ending))
}

/// Whether a path does not depend on the folder in which something is started.
fn is_anchored(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    path.starts_with(['/', '\\', '~']) || drive || path.starts_with("${")
}

fn names_folder(arg: &str) -> bool {
    FOLDER_OPTIONS.contains(&arg.split('=').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(words: &[&str]) -> ServerEntry {
        ServerEntry::stdio("a", words[0], words[1..].iter().map(|&word| word.to_owned()).collect())
    }

    #[test]
    fn relative_paths_are_found() {
        for (words, found) in [
            (&["npx", "-y", "@modelcontextprotocol/server-filesystem", "."][..], &["."][..]),
            (&["uvx", "mcp-server-sqlite", "--db-path", "./data/t.db"], &["./data/t.db"]),
            (&["uvx", "mcp-server-sqlite", "--db-path=../t.db"], &["../t.db"]),
            (&["./server.sh"], &["./server.sh"]),
            (&["bin/server", "x"], &["bin/server"]),
            (&["node", "dist/index.js"], &["dist/index.js"]),
            (&["python", "server.py", "--mode", "fast"], &["server.py"]),
            (&["docker", "run", "-v", "./data:/data", "img"], &["./data:/data"]),
            (&["env", "DB=./x.db", "run"], &["./x.db"]),
            (&["uv", "--directory", "/srv/app", "run", "server.py"], &[]),
            (&["npx", "-y", "chart.js", "@scope/pkg", "owner/repo"], &[]),
            (&["/opt/x", "/srv/data", "~/x.db", "${HOME}/y.db", "https://x.test/a.js"], &[]),
        ] {
            assert_eq!(relative_paths(&entry(words)), found, "{words:?}");
        }
        let settled = ServerEntry { cwd: Some("/srv".to_owned()), ..entry(&["./server.sh"]) };
        assert!(relative_paths(&settled).is_empty());
    }

    #[test]
    fn a_project_tells_the_folder_and_the_user_is_told() {
        let mut server = entry(&["./server.sh", "--db", "./t.db"]);
        let note = settle(Client::Cursor, Some(Path::new("/p")), &mut server).unwrap();
        assert_eq!(server.cwd.as_deref(), Some("/p"));
        assert!(note.contains("`./server.sh`, `./t.db` are relative paths") && note.ends_with("/p"), "{note}");
        let mut server = entry(&["./server.sh"]);
        let note = settle(Client::Cursor, None, &mut server).unwrap();
        assert!(server.cwd.is_none() && note.contains("Cursor takes it from the folder it was started in"), "{note}");
        for (project, cwd) in [(Some(Path::new("/p")), "/p/sub"), (None, "sub")] {
            let mut server = ServerEntry { cwd: Some("sub".to_owned()), ..entry(&["x"]) };
            assert!(settle(Client::Cursor, project, &mut server).is_some());
            assert_eq!(server.cwd.as_deref(), Some(cwd));
        }
        assert_eq!(settle(Client::Cursor, None, &mut entry(&["npx", "-y", "x"])), None);
    }
}
