//! Arguments that make a program run code: inline programs, hooks, pagers, plug-ins, escapes to a shell.

mod builtin;
mod git;
pub(super) mod script;
mod table;

pub(super) use git::verb as git_verb;
pub(super) use table::is_ssh_program_option;

use super::argument::Arguments;
use super::lexer::Word;
use super::{files, readers};
use crate::code::{self, Language, Level};
use crate::{Finding, Verdict};

/// Command shells.
pub(super) const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "csh", "tcsh", "fish", "ash", "rbash", "yash", "elvish", "rc", "nu",
    "xonsh", "posh", "sash", "oksh", "ksh93", "rksh", "pdksh",
];

/// Programs that are given a shell as a thing to look at or to write about, not to run.
const LOOK_AT_PROGRAMS: &[&str] = &[
    "ls",
    "file",
    "stat",
    "ldd",
    "readlink",
    "realpath",
    "cmp",
    "diff",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "shasum",
    "dpkg",
    "rpm",
    "grep",
    "egrep",
    "rg",
    "strings",
    "objdump",
    "readelf",
    "nm",
    "test",
    "[",
    "cat",
    "git",
    "gh",
    "glab",
    "hub",
    "jira",
    "notify-send",
    "curl",
];

pub(super) fn check(program: &str, arguments: &[Word]) -> Verdict {
    let texts: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    if SHELLS.contains(&program) {
        return check_shell(program, arguments);
    }
    builtin::check(program, arguments)?;
    match program {
        "git" => git::check(&texts)?,
        "find" | "gfind" | "bfs" => check_find(&texts)?,
        "fd" | "fdfind" => check_fd(&texts)?,
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" | "goawk" => script::check_awk(arguments)?,
        "sed" | "gsed" | "ssed" => script::check_sed(arguments)?,
        "make" | "gmake" | "bmake" | "remake" | "just" | "ninja" => check_make(arguments)?,
        _ => {}
    }
    if table::denies(program, arguments) && !is_plain_code(program, arguments) {
        return Err(runs(program));
    }
    check_any(program, &texts)
}

/// `python -c CODE`, `node -e CODE` with code that breaks no rule: nobody understands it, but it is not hostile.
fn is_plain_code(program: &str, arguments: &[Word]) -> bool {
    let language = match (program, arguments) {
        ("python" | "pypy", [option, ..]) if option.text == "-c" => Language::Python,
        ("node" | "nodejs", [option, ..]) if matches!(option.text.as_str(), "-e" | "-p" | "--eval" | "--print") => {
            Language::JavaScript
        }
        _ => return false,
    };
    let Some(code) = arguments.get(1).filter(|code| !code.dynamic && !code.glob) else { return false };
    code::check(language, Level::Standard, &code.text).err().is_none_or(|finding| finding.asks())
}

/// The finding for an argument that runs code.
pub(super) fn runs(what: &str) -> Finding {
    Finding::new("shell-code", format!("{what}: an argument makes the program run other code"))
        .suggest("call the program itself, without code in its arguments")
}

/// A shell may run a script file; it may not be handed text or wait for it.
fn check_shell(program: &str, arguments: &[Word]) -> Verdict {
    let (options, rest) = Arguments::leading(arguments, "oO");
    let only_asks = options.has_long(&["version", "help"]);
    let inline = options.has("cis")
        || options.has_long(&["rcfile", "init-file", "command", "login", "init-command", "commands", "execute"]);
    if only_asks && !inline {
        return Ok(());
    }
    // `bash -c TEXT` is judged by its text.
    if let [option, text, ..] = arguments
        && option.text == "-c"
        && !text.dynamic
        && !text.glob
    {
        return match super::check(&text.text) {
            Err(finding) if !finding.asks() => Err(finding),
            _ => Ok(()),
        };
    }
    match rest.first() {
        // `bash +x -c ..`: what begins with a plus is an option too.
        Some(script) if !inline && !script.text.starts_with('+') && is_plain_script(&script.text) => Ok(()),
        _ => Err(runs(&format!("{program} without a script file"))),
    }
}

/// A file in a place that others can write to, a device or a stream is no script to trust.
fn is_plain_script(path: &str) -> bool {
    !["/tmp/", "/var/tmp/", "/dev/", "/proc/"].iter().any(|place| path.starts_with(place))
        && path != "-"
        && !path.contains("://")
}

fn check_find(texts: &[&str]) -> Verdict {
    for (at, text) in texts.iter().enumerate() {
        match *text {
            "-exec" | "-execdir" | "-ok" | "-okdir" => check_each_file("find", texts.get(at + 1).copied())?,
            "-fprint" | "-fprint0" | "-fprintf" | "-fls"
                if texts.get(at + 1).is_none_or(|path| files::is_system_path(path)) =>
            {
                return Err(runs("find writing a file"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_fd(texts: &[&str]) -> Verdict {
    for (at, text) in texts.iter().enumerate() {
        let next = texts.get(at + 1).copied();
        match *text {
            "-x" | "-X" | "--exec" | "--exec-batch" => check_each_file("fd", next)?,
            text => {
                if let Some((_, program)) = text.split_once('=').filter(|(name, _)| name.starts_with("--exec")) {
                    check_each_file("fd", program.split(' ').next())?;
                }
            }
        }
    }
    Ok(())
}

/// What is run on each file must be known to look only.
fn check_each_file(program: &str, inner: Option<&str>) -> Verdict {
    let looks = inner.is_some_and(|name| readers::is_file_reader(&super::program::base_name(name)));
    if looks { Ok(()) } else { Err(runs(&format!("{program} -exec"))) }
}

fn check_make(arguments: &[Word]) -> Verdict {
    let read = Arguments::read(arguments, "fCIjloW");
    let streams = read.values('f').chain(read.long_values("file")).any(|file| !is_plain_script(file));
    let replaces = read.operands.iter().any(|text| {
        text.split_once('=').is_some_and(|(name, value)| {
            let name = name.trim_end_matches([':', '+', '?', '!']);
            matches!(name, "SHELL" | ".SHELLFLAGS" | "MAKEFLAGS" | "MAKE" | "MAKEFILES" | "PATH")
                || value.contains("$(")
                || value.contains("${")
                || value.contains('`')
        })
    });
    let evaluates = read.has("E") || read.has_long(&["eval", "shell"]);
    if streams || replaces || evaluates { Err(runs("make")) } else { Ok(()) }
}

/// What gives code away in any program's arguments: an option named after it, or a shell as a value.
fn check_any(program: &str, texts: &[&str]) -> Verdict {
    if super::program::TEXT_PROGRAMS.contains(&program) {
        return Ok(());
    }
    // Behind an interpreter's script come words that only the script understands.
    let script = table::is_interpreter(program) && texts.iter().any(|text| !text.starts_with('-'));
    for text in texts {
        if let Some(long) = text.strip_prefix("--").filter(|_| !script) {
            let name = long.split('=').next().unwrap_or_default();
            if table::is_code_option(name) && !table::is_known_harmless(program, name) {
                return Err(runs(&format!("{program} --{name}")));
            }
        }
        if !LOOK_AT_PROGRAMS.contains(&program) && names_shell(text) {
            return Err(runs(&format!("{program} with a shell as argument")));
        }
    }
    Ok(())
}

/// `/bin/sh`, `exec=/usr/bin/bash -i`, `!/bin/sh`, `|bash -i`: a shell by its path, or after an escape.
fn names_shell(text: &str) -> bool {
    let word = text.rsplit_once(['=', '!', ':', ';', '|']).map_or(text, |(_, last)| last).trim_start();
    let word = if text.starts_with('/') { text } else { word };
    let mut words = word.split([' ', ',', '#']);
    let first = words.next().unwrap_or_default();
    if SHELLS.contains(&first) && words.next() == Some("-c") {
        return true;
    }
    let Some((place, name)) = first.rsplit_once('/') else { return false };
    matches!(place, "/bin" | "/usr/bin" | "/usr/local/bin" | "/sbin" | "bin" | "../../bin" | "/system/bin")
        && SHELLS.contains(&name)
}
