//! The server side: two tools, one resource and one prompt, in both eras.
//!
//! `ask_name` needs the user: it asks by an `elicitation/create` request where the handshake era
//! allows requests from the server, and by an `input_required` result where it does not.

use std::sync::Arc;

use anyhow::Result;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, InputRequiredResult, ListPromptsResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const NOTE_URI: &str = "rmcp://note";

/// Serves one client on standard input and output until it closes them.
pub(crate) async fn stdio() -> Result<()> {
    let running = Peer.serve(rmcp::transport::stdio()).await?;
    running.waiting().await?;
    Ok(())
}

/// Serves streamable HTTP and prints the address once it listens.
pub(crate) async fn http(address: &str) -> Result<()> {
    use std::io::Write as _;
    let service: StreamableHttpService<Peer, LocalSessionManager> =
        StreamableHttpService::new(|| Ok(Peer), Arc::default(), StreamableHttpServerConfig::default());
    let listener = tokio::net::TcpListener::bind(address).await?;
    writeln!(std::io::stdout(), "listening on http://{}/mcp", listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let connection = auto::Builder::new(TokioExecutor::new());
            // A client that goes away in the middle is no concern of this peer.
            let _ = connection.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

#[derive(Clone)]
struct Peer;

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = json!({"tools": {}, "resources": {}, "prompts": {}});
        ServerConfig::new(serde_json::from_value(capabilities).unwrap_or_default())
            .with_server_info(Implementation::new("rmcp-peer", "1"))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        build(json!({"resultType": "complete", "tools": [
            {
                "name": "echo",
                "description": "Returns the message it was given",
                "inputSchema": {
                    "type": "object",
                    "properties": {"message": {"type": "string"}},
                    "required": ["message"],
                },
            },
            {
                "name": "ask_name",
                "description": "Greets the user after asking for a name",
                "inputSchema": {"type": "object", "properties": {}},
            },
        ]}))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match request.name.as_ref() {
            "echo" => {
                let message = request.arguments.as_ref().and_then(|arguments| arguments.get("message"));
                let message = message.and_then(Value::as_str).unwrap_or_default();
                Ok(text(&format!("rmcp echo: {message}")))
            }
            "ask_name" => ask_name(&request, &context).await,
            other => Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        }
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        build(
            json!({"resultType": "complete", "resources": [{"uri": NOTE_URI, "name": "note", "mimeType": "text/plain"}]}),
        )
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != NOTE_URI {
            return Err(ErrorData::invalid_params("no such resource", Some(json!({"uri": request.uri}))));
        }
        let contents = json!({"resultType": "complete", "contents": [{"uri": NOTE_URI, "mimeType": "text/plain", "text": "a note kept by rmcp"}]});
        Ok(build::<ReadResourceResult>(contents)?.into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        build(json!({"resultType": "complete", "prompts": [{"name": "greet", "description": "A greeting"}]}))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != "greet" {
            return Err(ErrorData::invalid_params("no such prompt", None));
        }
        let message = json!({"role": "user", "content": {"type": "text", "text": "a greeting from rmcp"}});
        Ok(build::<GetPromptResult>(json!({"resultType": "complete", "messages": [message]}))?.into())
    }
}

async fn ask_name(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let question = json!({
        "mode": "form",
        "message": "What is your name?",
        "requestedSchema": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
    });
    let modern = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    if !modern {
        let answer = context.peer.create_elicitation(build(question)?).await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        return Ok(greeting(answer.content.as_ref()));
    }
    let responses = serde_json::to_value(&request.input_responses).unwrap_or_default();
    if responses["name"].is_object() {
        return Ok(greeting(responses["name"].get("content")));
    }
    let requests = json!({"name": {"method": "elicitation/create", "params": question}});
    Ok(InputRequiredResult::new(Some(build(requests)?), None).into())
}

fn greeting(content: Option<&Value>) -> CallToolResponse {
    let name = content.and_then(|content| content["name"].as_str()).unwrap_or("nobody");
    text(&format!("rmcp greets {name}"))
}

fn text(words: &str) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(words)]).into()
}

/// The model types of rmcp are built from JSON so that this peer depends on as little of its
/// changing Rust interface as possible. Results name their type; rmcp leaves that out again for
/// clients of the handshake era.
fn build<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
