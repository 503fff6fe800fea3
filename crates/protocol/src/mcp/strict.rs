//! What the official SDKs accept, as tables: definitions in lists, and results.
//!
//! Clients built on the TypeScript SDK (zod) and the Python SDK (pydantic) read a whole list at once. One element that
//! does not have the shape of the specification costs them all the others, of all servers. So each element is held
//! against that shape before it is listed. Where what was meant is plain (a `null` where nothing should stand, a schema
//! without `type: "object"`) it is mended; else that one element is [unfit](Unfit) and left out. What fits is not
//! touched at all.
//!
//! The tables follow `@modelcontextprotocol/sdk` 1.32, `@modelcontextprotocol/core` 2.4 and `mcp` 1.30 and 2.3, the
//! strictest of them in each row. It knows nothing of servers, names or policies.

mod content;
mod question;
mod result;
mod schema;
mod shape;
#[cfg(test)]
mod tests;

use switchboard_wire::{Edit, Kind, Object, Raw};
use url::Url;

use crate::Era;
use shape::{Need, Row, Shape, Verdict};

pub use question::question;
pub use result::{Misshapen, addressed, result, says_failure};

/// What an element of a list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    /// Of `tools/list`.
    Tool,
    /// Of `prompts/list`.
    Prompt,
    /// Of `resources/list`.
    Resource,
    /// Of `resources/templates/list`.
    Template,
}

/// An element that clients accept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fit {
    /// The element: the very bytes that came, where nothing had to be mended.
    pub raw: Raw,
    /// What was mended, each in a few words.
    pub mended: Vec<String>,
}

/// Why an element cannot be listed: the whole list would be refused with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("clients would refuse the whole list with it: {0}")]
pub struct Unfit(pub String);

const TEXT: Shape = Shape::Text;
const FLAG: Shape = Shape::Flag;

const ICON: &[Row] = &[
    Row { key: "src", shape: TEXT, need: Need::Required },
    Row { key: "mimeType", shape: TEXT, need: Need::Dropped },
    Row { key: "sizes", shape: Shape::List(&TEXT), need: Need::Dropped },
    Row { key: "theme", shape: Shape::Word(&["light", "dark"]), need: Need::Dropped },
];
const ICONS: Row = Row { key: "icons", shape: Shape::Sieve(&Shape::Object(ICON)), need: Need::Dropped };
const META: Row = Row { key: "_meta", shape: Shape::Any(Kind::Object), need: Need::Dropped };
const TITLE: Row = Row { key: "title", shape: TEXT, need: Need::Dropped };
const MIME_TYPE: Row = Row { key: "mimeType", shape: TEXT, need: Need::Dropped };
/// A tool whose description nobody can read is one that nobody can choose.
const DESCRIPTION: Row = Row { key: "description", shape: TEXT, need: Need::Kept };
const ANNOTATIONS: Row = Row {
    key: "annotations",
    shape: Shape::Object(&[
        Row { key: "audience", shape: Shape::List(&Shape::Word(&["user", "assistant"])), need: Need::Dropped },
        Row { key: "priority", shape: Shape::Share, need: Need::Dropped },
        Row { key: "lastModified", shape: Shape::Time, need: Need::Dropped },
    ]),
    need: Need::Dropped,
};
const HINTS: Row = Row {
    key: "annotations",
    shape: Shape::Object(&[
        TITLE,
        Row { key: "readOnlyHint", shape: FLAG, need: Need::Dropped },
        Row { key: "destructiveHint", shape: FLAG, need: Need::Dropped },
        Row { key: "idempotentHint", shape: FLAG, need: Need::Dropped },
        Row { key: "openWorldHint", shape: FLAG, need: Need::Dropped },
    ]),
    need: Need::Dropped,
};
const EXECUTION: Row = Row {
    key: "execution",
    shape: Shape::Object(&[Row {
        key: "taskSupport",
        shape: Shape::Word(&["required", "optional", "forbidden"]),
        need: Need::Dropped,
    }]),
    need: Need::Dropped,
};
const ARGUMENT: &[Row] = &[
    Row { key: "name", shape: TEXT, need: Need::Required },
    TITLE,
    Row { key: "description", shape: TEXT, need: Need::Dropped },
    Row { key: "required", shape: FLAG, need: Need::Dropped },
];

const NAME: Row = Row { key: "name", shape: TEXT, need: Need::Required };

const TOOL: &[Row] = &[NAME, TITLE, DESCRIPTION, HINTS, EXECUTION, ICONS, META];
const PROMPT: &[Row] = &[
    NAME,
    TITLE,
    DESCRIPTION,
    Row { key: "arguments", shape: Shape::List(&Shape::Object(ARGUMENT)), need: Need::Kept },
    ICONS,
    META,
];
const RESOURCE: &[Row] = &[
    Row { key: "uri", shape: TEXT, need: Need::Required },
    NAME,
    TITLE,
    DESCRIPTION,
    MIME_TYPE,
    Row { key: "size", shape: Shape::Count, need: Need::Dropped },
    ANNOTATIONS,
    ICONS,
    META,
];
const TEMPLATE: &[Row] = &[
    Row { key: "uriTemplate", shape: TEXT, need: Need::Required },
    NAME,
    TITLE,
    DESCRIPTION,
    MIME_TYPE,
    ANNOTATIONS,
    ICONS,
    META,
];

/// An element of a list as clients of this era accept it.
///
/// # Errors
/// What it should have been cannot be told.
pub fn item(item: Item, raw: &Raw, era: Era) -> Result<Fit, Unfit> {
    let mut mended = Vec::new();
    let named = match item {
        Item::Tool | Item::Prompt => raw.clone(),
        Item::Resource => with_name(raw, "uri", &mut mended),
        Item::Template => with_name(raw, "uriTemplate", &mut mended),
    };
    let rows = match item {
        Item::Tool => TOOL,
        Item::Prompt => PROMPT,
        Item::Resource => RESOURCE,
        Item::Template => TEMPLATE,
    };
    let mut raw = match Shape::Object(rows).fit(&named, &mut mended) {
        Verdict::Same => named,
        Verdict::Mended(raw) => raw,
        Verdict::Unfit(why) => return Err(Unfit(why)),
    };
    if item == Item::Tool {
        raw = schema::fit(&raw, era, &mut mended)?;
    }
    if item == Item::Resource && era == Era::Legacy {
        // Python's SDK 1 reads addresses with the parser of the `url` crate.
        let uri = raw.member("uri").and_then(|uri| uri.as_text()).unwrap_or_default();
        if let Err(error) = Url::parse(&uri) {
            return Err(Unfit(format!("its address is no URI: {error}")));
        }
    }
    Ok(Fit { raw, mended })
}

/// A resource without a name is known by its title or its address.
fn with_name(raw: &Raw, address: &str, mended: &mut Vec<String>) -> Raw {
    let Ok(object) = Object::open(raw) else { return raw.clone() };
    if object.get("name").is_some_and(|name| name.kind() == Kind::String) {
        return raw.clone();
    }
    let Some(name) = object.text("title").or_else(|| object.text(address)) else { return raw.clone() };
    mended.push("its name was missing".to_owned());
    Edit::of(raw).map_or_else(|_| raw.clone(), |edit| edit.set("name", Raw::string(&name)).finish())
}
