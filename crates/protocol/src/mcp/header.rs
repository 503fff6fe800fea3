//! The HTTP headers of 2026-07-28 that repeat parts of the body: what a client must send, what a server must check.
//!
//! This module decides names, encodings and equality. It knows no HTTP library: headers come in through a function
//! that gives all values of a name, so that a header which stands twice is seen, and go out as pairs of text. Names
//! are compared without regard to case by whoever looks them up.

mod param;
mod value;

use std::borrow::Cow;

use switchboard_wire::{Object, Raw, RefusalKind};

use super::{meta, method};
use crate::fault::{Fault, FaultKind};

pub use param::{AnnotationError, ParamHeaders, check_params, param_headers};
pub use value::{decode, encode};

/// The revision of the request. Repeats `_meta["io.modelcontextprotocol/protocolVersion"]`.
pub const PROTOCOL_VERSION: &str = "MCP-Protocol-Version";
/// The method. Repeats `method`.
pub const METHOD: &str = "Mcp-Method";
/// What the method is about. Repeats `params.name`, `params.uri` or `params.taskId`.
pub const NAME: &str = "Mcp-Name";
/// What the names of headers for tool arguments begin with.
pub const PARAM_PREFIX: &str = "Mcp-Param-";

/// The member of `params` that `Mcp-Name` repeats, for methods that have it.
#[must_use]
pub fn name_member(method: &str) -> Option<&'static str> {
    match method {
        method::TOOLS_CALL | method::PROMPTS_GET => Some("name"),
        method::RESOURCES_READ => Some("uri"),
        method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL => Some("taskId"),
        _ => None,
    }
}

/// `Mcp-Method`, and `Mcp-Name` where the method has one. The version's header is the transport's to set.
#[must_use]
pub fn standard_headers(method: &str, params: Option<&Raw>) -> Vec<(&'static str, String)> {
    let mut headers = vec![(METHOD, encode(method).into_owned())];
    let name = name_member(method).and_then(|member| params?.member(member)?.as_text());
    if let Some(name) = name {
        headers.push((NAME, encode(&name).into_owned()));
    }
    headers
}

/// Checks the standard headers of a request against its body. `headers` gives every value of a name.
///
/// # Errors
/// A header is missing, stands twice, cannot be read, or says something else than the body
/// ([`FaultKind::HeaderMismatch`]).
pub fn check<'h>(headers: impl Fn(&str) -> Vec<&'h [u8]>, method: &str, params: Option<&Raw>) -> Result<(), Fault> {
    let version = required(&headers, PROTOCOL_VERSION)?;
    let params = params.map(open).transpose()?.flatten();
    let in_body = match params.as_ref().and_then(|params| params.get("_meta")) {
        Some(meta) => open(&meta)?.and_then(|meta| meta.text(meta::PROTOCOL_VERSION)),
        None => None,
    };
    // A body without a version is refused elsewhere, for that.
    if let Some(in_body) = in_body {
        same(PROTOCOL_VERSION, &version, &in_body)?;
    }
    same(METHOD, &required(&headers, METHOD)?, method)?;
    let name = name_member(method).and_then(|member| params.as_ref()?.text(member));
    if let Some(name) = name {
        let header = required(&headers, NAME)?;
        let decoded = decode(header.as_bytes()).ok_or_else(|| unreadable(NAME))?;
        same(NAME, &decoded, &name)?;
    }
    Ok(())
}

/// The one value of a header that must be there, as plain text.
fn required<'h>(headers: &impl Fn(&str) -> Vec<&'h [u8]>, name: &str) -> Result<Cow<'h, str>, Fault> {
    optional(headers, name)?.ok_or_else(|| mismatch(format!("the header {name} is missing")))
}

fn optional<'h>(headers: &impl Fn(&str) -> Vec<&'h [u8]>, name: &str) -> Result<Option<Cow<'h, str>>, Fault> {
    match headers(name).as_slice() {
        [] => Ok(None),
        [value] => value::plain(value).map(|text| Some(Cow::Borrowed(text))).ok_or_else(|| unreadable(name)),
        _ => Err(mismatch(format!("the header {name} stands more than once"))),
    }
}

/// Opens an object; `None` for any other value. An object in which a key stands twice has no one meaning to compare.
fn open(raw: &Raw) -> Result<Option<Object>, Fault> {
    match Object::open(raw) {
        Ok(object) => Ok(Some(object)),
        Err(refusal) if refusal.kind == RefusalKind::DuplicateKey => {
            Err(Fault::new(FaultKind::InvalidParams, "the same key twice in the parameters").with_source(refusal))
        }
        Err(_) => Ok(None),
    }
}

fn same(name: &str, header: &str, body: &str) -> Result<(), Fault> {
    if header == body {
        Ok(())
    } else {
        Err(mismatch(format!("the header {name} says {header:?}, the body says {body:?}")))
    }
}

fn unreadable(name: &str) -> Fault {
    mismatch(format!("the header {name} cannot be read"))
}

fn mismatch(message: String) -> Fault {
    Fault::new(FaultKind::HeaderMismatch, message)
}

#[cfg(test)]
mod tests;
