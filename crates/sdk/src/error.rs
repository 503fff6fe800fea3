//! What a handler answers when it cannot do what was asked.
//!
//! Decides what the caller sees: a failure becomes a tool error that the model can read and act on, a fault or a
//! JSON-RPC error becomes the error of the request. It does not know which handler failed.

use std::error::Error as StdError;
use std::fmt;

use switchboard_protocol::Fault;
use switchboard_protocol::fault::{FaultKind, Rendering, error_chain};
use switchboard_wire::{ErrorObject, Raw};

/// Why a handler has no result.
///
/// Any error converts with `?` into a *failure*: from a tool it reaches the model as a result with `isError`, from
/// anything else as an internal error. A [`Fault`] or an [`ErrorObject`] is answered as the JSON-RPC error it is.
///
/// ```
/// use switchboard_sdk::Error;
///
/// fn parse(text: &str) -> Result<u16, Error> {
///     if text.is_empty() {
///         return Err(Error::msg("the port is missing"));
///     }
///     Ok(text.parse()?)
/// }
/// assert_eq!(parse("").unwrap_err().to_string(), "the port is missing");
/// ```
pub struct Error(Box<Kind>);

enum Kind {
    Failed(String),
    Fault(Fault),
    Object(ErrorObject),
}

impl Error {
    /// A failure that the caller should read.
    pub fn msg(message: impl Into<String>) -> Self {
        Self(Box::new(Kind::Failed(message.into())))
    }

    /// A refusal with a code of the peer's revision.
    #[must_use]
    pub fn fault(fault: Fault) -> Self {
        Self(Box::new(Kind::Fault(fault)))
    }

    /// A JSON-RPC error, sent as it is.
    #[must_use]
    pub fn object(error: ErrorObject) -> Self {
        Self(Box::new(Kind::Object(error)))
    }

    /// The parameters do not fit: a JSON-RPC error, even from a tool.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::fault(Fault::new(FaultKind::InvalidParams, message.into()))
    }

    /// There is no resource at `uri`.
    #[must_use]
    pub fn resource_not_found(uri: &str) -> Self {
        let fault = Fault::new(FaultKind::UnknownResource, format!("resource not found: {uri}"));
        Self::fault(fault.with_member("uri", Raw::string(uri)))
    }

    /// The client did not declare a capability without which the request cannot be served. `required` has the
    /// shape of `ClientCapabilities`.
    pub fn missing_capability(message: impl Into<String>, required: Raw) -> Self {
        Self::fault(Fault::missing_capability(message.into(), required))
    }

    /// The text of a plain failure; `None` for what must be answered with a JSON-RPC error.
    pub(crate) fn failure(&self) -> Option<&str> {
        match &*self.0 {
            Kind::Failed(message) => Some(message),
            Kind::Fault(_) | Kind::Object(_) => None,
        }
    }

    /// What sort of fault this is, if it is one.
    pub(crate) fn kind(&self) -> Option<FaultKind> {
        match &*self.0 {
            Kind::Fault(fault) => Some(fault.kind()),
            Kind::Failed(_) | Kind::Object(_) => None,
        }
    }

    /// The JSON-RPC error for this peer.
    pub(crate) fn render(&self, rendering: &Rendering) -> ErrorObject {
        match &*self.0 {
            Kind::Failed(message) => Fault::new(FaultKind::Internal, message.clone()).render(rendering),
            Kind::Fault(fault) => fault.render(rendering),
            Kind::Object(error) => error.clone(),
        }
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let error: Box<dyn StdError + Send + Sync> = Box::new(error);
        let error = match error.downcast::<Fault>() {
            Ok(fault) => return Self::fault(*fault),
            Err(error) => error,
        };
        let error = match error.downcast::<ErrorObject>() {
            Ok(object) => return Self::object(*object),
            Err(error) => error,
        };
        Self::msg(error_chain(&*error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Failed(message) => f.write_str(message),
            Kind::Fault(fault) => fault.fmt(f),
            Kind::Object(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &*self.0 {
            Kind::Failed(_) => "failed",
            Kind::Fault(_) => "fault",
            Kind::Object(_) => "object",
        };
        write!(f, "Error({kind}: {self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchboard_protocol::Revision;

    #[test]
    fn sources_are_told_and_faults_keep_their_code() {
        #[derive(Debug, thiserror::Error)]
        #[error("cannot read the list")]
        struct Outer(#[source] fmt::Error);

        let modern = Rendering::new(Revision::V2026_07_28, "tools/call");
        let failed = Error::from(Outer(fmt::Error));
        assert!(failed.failure().expect("a failure").starts_with("cannot read the list: "));
        let fault = Error::from(Fault::new(FaultKind::UnknownResource, "gone"));
        assert!(fault.failure().is_none());
        assert_eq!(fault.render(&modern).code, -32602);
        let object = Error::from(ErrorObject::new(7, "seven"));
        assert_eq!(object.render(&modern).code, 7);
    }
}
