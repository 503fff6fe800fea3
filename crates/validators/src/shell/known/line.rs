//! One line of the table: a command, what it does at most, and the options that are known.

use std::collections::HashMap;

use super::outputs::{self, Writing};
use super::{table, unknown, written};
use crate::Finding;
use crate::shell::lexer::Word;
use crate::shell::program::base_name;

/// How deep sets of options stand in each other.
const MAX_SET_DEPTH: usize = 4;

/// What a command does at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::shell) enum Effect {
    /// Looks at something and prints.
    Read,
    /// Also writes ordinary files.
    Write,
    /// Also runs the project's own code.
    Build,
    /// Runs another command.
    Wrap,
}

/// How the options and operands of a command are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    /// Options are words with one dash.
    Dash,
    /// Every option is harmless.
    Any,
    /// The first operand may be letters of options without a dash.
    Bundle,
    /// It may stand without a subcommand, and with no operand then.
    Alone,
    /// It takes no operand.
    Bare,
    /// It may be a program of the project.
    Local,
    /// Its first operand is a script.
    Script,
    /// One operand stands in front of the command that it runs.
    Skip,
    /// Operands are written out: no pattern stands for them.
    Literal,
    /// Behind the first operand everything is for the script that it names.
    Args,
    /// Runs a command on what it finds.
    Exec,
    /// The command that it runs is read by a shell.
    Shell,
    /// Operands are names: what sets something is none.
    Names,
    /// Operands and values are files, never addresses.
    Files,
    /// Operands begin with a plus sign.
    Plus,
    /// Every operand is a task that is known as one.
    Tasks,
    /// Nothing may follow `--`: what stands there are options of another program.
    Closed,
}

impl Flag {
    const fn word(self) -> &'static str {
        match self {
            Self::Dash => "@dash",
            Self::Any => "@any",
            Self::Bundle => "@bundle",
            Self::Alone => "@alone",
            Self::Bare => "@bare",
            Self::Local => "@local",
            Self::Script => "@script",
            Self::Skip => "@skip",
            Self::Literal => "@literal",
            Self::Args => "@args",
            Self::Exec => "@exec",
            Self::Shell => "@shell",
            Self::Names => "@names",
            Self::Files => "@files",
            Self::Plus => "@plus",
            Self::Tasks => "@tasks",
            Self::Closed => "@closed",
        }
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }

    const ALL: [Self; 17] = [
        Self::Dash,
        Self::Any,
        Self::Bundle,
        Self::Alone,
        Self::Bare,
        Self::Local,
        Self::Script,
        Self::Skip,
        Self::Literal,
        Self::Args,
        Self::Exec,
        Self::Shell,
        Self::Names,
        Self::Files,
        Self::Plus,
        Self::Tasks,
        Self::Closed,
    ];
}

/// What the table says of an option.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// It takes a value that may stand apart.
    takes_value: bool,
    /// It is one of those of which one has to be given.
    needed: bool,
    /// Its value names code or settings, which have to be the project's own.
    own: bool,
}

/// The options of a line by their names, with those of its sets.
pub(super) type OptionIndex = HashMap<&'static str, Known>;

/// One word that is an option, as it was read.
struct Read<'w> {
    /// Its value is the next word.
    takes_next: bool,
    needed: bool,
    own: bool,
    /// The value, where it stands in the same word.
    value: Option<&'w str>,
    /// The letter that takes the value, where letters stand together.
    letter: Option<char>,
}

/// Why a line cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{line}`: {why}")]
pub struct UnreadableLine {
    line: String,
    why: &'static str,
}

/// A line, as far as it is read before it is known that it matters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) effect: Effect,
    /// The names of the program, parted by `|`.
    pub(super) names: &'a str,
    subcommands: &'a str,
    /// How many subcommands there are.
    pub(super) depth: usize,
    /// One bit for each flag.
    flags: u32,
    options: &'a str,
    /// The number of a line of the table, under which its options are indexed. Lines of an operator have none.
    number: Option<usize>,
}

impl<'a> Line<'a> {
    pub(super) fn read(line: &'a str) -> Result<Self, UnreadableLine> {
        let fault = |why| UnreadableLine { line: line.chars().take(80).collect(), why };
        let (effect, rest) = line.split_once(' ').ok_or_else(|| fault("it names no program"))?;
        let effect = match effect {
            "read" => Effect::Read,
            "write" => Effect::Write,
            "build" => Effect::Build,
            "wrap" => Effect::Wrap,
            _ => return Err(fault("it begins with none of `read`, `write`, `build` and `wrap`")),
        };
        let rest = rest.trim_start();
        let (names, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let is_name = |name: &str| !name.is_empty() && !name.starts_with(['-', '@', '$']) && !name.contains('/');
        if !names.split('|').all(is_name) {
            return Err(fault("it names no program"));
        }
        let begins = |marks: &'static [char]| {
            move |text: &str| {
                let at = text.split_inclusive(' ').take_while(|word| !word.starts_with(marks));
                at.map(str::len).sum::<usize>()
            }
        };
        let (subcommands, rest) = rest.split_at(begins(&['-', '@', '$'])(rest));
        let (flags, options) = rest.split_at(begins(&['-', '$'])(rest));
        let flags = flags.split_whitespace().try_fold(0, |flags, word| {
            let flag = Flag::ALL.iter().find(|flag| flag.word() == word)?;
            Some(flags | flag.bit())
        });
        let Some(flags) = flags else { return Err(fault("it has a flag that is none")) };
        if !options.split_whitespace().all(|word| word.len() > 1 && word.starts_with(['-', '$'])) {
            return Err(fault("behind an option stands something that is none"));
        }
        let depth = subcommands.split_whitespace().count();
        Ok(Self { effect, names, subcommands, depth, flags, options, number: None })
    }

    /// The same as a line of the table.
    pub(super) const fn numbered(self, number: usize) -> Self {
        Self { number: Some(number), ..self }
    }

    pub(super) fn subcommands(&self) -> impl Iterator<Item = &'a str> {
        self.subcommands.split_ascii_whitespace()
    }

    pub(super) fn has(&self, flag: Flag) -> bool {
        self.flags & flag.bit() != 0
    }

    /// Whether the subcommands of another line begin as those of this one.
    pub(super) fn leads_to(&self, other: &Line<'_>) -> bool {
        let mut theirs = other.subcommands();
        self.subcommands().all(|own| {
            theirs.next().is_some_and(|their| own.split('|').any(|own| their.split('|').any(|their| own == their)))
        })
    }

    /// What the table says of an option: `None` where it is not in it.
    fn option(&self, name: &str) -> Option<Known> {
        match self.number.and_then(table::option_index) {
            Some(index) => index.get(name).copied(),
            None => find(self.options, name, 0),
        }
    }

    /// The same of an option of one letter.
    fn letter(&self, letter: char) -> Option<Known> {
        let mut bytes = [b'-'; 5];
        let length = letter.encode_utf8(&mut bytes[1..]).len();
        self.option(std::str::from_utf8(&bytes[..=length]).ok()?)
    }

    pub(super) fn has_needed(&self) -> bool {
        self.options.contains('!')
    }

    /// Whether all options among these words are known, by this line or by that of the program itself.
    pub(super) fn check_options(&self, shown: &str, words: &[Word], own: Option<&Line<'_>>) -> Result<(), Finding> {
        let mut needed = !self.has_needed();
        let given = words;
        let mut words = words.iter();
        let (mut first, mut has_options) = (true, false);
        // Whether the next word may be the value of the option in front of it.
        let mut may_be_value = false;
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            if text == "--" {
                if self.has(Flag::Closed) && !words.as_slice().is_empty() {
                    return Err(unknown(&format!("what `{shown}` makes of what follows `--` is")));
                }
                words.try_for_each(|word| self.check_operand(word))?;
                break;
            }
            // A lone dash is what comes in: a script that nobody has seen, to who runs scripts. Shells have options with a plus.
            if self.has(Flag::Args) && first && (text == "-" || text.starts_with('+')) {
                return Err(unknown(&format!("what `{shown}` reads is")));
            }
            if !text.starts_with('-') || text == "-" {
                let is_bundle = first && !has_options && self.has(Flag::Bundle) && !text.contains(['/', '.']);
                if std::mem::take(&mut may_be_value) && self.has(Flag::Args) {
                    continue;
                }
                if std::mem::take(&mut first) && self.has(Flag::Args) {
                    break;
                }
                self.check_operand(word)?;
                if is_bundle && !text.chars().all(|letter| self.letter(letter).is_some()) {
                    return Err(unknown(&format!("`{shown} {text}` is")));
                }
                // The value of the last letter follows.
                continue;
            }
            if matches!(text, "-h" | "--help" | "--version") {
                continue;
            }
            let found = self.read_option(text).or_else(|| own?.read_option(text));
            let Some(read) = found else {
                return Err(unknown(&format!("the option `{text}` of `{shown}` is")));
            };
            (needed, has_options) = (needed || read.needed, true);
            may_be_value = text.starts_with("--") && read.value.is_none() && !read.takes_next;
            // A long option of which the table does not say whether its value stands apart may have it there.
            let behind = || words.as_slice().first().filter(|_| read.value.is_none()).map(|next| next.text.as_str());
            if read.own && read.value.or_else(behind).is_some_and(|value| !is_own(value)) {
                return Err(unknown(&format!("what `{shown}` is told by `{text}` is")));
            }
            self.check_output(shown, text, &read, behind(), given)?;
            if read.takes_next
                && let Some(next) = words.next()
                && next.text.starts_with('-')
                && next.text.len() > 1
                && !next.text[1..].bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            {
                // To a program that takes no value there it is an option of its own.
                return Err(unknown(&format!("the option `{}` of `{shown}` is", next.text)));
            }
        }
        if self.has(Flag::Files)
            && let Some(word) = given.iter().find(|word| is_address(&word.text))
        {
            return Err(unknown(&format!("what `{shown}` does with `{}` is", word.text)));
        }
        if first && self.has(Flag::Args) && !self.only_shows(given) {
            return Err(unknown(&format!("what `{shown}` reads is")));
        }
        if needed { Ok(()) } else { Err(unknown(&format!("`{shown}` without an option that only shows is"))) }
    }

    /// Whether an option writes over nothing that a person wants to hear of.
    fn check_output(
        &self,
        shown: &str,
        text: &str,
        read: &Read<'_>,
        next: Option<&str>,
        given: &[Word],
    ) -> Result<(), Finding> {
        let (name, glued) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let letter = read.letter.map(|letter| format!("-{letter}"));
        let program = base_name(shown);
        let writing = outputs::writing(&program, letter.as_deref().unwrap_or(name));
        // Of others it is told by what they name.
        let changes = matches!(self.effect, Effect::Write | Effect::Build) && !outputs::GENERATORS.contains(&&*program);
        if changes && read.letter.is_none() {
            let known = read.value.is_some() || read.takes_next;
            let value = read.value.or(glued).or(next);
            if value.is_some_and(|value| written::puts_over_work(name, value, known || glued.is_some())) {
                return Err(unknown(&format!("what `{shown}` writes by `{text}` is")));
            }
        }
        if writing == Writing::No {
            return Ok(());
        }
        let is_word = name.trim_start_matches('-').len() > 1;
        let apart =
            read.takes_next || (is_word || self.has(Flag::Dash)) && writing == Writing::Surely && read.letter.is_none();
        let target = read.value.or(glued).or_else(|| next.filter(|_| apart));
        let sources = || -> Vec<&str> {
            given.iter().map(|word| word.text.as_str()).filter(|word| !word.starts_with('-')).collect()
        };
        match target.filter(|value| outputs::is_taken(&program, value, &sources())) {
            Some(_) => Err(unknown(&format!("what `{shown}` writes by `{text}` is"))),
            None => Ok(()),
        }
    }

    /// Whether one operand is of the kind that the line wants.
    fn check_operand(&self, word: &Word) -> Result<(), Finding> {
        let text = word.text.as_str();
        if self.has(Flag::Names) && text.contains('=')
            || self.has(Flag::Literal) && (word.glob || word.dynamic || text.contains('*'))
            || self.has(Flag::Plus) && !text.starts_with('+')
        {
            return Err(unknown(&format!("what `{text}` stands for is")));
        }
        Ok(())
    }

    /// Whether nothing but a version is asked for, or the tests of the project are run.
    fn only_shows(&self, words: &[Word]) -> bool {
        let tests = words.iter().any(|word| word.text == "--test");
        !words.is_empty()
            && words.iter().all(|word| {
                matches!(word.text.as_str(), "-v" | "-V" | "-h" | "--help" | "--version")
                    || word.text.starts_with("--test")
                    || tests && !word.text.starts_with('-')
            })
    }

    /// Reads one word that begins with a dash.
    fn read_option<'w>(&self, text: &'w str) -> Option<Read<'w>> {
        let plain = |needed| Read { takes_next: false, needed, own: false, value: None, letter: None };
        if self.has(Flag::Any) {
            return Some(plain(false));
        }
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        if text.starts_with("--") || self.has(Flag::Dash) {
            let single = name.strip_prefix('-').filter(|name| self.has(Flag::Dash) && name.starts_with('-'));
            if let Some(known) = self.option(name).or_else(|| self.option(single?)) {
                let takes_next = known.takes_value && value.is_none();
                return Some(Read { takes_next, needed: known.needed, own: known.own, value, letter: None });
            }
            if text.starts_with("--") {
                return None;
            }
        }
        let letters = text.get(1..)?;
        if letters.bytes().all(|byte| byte.is_ascii_digit()) && self.option("-#").is_some() {
            return Some(plain(false));
        }
        if self.has(Flag::Dash) {
            return None;
        }
        let mut needed = false;
        for (at, letter) in letters.char_indices() {
            let known = self.letter(letter)?;
            needed |= known.needed;
            if known.takes_value {
                let value = letters.get(at + letter.len_utf8()..).filter(|value| !value.is_empty());
                let letter = Some(letter);
                return Some(Read { takes_next: value.is_none(), needed, own: known.own, value, letter });
            }
        }
        Some(plain(needed))
    }

    /// What follows the options of a program that runs another one.
    pub(super) fn leading<'w>(&self, shown: &str, words: &'w [Word]) -> Result<&'w [Word], Finding> {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if text == "--" {
                return Ok(words.get(at + 1..).unwrap_or_default());
            }
            if !text.starts_with('-') || text == "-" {
                break;
            }
            let Some(read) = self.read_option(text) else {
                return Err(unknown(&format!("the option `{text}` of `{shown}` is")));
            };
            at += 1 + usize::from(read.takes_next);
            let value = read.value.or_else(|| words.get(at - 1).filter(|_| read.takes_next).map(|word| &*word.text));
            if read.own && value.is_some_and(|value| !is_own(value)) {
                return Err(unknown(&format!("what `{shown}` is told by `{text}` is")));
            }
        }
        Ok(words.get(at..).unwrap_or_default())
    }
}

/// Looks an option up in a list of options and of sets of options.
fn find(options: &str, name: &str, depth: usize) -> Option<Known> {
    for word in options.split_ascii_whitespace() {
        if let Some(set) = word.strip_prefix('$') {
            let found = table::options(set).filter(|_| depth < MAX_SET_DEPTH);
            if let Some(found) = found.and_then(|set| find(set, name, depth + 1)) {
                return Some(found);
            }
        } else if let Some((known, told)) = read_known(word)
            && known == name
        {
            return Some(told);
        }
    }
    None
}

/// The options of a line of the table by their names. Of several with the same name the first counts.
pub(super) fn index_of(line: &Line<'static>, sets: &HashMap<&'static str, &'static str>) -> OptionIndex {
    fn add(index: &mut OptionIndex, options: &'static str, sets: &HashMap<&str, &'static str>, depth: usize) {
        for word in options.split_ascii_whitespace() {
            if let Some(set) = word.strip_prefix('$') {
                if let Some(set) = sets.get(set).filter(|_| depth < MAX_SET_DEPTH) {
                    add(index, set, sets, depth + 1);
                }
            } else if let Some((name, told)) = read_known(word) {
                index.entry(name).or_insert(told);
            }
        }
    }
    let mut index = OptionIndex::new();
    add(&mut index, line.options, sets, 0);
    index
}

/// The name of an option in a line, and what the marks behind it say.
fn read_known(word: &str) -> Option<(&str, Known)> {
    let name = word.trim_end_matches(['=', '!', '@']);
    let told = |takes_value, needed, own| Known { takes_value, needed, own };
    let told = match &word[name.len()..] {
        "" => told(false, false, false),
        "=" => told(true, false, false),
        "!" => told(false, true, false),
        "=!" | "!=" => told(true, true, false),
        "=@" => told(true, false, true),
        _ => return None,
    };
    Some((name, told))
}

/// Whether a value names something of the project: a plain name, or paths below the folder where the command runs.
pub(super) fn is_own(value: &str) -> bool {
    let value = value.trim_start_matches('=');
    let fetched = [
        "data:", "npm:", "jsr:", "git:", "github:", "http:", "https:", "file:", "path:", "gh:", "gl:", "s3:", "pkcs11:",
    ];
    let is_below =
        |part: &str| !part.starts_with(['/', '~', '\\', '!', '<']) && !part.split(['/', '\\']).any(|step| step == "..");
    !value.contains(['$', '`', ';', '|', '&', '{', '}', '\'', '"', '<', '>', '(', ' ', '\n'])
        && !fetched.iter().any(|scheme| value.starts_with(scheme))
        && value.split([':', ',']).all(is_below)
        && !super::decisive::comes_from_elsewhere(value)
}

/// `https://host/..`, `host:path`, `user@host:..`, `|command`: not a file of this machine.
fn is_address(text: &str) -> bool {
    // `-c:v` is an option.
    if text.starts_with('-') && !text.contains('=') && !text.contains("://") {
        return false;
    }
    let value = text.split_once('=').filter(|_| text.starts_with('-')).map_or(text, |(_, value)| value);
    // `C:\x` is a place, `0:v` of a player a track, `scale=640:480` a filter.
    let is_host = |front: &str| {
        let mut bytes = front.bytes();
        front.len() > 1
            && bytes.clone().any(|byte| byte.is_ascii_alphabetic())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+.-_@".contains(&byte))
    };
    value.contains("://") || value.starts_with('|') || value.split_once(':').is_some_and(|(front, _)| is_host(front))
}

/// Where the operands of a program stand among its arguments.
#[derive(Default)]
pub(super) struct Operands {
    pub(super) at: Vec<usize>,
    /// Options between subcommands, and their values.
    pub(super) between: Vec<usize>,
}

/// Finds the operands, by what the lines of the program say of options in front of a subcommand and behind it.
pub(super) fn operands(arguments: &[Word], lines: &[Line<'_>]) -> Operands {
    let mut found = Operands::default();
    let mut at = 0;
    // The line of the words so far, looked up anew where there is one more of them.
    let mut leading: Option<(usize, Option<&Line<'_>>)> = None;
    while let Some(word) = arguments.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            found.at.extend(at + 1..arguments.len());
            break;
        }
        if text.starts_with('-') && text != "-" {
            let names = || found.at.iter().filter_map(|at| arguments.get(*at)).map(|word| word.text.as_str());
            let count = found.at.len();
            let leads = match leading {
                Some((of, leads)) if of == count => leads,
                _ => lines.iter().find(|line| {
                    line.depth == count && line.subcommands().zip(names()).all(|(pattern, name)| fits(pattern, name))
                }),
            };
            leading = Some((count, leads));
            // What the line of the words so far does not know belongs to what follows.
            let read = leads.filter(|line| !line.has(Flag::Any)).and_then(|line| line.read_option(text));
            if let Some(read) = read {
                found.between.push(at);
                if read.takes_next {
                    at += 1;
                    found.between.push(at);
                }
            }
        } else {
            found.at.push(at);
        }
        at += 1;
    }
    found
}

/// Whether a word is one of those that a pattern stands for: `a|b`, `describe-*`, `*`. Of several with commas between them
/// (`kubectl get pods,services`) each has to be.
pub(super) fn fits(pattern: &str, word: &str) -> bool {
    if pattern != "*" && word.contains(',') && !word.contains(",,") {
        return word.split(',').all(|part| fits(pattern, part));
    }
    pattern.split('|').any(|choice| match choice.split_once('*') {
        Some((front, back)) => {
            word.len() >= front.len() + back.len() && word.starts_with(front) && word.ends_with(back)
        }
        None => choice == word,
    })
}
