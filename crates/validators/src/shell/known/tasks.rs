//! Tasks of a project by their names: `npm run build`, `make test`. What a task does is the project's business; what it is called
//! tells whether a person wants to hear of it.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::shell::lexer::Word;

const TABLE: &str = include_str!("tasks.txt");

struct Tasks {
    runners: HashSet<&'static str>,
    grave: HashSet<&'static str>,
    plain: HashSet<&'static str>,
    alone: HashSet<&'static str>,
    making: HashSet<&'static str>,
}

static TASKS: LazyLock<Tasks> = LazyLock::new(|| Tasks {
    runners: group("runners"),
    grave: group("grave"),
    plain: group("plain"),
    alone: group("alone"),
    making: group("making"),
});

/// The words of one group of the table.
fn group(name: &str) -> HashSet<&'static str> {
    let mut current = "";
    let mut words = HashSet::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(group) => current = group,
            None if current == name => words.extend(line.split_whitespace()),
            None => {}
        }
    }
    words
}

/// Whether a program runs tasks by their names.
pub(super) fn is_runner(program: &str) -> bool {
    TASKS.runners.contains(program)
}

/// Whether a task of a project is called like those of daily work. What others do nobody can know by their names. A file is a task
/// that makes it.
pub(super) fn is_plain_task(task: &str) -> bool {
    let parts = parts_of(task);
    let is_file = task.contains(['/', '.', '%']) || task.parse::<u64>().is_ok();
    // What is cleaned there is not made again.
    let cleans = parts.iter().any(|part| matches!(part.as_str(), "clean" | "clear" | "cleanup"))
        && parts.iter().any(|part| {
            matches!(part.as_str(), "db" | "database" | "data" | "queue" | "queues" | "users" | "redis" | "s3")
        });
    let alone = parts.iter().filter(|part| !part.is_empty()).count() == 1
        && parts.iter().any(|part| TASKS.alone.contains(part.as_str()));
    !cleans && (is_file || alone || parts.iter().any(|part| TASKS.plain.contains(part.as_str())))
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
    // A database is taken back to an earlier state.
    goes_back(words)
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
    "python", "python2", "python3", "rscript", "ruby", "sh", "ts-node", "tsx", "zsh",
];
const RUNNING: &[(&str, &[&str])] = &[
    ("cabal", &["run"]),
    ("cargo", &["run", "r"]),
    ("crystal", &["run"]),
    ("dart", &["run"]),
    ("dotnet", &["run"]),
    ("go", &["run"]),
    ("gradle", &["run"]),
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
    let mut operands = words.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'));
    let stem = |path: &str| {
        let file = path.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        file.rsplit_once('.').map_or_else(|| file.clone(), |(stem, _)| stem.to_owned())
    };
    let script = operands.next();
    let of_script = script.map(|script| parts_of(&stem(script))).unwrap_or_default();
    // What is made or tried for production is not put there.
    let tries = of_script.iter().any(|part| TRIES.contains(&part.as_str()));
    if !tries && is_fatal(&of_script, true) {
        return true;
    }
    // Files are about anything; a name says what is done.
    let is_name = |text: &str| !text.contains(['/', ' ', '=', ':', '(', '@']) && text.len() < 60;
    let mut deletes = false;
    for text in operands {
        let parts = parts_of(text);
        let of_class = name == "java" && text.contains('.');
        if is_name(text) && (of_class || !text.contains('.')) && !tries && is_fatal(&parts, false) {
            return true;
        }
        deletes |= matches!(text, "delete" | "remove" | "clear" | "reset" | "flush" | "clean");
    }
    let mut options = words.iter().map(|word| word.text.as_str()).filter(|text| text.starts_with("--"));
    options.any(|text| {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let parts = parts_of(name.trim_start_matches('-'));
        let all = parts.last().is_some_and(|last| last == "all" || last == "everything");
        let negated = parts.first().is_some_and(|first| matches!(first.as_str(), "no" | "without" | "skip" | "not"));
        let switches_off = matches!(value, "0" | "false" | "no" | "off");
        let of_all =
            all && (deletes || parts.iter().any(|part| matches!(part.as_str(), "delete" | "remove" | "reset")));
        let value_fatal = is_name(value) && !value.contains('.') && !tries && is_fatal(&parts_of(value), false);
        of_all
            || value_fatal
            || !tries && !negated && !switches_off && (value.is_empty() || parts.len() > 1) && is_fatal(&parts, false)
    })
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
            "sh ops/rotate-secrets.sh",
        ] {
            assert!(fatal(line), "{line}");
        }
        for line in [
            "go run ./cmd/server",
            "cargo run --bin dropdown",
            "python train.py --drop-rate 0.1 --dropout 0.5",
            "python clean.py --drop-duplicates",
            "python scripts/drop_na.py data.csv",
            "python tests/test_purge.py",
            "python delete_user.py 3",
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
