//! Resources: fixed ones, computed ones, and families of them.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use indexmap::IndexMap;
use switchboard_protocol::mcp::{self, Annotations, CacheScope, ReadResourceResult, ResourceContents};
use switchboard_wire::{Edit, Raw};

use crate::prompt::{Arguments, Complete, completion};
use crate::template::{Template, TemplateError};
use crate::tool::{Run, guarded};
use crate::{Ctx, Error};

/// How long an answer stays good, and for whom (2026-07-28).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    ttl: Duration,
    scope: CacheScope,
}

impl Cache {
    /// Anyone may be given the same answer for that long.
    #[must_use]
    pub const fn public(ttl: Duration) -> Self {
        Self { ttl, scope: CacheScope::Public }
    }

    /// Only the one who asked may be given the same answer for that long.
    #[must_use]
    pub const fn private(ttl: Duration) -> Self {
        Self { ttl, scope: CacheScope::Private }
    }

    /// Adds the hints to a result, unless it has its own.
    pub(crate) fn add_to(self, edit: Edit) -> Edit {
        let (ttl, scope) = (edit.object().has("ttlMs"), edit.object().has("cacheScope"));
        let milliseconds = u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX);
        let word = if self.scope == CacheScope::Public { "public" } else { "private" };
        edit.set_optional("ttlMs", (!ttl).then(|| Raw::number(milliseconds)))
            .set_optional("cacheScope", (!scope).then(|| Raw::string(word)))
    }
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Body {
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Several contents, with addresses and media types of their own.
    Contents(Vec<ResourceContents>),
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<Vec<ResourceContents>> for Body {
    fn from(contents: Vec<ResourceContents>) -> Self {
        Self::Contents(contents)
    }
}

impl Body {
    fn into_result(self, uri: &str, mime_type: Option<&str>) -> Result<Raw, Error> {
        let one = |mut contents: ResourceContents| {
            contents.mime_type = mime_type.map(ToOwned::to_owned);
            vec![contents]
        };
        let contents = match self {
            Self::Text(text) => one(ResourceContents::of_text(uri, text)),
            Self::Bytes(bytes) => one(ResourceContents::of_blob(uri, STANDARD.encode(bytes))),
            Self::Contents(contents) => contents,
        };
        Ok(Raw::from_value(&ReadResourceResult::new(contents))?)
    }
}

/// A resource, ready to be offered.
///
/// ```
/// use switchboard_sdk::Resource;
///
/// let motto = Resource::new("demo://motto", "motto").mime_type("text/plain").fixed("one door, many servers");
/// let clock = Resource::new("demo://clock", "clock")
///     .reader(|_ctx, _uri| async { Ok("twelve".into()) });
/// assert_eq!((motto.uri(), clock.uri()), ("demo://motto", "demo://clock"));
/// ```
pub struct Resource {
    pub(crate) definition: mcp::Resource,
    pub(crate) cache: Option<Cache>,
    pub(crate) run: Run,
}

impl Resource {
    /// Begins a resource at `uri`.
    #[expect(clippy::new_ret_no_self, reason = "a resource without its contents is no resource yet")]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> ResourceBuilder {
        ResourceBuilder { definition: mcp::Resource::new(uri, name), cache: None }
    }

    /// Its address.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.definition.uri
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource").field("uri", &self.definition.uri).finish_non_exhaustive()
    }
}

/// A resource without its contents.
#[derive(Debug)]
pub struct ResourceBuilder {
    definition: mcp::Resource,
    cache: Option<Cache>,
}

impl ResourceBuilder {
    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// What it is.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// The media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.definition.mime_type = Some(mime_type.into());
        self
    }

    /// For whom it is.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.definition.annotations = Some(annotations);
        self
    }

    /// How long what was read stays good.
    #[must_use]
    pub const fn cache(mut self, cache: Cache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Contents that never change.
    pub fn fixed(self, body: impl Into<Body>) -> Resource {
        let body = body.into();
        self.reader(move |_, _| std::future::ready(Ok(body.clone())))
    }

    /// Contents that are worked out at every reading.
    pub fn reader<F, R>(self, reader: F) -> Resource
    where
        F: Fn(Ctx, String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Body, Error>> + Send + 'static,
    {
        let run = reading(self.definition.mime_type.clone(), move |ctx, uri, _| reader(ctx, uri));
        Resource { definition: self.definition, cache: self.cache, run }
    }
}

/// What the code behind a resource is given: its address and the variables of its template.
#[derive(serde::Serialize, serde::Deserialize)]
pub(crate) struct Reading {
    pub(crate) uri: String,
    pub(crate) variables: Arguments,
}

fn reading<F, R>(mime_type: Option<String>, reader: F) -> Run
where
    F: Fn(Ctx, String, Arguments) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Body, Error>> + Send + 'static,
{
    let reader = Arc::new(reader);
    Arc::new(move |ctx, reading| {
        let reader = reader.clone();
        let mime_type = mime_type.clone();
        guarded(async move {
            let Reading { uri, variables } = reading.view()?;
            reader(ctx, uri.clone(), variables).await?.into_result(&uri, mime_type.as_deref())
        })
    })
}

/// A family of resources, ready to be offered.
///
/// ```
/// use switchboard_sdk::ResourceTemplate;
///
/// let user = ResourceTemplate::new("demo://users/{id}", "user")
///     .reader(|_ctx, _uri, variables| async move { Ok(format!("user {}", variables["id"]).into()) });
/// assert_eq!(user.uri_template(), "demo://users/{id}");
/// ```
pub struct ResourceTemplate {
    pub(crate) definition: mcp::ResourceTemplate,
    pub(crate) completions: IndexMap<String, Complete>,
    pub(crate) cache: Option<Cache>,
    pub(crate) run: Run,
}

impl ResourceTemplate {
    /// Begins a family whose addresses fit `uri_template`: text with `{variables}` (RFC 6570, level 1).
    #[expect(clippy::new_ret_no_self, reason = "a template without its reader is no template yet")]
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> ResourceTemplateBuilder {
        let definition = mcp::ResourceTemplate::new(uri_template, name);
        ResourceTemplateBuilder { definition, completions: IndexMap::new(), cache: None }
    }

    /// The template.
    #[must_use]
    pub fn uri_template(&self) -> &str {
        &self.definition.uri_template
    }
}

impl fmt::Debug for ResourceTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceTemplate").field("uri", &self.definition.uri_template).finish_non_exhaustive()
    }
}

/// A family of resources without its reader.
pub struct ResourceTemplateBuilder {
    definition: mcp::ResourceTemplate,
    completions: IndexMap<String, Complete>,
    cache: Option<Cache>,
}

impl fmt::Debug for ResourceTemplateBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceTemplateBuilder").field("uri", &self.definition.uri_template).finish_non_exhaustive()
    }
}

impl ResourceTemplateBuilder {
    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// What they are.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = Some(description.into());
        self
    }

    /// The media type that all of them have.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.definition.mime_type = Some(mime_type.into());
        self
    }

    /// How long what was read stays good.
    #[must_use]
    pub const fn cache(mut self, cache: Cache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Completes a variable from what is typed of it and the variables that are settled.
    #[must_use]
    pub fn complete<F, R>(mut self, variable: impl Into<String>, complete: F) -> Self
    where
        F: Fn(Ctx, String, Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Vec<String>, Error>> + Send + 'static,
    {
        self.completions.insert(variable.into(), completion(complete));
        self
    }

    /// The code behind the family: the address, and the values of the variables. Answer
    /// [`Error::resource_not_found`] for an address that stands for nothing.
    pub fn reader<F, R>(self, reader: F) -> ResourceTemplate
    where
        F: Fn(Ctx, String, Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Body, Error>> + Send + 'static,
    {
        let run = reading(self.definition.mime_type.clone(), reader);
        ResourceTemplate { definition: self.definition, completions: self.completions, cache: self.cache, run }
    }
}

/// A family as the server keeps it.
pub(crate) struct TemplateEntry {
    pub(crate) template: ResourceTemplate,
    pub(crate) pattern: Template,
}

impl TemplateEntry {
    pub(crate) fn new(template: ResourceTemplate) -> Result<Self, TemplateError> {
        let pattern = Template::parse(&template.definition.uri_template)?;
        Ok(Self { template, pattern })
    }
}
