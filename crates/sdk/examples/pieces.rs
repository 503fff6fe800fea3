//! A tool whose result comes in pieces, to clients that want them; all others get the whole at the end.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use switchboard_sdk::mgp::Extension;
use switchboard_sdk::{Server, Tool};

#[derive(Deserialize, JsonSchema)]
struct Recite {
    /// What to recite.
    text: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let recite = Tool::new::<Recite, String>("recite").description("Says a text word by word").read_only().handler(
        |ctx, args| async move {
            for word in args.text.split_inclusive(' ') {
                ctx.piece(word);
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Ok(args.text)
        },
    );
    Server::builder("pieces", "1.0.0").mgp(&[Extension::Streaming]).tool(recite).build()?.run_stdio().await?;
    Ok(())
}
