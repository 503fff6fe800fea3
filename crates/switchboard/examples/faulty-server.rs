//! The faulty server of the test kit as a program, so that the tests of the binary have something to start.

use std::process::ExitCode;

use switchboard_testkit::faulty::{Faults, run};

fn main() -> ExitCode {
    let outcome = Faults::parse(std::env::args().skip(1))
        .and_then(|faults| run(&faults, std::io::stdin().lock(), std::io::stdout()).map_err(|error| error.to_string()));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
