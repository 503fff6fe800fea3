//! How peers introduce themselves: the handshake of the legacy era, and the metadata of the modern one.

use super::{CacheScope, ClientCapabilities, Implementation, JsonObject, LoggingLevel, ServerCapabilities};
use switchboard_wire::Raw;

view! {
    /// The parameters of `initialize`.
    InitializeParams {
        /// The revision the client wants.
        protocol_version: String,
        /// What it can do.
        capabilities: ClientCapabilities,
        /// Who it is.
        client_info: Implementation,
        ;
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
}

view! {
    /// The result of `initialize`.
    InitializeResult {
        /// The revision that is spoken from now on.
        protocol_version: String,
        /// What the server can do.
        capabilities: ServerCapabilities,
        /// Who it is.
        server_info: Implementation,
        ;
        /// How to use it, for the model.
        instructions: String,
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The result of `server/discover`.
    DiscoverResult {
        /// The revisions the server speaks.
        supported_versions: Vec<String>,
        /// What it can do.
        capabilities: ServerCapabilities,
        ;
        /// How to use it, for the model.
        instructions: String,
        /// `complete`.
        result_type: String,
        /// How long the answer stays good, in milliseconds.
        ttl_ms: u64,
        /// For whom it stays good.
        cache_scope: CacheScope,
        /// Metadata, with who the server is.
        #[serde(rename = "_meta")]
        meta: JsonObject,
    }
}

view! {
    /// The `_meta` of a request. The keys with a prefix belong to the modern era.
    RequestMeta {
        ;
        /// The revision the request is made in.
        #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
        protocol_version: String,
        /// What the client can do.
        #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
        client_capabilities: ClientCapabilities,
        /// Who the client is.
        #[serde(rename = "io.modelcontextprotocol/clientInfo")]
        client_info: Implementation,
        /// From which level on log messages are wanted.
        #[serde(rename = "io.modelcontextprotocol/logLevel")]
        log_level: LoggingLevel,
        /// The token under which progress is reported: a string or an integer.
        progress_token: Raw,
    }
}

view! {
    /// The parameters of a request that has no others.
    RequestParams {
        ;
        /// Metadata.
        #[serde(rename = "_meta")]
        meta: RequestMeta,
    }
}

empty_by_default!(RequestMeta, RequestParams);

impl DiscoverResult {
    /// Who the server is, from the result's metadata.
    #[must_use]
    pub fn server_info(&self) -> Option<Implementation> {
        let info = self.meta.as_ref()?.get(super::meta::SERVER_INFO)?;
        serde_json::from_value(info.clone()).ok()
    }
}
