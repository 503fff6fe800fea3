//! Values that act: a call is held for what it carries, where nothing about its tool says that it takes such a thing.

use std::time::Duration;

use serde_json::json;
use switchboard_kernel::ServerPolicy;
use switchboard_policy::risk::OperatorWord;
use switchboard_protocol::Era;
use switchboard_protocol::mgp::ApprovalPolicy;

use super::world::{ERAS, House, Script, kind_of, open_house, ran, tool};

#[tokio::test]
async fn a_call_whose_value_acts_is_held_and_an_honest_one_passes() {
    let tools = vec![tool("create_job"), tool("add_note"), tool("create_plan")];
    let script = Script::new(Era::Legacy, tools);
    let policy = || {
        let word = OperatorWord { confirm: Some(false), ..OperatorWord::default() };
        ServerPolicy { tools: [("create_plan".to_owned(), word)].into(), ..ServerPolicy::default() }
    };
    let house = House::with(&[("jobs", script.clone())], policy, |gate| {
        open_house(gate);
        gate.approval_wait = Duration::from_millis(200);
        // Also where asking was switched off.
        gate.approval_policy = ApprovalPolicy::AutoApprove;
    })
    .await;
    let acts = json!({"task": {"parts": ["rm -rf /srv"]}});
    for era in ERAS {
        let ann = house.client(era, "ann").await;
        let called = ann.call("create_job", acts.clone()).await;
        assert_eq!(kind_of(&called), "confirmation_required", "{called:?}");
        assert!(ran(&ann.call("create_job", json!({"task": "water the plants; then rest"})).await));
        assert!(ran(&ann.call("add_note", json!({"content": "never run rm -rf /srv", "line": "rm -rf /srv"})).await));
        // The operator has spoken of this one.
        assert!(ran(&ann.call("create_plan", acts.clone()).await));
    }
    let asks = house.client_with(Era::Legacy, "ann", json!({"elicitation": {"form": {}}})).await;
    asks.ear.answers.lock().push_back(json!({"action": "accept", "content": {"decision": "once"}}));
    assert!(ran(&asks.call("create_job", acts).await));
    let question = asks.ear.asked.lock()[0].1["message"].as_str().unwrap().to_owned();
    assert!(question.contains("at /task/parts/0: `rm -rf /srv` reads as a command"), "{question}");
}

/// A prompt and the address of a resource carry values as a call does. What a server lists itself is no value of a client.
#[tokio::test]
async fn prompts_and_addresses_whose_values_act_are_held() {
    let script = Script::new(Era::Legacy, vec![tool("look")]);
    let arguments = json!([{"name": "file"}]);
    *script.prompts.lock() = vec![json!({"name": "summarize", "description": "Summarizes it", "arguments": arguments})];
    *script.resources.lock() = vec![json!({"uri": "doc:///root/.ssh/listed", "name": "one"})];
    *script.templates.lock() =
        vec![json!({"uriTemplate": "doc://{+path}", "name": "any", "description": "A document"})];
    let house = House::with(&[("docs", script.clone())], ServerPolicy::default, |gate| {
        open_house(gate);
        gate.approval_wait = Duration::from_millis(200);
        gate.approval_policy = ApprovalPolicy::AutoApprove;
    })
    .await;
    for era in ERAS {
        let ann = house.client(era, "ann").await;
        let asked = async |method: &str, params: serde_json::Value| match ann.request(method, params).await {
            Ok(_) => false,
            Err(error) => {
                let kind = error.data.as_ref().and_then(|data| data.member("kind")?.as_text());
                assert_eq!(kind.as_deref(), Some("confirmation_required"), "{error:?}");
                true
            }
        };
        for (arguments, acts) in [
            (json!({"file": "~/.ssh/id_rsa"}), true),
            (json!({"file": "/etc/shadow"}), true),
            (json!({"file": "a.txt", "command": "rm -rf /tmp/x"}), true),
            (json!({"file": "{\"file\":\"/etc/shadow\"}"}), true),
            (json!({"file": "notes/today.txt"}), false),
        ] {
            let params = json!({"name": "summarize", "arguments": arguments});
            assert_eq!(asked("prompts/get", params).await, acts, "{era:?} {arguments}");
        }
        for (uri, acts) in [
            ("doc:///root/.ssh/id_rsa", true),
            ("doc://~/.ssh/id_rsa", true),
            ("doc:///root/%2Essh/id_rsa", true),
            ("doc:///srv/notes/today.txt", false),
            ("doc:///home/ann/.bashrc", false),
            ("doc:///root/.ssh/listed", false),
        ] {
            assert_eq!(asked("resources/read", json!({"uri": uri})).await, acts, "{era:?} {uri}");
        }
    }
}
