//! Tools, prompts, resources, completions, and what handlers tell.

use std::sync::atomic::{AtomicU32, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use switchboard_protocol::mcp::{CallToolResult, LoggingLevel};
use switchboard_protocol::mgp::Extension;

use super::*;
use crate::{Error, Json, NoArgs, Prompt, Resource, ResourceTemplate, Tool, user};

#[derive(Deserialize, JsonSchema)]
struct Pair {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

fn server() -> Server {
    Server::builder("t", "1")
        .tool(
            Tool::new::<Pair, Json<Sum>>("add")
                .handler(|_, pair| async move { Ok(Json(Sum { sum: pair.a + pair.b })) }),
        )
        .tool(Tool::new::<NoArgs, Json<Vec<u8>>>("list").handler(|_, _| async { Ok(Json(vec![1, 2])) }))
        .tool(Tool::new::<NoArgs, String>("fail").handler(|_, _| async { Err(Error::msg("no text")) }))
        .tool(Tool::new::<NoArgs, String>("panic").handler(|_, _| async { panic!("oh") }))
        .tool(
            Tool::new::<NoArgs, ()>("object")
                .handler(|_, _| async { Err(Error::object(ErrorObject::new(42, "as it is"))) }),
        )
        .tool(Tool::new::<NoArgs, ()>("talk").handler(|ctx, _| async move {
            for progress in [0.0, 1.0, 1.0, 0.5, 2.5, f64::NAN] {
                ctx.progress(progress, Some(3.0), Some("on"));
            }
            ctx.log(LoggingLevel::Debug, None, "quiet");
            ctx.log(LoggingLevel::Error, Some("part"), json!({"why": 1}));
            let later = ctx.clone();
            tokio::spawn(async move {
                later.cancelled().await;
                later.progress(3.0, None, None);
            });
            Ok(())
        }))
        .resource(Resource::new("x://text", "text").mime_type("text/plain").fixed("abc"))
        .resource(Resource::new("x://bytes", "bytes").fixed(vec![0u8, 255]))
        .resource(
            Resource::new("x://gone", "gone").reader(|_, uri| async move { Err(Error::resource_not_found(&uri)) }),
        )
        .resource_template(
            ResourceTemplate::new("x://items/{id}", "item")
                .complete("id", |_, typed, settled| async move { Ok(vec![format!("{typed}!{}", settled.len())]) })
                .reader(|_, uri, variables| async move { Ok(format!("{uri} is {}", variables["id"]).into()) }),
        )
        .prompt(
            Prompt::new("ask")
                .description("asks")
                .required("who", "whom")
                .optional("how", "in which way")
                .complete("who", |_, typed, _| async move { Ok((0..150).map(|n| format!("{typed}{n}")).collect()) })
                .handler(|_, arguments| async move { Ok(vec![user(format!("ask {}", arguments["who"]))]) }),
        )
        .build()
        .expect("a server")
}

fn client(revision: Revision) -> Client {
    Client::new(&server(), revision, json!({}))
}

#[tokio::test]
async fn results_of_tools_in_every_revision() {
    for revision in Revision::ALL {
        let client = client(revision);
        let modern = revision.era() == Era::Modern;
        let result = client.tool("add", json!({"a": 2, "b": 3})).await.expect("a result");
        assert_eq!(result["structuredContent"], json!({"sum": 5}));
        assert_eq!(text(&result), r#"{"sum":5}"#);
        assert_eq!(result.get("resultType"), modern.then_some(&json!("complete")));
        assert_eq!(result.get("_meta"), modern.then_some(&json!({(meta::SERVER_INFO): {"name": "t", "version": "1"}})));
        // Structured content that is no object exists in the modern era only.
        let list = client.tool("list", json!({})).await.expect("a result");
        assert_eq!(list.get("structuredContent"), modern.then_some(&json!([1, 2])));
        assert_eq!(text(&list), "[1,2]");
        // Arguments may be left out.
        client.call(method::TOOLS_CALL, json!({"name": "list"})).await.expect("a result");
    }
}

#[tokio::test]
async fn failures_of_tools_in_every_revision() {
    for revision in Revision::ALL {
        let client = client(revision);
        let failed = client.tool("fail", json!({})).await.expect("a tool error");
        assert_eq!((failed["isError"].as_bool(), text(&failed)), (Some(true), "no text"));
        assert_eq!(code(client.tool("panic", json!({})).await), -32603, "{revision}");
        assert_eq!(code(client.tool("object", json!({})).await), 42);
        assert_eq!(code(client.tool("unknown", json!({})).await), -32602);
        assert_eq!(code(client.tool("add", json!([1, 2])).await), -32602);
        let invalid = client.tool("add", json!({"a": "two", "b": 3})).await;
        if revision >= Revision::V2025_11_25 {
            let result = invalid.expect("a tool error");
            assert_eq!(result["isError"], true);
            assert!(text(&result).contains("invalid arguments"), "{result}");
        } else {
            assert_eq!(code(invalid), -32602);
        }
    }
}

#[tokio::test]
async fn resources() {
    for revision in Revision::ALL {
        let client = client(revision);
        let modern = revision.era() == Era::Modern;
        let read = |uri: &'static str| client.call(method::RESOURCES_READ, json!({"uri": uri}));
        let result = read("x://text").await.expect("a text");
        assert_eq!(result["contents"], json!([{"uri": "x://text", "mimeType": "text/plain", "text": "abc"}]));
        assert_eq!(result.get("ttlMs"), modern.then_some(&json!(0)));
        assert_eq!(result.get("cacheScope"), modern.then_some(&json!("private")));
        let result = read("x://bytes").await.expect("bytes");
        assert_eq!(result["contents"], json!([{"uri": "x://bytes", "blob": "AP8="}]));
        let result = read("x://items/a%20b").await.expect("from the template");
        assert_eq!(result["contents"][0]["text"], "x://items/a%20b is a b");
        for missing in ["x://nothing", "x://items/a/b", "x://gone"] {
            let error = read(missing).await.expect_err("nothing there");
            assert_eq!(error.code, if modern { -32602 } else { -32002 }, "{missing}");
            assert_eq!(
                error.data.and_then(|data| data.member("uri")).and_then(|uri| uri.as_text()).as_deref(),
                Some(missing)
            );
        }
    }
}

#[tokio::test]
async fn prompts_and_completions() {
    for revision in Revision::ALL {
        let client = client(revision);
        let get = |params: Value| client.call(method::PROMPTS_GET, params);
        let result = get(json!({"name": "ask", "arguments": {"who": "Ada"}})).await.expect("a prompt");
        assert_eq!(result["messages"], json!([{"role": "user", "content": {"type": "text", "text": "ask Ada"}}]));
        assert_eq!(result["description"], "asks");
        for bad in [
            json!({"name": "ask"}),
            json!({"name": "ask", "arguments": {"how": "softly"}}),
            json!({"name": "ask", "arguments": {"who": 1}}),
            json!({"name": "other"}),
            json!({}),
        ] {
            assert_eq!(code(get(bad.clone()).await), -32602, "{bad}");
        }
        let complete = |reference: Value, name: &'static str| {
            client.call(
                method::COMPLETE,
                json!({"ref": reference, "argument": {"name": name, "value": "x"}, "context": {"arguments": {"a": "b"}}}),
            )
        };
        let prompt = json!({"type": "ref/prompt", "name": "ask"});
        let result = complete(prompt.clone(), "who").await.expect("values");
        let completion = &result["completion"];
        assert_eq!(completion["values"].as_array().map(Vec::len), Some(100));
        assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(150), &json!(true)));
        let none = complete(prompt, "how").await.expect("no values");
        assert_eq!(none["completion"]["values"], json!([]));
        let item = json!({"type": "ref/resource", "uri": "x://items/{id}"});
        assert_eq!(complete(item, "id").await.expect("a value")["completion"]["values"], json!(["x!1"]));
        let unknown = json!({"type": "ref/prompt", "name": "other"});
        assert_eq!(code(complete(unknown, "who").await), -32602);
    }
}

#[tokio::test]
async fn progress_and_log_messages() {
    for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
        let quiet = client(revision);
        quiet.tool("talk", json!({})).await.expect("a result");
        assert!(quiet.far.told(method::PROGRESS).is_empty(), "nobody asked for progress");
        let errors = usize::from(revision.era() == Era::Legacy);
        assert_eq!(quiet.far.told(method::LOG_MESSAGE).len(), errors, "info and graver in the legacy era only");

        let client = client(revision);
        if revision.era() == Era::Legacy {
            client.call(method::SET_LEVEL, json!({"level": "debug"})).await.expect("set");
        }
        let asking = client.with_meta(json!({"progressToken": "p-1", (meta::LOG_LEVEL): "debug"}));
        let cancel = CancellationToken::new();
        asking.call_until(method::TOOLS_CALL, json!({"name": "talk"}), cancel.clone()).await.expect("a result");
        cancel.cancel();
        tokio::task::yield_now().await;
        let progress: Vec<_> =
            client.far.told(method::PROGRESS).iter().map(|params| params["progress"].clone()).collect();
        assert_eq!(progress, [json!(0), json!(1), json!(2.5)], "it only grows, and ends with the call");
        let first = &client.far.told(method::PROGRESS)[0];
        assert_eq!(first, &json!({"progressToken": "p-1", "progress": 0, "total": 3, "message": "on"}));
        assert_eq!(
            client.far.told(method::LOG_MESSAGE),
            [
                json!({"level": "debug", "data": "quiet"}),
                json!({"level": "error", "data": {"why": 1}, "logger": "part"})
            ],
        );
        let graver = client.with_meta(json!({(meta::LOG_LEVEL): "critical"}));
        if revision.era() == Era::Legacy {
            client.call(method::SET_LEVEL, json!({"level": "critical"})).await.expect("set");
        }
        graver.tool("talk", json!({})).await.expect("a result");
        assert_eq!(client.far.told(method::LOG_MESSAGE).len(), 2, "nothing was grave enough");
    }
    let wrong = client(Revision::V2026_07_28).with_meta(json!({(meta::LOG_LEVEL): "loud"}));
    assert_eq!(code(wrong.tool("talk", json!({})).await), -32602);
    assert_eq!(code(client(Revision::V2025_06_18).call(method::SET_LEVEL, json!({"level": "loud"})).await), -32602);
}

#[tokio::test]
async fn pieces_go_ahead_of_the_result_to_who_wants_them() {
    const CHUNK: &str = "notifications/mgp.stream.chunk";
    let think = || {
        Tool::new::<NoArgs, String>("think").handler(|ctx, _| async move {
            for piece in ["Quantum ", "computing"] {
                ctx.piece(piece);
            }
            let later = ctx.clone();
            tokio::spawn(async move {
                later.cancelled().await;
                later.piece("too late");
            });
            Ok(format!("Quantum computing {}", ctx.wants_pieces()))
        })
    };
    let server = |extensions: &[Extension]| {
        let silent = Tool::new::<NoArgs, String>("silent").handler(|_, _| async { Ok("all".to_owned()) });
        Server::builder("t", "1").mgp(extensions).tool(think()).tool(silent).build().expect("a server")
    };
    for revision in Revision::ALL {
        let client = Client::new(&server(&[Extension::Streaming]), revision, json!({}));
        let cancel = CancellationToken::new();
        let asked = json!({"name": "think", "_mgp": {"stream": true}});
        let result = client.call_until(method::TOOLS_CALL, asked.clone(), cancel.clone()).await.expect("a result");
        cancel.cancel();
        tokio::task::yield_now().await;
        let piece = |index: u64, text: &str| json!({"request_id": 7, "index": index, "content": {"type": "text", "text": text}, "done": false});
        assert_eq!(client.far.told(CHUNK), [piece(0, "Quantum "), piece(1, "computing")], "{revision:?}");
        assert_eq!(text(&result), "Quantum computing true");
        assert_eq!(result["_mgp"]["chunks_sent"], 2);
        assert!(result["_mgp"]["streamed"] == true && result["_mgp"]["duration_ms"].is_u64(), "{result}");

        let client = Client::new(&server(&[Extension::Streaming]), revision, json!({}));
        let whole = client.tool("think", json!({})).await.expect("a result");
        let silent = json!({"name": "silent", "_mgp": {"stream": true}});
        let silent = client.call(method::TOOLS_CALL, silent).await.expect("a result");
        let undeclared = Client::new(&server(&[Extension::Audit]), revision, json!({}));
        let unknown = undeclared.call(method::TOOLS_CALL, asked).await.expect("a result");
        assert_eq!((text(&whole), text(&unknown)), ("Quantum computing false", "Quantum computing false"));
        assert!([&whole, &silent, &unknown].iter().all(|result| result.get("_mgp").is_none()));
        assert!(client.far.told(CHUNK).is_empty() && undeclared.far.told(CHUNK).is_empty());
    }
}

#[tokio::test]
async fn a_cancelled_call_is_dropped() {
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::SeqCst);
        }
    }
    let server = Server::builder("t", "1")
        .tool(Tool::new::<NoArgs, ()>("wait").handler(|ctx, _| async move {
            let _guard = Guard;
            ctx.progress(1.0, None, None);
            std::future::pending().await
        }))
        .tool(Tool::new::<NoArgs, &'static str>("tidy").handler(|ctx, _| async move {
            ctx.progress(1.0, None, None);
            ctx.cancelled().await;
            Ok("tidied up")
        }))
        .build()
        .expect("a server");
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let client = Client::new(&server, revision, json!({})).with_meta(json!({"progressToken": 1}));
        let before = DROPPED.load(Ordering::SeqCst);
        let cancel = CancellationToken::new();
        let call = client.call_until(method::TOOLS_CALL, json!({"name": "wait"}), cancel.clone());
        let (outcome, ()) = tokio::join!(call, async {
            client.far.hears(method::PROGRESS).await;
            cancel.cancel();
        });
        assert_eq!(code(outcome), -32800);
        assert_eq!(DROPPED.load(Ordering::SeqCst), before + 1);
        // A handler that watches may still give its answer.
        let cancel = CancellationToken::new();
        cancel.cancel();
        let tidied = client.call_until(method::TOOLS_CALL, json!({"name": "tidy"}), cancel).await;
        assert_eq!(text(&tidied.expect("a result")), "tidied up");
    }
}

#[tokio::test]
async fn methods_of_other_dialects() {
    let server = Server::builder("t", "1")
        .method("x/echo", |_ctx, params| async move { Ok(params) })
        .method("x/odd", |_ctx, _params| async move { Ok(Raw::number(1)) })
        .extension("com.example/x", json!({"a": 1}))
        .experimental("y", json!({}))
        .build()
        .expect("a server");
    let modern = Client::new(&server, Revision::LATEST, json!({}));
    let echoed = modern.call("x/echo", json!({"n": 1})).await.expect("an echo");
    assert_eq!((&echoed["n"], &echoed["resultType"]), (&json!(1), &json!("complete")));
    assert_eq!(code(modern.call("x/odd", json!({})).await), -32603);
    let found = modern.call(method::DISCOVER, json!({})).await.expect("found");
    assert_eq!(found["capabilities"]["extensions"], json!({"com.example/x": {"a": 1}}));
    assert_eq!(found["capabilities"]["experimental"], json!({"y": {}}));
    let legacy = Client::new(&server, Revision::LATEST_LEGACY, json!({}));
    assert_eq!(legacy.call("x/echo", json!({"n": 1})).await.expect("an echo"), json!({"n": 1}));
}

#[tokio::test]
async fn tools_that_are_not_listed_can_be_answered() {
    let server = Server::builder("t", "1")
        .tool(
            Tool::new::<NoArgs, &'static str>("plain")
                .member("aliases", json!(["old"]))
                .handler(|_, _| async { Ok("it") }),
        )
        .unlisted_tool(|_ctx, name, arguments| async move {
            match name.as_str() {
                "old" => Ok(CallToolResult::text(format!("by another name: {}", arguments.as_str()))),
                _ => Err(Error::object(ErrorObject::new(-32004, format!("Unknown tool: {name}")))),
            }
        })
        .build()
        .expect("a server");
    for revision in [Revision::V2024_11_05, Revision::V2026_07_28] {
        let client = Client::new(&server, revision, json!({}));
        let list = client.call(method::TOOLS_LIST, json!({})).await.expect("a list");
        assert_eq!((list["tools"].as_array().map(Vec::len), &list["tools"][0]["aliases"]), (Some(1), &json!(["old"])));
        let call = |name: &'static str| client.call(method::TOOLS_CALL, json!({"name": name, "arguments": {"a": 1}}));
        assert_eq!(text(&call("old").await.expect("an answer")), "by another name: {\"a\":1}");
        assert_eq!(text(&call("plain").await.expect("an answer")), "it");
        assert_eq!(code(call("none").await), -32004);
    }
}
