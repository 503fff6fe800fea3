//! Tools that are found instead of listed: for clients that know MGP and for those that do not, in both eras.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::{
    AgentTools, Budget, GateOptions, Kernel, KernelOptions, Level, OperatorActions, ServerPolicy, ToolContext,
};
use switchboard_peer::{Identity, Method};
use switchboard_policy::risk::OperatorWord;
use switchboard_protocol::Era;

use super::world::{Client, ERAS, Script, entry, events, kind_of, open, open_house, ran, spec, tool_with, until};

const META: [&str; 3] = ["mgp_tools_discover", "mgp_tools_request", "mgp_tools_call"];

fn told(name: &str, description: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"input": {"type": "string", "description": description}}});
    tool_with(name, &json!({"description": description, "inputSchema": schema}))
}

/// Three servers with sixty tools, of which four matter.
fn servers() -> Vec<(&'static str, Arc<Script>)> {
    let things = ["lamp", "chair", "table", "shelf", "frame", "bench"];
    let noise = |verb: &'static str| {
        (0..18).map(move |number| {
            let thing = things[number % things.len()];
            told(&format!("{verb}_{thing}_{number}"), &format!("{verb} the {thing} number {number} in the workshop"))
        })
    };
    let danger = json!({"description": "Erase the whole disk", "security": {"risk_level": "dangerous"}});
    let mut convert = told("convert_time", "Convert a time from one time zone to another");
    convert["_meta"] = json!({"cost": {"category": "free"}, "latency": "seconds"});
    let clock = vec![convert, tool_with("erase", &danger)];
    let mail = vec![told("send_mail", "Send an e-mail with a subject and a body to somebody")];
    vec![
        ("clock", Script::new(Era::Legacy, clock.into_iter().chain(noise("bend")).collect())),
        ("mail", Script::new(Era::Modern, mail.into_iter().chain(noise("carve")).collect())),
        ("shop", Script::new(Era::Legacy, noise("glue").collect())),
    ]
}

fn hybrid() -> ToolContext {
    ToolContext { level: Some(Level::Hybrid), ..ToolContext::default() }
}

struct Place {
    kernel: Kernel,
    directory: tempfile::TempDir,
}

impl Place {
    async fn new(tools: ToolContext) -> Self {
        // Nobody is asked about mail here: this is about finding.
        let unasked = OperatorWord { confirm: Some(false), ..OperatorWord::default() };
        let policy =
            move || ServerPolicy { tools: [("send_mail".to_owned(), unasked)].into(), ..ServerPolicy::default() };
        Self::with(tools, open_house, policy).await
    }

    async fn with(tools: ToolContext, gate: impl FnOnce(&mut GateOptions), policy: impl Fn() -> ServerPolicy) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut options = GateOptions { store: Some(open(directory.path()).await), ..GateOptions::default() };
        gate(&mut options);
        let kernel = Kernel::new(KernelOptions { gate: options, tools, ..KernelOptions::default() });
        kernel.apply(servers().into_iter().map(|(id, script)| spec(id, script, policy())).collect());
        kernel.settled(Duration::from_secs(5)).await;
        Self { kernel, directory }
    }

    async fn client(&self, era: Era, principal: &str) -> Client {
        self.client_with(era, principal, json!({})).await
    }

    async fn client_with(&self, era: Era, principal: &str, capabilities: Value) -> Client {
        Client::new(&self.kernel, Identity::new(principal, Method::Token).into(), era, capabilities).await
    }
}

fn found(result: &Value) -> Vec<&str> {
    let tools = result["structuredContent"]["tools"].as_array().unwrap();
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

async fn discover(client: &Client, query: &str) -> Value {
    client.call("mgp_tools_discover", json!({"query": query, "max_results": 3})).await.unwrap()
}

#[tokio::test]
async fn a_plain_client_finds_and_calls_a_tool_that_was_not_in_its_list() {
    for era in ERAS {
        let place = Place::new(hybrid()).await;
        let client = place.client(era, "ann").await;
        assert_eq!(client.list("tools").await, META, "{era:?}");

        let result = discover(&client, "convert a time to another zone").await;
        assert_eq!(found(&result)[0], "clock__convert_time", "{era:?}");
        let best = &result["structuredContent"]["tools"][0];
        assert_eq!(best["server_id"], "clock");
        assert_eq!(best["inputSchema"]["properties"]["input"]["type"], "string");
        assert!(best["relevance_score"].as_f64().unwrap() > 0.5, "{best}");
        assert_eq!(best["security"]["risk_level"], "safe");
        assert!(best["matched"].as_array().unwrap().len() > 1);
        assert_eq!((&best["cost"]["category"], &best["latency"]), (&json!("free"), &json!("seconds")), "{best}");
        assert_eq!(result["structuredContent"]["total_available"], 57);

        // It is in the list now, it can be called by its name, and through the kernel's tool.
        let list = client.list("tools").await;
        assert!(list.contains(&"clock__convert_time".to_owned()) && list.len() == META.len() + 3, "{list:?}");
        assert!(ran(&client.call("clock__convert_time", json!({"input": "x"})).await));
        let through = json!({"name": "mail__send_mail", "arguments": {"input": "x"}});
        let answer = client.call("mgp_tools_call", through).await;
        assert!(ran(&answer) && answer.unwrap()["ran"] == "send_mail");
        assert!(client.list("tools").await.contains(&"mail__send_mail".to_owned()), "what was used stays");
    }
}

#[tokio::test]
async fn a_client_is_told_that_its_list_has_changed_and_others_are_not() {
    let place = Place::new(hybrid()).await;
    let (ann, bob) = (place.client(Era::Legacy, "ann").await, place.client(Era::Legacy, "bob").await);
    discover(&ann, "send a message by mail").await;
    let changed = |client: &Client| {
        client.ear.told.lock().iter().filter(|(method, _)| method == "notifications/tools/list_changed").count()
    };
    until("the notice", || changed(&ann) == 1).await;
    discover(&ann, "send a message by mail").await;
    assert_eq!((changed(&ann), changed(&bob)), (1, 0), "the same again changes nothing");
    assert_eq!(bob.list("tools").await, META);
    assert!(ann.list("tools").await.contains(&"mail__send_mail".to_owned()));
    // Another session of the same principal has a list of its own.
    let other = place.client(Era::Legacy, "ann").await;
    assert_eq!(other.list("tools").await, META);
}

#[tokio::test]
async fn a_client_without_a_session_finds_what_it_loaded_on_every_connection() {
    let place = Place::new(hybrid()).await;
    let (first, legacy) = (place.client(Era::Modern, "ann").await, place.client(Era::Legacy, "ann").await);
    discover(&first, "send a message by mail").await;
    let again = place.client(Era::Modern, "ann").await;
    assert!(again.list("tools").await.contains(&"mail__send_mail".to_owned()));
    assert_eq!(legacy.list("tools").await, META, "a session of the same principal is apart");
}

/// Who agreed on finding tools is not given what it only found.
#[tokio::test]
async fn what_was_found_is_loaded_for_who_agreed_on_it_only_when_asked() {
    let place = Place::new(hybrid()).await;
    let says = json!({"mgp": {"version": "0.3.0", "extensions": ["tool_discovery"]}});
    let ann = place.client_with(Era::Legacy, "ann", says).await;
    let query = json!({"query": "send a message by mail", "filter": {"status": "connected"}});
    let found = ann.request("mgp/tools/discover", query.clone()).await.expect("an answer");
    assert_eq!(found["tools"][0]["name"], "mail__send_mail");
    let loaded = ann.request("mgp/tools/session", json!({})).await.expect("an answer");
    assert_eq!(loaded["cached"], json!([]));
    let mut asked = query.clone();
    asked["load"] = true.into();
    ann.request("mgp/tools/discover", asked).await.expect("an answer");
    let loaded = ann.request("mgp/tools/session", json!({})).await.expect("an answer");
    assert!(loaded["cached"].as_array().expect("names").contains(&json!("mail__send_mail")), "{loaded}");
    let mut away = query;
    away["filter"]["status"] = "disconnected".into();
    assert_eq!(ann.request("mgp/tools/discover", away).await.expect("an answer")["tools"], json!([]));
    for bad in [json!({"query": "x", "filter": {"status": "odd"}}), json!({"query": 5})] {
        let error = ann.request("mgp/tools/discover", bad).await.unwrap_err();
        assert!(error.code == -32602 && !error.message.contains("line 1"), "{error:?}");
    }
}

#[tokio::test]
async fn few_tools_are_listed_and_many_are_found() {
    let few = Place::new(ToolContext::default()).await;
    let client = few.client(Era::Legacy, "ann").await;
    assert_eq!(client.list("tools").await.len(), 57, "all fit into the budget");
    let found = client.call("mgp_tools_discover", json!({"query": "time"})).await.unwrap();
    assert_ne!(found["isError"], true, "who was told of it elsewhere is answered: {found}");

    let budget = Budget { max_tokens: 1000, discovery_reserve: 400, ..Budget::default() };
    let many = Place::new(ToolContext { budget, ..ToolContext::default() }).await;
    let client = many.client(Era::Legacy, "ann").await;
    assert_eq!(client.list("tools").await, META);
}

#[tokio::test]
async fn each_level_lists_what_it_should() {
    let agents = [
        ("all", Level::All, 57),
        ("categories", Level::Categories, 3),
        ("discovery", Level::Discovery, 3),
        ("hybrid", Level::Hybrid, 4),
    ];
    let pinned = vec!["mail__send_mail".to_owned(), "nobody__nothing".to_owned()];
    let of = |level| AgentTools { level: Some(level), pinned: Vec::new() };
    let agents_tools = agents.iter().map(|(name, level, _)| ((*name).to_owned(), of(*level))).collect();
    let place = Place::new(ToolContext { pinned, agents: agents_tools, ..ToolContext::default() }).await;
    for (name, _, expected) in agents {
        let client = place.client(Era::Legacy, name).await;
        assert_eq!(client.list("tools").await.len(), expected, "{name}");
    }
    let client = place.client(Era::Legacy, "categories").await;
    let list = client.request("tools/list", json!({})).await.unwrap();
    let about = list["tools"][0]["description"].as_str().unwrap();
    assert!(about.contains("clock (20)") && about.contains("bend (18)"), "{about}");
}

#[tokio::test]
async fn nothing_is_found_that_may_not_be_seen() {
    let place = Place::with(hybrid(), |_| {}, ServerPolicy::default).await;
    let client = place.client(Era::Legacy, "ann").await;
    let result = discover(&client, "convert a time to another zone").await;
    assert_eq!((found(&result).len(), &result["structuredContent"]["total_available"]), (0, &json!(0)));
    let call = json!({"name": "clock__convert_time", "arguments": {}});
    let (through, direct) =
        (client.call("mgp_tools_call", call).await, client.call("clock__convert_time", json!({})).await);
    assert_eq!(through.unwrap_err().code, direct.unwrap_err().code);

    let operator_actions = OperatorActions::of_operator(open(place.directory.path()).await, "olga");
    operator_actions.grant_access(entry("ann", "clock", Some("convert_time"), true)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(220)).await;
    let result = discover(&client, "convert a time to another zone").await;
    assert_eq!(found(&result), ["clock__convert_time"], "and nothing else of the server");
    place.kernel.shut_down(Duration::from_secs(2)).await;
    let log = events(&open(place.directory.path()).await).await;
    let sought: Vec<_> = log.iter().filter(|event| event.event_type == "dev.switchboard.tools_sought").collect();
    assert_eq!(sought.len(), 2, "both searches are on record");
}

#[tokio::test]
async fn what_is_called_through_the_kernel_passes_the_gate() {
    let place = Place::with(
        hybrid(),
        |gate| {
            open_house(gate);
            gate.approval_wait = Duration::from_millis(50);
        },
        ServerPolicy::default,
    )
    .await;
    let client = place.client(Era::Legacy, "ann").await;
    let held = client.call("mgp_tools_call", json!({"name": "clock__erase", "arguments": {}})).await;
    assert!(!ran(&held), "a dangerous tool waits for a person");
    let bad = client.call("mgp_tools_call", json!({"name": "clock__convert_time", "arguments": {"input": 7}})).await;
    assert_eq!(kind_of(&bad), "invalid_arguments");
    for arguments in
        [json!({}), json!({"name": 5}), json!({"name": "mgp_tools_call", "arguments": {}}), json!({"name": "no"})]
    {
        assert!(!ran(&client.call("mgp_tools_call", arguments.clone()).await), "{arguments}");
    }
}

#[tokio::test]
async fn searches_are_filtered_and_mistakes_are_named() {
    let place = Place::new(hybrid()).await;
    let client = place.client(Era::Legacy, "ann").await;
    let ask = |arguments| client.call("mgp_tools_discover", arguments);
    let found_by = |result: &Value| found(result).iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let erase = json!({"query": "erase the whole disk", "max_results": 1});
    assert_eq!(found_by(&ask(erase).await.unwrap()), ["clock__erase"]);
    let safe = json!({"query": "erase the whole disk", "filter": {"risk_level_max": "moderate"}});
    assert!(!found_by(&ask(safe).await.unwrap()).contains(&"clock__erase".to_owned()));
    let category = json!({"query": "", "strategy": "category", "filter": {"categories": ["carve"]}, "max_results": 50});
    let result = ask(category).await.unwrap();
    assert!(found_by(&result).iter().all(|name| name.starts_with("mail__carve")), "{result}");
    let other = ask(json!({"query": "time zone", "strategy": "oracle"})).await.unwrap();
    assert_eq!(other["structuredContent"]["fallback_strategy"], "hybrid");
    for bad in [
        json!({}),
        json!({"query": "  "}),
        json!({"query": "x", "strategy": "category"}),
        json!({"query": "x", "filter": {"risk_level_max": "none"}}),
        json!({"query": 5}),
    ] {
        assert!(!ran(&ask(bad.clone()).await), "{bad}");
    }
}

#[tokio::test]
async fn results_beyond_the_reserve_are_left_out_and_that_is_said() {
    let budget = Budget { discovery_reserve: 150, ..Budget::default() };
    let place = Place::new(ToolContext { budget, ..hybrid() }).await;
    let client = place.client(Era::Legacy, "ann").await;
    let result = client.call("mgp_tools_discover", json!({"query": "glue a lamp", "max_results": 10})).await.unwrap();
    let answer = &result["structuredContent"];
    let (given, omitted) = (found(&result).len() as u64, answer["truncated"]["omitted"].as_u64().unwrap());
    assert!((1..10).contains(&given) && given + omitted == 10, "{answer}");
}

#[tokio::test]
async fn an_agent_asks_for_what_it_lacks() {
    let place = Place::new(hybrid()).await;
    let mgp = json!({"mgp": {"version": "0.3.0", "extensions": ["tool_discovery"]}});
    let client = place.client_with(Era::Legacy, "ann", mgp).await;
    assert_eq!(client.list("tools").await.len(), 5, "with the two for the session");
    let request = |capabilities: Value| {
        client.request(
            "mgp/tools/request",
            json!({
                "reason": "capability_gap", "context": "a letter to somebody abroad",
                "requirements": {"capabilities": capabilities, "preferred_risk_level": "safe"},
            }),
        )
    };
    let both = request(json!(["convert_time", "send_mail"])).await.unwrap();
    assert_eq!(both["status"], "fulfilled", "{both}");
    assert_eq!(both["tools_loaded"].as_array().unwrap().len(), 2);
    assert!(both["context_tokens_added"].as_u64().unwrap() > 50);
    assert_eq!(both["session_tools_count"], 2);
    let some = request(json!(["send_mail", "quantum chromodynamics simulation"])).await.unwrap();
    assert_eq!(
        (&some["status"], &some["tools_unavailable"]),
        (&json!("partial"), &json!(["quantum chromodynamics simulation"]))
    );
    let tokens = |answer: &Value| answer["context_tokens_added"].as_u64().unwrap();
    assert!(tokens(&some) > 20 && tokens(&some) < tokens(&both), "what the answer shows is in the context: {some}");
    let none = request(json!(["quantum chromodynamics simulation"])).await.unwrap();
    assert_eq!((none["status"].as_str(), tokens(&none)), (Some("unavailable"), 0), "{none}");
    let odd = json!({"reason": "boredom", "requirements": {"capabilities": ["send_mail"]}});
    let refused = client.request("mgp/tools/request", odd).await.unwrap_err();
    assert!(refused.message.contains("capability_gap"), "{refused:?}");

    let session = client.request("mgp/tools/session", json!({})).await.unwrap();
    assert_eq!((&session["max_tokens"], &session["pinned"]), (&json!(25000), &json!([])));
    assert_eq!(session["cached"].as_array().unwrap().len(), 2, "{session}");
    let evict = json!({"tools": ["mail__send_mail", "no_such"], "reason": "no_longer_needed"});
    let gone = client.request("mgp/tools/session/evict", evict).await.unwrap();
    assert_eq!((&gone["evicted"], &gone["not_loaded"]), (&json!(["mail__send_mail"]), &json!(["no_such"])));
    let session = client.request("mgp/tools/session", json!({})).await.unwrap();
    assert_eq!(session["cached"], json!(["clock__convert_time"]));
}

#[tokio::test]
async fn a_tool_whose_server_lacks_a_permission_is_pending() {
    let policy =
        || ServerPolicy { permissions_required: vec!["network.outbound".to_owned()], ..ServerPolicy::default() };
    let place = Place::with(hybrid(), open_house, policy).await;
    let client = place.client(Era::Legacy, "ann").await;
    let asked = json!({"requirements": {"capabilities": ["convert a time between zones"]}});
    let answer = client.call("mgp_tools_request", asked).await.unwrap();
    let answer = &answer["structuredContent"];
    assert_eq!(answer["status"], "pending_approval", "{answer}");
    assert_eq!(answer["tools_pending"][0]["permissions_missing"], json!(["network.outbound"]));
}

#[tokio::test]
async fn the_index_follows_the_lists() {
    let directory = tempfile::tempdir().unwrap();
    let mut gate = GateOptions { store: Some(open(directory.path()).await), ..GateOptions::default() };
    open_house(&mut gate);
    gate.pin_definitions = false;
    let kernel = Kernel::new(KernelOptions { gate, tools: hybrid(), ..KernelOptions::default() });
    let script = Script::new(Era::Legacy, vec![told("bend_lamp", "Bend a lamp")]);
    kernel.apply(vec![spec("shop", script.clone(), ServerPolicy::default())]);
    kernel.settled(Duration::from_secs(5)).await;
    let client = Client::new(&kernel, Identity::new("ann", Method::Token).into(), Era::Legacy, json!({})).await;
    assert_eq!(found(&discover(&client, "play a song").await), ["bend_lamp"], "the only one there is");
    script.tools.lock().push(told("play_song", "Play music through the speakers"));
    script.tools_changed();
    let heard = || client.ear.told.lock().iter().filter(|(method, _)| method.contains("list_changed")).count();
    until("the change", || heard() >= 2).await;
    assert_eq!(found(&discover(&client, "play a song").await)[0], "play_song");
}

#[tokio::test]
async fn tools_beyond_the_cache_are_told_as_not_loaded() {
    let asked = json!({"requirements": {"capabilities": ["convert_time", "send_mail"]}});
    // Of nothing, of one, of both: each tool has some eighty tokens.
    for (cache_limit, loaded, status) in [(0, 0, "partial"), (120, 1, "partial"), (3_000, 2, "fulfilled")] {
        let budget = Budget { cache_limit, ..Budget::default() };
        let place = Place::new(ToolContext { budget, ..hybrid() }).await;
        let client = place.client(Era::Legacy, "ann").await;
        let answer = client.call("mgp_tools_request", asked.clone()).await.unwrap()["structuredContent"].clone();
        assert_eq!(answer["status"], status, "{answer}");
        let names = |list: &Value| {
            let names = list.as_array().cloned().unwrap_or_default().into_iter();
            names.map(|tool| tool["name"].as_str().or(tool.as_str()).unwrap().to_owned()).collect::<Vec<_>>()
        };
        let (given, beyond) = (names(&answer["tools_loaded"]), names(&answer["tools_not_loaded"]["names"]));
        assert_eq!((given.len(), beyond.len()), (loaded, 2 - loaded), "{answer}");
        assert_eq!(answer["session_tools_count"], loaded, "{answer}");
        let listed = client.list("tools").await;
        assert!(given.iter().all(|name| listed.contains(name)) && !beyond.iter().any(|name| listed.contains(name)));
        assert_eq!(answer["tools_unavailable"], json!([]), "they are there, and can be called");
        for name in beyond {
            assert!(ran(&client.call("mgp_tools_call", json!({"name": name, "arguments": {}})).await), "{name}");
        }
    }
}
