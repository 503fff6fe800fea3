//! Tools that answer in one round.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use switchboard_sdk::mcp::{
    CallToolResult, ContentBlock, CreateMessageParams, ElicitParams, ElicitResult, LoggingLevel, ResourceContents,
    Role, SamplingMessage,
};
use switchboard_sdk::{Ctx, Error, NoArgs, Tool, schema};

use crate::content::PNG;

const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

#[derive(Deserialize, JsonSchema)]
struct Sampling {
    /// The prompt to send to the LLM
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
struct Elicitation {
    /// The message to show the user
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Routed {
    /// Where to run
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

pub(crate) fn all() -> Vec<Tool> {
    let mut tools = contents();
    tools.extend(notices());
    tools.extend(legacy_questions());
    tools.extend(modern());
    tools
}

fn contents() -> Vec<Tool> {
    vec![
        Tool::new::<NoArgs, &'static str>("test_simple_text")
            .description("Tests simple text content response")
            .handler(|_, _| async { Ok("This is a simple text response for testing.") }),
        Tool::new::<NoArgs, ContentBlock>("test_image_content")
            .description("Tests image content response")
            .handler(|_, _| async { Ok(ContentBlock::image(PNG, "image/png")) }),
        Tool::new::<NoArgs, ContentBlock>("test_audio_content")
            .description("Tests audio content response")
            .handler(|_, _| async { Ok(ContentBlock::audio(WAV, "audio/wav")) }),
        Tool::new::<NoArgs, ContentBlock>("test_embedded_resource")
            .description("Tests embedded resource content response")
            .handler(|_, _| async {
                let text =
                    ResourceContents::of_text("test://embedded-resource", "This is an embedded resource content.");
                Ok(ContentBlock::resource(text.mime_type("text/plain")))
            }),
        Tool::new::<NoArgs, Vec<ContentBlock>>("test_multiple_content_types")
            .description("Tests response with multiple content types")
            .handler(|_, _| async {
                let text = json!({"test": "data", "value": 123}).to_string();
                let resource = ResourceContents::of_text("test://mixed-content-resource", text);
                Ok(vec![
                    "Multiple content types test:".into(),
                    ContentBlock::image(PNG, "image/png"),
                    ContentBlock::resource(resource.mime_type("application/json")),
                ])
            }),
        Tool::new::<NoArgs, CallToolResult>("test_error_handling")
            .description("Tests error response handling")
            .handler(|_, _| async { Err(Error::msg("This tool intentionally returns an error for testing")) }),
        Tool::new::<Value, &'static str>("json_schema_2020_12_tool")
            .description("Tool with JSON Schema 2020-12 features")
            .input_schema(schema::raw(schema_2020_12()))
            .handler(|_, _| async { Ok("JSON Schema 2020-12 tool called") }),
        Tool::new::<Routed, String>("test_x_mcp_header")
            .description("Tests a parameter that is repeated in a header")
            .handler(|_, args| async move { Ok(format!("region: {}", args.region)) }),
    ]
}

fn schema_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    })
}

fn notices() -> Vec<Tool> {
    let pause = || tokio::time::sleep(Duration::from_millis(50));
    vec![
        Tool::new::<NoArgs, &'static str>("test_tool_with_logging")
            .description("Tests tool that emits log messages during execution")
            .handler(move |ctx, _| async move {
                ctx.log(LoggingLevel::Info, None, "Tool execution started");
                pause().await;
                ctx.log(LoggingLevel::Info, None, "Tool processing data");
                pause().await;
                ctx.log(LoggingLevel::Info, None, "Tool execution completed");
                Ok("Tool with logging executed successfully")
            }),
        Tool::new::<NoArgs, String>("test_tool_with_progress")
            .description("Tests tool that reports progress notifications")
            .handler(move |ctx, _| async move {
                for step in [0, 50, 100] {
                    ctx.progress(step.into(), Some(100.0), Some(&format!("Completed step {step} of 100")));
                    pause().await;
                }
                let token = ctx.meta().and_then(|meta| meta.member("progressToken"));
                Ok(token.map_or_else(|| "no token".to_owned(), |token| token.as_text().unwrap_or_else(|| token.as_str().to_owned())))
            }),
        Tool::new::<NoArgs, &'static str>("test_reconnection")
            .description("Tests a call whose answer may come after a reconnection")
            .handler(|ctx, _| async move {
                ctx.close_stream();
                tokio::time::sleep(Duration::from_millis(100)).await;
                Ok("Reconnection test completed successfully. If you received this, the client properly reconnected after stream closure.")
            }),
        Tool::new::<NoArgs, &'static str>("test_logging_tool")
            .description("Tests that log messages are sent only where they were asked for")
            .handler(|ctx, _| async move {
                ctx.log(LoggingLevel::Info, Some("fixture"), "This message was asked for");
                Ok("Logging evaluated")
            }),
        Tool::new::<NoArgs, &'static str>("test_trigger_tool_change")
            .description("Tells those who listen that the list of tools has changed")
            .handler(|ctx, _| async move {
                ctx.server().tools_changed();
                Ok("Mutation triggered")
            }),
        Tool::new::<NoArgs, &'static str>("test_trigger_prompt_change")
            .description("Tells those who listen that the list of prompts has changed")
            .handler(|ctx, _| async move {
                ctx.server().prompts_changed();
                Ok("Mutation triggered")
            }),
        Tool::new::<NoArgs, &'static str>("test_trigger_resource_update")
            .description("Tells those who listen that test://watched-resource has changed")
            .handler(|ctx, _| async move {
                ctx.server().resource_updated("test://watched-resource");
                Ok("Mutation triggered")
            }),
    ]
}

/// A message with one text of the user, for the client's model.
pub(crate) fn prompt(text: &str, max_tokens: u64) -> CreateMessageParams {
    CreateMessageParams::new(vec![SamplingMessage::new(Role::User, text)], max_tokens)
}

async fn fill_in(ctx: &Ctx, prefix: &str, message: &str, form: Value) -> Result<String, Error> {
    let ElicitResult { action, content, .. } = ctx.elicit(ElicitParams::form(message, schema::raw(form))).await?;
    let action = serde_json::to_value(action)?;
    let content = Value::Object(content.unwrap_or_default());
    Ok(format!("{prefix}: action={}, content={content}", action.as_str().unwrap_or_default()))
}

fn legacy_questions() -> Vec<Tool> {
    vec![
        Tool::new::<Sampling, String>("test_sampling")
            .description("Tests server-initiated sampling (LLM completion request)")
            .handler(|ctx, args| async move {
                let answer = ctx.sample(prompt(&args.prompt, 100)).await?;
                let text = answer.content.blocks().first().and_then(ContentBlock::as_text).unwrap_or("No response");
                Ok(format!("LLM response: {text}"))
            }),
        Tool::new::<Elicitation, String>("test_elicitation")
            .description("Tests server-initiated elicitation (user input request)")
            .handler(|ctx, args| async move {
                let form = json!({
                    "type": "object",
                    "properties": {"response": {"type": "string", "description": "User's response"}},
                    "required": ["response"]
                });
                fill_in(&ctx, "User response", &args.message, form).await
            }),
        Tool::new::<NoArgs, String>("test_elicitation_sep1034_defaults")
            .description("Tests elicitation with default values for all primitive types")
            .handler(|ctx, _| async move {
                let form = json!({
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "User name", "default": "John Doe"},
                        "age": {"type": "integer", "description": "User age", "default": 30},
                        "score": {"type": "number", "description": "User score", "default": 95.5},
                        "status": {
                            "type": "string", "description": "User status",
                            "enum": ["active", "inactive", "pending"], "default": "active"
                        },
                        "verified": {"type": "boolean", "description": "Verification status", "default": true}
                    },
                    "required": []
                });
                fill_in(&ctx, "Elicitation completed", "Please review and update the form fields with defaults", form)
                    .await
            }),
        Tool::new::<NoArgs, String>("test_elicitation_sep1330_enums")
            .description("Tests elicitation with all forms of choices")
            .handler(|ctx, _| async move {
                fill_in(&ctx, "Elicitation completed", "Please select options from the enum fields", choices()).await
            }),
    ]
}

fn choices() -> Value {
    let options = json!(["option1", "option2", "option3"]);
    let titled = |word: &str| {
        json!([
            {"const": "value1", "title": format!("First {word}")},
            {"const": "value2", "title": format!("Second {word}")},
            {"const": "value3", "title": format!("Third {word}")}
        ])
    };
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "description": "Select one option", "enum": options},
            "titledSingle": {"type": "string", "description": "Select one option with titles", "oneOf": titled("Option")},
            "legacyEnum": {
                "type": "string", "description": "Select one option (legacy)",
                "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]
            },
            "untitledMulti": {
                "type": "array", "description": "Select multiple options", "minItems": 1, "maxItems": 3,
                "items": {"type": "string", "enum": options}
            },
            "titledMulti": {
                "type": "array", "description": "Select multiple options with titles", "minItems": 1, "maxItems": 3,
                "items": {"anyOf": titled("Choice")}
            }
        },
        "required": []
    })
}

fn modern() -> Vec<Tool> {
    vec![
        Tool::new::<NoArgs, &'static str>("test_missing_capability")
            .description("Refuses clients that declare no sampling")
            .handler(|ctx, _| async move {
                if ctx.client_can(&["sampling"]) {
                    return Ok("Success");
                }
                Err(Error::missing_capability("sampling is required", schema::raw(json!({"sampling": {}}))))
            }),
        Tool::new::<NoArgs, String>("test_streaming_elicitation")
            .description("Asks the user, in a way that sends no request")
            .handler(|ctx, _| async move {
                let form = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
                fill_in(&ctx, "Answer", "Shall the stream go on?", form).await
            }),
    ]
}
