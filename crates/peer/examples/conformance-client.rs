//! Our client as the official conformance suite drives it: `conformance-client URL`.
//!
//! The suite names the scenario in `MCP_CONFORMANCE_SCENARIO`, the revision in `MCP_CONFORMANCE_PROTOCOL_VERSION` and
//! values to use in `MCP_CONFORMANCE_CONTEXT`. Everything here goes through [`switchboard_peer::client`].

#[path = "conformance-client/auth.rs"]
mod auth;

use std::error::Error;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use switchboard_peer::client::{ConnectOptions, Connected, EraChoice, Target, connect};
use switchboard_peer::{BoxFuture, Call, Context, Handler, Reply};
use switchboard_protocol::mcp::header::ParamHeaders;
use switchboard_protocol::mcp::method;
use switchboard_protocol::{Era, Revision};
use switchboard_wire::{ErrorObject, Notification, Raw, Request, code};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let url =
        std::env::args().next_back().filter(|last| last.starts_with("http")).ok_or("the last argument is no URL")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context: Value = std::env::var("MCP_CONFORMANCE_CONTEXT")
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let client = Client::connect(url, &scenario, &context).await?;
    let outcome = client.play(&scenario, &context).await;
    client.connected.stop().await;
    outcome
}

/// A tool whose definition may be used.
struct Tool {
    name: String,
    schema: Value,
    headers: ParamHeaders,
}

struct Client {
    connected: Connected,
}

impl Client {
    async fn connect(url: String, scenario: &str, context: &Value) -> Outcome<Self> {
        let info = Raw::from_value(&json!({"name": "switchboard-conformance-client", "version": "1.0.0"}))?;
        let capabilities = Raw::from_value(&json!({
            "roots": {}, "sampling": {}, "elicitation": {"form": {"applyDefaults": true}}
        }))?;
        let mut options = ConnectOptions::new(info, capabilities);
        let asked = std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").ok();
        if let Some(revision) = asked.as_deref().and_then(Revision::parse).filter(|asked| asked.era() == Era::Legacy) {
            options.era = EraChoice::Legacy;
            options.legacy_revision = revision;
        }
        if scenario.starts_with("auth/") {
            options.authorizer = Some(auth::authorizer(&url, scenario, context)?);
        }
        let connected = connect(Target::Http { url, headers: Vec::new() }, options, Arc::new(Answers)).await?;
        Ok(Self { connected })
    }

    async fn play(&self, scenario: &str, context: &Value) -> Outcome<()> {
        match scenario {
            "initialize" | "request-metadata" | "json-schema-ref-no-deref" => drop(self.tools().await?),
            "json-schema-2020-12-preservation" => {
                let tools = self.tools().await?;
                let focal = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool").ok_or("no focal tool")?;
                let echo = tools.iter().find(|tool| tool.name == "json_schema_echo").ok_or("no echo tool")?;
                self.call(echo, json!({"schema": focal.schema})).await?;
            }
            "sep-2322-client-request-state" => self.rounds().await?,
            "http-standard-headers" => self.everything().await?,
            _ => {
                let tools = self.tools().await?;
                let named = context.get("toolCalls").and_then(Value::as_array);
                if let Some(calls) = named {
                    for call in calls {
                        let tool = tools.iter().find(|tool| Some(&*tool.name) == call["name"].as_str());
                        self.call(tool.ok_or("a tool to call is missing")?, call["arguments"].clone()).await?;
                    }
                } else {
                    for tool in &tools {
                        self.call(tool, example(&tool.schema)).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Lists tools, without those whose definition is invalid.
    async fn tools(&self) -> Outcome<Vec<Tool>> {
        let list = self.ask(method::TOOLS_LIST, json!({}), Vec::new()).await?;
        let mut tools = Vec::new();
        for tool in list["tools"].as_array().into_iter().flatten() {
            let schema = tool["inputSchema"].clone();
            if let Ok(headers) = ParamHeaders::of(&Raw::from_value(&schema)?) {
                tools.push(Tool { name: tool["name"].as_str().unwrap_or_default().to_owned(), schema, headers });
            }
        }
        Ok(tools)
    }

    async fn call(&self, tool: &Tool, arguments: Value) -> Outcome<Value> {
        let headers = tool.headers.headers(Some(&Raw::from_value(&arguments)?))?;
        self.ask(method::TOOLS_CALL, json!({"name": tool.name, "arguments": arguments}), headers).await
    }

    async fn ask(&self, method: &str, params: Value, headers: Vec<(String, String)>) -> Outcome<Value> {
        let mut call = Call::new(method, Some(Raw::from_value(&params)?));
        call.headers = headers;
        let reply = self.connected.remote.request(call).await?;
        Ok(reply.outcome?.view()?)
    }

    /// Calls that need input, with another call between the rounds.
    async fn rounds(&self) -> Outcome<()> {
        for tool in self.tools().await? {
            let mut params = json!({"name": tool.name, "arguments": {}});
            for _round in 0..5 {
                let result = self.ask(method::TOOLS_CALL, params.clone(), Vec::new()).await?;
                if result["resultType"] != "input_required" {
                    break;
                }
                self.ask(method::TOOLS_CALL, json!({"name": "test_mrtr_unrelated", "arguments": {}}), Vec::new())
                    .await?;
                let mut responses = Map::new();
                for (key, request) in result["inputRequests"].as_object().into_iter().flatten() {
                    let schema = &request["params"]["requestedSchema"];
                    responses.insert(key.clone(), json!({"action": "accept", "content": example(schema)}));
                }
                params["inputResponses"] = Value::Object(responses);
                if let Some(state) = result.get("requestState") {
                    params["requestState"] = state.clone();
                }
            }
        }
        Ok(())
    }

    /// One request of every kind that carries headers.
    async fn everything(&self) -> Outcome<()> {
        for tool in self.tools().await? {
            self.call(&tool, example(&tool.schema)).await?;
        }
        let resources = self.ask(method::RESOURCES_LIST, json!({}), Vec::new()).await?;
        for resource in resources["resources"].as_array().into_iter().flatten() {
            self.ask(method::RESOURCES_READ, json!({"uri": resource["uri"]}), Vec::new()).await?;
        }
        let prompts = self.ask(method::PROMPTS_LIST, json!({}), Vec::new()).await?;
        for prompt in prompts["prompts"].as_array().into_iter().flatten() {
            self.ask(method::PROMPTS_GET, json!({"name": prompt["name"]}), Vec::new()).await?;
        }
        Ok(())
    }
}

/// Values that fit a schema: the defaults where there are any.
fn example(schema: &Value) -> Value {
    let mut values = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let value = match (property.get("default"), property["type"].as_str()) {
            (Some(default), _) => default.clone(),
            (None, Some("number" | "integer")) => json!(2),
            (None, Some("boolean")) => json!(true),
            (None, Some("string")) => json!("text"),
            (None, _) => continue,
        };
        values.insert(name.clone(), value);
    }
    Value::Object(values)
}

/// Answers what a server asks: elicitation with the defaults of its schema.
struct Answers;

impl Handler for Answers {
    fn request(&self, _context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let answer = match &*request.method {
                method::ELICIT => {
                    let params: Value = request.params.and_then(|params| params.view().ok()).unwrap_or_default();
                    Some(json!({"action": "accept", "content": example(&params["requestedSchema"])}))
                }
                method::PING => Some(json!({})),
                method::ROOTS_LIST => Some(json!({"roots": []})),
                _ => None,
            };
            let unknown = || ErrorObject::new(code::METHOD_NOT_FOUND, "not offered");
            answer.and_then(|answer| Raw::from_value(&answer).ok()).ok_or_else(unknown).into()
        })
    }

    fn notification(&self, _context: Context, _notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}
