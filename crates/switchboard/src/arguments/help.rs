//! The text below the options of a command: written in lines for the source, shown in lines for the terminal.

use clap::{Command, CommandFactory as _, FromArgMatches as _};

use super::Arguments;

/// A line that is broken here in the source goes on in the next one.
const BROKEN: usize = 80;

impl Arguments {
    /// The command line of this process.
    ///
    /// # Errors
    /// It cannot be read, or asks for help.
    pub(crate) fn of_process() -> Result<Self, clap::Error> {
        Self::from_arg_matches(&rejoined(Self::command()).try_get_matches()?)
    }
}

/// The command with whole paragraphs, which are broken anew where the terminal ends.
fn rejoined(command: Command) -> Command {
    let after = command.get_after_help().map(|help| paragraphs(&help.to_string()));
    let command = match after {
        Some(after) => command.after_help(after),
        None => command,
    };
    command.mut_subcommands(rejoined)
}

/// Joins lines that were broken because they were full. Examples and lists, which are indented or short, stay.
fn paragraphs(text: &str) -> String {
    let mut out = String::new();
    let mut is_full = false;
    for line in text.lines() {
        let goes_on = is_full && !line.is_empty() && !line.starts_with(' ');
        if !out.is_empty() {
            out.push(if goes_on { ' ' } else { '\n' });
        }
        out.push_str(line);
        is_full = line.chars().count() >= BROKEN && !line.starts_with(' ');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_joined_and_examples_are_not() {
        let long = "a ".repeat(45);
        let long = long.trim_end();
        let text = format!("{long}\ngoes on\nA new one\n\nExamples:\n  switchboard x\n  {long}\n  switchboard y");
        let expected = format!("{long} goes on\nA new one\n\nExamples:\n  switchboard x\n  {long}\n  switchboard y");
        assert_eq!(paragraphs(&text), expected);
    }
}
