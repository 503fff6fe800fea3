//! The project's own tasks, called as `cargo xtask COMMAND`.
//!
//! This file decides which command runs; each command has its own module. Nothing here knows the
//! protocol: outside peers are judged by what they print.

mod conformance;
mod interop;
mod layout;
mod peers;
mod process;
mod suite;
mod tally;
mod tidy;

use anyhow::{Result, bail};

use crate::layout::Layout;
use crate::tally::say;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [--quick] [--only STEP]   format, tidy, clippy, tests, doc tests, binaries, then the outside peers
                                 (--quick leaves the outside peers out)
  tidy                           edges between crates, file headers and sizes, forbidden words
  peers                          install the outside peers under target/peers
  conformance [--only WORD]      the official suite: fixture server, kernel in front of it, client
  interop [--direct] [--only WORD] [--verbose]
                                 every client through the kernel to every server
                                 (--direct leaves the kernel out)";

fn main() -> Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let layout = Layout::find()?;
    let command = if words.is_empty() { String::new() } else { words.remove(0) };
    let mut flags = Flags { words };
    let tally = match command.as_str() {
        "test" => {
            let (quick, only) = (flags.take("--quick"), flags.take_value("--only")?);
            flags.finish()?;
            suite::run(&layout, quick, only.as_deref())?
        }
        "tidy" => {
            flags.finish()?;
            return tidy::run(&layout);
        }
        "peers" => {
            flags.finish()?;
            return peers::install(&layout).map(|_| ());
        }
        "conformance" => {
            let only = flags.take_value("--only")?;
            flags.finish()?;
            layout.build_binaries()?;
            conformance::run(&layout, only.as_deref())?
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
            interop::run(&layout, &options)?
        }
        _ => {
            say(USAGE);
            bail!("no such command: {command:?}");
        }
    };
    say(&tally.line());
    if tally.failed > 0 {
        bail!("{} checks failed", tally.failed);
    }
    Ok(())
}

/// The words after the command; whatever is left at the end was a typing error.
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
