//! What the name and description of a tool tell about the texts that it takes.

use switchboard_policy::risk::fallback::words;

/// Words of tools whose texts are read by people.
const FOR_PEOPLE: [&str; 26] = [
    "issue",
    "issues",
    "comment",
    "comments",
    "mail",
    "email",
    "emails",
    "message",
    "messages",
    "post",
    "posts",
    "reply",
    "discussion",
    "chat",
    "channel",
    "ticket",
    "tickets",
    "review",
    "release",
    "announcement",
    "note",
    "notes",
    "commit",
    "pull",
    "slack",
    "send",
];
/// Words of tools that change files: what they are given as a text may be a patch.
const FOR_FILES: [&str; 14] = [
    "patch",
    "patches",
    "diff",
    "diffs",
    "apply",
    "applies",
    "edit",
    "edits",
    "hunk",
    "replace",
    "rewrite",
    "workspace",
    "filesystem",
    "files",
];
/// Words of tools to which `x:y` may be a file in a revision.
const OF_GIT: [&str; 7] = ["git", "commit", "commits", "revision", "revisions", "repository", "blame"];

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct About {
    /// Its texts are for people, and no patch in them is applied.
    pub(super) is_for_people: bool,
    /// It works on a repository of git.
    pub(super) speaks_of_git: bool,
}

impl About {
    pub(super) fn of(subject: &str) -> Self {
        let words = words(subject);
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        Self { is_for_people: has(&FOR_PEOPLE) && !has(&FOR_FILES), speaks_of_git: has(&OF_GIT) }
    }
}
