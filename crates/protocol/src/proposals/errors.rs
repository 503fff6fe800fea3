//! Errors with a category (proposal 11), and what the recovery fields of MGP 14.5 say in its words.
//!
//! [`crate::Fault`] writes them. This module reads what servers say, so that their advice reaches a client that speaks
//! the other dialect.

use std::fmt;

use switchboard_wire::{ErrorObject, Raw};

words! {
    /// What a client can do about an error.
    ErrorCategory {
        /// Try again later.
        Transient = "transient",
        /// Nothing.
        Permanent = "permanent",
        /// Get credentials or rights.
        AuthRequired = "auth_required",
        /// Ask for something else.
        InvalidInput = "invalid_input",
        /// Ask less often.
        RateLimited = "rate_limited",
    }
}
words_on_wire!(ErrorCategory);

view! { "snake_case";
    /// An error as proposal 11 writes it.
    StructuredError {
        /// `RATE_LIMIT_EXCEEDED`
        code: String,
        /// In words.
        message: String,
        /// What a client can do about it.
        category: ErrorCategory,
        ;
        /// When to try again.
        retry_after_seconds: u64,
        /// Whether a person can do something about it.
        user_actionable: bool,
        /// What.
        suggestion: String,
        /// More, for programs.
        details: Raw,
        /// Where to read on.
        documentation_url: String,
    }
}

view! { "snake_case";
    /// What MGP 14.5 says about getting over an error.
    Recovery {
        ;
        /// `security`, `lifecycle`, `resource`, `validation` or `external`. Some write `upstream` for the last.
        category: String,
        /// Whether trying again can help.
        retryable: bool,
        /// When at the earliest.
        retry_after_ms: u64,
        /// `immediate`, `fixed_delay` or `exponential_backoff`. Some write `exponential` for the last.
        retry_strategy: String,
        /// How often at most.
        max_retries: u32,
        /// What could be called instead.
        fallback_tool: String,
        /// More, for programs.
        details: Raw,
    }
}
empty_by_default!(Recovery);

impl Recovery {
    /// What a server's error says, where it says anything.
    #[must_use]
    pub fn of(error: &ErrorObject) -> Option<Self> {
        error.data.as_ref()?.member("_mgp")?.view().ok()
    }
}
