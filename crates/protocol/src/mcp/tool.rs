//! Tools: their definitions, calls and results.

use indexmap::IndexMap;
use switchboard_wire::Raw;

use super::{CacheScope, ContentBlock, Icon, JsonObject, RequestMeta, TaskMetadata};

view! {
    /// The definition of a tool.
    Tool {
        /// The name it is called by.
        name: String,
        /// The JSON Schema of its arguments.
        input_schema: Raw,
        ;
        /// A name for people.
        title: String,
        /// What it does, for the model.
        description: String,
        /// The JSON Schema of its structured results.
        output_schema: Raw,
        /// What the server says about its effects. A hint, not a promise.
        annotations: ToolAnnotations,
        /// Pictures.
        icons: Vec<Icon>,
        /// How it runs (2025-11-25).
        execution: ToolExecution,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// What a server says about the effects of a tool.
    ToolAnnotations {
        ;
        /// A name for people, older than the tool's own.
        title: String,
        /// Changes nothing.
        read_only_hint: bool,
        /// May destroy.
        destructive_hint: bool,
        /// A second equal call changes nothing more.
        idempotent_hint: bool,
        /// Reaches outside.
        open_world_hint: bool,
    }
}

view! {
    /// How a tool runs (2025-11-25).
    ToolExecution {
        ;
        /// `forbidden`, `optional` or `required`.
        task_support: String,
    }
}

view! {
    /// The parameters of `tools/call`.
    CallToolParams {
        /// The tool.
        name: String,
        ;
        /// Its arguments: an object.
        arguments: Raw,
        /// Asks for a task (2025-11-25).
        task: TaskMetadata,
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
    /// The result of `tools/call`.
    CallToolResult {
        /// What the tool gave back. Some servers leave it out beside structured content.
        #[serde(default)]
        content: Vec<ContentBlock>,
        ;
        /// The same, for programs. Any JSON value from 2026-07-28 on.
        #[serde(deserialize_with = "super::view::present")]
        structured_content: Raw,
        /// Whether the tool failed.
        is_error: bool,
        /// `complete` (2026-07-28).
        result_type: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The result of `tools/list`.
    ListToolsResult {
        /// The tools.
        tools: Vec<Tool>,
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

empty_by_default!(ToolAnnotations, ToolExecution);

impl CallToolResult {
    /// A tool's own failure, told to the model.
    pub fn failure(text: impl Into<String>) -> Self {
        Self::new(vec![ContentBlock::text(text)]).is_error(true)
    }

    /// Text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![ContentBlock::text(text)])
    }
}
