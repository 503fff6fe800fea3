//! What a prompt or a template does. Their names and descriptions are more often nouns (`release_notes`, "An order by its
//! number") than those of tools, so that a description counts for more than the name, and a name alone only where it says that
//! something is done.

use switchboard_protocol::mgp::security::ToolSecurity;

use super::nature::{self, Nature, Told};
use super::verbs::Kind;
use super::{fallback, verbs};

/// What prompts do, whatever it is about.
const TEXTS: [&str; 16] = [
    "analyze",
    "brainstorm",
    "compose",
    "describe",
    "draft",
    "explain",
    "generate",
    "guide",
    "help",
    "outline",
    "plan",
    "prepare",
    "review",
    "suggest",
    "summarize",
    "write",
];
/// Ends of names for text about something.
const ABOUT: [&str; 18] = [
    "analysis",
    "checklist",
    "draft",
    "explanation",
    "guide",
    "help",
    "history",
    "learning",
    "log",
    "mortem",
    "outline",
    "report",
    "review",
    "runbook",
    "strategy",
    "summary",
    "template",
    "tutorial",
];
/// Ends of names for something that is meant, where the word in front may be a noun as well (`release_plan`).
const THINGS: [&str; 10] =
    ["example", "list", "notes", "off", "plan", "policy", "reason", "script", "status", "workflow"];
/// Verbs that are nouns in front of such.
const ALSO_NOUNS: [&str; 8] = ["cleanup", "deploy", "kill", "migrate", "reset", "restart", "rollback", "shutdown"];
/// Words in front of a noun.
const ARTICLES: [&str; 5] = ["a", "an", "the", "one", "single"];
/// Words that stand behind a noun, and end what is said or go on with whose it is.
const BEHIND_NOUNS: [&str; 16] = [
    "detail",
    "details",
    "docs",
    "documentation",
    "history",
    "id",
    "info",
    "information",
    "log",
    "metadata",
    "object",
    "offers",
    "price",
    "quote",
    "record",
    "schema",
];
/// What things are found by.
const FOUND_BY: [&str; 9] = ["code", "hash", "id", "ids", "its", "key", "name", "number", "uuid"];

/// What a prompt or template does, where a tool of this name and description would do `by_name`.
pub(super) fn nature(by_name: Nature, declared: &ToolSecurity, name: &str) -> Nature {
    let sentence = declared.subject.split('\n').nth(2).unwrap_or_default();
    let described = match by_name.told_by {
        Told::Name => nature::of(declared, ""),
        _ => by_name,
    };
    let is_noun = described.told_by == Told::Description && is_noun(sentence);
    let described = if is_noun { Nature { kind: None, ..described } } else { described };
    let first = sentence.split_whitespace().next().unwrap_or_default().to_lowercase();
    let is_text = TEXTS.iter().any(|verb| first == *verb || first.strip_suffix('s') == Some(verb));
    // `Write a post mortem` is answered with a text about one; `Write a post and send it` does more.
    let is_only_text = is_text && nature::added(sentence).is_none() && described.kind != Some(Kind::Delete);
    let described = match is_only_text && described.told_by == Told::Description {
        true => Nature { kind: None, ..described },
        false => described,
    };
    if by_name.told_by != Told::Name {
        return described;
    }
    // What looks at something by its sentence, does so whatever it is called.
    let is_told = described.grave().is_some() || described.looks();
    let leads = fallback::words(name).first().is_some_and(|first| verbs::of(first).is_some_and(|verb| verb.sure));
    // `drop_table` does something, also where it calls itself `Drop of a table`.
    let names = fallback::words(name);
    let does = names.len() > 1 && verbs::of(&names[0]).is_some_and(|verb| verb.kind.is_grave()) && is_deed(name);
    let is_noun = is_noun && !leads && !does;
    if is_told || is_text || is_noun || !is_deed(name) { described } else { by_name }
}

/// Whether a sentence begins with a thing (`An email`, `Order details`, `Release of a repository`), though its first word may be
/// a verb.
fn is_noun(sentence: &str) -> bool {
    let words = fallback::words(sentence);
    let word = |at: usize| words.get(at).map(String::as_str);
    let may_be_noun = |word: &str| verbs::of_sentence(word).is_some_and(|verb| !verb.sure);
    let at = usize::from(word(0).is_some_and(|first| ARTICLES.contains(&first)));
    if !word(at).is_some_and(may_be_noun) {
        return false;
    }
    // Further on something may be done after all: `A call charges the card`.
    let acts = |word: &String| verbs::of_sentence(word).is_some_and(|verb| verb.kind.is_grave());
    if words.iter().skip(at + 1).any(acts) {
        return false;
    }
    match (word(at + 1), word(at + 2)) {
        (None | Some("of"), _) => true,
        (Some("by"), Some(what)) => FOUND_BY.contains(&what),
        (Some(behind), None | Some("of" | "by")) => BEHIND_NOUNS.contains(&behind),
        _ => false,
    }
}

/// Whether a name says that something is done to something: `delete_item`, and not `release_notes` or `order`.
fn is_deed(name: &str) -> bool {
    let words = fallback::words(name);
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
    // In front of another word these are verbs, though they may be nouns alone.
    let leads = words.len() > 1 && matches!(first.as_str(), "apply" | "run" | "trigger");
    let is_verb = leads || verbs::of(first).is_some_and(|verb| verb.sure);
    match words.len() {
        1 => is_verb,
        _ => {
            let is_only_verb = is_verb && !ALSO_NOUNS.contains(&first.as_str());
            !ABOUT.contains(&last.as_str()) && (is_only_verb || !THINGS.contains(&last.as_str()))
        }
    }
}
