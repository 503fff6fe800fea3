//! What is put into files of a project by a known program: text that runs something, files of another kind over source code, and
//! what others left there. A person is asked.

use super::kept::{decides_by_name, ending, is_letter, is_made, is_source, is_source_name, is_store, packs, value};
use super::{artefacts, decisive, results};
use crate::shell::lexer::Word;

/// Programs that write and whose operands are all read, or are judged by rules of their own.
const INPUTS_ONLY: &str = "2to3 7z 7za 7zz awk black buildifier bzip2 chmod cp ctags curl docker dos2unix gawk gh git glab gsed gtar gzip \
     hg install isort jj jq kubectl ln mawk mkdir mv npm patch pdm pigz pip pip-compile pipenv poetry pyupgrade \
     rename rm rsync ruff sd sed svn tar tee touch truncate unzip uv wget xmllint xz yapf yq zip zstd";
/// Programs that put a text into files that are there.
const EDITING: &[&str] = &[
    "sed", "gsed", "sd", "rpl", "comby", "ast-grep", "sg", "crudini", "dasel", "yq", "perl", "ruby", "tomlq", "xq",
    "augtool", "plutil",
];
/// What runs something, in the languages of most projects.
const RUNNING: &[&str] = &[
    "os.system",
    "subprocess",
    "popen",
    "child_process",
    "execsync",
    "system(",
    "exec(",
    "eval(",
    "spawn(",
    "getruntime",
    "processbuilder",
    "curl ",
    "wget ",
    "| sh",
    "|sh",
    "| bash",
    "|bash",
    "$(",
    "`",
    "/bin/sh",
    "bash -c",
    "sh -c",
    "command::new",
    "__import__",
    "shell_exec",
    "passthru(",
    "nc -",
    "/dev/tcp",
];
/// Members of files of settings under which stands what a tool runs.
const RUN_MEMBERS: &[&str] = &[
    ".run",
    ".script",
    ".command",
    ".entrypoint",
    ".args",
    ".image",
    ".exec",
    ".hooks",
    ".uses",
    ".entry",
    ".cmd",
    ".before_script",
    ".steps",
    ".lifecycle",
    ".postcreatecommand",
];

/// Whether something that runs is put into a file.
pub(super) fn plants(name: &str, words: &[Word]) -> bool {
    let lower = || words.iter().map(|word| word.text.to_ascii_lowercase());
    let in_place = !matches!(name, "sed" | "gsed" | "yq" | "ast-grep" | "sg" | "xq" | "tomlq")
        || words.iter().any(|word| {
            let text = word.text.as_str();
            is_letter(text, 'i')
                || is_letter(text, 'U')
                || text.starts_with("--in-place")
                || text.starts_with("--inplace")
                || text == "--update-all"
        });
    EDITING.contains(&name)
        && in_place
        && lower().any(|text| {
            let sets = text.contains('=') && text.starts_with('.');
            RUNNING.iter().any(|runs| text.contains(runs))
                || sets
                    && RUN_MEMBERS.iter().any(|member| {
                        text.split('=')
                            .next()
                            .is_some_and(|path| path.trim_end_matches([' ', '+', '|', '*']).ends_with(member))
                    })
        })
}

/// Whether work is moved away or written over by something of another kind.
pub(super) fn replaces_work(name: &str, words: &[Word]) -> bool {
    let operands: Vec<&str> =
        words.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-')).collect();
    let Some((target, sources)) = operands.split_last().filter(|(_, sources)| !sources.is_empty()) else {
        return false;
    };
    let temporary = ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|place| target.starts_with(place));
    match name {
        "mv" => {
            temporary
                && sources
                    .iter()
                    .any(|source| !is_made(source) && !source.ends_with(".log") && !source.ends_with(".tmp"))
                || is_source(target)
                    && is_source_name(target)
                    && sources.iter().any(|source| ending(source) != ending(target) && !ending(source).is_empty())
        }
        "cp" | "install" => {
            is_source(target)
                && is_source_name(target)
                && sources.iter().any(|source| {
                    let end = ending(source);
                    end != ending(target)
                        && !matches!(
                            end,
                            "example"
                                | "sample"
                                | "template"
                                | "dist"
                                | "bak"
                                | "orig"
                                | "tmpl"
                                | "js"
                                | "ts"
                                | "jsx"
                                | "tsx"
                                | "mjs"
                                | "cjs"
                        )
                })
        }
        "convert" | "magick" => sources.contains(target),
        _ => false,
    }
}

/// Programs that unpack what they are given, or change files as it says.
const UNPACKING: &[&str] = &[
    "7z",
    "7za",
    "7zz",
    "asar",
    "bsdtar",
    "cabextract",
    "cpio",
    "dpkg-deb",
    "dtrx",
    "gtar",
    "hg",
    "jar",
    "ouch",
    "par2",
    "patch",
    "patool",
    "pax",
    "quilt",
    "tar",
    "unar",
    "unrar",
    "unzip",
    "git",
    "svn",
    "python.tarfile",
    "python.zipfile",
    "cmake",
];

/// Whether what others put there is unpacked over the project.
pub(super) fn unpacks_handed_in(name: &str, words: &[Word]) -> bool {
    let handed = |word: &&Word| decisive::is_handed_in(value(&word.text)) || word.text.contains("/Downloads/");
    let Some(archive) = words.iter().find(handed).filter(|_| UNPACKING.contains(&name)) else { return false };
    let lists = words.iter().any(|word| {
        matches!(
            word.text.as_str(),
            "-l" | "l"
                | "list"
                | "--list"
                | "-t"
                | "t"
                | "tf"
                | "tvf"
                | "-tf"
                | "-tzf"
                | "tzf"
                | "-tvf"
                | "status"
                | "log"
                | "diff"
                | "add"
                | "ls-files"
                | "ls"
                | "show"
        )
    });
    let elsewhere = words.iter().any(|word| word.text != archive.text && is_made(value(&word.text)));
    !lists && !elsewhere && !packs(name, words)
}

/// Whether the last operand of a program that turns files into others is code or decides what runs: there it writes.
pub(super) fn turns_into_code(name: &str, words: &[Word]) -> bool {
    let tidies = ["fmt", "format", "lint", "tidy", "fix", "flake", "style", "prettier", "sort", "unix", "pretty"]
        .iter()
        .any(|part| name.contains(part));
    if tidies || crate::listed(INPUTS_ONLY, name) {
        return false;
    }
    // Of most programs the value of an option stands behind it; of those for pictures and sound options are switches too.
    let converts =
        matches!(name, "ffmpeg" | "sox" | "convert" | "magick" | "composite" | "montage" | "inkscape" | "gifsicle");
    let is_value = |at: usize| {
        !converts
            && at
                .checked_sub(1)
                .and_then(|before| words.get(before))
                .is_some_and(|before| before.text.starts_with('-') && before.text != "--")
    };
    // The value of an option for settings is read.
    let is_read = |at: usize| {
        let option = at.checked_sub(1).and_then(|before| words.get(before)).map_or("", |word| word.text.as_str());
        matches!(option, "-c" | "-C")
            || option.starts_with("--")
                && ["config", "project", "manifest", "settings", "rc", "file"].iter().any(|name| option.contains(name))
    };
    let mut operands = words.iter().enumerate().filter(|(_, word)| !word.text.starts_with('-'));
    let sources: Vec<&str> = operands.clone().map(|(_, word)| word.text.as_str()).collect();
    let Some((first, _)) = operands.next() else { return false };
    let has_source = sources.iter().filter(|source| source.contains(['.', '/'])).count() > 1;
    operands.next_back().filter(|(at, _)| *at != first && !is_read(*at)).is_some_and(|(at, last)| {
        let last = last.text.as_str();
        is_source(last) && is_source_name(last)
            || decides_by_name(last)
            || artefacts::is_document(last)
            || is_store(last) && !last.ends_with(".bak") && !artefacts::makes_stores(name)
            || !is_value(at) && has_source && results::is_file(last) && !results::is_result(last, &sources)
    })
}
