//! The extension proposals: which of them a peer declares, and the parts of them that the gate needs.
//!
//! A peer lists names in `capabilities.extensions`, as an array or as the keys of an object. This module says what
//! was declared and how the answers look; it decides nothing about scopes or confirmations.

pub mod errors;
pub mod manifest;
mod permissions;
pub mod push;
pub mod streaming;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

use std::fmt;

use switchboard_wire::{Edit, Kind, Object, Raw, Refusal};

pub use permissions::{
    DeniedScope, PermissionCheckParams, PermissionCheckResult, ScopeNegotiationParams, ScopeNegotiationResult,
    SessionToken,
};

use crate::Fault;
use crate::mgp::Risk;
use crate::mgp::envelope::text_content;

/// The tool, or method, of the pre-flight check (proposal 4).
pub const CHECK_PERMISSIONS: &str = "check_permissions";
/// The tool, or method, that asks for scopes (proposal 4).
pub const NEGOTIATE_SCOPES: &str = "negotiate_scopes";
/// The tool, or method, that says which server could do what is needed (proposal 13).
pub const RECOMMEND_SERVERS: &str = "recommend_servers";
/// The HTTP header that carries a session token (proposal 4).
pub const SESSION_TOKEN_HEADER: &str = "x-mcp-session-token";

words! {
    /// A proposal that a peer can declare.
    Proposal {
        /// Results in pieces (8).
        Streaming = "streaming",
        /// Progress of long operations (8).
        ProgressNotifications = "progress_notifications",
        /// Keys under which a call runs once (5).
        Idempotency = "idempotency",
        /// Steps that are undone together (5).
        Transactions = "transactions",
        /// State that the client carries (14).
        SessionState = "session_state",
        /// What the caller wants to reach (2).
        IntentHints = "intent_hints",
        /// Where data comes from (7).
        Provenance = "provenance",
        /// A person agrees first (6).
        HumanInTheLoop = "human_in_the_loop",
        /// Data by reference (9).
        DataReferences = "data_references",
        /// Events (15).
        SubscribeNotify = "subscribe_notify",
        /// Which other server could help (13).
        ServerRecommendations = "server_recommendations",
        /// Errors with a category (11).
        StructuredErrors = "structured_errors",
        /// Media types of arguments and results (10).
        MultimodalSignatures = "multimodal_signatures",
        /// The test kit (12).
        Conformance = "conformance",
    }
}

/// How a peer lists its extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// An array of names.
    Array,
    /// An object with the names as keys.
    Object,
}

/// What a peer declares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Declared {
    bits: u16,
    form: Form,
}

impl Declared {
    /// Nothing.
    pub const NONE: Self = Self { bits: 0, form: Form::Object };

    /// Whether `proposal` is declared.
    #[must_use]
    pub const fn has(self, proposal: Proposal) -> bool {
        self.bits & (1 << proposal as u16) != 0
    }

    /// Whether nothing is.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// How it was written.
    #[must_use]
    pub const fn form(self) -> Form {
        self.form
    }

    /// What is declared, in the order of the proposals' own list.
    pub fn iter(self) -> impl Iterator<Item = Proposal> {
        Proposal::WORDS.iter().filter_map(|word| Proposal::from_word(word)).filter(move |proposal| self.has(*proposal))
    }

    /// What both the peer and `ours` name, in the peer's form.
    #[must_use]
    pub fn shared_with(self, ours: &[Proposal]) -> Self {
        Self { bits: self.bits & bits(ours.iter().copied()), ..self }
    }

    /// Writes it into capabilities that we declare, in the form that the peer used. Extensions that stand there
    /// already as keys of an object keep their settings and force that form.
    ///
    /// # Errors
    /// `capabilities` is no object.
    pub fn declare_in(self, capabilities: &Raw) -> Result<Raw, Refusal> {
        let edit = Edit::of(capabilities)?;
        if self.is_empty() {
            return Ok(edit.finish());
        }
        let there = edit.object().get("extensions").filter(|there| there.kind() == Kind::Object);
        let names = self.iter().map(Proposal::as_str);
        let value = match (there, self.form) {
            (None, Form::Array) => {
                let names: Vec<Raw> = names.map(Raw::string).collect();
                Raw::array(&names)
            }
            (there, _) => names
                .fold(Edit::of_optional(there.as_ref())?, |edit, name| edit.set(name, Raw::empty_object()))
                .finish(),
        };
        Ok(edit.set("extensions", value).finish())
    }
}

impl fmt::Debug for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Proposal::as_str)).finish()
    }
}

/// What a peer with these capabilities declares. Names that nobody knows are passed over.
#[must_use]
pub fn declared(capabilities: &Raw) -> Declared {
    let Some(extensions) = capabilities.member("extensions") else { return Declared::NONE };
    let known = |name: &str| Proposal::from_word(name);
    if let Some(names) = extensions.elements() {
        let names = names.iter().filter_map(Raw::as_text).filter_map(|name| known(&name));
        return Declared { bits: bits(names), form: Form::Array };
    }
    Object::open(&extensions).map_or(Declared::NONE, |extensions| Declared {
        bits: bits(extensions.iter().filter_map(|(name, _)| known(&name))),
        form: Form::Object,
    })
}

fn bits(proposals: impl Iterator<Item = Proposal>) -> u16 {
    proposals.fold(0, |bits, proposal| bits | 1 << proposal as u16)
}

words! {
    /// What can come of a call (proposals 1 and 6). Worse ones compare greater.
    Consequence {
        /// Nothing changes.
        Safe = "safe",
        /// What changes can be changed back.
        Reversible = "reversible",
        /// What changes is lost.
        Destructive = "destructive",
    }
}
words_on_wire!(Consequence);

impl Consequence {
    /// What a risk of MGP means in these words.
    #[must_use]
    pub const fn of_risk(risk: Risk, reversible: Option<bool>) -> Self {
        match (risk, reversible) {
            (Risk::Safe, _) => Self::Safe,
            (Risk::Moderate, None | Some(true)) | (Risk::Dangerous, Some(true)) => Self::Reversible,
            (Risk::Moderate, Some(false)) | (Risk::Dangerous, None | Some(false)) => Self::Destructive,
        }
    }

    /// What it means in the words of MGP, and whether it can be undone.
    #[must_use]
    pub const fn to_risk(self) -> (Risk, Option<bool>) {
        match self {
            Self::Safe => (Risk::Safe, None),
            Self::Reversible => (Risk::Moderate, Some(true)),
            Self::Destructive => (Risk::Dangerous, Some(false)),
        }
    }
}

/// A failure of the call itself as proposal 11 wants it: a result with the error object in `error`, whether it is ours or
/// the server's. `None` for what is wrong with the message, which stays an error of the protocol.
#[must_use]
pub fn failure_result(fault: &Fault) -> Option<Raw> {
    if !fault.kind().is_about_the_call() {
        return None;
    }
    let error = fault.structured();
    Some(
        Edit::empty()
            .set("content", text_content(fault.message()))
            .set("isError", Raw::boolean(true))
            .set("error", error)
            .finish(),
    )
}
