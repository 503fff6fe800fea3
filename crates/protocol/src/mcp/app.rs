//! What a tool says of its interface (MCP Apps, `io.modelcontextprotocol/ui`). Pure.
//!
//! A tool names the page that shows its result, and says whether models, pages or both may use it. Visibility is no access
//! control: the gate decides who may call what.

use memchr::memmem;
use serde_json::Value;
use switchboard_wire::{Edit, Raw};

/// The name of the extension.
pub const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// How addresses of pages begin.
pub const SCHEME: &str = "ui://";
/// Where the address of the page stood in earlier drafts; servers write both.
const OLD_KEY: &str = "ui/resourceUri";

/// What is said of the interface of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolApp {
    /// The address of its page, as its server knows it.
    pub resource: Option<String>,
    /// Whether models are offered it.
    pub for_models: bool,
    /// Whether pages of its own server may call it.
    pub for_pages: bool,
}

impl ToolApp {
    /// What a definition says; `None` where it says nothing.
    #[must_use]
    pub fn of(definition: &Raw) -> Option<Self> {
        // Few tools have a page, and reading all they say is not for nothing.
        memmem::find(definition.as_bytes(), b"\"ui")?;
        let meta: Value = definition.member("_meta")?.view().ok()?;
        let said = [&meta["ui"]["resourceUri"], &meta[OLD_KEY]].into_iter().find_map(Value::as_str);
        let visibility = meta["ui"]["visibility"].as_array().filter(|words| !words.is_empty());
        let has = |word: &str| visibility.is_none_or(|words| words.iter().any(|one| one == word));
        if said.is_none() && visibility.is_none() {
            return None;
        }
        let resource = said.filter(|uri| uri.starts_with(SCHEME)).map(str::to_owned);
        Some(Self { resource, for_models: has("model"), for_pages: has("app") })
    }
}

/// A definition whose page has another address.
#[must_use]
pub fn with_resource(definition: &Raw, uri: &str) -> Raw {
    let Ok(edit) = Edit::of(definition) else { return definition.clone() };
    let moved = edit.within("_meta", |meta| {
        let meta = if meta.object().has(OLD_KEY) { meta.set(OLD_KEY, Raw::string(uri)) } else { meta };
        let ui = meta.object().get("ui").and_then(|ui| Edit::of(&ui).ok());
        match ui {
            Some(ui) => meta.set("ui", ui.set("resourceUri", Raw::string(uri)).finish()),
            None => meta,
        }
    });
    moved.map_or_else(|_| definition.clone(), Edit::finish)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(meta: &Value) -> Option<ToolApp> {
        ToolApp::of(&Raw::from_value(&json!({"name": "t", "_meta": meta})).unwrap())
    }

    #[test]
    fn a_tool_says_where_its_page_is_and_who_may_use_it() {
        let app = |resource: Option<&str>, for_models, for_pages| {
            Some(ToolApp { resource: resource.map(str::to_owned), for_models, for_pages })
        };
        for (meta, expected) in [
            (json!({"ui": {"resourceUri": "ui://a/b"}}), app(Some("ui://a/b"), true, true)),
            (json!({"ui/resourceUri": "ui://a/b"}), app(Some("ui://a/b"), true, true)),
            (json!({"ui": {"visibility": ["app"]}}), app(None, false, true)),
            (json!({"ui": {"resourceUri": "https://evil.example", "visibility": ["model"]}}), app(None, true, false)),
            (json!({"ui": {"visibility": []}}), None),
            (json!({"ui": {"visibility": "app"}}), None),
            (json!({"other": 1}), None),
        ] {
            assert_eq!(said(&meta), expected, "{meta}");
        }
    }

    #[test]
    fn another_address_stands_in_both_places_and_nothing_else_changes() {
        let tool = json!({"name": "t", "_meta": {"ui": {"resourceUri": "ui://a", "x": 1}, "ui/resourceUri": "ui://a", "y": 2}});
        let moved: Value = with_resource(&Raw::from_value(&tool).unwrap(), "ui://s+a").view().unwrap();
        let expected = json!({"ui": {"resourceUri": "ui://s+a", "x": 1}, "ui/resourceUri": "ui://s+a", "y": 2});
        assert_eq!(moved["_meta"], expected);
        let plain = Raw::from_value(&json!({"name": "t"})).unwrap();
        assert_eq!(with_resource(&plain, "ui://x").member("name"), plain.member("name"));
    }
}
