//! How many tokens of tools a model is given, with and without the catalog: 300 servers, 2,800 tools, three tasks.
//!
//! A scripted agent lists its tools, finds one for each task, calls it, and lists again. Counted is everything about tools
//! that it was sent; beside it stands what one list of everything takes. Run it with
//! `cargo run --release -p switchboard-kernel --example context`; a debug build takes minutes.
#![expect(clippy::print_stdout, reason = "the figures are what this program has to say")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_catalog::count_tokens;
use switchboard_kernel::{
    GateOptions, Kernel, KernelOptions, Level, Restart, ServerSpec, Sharing, ToolContext, Upkeep,
};
use switchboard_peer::client::{EraChoice, Target};
use switchboard_peer::{
    BoxFuture, Call, CallError, Caller, Context, Handler, Identity, Method, Remote, Reply, SendError, Session,
};
use switchboard_protocol::Revision;
use switchboard_protocol::mgp::DefaultPolicy;
use switchboard_wire::{ErrorObject, Id, Notification, Raw, Request};
use tokio_util::sync::CancellationToken;

const SERVERS: usize = 300;
const TOOLS: usize = 2_800;

/// What a task needs, the tool for it, and what that tool says.
const TASKS: [(&str, &str, &str); 3] = [
    ("convert a time to another zone", "convert_time", "Convert a time from one time zone to another"),
    ("read what is in a file on disk", "read_file", "Read the contents of a file in an allowed folder"),
    ("send a letter by e-mail", "send_mail", "Send an e-mail with a subject and a body to one or more people"),
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let all = agent(Some(Level::All)).await?;
    let everything = all.list().await?;
    let listed = all.names().await?.len();
    if listed != TOOLS {
        return Err(format!("only {listed} tools came up in time").into());
    }
    let given = agent(None).await?;
    let mut found = given.list().await?;
    let shown = given.names().await?.len();
    println!("listing everything: {everything} tokens for {TOOLS} tools of {SERVERS} servers");
    println!("first list with the catalog: {found} tokens for {shown} tools");
    for (request, tool, _) in TASKS {
        let query = json!({"name": "mgp_tools_discover", "arguments": {"query": request, "max_results": 3}});
        let answer = given.ask("tools/call", query).await?;
        // The longer of the two forms that a client may show its model.
        let text = &answer["structuredContent"].to_string();
        found += count_tokens(text);
        let best = answer["structuredContent"]["tools"][0]["name"].as_str().unwrap_or_default();
        if !best.ends_with(tool) {
            return Err(format!("{request}: found {best} and not {tool}").into());
        }
        given.ask("tools/call", json!({"name": best, "arguments": {}})).await?;
        println!("\"{request}\": {} tokens, found and called {best}", count_tokens(text));
    }
    let again = given.list().await?;
    found += again;
    println!("last list: {again} tokens");
    println!("altogether: {found} tokens, {:.2} % of listing everything", 100.0 * found as f64 / everything as f64);
    if found * 100 > everything { Err("more than 1 %".into()) } else { Ok(()) }
}

/// A client of a kernel of its own.
struct Agent {
    kernel: Kernel,
    session: Arc<Session>,
}

async fn agent(level: Option<Level>) -> Result<Agent, Box<dyn Error>> {
    let gate = GateOptions { default_policy: Some(DefaultPolicy::OptOut), ..GateOptions::default() };
    let tools = ToolContext { level, ..ToolContext::default() };
    let kernel = Kernel::new(KernelOptions { gate, tools, ..KernelOptions::default() });
    kernel.apply((0..SERVERS).map(spec).collect());
    kernel.settled(Duration::from_secs(600)).await;
    let caller = Caller { revision: Revision::LATEST_LEGACY, info: None, capabilities: Raw::empty_object() };
    let identity = Identity::new("agent", Method::Token);
    let session = Session::new("one".into(), identity.into(), true, caller, Arc::new(Deaf));
    kernel.opened(&session);
    let agent = Agent { kernel, session };
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}});
    agent.ask("initialize", hello).await?;
    Ok(agent)
}

impl Agent {
    async fn ask(&self, method: &str, params: Value) -> Result<Value, Box<dyn Error>> {
        let context = Context {
            session: self.session.clone(),
            caller: self.session.caller(),
            remote: Arc::new(Deaf),
            cancel: CancellationToken::new(),
            headers: None,
            open_owners: None,
        };
        let request = Request::new(Id::number(1), method, Some(Raw::from_value(&params)?));
        let reply = self.kernel.request(context, request).await;
        Ok(reply.outcome.map_err(|error| error.message)?.view()?)
    }

    /// The tokens of the list.
    async fn list(&self) -> Result<usize, Box<dyn Error>> {
        Ok(count_tokens(&self.ask("tools/list", json!({})).await?["tools"].to_string()))
    }

    async fn names(&self) -> Result<Vec<Value>, Box<dyn Error>> {
        Ok(self.ask("tools/list", json!({})).await?["tools"].as_array().cloned().unwrap_or_default())
    }
}

fn spec(number: usize) -> ServerSpec {
    let id = format!("server{number}");
    let mut tools: Vec<Value> = (0..TOOLS).filter(|tool| tool % SERVERS == number).map(made_up).collect();
    // The ones that matter stand in for the first ones of three servers.
    if let (Some((_, name, description)), Some(tool)) = (TASKS.get(number), tools.first_mut()) {
        *tool = definition(name, description, &["input", "options"]);
    }
    ServerSpec {
        id: id.as_str().into(),
        target: Target::InProcess(Arc::new(Server { tools })),
        era: EraChoice::Auto,
        sharing: Sharing::Shared,
        start_timeout: Duration::from_secs(60),
        call_timeout: Duration::from_secs(60),
        restart: Restart::Never,
        upkeep: Upkeep::default(),
        fingerprint: id,
        isolation: None,
        policy: Arc::default(),
    }
}

/// A tool of the usual size that is about something else.
fn made_up(number: usize) -> Value {
    let verbs = ["bend", "carve", "drill", "etch", "fold", "glue", "sand", "paint"];
    let things = ["lamp", "chair", "table", "shelf", "frame", "bench", "door", "stool", "box", "chest", "desk"];
    let (verb, thing) = (verbs[number % verbs.len()], things[number / verbs.len() % things.len()]);
    let about = format!(
        "{verb} a {thing} of the kind {number} in the workshop, after the plan that was chosen before, and report what was \
         done and what is left to do. Use this when the material is ready and the machine is free."
    );
    definition(&format!("{verb}_{thing}_{number}"), &about, &["material", "plan", "machine", "speed", "depth"])
}

fn definition(name: &str, description: &str, parameters: &[&str]) -> Value {
    let property = |name: &&str| {
        let about = format!("The {name} to be used for this step, as a word or a short phrase");
        ((*name).to_owned(), json!({"type": "string", "description": about}))
    };
    let properties: serde_json::Map<String, Value> = parameters.iter().map(property).collect();
    json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": []},
        "annotations": {"readOnlyHint": true},
    })
}

/// A server that has tools and says that it ran them.
struct Server {
    tools: Vec<Value>,
}

impl Handler for Server {
    fn request(&self, _context: Context, request: Request) -> BoxFuture<'_, Reply> {
        let answer = match &*request.method {
            "initialize" => json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "made-up", "version": "1"},
            }),
            "tools/list" => json!({"tools": self.tools}),
            "tools/call" => json!({"content": [{"type": "text", "text": "done"}]}),
            _ => return Box::pin(std::future::ready(Err(ErrorObject::new(-32601, "Method not found")).into())),
        };
        let answer = Raw::from_value(&answer).map_err(|error| ErrorObject::new(-32603, error.to_string()));
        Box::pin(std::future::ready(answer.into()))
    }

    fn notification(&self, _context: Context, _notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// The client's end: nothing is asked of it, and it need not hear of changes.
struct Deaf;

impl Remote for Deaf {
    fn request(&self, _call: Call) -> BoxFuture<'_, Result<Reply, CallError>> {
        Box::pin(std::future::ready(Err(CallError::Cancelled)))
    }

    fn notify(&self, _notification: Notification) -> Result<(), SendError> {
        Ok(())
    }

    fn can_request(&self) -> bool {
        false
    }
}
