//! The places that a client lets a server work in.

use super::JsonObject;

view! {
    /// One place.
    Root {
        /// Its address: a `file:` URI.
        uri: String,
        ;
        /// A name for people.
        name: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The result of `roots/list`.
    ListRootsResult {
        /// The places.
        roots: Vec<Root>,
        ;
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}
