//! What a server's own error says of getting over it: in the fields of MGP 14.5, or in the error object of proposal 11.

use switchboard_wire::ErrorObject;

use super::Inner;
use super::kind::{Category, RetryAdvice, RetryStrategy};
use crate::proposals::errors::{ErrorCategory, Recovery, StructuredError};

/// Lets a fault say what the error says. A kind that usually promises something promises nothing here: whether trying
/// again helps is for the server to say.
pub(super) fn take_over(fault: &mut Inner, error: &ErrorObject) {
    fault.retry = RetryAdvice::NEVER;
    if let Some(said) = Recovery::of(error) {
        fault.retry = RetryAdvice {
            retryable: said.retryable == Some(true),
            after_ms: said.retry_after_ms,
            strategy: said.retry_strategy.as_deref().and_then(strategy),
            max: said.max_retries,
        };
        fault.category = said.category.as_deref().and_then(category).unwrap_or(fault.category);
        fault.fallback_tool = said.fallback_tool;
        fault.details = said.details;
        let suggestion = error.data.as_ref().and_then(|data| data.at(&["_mgp", "suggestion"])?.as_text());
        fault.suggestion = suggestion.map(Into::into);
    } else if let Some(said) = error.data.as_ref().and_then(|data| data.member("structured")?.view().ok()) {
        let said: StructuredError = said;
        let again = matches!(said.category, ErrorCategory::Transient | ErrorCategory::RateLimited);
        fault.retry.retryable = again;
        fault.retry.after_ms = said.retry_after_seconds.filter(|_| again).map(|seconds| seconds.saturating_mul(1_000));
        fault.user_actionable = said.user_actionable.unwrap_or(fault.user_actionable);
        fault.suggestion = said.suggestion.map(Into::into);
        fault.details = said.details;
    }
}

fn category(word: &str) -> Option<Category> {
    use Category::{External, Lifecycle, Resource, Security, Validation};
    let known = [Security, Lifecycle, Resource, Validation, External].into_iter().find(|known| known.as_str() == word);
    // Some write `upstream` for it.
    known.or_else(|| (word == "upstream").then_some(External))
}

fn strategy(word: &str) -> Option<RetryStrategy> {
    use RetryStrategy::{ExponentialBackoff, FixedDelay, Immediate};
    let known = [Immediate, FixedDelay, ExponentialBackoff].into_iter().find(|known| known.as_str() == word);
    known.or_else(|| (word == "exponential").then_some(ExponentialBackoff))
}
