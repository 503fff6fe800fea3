//! Fields that nobody here knows arrive unchanged at the far side, at every level, both ways, in all pairs of eras.

use switchboard_protocol::Era;
use switchboard_wire::Raw;

use crate::world::{PAIRS, client, raw, world};

#[tokio::test]
async fn what_the_client_adds_reaches_the_server() {
    for (ours, theirs) in PAIRS {
        let world = world(theirs).await;
        let client = client(&world.url, ours).await;
        let params = r#"{"name":"echo","arguments":{"a":{"b":[1.10,12345678901234567890123]}},"_mgp":{"stream":true},"scope":"x","_meta":{"own/key":{"n":1e400}}}"#;
        let seen = client.ask("tools/call", params).await.unwrap().member("seen").unwrap();
        for (path, expected) in [
            (&["arguments"][..], r#"{"a":{"b":[1.10,12345678901234567890123]}}"#),
            (&["_mgp"], r#"{"stream":true}"#),
            (&["scope"], r#""x""#),
            (&["_meta", "own/key"], r#"{"n":1e400}"#),
        ] {
            assert_eq!(
                seen.at(path).map(|raw| raw.as_str().to_owned()).as_deref(),
                Some(expected),
                "{ours:?} {theirs:?} {path:?}"
            );
        }
        // What the client says of itself: in `initialize` between legacy peers, with every request otherwise.
        let said = match theirs {
            Era::Modern => seen.member("_meta").unwrap(),
            Era::Legacy if ours == Era::Legacy => {
                raw(world.script.heard("initialize ").last().unwrap().split_once(' ').unwrap().1)
            }
            Era::Legacy => continue,
        };
        assert!(said.as_str().contains(r#""extensions":{"x.example/y":{"n":1.10}}"#), "{ours:?} {theirs:?}: {said:?}");
        assert!(
            said.as_str().contains(r#""x-caps":{"version":"0.3.0"}"#) && said.as_str().contains(r#""infoExtra":1.10"#)
        );
    }
}

#[tokio::test]
async fn what_the_server_adds_reaches_the_client() {
    for (ours, theirs) in PAIRS {
        let world = world(theirs).await;
        let client = client(&world.url, ours).await;
        let has =
            |raw: &Raw, text: &str| assert!(raw.as_str().contains(text), "{ours:?} {theirs:?}: {text} in {raw:?}");
        let tools = client.ask("tools/list", "{}").await.unwrap();
        has(&tools, r#""security":{"risk_level":"safe","x":1.10}"#);
        has(&tools, r#""x-odd":1e2"#);
        has(&tools, r#""_meta":{"list":"extra"},"listExtra":true"#);
        let echo = client.ask("tools/call", r#"{"name":"echo"}"#).await.unwrap();
        has(&echo, r#""blockExtra":2e0"#);
        has(&echo, r#""state":{"deep":[1.0]},"_mgp":{"k":"v"}"#);
        has(&client.ask("prompts/list", "{}").await.unwrap(), r#""promptExtra":1.0"#);
        has(&client.ask("prompts/get", r#"{"name":"hello"}"#).await.unwrap(), r#""promptResultExtra":1.0"#);
        has(&client.ask("resources/list", "{}").await.unwrap(), r#""resourceExtra":1.0"#);
        has(&client.ask("resources/read", r#"{"uri":"script://one"}"#).await.unwrap(), r#""contentExtra":1.0"#);
        let error = client.ask("tools/call", r#"{"name":"fails"}"#).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (-31999, "own code"));
        // What the kernel adds stands behind.
        let origin = r#""origin":{"server_id":"script","dialect":"mcp"}"#;
        assert_eq!(error.data.unwrap().as_str(), format!(r#"{{"why":1.0e1,"deep":{{"x":[]}},{origin}}}"#));
        assert_eq!(error.extra.get("errorExtra").map(Raw::as_str), Some("[1]"));
        let greeting = &client.connected.server;
        has(&greeting.capabilities, r#""x-caps":{"version":"0.3.0"},"experimental":{"odd":{"n":1.10}}"#);
        if ours == theirs {
            has(&greeting.result, r#""greetingExtra":[1.0]"#);
        }
        assert_eq!(greeting.instructions.as_deref(), Some("be kind"));
    }
}
