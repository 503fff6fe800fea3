//! Patches: texts that name the files which they change. What a patch names is opened and written by whoever applies it.
//!
//! One reader for unified, combined and context diffs, those of git, subversion, Mercurial and GNU, `*** Begin Patch`, and blocks of
//! search and replace. A header is what any common reader takes for one; the lines of hunks are text of the files. How many folders
//! in front of a name are left out is for whoever applies it, so a name counts with each number of them.

mod name;
mod reader;

use std::collections::HashSet;

use switchboard_policy::keys::{Key, Mark};
use switchboard_policy::path;

use super::World;
use super::place;
use crate::{Finding, Verdict};

/// Names of one patch; one with more is refused.
const MAX_NAMES: usize = 8_192;
/// Folders in front of one name; one with more is refused.
const MAX_FOLDERS: usize = 64;
/// Names with each number of folders taken off, together.
const MAX_READINGS: usize = 65_536;

/// What a text says that is a patch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Patch {
    /// The files that it names, as they are written and without their first folder.
    pub(crate) names: Vec<String>,
    /// Whether it has the form of a patch under any key.
    pub(crate) is_sure: bool,
    /// Whether it has anything of a patch.
    is_patch: bool,
    /// Lines that belong neither to its headers nor to what it changes.
    prose: Vec<Prose>,
    /// Its names as they are written.
    written: HashSet<String>,
    /// Where the links lead that it makes.
    links: HashSet<String>,
    problem: Option<Problem>,
}

/// A line around a patch.
#[derive(Debug, PartialEq, Eq)]
struct Prose {
    /// Its number, from 1.
    line: usize,
    text: String,
    /// Whether it belongs to the message of a commit, where nobody looks for names.
    is_mail: bool,
}

/// Why a patch cannot be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Problem {
    /// A block that begins in this line has no end.
    Open(usize),
    /// A link whose target stands in no text.
    Link(usize),
    /// It has too many names.
    Many,
}

impl Patch {
    fn add(&mut self, name: &str) {
        if name::is_nothing(name) || self.written.contains(name) {
            return;
        }
        if self.written.len() >= MAX_NAMES {
            self.fail(Problem::Many);
        }
        self.names.push(name.to_owned());
        let behind = name.split_once('/').filter(|(front, _)| !front.is_empty()).map(|(_, behind)| behind);
        self.names.extend(behind.filter(|name| !name.is_empty()).map(str::to_owned));
        self.written.insert(name.to_owned());
    }

    fn add_link(&mut self, target: &str) {
        if self.links.len() >= MAX_NAMES {
            self.fail(Problem::Many);
        } else if self.links.insert(target.to_owned()) {
            self.names.push(target.to_owned());
        }
    }

    fn fail(&mut self, problem: Problem) {
        self.problem.get_or_insert(problem);
    }

    /// What stands around it: text like any other. The message of a commit is none under a key for patches.
    pub(super) fn rest(&self, is_named: bool) -> String {
        self.prose
            .iter()
            .filter(|prose| !(is_named && prose.is_mail))
            .map(|prose| prose.text.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Whether the strings under a key are patches.
pub(crate) fn is_key(key: &str) -> bool {
    Key::of(key).has(Mark::Patch)
}

/// What stands in lines by which a patch is told.
const SIGNS: [&str; 8] = ["+++", "***", "---", "diff ", "Index:", "rename ", "<<<<<", "@@"];
/// What patches begin with.
const BEGINNINGS: [&str; 9] = ["+++ ", "*** ", "--- ", "diff --", "Index:", "rename ", "copy from", "<<<<<<< ", "@@"];

/// Whether a text is a mail whose body no reader of lines can see: git decodes it before it looks for a patch.
pub(crate) fn is_encoded(text: &str) -> bool {
    const HEADER: &str = "content-transfer-encoding:";
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let (name, kind) = line.split_at_checked(HEADER.len()).unwrap_or_default();
        if !name.eq_ignore_ascii_case(HEADER) {
            continue;
        }
        // A header goes on in lines that begin with a blank.
        let folded = lines.peek().filter(|next| next.starts_with([' ', '\t'])).copied().unwrap_or_default();
        let kind = format!("{kind} {folded}").to_ascii_lowercase();
        let kind = kind.split([';', '(']).next().unwrap_or_default();
        if !["7bit", "8bit", "binary", ""].contains(&kind.trim()) {
            return true;
        }
    }
    false
}

/// Whether a text begins as patches do.
pub(crate) fn begins(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '"' || c == '`');
    text.starts_with("From ") || BEGINNINGS.iter().any(|sign| text.starts_with(sign))
}

/// What a text names as a patch; nothing where it is none. `is_named` is whether its key says that it is one.
pub(crate) fn read(text: &str, is_named: bool) -> Option<Patch> {
    if !is_named && !SIGNS.iter().any(|sign| text.contains(sign)) {
        return None;
    }
    let patch = reader::Reader::new(text, is_named).read();
    (patch.is_sure || is_named && patch.is_patch).then_some(patch)
}

/// Whether all files that a patch names lie inside. `anchored` is whether another argument is the place that they lie below, and
/// `is_named` whether its key says that it is a patch: then no line around it may begin as a path outside does.
pub(super) fn check(
    places: &[path::Scope],
    anchored: bool,
    patch: &Patch,
    is_named: bool,
    world: &dyn World,
) -> Verdict {
    let refuse = |message: String| Err(Finding::new("patch-unread", message));
    match patch.problem {
        None => {}
        Some(Problem::Open(line)) => {
            return refuse(format!("the block that begins in line {line} of the patch has no end"));
        }
        Some(Problem::Link(line)) => {
            return refuse(format!("line {line} of the patch makes a link, and does not say where to"));
        }
        Some(Problem::Many) => {
            return refuse(format!("the patch names more than {MAX_NAMES} files, and not all can be looked at"));
        }
    }
    // A place that is not where relative names begin has none of them below it.
    let starts: Vec<&path::Scope> =
        places.iter().filter(|place| place::inside(std::slice::from_ref(*place), ".", world).is_ok()).collect();
    let mut judge = |reading: &str| {
        let literal = literal(reading);
        let reading = literal.as_deref().unwrap_or(reading);
        if place::begins_as_path(reading) || !anchored {
            return place::inside(places, reading, world);
        }
        starts.iter().try_for_each(|place| place::inside(std::slice::from_ref(*place), reading, world))
    };
    for link in &patch.links {
        // What stands beside the link, with its first folder and without: a target leads up by as many as it says.
        judge(link)?;
        link.split_once('/').filter(|(front, _)| !front.is_empty()).map_or(Ok(()), |(_, behind)| judge(behind))?;
    }
    let folders: usize = patch.written.iter().map(|name| name.matches('/').count() + 1).sum();
    if folders > MAX_READINGS {
        return refuse(format!("the names in the patch have more than {MAX_READINGS} folders together"));
    }
    for name in &patch.written {
        if name.matches('/').count() > MAX_FOLDERS {
            return refuse(format!("a name in the patch has more than {MAX_FOLDERS} folders"));
        }
        each_reading(name, &mut judge)?;
        if name.contains(['*', '?']) {
            place::finds_nothing_denied(places, name)?;
        }
        // A stream of a file is the file to who denies it.
        if let Some((file, _)) = name.split_once(':').filter(|(file, _)| file.len() > 1 && !place::begins_as_path(name))
        {
            place::not_denied(places, file, world)?;
        }
    }
    if !is_named {
        return Ok(());
    }
    patch.prose.iter().filter(|prose| !prose.is_mail).try_for_each(|Prose { line: number, text, .. }| {
        let line = text.trim().trim_start_matches(['#', '*', '`', '"', '\'', ' ']);
        let first =
            line.split_whitespace().next().unwrap_or_default().trim_end_matches(['`', '*', ':', ',', '"', '\'']);
        if !place::begins_as_path(first) {
            return Ok(());
        }
        place::inside(places, first, world).map_err(|finding| {
            let message =
                format!("line {number} of the patch belongs to no hunk and is no header: {}", finding.message);
            Finding { message, ..finding }
        })
    })
}

/// A name with 0, 1, 2 .. of its first folders left out, as who counts slashes and who counts folders leave them out.
fn each_reading(name: &str, judge: &mut dyn FnMut(&str) -> Verdict) -> Verdict {
    judge(name)?;
    let mut rest = if name.starts_with('/') { "" } else { name };
    while let Some((_, behind)) = rest.split_once('/') {
        rest = behind;
        if !rest.is_empty() {
            judge(rest)?;
        }
    }
    Ok(())
}

/// A name as the file that is called so: names in patches hold no pattern and no variable of a shell. Nothing where it is one as it
/// stands, or begins as only paths do.
fn literal(name: &str) -> Option<String> {
    let is_file = !name.contains(['/', '\\']);
    if is_file && name.starts_with('~') && name.len() > 1 {
        return Some(format!("./{}", name.replace(['*', '?', ':'], "_")));
    }
    (name.contains(['*', '?', ':']) && !place::begins_as_path(name)).then(|| name.replace(['*', '?', ':'], "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_name_files() {
        for (text, expected) in [
            ("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-/etc/x\n+z\n", &["a/x", "x", "b/y", "y"][..]),
            ("--- /dev/null\n+++ /etc/x\t2020-01-01\n", &["/etc/x"]),
            ("diff --git a/x y b/x y\n", &["a/x y", "x y", "b/x y", "a/x", "x", "y", "b/x"]),
            ("diff --git a/x b/x\nrename from x\nrename to ../y\n", &["a/x", "x", "b/x", "../y", "y"]),
            ("diff --git \"a/\\056./x\" \"b/x\"\n", &["a/../x", "../x", "b/x", "x"]),
            (
                "*** Begin Patch\n*** Update File: a.txt\n*** Move to: ../x\n@@\n-a\n+b\n*** End Patch",
                &["a.txt", "../x", "x"],
            ),
            ("*** /etc/x\n--- /etc/y\n***************\n*** 1,2 ****\n", &["/etc/x", "/etc/y"]),
            ("Index: /etc/x\n=====\n--- x\n+++ x\n", &["/etc/x", "x"]),
            ("### src/x.py\n<<<<<<< SEARCH\n/api\n=======\n/etc\n>>>>>>> REPLACE", &["src/x.py", "x.py"]),
        ] {
            let patch = read(text, false).expect(text);
            for name in expected {
                assert!(patch.names.iter().any(|found| found == name), "{text}: {name} in {:?}", patch.names);
            }
            let known = |name: &String| expected.contains(&name.as_str());
            assert!(patch.names.iter().all(known), "{text}: {:?}", patch.names);
        }
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            "a --- b",
            "# Title\n\n*** bold ***\n\n--- \n",
            "i += 1 +++ x",
            "---\ntitle: x\n---\n",
            "Please rename to ../x",
            "SELECT 1 -- x",
            "see the diff: +++ /etc/x",
            "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x",
        ] {
            assert_eq!(read(text, false), None, "{text}");
        }
        assert_eq!(read("see /etc/x", true), None);
    }
}
