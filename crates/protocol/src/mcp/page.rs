//! Pages of lists, how long answers stay good, and answers that say nothing.

use serde::{Deserialize, Serialize};

use super::{JsonObject, RequestMeta};

view! {
    /// The parameters of a list request.
    PaginatedParams {
        ;
        /// Where the page begins: the `nextCursor` of the page before, given back exactly.
        cursor: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
}

view! {
    /// A result without members of its own.
    EmptyResult {
        ;
        /// `complete` (2026-07-28).
        result_type: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}
empty_by_default!(PaginatedParams, EmptyResult);

/// For whom an answer stays good (2026-07-28).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CacheScope {
    /// For everyone.
    Public,
    /// For the one who asked.
    Private,
}
