//! Settings that change while a call waits for a person: it is judged by the new ones, at once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::{Curated, GateOptions, PromptPolicy, ServerPolicy, ServerSpec};
use switchboard_peer::{BoxFuture, Context, Handler, Reply};
use switchboard_protocol::Era;
use switchboard_protocol::mgp::DefaultPolicy;
use switchboard_store::{Reuse, Verdict};
use switchboard_wire::{ErrorObject, Notification, Request};

use super::world::{ERAS, House, Script, dangerous, open_house, ran, spec, tool};

/// Longer than a change takes to count, shorter than a question may wait.
const SOON: Duration = Duration::from_secs(3);

fn later() -> jiff::Timestamp {
    jiff::Timestamp::now() + jiff::SignedDuration::from_mins(5)
}

fn two() -> (Arc<Script>, Arc<Script>) {
    (Script::new(Era::Legacy, vec![dangerous("drop")]), Script::new(Era::Legacy, vec![tool("read")]))
}

/// Makes a call that is held, changes something, and waits for how it ends: nothing where it waits on.
async fn held(
    house: &House,
    name: &str,
    era: Era,
    change: impl AsyncFnOnce(String),
) -> Option<Result<Value, ErrorObject>> {
    let ann = house.client(era, "ann").await;
    let changing = async {
        let held = house.await_events("dev.switchboard.call_held", 1).await;
        change(held[0].details["approval"].as_str().unwrap().to_owned()).await;
    };
    let calling = tokio::time::timeout(SOON, ann.call(name, json!({"table": "users"})));
    let (called, ()) = tokio::join!(calling, changing);
    called.ok()
}

async fn house(one: &Arc<Script>, other: &Arc<Script>) -> House {
    House::with(&[("files", one.clone()), ("other", other.clone())], ServerPolicy::default, open_house).await
}

fn of_files(script: &Arc<Script>, policy: ServerPolicy, fingerprint: &str) -> ServerSpec {
    ServerSpec { fingerprint: fingerprint.to_owned(), ..spec("files", script.clone(), policy) }
}

/// Settings that fix an argument of the tool.
fn fixed() -> ServerPolicy {
    let fixed = std::iter::once(("table".to_owned(), json!("scratch"))).collect();
    let curated = Arc::new(Curated { fixed, ..Curated::default() });
    ServerPolicy { curated: std::iter::once(("drop".to_owned(), curated)).collect(), ..ServerPolicy::default() }
}

/// A held call whose server is taken out of the configuration is refused there and then.
#[tokio::test]
async fn a_held_call_ends_at_once_with_its_server() {
    for era in ERAS {
        let (one, other) = two();
        let house = house(&one, &other).await;
        let called = held(&house, "files__drop", era, async |_| {
            house.kernel.apply(vec![spec("other", other.clone(), ServerPolicy::default())]);
        });
        let called = called.await.expect("it ends");
        assert!(!ran(&called), "{called:?}");
        assert_eq!(one.calls(), 0);
        assert_eq!(house.store.approvals().pending(jiff::Timestamp::now(), 10).await.unwrap().len(), 0);
        let rejected = house.await_events("TOOL_REJECTED", 1).await;
        assert!(rejected[0].details["reason"].as_str().unwrap().contains("has gone"), "{rejected:?}");
    }
}

/// The same where the operator switches the tool off, where the new settings close the door, and where the server that takes
/// the place of the old one has no such tool, or another one of the name.
#[tokio::test]
async fn a_held_call_is_judged_by_the_new_settings() {
    for what in ["disabled", "closed", "another server", "fixed arguments", "another definition"] {
        let (one, other) = two();
        let house = house(&one, &other).await;
        let rest = || spec("other", other.clone(), ServerPolicy::default());
        let called = held(&house, "files__drop", Era::Legacy, async |_| match what {
            "disabled" => {
                let policy = ServerPolicy { disabled: ["drop".to_owned()].into(), ..ServerPolicy::default() };
                house.kernel.apply(vec![of_files(&one, policy, "1"), rest()]);
            }
            "fixed arguments" => {
                house.kernel.apply(vec![spec("files", one.clone(), fixed()), rest()]);
            }
            "closed" => house.kernel.judge_by(GateOptions {
                store: Some(house.store.clone()),
                default_policy: Some(DefaultPolicy::OptIn),
                ..GateOptions::default()
            }),
            "another server" => {
                house.kernel.apply(vec![
                    of_files(&Script::new(Era::Legacy, vec![tool("list")]), ServerPolicy::default(), "2"),
                    rest(),
                ]);
            }
            _ => {
                let mut changed = dangerous("drop");
                changed["description"] = "Drops it, and mails a copy to somebody.".into();
                house.kernel.apply(vec![
                    of_files(&Script::new(Era::Legacy, vec![changed]), ServerPolicy::default(), "2"),
                    rest(),
                ]);
            }
        });
        let called = called.await.unwrap_or_else(|| panic!("{what}: it ends"));
        assert!(!ran(&called), "{what}: {called:?}");
        assert_eq!(one.calls(), 0, "{what}");
    }
}

/// A reload that does not concern the call, or starts its server anew with the same tools, leaves it waiting: it can be
/// approved, and is made at the server that is there now.
#[tokio::test]
async fn a_held_call_that_is_still_the_same_can_be_approved_after_a_reload() {
    for what in ["the same", "started anew", "other options"] {
        let (one, other) = two();
        let house = house(&one, &other).await;
        let new = Script::new(Era::Legacy, vec![dangerous("drop")]);
        let called = held(&house, "files__drop", Era::Legacy, async |id| {
            let rest = || spec("other", other.clone(), ServerPolicy::default());
            match what {
                "the same" => house.kernel.apply(vec![of_files(&one, ServerPolicy::default(), "1"), rest()]),
                "started anew" => house.kernel.apply(vec![of_files(&new, ServerPolicy::default(), "2"), rest()]),
                _ => house.kernel.judge_by(GateOptions {
                    store: Some(house.store.clone()),
                    default_policy: Some(DefaultPolicy::OptOut),
                    audit_arguments: true,
                    ..GateOptions::default()
                }),
            }
            house.kernel.settled(Duration::from_secs(5)).await;
            tokio::time::sleep(Duration::from_millis(300)).await;
            let decided =
                house.operator_actions().answer(&[id], Verdict::Approve(Reuse::Once), None, later()).await.unwrap();
            assert_eq!(decided.len(), 1, "{what}: it waits");
        });
        let called = called.await.unwrap_or_else(|| panic!("{what}: it is made"));
        assert!(ran(&called), "{what}: {called:?}");
        let made = if what == "started anew" { (0, 1) } else { (1, 0) };
        assert_eq!((one.calls(), new.calls()), made, "{what}");
    }
}

/// A server that comes makes the names of the only one longer. What a person is asked about has gone nowhere.
#[tokio::test]
async fn a_held_call_goes_on_under_a_longer_name() {
    let (one, other) = two();
    let house = House::with(&[("files", one.clone())], ServerPolicy::default, open_house).await;
    let called = held(&house, "drop", Era::Legacy, async |id| {
        let both =
            vec![of_files(&one, ServerPolicy::default(), "1"), spec("other", other.clone(), ServerPolicy::default())];
        house.kernel.apply(both);
        house.kernel.settled(Duration::from_secs(5)).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let decided =
            house.operator_actions().answer(&[id], Verdict::Approve(Reuse::Once), None, later()).await.unwrap();
        assert_eq!(decided.len(), 1, "it waits");
    });
    assert!(ran(&called.await.expect("it is made")));
    assert_eq!((one.calls(), other.calls()), (1, 0));
}

/// A server that takes its time to start.
struct Late {
    script: Arc<Script>,
    begin: tokio::sync::Notify,
}

impl Handler for Late {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            if matches!(&*request.method, "initialize" | "server/discover") {
                self.begin.notified().await;
                self.begin.notify_one();
            }
            self.script.request(context, request).await
        })
    }

    fn notification(&self, context: Context, notification: Notification) -> BoxFuture<'_, ()> {
        self.script.notification(context, notification)
    }
}

/// A reload starts the server anew, and that takes a while. What the operator switched off is refused meanwhile; whether the
/// server still has the tool is known once it is there, whether its lists look as before or not.
#[tokio::test]
async fn a_held_call_ends_though_its_server_is_slow_to_start() {
    for what in ["switched off", "left out", "fixed arguments", "gone", "the same"] {
        let (one, other) = two();
        let house = house(&one, &other).await;
        let script = if what == "gone" {
            Script::new(Era::Legacy, vec![tool("list")])
        } else {
            Script::new(Era::Legacy, vec![dangerous("drop")])
        };
        let late = Arc::new(Late { script: script.clone(), begin: tokio::sync::Notify::new() });
        let called = held(&house, "files__drop", Era::Legacy, async |_| {
            let off = ServerPolicy { disabled: ["drop".to_owned()].into(), ..ServerPolicy::default() };
            let policy = match what {
                "switched off" => off,
                "left out" => ServerPolicy { only_tools: Some(["list".to_owned()].into()), ..ServerPolicy::default() },
                "fixed arguments" => fixed(),
                _ => ServerPolicy::default(),
            };
            let is_said = !matches!(what, "gone" | "the same");
            let files = ServerSpec { fingerprint: "2".to_owned(), ..spec("files", late.clone(), policy) };
            house.kernel.apply(vec![files, spec("other", other.clone(), ServerPolicy::default())]);
            tokio::time::sleep(Duration::from_millis(300)).await;
            if !is_said {
                late.begin.notify_one();
            }
        });
        let called = called.await;
        assert_eq!(called.is_none(), what == "the same", "{what}: {called:?}");
        assert!(called.is_none_or(|called| !ran(&called)), "{what}");
        assert_eq!((one.calls(), script.calls()), (0, 0), "{what}");
    }
}

/// A prompt that goes away while a person is asked about it is answered for as a prompt: nobody called a tool.
#[tokio::test]
async fn a_prompt_that_goes_while_it_is_held_is_answered_for_as_a_prompt() {
    for switched_off in [false, true] {
        let script = Script::new(Era::Legacy, vec![tool("read")]);
        let arguments = json!([{"name": "command", "required": true}]);
        *script.prompts.lock() = vec![json!({"name": "run_command", "arguments": arguments})];
        let house = House::with(&[("files", script.clone())], ServerPolicy::default, open_house).await;
        let ann = house.client(Era::Legacy, "ann").await;
        let going = async {
            house.await_events("dev.switchboard.call_held", 1).await;
            if switched_off {
                let said = PromptPolicy { disabled: true, ..PromptPolicy::default() };
                let prompts = std::iter::once(("run_command".to_owned(), said)).collect();
                house.kernel.apply(vec![of_files(&script, ServerPolicy { prompts, ..ServerPolicy::default() }, "")]);
            } else {
                script.prompts.lock().clear();
                script.tools_changed();
            }
        };
        let get = json!({"name": "run_command", "arguments": {"command": "ls"}});
        let (got, ()) = tokio::join!(ann.request("prompts/get", get), going);
        let refused = got.expect_err("it is not there any more");
        let data: Value = refused.data.as_ref().unwrap().view().unwrap();
        assert_eq!((refused.code, &data["kind"]), (-32602, &json!("unknown_prompt")), "{refused:?}");
        assert!(refused.message.starts_with("`run_command` was not got: it "), "{refused:?}");
        assert!(data["suggestion"].as_str().unwrap().starts_with("list the prompts again"), "{data}");
        assert!(script.heard("prompts/get").is_empty());
    }
}
