//! Writing a fault for a peer: which code, and what stands in `data`.
//!
//! The method picks the vocabulary, never the number alone: -32001 means one thing to MCPL and nothing to MCP.

use switchboard_wire::{Edit, ErrorObject, Raw};

use super::{Category, Fault, FaultKind};
use crate::{Era, Revision};

/// Whose vocabulary a method belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MethodFamily {
    /// The base protocol, and everything that is not known.
    Mcp,
    /// `mgp/..`
    Mgp,
    /// `push/..`, `channels/..`, and the other methods of MCPL.
    Mcpl,
}

impl MethodFamily {
    /// The family of a method or notification.
    #[must_use]
    pub fn of(method: &str) -> Self {
        const MCPL: [&str; 9] =
            ["push/", "context/", "inference/", "channels/", "featureSets/", "scope/", "state/", "model/", "mcpl/"];
        let name = method.strip_prefix("notifications/").unwrap_or(method);
        if name.starts_with("mgp/") || name.starts_with("mgp.") {
            Self::Mgp
        } else if MCPL.iter().any(|prefix| name.starts_with(prefix)) {
            Self::Mcpl
        } else {
            Self::Mcp
        }
    }
}

/// What the peer speaks, as far as it matters for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rendering {
    /// Its MCP revision.
    pub revision: Revision,
    /// Whether MGP was negotiated with it.
    pub mgp: bool,
    /// Whether structured errors (proposal 11) were negotiated with it.
    pub structured: bool,
    /// Whose method is being answered.
    pub family: MethodFamily,
}

impl Rendering {
    /// For a peer that speaks plain MCP, answering `method`.
    #[must_use]
    pub fn new(revision: Revision, method: &str) -> Self {
        Self { revision, mgp: false, structured: false, family: MethodFamily::of(method) }
    }

    /// The same, with MGP negotiated or not.
    #[must_use]
    pub const fn with_mgp(mut self, mgp: bool) -> Self {
        self.mgp = mgp;
        self
    }

    /// The same, with structured errors negotiated or not.
    #[must_use]
    pub const fn with_structured(mut self, structured: bool) -> Self {
        self.structured = structured;
        self
    }
}

pub(super) fn render(fault: &Fault, rendering: &Rendering) -> ErrorObject {
    if let Some(error) = fault.upstream_error() {
        return passed_on(fault, error, rendering);
    }
    ErrorObject::new(code(fault.kind(), rendering), fault.message()).with_data(data(fault, rendering))
}

/// A server's own error: as it came, with what its client's dialects want beside it. Nothing of the server's is replaced.
fn passed_on(fault: &Fault, error: &ErrorObject, rendering: &Rendering) -> ErrorObject {
    let mut error = error.clone();
    if let (true, Ok(mut data)) = (rendering.mgp || rendering.structured, Edit::of_optional(error.data.as_ref())) {
        let lacks = |data: &Edit, key: &str| !data.object().has(key);
        if rendering.mgp && lacks(&data, "_mgp") {
            data = data.set("_mgp", mgp(fault));
        }
        if rendering.structured && lacks(&data, "structured") {
            data = data.set("structured", structured(fault));
        }
        if lacks(&data, "kind") {
            data = data.set("kind", Raw::string(fault.kind().as_str()));
        }
        error.data = Some(data.finish());
    }
    let speaks = rendering.mgp || rendering.family == MethodFamily::Mgp;
    error.code = match FaultKind::of_mgp(error.code).filter(|_| fault.0.in_mgp && !speaks) {
        // MGP's numbers are for those who agreed on MGP.
        Some(kind) => code(kind, rendering),
        None => admissible(error.code, rendering.revision),
    };
    error
}

/// A server's code is its own business and passes, except where the peer's revision forbids us to send it.
fn admissible(code: i64, revision: Revision) -> i64 {
    if revision.era() == Era::Legacy {
        return code;
    }
    match code {
        -32022..=-32020 => code,
        -32002 => -32602,
        -32099..=-32023 => -32603,
        _ => code,
    }
}

fn code(kind: FaultKind, rendering: &Rendering) -> i64 {
    let codes = kind.codes();
    let modern = rendering.revision.era() == Era::Modern;
    match rendering.family {
        MethodFamily::Mcpl => {
            // MCPL gives -32005 another meaning, so a refusal takes the code it has for a capability not given.
            let refused = codes.legacy == -32005 && kind != FaultKind::CheckpointNotFound;
            let codes = if refused { FaultKind::CapabilityDenied.codes() } else { codes };
            return if modern { codes.modern } else { codes.legacy };
        }
        // A later MGP names the missing thing of one of its own methods; MCP's methods keep MCP's code.
        MethodFamily::Mgp if kind == FaultKind::UnknownResource => return 4004,
        MethodFamily::Mgp | MethodFamily::Mcp => {}
    }
    if let (true, Some(code)) = (rendering.mgp || rendering.family == MethodFamily::Mgp, codes.mgp) {
        return code;
    }
    if modern {
        codes.modern
    } else if kind == FaultKind::UrlElicitationRequired && rendering.revision != Revision::V2025_11_25 {
        -32603
    } else {
        codes.legacy
    }
}

fn data(fault: &Fault, rendering: &Rendering) -> Raw {
    let mut data = Edit::empty().set("kind", Raw::string(fault.kind().as_str()));
    for (key, value) in &fault.0.members {
        data = data.set(key, value.clone());
    }
    if let Some(server) = fault.origin() {
        data = data.set("origin", Edit::empty().set("server_id", Raw::string(server)).finish());
    }
    if !rendering.mgp && !rendering.structured {
        let retry = fault.retry();
        data = data
            .set_optional("retryable", retry.retryable.then(|| Raw::boolean(true)))
            .set_optional("retryAfterMs", retry.after_ms.filter(|_| retry.retryable).map(Raw::number))
            .set_optional("suggestion", fault.suggestion().map(Raw::string))
            .set_optional("details", fault.details().cloned());
    }
    if rendering.mgp {
        data = data.set("_mgp", mgp(fault));
    }
    if rendering.structured {
        data = data.set("structured", structured(fault));
    }
    data.finish()
}

/// The recovery fields of MGP 14.5.
fn mgp(fault: &Fault) -> Raw {
    let retry = fault.retry();
    Edit::empty()
        .set("category", Raw::string(fault.category().as_str()))
        .set("retryable", Raw::boolean(retry.retryable))
        .set_optional("retry_after_ms", retry.after_ms.map(Raw::number))
        .set_optional("retry_strategy", retry.strategy.map(|strategy| Raw::string(strategy.as_str())))
        .set_optional("max_retries", retry.max.map(|max| Raw::number(max.into())))
        .set_optional("fallback_tool", fault.fallback_tool().map(Raw::string))
        .set_optional("suggestion", fault.suggestion().map(Raw::string))
        .set_optional("details", fault.details().cloned())
        .finish()
}

/// The number and the recovery fields of MGP beside a result. What the result itself tells is left out.
pub(super) fn recovery(fault: &Fault) -> Raw {
    let codes = fault.kind().codes();
    let code = fault.upstream_error().map_or_else(|| codes.mgp.unwrap_or(codes.modern), |error| error.code);
    let fields = mgp(fault);
    let edit = Edit::of(&fields).unwrap_or_else(|_| Edit::empty()).remove("details").remove("suggestion");
    edit.set_optional("code", Raw::from_value(&code).ok()).finish()
}

/// The error object of proposal 11.
pub(super) fn structured(fault: &Fault) -> Raw {
    let (code, category) = fault.kind().codes().structured;
    let retry = fault.retry();
    let upstream = fault.upstream_error();
    let category = match upstream {
        Some(_) if fault.kind() == FaultKind::UpstreamError && fault.category() == Category::Validation => {
            "invalid_input"
        }
        Some(_) => agreeing(category, retry.retryable),
        // A quota that does not come back by waiting is one all the same.
        None if category == "transient" => agreeing(category, retry.retryable),
        None => category,
    };
    let details = fault.details().cloned().or_else(|| upstream.map(as_details));
    Edit::empty()
        .set("code", Raw::string(code))
        .set("message", Raw::string(fault.message()))
        .set("category", Raw::string(category))
        .set_optional("retry_after_seconds", retry.after_ms.map(|ms| Raw::number(ms.div_ceil(1_000))))
        .set("user_actionable", Raw::boolean(fault.is_user_actionable()))
        .set_optional("suggestion", fault.suggestion().map(Raw::string))
        .set_optional("details", details)
        .finish()
}

/// The category that says the same of trying again as the rest of the fault.
fn agreeing(category: &'static str, retryable: bool) -> &'static str {
    match (category, retryable) {
        ("transient" | "rate_limited", false) => "permanent",
        ("permanent", true) => "transient",
        _ => category,
    }
}

/// A server's own error, for programs that want to know exactly. What is told beside it is left out.
fn as_details(error: &ErrorObject) -> Raw {
    let data = error.data.as_ref().map(|data| {
        let own = ["_mgp", "structured"];
        Edit::of(data).map_or_else(|_| data.clone(), |edit| own.into_iter().fold(edit, Edit::remove).finish())
    });
    let data = data.filter(|data| data.as_str() != "{}");
    Edit::empty().set_optional("code", Raw::from_value(&error.code).ok()).set_optional("data", data).finish()
}
