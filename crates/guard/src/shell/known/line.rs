//! One line of the table: a command, what it does at most, and the options that are known.

use super::table;
use super::unknown;
use crate::Finding;
use crate::shell::lexer::Word;

/// What a command does at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
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
        }
    }

    const ALL: [Self; 13] = [
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
    ];
}

/// Why a line cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{line}`: {why}")]
pub struct Fault {
    line: String,
    why: &'static str,
}

/// A line, as far as it is read before it is known that it matters.
#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    pub(super) effect: Effect,
    /// The names of the program, parted by `|`.
    pub(super) names: &'a str,
    subcommands: &'a str,
    flags: &'a str,
    options: &'a str,
}

impl<'a> Line<'a> {
    pub(super) fn read(line: &'a str) -> Result<Self, Fault> {
        let fault = |why| Fault { line: line.chars().take(80).collect(), why };
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
        let is_flag = |word: &str| Flag::ALL.iter().any(|flag| flag.word() == word);
        if !flags.split_whitespace().all(is_flag) {
            return Err(fault("it has a flag that is none"));
        }
        if !options.split_whitespace().all(|word| word.len() > 1 && word.starts_with(['-', '$'])) {
            return Err(fault("behind an option stands something that is none"));
        }
        Ok(Self { effect, names, subcommands, flags, options })
    }

    pub(super) fn subcommands(&self) -> impl Iterator<Item = &'a str> {
        self.subcommands.split_whitespace()
    }

    pub(super) fn has(&self, flag: Flag) -> bool {
        self.flags.split_whitespace().any(|word| word == flag.word())
    }

    /// Whether the subcommands of another line begin as those of this one.
    pub(super) fn leads_to(&self, other: &Line<'_>) -> bool {
        let mut theirs = other.subcommands();
        self.subcommands().all(|own| {
            theirs.next().is_some_and(|their| own.split('|').any(|own| their.split('|').any(|their| own == their)))
        })
    }

    /// What the table says of an option: `None` where it is not in it, else whether it takes a value that may stand apart,
    /// and whether it is one of those of which one has to be given.
    fn option(&self, name: &str) -> Option<(bool, bool)> {
        find(self.options, name, 0)
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
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            if text == "--" {
                break;
            }
            // A lone dash is what comes in: a script that nobody has seen, to who runs scripts.
            if text == "-" && self.has(Flag::Args) {
                return Err(unknown(&format!("what `{shown}` reads is")));
            }
            if !text.starts_with('-') || text == "-" {
                let is_bundle = first && !has_options && self.has(Flag::Bundle) && !text.contains(['/', '.']);
                if std::mem::take(&mut first) && self.has(Flag::Args) {
                    break;
                }
                if self.has(Flag::Names) && text.contains('=') || self.has(Flag::Literal) && (word.glob || word.dynamic)
                {
                    return Err(unknown(&format!("what `{text}` stands for is")));
                }
                if is_bundle && !text.chars().all(|letter| self.option(&format!("-{letter}")).is_some()) {
                    return Err(unknown(&format!("`{shown} {text}` is")));
                }
                // The value of the last letter follows.
                continue;
            }
            if matches!(text, "-h" | "--help" | "--version") {
                continue;
            }
            let found = self.read_option(text).or_else(|| own?.read_option(text));
            let Some((takes_next, is_needed)) = found else {
                return Err(unknown(&format!("the option `{text}` of `{shown}` is")));
            };
            (needed, has_options) = (needed || is_needed, true);
            if takes_next
                && let Some(next) = words.next()
                && next.text.starts_with('-')
                && next.text.len() > 1
                && !next.text[1..].bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            {
                // To a program that takes no value there it is an option of its own.
                return Err(unknown(&format!("the option `{}` of `{shown}` is", next.text)));
            }
        }
        if first && self.has(Flag::Args) && !self.only_shows(given) {
            return Err(unknown(&format!("what `{shown}` reads is")));
        }
        if needed { Ok(()) } else { Err(unknown(&format!("`{shown}` without an option that only shows is"))) }
    }

    /// Whether nothing but a version is asked for.
    fn only_shows(&self, words: &[Word]) -> bool {
        !words.is_empty()
            && words.iter().all(|word| matches!(word.text.as_str(), "-v" | "-V" | "-h" | "--help" | "--version"))
    }

    /// Reads one word that begins with a dash: whether its value is the next word, and whether it is one of the needed.
    fn read_option(&self, text: &str) -> Option<(bool, bool)> {
        if self.has(Flag::Any) {
            return Some((false, false));
        }
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        if text.starts_with("--") || self.has(Flag::Dash) {
            let single = text.strip_prefix('-').filter(|name| self.has(Flag::Dash) && name.starts_with('-'));
            let single = single.map(|name| name.split_once('=').map_or(name, |(name, _)| name));
            let found = self.option(name).or_else(|| self.option(single?));
            if let Some((takes_value, needed)) = found {
                return Some((takes_value && name.len() == text.len(), needed));
            }
            if text.starts_with("--") {
                return None;
            }
        }
        let letters = text.get(1..)?;
        if letters.bytes().all(|byte| byte.is_ascii_digit()) && self.option("-#").is_some() {
            return Some((false, false));
        }
        if self.has(Flag::Dash) {
            return None;
        }
        let mut needed = false;
        for (at, letter) in letters.char_indices() {
            let (takes_value, is_needed) = self.option(&format!("-{letter}"))?;
            needed |= is_needed;
            if takes_value {
                return Some((at + letter.len_utf8() == letters.len(), needed));
            }
        }
        Some((false, needed))
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
            let Some((takes_next, _)) = self.read_option(text) else {
                return Err(unknown(&format!("the option `{text}` of `{shown}` is")));
            };
            at += 1 + usize::from(takes_next);
        }
        Ok(words.get(at..).unwrap_or_default())
    }
}

/// Looks an option up in a list of options and of sets of options.
fn find(options: &str, name: &str, depth: usize) -> Option<(bool, bool)> {
    for word in options.split_ascii_whitespace() {
        if let Some(set) = word.strip_prefix('$') {
            let found = table::options(set).filter(|_| depth < 4);
            if let Some(found) = found.and_then(|set| find(set, name, depth + 1)) {
                return Some(found);
            }
            continue;
        }
        if let Some(rest) = word.strip_prefix(name) {
            match rest {
                "" => return Some((false, false)),
                "=" => return Some((true, false)),
                "!" => return Some((false, true)),
                "=!" | "!=" => return Some((true, true)),
                _ => {}
            }
        }
    }
    None
}

/// Where the operands stand among the arguments, by what the program's own line says of options in front of a subcommand.
pub(super) fn operands(arguments: &[Word], own: Option<&Line<'_>>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            found.extend(at + 1..arguments.len());
            break;
        }
        if text.starts_with('-') && text != "-" {
            // Behind the first operand the options are those of the subcommand, whose values are no subcommands.
            let takes = found.is_empty() && own.is_some_and(|own| takes_value(own, text));
            at += usize::from(takes);
        } else {
            found.push(at);
        }
        at += 1;
    }
    found
}

/// Whether the value of an option in front of a subcommand stands apart.
fn takes_value(own: &Line<'_>, text: &str) -> bool {
    let listed = |name: &str| own.options.split_ascii_whitespace().any(|word| word.strip_suffix('=') == Some(name));
    if text.starts_with("--") || own.has(Flag::Dash) {
        return !text.contains('=') && listed(text);
    }
    text.len() == 2 && listed(text)
}

/// Whether a word is one of those that a pattern stands for: `a|b`, `describe-*`, `*`.
pub(super) fn fits(pattern: &str, word: &str) -> bool {
    pattern.split('|').any(|choice| match choice.split_once('*') {
        Some((front, back)) => {
            word.len() >= front.len() + back.len() && word.starts_with(front) && word.ends_with(back)
        }
        None => choice == word,
    })
}
