//! Resources and templates.

use indexmap::IndexMap;
use switchboard_wire::Raw;

use super::{Annotations, CacheScope, Icon, JsonObject, RequestMeta};

view! {
    /// The description of a resource.
    Resource {
        /// Its address.
        uri: String,
        /// Its name.
        name: String,
        ;
        /// A name for people.
        title: String,
        /// What it is.
        description: String,
        /// The media type.
        mime_type: String,
        /// Bytes.
        size: u64,
        /// For whom it is.
        annotations: Annotations,
        /// Pictures.
        icons: Vec<Icon>,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The description of a family of resources.
    ResourceTemplate {
        /// Their addresses, as a URI template (RFC 6570).
        uri_template: String,
        /// Its name.
        name: String,
        ;
        /// A name for people.
        title: String,
        /// What they are.
        description: String,
        /// The media type, where all have the same.
        mime_type: String,
        /// For whom they are.
        annotations: Annotations,
        /// Pictures.
        icons: Vec<Icon>,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The contents of a resource: either text or a blob.
    ResourceContents {
        /// The address.
        uri: String,
        ;
        /// The media type.
        mime_type: String,
        /// The text.
        text: String,
        /// The bytes, in base64.
        blob: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The parameters of `resources/read`.
    ReadResourceParams {
        /// The address.
        uri: String,
        ;
        /// Answers to an earlier `input_required` result (2026-07-28).
        input_responses: IndexMap<String, Raw>,
        /// The state of that result, given back exactly (2026-07-28).
        request_state: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
}

view! {
    /// The result of `resources/read`.
    ReadResourceResult {
        /// The contents: one, or several where the address stands for several.
        contents: Vec<ResourceContents>,
        ;
        /// `complete` (2026-07-28).
        result_type: String,
        /// How long they stay good, in milliseconds (2026-07-28).
        ttl_ms: u64,
        /// For whom they stay good (2026-07-28).
        cache_scope: CacheScope,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The result of `resources/list`.
    ListResourcesResult {
        /// The resources.
        resources: Vec<Resource>,
        ;
        /// Where the next page begins.
        next_cursor: String,
        /// `complete` (2026-07-28).
        result_type: String,
        /// How long the list stays good, in milliseconds (2026-07-28).
        ttl_ms: u64,
        /// For whom it stays good (2026-07-28).
        cache_scope: CacheScope,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The result of `resources/templates/list`.
    ListResourceTemplatesResult {
        /// The templates.
        resource_templates: Vec<ResourceTemplate>,
        ;
        /// Where the next page begins.
        next_cursor: String,
        /// `complete` (2026-07-28).
        result_type: String,
        /// How long the list stays good, in milliseconds (2026-07-28).
        ttl_ms: u64,
        /// For whom it stays good (2026-07-28).
        cache_scope: CacheScope,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The parameters of `resources/subscribe` and `resources/unsubscribe` (before 2026-07-28).
    SubscribeParams {
        /// The address.
        uri: String,
        ;
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
}

view! {
    /// The parameters of `notifications/resources/updated`.
    ResourceUpdatedParams {
        /// The address.
        uri: String,
        ;
        /// Metadata, with the subscription (2026-07-28).
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

impl ResourceContents {
    /// A text.
    pub fn of_text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(uri).text(text)
    }

    /// Bytes that are in base64 already.
    pub fn of_blob(uri: impl Into<String>, base64: impl Into<String>) -> Self {
        Self::new(uri).blob(base64)
    }
}
