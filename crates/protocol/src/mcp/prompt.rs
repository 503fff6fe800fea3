//! Prompts.

use indexmap::IndexMap;
use switchboard_wire::Raw;

use super::{CacheScope, ContentBlock, Icon, JsonObject, RequestMeta, Role};

view! {
    /// The definition of a prompt.
    Prompt {
        /// The name it is asked for by.
        name: String,
        ;
        /// A name for people.
        title: String,
        /// What it is for.
        description: String,
        /// What it needs to know.
        arguments: Vec<PromptArgument>,
        /// Pictures.
        icons: Vec<Icon>,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// One thing that a prompt needs to know.
    PromptArgument {
        /// Its name.
        name: String,
        ;
        /// A name for people.
        title: String,
        /// What it is.
        description: String,
        /// Whether it must be given.
        required: bool,
    }
}

view! {
    /// One message of a prompt.
    PromptMessage {
        /// Who speaks.
        role: Role,
        /// What is said.
        content: ContentBlock,
        ;
    }
}

view! {
    /// The parameters of `prompts/get`.
    GetPromptParams {
        /// The prompt.
        name: String,
        ;
        /// Its arguments: texts by name.
        arguments: JsonObject,
        /// Answers to an earlier `input_required` result (2026-07-28).
        input_responses: IndexMap<String, Raw>,
        /// The state of that result, given back exactly (2026-07-28).
        request_state: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
}

view! {
    /// The result of `prompts/get`.
    GetPromptResult {
        /// The messages.
        messages: Vec<PromptMessage>,
        ;
        /// What the prompt is for.
        description: String,
        /// `complete` (2026-07-28).
        result_type: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The result of `prompts/list`.
    ListPromptsResult {
        /// The prompts.
        prompts: Vec<Prompt>,
        ;
        /// Where the next page begins.
        next_cursor: String,
        /// `complete` (2026-07-28).
        result_type: String,
        /// How long the list stays good, in milliseconds (2026-07-28).
        ttl_ms: u64,
        /// For whom it stays good (2026-07-28).
        cache_scope: CacheScope,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}
