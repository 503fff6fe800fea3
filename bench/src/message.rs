//! The messages a load sends and the check every answer must pass.
//!
//! Bodies are formatted, not built as trees: the generator shares the machine with what it measures.

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::error::{Error, Result};

/// The stateless revision.
pub const MODERN: &str = "2026-07-28";
/// The newest revision with a handshake and sessions.
pub const LEGACY: &str = "2025-11-25";

/// Which of the two protocol eras a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Era {
    /// `initialize`, then a session.
    Legacy,
    /// No handshake; every request carries its own metadata.
    Modern,
}

impl Era {
    /// The era a protocol revision belongs to (revisions are dates, so they order as text).
    pub fn of(version: &str) -> Self {
        if version >= MODERN { Self::Modern } else { Self::Legacy }
    }

    /// The newest revision of the era.
    pub fn version(self) -> &'static str {
        match self {
            Self::Legacy => LEGACY,
            Self::Modern => MODERN,
        }
    }
}

/// What every caller asks for, again and again.
#[derive(Clone, Debug)]
pub struct Call {
    /// `tools/call` or a list method.
    pub method: String,
    /// The tool of a `tools/call`.
    pub tool: String,
    /// The text that the tool must return unchanged.
    pub payload: String,
    /// The protocol revision to speak.
    pub version: String,
}

impl Call {
    /// A `tools/call` of `tool` with a payload of `bytes` characters.
    pub fn echo(tool: &str, bytes: usize, version: &str) -> Self {
        let payload = "abcdefghijklmnopqrstuvwxyz012345".chars().cycle().take(bytes).collect();
        Self { method: "tools/call".to_owned(), tool: tool.to_owned(), payload, version: version.to_owned() }
    }

    /// The era of the revision spoken.
    pub fn era(&self) -> Era {
        Era::of(&self.version)
    }

    /// The tool name when the method takes one (it also goes into a header in the modern era).
    pub fn name(&self) -> Option<&str> {
        (self.method == "tools/call").then_some(self.tool.as_str())
    }

    /// The request with this id.
    pub fn body(&self, id: u64) -> String {
        let meta = match self.era() {
            Era::Modern => format!(r#""_meta":{}"#, request_meta()),
            Era::Legacy => String::new(),
        };
        let method = json!(self.method);
        if self.name().is_none() {
            return format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{{{meta}}}}}"#);
        }
        let separator = if meta.is_empty() { "" } else { "," };
        let (tool, payload) = (json!(self.tool), json!(self.payload));
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{{"name":{tool},"arguments":{{"message":{payload}}}{separator}{meta}}}}}"#
        )
    }

    /// Accepts only the answer to request `id`, without error and, for a call, with the text that was sent.
    pub fn check(&self, answer: &Value, id: u64) -> Result<()> {
        if answer.get("id").and_then(Value::as_u64) != Some(id) {
            return Err(Error::Answer(format!("id {id} was due, got {:?}", answer.get("id"))));
        }
        if let Some(error) = answer.get("error") {
            return Err(Error::Answer(format!("error {error}")));
        }
        let Some(result) = answer.get("result") else {
            return Err(Error::Answer("neither result nor error".to_owned()));
        };
        if self.name().is_none() {
            return Ok(());
        }
        if result.get("isError").and_then(Value::as_bool) == Some(true) {
            return Err(Error::Answer(format!("tool error {result}")));
        }
        match result.pointer("/content/0/text").and_then(Value::as_str) {
            Some(text) if text == self.payload => Ok(()),
            Some(_) => Err(Error::Answer("the echoed text differs".to_owned())),
            None => Err(Error::Answer(format!("no text in {result}"))),
        }
    }
}

/// The handshake request of the legacy era (its id is 0; calls count from 1).
pub fn initialize(version: &str) -> String {
    json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": version, "capabilities": {}, "clientInfo": client_info()}
    })
    .to_string()
}

/// The notification that ends the handshake.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn client_info() -> Value {
    json!({"name": "mcp-loadgen", "version": env!("CARGO_PKG_VERSION")})
}

fn request_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": client_info(),
        "io.modelcontextprotocol/clientCapabilities": {}
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_json_and_carry_what_the_era_asks_for() {
        for (version, has_meta) in [("2025-03-26", false), (LEGACY, false), (MODERN, true)] {
            let mut call = Call::echo("a\"b", 5, version);
            let body: Value = serde_json::from_str(&call.body(7)).expect("call body");
            assert_eq!(body["id"], 7);
            assert_eq!(body["params"]["name"], "a\"b");
            assert_eq!(body["params"]["arguments"]["message"], "abcde");
            assert_eq!(body["params"].get("_meta").is_some(), has_meta, "{version}");
            call.method = "tools/list".to_owned();
            let body: Value = serde_json::from_str(&call.body(8)).expect("list body");
            assert_eq!(body["params"].get("_meta").is_some(), has_meta, "{version}");
        }
    }

    #[test]
    fn only_the_due_answer_passes() {
        let call = Call::echo("echo", 3, LEGACY);
        let table = [
            (r#"{"id":1,"result":{"content":[{"type":"text","text":"abc"}]}}"#, true),
            (r#"{"id":2,"result":{"content":[{"type":"text","text":"abc"}]}}"#, false),
            (r#"{"id":1,"result":{"content":[{"type":"text","text":"abd"}]}}"#, false),
            (r#"{"id":1,"result":{"content":[{"type":"text","text":"abc"}],"isError":true}}"#, false),
            (r#"{"id":1,"error":{"code":-32603,"message":"no"}}"#, false),
            (r#"{"id":1}"#, false),
        ];
        for (answer, expected) in table {
            let value = serde_json::from_str(answer).expect("table");
            assert_eq!(call.check(&value, 1).is_ok(), expected, "{answer}");
        }
    }
}
