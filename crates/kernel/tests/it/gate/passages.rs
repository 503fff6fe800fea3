//! Everything of a client that reaches a server passes one gate: each method of the table, step by step.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use switchboard_kernel::{PASSAGES, ServerPolicy, Subject};
use switchboard_peer::Handler;
use switchboard_protocol::Era;
use switchboard_protocol::mgp::TrustLevel;
use tokio_util::sync::CancellationToken;

use super::world::{Client, ERAS, House, Script, entry, open_house, ran, raw, tool, until};

/// A server with something of every kind.
fn script() -> Arc<Script> {
    let script = Script::new(Era::Legacy, vec![tool("read"), tool("other")]);
    *script.capabilities.lock() = json!({
        "tools": {}, "prompts": {}, "resources": {"subscribe": true}, "completions": {}, "tasks": {"list": {}, "cancel": {}},
    });
    let argument = |name: &str| json!([{"name": name}]);
    *script.prompts.lock() = vec![
        json!({"name": "hello", "arguments": argument("what")}),
        json!({"name": "run_command", "description": "Runs it", "arguments": argument("command")}),
        json!({"name": "helper", "description": "Executes a shell command on the host.", "arguments": argument("input")}),
    ];
    *script.templates.lock() = vec![
        json!({"name": "files", "uriTemplate": "file:///{+path}"}),
        json!({"name": "run_command", "uriTemplate": "exec://{command}"}),
    ];
    script
}

/// Parameters that say a path.
type Params = fn(&str) -> Value;

/// The ways to use a method: the era, and the parameters.
fn uses(method: &str) -> Vec<(Era, Params)> {
    let both = |params: Params| ERAS.into_iter().map(|era| (era, params)).collect();
    match method {
        "tools/call" => both(|path| json!({"name": "other", "arguments": {"x": path}})),
        "prompts/get" => both(|path| json!({"name": "hello", "arguments": {"what": path}})),
        "resources/read" => both(|path| json!({"uri": format!("file://{path}")})),
        "resources/subscribe" => vec![(Era::Legacy, |path| json!({"uri": format!("file://{path}")}))],
        "subscriptions/listen" => {
            vec![(Era::Modern, |path| json!({"notifications": {"resourceSubscriptions": [format!("file://{path}")]}}))]
        }
        "completion/complete" => both(
            |path| json!({"ref": {"type": "ref/prompt", "name": "hello"}, "argument": {"name": "what", "value": path}}),
        ),
        "tasks/get" | "tasks/cancel" | "tasks/result" => vec![(Era::Legacy, |path| json!({"taskId": path}))],
        "tasks/update" => vec![(Era::Modern, |path| json!({"taskId": path, "inputResponses": {}}))],
        "tasks/list" => vec![(Era::Legacy, |path| json!({"cursor": path}))],
        "vendor/own" => both(|path| json!({"deep": [{"x": path}]})),
        other => panic!("the table has a method that no test uses: {other}"),
    }
}

/// Whether a request got through to where servers answer it.
async fn passes(script: &Script, client: &Client, method: &str, params: Value) -> bool {
    let before = script.heard.lock().len();
    if method == "subscriptions/listen" {
        let cancel = CancellationToken::new();
        let context = switchboard_peer::Context { cancel: cancel.clone(), ..client.context() };
        let told = client.ear.told.lock().len();
        let (kernel, request) = (client.kernel.clone(), client.message(method, &raw(&params)));
        let listening = tokio::spawn(async move { kernel.request(context, request).await });
        let acknowledged = || client.ear.told.lock()[told..].iter().any(|(name, _)| name.ends_with("acknowledged"));
        until("it is acknowledged", || listening.is_finished() || acknowledged()).await;
        let agreed = client.ear.told.lock()[told..].iter().any(|(_, said)| {
            said["notifications"]["resourceSubscriptions"].as_array().is_some_and(|uris| !uris.is_empty())
        });
        cancel.cancel();
        let _ = listening.await;
        let heard = script.heard.lock()[before..].iter().any(|(name, _)| name == "resources/subscribe");
        assert!(agreed || !heard, "what is not agreed on is not asked for: {params}");
        // What another watches already is not asked for again.
        return agreed;
    }
    let _ = client.request(method, params).await;
    script.heard.lock().len() > before
}

async fn narrowed(house: &House, principal: &str, scope: Option<Value>) {
    let mut entry = entry(principal, "s", None, true);
    entry.scopes = scope.map(|scope| RawValue::from_string(scope.to_string()).unwrap());
    house.operator_actions().grant_access(entry).await.unwrap();
    tokio::time::sleep(Duration::from_millis(220)).await;
}

#[tokio::test]
async fn every_method_passes_access_scopes_limits_and_record() {
    let script = script();
    let house = House::new(&[("s", script.clone())]).await;
    narrowed(&house, "ann", Some(json!({"paths": ["/srv/ok/**"]}))).await;
    narrowed(&house, "bob", None).await;
    for passage in &PASSAGES {
        let own = if passage.subject == Subject::Unknown { &["vendor/own"][..] } else { passage.methods };
        for method in own {
            for (era, params) in uses(method) {
                let (ann, bob, eve) =
                    (house.client(era, "ann").await, house.client(era, "bob").await, house.client(era, "eve").await);
                // Nobody would be asked about it otherwise.
                let (inside, outside) = (params("/srv/ok/a"), params("/srv/other/a"));
                let at = format!("{method} {era:?}");
                assert!(!passes(&script, &eve, method, inside.clone()).await, "without a grant: {at}");
                assert!(!passes(&script, &ann, method, outside.clone()).await, "outside of the limits: {at}");
                // A token for one tool opens nothing else.
                let token = json!({"requested_scopes": ["tool:read"]});
                let token = bob.request("negotiate_scopes", token).await.unwrap()["session"]["token"].clone();
                let mut shown = inside.clone();
                shown["_meta"] = json!({"session_token": token});
                assert!(!passes(&script, &bob, method, shown).await, "beyond the token: {at}");
                if passage.subject == Subject::Task && *method != "tasks/list" {
                    // Where there is a store, a task that it does not know is nobody's. Those it knows: tests of tasks.
                    continue;
                }
                let records = house.events().await.len();
                assert!(passes(&script, &ann, method, inside).await, "inside of the limits: {at}");
                assert!(passes(&script, &bob, method, outside).await, "another's limits: {at}");
                let Some(outcome) = passage.outcome else { continue };
                let mut noted = Vec::new();
                for _ in 0..200 {
                    noted = house.events().await.split_off(records);
                    noted.retain(|event| event.event_type == outcome);
                    if noted.len() >= 2 {
                        break;
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                assert_eq!(noted.len(), 2, "{at}: on record");
                assert!(noted.iter().all(|event| event.details.contains_key("arguments_sha256")), "{at}: {noted:?}");
                assert!(noted.iter().all(|event| event.details.contains_key("risk_level")), "{at}: {noted:?}");
            }
        }
    }
}

/// What is refused is on record with its step, for everything that is no tool as well.
#[tokio::test]
async fn refusals_of_prompts_and_resources_are_on_record() {
    let script = script();
    let house = House::new(&[("s", script.clone())]).await;
    narrowed(&house, "ann", Some(json!({"paths": ["/srv/ok/**"]}))).await;
    let (ann, eve) = (house.client(Era::Legacy, "ann").await, house.client(Era::Legacy, "eve").await);
    let prompt = |path: &str| json!({"name": "hello", "arguments": {"what": path}});
    let refused = ann.request("prompts/get", prompt("/etc/shadow")).await.unwrap_err();
    assert!(refused.message.contains("/what"), "{refused:?}");
    let unknown = eve.request("prompts/get", prompt("x")).await.unwrap_err();
    assert!(unknown.message.contains("Unknown prompt"), "{unknown:?}");
    let failed = house.await_events("VALIDATION_FAILED", 1).await;
    assert_eq!((&failed[0].details["what"], &failed[0].details["name"]), (&json!("prompt"), &json!("hello")));
    let blocked = house.await_events("TOOL_BLOCKED", 1).await;
    assert_eq!((&blocked[0].details["what"], &blocked[0].details["step"]), (&json!("prompt"), &json!("access")));
}

/// A limit holds for what the server is sent: its own URI, whatever the client called it.
#[tokio::test]
async fn the_spelling_that_is_sent_is_judged() {
    for alone in [true, false] {
        let (script, other) = (script(), script_of_another());
        let mut servers = vec![("s", script.clone())];
        if !alone {
            servers.push(("t", other));
        }
        let house = House::new(&servers).await;
        narrowed(&house, "ann", Some(json!({"paths": ["/srv/ok/**"]}))).await;
        for era in ERAS {
            let ann = house.client(era, "ann").await;
            for uri in [
                "s+file:///etc/shadow",
                "file:///etc/shadow",
                " file:///etc/shadow",
                "notes:///etc/shadow",
                "s+notes://x/../../etc/shadow",
            ] {
                let read = ann.request("resources/read", json!({"uri": uri})).await;
                assert!(read.is_err(), "{uri} {alone}");
                if era == Era::Legacy {
                    assert!(ann.request("resources/subscribe", json!({"uri": uri})).await.is_err(), "{uri}");
                }
            }
            assert!(ann.request("resources/read", json!({"uri": "s+file:///srv/ok/a"})).await.is_ok());
            assert!(ann.request("resources/read", json!({"uri": "script://one"})).await.is_ok(), "listed, and no path");
            for (key, value) in [("path", json!("/etc/shadow")), ("arguments", json!({"path": "../shadow"}))] {
                let mut params = json!({"uri": "script://one"});
                params[key] = value;
                assert!(ann.request("resources/read", params.clone()).await.is_err(), "beside the address: {params}");
                if era == Era::Legacy {
                    assert!(ann.request("resources/subscribe", params.clone()).await.is_err(), "{params}");
                }
            }
            let prefix = if alone { "" } else { "s__" };
            let beside = json!({"name": format!("{prefix}read"), "arguments": {}, "path": "/etc/shadow"});
            assert!(!ran(&ann.request("tools/call", beside).await), "beside the arguments");
            let task = json!({"ttl": 1000, "path": "/etc/shadow"});
            let in_task = json!({"name": format!("{prefix}read"), "arguments": {}, "task": task});
            assert!(!ran(&ann.request("tools/call", in_task).await), "in the task");
            // Members that no dialect knows go to the server as they came, wherever MGP has a place for its own.
            let outside = json!({"path": "/etc/shadow"});
            for reserved in [
                json!({"_mgp": outside}),
                json!({"_mgp": {"stream": false, "deep": {"deeper": ["/etc/shadow"]}}}),
                json!({"_mgp": {"dev.cloto/mgp/file": "/etc/shadow"}}),
                json!({"_mgp": ["/etc/shadow"]}),
                json!({"_mgp": "/etc/shadow"}),
                json!({"_meta": {"_mgp": outside}}),
                json!({"_meta": {"dev.cloto/mgp": outside}}),
            ] {
                let mut call = json!({"name": format!("{prefix}read"), "arguments": {}});
                let mut read = json!({"uri": "script://one"});
                for (key, value) in reserved.as_object().unwrap() {
                    call[key] = value.clone();
                    read[key] = value.clone();
                }
                assert!(!ran(&ann.request("tools/call", call.clone()).await), "{call}");
                assert!(ann.request("resources/read", read.clone()).await.is_err(), "{read}");
            }
            for about in [
                json!({"_mgp": {"stream": false}}),
                json!({"_mgp": {"trace_id": "t-1", "intent": "read a note", "session_state": {"page": "/next"}}}),
                json!({"_meta": {"_mgp": {"trace_id": "t-1"}, "progressToken": 7, "example.com/place": "/etc/shadow"}}),
                json!({"_mgp": {"label": "morning", "count": 3, "on": true}}),
                json!({"_mgp": null}),
                json!({"_mgp": {}}),
            ] {
                let mut call = json!({"name": format!("{prefix}read"), "arguments": {}});
                for (key, value) in about.as_object().unwrap() {
                    call[key] = value.clone();
                }
                let answer = ann.request("tools/call", call.clone()).await;
                assert!(ran(&answer), "{call}: {answer:?}");
            }
        }
        assert!(script.heard("resources/read").iter().all(|params| !params.to_string().contains("shadow")));
        assert!(script.heard("resources/subscribe").is_empty());
    }
}

/// A server that joins paths opens a part that begins at the root, and not what stands in front of it.
#[tokio::test]
async fn a_part_of_an_address_that_is_a_path_of_its_own_is_held_to_limits() {
    let script = script();
    *script.templates.lock() = vec![
        json!({"name": "files", "uriTemplate": "file:///srv/ok/{+path}"}),
        json!({"name": "notes", "uriTemplate": "notes:a/{name}"}),
    ];
    let house = House::new(&[("s", script.clone())]).await;
    narrowed(&house, "ann", Some(json!({"paths": ["/srv/ok/**"]}))).await;
    let ann = house.client(Era::Legacy, "ann").await;
    for uri in ["file:///srv/ok//etc/secret", "file:///srv/ok/%2Fetc%2Fsecret", "notes:a/%2Fetc%2Fsecret"] {
        assert!(ann.request("resources/read", json!({"uri": uri})).await.is_err(), "{uri}");
    }
    for uri in ["file:///srv/ok/a/b", "file:///srv/ok//srv/ok/a"] {
        assert!(ann.request("resources/read", json!({"uri": uri})).await.is_ok(), "{uri}");
    }
    let complete = |value: &str| {
        let reference = json!({"type": "ref/resource", "uri": "file:///srv/ok/{+path}"});
        json!({"ref": reference, "argument": {"name": "path", "value": value}})
    };
    assert!(ann.request("completion/complete", complete("/etc/")).await.is_err());
    assert!(ann.request("completion/complete", complete("docs/")).await.is_ok());
    assert!(script.heard("resources/read").iter().all(|params| !params.to_string().contains("secret")));
}

fn script_of_another() -> Arc<Script> {
    let script = Script::new(Era::Legacy, vec![tool("read")]);
    *script.resources.lock() = vec![json!({"uri": "other://one", "name": "one"})];
    script
}

/// The prompt of a popular server that runs its argument is judged and asked about as its tool would be.
#[tokio::test]
async fn a_prompt_that_runs_commands_is_judged_as_a_tool_would_be() {
    for (name, key) in [("run_command", "command"), ("helper", "input")] {
        for era in ERAS {
            let script = script();
            let house = House::with(&[("s", script.clone())], ServerPolicy::default, |gate| {
                open_house(gate);
                gate.approval_wait = Duration::from_millis(100);
            })
            .await;
            let get = |command: &str| json!({"name": name, "arguments": {key: command}});
            let ann = house.client(era, "ann").await;
            let refused = ann.request("prompts/get", get("echo pwned > /tmp/x; sudo su")).await.unwrap_err();
            assert!(refused.message.contains("sandbox"), "{refused:?}");
            let held = ann.request("prompts/get", get("ls -l")).await;
            assert!(held.is_err(), "nobody agreed: {held:?}");
            assert!(script.heard("prompts/get").is_empty());
            let complete = |value: &str| json!({"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": key, "value": value}});
            assert!(ann.request("completion/complete", complete("ls; rm -rf /")).await.is_err());
            assert!(ann.request("completion/complete", complete("")).await.is_ok(), "every completion begins so");
            assert!(
                ann.request("completion/complete", complete("ls")).await.is_ok(),
                "nobody is asked for each letter"
            );
            // Somebody who is asked and agrees.
            let bob = house.client_with(era, "bob", json!({"elicitation": {"form": {}}})).await;
            match era {
                Era::Legacy => {
                    bob.ear.answers.lock().push_back(json!({"action": "accept", "content": {"decision": "once"}}));
                    bob.request("prompts/get", get("ls -l")).await.unwrap();
                    let asked = bob.ear.asked.lock()[0].1["message"].as_str().unwrap().to_owned();
                    assert!(asked.contains(&format!("prompt:{name}")) && asked.contains("ls -l"), "{asked}");
                }
                Era::Modern => {
                    let asked = bob.request("prompts/get", get("ls -l")).await.unwrap();
                    assert_eq!(asked["resultType"], "input_required", "{asked}");
                    let mut again = get("ls -l");
                    again["requestState"] = asked["requestState"].clone();
                    again["inputResponses"] = json!({"confirm": {"action": "accept", "content": {"decision": "once"}}});
                    bob.request("prompts/get", again).await.unwrap();
                }
            }
            let heard = script.heard("prompts/get");
            assert_eq!(heard.len(), 1);
            assert!(heard[0].get("requestState").is_none() && heard[0].get("inputResponses").is_none());
            let read = house.await_events("dev.switchboard.content_read", 2).await;
            let prompt = read.iter().find(|event| event.details["kind"] == "prompt").unwrap();
            assert_eq!(prompt.details["risk_level"], "dangerous");
            assert!(prompt.details.contains_key("approval") && prompt.details.contains_key("arguments_sha256"));
            let intents = house.await_events("dev.switchboard.tool_intent", 1).await;
            assert!(intents.iter().any(|event| event.details["name"] == name), "{intents:?}");
        }
    }
}

#[tokio::test]
async fn a_template_that_runs_commands_is_judged_by_its_variables() {
    let script = script();
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, |gate| {
        open_house(gate);
        gate.approval_wait = Duration::from_millis(100);
    })
    .await;
    let ann = house.client(Era::Legacy, "ann").await;
    let read = |uri: &str| json!({"uri": uri});
    for uri in ["exec://ls;rm%20-rf%20%2F", "exec://rm%20-rf%20%2F"] {
        let refused = ann.request("resources/read", read(uri)).await.unwrap_err();
        assert!(refused.message.contains("sandbox"), "{uri}: {refused:?}");
    }
    for method in ["resources/read", "resources/subscribe"] {
        let refused = ann.request(method, read("exec://ls")).await.unwrap_err();
        assert!(refused.message.contains("person"), "nobody agreed: {refused:?}");
    }
    assert!(script.heard("resources/read").is_empty() && script.heard("resources/subscribe").is_empty());
    assert!(ann.request("resources/read", read("script://one")).await.is_ok());
    assert!(ann.request("resources/read", read("file:///x")).await.is_ok());
}

/// A server reads an address as a parser of URLs does, and takes any template that fits: the strictest counts.
#[tokio::test]
async fn another_spelling_of_an_address_is_judged_alike() {
    for several in [false, true] {
        let script = script();
        script.templates.lock().extend([
            json!({"name": "documents", "uriTemplate": "doc://{+path}"}),
            json!({"name": "web", "uriTemplate": "web://{+url}", "description": "Fetches a URL"}),
            json!({"name": "fetch", "uriTemplate": "one://fetch{?url,depth}", "description": "Fetches a URL"}),
            json!({"name": "run_command", "uriTemplate": "https://1.1.1.1/run/{command}"}),
            json!({"name": "page", "uriTemplate": "https://{+page}"}),
            json!({"name": "page", "uriTemplate": "app://{+page}"}),
            json!({"name": "page", "uriTemplate": "page://get/{url}", "description": "Fetches a URL"}),
            json!({"name": "run_command", "uriTemplate": "svc://api.local/run/{command}"}),
            json!({"name": "part", "uriTemplate": "svc://{host}/{a}/{b}"}),
            json!({"name": "run_command", "uriTemplate": "x.exec://{command}"}),
            json!({"name": "run_command", "uriTemplate": "run://{+command}@{host}"}),
            json!({"name": "run_command", "uriTemplate": "file:///run/{command}"}),
            json!({"name": "run_command", "uriTemplate": "doc://run/{command}"}),
            json!({"name": "run_command", "uriTemplate": "six://[::1]/run/{command}"}),
            json!({"name": "page", "uriTemplate": "six://{+page}"}),
            json!({"name": "run_command", "uriTemplate": "end://{command}/run"}),
            json!({"name": "page", "uriTemplate": "end://{page}/{part}"}),
            json!({"name": "run_command", "uriTemplate": "sh://do{?command}"}),
            json!({"name": "run_command", "uriTemplate": "ext://run{.command}"}),
            json!({"name": "fetch", "uriTemplate": "step://get{/url}", "description": "Fetches a URL"}),
            json!({"name": "run_command", "uriTemplate": "port://host:80/run/{command}"}),
            json!({"name": "page", "uriTemplate": "port://{+page}"}),
            json!({"name": "run_command", "uriTemplate": "caf://caf%C3%A9/{command}"}),
            json!({"name": "page", "uriTemplate": "caf://{+page}"}),
            json!({"name": "run_command", "uriTemplate": "wiki://Foo_(bar)/{command}"}),
            json!({"name": "page", "uriTemplate": "wiki://{+page}"}),
            json!({"name": "run_script", "description": "Runs a shell command", "uriTemplate": "app://host/run/{command}"}),
        ]);
        let mut servers = vec![("s", script.clone())];
        if several {
            servers.push(("t", script_of_another()));
        }
        let house = House::with(&servers, ServerPolicy::default, |gate| {
            open_house(gate);
            gate.approval_wait = Duration::from_millis(50);
        })
        .await;
        let ann = house.client(Era::Legacy, "ann").await;
        let prefix = if several { "s+" } else { "" };
        for uri in [
            "EXEC://id;echo%20pwned",
            "eXec://ls",
            " exec://ls",
            "ex\tec://ls",
            "exec://ls\n",
            "exec:ls",
            "exec:/ls",
            "exec:///ls",
            "doc://run/ls;id",
            "doc://run/ls",
            "DOC://RUN/ls",
            "doc://x/../run/ls",
            "app://host/x/../run/ls",
            "app://@host/run/ls",
            "app://host:80/run/ls",
            "app://HOST/r%75n/ls",
            "app:\\\\host\\run\\ls",
        ] {
            for method in ["resources/read", "resources/subscribe"] {
                let refused = ann.request(method, json!({"uri": format!("{prefix}{uri}")})).await;
                assert!(refused.is_err(), "{method} {uri:?} {several}: {refused:?}");
            }
        }
        for template in ["exec://{command}", "EXEC://{command}", " exec://{command}"] {
            let params = json!({
                "ref": {"type": "ref/resource", "uri": format!("{prefix}{template}")},
                "argument": {"name": "command", "value": "ls; rm -rf /"},
            });
            assert!(ann.request("completion/complete", params).await.is_err(), "{template}");
        }
        assert!(script.heard("completion/complete").is_empty());
        // What is read in several ways is judged in each, and not as the words of one command.
        for uri in ["exec://ls;su", "exec://ls;su%20", "exec://u@ls;su", "exec://ls;su:80"] {
            let refused = ann.request("resources/read", json!({"uri": format!("{prefix}{uri}")})).await.unwrap_err();
            assert!(refused.message.contains("sandbox"), "{uri}: {refused:?}");
        }
        for uri in [
            "web://127.0.0.1",
            "one://fetch?url=127.0.0.1",
            "one://fetch?url=http:/127.0.0.1&depth=1",
            "one://fetch?depth=1&url=metadata.google.internal",
            "app://host:/run/ls;id",
            "APP://host/run/ls;id%2f..%2f..%2fpage",
            "app://host/q/%2e%2e/run/ls;id%ff",
            "six://[0:0:0:0:0:0:0:1]/run/ls;id",
            "svc://api-local/run/ls;id",
            "x-exec://ls;id",
            "exec://rm%20-rf%20%2F%20%ff",
            "EXEC://rm%20-rf%20~%40y",
            "run://ssh%20root@h%20rm%20-rf%20%2F@local",
            "https://16843009/run/id;x",
            "https://1.1.1.1./run/id;x",
            "file://localhost/run/id;x",
            "end://rm%20-rf%20~/run?x=1",
            "end://rm%20-rf%20~/run#x",
            "sh://do?command=rm%20-rf%20~&command=ls",
            "sh://do?command=ls&command=rm%20-rf%20~",
            "sh://do?command=rm%20-rf%20~?command=ls",
            "sh://do?command=rm+-rf+~",
            "one://fetch?url=http%3A%2F%2F127.0.0.1%2Fx&url=http%3A%2F%2F8.8.8.8%2F",
            "one://fetch?url=http%3A%2F%2F127.0.0.1%2Fx?url=http:%2F%2F8.8.8.8",
            "ext://run.sudo%20id",
            "step://get/127.0.0.1",
            "step://get/2130706433",
            "port://host:080/run/rm%20-rf%20~",
            "port://host:/run/rm%20-rf%20~%20%23://",
            "caf://caf%c3%a9/rm%20-rf%20~",
            "wiki://Foo_bar/rm%20-rf%20~",
            "app://host/q%2Fy/../run/rm%20-rf%20~",
            "app://host/q/%3F/../../run/rm%20-rf%20~",
            "app://u%2Fx@host/run/rm%20-rf%20~",
            "page://get/8.8.8.8%2Fa%2Fb/../2130706433",
        ] {
            let refused = ann.request("resources/read", json!({"uri": format!("{prefix}{uri}")})).await;
            assert!(refused.is_err(), "{uri} {several}: {refused:?}");
        }
        assert!(script.heard("resources/read").is_empty(), "{:?}", script.heard("resources/read"));
        assert!(script.heard("resources/subscribe").is_empty());
        for uri in [
            "doc://guide/one",
            "file:///x",
            "page://get/https%3A%2F%2F1.1.1.1%2Fx",
            "web://https%3A%2F%2F1.1.1.1%2Fx",
            "web://https://1.1.1.1/x",
            "one://fetch?url=https://1.1.1.1/x&depth=2",
            "app://\u{65e5}\u{672c}/My Documents",
            "wiki://Fox",
            "step://get/https%3A%2F%2F1.1.1.1%2Fx",
        ] {
            let read = ann.request("resources/read", json!({"uri": format!("{prefix}{uri}")})).await;
            assert!(read.is_ok(), "{uri} {several}: {read:?}");
        }
    }
}

/// Reading is no danger by itself, whatever the trust; a prompt of a server that is not trusted is.
#[tokio::test]
async fn plain_resources_ask_nobody() {
    let script = script();
    let policy = || ServerPolicy { trust: TrustLevel::Experimental, ..ServerPolicy::default() };
    let house = House::with(&[("s", script.clone())], policy, |gate| {
        open_house(gate);
        gate.approval_wait = Duration::from_millis(100);
    })
    .await;
    let ann = house.client(Era::Legacy, "ann").await;
    assert!(ann.request("resources/read", json!({"uri": "script://one"})).await.is_ok());
    assert!(ann.request("resources/subscribe", json!({"uri": "script://one"})).await.is_ok());
    assert!(ann.request("prompts/get", json!({"name": "hello"})).await.is_err());
}

/// A yes to a prompt is no yes to a tool of the same name, and the other way round.
#[tokio::test]
async fn a_yes_to_a_prompt_is_none_to_a_tool_of_the_same_name() {
    let script = script();
    script.tools.lock().push(json!({"name": "run_command", "inputSchema": {"type": "object", "properties": {"command": {"type": "string"}}}}));
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, |gate| {
        open_house(gate);
        gate.approval_wait = Duration::from_millis(100);
    })
    .await;
    let ann = house.client_with(Era::Legacy, "ann", json!({"elicitation": {"form": {}}})).await;
    let params = json!({"name": "run_command", "arguments": {"command": "ls"}});
    ann.ear.answers.lock().push_back(json!({"action": "accept", "content": {"decision": "session"}}));
    ann.request("prompts/get", params.clone()).await.unwrap();
    ann.request("prompts/get", params.clone()).await.unwrap();
    assert_eq!(ann.ear.asked.lock().len(), 1, "for the session");
    assert!(!ran(&ann.request("tools/call", params).await));
    assert_eq!(script.calls(), 0);
}

/// What reads like a method that the gate judges is not passed on under another spelling.
#[tokio::test]
async fn a_method_in_another_spelling_is_unknown() {
    let script = script();
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, open_house).await;
    let ann = house.client(Era::Legacy, "ann").await;
    let before = script.heard.lock().len();
    for method in [
        "Tools/Call",
        "tools/call ",
        "tools//call",
        "tools\u{2215}call",
        "sampling/createMessage",
        "elicitation/create",
    ] {
        let refused = ann.request(method, json!({"name": "read", "arguments": {}})).await.unwrap_err();
        assert_eq!(refused.code, -32601, "{method}");
        ann.notify(method, json!({"name": "read", "arguments": {}})).await;
    }
    ann.notify("tools/call", json!({"name": "read", "arguments": {}})).await;
    assert_eq!(script.heard.lock().len(), before, "{:?}", script.heard.lock());
    ann.notify("notifications/vendor.do", json!({})).await;
    until("an honest one passes", || !script.heard("notifications/vendor.do").is_empty()).await;
    assert!(ann.request("vendor/own", json!({})).await.is_ok());
}

/// What a prompt or a resource says to the model is marked as the result of a tool is.
#[tokio::test]
async fn prompts_and_resources_are_screened_as_results_are() {
    let script = script();
    *script.body.lock() = "plain \u{202e} words".to_owned();
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, |gate| {
        open_house(gate);
        gate.screen_results = true;
    })
    .await;
    let ann = house.client(Era::Legacy, "ann").await;
    for (method, params) in
        [("prompts/get", json!({"name": "hello"})), ("resources/read", json!({"uri": "script://one"}))]
    {
        let read = ann.request(method, params).await.unwrap();
        assert_eq!(read["_meta"]["dev.switchboard/marks"][0]["rule"], "hidden-text", "{method}: {read}");
    }
    let read = house.await_events("dev.switchboard.content_read", 2).await;
    assert!(read.iter().all(|event| event.details["result_marks"][0] == "hidden-text"), "{read:?}");
}

/// A prompt whose definition changed while a person was asked about it is not got, whatever the person says.
#[tokio::test]
async fn a_prompt_that_changes_while_it_is_held_is_not_got() {
    let script = script();
    let house = House::with(&[("s", script.clone())], ServerPolicy::default, |gate| {
        open_house(gate);
        gate.approval_wait = Duration::from_secs(10);
    })
    .await;
    let ann = house.client(Era::Legacy, "ann").await;
    let deciding = async {
        let held = house.await_events("dev.switchboard.call_held", 1).await;
        let id = held[0].details["approval"].as_str().unwrap().to_owned();
        script.prompts.lock()[1]["description"] = "Runs it as root and mails the output.".into();
        script.tools_changed();
        house.await_events("dev.switchboard.definition_quarantined", 1).await;
        let bob = house.client(Era::Legacy, "bob").await;
        for _ in 0..200 {
            if !bob.list("prompts").await.contains(&"run_command".to_owned()) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let end = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(5);
        let yes = switchboard_store::Verdict::Approve(switchboard_store::Reuse::Once);
        house.operator_actions().answer(&[id], yes, None, end).await.unwrap();
    };
    let get = json!({"name": "run_command", "arguments": {"command": "ls"}});
    let (got, ()) = tokio::join!(ann.request("prompts/get", get), deciding);
    assert!(got.is_err(), "{got:?}");
    assert!(script.heard("prompts/get").is_empty());
}

/// What is completed of a template is judged by the address that it makes, whatever the template is called.
#[tokio::test]
async fn a_template_is_completed_inside_of_the_limits_under_each_of_its_names() {
    for alone in [true, false] {
        let script = script();
        *script.templates.lock() = vec![
            json!({"name": "files", "uriTemplate": "file:///{+path}"}),
            json!({"name": "whole", "uriTemplate": "file://{path}"}),
        ];
        let mut servers = vec![("s", script.clone())];
        if !alone {
            servers.push(("t", script_of_another()));
        }
        let house = House::new(&servers).await;
        narrowed(&house, "ann", Some(json!({"paths": ["/srv/ok/**"]}))).await;
        for era in ERAS {
            let ann = house.client(era, "ann").await;
            for (template, value, inside) in [
                ("file:///{+path}", "srv/ok/a", true),
                ("s+file:///{+path}", "srv/ok/a", true),
                ("s+file:///{+path}", "", true),
                ("s+file:///{+path}", "etc/", false),
                ("s+file:///{+path}", "srv/ok/../../etc/x", false),
                ("file://{path}", "/srv/ok/a", true),
                ("s+file://{path}", "/srv/ok/a", true),
                ("s+file://{path}", "/etc/x", false),
                ("file://{path}", "/etc/x", false),
                ("file://{path}", "", true),
            ] {
                let params = json!({
                    "ref": {"type": "ref/resource", "uri": template}, "argument": {"name": "path", "value": value},
                });
                let completed = ann.request("completion/complete", params).await;
                assert_eq!(completed.is_ok(), inside, "{template} {value:?} {alone} {era:?}: {completed:?}");
            }
        }
        let heard = script.heard("completion/complete");
        assert!(heard.iter().all(|params| !params["argument"].to_string().contains("etc")), "{heard:?}");
    }
}

/// Nobody has written a host yet who has written the beginning of a URL.
#[tokio::test]
async fn the_beginning_of_a_url_is_no_host() {
    let script = script();
    script.templates.lock().extend([
        json!({"name": "page", "uriTemplate": "page://get/{url}", "description": "Fetches a URL"}),
        json!({"name": "fetch", "uriTemplate": "one://fetch{?url,depth}", "description": "Fetches a URL"}),
    ]);
    let house =
        House::with(&[("s", script.clone()), ("t", script_of_another())], ServerPolicy::default, open_house).await;
    let client = house.client(Era::Legacy, "ann").await;
    for template in ["page://get/{url}", "s+page://get/{url}", "s+one://fetch{?url,depth}"] {
        for (value, passes) in [
            ("", true),
            ("h", true),
            ("HTTP", true),
            ("https:", true),
            ("https:/", true),
            ("https://", true),
            ("https://1.1.1.1/x", true),
            ("http://127.0.0.1/", false),
            ("http://localhost", false),
            ("http://169.254.169.254/latest", false),
        ] {
            let params = json!({
                "ref": {"type": "ref/resource", "uri": template}, "argument": {"name": "url", "value": value},
            });
            let completed = client.request("completion/complete", params).await;
            assert_eq!(completed.is_ok(), passes, "{template} {value:?}: {completed:?}");
        }
    }
}

/// A resource that is to be read as a task is a resource that is read.
#[tokio::test]
async fn a_resource_read_as_a_task_passes_the_same_gate() {
    let script = script();
    let house = House::new(&[("s", script.clone())]).await;
    narrowed(&house, "ann", Some(json!({"paths": ["/srv/ok/**"]}))).await;
    for era in ERAS {
        let (ann, eve) = (house.client(era, "ann").await, house.client(era, "eve").await);
        let task = json!({"ttl": 60_000});
        let read = |uri: &str| json!({"uri": uri, "task": task});
        assert!(ann.request("resources/read", read("file:///etc/shadow")).await.is_err(), "{era:?}");
        assert!(ann.request("resources/read", read("s+file:///etc/shadow")).await.is_err(), "{era:?}");
        assert!(eve.request("resources/read", read("file:///srv/ok/a")).await.is_err(), "{era:?}");
        let in_task = json!({"uri": "file:///srv/ok/a", "task": {"ttl": 1, "path": "/etc/shadow"}});
        assert!(ann.request("resources/read", in_task).await.is_err(), "{era:?}: what stands in the task is sent too");
        let before = script.heard("resources/read").len();
        assert!(ann.request("resources/read", read("file:///srv/ok/a")).await.is_ok(), "{era:?}");
        assert_eq!(script.heard("resources/read").len(), before + 1);
    }
    assert!(script.heard("resources/read").iter().all(|params| !params.to_string().contains("shadow")));
    let read = house.await_events("dev.switchboard.content_read", 2).await;
    assert!(read.iter().all(|event| event.details.contains_key("arguments_sha256")), "{read:?}");
}
