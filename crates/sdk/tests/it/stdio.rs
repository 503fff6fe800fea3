//! Lines of messages, as on standard input and output.

use switchboard_peer::duplex::{DuplexOptions, Role, start};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

use super::*;

struct Pipe {
    write: WriteHalf<DuplexStream>,
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Pipe {
    fn to(server: Server) -> Self {
        let (near, far) = tokio::io::duplex(64 << 10);
        let (read, write) = tokio::io::split(far);
        start(read, write, DuplexOptions::new(Role::Server), server.into_handler());
        let (read, write) = tokio::io::split(near);
        Self { write, read: BufReader::new(read).lines() }
    }

    async fn send(&mut self, message: &Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.expect("it is open");
    }

    async fn next(&mut self) -> Value {
        let line = self.read.next_line().await.expect("it is open").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }
}

#[tokio::test]
async fn a_legacy_client() {
    let server = server();
    let mut pipe = Pipe::to(server.clone());
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    pipe.send(&request(1, "initialize", &hello)).await;
    assert_eq!(pipe.next().await["result"]["protocolVersion"], "2025-06-18");
    pipe.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let call = json!({"name": "greet", "arguments": {"name": "Ada"}, "_meta": {"progressToken": "p"}});
    pipe.send(&request(2, "tools/call", &call)).await;
    assert_eq!(pipe.next().await["params"]["progressToken"], "p");
    let answer = pipe.next().await;
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(2), &json!("Hello, Ada!")));
    server.tools_changed();
    assert_eq!(pipe.next().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_modern_client() {
    let server = server();
    let mut pipe = Pipe::to(server.clone());
    pipe.send(&request(1, "server/discover", &modern(json!({})))).await;
    assert_eq!(pipe.next().await["result"]["resultType"], "complete");
    let wanted = json!({"notifications": {"resourceSubscriptions": ["x://a"]}});
    pipe.send(&request(2, "subscriptions/listen", &modern(wanted))).await;
    assert_eq!(pipe.next().await["method"], "notifications/subscriptions/acknowledged");
    // A list that changes is news to nobody here: this client never began as a legacy one.
    server.tools_changed();
    server.resource_updated("x://a");
    let news = pipe.next().await;
    assert_eq!(news["method"], "notifications/resources/updated");
    assert_eq!(news["params"]["_meta"][meta::SUBSCRIPTION_ID], 2);
    pipe.send(&request(3, "tools/call", &modern(json!({"name": "greet", "arguments": {"name": "Ada"}})))).await;
    assert_eq!(pipe.next().await["result"]["content"][0]["text"], "Hello, Ada!");
    pipe.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})).await;
    pipe.send(&request(4, "tools/list", &modern(json!({})))).await;
    let listed = pipe.next().await;
    assert_eq!(listed["id"], 4);
    assert!(listed["result"]["tools"].is_array());
    let unknown = json!({"_meta": {(meta::PROTOCOL_VERSION): "2030-01-01", (meta::CLIENT_CAPABILITIES): {}}});
    pipe.send(&request(5, "server/discover", &unknown)).await;
    assert_eq!(pipe.next().await["error"]["code"], -32022);
}
