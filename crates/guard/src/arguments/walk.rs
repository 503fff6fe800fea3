//! The way through the arguments: every string, with what its key says about it.

use switchboard_wire::{Kind, Object, Raw};

use super::role::{self, Role};
use super::{ARGUMENTS, Checks, MAX_DEPTH, SCOPE, Violation, World, command, place, reach, source};
use crate::code::Rejection;
use crate::{Finding, Verdict};

/// A refusal without its place.
pub(super) struct Refused {
    pub(super) step: &'static str,
    pub(super) finding: Finding,
    pub(super) rejection: Option<Box<Rejection>>,
}

/// What stands beside a string in its object, as far as it changes what the string is.
#[derive(Default)]
struct Beside {
    language: Option<String>,
    command_words: Option<Raw>,
}

pub(super) struct Walk<'a> {
    pub(super) checks: &'a Checks,
    pub(super) world: &'a dyn World,
    pub(super) pointer: Vec<Step>,
}

pub(super) enum Step {
    Key(String),
    Index(usize),
}

type Outcome = Result<(), Box<Violation>>;

impl Walk<'_> {
    pub(super) fn run(mut self, arguments: &Raw) -> Outcome {
        self.value(arguments, Role::Other, &Beside::default())
    }

    fn value(&mut self, value: &Raw, role: Role, beside: &Beside) -> Outcome {
        if self.pointer.len() > MAX_DEPTH {
            let message = format!("the arguments are nested deeper than {MAX_DEPTH}");
            return Err(self.violation(refused(ARGUMENTS, Finding::new("arguments-depth", message))));
        }
        match value.kind() {
            Kind::Object => self.object(value),
            Kind::Array => self.array(value, role, beside),
            Kind::String => match value.as_text() {
                Some(text) => self.leaf(&text, role, beside),
                None => Ok(()),
            },
            Kind::Number | Kind::Bool | Kind::Null => Ok(()),
        }
    }

    fn object(&mut self, value: &Raw) -> Outcome {
        let Ok(object) = Object::open(value) else {
            let finding = Finding::new("arguments-twice", "a member stands twice, and readers may take different ones");
            return Err(self.violation(refused(ARGUMENTS, finding)));
        };
        let mut beside = Beside::default();
        for (key, member) in object.iter() {
            match key.as_ref() {
                "language" | "lang" => beside.language = member.as_text(),
                "args" | "argv" | "arguments" => beside.command_words = Some(member),
                "port" => self.within("port", |walk| walk.port(&member))?,
                _ => {}
            }
        }
        for (key, member) in object.iter() {
            self.within(&key, |walk| {
                if !role::is_plain(&key) {
                    walk.leaf(&key, Role::Other, &Beside::default())?;
                }
                walk.value(&member, role::of(&key), &beside)
            })?;
        }
        Ok(())
    }

    fn within(&mut self, key: &str, inner: impl FnOnce(&mut Self) -> Outcome) -> Outcome {
        self.pointer.push(Step::Key(key.to_owned()));
        let outcome = inner(self);
        self.pointer.pop();
        outcome
    }

    fn array(&mut self, value: &Raw, role: Role, beside: &Beside) -> Outcome {
        let elements = value.elements().unwrap_or_default();
        if role == Role::Command && self.runs_commands() {
            let words: Option<Vec<String>> = elements.iter().map(Raw::as_text).collect();
            let Some(words) = words else {
                let finding = Finding::new("shell-words", "the words of a command are not all text");
                return Err(self.violation(refused(self.command_step(), finding)));
            };
            return self.one_command(&command::line(&words)).map_err(|refused| self.violation(refused));
        }
        for (index, element) in elements.iter().enumerate() {
            self.pointer.push(Step::Index(index));
            self.value(element, role, beside)?;
            self.pointer.pop();
        }
        Ok(())
    }

    fn leaf(&self, text: &str, role: Role, beside: &Beside) -> Outcome {
        self.judge(text, role, beside).map_err(|refused| self.violation(refused))
    }

    fn judge(&self, text: &str, role: Role, beside: &Beside) -> Result<(), Refused> {
        if matches!(role, Role::Path | Role::Reference) && text.starts_with('-') {
            let finding = Finding::new("argument-option", "a value that starts with `-` would be read as an option")
                .suggest("write ./ in front of the name");
            return Err(refused(ARGUMENTS, finding));
        }
        self.check_commands(text, role, beside)?;
        if self.checks.readonly && role == Role::Method && !matches!(text, "GET" | "HEAD" | "OPTIONS" | "get" | "head")
        {
            let finding = Finding::new("readonly-method", format!("the method `{text}` may change something"));
            return Err(refused("readonly", finding));
        }
        if self.checks.looks_outside() {
            reach::check(self.checks, role, text, self.world)?;
        }
        if self.checks.runs_code() {
            source::check(self.checks, role, text, beside.language.as_deref())?;
        }
        if !self.checks.places.is_empty() && place::is_path(role, text) {
            let links = |path: &str| self.world.link(path);
            for place in &self.checks.places {
                at(SCOPE, crate::path::check(place, text, &links))?;
            }
        }
        Ok(())
    }

    /// The words of a command that look like paths are held to the same paths.
    fn check_command_paths(&self, line: &str) -> Result<(), Refused> {
        if self.checks.places.is_empty() {
            return Ok(());
        }
        let links = |path: &str| self.world.link(path);
        for word in crate::shell::plain_words(line).map_err(|finding| refused(SCOPE, finding))?.iter().skip(1) {
            let value =
                word.split_once('=').filter(|_| word.starts_with('-')).map_or(word.as_str(), |(_, value)| value);
            if place::is_path(Role::CommandWords, value) {
                for place in &self.checks.places {
                    at(SCOPE, crate::path::check(place, value, &links))?;
                }
            }
        }
        Ok(())
    }

    fn check_commands(&self, text: &str, role: Role, beside: &Beside) -> Result<(), Refused> {
        if !self.runs_commands() {
            return Ok(());
        }
        let is_command = match role {
            Role::Command | Role::Commands => true,
            Role::Script => !self.checks.code,
            _ => false,
        };
        if !is_command {
            return if self.checks.sandbox { at("sandbox", command::smuggled(role, text)) } else { Ok(()) };
        }
        let words = beside.command_words.as_ref().filter(|_| role == Role::Command);
        match words {
            None => self.one_command(text),
            Some(words) => {
                let behind = match (words.kind(), words.as_text()) {
                    (Kind::String, Some(words)) => words,
                    _ => {
                        let elements = words.elements().unwrap_or_default();
                        command::line(&elements.iter().map(text_of).collect::<Vec<_>>())
                    }
                };
                self.one_command(&format!("{text} {behind}"))
            }
        }
    }

    fn one_command(&self, line: &str) -> Result<(), Refused> {
        command::check(self.checks, line)?;
        self.check_command_paths(line)
    }

    fn port(&self, value: &Raw) -> Outcome {
        let port = text_of(value).parse::<u16>().ok();
        let limited = self.checks.scopes.iter().filter_map(|scope| scope.ports.as_ref());
        for ports in limited {
            if port.is_none_or(|port| !ports.contains(&port)) {
                let finding = Finding::new("port-outside", format!("the port {} is not allowed", value.as_str()));
                return Err(self.violation(refused(SCOPE, finding)));
            }
        }
        Ok(())
    }

    fn runs_commands(&self) -> bool {
        let limited = |scope: &crate::permission::Scope| scope.commands.is_some() || !scope.deny_commands.is_empty();
        let Checks { sandbox, readonly, places, scopes, .. } = self.checks;
        *sandbox || *readonly || !places.is_empty() || scopes.iter().any(limited)
    }

    fn command_step(&self) -> &'static str {
        if self.checks.sandbox { "sandbox" } else { SCOPE }
    }

    fn violation(&self, refused: Refused) -> Box<Violation> {
        let mut pointer = String::new();
        for step in &self.pointer {
            pointer.push('/');
            match step {
                Step::Key(key) => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
                Step::Index(index) => pointer.push_str(&index.to_string()),
            }
        }
        let rejection = refused.rejection.and_then(|rejection| Raw::from_value(&rejection.to_json()).ok());
        Box::new(Violation { step: refused.step, pointer, finding: refused.finding, rejection })
    }
}

/// The text of a string, or the JSON of anything else.
fn text_of(value: &Raw) -> String {
    value.as_text().unwrap_or_else(|| value.as_str().to_owned())
}

pub(super) fn refused(step: &'static str, finding: Finding) -> Refused {
    Refused { step, finding, rejection: None }
}

pub(super) fn at(step: &'static str, verdict: Verdict) -> Result<(), Refused> {
    verdict.map_err(|finding| refused(step, finding))
}

/// Calls `see` for every string, as far as the arguments can be read at all.
pub(super) fn each_leaf(value: &Raw, see: &mut impl FnMut(Role, &str)) {
    fn descend(value: &Raw, role: Role, depth: usize, see: &mut impl FnMut(Role, &str)) {
        if depth > MAX_DEPTH {
            return;
        }
        match value.kind() {
            Kind::Object => {
                let Ok(object) = Object::open(value) else { return };
                for (key, member) in object.iter() {
                    if !role::is_plain(&key) {
                        see(Role::Other, &key);
                    }
                    descend(&member, role::of(&key), depth + 1, see);
                }
            }
            Kind::Array => {
                for element in value.elements().unwrap_or_default() {
                    descend(&element, role, depth + 1, see);
                }
            }
            Kind::String => {
                if let Some(text) = value.as_text() {
                    see(role, &text);
                }
            }
            Kind::Number | Kind::Bool | Kind::Null => {}
        }
    }
    descend(value, Role::Other, 0, see);
}
