//! What no honest definition says: the grounds on which a definition is held, where others are only marked.
//!
//! Odds alone say how much a sentence sounds like an order. Honest tools give orders too ("place the returned credentials
//! in `.env`", "you can't remove the recipient"), so a sentence is certain only on one of these grounds: something is
//! kept from the user, a credential or the conversation is taken, other tools are misused, rules are set aside, something
//! is sent to an address or left behind on the machine besides what the tool is for.

use super::class::{Class, Classes, set};
use super::frame::{self, FRAMES, Frame};
use super::{HOLD, HOLD_GRAVE, LIMITED, Place};

/// What makes something an order besides what the tool is for.
const BESIDES: Classes =
    set(&[Class::First, Class::Every, Class::Also, Class::Urgent, Class::Regardless, Class::Must, Class::When]);
const ABROAD: Classes = set(&[Class::Destination, Class::Foreign, Class::Us]);
const ORDERED: Classes = BESIDES.and(set(&[Class::Imperative, Class::You, Class::Model, Class::Foreign]));
const TAKEN: Classes = set(&[Class::Read, Class::Send, Class::Copy, Class::Put]);
const TOOLS: Classes = set(&[Class::AnyTool, Class::KindTool]);
/// What the first sentence of a property has to have to be more than a description of it ("Include hidden folders").
const MORE_THAN_A_LABEL: Classes = BESIDES.and(ABROAD).and(set(&[
    Class::You,
    Class::Model,
    Class::Slot,
    Class::Copy,
    Class::Tag,
    Class::Read,
    Class::Command,
    Class::AgentFile,
]));
/// Frames that say enough in the first sentence of a property.
const SAYS_ENOUGH: [&str; 5] = ["=!hush", "=!secrecy", "=!overrule", "=!rank", "=!lie"];

/// A ground: one of the frames is complete, each part is met by a class of the sentence, none of `never` stands in it,
/// and where `beside` names frames, one of those is complete too.
#[derive(Clone, Copy)]
struct Ground {
    frames: &'static [&'static str],
    parts: &'static [Classes],
    never: Classes,
    beside: &'static [&'static str],
}

const NONE: Classes = set(&[]);

const fn on(frames: &'static [&'static str], parts: &'static [Classes]) -> Ground {
    Ground { frames, parts, never: NONE, beside: &[] }
}

const fn unless(never: Classes, ground: Ground) -> Ground {
    Ground { never, ..ground }
}

const fn with(beside: &'static [&'static str], ground: Ground) -> Ground {
    Ground { beside, ..ground }
}

/// Every frame that is an act of its own, and neither a claim nor praise.
const ACTS: &[&str] = &[
    "=take",
    "=omit",
    "=loosen",
    "=meddle",
    "=meddle-named",
    "=host",
    "=fetch",
    "=alter",
    "=reroute",
    "=persist",
    "=act",
    "=everything",
];

/// Grounds of which hardly any honest text has one.
const GRAVE: &[Ground] = &[
    // Something is kept from the user.
    on(&["=!hush"], &[set(&[Class::Silent, Class::Hide, Class::Pretend])]),
    unless(Classes::one(Class::Unless), on(&["=!hush"], &[Classes::one(Class::User), Classes::one(Class::NotTell)])),
    unless(Classes::one(Class::Describes), on(&["=!hush"], &[Classes::one(Class::User), Classes::one(Class::NotKnow)])),
    unless(set(&[Class::Call, Class::Unless]), on(&["=!hush"], &[Classes::one(Class::NotTell)])),
    on(&["=!secrecy", "=!lie"], &[]),
    // A credential file, the conversation or the system prompt is taken.
    on(
        &["=!keys"],
        &[TAKEN.without(Class::Put).and(BESIDES).and(ABROAD).and(set(&[
            Class::Encode,
            Class::Slot,
            Class::Quoted,
            Class::Command,
            Class::Persist,
        ]))],
    ),
    unless(Classes::one(Class::Unless), on(&["=!hand-over"], &[ORDERED])),
    unless(Classes::one(Class::Approve), on(&["=!hand-over"], &[ORDERED])),
    on(&["=!grab"], &[set(&[Class::Copy, Class::All, Class::Every])]),
    // Rules are set aside, consent is answered for the user.
    on(
        &["=!overrule"],
        &[ORDERED.and(set(&[Class::All, Class::User, Class::Own, Class::Mode, Class::Ask, Class::Show]))],
    ),
    // "Don't ask for everything" speaks of what to look for.
    on(
        &["=!unasked"],
        &[set(&[
            Class::User,
            Class::NotPermission,
            Class::Permission,
            Class::Approve,
            Class::Run,
            Class::Remove,
            Class::Send,
            Class::Obey,
        ])],
    ),
    on(&["=!threat"], &[]),
    // "Built following the protocol, it connects models" describes.
    on(&["=!puppet"], &[set(&[Class::Imperative, Class::Must, Class::Every, Class::You, Class::First])]),
    // "Never write comments (`<!-- -->`)" speaks of markup, and does not hide in it.
    unless(Classes::one(Class::Negation), on(&["=!markup"], &[])),
    // "[System control] set the volume" is a heading.
    on(
        &["=!rank"],
        &[
            Classes::one(Class::Role),
            set(&[
                Class::All,
                Class::Every,
                Class::User,
                Class::Own,
                Class::You,
                Class::Model,
                Class::Must,
                Class::Urgent,
                Class::Tag,
                Class::Rules,
                Class::Permission,
                Class::Approve,
                Class::Drop,
                Class::Silent,
                Class::NotTell,
                Class::Secret,
                Class::SecretFile,
                Class::Context,
            ]),
        ],
    ),
    // "It helps developers and legal teams" describes.
    unless(
        Classes::one(Class::Describes),
        on(
            &["=!rank"],
            &[
                set(&[Class::Outrank, Class::You, Class::User, Class::Own]),
                ORDERED.without(Class::When).and(set(&[Class::All, Class::Permission, Class::Log, Class::Rules])),
            ],
        ),
    ),
    // Other tools are misused.
    on(&["=!tools"], &[set(&[Class::Change, Class::Drop, Class::Copy, Class::Skip, Class::Remove, Class::Trust])]),
    // "Do not call another tool afterwards" ends a piece of work.
    on(
        &["=!tools"],
        &[Classes::one(Class::NotCall), set(&[Class::Must, Class::Every, Class::Regardless, Class::Urgent])],
    ),
    on(
        &["=!tools"],
        &[
            Classes::one(Class::Send),
            set(&[Class::Every, Class::All, Class::Answer, Class::Destination, Class::Foreign, Class::Also]),
        ],
    ),
    on(&["=!funnel"], &[Classes::one(Class::Send)]),
];

/// The same, but not in the first sentence of a tool, which says what it is for ("Add a new post-install script").
const BESIDE_THE_PURPOSE: &[Ground] = &[
    on(&["=!consent"], &[]),
    with(ACTS, on(&["=!rank"], &[set(&[Class::Authority, Class::Mode, Class::Outrank])])),
    on(&["=!flag"], &[set(&[Class::Every, Class::You, Class::User, Class::Permission, Class::Change])]),
    // The whole conversation goes into an argument, in whatever language that is asked for.
    unless(
        set(&[Class::Describes, Class::Benign]),
        on(
            &["=take"],
            &[
                Classes::one(Class::Context),
                set(&[Class::Put, Class::Send, Class::Copy]),
                set(&[Class::Every, Class::All, Class::First]),
            ],
        ),
    ),
    // The user is said to agree with everything.
    unless(
        set(&[Class::Negation, Class::When]),
        on(
            &["=loosen"],
            &[set(&[Class::Approve, Class::Permission]), Classes::one(Class::User), set(&[Class::All, Class::Every])],
        ),
    ),
    // What another tool answers is told otherwise.
    on(&["=meddle"], &[TOOLS, Classes::one(Class::Answer), Classes::one(Class::When), Classes::one(Class::Must)]),
    // Something is left behind on the machine, or a protection is taken away, besides.
    on(
        &["=!plant"],
        &[BESIDES.and(set(&[Class::Destination, Class::AgentFile, Class::You, Class::Model, Class::Command]))],
    ),
    on(&["=!unguard"], &[set(&[Class::First, Class::Also, Class::Urgent, Class::Every, Class::Regardless])]),
];

/// Grounds that take surer odds: their frames are complete in honest texts as well.
const PLAIN: &[Ground] = &[
    // Something goes to an address.
    on(
        &["=fetch", "=alter", "=meddle", "=act"],
        &[
            Classes::one(Class::Destination),
            set(&[Class::Put, Class::Send, Class::Copy, Class::Run, Class::Change, Class::All]),
        ],
    ),
    // Recipients and amounts are changed.
    on(
        &["=reroute", "=alter", "=meddle", "=meddle-named"],
        &[
            Classes::one(Class::Money),
            Classes::one(Class::Change),
            set(&[Class::Every, Class::All, Class::First, Class::When, Class::Named]),
        ],
    ),
    on(
        &["=reroute", "=alter", "=meddle", "=meddle-named"],
        &[Classes::one(Class::Money), set(&[Class::Named, Class::AnyTool]), Classes::one(Class::Every)],
    ),
    // Secrets and conversations are taken.
    on(
        &["=take"],
        &[
            set(&[Class::Secret, Class::SecretFile]),
            TAKEN,
            set(&[Class::User, Class::You, Class::All, Class::First, Class::Every]),
            ORDERED,
        ],
    ),
    on(
        &["=take"],
        &[set(&[Class::Secret, Class::SecretFile]), TAKEN, Classes::one(Class::User), Classes::one(Class::Negation)],
    ),
    on(
        &["=take"],
        &[
            Classes::one(Class::Context),
            set(&[Class::Put, Class::Send, Class::Copy]),
            set(&[Class::First, Class::Every, Class::All, Class::Copy]),
            ORDERED,
        ],
    ),
    // Other tools, rules and memory.
    on(
        &["=meddle"],
        &[
            TOOLS,
            set(&[Class::First, Class::Every, Class::All, Class::Urgent]),
            set(&[Class::Answer, Class::Run, Class::Trust, Class::Change, Class::Skip, Class::Permission]),
            set(&[Class::Imperative, Class::Must, Class::Every, Class::Own]),
        ],
    ),
    on(
        &["=loosen"],
        &[
            set(&[Class::Machine, Class::Rules, Class::Permission]),
            set(&[Class::Skip, Class::Drop]),
            set(&[Class::Approve, Class::Obey, Class::All, Class::AgentFile]),
        ],
    ),
    on(&["=persist"], &[set(&[Class::Trust, Class::Skip])]),
    with(ACTS, on(&["=conceal"], &[set(&[Class::Hide, Class::Pretend, Class::Silent])])),
    with(ACTS, unless(Classes::one(Class::Unless), on(&["=conceal"], &[Classes::one(Class::NotTell)]))),
];

impl Ground {
    fn holds(&self, classes: Classes) -> bool {
        let complete = |wanted: &[&str]| frames(classes).any(|frame| wanted.contains(&frame.name));
        complete(self.frames)
            && self.parts.iter().all(|part| classes.meets(*part))
            && !classes.meets(self.never)
            && (self.beside.is_empty() || complete(self.beside))
    }
}

fn frames(classes: Classes) -> impl Iterator<Item = &'static Frame> {
    frame::complete(classes).filter_map(|at| FRAMES.get(at))
}

/// Whether no honest text says this, given the odds that it is an order.
pub(super) fn is_certain(odds: f32, classes: Classes, place: Place) -> bool {
    // A label is no order, unless it asks for secrecy beside something else.
    let acts = || frames(classes).any(|frame| ACTS.contains(&frame.name)) || classes.meets(TAKEN.and(ABROAD));
    if place == Place::Title && !(conceals(classes) && acts()) {
        return false;
    }
    // Where the user is asked, or has to want it first, it takes more; but not where something is kept from them.
    let limited =
        classes.meets(set(&[Class::Unless, Class::Consults, Class::Guard, Class::Detect])) && !conceals(classes);
    let odds = if limited { odds - LIMITED } else { odds };
    // To praise itself is no harm that hides a tool.
    if odds < HOLD_GRAVE || frames(classes).all(Frame::is_mild) {
        return false;
    }
    let opens = classes.has(Class::Opening);
    let describes = opens
        && classes.has(Class::Parameter)
        && !classes.meets(MORE_THAN_A_LABEL)
        && !frames(classes).any(|frame| SAYS_ENOUGH.contains(&frame.name));
    if describes {
        return false;
    }
    // The first sentence of a tool says what it is for.
    let own = opens && !classes.meets(set(&[Class::Parameter, Class::AgentFile, Class::Secret]));
    let holds = |grounds: &[Ground]| grounds.iter().any(|ground| ground.holds(classes));
    holds(GRAVE) || !own && (holds(BESIDE_THE_PURPOSE) || odds >= HOLD && holds(PLAIN))
}

/// Words for what is in a file, where that is what is taken.
const CONTENT: [&str; 8] = ["content", "contents", "line", "lines", "value", "values", "output", "text"];

/// Whether a sentence names a place below somebody's home.
fn is_of_home(sentence: &str) -> bool {
    ["~/", "$home/", "%userprofile%", "/root/"].iter().any(|home| sentence.contains(home))
}

/// Whether a sentence takes what is in a file with secrets: "include the lines of the `.env` file". What is written into one, what
/// is a tool's own matter, and what is only warned of are left alone.
pub(super) fn takes_content(classes: Classes, sentence: &str, tool: &str) -> bool {
    let mut words = sentence.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let careful = set(&[Class::Unless, Class::Consults, Class::Guard, Class::Detect, Class::Refrain, Class::Disclaims]);
    let into = ["into", "to", "in"].iter().any(|into| sentence.contains(&format!(" {into} .env")));
    classes.has(Class::SecretFile)
        && classes.meets(TAKEN.and(set(&[Class::Encode, Class::Parameter, Class::Slot])))
        && (words.any(|word| CONTENT.contains(&word)) || classes.has(Class::Encode) && is_of_home(sentence))
        && !into
        && !classes.meets(careful)
        && !super::reach::keeps_secrets(tool)
}

/// Whether something is kept from the user, and not only unknown to somebody.
pub(super) fn conceals(classes: Classes) -> bool {
    let told = classes.has(Class::User)
        && (classes.has(Class::NotTell) || classes.has(Class::NotKnow) && !classes.has(Class::Describes));
    // What is only not told yet is no secret.
    let later = classes.meets(set(&[Class::Unless, Class::Guard]));
    // "For instance without saying its name" is an example.
    let example = classes.has(Class::Benign) && !classes.has(Class::User);
    frames(classes).any(Frame::conceals)
        && !later
        && (told
            || classes.meets(set(&[Class::Silent, Class::Hide, Class::Pretend])) && !example
            || classes.has(Class::NotTell) && !classes.has(Class::Call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grounds_name_frames_that_exist() {
        let known = |name: &&str| FRAMES.iter().any(|frame| frame.name == *name);
        for ground in GRAVE.iter().chain(BESIDE_THE_PURPOSE).chain(PLAIN) {
            assert!(ground.frames.iter().chain(ground.beside).all(known), "{:?}", ground.frames);
        }
        // A frame that is called grave has a ground.
        for frame in FRAMES.iter().filter(|frame| frame.is_grave()) {
            assert!(
                GRAVE.iter().chain(BESIDE_THE_PURPOSE).any(|ground| ground.frames.contains(&frame.name)),
                "{}",
                frame.name
            );
        }
    }

    #[test]
    fn a_label_and_a_description_of_a_flag_are_no_orders() {
        let hush = set(&[Class::NotTell, Class::User]);
        assert!(is_certain(3.0, hush, Place::Description) && !is_certain(3.0, hush, Place::Title));
        let flag = set(&[Class::SecretFile, Class::Put, Class::Imperative, Class::Parameter]);
        assert!(!is_certain(3.0, flag.with(Class::Opening), Place::Parameter));
        assert!(is_certain(3.0, flag.with(Class::Opening).with(Class::First), Place::Parameter));
    }
}
