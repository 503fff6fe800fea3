//! Where the relative paths of a server may begin: the folder in which it was started, every folder that it was given on
//! its command line, and every root that a client named to it, since many servers (the official one for files among them)
//! resolve them there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard_peer::client::Target;
use switchboard_policy::permission::Scope;
use switchboard_upstream::MAX_BASES;

use switchboard_upstream::Server;

/// How long it may take to look which arguments are folders.
const FOLDER_TIMEOUT: Duration = Duration::from_secs(5);

/// The folders at which relative paths may begin. All of them count: a path must lie inside from each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bases {
    first: String,
    others: Vec<String>,
}

impl Default for Bases {
    fn default() -> Self {
        Self { first: "/".to_owned(), others: Vec::new() }
    }
}

impl Bases {
    /// Those of a server, as far as limits of paths want to know.
    pub(super) async fn of(server: &Server, scopes: &[Scope]) -> Self {
        let limits_paths = scopes.iter().any(|scope| scope.paths.is_some() || !scope.deny_paths.is_empty());
        let roots = if limits_paths { server.roots.folders() } else { Vec::new() };
        let (cwd, args) = match &server.spec.target {
            Target::Command(command) if limits_paths => (command.cwd.clone(), command.args.clone()),
            Target::Command(command) => (command.cwd.clone(), Vec::new()),
            _ => (None, Vec::new()),
        };
        let here = std::env::current_dir().ok();
        let cwd = match (here, cwd) {
            (Some(here), Some(cwd)) => here.join(cwd),
            (here, cwd) => cwd.or(here).unwrap_or_else(|| PathBuf::from("/")),
        };
        let first = shown(&cwd);
        let home = std::env::home_dir();
        let candidates = candidates(&cwd, home.as_deref(), &args);
        if candidates.is_empty() {
            return Self { first, others: roots };
        }
        let unread =
            candidates.iter().filter(|candidate| candidate.sure).map(|candidate| shown(&candidate.path)).collect();
        // Disks may be slow.
        let looking = tokio::task::spawn_blocking(move || folders(&candidates));
        let mut others: Vec<String> = match tokio::time::timeout(FOLDER_TIMEOUT, looking).await {
            Ok(Ok(folders)) => folders,
            _ => unread,
        };
        others.extend(roots);
        Self { first, others }
    }

    pub(super) fn first(&self) -> &str {
        &self.first
    }

    pub(super) fn others(&self) -> &[String] {
        &self.others
    }
}

/// An argument that may be a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    path: PathBuf,
    /// Whether it is written as a path, and not as a word that happens to be one.
    sure: bool,
}

/// The arguments that may be folders.
fn candidates(cwd: &Path, home: Option<&Path>, args: &[String]) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let values = args.iter().flat_map(|arg| {
        // `--root=/srv`; also `root=/srv`, as some take it.
        let value = arg.split_once('=').map(|(_, value)| value);
        [Some(arg.as_str()).filter(|arg| !arg.starts_with('-')), value]
    });
    // Lists are written with commas and colons.
    for value in values.flatten().flat_map(|value| value.split(',')).filter(|value| !value.is_empty()) {
        let local = value.strip_prefix("file://").unwrap_or(value);
        let in_home = local.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let path = match (in_home, home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
            _ => cwd.join(local),
        };
        let sure = in_home.is_some() || local.starts_with('/') || local == "." || local == ".." || local.contains("./");
        if found.len() <= MAX_BASES && !found.iter().any(|known| known.path == path) {
            found.push(Candidate { path, sure });
        }
    }
    found
}

/// Those of them that are folders, or may become some: what is not there yet and has no ending, as files have.
fn folders(candidates: &[Candidate]) -> Vec<String> {
    let is_folder = |candidate: &&Candidate| match std::fs::metadata(&candidate.path) {
        Ok(metadata) => metadata.is_dir(),
        Err(_) => candidate.sure && candidate.path.extension().is_none(),
    };
    let mut folders: Vec<String> =
        candidates.iter().filter(is_folder).map(|candidate| shown(&candidate.path)).collect();
    if folders.len() > MAX_BASES {
        // No grant covers it.
        folders = vec!["/".to_owned()];
    }
    folders
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn folders_on_the_command_line_are_bases_and_files_and_words_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for name in ["files", "more", "data"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        std::fs::write(root.join("index.js"), "").unwrap();
        let absolute = |name: &str| shown(&root.join(name));
        for (given, expected) in [
            (vec![absolute("index.js"), absolute("files")], vec![absolute("files")]),
            (vec![format!("--root={}", absolute("files"))], vec![absolute("files")]),
            (vec!["--root".to_owned(), absolute("files")], vec![absolute("files")]),
            (vec![format!("file://{}", absolute("more"))], vec![absolute("more")]),
            (vec![format!("{},{}", absolute("files"), absolute("more"))], vec![absolute("files"), absolute("more")]),
            (args(&["data"]), vec![absolute("data")]),
            (args(&["-y", "@scope/package", "serve", "--verbose"]), vec![]),
            // What is not there yet may become a folder, but hardly one with an ending.
            (vec![absolute("later"), absolute("later.db")], vec![absolute("later")]),
            (args(&["~/files"]), vec!["/homes/ann/files".to_owned()]),
        ] {
            let found = folders(&candidates(root, Some(Path::new("/homes/ann")), &given));
            assert_eq!(found, expected, "{given:?}");
        }
    }
}
