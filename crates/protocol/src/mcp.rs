//! The Model Context Protocol, all five revisions: names, metadata keys, typed views and the headers of 2026-07-28.
//!
//! A view reads what a step needs to know, and builds what we say ourselves. Every object keeps the members it does
//! not know in `extra`, so that a view that is written again loses nothing. Members that exist only in some
//! revisions are optional; which of them may be sent is decided by whoever sends.

#[macro_use]
pub(crate) mod view;

pub mod app;
mod capabilities;
mod completion;
mod content;
mod elicitation;
pub mod header;
mod implementation;
mod input;
mod lifecycle;
mod logging;
pub mod meta;
pub mod method;
mod page;
mod progress;
mod prompt;
mod resource;
mod roots;
mod sampling;
pub mod strict;
mod subscription;
mod task;
mod tool;

pub use capabilities::{
    ClientCapabilities, ElicitationCapability, PromptsCapability, ResourcesCapability, RootsCapability,
    SamplingCapability, ServerCapabilities, TasksCapability, ToolsCapability,
};
pub use completion::{
    CompleteParams, CompleteResult, Completion, CompletionArgument, CompletionContext, PromptReference, Reference,
    ResourceReference,
};
pub use content::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, ImageContent, Role, TextContent, ToolResultContent,
    ToolUseContent,
};
pub use elicitation::{ElicitAction, ElicitParams, ElicitResult, ElicitationCompleteParams};
pub use implementation::{Icon, Implementation};
pub use input::{InputRequest, InputRequiredResult, ResultKind};
pub use lifecycle::{DiscoverResult, InitializeParams, InitializeResult, RequestMeta, RequestParams};
pub use logging::{LogMessage, LoggingLevel, SetLevelParams};
pub use page::{CacheScope, EmptyResult, PaginatedParams};
pub use progress::{CancelledParams, ProgressParams};
pub use prompt::{GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage};
pub use resource::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ResourceUpdatedParams, SubscribeParams,
};
pub use roots::{ListRootsResult, Root};
pub use sampling::{
    CreateMessageParams, CreateMessageResult, ModelHint, ModelPreferences, SamplingContent, SamplingMessage, ToolChoice,
};
pub use subscription::{ListenParams, ListenResult, SubscriptionFilter, SubscriptionsAcknowledgedParams};
pub use task::{
    CreateTaskResult, LegacyTask, ListTasksResult, RelatedTask, Task, TaskIdParams, TaskMetadata, TaskStatus,
    UpdateTaskParams,
};
pub use tool::{CallToolParams, CallToolResult, ListToolsResult, Tool, ToolAnnotations, ToolExecution};

/// The members of an object, in their order.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;
