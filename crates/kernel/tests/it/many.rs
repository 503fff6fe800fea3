//! Several servers behind one door, some of them broken.

use std::sync::Arc;
use std::time::Duration;

use switchboard_kernel::{Kernel, KernelOptions, Phase, Sharing};
use switchboard_protocol::Era;

use crate::world::{Script, client, serve, spec};

async fn two() -> (Arc<Script>, Arc<Script>, Kernel, String) {
    let (one, other) = (Script::new(Era::Legacy), Script::new(Era::Modern));
    let kernel = Kernel::new(KernelOptions { list_wait: Duration::from_millis(800), ..crate::world::open_to_all() });
    kernel.apply(vec![
        spec("one", &serve(one.clone()).await, Sharing::PerSession),
        spec("other.server", &serve(other.clone()).await, Sharing::PerSession),
        // Nobody listens there: the port was free a moment ago and is refused now.
        spec("gone", "http://127.0.0.1:9/mcp", Sharing::PerSession),
    ]);
    let url = serve(Arc::new(kernel.clone())).await;
    (one, other, kernel, url)
}

#[tokio::test]
async fn names_tell_servers_apart_and_a_dead_one_hides_nobody() {
    let (one, other, kernel, url) = two().await;
    for era in [Era::Legacy, Era::Modern] {
        let client = client(&url, era).await;
        let tools = client.ask("tools/list", "{}").await.unwrap();
        assert_eq!(tools.member("tools").unwrap().elements().unwrap().len(), 10);
        assert!(
            tools.as_str().contains(r#""name":"one__echo""#)
                && tools.as_str().contains(r#""name":"other_server__echo""#)
        );
        for tool in ["one__echo", "other_server__echo"] {
            let result = client.ask("tools/call", &format!(r#"{{"name":"{tool}"}}"#)).await.unwrap();
            assert_eq!(result.at(&["seen", "name"]).unwrap().as_str(), r#""echo""#);
        }
        assert_eq!(client.ask("tools/call", r#"{"name":"echo"}"#).await.unwrap_err().code, -32602);
        // Both servers claim the same resource: each has its own address for it.
        assert!(client.ask("resources/read", r#"{"uri":"script://one"}"#).await.is_err());
        let read = client.ask("resources/read", r#"{"uri":"other.server+script://one"}"#).await.unwrap();
        assert!(read.as_str().contains(r#""uri":"other.server+script://one""#), "{read:?}");
        client.ask("prompts/get", r#"{"name":"other_server__hello"}"#).await.unwrap();
        assert_eq!(client.ask("vendor/own", "{}").await.unwrap_err().code, -32601);
    }
    assert!(one.heard("resources/read").is_empty());
    assert_eq!(other.heard("resources/read").len(), 2);
    let status = kernel.status();
    assert!(matches!(&status[2].phase, Phase::Failed(_)), "{status:?}");
}

#[tokio::test]
async fn a_call_to_a_dead_server_says_so_at_once() {
    let script = Script::new(Era::Legacy);
    let kernel = Kernel::new(crate::world::open_to_all());
    kernel.apply(vec![spec("script", &serve(script).await, Sharing::Shared)]);
    kernel.settled(Duration::from_secs(5)).await;
    let url = serve(Arc::new(kernel.clone())).await;
    let client = client(&url, Era::Legacy).await;
    kernel.apply(Vec::new());
    let error = client.ask("tools/call", r#"{"name":"echo"}"#).await.unwrap_err();
    assert_eq!(error.code, -32602, "{error}");
}

#[tokio::test]
async fn a_server_that_takes_the_kernels_prefix_is_refused() {
    let script = Script::new(Era::Legacy);
    script.more_tools.lock().push("mgp.access.grant".to_owned());
    let kernel = Kernel::new(crate::world::open_to_all());
    kernel.apply(vec![spec("script", &serve(script).await, Sharing::Shared)]);
    kernel.settled(Duration::from_secs(5)).await;
    let status = kernel.status();
    assert!(matches!(&status[0].phase, Phase::Refused(why) if why.contains("mgp.access.grant")), "{status:?}");
    let url = serve(Arc::new(kernel)).await;
    let client = client(&url, Era::Modern).await;
    assert!(client.ask("tools/call", r#"{"name":"echo"}"#).await.is_err());
}
