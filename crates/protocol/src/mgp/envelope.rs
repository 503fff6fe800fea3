//! Refusals that are results: a model reads them and can correct itself.
//!
//! A refused `tools/call` is answered with the rejection envelope of later MGP versions, which holds the structured
//! rejection of MGP 7.4 as well. It stands under `_meta`; its text is the envelope for who agreed on MGP, as MGP has it, and a
//! sentence for everybody else: what a client shows to its user, and a model reads, is no JSON. A call that a person must agree to first is answered with proposal 6's
//! `confirmation_required`. This module writes and reads both; it does not decide which one a client gets.
//!
//! Neither writes `structuredContent`: that member belongs to the tool's output schema, and clients hold whatever
//! stands there against it. Neither writes the `resultType` of the modern era.

#[cfg(test)]
mod tests;

use std::fmt;

use switchboard_wire::{Edit, Limits, Object, Raw};

use super::negotiation::EXTENSION_ID;
use crate::Fault;
use crate::fault::{Category, FaultKind};
use crate::proposals::Consequence;

words! {
    /// How a call was refused.
    RejectionStatus {
        /// For what it is: another call may pass.
        Rejected = "rejected",
        /// For who calls.
        Denied = "denied",
    }
}

words! {
    /// Why a call was refused.
    RejectionCode {
        /// The operator would have to switch off asking.
        YoloRequired = "YOLO_REQUIRED",
        /// The caller, or the server, lacks a right.
        AccessDenied = "ACCESS_DENIED",
        /// Nobody signed the server.
        SealUnsigned = "SEAL_UNSIGNED",
        /// Nobody agreed to the risk.
        RiskUnapproved = "RISK_UNAPPROVED",
        /// The code in the arguments is not safe.
        CodeUnsafe = "CODE_UNSAFE",
        /// The task came back to one who had passed it on.
        DelegationCycle = "DELEGATION_CYCLE",
        /// The task was passed on too often.
        DelegationDepth = "DELEGATION_DEPTH",
        /// The task was passed on to oneself.
        SelfDelegation = "SELF_DELEGATION",
        /// A validator found the arguments unfit to be sent, or the server did what it may not (MGP 14.3).
        ValidationBlocked = "VALIDATION_BLOCKED",
        /// The arguments do not fit the tool's schema (MGP 14.3).
        InvalidToolArgs = "INVALID_TOOL_ARGS",
        /// Anything else; the details say what.
        Unknown = "UNKNOWN",
    }
}

/// Why a tool was not called, told to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejection {
    /// How it was refused.
    pub status: RejectionStatus,
    /// In words.
    pub reason: String,
    /// Whether another try, corrected or after something has changed, can pass.
    pub retryable: bool,
    /// What to do about it.
    pub remediation_hint: Option<String>,
    /// Why.
    pub code: RejectionCode,
    /// What exactly is wrong with the arguments (MGP 7.4).
    pub violations: Vec<String>,
    /// What would be right (MGP 7.4): an object.
    pub hints: Option<Raw>,
    /// More, for programs: an object.
    pub details: Option<Raw>,
    /// The number of MGP 14.3 and the recovery fields of 14.5, for who agreed on MGP: an object.
    pub recovery: Option<Raw>,
}

impl Rejection {
    /// With what usually goes with that code.
    pub fn new(code: RejectionCode, reason: impl Into<String>) -> Self {
        use RejectionCode as Code;
        let for_whom =
            matches!(code, Code::AccessDenied | Code::DelegationCycle | Code::DelegationDepth | Code::SelfDelegation);
        Self {
            status: if for_whom { RejectionStatus::Denied } else { RejectionStatus::Rejected },
            reason: reason.into(),
            retryable: !matches!(code, Code::DelegationCycle | Code::DelegationDepth | Code::SelfDelegation),
            remediation_hint: None,
            code,
            violations: Vec::new(),
            hints: None,
            details: None,
            recovery: None,
        }
    }

    /// Of a refusal; `None` where the fault is none, but a failure. Its details' `violations` and `hints` become the
    /// envelope's own.
    #[must_use]
    pub fn of_fault(fault: &Fault) -> Option<Self> {
        use RejectionCode as Code;
        if fault.category() != Category::Security || fault.upstream_error().is_some() {
            return None;
        }
        let (code, retryable) = match fault.kind() {
            FaultKind::PermissionDenied
            | FaultKind::PermissionPending
            | FaultKind::AccessDenied
            | FaultKind::ScopeInsufficient
            | FaultKind::AuthRequired
            | FaultKind::AuthExpired
            | FaultKind::FeatureSetDisabled
            | FaultKind::CapabilityDenied
            | FaultKind::ChannelNotPermitted => (Code::AccessDenied, true),
            FaultKind::ConfirmationRequired
            | FaultKind::ConfirmationInvalid
            | FaultKind::UrlElicitationRequired
            // Nobody has looked at the definition, or at what came back, and agreed to it.
            | FaultKind::DefinitionChanged
            | FaultKind::DefinitionHeld
            | FaultKind::ContentHeld => (Code::RiskUnapproved, true),
            FaultKind::ValidationBlocked | FaultKind::IsolationViolation => (Code::ValidationBlocked, true),
            // A person said no: asking again is not for the model to decide.
            FaultKind::ConfirmationDenied => (Code::RiskUnapproved, false),
            FaultKind::CodeSafetyViolation => (Code::CodeUnsafe, true),
            FaultKind::SealInvalid => (Code::SealUnsigned, true),
            FaultKind::DelegationCycle => (Code::DelegationCycle, false),
            FaultKind::DelegationDepth => (Code::DelegationDepth, false),
            FaultKind::SelfDelegation => (Code::SelfDelegation, false),
            _ => (Code::Unknown, true),
        };
        let mut rejection = Self::new(code, fault.message());
        rejection.retryable = retryable;
        if fault.kind() == FaultKind::ConfirmationDenied {
            rejection.status = RejectionStatus::Denied;
        }
        rejection.remediation_hint = fault.suggestion().map(str::to_owned);
        let details = fault.details().and_then(|details| Object::open(details).ok());
        if let Some(details) = &details {
            rejection.violations = details.get("violations").and_then(|list| list.view().ok()).unwrap_or_default();
            rejection.hints = details.get("hints").filter(|hints| Object::open(hints).is_ok());
        }
        let kind = Raw::string(fault.kind().as_str());
        let details = details.and_then(|_| Edit::of(fault.details()?).ok()).unwrap_or_else(Edit::empty);
        rejection.details = Some(details.remove("hints").set("kind", kind).finish());
        Some(rejection)
    }

    /// The envelope itself.
    #[must_use]
    pub fn to_raw(&self) -> Raw {
        let violations: Vec<Raw> = self.violations.iter().map(|violation| Raw::string(violation)).collect();
        let violations = (!violations.is_empty()).then(|| Raw::array(&violations));
        // The specification has the violations at the top, later versions among the details: both readers find them.
        let details = match (&self.details, &violations) {
            (Some(details), Some(violations)) => Edit::of(details)
                .map_or_else(|_| details.clone(), |edit| edit.set("violations", violations.clone()).finish())
                .into(),
            (None, Some(violations)) => Some(Edit::empty().set("violations", violations.clone()).finish()),
            (details, None) => details.clone(),
        };
        Edit::empty()
            .set("status", Raw::string(self.status.as_str()))
            .set("reason", Raw::string(&self.reason))
            .set_optional("violations", violations)
            .set_optional("hints", self.hints.clone())
            .set("retryable", Raw::boolean(self.retryable))
            .set_optional("remediation_hint", self.remediation_hint.as_deref().map(Raw::string))
            .set("code", Raw::string(self.code.as_str()))
            .set_optional("details", details)
            .set_optional("_mgp", self.recovery.clone())
            .finish()
    }

    /// The same in words.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{}: {}", self.status.as_str(), self.reason);
        for violation in self.violations.iter().filter(|violation| !self.reason.contains(violation.as_str())) {
            text.push_str("\n- ");
            text.push_str(violation);
        }
        let hint =
            self.remediation_hint.as_deref().or_else(|| (!self.retryable).then_some("do not make this call again"));
        if let Some(hint) = hint {
            text.push_str("\nwhat to do: ");
            text.push_str(hint);
        }
        text
    }

    /// The result of the `tools/call` that was refused.
    #[must_use]
    pub fn to_result(&self) -> Raw {
        let envelope = self.to_raw();
        // Recovery fields are only for who agreed on MGP, and its text is the envelope.
        let text = if self.recovery.is_some() { envelope.as_str().to_owned() } else { self.to_text() };
        Edit::empty()
            .set("content", text_content(&text))
            .set("isError", Raw::boolean(true))
            .set("_meta", Edit::empty().set(EXTENSION_ID, envelope).finish())
            .set_optional("_mgp", self.recovery.clone())
            .finish()
    }

    /// The rejection in a result, where it is one: under `_meta`, or as its text.
    #[must_use]
    pub fn of_result(result: &Raw) -> Option<Self> {
        let result = Object::open(result).ok()?;
        if result.get("isError")?.as_str() != "true" {
            return None;
        }
        let envelope = result.get("_meta").and_then(|meta| meta.member(EXTENSION_ID));
        envelope.and_then(|envelope| Self::of(&envelope)).or_else(|| {
            let text = result.get("content")?.elements()?.first()?.member("text")?.as_text()?;
            Self::of(&Raw::parse(text.into_bytes(), &Limits::default()).ok()?)
        })
    }

    /// The rejection in the text of an envelope, or of MGP 7.4. The status must be exactly one of its two words.
    #[must_use]
    pub fn of(envelope: &Raw) -> Option<Self> {
        let envelope = Object::open(envelope).ok()?;
        let status = RejectionStatus::from_word(&envelope.text("status")?)?;
        let details = envelope.get("details").filter(|details| Object::open(details).is_ok());
        let violations = envelope.get("violations").or_else(|| details.as_ref()?.member("violations"));
        let code = envelope.text("code").and_then(|code| RejectionCode::from_word(&code));
        Some(Self {
            status,
            reason: envelope.text("reason").unwrap_or_default(),
            retryable: envelope.get("retryable").is_none_or(|retryable| retryable.as_str() != "false"),
            remediation_hint: envelope.text("remediation_hint"),
            code: code.unwrap_or(RejectionCode::Unknown),
            violations: violations.and_then(|list| list.view().ok()).unwrap_or_default(),
            hints: envelope.get("hints").filter(|hints| Object::open(hints).is_ok()),
            details,
            recovery: envelope.get("_mgp").filter(|recovery| Object::open(recovery).is_ok()),
        })
    }
}

/// A call waits for a person's agreement (proposal 6).
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfirmationRequest {
    /// What to ask.
    pub message: String,
    /// What is at stake.
    pub risk: Consequence,
    /// What the repeated call has to show. The oldest form of the proposal has none.
    pub token: Option<String>,
    /// Until when, in RFC 3339.
    pub expires_at: Option<String>,
}

impl ConfirmationRequest {
    /// With a token that is good until `expires_at`.
    pub fn new(
        message: impl Into<String>,
        risk: Consequence,
        token: impl Into<String>,
        expires_at: impl Into<String>,
    ) -> Self {
        Self { message: message.into(), risk, token: Some(token.into()), expires_at: Some(expires_at.into()) }
    }

    fn members(&self) -> Edit {
        Edit::empty()
            .set("status", Raw::string("confirmation_required"))
            .set("confirmation_message", Raw::string(&self.message))
            .set("risk_level", Raw::string(self.risk.as_str()))
            .set_optional("confirmation_token", self.token.as_deref().map(Raw::string))
            .set_optional("expires_at", self.expires_at.as_deref().map(Raw::string))
    }

    /// The result of the `tools/call` that waits. It is marked as an error because nothing was done: a client that
    /// does not know the members must not take it for the tool's output.
    #[must_use]
    pub fn to_result(&self) -> Raw {
        let text = self.members().finish();
        self.members().set("content", text_content(text.as_str())).set("isError", Raw::boolean(true)).finish()
    }

    /// The question in the result of a server, in the form of the proposal or that of its first servers, at the top
    /// of the result, in its structured content, or in its text.
    #[must_use]
    pub fn of_result(result: &Raw) -> Option<Self> {
        let object = Object::open(result).ok()?;
        Self::of(&object).or_else(|| Self::of(&Object::open(&object.get("structuredContent")?).ok()?)).or_else(|| {
            let text = object.get("content")?.elements()?.first()?.member("text")?.as_text()?;
            Self::of(&Object::open(&Raw::parse(text.into_bytes(), &Limits::default()).ok()?).ok()?)
        })
    }

    fn of(object: &Object) -> Option<Self> {
        let asks = object.text("status").as_deref() == Some("confirmation_required")
            || object.get("requires_confirmation").is_some_and(|flag| flag.as_str() == "true");
        asks.then(|| Self {
            message: object.text("confirmation_message").unwrap_or_default(),
            // Who asks and does not say what is at stake may mean the worst.
            risk: object
                .text("risk_level")
                .and_then(|word| Consequence::from_word(&word))
                .unwrap_or(Consequence::Destructive),
            token: object.text("confirmation_token"),
            expires_at: object.text("expires_at"),
        })
    }
}

impl fmt::Debug for ConfirmationRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfirmationRequest")
            .field("message", &self.message)
            .field("risk", &self.risk)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// `content` with one text.
pub(crate) fn text_content(text: &str) -> Raw {
    let block = Edit::empty().set("type", Raw::string("text")).set("text", Raw::string(text)).finish();
    Raw::array([&block])
}
