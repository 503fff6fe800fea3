//! Deleting whole trees, by whatever program.

use super::argument::Arguments;
use super::files;
use super::lexer::Word;
use crate::{Finding, Verdict};

/// Folders of a project that its tools make and can make again. Whether one may go is asked.
const BUILT: &[&str] = &[
    ".cache",
    ".eggs",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".nyc_output",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".tox",
    ".turbo",
    ".venv",
    ".vite",
    "__pycache__",
    "_build",
    "_site",
    "bazel-out",
    "build",
    "cmake-build-debug",
    "cmake-build-release",
    "coverage",
    "DerivedData",
    "dist",
    "htmlcov",
    "node_modules",
    "obj",
    "out",
    "Pods",
    "target",
    "tmp",
    "venv",
];

/// A folder of the project that holds only what was built, or something in one, by a path that leads nowhere else.
fn is_built(path: &str) -> bool {
    let steps: Vec<&str> = path.trim_start_matches("./").trim_end_matches('/').split('/').collect();
    let is_plain = |step: &&str| !step.is_empty() && *step != ".." && !step.contains(['[', '$', '~', '{', '\\']);
    let Some(at) = steps.iter().position(|step| BUILT.contains(step)) else { return false };
    let (folder, inside) = steps.split_at(at + 1);
    // `dist/*` is what is in it; `.*` may be the folder above.
    let is_inside = |step: &&str| is_plain(step) && !(step.starts_with('.') && step.contains(['*', '?']));
    !path.starts_with('/')
        && folder.iter().all(|step| is_plain(step) && !step.contains(['*', '?']))
        && inside.iter().all(is_inside)
}

pub(super) fn check(program: &str, arguments: &[Word]) -> Verdict {
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let any = |words: &[&str]| texts.iter().any(|text| words.contains(text));
    let deletes = match program {
        "rm" | "grm" | "unlink" => {
            let read = Arguments::read(arguments, "");
            let tree = read.has("rR") || read.has_long(&["recursive", "no-preserve-root"]) || cut_recursive(&read);
            let vital = read.operands.iter().any(|path| files::is_system_path(path) || files::is_home(path));
            vital || tree && !read.operands.iter().all(|path| is_built(path))
        }
        "rmdir" => texts.iter().any(|text| text.eq_ignore_ascii_case("/s")),
        "rimraf" | "safe-rm" | "del-cli" | "rmrf" | "rm-rf" | "trash-empty" | "bleachbit" => true,
        // What is picked by its name below the project may be asked about.
        "find" | "gfind" | "bfs" => {
            let picked = any(&["-name", "-iname", "-path", "-empty"]);
            let starts = texts.iter().take_while(|text| !text.starts_with(['-', '(', '!']));
            let inside = |text: &&str| !text.starts_with(['/', '~', '$']) && !text.contains("..");
            any(&["-delete"]) && !(picked && starts.clone().count() > 0 && starts.into_iter().all(inside))
        }
        "rsync" => {
            let read = Arguments::read(arguments, "eTfBM");
            read.long_names().any(|name| name.starts_with("del") || name.starts_with("remove-s"))
        }
        "tar" | "gtar" | "bsdtar" => Arguments::read(arguments, "fCTX").has_long(&["remove-files", "recursive-unlink"]),
        "zip" => {
            let read = Arguments::read(arguments, "bnOtx");
            texts.iter().any(|text| !text.starts_with("--") && text.starts_with('-') && text.contains('m'))
                || read.has_long(&["move"])
        }
        "7z" | "7za" | "7zz" | "7zr" => any(&["-sdel"]),
        "git" => is_git_delete(&texts),
        "bzr" | "p4" => any(&["clean-tree", "clean"]),
        "ansible" => texts.iter().any(|text| text.contains("state=absent")),
        "remove-item" | "ri" => {
            texts.iter().any(|text| text.to_ascii_lowercase().starts_with("-rec") || text.eq_ignore_ascii_case("-r"))
        }
        "hg" | "svn" => {
            any(&["purge", "--purge", "cleanup"])
                && any(&["purge", "--all", "--remove-unversioned", "--remove-ignored"])
        }
        "aws" => {
            (any(&["s3"]) && any(&["rm", "sync"]) && any(&["--recursive", "--delete"]))
                || (any(&["rb"]) && any(&["--force"]))
        }
        "gsutil" => {
            any(&["rm", "rsync"])
                && texts.iter().any(|text| {
                    text.starts_with('-') && (text.contains('r') || text.contains('R') || text.contains('d'))
                })
        }
        "gcloud" => any(&["rm", "delete"]) && any(&["-r", "--recursive", "projects"]),
        "az" => any(&["delete-batch"]) || (any(&["delete"]) && any(&["group", "container", "share"])),
        "rclone" => any(&["purge", "delete", "sync", "rmdirs", "cleanup", "move"]),
        "mc" => any(&["rm", "rb", "mirror"]) && any(&["--recursive", "-r", "--force", "--remove"]),
        "hdfs" | "hadoop" => any(&["-rm", "-rmr", "-rmdir"]) && any(&["-r", "-R", "-rmr", "-skipTrash"]),
        "lftp" => texts.iter().any(|text| text.contains("rm -r") || text.contains("--delete")),
        "robocopy" => {
            texts.iter().any(|text| matches!(text.to_ascii_lowercase().as_str(), "/mir" | "/purge" | "/move"))
        }
        "gio" => any(&["remove"]) && any(&["-f", "--force"]),
        "btrfs" => any(&["delete"]),
        "cmake" => any(&["-E"]) && any(&["rm", "remove_directory"]),
        "fd" | "fdfind" => Arguments::read(arguments, "edtEcjSo").operands.len() > 2 && any(&["rm"]),
        "unison" => any(&["-force"]),
        "restic" | "borg" => any(&["forget", "prune", "delete"]) && any(&["--prune", "delete", "prune"]),
        "robomirror" | "mirrordir" => true,
        _ => false,
    };
    if deletes {
        return Err(Finding::new("shell-delete", format!("`{program}` would delete a tree or something vital"))
            .suggest("name the single files to delete"));
    }
    Ok(())
}

/// `rm --r` is `rm --recursive`: no other option begins so.
fn cut_recursive(read: &Arguments<'_>) -> bool {
    read.long_names().any(|name| matches!(name, "r" | "re"))
}

fn is_git_delete(texts: &[&str]) -> bool {
    let Some((verb, rest)) = super::code::git_verb(texts) else { return false };
    let flag = |letters: &str, names: &[&str]| {
        rest.iter().any(|text| {
            if let Some(long) = text.strip_prefix("--") {
                names.iter().any(|name| long.len() >= 3 && name.starts_with(long))
            } else {
                text.starts_with('-') && text.contains(|c: char| letters.contains(c))
            }
        })
    };
    match verb {
        "rm" => flag("r", &[]) && !flag("", &["cached", "dry-run"]),
        "worktree" => rest.contains(&"remove") && flag("f", &["force"]),
        "submodule" => rest.contains(&"deinit") && flag("f", &["force", "all"]),
        "reflog" => rest.contains(&"expire") && flag("", &["all", "expire"]),
        "filter-branch" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_built_and_what_is_in_it() {
        for path in
            ["target", "target/debug", "./target/debug/", "packages/a/dist/*", "node_modules/.cache", "build/x/y.o"]
        {
            assert!(is_built(path), "{path}");
        }
        for path in [
            "/srv/target",
            "../target",
            "target/..",
            "target/../src",
            "src",
            "*/target",
            "build/.*",
            "~/build",
            "target/$X",
            "",
        ] {
            assert!(!is_built(path), "{path}");
        }
    }
}
