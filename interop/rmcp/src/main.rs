//! An outside peer for the interop matrix, built on rmcp alone.
//!
//! `rmcp-peer client [JOB]` runs one job of the matrix and prints one JSON line, just like the
//! scripts in `interop/clients`; `rmcp-peer server --stdio | --listen ADDRESS` is a small server
//! that speaks both eras. It knows nothing about Switchboard: that is its worth.

mod client;
mod server;

use anyhow::{Context, Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    match words.as_slice() {
        ["client"] => {
            let job = std::env::var("INTEROP_JOB").context("pass the job as JSON or in INTEROP_JOB")?;
            runtime.block_on(client::run(&job))
        }
        ["client", job] => runtime.block_on(client::run(job)),
        ["server", "--stdio"] => runtime.block_on(server::stdio()),
        ["server", "--listen", address] => runtime.block_on(server::http(address)),
        _ => bail!("usage: rmcp-peer client [JOB] | server --stdio | server --listen ADDRESS"),
    }
}
