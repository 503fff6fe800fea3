//! Whether something is to be read, made, changed or taken away: by the words of a request, and by the name of a tool.
//!
//! A question is answered by a tool that reads, though one that changes the same thing has the same words ("which tickets are
//! assigned to me" and `assign_ticket`). It decides nothing about risk: it orders what was found.

use crate::words::spaced;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Deed {
    Reads,
    Makes,
    Changes,
    Removes,
    #[default]
    Unknown,
}

/// Words of each deed, as they begin requests and stand in names.
const WORDS: [(Deed, &[&str]); 4] = [
    (
        Deed::Reads,
        &[
            "blame",
            "browse",
            "check",
            "count",
            "describe",
            "diff",
            "discover",
            "download",
            "explain",
            "export",
            "fetch",
            "find",
            "get",
            "inspect",
            "list",
            "log",
            "logs",
            "look",
            "lookup",
            "query",
            "read",
            "retrieve",
            "search",
            "show",
            "status",
            "summarize",
            "view",
        ],
    ),
    (
        Deed::Makes,
        &[
            "add", "append", "build", "commit", "compose", "create", "draft", "draw", "generate", "insert", "make",
            "new", "post", "publish", "put", "register", "send", "start", "upload", "write",
        ],
    ),
    (
        Deed::Changes,
        &[
            "assign",
            "change",
            "convert",
            "disable",
            "edit",
            "enable",
            "format",
            "merge",
            "modify",
            "move",
            "patch",
            "rename",
            "replace",
            "resize",
            "restart",
            "rotate",
            "set",
            "transition",
            "update",
        ],
    ),
    (
        Deed::Removes,
        &[
            "archive",
            "cancel",
            "clear",
            "delete",
            "destroy",
            "drop",
            "kill",
            "purge",
            "remove",
            "stop",
            "uninstall",
            "wipe",
        ],
    ),
];
/// How questions begin.
const QUESTIONS: &[&str] = &[
    "are", "did", "do", "does", "has", "have", "how", "is", "tell", "was", "were", "what", "when", "where", "which",
    "who", "whose", "why",
];
/// What stands before a request and says nothing of it.
const BEFORE: &[&str] =
    &["can", "could", "help", "i", "like", "me", "need", "now", "please", "then", "to", "want", "would", "you"];

/// What a deed that agrees adds to a score, and what one that does not takes from it.
const AGREES: f32 = 0.8;
const DISAGREES: f32 = -1.5;

impl Deed {
    /// What a tool of this name does: the first word that says so.
    pub(crate) fn of_tool(name: &str) -> Self {
        spaced(name).split(' ').find_map(|word| Self::of_word(&word.to_lowercase())).unwrap_or_default()
    }

    /// What a request wants done: by its first word.
    pub(crate) fn of_query(query: &str) -> Self {
        let mut words = query.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        let first = words.by_ref().map(str::to_lowercase).find(|word| !BEFORE.contains(&word.as_str()));
        match first {
            Some(word) if QUESTIONS.contains(&word.as_str()) => Self::Reads,
            Some(word) => Self::of_word(&word).unwrap_or_default(),
            None => Self::Unknown,
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        WORDS.into_iter().find(|(_, words)| words.contains(&word)).map(|(deed, _)| deed)
    }

    /// What it adds to the score of a tool with another deed. Making and changing are often the same.
    pub(crate) fn agreement(self, tool: Self) -> f32 {
        match (self, tool) {
            (Self::Unknown, _) | (_, Self::Unknown) => 0.0,
            (wanted, done) if wanted == done => AGREES,
            (Self::Makes, Self::Changes) | (Self::Changes, Self::Makes) => 0.0,
            _ => DISAGREES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_names_say_what_is_done() {
        for (query, expected) in [
            ("Which tickets are assigned to me?", Deed::Reads),
            ("please show me the log", Deed::Reads),
            ("Can you delete it", Deed::Removes),
            ("send a message", Deed::Makes),
            ("Rename report.txt", Deed::Changes),
            ("Berlin to Prague", Deed::Unknown),
            ("", Deed::Unknown),
            ("?!", Deed::Unknown),
        ] {
            assert_eq!(Deed::of_query(query), expected, "{query}");
        }
        for (name, expected) in [
            ("jira_get_issue", Deed::Reads),
            ("getConsoleLogs", Deed::Reads),
            ("API-post-search", Deed::Makes),
            ("drop-database", Deed::Removes),
            ("query", Deed::Reads),
            ("MatrixTool", Deed::Unknown),
        ] {
            assert_eq!(Deed::of_tool(name), expected, "{name}");
        }
    }

    #[test]
    fn what_disagrees_goes_down_and_what_nobody_knows_stays() {
        assert!(Deed::Reads.agreement(Deed::Removes) < 0.0 && Deed::Removes.agreement(Deed::Reads) < 0.0);
        assert!(Deed::Makes.agreement(Deed::Makes) > 0.0);
        for deed in [Deed::Reads, Deed::Makes, Deed::Unknown] {
            assert_eq!((deed.agreement(Deed::Unknown), Deed::Unknown.agreement(deed)), (0.0, 0.0));
        }
    }
}
