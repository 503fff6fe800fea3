//! `mgp/discovery/*` and `recommend_servers` as methods and as the kernel's tools. A method `mgp/discovery/list` and a
//! tool `mgp_discovery_list` are one implementation.
//!
//! Who calls is who was authenticated. What a client may not do is not listed to it.

use serde_json::{Value, json};
use switchboard_peer::Context;
use switchboard_protocol::fault::Fault;
use switchboard_protocol::mgp::{Extension, method};
use switchboard_protocol::proposals::{self, Proposal, RECOMMEND_SERVERS};

use super::Registrar;
use super::listing::Listing;
use super::recommend::Recommender;
use crate::house::{AccessRights, RegistryHouse, Setup};
use crate::not_admin;
use crate::row::{Answer, Form, Needs, OwnCall, OwnMethod, OwnTool, object, run, text, texts};

/// The kernel's tool that does what [`RECOMMEND_SERVERS`] does.
const RECOMMEND: &str = "mgp_discovery_recommend";

const ABOUT_RECOMMEND: &str = "Which server could do what no tool does: connected, asleep, or of a registry that the operator \
    named. Starts nothing.";

pub(crate) const ROWS: &[OwnMethod] = &[
    OwnMethod::method(
        method::DISCOVERY_LIST,
        "Which servers there are, how they are, and what they offer.",
        run!(house, call => Listing::of(house).list(call.context, &call.params()).await),
    )
    .tool(tool("mgp_discovery_list", list_schema)),
    OwnMethod::only_tool(
        tool(RECOMMEND, recommend_schema),
        ABOUT_RECOMMEND,
        run!(house, call => Recommender::of(house).recommend(call.context, &call.params()).await),
    ),
    OwnMethod::method(
        method::DISCOVERY_REGISTER,
        "Start one more server. A person has to agree to exactly this command first: when the answer is pending_approval, \
            send the same again once it was approved.",
        run!(house, call => register(house, call).await),
    )
    .tool(tool("mgp_discovery_register", register_schema).listed_when(registers)),
    OwnMethod::method(
        method::DISCOVERY_DEREGISTER,
        "Stop a server that you registered, or the one of a tool that you wrote.",
        run!(house, call => deregister(house, call).await),
    )
    .tool(tool("mgp_discovery_deregister", deregister_schema).listed_when(|house, context| {
        registers(house, context) || Registrar::of(house).creating(context).is_some()
    })),
    OwnMethod::method(
        RECOMMEND_SERVERS,
        ABOUT_RECOMMEND,
        run!(house, call => Recommender::of(house).recommend(call.context, &call.params()).await),
    )
    .tool(OwnTool::new(RECOMMEND_SERVERS, recommend_schema).listed_when(|_, context| {
        proposals::declared(&context.caller.capabilities).has(Proposal::ServerRecommendations)
    }))
    .gives_way(),
];

const fn tool(name: &'static str, schema: fn() -> Value) -> OwnTool {
    OwnTool::new(name, schema).needs(Needs::Mgp(Extension::Discovery))
}

/// Whether a client may register servers.
fn registers<H: AccessRights + Setup + ?Sized>(house: &H, context: &Context) -> bool {
    Registrar::of(house).registering(context).is_some()
}

async fn register<H: RegistryHouse + ?Sized>(house: &H, call: &OwnCall<'_>) -> Result<Answer, Fault> {
    let is_off = house.server_offers().register.is_none();
    match call.form {
        Form::Tool if is_off => Ok(Answer::Unknown),
        // To a client that may not, it is as if it were for operators only.
        Form::Tool if !registers(house, call.context) => Err(not_admin("register servers here", None)),
        _ if is_off => Err(switched_off(method::DISCOVERY_REGISTER)),
        _ => Registrar::of(house).register_server(call.context, &call.params()).await.map(Answer::from),
    }
}

async fn deregister<H: RegistryHouse + ?Sized>(house: &H, call: &OwnCall<'_>) -> Result<Answer, Fault> {
    let offers = house.server_offers();
    if offers.register.is_none() && offers.create.is_none() {
        return Err(switched_off(method::DISCOVERY_DEREGISTER));
    }
    Registrar::of(house).deregister_server(call.context, &call.params()).await.map(Answer::from)
}

fn switched_off(name: &str) -> Fault {
    Fault::no_such_method(name).suggest("the operator switches it on with `[discovery.register]` in the configuration")
}

fn list_schema() -> Value {
    let filter = json!({
        "type": "object",
        "properties": {
            "extensions": texts("MGP extensions that the server speaks, all of them"),
            "permissions": texts("Permissions that it needs, all of them"),
            "status": {"type": "string", "enum": ["connected", "disconnected", "all"]},
        },
    });
    object(&json!({"filter": filter}), &[])
}

fn register_schema() -> Value {
    let mgp = json!({
        "type": "object",
        "properties": {
            "permissions_required": texts("Permissions that it needs"),
            "trust_level": text("Can only lower what the operator says"),
        },
    });
    let properties = json!({
        "id": text("Its name: letters, digits, . _ -"),
        "command": text("The program"),
        "args": texts("Its arguments"),
        "transport": {"type": "string", "enum": ["stdio"]},
        "mgp": mgp,
        "justification": text("Why it is needed; the operator reads this"),
        "lifetime": {"type": "string", "enum": ["session", "persistent"], "description": "session if not said"},
    });
    object(&properties, &["id", "command"])
}

fn deregister_schema() -> Value {
    object(&json!({"id": text("The server"), "reason": text("Why")}), &["id"])
}

fn recommend_schema() -> Value {
    let properties = json!({
        "capability_needed": text("What the server must do, in a sentence"),
        "max_results": {"type": "integer", "minimum": 1, "maximum": 20},
        "registries": {"type": "boolean", "description": "false to look only among servers that are there"},
    });
    object(&properties, &["capability_needed"])
}
