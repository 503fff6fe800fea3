//! What single programs make of their operands and values, where no line of a table can say it.

use super::unknown;
use crate::Finding;
use crate::shell::lexer::Word;

/// Programs that fetch what they are told into files.
const FETCHERS: &[&str] = &["curl", "wget", "wget2", "axel", "aria2c", "http", "https", "xh", "xhs"];
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
    "Taskfile.yml",
    "WORKSPACE",
    "build.gradle",
    "build.gradle.kts",
    "build.rs",
    "build.sbt",
    "composer.json",
    "conftest.py",
    "docker-compose.yml",
    "gradlew",
    "justfile",
    "makefile",
    "manage.py",
    "noxfile.py",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "sitecustomize.py",
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
/// Programs that run tasks by their names.
const TASK_RUNNERS: &[&str] = &[
    "ant", "bun", "bundle", "composer", "deno", "gmake", "gradle", "gradlew", "grunt", "gulp", "invoke", "just",
    "lerna", "make", "mise", "mix", "mvn", "mvnw", "npm", "nx", "pnpm", "rake", "task", "turbo", "yarn",
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
    let has = |options: &[&str]| {
        any(&|text| options.iter().any(|option| text == *option || text.starts_with(&format!("{option}="))))
    };
    let doubtful = match name {
        // They show the environment and read files by their own language.
        "jq" | "yq" | "gojq" | "jaq" | "dasel" | "xq" | "tomlq" => any(&shows_environment),
        "gh" | "glab" => has(&["-q", "--jq"]) && any(&shows_environment) || any(&names_other_host),
        // `host:file` is on another machine.
        "tar" | "bsdtar" | "gtar" | "cpio" | "pax" => {
            any(&|text| text.contains(':') && !text.contains("::")) || any(&climbs)
        }
        "unzip" | "7z" | "7za" | "7zz" | "dpkg-deb" | "asar" | "unrar" | "bsdcpio" => any(&climbs),
        // `owner/name` is a repository of somebody.
        "npm" | "pnpm" | "yarn" | "bun" => any(&is_repository) || is_grave(words),
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
        "ps" => any(&|text| {
            !text.is_empty()
                && text.contains('e')
                && text.bytes().all(|byte| byte.is_ascii_alphabetic())
                && text.len() < 8
        }),
        // A password goes to who is named.
        "redis-cli" | "pg_dump" | "pg_dumpall" | "pg_isready" | "mysqldump" | "mysqladmin" | "mysqlshow" => {
            any(&|text| {
                let host = text.trim_start_matches("-h").rsplit('=').next().unwrap_or_default();
                host.contains('.') && !host.contains('/') && !host.starts_with("127.") && !host.ends_with(".sql")
            })
        }
        "exiftool" | "latexdiff" => any(&|text| text.ends_with('|')),
        "lynx" => any(&|text| text.contains("lynxexec") || text.contains("lynxprog")),
        "mise" => any(&|text| text.contains(':')) || is_grave(words),
        "go" => any(&|text| ["-extld", "-linkmode", "-toolexec"].iter().any(|option| text.contains(option))),
        "cargo" => subcommand == Some("make") && is_grave(words),
        _ if FETCHERS.contains(&name) => any(&|text| {
            text.starts_with('@')
                || text.contains("%output{")
                || file_of(text).is_some_and(|file| DECIDING_FILES.contains(&file))
        }),
        _ if TASK_RUNNERS.contains(&name) => is_grave(words),
        _ => false,
    };
    let responds = RESPONSE_FILES.contains(&name) && any(&|text| text.starts_with('@'));
    let loads = RESPONSE_FILES.contains(&name) && any(&loads_code);
    if doubtful || responds || loads {
        return Err(unknown(&format!("what `{name}` makes of its operands is")));
    }
    Ok(())
}

fn shows_environment(text: &str) -> bool {
    ["env", "ENV", "load", "input_file"].iter().any(|word| text.contains(word))
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
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let mut steps = text.split('/');
    let host = steps.next().unwrap_or_default();
    steps.count() == 2
        && host.contains('.')
        && !host.starts_with('.')
        && !matches!(host, "github.com" | "gitlab.com" | "api.github.com")
}

/// The name of the file that an argument or the end of an address names.
fn file_of(text: &str) -> Option<&str> {
    let value = text.split_once('=').filter(|_| text.starts_with("--")).map_or(text, |(_, value)| value);
    value.split(['?', '#']).next()?.rsplit('/').next()
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
