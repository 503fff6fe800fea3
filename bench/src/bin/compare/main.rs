//! The comparison: direct, a forwarder that does nothing, Switchboard and any other gateway found, in one interleaved
//! run on loopback, with ratios against the forwarder and, with `--check`, targets.
//!
//! Every process it starts is ended with it, also on errors and signals, and every wait has a deadline.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command whose product is its printed table")]

mod figures;
mod gateways;
mod options;
mod processes;
mod rounds;
mod sessions;
mod stage;
mod table;
mod targets;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use switchboard_bench::error::within;
use switchboard_bench::{Error, Result};
use tokio::signal::unix::{SignalKind, signal};

use options::{Command, Comparison, Options};
use stage::Stage;

fn main() -> ExitCode {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let outcome = runtime.map_err(Error::io("starting the runtime")).and_then(|runtime| {
        runtime.block_on(async {
            tokio::select! {
                outcome = run(options) => outcome,
                stopped = stop_signal() => Err(stopped),
            }
        })
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("compare: {}", error.chain());
            ExitCode::from(2)
        }
    }
}

/// Dropping the run ends its processes, so both signals lead to the same clean end.
async fn stop_signal() -> Error {
    let mut terminate = match signal(SignalKind::terminate()) {
        Ok(terminate) => terminate,
        Err(source) => return Error::io("watching for SIGTERM")(source),
    };
    tokio::select! {
        _ = terminate.recv() => Error::Usage("stopped by SIGTERM".to_owned()),
        interrupted = tokio::signal::ctrl_c() => match interrupted {
            Ok(()) => Error::Usage("stopped by SIGINT".to_owned()),
            Err(source) => Error::io("watching for SIGINT")(source),
        },
    }
}

async fn run(options: Options) -> Result<bool> {
    match options.command {
        Some(Command::Sessions(idle)) => within("the whole run", idle.limit(), sessions::run(&idle)).await,
        None => within("the whole run", options.comparison.limit(), compare(&options.comparison)).await,
    }
}

/// True when the targets are met or were not asked for.
async fn compare(options: &Comparison) -> Result<bool> {
    options.validate()?;
    let stage = Stage::set(options).await?;
    for note in &stage.notes {
        println!("note: {note}");
    }
    println!("{}", table::heading(options));
    let measured = rounds::run(options, &stage.subjects).await;
    stage.clear().await;
    let summaries = figures::summarise(&measured?);
    println!("{}", table::render(&summaries));
    if !options.check {
        return Ok(true);
    }
    let verdicts = targets::judge(&summaries, &options.targets);
    println!("{}", table::verdicts(&verdicts));
    Ok(!verdicts.is_empty() && verdicts.iter().all(|verdict| verdict.met))
}

/// How long a process may take to listen and to answer its first call.
const START_LIMIT: Duration = Duration::from_secs(15);
