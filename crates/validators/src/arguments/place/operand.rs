//! What a command names by one bare word, `cp -r vault x`, held to what is denied.
//!
//! From which folder a command looks for a name nobody knows: it may change it by a word of its own. So an operand that is called
//! like the last part of a denied pattern is what is denied. What a word is, its program tells: subcommands, texts, patterns that
//! are searched for, and names of packages, branches and services are no files.

use switchboard_policy::path;

use super::super::World;
use super::super::connect::words::{SHELLS, WRAPPERS};
use super::super::denied;
use crate::Verdict;
use crate::shell::{self, base_name};

/// How often one command may stand in another.
const MAX_DEPTH: usize = 4;
/// Programs whose words are no files.
const WITHOUT_FILES: [&str; 44] = [
    "echo",
    "printf",
    "true",
    "false",
    "which",
    "type",
    "whereis",
    "man",
    "expr",
    "sleep",
    "kill",
    "pkill",
    "killall",
    "pgrep",
    "ping",
    "dig",
    "host",
    "nslookup",
    "systemctl",
    "service",
    "journalctl",
    "hostname",
    "id",
    "groups",
    "date",
    "cal",
    "uname",
    "alias",
    "unset",
    "apt",
    "apt-get",
    "dnf",
    "yum",
    "brew",
    "pacman",
    "apk",
    "getent",
    "seq",
    "test",
    "ssh",
    "command",
    "export",
    "whatis",
    "apropos",
];
/// The same but for the values of their options: they take names of targets, packages, services or resources.
const OF_NAMES: [&str; 51] = [
    "make",
    "gmake",
    "just",
    "task",
    "rake",
    "ninja",
    "gradle",
    "gradlew",
    "mvn",
    "mvnw",
    "ant",
    "bazel",
    "nx",
    "turbo",
    "mage",
    "invoke",
    "tox",
    "nox",
    "npm",
    "yarn",
    "pnpm",
    "bun",
    "npx",
    "pip",
    "pip3",
    "uv",
    "poetry",
    "pipenv",
    "conda",
    "mamba",
    "gem",
    "bundle",
    "composer",
    "cargo",
    "rustup",
    "docker",
    "podman",
    "kubectl",
    "oc",
    "helm",
    "gh",
    "glab",
    "gcloud",
    "az",
    "aws",
    "heroku",
    "flyctl",
    "vault",
    "consul",
    "nomad",
    "terraform",
];
/// Verbs of these behind which files stand all the same.
const WITH_FILES: [&str; 22] = [
    "cp",
    "build",
    "buildx",
    "import",
    "export",
    "save",
    "load",
    "mv",
    "rm",
    "sync",
    "pack",
    "publish",
    "link",
    "storage",
    "s3",
    "lint",
    "template",
    "package",
    "archive",
    "--",
    "upload",
    "run-script-file",
];
/// Programs whose first operand is searched for or run, unless an option says it.
const WITH_PATTERN: [&str; 15] =
    ["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "mawk", "jq", "yq", "chown", "chgrp"];
/// Verbs of `git` whose operands are branches, remotes and commits.
const OF_REVISIONS: [&str; 16] = [
    "push",
    "pull",
    "fetch",
    "branch",
    "switch",
    "tag",
    "merge",
    "rebase",
    "remote",
    "cherry-pick",
    "revert",
    "describe",
    "config",
    "bisect",
    "merge-base",
    "rev-parse",
];
/// Options whose value is no file, by their last word, and those of one letter in some programs.
const OF_TEXT: [&str; 47] = [
    "message",
    "title",
    "body",
    "description",
    "notes",
    "subject",
    "author",
    "grep",
    "format",
    "pretty",
    "header",
    "comment",
    "label",
    "name",
    "names",
    "namespace",
    "regexp",
    "exclude",
    "ignore",
    "filter",
    "user",
    "group",
    "owner",
    "profile",
    "branch",
    "package",
    "bin",
    "example",
    "test",
    "feature",
    "features",
    "tag",
    "env",
    "host",
    "service",
    "project",
    "dir-exclude",
    "type",
    "keyword",
    "marker",
    "query",
    "color",
    "style",
    "lang",
    "language",
    "committer",
    "orphan",
];
const LETTERS: [(&str, &str); 16] = [
    ("git", "mSGbBc"),
    ("hg", "m"),
    ("svn", "m"),
    ("gh", "tbmlR"),
    ("pytest", "kmn"),
    ("py.test", "kmn"),
    ("grep", "e"),
    ("egrep", "e"),
    ("rg", "egt"),
    ("sed", "e"),
    ("cargo", "pF"),
    ("kubectl", "nlc"),
    ("docker", "tune"),
    ("podman", "tune"),
    ("helm", "n"),
    ("awk", "vF"),
];

/// Whether no operand of a command is called like what is denied.
pub(in crate::arguments) fn check(places: &[path::Scope], words: &[String], world: &dyn World) -> Verdict {
    let denying: Vec<path::Scope> = places.iter().filter_map(by_last_part).collect();
    if denying.is_empty() { Ok(()) } else { of_words(&denying, words, world, 0) }
}

/// The same place with the last part of each pattern that it denies, in whatever folder.
fn by_last_part(place: &path::Scope) -> Option<path::Scope> {
    let last = |glob: &path::Glob| {
        let text = glob.to_string();
        let mut names = text.split('/').filter(|name| !name.is_empty() && !name.bytes().all(|byte| byte == b'*'));
        names.next_back().map(str::to_owned)
    };
    let deny: Vec<String> = place.deny.iter().filter_map(last).collect();
    let allow = vec!["/**".to_owned()];
    (!deny.is_empty()).then(|| path::Scope::new(&allow, &deny, place.base.clone()))
}

fn of_words(denying: &[path::Scope], words: &[String], world: &dyn World, depth: usize) -> Verdict {
    let Some((program, arguments)) = words.split_first().filter(|_| depth < MAX_DEPTH) else { return Ok(()) };
    for line in denied::lines_in(words) {
        let inner = shell::plain_words(&line).unwrap_or_else(|_| line.split_whitespace().map(str::to_owned).collect());
        of_words(denying, &inner, world, depth + 1)?;
    }
    let name = base_name(program);
    if WRAPPERS.contains(&name.as_str()) || SHELLS.contains(&name.as_str()) {
        let is_program = |word: &String| !word.starts_with('-') && shell::is_known_program(&base_name(word));
        if let Some(at) = arguments.iter().position(is_program) {
            return of_words(denying, &arguments[at..], world, depth + 1);
        }
    }
    operands(&name, arguments).into_iter().try_for_each(|word| super::not_denied(denying, word, world))
}

/// The words behind a program that may be files.
fn operands<'w>(name: &str, words: &'w [String]) -> Vec<&'w str> {
    if WITHOUT_FILES.contains(&name) {
        return Vec::new();
    }
    let names_pattern = |word: &String| {
        matches!(word.as_str(), "-e" | "-f" | "--regexp" | "--file" | "--expression" | "--reference")
            || word.starts_with("-e")
    };
    // What is still to come in front of the files: subcommands, a pattern.
    let mut has_pattern = WITH_PATTERN.contains(&name) && !words.iter().any(names_pattern);
    let (mut verbs, mut is_only_names, mut is_behind) = (0, OF_NAMES.contains(&name), false);
    let mut found: Vec<&str> = Vec::new();
    let mut rest = words.iter().enumerate();
    while let Some((at, word)) = rest.next() {
        let (word, next) = (word.as_str(), words.get(at + 1).map(String::as_str));
        if word == "--" {
            is_behind = true;
            is_only_names &= !matches!(name, "git");
            continue;
        }
        if word.starts_with('-') && word.len() > 1 && !is_behind {
            let (option, value) = word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
            if is_of_text(name, option) || is_left_out(words, at) {
                if value.is_none() && next.is_some_and(|next| !next.starts_with('-')) {
                    rest.next();
                }
                continue;
            }
            // What stands behind the letter of an option, and the value that stands apart.
            found.extend(value);
            if !word.starts_with("--") && value.is_none() {
                found.extend((2..4).filter_map(|at| word.get(at..)).filter(|rest| !rest.is_empty()));
            }
            if is_only_names && takes_file(option) && value.is_none() {
                found.extend(rest.next().map(|(_, value)| value.as_str()));
            }
            continue;
        }
        let is_verb = !is_behind && shell::is_subcommand(name, verbs, word);
        if is_verb || name == "git" && verbs == 0 && OF_REVISIONS.contains(&word) {
            verbs += 1;
            is_only_names |= name == "git" && OF_REVISIONS.contains(&word);
            has_pattern |= name == "git" && word == "grep" && !words.iter().any(names_pattern);
            is_only_names &= !WITH_FILES.contains(&word);
            continue;
        }
        is_only_names &= !(verbs == 0 && WITH_FILES.contains(&word) && !matches!(word, "build" | "pack" | "lint"));
        if std::mem::take(&mut has_pattern) || is_only_names {
            continue;
        }
        found.push(word.split_once('=').map_or(word, |(_, value)| value));
    }
    found.retain(|word| !word.is_empty() && !word.contains(char::is_whitespace));
    found
}

/// Whether the value of an option is a text or a name.
fn is_of_text(program: &str, option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => {
            long.split(['-', '_']).any(|word| OF_TEXT.contains(&word))
                && !long.contains("file")
                && !long.contains("from")
        }
        None => {
            let letter = option.chars().last().filter(|_| option.len() < 5);
            let known = LETTERS.iter().find(|(name, _)| *name == program);
            letter.is_some_and(|letter| known.is_some_and(|(_, letters)| letters.contains(letter)))
        }
    }
}

/// Whether `find` is told by this option to leave something out.
fn is_left_out(words: &[String], at: usize) -> bool {
    let is_name = matches!(words[at].as_str(), "-name" | "-iname" | "-path" | "-ipath" | "-wholename");
    let before = at.checked_sub(1).map(|before| words[before].as_str());
    let behind = words.get(at + 2).map(String::as_str);
    is_name && (matches!(before, Some("!" | "-not")) || behind == Some("-prune"))
}

/// Whether an option of a program that takes names has a file or a folder as its value.
fn takes_file(option: &str) -> bool {
    let long = option.trim_start_matches('-');
    matches!(long, "f" | "C" | "o" | "w")
        || long.split('-').any(|word| {
            matches!(
                word,
                "file"
                    | "filename"
                    | "dir"
                    | "directory"
                    | "path"
                    | "output"
                    | "cwd"
                    | "prefix"
                    | "folder"
                    | "values"
                    | "config"
                    | "kubeconfig"
                    | "chdir"
                    | "target"
            )
        })
}
