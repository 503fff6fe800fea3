//! Tasks of a project by their names: `npm run build`, `make test`. What a task does is the project's business; what it is called
//! tells whether a person wants to hear of it.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::groups::Groups;
use crate::shell::lexer::Word;

struct Tasks {
    runners: HashSet<&'static str>,
    grave: HashSet<&'static str>,
    plain: HashSet<&'static str>,
    alone: HashSet<&'static str>,
    making: HashSet<&'static str>,
    scripts: HashSet<&'static str>,
}

static TASKS: LazyLock<Tasks> = LazyLock::new(|| {
    let mut groups = Groups::read(include_str!("tasks.txt"));
    Tasks {
        runners: groups.take("runners"),
        grave: groups.take("grave"),
        plain: groups.take("plain"),
        alone: groups.take("alone"),
        making: groups.take("making"),
        scripts: groups.take("scripts"),
    }
});

/// Whether a program runs tasks by their names.
pub(super) fn is_runner(program: &str) -> bool {
    TASKS.runners.contains(program)
}

/// Whether a task of a project is called like those of daily work. What others do nobody can know by their names. A file is a task
/// that makes it.
pub(super) fn is_plain_task(task: &str) -> bool {
    let parts = parts_of(task);
    // Of the machine and not of the project.
    let of_machine = parts
        .iter()
        .any(|part| matches!(part.as_str(), "service" | "services" | "systemd" | "daemon" | "global" | "system"))
        || parts.len() > 1
            && parts.first().is_some_and(|first| first == "install")
            && !parts.iter().skip(1).any(|part| {
                matches!(
                    part.as_str(),
                    "dep" | "deps" | "dependencies" | "dev" | "hooks" | "requirements" | "tools" | "all" | "packages"
                )
            });
    if of_machine {
        return false;
    }
    let is_file = task.contains(['/', '.', '%']) || task.parse::<u64>().is_ok();
    // What is cleaned there is not made again.
    let cleans = parts.iter().any(|part| matches!(part.as_str(), "clean" | "clear" | "cleanup"))
        && parts.iter().any(|part| {
            matches!(part.as_str(), "db" | "database" | "data" | "queue" | "queues" | "users" | "redis" | "s3")
        });
    let alone = parts.iter().filter(|part| !part.is_empty()).count() == 1
        && parts.iter().any(|part| TASKS.alone.contains(part.as_str()));
    let cleans_all = parts.iter().any(|part| part == "clean") && parts.iter().any(|part| part == "all");
    !cleans && !cleans_all && (is_file || alone || parts.iter().any(|part| TASKS.plain.contains(part.as_str())))
}

/// Whether a task has a name that a person wants to hear of.
pub(super) fn is_grave(words: &[Word]) -> bool {
    /// What is made for production is not put there.
    const MAKING: [&str; 8] = ["build", "bundle", "check", "compile", "lint", "start", "test", "typecheck"];
    let task = |word: &Word| {
        let text = word.text.as_str();
        // `--target=deploy`; the value of a variable is no task.
        let named = text.strip_prefix('-').map_or(Some(text), |option| Some(option.split_once('=')?.1));
        named.filter(|task| !task.starts_with("./") && !task.contains('=')).map(str::to_owned)
    };
    // `ENV=prod`, `--rollback`.
    let is_set_grave = |word: &Word| {
        let text = word.text.as_str();
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let is_variable = !text.starts_with('-') && !value.is_empty() && !value.contains('/');
        let says = |text: &str, wanted: &[&str]| parts_of(text).iter().any(|part| wanted.contains(&part.as_str()));
        is_variable && says(value, &["prod", "production", "live", "prd"])
            || text.starts_with("--")
                && says(
                    name,
                    &[
                        "down", "rollback", "undo", "drop", "wipe", "purge", "truncate", "revert", "prod", "deploy",
                        "publish",
                    ],
                )
                && !says(name, &["no", "without", "shut", "slow", "break", "only"])
    };
    let makes_all = words.iter().any(|word| {
        parts_of(&word.text).first().is_some_and(|first| MAKING.contains(&first.as_str()) || first == "install")
    });
    // What a task is told behind `--` is for the program that it runs.
    let mut behind = words.iter().skip_while(|word| word.text != "--").skip(1).map(|word| word.text.as_str());
    let tells = behind.any(|text| {
        let parts = parts_of(text.trim_start_matches('-').split('=').next().unwrap_or_default());
        is_fatal(&parts, false) || (0..parts.len()).any(|at| takes(&parts[at..]))
    });
    // A database is taken back to an earlier state.
    tells
        || goes_back(words)
        || !makes_all && words.iter().any(is_set_grave)
        || words.iter().filter_map(task).any(|task| {
            let parts = parts_of(&task);
            let makes = parts.first().is_some_and(|first| MAKING.contains(&first.as_str()));
            let is_end = |part: &str| matches!(part, "prod" | "production" | "release");
            let is_grave = |part: &str| TASKS.grave.contains(part) || part.contains("deploy");
            parts.iter().any(|part| is_grave(part) && !(makes && is_end(part)))
        })
}

/// Words in the name of a program or script, or among its operands, that say it destroys something or is for production. Those
/// that name what daily code is about (`delete`, `send`, `reset`) are not among them.
const FATAL: &[&str] = &[
    "destroy",
    "drop",
    "erase",
    "nuke",
    "obliterate",
    "prd",
    "prod",
    "production",
    "purge",
    "rollback",
    "shred",
    "teardown",
    "terminate",
    "truncate",
    "wipe",
    "wipeout",
];
/// Words by which a script or program is told to take something away, to write over it, or to send it to others.
const DESTROYING: &[&str] = &[
    "cancel",
    "clobber",
    "delete",
    "deploy",
    "disable",
    "email",
    "expire",
    "flush",
    "kill",
    "mail",
    "overwrite",
    "pay",
    "publish",
    "push",
    "refund",
    "remove",
    "reset",
    "restore",
    "revert",
    "revoke",
    "rm",
    "send",
    "shutdown",
    "sms",
    "submit",
    "transfer",
    "uninstall",
    "unpublish",
    "upload",
];
/// Words behind `drop` and `truncate` that are about a table of data in the program itself.
const OF_DATA: &[&str] = &[
    "cap",
    "chars",
    "column",
    "columns",
    "cols",
    "duplicates",
    "dupes",
    "down",
    "empty",
    "first",
    "head",
    "in",
    "last",
    "len",
    "length",
    "limit",
    "lines",
    "na",
    "nan",
    "notes",
    "nulls",
    "off",
    "out",
    "outliers",
    "path",
    "prob",
    "rate",
    "rows",
    "side",
    "text",
    "to",
    "tokens",
    "width",
    "zone",
];
/// Words that say that nothing is done, only made, shown or tried.
const TRIES: &[&str] = &[
    "bench",
    "build",
    "bundle",
    "check",
    "compile",
    "demo",
    "dry",
    "example",
    "lint",
    "list",
    "mock",
    "plan",
    "preview",
    "report",
    "show",
    "spec",
    "stats",
    "status",
    "test",
    "tests",
    "typecheck",
];
/// Programs that run a script, and those of which one subcommand runs a program of the project.
const SCRIPTED: &[&str] = &[
    "bash", "bun", "dash", "deno", "java", "julia", "ksh", "lua", "node", "nodejs", "perl", "php", "pypy", "pypy3",
    "python", "python2", "python3", "rscript", "ruby", "sh", "source", "ts-node", "tsx", "zsh",
];
const RUNNING: &[(&str, &[&str])] = &[
    ("cabal", &["run"]),
    ("cargo", &["run", "r"]),
    ("crystal", &["run"]),
    ("dart", &["run"]),
    ("dotnet", &["run"]),
    ("go", &["run"]),
    ("gradle", &["run"]),
    ("mix", &["run"]),
    ("nim", &["r"]),
    ("stack", &["run", "exec"]),
    ("swift", &["run"]),
    ("zig", &["run"]),
];

/// Whether a program or script that is run, or what it is told, is called like something that destroys or is for production:
/// `go run ./cmd/wipe`, `python cli.py users purge`, `./migrate.sh --env=production`.
pub(super) fn runs_fatal(name: &str, subcommand: Option<&str>, words: &[Word]) -> bool {
    let by_subcommand = RUNNING
        .iter()
        .any(|(known, subcommands)| *known == name && subcommand.is_some_and(|given| subcommands.contains(&given)));
    if !by_subcommand && !SCRIPTED.contains(&name) {
        return false;
    }
    let words = words.get(usize::from(by_subcommand)..).unwrap_or_default();
    // Nothing is done, only told.
    if words.iter().any(|word| matches!(word.text.as_str(), "--dry-run" | "--help")) {
        return false;
    }
    let mut operands = words.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'));
    let stem = |path: &str| {
        let file = path.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        file.rsplit_once('.').map_or_else(|| file.clone(), |(stem, _)| stem.to_owned())
    };
    let script = operands.next();
    let of_script = script.map(|script| parts_of(&stem(script))).unwrap_or_default();
    // What is made or tried for production is not put there.
    let tries = of_script.iter().any(|part| TRIES.contains(&part.as_str()));
    let is_script = |script: &str| script.contains(['/', '.']) && script != "." && !script.contains("...");
    if !tries && (is_fatal(&of_script, true) || takes(&of_script)) {
        return true;
    }
    // What a script does whose name says nothing, nobody knows.
    // A project has its scripts in folders that are called so.
    if !by_subcommand && script.is_some_and(|script| !in_known_folder(script)) {
        return true;
    }
    let scripted = if by_subcommand { name == "go" || name == "mix" } else { name != "java" && name != "julia" };
    let is_file = |script: &str| !by_subcommand || [".go", ".exs"].iter().any(|end| script.ends_with(end));
    let unsaid =
        |script: &str| is_script(script) && is_file(script) && !of_folder(script) && !is_plain_script(&of_script);
    if scripted && script.is_some_and(unsaid) {
        return true;
    }
    // Files are about anything; a name says what is done.
    let is_name = |text: &str| !text.contains(['/', ' ', '=', ':', '(', '@']) && text.len() < 60;
    for text in operands {
        let parts = parts_of(text);
        let of_class = name == "java" && text.contains('.');
        let told = is_fatal(&parts, false) || takes(&parts);
        if is_name(text) && (of_class || !text.contains('.')) && !tries && told {
            return true;
        }
    }
    let mut options = words.iter().map(|word| word.text.as_str()).filter(|text| text.starts_with("--"));
    options.any(|text| {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let parts = parts_of(name.trim_start_matches('-'));
        let negated = parts.first().is_some_and(|first| matches!(first.as_str(), "no" | "without" | "skip" | "not"));
        let switches_off = matches!(value, "0" | "false" | "no" | "off");
        let value_fatal = is_name(value) && !value.contains('.') && !tries && is_fatal(&parts_of(value), false);
        // `--force-reset`: an option is about one thing.
        let told = is_fatal(&parts, false) || (0..parts.len()).any(|at| takes(&parts[at..]));
        value_fatal || !tries && !negated && !switches_off && (value.is_empty() || parts.len() > 1) && told
    })
}

/// Whether the first word of a name says that something is taken away or sent, and not only what part of the data is left out.
fn takes(parts: &[String]) -> bool {
    let mut words = parts.iter().map(String::as_str).filter(|part| !part.is_empty());
    let first = words.next().unwrap_or_default();
    let next = words.next().unwrap_or_default();
    DESTROYING.contains(&first) && !OF_DATA.contains(&next)
        || matches!(first, "clean" | "clear" | "wipe") && next == "all"
}

/// Whether a script lies where projects have code.
fn in_known_folder(script: &str) -> bool {
    const FOLDERS: [&str; 59] = [
        ".",
        "..",
        "agents",
        "analysis",
        "api",
        "app",
        "apps",
        "automation",
        "backend",
        "bench",
        "benchmarks",
        "bin",
        "build",
        "ci",
        "cli",
        "client",
        "cmd",
        "code",
        "core",
        "crates",
        "data",
        "demo",
        "demos",
        "dev",
        "dist",
        "docs",
        "examples",
        "experiments",
        "frontend",
        "hack",
        "infra",
        "internal",
        "lib",
        "libs",
        "ml",
        "modules",
        "node_modules",
        "notebooks",
        "ops",
        "out",
        "packages",
        "pipelines",
        "pkg",
        "project",
        "python",
        "sandbox",
        "samples",
        "scraper",
        "script",
        "scripts",
        "server",
        "services",
        "spec",
        "src",
        "test",
        "tests",
        "target",
        "tools",
        "utils",
    ];
    let path = script.trim_start_matches("./");
    match path.split_once('/') {
        Some((first, _)) if !path.starts_with(['/', '~', '-', '$']) => {
            FOLDERS.contains(&first) || first.starts_with('.') || first.contains("script") || first.contains("venv")
        }
        _ => true,
    }
}

/// Whether a script lies where a project has what only tests, shows or measures something.
fn of_folder(script: &str) -> bool {
    const FOLDERS: [&str; 9] = ["bench", "benches", "benchmarks", "dist", "docs", "examples", "spec", "test", "tests"];
    script.trim_start_matches("./").split('/').rev().skip(1).any(|step| FOLDERS.contains(&step))
}

/// Whether a script is called like what daily work runs. A letter and a number say as little as they do.
fn is_plain_script(parts: &[String]) -> bool {
    let is_plain = |part: &str| {
        let bare = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let single = bare.strip_suffix('s').unwrap_or(bare);
        [bare, single].iter().any(|word| {
            TASKS.plain.contains(word)
                || TASKS.alone.contains(word)
                || TASKS.scripts.contains(word)
                || TRIES.contains(word)
        })
    };
    // What brings something to another state is not told by what it is about.
    let changes = parts
        .iter()
        .any(|part| matches!(part.as_str(), "cleanup" | "merge" | "migrate" | "sync" | "update" | "upgrade"))
        && !parts.iter().any(|part| TRIES.contains(&part.as_str()) || OF_DATA.contains(&part.as_str()));
    let installs = changes
        || parts.iter().any(|part| part == "install")
            && !parts.iter().any(|part| matches!(part.as_str(), "deps" | "dependencies" | "requirements"));
    let is_grave = |at: usize| {
        TASKS.grave.contains(parts[at].as_str())
            && parts.get(at + 1).is_none_or(|next| !OF_DATA.contains(&next.as_str()))
    };
    !installs && parts.iter().any(|part| is_plain(part)) && !(0..parts.len()).any(is_grave)
}

/// Whether the words of a name say that something is destroyed, or that it is about production.
fn is_fatal(parts: &[String], of_script: bool) -> bool {
    let words: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    let rotates = words.contains(&"rotate")
        && words
            .iter()
            .any(|word| matches!(*word, "key" | "keys" | "secret" | "secrets" | "token" | "tokens" | "credentials"));
    if words.iter().any(|word| TRIES.contains(word)) {
        return false;
    }
    rotates
        || words.iter().enumerate().any(|(at, word)| {
            let next = words.get(at + 1);
            let of_data = matches!(*word, "drop" | "truncate" | "terminate")
                && next.map_or(*word == "truncate" && !of_script, |next| OF_DATA.contains(next));
            FATAL.contains(word) && !of_data
        })
}

/// Whether a command runs a task that is not for making, checking or starting something.
pub(super) fn runs_other_task(words: &[Word]) -> bool {
    let runs = words.iter().any(|word| {
        is_runner(&word.text)
            || matches!(word.text.as_str(), "npm" | "pnpm" | "yarn" | "bun" | "rails" | "artisan")
            || ["manage.py", "bin/rails", "bin/console", "bin/rake"].iter().any(|script| word.text.ends_with(script))
            || matches!(word.text.as_str(), "alembic" | "flask" | "prisma" | "knex" | "sequelize")
    });
    runs && !words
        .iter()
        .skip(1)
        .any(|word| parts_of(&word.text).iter().any(|part| TASKS.making.contains(part.as_str())))
}

/// Whether a database is taken back to an earlier state.
pub(super) fn goes_back(words: &[Word]) -> bool {
    let migrates = |word: &&Word| word.text.to_ascii_lowercase().contains("migrat");
    let is_state = |text: &str| matches!(text, "0" | "zero" | "first" | "prev" | "down" | "base");
    let in_name = |word: &Word| parts_of(&word.text).iter().any(|part| part == "down");
    words.iter().find(migrates).is_some_and(|task| in_name(task) || words.iter().any(|word| is_state(&word.text)))
}

/// The words of a name, of a task or of an option, in whatever way they are joined.
pub(super) fn parts_of(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && before_lower {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut().filter(|_| c.is_alphanumeric()) {
            last.extend(c.to_lowercase());
        }
        before_lower = c.is_lowercase();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::lexer;

    #[test]
    fn programs_are_told_by_what_they_are_called() {
        let fatal = |line: &str| {
            let words = lexer::words(line).unwrap_or_default();
            let (name, rest) = words.split_first().expect(line);
            runs_fatal(&name.text, rest.first().map(|word| word.text.as_str()), rest)
        };
        for line in [
            "go run ./cmd/nuke-cache",
            "cargo run --bin db_wipe",
            "cargo run -- purge",
            "dotnet run --project tools/DropDatabase",
            "swift run teardown",
            "python tools/erase.py",
            "python admin.py accounts remove --all",
            "node scripts/load.js --env=prod",
            "bash jobs.sh production",
            "ruby cli.rb --wipe",
            "java -jar destroy-stack.jar",
            "python delete_user.py 3",
            "python x.py",
            "bash evil.sh",
            "node scripts/seed.js --reset",
            "python cli.py user remove ann",
            "go run . send all",
            "bash deploy.sh",
            "sh ops/rotate-secrets.sh",
        ] {
            assert!(fatal(line), "{line}");
        }
        for line in [
            "go run ./cmd/server",
            "cargo run --bin dropdown",
            "python train.py --drop-rate 0.1 --dropout 0.5",
            "python clean.py --drop-duplicates",
            "python scripts/drop_na_in_data.py rows.csv",
            "python tests/test_purge.py",
            "bash deploy.sh --dry-run",
            "python tests/test_x.py",
            "node scripts/build.js --env=production",
            "python report.py data/production.csv",
            "python tokenize.py --truncate 512",
            "ruby cli.rb --no-purge",
            "cargo run -- --port 80",
            "python search.py \"drop table\"",
        ] {
            assert!(!fatal(line), "{line}");
        }
    }
}
