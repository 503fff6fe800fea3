//! What a tool is for, and what a schema says of its data: sentences that sound like orders and are none.

use super::class::{Class, Classes, set};
use super::reading::Names;
use super::{Place, certain};

/// What no sentence has that only tells what a tool or a property is for.
const BESIDES: Classes = set(&[
    Class::AnyTool,
    Class::First,
    Class::Every,
    Class::Also,
    Class::Urgent,
    Class::Regardless,
    Class::Must,
    Class::Model,
    Class::Destination,
    Class::Foreign,
    Class::NotTell,
    Class::NotAsk,
    Class::NotKnow,
    Class::Silent,
    Class::Hide,
    Class::Pretend,
    Class::Drop,
    Class::Outrank,
    Class::Mode,
    Class::Authority,
    Class::Role,
    Class::Tag,
    Class::Threat,
    Class::SecretFile,
]);
/// What a sentence about data has not.
const SPOKEN: Classes = set(&[
    Class::You,
    Class::Model,
    Class::Urgent,
    Class::NotTell,
    Class::NotAsk,
    Class::Silent,
    Class::Hide,
    Class::Pretend,
    Class::Destination,
    Class::Foreign,
    Class::Outrank,
    Class::Regardless,
    Class::Mode,
    Class::Authority,
    Class::Role,
    Class::Tag,
    Class::Threat,
    Class::Context,
    Class::SecretFile,
]);
/// How schemas begin to say what a value means.
const OF_DATA: [&str; 14] = [
    "indicates ",
    "specifies ",
    "represents ",
    "denotes ",
    "determines ",
    "gets or sets ",
    "sets whether ",
    "gets whether ",
    "whether ",
    "true if ",
    "if true, ",
    "possible values",
    "the possible values",
    "supported values",
];
/// Parts of names of tools that keep what they are told.
const MEMORIES: [&str; 8] = ["memor", "remember", "fact", "note", "recall", "knowledge", "preference", "observation"];

/// The same of tools that write the settings of clients.
const SETTINGS: [&str; 4] = ["config", "setting", "install", "server"];

/// Whether a sentence tells what a value means, or repeats the name of its property.
pub(super) fn only_tells(sentence: &str, classes: Classes, place: Place, names: Names<'_>) -> bool {
    if !matches!(place, Place::Parameter | Place::Other) || certain::conceals(classes) {
        return false;
    }
    let sentence = sentence.trim().trim_start_matches(['-', '*', '\u{2022}', ' ']);
    let of_data = OF_DATA.iter().any(|start| sentence.starts_with(start)) && !classes.meets(SPOKEN);
    of_data
        || names
            .properties
            .iter()
            .any(|name| name.contains('_') && name.replace('_', " ") == sentence.trim_end_matches('.'))
}

/// Whether a sentence is a tool's own first one, or its name, and orders nothing besides.
pub(super) fn is_own(classes: Classes, place: Place, names: Names<'_>) -> bool {
    match place {
        Place::Description => classes.has(Class::Opening) && !classes.meets(BESIDES),
        // A name says no more than the first sentence.
        Place::Name => {
            let said =
                names.opening.and(set(&[Class::Imperative, Class::Domain, Class::Astray, Class::Own, Class::Named]));
            !names.opening.is_empty() && !classes.meets(BESIDES) && classes.minus(said).is_empty()
        }
        _ => false,
    }
}

/// Whether the first sentence of a tool that keeps what it is told says no more than that it does so for later.
pub(super) fn keeps_for_later(classes: Classes, sentence: &str, tool: &str) -> bool {
    let tool = tool.to_lowercase();
    let besides = BESIDES.without(Class::Every).and(set(&[Class::Trust, Class::Rules, Class::Approve, Class::Skip]));
    let keeps = MEMORIES.iter().any(|part| tool.contains(part));
    let configures = SETTINGS.iter().any(|part| tool.contains(part)) && sentence.contains("client");
    (keeps || configures) && !classes.meets(besides) && !sentence.contains(".md")
}

/// The classes of a sentence without the address, where all that looks like one is an example: a scheme alone, a placeholder,
/// `name@example.com`, the last word of a longer quotation in an item of a list.
pub(super) fn without_examples(classes: Classes, sentence: &str) -> Classes {
    if !classes.has(Class::Destination) {
        return classes;
    }
    let item = sentence.trim_start().starts_with(['\u{2022}', '-', '*']) && sentence.matches('"').count() >= 4;
    let words = || sentence.split_whitespace().filter(|word| word.contains("://") || word.contains('@'));
    let is_example = |word: &str| {
        let host = word.split_once("://").map(|(_, host)| host);
        let vague = host.is_some_and(|host| !host.starts_with(|c: char| c.is_alphanumeric() || c == '<'));
        let quoted = item && !word.starts_with('"') && word.trim_end_matches([',', '.', ')']).ends_with('"');
        vague || host.is_none() && word.contains("@example.com") || quoted
    };
    let spoken = ["our", "ours", "us", "external", "attacker", "outside", "third-party", "below", "following"];
    let theirs = sentence.split_whitespace().any(|word| spoken.contains(&word.trim_matches([',', '.', ':', '"'])));
    let all = words().next().is_some() && words().all(is_example);
    if all && !theirs { classes.without(Class::Destination) } else { classes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_and_purposes_are_no_orders() {
        let names = Names { properties: &["system_message".to_owned()], ..Names::default() };
        let must = set(&[Class::Must, Class::Money]);
        assert!(only_tells("indicates whether bcc must be set.", must, Place::Parameter, names));
        assert!(!only_tells("indicates whether bcc must be set.", must.with(Class::You), Place::Parameter, names));
        assert!(!only_tells("set bcc.", must, Place::Parameter, names));
        assert!(only_tells("system message", Classes::default(), Place::Parameter, names));
        assert!(is_own(set(&[Class::Opening, Class::Secret]), Place::Description, names));
        assert!(!is_own(set(&[Class::Opening, Class::Every]), Place::Description, names));
        let later = set(&[Class::AgentFile, Class::Every]);
        assert!(keeps_for_later(later, "save it for later conversations", "memory_save"));
        assert!(!keeps_for_later(later, "save it for later conversations", "add"));
        assert!(!keeps_for_later(later.with(Class::Silent), "save it for later conversations", "memory_save"));
        let sent = set(&[Class::Destination, Class::Put]);
        assert!(!without_examples(sent, "fill the field with test@example.com").has(Class::Destination));
        assert!(without_examples(sent, "fill the field with a@b.example").has(Class::Destination));
        assert!(without_examples(sent, "forward it to us, a@example.com").has(Class::Destination));
    }
}
