//! The lists that servers have.

use switchboard_protocol::mcp::method;
use switchboard_wire::Raw;

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// Tools.
    Tools,
    /// Prompts.
    Prompts,
    /// Resources.
    Resources,
    /// Resource templates.
    Templates,
}

impl ListKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The method that asks for it.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Self::Tools => method::TOOLS_LIST,
            Self::Prompts => method::PROMPTS_LIST,
            Self::Resources => method::RESOURCES_LIST,
            Self::Templates => method::RESOURCES_TEMPLATES_LIST,
        }
    }

    /// The member of the answer that holds the elements.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }
}

/// One list of a server: its elements, and what else stood in the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The elements, untouched.
    pub items: Vec<Raw>,
    /// The answer without its elements and cursor.
    pub envelope: Raw,
}

impl Default for Listing {
    fn default() -> Self {
        Self { items: Vec::new(), envelope: Raw::empty_object() }
    }
}

/// The lists of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lists {
    /// `tools/list`
    pub tools: Listing,
    /// `prompts/list`
    pub prompts: Listing,
    /// `resources/list`
    pub resources: Listing,
    /// `resources/templates/list`
    pub templates: Listing,
}

impl Lists {
    /// Whether nothing is in any of them.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        ListKind::ALL.into_iter().all(|kind| self.of(kind).items.is_empty())
    }

    /// The list of this kind.
    #[must_use]
    pub fn of(&self, kind: ListKind) -> &Listing {
        match kind {
            ListKind::Tools => &self.tools,
            ListKind::Prompts => &self.prompts,
            ListKind::Resources => &self.resources,
            ListKind::Templates => &self.templates,
        }
    }
}
