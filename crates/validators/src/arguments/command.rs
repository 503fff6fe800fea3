//! Commands in arguments, and commands that hide in other strings.

use switchboard_policy::permission::Scope;

use super::role::Role;
use super::walk::{Doubts, Refused, at};
use super::{Checks, SCOPE};
use super::{connect, denied};
use crate::shell::Around;
use crate::{Finding, Verdict, shell};

/// What ends a command or begins another one, to some shell.
const SEPARATORS: [char; 9] = [';', '|', '&', '\n', '\r', '(', ')', '<', '>'];
/// More pieces in one string are not looked at one by one.
const MOST_PIECES: usize = 4096;
/// Programs that give a command the rights of another user.
const ELEVATING: [&str; 5] = ["sudo", "doas", "su", "pkexec", "runuser"];

/// What shells of other kinds read in their own way.
const OWN_SIGNS: [char; 18] =
    ['"', '\'', '\\', '`', '^', '%', '$', '{', '(', ')', ';', '|', '&', '<', '>', '\n', '\r', '@'];

/// A string that is a command, as it is and without what a shell takes for comments.
pub(super) fn check(checks: &Checks, line: &str, around: &Around, doubts: Doubts<'_>) -> Result<(), Refused> {
    each_reading(line, |line| check_as_it_is(checks, line, around, doubts))
}

fn each_reading(line: &str, judge: impl Fn(&str) -> Result<(), Refused>) -> Result<(), Refused> {
    judge(line)?;
    let Some(bare) = shell::without_comments(line) else { return Ok(()) };
    judge(&bare.text)?;
    // Readers disagree on where a comment and its quotes end: each line may be one that runs.
    let mut lines = line.lines().map(str::trim).filter(|line| bare.lines_behind && !line.is_empty());
    lines.try_for_each(|line| judge(line.trim_start_matches('#')))
}

fn check_as_it_is(checks: &Checks, line: &str, around: &Around, doubts: Doubts<'_>) -> Result<(), Refused> {
    let elevated = line.trim_start().strip_prefix("sudo ").filter(|_| may_elevate(checks));
    let judged = elevated.unwrap_or(line);
    if checks.sandbox {
        at("sandbox", doubts.weigh(shell::check_for_person(judged, doubts.understood)))?;
        at("sandbox", doubts.weigh(shell::check_around(judged, around, doubts.understood)))?;
        if checks.about.is_other_shell && judged.contains(OWN_SIGNS) {
            let doubt = shell::not_understood("what a shell of another kind makes of quotes and signs is");
            at("sandbox", doubts.weigh(Err(doubt)))?;
        }
    }
    if checks.readonly {
        at("readonly", shell::readonly(judged))?;
    }
    for scope in &checks.scopes {
        at(SCOPE, within(scope, judged, elevated.is_some()))?;
    }
    if checks.limits_hosts() { at(SCOPE, connect::check(&checks.scopes, judged)) } else { Ok(()) }
}

/// A line that may be a command, held to what the grants say of commands and hosts.
pub(super) fn within_limits(checks: &Checks, line: &str) -> Result<(), Refused> {
    each_reading(line, |line| {
        checks.scopes.iter().try_for_each(|scope| at(SCOPE, within(scope, line, false)))?;
        if checks.limits_hosts() { at(SCOPE, connect::check(&checks.scopes, line)) } else { Ok(()) }
    })
}

/// A command with words behind it that may belong to it: judged by what it does and by its name alone.
pub(super) fn check_loosely(checks: &Checks, line: &str) -> Result<(), Refused> {
    let elevated = line.trim_start().strip_prefix("sudo ").filter(|_| may_elevate(checks));
    let judged = elevated.unwrap_or(line);
    if checks.sandbox {
        let verdict = shell::check(judged);
        at("sandbox", if verdict.as_ref().is_err_and(Finding::asks) { Ok(()) } else { verdict })?;
    }
    checks.scopes.iter().try_for_each(|scope| at(SCOPE, within(scope, judged, elevated.is_some())))
}

/// Every grant that speaks of commands has to say so.
fn may_elevate(checks: &Checks) -> bool {
    let mut about_commands = checks.scopes.iter().filter(|scope| speaks(scope) || scope.allow_sudo).peekable();
    about_commands.peek().is_some() && about_commands.all(|scope| scope.allow_sudo)
}

fn speaks(scope: &Scope) -> bool {
    scope.commands.is_some() || !scope.deny_commands.is_empty()
}

fn within(scope: &Scope, line: &str, elevated: bool) -> Verdict {
    if !speaks(scope) {
        return Ok(());
    }
    let set = shell::assignments(line);
    check_variables(scope, set.iter().map(|(name, _)| name.as_str()))?;
    let words = shell::plain_words(line)?;
    let Some(program) = words.first() else { return Err(Finding::new("shell-empty", "the command is empty")) };
    if !scope.allow_sudo && (elevated || ELEVATING.contains(&base_name(program))) {
        return Err(Finding::new("command-outside", "the grant does not cover the rights of another user"));
    }
    denied::check(&scope.deny_commands, &words)?;
    match &scope.commands {
        Some(allowed) if !allowed.iter().any(|allowed| is_allowed(allowed, &words)) => {
            Err(Finding::new("command-outside", format!("`{program}` is not among the allowed commands")))
        }
        _ => Ok(()),
    }
}

/// Variables that decide which program or library runs make another program of an allowed one.
fn check_variables<'n>(scope: &Scope, mut names: impl Iterator<Item = &'n str>) -> Verdict {
    match names.find(|name| speaks(scope) && shell::decides(name)) {
        Some(name) => {
            let message = format!("the variable `{name}` decides what runs, and the grant is limited to some commands");
            Err(Finding::new("command-outside", message))
        }
        None => Ok(()),
    }
}

/// What stands beside a command, held to what the grants say of commands: its variables.
pub(super) fn check_beside(checks: &Checks, around: &Around) -> Result<(), Refused> {
    let names = || around.variables.iter().map(|(name, _)| name.as_str());
    checks.scopes.iter().try_for_each(|scope| at(SCOPE, check_variables(scope, names())))
}

/// `git` allows every use of that program, `git log` only what begins so.
fn is_allowed(allowed: &str, words: &[String]) -> bool {
    let mut wanted = allowed.split_whitespace();
    let Some(program) = wanted.next() else { return false };
    let named =
        |word: &String| word == program || shell::is_of_system(word) && word.rsplit('/').next() == Some(program);
    words.first().is_some_and(named)
        && wanted.enumerate().all(|(at, word)| words.get(at + 1).is_some_and(|w| w == word))
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The command line that stands for these words.
pub(crate) fn line(words: &[String]) -> String {
    let mut line = String::new();
    if joins_commands(words) {
        return words.join(" ");
    }
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:=@%+,-".contains(&byte);
        if !word.is_empty() && word.bytes().all(plain) {
            line.push_str(word);
        } else {
            line.push('\'');
            line.push_str(&word.replace('\'', "'\\''"));
            line.push('\'');
        }
    }
    line
}

/// Whether these words become several commands at a server that puts them together into a line for a shell: a program stands
/// right behind a sign that begins a command there, or a word begins with a redirection. In texts and patterns other words
/// stand there.
fn joins_commands(words: &[String]) -> bool {
    // `&&` by itself is no word of a program; `;` ends the command of `find -exec`.
    let parts = |word: &String| {
        word.contains('\n') && word.trim().is_empty() || matches!(word.trim(), "&&" | "||" | "|" | "&" | ";")
    };
    if words.split_last().is_some_and(|(_, words)| words.iter().any(parts)) {
        return true;
    }
    let redirects = |word: &String| word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&').starts_with('>');
    let begins = |word: &String| word.contains([';', '|', '&', '\n', '\r', '`', '(']);
    if words.iter().any(redirects) {
        return true;
    }
    if !words.iter().any(begins) {
        return false;
    }
    let line = words.join(" ");
    let begins = |(at, sign): &(usize, &str)| *sign != "(" || line[..*at].ends_with(['$', '<', '>']);
    let signs = line.match_indices([';', '|', '&', '\n', '\r', '`', '(']).filter(begins).take(MOST_PIECES);
    signs.map(|(at, sign)| &line[at + sign.len()..]).any(|rest| {
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"_.-/+".contains(c)).unwrap_or(rest.len());
        let program = rest[..end].rsplit('/').next().unwrap_or_default();
        !program.is_empty() && shell::is_known_program(program)
    })
}

/// Whether a string that is no command would become one where a tool pastes it into a command line or runs it.
///
/// What a shell would run from inside the text has to be harmless: in prose that is what stands in substitutions, in
/// anything else also what stands behind a separator, and the text itself. Names and paths have no need for either.
pub(super) fn smuggled(role: Role, text: &str) -> Verdict {
    let substituted = text.contains('`') || text.contains("$(") || text.contains("${");
    match role {
        Role::Prose | Role::Content | Role::Code | Role::Script => {
            if substituted {
                substitutions(text, false)
            } else {
                Ok(())
            }
        }
        Role::Path | Role::Reference | Role::Host => {
            let operator = text.contains([';', '|', '&', '\n', '\r', '<', '>', '`']) || substituted;
            if operator { Err(injection("an operator of the shell in a name")) } else { Ok(()) }
        }
        // The words behind a command were judged together with it.
        Role::CommandWords => substitutions(text, true).and_then(|()| pieces(text, 1, true)),
        _ => {
            substitutions(text, true)?;
            pieces(text, 1, true)?;
            check_piece(text.split(SEPARATORS).next().unwrap_or_default(), false)
        }
    }
}

/// What stands in backquotes or behind `$(`. In prose, backquotes are more often only marks.
fn substitutions(text: &str, surely: bool) -> Verdict {
    for inner in text.split('`').skip(1).step_by(2) {
        pieces(inner, 0, surely)?;
    }
    for inner in text.split("$(").skip(1) {
        pieces(inner.split(')').next().unwrap_or_default(), 0, true)?;
    }
    Ok(())
}

/// The pieces between separators, without the first `skip`.
fn pieces(text: &str, skip: usize, surely: bool) -> Verdict {
    for (index, piece) in text.split(SEPARATORS).enumerate().skip(skip) {
        if index > MOST_PIECES {
            return Err(injection("too many operators of the shell to look behind all of them"));
        }
        check_piece(piece, surely)?;
    }
    Ok(())
}

/// One piece of text that may be a command, or `surely` is one if a shell reads it.
fn check_piece(piece: &str, surely: bool) -> Verdict {
    // A closing quote in front lets the rest run; an opening one behind swallows what the tool appends.
    let piece = piece.trim().trim_matches(['"', '\'', '`', '#']).trim();
    // One word alone is a value: `bash` may be the name of a language.
    if piece.is_empty() || (!surely && !piece.contains([' ', '\t'])) {
        return Ok(());
    }
    let verdict = match shell::hostile(piece) {
        Err(finding) if finding.rule == "shell-syntax" => shell::hostile(&piece.replace(['"', '\'', '\\'], "")),
        // A command has no words of its own that are counted: what `$2` stands for is nothing.
        Err(finding) if finding.rule == "shell-substitution" && piece.contains('$') => match without_counted(piece) {
            Some(rest) => shell::hostile(&rest),
            None => Err(finding),
        },
        verdict => verdict,
    };
    match verdict {
        Err(finding) if is_harm(finding.rule, piece, surely) => {
            Err(injection(&format!("a command in a text that is none: {finding}")))
        }
        _ => Ok(()),
    }
}

/// A piece without `$1` to `$9`, if it has any of them.
fn without_counted(piece: &str) -> Option<String> {
    let mut rest = String::with_capacity(piece.len());
    let mut letters = piece.chars().peekable();
    while let Some(c) = letters.next() {
        match letters.next_if(|next| c == '$' && next.is_ascii_digit()) {
            Some(_) => {}
            None => rest.push(c),
        }
    }
    (rest.len() < piece.len()).then_some(rest)
}

/// Whether a finding is about what a command does. What only looks odd for a command is no wonder in other text, but
/// it is where a shell would surely read it.
fn is_harm(rule: &str, piece: &str, surely: bool) -> bool {
    match rule {
        "shell-empty" | "shell-syntax" | "shell-blank" | "shell-operator" => false,
        "shell-disguise" | "shell-control" | "shell-substitution" | "shell-program" | "shell-size" => surely,
        // Words such as `then` begin no command; braces and options in its place do.
        "shell-command-word" => surely && !piece.starts_with(|c: char| c.is_alphabetic()),
        _ => true,
    }
}

fn injection(what: &str) -> Finding {
    Finding::new("shell-injection", what)
}
