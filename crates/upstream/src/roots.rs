//! The folders that clients named to a server as their roots. Pure but for its lock.

use parking_lot::Mutex;
use switchboard_validators::percent;
use switchboard_wire::Raw;

/// More folders of one server are not looked at, whether clients named them or its command line does: relative paths are
/// refused then.
pub const MAX_BASES: usize = 64;

/// Folders that clients named to a server as their roots. They give nobody a right: each of them is one more place from
/// which a relative path has to lie inside.
#[derive(Debug, Default)]
pub struct ClientRoots(Mutex<Vec<String>>);

impl ClientRoots {
    /// Remembers the roots in an answer that a server is given, where it names any.
    pub fn note(&self, answer: &Raw) {
        if !answer.may_have("roots") {
            return;
        }
        let Some(roots) = answer.member("roots").and_then(|roots| roots.elements()) else { return };
        let mut known = self.0.lock();
        for root in roots {
            let Some(path) = root.member("uri").and_then(|uri| uri.as_text()).and_then(|uri| folder_of(&uri)) else {
                continue;
            };
            if known.len() > MAX_BASES {
                return;
            }
            if !known.contains(&path) {
                known.push(path);
            }
        }
    }

    /// The folders, in the order in which they were named.
    #[must_use]
    pub fn folders(&self) -> Vec<String> {
        let known = self.0.lock();
        // No grant covers the root of all.
        if known.len() > MAX_BASES { vec!["/".to_owned()] } else { known.clone() }
    }
}

/// The folder that the URI of a root names. What cannot be read as one may be anywhere; what is no file is none.
fn folder_of(uri: &str) -> Option<String> {
    let uri = uri.trim();
    let scheme = uri.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let rest = match scheme {
        Some(_) => uri[5..].trim_start_matches(['/', '\\']),
        // Some clients send a bare path.
        None if uri.starts_with('/') => uri.trim_start_matches('/'),
        None => return None,
    };
    let rest = rest.strip_prefix("localhost/").unwrap_or(rest);
    Some(format!("/{}", percent::lenient(rest)))
}
