//! Resources and prompts.

use serde_json::json;
use switchboard_sdk::mcp::{ContentBlock, ResourceContents};
use switchboard_sdk::{Body, Prompt, Resource, ResourceTemplate, user};

/// A red dot.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

pub(crate) fn resources() -> Vec<Resource> {
    vec![
        Resource::new("test://static-text", "Static Text Resource")
            .description("A static text resource for testing")
            .mime_type("text/plain")
            .fixed("This is the content of the static text resource."),
        Resource::new("test://static-binary", "Static Binary Resource")
            .description("A static binary resource (image) for testing")
            .mime_type("image/png")
            .fixed(Body::Contents(vec![ResourceContents::of_blob("test://static-binary", PNG).mime_type("image/png")])),
        Resource::new("test://watched-resource", "Watched Resource")
            .description("A resource that can be subscribed to")
            .mime_type("text/plain")
            .fixed("Watched resource content"),
    ]
}

pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new("test://template/{id}/data", "Resource Template")
        .description("A resource template with parameter substitution")
        .mime_type("application/json")
        .complete("id", |_ctx, typed, _settled| async move {
            Ok(["1", "12", "123"].into_iter().filter(|id| id.starts_with(&typed)).map(ToOwned::to_owned).collect())
        })
        .reader(|_ctx, _uri, variables| async move {
            let id = &variables["id"];
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            Ok(data.to_string().into())
        })
}

pub(crate) fn prompts() -> Vec<Prompt> {
    vec![
        Prompt::new("test_simple_prompt")
            .description("A simple prompt without arguments")
            .handler(|_ctx, _arguments| async { Ok(vec![user("This is a simple prompt for testing.")]) }),
        Prompt::new("test_prompt_with_arguments")
            .description("A prompt with required arguments")
            .required("arg1", "First test argument")
            .required("arg2", "Second test argument")
            .complete("arg1", |_ctx, typed, _settled| async move {
                let known = ["paris", "park", "party"];
                Ok(known.into_iter().filter(|value| value.starts_with(&typed)).map(ToOwned::to_owned).collect())
            })
            .handler(|_ctx, arguments| async move {
                let (one, two) = (&arguments["arg1"], &arguments["arg2"]);
                Ok(vec![user(format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))])
            }),
        Prompt::new("test_prompt_with_embedded_resource")
            .description("A prompt that includes an embedded resource")
            .required("resourceUri", "URI of the resource to embed")
            .handler(|_ctx, arguments| async move {
                let contents = ResourceContents::of_text(
                    arguments["resourceUri"].as_str(),
                    "Embedded resource content for testing.",
                );
                Ok(vec![
                    user(ContentBlock::resource(contents.mime_type("text/plain"))),
                    user("Please process the embedded resource above."),
                ])
            }),
        Prompt::new("test_prompt_with_image").description("A prompt that includes image content").handler(
            |_ctx, _arguments| async {
                Ok(vec![user(ContentBlock::image(PNG, "image/png")), user("Please analyze the image above.")])
            },
        ),
    ]
}
