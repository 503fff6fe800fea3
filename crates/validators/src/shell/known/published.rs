//! Copies, archives and clones in folders that a web server shows. A person is asked.

use super::kept::{is_shown, value};
use super::outputs;
use crate::shell::lexer::Word;

/// Programs that copy or pack folders, or print lists of them into files.
const COPYING: &str = "asar fossil gio lndir borg cmake cpio ditto find git hg jar jj kubectl mksquashfs npm oras pax podman docker \
     python.tarfile python.zipfile rclone restic skopeo svn tree crane sqlite3 redis-cli code2prompt files-to-prompt \
     repomix gitingest xcopy robocopy yadm bsdtar dpkg-deb genisoimage mkisofs xorriso wim zpaq rar ar lha arj";

/// Whether everybody would see what such a program puts there.
pub(super) fn publishes(name: &str, subcommand: Option<&str>, words: &[Word]) -> bool {
    let reads = name == "git"
        && !matches!(
            subcommand,
            Some("clone" | "archive" | "bundle" | "worktree" | "checkout-index" | "format-patch" | "subtree" | "init")
        )
        || matches!(name, "npm") && subcommand != Some("pack")
        || matches!(name, "docker" | "podman")
            && !matches!(subcommand, Some("save" | "export" | "cp" | "container" | "image"))
        || name == "kubectl" && subcommand != Some("cp")
        || name == "cmake" && !words.iter().any(|word| word.text == "-E")
        || name == "tree" && !words.iter().any(|word| word.text.starts_with("-o"))
        || name == "find" && !words.iter().any(|word| word.text.starts_with("-fp") || word.text.starts_with("-fls"));
    let is_asset =
        |text: &str| text.rsplit('/').next().is_some_and(|file| file.contains('.')) && outputs::is_shown_there(text);
    crate::listed(COPYING, name)
        && !reads
        && words.iter().any(|word| is_shown(&word.text) && !is_asset(value(&word.text)))
}
