//! Where programs are looked for that are named without their folder.
//!
//! Desktop programs are started with a `PATH` of a few folders, and the shell of the same user has those in which package runners are
//! installed. Both start servers, often the same ones. So the usual folders come after those of our own `PATH`, in which alone is
//! looked first.

use std::env::{join_paths, split_paths};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Folders of the user's programs, in the home folder.
const OF_THE_USER: &[&str] = &[
    ".local/bin",
    "bin",
    ".cargo/bin",
    ".bun/bin",
    ".deno/bin",
    ".volta/bin",
    ".asdf/shims",
    ".local/share/mise/shims",
    ".pyenv/shims",
];
/// Folders of programs that were installed beside those of the system.
const OF_THE_MACHINE: &[&str] = &["/opt/homebrew/bin", "/usr/local/bin", "/snap/bin", "/usr/bin", "/bin"];

/// The `PATH` that children get: our own, and then the usual folders that are there and that it does not have.
#[must_use]
pub fn search_path() -> OsString {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    extended(std::env::var_os("PATH"), home.as_deref(), is_safe_folder)
}

/// Where a program that is named without its folder is on [`search_path`].
#[must_use]
pub fn place_of(program: &str) -> Option<PathBuf> {
    let path = search_path();
    split_paths(&path).map(|folder| folder.join(program)).find(|file| is_program(file))
}

fn extended(path: Option<OsString>, home: Option<&Path>, is_there: impl Fn(&Path) -> bool) -> OsString {
    let own = path.unwrap_or_default();
    if cfg!(windows) {
        return own;
    }
    let mut folders: Vec<PathBuf> = split_paths(&own).collect();
    let of_the_user = home.into_iter().flat_map(|home| OF_THE_USER.iter().map(move |folder| home.join(folder)));
    for folder in of_the_user.chain(OF_THE_MACHINE.iter().map(PathBuf::from)) {
        if !folders.contains(&folder) && is_there(&folder) {
            folders.push(folder);
        }
    }
    // An empty variable means the current folder to some programs: none is better.
    folders.retain(|folder| folder.as_os_str() != OsStr::new("") || !own.is_empty());
    join_paths(folders).unwrap_or(own)
}

/// Whether it is a folder into which not everybody can put programs.
fn is_safe_folder(folder: &Path) -> bool {
    let Ok(metadata) = std::fs::metadata(folder) else { return false };
    #[cfg(unix)]
    let is_open = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o002 != 0;
    #[cfg(not(unix))]
    let is_open = false;
    metadata.is_dir() && !is_open
}

fn is_program(path: &Path) -> bool {
    let Ok(metadata) = std::fs::metadata(path) else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    metadata.is_file() && may_run
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_folders_come_after_our_own() {
        let there = |folder: &Path| folder.starts_with("/h/ann") || folder == Path::new("/usr/bin");
        let found = |path: Option<&str>, home: Option<&str>| {
            let found = extended(path.map(OsString::from), home.map(Path::new), there);
            let folders: Vec<String> = split_paths(&found).map(|folder| folder.display().to_string()).collect();
            folders
        };
        let of_a_desktop = found(Some("/bin:/usr/bin"), Some("/h/ann"));
        assert_eq!(of_a_desktop[..4], ["/bin", "/usr/bin", "/h/ann/.local/bin", "/h/ann/bin"]);
        let of_a_shell = found(Some("/h/ann/venv/bin:/h/ann/.local/bin:/usr/bin"), Some("/h/ann"));
        assert_eq!(of_a_shell[..3], ["/h/ann/venv/bin", "/h/ann/.local/bin", "/usr/bin"]);
        assert_eq!(of_a_shell.iter().filter(|folder| folder.ends_with(".local/bin")).count(), 1);
        assert_eq!(found(None, None), ["/usr/bin"]);
    }

    #[test]
    fn a_folder_that_everybody_can_write_to_is_left_out() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mode = |mode| std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o755);
        assert!(is_safe_folder(folder.path()));
        mode(0o777);
        assert!(!is_safe_folder(folder.path()));
    }
}
