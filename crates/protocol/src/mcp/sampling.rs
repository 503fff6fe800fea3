//! Asking the client's model.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Number;
use switchboard_wire::{Kind, Raw};

use super::{ContentBlock, JsonObject, RequestMeta, Role, TaskMetadata, Tool};

view! {
    /// The parameters of `sampling/createMessage`.
    CreateMessageParams {
        /// The conversation.
        messages: Vec<SamplingMessage>,
        /// How long the answer may be.
        max_tokens: u64,
        ;
        /// Which model.
        model_preferences: ModelPreferences,
        /// What the model is told first.
        system_prompt: String,
        /// `none`, `thisServer` or `allServers`.
        include_context: String,
        /// How freely it answers.
        temperature: Number,
        /// What ends the answer.
        stop_sequences: Vec<String>,
        /// For the provider of the model.
        metadata: Raw,
        /// Tools the model may wish to call (from 2025-11-25 on).
        tools: Vec<Tool>,
        /// Whether it may, or must (from 2025-11-25 on).
        tool_choice: ToolChoice,
        /// Asks for a task (2025-11-25).
        task: TaskMetadata,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
}

view! {
    /// The result of `sampling/createMessage`.
    CreateMessageResult {
        /// Who speaks.
        role: Role,
        /// What is said.
        content: SamplingContent,
        /// The model that answered.
        model: String,
        ;
        /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a word of the provider's own.
        stop_reason: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// One message of the conversation.
    SamplingMessage {
        /// Who speaks.
        role: Role,
        /// What is said.
        content: SamplingContent,
        ;
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// Which model to ask.
    ModelPreferences {
        ;
        /// Names, or parts of names, best first.
        hints: Vec<ModelHint>,
        /// How much price matters, from 0 to 1.
        cost_priority: Number,
        /// How much speed matters, from 0 to 1.
        speed_priority: Number,
        /// How much ability matters, from 0 to 1.
        intelligence_priority: Number,
    }
}

view! {
    /// A model, by part of its name.
    ModelHint {
        ;
        /// The name, or part of it.
        name: String,
    }
}

view! {
    /// Whether the model may wish to call tools.
    ToolChoice {
        ;
        /// `auto`, `required` or `none`.
        mode: String,
    }
}

empty_by_default!(ModelPreferences, ModelHint, ToolChoice);

/// What a message of a conversation says: one block, or from 2025-11-25 on several.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "one block is the usual case, and views are not kept in numbers")]
pub enum SamplingContent {
    /// One block.
    One(ContentBlock),
    /// Several.
    Many(Vec<ContentBlock>),
}

impl SamplingContent {
    /// The blocks, however many there are.
    #[must_use]
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            Self::One(block) => std::slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let content = if raw.kind() == Kind::Array { raw.view().map(Self::Many) } else { raw.view().map(Self::One) };
        content.map_err(serde::de::Error::custom)
    }
}

impl From<ContentBlock> for SamplingContent {
    fn from(block: ContentBlock) -> Self {
        Self::One(block)
    }
}

impl From<&str> for SamplingContent {
    fn from(text: &str) -> Self {
        Self::One(text.into())
    }
}

impl From<Vec<ContentBlock>> for SamplingContent {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Many(blocks)
    }
}
