//! What the upstream answers to one message. No I/O; borrowed raw JSON in, text out.

use std::borrow::Cow;
use std::fmt::Write;

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_bench::message::{Era, LEGACY, MODERN};

use crate::Eras;

/// The answer and what the transport must know about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// A notification or a response: nothing goes back.
    Nothing,
    /// An ordinary answer.
    Message(String),
    /// The answer to `initialize`: the transport opens a session.
    Initialized(String),
    /// The client speaks an era that this server was told not to know.
    WrongEra(String),
    /// The method is not known.
    UnknownMethod(String),
}

/// The server's fixed content.
pub(crate) struct Offer {
    tools: String,
    eras: Eras,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CallParams<'a> {
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct EchoArguments<'a> {
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct InitializeParams<'a> {
    #[serde(borrow, rename = "protocolVersion", default)]
    version: Option<Cow<'a, str>>,
}

const SERVER_INFO: &str = r#"{"name":"echo-upstream","version":"0.1.0"}"#;

impl Offer {
    pub(crate) fn new(fillers: usize, eras: Eras) -> Self {
        let mut tools = String::from(
            r#"[{"name":"echo","description":"Return the message unchanged","inputSchema":{"type":"object","properties":{"message":{"type":"string","description":"text to return"}},"required":["message"]}}"#,
        );
        for index in 0..fillers {
            // Writing to a String cannot fail.
            let _ = write!(
                tools,
                r#",{{"name":"tool_{index}","description":"Filler tool number {index}: looks up record {index} in the example ledger and returns its current status, owner and last update time.","inputSchema":{{"type":"object","properties":{{"record_id":{{"type":"string","description":"identifier of the record"}},"verbose":{{"type":"boolean","description":"include history"}}}},"required":["record_id"]}}}}"#
            );
        }
        tools.push(']');
        Self { tools, eras }
    }

    /// Answers one message that came in `era`.
    pub(crate) fn answer(&self, body: &[u8], era: Era) -> Reply {
        let Ok(message) = serde_json::from_slice::<Message<'_>>(body) else {
            return Reply::Message(error("null", -32700, "parse error"));
        };
        let (Some(id), Some(method)) = (message.id, message.method.as_deref()) else { return Reply::Nothing };
        let id = id.get();
        // The method decides where the header is missing: `initialize` is legacy, `server/discover` modern.
        let era = match method {
            "initialize" => Era::Legacy,
            "server/discover" => Era::Modern,
            _ => era,
        };
        if !self.eras.has(era) {
            return match era {
                Era::Legacy => Reply::WrongEra(unsupported_version(id)),
                Era::Modern => Reply::WrongEra(error(id, -32000, "unsupported protocol version")),
            };
        }
        let cached = match era {
            Era::Modern => r#""resultType":"complete","ttlMs":60000,"cacheScope":"public","#,
            Era::Legacy => "",
        };
        let complete = match era {
            Era::Modern => r#""resultType":"complete","#,
            Era::Legacy => "",
        };
        let ok = |result: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        Reply::Message(match method {
            "initialize" => {
                let version = agreed_version(message.params);
                return Reply::Initialized(ok(&format!(
                    r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}},"serverInfo":{SERVER_INFO}}}"#
                )));
            }
            "server/discover" => ok(&format!(
                r#"{{{cached}"supportedVersions":{},"capabilities":{{"tools":{{}}}},"_meta":{{"io.modelcontextprotocol/serverInfo":{SERVER_INFO}}}}}"#,
                self.versions()
            )),
            "ping" => ok("{}"),
            "tools/list" => ok(&format!(r#"{{{cached}"tools":{}}}"#, self.tools)),
            "resources/list" => ok(&format!(r#"{{{cached}"resources":[]}}"#)),
            "resources/templates/list" => ok(&format!(r#"{{{cached}"resourceTemplates":[]}}"#)),
            "prompts/list" => ok(&format!(r#"{{{cached}"prompts":[]}}"#)),
            "tools/call" => {
                let text = echoed_text(message.params).unwrap_or(r#""ok""#);
                ok(&format!(r#"{{{complete}"content":[{{"type":"text","text":{text}}}],"isError":false}}"#))
            }
            _ => return Reply::UnknownMethod(error(id, -32601, "method not found")),
        })
    }

    fn versions(&self) -> &'static str {
        match self.eras {
            Eras::Both => r#"["2026-07-28","2025-11-25","2025-06-18","2025-03-26"]"#,
            Eras::Modern | Eras::Legacy => r#"["2026-07-28"]"#,
        }
    }
}

/// On stdio there is no header; a modern request names its revision in its metadata.
pub(crate) fn era_of_line(line: &[u8]) -> Era {
    const MARK: &[u8] = b"protocolVersion\":\"2026-07-28";
    if line.windows(MARK.len()).any(|window| window == MARK) { Era::Modern } else { Era::Legacy }
}

fn agreed_version(params: Option<&RawValue>) -> String {
    let asked = params.and_then(|params| serde_json::from_str::<InitializeParams<'_>>(params.get()).ok()?.version);
    let known = ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY];
    asked.filter(|version| known.contains(&version.as_ref())).map_or_else(|| LEGACY.to_owned(), Cow::into_owned)
}

/// The raw JSON string in `arguments.message`, quotes and escapes included.
fn echoed_text(params: Option<&RawValue>) -> Option<&str> {
    let call: CallParams<'_> = serde_json::from_str(params?.get()).ok()?;
    let arguments: EchoArguments<'_> = serde_json::from_str(call.arguments?.get()).ok()?;
    arguments.message.map(RawValue::get).filter(|raw| raw.starts_with('"'))
}

fn error(id: &str, code: i32, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

fn unsupported_version(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32022,"message":"unsupported protocol version","data":{{"supported":["{MODERN}"],"requested":"{LEGACY}"}}}}}}"#
    )
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const CALL: &str =
        r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":{"message":"a\"b"}}}"#;

    fn parsed(reply: &Reply) -> Value {
        match reply {
            Reply::Nothing => Value::Null,
            Reply::Message(body) | Reply::Initialized(body) | Reply::WrongEra(body) | Reply::UnknownMethod(body) => {
                serde_json::from_str(body).expect("answers are JSON")
            }
        }
    }

    #[test]
    fn every_known_method_answers_json_in_both_eras() {
        let offer = Offer::new(2, Eras::Both);
        let methods =
            ["ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "server/discover"];
        for era in [Era::Legacy, Era::Modern] {
            for method in methods {
                let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}}}}"#);
                let value = parsed(&offer.answer(body.as_bytes(), era));
                assert!(value.get("result").is_some(), "{method} {era:?}: {value}");
            }
            let value = parsed(&offer.answer(CALL.as_bytes(), era));
            assert_eq!(value["id"], "x");
            assert_eq!(value["result"]["content"][0]["text"], "a\"b");
            assert_eq!(value["result"].get("resultType").is_some(), era == Era::Modern);
        }
        assert_eq!(
            parsed(&offer.answer(br#"{"id":1,"method":"tools/list"}"#, Era::Legacy))["result"]["tools"][2]["name"],
            "tool_1"
        );
    }

    #[test]
    fn a_server_of_one_era_refuses_the_other() {
        let initialize = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
        let discover = br#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}"#;
        let refused = |eras, body: &[u8]| matches!(Offer::new(0, eras).answer(body, Era::Legacy), Reply::WrongEra(_));
        assert!(refused(Eras::Legacy, discover) && !refused(Eras::Legacy, initialize));
        assert!(refused(Eras::Modern, initialize) && !refused(Eras::Modern, discover));
        let Reply::Initialized(body) = Offer::new(0, Eras::Legacy).answer(initialize, Era::Legacy) else {
            panic!("initialize is answered");
        };
        assert!(body.contains("2025-06-18"));
    }

    #[test]
    fn notifications_and_rubbish() {
        let offer = Offer::new(0, Eras::Both);
        assert_eq!(
            offer.answer(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, Era::Legacy),
            Reply::Nothing
        );
        assert_eq!(parsed(&offer.answer(b"{", Era::Legacy))["error"]["code"], -32700);
        let unknown = offer.answer(br#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, Era::Modern);
        assert!(matches!(unknown, Reply::UnknownMethod(_)));
    }
}
