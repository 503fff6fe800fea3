//! Other systems than this one: what compiles for them is compiled, so that it stays so.
//!
//! Only `cargo check` can be done here, and only for crates whose dependencies bring no C: a compiler for another system is not to be
//! had everywhere. What starts processes, keeps files and listens is for Unix so far, and README says so.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::layout::Layout;
use crate::process;
use crate::tally::{Tally, say};

/// The systems, and the crates that are compiled for each.
const PLATFORMS: &[(&str, &[&str])] =
    &[("x86_64-apple-darwin", PORTABLE), ("aarch64-apple-darwin", PORTABLE), ("x86_64-pc-windows-msvc", PORTABLE)];
/// Crates without processes, sockets and files.
const PORTABLE: &[&str] = &[
    "switchboard-wire",
    "switchboard-protocol",
    "switchboard-config",
    "switchboard-policy",
    "switchboard-embed",
    "switchboard-catalog",
];

/// Checks them for every system whose standard library is installed; the others are named.
pub(crate) fn run(layout: &Layout) -> Result<Tally> {
    let installed =
        process::quiet(Command::new("rustup").args(["target", "list", "--installed"]), Duration::from_secs(60));
    let installed = installed.map(|output| output.stdout).unwrap_or_default();
    let mut tally = Tally::default();
    for (target, crates) in PLATFORMS {
        if !installed.lines().any(|line| line.trim() == *target) {
            say(&format!("left out {target}: `rustup target add {target}` installs what is needed"));
            continue;
        }
        let mut words = vec!["check", "--locked", "--target", target];
        crates.iter().for_each(|name| words.extend(["-p", name]));
        match layout.cargo(&words) {
            Ok(()) => tally.pass(),
            Err(error) => tally.fail(format!("{target}: {error:#}")),
        }
    }
    Ok(tally)
}
