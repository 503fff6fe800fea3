//! What single programs make of their operands and values, where no line of a table can say it.

use super::addresses::{
    acts_by_address, asks_elsewhere, is_module_of_other_host, looks_up_more, names_host, names_other_host, tells_more,
};
use super::branches::{is_revision, names_file, names_folder, searches_history};
use super::{fetched, kept, tasks, unknown};
use crate::shell::lexer::Word;
use crate::shell::outbound;
use crate::{Finding, percent};

/// Programs that fetch what they are told into files.
const FETCHERS: &[&str] =
    &["curl", "wcurl", "hf", "oras", "yt-dlp", "wget", "wget2", "axel", "aria2c", "http", "https", "xh", "xhs"];
/// Files of a project that decide what its tools run.
const DECIDING_FILES: &[&str] = &[
    ".envrc",
    "Appraisals",
    "Berksfile",
    "BUILD",
    "BUILD.bazel",
    "CMakeLists.txt",
    "Caddyfile",
    "Capfile",
    "Cargo.toml",
    "Dockerfile",
    "Dangerfile",
    "GNUmakefile",
    "Guardfile",
    "SConstruct",
    "Snakefile",
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
    "dbt_project.yml",
    "dvc.yaml",
    "compose.yaml",
    "compose.yml",
    "docker-compose.yaml",
    "docker-compose.yml",
    ".pre-commit-config.yaml",
    "flake.nix",
    "go.mod",
    "gradlew",
    "gruntfile.js",
    "gulpfile.js",
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
/// Forms of files with sound and pictures. What is none of them may be a camera, a screen or a line.
const FORMATS: &str = "aac ac3 adts aiff alaw apng asf ass avi concat dash f32le ffmetadata flac flv framemd5 gif hash h264 hevc hls \
     image2 image2pipe ipod json lavfi m4v matroska md5 mjpeg mov mp2 mp3 mp4 mpeg mpegts mulaw null ogg opus \
     rawvideo s16be s16le s24le s32le segment srt streamhash u8 wav webm webp webvtt yuv4mpegpipe";
/// Programs in which a name with `@` in front is no file of options.
const NAMED_BY_AT: &[&str] = &[
    "bun", "bunx", "corepack", "deno", "dig", "drill", "echo", "gh", "git", "glab", "grep", "hg", "jj", "jq", "kdig",
    "lerna", "ng", "npm", "npx", "nx", "pnpm", "pnpx", "printf", "rg", "sed", "turbo", "volta", "yarn", "yq",
];
/// Whether a program makes no more of its words than the table says.
pub(super) fn check(name: &str, subcommand: Option<&str>, words: &[Word]) -> Result<(), Finding> {
    let any = |found: &dyn Fn(&str) -> bool| words.iter().any(|word| found(&word.text));
    let doubtful = match name {
        // They show the environment and read files by their own language.
        "jq" | "yq" | "gojq" | "jaq" | "dasel" | "xq" | "tomlq" => {
            // In place, only a member is changed.
            let in_place = any(&|text| is_letters_with(text, 'i') || text.starts_with("--inplace"));
            let changes = any(&|text| text.starts_with('.') && text.contains('=') || text.starts_with("del(."));
            any(&shows_environment) || in_place && name == "yq" && !changes
        }
        "gh" | "glab" => {
            let queries = any(&|text| text.starts_with("--jq") || is_letters_with(text, 'q'));
            let sends =
                |text: &str| text.starts_with("--hostname") || is_letters_with(text, 'h') && subcommand == Some("auth");
            // What a run of somebody else left, into folders with code.
            let downloads =
                any(&|text| text == "download") && any(&|text| text.starts_with("-R") || text.starts_with("--repo"));
            downloads
                || queries && any(&shows_environment)
                || any(&names_other_host)
                || any(&names_deciding)
                || any(&sends)
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
            let shows = subcommand == Some("config") && any(&|text| text.to_ascii_lowercase().contains("auth"));
            let task = words.iter().skip_while(|word| !matches!(word.text.as_str(), "run" | "run-script")).skip(1);
            let task = task.map(|word| word.text.as_str()).find(|text| !text.starts_with('-'));
            task.is_some_and(|task| !tasks::is_plain_task(task))
                || installs && any(&is_repository)
                || tasks::is_grave(words)
                || shows
                || any(&|text| text == "env")
        }
        // It throws away what was changed, what others pushed, or shows what is secret.
        "git" => match subcommand {
            // A file or folder in place of a branch: what was changed in it is lost.
            Some("checkout")
                if !any(&|text| text == "-b") && any(&|text| !text.starts_with('-') && names_file(text)) =>
            {
                true
            }
            Some("checkout")
                if !any(&|text| text == "-b") && words.iter().skip(1).any(|word| names_folder(&word.text)) =>
            {
                true
            }
            Some("checkout" | "switch") => any(&|text| matches!(text, "." | "--" | ":/" | "*" | "-C" | "-B")),
            Some("pull") if any(&|text| text.contains("://")) => true,
            // What was taken out of a file stands in its history.
            Some("log" | "show" | "whatchanged") if searches_history(words) => true,
            // By the side of whom nobody has read a line.
            Some("merge" | "pull") if any(&|text| text.starts_with("-X") || text.starts_with("--strategy")) => true,
            // What was changed since is no longer staged.
            Some("reset") => {
                let soft = any(&|text| text == "--soft");
                !soft && words.iter().skip(1).any(|word| is_revision(&word.text))
            }
            Some("merge" | "cherry-pick" | "rebase") if any(&|text| text == "FETCH_HEAD") => true,
            Some("push" | "fetch" | "pull") if any(&|text| text.starts_with(['+', ':'])) => true,
            Some("config") => any(&|text| {
                let lower = text.to_ascii_lowercase();
                ["extraheader", "token", "pass", "secret", "--get-regexp"].iter().any(|word| lower.contains(word))
            }),
            Some("push") => {
                // Names of places to which a project goes anyway.
                let usual = ["origin", "upstream", "fork", "github", "gitlab", "bitbucket", "codeberg", "mine"];
                let mut operands =
                    words.iter().skip(1).map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'));
                // Every branch, or the one that is served.
                let wide = any(&|text| {
                    let to = text.rsplit_once(':').map_or("", |(_, to)| to);
                    let last = to.rsplit('/').next().unwrap_or_default();
                    text.contains('*') || !to.is_empty() || matches!(last, "prod" | "production" | "live" | "release")
                });
                wide || any(&|text| text.starts_with("../") || text.starts_with('/'))
                    || operands.next().is_some_and(|remote| !usual.contains(&remote) && !remote.contains(':'))
            }
            Some("clone" | "checkout-index" | "archive" | "bundle" | "worktree") => any(&|text| {
                kept::is_shown(text)
                    || (kept::decides_by_name(text) || kept::is_store(text)) && subcommand == Some("bundle")
            }),
            _ => false,
        },
        "ffmpeg" | "ffprobe" | "ffplay" => {
            any(&|text| ["ladspa", "frei0r", "lv2", "tcp:", "udp:", "pipe:"].iter().any(|word| text.contains(word)))
                || words.windows(2).any(|two| two[0].text == "-f" && !crate::listed(FORMATS, two[1].text.as_str()))
        }
        // Shells work out what stands in brackets, also where quotes stand around it.
        "[" | "[[" | "test" | "wait" | "let" | "read" | "unset" | "declare" | "typeset" | "local" | "readonly"
        | "export" | "mapfile" | "readarray" | "printf" => {
            let sets = name != "printf" || any(&|text| text.starts_with("-v"));
            sets && any(&|text| text.contains("$(") || text.contains('`') || text.contains("[$"))
        }
        // `e` without a dash shows the environment of processes.
        "ps" => any(&|text| text.contains('e') && text.bytes().all(|byte| byte.is_ascii_alphabetic())),
        // A password goes to who is named.
        // All that a database holds is shown.
        "pg_dump" | "mysqldump" | "mariadb-dump" if !any(&names_no_data) => true,
        "redis-cli" | "valkey-cli" | "pg_dump" | "pg_dumpall" | "pg_isready" | "pg_amcheck" | "mysqldump"
        | "mysqladmin" | "mysqlshow" | "mariadb-dump" | "mongodump" | "mongoexport" | "mongostat" => any(&names_host),
        "etcdctl" | "ldapsearch" | "borg" => any(&names_host),
        // It prints every variable, or every file that it was told to read.
        "make" | "gmake" | "bmake" if any(&|text| is_letters_with(text, 'p') || text.starts_with("--print-data")) => {
            true
        }
        // A plugin is code by its name.
        "pytest" | "py.test" => {
            let usual = [
                "xdist",
                "pytest_cov",
                "asyncio",
                "pytest_asyncio",
                "anyio",
                "randomly",
                "django",
                "pytest_mock",
                "pytester",
                "timeout",
                "sugar",
            ];
            words.windows(2).any(|two| {
                two[0].text == "-p" && !two[1].text.starts_with("no:") && !usual.contains(&two[1].text.as_str())
            })
        }
        // What nobody calls a script becomes a program.
        "chmod" => {
            let is_mode = |text: &str| text.contains(['+', '=', '-']) || text.bytes().all(|byte| byte.is_ascii_digit());
            let runs = any(&|text| {
                text.contains(['+', '=']) && text.contains('x')
                    || matches!(text, "755" | "0755" | "700" | "750" | "775" | "500" | "555")
            });
            runs && any(&|text| !is_mode(text) && !is_script_file(text))
        }
        "hg" if subcommand == Some("push") => {
            words.iter().skip(1).any(|word| !word.text.starts_with('-') && word.text != "default")
        }
        // What is asked for goes to who is asked.
        "whois" => words
            .windows(2)
            .any(|two| matches!(two[0].text.as_str(), "-h" | "--host") && !two[1].text.starts_with("whois.")),
        // A long name may be data.
        "dig" | "nslookup" | "host" | "drill" | "kdig" | "ping" | "ping6" | "traceroute" | "tracepath" | "mtr" => {
            any(&|text| text.split('.').any(|label| label.len() > 30) && !text.starts_with('-')) || any(&looks_up_more)
        }
        "nginx" => any(&|text| is_letters_with(text, 'T')),
        // Back to an earlier state is the loss of what came later.
        "manage.py" => {
            let is_state = |text: &str| text == "zero" || text.starts_with(|c: char| c.is_ascii_digit());
            subcommand == Some("migrate") && any(&is_state)
        }
        "oras" => any(&|text| text == "pull"),
        "sphinx-build" => any(&|text| text == "clean"),
        "conda" | "mamba" | "micromamba" => {
            let known = ["conda-forge", "defaults", "bioconda", "pytorch", "nvidia", "anaconda", "main"];
            let is_option = |text: &str| matches!(text, "-c" | "--channel");
            words.windows(2).any(|pair| is_option(&pair[0].text) && !known.contains(&pair[1].text.as_str()))
                || any(&|text| text.starts_with("--channel="))
        }
        // Roles and artifacts of somebody else.
        "ansible-galaxy" => {
            let listed =
                any(&|text| text.starts_with("-r") || text.starts_with("--re") || text.starts_with("--role-file"));
            any(&|text| text == "install") && !listed
        }
        "brew" => any(&|text| !text.starts_with('-') && text.matches('/').count() == 2),
        "java" => words
            .windows(2)
            .any(|pair| matches!(pair[0].text.as_str(), "-m" | "--module") && pair[1].text.starts_with("jdk.")),
        "helm" => subcommand == Some("repo") && any(&|text| text == "add"),
        "nix" => any(&|text| ["github:", "gitlab:", "git+", "sourcehut:"].iter().any(|front| text.starts_with(front))),
        "buildah" => any(&|text| text.starts_with("github.com/") || text.starts_with("gitlab.com/")),
        // The environment of what runs inside.
        "docker" | "podman" if subcommand == Some("top") => words.len() > 2,
        // All that is known of a container has its environment in it.
        "docker" | "podman"
            if matches!(subcommand, Some("inspect" | "container"))
                && any(&|text| text == "inspect")
                && !any(&|text| {
                    text == "-f" || text.starts_with("--format") || text.starts_with("--type") || text == "--size"
                }) =>
        {
            true
        }
        "docker" | "podman"
            if subcommand == Some("inspect") && any(&|text| text.contains(".Env") || text.contains(".Config}")) =>
        {
            true
        }
        "docker" | "podman" => {
            // What comes in is built, and nobody has seen it.
            any(&|text| text == "-") && any(&|text| text == "build")
                || any(&|text| ["github.com/", "gitlab.com/", "git@"].iter().any(|front| text.starts_with(front)))
        }
        // What others serve is rendered or compared.
        "kubectl" | "oc" | "kustomize" => {
            any(&|text| matches!(text, "kustomize" | "diff" | "build"))
                && any(&|text| {
                    text.contains("://")
                        || ["github.com/", "gitlab.com/", "git@"].iter().any(|front| text.starts_with(front))
                })
        }
        // `/p:x=y` and `/logger:x` are options.
        "dotnet" | "msbuild" => any(&is_slash_option),
        "cp" | "mv" | "install" => words.last().is_some_and(|last| last.text == ".." || last.text.ends_with("/..")),
        "exiftool" | "latexdiff" => any(&|text| text.ends_with('|')),
        "lynx" => any(&|text| text.contains("lynxexec") || text.contains("lynxprog")),
        "mise" => any(&|text| text.contains(':')) || tasks::is_grave(words),
        "go" if matches!(subcommand, Some("get" | "install")) && any(&is_module_of_other_host) => true,
        "gem" => subcommand == Some("install") && any(&|text| text.contains('/') || text.ends_with(".gem")),
        "go" => {
            any(&|text| ["-replace", "-extld", "-linkmode", "-toolexec"].iter().any(|option| text.contains(option)))
        }
        "cargo" if matches!(subcommand, Some("make" | "xtask")) => {
            let task = words.iter().skip(1).find(|word| !word.text.starts_with('-'));
            task.is_some_and(|task| !tasks::is_plain_task(&task.text)) || tasks::is_grave(words)
        }
        _ if FETCHERS.contains(&name) => {
            let names = |text: &str| {
                text.starts_with('@') || text.contains("%output{") || text.contains("#1") || names_deciding(text)
            };
            let local = any(&|text| text.contains("://localhost") || text.contains("://127.0.0.1"));
            // What a header, a name of a browser or a query holds leaves with them.
            let leaves =
                !local && (words.windows(2).any(|two| tells_more(&two[0].text, &two[1].text)) || any(&asks_elsewhere));
            let shows_key = leaves || !local && any(&|text| text.to_ascii_lowercase().starts_with("authorization:"));
            shows_key || any(&names) || any(&acts_by_address) || fetched::into_code(name, words)
        }
        // Into the system, where no folder is named.
        "make" | "gmake" | "bmake"
            if any(&|text| text == "install")
                && !any(&|text| {
                    text.starts_with("DESTDIR=") || text.starts_with("PREFIX=") || text.starts_with("prefix=")
                }) =>
        {
            true
        }
        "make" | "gmake" | "bmake" | "mingw32-make" | "just" | "task" | "inv" | "invoke" | "ant" | "grunt" | "gulp"
        | "phing" | "nox" | "poe" => {
            let tasks = words.iter().enumerate().filter(|(at, word)| {
                let before =
                    at.checked_sub(1).and_then(|before| words.get(before)).map_or("", |word| word.text.as_str());
                let is_value =
                    matches!(before, "-C" | "-f" | "-j" | "-I" | "-W" | "-o" | "-l" | "--directory" | "--file" | "-d");
                !word.text.starts_with('-') && !word.text.contains('=') && !is_value
            });
            tasks.map(|(_, word)| word.text.as_str()).any(|task| !tasks::is_plain_task(task)) || tasks::is_grave(words)
        }
        _ if tasks::is_runner(name) => tasks::is_grave(words),
        _ => false,
    };
    let doubtful = doubtful || fetched::writes_code(name, words);
    let compiles = ["gcc", "g++", "clang", "clang++"]
        .iter()
        .any(|compiler| name.starts_with(compiler) || name.ends_with(compiler));
    let takes_options = compiles || RESPONSE_FILES.contains(&name);
    let is_response = |text: &str| text.len() > 1 && text.starts_with('@');
    let reads_options = takes_options && any(&|text| is_response(text) || loads_code(text))
        || !NAMED_BY_AT.contains(&name) && any(&is_response)
        || any(&|text| text.starts_with("-fplugin") || text.starts_with("-fpass-plugin"));
    // A debugger that listens for others runs what they say.
    let listens = any(&|text| text.starts_with("--inspect") && (text.contains("0.0.0.0") || text.contains("[::]")));
    // Keys in plain sight are about to be sent or kept; searching for one is no use of it.
    let tells = !matches!(name, "grep" | "rg" | "echo" | "ag" | "ack" | "egrep" | "fgrep")
        && any(&|text| text.len() > 16 && holds_key(text));
    let doubtful =
        doubtful || listens || tells || tasks::goes_back(words) || tasks::runs_fatal(name, subcommand, words);
    // A host that begins as an option does is one to the program that dials; clouds hand out credentials at others.
    let dials = any(&|text| text.contains("://-") || outbound::names_metadata(text));
    if doubtful || reads_options || dials || empties_sources(name, words) {
        return Err(unknown(&format!("what `{name}` makes of its operands is")));
    }
    Ok(())
}

/// Whether an option of a program that dumps a database names a file, or leaves the data out.
fn names_no_data(text: &str) -> bool {
    let names_file = ["--file", "--result-file", "--schema-only", "--no-data", "--tab"]
        .iter()
        .any(|option| text.starts_with(option));
    let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    names_file || letters.starts_with(['f', 'r', 's', 'd']) || letters.ends_with(['f', 'r', 's'])
}

/// Whether a file is a script of the project by its name or its folder.
fn is_script_file(path: &str) -> bool {
    let file = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let first = path.trim_start_matches("./").split('/').next().unwrap_or_default();
    matches!(kept::ending(path), "sh" | "bash" | "py" | "rb" | "pl" | "js" | "mjs" | "php" | "zsh" | "fish")
        || matches!(first, "bin" | "scripts" | "script" | "tools" | "hack")
        || matches!(file, "gradlew" | "mvnw" | "configure" | "run" | "build" | "test" | "start" | "artisan")
        || path.ends_with('/')
}

/// Whether a text holds a key of a kind that is known by its shape.
fn holds_key(text: &str) -> bool {
    const BEGINS: [&str; 14] = [
        "AKIA",
        "ASIA",
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "xoxp-",
        "sk-ant-",
        "sk_live_",
        "AIza",
        "npm_",
        "-----BEGIN",
    ];
    BEGINS.iter().any(|begin| {
        text.match_indices(begin).any(|(at, _)| {
            let behind = &text[at + begin.len()..];
            let length = behind.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte)).count();
            let is_word = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
            is_word && (length >= 16 || *begin == "-----BEGIN")
        })
    })
}

/// Whether a filter names the environment, or calls what reads files or runs text. A member may have any name.
fn shows_environment(text: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut rest = text;
    while let Some(at) = rest.find(is_letter) {
        let end = rest[at..].find(|c: char| !is_letter(c)).map_or(rest.len(), |end| at + end);
        let word = rest[at..end].trim_start_matches('-');
        let is_member = rest[..at].ends_with('.');
        let calls = rest[end..].trim_start().starts_with('(');
        let reads = matches!(word, "env" | "ENV" | "$ENV" | "$env" | "envsubst" | "strenv" | "input_filename" | "qenv");
        if reads && (!is_member || calls) || calls && (word.starts_with("load") || word == "eval") {
            return true;
        }
        rest = &rest[end..];
    }
    false
}

fn climbs(text: &str) -> bool {
    text.split(['/', '\\', '=']).any(|step| step.ends_with(".."))
}

/// Options of compilers that load code or name another program.
fn loads_code(text: &str) -> bool {
    text.starts_with('-') && ["plugin", "fuse-ld", "-load", "wrapper", "specs"].iter().any(|word| text.contains(word))
}

/// Whether an argument, or the end of an address, names a file that decides what tools run.
pub(super) fn names_deciding(text: &str) -> bool {
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

/// `/p:x=y`: an option in the spelling of other systems.
fn is_slash_option(text: &str) -> bool {
    text.strip_prefix('/').is_some_and(|rest| {
        let name = rest.split(':').next().unwrap_or_default();
        rest.contains(':') && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic())
    })
}

/// Whether a tool that empties the folder of its results first is told to take one with sources for that.
fn empties_sources(program: &str, words: &[Word]) -> bool {
    const SOURCES: [&str; 24] = [
        "",
        ".",
        "assets",
        "config",
        "content",
        "data",
        "docs",
        "images",
        "migrations",
        "scripts",
        "test",
        "app",
        "client",
        "cmd",
        "components",
        "internal",
        "lib",
        "packages",
        "pages",
        "pkg",
        "server",
        "source",
        "src",
        "tests",
    ];
    let is_output = |option: &str| {
        let name = option.trim_start_matches('-').to_ascii_lowercase().replace('-', "");
        option.starts_with("--")
            && (name.ends_with("outdir")
                || name.ends_with("outputpath")
                || name.ends_with("outputdir")
                || name.ends_with("distdir")
                || name.ends_with("distpath")
                || name.ends_with("buildpath")
                || name.ends_with("cachedirectory")
                || name.ends_with("coveragedirectory")
                || name.ends_with("basetemp")
                || matches!(name.as_str(), "output" | "destination" | "dest" | "dist"))
            || name.ends_with("reportsdirectory")
            || name.ends_with("sitedir")
    };
    // Tools for documents put them there.
    let documents = program.contains("doc") || ["quarto", "hugo", "mdbook", "jekyll"].contains(&program);
    let is_source = |value: &str| {
        let folder = value.trim_start_matches("./").trim_end_matches('/');
        SOURCES.contains(&folder) && !(documents && folder == "docs")
    };
    words.iter().enumerate().any(|(at, word)| match word.text.split_once('=') {
        Some((option, value)) => is_output(option) && is_source(value),
        None => is_output(&word.text) && words.get(at + 1).is_some_and(|next| is_source(&next.text)),
    })
}

/// `owner/name`, which package managers fetch from a place where anybody may have one.
fn is_repository(text: &str) -> bool {
    let name = text.split('#').next().unwrap_or_default();
    let is_plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    name.split_once('/').is_some_and(|(owner, name)| is_plain(owner) && !owner.starts_with('.') && is_plain(name))
}
