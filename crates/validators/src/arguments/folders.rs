//! Folders that a call names itself: a server may begin its other, relative paths there.

use std::path::Path;

use switchboard_policy::path;
use switchboard_wire::Raw;

use super::climb::Climb;
use super::role::Role;
use super::walk;
use crate::percent;

/// Folders of one call at which its relative paths may begin.
pub(super) const MAX_FOLDERS: usize = 16;

/// Longer text with blanks is no name.
const MAX_NAME: usize = 255;
/// More steps up than any path has names.
const MAX_STEPS: usize = 512;

/// The folders that a call names by absolute paths. At most one more than [`MAX_FOLDERS`]: who finds that many cannot show where
/// a relative path leads.
pub(super) fn named(arguments: &Raw) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    walk::each_leaf(arguments, &mut |role, text| {
        let Some(folder) = absolute(text.trim()).filter(|_| !is_text(role)) else { return };
        // A list of many files is no list of folders.
        let most = if Path::new(&folder).extension().is_some() { MAX_FOLDERS } else { MAX_FOLDERS + 1 };
        if found.len() < most && !found.contains(&folder) {
            found.push(folder);
        }
    });
    found
}

/// What a relative folder of a call makes of its other relative paths, from `base`: `{"dir": "..", "file": "../x"}` is `../../x`.
pub(super) fn joined(arguments: &Raw, base: &str) -> Vec<String> {
    let (mut folders, mut others): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    walk::each_leaf(arguments, &mut |role, text| {
        let text = text.trim();
        let climbs = text == ".." || text.starts_with("../") || text.starts_with("./");
        let counts = role == Role::Path || climbs && !is_text(role);
        // A pattern goes down from where it begins, and is judged as what it finds.
        let counts = counts && !text.contains(['*', '?']);
        let is_relative = counts && !text.is_empty() && !text.starts_with(['/', '~']) && !text.contains("://");
        if !is_relative || text.len() > path::MAX_PATH_BYTES || text.contains(char::is_whitespace) {
            return;
        }
        if Path::new(text).extension().is_none() && folders.len() < MAX_FOLDERS {
            folders.push(text.to_owned());
        }
        if others.len() < MAX_FOLDERS {
            others.push(text.to_owned());
        }
    });
    let pairs = folders.iter().flat_map(|folder| others.iter().map(move |other| (folder, other)));
    pairs.filter(|(folder, other)| folder != other).map(|(folder, other)| format!("{base}/{folder}/{other}")).collect()
}

/// The highest places to which the relative paths of a call lead together, from each folder at which they may begin. Of one path alone
/// that is judged where it stands, from the folders that [`named`] gives.
pub(super) fn highest(arguments: &Raw, places: &[path::Scope]) -> Vec<String> {
    let (mut climb, mut all, mut beside_files) = (Climb::default(), Vec::new(), false);
    walk::each_leaf(arguments, &mut |role, text| {
        let text = text.trim();
        let is_sentence = text.contains(char::is_whitespace);
        // A title of one line may be the name of a file; no name has several lines.
        let may_name = role == Role::Prose && text.contains("/../") && text.len() <= MAX_NAME && !text.contains('\n');
        let speaks = is_sentence && (is_text(role) || role == Role::Content) && !may_name;
        if text.len() > path::MAX_PATH_BYTES || speaks {
            return;
        }
        match absolute(text) {
            Some(folder) => {
                // A server may put something beside a file.
                let beside = Path::new(&folder).extension().and_then(|_| Path::new(&folder).parent());
                beside_files |= beside.is_some();
                all.extend(beside.map(|folder| folder.to_string_lossy().into_owned()));
                all.push(folder);
            }
            None if text.contains("..") && !text.contains("://") => {
                let pieces = text.split([',', ';', '|']).filter(|piece| piece.len() < text.len());
                pieces.chain([text]).for_each(|piece| climb.add(piece));
            }
            None => {}
        }
    });
    let together = climb.worst() > climb.most || beside_files;
    // The first ones were looked at with every path by itself.
    let looked_at = if together { 0 } else { MAX_FOLDERS };
    if climb.worst() == 0 || !together && all.len() <= looked_at {
        return Vec::new();
    }
    let own = places.iter().map(|place| place.base.clone()).filter(|_| climb.worst() > climb.most);
    let up = "/..".repeat(climb.worst().min(MAX_STEPS));
    own.chain(all.into_iter().skip(looked_at)).map(|folder| format!("{folder}{up}/x")).collect()
}

const fn is_text(role: Role) -> bool {
    matches!(role, Role::Prose | Role::Code | Role::Script | Role::Sql | Role::Query)
}

/// The strings that begin as absolute paths, as arguments of their own: a part of an address is no place by itself, but a server
/// that joins paths opens such a part and not what stands in front of it.
#[must_use]
pub fn absolute_among(arguments: &Raw) -> Option<Raw> {
    let mut found = Vec::new();
    walk::each_leaf(arguments, &mut |_, text| found.extend(absolute(text).map(serde_json::Value::from)));
    if found.is_empty() { None } else { Raw::from_value(&serde_json::json!({ "paths": found })).ok() }
}

/// The path of a string that begins as an absolute one, also by its `file:` address or its escapes.
#[must_use]
fn absolute(text: &str) -> Option<String> {
    let text = text.trim();
    if text.len() > path::MAX_PATH_BYTES || text.contains(char::is_whitespace) && !text.starts_with('/') {
        return None;
    }
    let plain = percent::lenient(text);
    let local = plain.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:")).map_or(&*plain, |_| &plain[5..]);
    let host = |rest: &str| rest.get(..9).filter(|host| host.eq_ignore_ascii_case("localhost")).map_or(0, str::len);
    let local =
        local.strip_prefix("//").map(|rest| &rest[host(rest)..]).filter(|rest| rest.starts_with('/')).unwrap_or(local);
    local.starts_with('/').then(|| local.to_owned())
}
