//! The way through the arguments: every string, with what its key says about it.

use std::borrow::Cow;
use std::cell::Cell;

use switchboard_wire::{Kind, Object, Raw};

use super::limits::Limits;
use super::role::{self, Role, as_json};
use super::words::{self, Words};
use super::{
    ARGUMENTS, Checks, MAX_DEPTH, SCOPE, Violation, World, around, command, document, joined, machine, place, reach,
    source, sql, typed, value,
};
use crate::code::Rejection;
use crate::shell::{self, Around, Understood};
use crate::{Finding, Verdict};

/// What is shown of a key in the place of a refusal, in bytes.
const MAX_SHOWN_KEY: usize = 256;

/// A refusal on its way out.
pub(super) type Refused = Box<Reason>;

pub(super) struct Reason {
    pub(super) step: &'static str,
    /// Grows at its front while the refusal leaves one level after the other: who is not refused pays nothing for it.
    pub(super) pointer: String,
    pub(super) finding: Finding,
    pub(super) rejection: Option<Box<Rejection>>,
    pub(super) host: Option<String>,
}

/// What stands beside a string in its object, as far as it changes what the string is.
#[derive(Default)]
struct Beside {
    language: Option<String>,
    /// The words of the command in the object, or further out.
    words: Words,
    has_command: bool,
    /// Its variables, its folder, what it is sent.
    around: Around,
}

pub(super) struct Walk<'a> {
    checks: &'a Checks,
    world: &'a dyn World,
    doubts: Doubts<'a>,
    /// Whether the call holds a command, as far as limits of commands ask.
    runs: bool,
}

/// What is made of what is not understood.
#[derive(Clone, Copy)]
pub(super) struct Doubts<'a> {
    /// The table of what is.
    pub(super) understood: &'a Understood,
    /// Whether it counts: what is hostile is looked for first, so that nobody is asked about it.
    pub(super) count: bool,
    /// Whether there was any.
    pub(super) seen: &'a Cell<bool>,
}

impl Doubts<'_> {
    /// A verdict without the doubts that do not count.
    pub(super) fn weigh(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Err(finding) if finding.asks() && !self.count => {
                self.seen.set(true);
                Ok(())
            }
            verdict => verdict,
        }
    }
}

type Outcome = Result<(), Refused>;

impl<'a> Walk<'a> {
    pub(super) fn new(checks: &'a Checks, arguments: &Raw, world: &'a dyn World, doubts: Doubts<'a>) -> Self {
        let mut walk = Self { checks, world, doubts, runs: false };
        walk.runs = walk.limits_commands() && (!checks.carried.is_empty() || holds_command(arguments, 0));
        walk
    }

    pub(super) fn run(&self, arguments: &Raw) -> Result<(), Box<Violation>> {
        let judged = self.value(arguments, Role::Other, &Beside::default(), 0).and_then(|()| self.joined(arguments));
        let limits = Limits::of(self.checks, arguments, self.world);
        let judged = judged.and_then(|()| limits.map_or(Ok(()), |limits| limits.check(arguments)));
        judged.map_err(|refused| {
            let Reason { step, pointer, finding, rejection, host } = *refused;
            let rejection = rejection.and_then(|rejection| Raw::from_value(&rejection.to_json()).ok());
            Box::new(Violation { step, pointer, finding, rejection, host })
        })
    }

    /// Addresses that two arguments make together.
    fn joined(&self, arguments: &Raw) -> Outcome {
        if !self.checks.looks_outside() {
            return Ok(());
        }
        let addresses = joined::addresses(arguments);
        let is_near = |name: &String| self.world.addresses(name).is_some_and(|found| !found.is_empty());
        let mut meant = addresses.iter().filter(|one| one.local.as_ref().is_none_or(is_near));
        meant.try_for_each(|one| reach::check(self.checks, Role::Url, &one.url, self.world, self.doubts))
    }

    fn value(&self, value: &Raw, role: Role, beside: &Beside, depth: usize) -> Outcome {
        if depth > MAX_DEPTH {
            let message = format!("the arguments are nested deeper than {MAX_DEPTH}");
            return Err(refused(ARGUMENTS, Finding::new("arguments-depth", message)));
        }
        match value.kind() {
            Kind::Object => self.object(value, role, beside, depth),
            Kind::Array => self.array(value, role, beside, depth),
            Kind::String => match value.as_text() {
                Some(text) => {
                    if text.contains('\0') && !self.checks.scopes.is_empty() {
                        // Some readers end a text there, some part a list, and some leave it out.
                        let whole = text.replace('\0', "");
                        let mut pieces = text.split('\0').chain([whole.as_str()]).filter(|piece| !piece.is_empty());
                        pieces.try_for_each(|piece| self.judge(piece, role, beside))?;
                    }
                    self.judge(&text, role, beside)?;
                    self.nested(&text, role, beside, depth)
                }
                None => Ok(()),
            },
            // A number can be an address: `2130706433` is one to most clients.
            Kind::Number if self.checks.looks_outside() && matches!(role, Role::Url | Role::Host | Role::Link) => {
                reach::check(self.checks, role, value.as_str(), self.world, self.doubts)
            }
            Kind::Number | Kind::Bool | Kind::Null => Ok(()),
        }
    }

    fn object(&self, value: &Raw, around: Role, outer: &Beside, depth: usize) -> Outcome {
        let Ok(object) = Object::open(value) else {
            let finding = Finding::new("arguments-twice", "a member stands twice, and readers may take different ones");
            return Err(refused(ARGUMENTS, finding));
        };
        if self.checks.readonly {
            at("readonly", sql::check_members(&object))?;
        }
        let role_of = |key: &str| match self.checks.role(around, key) {
            Role::Url if machine::is_departure(&object, key) => Role::Other,
            role => role,
        };
        let mut members: Vec<_> = object.iter().map(|(key, member)| (role_of(&key), key, member)).collect();
        let mut beside = self.beside(&object, &members, outer)?;
        self.of_own_program(&object, &beside)?;
        if !beside.has_command
            && !self.checks.scopes.is_empty()
            && let Some(line) = words::program_in(value).filter(|line| line.contains(' '))
            && !words::runners(value).is_empty()
        {
            command::within_limits(self.checks, &line)?;
            self.check_paths_of(&plain_words(&line))?;
        }
        for (role, key, member) in &members {
            match key.as_ref() {
                key if is_language(key) => beside.language = member.as_text().or(beside.language),
                key if is_runtime(key) && beside.language.is_none() => {
                    beside.language = member.as_text().as_deref().and_then(language_of_runtime);
                }
                key if is_port(key) => self.port(member).map_err(|refused| under(key, refused))?,
                _ => {}
            }
            if beside.has_command && *role == Role::Command && words::is_argv(key) {
                self.argv(&object, member, &beside.around).map_err(|refused| under(key, refused))?;
            }
        }
        for (role, key, member) in &mut members {
            let behind = *role == Role::Command && words::is_argv(key) || *role == Role::Other && words::is_name(key);
            if beside.has_command && behind {
                *role = Role::CommandWords;
            }
            // What a command is sent was judged with it; to most it is text.
            if beside.has_command && *role == Role::Other && around::is_sent(key) {
                *role = Role::Content;
            }
            if self.checks.sandbox && beside.has_command && words::decides_how_it_runs(key, member) {
                let doubt = shell::not_understood(&format!("what `{key}` makes of the command is"));
                at("sandbox", self.doubts.weigh(Err(doubt))).map_err(|refused| under(key, refused))?;
            }
            if self.limits_commands() {
                self.around_command(key, member).map_err(|refused| under(key, refused))?;
            }
            if !self.checks.scopes.is_empty() && self.checks.is_typed(key) {
                let lines = typed::lines(member).map_err(|finding| refused(SCOPE, finding));
                let judged = lines.and_then(|lines| lines.iter().try_for_each(|line| self.typed(line)));
                judged.map_err(|refused| under(key, refused))?;
            }
            if self.may_be_command(around, *role, key, member, &beside) {
                self.perhaps_command(member, &beside).map_err(|refused| under(key, refused))?;
            }
            let of_key = || if role::is_plain(key) { Ok(()) } else { self.judge(key, Role::Other, &Beside::default()) };
            let inner = |()| match self.for_cluster(key, member) {
                // What stands in a resource runs elsewhere.
                Some(checks) => Walk { checks: &checks, ..*self }.value(member, *role, &beside, depth + 1),
                None => self.value(member, *role, &beside, depth + 1),
            };
            of_key().and_then(inner).map_err(|refused| under(key, refused))?;
        }
        Ok(())
    }

    /// The words for the one program that the tool is for, with it in front.
    fn of_own_program(&self, object: &Object, beside: &Beside) -> Outcome {
        let Some(own) = self.checks.program.as_ref().filter(|_| self.runs_commands()) else { return Ok(()) };
        let lines = own.lines(object);
        if self.checks.sandbox {
            at("sandbox", self.doubts.weigh(own.check(&lines, self.doubts.understood)))?;
        }
        for line in lines.iter().filter(|line| own.is_meant(line)) {
            if self.checks.sandbox {
                at(
                    "sandbox",
                    self.doubts.weigh(shell::check_around(&line.line, &beside.around, self.doubts.understood)),
                )?;
            }
            command::within_limits(self.checks, &line.line)?;
            self.check_paths_of(&plain_words(&line.line))?;
        }
        Ok(())
    }

    /// The checks of a member that goes to a cluster: what it runs finds no path of this machine.
    fn for_cluster(&self, key: &str, member: &Raw) -> Option<Checks> {
        let about = &self.checks.about;
        let may_be = about.speaks_of_clusters && !self.checks.places.is_empty();
        (may_be && value::is_for_cluster(key, member, about.is_for_clusters))
            .then(|| Checks { places: Vec::new(), ..self.checks.clone() })
    }

    /// The program that is to run a command, and what is run later or typed, are held to the limits as commands are.
    fn around_command(&self, key: &str, member: &Raw) -> Outcome {
        let runners = if words::names_runner(key) { words::runners(member) } else { Vec::new() };
        // Where nothing runs, a mere word is a name of something else: the wrapper of a gift.
        let mut runners = runners.iter().filter(|line| self.runs || line.contains(['/', '\\']));
        runners.try_for_each(|line| command::within_limits(self.checks, line))?;
        words::typed_commands(key, member).iter().try_for_each(|line| {
            command::within_limits(self.checks, line)?;
            self.check_paths_of(&plain_words(line))
        })
    }

    /// A line that is typed into something that runs, held to the limits as a command is. What no shell reads as one simple
    /// command may be a line of a program: then every piece of it counts.
    fn typed(&self, line: &str) -> Outcome {
        command::within_limits(self.checks, line)?;
        if self.checks.places.is_empty() {
            return Ok(());
        }
        if shell::plain_words(line).is_ok() {
            return self.check_command_paths(line);
        }
        typed::sees_all(line).map_err(|finding| refused(SCOPE, finding))?;
        typed::pieces(line).iter().try_for_each(|words| self.check_paths_of(words))?;
        at(SCOPE, place::check_code(&self.checks.places, &format!("\n{line}"), self.world))
    }

    /// What stands beside the strings of an object.
    fn beside(
        &self,
        object: &Object,
        members: &[(Role, Cow<'_, str>, Raw)],
        outer: &Beside,
    ) -> Result<Beside, Refused> {
        let mut beside = Beside { words: outer.words.named_only(), ..Beside::default() };
        if !self.runs_commands() {
            return Ok(beside);
        }
        if self.checks.sandbox {
            beside.around = around::of(object);
            beside.around.join(&outer.around);
        }
        if self.limits_commands() {
            command::check_beside(self.checks, &around::of(object))?;
        }
        let holds = |member: &Raw| matches!(member.kind(), Kind::String | Kind::Array | Kind::Object);
        let mut all = members.iter();
        beside.has_command =
            all.any(|(role, key, member)| self.is_command(*role) && !words::is_argv(key) && holds(member));
        let has_command = beside.has_command;
        let is_command = |key: &str, _: &Raw| self.is_command(role::of(key)) && !(has_command && words::is_argv(key));
        // A command may also stand further in than its words, or under a key that is not known for one.
        let perhaps = !self.checks.scopes.is_empty();
        if has_command
            || perhaps
            || members.iter().any(|(_, _, member)| matches!(member.kind(), Kind::Object | Kind::Array))
        {
            beside.words.collect(object, &is_command);
        }
        if beside.words.named.len() > words::MAX_LISTS {
            let message = format!("more than {} lists of words beside a command", words::MAX_LISTS);
            return Err(refused(self.command_step(), Finding::new("shell-words", message)));
        }
        Ok(beside)
    }

    /// Whether limits hold for a member as for a command, though its key is not known for one.
    fn may_be_command(&self, around: Role, role: Role, key: &str, member: &Raw, beside: &Beside) -> bool {
        // A list of words without a command begins with its program.
        if !beside.has_command
            && around != Role::Command
            && words::is_name(key)
            && self.limits_commands()
            && words::begins_with_program(member)
        {
            return true;
        }
        // A shell that reads a command as it was judged is none itself.
        if words::names_runner(key) && words::runners(member).is_empty() {
            return false;
        }
        if self.checks.scopes.is_empty() || self.is_command(role) || role == Role::CommandWords {
            return false;
        }
        let text = || words::line_of(member);
        let of_command = around == Role::Command && matches!(role, Role::Other | Role::Code | Role::Prose);
        match role {
            _ if !matches!(member.kind(), Kind::String | Kind::Array) => false,
            Role::Script if self.checks.about.evaluates_in_page => false,
            Role::Script => beside.language.as_deref().is_none_or(is_shell),
            _ if of_command && words::is_part_of_command(key) => true,
            Role::Other | Role::Code | Role::Prose | Role::Content => words::may_be_command(key, &text()),
            _ => false,
        }
    }

    /// A string or list that may be a command is held to the limits, and to nothing else.
    fn perhaps_command(&self, value: &Raw, beside: &Beside) -> Outcome {
        let whole = words::line_of(value);
        let lines = value.elements().unwrap_or_default().iter().filter_map(Raw::as_text).collect::<Vec<_>>();
        // A list is one command, or each of its strings is.
        let each = lines.iter().filter(|line| line.contains(char::is_whitespace));
        each.chain([&whole]).filter(|line| !line.trim().is_empty()).try_for_each(|line| {
            beside.words.lines(line).iter().try_for_each(|line| {
                command::within_limits(self.checks, line)?;
                self.check_paths_of(&plain_words(line))
            })
        })
    }

    /// `argv` beside a command: its words, and by its meaning a command with its program itself.
    fn argv(&self, object: &Object, value: &Raw, around: &Around) -> Outcome {
        let line = words::line_of(value);
        if line.trim().is_empty() || line.trim_start().starts_with('-') {
            return Ok(());
        }
        let mut others = Words::default();
        others.collect(object, &|key: &str, _: &Raw| self.is_command(role::of(key)));
        self.all_commands(&line, &Beside { words: others, around: around.clone(), ..Beside::default() })
    }

    fn array(&self, value: &Raw, role: Role, beside: &Beside, depth: usize) -> Outcome {
        let elements = value.elements().unwrap_or_default();
        if role == Role::Commands && self.runs_commands() {
            // Each of several commands may be a list of words itself.
            let one = |element: &Raw| if element.kind() == Kind::Array { Role::Command } else { Role::Commands };
            return elements.iter().enumerate().try_for_each(|(index, element)| {
                let judged = self.value(element, one(element), beside, depth + 1);
                judged.map_err(|refused| under(&index.to_string(), refused))
            });
        }
        if role == Role::Command && self.runs_commands() {
            let words: Option<Vec<String>> = elements.iter().map(Raw::as_text).collect();
            let Some(words) = words else {
                let finding = Finding::new("shell-words", "the words of a command are not all text");
                return Err(refused(self.command_step(), finding));
            };
            let line = command::line(&words);
            // Options without their program: the tool has one of its own.
            if line.starts_with('-') && !self.limits_commands() {
                self.check_paths_of(&words)?;
                if self.checks.looks_outside() {
                    reach::check(self.checks, Role::Command, &line, self.world, self.doubts)?;
                }
                return self.array(value, Role::CommandWords, beside, depth);
            }
            self.all_commands(&line, beside)?;
            return if self.checks.looks_outside() {
                reach::check(self.checks, Role::Command, &line, self.world, self.doubts)
            } else {
                Ok(())
            };
        }
        if role == Role::CommandWords && self.checks.sandbox && !beside.has_command {
            let words = elements.iter().map(text_of).collect::<Vec<_>>();
            at("sandbox", command::smuggled(Role::Other, &command::line(&words)))?;
            at("sandbox", self.doubts.weigh(shell::check_loose_words(&words)))?;
        }
        for (index, element) in elements.iter().enumerate() {
            self.value(element, role, beside, depth + 1).map_err(|refused| under(&index.to_string(), refused))?;
        }
        Ok(())
    }

    fn judge(&self, text: &str, role: Role, beside: &Beside) -> Result<(), Refused> {
        if matches!(role, Role::Path | Role::Reference) && text.starts_with('-') {
            let finding = Finding::new("argument-option", "a value that starts with `-` would be read as an option")
                .suggest("write ./ in front of the name");
            return Err(refused(ARGUMENTS, finding));
        }
        self.check_commands(text, role, beside)?;
        if matches!(role, Role::Code | Role::Script) && !self.checks.scopes.is_empty() {
            self.commands_of_cell(text)?;
        }
        if self.checks.readonly && role == Role::Method && !matches!(text, "GET" | "HEAD" | "OPTIONS" | "get" | "head")
        {
            let finding = Finding::new("readonly-method", format!("the method `{text}` may change something"));
            return Err(refused("readonly", finding));
        }
        if self.checks.readonly
            && let Some(certainty) = self.checks.query_certainty(role)
        {
            at("readonly", self.doubts.weigh(sql::check(text, self.checks.language, certainty)))?;
        }
        if self.checks.looks_outside() {
            reach::check(self.checks, role, text, self.world, self.doubts)?;
        }
        if self.checks.runs_code() || self.checks.limits_hosts() {
            source::check(self.checks, role, text, beside.language.as_deref(), self.doubts)?;
        }
        Ok(())
    }

    /// The commands in a cell of a notebook, held to the limits as commands are.
    fn commands_of_cell(&self, text: &str) -> Outcome {
        let Some(cell) = crate::code::notebook(text) else { return Ok(()) };
        let lines = cell.commands.iter().flat_map(|script| script.lines()).map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).try_for_each(|line| {
            command::within_limits(self.checks, line)?;
            self.check_paths_of(&plain_words(line))
        })
    }

    /// A string that is JSON itself, as many servers read it.
    fn nested(&self, text: &str, role: Role, beside: &Beside, depth: usize) -> Outcome {
        let Some(nested) = as_json(role, text) else { return self.commands_of_document(text, role) };
        self.value(&nested, role, beside, depth + 1).map_err(|mut refused| {
            // What stands inside of a string has no place of its own.
            refused.pointer.clear();
            refused
        })
    }

    /// Under limits of commands, what stands in a document under a key for commands is one.
    fn commands_of_document(&self, text: &str, role: Role) -> Outcome {
        if role != Role::Other || !self.limits_commands() {
            return Ok(());
        }
        let is_command = |key: &str| matches!(role::of(key), Role::Command | Role::Commands | Role::Script);
        let alone = || document::pair(text.trim()).filter(|pair| is_command(pair.key)).map(|pair| vec![pair]);
        let mut pairs = document::read(text).map_err(|finding| refused(ARGUMENTS, finding))?;
        if pairs.is_empty() {
            pairs = alone().unwrap_or_default();
        }
        let mut commands =
            pairs.iter().filter(|pair| is_command(pair.key) || words::may_be_command(pair.key, &pair.value));
        commands.try_for_each(|pair| self.perhaps_command(&Raw::string(&pair.value), &Beside::default()))
    }

    /// The words of a command that look like paths are held to the same paths.
    fn check_command_paths(&self, line: &str) -> Result<(), Refused> {
        if self.checks.places.is_empty() {
            return Ok(());
        }
        let words = shell::plain_words(line).map_err(|finding| refused(SCOPE, finding))?;
        // Variables in front of the program are words as well.
        for (_, value) in shell::assignments(line) {
            at(SCOPE, place::check_word(&self.checks.places, &value, self.world))?;
        }
        self.check_paths_of(&words)
    }

    fn check_paths_of(&self, words: &[String]) -> Outcome {
        if self.checks.places.is_empty() {
            return Ok(());
        }
        if let Some(program) = words.first() {
            at(SCOPE, place::check_program(&self.checks.places, program, self.world))?;
        }
        if let [program] = words
            && matches!(program.as_str(), "cd" | "chdir")
        {
            // A session goes on in the folder that it leads to.
            let finding = Finding::new("path-outside", "`cd` alone leads to the home of a user");
            return Err(refused(SCOPE, finding.suggest("name the folder")));
        }
        let mut arguments = words.iter().skip(1);
        arguments.try_for_each(|word| at(SCOPE, place::check_argument(&self.checks.places, word, self.world)))?;
        at(SCOPE, place::operand::check(&self.checks.places, words, self.world))
    }

    fn check_commands(&self, text: &str, role: Role, beside: &Beside) -> Result<(), Refused> {
        if !self.runs_commands() {
            return Ok(());
        }
        if !self.is_command(role) {
            let role = if role == Role::CommandWords && !beside.has_command { Role::Other } else { role };
            return if self.checks.sandbox { at("sandbox", command::smuggled(role, text)) } else { Ok(()) };
        }
        self.all_commands(text, beside)
    }

    /// A command with the words beside it, in every way that a server may put them together.
    fn all_commands(&self, line: &str, beside: &Beside) -> Outcome {
        let Beside { words: beside, around, .. } = beside;
        let first = line.split_whitespace().next().map(shell::base_name).unwrap_or_default();
        if self.checks.program.is_some() && !shell::is_known_program(&first) {
            // A subcommand was judged behind its program.
            command::check_loosely(self.checks, line)?;
            return self.check_command_paths(line);
        }
        // A server that knows nothing of the words runs what is a whole command without them.
        if !beside.named.is_empty() && line.trim().contains(char::is_whitespace) {
            self.one_command(line, around)?;
        }
        let lines = beside.lines(line);
        let whole = lines.len().saturating_sub(2);
        lines.iter().enumerate().try_for_each(|(at, joined)| {
            // Options without the words that stand in another list are no command that anybody would ask about.
            let options = joined.get(line.len()..).is_some_and(|words| words.trim_start().starts_with('-'));
            if lines.len() > 1 && at != whole && options {
                command::check_loosely(self.checks, joined)?;
                return self.check_command_paths(joined);
            }
            self.one_command(joined, around)
        })?;
        beside.loose_lines(line).iter().try_for_each(|line| command::check_loosely(self.checks, line))
    }

    /// Code is a command to a tool that runs commands and nothing else.
    fn is_command(&self, role: Role) -> bool {
        match role {
            Role::Command | Role::Commands => true,
            Role::Script | Role::Code => self.checks.sandbox && !self.checks.code,
            _ => false,
        }
    }

    fn one_command(&self, line: &str, around: &Around) -> Result<(), Refused> {
        command::check(self.checks, line, around, self.doubts)?;
        self.check_command_paths(line)
    }

    fn port(&self, value: &Raw) -> Outcome {
        if let Some(elements) = value.elements() {
            return elements.iter().try_for_each(|element| self.port(element));
        }
        if let Ok(object) = Object::open(value) {
            // `{"ports": {"web": 80}}`. Names beside a number are none of a port.
            let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b' '));
            let mut members = object.iter().filter(|(_, member)| match member.kind() {
                Kind::String => member.as_text().is_some_and(|text| is_number(&text)),
                kind => kind != Kind::Bool,
            });
            return members.try_for_each(|(key, member)| self.port(&member).map_err(|refused| under(&key, refused)));
        }
        let limited = || self.checks.scopes.iter().filter_map(|scope| scope.ports.as_ref());
        if limited().next().is_none() || !matches!(value.kind(), Kind::Number | Kind::String) {
            return Ok(());
        }
        let text = text_of(value);
        let parts = |c: char| c.is_whitespace() || c == ',';
        for part in text.split(parts).filter(|part| !part.is_empty()) {
            let port = part.parse::<u16>().ok();
            if limited().any(|ports| port.is_none_or(|port| !ports.contains(&port))) {
                let finding = Finding::new("port-outside", format!("the port {part} is not allowed"));
                return Err(refused(SCOPE, finding));
            }
        }
        Ok(())
    }

    fn runs_commands(&self) -> bool {
        let Checks { sandbox, readonly, places, .. } = self.checks;
        *sandbox || *readonly || !places.is_empty() || self.limits_commands() || self.checks.limits_hosts()
    }

    /// Whether a grant limits which commands may run.
    fn limits_commands(&self) -> bool {
        self.checks.scopes.iter().any(|scope| scope.commands.is_some() || !scope.deny_commands.is_empty())
    }

    fn command_step(&self) -> &'static str {
        if self.checks.sandbox { "sandbox" } else { SCOPE }
    }
}

/// The words of a line; what no shell could read is parted by its blanks.
fn plain_words(line: &str) -> Vec<String> {
    shell::plain_words(line).unwrap_or_else(|_| line.split_whitespace().map(str::to_owned).collect())
}

/// Whether a call holds a command, under any key that is known for one.
fn holds_command(value: &Raw, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return true;
    }
    let read = role::in_string(value);
    let value = read.as_ref().unwrap_or(value);
    let is_command = |key: &str, member: &Raw| {
        let holds = matches!(member.kind(), Kind::String | Kind::Array | Kind::Object);
        let by_role = matches!(role::of(key), Role::Command | Role::Commands | Role::Script);
        holds && (by_role || words::may_be_command(key, &words::line_of(member)))
    };
    match value.kind() {
        Kind::Object => Object::open(value).is_ok_and(|object| {
            object.iter().any(|(key, member)| is_command(&key, &member) || holds_command(&member, depth + 1))
        }),
        Kind::Array => value.elements().unwrap_or_default().iter().any(|element| holds_command(element, depth + 1)),
        Kind::String | Kind::Number | Kind::Bool | Kind::Null => false,
    }
}

/// Whether a key names the language of the code beside it.
fn is_language(key: &str) -> bool {
    key.eq_ignore_ascii_case("language") || key.eq_ignore_ascii_case("lang")
}

fn is_runtime(key: &str) -> bool {
    ["runtime", "interpreter"].iter().any(|name| key.eq_ignore_ascii_case(name))
}

/// The language of `node20` or `python3.11`, if it is a known one.
fn language_of_runtime(runtime: &str) -> Option<String> {
    let name = runtime.rsplit('/').next().unwrap_or_default();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | 'x' | '@' | 'v'));
    crate::code::Language::from_name(name).map(|_| name.to_owned())
}

fn is_shell(language: &str) -> bool {
    crate::code::Language::from_name(language).is_none_or(|language| language == crate::code::Language::Shell)
}

/// Whether a key is for the port of another machine.
fn is_port(key: &str) -> bool {
    let lower = key.len() > 3 && key.to_ascii_lowercase().contains("port");
    let own = |word: &String| matches!(word.as_str(), "local" | "listen" | "bind");
    lower && {
        let words = switchboard_policy::risk::fallback::words(key);
        words.last().is_some_and(|last| matches!(last.as_str(), "port" | "ports")) && !words.iter().any(own)
    }
}

/// The refusal, seen from one level further out.
pub(super) fn under(key: &str, mut refused: Refused) -> Refused {
    // A key may be as long as the arguments: what is said of it is not.
    let shown = &key[..key.floor_char_boundary(MAX_SHOWN_KEY)];
    let escaped = shown.replace('~', "~0").replace('/', "~1");
    refused.pointer.insert_str(0, &format!("/{escaped}"));
    refused
}

/// The text of a string, or the JSON of anything else.
fn text_of(value: &Raw) -> String {
    value.as_text().unwrap_or_else(|| value.as_str().to_owned())
}

pub(super) fn refused(step: &'static str, finding: Finding) -> Refused {
    Box::new(Reason { step, pointer: String::new(), finding, rejection: None, host: None })
}

pub(super) fn at(step: &'static str, verdict: Verdict) -> Result<(), Refused> {
    verdict.map_err(|finding| refused(step, finding))
}

/// Calls `see` with every string; `false` where not everything could be seen: a member stands twice, of which readers take different
/// ones, or the nesting is too deep.
pub(super) fn each_leaf(value: &Raw, see: &mut impl FnMut(Role, &str)) -> bool {
    fn descend(value: &Raw, role: Role, depth: usize, see: &mut impl FnMut(Role, &str)) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        match value.kind() {
            Kind::Object => {
                let Ok(object) = Object::open(value) else { return false };
                let mut all = true;
                for (key, member) in object.iter() {
                    if !role::is_plain(&key) {
                        see(Role::Other, &key);
                    }
                    all &= descend(&member, role::within(role, &key), depth + 1, see);
                }
                all
            }
            Kind::Array => {
                let mut all = true;
                for element in value.elements().unwrap_or_default() {
                    all &= descend(&element, role, depth + 1, see);
                }
                all
            }
            Kind::String => value.as_text().is_none_or(|text| {
                see(role, &text);
                // Servers that read it would not read what is no JSON.
                as_json(role, &text).is_none_or(|nested| descend(&nested, role, depth + 1, see))
            }),
            Kind::Number | Kind::Bool | Kind::Null => true,
        }
    }
    descend(value, Role::Other, 0, see)
}
