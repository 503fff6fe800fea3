//! What stands around a command and decides what it does: variables, the folder where it runs, what it reads.

use super::known::{self, Effect};
use super::lexer::{self, Word};
use super::program::base_name;
use super::{Understood, code, hostile, variables};
use crate::code::{Language, Level};
use crate::{Finding, Verdict};

/// Programs that run, or take as words, what they are sent.
const RUN_INPUT: &[&str] = &[
    "at",
    "batch",
    "bc",
    "bun",
    "clickhouse-client",
    "crontab",
    "cqlsh",
    "deno",
    "duckdb",
    "ed",
    "ex",
    "gdb",
    "irb",
    "kubectl",
    "lua",
    "mariadb",
    "mongo",
    "mongosh",
    "mysql",
    "node",
    "nodejs",
    "parallel",
    "patch",
    "perl",
    "php",
    "psql",
    "python",
    "redis-cli",
    "ruby",
    "sftp",
    "sqlcmd",
    "sqlite3",
    "sqlplus",
    "ssh",
    "tclsh",
    "telnet",
    "nc",
    "ncat",
    "xargs",
];

/// What stands around a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// Variables that are set for it.
    pub variables: Vec<(String, String)>,
    /// The folders where it may run: a server takes one of them.
    pub folders: Vec<String>,
    /// What it may be sent.
    pub inputs: Vec<String>,
}

impl Around {
    /// Whether there is nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.folders.is_empty() && self.inputs.is_empty()
    }

    /// Adds what stands further out.
    pub(crate) fn join(&mut self, outer: &Self) {
        self.variables.extend_from_slice(&outer.variables);
        self.folders.extend_from_slice(&outer.folders);
        self.inputs.extend_from_slice(&outer.inputs);
    }
}

/// Whether a command may run with what stands around it. The command by itself is judged elsewhere.
///
/// ```
/// use switchboard_validators::shell::{self, Around, Understood};
/// let around = Around { folders: vec!["/etc".to_owned()], ..Around::default() };
/// assert!(shell::check_around("cat README.md", &Around::default(), &Understood::default()).is_ok());
/// assert!(shell::check_around("cat shadow", &around, &Understood::default()).is_err());
/// ```
///
/// # Errors
/// It is hostile there, or it is not understood ([`Finding::asks`]).
pub fn check_around(command: &str, around: &Around, understood: &Understood) -> Verdict {
    if around.is_empty() {
        return Ok(());
    }
    for (name, value) in &around.variables {
        variables::check_assignment(name, value)?;
    }
    // What is no simple command is asked about by itself.
    let words = lexer::words(command).unwrap_or_default();
    let at = words.iter().position(|word| !word.is_plain("!") && word.assignment().is_none()).unwrap_or(words.len());
    let words = words.get(at..).unwrap_or_default();
    let expanded = lexer::expand_braces(words)?;
    let words = expanded.as_deref().unwrap_or(words);
    // What stands in a list is no word of a shell, unless the server gives it to one.
    if words.iter().any(|word| word.quoted && word.text.contains('{')) {
        let line = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let read = lexer::words(&line).ok().and_then(|read| lexer::expand_braces(&read).ok().flatten());
        if let Some((name, arguments)) = read.as_ref().and_then(|read| read.split_first()) {
            around.folders.iter().try_for_each(|folder| super::program::check(name, &moved(arguments, folder), 0))?;
        }
    }
    let Some((name, arguments)) = words.split_first() else { return check_variables(&around.variables) };
    let program = base_name(&name.text);
    around.folders.iter().try_for_each(|folder| super::program::check(name, &moved(arguments, folder), 0))?;
    let mut inputs = around.inputs.iter().filter(|input| !input.trim().is_empty()).peekable();
    let is_sent = inputs.peek().is_some();
    inputs.try_for_each(|input| check_input(&program, words, input))?;
    // Nothing is hostile: is it understood?
    check_variables(&around.variables)?;
    let effect = known::effect(words, understood);
    if is_sent && (RUN_INPUT.contains(&program.as_str()) || effect == Some(Effect::Build)) {
        return Err(known::unknown(&format!("what `{program}` does with what it is sent is")));
    }
    match effect {
        Some(effect) => around.folders.iter().try_for_each(|folder| known::check_folder(folder, effect)),
        None => Ok(()),
    }
}

/// Whether every variable is known to say how a command runs, and not what.
fn check_variables(variables: &[(String, String)]) -> Verdict {
    match variables.iter().find(|(name, value)| !known::is_plain_variable(name, value)) {
        Some((name, _)) => Err(known::unknown(&format!("what the variable `{name}` does is"))),
        None => Ok(()),
    }
}

/// The words that name files by where they stand in a folder.
fn moved(arguments: &[Word], folder: &str) -> Vec<Word> {
    let folder = known::tidied(folder);
    let folder = folder.trim_end_matches('/');
    let place = |text: &str| {
        let elsewhere = text.is_empty() || text.starts_with(['-', '/', '~', '$', '\\']) || text.contains("://");
        (!elsewhere).then(|| format!("{folder}/{}", text.trim_start_matches("./")))
    };
    let moved = |word: &Word| {
        let text = match word.text.split_once('=').filter(|_| word.text.starts_with("--")) {
            Some((name, value)) => place(value).map(|value| format!("{name}={value}")),
            None => place(&word.text),
        };
        let mut moved = word.clone();
        moved.text = text.unwrap_or(moved.text);
        moved
    };
    arguments.iter().map(moved).collect()
}

/// What is hostile about what a program is sent.
fn check_input(program: &str, words: &[Word], input: &str) -> Verdict {
    if code::SHELLS.contains(&program) {
        return match super::check(input) {
            Err(finding) if !finding.asks() => Err(finding),
            _ => Ok(()),
        };
    }
    if program == "xargs" {
        let line: Vec<&str> = words.iter().map(|word| word.text.as_str()).chain(input.split_whitespace()).collect();
        return hostile(&line.join(" "));
    }
    let language = match program {
        "python" | "pypy" => Language::Python,
        "node" | "nodejs" | "bun" | "deno" => Language::JavaScript,
        _ => return Ok(()),
    };
    // With a script it is only read.
    if words.len() > 1 && words.get(1).is_some_and(|word| word.text != "-") {
        return Ok(());
    }
    match crate::code::check(language, Level::Standard, input) {
        Err(finding) if !finding.asks() => Err(Finding { rule: "shell-code", ..finding }),
        _ => Ok(()),
    }
}
