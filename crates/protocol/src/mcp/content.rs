//! What messages, results and prompts are made of.

use serde::{Deserialize, Serialize};
use serde_json::Number;
use switchboard_wire::Raw;

use super::JsonObject;
use super::resource::{Resource, ResourceContents};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// A person, or what speaks for one.
    User,
    /// A model.
    Assistant,
}

view! {
    /// For whom a thing is, and how much it matters.
    Annotations {
        ;
        /// For whom.
        audience: Vec<Role>,
        /// From 0, least, to 1, most.
        priority: Number,
        /// When it last changed, in ISO 8601.
        last_modified: String,
    }
}
empty_by_default!(Annotations);

view! {
    /// Text.
    TextContent {
        /// The text.
        text: String,
        ;
        /// For whom it is.
        annotations: Annotations,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// A picture.
    ImageContent {
        /// Base64.
        data: String,
        /// The media type.
        mime_type: String,
        ;
        /// For whom it is.
        annotations: Annotations,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// Sound.
    AudioContent {
        /// Base64.
        data: String,
        /// The media type.
        mime_type: String,
        ;
        /// For whom it is.
        annotations: Annotations,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// A resource with its contents.
    EmbeddedResource {
        /// The contents.
        resource: ResourceContents,
        ;
        /// For whom it is.
        annotations: Annotations,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// A model's wish to call a tool (sampling, from 2025-11-25 on).
    ToolUseContent {
        /// To match the result with.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments.
        input: Raw,
        ;
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// What a tool gave back to a model (sampling, from 2025-11-25 on).
    ToolResultContent {
        /// The id of the wish.
        tool_use_id: String,
        /// What it gave back.
        content: Vec<ContentBlock>,
        ;
        /// The same, for programs.
        #[serde(deserialize_with = "super::view::present")]
        structured_content: Raw,
        /// Whether the tool failed.
        is_error: bool,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

tagged! {
    /// One piece of content. The last two occur in sampling only.
    ContentBlock {
        /// Text.
        Text(TextContent) = "text",
        /// A picture.
        Image(ImageContent) = "image",
        /// Sound.
        Audio(AudioContent) = "audio",
        /// A resource with its contents.
        Resource(EmbeddedResource) = "resource",
        /// The description of a resource that can be read.
        ResourceLink(Resource) = "resource_link",
        /// A model's wish to call a tool.
        ToolUse(ToolUseContent) = "tool_use",
        /// What the tool gave back.
        ToolResult(ToolResultContent) = "tool_result",
    }
}

impl ContentBlock {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// A picture, in base64.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent::new(data, mime_type))
    }

    /// Sound, in base64.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent::new(data, mime_type))
    }

    /// A resource with its contents.
    #[must_use]
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(EmbeddedResource::new(contents))
    }

    /// The text, where this is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}
