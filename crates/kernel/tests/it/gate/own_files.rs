//! Files of Switchboard itself: no call touches them unasked, whatever the operator says of the tool.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use switchboard_kernel::ServerPolicy;
use switchboard_policy::risk::OperatorWord;
use switchboard_protocol::Era;
use switchboard_protocol::mgp::{ApprovalPolicy, Risk, ValidatorName};
use switchboard_validators::arguments::{OwnFiles, Place};

use super::world::{ERAS, House, Script, kind_of, open_house, ran, tool};

#[tokio::test]
async fn a_call_that_names_one_is_held_whatever_was_said_of_the_tool() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::os::unix::fs::symlink(&data, folder.path().join("link")).unwrap();
    let script = Script::new(Era::Legacy, vec![tool("read_text")]);
    let policy = || {
        let word = OperatorWord { risk: Some(Risk::Safe), validator: Some(ValidatorName::None), confirm: Some(false) };
        ServerPolicy { tools: [("read_text".to_owned(), word)].into(), ..ServerPolicy::default() }
    };
    let place = (data.to_string_lossy().into_owned(), Place::Folder);
    let house = House::with(&[("files", script.clone())], policy, |gate| {
        open_house(gate);
        gate.approval_wait = Duration::from_millis(200);
        gate.approval_policy = ApprovalPolicy::AutoApprove;
        gate.own_files = Arc::new(OwnFiles::new(&[place], None));
    })
    .await;
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    for era in ERAS {
        let ann = house.client(era, "ann").await;
        for name in ["data/switchboard.db", "data", "other/../data/x", "link/x"] {
            let called = ann.call("read_text", json!({"anything": [path(name)]})).await;
            assert_eq!(kind_of(&called), "confirmation_required", "{name}: {called:?}");
        }
        assert!(ran(&ann.call("read_text", json!({"path": path("other.txt")})).await));
        let asks = house.client_with(Era::Legacy, "ann", json!({"elicitation": {"form": {}}})).await;
        asks.ear.answers.lock().push_back(json!({"action": "accept", "content": {"decision": "once"}}));
        assert!(ran(&asks.call("read_text", json!({"path": path("data/x")})).await));
        let question = asks.ear.asked.lock()[0].1["message"].as_str().unwrap().to_owned();
        assert!(question.contains("belongs to Switchboard itself"), "{question}");
    }
    assert_eq!(script.calls(), 4);
}
