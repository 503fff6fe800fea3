//! Scopes and session tokens (proposal 4).

use switchboard_wire::Raw;

use crate::SentSecret;

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
        token: SentSecret,
        /// The scopes it stands for.
        scopes: Vec<String>,
        /// Until when, in RFC 3339.
        expires_at: String,
        ;
        /// What gets a new one.
        refresh_token: SentSecret,
        /// After how many seconds without a call it ends.
        inactivity_timeout_seconds: u64,
    }
}
