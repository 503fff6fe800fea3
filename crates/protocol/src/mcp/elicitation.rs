//! Asking the person behind the client.

use serde::{Deserialize, Serialize};
use switchboard_wire::Raw;

use super::{JsonObject, RequestMeta, TaskMetadata};

view! {
    /// The parameters of `elicitation/create`: a form, or a page to visit.
    ElicitParams {
        /// What the person is told.
        message: String,
        ;
        /// `form` or `url`; a form where absent.
        mode: String,
        /// The JSON Schema of the form: one level of simple members.
        requested_schema: Raw,
        /// The page.
        url: String,
        /// To recognise the page's completion by (2025-11-25).
        elicitation_id: String,
        /// Asks for a task (2025-11-25).
        task: TaskMetadata,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
}

impl ElicitParams {
    /// A form. No mode is named, so that peers older than 2025-11-25 read it too.
    pub fn form(message: impl Into<String>, schema: Raw) -> Self {
        Self::new(message).requested_schema(schema)
    }

    /// A page to visit.
    pub fn page(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(message).mode("url").url(url)
    }

    /// Whether this is a page to visit.
    #[must_use]
    pub fn is_page(&self) -> bool {
        self.mode.as_deref() == Some("url")
    }
}

/// What the person did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ElicitAction {
    /// Agreed, and filled in the form.
    Accept,
    /// Said no.
    Decline,
    /// Went away.
    Cancel,
}

view! {
    /// The result of `elicitation/create`.
    ElicitResult {
        /// What the person did.
        action: ElicitAction,
        ;
        /// What the person filled in.
        content: JsonObject,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The parameters of `notifications/elicitation/complete` (2025-11-25).
    ElicitationCompleteParams {
        /// The page that is done with.
        elicitation_id: String,
        ;
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}
