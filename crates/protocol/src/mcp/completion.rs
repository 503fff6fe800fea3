//! Completion of arguments.

use super::{JsonObject, RequestMeta};

view! {
    /// The parameters of `completion/complete`.
    CompleteParams {
        /// Whose argument.
        #[serde(rename = "ref")]
        reference: Reference,
        /// Which argument, and what is there of it.
        argument: CompletionArgument,
        ;
        /// The arguments that are settled (from 2025-06-18 on).
        context: CompletionContext,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
}

tagged! {
    /// What the argument belongs to.
    Reference {
        /// A prompt.
        Prompt(PromptReference) = "ref/prompt",
        /// A resource template, or a resource.
        Resource(ResourceReference) = "ref/resource",
    }
}

view! {
    /// A prompt, by name.
    PromptReference {
        /// The name.
        name: String,
        ;
        /// A name for people.
        title: String,
    }
}

view! {
    /// A resource template, by its template.
    ResourceReference {
        /// The address or template.
        uri: String,
        ;
    }
}

view! {
    /// An argument and what is there of its value.
    CompletionArgument {
        /// The argument.
        name: String,
        /// What is there.
        value: String,
        ;
    }
}

view! {
    /// What is settled.
    CompletionContext {
        ;
        /// Texts by name.
        arguments: JsonObject,
    }
}
empty_by_default!(CompletionContext);

view! {
    /// The result of `completion/complete`.
    CompleteResult {
        /// The values.
        completion: Completion,
        ;
        /// `complete` (2026-07-28).
        result_type: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// Values that fit.
    Completion {
        /// At most 100 of them.
        values: Vec<String>,
        ;
        /// How many there are in all.
        total: u64,
        /// Whether there are more.
        has_more: bool,
    }
}
