//! The words of a command that stand beside it in the arguments.
//!
//! A tool may take a command in one string, or apart: the program here, its words there, in one list or in several. Which
//! of them a server puts behind the program, and in which order, nobody can know. So everything beside a command counts
//! as words of it, unless its key shows that it is something else. Keys that are for words count for every rule; what
//! stands under keys that nobody knows counts only where a command is judged by what it does and by its name.

use switchboard_policy::keys::{self, Key, Mark};
use switchboard_policy::schema::Evidence;
use switchboard_wire::{Kind, Limits, Object, Raw};

use super::place::Field;
use super::role::{self, Role};
use super::{command, connect};

/// More lists of words beside one command are refused.
pub(super) const MAX_LISTS: usize = 16;
/// How deep words are looked for below a command.
const MAX_DEPTH: usize = 8;
/// Longer text under a key that nobody knows is no word of a command.
const MAX_LOOSE: usize = 4096;

/// Shells that read a command as it was judged here, and run what stands in it.
const POSIX_SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];
/// Options of these that change nothing about that.
const PLAIN_OPTIONS: [&str; 6] = ["--login", "--norc", "--noprofile", "--posix", "--", "pipefail"];
/// Words of sentences that stand behind no program.
const OF_SENTENCES: [&str; 48] = [
    "a", "an", "the", "of", "it", "is", "was", "are", "be", "been", "me", "my", "we", "our", "you", "your", "he",
    "she", "they", "them", "their", "this", "that", "these", "those", "to", "in", "on", "at", "by", "for", "from",
    "with", "and", "or", "not", "no", "out", "up", "down", "sure", "if", "when", "what", "who", "how", "as", "so",
];

/// The words beside a command.
#[derive(Default, Clone)]
pub(super) struct Words {
    /// Each list under a key that is for words, as a command line has it.
    pub(super) named: Vec<String>,
    /// Each string or list under a key that says nothing.
    loose: Vec<String>,
}

impl Words {
    /// The words among the members of an object, besides those that `is_command` says are commands.
    pub(super) fn collect(&mut self, object: &Object, is_command: &dyn Fn(&str, &Raw) -> bool) {
        self.members(object, is_command, false, 0);
    }

    /// Only what stands under keys for words.
    pub(super) fn named_only(&self) -> Self {
        Self { named: self.named.clone(), loose: Vec::new() }
    }

    fn members(&mut self, object: &Object, is_command: &dyn Fn(&str, &Raw) -> bool, below: bool, depth: usize) {
        for (key, member) in object.iter() {
            if self.named.len() > MAX_LISTS || is_command(&key, &member) {
                continue;
            }
            let named = is_name(&key);
            match member.kind() {
                Kind::Object if depth < MAX_DEPTH && (named || !is_something_else(&key)) => {
                    if let Ok(inner) = Object::open(&member) {
                        self.members(&inner, is_command, !named, depth + 1);
                    }
                }
                Kind::String | Kind::Array if named => self.named.push(line_of(&member)),
                Kind::Number if named => self.named.push(member.as_str().to_owned()),
                // Further down only a key for words shows that something belongs to the command.
                Kind::String | Kind::Array if !below && !is_something_else(&key) => self.loose(&member),
                _ => {}
            }
        }
    }

    fn loose(&mut self, value: &Raw) {
        let mut words = Vec::new();
        flatten(value, &mut words, 0);
        let words: Vec<String> = words.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect();
        let line = command::line(&words);
        if !words.is_empty() && line.len() <= MAX_LOOSE && self.loose.len() < MAX_LISTS {
            self.loose.push(line);
        }
    }

    /// The lines that a server may make of a command and the words under keys for them: with each list, and with all of
    /// them in either order.
    pub(super) fn lines(&self, command: &str) -> Vec<String> {
        let joined = |lists: &mut dyn Iterator<Item = &String>| {
            lists.fold(command.to_owned(), |line, words| format!("{line} {words}"))
        };
        match self.named.as_slice() {
            [] => vec![command.to_owned()],
            [only] => vec![format!("{command} {only}")],
            lists => {
                let mut lines: Vec<String> = lists.iter().map(|words| format!("{command} {words}")).collect();
                lines.push(joined(&mut lists.iter()));
                lines.push(joined(&mut lists.iter().rev()));
                lines
            }
        }
    }

    /// The same with what stands under other keys behind it.
    pub(super) fn loose_lines(&self, command: &str) -> Vec<String> {
        let Some(front) = self.lines(command).into_iter().next_back().filter(|_| !self.loose.is_empty()) else {
            return Vec::new();
        };
        let mut lines: Vec<String> = self.loose.iter().map(|words| format!("{front} {words}")).collect();
        if self.loose.len() > 1 {
            lines.push(format!("{front} {}", self.loose.join(" ")));
        }
        lines
    }
}

/// The words beside a command, for those who have its program from elsewhere.
pub(crate) mod beside_command {
    use super::{Object, Raw, Words};

    pub(crate) use super::line_of;

    /// The lines that a front and the words in an object make.
    pub(crate) fn lines(object: &Object, is_other: &dyn Fn(&str, &Raw) -> bool, front: &str) -> Vec<String> {
        let mut words = Words::default();
        words.collect(object, is_other);
        words.lines(front)
    }
}

/// Whether a key is for the words of a command.
pub(super) fn is_name(key: &str) -> bool {
    Key::of(key).has(Mark::Words)
}

/// Whether what stands under a key may be a command, though the key is not known for it: `terminal_command`, `run`.
pub(super) fn may_be_command(name: &str, text: &str) -> bool {
    let key = Key::of(name);
    let last = key.said_last();
    let is_text = last.has(Mark::WeakText) && key.words().count() > 1;
    let is_command = last.has(Mark::Shell) || last.has(Mark::Runs);
    let about = last.has(Mark::AboutCommand) || key.words().rev().skip(1).any(|word| word == "dry");
    if about || is_answer(text.trim()) || !is_text && !is_command && is_something_else(name) {
        return false;
    }
    key.has(Mark::Runs) || key.has(Mark::Shell) && text.trim().contains(char::is_whitespace)
}

/// Whether a key is for the program that runs a command.
pub(super) fn names_runner(key: &str) -> bool {
    let key = Key::of(key);
    let mut words = key.words().rev().map(keys::of_word);
    let behind = key.words().rev().map(keys::of_word).take_while(|said| said.has(Mark::OfRunner)).count();
    words.nth(behind.min(key.words().count().saturating_sub(1))).is_some_and(|said| said.has(Mark::Runner))
}

/// Whether a member beside a command says which program runs it, with whose rights, or which variables it reads from a file.
pub(super) fn decides_how_it_runs(key: &str, member: &Raw) -> bool {
    if names_runner(key) && !runners(member).is_empty() {
        return true;
    }
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let is_on = || match member.as_text() {
        Some(text) => !matches!(text.trim().to_ascii_lowercase().as_str(), "" | "false" | "no" | "off" | "0"),
        None => !matches!(member.as_str(), "false" | "null" | "0" | "[]" | "{}"),
    };
    let is_root = || {
        let name = member.as_text().unwrap_or_else(|| member.as_str().to_owned());
        matches!(
            name.trim().to_ascii_lowercase().as_str(),
            "root" | "0" | "0:0" | "root:root" | "administrator" | "system"
        )
    };
    match plain.as_str() {
        "sudo" | "usesudo" | "withsudo" | "elevated" | "elevate" | "asroot" | "asadmin" | "runasroot"
        | "runasadmin" | "become" | "privileged" | "envfile" | "dotenv" | "envfiles" => is_on(),
        "user" | "runas" | "runasuser" | "username" | "uid" | "asuser" => is_root(),
        _ => false,
    }
}

/// The programs that a value under such a key names, at any depth and in any shape, as far as they are not known to run a
/// command as it was judged: each list as the line that it is, and every other string.
pub(super) fn runners(value: &Raw) -> Vec<String> {
    let mut found = Vec::new();
    collect_runners(value, &mut found, 0);
    found
}

fn collect_runners(value: &Raw, found: &mut Vec<String>, depth: usize) {
    if depth > role::MAX_DEPTH {
        return;
    }
    match value.kind() {
        Kind::String => match role::in_string(value) {
            Some(inner) => collect_runners(&inner, found, depth + 1),
            None => found.extend(value.as_text().filter(|text| !runs_as_judged(text.split_whitespace()))),
        },
        Kind::Array => {
            let elements = value.elements().unwrap_or_default();
            let words: Vec<String> = elements.iter().filter_map(Raw::as_text).collect();
            if !words.is_empty() && !runs_as_judged(words.iter().map(|word| word.trim())) {
                found.push(command::line(&words));
            }
            let others = elements.iter().filter(|element| element.kind() != Kind::String);
            others.for_each(|element| collect_runners(element, found, depth + 1));
        }
        Kind::Object => {
            let members = Object::open(value).ok();
            for (key, member) in members.iter().flat_map(Object::iter) {
                let key = Key::of(&key);
                let names_program = ["path", "name", "type", "kind", "shell", "interpreter"].contains(&key.last());
                let last = key.said_last();
                let other = last.has(Mark::AboutRun) && !names_program || last.has(Mark::NoProgram);
                if !other {
                    collect_runners(&member, found, depth + 1);
                }
            }
        }
        Kind::Number | Kind::Bool | Kind::Null => {}
    }
}

/// Whether words are an answer, or a shell that reads a command as it was judged, with options that change nothing about that.
fn runs_as_judged<'w>(mut words: impl Iterator<Item = &'w str>) -> bool {
    let is_option = |word: &str| {
        let letters = word.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty());
        PLAIN_OPTIONS.contains(&word) || letters.is_some_and(|letters| letters.chars().all(|c| "celuxo".contains(c)))
    };
    let Some(first) = words.next() else { return true };
    let name = first.rsplit('/').next().unwrap_or_default();
    let by_system = first == name || crate::shell::is_of_system(first);
    (is_answer(first) || is_option(first) || by_system && POSIX_SHELLS.contains(&name)) && words.all(is_option)
}

/// The commands under a key for what is run later or typed, at any depth and in any shape.
pub(super) fn typed_commands(key: &str, value: &Raw) -> Vec<String> {
    let key = Key::of(key);
    let last = key.said_last();
    let later = key.words().next() == Some("on") && !last.has(Mark::AboutCommand) || key.has(Mark::Later);
    let typed = last.has(Mark::Typed);
    let mut found = Vec::new();
    if later || typed {
        collect_typed(value, later, &mut found, 0);
    }
    if later || key.has(Mark::Runs) {
        found.extend(program_in(value));
    }
    found
}

/// The command of an object that has its program and its words apart: `{"name": "rm", "args": ["-r"]}`.
pub(super) fn program_in(value: &Raw) -> Option<String> {
    let object = Object::open(value).ok()?;
    let names = ["program", "executable", "binary", "exe", "file", "path", "name"];
    let program = names.iter().find_map(|name| object.get(name).and_then(|value| value.as_text()))?;
    let mut words = Words::default();
    words.collect(&object, &|_, _| false);
    let is_program = !program.contains(char::is_whitespace)
        && (connect::is_program(&program) || crate::shell::is_known_program(&crate::shell::base_name(&program)));
    is_program.then(|| words.lines(&program).pop().unwrap_or(program))
}

fn collect_typed(value: &Raw, later: bool, found: &mut Vec<String>, depth: usize) {
    if depth > role::MAX_DEPTH {
        return;
    }
    match value.kind() {
        Kind::String => match role::in_string(value) {
            Some(inner) => collect_typed(&inner, later, found, depth + 1),
            None => {
                let text = value.as_text().unwrap_or_default();
                found.extend(text.lines().filter(|line| is_typed_line(line)).map(str::to_owned));
            }
        },
        Kind::Array => {
            let elements = value.elements().unwrap_or_default();
            let words: Vec<String> = elements.iter().filter_map(Raw::as_text).collect();
            // The words of one command; what is typed key by key is none.
            let is_hook =
                |word: &String| ["pre-", "post-", "commit-", "prepare-"].iter().any(|start| word.starts_with(start));
            let one = words.len() > 1
                && !words.iter().all(is_hook)
                && !words[0].contains(char::is_whitespace)
                && (later || depth > 0);
            let line = command::line(&words);
            if one && is_typed_line(&words.join(" ")) {
                found.push(line);
            }
            elements.iter().for_each(|element| collect_typed(element, later, found, depth + 1));
        }
        Kind::Object => {
            let members = Object::open(value).ok();
            let mut members = members.iter().flat_map(Object::iter);
            members.by_ref().for_each(|(_, member)| collect_typed(&member, later, found, depth + 1));
        }
        Kind::Number | Kind::Bool | Kind::Null => {}
    }
}

/// Whether a line is a command of a known program with a word behind it, and no sentence that begins with its name.
fn is_typed_line(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let program = words.next().map(crate::shell::base_name).unwrap_or_default();
    let words: Vec<&str> = words.collect();
    !words.is_empty() && crate::shell::is_known_program(&program) && !is_sentence(line, &program, &words)
}

/// Whether a line says something in plain words, though its first one is the name of a program (`make sure it works`).
fn is_sentence(line: &str, program: &str, words: &[&str]) -> bool {
    let is_plain = |word: &&str| {
        let word = word.trim_end_matches(['.', ',', '!', '?', ':']);
        word.starts_with(char::is_alphabetic) && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '\'' | '-'))
    };
    let says = |word: &&str| OF_SENTENCES.contains(&word.to_lowercase().as_str());
    crate::acting::is_word_of_texts(program)
        && !matches!(program, "node" | "env")
        && words.iter().all(is_plain)
        && (line.trim_start().starts_with(char::is_uppercase) || words.iter().any(says))
}

/// Yes, no or a number.
fn is_answer(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "yes" | "no" | "on" | "off" | "auto" | "")
        || text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b':'))
}

/// Whether a member of an object that is a command is its line or its program.
pub(super) fn is_part_of_command(key: &str) -> bool {
    let named = matches!(Key::of(key).last(), "name" | "text" | "content" | "program");
    named || !is_something_else(key) && !is_name(key)
}

/// Whether a list begins with the name of a program, or is a command that does harm.
pub(super) fn begins_with_program(value: &Raw) -> bool {
    let first = value.elements().and_then(|elements| elements.first().and_then(Raw::as_text));
    let is_program = |name: &str| {
        let base = crate::shell::base_name(name);
        (name == base || name.contains('/')) && crate::shell::is_known_program(&base)
    };
    let does_harm = || crate::shell::hostile(&line_of(value)).is_err_and(|finding| !finding.asks());
    first.is_some_and(|first| !first.starts_with('-') && (is_program(&first) || does_harm()))
}

/// Whether a key is `argv`, whose first word is the program by its meaning.
pub(super) fn is_argv(key: &str) -> bool {
    Key::of(key).last() == "argv"
}

/// Whether a key shows that its value is no word of the command beside it.
fn is_something_else(key: &str) -> bool {
    let role = role::of(key);
    Key::of(key).said_last().has(Mark::AboutRun)
        || matches!(role, Role::Prose | Role::Content | Role::Method)
        || Field::of(key, role, &Evidence::none()) == Field::Body
}

/// Words as a command line has them. A string is one already, unless it holds a list.
pub(crate) fn line_of(value: &Raw) -> String {
    if let Some(text) = value.as_text() {
        let listed = text.trim_start().starts_with('[').then(|| Raw::parse(text.trim().to_owned(), &Limits::default()));
        return match listed {
            Some(Ok(list)) => line_of(&list),
            _ => text,
        };
    }
    let mut words = Vec::new();
    flatten(value, &mut words, 0);
    command::line(&words)
}

/// The text of everything in a value, in its order.
fn flatten(value: &Raw, words: &mut Vec<String>, depth: usize) {
    match value.kind() {
        _ if depth > MAX_DEPTH => words.push(value.as_str().to_owned()),
        Kind::Array => {
            for element in value.elements().unwrap_or_default() {
                flatten(&element, words, depth + 1);
            }
        }
        Kind::Object => {
            let members = Object::open(value).ok();
            for (_, member) in members.iter().flat_map(Object::iter) {
                flatten(&member, words, depth + 1);
            }
        }
        Kind::String | Kind::Number => {
            words.push(value.as_text().unwrap_or_else(|| value.as_str().to_owned()));
        }
        Kind::Bool | Kind::Null => {}
    }
}
