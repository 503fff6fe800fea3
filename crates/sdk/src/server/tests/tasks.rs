//! Tasks, in both forms from the same tools.

use std::time::Duration;

use switchboard_protocol::mcp::{ElicitParams, TaskStatus};
use tokio::sync::Semaphore;

use super::*;
use crate::{Error, Keyed, NoArgs, TaskOptions, TaskSupport, Tool};

fn modern() -> Value {
    json!({"elicitation": {}, "extensions": {(meta::TASKS_EXTENSION): {}}})
}

/// Tools that wait for a permit, ask, fail, and ask before they run on.
fn server(permits: &Arc<Semaphore>, options: TaskOptions) -> Server {
    let permits = permits.clone();
    Server::builder("t", "1")
        .tasks(options)
        .tool(Tool::new::<NoArgs, ()>("direct").handler(|_, _| async { Ok(()) }))
        .tool(Tool::new::<NoArgs, &'static str>("work").task_support(TaskSupport::Optional).handler(move |ctx, _| {
            let permits = permits.clone();
            async move {
                ctx.progress(1.0, None, None);
                permits.acquire().await?.forget();
                Ok("done")
            }
        }))
        .tool(Tool::new::<NoArgs, String>("ask").task_support(TaskSupport::Required).handler(|ctx, _| async move {
            let (one, two) = tokio::try_join!(
                ctx.elicit(ElicitParams::new("1").keyed("one")),
                ctx.elicit(ElicitParams::new("2").keyed("two")),
            )?;
            Ok(format!("{:?} {:?}", one.action, two.action))
        }))
        .tool(
            Tool::new::<NoArgs, ()>("fail")
                .task_support(TaskSupport::Optional)
                .handler(|_, _| async { Err(Error::msg("sorry")) }),
        )
        .tool(
            Tool::new::<NoArgs, ()>("break")
                .task_support(TaskSupport::Optional)
                .handler(|_, _| async { Err(Error::invalid_params("broken")) }),
        )
        .tool(Tool::new::<NoArgs, String>("later").task_support(TaskSupport::Optional).deferred_task().handler(
            |ctx, _| async move {
                let first = ctx.elicit(ElicitParams::new("1").keyed("first")).await?.action;
                ctx.background().await;
                let second = ctx.elicit(ElicitParams::new("2").keyed("second")).await?.action;
                Ok(format!("{first:?} {second:?}"))
            },
        ))
        .build()
        .expect("a server")
}

/// Waits, by polling as clients do, until the task is in that status.
async fn until(client: &Client, id: &Value, status: TaskStatus) -> Value {
    let status = serde_json::to_value(status).expect("a word");
    loop {
        let task = client.call(method::TASKS_GET, json!({"taskId": id})).await.expect("a task");
        if task["status"] == status {
            return task;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_modern_task_from_begin_to_end() {
    let permits = Arc::new(Semaphore::new(0));
    let server = server(&permits, TaskOptions::default());
    let client = Client::new(&server, Revision::LATEST, modern()).with_meta(json!({"progressToken": 1}));
    let task = client.tool("work", json!({})).await.expect("a task");
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")));
    assert_eq!((&task["ttlMs"], &task["pollIntervalMs"]), (&json!(3_600_000), &json!(500)));
    let id = &task["taskId"];
    let seen = client.call(method::TASKS_GET, json!({"taskId": id})).await.expect("the task");
    assert_eq!(seen["resultType"], "complete");
    let listen = client.call(method::SUBSCRIPTIONS_LISTEN, json!({"notifications": {"taskIds": [id, "unknown"]}}));
    let (_, told) = tokio::join!(listen, async {
        let acknowledged = client.far.hears(method::SUBSCRIPTIONS_ACKNOWLEDGED).await;
        assert_eq!(acknowledged["notifications"]["taskIds"], json!([id]));
        permits.add_permits(1);
        let told = client.far.hears(method::TASKS_CHANGED).await;
        server.0.closing.cancel();
        told
    });
    assert_eq!(told["status"], "completed");
    assert_eq!(told["_meta"][meta::SUBSCRIPTION_ID], 7);
    let done = until(&client, id, TaskStatus::Completed).await;
    assert_eq!(text(&done["result"]), "done");
    assert_eq!(done["result"]["resultType"], "complete");
    assert!(client.far.told(method::PROGRESS).is_empty(), "modern tasks have no progress");
}

#[tokio::test]
async fn without_the_extension() {
    let permits = Arc::new(Semaphore::new(1));
    let server = server(&permits, TaskOptions::default());
    let client = Client::new(&server, Revision::LATEST, json!({}));
    let direct = client.tool("work", json!({})).await.expect("a result");
    assert_eq!((&direct["resultType"], text(&direct)), (&json!("complete"), "done"));
    let listen = json!({"notifications": {"taskIds": ["x"]}});
    for (method, params) in [
        (method::TOOLS_CALL, json!({"name": "ask"})),
        (method::TASKS_GET, json!({"taskId": "x"})),
        (method::TASKS_UPDATE, json!({"taskId": "x", "inputResponses": {}})),
        (method::TASKS_CANCEL, json!({"taskId": "x"})),
        (method::SUBSCRIPTIONS_LISTEN, listen),
    ] {
        let error = client.call(method, params).await.expect_err("refused");
        assert_eq!(error.code, -32021, "{method}");
        let required = value(&error.data.expect("data"))["requiredCapabilities"].clone();
        assert_eq!(required, json!({"extensions": {(meta::TASKS_EXTENSION): {}}}));
    }
}

#[tokio::test]
async fn a_modern_task_asks() {
    let client = Client::new(&server(&Arc::new(Semaphore::new(0)), TaskOptions::default()), Revision::LATEST, modern());
    let id = client.tool("ask", json!({})).await.expect("a task")["taskId"].clone();
    let asking = until(&client, &id, TaskStatus::InputRequired).await;
    assert_eq!(asking["inputRequests"].as_object().map(serde_json::Map::len), Some(2));
    let update =
        |responses: Value| client.call(method::TASKS_UPDATE, json!({"taskId": id, "inputResponses": responses}));
    let acknowledged = update(json!({"two": {"action": "decline"}, "stray": 1})).await.expect("acknowledged");
    assert_eq!(acknowledged["resultType"], "complete");
    assert_eq!(acknowledged.get("taskId"), None);
    let asking = until(&client, &id, TaskStatus::InputRequired).await;
    assert_eq!(asking["inputRequests"].as_object().expect("questions").keys().collect::<Vec<_>>(), ["one"]);
    update(json!({"one": {"action": "accept"}})).await.expect("acknowledged");
    let done = until(&client, &id, TaskStatus::Completed).await;
    assert_eq!(text(&done["result"]), "Accept Decline");
    assert_eq!(done.get("inputRequests"), None);
    update(json!({"one": {"action": "accept"}})).await.expect("ignored");
}

#[tokio::test]
async fn failures_and_cancellation() {
    let client = Client::new(&server(&Arc::new(Semaphore::new(0)), TaskOptions::default()), Revision::LATEST, modern());
    let id = client.tool("fail", json!({})).await.expect("a task")["taskId"].clone();
    let failed = until(&client, &id, TaskStatus::Completed).await;
    assert_eq!((&failed["result"]["isError"], text(&failed["result"])), (&json!(true), "sorry"));
    let id = client.tool("break", json!({})).await.expect("a task")["taskId"].clone();
    let broken = until(&client, &id, TaskStatus::Failed).await;
    assert_eq!((&broken["error"]["code"], broken.get("result")), (&json!(-32602), None));

    let id = client.tool("work", json!({})).await.expect("a task")["taskId"].clone();
    assert_eq!(code(client.as_principal("eve").call(method::TASKS_GET, json!({"taskId": id})).await), -32602);
    for _ in 0..2 {
        let acknowledged = client.call(method::TASKS_CANCEL, json!({"taskId": id})).await.expect("acknowledged");
        assert_eq!(acknowledged.get("status"), None);
    }
    until(&client, &id, TaskStatus::Cancelled).await;
    assert_eq!(code(client.call(method::TASKS_CANCEL, json!({"taskId": "unknown"})).await), -32602);
}

#[tokio::test]
async fn rounds_first_then_a_task() {
    let server = server(&Arc::new(Semaphore::new(0)), TaskOptions::default());
    let client = Client::new(&server, Revision::LATEST, modern());
    let first = client.tool("later", json!({})).await.expect("a question");
    assert_eq!(first["resultType"], "input_required");
    let answer = json!({"first": {"action": "accept"}});
    let retry =
        json!({"name": "later", "arguments": {}, "requestState": first["requestState"], "inputResponses": answer});
    let task = client.call(method::TOOLS_CALL, retry).await.expect("a task");
    assert_eq!((&task["resultType"], task.get("requestState")), (&json!("task"), None));
    let id = &task["taskId"];
    until(&client, id, TaskStatus::InputRequired).await;
    let answers = json!({"taskId": id, "inputResponses": {"second": {"action": "cancel"}}});
    client.call(method::TASKS_UPDATE, answers).await.expect("acknowledged");
    assert_eq!(text(&until(&client, id, TaskStatus::Completed).await["result"]), "Accept Cancel");
    // A client without tasks goes through rounds to the end.
    let plain = Client::new(&server, Revision::LATEST, json!({"elicitation": {}}));
    let answers = json!({"first": {"action": "accept"}, "second": {"action": "accept"}});
    let params = json!({"name": "later", "inputResponses": answers});
    assert_eq!(text(&plain.call(method::TOOLS_CALL, params).await.expect("a result")), "Accept Accept");
}

#[tokio::test]
async fn a_legacy_task_from_begin_to_end() {
    let permits = Arc::new(Semaphore::new(0));
    let server = server(&permits, TaskOptions::default());
    let client = Client::new(&server, Revision::V2025_11_25, json!({})).with_meta(json!({"progressToken": 1}));
    let begin = |name: &'static str| client.call(method::TOOLS_CALL, json!({"name": name, "task": {"ttl": 60_000}}));
    let created = begin("work").await.expect("a task");
    let task = &created["task"];
    assert_eq!(
        (&task["status"], &task["ttl"], &task["pollInterval"]),
        (&json!("working"), &json!(60_000), &json!(500))
    );
    let id = task["taskId"].clone();
    let params = json!({"taskId": id});
    let (result, ()) = tokio::join!(client.call(method::TASKS_RESULT, params.clone()), async {
        tokio::task::yield_now().await;
        permits.add_permits(1);
    });
    let result = result.expect("the result");
    assert_eq!(text(&result), "done");
    assert_eq!(result["_meta"][meta::RELATED_TASK], json!({"taskId": id}));
    let progress = client.far.hears(method::PROGRESS).await;
    assert_eq!(progress["_meta"][meta::RELATED_TASK]["taskId"], id);
    assert_eq!(client.far.hears(method::TASKS_STATUS).await["status"], "completed");
    assert_eq!(code(client.call(method::TASKS_CANCEL, params).await), -32602, "it is over");

    let running = begin("work").await.expect("a task")["task"]["taskId"].clone();
    let listed = client.call(method::TASKS_LIST, json!({})).await.expect("a list");
    let ids: Vec<_> = listed["tasks"].as_array().expect("a list").iter().map(|task| task["taskId"].clone()).collect();
    assert_eq!(ids, [id, running.clone()]);
    let cancelled = client.call(method::TASKS_CANCEL, json!({"taskId": running})).await.expect("cancelled");
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(code(client.call(method::TASKS_RESULT, json!({"taskId": running})).await), -32800);

    let direct = client.tool("work", json!({}));
    permits.add_permits(1);
    assert_eq!(text(&direct.await.expect("without a task")), "done");
    assert_eq!(code(begin("direct").await), -32601);
    assert_eq!(code(client.tool("ask", json!({})).await), -32601);
    let failed = begin("break").await.expect("a task")["task"]["taskId"].clone();
    assert_eq!(code(client.call(method::TASKS_RESULT, json!({"taskId": failed})).await), -32602);
}

#[tokio::test]
async fn a_legacy_task_asks_through_its_result() {
    let server = server(&Arc::new(Semaphore::new(0)), TaskOptions::default());
    let client = Client::answering(&server, Revision::V2025_11_25, json!({"elicitation": {}}), |_, params| {
        assert!(params["_meta"][meta::RELATED_TASK]["taskId"].is_string());
        Ok(json!({"action": if params["message"] == "1" { "accept" } else { "decline" }}))
    });
    let created = client.call(method::TOOLS_CALL, json!({"name": "ask", "task": {}})).await.expect("a task");
    let id = &created["task"]["taskId"];
    until(&client, id, TaskStatus::InputRequired).await;
    assert!(client.far.asked.lock().is_empty(), "nobody carries the questions yet");
    let result = client.call(method::TASKS_RESULT, json!({"taskId": id})).await.expect("the result");
    assert_eq!(text(&result), "Accept Decline");
}

#[tokio::test]
async fn room_and_time_are_bounded() {
    let permits = Arc::new(Semaphore::new(0));
    let options = TaskOptions { capacity: 2, ttl: Duration::from_secs(60), ..TaskOptions::default() };
    let client = Client::new(&server(&permits, options), Revision::LATEST, modern());
    let first = client.tool("work", json!({})).await.expect("a task")["taskId"].clone();
    client.tool("work", json!({})).await.expect("a task");
    assert_eq!(code(client.tool("work", json!({})).await), 3001, "both are running");
    client.call(method::TASKS_CANCEL, json!({"taskId": first})).await.expect("cancelled");
    client.tool("work", json!({})).await.expect("the place of the one that is over");
    assert_eq!(code(client.call(method::TASKS_GET, json!({"taskId": first})).await), -32602);

    let short = TaskOptions { ttl: Duration::ZERO, ..TaskOptions::default() };
    let client = Client::new(&server(&permits, short), Revision::LATEST, modern());
    let id = client.tool("work", json!({})).await.expect("a task")["taskId"].clone();
    assert_eq!(code(client.call(method::TASKS_GET, json!({"taskId": id})).await), -32602, "its time is over");
}
