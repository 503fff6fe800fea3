//! The hostile program of the test kit, so that the tests have something to confine.
//!
//! `hostile-server ATTEMPT AIMS` makes one attempt and prints what came of it as a line of JSON.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use std::io::Write as _;

    use switchboard_testkit::hostile::{Aims, run};
    let mut words = std::env::args().skip(1);
    let (Some(attempt), Some(aims)) = (words.next(), words.next()) else { return ExitCode::FAILURE };
    let Ok(aims) = Aims::parse(&aims) else { return ExitCode::FAILURE };
    let answer = run(&attempt, &aims);
    let said = writeln!(std::io::stdout(), "{answer}");
    if said.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::FAILURE
}
