//! Roots that a client announces: they tell a server where relative paths begin, and give nobody a right.

use std::time::Duration;

use serde_json::json;
use serde_json::value::RawValue;
use switchboard_protocol::Era;

use super::world::{House, Script, entry, ran, tool};

/// A limit holds for relative paths from every place where the server may begin, those that the client names included.
#[tokio::test]
async fn a_clients_roots_widen_no_limit() {
    for (client, server) in
        [(Era::Legacy, Era::Legacy), (Era::Legacy, Era::Modern), (Era::Modern, Era::Modern), (Era::Modern, Era::Legacy)]
    {
        let at = format!("{client:?} {server:?}");
        let script = Script::new(server, vec![tool("roots"), tool("read")]);
        let house = House::new(&[("files", script.clone())]).await;
        let here = std::env::current_dir().unwrap();
        let here = here.to_str().unwrap();
        let mut limited = entry("ann", "files", None, true);
        let limits = json!({"paths": [format!("{here}/**")]}).to_string();
        limited.scopes = Some(RawValue::from_string(limits).unwrap());
        house.operator_actions().grant_access(limited).await.unwrap();
        tokio::time::sleep(Duration::from_millis(220)).await;
        let ann = house.client_with(client, "ann", json!({"roots": {}})).await;
        let read = async |path: &str| ran(&ann.call("read", json!({"path": path})).await);
        assert!(read("notes/a.txt").await, "{at}: from where the server was started");
        let announce = async |roots: &[&str]| {
            let roots: Vec<_> = roots.iter().map(|uri| json!({"uri": uri, "name": "r"})).collect();
            let answer = json!({"roots": roots});
            if client == Era::Legacy {
                ann.ear.answers.lock().push_back(answer);
                ann.call("roots", json!({})).await.unwrap();
                return;
            }
            let asked = ann.call("roots", json!({})).await.unwrap();
            let key = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
            let params = json!({
                "name": "roots", "arguments": {}, "requestState": asked["requestState"], "inputResponses": {key: answer},
            });
            ann.request("tools/call", params).await.unwrap();
        };
        announce(&[&format!("file://{here}/sub")]).await;
        assert!(read("notes/a.txt").await, "{at}: inside from there as well");
        announce(&["file:///etc"]).await;
        assert!(!read("passwd").await, "{at}: it may begin in /etc");
        assert!(!read("/etc/passwd").await, "{at}: a root is no grant");
        assert!(read(&format!("{here}/notes/a.txt")).await, "{at}: what is whole begins nowhere else");
        let paths = script.heard("tools/call");
        assert!(paths.iter().all(|params| !params["arguments"].to_string().contains("passwd")), "{paths:?}");
    }
}
