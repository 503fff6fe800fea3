//! The project's own tasks, called as `cargo xtask COMMAND`.
//!
//! This file decides which command runs; each command has its own module. Nothing here knows the
//! protocol: outside peers are judged by what they print.

mod conformance;
mod distill;
mod interop;
mod layout;
mod peers;
mod platforms;
mod process;
mod suite;
mod tally;
mod tidy;
mod wild;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::layout::Layout;
use crate::tally::{Tally, complain, say};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [--quick] [--only STEP]   format, tidy, clippy, tests, doc tests, binaries, first-hour,
                                 platforms, then the outside peers
                                 (--quick leaves the outside peers out)
  tidy                           edges between crates, file headers and sizes, forbidden words
  fit-screening                  fit the weights of the screening of tool definitions to its corpus
  distill                        make the embedding table of crates/embed anew from the weights it comes from
  peers                          install the outside peers under target/peers
  conformance [--only WORD]      the official suite: fixture server, kernel in front of it, client
  interop [--direct] [--only WORD] [--verbose]
                                 every client through the kernel to every server
                                 (--direct leaves the kernel out)
  wild [--only WORD] [--from FOLDER] [--requests]
                                 what would be held, marked and asked of some eighty public servers; installs and
                                 starts them (--from takes definitions that were kept before). With --requests: how
                                 often the tool that an everyday request wants is found first, and among five; an error
                                 below 28 and 36 of 40
  matrix [--only WORD]           popular public servers, direct and through the kernel: the same tools, nothing hidden,
                                 honest calls answered alike; installs and starts them
  platforms                      compiles the crates that are for every system for macOS and Windows, where the
                                 standard library for them is installed (`rustup target add`)";

fn main() -> ExitCode {
    match run() {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(tally)) => {
            // The last line of every run with outside peers is the plain count.
            say(&tally.line());
            if tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            complain(&format!("xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs the command; the count of outside checks where it made any.
fn run() -> Result<Option<Tally>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let layout = Layout::find()?;
    let command = if words.is_empty() { String::new() } else { words.remove(0) };
    let mut flags = Flags { words };
    match command.as_str() {
        "test" => {
            let (quick, only) = (flags.take("--quick"), flags.take_value("--only")?);
            flags.finish()?;
            suite::run(&layout, quick, only.as_deref()).map(Some)
        }
        "tidy" => {
            flags.finish()?;
            tidy::run(&layout).map(|()| None)
        }
        "fit-screening" => {
            flags.finish()?;
            fit_screening(&layout).map(|()| None)
        }
        "distill" => {
            flags.finish()?;
            distill::run(&layout).map(|()| None)
        }
        "peers" => {
            flags.finish()?;
            peers::install(&layout).map(|_| None)
        }
        "conformance" => {
            let only = flags.take_value("--only")?;
            flags.finish()?;
            layout.build_binaries()?;
            conformance::run(&layout, only.as_deref()).map(Some)
        }
        "interop" => {
            let options = interop::Options {
                direct: flags.take("--direct"),
                verbose: flags.take("--verbose"),
                only: flags.take_value("--only")?,
            };
            flags.finish()?;
            if options.direct {
                layout.build_rmcp_peer()?;
            } else {
                layout.build_binaries()?;
            }
            interop::run(&layout, &options).map(Some)
        }
        "wild" => {
            let options = wild::Options {
                only: flags.take_value("--only")?,
                from: flags.take_value("--from")?.map(std::path::PathBuf::from),
                requests: flags.take("--requests"),
            };
            flags.finish()?;
            wild::run(&layout, &options).map(|()| None)
        }
        "matrix" => {
            let only = flags.take_value("--only")?;
            flags.finish()?;
            wild::matrix(&layout, only.as_deref()).map(Some)
        }
        "platforms" => {
            flags.finish()?;
            platforms::run(&layout).map(Some)
        }
        // What `wild` starts as a server.
        "replay" => wild::replay(std::path::Path::new(&flags.words.remove(0))).map(|()| None),
        "" => bail!("no command\n{USAGE}"),
        _ => bail!("no such command: {command:?}\n{USAGE}"),
    }
}

/// The words after the command; whatever is left at the end was a typing error.
/// The fitting lives in a test of the crate, so that no program carries it; with the variable set it writes the file.
fn fit_screening(layout: &Layout) -> Result<()> {
    let mut cargo = std::process::Command::new("cargo");
    cargo.args(["test", "-p", "switchboard-validators", "--lib", "the_weights_are_those_of_the_corpus"]);
    cargo.env("SWITCHBOARD_FIT_SCREENING", "1").current_dir(&layout.root);
    process::visible(&mut cargo, std::time::Duration::from_secs(600))
}

struct Flags {
    words: Vec<String>,
}

impl Flags {
    fn take(&mut self, flag: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|word| word != flag);
        self.words.len() != before
    }

    fn take_value(&mut self, flag: &str) -> Result<Option<String>> {
        let Some(at) = self.words.iter().position(|word| word == flag) else { return Ok(None) };
        if at + 1 >= self.words.len() {
            bail!("{flag} needs a value");
        }
        self.words.remove(at);
        Ok(Some(self.words.remove(at)))
    }

    fn finish(self) -> Result<()> {
        match self.words.as_slice() {
            [] => Ok(()),
            [word, ..] => bail!("unknown argument {word:?}\n{USAGE}"),
        }
    }
}
