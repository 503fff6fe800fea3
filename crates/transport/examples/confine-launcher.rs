//! The launcher of confined processes as a program of its own: what a binary with this crate has to offer.

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(word) = std::env::args().nth(1) else { return ExitCode::FAILURE };
    match switchboard_transport::confine::run(&word) {
        Ok(never) => match never {},
        Err(_) => ExitCode::FAILURE,
    }
}
