//! Servers that come and go while the kernel runs: registered, written by agents, recommended.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_kernel::{
    Builder, Creating, GateOptions, Kernel, KernelOptions, KnownServer, OperatorActions, Registering, Run,
    ServerOffers, ServerPolicy, ServerRegistration, ServerSource, ServerSpec, ToolContext,
};
use switchboard_peer::client::Target;
use switchboard_peer::{BoxFuture, Handler as _, Identity, Method};
use switchboard_protocol::Era;
use switchboard_protocol::mgp::{ApprovalPolicy, TrustLevel};
use switchboard_store::{AuditEvent, Reuse, Verdict};
use switchboard_transport::child::CommandSpec;
use switchboard_validators::code::{Language, Level};

use super::world::{Client, ERAS, Script, events, open, ran, spec, tool_with, until};

/// Starts a script for the command `script`, a program for code, and nothing else.
#[derive(Debug, Default)]
struct Workshop {
    kept: Mutex<Vec<ServerRegistration>>,
}

impl Builder for Workshop {
    fn build(&self, registration: &ServerRegistration) -> Result<ServerSpec, String> {
        let policy = ServerPolicy::default();
        match &registration.run {
            Run::Command(words) if words[0] == "script" => {
                let tools = vec![tool_with(&words[1], &json!({"description": "Water the plants in the garden"}))];
                Ok(spec(&registration.id, Script::new(Era::Legacy, tools), policy))
            }
            Run::Command(words) => Err(format!("there is no program `{}`", words[0])),
            Run::Code { language, harness, tool } => {
                let (program, flags) = if language == "python" {
                    ("/usr/bin/python3", vec!["-I", "-B", "-c"])
                } else {
                    ("node", vec!["-e"])
                };
                let args = flags.into_iter().chain([harness.as_str()]).map(str::to_owned).collect();
                let env = vec![(Run::TOOL.to_owned(), tool.clone())];
                let command = CommandSpec {
                    program: program.to_owned(),
                    args,
                    env,
                    pass_env: Vec::new(),
                    ..CommandSpec::default()
                };
                Ok(ServerSpec {
                    target: Target::Command(command),
                    ..spec(&registration.id, Script::new(Era::Legacy, vec![]), policy)
                })
            }
        }
    }

    fn runs(&self, language: Language) -> Result<(), String> {
        if language == Language::Python { Ok(()) } else { Err("there is no `node` here".to_owned()) }
    }

    fn keep(&self, registration: &ServerRegistration) {
        self.kept.lock().push(registration.clone());
    }

    fn retired(&self, registration: &ServerRegistration) {
        self.kept.lock().retain(|kept| kept.id != registration.id);
    }
}

#[derive(Debug)]
struct Shop;

impl ServerSource for Shop {
    fn address(&self) -> &str {
        "https://registry.example"
    }

    fn servers(&self) -> BoxFuture<'_, Result<Arc<Vec<KnownServer>>, String>> {
        let server = |name: &str, description: &str| KnownServer {
            name: name.to_owned(),
            description: description.to_owned(),
            address: format!("https://registry.example/v0/servers/{name}"),
            auth_flow: None,
        };
        let servers = vec![
            server("example/figures", "Draw charts and diagrams from tables of numbers"),
            server("example/ledger", "Book invoices and payments in a general ledger"),
            server("example/forecast", "The weather forecast for a city"),
        ];
        Box::pin(std::future::ready(Ok(Arc::new(servers))))
    }
}

#[derive(Debug)]
struct Closed;

impl ServerSource for Closed {
    fn address(&self) -> &str {
        "https://closed.example"
    }

    fn servers(&self) -> BoxFuture<'_, Result<Arc<Vec<KnownServer>>, String>> {
        Box::pin(std::future::ready(Err("it is closed".to_owned())))
    }
}

struct Place {
    kernel: Kernel,
    workshop: Arc<Workshop>,
    directory: tempfile::TempDir,
}

fn registering() -> Registering {
    Registering {
        principals: vec!["bot".to_owned()],
        trust: TrustLevel::Experimental,
        programs: vec!["script".to_owned(), "no-such-program".to_owned()],
        approved: vec![vec!["script".to_owned(), "ready_made".to_owned()]],
        most: 2,
    }
}

fn creating() -> Creating {
    Creating {
        principals: vec!["bot".to_owned()],
        trust: TrustLevel::Standard,
        level: Level::Strict,
        most: 2,
        idle: Duration::from_millis(200),
    }
}

impl Place {
    async fn new(change: impl FnOnce(&mut ServerOffers, &mut GateOptions)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut gate = GateOptions { store: Some(open(directory.path()).await), ..GateOptions::default() };
        let workshop = Arc::new(Workshop::default());
        let mut servers = ServerOffers {
            register: Some(registering()),
            create: Some(creating()),
            builder: Some(workshop.clone()),
            sources: Vec::new(),
        };
        change(&mut servers, &mut gate);
        let tools = ToolContext { level: Some(switchboard_kernel::Level::Hybrid), ..ToolContext::default() };
        let kernel = Kernel::new(KernelOptions { gate, servers, tools, ..KernelOptions::default() });
        let clock = Script::new(
            Era::Legacy,
            vec![tool_with("convert_time", &json!({"description": "Convert a time from one time zone to another"}))],
        );
        let policy = ServerPolicy {
            default_policy: Some(switchboard_protocol::mgp::DefaultPolicy::OptOut),
            description: Some("Clocks, calendars and time zones".to_owned()),
            ..ServerPolicy::default()
        };
        kernel.apply(vec![spec("clock", clock, policy)]);
        kernel.settled(Duration::from_secs(5)).await;
        Self { kernel, workshop, directory }
    }

    async fn client(&self, era: Era, principal: &str) -> Client {
        let mgp = json!({"mgp": {"version": "0.6.0", "extensions": ["discovery", "tool_discovery"]}});
        Client::new(&self.kernel, Identity::new(principal, Method::Token).into(), era, mgp).await
    }

    async fn answer(&self, verdict: Verdict) {
        let store = open(self.directory.path()).await;
        let pending = store.approvals().pending(jiff::Timestamp::now(), 10).await.unwrap();
        let ids: Vec<String> = pending.iter().map(|pending| pending.held.id.clone()).collect();
        assert_eq!(ids.len(), 1, "one question");
        let until = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(5);
        OperatorActions::of_operator(store, "olga").answer(&ids, verdict, Some("why".to_owned()), until).await.unwrap();
    }

    async fn log(&self) -> Vec<AuditEvent> {
        events(&open(self.directory.path()).await).await
    }

    fn servers(&self) -> Vec<String> {
        self.kernel.status().iter().map(|status| status.id.to_string()).collect()
    }
}

fn wish(id: &str, tool: &str) -> Value {
    json!({
        "id": id, "command": "script", "args": [tool], "transport": "stdio",
        "mgp": {"trust_level": "trusted"}, "created_by": "somebody.else", "justification": "the garden is dry",
    })
}

async fn ask(client: &Client, method: &str, params: Value) -> Value {
    client.request(method, params).await.unwrap_or_else(|error| panic!("{method}: {error:?}"))
}

#[tokio::test]
async fn a_registered_server_is_started_once_a_person_agreed_and_gone_when_it_is_deregistered() {
    for era in ERAS {
        let place = Place::new(|_, _| {}).await;
        let bot = place.client(era, "bot").await;
        let answer = ask(&bot, "mgp/discovery/register", wish("garden", "water")).await;
        assert_eq!(answer["status"], "pending_approval", "{answer}");
        assert_eq!(place.servers(), ["clock"], "nothing runs before a person agreed");
        let again = ask(&bot, "mgp/discovery/register", wish("garden", "water")).await;
        assert_eq!(again["approval"], answer["approval"], "one question, however often it is asked");

        place.answer(Verdict::Approve(Reuse::Once)).await;
        let other = ask(&bot, "mgp/discovery/register", wish("garden", "flood")).await;
        assert_eq!(other["status"], "pending_approval", "another command needs another yes");
        let answer = ask(&bot, "mgp/discovery/register", wish("garden", "water")).await;
        assert_eq!(
            (&answer["status"], &answer["trust_level"]),
            (&json!("connected"), &json!("experimental")),
            "{answer}"
        );

        let found = bot.call("mgp_tools_discover", json!({"query": "water the plants"})).await.unwrap();
        let name = found["structuredContent"]["tools"][0]["name"].as_str().unwrap().to_owned();
        assert_eq!(name, "garden__water");
        let list = ask(&bot, "mgp/discovery/list", json!({})).await;
        let garden = &list["servers"][1];
        assert_eq!((&garden["id"], &garden["origin"]), (&json!("garden"), &json!("registered")), "{list}");
        assert_eq!((&garden["tools"], &garden["status"]), (&json!(["water"]), &json!("connected")));

        let told = bot.call("mgp_discovery_list", json!({})).await.unwrap();
        assert_eq!(told["structuredContent"]["servers"], list["servers"], "the tool says what the method says");

        let ann = place.client(era, "ann").await;
        let seen = ask(&ann, "mgp/discovery/list", json!({"filter": {"status": "all"}})).await;
        assert_eq!(seen["servers"].as_array().unwrap().len(), 1, "it is the bot's alone");
        assert!(ann.request("mgp/discovery/deregister", json!({"id": "garden"})).await.is_err());
        let taken = bot.request("mgp/discovery/register", wish("garden", "water")).await.unwrap_err();
        assert_eq!(taken.code, 4101, "{taken:?}");
        let configured = bot.request("mgp/discovery/deregister", json!({"id": "clock"})).await.unwrap_err();
        assert_eq!(configured.code, 4102, "{configured:?}");

        let gone = ask(&bot, "mgp/discovery/deregister", json!({"id": "garden", "reason": "no_longer_needed"})).await;
        assert_eq!(gone["status"], "deregistered");
        assert_eq!(place.servers(), ["clock"]);
        assert!(bot.call(&name, json!({})).await.is_err(), "its tool is gone with it");
        place.kernel.shut_down(Duration::from_secs(2)).await;
        let log = place.log().await;
        let registered = log.iter().find(|event| event.event_type == "dev.switchboard.server_registered").unwrap();
        assert_eq!(registered.actor.id, "bot");
        assert_eq!(registered.details["command"], json!(["script", "water"]));
        assert!(log.iter().any(|event| event.event_type == "dev.switchboard.server_deregistered"));
    }
}

#[tokio::test]
async fn who_may_not_register_is_refused_and_that_is_on_record() {
    let place = Place::new(|_, _| {}).await;
    let ann = place.client(Era::Legacy, "ann").await;
    let refused = ann.request("mgp/discovery/register", wish("garden", "ready_made")).await.unwrap_err();
    assert_eq!(refused.code, 1000, "{refused:?}");
    assert!(!ann.list("tools").await.contains(&"mgp_discovery_register".to_owned()));
    assert!(place.client(Era::Legacy, "bot").await.list("tools").await.contains(&"mgp_discovery_register".to_owned()));

    let bot = place.client(Era::Legacy, "bot").await;
    let other = json!({"id": "garden", "command": "sh", "args": ["-c", "id"]});
    let refused = bot.request("mgp/discovery/register", other).await.unwrap_err();
    assert!(refused.code == 1000 && refused.message.contains("`sh`"), "{refused:?}");
    let (_, scopes) = switchboard_peer::Scopes::parse(["server:clock"]).unwrap();
    let identity = Identity { scopes, ..Identity::new("bot", Method::Token) };
    let narrow = Client::new(&place.kernel, identity.into(), Era::Legacy, json!({})).await;
    let refused = narrow.request("mgp/discovery/register", wish("garden", "ready_made")).await.unwrap_err();
    assert!(refused.message.contains("may not"), "a token for one server starts no others: {refused:?}");
    place.kernel.shut_down(Duration::from_secs(2)).await;
    let log = place.log().await;
    let refusals = log.iter().filter(|event| event.event_type == "dev.switchboard.registration_refused");
    assert_eq!(refusals.count(), 3);

    let off = Place::new(|servers, _| servers.register = None).await;
    let bot = off.client(Era::Legacy, "bot").await;
    assert_eq!(bot.request("mgp/discovery/register", wish("garden", "ready_made")).await.unwrap_err().code, -32601);
    assert_eq!(off.servers(), ["clock"]);
}

#[tokio::test]
async fn a_no_is_a_no_and_what_the_configuration_names_needs_nobody() {
    let place = Place::new(|_, _| {}).await;
    let bot = place.client(Era::Legacy, "bot").await;
    ask(&bot, "mgp/discovery/register", wish("garden", "water")).await;
    place.answer(Verdict::Deny).await;
    let denied = bot.request("mgp/discovery/register", wish("garden", "water")).await.unwrap_err();
    assert!(denied.message.contains("said no") && denied.message.contains("why"), "{denied:?}");

    let answer = ask(&bot, "mgp/discovery/register", wish("one", "ready_made")).await;
    assert_eq!(answer["status"], "connected", "{answer}");
    ask(&bot, "mgp/discovery/register", wish("two", "ready_made")).await;
    let full = bot.request("mgp/discovery/register", wish("three", "ready_made")).await.unwrap_err();
    assert!(full.message.contains("no more"), "{full:?}");

    let strict = Place::new(|_, gate| gate.approval_policy = ApprovalPolicy::ConfigOnly).await;
    let bot = strict.client(Era::Legacy, "bot").await;
    assert!(bot.request("mgp/discovery/register", wish("garden", "water")).await.is_err());
    assert_eq!(ask(&bot, "mgp/discovery/register", wish("one", "ready_made")).await["status"], "connected");
}

#[tokio::test]
async fn malformed_registrations_and_servers_that_do_not_start_leave_nothing_behind() {
    let place = Place::new(|_, gate| gate.approval_policy = ApprovalPolicy::AutoApprove).await;
    let bot = place.client(Era::Legacy, "bot").await;
    for wrong in [
        json!({"command": "script"}),
        json!({"id": "a"}),
        json!({"id": "a b", "command": "script"}),
        json!({"id": "mgp.tools", "command": "script"}),
        json!({"id": "Switchboard", "command": "script"}),
        json!({"id": "-a", "command": "script"}),
        json!({"id": "a", "command": "script", "transport": "http"}),
        json!({"id": "a", "command": "script", "args": [1]}),
        json!({"id": "a", "command": "script\u{0}"}),
        json!({"id": "a", "command": "script", "args": vec!["x"; 100]}),
    ] {
        assert!(bot.request("mgp/discovery/register", wrong.clone()).await.is_err(), "{wrong}");
    }
    let lookalike = bot.request("mgp/discovery/register", wish("CLOCK", "water")).await.unwrap_err();
    assert_eq!(lookalike.code, 4101);
    let failed = ask(&bot, "mgp/discovery/register", json!({"id": "a", "command": "no-such-program"})).await;
    assert_eq!(failed["status"], "error", "{failed}");
    assert_eq!(place.servers(), ["clock"]);
}

#[tokio::test]
async fn what_is_for_a_session_ends_with_it_and_what_is_to_stay_is_kept() {
    let place = Place::new(|_, gate| gate.approval_policy = ApprovalPolicy::AutoApprove).await;
    let bot = place.client(Era::Legacy, "bot").await;
    ask(&bot, "mgp/discovery/register", wish("brief", "water")).await;
    let mut lasting = wish("lasting", "weed");
    lasting["lifetime"] = json!("persistent");
    ask(&bot, "mgp/discovery/register", lasting).await;
    // A changed configuration leaves both alone.
    place.kernel.apply(Vec::new());
    assert_eq!(place.servers(), ["brief", "lasting"]);
    place.kernel.closed(&bot.session);
    until("the end of the session", || place.servers() == ["lasting"]).await;
    let kept = place.workshop.kept.lock().clone();
    assert_eq!(kept.iter().map(|kept| kept.id.as_str()).collect::<Vec<_>>(), ["lasting"]);

    let later = Place::new(|_, _| {}).await;
    later.kernel.restore(kept);
    later.kernel.settled(Duration::from_secs(5)).await;
    assert_eq!(later.servers(), ["clock", "lasting"]);
    let bot = later.client(Era::Modern, "bot").await;
    assert_eq!(ask(&bot, "mgp/discovery/list", json!({})).await["servers"][1]["trust_level"], "experimental");
}

#[tokio::test]
async fn a_name_under_which_something_was_granted_is_not_given_to_another_server() {
    let place = Place::new(|_, gate| gate.approval_policy = ApprovalPolicy::AutoApprove).await;
    let bot = place.client(Era::Legacy, "bot").await;
    let operator_actions = OperatorActions::of_operator(open(place.directory.path()).await, "olga");
    let approved = switchboard_store::PermissionDecision::Approved;
    operator_actions.decide_permission("old", "network.outbound", approved, None, None, None).await.unwrap();
    operator_actions.grant_access(super::world::entry("ann", "older", None, true)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(220)).await;
    for id in ["old", "older"] {
        let refused = bot.request("mgp/discovery/register", wish(id, "water")).await.unwrap_err();
        assert!(refused.code == 4101 && refused.message.contains("granted"), "{refused:?}");
    }
    // What is granted to a registered server goes with it.
    ask(&bot, "mgp/discovery/register", wish("garden", "water")).await;
    operator_actions.grant_access(super::world::entry("ann", "garden", None, true)).await.unwrap();
    operator_actions.decide_permission("garden", "network.outbound", approved, None, None, None).await.unwrap();
    tokio::time::sleep(Duration::from_millis(220)).await;
    let ann = place.client(Era::Legacy, "ann").await;
    assert_eq!(ask(&ann, "mgp/discovery/list", json!({})).await["servers"].as_array().unwrap().len(), 2);
    ask(&bot, "mgp/discovery/deregister", json!({"id": "garden"})).await;
    tokio::time::sleep(Duration::from_millis(220)).await;
    assert_eq!(ask(&bot, "mgp/discovery/register", wish("garden", "weed")).await["status"], "connected");
    assert_eq!(ask(&ann, "mgp/discovery/list", json!({})).await["servers"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_client_that_goes_while_its_server_starts_leaves_nothing_behind() {
    for era in ERAS {
        let place = Place::new(|_, gate| gate.approval_policy = ApprovalPolicy::AutoApprove).await;
        let bot = place.client(era, "bot").await;
        {
            let params = written("median", MEDIAN);
            let request = bot.request("mgp/tools/request", params);
            tokio::pin!(request);
            // It is dropped as soon as the server is on its way.
            loop {
                tokio::select! {
                    biased;
                    _ = &mut request => panic!("too fast to be left"),
                    () = tokio::time::sleep(Duration::from_millis(1)) => {}
                }
                if place.servers().len() > 1 {
                    break;
                }
            }
        }
        place.kernel.closed(&bot.session);
        until("the end of the server", || place.servers() == ["clock"]).await;
    }
}

fn written(name: &str, code: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"numbers": {"type": "array"}}, "required": ["numbers"]});
    json!({"create": {
        "name": name, "description": "The median of some numbers", "inputSchema": schema,
        "language": "python", "code": code,
    }})
}

const MEDIAN: &str =
    "def run(arguments):\n    values = sorted(arguments['numbers'])\n    return {'median': values[len(values) // 2]}\n";

#[tokio::test]
async fn an_agent_writes_the_tool_it_lacks_and_it_is_gone_with_the_session() {
    let place = Place::new(|_, gate| gate.approval_policy = ApprovalPolicy::AutoApprove).await;
    let bot = place.client(Era::Legacy, "bot").await;
    let lacking = json!({"reason": "capability_gap", "requirements": {"capabilities": ["median of numbers"]}});
    let answer = ask(&bot, "mgp/tools/request", lacking.clone()).await;
    assert_eq!(answer["status"], "creating", "{answer}");
    assert_eq!(answer["creation"]["create"]["language"], json!(["python"]));

    let refused =
        ask(&bot, "mgp/tools/request", written("median", "import subprocess\ndef run(a):\n    return eval('1')\n"))
            .await;
    assert_eq!(refused["status"], "rejected", "{refused}");
    assert!(refused["violations"][0].as_str().unwrap().contains("subprocess"), "{refused}");
    assert_eq!(refused["hints"]["max_code_size_bytes"], 10_000);
    let broken = ask(&bot, "mgp/tools/request", written("median", "def walk(a):\n    return 1\n")).await;
    assert_eq!(broken["status"], "rejected", "{broken}");
    assert!(broken["violations"][0].as_str().unwrap().contains("no function `run`"), "{broken}");
    assert_eq!(place.servers(), ["clock"]);

    let made = ask(&bot, "mgp/tools/request", written("median", MEDIAN)).await;
    assert_eq!((&made["status"], &made["created"]), (&json!("fulfilled"), &json!(true)), "{made}");
    let name = made["tools_loaded"][0]["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("dynamic_median-") && name.ends_with("__median"), "{name}");
    assert!(bot.list("tools").await.contains(&name), "it is in the session");
    for (tool, arguments) in [
        (name.as_str(), json!({"numbers": [3, 1, 2]})),
        ("mgp_tools_call", json!({"name": name, "arguments": {"numbers": [3, 1, 2]}})),
    ] {
        let answer = bot.call(tool, arguments).await;
        assert!(ran(&answer), "{answer:?}");
        assert_eq!(answer.unwrap()["structuredContent"], json!({"median": 2}));
    }
    let failed = bot.call(&name, json!({"numbers": ["a", 1]})).await.unwrap();
    assert!(failed["isError"] == true && failed["content"][0]["text"].as_str().unwrap().contains("TypeError"));
    // It is found like any other tool, and by nobody else.
    assert_eq!(ask(&bot, "mgp/tools/request", lacking).await["status"], "fulfilled");
    let ann = place.client(Era::Legacy, "ann").await;
    assert!(ann.call(&name, json!({"numbers": [1]})).await.is_err());
    assert!(ann.request("mgp/tools/request", written("median", MEDIAN)).await.is_err(), "ann may not");

    place.kernel.closed(&bot.session);
    until("the end of the session", || place.servers() == ["clock"]).await;
    place.kernel.shut_down(Duration::from_secs(2)).await;
    let log = place.log().await;
    for expected in ["CODE_REJECTED", "TOOL_CREATED_DYNAMIC", "dev.switchboard.server_deregistered"] {
        assert!(log.iter().any(|event| event.event_type == expected), "{expected}");
    }
}

#[tokio::test]
async fn a_person_sees_the_code_before_it_runs_and_who_has_no_session_keeps_it_while_it_is_used() {
    let place = Place::new(|_, _| {}).await;
    let bot = place.client(Era::Modern, "bot").await;
    let answer = ask(&bot, "mgp/tools/request", written("median", MEDIAN)).await;
    assert_eq!(answer["status"], "pending_approval", "{answer}");
    let store = open(place.directory.path()).await;
    let pending = store.approvals().pending(jiff::Timestamp::now(), 10).await.unwrap();
    assert!(pending[0].held.shown.as_ref().unwrap().get().contains("sorted(arguments"), "the code is shown");
    place.answer(Verdict::Approve(Reuse::Once)).await;
    let other = MEDIAN.replace("sorted", "list");
    assert_eq!(ask(&bot, "mgp/tools/request", written("median", &other)).await["status"], "pending_approval");
    let made = ask(&bot, "mgp/tools/request", written("median", MEDIAN)).await;
    assert_eq!(made["status"], "fulfilled", "{made}");
    until("nobody uses it", || place.servers() == ["clock"]).await;
}

#[tokio::test]
async fn a_language_that_is_not_here_and_forms_that_are_wrong_are_named() {
    let place = Place::new(|_, gate| gate.approval_policy = ApprovalPolicy::AutoApprove).await;
    let bot = place.client(Era::Legacy, "bot").await;
    let change = |key: &str, value: Value| {
        let mut tool = written("median", MEDIAN);
        tool["create"][key] = value;
        tool
    };
    let mut script = change("language", json!("javascript"));
    script["create"]["code"] = json!("function run(a) { return a; }");
    for (wrong, part) in [
        (script, "node"),
        (change("language", json!("shell")), "language"),
        (change("name", json!("Median!")), "name"),
        (change("name", json!("mgp.median")), "name"),
        (change("description", json!(" ")), "description"),
        (change("inputSchema", json!({"type": "string"})), "inputSchema"),
    ] {
        let error = bot.request("mgp/tools/request", wrong).await.unwrap_err();
        assert!(error.message.contains(part), "{part}: {error:?}");
    }
    let off = Place::new(|servers, _| servers.create = None).await;
    let bot = off.client(Era::Legacy, "bot").await;
    let lacking = json!({"requirements": {"capabilities": ["median of numbers"]}});
    assert_eq!(ask(&bot, "mgp/tools/request", lacking).await["status"], "unavailable");
    assert_eq!(bot.request("mgp/tools/request", written("median", MEDIAN)).await.unwrap_err().code, 1000);
}

#[tokio::test]
async fn servers_are_recommended_with_how_sure_that_is_and_nothing_is_given_away() {
    let place = Place::new(|servers, _| servers.sources = vec![Arc::new(Shop), Arc::new(Closed)]).await;
    let ann = place.client(Era::Legacy, "ann").await;
    let best = |answer: &Value| {
        let best = &answer["recommendations"][0];
        (
            best["server_name"].as_str().unwrap_or_default().to_owned(),
            best["match_confidence"].as_str().unwrap_or_default().to_owned(),
        )
    };
    for (needed, server) in [
        ("convert a time from one time zone to another", "clock"),
        ("draw a chart from a table of numbers", "example/figures"),
        ("weather forecast for a city", "example/forecast"),
    ] {
        let answer = ask(&ann, "recommend_servers", json!({"capability_needed": needed})).await;
        let (name, sure) = best(&answer);
        assert_eq!((name.as_str(), sure.as_str()), (server, "high"), "{answer}");
        assert_eq!(answer["privacy"]["query_shared"], false);
        assert_eq!(answer["registries_unread"][0]["registry_url"], "https://closed.example");
    }
    let here = json!({"capability_needed": "weather forecast for a city", "registries": false});
    let answer = ask(&ann, "recommend_servers", here).await;
    assert_eq!(answer["recommendations"], json!([]), "{answer}");
    let tool = ann.call("mgp_discovery_recommend", json!({"capability_needed": "time zones"})).await.unwrap();
    assert_eq!(tool["structuredContent"]["recommendations"][0]["server"], "clock", "{tool}");
    assert!(ann.request("recommend_servers", json!({})).await.is_err());
}
