//! `pins`: when a person is asked about a definition that is not the accepted one.
//!
//! It is said for all servers (`[gate]`), for one, or for one tool. What a project's file says can make it stricter than
//! the user wants it, and never looser: the file came with the project.

use crate::entry::ServerEntry;

/// When a person is asked. A later one is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PinMode {
    /// Never: only screening counts.
    Off,
    /// As `ask`, but what is of the same major version passes while screening finds nothing in what is new.
    Follow,
    /// When the definition means something else.
    Ask,
    /// When anything of it differs.
    Strict,
}

impl PinMode {
    pub(crate) const WORDS: &'static [&'static str] = &["ask", "follow", "strict", "off"];

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "off" => Self::Off,
            "follow" => Self::Follow,
            "ask" => Self::Ask,
            "strict" => Self::Strict,
            _ => return None,
        })
    }

    /// The word as it stands in a file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Follow => "follow",
            Self::Ask => "ask",
            Self::Strict => "strict",
        }
    }

    /// What it means, for whoever approves it.
    pub(crate) const fn told(self) -> &'static str {
        match self {
            Self::Off => "changed definitions are never asked about (pins off)",
            Self::Follow => "definitions of new releases are followed (pins follow)",
            Self::Ask => "definitions that mean something else are asked about (pins ask)",
            Self::Strict => "definitions that differ at all are asked about (pins strict)",
        }
    }
}

/// Keeps what the user said of a server whose place a project's takes, where the project says something looser.
pub(crate) fn keep_stricter(project: &mut ServerEntry, users: &ServerEntry) {
    let own = users.pins;
    project.pins = project.pins.max(own);
    for (name, tool) in &users.tools {
        if let Some(pins) = tool.pins {
            let entry = project.tools.entry(name.clone()).or_default();
            entry.pins = entry.pins.max(Some(pins));
        }
    }
    for (name, tool) in &mut project.tools {
        let floor = users.tools.get(name).and_then(|tool| tool.pins).or(own);
        tool.pins = tool.pins.map(|pins| Some(pins).max(floor).unwrap_or(pins));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::ToolEntry;

    fn entry(pins: Option<PinMode>, tool: Option<PinMode>) -> ServerEntry {
        let tools = [("t".to_owned(), ToolEntry { pins: tool, ..ToolEntry::default() })].into();
        ServerEntry { pins, tools, ..ServerEntry::default() }
    }

    #[test]
    fn a_project_never_loosens_what_the_user_said() {
        use PinMode::{Ask, Follow, Off, Strict};
        for (user, project, expected) in [
            ((Some(Strict), None), (Some(Off), None), (Some(Strict), None)),
            ((Some(Ask), None), (Some(Strict), None), (Some(Strict), None)),
            ((Some(Ask), None), (None, Some(Off)), (Some(Ask), Some(Ask))),
            ((Some(Ask), Some(Off)), (None, Some(Off)), (Some(Ask), Some(Off))),
            ((None, Some(Strict)), (Some(Follow), None), (Some(Follow), Some(Strict))),
            ((None, None), (Some(Off), Some(Follow)), (Some(Off), Some(Follow))),
        ] {
            let mut kept = entry(project.0, project.1);
            keep_stricter(&mut kept, &entry(user.0, user.1));
            assert_eq!((kept.pins, kept.tools["t"].pins), expected, "{user:?} {project:?}");
        }
    }

    #[test]
    fn every_word_is_read_and_written() {
        for word in PinMode::WORDS {
            assert_eq!(PinMode::from_word(word).map(PinMode::as_str), Some(*word));
        }
    }
}
