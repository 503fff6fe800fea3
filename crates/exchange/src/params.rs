//! The parameters of requests that are answered here, and why they cannot be read.

use switchboard_gate::readable;
use switchboard_protocol::fault::{Fault, FaultKind};
use switchboard_wire::{Object, Raw, Request};

/// The parameters as a view.
pub(crate) fn view<T: serde::de::DeserializeOwned>(params: &Raw) -> Result<T, Fault> {
    params.view().map_err(|error| Fault::new(FaultKind::InvalidParams, readable(params, &error)))
}

/// The parameters of a request.
///
/// # Errors
/// There are none, or they are no object.
pub fn object_of(request: &Request) -> Result<Object, Fault> {
    let params = request.params.as_ref().ok_or_else(params_missing)?;
    Object::open(params).map_err(Fault::malformed)
}

/// That a request has no parameters, and needs some.
#[must_use]
pub fn params_missing() -> Fault {
    Fault::new(FaultKind::InvalidParams, "`params` is missing")
}

/// A member that must be there, and be text.
///
/// # Errors
/// It is not.
pub fn text_of(object: &Object, key: &str) -> Result<String, Fault> {
    object.text(key).ok_or_else(|| member_missing(key))
}

/// That a member is missing or has another form than it must.
#[must_use]
pub fn member_missing(key: &str) -> Fault {
    Fault::new(FaultKind::InvalidParams, format!("`{key}` is missing or no string"))
}
