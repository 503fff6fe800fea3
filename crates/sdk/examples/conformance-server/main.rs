//! Offers every fixture that the official conformance suite asks a server for, in both eras.
//!
//! ```text
//! cargo run -p switchboard-sdk --example conformance-server -- --listen 127.0.0.1:0
//! ```

mod content;
mod rounds;
mod tasks;
mod tools;

use std::net::SocketAddr;

use clap::{Parser, ValueEnum};
use switchboard_sdk::{Eras, HttpOptions, Server};

#[derive(Parser)]
#[command(about = "A server with every fixture of the official MCP conformance suite")]
struct Arguments {
    /// Serve HTTP at this address (port 0 chooses one); the first line on stdout says where.
    #[arg(long, default_value = "127.0.0.1:0", conflicts_with = "stdio")]
    listen: SocketAddr,
    /// Serve one client on stdin and stdout instead.
    #[arg(long)]
    stdio: bool,
    /// Which clients to serve.
    #[arg(long, default_value = "both")]
    era: Era,
}

#[derive(Clone, Copy, ValueEnum)]
enum Era {
    Legacy,
    Modern,
    Both,
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "whoever starts the server reads its address there")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let eras = match arguments.era {
        Era::Legacy => Eras::Legacy,
        Era::Modern => Eras::Modern,
        Era::Both => Eras::Both,
    };
    let mut server = Server::builder("switchboard-conformance-server", "1.0.0")
        .title("Conformance fixtures")
        .instructions("Every tool, resource and prompt here exists to be tested.")
        .eras(eras);
    for tool in tools::all().into_iter().chain(rounds::all()).chain(tasks::all()) {
        server = server.tool(tool);
    }
    for resource in content::resources() {
        server = server.resource(resource);
    }
    for prompt in content::prompts().into_iter().chain([rounds::prompt()]) {
        server = server.prompt(prompt);
    }
    let server = server.resource_template(content::template()).build()?;
    if arguments.stdio {
        server.run_stdio().await?;
    } else {
        let bound = server.bind_http(arguments.listen, HttpOptions::default()).await?;
        println!("listening on {}", bound.url());
        bound.run().await;
    }
    Ok(())
}
