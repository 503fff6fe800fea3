//! Tools: what they take and give, and the code behind them.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::FutureExt;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use switchboard_peer::BoxFuture;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_protocol::mcp::header::{AnnotationError, ParamHeaders};
use switchboard_protocol::mcp::{self, CallToolResult, ContentBlock, Icon, JsonObject, ToolAnnotations, ToolExecution};
use switchboard_protocol::{Era, Revision};
use switchboard_wire::{Kind, Raw};

use crate::task::TaskSupport;
use crate::{Ctx, Error, schema};

/// The code behind a tool, a prompt or a resource: raw arguments in, a result without its trimmings out.
pub(crate) type Run = Arc<dyn Fn(Ctx, Raw) -> BoxFuture<'static, Result<Raw, Error>> + Send + Sync>;

/// Wraps a handler so that its panic is an error of one call.
pub(crate) fn guarded<F>(work: F) -> BoxFuture<'static, Result<Raw, Error>>
where
    F: Future<Output = Result<Raw, Error>> + Send + 'static,
{
    Box::pin(std::panic::AssertUnwindSafe(work).catch_unwind().map(|outcome| {
        outcome
            .unwrap_or_else(|_| Err(Error::fault(Fault::new(FaultKind::Internal, "the handler failed unexpectedly"))))
    }))
}

/// A tool, ready to be offered.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
/// use switchboard_sdk::{Json, Tool};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Pair {
///     /// The first number.
///     a: i64,
///     b: i64,
/// }
/// #[derive(Serialize, JsonSchema)]
/// struct Sum {
///     sum: i64,
/// }
///
/// let add = Tool::new::<Pair, Json<Sum>>("add")
///     .description("Adds two numbers")
///     .read_only()
///     .handler(|_ctx, pair| async move { Ok(Json(Sum { sum: pair.a + pair.b })) });
/// assert_eq!(add.name(), "add");
/// ```
pub struct Tool {
    pub(crate) definition: mcp::Tool,
    pub(crate) support: TaskSupport,
    pub(crate) deferred: bool,
    pub(crate) run: Run,
}

impl Tool {
    /// Begins a tool that takes `Args` and gives `Output`. What it takes is described by the type's JSON Schema, and
    /// so is what it gives where that is [`Json`].
    #[expect(clippy::new_ret_no_self, reason = "a tool without its handler is no tool yet")]
    pub fn new<Args: DeserializeOwned + JsonSchema, Output: ToolOutput>(
        name: impl Into<String>,
    ) -> ToolBuilder<Args, Output> {
        let mut definition = mcp::Tool::new(name, schema::input::<Args>());
        definition.output_schema = Output::schema();
        ToolBuilder { definition, support: TaskSupport::Forbidden, deferred: false, types: PhantomData }
    }

    /// The name it is called by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// What it is, as clients see it.
    #[must_use]
    pub const fn definition(&self) -> &mcp::Tool {
        &self.definition
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.definition.name)
            .field("tasks", &self.support)
            .finish_non_exhaustive()
    }
}

/// A tool without its handler.
pub struct ToolBuilder<Args, Output> {
    definition: mcp::Tool,
    support: TaskSupport,
    deferred: bool,
    types: PhantomData<fn(Args) -> Output>,
}

impl<Args, Output> fmt::Debug for ToolBuilder<Args, Output> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolBuilder").field("name", &self.definition.name).finish_non_exhaustive()
    }
}

impl<Args, Output> ToolBuilder<Args, Output>
where
    Args: DeserializeOwned + Send + 'static,
    Output: ToolOutput,
{
    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// What it does, for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// A schema written by hand instead of the type's: [`schema::raw`]. It is listed byte for byte.
    #[must_use]
    pub fn input_schema(mut self, schema: Raw) -> Self {
        self.definition.input_schema = schema;
        self
    }

    /// A schema of the structured result written by hand.
    #[must_use]
    pub fn output_schema(mut self, schema: Raw) -> Self {
        self.definition.output_schema = Some(schema);
        self
    }

    /// What to say about the tool's effects.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.definition.annotations = Some(annotations);
        self
    }

    /// Says that the tool changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        let annotations = self.definition.annotations.take().unwrap_or_default();
        self.definition.annotations = Some(annotations.read_only_hint(true));
        self
    }

    /// Pictures of it.
    #[must_use]
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.definition.icons = Some(icons);
        self
    }

    /// Metadata of the definition.
    #[must_use]
    pub fn meta(mut self, meta: JsonObject) -> Self {
        self.definition.meta = Some(meta);
        self
    }

    /// A member of the definition that MCP does not define, such as `security` of MGP. Many clients drop what they do
    /// not know: say what matters in [`meta`](Self::meta) as well.
    #[must_use]
    pub fn member(mut self, name: impl Into<String>, value: serde_json::Value) -> Self {
        self.definition.extra.insert(name.into(), value);
        self
    }

    /// Whether it may run as a task. It then begins as one at once, wherever the client can handle tasks.
    #[must_use]
    pub const fn task_support(mut self, support: TaskSupport) -> Self {
        self.support = support;
        self
    }

    /// With task support, in the modern era: the task begins only where the handler calls [`Ctx::background`]. What
    /// it asks before that is asked in the usual rounds.
    #[must_use]
    pub const fn deferred_task(mut self) -> Self {
        self.deferred = true;
        self
    }

    /// The code behind the tool.
    pub fn handler<F, R>(mut self, handler: F) -> Tool
    where
        F: Fn(Ctx, Args) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Output, Error>> + Send + 'static,
    {
        if self.support != TaskSupport::Forbidden {
            self.definition.execution = Some(ToolExecution::new().task_support(self.support.as_str()));
        }
        let handler = Arc::new(handler);
        let run: Run = Arc::new(move |ctx, arguments| {
            let handler = handler.clone();
            guarded(async move {
                let arguments: Args = arguments.view().map_err(|error| invalid_arguments(&error))?;
                let revision = ctx.revision();
                let result = handler(ctx, arguments).await?.into_result()?;
                render(result, revision)
            })
        });
        Tool { definition: self.definition, support: self.support, deferred: self.deferred, run }
    }
}

fn invalid_arguments(error: &serde_json::Error) -> Error {
    Error::fault(Fault::new(FaultKind::InvalidArguments, format!("invalid arguments: {error}")))
}

/// Writes a tool's result for a revision.
pub(crate) fn render(mut result: CallToolResult, revision: Revision) -> Result<Raw, Error> {
    // Before 2026-07-28 structured content is an object.
    let object = |raw: &Raw| raw.kind() == Kind::Object;
    if revision.era() == Era::Legacy && !result.structured_content.as_ref().is_none_or(object) {
        result.structured_content = None;
    }
    Ok(Raw::from_value(&result)?)
}

/// For tools that take nothing. What a client sends all the same is ignored.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
pub struct NoArgs {}

/// A structured result: programs get the value, models its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// What a tool may give back.
pub trait ToolOutput: Send + 'static {
    /// The schema of the structured result, where there is one.
    #[must_use]
    fn schema() -> Option<Raw> {
        None
    }

    /// The result.
    ///
    /// # Errors
    /// The value cannot be written as JSON.
    fn into_result(self) -> Result<CallToolResult, Error>;
}

impl ToolOutput for CallToolResult {
    fn into_result(self) -> Result<CallToolResult, Error> {
        Ok(self)
    }
}

impl ToolOutput for () {
    fn into_result(self) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::new(Vec::new()))
    }
}

impl ToolOutput for String {
    fn into_result(self) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::text(self))
    }
}

impl ToolOutput for &'static str {
    fn into_result(self) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::text(self))
    }
}

impl ToolOutput for ContentBlock {
    fn into_result(self) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::new(vec![self]))
    }
}

impl ToolOutput for Vec<ContentBlock> {
    fn into_result(self) -> Result<CallToolResult, Error> {
        Ok(CallToolResult::new(self))
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> ToolOutput for Json<T> {
    fn schema() -> Option<Raw> {
        Some(schema::output::<T>())
    }

    fn into_result(self) -> Result<CallToolResult, Error> {
        let value = Raw::from_value(&self.0)?;
        Ok(CallToolResult::text(value.as_str()).structured_content(value))
    }
}

/// A tool as the server keeps it, with the work for lists and checks done once.
pub(crate) struct ToolEntry {
    pub(crate) tool: Tool,
    pub(crate) headers: ParamHeaders,
    modern: Raw,
    latest_legacy: Raw,
    older: Raw,
}

/// Why a tool cannot be offered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// Clients would refuse the name.
    #[error("{0:?} is no tool name: 1 to 128 letters, digits, `_`, `-`, `.` or `/` are allowed")]
    Name(String),
    /// The schema of the arguments is not that of an object.
    #[error("the input schema of {0:?} does not say that arguments are an object")]
    Schema(String),
    /// Clients would leave the tool out.
    #[error("an x-mcp-header of {0:?} is invalid")]
    Header(String, #[source] AnnotationError),
    /// The definition cannot be written.
    #[error("the definition of {0:?} cannot be written as JSON")]
    Json(String, #[source] serde_json::Error),
}

impl ToolEntry {
    pub(crate) fn new(tool: Tool) -> Result<Self, ToolError> {
        let definition = &tool.definition;
        let name = || definition.name.clone();
        let allowed = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        if !(1..=128).contains(&definition.name.len()) || !definition.name.chars().all(allowed) {
            return Err(ToolError::Name(name()));
        }
        let kind = definition.input_schema.member("type").and_then(|kind| kind.as_text());
        if kind.as_deref() != Some("object") {
            return Err(ToolError::Schema(name()));
        }
        let headers = ParamHeaders::of(&definition.input_schema).map_err(|error| ToolError::Header(name(), error))?;
        let write =
            |definition: &mcp::Tool| Raw::from_value(definition).map_err(|error| ToolError::Json(name(), error));
        let mut shown = definition.clone();
        shown.execution = None;
        let modern = write(&shown)?;
        // Legacy clients take no other output schema than that of an object.
        let output = shown.output_schema.as_ref();
        if output
            .is_some_and(|schema| schema.member("type").and_then(|kind| kind.as_text()).as_deref() != Some("object"))
        {
            shown.output_schema = None;
        }
        let older = write(&shown)?;
        shown.execution.clone_from(&definition.execution);
        let latest_legacy = write(&shown)?;
        Ok(Self { tool, headers, modern, latest_legacy, older })
    }

    /// The definition as a client of that revision sees it.
    pub(crate) const fn listed(&self, revision: Revision) -> &Raw {
        match revision {
            Revision::V2026_07_28 => &self.modern,
            Revision::V2025_11_25 => &self.latest_legacy,
            _ => &self.older,
        }
    }
}
