//! `cargo xtask test`: every step in order, a summary with times, one honest exit code.
//!
//! A step that fails does not stop the ones after it, except that nothing can be started that
//! could not be built.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::layout::Layout;
use crate::tally::{Tally, say, seconds};
use crate::{conformance, interop, platforms, process, tidy};

/// What a step does.
enum Work {
    Cargo(&'static [&'static str]),
    Tidy,
    Tests,
    Fuzz,
    Binaries,
    FirstHour,
    Platforms,
    Conformance,
    Interop,
}

struct Step {
    name: &'static str,
    work: Work,
    /// Needs outside peers and what `binaries` builds.
    outside: bool,
}

/// Three dozen starts of programs.
const FIRST_HOUR_LIMIT: Duration = Duration::from_secs(180);
/// Failures repeated in the summary; all of them stand above it.
const SHOWN: usize = 60;

const STEPS: &[Step] = &[
    Step { name: "format", work: Work::Cargo(&["fmt", "--all", "--check"]), outside: false },
    Step { name: "tidy", work: Work::Tidy, outside: false },
    Step {
        name: "clippy",
        work: Work::Cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]),
        outside: false,
    },
    Step { name: "tests", work: Work::Tests, outside: false },
    Step {
        name: "doc-tests",
        work: Work::Cargo(&["test", "--doc", "--workspace", "--locked", "--quiet"]),
        outside: false,
    },
    Step { name: "fuzz", work: Work::Fuzz, outside: false },
    Step { name: "binaries", work: Work::Binaries, outside: false },
    Step { name: "first-hour", work: Work::FirstHour, outside: false },
    Step { name: "platforms", work: Work::Platforms, outside: false },
    Step { name: "conformance", work: Work::Conformance, outside: true },
    Step { name: "interop", work: Work::Interop, outside: true },
];

/// Runs the steps and returns the count of the outside checks, plus one failure for each step that failed.
pub(crate) fn run(layout: &Layout, quick: bool, only: Option<&str>) -> Result<Tally> {
    if let Some(name) = only
        && !STEPS.iter().any(|step| step.name == name)
    {
        let names = STEPS.iter().map(|step| step.name).collect::<Vec<_>>().join(", ");
        bail!("no step {name:?}; there are: {names}");
    }
    let mut tally = Tally::default();
    let mut summary = Vec::new();
    let mut broken = Vec::new();
    for step in STEPS {
        if only.is_some_and(|name| name != step.name) || (quick && step.outside) {
            continue;
        }
        say(&format!("== {}", step.name));
        let started = Instant::now();
        let before = tally.failed;
        let outcome = perform(layout, &step.work, only.is_some(), &mut tally);
        let word = match &outcome {
            Ok(()) if tally.failed == before => "ok",
            Ok(()) => "FAILED",
            Err(error) => {
                say(&format!("{}: {error:#}", step.name));
                broken.push(step.name);
                "FAILED"
            }
        };
        summary.push(format!("{word:7} {:12} {:>9}", step.name, seconds(started.elapsed())));
        if matches!(step.work, Work::Binaries) && outcome.is_err() {
            say("the outside peers are left out: there is nothing to run them against");
            break;
        }
    }
    say("== summary");
    for line in &summary {
        say(line);
    }
    for failure in tally.failures.iter().take(SHOWN) {
        say(&format!("failed: {failure}"));
    }
    // A step that failed as a whole counts as one failed check, so that the last line is honest.
    for step in broken {
        tally.fail(format!("step {step}"));
    }
    Ok(tally)
}

fn perform(layout: &Layout, work: &Work, alone: bool, tally: &mut Tally) -> Result<()> {
    match work {
        Work::Cargo(arguments) => layout.cargo(arguments),
        Work::Tidy => tidy::run(layout),
        Work::Tests => tests(layout),
        Work::Fuzz => fuzz(layout),
        Work::Binaries => layout.build_binaries(),
        Work::FirstHour => {
            if alone {
                layout.build_binaries()?;
            }
            first_hour(layout)
        }
        Work::Platforms => {
            tally.add(platforms::run(layout)?);
            Ok(())
        }
        Work::Conformance => {
            if alone {
                layout.build_binaries()?;
            }
            tally.add(conformance::run(layout, None)?);
            Ok(())
        }
        Work::Interop => {
            if alone {
                layout.build_binaries()?;
            }
            tally.add(interop::run(layout, &interop::Options::default())?);
            Ok(())
        }
    }
}

/// The fuzz targets among the tests, each for ten seconds. In the step before they had a quarter of a second.
fn fuzz(layout: &Layout) -> Result<()> {
    let seconds = [("SWITCHBOARD_FUZZ_SECONDS", "10")];
    if has_nextest() {
        let arguments = ["nextest", "run", "--workspace", "--locked", "-E", "test(/(^|::)fuzz_/)"];
        layout.cargo_with(&arguments, &seconds).context("cargo nextest")
    } else {
        let arguments = ["test", "--workspace", "--lib", "--tests", "--locked", "--", "fuzz_"];
        layout.cargo_with(&arguments, &seconds).context("cargo test")
    }
}

/// What people feel with twelve servers, held to ten times what is promised of a release: this build is a debug one.
fn first_hour(layout: &Layout) -> Result<()> {
    let mut command = Command::new(layout.built("first-hour")?);
    command.args(["--check", "--slack", "10"]);
    process::visible(&mut command, FIRST_HOUR_LIMIT)
}

/// The faster runner where it is installed; the same tests either way.
fn tests(layout: &Layout) -> Result<()> {
    if has_nextest() {
        layout.cargo(&["nextest", "run", "--workspace", "--locked"]).context("cargo nextest")
    } else {
        layout
            .cargo(&["test", "--workspace", "--lib", "--bins", "--tests", "--examples", "--locked"])
            .context("cargo test")
    }
}

fn has_nextest() -> bool {
    let runner = process::quiet(Command::new("cargo-nextest").args(["nextest", "--version"]), Duration::from_secs(30));
    runner.is_ok_and(|output| output.success)
}
