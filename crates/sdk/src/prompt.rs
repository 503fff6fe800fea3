//! Prompts, their arguments, and the completion of arguments.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use indexmap::IndexMap;
use switchboard_peer::BoxFuture;
use switchboard_protocol::mcp::{self, ContentBlock, GetPromptResult, PromptMessage, Role};
use switchboard_wire::Raw;

use crate::tool::{Run, guarded};
use crate::{Ctx, Error};

/// The arguments of a prompt or the variables of a template, by name.
pub type Arguments = IndexMap<String, String>;

/// Completes a value: what is there of it, and the arguments that are settled.
pub(crate) type Complete =
    Arc<dyn Fn(Ctx, String, Arguments) -> BoxFuture<'static, Result<Vec<String>, Error>> + Send + Sync>;

pub(crate) fn completion<F, R>(complete: F) -> Complete
where
    F: Fn(Ctx, String, Arguments) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Vec<String>, Error>> + Send + 'static,
{
    Arc::new(move |ctx, value, settled| Box::pin(complete(ctx, value, settled)))
}

/// A prompt, ready to be offered.
///
/// ```
/// use switchboard_sdk::{Prompt, user};
///
/// let greet = Prompt::new("greet")
///     .description("Greets someone")
///     .required("name", "Whom to greet")
///     .complete("name", |_ctx, typed, _settled| async move {
///         Ok(["Ada", "Alan"].iter().filter(|name| name.starts_with(&typed)).map(|&name| name.to_owned()).collect())
///     })
///     .handler(|_ctx, arguments| async move { Ok(vec![user(format!("Say hello to {}", arguments["name"]))]) });
/// assert_eq!(greet.name(), "greet");
/// ```
pub struct Prompt {
    pub(crate) definition: mcp::Prompt,
    pub(crate) completions: IndexMap<String, Complete>,
    pub(crate) run: Run,
}

impl Prompt {
    /// Begins a prompt.
    #[expect(clippy::new_ret_no_self, reason = "a prompt without its handler is no prompt yet")]
    pub fn new(name: impl Into<String>) -> PromptBuilder {
        PromptBuilder { definition: mcp::Prompt::new(name), completions: IndexMap::new() }
    }

    /// The name it is asked for by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// The required argument that is missing, if one is.
    pub(crate) fn missing(&self, given: &Arguments) -> Option<&str> {
        let arguments = self.definition.arguments.as_deref().unwrap_or_default();
        let missing = arguments.iter().find(|a| a.required == Some(true) && !given.contains_key(&a.name))?;
        Some(&missing.name)
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").field("name", &self.definition.name).finish_non_exhaustive()
    }
}

/// A prompt without its handler.
pub struct PromptBuilder {
    definition: mcp::Prompt,
    completions: IndexMap<String, Complete>,
}

impl fmt::Debug for PromptBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptBuilder").field("name", &self.definition.name).finish_non_exhaustive()
    }
}

impl PromptBuilder {
    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// What it is for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// An argument, described in full.
    #[must_use]
    pub fn argument(mut self, argument: mcp::PromptArgument) -> Self {
        self.definition.arguments.get_or_insert_default().push(argument);
        self
    }

    /// An argument that must be given.
    #[must_use]
    pub fn required(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.argument(mcp::PromptArgument::new(name).description(description).required(true))
    }

    /// An argument that may be left out.
    #[must_use]
    pub fn optional(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.argument(mcp::PromptArgument::new(name).description(description).required(false))
    }

    /// Completes an argument from what is typed of it and the arguments that are settled.
    #[must_use]
    pub fn complete<F, R>(mut self, argument: impl Into<String>, complete: F) -> Self
    where
        F: Fn(Ctx, String, Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Vec<String>, Error>> + Send + 'static,
    {
        self.completions.insert(argument.into(), completion(complete));
        self
    }

    /// The code behind the prompt.
    pub fn handler<F, R>(self, handler: F) -> Prompt
    where
        F: Fn(Ctx, Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Vec<PromptMessage>, Error>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let description = self.definition.description.clone();
        let run: Run = Arc::new(move |ctx, arguments| {
            let handler = handler.clone();
            let description = description.clone();
            guarded(async move {
                let arguments =
                    arguments.view().map_err(|error| Error::invalid_params(format!("arguments: {error}")))?;
                let mut result = GetPromptResult::new(handler(ctx, arguments).await?);
                result.description = description;
                Ok(Raw::from_value(&result)?)
            })
        });
        Prompt { definition: self.definition, completions: self.completions, run }
    }
}

/// A message of the user.
pub fn user(content: impl Into<ContentBlock>) -> PromptMessage {
    PromptMessage::new(Role::User, content)
}

/// A message of the assistant.
pub fn assistant(content: impl Into<ContentBlock>) -> PromptMessage {
    PromptMessage::new(Role::Assistant, content)
}
