//! Pages of servers (MCP Apps) behind several servers: they reach the tools of their own server, and models are not offered
//! what is for pages alone.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_kernel::{GateOptions, Kernel, KernelOptions, Level, ServerPolicy, ToolContext};
use switchboard_peer::{Identity, Method};
use switchboard_protocol::Era;

use super::world::{Client, ERAS, Script, open_house, ran, spec, tool, tool_with};

const PAGE: &str = "ui://app/page.html";

/// A server with a tool that has a page, one for the page alone, and one that pages may not call.
fn monitor() -> Arc<Script> {
    let script = Script::new(
        Era::Legacy,
        vec![
            tool_with(
                "show",
                &json!({"description": "Shows how the machine is", "_meta": {"ui": {"resourceUri": PAGE}}}),
            ),
            tool_with(
                "poll",
                &json!({"description": "Polls how the machine is", "_meta": {"ui": {"visibility": ["app"]}}}),
            ),
            tool_with("ask", &json!({"description": "Asks", "_meta": {"ui": {"visibility": ["model"]}}})),
            tool("plain"),
        ],
    );
    *script.resources.lock() = vec![json!({"uri": PAGE, "name": "page", "mimeType": "text/html;profile=mcp-app"})];
    script
}

async fn kernel(level: Level, servers: &[(&str, Arc<Script>)]) -> Kernel {
    let mut gate = GateOptions::default();
    open_house(&mut gate);
    let tools = ToolContext { level: Some(level), ..ToolContext::default() };
    let kernel = Kernel::new(KernelOptions { gate, tools, ..KernelOptions::default() });
    kernel.apply(servers.iter().map(|(id, script)| spec(id, script.clone(), ServerPolicy::default())).collect());
    kernel.settled(Duration::from_secs(5)).await;
    kernel
}

async fn client(kernel: &Kernel, era: Era, capabilities: Value) -> Client {
    Client::new(kernel, Identity::new("ann", Method::Token).into(), era, capabilities).await
}

#[tokio::test]
async fn a_page_calls_the_tools_of_its_own_server_by_their_own_names() {
    for era in ERAS {
        let (sysmon, other) = (monitor(), Script::new(Era::Legacy, vec![tool("poll"), tool("secret")]));
        let kernel = kernel(Level::All, &[("sysmon", sysmon.clone()), ("other", other.clone())]).await;
        let host = client(&kernel, era, json!({})).await;
        assert!(!ran(&host.call("poll", json!({})).await), "no page is open yet");
        assert!(ran(&host.call("sysmon__show", json!({})).await));
        assert!(ran(&host.call("poll", json!({})).await));
        assert!(ran(&host.call("plain", json!({})).await), "what says nothing is for both");
        let heard: Vec<Value> = sysmon.heard("tools/call").iter().map(|call| call["name"].clone()).collect();
        assert_eq!(heard, ["show", "poll", "plain"]);
        for name in ["secret", "ask", "nothing"] {
            assert!(!ran(&host.call(name, json!({})).await), "{name}");
        }
        assert_eq!(other.calls(), 0, "only its own server's");
    }
}

#[tokio::test]
async fn a_page_of_another_client_opens_nothing() {
    let kernel =
        kernel(Level::All, &[("sysmon", monitor()), ("other", Script::new(Era::Legacy, vec![tool("x")]))]).await;
    let (ann, bob) = (client(&kernel, Era::Legacy, json!({})).await, client(&kernel, Era::Legacy, json!({})).await);
    ann.request("resources/read", json!({"uri": PAGE})).await.unwrap();
    assert!(ran(&ann.call("poll", json!({})).await), "who has read the page has it open");
    assert!(!ran(&bob.call("poll", json!({})).await));
}

#[tokio::test]
async fn pages_that_two_servers_call_the_same_are_told_apart_and_their_tools_name_them() {
    let kernel = kernel(Level::All, &[("one", monitor()), ("two", monitor())]).await;
    let host = client(&kernel, Era::Modern, json!({})).await;
    let list = host.request("tools/list", json!({})).await.unwrap();
    for (name, page) in [("one__show", "ui://one+app/page.html"), ("two__show", "ui://two+app/page.html")] {
        let found = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        assert_eq!(found["_meta"]["ui"]["resourceUri"], page);
        let read = host.request("resources/read", json!({"uri": page})).await.unwrap();
        assert_eq!(read["contents"][0]["uri"], page);
    }
    let both = host.call("poll", json!({})).await;
    assert!(!ran(&both) && format!("{both:?}").contains("one__poll"), "nobody can say whose page it is: {both:?}");
}

#[tokio::test]
async fn a_page_that_its_server_does_not_list_can_be_read() {
    let sysmon = monitor();
    sysmon.resources.lock().clear();
    let kernel = kernel(Level::All, &[("sysmon", sysmon), ("other", Script::new(Era::Legacy, vec![tool("x")]))]).await;
    let host = client(&kernel, Era::Legacy, json!({})).await;
    assert_eq!(host.request("resources/read", json!({"uri": PAGE})).await.unwrap()["contents"][0]["uri"], PAGE);
}

#[tokio::test]
async fn models_are_not_offered_what_is_for_pages_alone() {
    let servers = || [("sysmon", monitor()), ("other", Script::new(Era::Legacy, vec![tool("x")]))];
    let pages = json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}});
    for era in ERAS {
        let all = kernel(Level::All, &servers()).await;
        let plain = client(&all, era, json!({})).await.list("tools").await;
        assert_eq!(plain, ["sysmon__show", "sysmon__ask", "sysmon__plain", "other__x"]);
        let host = client(&all, era, pages.clone()).await.list("tools").await;
        assert!(host.contains(&"sysmon__poll".to_owned()), "a host that shows pages keeps it from the model: {host:?}");

        let hybrid = kernel(Level::Hybrid, &servers()).await;
        let ann = client(&hybrid, era, pages.clone()).await;
        let asked = json!({"query": "poll how the machine is", "max_results": 10});
        let found = ann.call("mgp_tools_discover", asked).await.unwrap();
        let names: Vec<&Value> =
            found["structuredContent"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert!(names.contains(&&json!("sysmon__show")) && !names.contains(&&json!("sysmon__poll")), "{names:?}");
        let shown = ann.call("mgp_tools_call", json!({"name": "sysmon__show", "arguments": {}})).await.unwrap();
        assert_eq!(shown["_meta"]["ui"]["resourceUri"], PAGE, "the page of what was called");
    }
}
