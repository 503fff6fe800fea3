//! What single programs make of their operands and values, where no line of a table can say it.

use super::unknown;
use crate::shell::lexer::Word;
use crate::{Finding, percent};

/// Programs that fetch what they are told into files.
const FETCHERS: &[&str] =
    &["curl", "wcurl", "hf", "oras", "yt-dlp", "wget", "wget2", "axel", "aria2c", "http", "https", "xh", "xhs"];
/// Files of a project that decide what its tools run.
const DECIDING_FILES: &[&str] = &[
    ".envrc",
    "BUILD",
    "BUILD.bazel",
    "CMakeLists.txt",
    "Cargo.toml",
    "Dockerfile",
    "GNUmakefile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "Makefile",
    "Pipfile",
    "Procfile",
    "Rakefile",
    "Taskfile.yaml",
    "Taskfile.yml",
    "WORKSPACE",
    "build.gradle",
    "build.gradle.kts",
    "build.rs",
    "build.sbt",
    "composer.json",
    "conftest.py",
    "compose.yaml",
    "compose.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
    ".pre-commit-config.yaml",
    "flake.nix",
    "go.mod",
    "gradlew",
    "justfile",
    "makefile",
    "manage.py",
    "meson.build",
    "mix.exs",
    "noxfile.py",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "sitecustomize.py",
    "tasks.py",
    "tox.ini",
];
/// Programs that read more options out of a file behind `@`.
const RESPONSE_FILES: &[&str] = &[
    "addr2line",
    "ar",
    "as",
    "c++",
    "cc",
    "clang",
    "clang++",
    "dotnet",
    "g++",
    "gcc",
    "ghc",
    "java",
    "javac",
    "javadoc",
    "jdeps",
    "jpackage",
    "kotlinc",
    "ktfmt",
    "ld",
    "ld.lld",
    "llc",
    "lld",
    "msbuild",
    "mypy",
    "nm",
    "objdump",
    "rustc",
    "scalac",
    "swiftc",
];
/// Programs that run tasks by their names, besides those that are judged by more than that.
const TASK_RUNNERS: &[&str] = &[
    "ant", "bundle", "composer", "deno", "gmake", "gradle", "gradlew", "grunt", "gulp", "invoke", "just", "lerna",
    "make", "mix", "mvn", "mvnw", "nx", "rake", "task", "turbo",
];
/// What tasks are called that a person wants to hear of.
const GRAVE: &[&str] = &[
    "deploy",
    "destroy",
    "drop",
    "nuke",
    "prod",
    "production",
    "publish",
    "purge",
    "release",
    "rollback",
    "teardown",
    "terminate",
    "undeploy",
    "wipe",
];

/// Whether a program makes no more of its words than the table says.
pub(super) fn check(name: &str, subcommand: Option<&str>, words: &[Word]) -> Result<(), Finding> {
    let any = |found: &dyn Fn(&str) -> bool| words.iter().any(|word| found(&word.text));
    let doubtful = match name {
        // They show the environment and read files by their own language.
        "jq" | "yq" | "gojq" | "jaq" | "dasel" | "xq" | "tomlq" => any(&shows_environment),
        "gh" | "glab" => {
            let queries = any(&|text| text.starts_with("--jq") || is_letters_with(text, 'q'));
            queries && any(&shows_environment) || any(&names_other_host) || any(&names_deciding)
        }
        // `host:file` is on another machine.
        "tar" | "bsdtar" | "gtar" | "cpio" | "pax" => {
            any(&|text| text.contains(':') && !text.contains("::")) || any(&climbs)
        }
        "unzip" | "7z" | "7za" | "7zz" | "dpkg-deb" | "asar" | "unrar" | "bsdcpio" => any(&climbs),
        // `owner/name` is a repository of somebody.
        "npm" | "pnpm" | "yarn" | "bun" => {
            // A task `env` that no project has prints the environment.
            let installs =
                matches!(subcommand, Some("install" | "i" | "add" | "a" | "create" | "init" | "update" | "up"));
            installs && any(&is_repository) || is_grave(words) || any(&|text| text == "env")
        }
        // It throws away what was changed, what others pushed, or shows what is secret.
        "git" => match subcommand {
            Some("checkout") => any(&|text| matches!(text, "." | "--" | ":/" | "*")),
            Some("push" | "fetch" | "pull") => any(&|text| text.starts_with(['+', ':'])),
            Some("config") => any(&|text| ["extraheader", "token", "password"].iter().any(|word| text.contains(word))),
            _ => false,
        },
        "ffmpeg" | "ffprobe" | "ffplay" => {
            any(&|text| ["ladspa", "frei0r", "lv2", "tcp:", "udp:", "pipe:"].iter().any(|word| text.contains(word)))
        }
        // `e` without a dash shows the environment of processes.
        "ps" => any(&|text| text.contains('e') && text.bytes().all(|byte| byte.is_ascii_alphabetic())),
        // A password goes to who is named.
        "redis-cli" | "valkey-cli" | "pg_dump" | "pg_dumpall" | "pg_isready" | "pg_amcheck" | "mysqldump"
        | "mysqladmin" | "mysqlshow" | "mariadb-dump" | "mongodump" | "mongoexport" | "mongostat" => any(&names_host),
        // The environment of what runs inside.
        "docker" | "podman" if subcommand == Some("top") => words.len() > 2,
        "docker" | "podman" => {
            any(&|text| ["github.com/", "gitlab.com/", "git@"].iter().any(|front| text.starts_with(front)))
        }
        // `/p:x=y` and `/logger:x` are options.
        "dotnet" | "msbuild" => any(&is_slash_option),
        "cp" | "mv" | "install" => words.last().is_some_and(|last| last.text == ".." || last.text.ends_with("/..")),
        "exiftool" | "latexdiff" => any(&|text| text.ends_with('|')),
        "lynx" => any(&|text| text.contains("lynxexec") || text.contains("lynxprog")),
        "mise" => any(&|text| text.contains(':')) || is_grave(words),
        "go" => any(&|text| ["-extld", "-linkmode", "-toolexec"].iter().any(|option| text.contains(option))),
        "cargo" => subcommand == Some("make") && is_grave(words),
        _ if FETCHERS.contains(&name) => any(&|text| {
            text.starts_with('@') || text.contains("%output{") || text.contains("#1") || names_deciding(text)
        }),
        _ if TASK_RUNNERS.contains(&name) => is_grave(words),
        _ => false,
    };
    let takes_options = RESPONSE_FILES.contains(&name);
    if doubtful || takes_options && any(&|text| text.starts_with('@') || loads_code(text)) {
        return Err(unknown(&format!("what `{name}` makes of its operands is")));
    }
    Ok(())
}

fn shows_environment(text: &str) -> bool {
    ["env", "ENV", "eval", "load", "input_file"].iter().any(|word| text.contains(word))
}

fn climbs(text: &str) -> bool {
    text.split(['/', '\\', '=']).any(|step| step.ends_with(".."))
}

/// Options of compilers that load code or name another program.
fn loads_code(text: &str) -> bool {
    text.starts_with('-') && ["plugin", "fuse-ld", "-load", "wrapper", "specs"].iter().any(|word| text.contains(word))
}

/// `host/owner/name`, to which tokens would be sent.
fn names_other_host(text: &str) -> bool {
    let is_url = text.contains("://");
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let mut steps = text.split('/');
    let host = steps.next().unwrap_or_default();
    (is_url || steps.count() == 2)
        && host.contains('.')
        && !host.starts_with('.')
        && !matches!(host, "github.com" | "gitlab.com" | "api.github.com")
}

/// Whether an argument, or the end of an address, names a file that decides what tools run.
fn names_deciding(text: &str) -> bool {
    let text = percent::lenient(text);
    let value = text.split_once('=').filter(|_| text.starts_with("--")).map_or(text.as_str(), |(_, value)| value);
    let file =
        value.split(['?', '#', '}', ',']).next().unwrap_or_default().rsplit(['/', '{']).next().unwrap_or_default();
    let glued = text.starts_with('-') && !text.starts_with("--");
    let is_config = [".config.js", ".config.ts", ".config.mjs", ".config.cjs", ".gradle", ".mk", ".cmake"];
    DECIDING_FILES.iter().any(|known| file == *known || glued && file.ends_with(known))
        || is_config.iter().any(|end| file.ends_with(end))
}

/// Whether a word is letters of options with this one among them, or one with its value: `-iq`, `-qenv`.
fn is_letters_with(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}

/// Whether a word names a machine that is not this one.
fn names_host(text: &str) -> bool {
    let files = [".sql", ".db", ".rdb", ".dump", ".gz", ".json", ".csv", ".bson", ".tar"];
    text.trim_start_matches("-h").split([' ', '=', '@', '/', ':', ',']).any(|part| {
        part.contains('.')
            && !part.starts_with('.')
            && !part.starts_with("127.")
            && !files.iter().any(|end| part.ends_with(end))
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
    })
}

/// `/p:x=y`: an option in the spelling of other systems.
fn is_slash_option(text: &str) -> bool {
    text.strip_prefix('/').is_some_and(|rest| {
        let name = rest.split(':').next().unwrap_or_default();
        rest.contains(':') && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic())
    })
}

/// Whether a task has a name that a person wants to hear of.
fn is_grave(words: &[Word]) -> bool {
    let is_task = |text: &&str| !text.starts_with('-') && !text.contains(['/', '.', '=']);
    let mut tasks = words.iter().map(|word| word.text.as_str()).filter(is_task);
    tasks.any(|task| task.split([':', '-', '_', ' ']).any(|part| GRAVE.contains(&part)))
}

/// `owner/name`, which package managers fetch from a place where anybody may have one.
fn is_repository(text: &str) -> bool {
    let name = text.split('#').next().unwrap_or_default();
    let is_plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    name.split_once('/').is_some_and(|(owner, name)| is_plain(owner) && !owner.starts_with('.') && is_plain(name))
}
