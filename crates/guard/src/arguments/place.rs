//! Paths in arguments.

use super::role::Role;
use crate::path;
use crate::permission::Scope;

/// Everything, for a grant that only denies.
const ANYWHERE: [&str; 1] = ["/**"];

/// The paths that a grant allows, if it speaks of any.
pub(super) fn compile(scope: &Scope, base: &str) -> Option<path::Scope> {
    if scope.paths.is_none() && scope.deny_paths.is_empty() {
        return None;
    }
    let allow: Vec<&str> =
        scope.paths.as_ref().map_or_else(|| ANYWHERE.to_vec(), |paths| paths.iter().map(String::as_str).collect());
    let deny: Vec<&str> = scope.deny_paths.iter().map(String::as_str).collect();
    Some(path::Scope::new(&allow, &deny, base))
}

/// Whether a server may take this for a path: by its key, or because nothing else looks so.
pub(super) fn is_path(role: Role, text: &str) -> bool {
    match role {
        Role::Path => true,
        Role::Prose | Role::Content | Role::Code | Role::Script | Role::Command | Role::Commands => false,
        // Without a scheme it is whatever the server makes of it.
        Role::Url | Role::Host => {
            let file = text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
            file || text.starts_with(['/', '~', '\\', '.']) && !text.starts_with("//")
        }
        Role::CommandWords | Role::Reference | Role::Method | Role::Other => looks_like_path(text),
    }
}

fn looks_like_path(text: &str) -> bool {
    if text.len() > path::MAX_PATH_BYTES || text.contains('\n') {
        return false;
    }
    let bytes = text.as_bytes();
    let drive =
        bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'\\' | b'/');
    let is_file_url = text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let lower = || text.to_ascii_lowercase();
    drive
        || is_file_url
        || text == ".."
        || text.starts_with(['/', '~', '\\'])
        || ["./", "../", ".\\", "..\\"].iter().any(|start| text.starts_with(start))
        || text.contains("/../")
        || text.ends_with("/..")
        || text.contains('%') && ["%2e%2e", "%2f", "%5c", "..%", "%252"].iter().any(|escape| lower().contains(escape))
}
