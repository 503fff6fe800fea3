//! The extensions of MGP: their names in both vocabularies, and sets of them.
//!
//! The specification has two broad names that later versions split: `security` and `bidirectional`. A set holds the
//! parts only, so that peers of different versions are compared in one vocabulary.

use std::fmt;

words! {
    /// One thing that MGP adds and that peers agree on, in the finest division that any version knows.
    Extension {
        /// What a tool says about its risks (MGP 4). A part of `security`.
        ToolSecurity = "tool_security",
        /// What a server needs, and what it was granted (MGP 3). A part of `security`.
        Permissions = "permissions",
        /// Who may call what (MGP 5).
        AccessControl = "access_control",
        /// Audit notifications (MGP 6).
        Audit = "audit",
        /// Code in arguments is judged (MGP 7).
        CodeSafety = "code_safety",
        /// Recovery fields in errors (MGP 14).
        ErrorHandling = "error_handling",
        /// Health, shutdown, states (MGP 11).
        Lifecycle = "lifecycle",
        /// Results in pieces (MGP 12).
        Streaming = "streaming",
        /// Progress (MGP 12.6).
        Progress = "progress",
        /// Events to subscribe to (MGP 13.2). A part of `bidirectional`.
        Events = "events",
        /// Questions of a server to its client (MGP 13.4). A part of `bidirectional`.
        Callbacks = "callbacks",
        /// Registration of servers (MGP 15).
        Discovery = "discovery",
        /// Search for tools (MGP 16).
        ToolDiscovery = "tool_discovery",
        /// Calls on behalf of another agent.
        Delegation = "delegation",
    }
}

impl Extension {
    /// All of them, in the order in which they are written.
    pub const ALL: [Self; 14] = [
        Self::ToolSecurity,
        Self::Permissions,
        Self::AccessControl,
        Self::Audit,
        Self::CodeSafety,
        Self::ErrorHandling,
        Self::Lifecycle,
        Self::Streaming,
        Self::Progress,
        Self::Events,
        Self::Callbacks,
        Self::Discovery,
        Self::ToolDiscovery,
        Self::Delegation,
    ];

    /// The names that stand for several extensions.
    const GROUPS: [(&'static str, [Self; 2]); 2] =
        [("security", [Self::ToolSecurity, Self::Permissions]), ("bidirectional", [Self::Events, Self::Callbacks])];

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of extensions.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct ExtensionSet(u16);

impl ExtensionSet {
    /// What a name stands for: nothing where nobody knows it.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match Extension::GROUPS.iter().find(|(group, _)| *group == name) {
            Some((_, parts)) => parts.iter().copied().collect(),
            None => Extension::from_word(name).into_iter().collect(),
        }
    }

    /// What several names stand for together.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        names.into_iter().map(Self::named).fold(Self::default(), Self::union)
    }

    /// Whether `extension` is in it.
    #[must_use]
    pub const fn has(self, extension: Extension) -> bool {
        self.0 & extension.bit() != 0
    }

    /// Whether all of `other` is in it.
    #[must_use]
    pub const fn has_all(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether nothing is in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What is in one of the two.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Its members, in the order in which they are written.
    pub fn iter(self) -> impl Iterator<Item = Extension> {
        Extension::ALL.into_iter().filter(move |extension| self.has(*extension))
    }

    /// Its names in both vocabularies: a name that stands for several stands before them, where all are there.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.iter().flat_map(move |extension| {
            let group = Extension::GROUPS
                .iter()
                .find(|(name, parts)| parts[0] == extension && self.has_all(Self::named(name)))
                .map(|(name, _)| *name);
            group.into_iter().chain([extension.as_str()])
        })
    }
}

impl FromIterator<Extension> for ExtensionSet {
    fn from_iter<T: IntoIterator<Item = Extension>>(extensions: T) -> Self {
        Self(extensions.into_iter().fold(0, |bits, extension| bits | extension.bit()))
    }
}

impl From<&[Extension]> for ExtensionSet {
    fn from(extensions: &[Extension]) -> Self {
        extensions.iter().copied().collect()
    }
}

impl fmt::Debug for ExtensionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Extension::as_str)).finish()
    }
}
