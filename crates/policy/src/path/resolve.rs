//! From a path to the names it finally consists of, with `.` and `..` removed and links followed.

use crate::Finding;
use std::borrow::Cow;

/// As many links as Linux follows in one path.
const MAX_LINKS: usize = 40;
/// Bounds the work when links make a path longer and longer.
const MAX_STEPS: usize = 20_000;

/// Removes `.`, `..` and empty names without asking the file system. Takes an absolute path.
pub(super) fn normalise(path: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            _ => names.push(name.to_owned()),
        }
    }
    names
}

/// Walks an absolute path name by name as a kernel would, following links.
pub(super) fn follow(path: &str, links: &impl Fn(&str) -> Option<String>) -> Result<Vec<String>, Finding> {
    // The next name stands last.
    let mut pending: Vec<Cow<'_, str>> = path.rsplit('/').map(Cow::Borrowed).collect();
    let mut walked: Vec<String> = Vec::new();
    // The same as text.
    let mut place = String::with_capacity(path.len() + 1);
    let mut followed = 0;
    let mut steps = 0;
    while let Some(name) = pending.pop() {
        steps += 1;
        if steps > MAX_STEPS {
            return Err(Finding::new("path-links", "the links in this path lead too far"));
        }
        match name.as_ref() {
            "" | "." => continue,
            ".." => {
                step_up(&mut walked, &mut place);
                continue;
            }
            _ => {
                place.push('/');
                place.push_str(&name);
                walked.push(name.into_owned());
            }
        }
        if is_of_process(&walked) {
            return Err(Finding::new("path-links", "where this path leads depends on the process that opens it"));
        }
        let Some(target) = links(&place) else { continue };
        followed += 1;
        if followed > MAX_LINKS || target.len() > super::MAX_PATH_BYTES {
            return Err(Finding::new("path-links", "the links in this path do not end"));
        }
        if target.starts_with('/') {
            walked.clear();
            place.clear();
        } else {
            step_up(&mut walked, &mut place);
        }
        pending.extend(target.rsplit('/').map(|name| Cow::Owned(name.to_owned())));
    }
    Ok(walked)
}

/// `/proc/self/cwd`, `/proc/1/root`, `/dev/fd` and the like: links that lead elsewhere for each process.
fn is_of_process(names: &[String]) -> bool {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    matches!(
        names.as_slice(),
        ["proc", _, "cwd" | "root" | "fd" | "map_files"]
            | ["proc", _, "task", _, "cwd" | "root" | "fd" | "map_files"]
            | ["dev", "fd" | "stdin" | "stdout" | "stderr"]
    )
}

fn step_up(walked: &mut Vec<String>, place: &mut String) {
    if let Some(name) = walked.pop() {
        place.truncate(place.len() - name.len() - 1);
    }
}

/// The absolute path of these names.
pub(super) fn join(names: &[String]) -> String {
    let mut path = String::new();
    for name in names {
        path.push('/');
        path.push_str(name);
    }
    if path.is_empty() { "/".to_owned() } else { path }
}
