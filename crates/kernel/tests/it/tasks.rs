//! Tasks of both forms, seen by clients of both eras.

use switchboard_protocol::Era;

use crate::world::{CLIENT_CAPABILITIES, Client, World, client, client_with, world};

const WITH_TASKS: &str = r#"{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

async fn with_task_tool(theirs: Era) -> World {
    let world = world(theirs).await;
    world.script.more_tools.lock().push("tasky".to_owned());
    world
}

/// Polls until the task is over; answers its last state.
async fn until_over(client: &Client) -> switchboard_wire::Raw {
    for _ in 0..20 {
        let task = client.ask("tasks/get", r#"{"taskId":"t-1"}"#).await.expect("a task");
        if task.member("status").expect("a status").as_str() == r#""completed""# {
            return task;
        }
    }
    panic!("the task does not end");
}

#[tokio::test]
async fn a_legacy_client_gets_tasks_in_its_own_form() {
    for theirs in [Era::Legacy, Era::Modern] {
        let world = with_task_tool(theirs).await;
        let client = client(&world.url, Era::Legacy).await;
        assert!(
            client.connected.server.capabilities.at(&["tasks", "requests", "tools", "call"]).is_some(),
            "{theirs:?}"
        );
        let tools = client.ask("tools/list", "{}").await.unwrap();
        assert!(tools.as_str().contains("taskSupport"));
        let created = client.ask("tools/call", r#"{"name":"tasky","task":{"ttl":1000}}"#).await.unwrap();
        assert_eq!(created.at(&["task", "taskId"]).unwrap().as_str(), r#""t-1""#, "{theirs:?}: {created:?}");
        assert_eq!(created.at(&["task", "ttl"]).unwrap().as_str(), "60000");
        assert_eq!(created.at(&["task", "taskExtra"]).unwrap().as_str(), "1");
        let task = client.ask("tasks/get", r#"{"taskId":"t-1"}"#).await.unwrap();
        assert_eq!(task.member("pollInterval").unwrap().as_str(), "20");
        let result = client.ask("tasks/result", r#"{"taskId":"t-1"}"#).await.unwrap();
        assert_eq!(result.member("late").unwrap().as_str(), "1.10");
        client.ask("tasks/cancel", r#"{"taskId":"t-1"}"#).await.unwrap();
    }
}

#[tokio::test]
async fn a_modern_client_gets_tasks_in_its_own_form() {
    for theirs in [Era::Legacy, Era::Modern] {
        let world = with_task_tool(theirs).await;
        let client = client_with(&world.url, Era::Modern, WITH_TASKS).await;
        assert!(client.connected.server.capabilities.at(&["extensions", "io.modelcontextprotocol/tasks"]).is_some());
        let created = client.ask("tools/call", r#"{"name":"tasky"}"#).await.unwrap();
        assert_eq!(created.member("resultType").unwrap().as_str(), r#""task""#, "{theirs:?}: {created:?}");
        assert_eq!(created.member("ttlMs").unwrap().as_str(), "60000");
        let task = until_over(&client).await;
        assert_eq!(task.at(&["result", "late"]).unwrap().as_str(), "1.10", "{theirs:?}: {task:?}");
        client.ask("tasks/cancel", r#"{"taskId":"t-1"}"#).await.unwrap();
    }
}

#[tokio::test]
async fn a_tool_that_needs_a_task_works_for_a_modern_client_that_knows_none() {
    let world = with_task_tool(Era::Legacy).await;
    let client = client_with(&world.url, Era::Modern, CLIENT_CAPABILITIES).await;
    let result = client.ask("tools/call", r#"{"name":"tasky"}"#).await.unwrap();
    assert_eq!(result.member("late").unwrap().as_str(), "1.10");
    assert_eq!(result.member("resultType").unwrap().as_str(), r#""complete""#);
}

#[tokio::test]
async fn a_legacy_client_gets_a_task_though_the_modern_server_answered_at_once() {
    let world = world(Era::Modern).await;
    let client = client(&world.url, Era::Legacy).await;
    let created = client.ask("tools/call", r#"{"name":"echo","task":{}}"#).await.unwrap();
    let id = created.at(&["task", "taskId"]).unwrap();
    let params = format!(r#"{{"taskId":{}}}"#, id.as_str());
    let task = client.ask("tasks/get", &params).await.unwrap();
    assert_eq!(task.member("status").unwrap().as_str(), r#""completed""#);
    let result = client.ask("tasks/result", &params).await.unwrap();
    assert!(result.as_str().contains(r#""blockExtra":2e0"#));
}
