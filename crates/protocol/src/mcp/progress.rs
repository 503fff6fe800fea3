//! Progress and cancellation.

use serde_json::Number;
use switchboard_wire::{Id, Raw};

use super::JsonObject;

view! {
    /// The parameters of `notifications/progress`.
    ProgressParams {
        /// The token of the request: a string or an integer.
        progress_token: Raw,
        /// How far it is. Grows with each message.
        progress: Number,
        ;
        /// How far it goes.
        total: Number,
        /// Where it is, for people (from 2025-03-26 on).
        message: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

impl ProgressParams {
    /// Progress under a token.
    #[must_use]
    pub fn at(token: Raw, progress: f64) -> Self {
        Self::new(token, super::view::number(progress))
    }

    /// Sets how far it goes.
    #[must_use]
    pub fn of(self, total: f64) -> Self {
        self.total(super::view::number(total))
    }
}

view! {
    /// The parameters of `notifications/cancelled`.
    CancelledParams {
        ;
        /// The id of the request, absent only where a task is meant (2025-11-25).
        request_id: Raw,
        /// Why.
        reason: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}
empty_by_default!(CancelledParams);

impl CancelledParams {
    /// The cancellation of a request.
    #[must_use]
    pub fn of(id: &Id) -> Self {
        Self::new().request_id(id.to_raw())
    }

    /// The id of the request, where it is one.
    #[must_use]
    pub fn id(&self) -> Option<Id> {
        Id::from_raw(self.request_id.as_ref()?)
    }
}
