//! Templates: what stands in quotes in their marks is what their engine may include.

use switchboard_policy::path;

use super::{inside, not_denied};
use crate::Verdict;
use crate::arguments::{World, uri};

/// How the marks of engines begin and end.
const MARKS: [(&str, &str); 4] = [("{{", "}}"), ("{%", "%}"), ("<%", "%>"), ("${", "}")];
/// Keys of templates, by how they end.
const KEYS: [&str; 9] = ["template", "tpl", "tmpl", "jinja", "liquid", "handlebars", "mustache", "erb", "ejs"];

/// Whether a key holds a template.
pub(in crate::arguments) fn is_key(key: &str) -> bool {
    KEYS.iter().any(|end| {
        key.len() >= end.len()
            && key.is_char_boundary(key.len() - end.len())
            && key[key.len() - end.len()..].eq_ignore_ascii_case(end)
    })
}

/// Whether what the marks of a text include lies inside. A name that is relative to the templates of a server is only held
/// against what is denied.
pub(in crate::arguments) fn check(places: &[path::Scope], text: &str, world: &dyn World) -> Verdict {
    MARKS.iter().filter(|(begins, _)| text.contains(begins)).try_for_each(|(begins, ends)| {
        let marked = text.split(begins).skip(1).map(|rest| rest.split(ends).next().unwrap_or_default());
        marked.flat_map(quoted).try_for_each(|name| {
            let leads = name.starts_with(['/', '\\', '~']) || name.starts_with("..") || uri::is_file(name);
            if leads { inside(places, name, world) } else { not_denied(places, name, world) }
        })
    })
}

/// What stands in quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    ['"', '\'', '`']
        .into_iter()
        .flat_map(move |mark| text.split(mark).skip(1).step_by(2))
        .filter(|name| !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control()))
}
