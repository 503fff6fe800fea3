//! Questions of a server to its client (MGP 13.4), with `llm_completion` of later versions.

#[cfg(test)]
mod tests;

use std::fmt;

use switchboard_wire::Raw;

words! {
    /// What is asked.
    CallbackType {
        /// Yes or no.
        Confirmation = "confirmation",
        /// A text.
        Input = "input",
        /// One of several.
        Selection = "selection",
        /// Nothing: it is told.
        Notification = "notification",
        /// An answer of a model.
        LlmCompletion = "llm_completion",
    }
}
words_on_wire!(CallbackType);

/// How often an unanswered question is put again, with the same id.
pub const ATTEMPTS: u32 = 3;
/// How long to wait before that.
pub const RETRY_MS: u64 = 5_000;

view! { "snake_case";
    /// The parameters of `notifications/mgp.callback.request`.
    CallbackRequest {
        /// What names the question. A repeated one has the same.
        callback_id: String,
        /// What is asked.
        #[serde(rename = "type")]
        kind: CallbackType,
        ;
        /// The request that it is about.
        request_id: Raw,
        /// What the person reads.
        message: String,
        /// What can be answered.
        options: Vec<String>,
        /// How long an answer is waited for.
        timeout_ms: u64,
        /// What the model reads (`llm_completion`).
        messages: Raw,
        /// Which model (`llm_completion`).
        model_hints: Raw,
        /// What the model may call (`llm_completion`).
        tools: Raw,
        /// Which try this is.
        #[serde(rename = "_mgp")]
        mgp: Attempt,
    }
}

view! { "snake_case";
    /// Which try a repeated question is.
    Attempt {
        ;
        /// The first is 1.
        attempt: u32,
    }
}
empty_by_default!(Attempt);

view! { "snake_case";
    /// The parameters of `mgp/callback/respond`.
    CallbackResponse {
        /// What names the question.
        callback_id: String,
        /// The answer: a text, and for `llm_completion` an object.
        response: Raw,
        ;
    }
}

view! { "snake_case";
    /// The answer to an `llm_completion`.
    Completion {
        /// What the model said.
        content: String,
        ;
        /// Which model.
        model: String,
        /// What it cost.
        usage: Raw,
        /// What it wants to call.
        tool_calls: Raw,
    }
}

/// Whether an answer to a confirmation means yes. Everything else means no.
#[must_use]
pub fn means_yes(answer: &str) -> bool {
    matches!(answer, "confirm" | "yes" | "approve" | "true" | "ok" | "accept" | "continue")
}
