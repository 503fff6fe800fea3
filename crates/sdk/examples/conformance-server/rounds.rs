//! Tools and a prompt that ask the client for more before they answer. They are written as if they could wait.

use serde_json::{Value, json};
use switchboard_sdk::mcp::{ContentBlock, ElicitParams};
use switchboard_sdk::{Ctx, Error, Keyed, NoArgs, Prompt, Question, Tool, schema, user};

use crate::tools::prompt as model;

/// A form with one required member.
fn form(key: &str, message: &str, member: &str, kind: &str) -> Question<ElicitParams> {
    let schema = json!({"type": "object", "properties": {(member): {"type": kind}}, "required": [member]});
    ElicitParams::form(message, schema::raw(schema)).keyed(key)
}

/// What was filled in for a text.
async fn text(ctx: &Ctx, key: &str, message: &str, member: &str) -> Result<String, Error> {
    let content = ctx.elicit(form(key, message, member, "string")).await?.content.unwrap_or_default();
    let value = content.get(member).and_then(Value::as_str);
    value.map(ToOwned::to_owned).ok_or_else(|| Error::msg(format!("nothing was filled in for {member}")))
}

pub(crate) fn all() -> Vec<Tool> {
    vec![
        Tool::new::<NoArgs, String>("test_input_required_result_elicitation")
            .description("Asks the user for a name")
            .handler(|ctx, _| async move {
                Ok(format!("Hello, {}!", text(&ctx, "user_name", "What is your name?", "name").await?))
            }),
        Tool::new::<NoArgs, String>("test_input_required_result_sampling")
            .description("Asks the client's model")
            .handler(|ctx, _| async move {
                let question = model("What is the capital of France?", 100).keyed("capital_question");
                let answer = ctx.sample(question).await?;
                let text = answer.content.blocks().first().and_then(ContentBlock::as_text).unwrap_or_default();
                Ok(format!("The model says: {text}"))
            }),
        Tool::new::<NoArgs, String>("test_input_required_result_list_roots")
            .description("Asks for the client's roots")
            .handler(|ctx, _| async move {
                let roots = ctx.list_roots_keyed("client_roots").await?;
                Ok(format!("{} roots", roots.len()))
            }),
        Tool::new::<NoArgs, &'static str>("test_input_required_result_request_state")
            .description("Asks the user, and carries a state")
            .handler(|ctx, _| async move {
                ctx.elicit(form("confirm", "Please confirm", "ok", "boolean")).await?;
                Ok("state-ok: confirmed")
            }),
        Tool::new::<NoArgs, String>("test_input_required_result_multiple_inputs")
            .description("Asks for three things at once")
            .handler(|ctx, _| async move {
                let greeting = model("Generate a greeting", 50).keyed("greeting");
                let (name, greeting, roots) = tokio::join!(
                    text(&ctx, "user_name", "What is your name?", "name"),
                    ctx.sample(greeting),
                    ctx.list_roots_keyed("client_roots"),
                );
                let greeting = greeting?;
                let greeting = greeting.content.blocks().first().and_then(ContentBlock::as_text).unwrap_or_default();
                Ok(format!("{greeting} {} ({} roots)", name?, roots?.len()))
            }),
        Tool::new::<NoArgs, String>("test_input_required_result_multi_round")
            .description("Asks one thing after another")
            .handler(|ctx, _| async move {
                let name = text(&ctx, "step1", "Step 1: What is your name?", "name").await?;
                let color = text(&ctx, "step2", "Step 2: What is your favorite color?", "color").await?;
                Ok(format!("{name} likes {color}"))
            }),
        Tool::new::<NoArgs, &'static str>("test_input_required_result_tampered_state")
            .description("Asks the user, and believes no changed state")
            .handler(|ctx, _| async move {
                ctx.elicit(form("confirm", "Please confirm", "ok", "boolean")).await?;
                Ok("integrity-ok: the state came back as it was")
            }),
        Tool::new::<NoArgs, String>("test_input_required_result_capabilities")
            .description("Asks only for what the client can give")
            .handler(|ctx, _| async move {
                let mut said = vec!["done".to_owned()];
                let (name, answer) = tokio::join!(
                    async {
                        let can = ctx.client_can(&["elicitation"]);
                        if can { Some(text(&ctx, "user_name", "What is your name?", "name").await) } else { None }
                    },
                    async {
                        let can = ctx.client_can(&["sampling"]);
                        if can { Some(ctx.sample(model("Say hello", 50).keyed("greeting")).await) } else { None }
                    },
                );
                said.extend(name.transpose()?);
                if answer.transpose()?.is_some() {
                    said.push("the model was asked".to_owned());
                }
                Ok(said.join(", "))
            }),
    ]
}

pub(crate) fn prompt() -> Prompt {
    Prompt::new("test_input_required_result_prompt").description("A prompt that asks the user first").handler(
        |ctx, _arguments| async move {
            let context = text(&ctx, "user_context", "What context should the prompt use?", "context").await?;
            Ok(vec![user(format!("Prompt with context: {context}"))])
        },
    )
}
