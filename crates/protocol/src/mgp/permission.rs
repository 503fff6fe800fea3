//! The messages about what a server may do (MGP 3), in the names of the specification and of later versions.
//!
//! Both are sent by the client to the server: first that it has to wait, then what was decided. What a server sends
//! in this shape is never a decision.

#[cfg(test)]
mod tests;

use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use switchboard_wire::{Kind, Raw};

use super::version::numbers;
use super::{ApprovalPolicy, method};

words_on_wire!(ApprovalPolicy);

words! {
    /// What was decided about one permission (MGP 3.6).
    Decision {
        /// The server has it.
        Approved = "approved",
        /// It does not.
        Denied = "denied",
        /// Not decided yet.
        Deferred = "deferred",
    }
}
words_on_wire!(Decision);

/// Which names a server knows for the two messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PermissionNames {
    /// `request` and `response`, of the specification.
    First,
    /// `await` and `grant`, from 0.4 on.
    Later,
}

impl PermissionNames {
    /// Of a server that speaks this version of MGP.
    #[must_use]
    pub fn of_version(version: &str) -> Self {
        match numbers(version) {
            Some((0, minor)) if minor < 4 => Self::First,
            _ => Self::Later,
        }
    }

    /// The method that tells a server to wait.
    #[must_use]
    pub const fn wait(self) -> &'static str {
        match self {
            Self::First => method::PERMISSION_REQUEST,
            Self::Later => method::PERMISSION_AWAIT,
        }
    }

    /// The method that tells a server what was decided.
    #[must_use]
    pub const fn decided(self) -> &'static str {
        match self {
            Self::First => method::PERMISSION_RESPONSE,
            Self::Later => method::PERMISSION_GRANT,
        }
    }
}

view! { "snake_case";
    /// A server has to wait for a decision.
    PermissionAwaitParams {
        /// What names the question.
        request_id: String,
        /// The permissions in question.
        permissions: Vec<String>,
        /// Who decides.
        policy: ApprovalPolicy,
        ;
        /// What the server may tell its log.
        message: String,
    }
}

view! { "snake_case";
    /// What was decided.
    PermissionGrantParams {
        /// What names the question.
        request_id: String,
        /// The decision about each permission.
        grants: IndexMap<String, Grant>,
        ;
        /// Who decided.
        approved_by: String,
        /// Until when, in RFC 3339.
        expires_at: String,
    }
}

/// A decision, and within which bounds it holds. Written as a word where there are none.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Grant {
    /// The decision.
    pub decision: Decision,
    /// The bounds.
    pub scope: Option<GrantScope>,
}

impl Grant {
    /// Approved within bounds.
    #[must_use]
    pub const fn within(scope: GrantScope) -> Self {
        Self { decision: Decision::Approved, scope: Some(scope) }
    }

    /// The bounds, where something is approved; `None` where nothing is. A bound that nobody here knows approves
    /// nothing: it was written to forbid something.
    #[must_use]
    pub fn approval(&self) -> Option<GrantScope> {
        let scope = self.scope.clone().unwrap_or_default();
        (self.decision == Decision::Approved && scope.extra.is_empty()).then_some(scope)
    }
}

impl From<Decision> for Grant {
    fn from(decision: Decision) -> Self {
        Self { decision, scope: None }
    }
}

// A misspelt `scope` must not become a grant without bounds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScopedGrant {
    decision: Decision,
    #[serde(default)]
    scope: Option<GrantScope>,
}

impl Serialize for Grant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.scope {
            None => self.decision.serialize(serializer),
            Some(scope) => ScopedGrant { decision: self.decision, scope: Some(scope.clone()) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Grant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        if raw.kind() == Kind::Object {
            let ScopedGrant { decision, scope } = raw.view().map_err(serde::de::Error::custom)?;
            return Ok(Self { decision, scope });
        }
        raw.view::<Decision>().map(Self::from).map_err(serde::de::Error::custom)
    }
}

view! { "snake_case";
    /// The bounds of a grant. What is absent is not bounded; what is denied stays denied whatever else is listed.
    GrantScope {
        ;
        /// Paths that may be used; `*` is one component, `**` any number.
        paths: Vec<String>,
        /// Paths that may not.
        deny_paths: Vec<String>,
        /// Commands that may be run.
        commands: Vec<String>,
        /// Commands that may not.
        deny_commands: Vec<String>,
        /// Whether `sudo` may be used; absent is no.
        allow_sudo: bool,
        /// Hosts that may be reached.
        hosts: Vec<String>,
        /// Hosts that may not.
        deny_hosts: Vec<String>,
        /// Ports that may be reached.
        ports: Vec<u16>,
        /// Languages that may be run.
        languages: Vec<String>,
        /// How long code may run, in milliseconds.
        max_execution_time_ms: u64,
    }
}
empty_by_default!(GrantScope);
