//! The smallest server: one tool, on stdio, for clients of every revision.

use schemars::JsonSchema;
use serde::Deserialize;
use switchboard_sdk::{Server, Tool};

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet.
    name: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let greet = Tool::new::<Greet, String>("greet")
        .description("Says hello")
        .handler(|_ctx, args| async move { Ok(format!("Hello, {}!", args.name)) });
    Server::builder("hello", "1.0.0").tool(greet).build()?.run_stdio().await?;
    Ok(())
}
