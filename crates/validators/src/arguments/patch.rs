//! Patches: texts that name the files which they change. What a patch names is opened and written by whoever applies it.
//!
//! The header lines of unified, context and git diffs, of subversion, of `*** Begin Patch`, and the line above blocks of search and
//! replace are names; what stands below them is text of the files. Names are read as `git apply` and `patch` read them, with their
//! first folder and without it, in quotes and with dates behind.

use switchboard_policy::path;
use switchboard_policy::risk::fallback::words;

use super::World;
use super::{glued, place};
use crate::Verdict;

/// Names of one patch that are told apart; more lie in patches that nobody reads, and the rest of these is judged as text.
const MAX_NAMES: usize = 4_096;
/// What stands in front of a name that is a whole line.
const FRONTS: [&str; 9] =
    ["+++ ", "rename from ", "rename to ", "rename old ", "rename new ", "copy from ", "copy to ", "Index: ", "==== "];
/// Words of keys whose strings are patches.
const KEYS: [&str; 6] = ["patch", "patches", "diff", "diffs", "udiff", "hunk"];

/// What a text says that is a patch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Patch {
    /// The files that it names, as they are written and as they are read.
    pub(crate) names: Vec<String>,
    /// Lines that belong neither to its headers nor to what it changes.
    pub(crate) rest: Vec<String>,
    /// Whether it has the form of a patch under any key.
    pub(crate) is_sure: bool,
}

/// Whether the strings under a key are patches.
pub(crate) fn is_key(key: &str) -> bool {
    // Most keys have none of these words.
    let lower = || key.to_ascii_lowercase();
    key.len() > 3
        && ["patch", "diff", "hunk"].iter().any(|word| lower().contains(word))
        && words(key).iter().any(|word| KEYS.contains(&word.as_str()))
}

/// What stands in lines by which a patch is told.
const SIGNS: [&str; 9] = ["+++ ", "*** ", "--- ", "diff --", "Index:", "rename ", "copy from", "<<<<<<< ", "@@"];

/// Whether a text begins as patches do.
pub(crate) fn begins(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '"');
    text.starts_with("From ") || SIGNS.iter().any(|sign| text.starts_with(sign))
}

/// What a text names as a patch; nothing where it is none. `is_named` is whether its key says that it is one.
pub(crate) fn read(text: &str, is_named: bool) -> Option<Patch> {
    if !SIGNS.iter().any(|sign| text.contains(sign)) {
        return None;
    }
    let lines: Vec<&str> = text.split(ends_line).collect();
    let mut patch = Patch::default();
    let (mut changes, mut above, mut is_patch) = (false, "", false);
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        // Whole patches may be moved to the right.
        let bare = line.trim_start();
        let next = lines[at + 1..].iter().map(|line| line.trim_start()).find(|line| !line.is_empty()).unwrap_or("");
        let is_context = bare.starts_with("*** ") && next.starts_with("--- ");
        if let Some(name) = named_action(bare).or_else(|| bare.strip_prefix("*** ").filter(|_| is_context)) {
            patch.is_sure |= !is_context || lines.iter().any(|line| line.starts_with("****"));
            patch.add(name);
        } else if let Some(name) = bare.strip_prefix("--- ") {
            let is_header = next.starts_with("+++ ") || above.starts_with("*** ");
            patch.is_sure |= next.starts_with("+++ ");
            if is_header || !changes {
                patch.add(name);
            }
        } else if let Some(pair) = bare.strip_prefix("diff --git ") {
            patch.is_sure = true;
            patch.add_pair(pair);
        } else if let Some(front) = FRONTS.iter().find(|front| bare.starts_with(**front)) {
            let follows =
                if bare.starts_with("Index") { next.starts_with("===") } else { next.starts_with("rename to ") };
            patch.is_sure |= follows;
            patch.add(&bare[front.len()..]);
        } else if bare.starts_with("<<<<<<< ") || bare.starts_with("------- SEARCH") {
            is_patch = true;
            changes = true;
            if !above.is_empty() && !above.starts_with(">>>>>>>") && !above.contains(char::is_whitespace) {
                patch.add(above.trim_start_matches(['#', '`', '*']).trim_end_matches([':', '`', '*']));
            }
        } else if bare.starts_with(">>>>>>> ") || bare.starts_with("+++++++ REPLACE") {
            changes = false;
        } else if bare.starts_with("@@") || bare.starts_with("***") {
            (is_patch, changes) = (true, true);
        } else if !(changes || line.starts_with(['+', '-', ' ', '\\', '='])) && above_names_none(bare) {
            patch.rest.push((*line).to_owned());
        }
        if !bare.starts_with("```") {
            above = bare;
        }
        if patch.names.len() > MAX_NAMES {
            return None;
        }
    }
    let is_read = patch.is_sure || is_named && (is_patch || !patch.names.is_empty());
    is_read.then_some(patch)
}

/// Lines of git about what it changes, which name nothing.
fn above_names_none(line: &str) -> bool {
    const ABOUT: [&str; 8] = [
        "index ",
        "new file mode",
        "deleted file mode",
        "old mode",
        "new mode",
        "similarity index",
        "From ",
        "GIT binary",
    ];
    !ABOUT.iter().any(|front| line.starts_with(front))
}

/// `*** Update File: x`, `*** Move to: x`.
fn named_action(line: &str) -> Option<&str> {
    let (action, name) = line.strip_prefix("***")?.split_once(':')?;
    let is_words = action.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b' ');
    let lower = action.to_ascii_lowercase();
    let acts = ["file", "move", "rename", "copy"].iter().any(|word| lower.contains(word));
    (action.starts_with(' ') && action.len() <= 32 && is_words && acts).then_some(name)
}

/// Whether some reader ends a line here.
const fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

impl Patch {
    /// Takes what stands behind a front: a name, perhaps with a date.
    fn add(&mut self, text: &str) {
        let text = text.trim();
        let dated = text.split('\t').next().unwrap_or_default().trim();
        let first = dated.split_whitespace().next().unwrap_or_default();
        let quoted = unquoted(text);
        for name in [Some(dated.to_owned()), Some(first.to_owned()), quoted].into_iter().flatten() {
            self.add_one(&name);
        }
    }

    /// The names of `diff --git a/x b/x`.
    fn add_pair(&mut self, text: &str) {
        let mut rest = text.trim();
        // Names with blanks stand there unquoted: both halves are the same but for the first folder.
        if let Some((old, new)) = halves(rest) {
            self.add_one(old);
            self.add_one(new);
        }
        while !rest.is_empty() {
            let end = match rest.strip_prefix('"') {
                Some(inner) => closing(inner).map_or(rest.len(), |at| at + 2),
                None => rest.find(char::is_whitespace).unwrap_or(rest.len()),
            };
            let (name, behind) = rest.split_at(end);
            self.add_one(&unquoted(name).unwrap_or_else(|| name.to_owned()));
            rest = behind.trim_start();
        }
    }

    fn add_one(&mut self, name: &str) {
        let name = name.trim_matches(['"', '\'', '`']).trim();
        if name.is_empty() || matches!(name, "/dev/null" | "NUL" | "nul") {
            return;
        }
        // Whoever applies it leaves the first folder out, or does not.
        let behind = name.split_once('/').filter(|(front, _)| !front.is_empty()).map(|(_, behind)| behind);
        for name in [Some(name), behind].into_iter().flatten().filter(|name| !name.is_empty()) {
            if !self.names.iter().any(|known| known == name) {
                self.names.push(name.to_owned());
            }
        }
    }
}

/// The halves of a line with a blank in its middle.
fn halves(line: &str) -> Option<(&str, &str)> {
    let (old, new) = line.split_at_checked(line.len() / 2)?;
    let new = new.strip_prefix(' ').filter(|_| !line.starts_with('"'))?;
    Some((old.trim(), new.trim()))
}

/// Where a name in quotes ends.
fn closing(inner: &str) -> Option<usize> {
    let mut is_escaped = false;
    inner.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends.then_some(at)
    })
}

/// A name in quotes with its escapes read, as git writes them: `"b/\303\244"`.
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?;
    let inner = &inner[..closing(inner)?];
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let mut number = 0_u32;
        let mut digits = 0;
        while let Some(digit) = rest.next_if(|byte| digits < 3 && (b'0'..=b'7').contains(byte)) {
            number = number * 8 + u32::from(digit - b'0');
            digits += 1;
        }
        match digits {
            0 => bytes.push(match rest.next()? {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                other => other,
            }),
            _ => bytes.push(u8::try_from(number & 0xff).unwrap_or_default()),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether all files that a patch names lie inside. `anchored` is whether another argument is the place that they lie below.
pub(super) fn check(places: &[path::Scope], anchored: bool, patch: &Patch, world: &dyn World) -> Verdict {
    patch.names.iter().try_for_each(|name| {
        let begins = place::begins_as_path(name) || glued::climbs_in_part(name);
        if begins || !anchored {
            return place::inside(places, name, world);
        }
        super::pattern::below(places, name, world)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, is_named: bool) -> Vec<String> {
        read(text, is_named).map(|patch| patch.names).unwrap_or_default()
    }

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
        ] {
            assert_eq!(names(text, false), expected, "{text}");
        }
        for (text, expected) in [
            ("+++ /etc/x", &["/etc/x"][..]),
            ("rename to ../x", &["../x", "x"]),
            ("src/x.py\n<<<<<<< SEARCH\n/api\n=======\n/etc\n>>>>>>> REPLACE", &["src/x.py", "x.py"]),
            ("@@ -1 +1 @@\n-a\n+/etc/x", &[]),
        ] {
            assert_eq!(names(text, true), expected, "{text}");
            assert!(read(text, true).is_some_and(|patch| patch.rest.is_empty() || text.starts_with("src")), "{text}");
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
        ] {
            assert_eq!(read(text, false), None, "{text}");
        }
        assert_eq!(read("see /etc/x", true), None);
    }
}
