//! Errors with a category (proposal 11), and what the recovery fields of MGP 14.5 say in its words.
//!
//! [`crate::Fault`] writes our own refusals. This module reads what servers say, so that their advice reaches a client
//! that speaks the other dialect.

use std::fmt;

use switchboard_wire::{Edit, ErrorObject, Raw};

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

    /// What the category of proposal 11 is for a server's error with this code.
    #[must_use]
    pub fn category_of(&self, code: i64) -> ErrorCategory {
        match (self.category.as_deref(), code) {
            (_, 3000 | 3002) => ErrorCategory::RateLimited,
            (_, 1000..=1003) => ErrorCategory::AuthRequired,
            (Some("validation"), _) => ErrorCategory::InvalidInput,
            (Some("lifecycle" | "resource"), _) => ErrorCategory::Transient,
            _ if self.retryable == Some(true) => ErrorCategory::Transient,
            _ => ErrorCategory::Permanent,
        }
    }
}

/// A server's error of MGP as proposal 11 writes it; `None` where it says nothing that could be written.
#[must_use]
pub fn structured_of(error: &ErrorObject) -> Option<Raw> {
    let recovery = Recovery::of(error)?;
    let seconds = recovery.retry_after_ms.map(|ms| Raw::number(ms.div_ceil(1_000)));
    Some(
        Edit::empty()
            .set("code", Raw::string(&format!("MGP_{}", error.code)))
            .set("message", Raw::string(&error.message))
            .set("category", Raw::string(recovery.category_of(error.code).as_str()))
            .set_optional("retry_after_seconds", seconds)
            .set("user_actionable", Raw::boolean(false))
            .set_optional("details", recovery.details)
            .finish(),
    )
}
