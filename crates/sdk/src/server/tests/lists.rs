//! The two ways to begin, lists, and notices of changes.

use super::*;
use crate::{BuildError, Eras, Json, NoArgs, Prompt, Resource, ResourceTemplate, TaskSupport, Tool, schema};

fn tool(name: &str) -> Tool {
    Tool::new::<NoArgs, ()>(name).handler(|_, _| async { Ok(()) })
}

fn full() -> Server {
    let server = Server::builder("t", "1.2").title("T").instructions("use it").tool(tool("a"));
    let long = Tool::new::<NoArgs, Json<Vec<u8>>>("b").task_support(TaskSupport::Optional);
    server
        .tool(long.handler(|_, _| async { Ok(Json(Vec::new())) }))
        .resource(Resource::new("x://a", "a").fixed("a"))
        .resource_template(ResourceTemplate::new("x://t/{v}", "t").reader(|_, _, _| async { Ok("t".into()) }))
        .prompt(Prompt::new("p").handler(|_, _| async { Ok(Vec::new()) }))
        .build()
        .expect("a server")
}

#[tokio::test]
async fn initialize_settles_on_a_revision() {
    let client = Client::new(&full(), Revision::LATEST_LEGACY, json!({}));
    for (asked, settled) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let result = client.call(method::INITIALIZE, json!({"protocolVersion": asked})).await.expect("a result");
        assert_eq!(result["protocolVersion"], settled, "{asked}");
        assert_eq!(result["serverInfo"], json!({"name": "t", "version": "1.2", "title": "T"}));
        assert_eq!(result["instructions"], "use it");
        let capabilities = &result["capabilities"];
        assert_eq!(capabilities["tools"], json!({"listChanged": true}));
        assert_eq!(capabilities["resources"], json!({"subscribe": true, "listChanged": true}));
        assert_eq!(capabilities["prompts"], json!({"listChanged": true}));
        assert_eq!(capabilities.get("completions"), None, "nothing completes");
        assert_eq!(capabilities.get("tasks").is_some(), settled == "2025-11-25");
        assert_eq!(capabilities.get("extensions"), None);
    }
    assert_eq!(code(client.call(method::INITIALIZE, json!({})).await), -32602);
}

#[tokio::test]
async fn discover() {
    let client = Client::new(&full(), Revision::LATEST, json!({}));
    let result = client.call(method::DISCOVER, json!({})).await.expect("a result");
    assert_eq!(result["supportedVersions"][0], "2026-07-28");
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["ttlMs"], 60_000);
    assert_eq!(result["cacheScope"], "public");
    assert_eq!(result["capabilities"]["extensions"], json!({(meta::TASKS_EXTENSION): {}}));
    assert_eq!(result["capabilities"].get("tasks"), None);
    assert_eq!(result["_meta"][meta::SERVER_INFO]["name"], "t");
}

#[tokio::test]
async fn an_empty_server_declares_nothing() {
    let server = Server::builder("t", "1").build().expect("a server");
    for revision in Revision::ALL {
        let client = Client::new(&server, revision, json!({}));
        for method in [
            method::TOOLS_LIST,
            method::PROMPTS_LIST,
            method::RESOURCES_LIST,
            method::RESOURCES_TEMPLATES_LIST,
            method::COMPLETE,
            method::TASKS_GET,
        ] {
            assert_eq!(code(client.call(method, json!({})).await), -32601, "{method}");
        }
    }
    let dynamic = Server::builder("t", "1").dynamic().build().expect("a server");
    let client = Client::new(&dynamic, Revision::LATEST, json!({}));
    assert_eq!(client.call(method::TOOLS_LIST, json!({})).await.expect("a list")["tools"], json!([]));
}

#[tokio::test]
async fn methods_of_the_other_era_do_not_exist() {
    let server = full();
    let modern = Client::new(&server, Revision::LATEST, json!({}));
    for method in [
        method::INITIALIZE,
        method::PING,
        method::SET_LEVEL,
        method::RESOURCES_SUBSCRIBE,
        method::RESOURCES_UNSUBSCRIBE,
        method::TASKS_RESULT,
        method::TASKS_LIST,
        "no/such",
    ] {
        assert_eq!(code(modern.call(method, json!({})).await), -32601, "{method}");
    }
    let legacy = Client::new(&server, Revision::LATEST_LEGACY, json!({}));
    for method in [method::DISCOVER, method::SUBSCRIPTIONS_LISTEN, method::TASKS_UPDATE, "no/such"] {
        assert_eq!(code(legacy.call(method, json!({})).await), -32601, "{method}");
    }
    assert_eq!(legacy.call(method::PING, json!({})).await, Ok(json!({})));
}

#[tokio::test]
async fn a_server_of_one_era() {
    let build = |eras| Server::builder("t", "1").tool(tool("a")).eras(eras).build().expect("a server");
    let legacy = Client::new(&build(Eras::Legacy), Revision::LATEST, json!({}));
    assert_eq!(code(legacy.call(method::DISCOVER, json!({})).await), -32601);
    let unknown = Client::new(&build(Eras::Legacy), Revision::LATEST_LEGACY, json!({}));
    let unknown = unknown.with_meta(json!({(meta::PROTOCOL_VERSION): "2030-01-01"}));
    assert_eq!(code(unknown.call(method::DISCOVER, json!({})).await), -32601, "no modern error from a legacy server");
    let modern = Client::new(&build(Eras::Modern), Revision::LATEST_LEGACY, json!({}));
    let error = modern.call(method::INITIALIZE, json!({"protocolVersion": "2025-06-18"})).await.expect_err("refused");
    assert_eq!(value(&error.data.expect("data"))["supported"], json!(["2026-07-28"]));
    assert_eq!(code(modern.call(method::TOOLS_LIST, json!({})).await), -32601);
}

#[tokio::test]
async fn requests_that_say_too_little_or_something_unknown() {
    let client = Client::new(&full(), Revision::LATEST, json!({}));
    let bare = raw(&json!({"_meta": {(meta::PROTOCOL_VERSION): "2026-07-28"}}));
    let request = Request::new(Id::number(1), method::TOOLS_LIST, Some(bare));
    let outcome = client.server.request(client.context(CancellationToken::new()), request).await.outcome;
    assert_eq!(outcome.map(|_| ()).expect_err("no capabilities").code, -32602);
    // On a connection that cannot tell the era, such a request arrives as a legacy one.
    let legacy = Client::new(&full(), Revision::LATEST_LEGACY, json!({}));
    let strange = legacy.with_meta(json!({(meta::PROTOCOL_VERSION): "v999"}));
    let error = strange.call(method::DISCOVER, json!({})).await.expect_err("unknown");
    assert_eq!(error.code, -32022);
    assert_eq!(value(&error.data.expect("data"))["requested"], "v999");
}

#[tokio::test]
async fn tools_as_each_revision_sees_them() {
    let server = full();
    for revision in Revision::ALL {
        let client = Client::new(&server, revision, json!({}));
        let result = client.call(method::TOOLS_LIST, json!({})).await.expect("a list");
        let modern = revision.era() == Era::Modern;
        assert_eq!(result["tools"][0]["name"], "a");
        let long = &result["tools"][1];
        let execution = json!({"taskSupport": "optional"});
        assert_eq!(long.get("execution"), (revision == Revision::V2025_11_25).then_some(&execution));
        // An output schema that is not an object's is known to the modern era only.
        assert_eq!(long.get("outputSchema").is_some(), modern);
        assert_eq!(result.get("ttlMs"), modern.then_some(&json!(60_000)));
    }
}

#[tokio::test]
async fn pages() {
    let mut server = Server::builder("t", "1").page_size(2);
    for n in 0..5 {
        server = server.tool(tool(&format!("tool-{n}")));
    }
    let client = Client::new(&server.build().expect("a server"), Revision::LATEST, json!({}));
    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let page = client.call(method::TOOLS_LIST, params).await.expect("a page");
        names.extend(page["tools"].as_array().expect("a list").iter().map(|tool| tool["name"].clone()));
        match page.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
    }
    assert_eq!(names, ["tool-0", "tool-1", "tool-2", "tool-3", "tool-4"]);
    assert_eq!(code(client.call(method::TOOLS_LIST, json!({"cursor": "what"})).await), -32602);
}

#[tokio::test]
async fn legacy_sessions_hear_of_changes() {
    let server = full();
    let client = Client::new(&server, Revision::LATEST_LEGACY, json!({}));
    let silent = Client::new(&server, Revision::LATEST_LEGACY, json!({}));
    client.initialized().await;
    client.call(method::RESOURCES_SUBSCRIBE, json!({"uri": "x://t/1"})).await.expect("subscribed");
    assert_eq!(code(client.call(method::RESOURCES_SUBSCRIBE, json!({"uri": "y://"})).await), -32002);
    server.add_tool(tool("c")).expect("a tool");
    assert!(server.remove_tool("c"));
    assert!(!server.remove_tool("c"));
    server.resource_updated("x://t/1");
    server.resource_updated("x://a");
    let told = |client: &Client| client.far.told.lock().iter().map(|(method, _)| method.clone()).collect::<Vec<_>>();
    assert_eq!(told(&client), [method::TOOLS_LIST_CHANGED, method::TOOLS_LIST_CHANGED, method::RESOURCES_UPDATED]);
    assert_eq!(client.far.told(method::RESOURCES_UPDATED), [json!({"uri": "x://t/1"})]);
    assert!(told(&silent).is_empty(), "it has not finished its handshake");
    client.call(method::RESOURCES_UNSUBSCRIBE, json!({"uri": "x://t/1"})).await.expect("unsubscribed");
    server.resource_updated("x://t/1");
    server.closed(&client.session);
    server.tools_changed();
    assert_eq!(told(&client).len(), 3);
}

#[tokio::test]
async fn streams_hear_of_what_they_asked_for() {
    let server = full();
    let client = Client::new(&server, Revision::LATEST, json!({}));
    let listen = client.call(
        method::SUBSCRIPTIONS_LISTEN,
        json!({"notifications": {
            "toolsListChanged": true, "promptsListChanged": false, "resourceSubscriptions": ["x://a", "y://unknown"]
        }}),
    );
    let (outcome, ()) = tokio::join!(listen, async {
        let acknowledged = client.far.hears(method::SUBSCRIPTIONS_ACKNOWLEDGED).await;
        let tag = json!({(meta::SUBSCRIPTION_ID): 7});
        assert_eq!(
            acknowledged,
            json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["x://a"]}, "_meta": tag}),
        );
        server.prompts_changed();
        server.resources_changed();
        server.tools_changed();
        server.resource_updated("x://a");
        server.resource_updated("x://t/1");
        assert_eq!(
            client.far.told.lock()[1..],
            [
                (method::TOOLS_LIST_CHANGED.to_owned(), json!({"_meta": tag})),
                (method::RESOURCES_UPDATED.to_owned(), json!({"uri": "x://a", "_meta": tag})),
            ],
        );
        server.shutdown();
    });
    let result = outcome.expect("a graceful end");
    assert_eq!((&result["resultType"], &result["_meta"][meta::SUBSCRIPTION_ID]), (&json!("complete"), &json!(7)));
    server.tools_changed();
    assert_eq!(client.far.told.lock().len(), 3, "the stream is closed");
}

#[test]
fn what_cannot_be_built() {
    let tools = |name: &str, schema: Value| {
        let tool = Tool::new::<NoArgs, ()>(name).input_schema(schema::raw(schema)).handler(|_, _| async { Ok(()) });
        Server::builder("t", "1").tool(tool).build()
    };
    let fine = json!({"type": "object"});
    assert!(tools("a.b/c-d_1", fine.clone()).is_ok());
    for name in ["", "with space", "é", &"x".repeat(129)] {
        assert!(matches!(tools(name, fine.clone()), Err(BuildError::Tool(_))), "{name:?}");
    }
    for schema in [
        json!({}),
        json!({"type": "array"}),
        json!({"type": "object", "properties": {"n": {"type": "number", "x-mcp-header": "N"}}}),
    ] {
        assert!(matches!(tools("a", schema.clone()), Err(BuildError::Tool(_))), "{schema}");
    }
    let twice = Server::builder("t", "1").tool(tool("a")).tool(tool("a")).build();
    assert!(matches!(twice, Err(BuildError::Duplicate("tool", _))));
    let template = ResourceTemplate::new("x://{a}{b}", "t").reader(|_, _, _| async { Ok("".into()) });
    assert!(matches!(Server::builder("t", "1").resource_template(template).build(), Err(BuildError::Template(_, _))));
    let prompt =
        Prompt::new("p").complete("x", |_, _, _| async { Ok(Vec::new()) }).handler(|_, _| async { Ok(Vec::new()) });
    assert!(matches!(Server::builder("t", "1").prompt(prompt).build(), Err(BuildError::Completion(_, _))));
}
