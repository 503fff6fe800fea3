//! Scopes and session tokens (proposal 4).

use std::fmt;

use serde::{Deserialize, Serialize};
use switchboard_wire::Raw;

/// Text that is never shown in logs.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text, for whoever compares or sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

view! { "snake_case";
    /// Asks whether a call would pass.
    PermissionCheckParams {
        /// The tool.
        tool: String,
        /// The scopes that the caller says it holds. What it really holds is known from its session.
        scopes_held: Vec<String>,
        ;
        /// The arguments of the call.
        parameters: Raw,
    }
}

view! { "snake_case";
    /// Whether a call would pass.
    PermissionCheckResult {
        /// Whether it would.
        allowed: bool,
        ;
        /// The scopes that are missing.
        missing_scopes: Vec<String>,
        /// Where a person can give them.
        elevation_url: String,
        /// Why not.
        reason: String,
    }
}

view! { "snake_case";
    /// Asks for scopes.
    ScopeNegotiationParams {
        /// The scopes.
        requested_scopes: Vec<String>,
        ;
        /// What for.
        justification: String,
        /// For how long, in seconds.
        ttl_seconds: u64,
    }
}

view! { "snake_case";
    /// What came of it.
    ScopeNegotiationResult {
        /// The scopes that were given.
        granted_scopes: Vec<String>,
        /// What stands for them from now on.
        session: SessionToken,
        ;
        /// The scopes that were not given.
        denied_scopes: Vec<DeniedScope>,
    }
}

view! { "snake_case";
    /// A scope that was not given.
    DeniedScope {
        /// The scope.
        scope: String,
        ;
        /// Why not.
        reason: String,
    }
}

view! { "snake_case";
    /// What stands for a set of scopes for a while.
    SessionToken {
        /// What the caller shows.
        token: Secret,
        /// The scopes it stands for.
        scopes: Vec<String>,
        /// Until when, in RFC 3339.
        expires_at: String,
        ;
        /// What gets a new one.
        refresh_token: Secret,
        /// After how many seconds without a call it ends.
        inactivity_timeout_seconds: u64,
    }
}
