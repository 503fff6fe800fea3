//! Tools that agents write (MGP 16.6, 7): judged, agreed to, put into a server of their own, retired with the session.
//!
//! Off by default. The code passes the framework of MGP 7 at the operator's level first; what it breaks comes back in the
//! form of MGP 7.4, so that the agent can do better. Then a person agrees to exactly this code, unless the operator wants
//! nobody asked. It runs in a process that is confined like all that is not trusted, and its calls take the same way
//! through the gate as every other. Reading code proves nothing about it: that is what the confinement is for.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use switchboard_audit::{self as audit, event, result};
use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::method;
use switchboard_store::Digest;
use switchboard_upstream::names;
use switchboard_validators::code::{self, Language, Level, MAX_BYTES, STRICT_IMPORTS};
use switchboard_wire::Raw;

use super::approval::Approvals;
use super::approval::{Agreed, ApprovalRequest, how_to_go_on};
use super::register::invalid;
use super::{Creating, Lifetime, Registrar, Run, ServerRegistration};
use crate::discovery::ToolFinder;
use crate::house::{AccessRights, RegistryHouse, Setup};
use crate::principal;

/// The programs around the code.
const PYTHON: &str = include_str!("harness.py");
const JAVASCRIPT: &str = include_str!("harness.js");
/// Bytes of a description and of a schema.
const LONGEST_DESCRIPTION: usize = 2_000;
const LONGEST_SCHEMA: usize = 16_000;
/// Characters of a name.
const LONGEST_NAME: usize = 40;
/// What the operator approves, as `switchboard approvals` shows it.
const TOOL: &str = "mgp_tools_request";

/// A tool that an agent wrote.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Written {
    name: String,
    description: String,
    #[serde(rename = "inputSchema", alias = "input_schema")]
    input_schema: Option<Map<String, Value>>,
    language: String,
    code: String,
}

impl<'a, H: AccessRights + Setup + ?Sized> Registrar<'a, H> {
    /// Whether somebody may write tools, and under which rules.
    pub(crate) fn creating(&self, context: &Context) -> Option<&'a Creating> {
        let offers = self.house.server_offers();
        let rules = offers.create.as_ref().filter(|_| offers.builder.is_some())?;
        self.may(context, &rules.principals).then_some(rules)
    }

    /// What an agent is told that may write the tool it lacks; `None` for one that may not.
    pub(crate) fn how_to_create(&self, context: &Context) -> Option<Value> {
        let rules = self.creating(context)?;
        let builder = self.house.server_offers().builder.as_ref()?;
        let languages = [(Language::Python, "python"), (Language::JavaScript, "javascript")];
        let here: Vec<&str> = languages
            .into_iter()
            .filter(|(language, _)| builder.runs(*language).is_ok())
            .map(|(_, name)| name)
            .collect();
        let mut safety = json!({"level": word_of(rules.level), "max_code_size_bytes": MAX_BYTES});
        if rules.level >= Level::Strict {
            safety["allowed_imports"] = json!({"python": STRICT_IMPORTS});
        }
        Some(json!({
            "instructions": "No tool does this. You may write one: send this request again with `create`. Define a function \
                `run` that takes one object, the arguments, and returns something that JSON can hold. It has no network, no \
                files and no other processes. If the code is refused, the answer says why: correct it and send it again.",
            "create": {
                "name": "lower_case_name", "description": "what it does, on which input",
                "inputSchema": {"type": "object", "properties": {}},
                "language": here, "code": "def run(arguments): ...",
            },
            "code_safety": safety,
        }))
    }
}

impl<H: RegistryHouse + ?Sized> Registrar<'_, H> {
    /// Takes a tool that an agent wrote.
    pub(crate) async fn create_tool(&self, context: &Context, written: Written) -> Result<Raw, Fault> {
        let answer = self.judge_and_create(context, written).await?;
        Raw::from_value(&answer).map_err(Fault::internal)
    }

    async fn judge_and_create(&self, context: &Context, written: Written) -> Result<Value, Fault> {
        let session = &context.session;
        let Some(rules) = self.creating(context) else {
            let fault = Fault::new(FaultKind::PermissionDenied, "you may not write tools here")
                .suggest("the operator allows it with `[discovery.create]` in the configuration");
            self.note_refused(context, method::TOOLS_REQUEST, None, &fault).await;
            return Err(fault);
        };
        let language = check(&written)?;
        let digest = Digest::of(written.code.as_bytes());
        let event = |event_type: &str, outcome: &str| {
            let event = audit::event_of(event_type, principal(session), outcome);
            let event = audit::with(event, "tool", written.name.as_str());
            let event = audit::with(event, "language", written.language.as_str());
            audit::with(audit::with(event, "code_sha256", digest.to_string()), "code_safety", word_of(rules.level))
        };
        if let Err(rejection) = code::review(language, rules.level, &written.code) {
            let why: Vec<&str> = rejection.violations.iter().map(|violation| violation.rule).collect();
            let refused = audit::with(event(event::CODE_REJECTED, result::BLOCKED), "rules", why.join(", "));
            self.house.audit().note(refused).await;
            let mut answer = rejection.to_json();
            answer["code_safety"] = json!({"level": word_of(rules.level)});
            return Ok(answer);
        }
        let builder = self.house.server_offers().builder.as_ref();
        if let Some(Err(why)) = builder.map(|builder| builder.runs(language)) {
            return Err(Fault::new(FaultKind::ResourceExhausted, why));
        }
        let made = |registration: &ServerRegistration| matches!(registration.run, Run::Code { .. });
        if self.registry.count(made) >= rules.most {
            let text = format!("{} tools were written and are in use, and no more may be", rules.most);
            return Err(Fault::new(FaultKind::ResourceExhausted, text)
                .suggest("deregister the server of one that is not needed with mgp/discovery/deregister"));
        }
        let tool = json!({
            "name": written.name,
            "description": written.description,
            "inputSchema": written.input_schema.clone().map_or_else(|| json!({"type": "object"}), Value::Object),
            "language": written.language,
            "code": written.code,
        });
        let exact = Raw::from_value(&tool).map_err(Fault::internal)?;
        let client = context.caller.info.as_ref().and_then(|info| info.member("name")?.as_text());
        let message = format!("Let `{}` run code of its own as the tool `{}`?", session.principal, written.name);
        let shown = json!({
            "tool": TOOL, "arguments": tool, "risk_level": "dangerous",
            "client": client, "message": message,
        });
        let approval = match Approvals::of(self.house)
            .agreed(context, ApprovalRequest { tool: TOOL, exact: &exact, shown, message })
            .await
        {
            Ok(Agreed::Yes(approval)) => approval,
            Ok(Agreed::Pending(id)) => {
                return Ok(json!({
                    "status": "pending_approval", "approval": id, "message": how_to_go_on(&id),
                    "tools_loaded": [], "tools_unavailable": [],
                }));
            }
            Err(fault) => {
                self.note_refused(context, method::TOOLS_REQUEST, None, &fault).await;
                return Err(fault);
            }
        };
        let token = switchboard_peer::random_token();
        let part: String = Digest::of(token.as_bytes()).to_string().chars().take(4).collect();
        let id = format!("dynamic.{}-{part}", written.name);
        let (language_name, harness) = match language {
            Language::Python => ("python", PYTHON),
            _ => ("javascript", JAVASCRIPT),
        };
        let registration = ServerRegistration {
            id: id.clone(),
            run: Run::Code {
                language: language_name.to_owned(),
                harness: harness.to_owned(),
                tool: exact.as_str().to_owned(),
            },
            principal: session.principal.as_ref().to_owned(),
            trust: rules.trust.as_str().to_owned(),
            permissions_required: Vec::new(),
            justification: None,
            lifetime: Lifetime::Session,
        };
        // On record before it runs. That it runs is on record once it does.
        let begun = audit::about(event(event::TOOL_CREATED_DYNAMIC, result::PENDING), &id, Some(&written.name));
        self.house.audit().record(begun).await?;
        if let Err(why) = self.start_registered(context, registration, approval, rules.most).await? {
            let failed = audit::about(event(event::TOOL_CREATED_DYNAMIC, result::FAILURE), &id, Some(&written.name));
            self.house.audit().note(audit::with(failed, "reason", why.as_str())).await;
            return Ok(json!({
                "status": "rejected", "reason": "The tool could not be started", "violations": [why], "hints": {},
            }));
        }
        let view = self.house.view();
        let exposed = view.shown_tools().find(|tool| tool.id == id).map(|tool| tool.exposed.to_owned());
        let made = exposed.as_deref().unwrap_or_default();
        let Some((tool, tokens, count)) = ToolFinder::of(self.house).load_made(context, made).await? else {
            let held =
                self.house.server(&id).and_then(|server| server.quarantine().values().next().map(ToString::to_string));
            self.retire(&id, audit::kernel(), "not_shown").await;
            let why = held.unwrap_or_else(|| "its definition was held back".to_owned());
            return Ok(json!({
                "status": "rejected", "reason": "The tool cannot be shown", "violations": [why], "hints": {},
            }));
        };
        let created = audit::about(event(event::TOOL_CREATED_DYNAMIC, result::SUCCESS), &id, Some(&written.name));
        self.house.audit().note(created).await;
        Ok(json!({
            "status": "fulfilled",
            "created": true,
            "server_id": id,
            "tools_loaded": [tool],
            "tools_unavailable": [],
            "session_tools_count": count,
            "context_tokens_added": tokens,
        }))
    }
}

/// Whether what an agent wrote has the form of a tool.
fn check(written: &Written) -> Result<Language, Fault> {
    let name = written.name.as_str();
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if names::check(name).is_err() || name.len() > LONGEST_NAME || !name.chars().all(good) {
        return Err(invalid(format!("`create.name` is 1 to {LONGEST_NAME} characters of a-z 0-9 _")));
    }
    if written.description.trim().is_empty() || written.description.len() > LONGEST_DESCRIPTION {
        return Err(invalid(format!("`create.description` is 1 to {LONGEST_DESCRIPTION} bytes")));
    }
    let schema = written.input_schema.as_ref().map(|schema| Value::Object(schema.clone()));
    if schema.as_ref().is_some_and(|schema| schema["type"] != "object" || schema.to_string().len() > LONGEST_SCHEMA) {
        let text = format!("`create.inputSchema` is a schema of type object, at most {LONGEST_SCHEMA} bytes");
        return Err(invalid(text));
    }
    match Language::from_name(&written.language) {
        Some(language @ (Language::Python | Language::JavaScript)) => Ok(language),
        _ => Err(invalid("`create.language` is neither python nor javascript".to_owned())),
    }
}

const fn word_of(level: Level) -> &'static str {
    match level {
        Level::Unrestricted => "unrestricted",
        Level::Standard => "standard",
        Level::Strict => "strict",
        Level::Readonly => "readonly",
    }
}
