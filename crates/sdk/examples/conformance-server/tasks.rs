//! Tools that run as tasks, and one that never does.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_sdk::mcp::{ElicitAction, ElicitParams};
use switchboard_sdk::{Error, ErrorObject, Keyed, NoArgs, Question, TaskSupport, Tool, schema};

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Compute {
    /// How long it takes
    seconds: f64,
    /// What to call it
    #[serde(default)]
    label: String,
}

#[derive(Deserialize, JsonSchema)]
struct Delete {
    /// What to delete
    filename: String,
}

fn confirm(key: &str, message: String) -> Question<ElicitParams> {
    let form = json!({"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]});
    ElicitParams::form(message, schema::raw(form)).keyed(key)
}

pub(crate) fn all() -> Vec<Tool> {
    vec![
        Tool::new::<Greet, String>("greet")
            .description("Greets at once, never as a task")
            .handler(|_, args| async move { Ok(format!("Hello, {}!", args.name)) }),
        Tool::new::<Compute, String>("slow_compute")
            .description("Takes its time")
            .task_support(TaskSupport::Optional)
            .handler(|_, args| async move {
                let seconds = if args.seconds.is_finite() { args.seconds.clamp(0.0, 600.0) } else { 0.0 };
                tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
                Ok(format!("Computed {} in {seconds} s", args.label))
            }),
        Tool::new::<NoArgs, &'static str>("failing_job")
            .description("Fails as a tool does")
            .task_support(TaskSupport::Required)
            .handler(|_, _| async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Err(Error::msg("The job failed"))
            }),
        Tool::new::<NoArgs, &'static str>("protocol_error_job")
            .description("Fails as a request does")
            .task_support(TaskSupport::Optional)
            .handler(|_, _| async {
                tokio::time::sleep(Duration::from_millis(100)).await;
                Err(Error::object(ErrorObject::new(-32603, "The job broke")))
            }),
        Tool::new::<Delete, String>("confirm_delete")
            .description("Asks before it deletes")
            .task_support(TaskSupport::Optional)
            .handler(|ctx, args| async move {
                let answer = ctx.elicit(confirm("confirm", format!("Delete {}?", args.filename))).await?;
                let agreed = answer.content.as_ref().and_then(|content| content.get("confirm")?.as_bool());
                let deleted = answer.action == ElicitAction::Accept && agreed != Some(false);
                Ok(if deleted { format!("Deleted {}", args.filename) } else { format!("Kept {}", args.filename) })
            }),
        Tool::new::<NoArgs, String>("multi_input")
            .description("Asks two things at once")
            .task_support(TaskSupport::Optional)
            .handler(|ctx, _| async move {
                let (first, second) = tokio::try_join!(
                    ctx.elicit(confirm("first", "The first thing?".to_owned())),
                    ctx.elicit(confirm("second", "The second thing?".to_owned())),
                )?;
                Ok(format!("{:?} and {:?}", first.action, second.action))
            }),
        Tool::new::<NoArgs, String>("test_tool_with_task")
            .description("Asks first, then runs as a task")
            .task_support(TaskSupport::Optional)
            .deferred_task()
            .handler(|ctx, _| async move {
                let form = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
                let question = ElicitParams::form("What is your name?", schema::raw(form)).keyed("user_name");
                let content = ctx.elicit(question).await?.content.unwrap_or_default();
                let name = content.get("name").and_then(Value::as_str).unwrap_or("stranger").to_owned();
                ctx.background().await;
                tokio::time::sleep(Duration::from_millis(100)).await;
                Ok(format!("Hello, {name}!"))
            }),
    ]
}
