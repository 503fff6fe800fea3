//! For authors of MCP servers: say what a server offers once, and it speaks every revision of the protocol, on stdio
//! and over HTTP.
//!
//! ```no_run
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use switchboard_sdk::{Server, Tool};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Greet {
//!     /// Whom to greet.
//!     name: String,
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let server = Server::builder("hello", "1.0.0")
//!         .tool(
//!             Tool::new::<Greet, String>("greet")
//!                 .description("Says hello")
//!                 .handler(|_ctx, args| async move { Ok(format!("Hello, {}!", args.name)) }),
//!         )
//!         .build()?;
//!     server.run_stdio().await?;
//!     Ok(())
//! }
//! ```
//!
//! A handler gets a [`Ctx`]: it can report progress, log, ask the person or the model behind the client, and learn
//! that it was cancelled. It is written once for both eras; [`Ctx::elicit`] says what that means where it asks.
//!
//! This crate decides what a server answers. It knows no transport beyond starting one, no other server, and no policy.

mod ask;
mod clock;
mod ctx;
mod error;
mod feed;
mod page;
mod pieces;
mod prompt;
mod resource;
mod rounds;
pub mod schema;
mod seal;
mod server;
mod task;
mod template;
mod tool;

pub use ask::{Answer, Keyed, Question, form};
pub use ctx::Ctx;
pub use error::Error;
pub use prompt::{Arguments, Prompt, PromptBuilder, assistant, user};
pub use resource::{Body, Cache, Resource, ResourceBuilder, ResourceTemplate, ResourceTemplateBuilder};
pub use seal::StateKey;
pub use server::{Bound, BuildError, Eras, Server, ServerBuilder};
pub use switchboard_peer::server::http::HttpOptions;
pub use switchboard_protocol::{Era, Fault, Revision, fault, mcp, mgp};
pub use switchboard_transport::http_server::{AccessRules, AllowList};
pub use switchboard_wire::{ErrorObject, Raw};
pub use task::{TaskOptions, TaskSupport};
pub use template::TemplateError;
pub use tool::{Json, NoArgs, Tool, ToolBuilder, ToolError, ToolOutput};
