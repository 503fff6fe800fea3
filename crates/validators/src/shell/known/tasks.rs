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
