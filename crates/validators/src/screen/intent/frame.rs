//! Frames: what an order to the model is made of. A sentence in which no frame is complete is never held, whatever its
//! words weigh; a complete frame is a reason to weigh them, and says in the finding what the sentence seems to want.

use super::class::{Class, Classes, set};

/// One kind of order: each part has to be met by a class of the sentence.
pub(super) struct Frame {
    /// The name under which the weights know it.
    pub(super) name: &'static str,
    /// What the finding says.
    pub(super) says: &'static str,
    parts: &'static [Classes],
    /// What it is believed to weigh before anything is fitted.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the fitting reads it"))]
    pub(super) prior: f32,
}

impl Frame {
    /// Whether something is kept from the user.
    pub(super) fn conceals(&self) -> bool {
        matches!(self.name, "=conceal" | "=!hush" | "=!secrecy")
    }

    /// Whether it is seldom complete in a harmless text, as its name says.
    pub(super) fn is_grave(&self) -> bool {
        self.name.starts_with("=!")
    }

    /// Whether it is never certain by itself.
    pub(super) fn is_mild(&self) -> bool {
        matches!(self.name, "=promote" | "=everything")
    }

    const fn is_complete(&self, classes: Classes) -> bool {
        let mut at = 0;
        while at < self.parts.len() {
            if !classes.meets(self.parts[at]) {
                return false;
            }
            at += 1;
        }
        true
    }
}

const fn frame(name: &'static str, says: &'static str, parts: &'static [Classes]) -> Frame {
    Frame { name, says, parts, prior: 0.5 }
}

/// A frame that is seldom complete in a harmless text.
const fn sure(name: &'static str, prior: f32, says: &'static str, parts: &'static [Classes]) -> Frame {
    Frame { name, says, parts, prior }
}

const LOOT: Classes = set(&[Class::Secret, Class::SecretFile, Class::Context, Class::Personal, Class::UserData]);
const OTHER_TOOL: Classes = set(&[Class::AnyTool, Class::KindTool]);
const ORDERED: Classes = set(&[
    Class::Imperative,
    Class::Must,
    Class::You,
    Class::Model,
    Class::First,
    Class::Every,
    Class::When,
    Class::Urgent,
    Class::Also,
]);

/// Every kind of order.
pub(super) const FRAMES: &[Frame] = &[
    sure(
        "=conceal",
        1.0,
        "keeps something from the user",
        &[set(&[Class::NotTell, Class::NotKnow, Class::Hide, Class::Pretend, Class::Silent])],
    ),
    frame(
        "=omit",
        "leaves something out of the answer",
        &[
            set(&[Class::NotShow, Class::NotPut, Class::Remove]),
            set(&[Class::User, Class::Answer, Class::Log, Class::Own]),
        ],
    ),
    frame(
        "=take",
        "asks for secrets, private data or the conversation",
        &[
            LOOT,
            set(&[
                Class::Read,
                Class::Put,
                Class::Send,
                Class::Copy,
                Class::Encode,
                Class::Show,
                Class::Slot,
                Class::Foreign,
                Class::Quoted,
                Class::Parameter,
            ]),
        ],
    ),
    frame(
        "=loosen",
        "sets rules or confirmations aside",
        &[
            set(&[
                Class::Drop,
                Class::Approve,
                Class::Skip,
                Class::NotAsk,
                Class::NotPermission,
                Class::Obey,
                Class::Trust,
                Class::NotCall,
            ]),
            set(&[
                Class::Rules,
                Class::Permission,
                Class::Machine,
                Class::Own,
                Class::User,
                Class::Answer,
                Class::You,
                Class::Model,
                Class::NotPermission,
                Class::NotAsk,
            ]),
        ],
    ),
    frame(
        "=claim",
        "claims a rank or a role",
        &[set(&[Class::Outrank, Class::Mode, Class::Authority, Class::Role, Class::Tag, Class::Threat, Class::Decode])],
    ),
    frame(
        "=meddle",
        "changes how other tools are used",
        &[
            OTHER_TOOL,
            set(&[
                Class::Change,
                Class::Remove,
                Class::Skip,
                Class::NotCall,
                Class::Call,
                Class::Drop,
                Class::Copy,
                Class::Send,
                Class::Put,
                Class::Trust,
                Class::Tell,
                Class::Show,
                Class::Answer,
                Class::Read,
                Class::Run,
                Class::Obey,
                Class::Money,
            ]),
        ],
    ),
    frame(
        "=meddle-named",
        "changes how a named tool is used",
        &[
            Classes::one(Class::Named),
            set(&[
                Class::Change,
                Class::Remove,
                Class::Skip,
                Class::NotCall,
                Class::Copy,
                Class::Send,
                Class::Money,
                Class::Trust,
                Class::Every,
                Class::Drop,
                Class::Also,
                Class::Urgent,
                Class::Foreign,
                Class::Call,
                Class::Put,
            ]),
            ORDERED,
        ],
    ),
    frame(
        "=host",
        "has something run or changed on the machine",
        &[
            set(&[Class::Persist, Class::AgentFile, Class::Command, Class::Machine, Class::Code]),
            set(&[
                Class::Run,
                Class::Put,
                Class::Remove,
                Class::Skip,
                Class::Change,
                Class::Approve,
                Class::Send,
                Class::Remember,
                Class::Read,
                Class::Drop,
            ]),
            ORDERED,
        ],
    ),
    frame(
        "=fetch",
        "sends something to an address, or has something fetched from one",
        &[
            Classes::one(Class::Destination),
            set(&[
                Class::Send,
                Class::Put,
                Class::Copy,
                Class::Run,
                Class::Read,
                Class::Change,
                Class::Money,
                Class::Obey,
            ]),
        ],
    ),
    frame(
        "=alter",
        "changes amounts, recipients, answers or what is written",
        &[
            set(&[Class::Money, Class::Answer, Class::Code, Class::Link]),
            set(&[Class::Change, Class::Put, Class::Remove, Class::Drop, Class::Send, Class::Run]),
            set(&[Class::Every, Class::Regardless, Class::Destination, Class::Us]),
        ],
    ),
    frame(
        "=reroute",
        "changes who gets what",
        &[Classes::one(Class::Money), set(&[Class::Change, Class::Put, Class::Approve, Class::Call]), ORDERED],
    ),
    frame(
        "=promote",
        "promotes something",
        &[
            Classes::one(Class::Recommend),
            set(&[
                Class::Every,
                Class::Answer,
                Class::User,
                Class::AnyTool,
                Class::Own,
                Class::Us,
                Class::You,
                Class::Destination,
                Class::Must,
                Class::When,
                Class::Imperative,
            ]),
        ],
    ),
    frame(
        "=persist",
        "wants to be remembered",
        &[
            set(&[Class::Remember, Class::AgentFile]),
            set(&[
                Class::Every,
                Class::Own,
                Class::Rules,
                Class::Model,
                Class::AnyTool,
                Class::Trust,
                Class::Put,
                Class::Change,
            ]),
        ],
    ),
    frame(
        "=everything",
        "wants to be used for everything",
        &[
            set(&[Class::Call, Class::Own]),
            set(&[Class::AnyTool, Class::Regardless, Class::NotCall]),
            set(&[Class::Every, Class::Must, Class::First, Class::All, Class::Regardless, Class::NotCall]),
        ],
    ),
    frame(
        "=act",
        "orders an act first",
        &[
            set(&[Class::Remove, Class::Run, Class::Approve, Class::Send]),
            set(&[Class::First, Class::Urgent, Class::Also]),
            set(&[Class::Imperative, Class::Must]),
        ],
    ),
    sure(
        "=!hush",
        3.0,
        "keeps something from the user",
        &[set(&[Class::NotTell, Class::NotKnow]), set(&[Class::User, Class::Own])],
    ),
    sure("=!secrecy", 2.5, "asks for secrecy", &[Classes::one(Class::Silent)]),
    sure("=!overrule", 3.0, "sets rules aside", &[set(&[Class::Drop, Class::Outrank]), Classes::one(Class::Rules)]),
    sure(
        "=!hand-over",
        2.5,
        "wants secrets, private data or the conversation as an argument",
        &[
            LOOT,
            set(&[Class::Foreign, Class::Destination, Class::Us]),
            set(&[Class::Read, Class::Put, Class::Send, Class::Show, Class::Copy, Class::Encode]),
        ],
    ),
    sure(
        "=!keys",
        1.5,
        "reaches for files with secrets",
        &[Classes::one(Class::SecretFile), set(&[Class::Read, Class::Put, Class::Send, Class::Copy]), ORDERED],
    ),
    sure(
        "=!rank",
        2.0,
        "claims a rank or a role",
        &[set(&[Class::Outrank, Class::Mode, Class::Role, Class::Authority])],
    ),
    sure(
        "=!markup",
        2.5,
        "stands where people do not look",
        &[
            Classes::one(Class::Tag),
            set(&[
                Class::Secret,
                Class::SecretFile,
                Class::Context,
                Class::Personal,
                Class::NotTell,
                Class::NotKnow,
                Class::NotAsk,
                Class::Silent,
                Class::Hide,
                Class::Drop,
                Class::Outrank,
                Class::Send,
                Class::Remove,
                Class::Run,
                Class::Skip,
                Class::Change,
                Class::Approve,
                Class::Foreign,
                Class::Destination,
                Class::Obey,
            ]),
        ],
    ),
    sure(
        "=!grab",
        1.0,
        "wants the conversation, the system prompt or files with secrets as an argument",
        &[
            set(&[Class::Context, Class::SecretFile]),
            set(&[Class::Parameter, Class::Foreign, Class::Slot]),
            set(&[Class::Copy, Class::All, Class::Every, Class::You]),
        ],
    ),
    sure(
        "=!puppet",
        1.0,
        "has the model do what some text says",
        &[Classes::one(Class::Obey), set(&[Class::Source, Class::Answer]), ORDERED],
    ),
    sure(
        "=!unguard",
        1.0,
        "takes a protection away",
        &[
            set(&[Class::Skip, Class::Drop, Class::Remove, Class::Change]),
            set(&[Class::Machine, Class::Permission]),
            set(&[Class::First, Class::Every, Class::Also, Class::Urgent, Class::All, Class::Regardless]),
        ],
    ),
    sure(
        "=!lie",
        1.0,
        "has the user told what is not true",
        &[Classes::one(Class::Pretend), set(&[Class::User, Class::When, Class::Every, Class::Answer, Class::Must])],
    ),
    sure(
        "=!plant",
        2.0,
        "leaves something behind on the machine",
        &[
            set(&[Class::Command, Class::Persist, Class::AgentFile]),
            set(&[Class::Run, Class::Put, Class::Change, Class::Read]),
            ORDERED,
        ],
    ),
    sure("=!unasked", 2.0, "acts without asking", &[set(&[Class::NotAsk, Class::NotPermission])]),
    sure(
        "=!consent",
        1.5,
        "answers for the user",
        &[
            Classes::one(Class::Approve),
            set(&[Class::Permission, Class::Ask]),
            set(&[Class::User, Class::All, Class::Every, Class::You, Class::Imperative]),
        ],
    ),
    sure(
        "=!tools",
        2.0,
        "changes how other tools are used",
        &[
            OTHER_TOOL,
            set(&[Class::Must, Class::Every, Class::First, Class::All, Class::Imperative, Class::When]),
            set(&[
                Class::Drop,
                Class::NotCall,
                Class::Copy,
                Class::Change,
                Class::Trust,
                Class::Skip,
                Class::Remove,
                Class::Send,
                Class::NotPut,
            ]),
        ],
    ),
    sure(
        "=!funnel",
        1.0,
        "wants to be used for everything",
        &[
            set(&[Class::Send, Class::Call]),
            set(&[Class::All, Class::Every]),
            Classes::one(Class::Own),
            set(&[Class::Imperative, Class::Must]),
        ],
    ),
    sure(
        "=!flag",
        1.5,
        "sets a confirmation by itself",
        &[Classes::one(Class::Approve), set(&[Class::Every, Class::All]), Classes::one(Class::Imperative)],
    ),
    sure(
        "=!threat",
        2.0,
        "threatens or promises",
        &[Classes::one(Class::Threat), set(&[Class::You, Class::Model, Class::Urgent])],
    ),
];

/// The frames that are complete, by number.
pub(super) fn complete(classes: Classes) -> impl Iterator<Item = usize> {
    FRAMES.iter().enumerate().filter(move |(_, frame)| frame.is_complete(classes)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_complete() {
        let names = |classes| complete(classes).map(|at| FRAMES[at].name).collect::<Vec<_>>();
        assert_eq!(names(set(&[Class::NotTell, Class::User])), ["=conceal", "=!hush"]);
        assert_eq!(names(set(&[Class::Secret, Class::Put])), ["=take"]);
        assert!(names(set(&[Class::User, Class::You, Class::Put, Class::Must])).is_empty());
    }
}
