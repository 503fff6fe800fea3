//! What each method of a client that reaches a server has to pass, in one table.
//!
//! Everything here passes the same list of steps: access, permissions, delegation, scopes of tokens, schema, validators
//! and limits of grants, rates. The table says the little in which kinds of requests differ, and which names a method
//! must not be mistaken for.

use switchboard_protocol::mcp::method;

use super::audit::event;

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A call of a tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource, listed, described by a template or named by the client.
    Resource,
    /// A resource that is watched.
    Subscription,
    /// Values for an argument of a prompt or template.
    Completion,
    /// A task that a call of a tool began.
    Task,
    /// A method that nobody here knows.
    Unknown,
}

impl Subject {
    /// The word for it in audit events and questions.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Subscription => "subscription",
            Self::Completion => "completion",
            Self::Task => "task",
            Self::Unknown => "method",
        }
    }

    /// In what its requests differ.
    #[must_use]
    pub fn passage(self) -> &'static Passage {
        PASSAGES.iter().find(|passage| passage.subject == self).unwrap_or(&PASSAGES[0])
    }
}

/// In what the requests of one subject differ from others.
#[derive(Debug)]
pub struct Passage {
    /// What they are about.
    pub subject: Subject,
    /// The methods of clients.
    pub methods: &'static [&'static str],
    /// Whether a person is asked where the assessment says so.
    pub asks: bool,
    /// Whether it counts among the calls that run at the same time.
    pub runs: bool,
    /// The event that is its outcome on record; nothing for what only asks after work that is on record already.
    pub outcome: Option<&'static str>,
    /// Whether its intent is on record before it is sent, where it may change something. A completion is on record
    /// afterwards.
    pub intent: bool,
}

/// The table.
pub const PASSAGES: [Passage; 7] = [
    Passage {
        subject: Subject::Tool,
        methods: &[method::TOOLS_CALL],
        asks: true,
        runs: true,
        outcome: Some(event::TOOL_EXECUTED),
        intent: true,
    },
    Passage {
        subject: Subject::Prompt,
        methods: &[method::PROMPTS_GET],
        asks: true,
        runs: true,
        outcome: Some(event::READ),
        intent: true,
    },
    Passage {
        subject: Subject::Resource,
        methods: &[method::RESOURCES_READ],
        asks: true,
        runs: false,
        outcome: Some(event::READ),
        intent: true,
    },
    Passage {
        subject: Subject::Subscription,
        methods: &[method::RESOURCES_SUBSCRIBE, method::SUBSCRIPTIONS_LISTEN],
        // One request of the modern era watches many: those that a person has to agree to are refused.
        asks: false,
        runs: false,
        outcome: Some(event::READ),
        intent: true,
    },
    Passage {
        subject: Subject::Completion,
        methods: &[method::COMPLETE],
        // Nobody agrees to every letter that he types.
        asks: false,
        runs: false,
        outcome: Some(event::READ),
        intent: false,
    },
    Passage {
        subject: Subject::Task,
        methods: &[
            method::TASKS_GET,
            method::TASKS_RESULT,
            method::TASKS_CANCEL,
            method::TASKS_UPDATE,
            method::TASKS_LIST,
        ],
        asks: false,
        runs: false,
        outcome: None,
        intent: false,
    },
    Passage {
        subject: Subject::Unknown,
        methods: &[],
        asks: false,
        runs: false,
        outcome: Some(event::PASSED),
        intent: true,
    },
];

/// Methods that are never passed on as unknown ones, besides those of the table: the kernel answers them itself, or
/// only servers send them.
const RESERVED: [&str; 22] = [
    method::INITIALIZE,
    method::DISCOVER,
    method::PING,
    method::TOOLS_LIST,
    method::PROMPTS_LIST,
    method::RESOURCES_LIST,
    method::RESOURCES_TEMPLATES_LIST,
    method::RESOURCES_UNSUBSCRIBE,
    method::SET_LEVEL,
    method::ROOTS_LIST,
    method::CREATE_MESSAGE,
    method::ELICIT,
    method::INITIALIZED,
    method::CANCELLED,
    method::PROGRESS,
    method::TOOLS_LIST_CHANGED,
    method::PROMPTS_LIST_CHANGED,
    method::RESOURCES_LIST_CHANGED,
    method::RESOURCES_UPDATED,
    method::ROOTS_LIST_CHANGED,
    method::LOG_MESSAGE,
    method::ELICITATION_COMPLETE,
];

/// Whether a method that is not known could be taken for one that is: by a server that does not look at case, blanks,
/// separators or other scripts. Methods of MGP are the kernel's.
pub fn could_be_known(name: &str) -> bool {
    if name.is_empty() || name.bytes().any(|byte| !byte.is_ascii_graphic()) {
        return true;
    }
    let core = letters(name);
    let known = PASSAGES.iter().flat_map(|passage| passage.methods).chain(&RESERVED);
    core.starts_with("mgp")
        || core.starts_with("notificationsmgp")
        || known.into_iter().any(|known| letters(known) == core)
}

/// The letters and digits of a name, as a careless reader sees them.
fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_like_a_known_method_is_one() {
        for name in [
            "Tools/Call",
            "tools/call ",
            " tools/call",
            "tools//call",
            "tools/call/",
            "tools.call",
            "TOOLS_CALL",
            "tools/\u{441}all",
            "tools\u{2215}call",
            "tools/call\0",
            "sampling/createMessage",
            "Sampling/CreateMessage",
            "elicitation/create",
            "roots/list",
            "Initialize",
            "mgp/x",
            "MGP/access/grant",
            "notifications/mgp.event",
            "",
        ] {
            assert!(could_be_known(name), "{name:?}");
        }
        for name in ["vendor/own", "com.example/call", "tools/describe", "x"] {
            assert!(!could_be_known(name), "{name:?}");
        }
    }

    #[test]
    fn every_subject_has_one_passage() {
        for passage in &PASSAGES {
            assert_eq!(PASSAGES.iter().filter(|other| other.subject == passage.subject).count(), 1);
        }
    }
}
