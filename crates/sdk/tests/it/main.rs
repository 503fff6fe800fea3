//! A server on real transports, spoken to in plain text.

mod http;
mod stdio;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_sdk::mcp::meta;
use switchboard_sdk::{Resource, Server, Tool};

#[derive(Deserialize, JsonSchema)]
struct Greet {
    #[schemars(extend("x-mcp-header" = "Name"))]
    name: String,
}

fn server() -> Server {
    Server::builder("greeter", "1.0.0")
        .tool(Tool::new::<Greet, String>("greet").handler(|ctx, args| async move {
            ctx.progress(1.0, None, Some("thinking"));
            Ok(format!("Hello, {}!", args.name))
        }))
        .resource(Resource::new("x://a", "a").fixed("a"))
        .build()
        .expect("a server")
}

/// The parameters of a modern request.
fn modern(mut params: Value) -> Value {
    params["_meta"][meta::PROTOCOL_VERSION] = "2026-07-28".into();
    params["_meta"][meta::CLIENT_CAPABILITIES] = json!({});
    params
}

fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}
