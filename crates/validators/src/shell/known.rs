//! What is understood: commands whose program, subcommand and every option stand in a table of what is known and harmless
//! in its place.
//!
//! The other parts of this module recognise what is hostile, and lists of that have no end. This one turns it round: what
//! is in no table is not understood, and a person is asked. The table is data (`known/*.txt`; docs/commands.md has the
//! format), and an operator can add lines of his own.

mod addresses;
mod amounts;
mod artefacts;
mod branches;
mod changed;
mod databases;
mod decisive;
mod emptied;
mod excepted;
mod fetched;
mod groups;
mod kept;
mod line;
mod outputs;
mod packages;
mod planted;
mod published;
mod replaced;
mod results;
mod script;
mod secrets;
mod shown;
mod special;
mod table;
mod tasks;
mod written;

use std::borrow::Cow;

use super::lexer::Word;
use super::program::{base_name, is_of_system};
use super::variables;
use crate::Finding;

pub(super) use line::Effect;
pub use line::UnreadableLine;
use line::{Flag, Line};
pub use table::Understood;

/// How many programs may run each other in one command.
const MAX_DEPTH: usize = 6;
/// Variables in front of a command that say how it runs and not what: `NODE_ENV=test npm test`.
const VARIABLES: &str = "APP_ENV ARCH AWS_DEFAULT_REGION AWS_PROFILE AWS_REGION CARGO_INCREMENTAL CARGO_TERM_COLOR CGO_ENABLED CI \
     CLICOLOR COLOR COLUMNS COVERAGE CUDA_VISIBLE_DEVICES DEBUG DEBIAN_FRONTEND DJANGO_DEBUG \
     DOTNET_CLI_TELEMETRY_OPTOUT ENVIRONMENT FLASK_ENV FORCE_COLOR GOARCH GOARM GOMAXPROCS GOOS HOST LANG LC_ALL \
     LC_CTYPE LINES LOGLEVEL LOG_LEVEL MODE NAME NEXT_TELEMETRY_DISABLED NODE_ENV NO_COLOR OMP_NUM_THREADS PORT \
     PYTHONASYNCIODEBUG PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONUNBUFFERED PYTHONUTF8 RACK_ENV RAILS_ENV \
     RUST_BACKTRACE RUST_LOG SEED STAGE TERM TEST_ENV TF_LOG TZ UV_SYSTEM_PYTHON V VERBOSE VITE_MODE";
/// Programs that are run as modules of Python too.
const PYTHON_TOOLS: &[&str] = &[
    "pytest",
    "pip",
    "black",
    "ruff",
    "mypy",
    "flake8",
    "isort",
    "pylint",
    "build",
    "coverage",
    "tox",
    "nox",
    "pydoc",
    "pyflakes",
    "pycodestyle",
    "bandit",
    "mkdocs",
    "sphinx",
    "pre_commit",
    "pyright",
];
/// Variables that stand for a place or a name, and for nothing that begins with a dash.
const PLAIN_VARIABLES: &[&str] = &["$PWD", "$OLDPWD", "$USER", "$LOGNAME", "$HOSTNAME", "$TMPDIR", "$UID", "$SHELL"];

/// Folders in which a project has the programs that it installed.
const BESIDE: &[&str] = &["node_modules/.bin/", "vendor/bin/", ".venv/bin/", "venv/bin/", "bin/"];
/// What runs a script of the project, by the end of its name.
const INTERPRETERS: &[(&str, &str)] = &[
    ("sh", "bash"),
    ("bash", "bash"),
    ("py", "python"),
    ("js", "node"),
    ("mjs", "node"),
    ("cjs", "node"),
    ("rb", "ruby"),
    ("pl", "perl"),
    ("php", "php"),
];

/// Whether every part of this simple command is known and harmless.
///
/// # Errors
/// Something of it is in no table: a person is to be asked.
pub(super) fn check(words: &[Word], understood: &Understood) -> Result<(), Finding> {
    nested(words, understood, 0).map(|_| ())
}

/// What a simple command does at most, where it is understood.
pub(super) fn effect(words: &[Word], understood: &Understood) -> Option<Effect> {
    nested(words, understood, 0).ok().filter(|_| !words.is_empty())
}

/// Whether a command that does this at most is understood in a folder.
pub(super) fn check_folder(folder: &str, effect: Effect) -> Result<(), Finding> {
    let folder = secrets::tidied(folder);
    let folder = if folder.is_empty() { "." } else { folder.as_str() };
    let inside = format!("{}/x", folder.trim_end_matches('/'));
    let decides = effect != Effect::Read && (decisive::decides(folder) || decisive::decides(&inside));
    if decides || secrets::is_kept_in(&inside) || effect == Effect::Build && decisive::comes_from_elsewhere(&inside) {
        return Err(unknown(&format!("what is done in `{folder}` is")));
    }
    Ok(())
}

fn nested(words: &[Word], understood: &Understood, depth: usize) -> Result<Effect, Finding> {
    if depth > MAX_DEPTH {
        return Err(unknown("so many programs that run each other are"));
    }
    let mut command = words;
    while let [first, rest @ ..] = command {
        if !first.is_plain("!") {
            let Some((name, value)) = first.assignment() else { break };
            if !is_plain_variable(name, value) {
                return Err(unknown(&format!("what the variable `{name}` does is")));
            }
        }
        command = rest;
    }
    // Only variables were set, in a shell that ends.
    let [name, arguments @ ..] = command else { return Ok(Effect::Read) };
    // What a variable holds may be an option, or a secret.
    let may_be_option = |word: &&Word| {
        let is_plain = PLAIN_VARIABLES.iter().any(|plain| word.text.starts_with(plain));
        word.dynamic && word.text.contains('$') && !(is_plain && word.text.matches('$').count() == 1)
    };
    if let Some(word) = arguments.iter().find(may_be_option) {
        return Err(unknown(&format!("what `{}` stands for is", word.text)));
    }
    let effect = program(name, arguments, understood, depth)?;
    if effect == Effect::Build && is_for_production(words) && tasks::runs_other_task(command) {
        return Err(unknown("what a task does in production is"));
    }
    Ok(effect)
}

/// Whether a variable in front of a command says that it is for production.
fn is_for_production(words: &[Word]) -> bool {
    words.iter().map_while(Word::assignment).any(|(name, value)| {
        (name.ends_with("ENV") || name.ends_with("ENVIRONMENT") || matches!(name, "STAGE" | "MODE"))
            && value.to_ascii_lowercase().starts_with("prod")
    })
}

/// Whether a variable says how a command runs, and not what.
pub(super) fn is_plain_variable(name: &str, value: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "_.,:@+- ".contains(c);
    match name {
        // Names of parts of a program, with patterns.
        "DEBUG" => return value.chars().all(|c| is_plain(c) || c == '*'),
        // Folders of the project, whose code is run anyway.
        "PYTHONPATH" => return value.split(':').all(variables::is_of_project),
        "NODE_OPTIONS" => return variables::is_plain_node_option(value),
        "CC" | "CXX" => return variables::is_compiler(value),
        _ => {}
    }
    if value.is_empty() && variables::holds_options(name) {
        return true;
    }
    if !value.chars().all(is_plain) || value.starts_with('-') {
        return false;
    }
    crate::listed(VARIABLES, name) || name.starts_with("GIT_AUTHOR_") || name.starts_with("GIT_COMMITTER_")
}

fn program(name: &Word, arguments: &[Word], understood: &Understood, depth: usize) -> Result<Effect, Finding> {
    let program = base_name(&name.text);
    // `python -m pytest` is `pytest`, where nothing else is known under `python.pytest`.
    let is_local = name.text.contains(['/', '\\']) && !is_of_system(&name.text);
    let is_installed = BESIDE.iter().any(|folder| {
        name.text.trim_start_matches("./").strip_prefix(folder).is_some_and(|rest| !rest.contains(['/', '\\']))
    });
    if program == "python"
        && (!is_local || is_installed)
        && let [option, module, rest @ ..] = arguments
        && option.text == "-m"
    {
        let own = format!("python.{}", module.text);
        let known = if understood.has(&own) { own } else { module.text.clone() };
        // A module of the project may have the name of any program.
        if known == module.text && !PYTHON_TOOLS.contains(&known.as_str()) {
            return Err(unknown(&format!("the module `{known}` is")));
        }
        return command(&known, &known, rest, understood, depth);
    }
    // A script of the project, by itself or behind `uv run`.
    if let Some(interpreter) = interpreter(&name.text).filter(|_| is_local || depth > 0) {
        let words: Vec<Word> = std::iter::once(name).chain(arguments).cloned().collect();
        return script_of(interpreter, &words, understood, depth);
    }
    if is_local && !is_installed {
        let is_own = line::is_own(&name.text);
        if !is_own || !understood.lines(&program).any(|line| line.has(Flag::Local)) {
            return Err(unknown(&format!("the program `{}` is", name.text)));
        }
    }
    if INTERPRETERS.iter().any(|(_, interpreter)| *interpreter == program) {
        return script_of(&program, arguments, understood, depth);
    }
    command(&name.text, &program, arguments, understood, depth)
}

/// A program that runs a script. Of some scripts it is known what their subcommands do: `manage.py`, `artisan`.
fn script_of(interpreter: &str, arguments: &[Word], understood: &Understood, depth: usize) -> Result<Effect, Finding> {
    let lines: Vec<Line<'_>> = understood.lines(interpreter).collect();
    let script = line::operands(arguments, &lines).at.first().copied();
    if let Some(at) = script
        && let Some(script) = arguments.get(at)
        && let Some(known) = script.text.rsplit('/').next().filter(|known| understood.has(known))
    {
        // What stands up to the script is the interpreter's.
        command(interpreter, interpreter, &arguments[..=at], understood, depth)?;
        return command(&script.text, known, &arguments[at + 1..], understood, depth);
    }
    command(interpreter, interpreter, arguments, understood, depth)
}

/// What runs a script, by the end of its name.
fn interpreter(path: &str) -> Option<&'static str> {
    let (_, end) = path.rsplit('/').next()?.rsplit_once('.')?;
    INTERPRETERS.iter().find(|(known, _)| *known == end).map(|(_, interpreter)| *interpreter)
}

/// One program by its name in the table, with its arguments.
fn command(
    shown: &str,
    name: &str,
    arguments: &[Word],
    understood: &Understood,
    depth: usize,
) -> Result<Effect, Finding> {
    let lines: Vec<Line<'_>> = understood.lines(name).collect();
    if lines.is_empty() {
        return match databases::check(name, arguments) {
            Some(judged) => judged.and_then(|()| secrets::check(shown, name, arguments)).map(|()| Effect::Read),
            None => Err(unknown(&format!("the program `{shown}` is"))),
        };
    }
    if let [only] = arguments
        && matches!(only.text.as_str(), "--help" | "--version")
    {
        return Ok(Effect::Read);
    }
    let own = lines.iter().find(|line| line.depth == 0);
    let line::Operands { at: operands, between } = line::operands(arguments, &lines);
    let is_joined = |last: usize, at: usize| (last + 1..at).all(|word| between.contains(&word));
    let fits = |line: &&Line<'_>| {
        let mut given = operands.iter();
        let mut last = None;
        // Between subcommands stands no option that nobody knows: its value would be taken for one.
        line.subcommands().all(|pattern| {
            let Some(at) = given.next() else { return false };
            let follows = last.replace(*at).is_none_or(|last: usize| is_joined(last, *at));
            // `:app:assembleDebug` is a task of a part of the project.
            let task = |text: &'_ str| {
                text.rsplit(':').next().filter(|_| name.starts_with("gradle")).unwrap_or(text).to_owned()
            };
            follows && arguments.get(*at).is_some_and(|word| line::fits(pattern, &task(&word.text)))
        })
    };
    let best = lines.iter().filter(fits).max_by_key(|line| line.depth);
    let Some(line) = best else { return Err(unknown(&format!("the program `{shown}` without a subcommand is"))) };
    let depth_of_line = line.depth;
    let has_deeper = lines.iter().any(|other| other.depth > depth_of_line && line.leads_to(other));
    let left = operands.len() - depth_of_line;
    // Behind an option stands its value, or a subcommand that nobody has looked at.
    let apart = depth_of_line > 0
        && !line.has_needed()
        && operands
            .get(depth_of_line)
            .zip(operands.get(depth_of_line - 1))
            .is_some_and(|(next, last)| !is_joined(*last, *next));
    // Where subcommands are known, the first operand has to be one of them.
    let closed =
        line.has(Flag::Bare) || has_deeper && apart || has_deeper && (depth_of_line == 0 || line.has(Flag::Alone));
    if left > 0 && closed {
        let given = operands.get(depth_of_line).and_then(|at| arguments.get(*at)).map_or("", |word| &word.text);
        return Err(unknown(&format!("`{shown} {given}` is")));
    }
    if depth_of_line == 0 && has_deeper && !line.has(Flag::Alone) && line.effect != Effect::Wrap {
        return Err(unknown(&format!("`{shown}` without a subcommand is")));
    }
    let skip = depth_of_line.checked_sub(1).and_then(|last| operands.get(last)).map_or(0, |at| at + 1);
    let (before, rest) = arguments.split_at(skip);
    // Options in front of a subcommand are those of the words so far.
    let first = operands.first().copied().unwrap_or(skip).min(skip);
    for (depth, pair) in operands.windows(2).enumerate().take_while(|(_, pair)| pair[1] < skip) {
        let of_words = lines.iter().filter(|line| line.depth == depth + 1);
        let leading = of_words.into_iter().find(|leading| leading.leads_to(line));
        match (leading, arguments.get(pair[0] + 1..pair[1]).unwrap_or_default()) {
            (_, []) => {}
            (Some(leading), between) => leading.check_options(shown, between, own)?,
            (None, _) => return Err(unknown(&format!("the options in front of a subcommand of `{shown}` are"))),
        }
    }
    let before = before.get(..first).unwrap_or_default();
    if let Some(own) = own.filter(|_| skip > 0) {
        own.check_options(shown, before, None)?;
    } else if let Some(word) = before.iter().find(|word| word.text.starts_with('-')) {
        return Err(unknown(&format!("the option `{}` of `{shown}` is", word.text)));
    }
    if line.effect == Effect::Wrap {
        let inner = line.leading(shown, rest)?;
        let own = rest.get(..rest.len() - inner.len()).unwrap_or_default();
        if amounts::exceeds(name, own) {
            return Err(unknown(&format!("how much `{shown}` does is")));
        }
        let inner = inner.get(usize::from(line.has(Flag::Skip))..).unwrap_or_default();
        // `env A=1` prints the whole environment.
        if name == "env" && inner.iter().all(|word| word.assignment().is_some()) {
            return Err(unknown("what `env` prints is"));
        }
        if line.has(Flag::Shell) {
            let text = inner.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            let words = super::lexer::words(&text).map_err(|_| unknown(&format!("what `{shown}` runs is")))?;
            return nested(&words, understood, depth + 1);
        }
        // What `xargs` adds comes from elsewhere: only what reads may get it.
        return match nested(inner, understood, depth + 1)? {
            Effect::Read => Ok(Effect::Read),
            _ if name == "xargs" => Err(unknown("what `xargs` runs with words from elsewhere is")),
            effect => Ok(effect),
        };
    }
    if line.has(Flag::Script) {
        script::check(shown, rest)?;
    }
    if line.effect == Effect::Read {
        decisive::check_outputs(shown, arguments)?;
    } else {
        decisive::check(shown, arguments, line.effect == Effect::Build)?;
        decisive::check_targets(shown, arguments)?;
        if line.effect == Effect::Write && planted::turns_into_code(name, arguments) {
            return Err(unknown(&format!("what `{shown}` writes is")));
        }
    }
    if line.has(Flag::Tasks) {
        // Of several tasks each has to be known.
        let is_task = |task: &str| {
            let last = task.rsplit(':').next().filter(|_| name.starts_with("gradle"));
            lines
                .iter()
                .filter_map(|line| line.subcommands().next())
                .any(|known| line::fits(known, task) || last.is_some_and(|last| line::fits(known, last)))
        };
        let mut tasks = operands.iter().skip(depth_of_line).filter_map(|at| arguments.get(*at));
        if let Some(task) = tasks.find(|task| !is_task(&task.text)) {
            return Err(unknown(&format!("`{shown} {}` is", task.text)));
        }
    }
    let subcommand = operands.first().and_then(|at| arguments.get(*at)).map(|word| word.text.as_str());
    special::check(name, subcommand, arguments)?;
    kept::check(name, subcommand, arguments)?;
    secrets::check(shown, name, arguments)?;
    let rest = if line.has(Flag::Exec) { without_command(rest, understood, depth)? } else { Cow::Borrowed(rest) };
    line.check_options(shown, &rest, own.filter(|_| skip > 0))?;
    Ok(line.effect)
}

/// The words of a program that runs a command on what it finds, without that command, which may only read.
fn without_command<'w>(words: &'w [Word], understood: &Understood, depth: usize) -> Result<Cow<'w, [Word]>, Finding> {
    let is_exec = |word: &Word| {
        matches!(word.text.as_str(), "-exec" | "-execdir" | "-x" | "-X" | "--exec" | "--exec-batch") && !word.quoted
    };
    let Some(at) = words.iter().position(is_exec) else { return Ok(Cow::Borrowed(words)) };
    if secrets::is_wide(words) {
        return Err(unknown("what is found and shown there is"));
    }
    let behind = &words[at + 1..];
    let end = behind.iter().position(|word| matches!(word.text.as_str(), ";" | "+")).unwrap_or(behind.len());
    if nested(&behind[..end], understood, depth + 1)? != Effect::Read {
        return Err(unknown("what is run on everything that is found is"));
    }
    let rest = behind.get(end + 1..).unwrap_or_default();
    if rest.iter().any(is_exec) {
        return Err(unknown("more than one command on what is found is"));
    }
    Ok(Cow::Owned(words[..at].iter().chain(rest).cloned().collect()))
}

/// Whether a word names code that others may have put there: in a folder where everybody writes, or in one of the project.
pub(super) fn comes_from_elsewhere(word: &str) -> bool {
    let tidy = secrets::tidied(word);
    decisive::is_handed_in(&tidy) || ["/tmp/", "/var/tmp/", "/dev/shm/"].iter().any(|folder| tidy.starts_with(folder))
}

/// A path as it is read.
pub(super) fn tidied(path: &str) -> String {
    secrets::tidied(path)
}

/// Whether a file may hold secrets.
pub(super) fn may_hold_secrets(path: &str) -> bool {
    secrets::is_kept_in(path)
}

/// Whether a name says that a password or a key is there.
pub(super) fn names_secret(name: &str) -> bool {
    shown::names_secret(name)
}

/// Whether the table has a word as a subcommand of a program, at this place among them.
pub(super) fn is_subcommand(program: &str, at: usize, word: &str) -> bool {
    let table = Understood::default();
    table.lines(program).any(|line| line.subcommands().nth(at).is_some_and(|own| own.split('|').any(|own| own == word)))
}

/// Whether the table has a program of this name.
pub(super) fn has(program: &str) -> bool {
    table::has(program)
}

/// Whether what is written to a place decides what runs later.
pub(super) fn place_decides(path: &str) -> bool {
    decisive::decides(path) || special::names_deciding(path)
}

/// Whether a file describes the project: no tool turns another file into it.
pub(super) fn is_document(path: &str) -> bool {
    path.contains('.') && artefacts::is_document(path)
}

/// Whether a file says of itself that it is new or a copy, or lies where tools put what they make.
pub(super) fn is_new(path: &str) -> bool {
    replaced::is_new(path, &[])
}

/// The finding for what is in no table.
pub(super) fn unknown(what: &str) -> Finding {
    Finding::new("shell-unknown", format!("{what} not in the table of what is known to be harmless"))
        .suggest("a person has to agree; the operator can add it to the table (`understood_commands`)")
        .ask()
}
