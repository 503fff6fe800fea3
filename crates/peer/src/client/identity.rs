//! Who we are to a server: the parameters of `initialize`, and the metadata of every modern request.

use switchboard_protocol::Revision;
use switchboard_protocol::mcp::meta;
use switchboard_wire::{Edit, Object, Raw};

/// What we say of ourselves.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    info: Raw,
    capabilities: Raw,
    /// The whole `_meta` of a request that brings none.
    modern: Raw,
    revision: Raw,
}

impl Identity {
    pub(super) fn new(info: Raw, capabilities: Raw) -> Self {
        let revision = Raw::string(Revision::LATEST.as_str());
        let modern = Edit::empty()
            .set(meta::PROTOCOL_VERSION, revision.clone())
            .set(meta::CLIENT_INFO, info.clone())
            .set(meta::CLIENT_CAPABILITIES, capabilities.clone())
            .finish();
        Self { info, capabilities, modern, revision }
    }

    /// The parameters of `initialize`.
    pub(super) fn initialize(&self, revision: Revision) -> Raw {
        Edit::empty()
            .set("protocolVersion", Raw::string(revision.as_str()))
            .set("capabilities", self.capabilities.clone())
            .set("clientInfo", self.info.clone())
            .finish()
    }

    /// The parameters of a modern request, with the metadata it must carry. The revision is always the one spoken on
    /// this connection; who the client is and what it can do is left as the caller says it.
    pub(super) fn stamp(&self, params: Option<Raw>) -> Raw {
        let Some(params) = params else { return Edit::empty().set("_meta", self.modern.clone()).finish() };
        let Ok(edit) = Edit::of(&params) else { return params };
        let Some(given) = edit.object().get("_meta") else { return edit.set("_meta", self.modern.clone()).finish() };
        match self.complete(&given) {
            Some(completed) => edit.set("_meta", completed).finish(),
            None => params,
        }
    }

    /// The metadata with what is missing; `None` where nothing is.
    fn complete(&self, given: &Raw) -> Option<Raw> {
        let object = Object::open(given).ok()?;
        let same_revision = object.get(meta::PROTOCOL_VERSION).as_ref() == Some(&self.revision);
        let (has_info, has_capabilities) = (object.has(meta::CLIENT_INFO), object.has(meta::CLIENT_CAPABILITIES));
        if same_revision && has_info && has_capabilities {
            return None;
        }
        let edit = Edit::of(given).ok()?.set(meta::PROTOCOL_VERSION, self.revision.clone());
        let edit = edit.set_optional(meta::CLIENT_INFO, (!has_info).then(|| self.info.clone()));
        Some(
            edit.set_optional(meta::CLIENT_CAPABILITIES, (!has_capabilities).then(|| self.capabilities.clone()))
                .finish(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchboard_wire::Limits;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.as_bytes().to_vec(), &Limits::default()).unwrap()
    }

    #[test]
    fn modern_requests_get_the_metadata_they_lack_and_no_more() {
        let identity = Identity::new(raw(r#"{"name":"us"}"#), raw(r#"{"roots":{}}"#));
        let ours = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"us"},"io.modelcontextprotocol/clientCapabilities":{"roots":{}}"#;
        let whole = r#"{"a":1.10,"_meta":{"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"them"},"x":1}}"#;
        let cases = [
            (None, format!(r#"{{"_meta":{{{ours}}}}}"#)),
            (Some(r#"{"a":1.10}"#), format!(r#"{{"a":1.10,"_meta":{{{ours}}}}}"#)),
            (Some(r#"{"_meta":{"progressToken":1}}"#), format!(r#"{{"_meta":{{"progressToken":1,{ours}}}}}"#)),
            (Some(whole), whole.to_owned()),
            (
                Some(r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/clientInfo":{"name":"them"},"io.modelcontextprotocol/clientCapabilities":{}}}"#),
                r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"them"},"io.modelcontextprotocol/clientCapabilities":{}}}"#.to_owned(),
            ),
        ];
        for (given, expected) in cases {
            assert_eq!(identity.stamp(given.map(raw)).as_str(), expected, "{given:?}");
        }
    }
}
