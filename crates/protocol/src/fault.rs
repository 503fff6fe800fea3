//! The one internal error type and its renderings.
//!
//! A [`Fault`] says what went wrong, on whose side, whether trying again helps, and what the reader may be told. It
//! decides how that is written for a peer: see [`Rendering`]. It deliberately does not know who the peer is, what
//! status an HTTP answer carries, or what is logged. The private detail is for logs and never leaves the process.
//!
//! Follows MGP section 14 (codes, recovery fields), the error codes of each MCP revision, the codes of MCPL, and
//! proposal 11 (structured errors).

mod advice;
mod kind;
mod readable;
mod render;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use switchboard_wire::{ErrorObject, Raw, Refusal, RefusalKind};

pub use kind::{Category, FaultKind, RetryAdvice, RetryStrategy, Side};
pub use readable::readable;
pub use render::{MethodFamily, Rendering};

use crate::Revision;

/// A refusal or failure, with everything its renderings need.
///
/// ```
/// use switchboard_protocol::{Fault, Revision, fault::{FaultKind, Rendering}};
///
/// let fault = Fault::new(FaultKind::RateLimited, "10 calls a minute are allowed").retry_after(5_000);
/// let error = fault.render(&Rendering::new(Revision::V2025_06_18, "tools/call").with_mgp(true));
/// assert_eq!(error.code, 3000);
/// ```
#[derive(Clone)]
pub struct Fault(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: FaultKind,
    side: Side,
    category: Category,
    retry: RetryAdvice,
    message: Cow<'static, str>,
    detail: Option<String>,
    suggestion: Option<Cow<'static, str>>,
    user_actionable: bool,
    fallback_tool: Option<String>,
    details: Option<Raw>,
    members: Vec<(Cow<'static, str>, Raw)>,
    origin: Option<String>,
    upstream: Option<ErrorObject>,
    /// Whether the server's own error is in the words of MGP.
    in_mgp: bool,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl Fault {
    /// The refusal of a method that does not exist, for whoever asks.
    #[must_use]
    pub fn no_such_method(name: &str) -> Self {
        Self::new(FaultKind::MethodNotFound, format!("Method not found: {name}"))
    }

    /// The refusal of a tool that does not exist, for whoever asks.
    #[must_use]
    pub fn no_such_tool(name: &str) -> Self {
        Self::new(FaultKind::UnknownTool, format!("Unknown tool: {name}"))
    }

    /// A fault with the side, category and retry advice that its kind usually has. The message is public.
    pub fn new(kind: FaultKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            side: kind.side(),
            category: kind.category(),
            retry: kind.retry(),
            message: message.into(),
            detail: None,
            suggestion: None,
            user_actionable: kind.user_actionable(),
            fallback_tool: None,
            details: None,
            members: Vec::new(),
            origin: None,
            upstream: None,
            in_mgp: false,
            source: None,
        }))
    }

    /// A failure of our own whose cause is nobody else's business: the source goes to the log, not to the peer.
    pub fn internal(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(FaultKind::Internal, "internal error").with_source(source)
    }

    /// A server's own error, to be passed on as it came. `in_mgp` says whether MGP was agreed on with that server, so
    /// that its numbers are MGP's. What the error says of getting over it is taken over; where it says nothing, nothing
    /// is promised.
    #[must_use]
    pub fn upstream(server_id: impl Into<String>, in_mgp: bool, error: ErrorObject) -> Self {
        let kind = FaultKind::of_server(error.code, in_mgp);
        let mut fault = Self::new(kind, error.message.clone()).on_side(Side::Server).from_server(server_id);
        advice::take_over(&mut fault.0, &error);
        fault.0.in_mgp = in_mgp;
        fault.0.upstream = Some(error);
        fault
    }

    /// The peer asked for a revision that is not spoken here.
    #[must_use]
    pub fn unsupported_version(requested: &str, supported: &[Revision]) -> Self {
        let supported: Vec<Raw> = supported.iter().map(|revision| Raw::string(revision.as_str())).collect();
        Self::new(FaultKind::UnsupportedProtocolVersion, format!("unsupported protocol version: {requested:?}"))
            .with_member("supported", Raw::array(&supported))
            .with_member("requested", Raw::string(requested))
    }

    /// The peer did not declare client capabilities that the call needs. `required` has the shape of
    /// `ClientCapabilities`.
    pub fn missing_capability(message: impl Into<Cow<'static, str>>, required: Raw) -> Self {
        Self::new(FaultKind::MissingClientCapability, message).with_member("requiredCapabilities", required)
    }

    /// Tells the reader what to do next.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<Cow<'static, str>>) -> Self {
        self.0.suggestion = Some(suggestion.into());
        self
    }

    /// Makes the fault retryable, after that many milliseconds.
    #[must_use]
    pub fn retry_after(mut self, milliseconds: u64) -> Self {
        self.0.retry.retryable = true;
        self.0.retry.after_ms = Some(milliseconds);
        self
    }

    /// Replaces the retry advice.
    #[must_use]
    pub fn with_retry(mut self, retry: RetryAdvice) -> Self {
        self.0.retry = retry;
        self
    }

    /// Says on whose side the fault is, where that differs from what its kind says.
    #[must_use]
    pub fn on_side(mut self, side: Side) -> Self {
        self.0.side = side;
        self
    }

    /// Adds text for the log. It is never rendered.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds public, machine-readable details.
    #[must_use]
    pub fn with_details(mut self, details: Raw) -> Self {
        self.0.details = Some(details);
        self
    }

    /// Adds a member to `error.data` itself, where a specification asks for one (`supported`, `uri`).
    #[must_use]
    pub fn with_member(mut self, key: impl Into<Cow<'static, str>>, value: Raw) -> Self {
        self.0.members.push((key.into(), value));
        self
    }

    /// Says whether a person can do something about it.
    #[must_use]
    pub fn user_can_act(mut self, actionable: bool) -> Self {
        self.0.user_actionable = actionable;
        self
    }

    /// Names a tool that may be tried instead.
    #[must_use]
    pub fn fall_back_to(mut self, tool: impl Into<String>) -> Self {
        self.0.fallback_tool = Some(tool.into());
        self
    }

    /// Names the server that the fault comes from.
    #[must_use]
    pub fn from_server(mut self, server_id: impl Into<String>) -> Self {
        self.0.origin = Some(server_id.into());
        self
    }

    /// Keeps the cause, for the log.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// That parameters cannot be read.
    #[must_use]
    pub fn malformed(refusal: Refusal) -> Self {
        Self::new(FaultKind::InvalidParams, refusal.to_string()).with_source(refusal)
    }

    /// What went wrong.
    #[must_use]
    pub const fn kind(&self) -> FaultKind {
        self.0.kind
    }

    /// On whose side.
    #[must_use]
    pub const fn side(&self) -> Side {
        self.0.side
    }

    /// The group it belongs to.
    #[must_use]
    pub const fn category(&self) -> Category {
        self.0.category
    }

    /// Whether and when to try again.
    #[must_use]
    pub const fn retry(&self) -> &RetryAdvice {
        &self.0.retry
    }

    /// What the peer is told.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What only the log is told.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    /// What the reader should do next.
    #[must_use]
    pub fn suggestion(&self) -> Option<&str> {
        self.0.suggestion.as_deref()
    }

    /// Whether a person can do something about it.
    #[must_use]
    pub const fn is_user_actionable(&self) -> bool {
        self.0.user_actionable
    }

    /// A tool that may be tried instead.
    #[must_use]
    pub fn fallback_tool(&self) -> Option<&str> {
        self.0.fallback_tool.as_deref()
    }

    /// Public details.
    #[must_use]
    pub const fn details(&self) -> Option<&Raw> {
        self.0.details.as_ref()
    }

    /// The server that the fault comes from.
    #[must_use]
    pub fn origin(&self) -> Option<&str> {
        self.0.origin.as_deref()
    }

    /// The server's own error, where this is one.
    #[must_use]
    pub const fn upstream_error(&self) -> Option<&ErrorObject> {
        self.0.upstream.as_ref()
    }

    /// The error object of proposal 11, as it stands in `error.data.structured` and in a result's `error`.
    #[must_use]
    pub fn structured(&self) -> Raw {
        render::structured(self)
    }

    /// The number of MGP 14.3 and the recovery fields of 14.5, as they stand in `_mgp` of a result.
    #[must_use]
    pub fn recovery(&self) -> Raw {
        render::recovery(self)
    }

    /// Writes the fault in the peer's dialect.
    #[must_use]
    pub fn render(&self, rendering: &Rendering) -> ErrorObject {
        render::render(self, rendering)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("detail", &self.0.detail)
            .field("origin", &self.0.origin)
            .field("source", &self.0.source)
            .finish_non_exhaustive()
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

impl From<&Refusal> for Fault {
    fn from(refusal: &Refusal) -> Self {
        let kind = match refusal.kind {
            RefusalKind::Syntax | RefusalKind::Unicode | RefusalKind::ByteOrderMark | RefusalKind::Trailing => {
                FaultKind::Parse
            }
            RefusalKind::TooLong(_) => FaultKind::TooLarge,
            _ => FaultKind::InvalidRequest,
        };
        Self::new(kind, refusal.to_string())
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::from(&refusal).with_source(refusal)
    }
}

/// An error with all its causes on one line, for logs and for people. A cause that the text before it names already is
/// not repeated.
#[must_use]
pub fn error_chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
