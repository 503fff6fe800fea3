//! Programs that only read, for the `readonly` validator and for what may be run on many files.

use super::argument::Arguments;
use super::lexer::Word;
use super::program::base_name;
use crate::{Finding, Verdict};

/// Programs that read files and print, whatever their arguments.
const FILE_READERS: &str = "cat head tail wc grep egrep fgrep zgrep rg ag ls stat file du md5sum sha1sum sha224sum sha256sum sha384sum \
     sha512sum b2sum cksum shasum basename dirname realpath readlink echo printf nl tac rev cut od xxd hexdump \
     strings zcat bzcat xzcat zstdcat column fold expand jq identify exa";

/// Programs that only show the state of the machine, or compute.
const STATE_READERS: &[&str] = &[
    "pwd", "whoami", "id", "groups", "uname", "hostname", "uptime", "date", "cal", "df", "free", "ps", "pgrep",
    "pstree", "lsblk", "lscpu", "lsmem", "lspci", "lsusb", "lsof", "nproc", "arch", "printenv", "env", "which",
    "whereis", "type", "locale", "getconf", "tty", "users", "who", "w", "last", "tree", "eza", "diff", "cmp", "comm",
    "sort", "uniq", "tr", "join", "paste", "seq", "expr", "test", "[", "true", "false", "sleep", "bc", "factor", "man",
    "tldr", "ping", "dig", "nslookup", "host", "getent", "find", "fd", "git", "less", "more", "ss", "netstat", "bat",
];

/// Subcommands of git that change nothing.
const GIT_READERS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "shortlog",
    "describe",
    "rev-parse",
    "rev-list",
    "ls-files",
    "ls-tree",
    "ls-remote",
    "cat-file",
    "grep",
    "reflog",
    "name-rev",
    "merge-base",
    "whatchanged",
    "cherry",
    "count-objects",
    "version",
    "help",
];

/// Whether the program may be given any files.
pub(super) fn is_file_reader(program: &str) -> bool {
    crate::listed(FILE_READERS, program)
}

/// Whether the program may be given any arguments that nobody has seen.
pub(super) fn is_reader(program: &str) -> bool {
    is_file_reader(program)
        || ["diff", "cmp", "sort", "uniq", "test", "ping", "which", "id", "man", "bat"].contains(&program)
}

/// Whether these words only read.
pub(super) fn check(words: &[Word]) -> Verdict {
    let refused = |what: String| Err(Finding::new("shell-readonly", what).suggest("use a program that only reads"));
    let Some((name, arguments)) = words.split_first() else { return refused("the command is empty".to_owned()) };
    let program = base_name(&name.text);
    if name.assignment().is_some() || !(is_file_reader(&program) || STATE_READERS.contains(&program.as_str())) {
        return refused(format!("`{}` is not known to only read", name.text));
    }
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    let read = |with_value: &str| Arguments::read(arguments, with_value);
    let changes = match program.as_str() {
        "git" => super::code::git_verb(&texts).is_none_or(|(verb, rest)| {
            let listing = match verb {
                "branch" => rest
                    .iter()
                    .all(|text| ["-a", "-r", "-v", "-vv", "--list", "--all", "--show-current"].contains(text)),
                "tag" => rest.is_empty() || rest[0] == "-l" || rest[0] == "--list",
                "remote" => {
                    rest.is_empty()
                        || rest == ["-v"]
                        || rest.first() == Some(&"show")
                        || rest.first() == Some(&"get-url")
                }
                "config" => rest.iter().any(|text| text.starts_with("--get") || *text == "--list" || *text == "-l"),
                "stash" => rest.first() == Some(&"list") || rest.first() == Some(&"show"),
                "reflog" => rest.first().is_none_or(|verb| *verb == "show"),
                verb => GIT_READERS.contains(&verb),
            };
            !listing || rest.iter().any(|text| text.starts_with("--output") || *text == "-o")
        }),
        "find" => texts.iter().any(|text| {
            text.starts_with("-fprint")
                || *text == "-fls"
                || text.starts_with("-exec")
                || text.starts_with("-ok")
                || *text == "-delete"
        }),
        "fd" => texts.iter().any(|text| text.starts_with("-x") || text.starts_with("-X") || text.starts_with("--exec")),
        "sort" => read("kStT").has("o") || read("kStTo").has_long(&["output"]),
        "uniq" => read("fsw").operands.len() > 1,
        "tree" | "xxd" => read("LPIH").has("or") || read("clgos").operands.len() > 1,
        "date" => texts.iter().any(|text| *text == "-s" || text.starts_with("--set")),
        "hostname" => texts.iter().any(|text| !text.starts_with('-')),
        "env" => !texts.is_empty(),
        "less" | "more" | "man" | "bat" => texts.iter().any(|text| {
            text.starts_with("-o") || text.starts_with("-O") || text.starts_with("--log-file") || text.starts_with('+')
        }),
        "file" => texts.iter().any(|text| *text == "-C" || *text == "--compile"),
        "ss" => texts.iter().any(|text| *text == "-K" || *text == "--kill"),
        _ => false,
    };
    if changes { refused(format!("`{program}` with these arguments changes something")) } else { Ok(()) }
}
