//! `mgp/discovery/*` and `recommend_servers` as methods and as the kernel's tools. A method `mgp/discovery/list` and a
//! tool `mgp_discovery_list` are one implementation.
//!
//! Who calls is who was authenticated. What a client may not do is not listed to it.

use serde_json::{Value, json};
use switchboard_peer::Context;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mgp::{Extension, method};
use switchboard_protocol::proposals::{self, Proposal, RECOMMEND_SERVERS};
use switchboard_wire::Raw;

use crate::initialize;
use crate::kernel::Kernel;

/// The kernel's tool that does what [`RECOMMEND_SERVERS`] does.
const RECOMMEND: &str = "mgp_discovery_recommend";

const METHODS: [&str; 3] = [method::DISCOVERY_LIST, method::DISCOVERY_REGISTER, method::DISCOVERY_DEREGISTER];

/// Whether a method is one of these.
pub(crate) fn is_method(name: &str) -> bool {
    METHODS.contains(&name)
}

impl Kernel {
    /// Answers one of the methods.
    pub(crate) async fn registry_request(&self, context: &Context, name: &str, params: &Raw) -> Result<Raw, Fault> {
        let offers = &self.options().servers;
        let off = match name {
            method::DISCOVERY_REGISTER => offers.register.is_none(),
            method::DISCOVERY_DEREGISTER => offers.register.is_none() && offers.create.is_none(),
            _ => false,
        };
        if off {
            return Err(Fault::new(FaultKind::MethodNotFound, format!("Method not found: {name}"))
                .suggest("the operator switches it on with `[discovery.register]` in the configuration"));
        }
        let answer = match name {
            method::DISCOVERY_LIST => self.list_offered(context, params).await?,
            method::DISCOVERY_REGISTER => self.register_server(context, params).await?,
            _ => self.deregister_server(context, params).await?,
        };
        Raw::from_value(&answer).map_err(Fault::internal)
    }

    /// Answers a call of one of the tools; `None` for another tool, or for a client that asked for none of them.
    pub(crate) async fn registry_tool(
        &self,
        context: &Context,
        name: &str,
        arguments: Option<&Raw>,
    ) -> Option<Result<Raw, Fault>> {
        let nothing = Raw::empty_object();
        let arguments = arguments.unwrap_or(&nothing);
        let known = METHODS.into_iter().find(|known| method::tool_of(known).as_deref() == Some(name));
        if !agreed_on_discovery(context) {
            return None;
        }
        match known {
            Some(method::DISCOVERY_REGISTER) if self.options().servers.register.is_none() => None,
            // To a client that may not, it is as if it were for operators only.
            Some(method::DISCOVERY_REGISTER) if self.registering(context).is_none() => {
                Some(Err(Fault::new(FaultKind::PermissionDenied, "you may not register servers here")))
            }
            Some(method) => Some(self.registry_request(context, method, arguments).await),
            None if name == RECOMMEND => Some(self.recommend_servers(context, arguments).await),
            None => None,
        }
    }

    /// The kernel's tools about servers, for a client that asked for them.
    pub(crate) fn registry_tools(&self, context: &Context) -> Vec<Raw> {
        let mut tools = Vec::new();
        if agreed_on_discovery(context) {
            tools.push(list_tool());
            tools.push(recommend_tool(RECOMMEND));
            let (registers, creates) = (self.registering(context), self.creating(context));
            tools.extend(registers.map(|_| register_tool()));
            tools.extend((registers.is_some() || creates.is_some()).then(deregister_tool));
        }
        if proposals::declared(&context.caller.capabilities).has(Proposal::ServerRecommendations) {
            tools.push(recommend_tool(RECOMMEND_SERVERS));
        }
        tools.iter().filter_map(|tool| Raw::from_value(tool).ok()).collect()
    }
}

fn agreed_on_discovery(context: &Context) -> bool {
    initialize::agreed_with(&context.caller.capabilities).is_some_and(|agreed| agreed.has(Extension::Discovery))
}

fn tool(name: &str, description: &str, properties: &Value, required: &[&str]) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
        "_mgp": {"source": "kernel", "admin_only": false},
    })
}

fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

fn words(about: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": about})
}

fn list_tool() -> Value {
    let filter = json!({
        "type": "object",
        "properties": {
            "extensions": words("MGP extensions that the server speaks, all of them"),
            "permissions": words("Permissions that it needs, all of them"),
            "status": {"type": "string", "enum": ["connected", "disconnected", "all"]},
        },
    });
    tool(
        "mgp_discovery_list",
        "Which servers there are, how they are, and what they offer.",
        &json!({"filter": filter}),
        &[],
    )
}

fn register_tool() -> Value {
    let mgp = json!({
        "type": "object",
        "properties": {
            "permissions_required": words("Permissions that it needs"),
            "trust_level": text("Can only lower what the operator says"),
        },
    });
    let properties = json!({
        "id": text("Its name: letters, digits, . _ -"),
        "command": text("The program"),
        "args": words("Its arguments"),
        "transport": {"type": "string", "enum": ["stdio"]},
        "mgp": mgp,
        "justification": text("Why it is needed; the operator reads this"),
        "lifetime": {"type": "string", "enum": ["session", "persistent"], "description": "session if not said"},
    });
    let about = "Start one more server. A person has to agree to exactly this command first: when the answer is \
        pending_approval, send the same again once it was approved.";
    tool("mgp_discovery_register", about, &properties, &["id", "command"])
}

fn deregister_tool() -> Value {
    let properties = json!({"id": text("The server"), "reason": text("Why")});
    tool(
        "mgp_discovery_deregister",
        "Stop a server that you registered, or the one of a tool that you wrote.",
        &properties,
        &["id"],
    )
}

fn recommend_tool(name: &str) -> Value {
    let properties = json!({
        "capability_needed": text("What the server must do, in a sentence"),
        "max_results": {"type": "integer", "minimum": 1, "maximum": 20},
        "registries": {"type": "boolean", "description": "false to look only among servers that are there"},
    });
    let about = "Which server could do what no tool does: connected, asleep, or of a registry that the operator \
        named. Starts nothing.";
    tool(name, about, &properties, &["capability_needed"])
}
